"""What a snapshot's files prove of each group of memory, and what the nearest snapshots imply."""

from dataclasses import replace

import pytest

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
    ASSUMED,
    FILE_GROUPS,
    GO,
    GO_HEAP,
    GROUPS,
    HEAP_PAGES,
    LAGS,
    OBJECTS,
    PRESUMED,
    Reading,
    certain_bounds,
    likely_bounds,
    nearest_that_divide,
    with_objects,
)
from gomem.units import MIB


def reading(moment: str = "m", **fields) -> Reading:
    """A reading whose sizes are in MiB."""

    def in_bytes(name, value):
        if isinstance(value, dict):
            return {group: round(size * MIB) for group, size in value.items()}
        return round(value * MIB) if name.endswith("_bytes") else value

    return Reading(moment, **{name: in_bytes(name, value) for name, value in fields.items()})


def mib(interval: Interval) -> tuple[float, float]:
    return interval.low / MIB, interval.high / MIB


def parts_of(bounds: Bounds, *groups: str) -> list[tuple[float, float]]:
    return [mib(bounds.parts[group]) for group in groups]


def test_all_that_was_ever_allocated_most_likely_bounds_the_heap():
    """
    No MemStats: of 90 MiB, 6 are files, and Go has allocated 18 at most.
    """
    snapshot = reading(rss_bytes=90, file_bytes=6, heap_at_most=18 * MIB)
    certain = certain_bounds(snapshot).closed()

    likely, assumption = likely_bounds(snapshot, [], certain)

    assert 18 * MIB == likely.together(HEAP_PAGES).high < certain.together(HEAP_PAGES).high
    assert LAGS == assumption


SMAPS = {"heap": 57, RUNTIME: 3, NATIVE: 20, FILES: 4, PROGRAM: 6}
CLAIMS = {OBJECTS: 40, FREE: 12, STACKS: 8, RUNTIME: 5}
BOTH = reading(rss_bytes=90, resident=SMAPS, reserved=CLAIMS, live_bytes=30, lazy_free_bytes=0)


def with_heap(resident_mib: int, **more) -> Reading:
    """The same with so much of the arenas in RSS."""
    sizes = BOTH.resident | {"heap": resident_mib * MIB}
    return replace(BOTH, resident=sizes, rss_bytes=sum(sizes.values()), **more)


@pytest.mark.parametrize(
    ("fields", "divides"),
    [
        ({}, True),
        ({"resident": None}, False),
        ({"reserved": {}}, False),
        ({"is_one_state": False}, False),
    ],
)
def test_smaps_and_memstats_of_one_state_divide(fields, divides):
    assert divides is replace(BOTH, **fields).divides


def test_the_arenas_have_objects_free_heap_and_stacks_and_not_the_runtimes_structures():
    assert 60 * MIB == BOTH.reserved_heap_bytes
    assert 0 == reading().reserved_heap_bytes


@pytest.mark.parametrize(
    ("place", "expected"), [(0, "b"), (1, "e"), (2, "be"), (3, "be"), (4, "b"), (5, "e")]
)
def test_the_nearest_on_either_side_are_taken_and_never_the_snapshot_itself(place, expected):
    several = [
        replace(BOTH, moment=moment, is_one_state=moment in "be") for moment in "abcdef"
    ]  # fmt: skip

    near = nearest_that_divide(several, place)

    assert expected == "".join(other.moment for other in near)


@pytest.mark.parametrize(
    ("live_bytes", "live", "garbage"),
    [
        pytest.param(60, (50, 60), (30, 40), id="10 of 100 are not in RSS, of either"),
        pytest.param(100, (90, 100), (0, 0), id="all"),
        pytest.param(130, (90, 100), (0, 0), id="more than there is"),
        pytest.param(5, (0, 5), (85, 95), id="fewer than are not in RSS"),
        pytest.param(95, (85, 95), (0, 5), id="garbage of less than is not in RSS"),
        pytest.param(0, (0, 0), (90, 100), id="none"),
        pytest.param(None, (0, 100), (0, 100), id="unknown"),
    ],
)
def test_a_mark_divides_objects(live_bytes, live, garbage):
    found = with_objects({FREE: Interval(1, 2)}, Interval(90, 95), 100, live_bytes)

    assert {FREE: Interval(1, 2), LIVE: Interval(*live), GARBAGE: Interval(*garbage)} == found.parts
    assert ((frozenset({LIVE, GARBAGE}), Interval(90, 95)),) == found.sums


def test_rss_alone_bounds_every_group_by_rss():
    bounds = certain_bounds(reading(rss_bytes=50))

    assert [(0, 50)] * 8 == parts_of(bounds, *GROUPS)
    assert ((ALL, Interval.exactly(50 * MIB)),) == bounds.sums
    assert ((ALL, Interval.exactly(0)),) == certain_bounds(reading()).sums


def test_file_pages_bound_files_and_native_memory():
    """
    Of 50, 20 are pages of files, 5 of these shared memory: files have 5 to 20, C has at most 30.
    """
    bounds = certain_bounds(reading(rss_bytes=50, file_bytes=20, shared_bytes=5))

    assert [(5, 20), (0, 30), (0, 50)] == parts_of(bounds, FILES, NATIVE, PROGRAM)
    assert (20, 50) == mib(dict(bounds.sums)[FILE_GROUPS])


def test_more_file_pages_than_rss_leave_nothing_else():
    bounds = certain_bounds(reading(rss_bytes=50, file_bytes=60))

    assert (50, 50) == mib(dict(bounds.sums)[FILE_GROUPS])
    assert [(0, 0)] == parts_of(bounds, NATIVE)


@pytest.mark.parametrize(("native", "bounds"), [(12, (12, 30)), (30, (30, 30)), (40, (30, 30))])
def test_a_counted_c_heap_is_the_least_of_native_memory(native, bounds):
    found = certain_bounds(reading(rss_bytes=50, file_bytes=20, native_bytes=native))

    assert [bounds] == parts_of(found, NATIVE)


def test_go_has_no_more_than_it_has_reserved_and_a_mebibyte_that_is_not_counted():
    bounds = certain_bounds(
        reading(rss_bytes=90, reserved=CLAIMS, live_bytes=30, lazy_free_bytes=2)
    )

    assert [(0, 30), (0, 10), (0, 14), (0, 8), (0, 6), (0, 90)] == parts_of(
        bounds, LIVE, GARBAGE, FREE, STACKS, RUNTIME, NATIVE
    )
    assert (0, 40) == mib(dict(bounds.sums)[frozenset({LIVE, GARBAGE})])


def test_unknown_released_memory_may_be_all_of_rss():
    bounds = certain_bounds(reading(rss_bytes=90, reserved=CLAIMS))

    assert [(0, 102), (0, 40), (0, 40)] == parts_of(bounds, FREE, LIVE, GARBAGE)


def test_a_log_that_has_the_rest_of_go_in_one_number_bounds_each_part_by_it():
    """
    5 of the runtime's may be free slots or stacks.
    """
    bounds = certain_bounds(
        reading(rss_bytes=90, reserved=CLAIMS, lazy_free_bytes=0, is_runtime_all_else=True)
    )

    assert [(0, 17), (0, 13), (0, 6)] == parts_of(bounds, FREE, STACKS, RUNTIME)


def test_reserved_memory_that_a_group_does_not_have_is_none():
    bounds = certain_bounds(reading(rss_bytes=90, reserved={OBJECTS: 9}, lazy_free_bytes=0))

    assert [(0, 0), (0, 0), (0, 1)] == parts_of(bounds, FREE, STACKS, RUNTIME)


def test_untouched_memory_is_of_any_part_of_the_heap():
    """
    60 are reserved in the arenas and 57 resident: 3 of any part were not touched.
    """
    bounds = certain_bounds(BOTH)

    assert [(27, 30), (7, 10), (9, 12), (5, 8)] == parts_of(bounds, LIVE, GARBAGE, FREE, STACKS)
    assert [(3, 3), (20, 20), (4, 4), (6, 6)] == parts_of(bounds, RUNTIME, NATIVE, FILES, PROGRAM)
    assert (57, 57) == mib(dict(bounds.sums)[GO_HEAP])
    assert (90, 90) == mib(dict(bounds.sums)[ALL])


def test_released_memory_in_rss_is_free_heap_for_sure():
    """
    2 are released and in RSS: 5 of 60 were not touched; free heap has 7 to 12, and these 2.
    """
    bounds = certain_bounds(replace(BOTH, lazy_free_bytes=2 * MIB))

    assert [(9, 14), (3, 8)] == parts_of(bounds, FREE, STACKS)


def test_resident_memory_beyond_what_is_reserved_may_be_free_heap():
    """
    65 resident, 60 reserved and 2 released: 3 that nobody counts.
    """
    beyond = with_heap(65, lazy_free_bytes=2 * MIB)

    assert [(14, 17), (8, 8), (30, 30)] == parts_of(certain_bounds(beyond), FREE, STACKS, LIVE)


def test_more_untouched_memory_than_a_part_has_leaves_it_nothing():
    bounds = certain_bounds(with_heap(40))

    assert [(0, 12), (0, 8), (10, 30)] == parts_of(bounds, FREE, STACKS, LIVE)


@pytest.mark.parametrize("fields", [{"is_one_state": False}, {"reserved": {}}])
def test_smaps_alone_bound_each_part_of_the_heap_by_the_heap(fields):
    bounds = certain_bounds(replace(BOTH, **fields))

    assert [(0, 57)] * 4 == parts_of(bounds, LIVE, GARBAGE, FREE, STACKS)
    assert [(3, 3), (20, 20)] == parts_of(bounds, RUNTIME, NATIVE)


def likely(snapshot: Reading, *near: Reading) -> tuple[Bounds, str]:
    return likely_bounds(snapshot, near, certain_bounds(snapshot).closed())


def test_untouched_memory_is_most_likely_free_heap():
    bounds, assumption = likely(BOTH)

    assert [(30, 30), (10, 10), (9, 9), (8, 8)] == parts_of(bounds, LIVE, GARBAGE, FREE, STACKS)
    assert "" == assumption


def test_as_much_untouched_memory_as_free_heap_is_all_of_it():
    """
    12 of 60 were not touched, and 12 are free.
    """
    bounds, _ = likely(with_heap(48))

    assert [(30, 30), (10, 10), (0, 0), (8, 8)] == parts_of(bounds, LIVE, GARBAGE, FREE, STACKS)


@pytest.mark.parametrize("free", [12, 80])
def test_what_two_states_of_a_process_show_is_not_divided_further(free):
    two = replace(BOTH, is_one_state=False, reserved=BOTH.reserved | {FREE: free * MIB})

    bounds, assumption = likely(two)

    assert (certain_bounds(two).closed().parts, "") == (bounds.parts, assumption)


def test_without_memstats_nothing_more_is_likely():
    alone = reading(rss_bytes=50, file_bytes=20)

    bounds, assumption = likely(alone, BOTH)

    assert (certain_bounds(alone).closed().parts, "") == (bounds.parts, assumption)


COARSE = reading(rss_bytes=200, reserved=CLAIMS | {RUNTIME: 10}, lazy_free_bytes=0)


def go_of(bounds: Bounds) -> list[tuple[float, float]]:
    """Bounds of Go's memory in RSS, and of its arenas."""
    return [pytest.approx(mib(bounds.together(groups))) for groups in (GO, GO_HEAP)]


def test_without_a_neighbour_go_has_what_most_programs_have():
    """
    35 to 100 % of 60 in the arenas, and 10 to 80 % of 10 in the runtime's structures.
    """
    bounds, assumption = likely(COARSE)

    assert [(22, 68), (21, 60)] == go_of(bounds)
    assert PRESUMED == assumption


def test_without_a_neighbour_released_memory_is_added():
    bounds, _ = likely(replace(COARSE, lazy_free_bytes=5 * MIB))

    assert [(27, 73), (26, 65)] == go_of(bounds)


HALF = reading(resident={"heap": 30, RUNTIME: 4}, reserved={OBJECTS: 60, RUNTIME: 8})


def test_a_neighbours_share_is_taken_or_its_untouched_bytes_with_a_twentieth_of_rss():
    """
    Half of 60 in the arenas is 30, and so is 60 less 30; half of 10 in the structures is 5. Off by
    at most 10.
    """
    bounds, assumption = likely(COARSE, HALF)

    assert [(25, 45), (20, 40)] == go_of(bounds)
    assert ASSUMED == assumption


def test_a_neighbour_with_a_smaller_heap_bounds_by_share_and_by_bytes():
    """
    100 reserved: half are 50, and 30 less are 70; with 5 and 10 on either side.
    """
    larger = replace(COARSE, reserved=COARSE.reserved | {OBJECTS: 80 * MIB})

    assert [(45, 85), (40, 80)] == go_of(likely(larger, HALF)[0])


def test_a_neighbour_with_more_untouched_memory_than_is_reserved_here_bounds_at_zero():
    """
    20 reserved: half are 10, and 30 less are none.
    """
    smaller = replace(COARSE, reserved={OBJECTS: 20 * MIB, RUNTIME: 10 * MIB}, rss_bytes=40 * MIB)

    assert [(3, 17), (0, 12)] == go_of(likely(smaller, HALF)[0])


def test_of_two_neighbours_both_are_within_the_bounds():
    """
    Half of 60 and of 10, and all of them, with 10 on either side; but Go has at most 60 and 11.
    """
    full = reading(resident={"heap": 60, RUNTIME: 8}, reserved={OBJECTS: 60, RUNTIME: 8})

    assert [(25, 71), (20, 60)] == go_of(likely(COARSE, HALF, full)[0])


def test_released_memory_of_a_neighbour_says_nothing_of_what_was_touched():
    other = replace(HALF, resident=HALF.resident | {"heap": 37 * MIB}, lazy_free_bytes=7 * MIB)

    assert [(27, 47), (22, 42)] == go_of(likely(replace(COARSE, lazy_free_bytes=2 * MIB), other)[0])


def test_a_neighbour_without_arenas_says_nothing_of_them():
    """
    All of 60 may be in RSS, less the error of 10; and half of 10.
    """
    other = replace(HALF, resident={RUNTIME: 4 * MIB}, reserved={RUNTIME: 8 * MIB})

    assert [(55, 71), (50, 60)] == go_of(likely(COARSE, other)[0])


def test_a_neighbour_without_structures_has_none_in_rss():
    other = replace(HALF, reserved={OBJECTS: 60 * MIB})

    assert [(20, 40), (20, 40)] == go_of(likely(COARSE, other)[0])


@pytest.mark.parametrize(
    ("data", "highest"),
    [
        pytest.param((), 24, id="no neighbour: at most 4 of data and bss"),
        pytest.param((None,), 24, id="a neighbour that does not show them"),
        pytest.param((3,), 26, id="twice those of a neighbour"),
        pytest.param((3, 1), 26, id="of the largest"),
        pytest.param((0,), 20, id="none"),
    ],
)
def test_program_and_files_have_file_pages_and_data(data, highest):
    near = [
        replace(HALF, program_data_bytes=None if size is None else size * MIB) for size in data
    ]  # fmt: skip

    bounds, _ = likely(replace(COARSE, file_bytes=20 * MIB), *near)

    assert (20, highest) == mib(bounds.together(FILE_GROUPS))


def test_an_rss_far_below_what_go_has_for_sure_is_of_another_time_and_divides_nothing():
    """
    106 MiB in use beside 45 MiB of RSS: what is left of RSS says nothing of the program's text.
    """
    skewed = reading(rss_bytes=45, reserved={OBJECTS: 106, STACKS: 1, RUNTIME: 6})
    certain = certain_bounds(skewed).closed()

    assert (certain, "") == likely_bounds(skewed, [BOTH], certain)


def test_an_estimate_beyond_what_is_certain_ends_at_its_nearest_end_with_the_same_margin():
    """
    30 and 5 of Go, in an RSS of 20, of which a twentieth is 1.
    """
    small = replace(COARSE, rss_bytes=20 * MIB)

    assert [(19, 20), (19, 20)] == go_of(likely(small, HALF)[0])
