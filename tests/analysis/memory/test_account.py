"""What resident bytes consist of at each moment, between bounds that close, and what moved."""

import pytest

from gomem.analysis.memory.account import (
    DIVISIONS,
    MAX_DRAWN_DOUBT,
    Account,
    Snapshot,
    _surely_moved,
    account_of,
    account_of_live_heap,
    common_division,
    drawn_doubt,
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
from gomem.analysis.memory.readings import (
    ALL,
    FILE_GROUPS,
    GO,
    GO_HEAP,
    GROUPS,
    NOT_GO,
    OBJECTS,
    Reading,
)
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
    assert account.last.reserved_heap_bytes is None  # not to be subtracted from RSS


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


def bounded(total: float, moment: str = "m", seconds: float | None = None, **parts) -> Snapshot:
    """A snapshot in MiB; a part is a size or its bounds, and one that is not given is 0."""
    ends = {group: size if type(size) is tuple else (size, size) for group, size in parts.items()}
    intervals = {group: Interval(low * MIB, high * MIB) for group, (low, high) in ends.items()}
    whole = ((ALL, Interval.exactly(total * MIB)),)
    bounds = Bounds(dict.fromkeys(GROUPS, Interval.exactly(0)) | intervals, whole).closed()
    return Snapshot(moment, seconds, round(total * MIB), bounds, bounds)


def changes(before: Snapshot, after: Snapshot, **how) -> dict[frozenset[str], tuple[float, float]]:
    """The bounds of each change, in MiB."""
    return {
        part.groups: (part.change.low / MIB, part.change.high / MIB)
        for part in moved(before, after, **how)
    }


L, N = frozenset({LIVE}), frozenset({NATIVE})
KNOWN = bounded(100, **{LIVE: 60, NATIVE: 40})


@pytest.mark.parametrize(
    ("before", "after", "finest"),
    [
        pytest.param(KNOWN, doubtful(200, 25), True, id="a quarter of the change"),
        pytest.param(KNOWN, doubtful(200, 25.1), False, id="more than a quarter"),
        pytest.param(doubtful(200, 25), KNOWN, True, id="of a fall"),
        pytest.param(doubtful(200, 25.1), KNOWN, False, id="more than a quarter of a fall"),
        pytest.param(bounded(160, **{LIVE: 160}), doubtful(160, 10), True, id="a sixteenth"),
        pytest.param(bounded(160, **{LIVE: 160}), doubtful(160, 10.1), False, id="more than that"),
        pytest.param(bounded(3, **{LIVE: 3}), doubtful(3, 1), True, id="a mebibyte"),
        pytest.param(bounded(3, **{LIVE: 3}), doubtful(3, 1.1), False, id="more than a mebibyte"),
    ],
)
def test_a_change_is_told_as_finely_as_it_is_known(before, after, finest):
    """
    To a quarter of the change of the whole, to a sixteenth of the larger whole, or to a mebibyte.
    """
    told = set(changes(before, after))

    assert (N in told, NOT_GO in told) == (finest, not finest)


def test_parts_that_are_empty_on_both_sides_are_left_out():
    after = bounded(150, **{LIVE: 90, NATIVE: 40, STACKS: 20})

    assert {L: (30, 30), N: (0, 0), frozenset({STACKS}): (20, 20)} == changes(KNOWN, after)
    assert {L, N, frozenset({STACKS})} == set(changes(after, KNOWN))


SMALL = bounded(20, **{LIVE: 10, NATIVE: 10})


def test_what_is_not_well_known_is_told_where_it_surely_moved_more_than_the_whole():
    """
    One grew by 50 at least, the other fell by as much, and RSS stayed.
    """
    before = bounded(100, **{LIVE: 10, NATIVE: 90})
    after = bounded(100, **{LIVE: (60, 90), NATIVE: (10, 40)})

    assert {L: (50, 80), N: (-80, -50)} == changes(before, after)
    assert {L: (-80, -50), N: (50, 80)} == changes(after, before)


def test_where_all_went_one_way_the_whole_moved_most():
    after = bounded(120, **{LIVE: (34, 86), NATIVE: (34, 86)})

    assert {ALL: (100, 100)} == changes(SMALL, after)


@pytest.mark.parametrize(("low", "groups"), [(80, L), (79, ALL)])
def test_a_live_heap_whose_growth_is_half_sure_is_told_by_its_name(low, groups):
    """
    From 20 to 100, by 40 to 120; or to 99, by 39 to 119.
    """
    sizes = [Interval(0, 40 * MIB), Interval(low * MIB, (low + 40) * MIB)]

    account = account_of_live_heap("in_use", ["a", "b"], [1.0, 2.0], sizes)

    assert [groups] == [part.groups for part in account.parts]


def test_bounds_are_told_rather_than_the_whole_alone_if_they_are_wanted():
    """
    The arenas stand together, and so do the parts outside.
    """
    after = bounded(120, **{LIVE: (34, 86), NATIVE: (34, 86)})

    assert {GO_HEAP: (24, 76), N: (24, 76)} == changes(SMALL, after, bounded=True)


def test_bounds_that_say_nothing_are_not_told():
    anything = bounded(100, **dict.fromkeys(GROUPS, (0, 100)))

    assert {ALL: (0, 0)} == changes(anything, anything, bounded=True)


def test_a_part_has_its_bounds_at_both_snapshots_and_its_certain_change():
    from dataclasses import replace

    after = bounded(150, **{LIVE: 90, NATIVE: 60})
    wide = bounded(150, **{LIVE: (80, 95), NATIVE: (55, 70)})

    live = moved(KNOWN, replace(after, certain=wide.certain))[0]

    assert (L, Interval.exactly(60 * MIB), Interval.exactly(90 * MIB)) == (
        live.groups, live.before, live.after,
    )  # fmt: skip
    assert Interval.exactly(30 * MIB) == live.change
    assert Interval(20 * MIB, 35 * MIB) == live.certain


def test_an_account_goes_from_its_first_snapshot_to_its_last():
    several = [bounded(size, f"m{size}", size / 10, **{LIVE: size}) for size in (10, 50, 30)]

    account = Account("rss", tuple(several))

    assert ("m10", "m30", 20 * MIB) == (
        account.first.moment, account.last.moment, account.change_bytes,
    )  # fmt: skip
    assert several[1] is account.of("m50")
    assert account.of("m20") is None
    assert [20 * MIB] == [part.change.low for part in account.parts]


@pytest.mark.parametrize(("second", "times"), [(7.0, [1, 7, 9]), (None, [0, 1, 2])])
def test_levels_are_numbered_unless_all_have_a_time(second, times):
    sizes = {10: 1.0, 50: second, 30: 9.0}
    account = Account(
        "rss", tuple(bounded(size, seconds=at, **{LIVE: size}) for size, at in sizes.items())
    )

    seconds, levels = account.levels(L)

    assert (times, second is not None) == (seconds, account.is_timed)
    assert [10 * MIB, 50 * MIB, 30 * MIB] == [level.low for level in levels]


def test_a_rise_is_of_the_middles_with_half_of_the_width_as_their_error():
    """
    From 10 to 45 with an error of 5: 40 to 50.
    """
    several = (
        bounded(60, seconds=0.0, **{LIVE: 10, NATIVE: 50}),
        bounded(90, seconds=10.0, **{LIVE: (40, 50), NATIVE: (40, 50)}),
    )

    rise = Account("rss", several).rise(L)

    assert (10 * MIB, 45 * MIB, 5 * MIB, 10) == (rise.first, rise.last, rise.error, rise.seconds)
    assert Account("rss", several[:1]).rise(L) is None


@pytest.mark.parametrize(
    ("with_rss", "with_memstats", "quantity", "moments"),
    [
        pytest.param("a", "a", "rss", "a", id="one of each"),
        pytest.param("a", "ab", "reserved", "ab", id="one with RSS, two with MemStats"),
        pytest.param("ab", "abc", "rss", "ab", id="two with RSS"),
        pytest.param("", "a", "reserved", "a", id="no RSS"),
        pytest.param("c", "", "rss", "c", id="no MemStats"),
    ],
)
def test_the_size_is_rss_unless_two_snapshots_have_only_reserved_memory(
    with_rss, with_memstats, quantity, moments
):
    readings = [
        Reading(
            moment,
            rss_bytes=50 * MIB if moment in with_rss else None,
            reserved={OBJECTS: 10 * MIB} if moment in with_memstats else {},
        )
        for moment in "abc"
    ]

    account = account_of(readings)

    assert (quantity, moments) == (
        account.quantity, "".join(snapshot.moment for snapshot in account.snapshots),
    )  # fmt: skip


def test_a_snapshot_tells_what_go_has_reserved_in_its_arenas():
    account = account_of([START, LATER, Reading("c", rss_bytes=5 * MIB)])

    assert [9 * MIB, 57 * MIB, None] == [
        snapshot.reserved_heap_bytes for snapshot in account.snapshots
    ]
    assert [("1-start", 0.0), ("2-later", 6.0), ("c", None)] == [
        (snapshot.moment, snapshot.seconds) for snapshot in account.snapshots
    ]


def test_reserved_memory_is_known_to_the_byte_and_none_is_outside_go():
    sizes = {OBJECTS: 10 * MIB, FREE: 2 * MIB, STACKS: 1 * MIB, RUNTIME: 3 * MIB}

    snapshot = account_of([Reading("a", 4.0, reserved=sizes, live_bytes=6 * MIB)]).last

    assert ("a", 4.0, 16 * MIB) == (snapshot.moment, snapshot.seconds, snapshot.total_bytes)
    assert [6, 4, 2, 1, 3, 0, 0, 0] == [snapshot.certain.parts[name].low / MIB for name in GROUPS]
    assert [6, 4, 2, 1, 3, 0, 0, 0] == [snapshot.likely.parts[name].high / MIB for name in GROUPS]


@pytest.mark.parametrize(("quantity", "wholes"), [("in_use", [10, 30]), ("live", [8, 28])])
def test_an_account_of_the_live_heap_has_nothing_else(quantity, wholes):
    """
    A log rounds down, so its size is the lower end; a profile's is the middle.
    """
    sizes = [Interval(8, 12), Interval(28, 32)]

    account = account_of_live_heap(quantity, ["a", "b"], [1.0, 2.0], sizes)

    assert (quantity, wholes) == (
        account.quantity, [snapshot.total_bytes for snapshot in account.snapshots],
    )  # fmt: skip
    assert [("a", 1.0), ("b", 2.0)] == [
        (snapshot.moment, snapshot.seconds) for snapshot in account.snapshots
    ]
    assert [sizes, sizes] == [account.levels(groups)[1] for groups in (L, ALL)]
    assert Interval.exactly(0) == account.last.likely.together(NOT_GO)


def test_a_live_heap_is_not_below_nothing():
    account = account_of_live_heap("in_use", ["a"], [1.0], [Interval(-4, 10)])

    assert (Interval(0, 10), 5) == (account.last.likely.parts[LIVE], account.last.total_bytes)


@pytest.mark.parametrize(("largest", "doubt"), [(100, 10), (10, 1), (3, 1), (0, 1)])
def test_a_tenth_or_a_mebibyte_is_close_enough_to_draw(largest, doubt):
    assert doubt * MIB == drawn_doubt(largest * MIB)


def test_what_might_not_have_moved_moved_for_sure_by_nothing():
    unsure = {frozenset({NATIVE}): Interval(-1, 1), frozenset({FILES}): Interval(0, 9)}

    assert 0 == _surely_moved(unsure)
    assert 5 == _surely_moved(unsure | {frozenset({LIVE}): Interval(-7, -5)})
