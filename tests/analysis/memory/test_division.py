"""RSS as a tree of parts that adds up to the byte: what is known, what is certain, and the rest."""

import pytest

from gomem.analysis.memory.account import Snapshot
from gomem.analysis.memory.bounds import Bounds, Interval
from gomem.analysis.memory.division import ROOT, Share, divided
from gomem.analysis.memory.groups import (
    FILES,
    FREE,
    GARBAGE,
    LIVE,
    NATIVE,
    OBJECTS,
    PROGRAM,
    RUNTIME,
    STACKS,
)  # fmt: skip
from gomem.analysis.memory.readings import ALL, FILE_GROUPS, GO_HEAP, GROUPS
from gomem.inputs.pprof.calls.rooted import Frame
from gomem.units import MIB

GARBAGE_NAME = "allocated since the last GC"


def snapshot(total: float, sums=(), certain: dict | None = None, **parts) -> Snapshot:
    """A snapshot in MiB; a part is a size or its bounds, and one that is not given is 0."""

    def bounds(sizes: dict) -> Bounds:
        intervals = dict.fromkeys(GROUPS, Interval.exactly(0)) | {
            name: Interval(*(end * MIB for end in (size if type(size) is tuple else (size, size))))
            for name, size in sizes.items()
        }
        whole = (ALL, Interval.exactly(total * MIB))
        more = ((members, Interval.exactly(size * MIB)) for members, size in sums)
        return Bounds(intervals, (whole, *more)).closed()

    likely = bounds(parts)
    known = likely if certain is None else bounds(parts | certain)
    return Snapshot("m", None, round(total * MIB), known, likely)


def tree(found) -> dict[str, tuple[float, float]]:
    """RSS and reserved memory of each path, in MiB."""
    sizes: dict[str, tuple[float, float]] = {}
    for share in found.shares:
        path = " / ".join(frame.name for frame in share.path[1:])
        rss, reserved = sizes.get(path, (0, 0))
        sizes[path] = (rss + share.rss_bytes / MIB, reserved + share.reserved_bytes / MIB)
    return sizes


def test_known_parts_stand_below_go_and_not_go_and_empty_ones_are_left_out():
    parts = {LIVE: 40, GARBAGE: 10, FREE: 5, RUNTIME: 3, NATIVE: 20, FILES: 7, PROGRAM: 15}

    found = divided(snapshot(100, **parts), {}, {})

    assert {
        "Go / live heap": (40, 0),
        f"Go / {GARBAGE_NAME}": (10, 0),
        "Go / free Go heap / not broken down": (5, 0),
        "Go / Go runtime": (3, 0),
        "not Go / C and other native memory": (20, 0),
        "not Go / mapped files and shared memory": (7, 0),
        "not Go / program text and data": (15, 0),
    } == tree(found)
    assert 0 == found.doubt_bytes
    assert {LIVE, GARBAGE, FREE, RUNTIME, NATIVE, FILES, PROGRAM} == {
        share.group for share in found.shares
    }
    assert all(ROOT == share.path[0] for share in found.shares)


def test_a_process_without_resident_memory_has_no_shares():
    assert () == divided(snapshot(0), {}, {}).shares


def test_narrow_bounds_become_their_middle_and_half_their_width_is_the_doubt():
    """
    A tenth of 100 MiB is narrow: 45 and 55 of each, at most 5 off.
    """
    found = divided(snapshot(100, **{LIVE: (40, 50), NATIVE: (50, 60)}), {}, {})

    assert {"Go / live heap": (45, 0), "not Go / C and other native memory": (55, 0)} == tree(found)
    assert 5 * MIB == found.doubt_bytes


def test_wide_bounds_leave_what_is_certain_and_the_rest_is_not_broken_down():
    """
    20 of 100 MiB are more than a tenth: 40 and 40 are certain, 20 are of either.
    """
    found = divided(snapshot(100, **{LIVE: (40, 60), NATIVE: (40, 60)}), {}, {})

    assert {
        "Go / live heap": (40, 0),
        "not Go / C and other native memory": (40, 0),
        "not broken down": (20, 0),
    } == tree(found)
    assert 0 == found.doubt_bytes


def test_what_is_likely_and_wide_is_as_small_as_is_certain():
    bounds = {LIVE: (30, 60), NATIVE: (40, 70)}

    found = divided(snapshot(100, certain={LIVE: (10, 90), NATIVE: (10, 90)}, **bounds), {}, {})

    assert {
        "Go / live heap": (10, 0),
        "not Go / C and other native memory": (10, 0),
        "not broken down": (80, 0),
    } == tree(found)


def test_bounds_as_wide_as_a_small_part_is_are_not_narrow():
    """
    97 to 100 MiB are narrow and become 98.5; of 0 to 3 MiB the middle says nothing.
    """
    found = divided(snapshot(100, **{LIVE: (97, 100), STACKS: (0, 3)}), {}, {})

    assert {"Go / live heap": (98.5, 0), "Go / Go heap / not broken down": (1.5, 0)} == tree(found)
    assert 1.5 * MIB == found.doubt_bytes


@pytest.mark.parametrize(
    ("whole", "groups", "between", "group"),
    [
        (frozenset({LIVE, GARBAGE}), (LIVE, GARBAGE), "Go / Go objects and garbage", OBJECTS),
        (GO_HEAP, (LIVE, FREE), "Go / Go heap", ""),
        (FILE_GROUPS, (FILES, PROGRAM), "not Go / files and program text", ""),
    ],
)
def test_a_whole_that_is_not_divided_has_its_own_name(whole, groups, between, group):
    bounds = dict.fromkeys(groups, (0, 30)) | {RUNTIME: 70}

    found = divided(snapshot(100, [(whole, 30)], **bounds), {}, {})

    rest = next(share for share in found.shares if share.path[-1].name == "not broken down")
    assert (30, 0) == tree(found)[f"{between} / not broken down"]
    assert (group, 30 * MIB) == (rest.group, rest.rss_bytes)
    assert 100 * MIB == sum(share.rss_bytes for share in found.shares)


def test_reserved_memory_that_is_not_in_rss_stands_beside_its_part():
    """
    Of 60 reserved for objects 50 are in RSS; the runtime has 8 of 12, and stacks 4, of which none.
    """
    reserved = {OBJECTS: 60 * MIB, RUNTIME: 12 * MIB, STACKS: 4 * MIB}
    bounds = {LIVE: 40, GARBAGE: 10, RUNTIME: 8}

    found = tree(divided(snapshot(58, **bounds), reserved, {}))

    assert (8, 4) == found["Go / Go runtime"]
    assert (0, 4) == found["Go / goroutine stacks"]
    assert (40, 0) == found["Go / live heap"]


def test_reserved_objects_stand_beside_objects_that_are_not_divided():
    bounds = dict.fromkeys((LIVE, GARBAGE), (0, 30)) | {NATIVE: 70}
    whole = [(frozenset({LIVE, GARBAGE}), 30)]

    found = tree(divided(snapshot(100, whole, **bounds), {OBJECTS: 45 * MIB}, {}))

    assert (30, 15) == found["Go / Go objects and garbage / not broken down"]


def test_what_is_beyond_a_heap_that_is_not_divided_is_counted_once():
    """
    30 MiB of heap in RSS, at least 12 of it live; 20 + 25 + 5 are reserved, and 3 are released.
    """
    bounds = {LIVE: (12, 30), FREE: (0, 18), RUNTIME: 70}
    reserved = {OBJECTS: 20 * MIB, FREE: 25 * MIB, STACKS: 5 * MIB}
    parts = {"heap_released_resident": 3 * MIB}

    found = tree(divided(snapshot(100, [(GO_HEAP, 30)], **bounds), reserved, parts))

    assert (12, 0) == found["Go / live heap"]
    assert (18, 23) == found["Go / Go heap / not broken down"]
    assert 23 == sum(beyond for _, beyond in found.values())


def free(size: int, reserved: int = 0, **parts: int) -> dict[str, tuple[float, float]]:
    """The parts of so much free heap, by the ledger's; 70 MiB of C memory are beside it."""
    ledger = {part: mib * MIB for part, mib in parts.items()}
    bounds = snapshot(70 + size, **{FREE: size, NATIVE: 70})
    found = tree(divided(bounds, {FREE: reserved * MIB} if reserved else {}, ledger))
    return {
        path.removeprefix("Go / free Go heap / "): sizes
        for path, sizes in found.items()
        if path.startswith("Go")
    }


def test_free_heap_is_divided_by_the_ledger():
    assert {
        "free slots": (4, 0),
        "idle heap": (10, 0),
        "released, still in RSS": (5, 0),
        "in RSS beyond what Go counts": (2, 0),
    } == free(21, heap_slack=4, heap_idle=10, heap_released_resident=5, heap_unexplained=2)


def test_a_part_of_the_ledger_without_bytes_is_no_part_of_the_free_heap():
    assert {"idle heap": (10, 0)} == free(10, heap_idle=10, heap_slack=0, heap_untouched=-5)


def test_untouched_memory_is_of_either_slots_or_idle_heap_and_never_of_released():
    """
    20 idle, 40 slots and 5 released are 65, of which 15 are not in RSS: 5 to 20, 25 to 40, and 5.
    """
    found = free(50, 60, heap_slack=40, heap_idle=20, heap_released_resident=5)

    assert {
        "free slots": (25, 0),
        "idle heap": (5, 15),
        "released, still in RSS": (5, 0),
        "not broken down": (15, 0),
    } == found


@pytest.mark.parametrize(("reserved", "place"), [(20, "idle heap"), (21, "not broken down")])
def test_reserved_memory_beyond_free_heap_is_idle_if_idle_heap_has_so_much(reserved, place):
    """
    10 of free heap in RSS, and 10 of idle heap: another 10 may be idle, and 11 may not.
    """
    ledger = {"heap_idle": 10 * MIB}

    found = divided(snapshot(110, **{FREE: 10, NATIVE: 100}), {FREE: reserved * MIB}, ledger).shares

    beyond = next(share for share in found if share.reserved_bytes)
    assert (place, 0, reserved - 10) == (
        beyond.path[-1].name, beyond.rss_bytes, beyond.reserved_bytes / MIB,
    )  # fmt: skip


def test_a_share_is_split_into_named_parts_and_a_rest():
    whole = Share((ROOT,), LIVE, 100, reserved_bytes=7)
    first, second = (Frame("a"),), (Frame("b"), Frame("c"))

    shares = whole.split([(first, 60), (second, 0), (second, 30)])

    assert [("a", 60, 0), ("c", 30, 0), ("not broken down", 10, 7)] == [
        (share.path[-1].name, share.rss_bytes, share.reserved_bytes) for share in shares
    ]
    assert (ROOT, Frame("b"), Frame("c")) == shares[1].path
    assert {LIVE} == {share.group for share in shares}


def test_a_share_that_its_parts_fill_has_no_rest():
    parts = [((Frame("a"),), 100)]

    assert 1 == len(Share((ROOT,), LIVE, 100).split(parts))
    assert [100, 0] == [
        share.rss_bytes for share in Share((ROOT,), LIVE, 100, reserved_bytes=1).split(parts)
    ]
