"""A level number of goroutines, one that came back, and waits that end."""

import pytest

import gomem
from gomem.causes import goroutine_leak

WAITS = "[{state}]:\nmain.serve(0x1)\n\t/src/main.go:9 +0x1d\ncreated by main.main\n\n"
PROFILE = "goroutine profile: total {n}\n{n} @ 0x1 0x2\n#\t0x1\tmain.serve+0x1\t/src/main.go:9\n\n"


def dump(folder, ages):
    """A dump of goroutines with rising numbers that have waited for so many minutes."""
    states = (f"chan receive, {age} minutes" if age else "chan receive" for age in ages)
    blocks = (
        f"goroutine {number} {WAITS.format(state=state)}" for number, state in enumerate(states, 7)
    )
    main = "goroutine 1 [sleep]:\nmain.main()\n\t/src/main.go:3 +0x1d\n\n"
    (folder / "stacks.txt").write_text(main + "".join(blocks))
    return gomem.diagnose(folder)


@pytest.mark.parametrize(
    ("ages", "ends"),
    [
        pytest.param([2, 1, 0, 3] * 500, True, id="older ones were woken"),
        pytest.param([3] * 500 + [2] * 500 + [1] * 500 + [0] * 500, False, id="a leak goes on"),
    ],
)
def test_a_place_where_waits_end_is_no_leak(tmp_path, ages, ends):
    diagnosis = dump(tmp_path, ages)

    assert ends == ("Waits in main.serve end: 500 goroutines" in diagnosis.verdict.sentence)
    assert ends == (not goroutine_leak.find(diagnosis.case))


@pytest.mark.parametrize(
    ("numbers", "is_pool"),
    [
        pytest.param(range(7, 2007), True, id="one block at the start"),
        pytest.param(range(7, 6007, 3), False, id="spread over all numbers"),
    ],
)
def test_numbers_of_goroutines_tell_a_pool_from_a_leak(tmp_path, numbers, is_pool):
    blocks = (f"goroutine {number} {WAITS.format(state='select')}" for number in numbers)
    (tmp_path / "stacks.txt").write_text("".join(blocks))

    diagnosis = gomem.diagnose(tmp_path)

    found = goroutine_leak.find(diagnosis.case)
    assert is_pool == (not found)
    assert is_pool == ("as a pool of workers" in diagnosis.verdict.sentence)
    cited = {row.field: row.value for leak in found for row in leak.evidence}
    assert is_pool or 6004 == cited["highest goroutine number of all"]
    assert is_pool or "more keep coming" in found[0].next_step


def counted(folder, counts):
    """Everything that is said of so many goroutines, one profile after the other."""
    for number, count in enumerate(counts, 1):
        (folder / f"{number}").mkdir()
        (folder / f"{number}" / "goroutine.txt").write_text(PROFILE.format(n=count))
    verdict = gomem.diagnose(folder).verdict
    return f"{verdict.sentence} {' '.join(verdict.whose)}"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((6004, 6004), "The number is the same in 2 snapshots."),
        ((6004, 6010, 6001), "The number is level: 6\u202f001 to 6\u202f010 in 3 snapshots."),
        ((10, 10), ""),
        (
            (148, 171, 10, 10),
            "10 (peak 171 at snapshot 2), and have been level since snapshot 3.",
        ),
    ],
)
def test_a_series_of_goroutine_counts_says_how_it_went(tmp_path, counts, said):
    told = counted(tmp_path, counts)

    assert said in told
    assert bool(said) == ("level" in told or "same" in told)


def test_a_number_that_fell_in_between_is_said_with_the_rise(tmp_path):
    told = counted(tmp_path, (2007, 1207, 4007))

    assert "from 2\u202f007 to 4\u202f007 (only 1\u202f207 at snapshot 2)" in told
