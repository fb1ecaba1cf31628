"""What resident bytes consist of at each moment, between bounds that close, and what moved."""

import pytest

from gomem.analysis.memory.account import (
    DIVISIONS,
    MAX_DRAWN_DOUBT,
    Snapshot,
    account_of,
    common_division,
    moved,
)
from gomem.analysis.memory.bounds import Bounds, Interval
from gomem.analysis.memory.groups import (
    FILES,
    FREE,
    GARBAGE,
    LIVE,
    NATIVE,
    PROGRAM,
    RUNTIME,
    STACKS,
)  # fmt: skip
from gomem.analysis.memory.readings import ALL, FILE_GROUPS, GO, GROUPS, NOT_GO, OBJECTS, Reading
from gomem.units import MIB

START = Reading(
    "1-start",
    0.0,
    rss_bytes=16 * MIB,
    reserved={OBJECTS: 8 * MIB, FREE: 1 * MIB, STACKS: 0, RUNTIME: 2 * MIB},
    live_bytes=8 * MIB,
    lazy_free_bytes=0,
    file_bytes=5 * MIB,
)
LATER = Reading(
    "2-later",
    6.0,
    rss_bytes=186 * MIB,
    resident={"heap": 57 * MIB, RUNTIME: 3 * MIB, NATIVE: 120 * MIB, PROGRAM: 6 * MIB},
    reserved={OBJECTS: 41 * MIB, FREE: 16 * MIB, STACKS: 0, RUNTIME: 6 * MIB},
    live_bytes=39 * MIB,
    lazy_free_bytes=0,
    program_data_bytes=1 * MIB,
)


def test_a_moment_with_smaps_and_memstats_is_known_to_the_byte():
    account = account_of([LATER])

    parts = account.last.certain.parts
    assert {LIVE: 39 * MIB, GARBAGE: 2 * MIB, FREE: 16 * MIB, NATIVE: 120 * MIB} == {
        group: parts[group].low for group in (LIVE, GARBAGE, FREE, NATIVE)
    }
    assert 0 == sum(parts[group].width for group in GROUPS)


def test_what_one_moment_cannot_divide_is_bounded_by_its_rss():
    """
    120 MiB of an mmap were not there in an RSS of 16 MiB, of which files have 5.
    """
    account = account_of([START, LATER])

    native = next(part for part in account.parts if NATIVE in part.groups)
    assert native.certain.low >= 109 * MIB
    assert 118 * MIB <= native.change.low <= native.change.high <= 120 * MIB


def test_the_parts_of_a_change_close_to_the_change_of_rss():
    account = account_of([START, LATER])

    low = sum(part.change.low for part in account.parts)
    high = sum(part.change.high for part in account.parts)
    assert low <= account.change_bytes <= high
    assert ALL == frozenset().union(*(part.groups for part in account.parts)) | {FILES, STACKS}


def test_go_has_at_most_what_it_has_reserved():
    alone = Reading("m", rss_bytes=193 * MIB, reserved={OBJECTS: 9 * MIB, RUNTIME: 3 * MIB},
                    lazy_free_bytes=0, file_bytes=5 * MIB)  # fmt: skip

    account = account_of([alone])

    assert account.last.certain.together(GO).high <= 13 * MIB
    assert account.last.certain.parts[NATIVE].low == 0  # data and bss are anonymous, too
    assert account.last.likely.parts[NATIVE].low >= 170 * MIB


def test_likely_bounds_say_on_what_they_rest_and_never_leave_the_certain_ones():
    account = account_of([START, LATER])

    assert "nearest" in account.first.assumption
    assert account.last.assumption == ""
    for snapshot in account.snapshots:
        for group in GROUPS:
            certain, likely = snapshot.certain.parts[group], snapshot.likely.parts[group]
            assert certain.low <= likely.low <= likely.high <= certain.high


def test_two_states_of_a_process_divide_no_heap():
    from dataclasses import replace

    account = account_of([replace(LATER, is_one_state=False)])

    live = account.last.certain.parts[LIVE]
    assert (0, 57 * MIB) == (live.low, live.high)
    assert 120 * MIB == account.last.certain.parts[NATIVE].low


def test_without_rss_the_account_is_of_what_go_reserves():
    readings = [
        Reading("a", reserved={OBJECTS: 10 * MIB, FREE: 2 * MIB}, live_bytes=6 * MIB),
        Reading("b", reserved={OBJECTS: 50 * MIB, FREE: 2 * MIB}, live_bytes=40 * MIB),
    ]

    account = account_of(readings)

    assert "reserved" == account.quantity
    assert 40 * MIB == account.change_bytes
    live = next(part for part in account.parts if {LIVE} == part.groups)
    assert 34 * MIB == live.change.low == live.change.high


def test_nothing_that_says_a_size_gives_no_account():
    assert account_of([Reading("a")]) is None


@pytest.mark.parametrize("divides", [LIVE, GARBAGE])
def test_without_a_mark_live_heap_and_garbage_are_told_together(divides):
    from dataclasses import replace

    account = account_of([replace(LATER, live_bytes=None)] * 2)

    together = next(part for part in moved(account.first, account.last) if divides in part.groups)
    assert {LIVE, GARBAGE} <= together.groups


def doubtful(total_mib, doubt_mib, groups=(NATIVE, FILES)):
    """A snapshot with so much in some groups that nothing divides; the rest is live heap."""
    doubt, live = doubt_mib * MIB, (total_mib - doubt_mib) * MIB
    parts = dict.fromkeys(GROUPS, Interval.exactly(0)) | {LIVE: Interval.exactly(live)}
    bounds = Bounds(
        parts | dict.fromkeys(groups, Interval(0, doubt)),
        ((frozenset(groups), Interval.exactly(doubt)),),
    )
    return Snapshot("m", None, round(total_mib * MIB), bounds, bounds)


@pytest.mark.parametrize(
    ("snapshots", "division"),
    [
        pytest.param([doubtful(100, 0)], DIVISIONS[0], id="known"),
        pytest.param([doubtful(100, 10)], DIVISIONS[0], id="a tenth"),
        pytest.param([doubtful(100, 10.1)], (GO, NOT_GO), id="more than a tenth"),
        pytest.param([doubtful(3, 1)], DIVISIONS[0], id="a mebibyte"),
        pytest.param([doubtful(3, 1.1)], (GO, NOT_GO), id="more than a mebibyte"),
        pytest.param([doubtful(100, 10.1), doubtful(101, 0)], DIVISIONS[0], id="of the largest"),
        pytest.param([doubtful(100, 0), doubtful(100, 20)], (GO, NOT_GO), id="of each of them"),
        pytest.param(
            [doubtful(100, 20, (LIVE, GARBAGE)), doubtful(100, 0)], DIVISIONS[1], id="objects"
        ),
        pytest.param(
            [doubtful(100, 20, (FILES, PROGRAM))],
            (GO, frozenset({NATIVE}), FILE_GROUPS),
            id="files and program",
        ),
        pytest.param([doubtful(100, 20, (LIVE, NATIVE))], (ALL,), id="nothing"),
    ],
)
def test_what_is_drawn_is_known_to_a_tenth_at_each_snapshot(snapshots, division):
    assert 0.1 == MAX_DRAWN_DOUBT
    assert division == common_division(snapshots)
