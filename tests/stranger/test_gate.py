"""The stranger's gate: a capture tells the same however it was handed on, or less, never otherwise.

A few combinations run always; `make stranger` runs every transformation of every capture. What
"the same" and "less" mean stands in `told.py`.
"""

import os
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import gomem
from gomem.errors import CaptureError
from tests.builders import FIXTURES
from tests.stranger.remembered import remembering
from tests.stranger.told import contradictions, differences, told_by
from tests.stranger.transformations import NOON, TRANSFORMATIONS, Loss, files_of

FOLDERS = ("captures", "injected", "skewed", "laboratory/captures")
CAPTURES = sorted(
    path
    for folder in FOLDERS
    for path in (FIXTURES / folder).glob("*")
    if path.is_dir() or path.name.endswith(".tar.gz")
)
# Small ones of different programs and releases: each takes half a second.
ALWAYS = tuple(
    FIXTURES / path
    for path in (
        "captures/zeroing-go1.24.2",
        "injected/huge-go1.21.0",
        "skewed/skewed-go1.27.3",
        "injected/huge-go1.19.13",
    )
)
SECONDS_APART = FIXTURES / "laboratory/captures/hubd-a.tar.gz"  # where it takes that


def combinations(*, every):
    """Of each capture, transformation and choice; or each transformation once, captures in turn."""
    ways = list(TRANSFORMATIONS.values())
    if every:
        return [
            (capture, one, choice)
            for capture in CAPTURES
            for files in [files_of(capture)]
            for one in ways
            for choice in one.choices(files)
        ]
    some = []
    for number, one in enumerate(ways):
        capture = ALWAYS[number % len(ALWAYS)]
        if not one.choices(files_of(capture)):
            capture = SECONDS_APART
        choices = one.choices(files_of(capture))
        some.append((capture, one, choices[number % len(choices)]))
    return sorted(some, key=lambda case: [*ALWAYS, SECONDS_APART].index(case[0]))


def pytest_generate_tests(metafunc):
    if "one" in metafunc.fixturenames:
        every = metafunc.config.getoption("--every-stranger")
        cases = [
            pytest.param(
                *case,
                id="-".join(filter(None, (case[0].name, case[1].name, case[2]))),
                marks=pytest.mark.xdist_group(case[0].name),  # one process remembers them all
            )
            for case in combinations(every=every)
        ]
        metafunc.parametrize(("capture", "one", "choice"), cases)


@pytest.fixture(scope="module")
def memory():
    """What gomem was asked in this module, for as long as it is run."""
    with remembering() as memory:
        yield memory


def lay_out(handed, folder):
    """Write what is handed on, and read it as its receiver would."""
    paths = {path: folder / path for path in handed.files}
    for path, data in handed.files.items():
        paths[path].parent.mkdir(parents=True, exist_ok=True)
        paths[path].write_bytes(data)
        date = handed.dates.get(path, NOON)
        os.utime(paths[path], (date, date))
    named = list(paths.values()) if handed.listed else [folder / handed.at]
    return gomem.load(*named, go_version=handed.release)


as_recorded = lru_cache(maxsize=len(ALWAYS))(gomem.load)


def read_as_handed_on(capture, one, choice):
    """The capture, transformed."""
    with TemporaryDirectory() as folder:
        return lay_out(one.apply(files_of(capture), choice), Path(folder))


def test_a_capture_tells_the_same_or_less_however_it_is_handed_on(capture, one, choice, memory):
    whole = memory.told(as_recorded(capture))

    try:
        told = memory.told(read_as_handed_on(capture, one, choice), whole.moments)
    except CaptureError as nothing_left:
        if one.harms and choice in str(nothing_left):
            return  # the only file there is: what is left of it tells nothing, and that is said
        raise

    if one.lost is Loss.EVIDENCE:
        said = contradictions(whole, told)
    else:
        said = differences(whole, told, clock=one.lost is Loss.NOTHING)
    if one.harms and choice not in told.damaged:
        said.append(f"{choice} is cut short, and nothing says so")
    assert not said, "\n".join(said)


@pytest.mark.parametrize(
    ("name", "choice"),
    [("in_quotes", ""), ("flattened", ""), ("one_kind_left_out", "memstats.json")],
)
def test_what_is_remembered_is_what_would_be_told(name, choice):
    """
    The gate asks a question once; asked again without memory, gomem says the same.
    """
    capture = ALWAYS[1]
    handed_on = read_as_handed_on(capture, TRANSFORMATIONS[name], choice)
    asked_anew = told_by(gomem.diagnose(handed_on))

    with remembering() as memory:
        memory.told(gomem.load(capture))
        remembered = memory.told(read_as_handed_on(capture, TRANSFORMATIONS[name], choice))

    assert asked_anew == remembered
