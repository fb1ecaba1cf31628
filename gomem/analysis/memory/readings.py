"""What do a snapshot's files prove about each group of memory, and what do other snapshots imply?

With smaps and MemStats, a group is known to the byte. With fewer files, it has bounds. The bounds
are narrower if the nearest snapshots show which share of Go's reserved memory was touched: this
share is then assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

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
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GROUPS = (LIVE, GARBAGE, FREE, STACKS, RUNTIME, NATIVE, FILES, PROGRAM)
GO_HEAP = frozenset({LIVE, GARBAGE, FREE, STACKS})
HEAP_PAGES = GO_HEAP - {STACKS}
GO = GO_HEAP | {RUNTIME}
NOT_GO = frozenset({NATIVE, FILES, PROGRAM})
FILE_GROUPS = frozenset({FILES, PROGRAM})
ALL = frozenset(GROUPS)
# of RSS: error of the neighbours' share, exceeded in one of twenty snapshots
UNTOUCHED_ERROR = 0.05
CONTRADICTS = 2.0  # times RSS: Go cannot have that much resident, so one of both is of another time
# The resident share of memory reserved by Go: the range in 19 of 20 recorded snapshots; for the
# arenas, and for the runtime's own structures.
RESIDENT_HEAP, RESIDENT_RUNTIME = (0.35, 1.0), (0.10, 0.80)
PROGRAM_DATA = 4 * MIB  # upper bound of resident data and bss, if no smaps shows them
# upper bound of the runtime's structures beyond MemStats' count: the maximum was 0.5 MiB
UNCOUNTED = MIB
ASSUMED = "the share of Go's reserved memory that was never touched is as in the nearest snapshot"
SUPPOSED = "the program's own data and bss are as small as in most programs"
LAGS = "the heap profile lags by two GCs at most"
PRESUMED = "the share of Go's reserved memory that was never touched is as in most programs"


@dataclass(frozen=True)
class Reading:
    """The memory data in one snapshot's files."""

    moment: str  # its name
    seconds: float | None = None  # its time on the capture's clock; None if unknown
    rss_bytes: int | None = None  # RSS; None if unknown
    # Resident bytes of the arenas (`heap`), and of each other group, by smaps; None without smaps.
    resident: Mapping[str, int] | None = None
    # Memory reserved by Go, by group; empty without MemStats.
    reserved: Mapping[str, int] = field(default_factory=dict)
    live_bytes: int | None = None  # what the last collection marked; None if unknown
    is_one_state: bool = True  # whether MemStats and smaps show one state of the process
    # Released with MADV_FREE but still counted; None if unknown.
    lazy_free_bytes: int | None = None
    # Resident pages of files and shared memory; None if unknown.
    file_bytes: int | None = None
    shared_bytes: int = 0  # the part of shared memory
    # Anonymous pages of the program and its libraries, by smaps.
    program_data_bytes: int | None = None
    # Resident C heap, as counted by the program; None if unknown.
    native_bytes: int | None = None
    sys_bytes: int | None = None  # all that Go has mapped; None if unknown, or if `reserved` is not
    # What the heap most likely has at most, by all that was ever allocated; None if unknown.
    heap_at_most: float | None = None
    # Whether the reserved memory of the runtime includes the rest of Go's: free slots and stacks.
    is_runtime_all_else: bool = False

    @cached_property
    def divides(self) -> bool:
        """Whether the snapshot shows how much of Go's reserved memory is resident."""
        return self.resident is not None and bool(self.reserved) and self.is_one_state

    @property
    def reserved_heap_bytes(self) -> int:
        """Bytes that Go has reserved in its arenas and not released."""
        return sum(size for group, size in self.reserved.items() if group in _CLAIMED_HEAP)


OBJECTS = "objects"  # as a key of `reserved`: live and garbage
_CLAIMED_HEAP = (OBJECTS, FREE, STACKS)


def nearest_that_divide(readings: Sequence[Reading], place: int) -> list[Reading]:
    """Return the nearest snapshots on either side that show which reserved memory was touched."""
    before = next((reading for reading in reversed(readings[:place]) if reading.divides), None)
    after = next((reading for reading in readings[place + 1 :] if reading.divides), None)
    return [reading for reading in (before, after) if reading is not None]


def with_objects(
    parts: Mapping[str, Interval], objects: Interval, reserved: int, live_bytes: int | None
) -> Bounds:
    """Add objects to the parts, as live heap and garbage with bounds.

    `live_bytes` is what the last collection marked; if None, the bounds of both are wide.
    """
    live = Interval(0, reserved)
    garbage = Interval(0, reserved)
    if live_bytes is not None:
        marked = min(live_bytes, reserved)
        untouched = max(0.0, reserved - objects.low)
        live = Interval(max(0.0, marked - untouched), marked)
        garbage = Interval(max(0.0, reserved - marked - untouched), reserved - marked)
    both = frozenset({LIVE, GARBAGE})
    return Bounds(dict(parts) | {LIVE: live, GARBAGE: garbage}, ((both, objects),))


def certain_bounds(reading: Reading) -> Bounds:
    """Return the bounds that a snapshot's files prove."""
    whole = Interval.exactly(reading.rss_bytes or 0)
    if reading.resident is not None:
        return _by_mappings(reading, reading.resident, whole)
    anything = Interval(0, whole.high)
    parts = dict.fromkeys(ALL, anything)
    sums: list[tuple[frozenset[str], Interval]] = [(ALL, whole)]
    if reading.file_bytes is not None:
        sums.append((FILE_GROUPS, Interval(min(reading.file_bytes, whole.high), whole.high)))
        parts[FILES] = Interval(reading.shared_bytes, reading.file_bytes)
        parts[NATIVE] = Interval(0, max(0, whole.high - reading.file_bytes))
    if reading.native_bytes is not None:
        parts[NATIVE] = Interval(min(reading.native_bytes, parts[NATIVE].high), parts[NATIVE].high)
    if not reading.reserved and reading.sys_bytes is not None:
        sums.append((GO, Interval(0, min(reading.sys_bytes + UNCOUNTED, whole.high))))
    if not reading.reserved:
        return Bounds(parts, tuple(sums))
    released = whole.high if reading.lazy_free_bytes is None else reading.lazy_free_bytes
    sizes = reading.reserved
    else_of_go = sizes.get(RUNTIME, 0) if reading.is_runtime_all_else else 0
    parts[FREE] = Interval(0, sizes.get(FREE, 0) + released + else_of_go)
    parts[STACKS] = Interval(0, sizes.get(STACKS, 0) + else_of_go)
    parts[RUNTIME] = Interval(0, sizes.get(RUNTIME, 0) + UNCOUNTED)
    objects = sizes.get(OBJECTS, 0)
    divided = with_objects(parts, Interval(0, objects), objects, reading.live_bytes)
    return Bounds(divided.parts, (*sums, *divided.sums))


def _by_mappings(reading: Reading, resident: Mapping[str, int], whole: Interval) -> Bounds:
    """Return bounds with smaps: all groups are known, and the heap as a whole."""
    outside = (RUNTIME, NATIVE, FILES, PROGRAM)
    parts = {group: Interval.exactly(resident.get(group, 0)) for group in outside}
    heap = resident.get("heap", 0)
    sums = ((ALL, whole), (GO_HEAP, Interval.exactly(heap)))
    sizes = reading.reserved
    if not sizes or not reading.is_one_state:
        return Bounds(parts | dict.fromkeys(GO_HEAP, Interval(0, heap)), sums)
    lazy = reading.lazy_free_bytes or 0
    untouched = max(0, reading.reserved_heap_bytes + lazy - heap)
    beyond = max(0, heap - reading.reserved_heap_bytes - lazy)
    free = sizes.get(FREE, 0)
    parts[FREE] = Interval(max(0, free - untouched) + lazy, free + lazy + beyond)
    parts[STACKS] = _touched(sizes.get(STACKS, 0), untouched)
    objects = sizes.get(OBJECTS, 0)
    divided = with_objects(parts, _touched(objects, untouched), objects, reading.live_bytes)
    return Bounds(divided.parts, (*sums, *divided.sums))


def _touched(reserved: int, untouched: int) -> Interval:
    return Interval(max(0, reserved - untouched), reserved)


def likely_bounds(reading: Reading, near: Sequence[Reading], certain: Bounds) -> tuple[Bounds, str]:
    """Return bounds that hold in 95 % of cases, and the assumption behind them."""
    if reading.resident is not None:
        return _freely(reading, certain), ""
    if not reading.reserved:
        return _likely_of_totals(reading, near, certain)
    rss = reading.rss_bytes or 0
    heap, runtime = _resident_go(reading, near)
    if heap.low + runtime.low > CONTRADICTS * rss:  # RSS is of another time than MemStats
        return certain, ""
    margin = UNTOUCHED_ERROR * rss if near else 0.0
    go = _near(heap + runtime, margin, certain.together(GO))
    sums = [(GO, go), (GO_HEAP, _near(heap, margin, certain.together(GO_HEAP)))]
    if reading.file_bytes is not None:
        sums.append(_files_and_data(reading.file_bytes, near))
    narrower = Bounds(certain.parts, (*certain.sums, *sums)).closed()
    return narrower, ASSUMED if near else PRESUMED


def _likely_of_totals(
    reading: Reading, near: Sequence[Reading], certain: Bounds
) -> tuple[Bounds, str]:
    """Return the bounds of files by a total, and of the heap by all that was ever allocated."""
    sums, supposed = [*certain.sums], list[str]()
    if reading.sys_bytes is not None and reading.file_bytes is not None:
        sums.append(_files_and_data(reading.file_bytes, near))
        supposed.append(SUPPOSED)
    if reading.heap_at_most is not None:
        most = min(reading.heap_at_most, certain.together(HEAP_PAGES).high)
        sums.append((HEAP_PAGES, Interval(0, most)))
        supposed.append(LAGS)
    narrower = Bounds(certain.parts, tuple(sums)).closed() if supposed else certain
    return narrower, "; ".join(supposed)


def _files_and_data(file_bytes: int, near: Sequence[Reading]) -> tuple[frozenset[str], Interval]:
    """Return the bounds of files, and of the program's anonymous data beside them."""
    data = [other.program_data_bytes for other in near if other.program_data_bytes is not None]
    return FILE_GROUPS, Interval(file_bytes, file_bytes + (2 * max(data) if data else PROGRAM_DATA))


def _near(estimate: Interval, margin: float, certain: Interval) -> Interval:
    """Return an estimate with its margin, within the certain bounds.

    If it is outside them, the nearest end is used, with the same margin.
    """
    return estimate.within(certain).around(margin).within(certain)


def _resident_go(reading: Reading, near: Sequence[Reading]) -> tuple[Interval, Interval]:
    """Return how much reserved memory is resident: in the arenas, and in runtime structures."""
    heap, runtime = reading.reserved_heap_bytes, reading.reserved.get(RUNTIME, 0)
    lazy = reading.lazy_free_bytes or 0
    if not near:
        return (
            Interval(RESIDENT_HEAP[0] * heap + lazy, RESIDENT_HEAP[1] * heap + lazy),
            Interval(RESIDENT_RUNTIME[0] * runtime, RESIDENT_RUNTIME[1] * runtime),
        )
    estimates: list[float] = []
    structures: list[float] = []
    for other in near:
        assert other.resident is not None
        touched = other.resident.get("heap", 0) - (other.lazy_free_bytes or 0)
        reserved = other.reserved_heap_bytes
        share = touched / reserved if reserved else 1.0
        less = min(max(heap + touched - reserved, 0), heap)
        estimates += [share * heap + lazy, less + lazy]
        claimed = other.reserved.get(RUNTIME, 0)
        structures.append(runtime * other.resident.get(RUNTIME, 0) / claimed if claimed else 0.0)
    return (Interval(min(estimates), max(estimates)), Interval(min(structures), max(structures)))


def _freely(reading: Reading, certain: Bounds) -> Bounds:
    """With smaps: take untouched memory to be free heap first, if there is enough."""
    free = reading.reserved.get(FREE, 0)
    untouched = certain.parts[FREE].high - certain.parts[FREE].low
    if not reading.divides or untouched > free:
        return certain
    lowest = Interval.exactly(certain.parts[FREE].low)
    return Bounds(dict(certain.parts) | {FREE: lowest}, certain.sums).closed()
