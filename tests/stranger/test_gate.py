"""The stranger's gate: a capture tells the same however it was handed on, or less, never otherwise.

A few combinations run always; `make stranger` runs every transformation of every capture. What
"the same" and "less" mean stands in `told.py`.
"""

import os

import pytest

import gomem
from tests.builders import FIXTURES
from tests.stranger.told import contradictions, differences, told_by
from tests.stranger.transformations import TRANSFORMATIONS, Loss, files_of

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
# What gomem does not read yet as it should: to be struck out one by one.
NOT_YET = {
    "a_readme_beside", "an_empty_file_beside", "a_page_beside",
}  # fmt: skip


def combinations(*, every):
    """Of each capture, transformation and choice; or each transformation once, captures in turn."""
    ways = [one for one in TRANSFORMATIONS.values() if every or one.name not in NOT_YET]
    if every:
        return [
            (capture, one, choice)
            for capture in CAPTURES
            for one in ways
            for choice in one.choices(files_of(capture))
        ]
    some = []
    for number, one in enumerate(ways):
        capture = ALWAYS[number % len(ALWAYS)]
        choices = one.choices(files_of(capture))
        some.append((capture, one, choices[number % len(choices)]))
    return some


def pytest_generate_tests(metafunc):
    if "choice" in metafunc.fixturenames:
        every = metafunc.config.getoption("--every-stranger")
        cases = [
            pytest.param(*case, id="-".join(filter(None, (case[0].name, case[1].name, case[2]))))
            for case in combinations(every=every)
        ]
        metafunc.parametrize(("capture", "one", "choice"), cases)


_wholes = {}


def whole_of(capture):
    """What the capture tells as it was recorded; the last one is kept, since cases come by it."""
    if capture not in _wholes:
        if len(_wholes) >= len(ALWAYS):
            _wholes.clear()
        _wholes[capture] = told_by(gomem.diagnose(capture))
    return _wholes[capture]


def lay_out(handed, folder):
    """Write what is handed on, and read it as its receiver would."""
    paths = {path: folder / path for path in handed.files}
    for path, data in handed.files.items():
        paths[path].parent.mkdir(parents=True, exist_ok=True)
        paths[path].write_bytes(data)
        if path in handed.dates:
            os.utime(paths[path], (handed.dates[path], handed.dates[path]))
    named = list(paths.values()) if handed.listed else [folder / handed.at]
    return gomem.diagnose(gomem.load(*named, go_version=handed.release))


def test_a_capture_tells_the_same_or_less_however_it_is_handed_on(capture, one, choice, tmp_path):
    whole = whole_of(capture)
    handed = one.apply(files_of(capture), choice)

    told = told_by(lay_out(handed, tmp_path), whole.moments)

    if one.lost is Loss.EVIDENCE:
        said = contradictions(whole, told)
    else:
        said = differences(whole, told, clock=one.lost is Loss.NOTHING)
    if one.harms and choice not in told.damaged:
        said.append(f"{choice} is cut short, and nothing says so")
    assert not said, "\n".join(said)
