"""The stranger's gate: a capture tells the same however it was handed on, or less, never otherwise.

A few combinations run always; `make stranger` runs every transformation of every capture. What
"the same" and "less" mean stands in `told.py`.
"""

import json

import pytest

import gomem
from tests.builders import FIXTURES
from tools.stranger.__main__ import Progress
from tools.stranger.gate import CAPTURES, read_as_handed_on, unlike, ways_of
from tools.stranger.remembered import remembering
from tools.stranger.told import told_by
from tools.stranger.transformations import TRANSFORMATIONS, files_of

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
    if every:
        return [case for capture in CAPTURES for case in ways_of(capture)]
    some = []
    for number, one in enumerate(TRANSFORMATIONS.values()):
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


@pytest.mark.at_most(4)
def test_a_capture_tells_the_same_or_less_however_it_is_handed_on(capture, one, choice, memory):
    said = unlike(capture, one, choice, memory)

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


def test_a_run_goes_on_where_it_ended_until_the_code_changes(tmp_path):
    """
    What was red is run again; a line that was cut is no line.
    """
    path = tmp_path / "progress"
    with Progress(path, "code 1") as run:
        run.told("a", [])
        run.told("b", ["otherwise"])
    path.write_text(path.read_text() + json.dumps(["c", []])[:-1])

    with Progress(path, "code 1") as again:
        assert [True, False, False] == [again.passed(case) for case in "abc"]
    with Progress(path, "code 2") as changed:
        assert not changed.passed("a")
