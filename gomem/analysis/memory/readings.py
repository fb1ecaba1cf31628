"""What one snapshot's files prove about each group of memory, and what its neighbours make likely.

With smaps and MemStats, a group is known to the byte. With fewer files, it has bounds. The touched
share of Go's reserved memory, taken from the nearest snapshots that show it, makes the bounds
narrower.
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
GO = GO_HEAP | {RUNTIME}
NOT_GO = frozenset({NATIVE, FILES, PROGRAM})
FILE_GROUPS = frozenset({FILES, PROGRAM})
ALL = frozenset(GROUPS)
UNTOUCHED_ERROR = 0.05  # of RSS: so far off the neighbours' share is in one of twenty moments
# Of what Go reserves, the share that is resident: from one to the other in 19 of 20 recorded
# moments; of the arenas, and of the runtime's own structures.
RESIDENT_HEAP, RESIDENT_RUNTIME = (0.35, 1.0), (0.10, 0.80)
PROGRAM_DATA = 4 * MIB  # data and bss that are resident, at most, where no smaps shows them
UNCOUNTED = MIB  # of the runtime's own structures beyond what MemStats count: 0.5 MiB was the most
ASSUMED = "the share of Go's reserved memory that was never touched is as in the nearest snapshot"
PRESUMED = "the share of Go's reserved memory that was never touched is as in most programs"


@dataclass(frozen=True)
class Reading:
    """What a moment's files say of its memory."""

    moment: str  # its name
    seconds: float | None = None  # when it was, on the capture's clock; None if that is not known
    rss_bytes: int | None = None  # resident bytes; None if no file says
    # Resident bytes of the arenas (`heap`), and of each other group, by smaps; None without smaps.
    resident: Mapping[str, int] | None = None
    # What Go has reserved for each of its groups; empty without MemStats.
    reserved: Mapping[str, int] = field(default_factory=dict)
    live_bytes: int | None = None  # what the last collection marked; None if nothing says
    is_one_state: bool = True  # whether MemStats and smaps show one state of the process
    # Released with MADV_FREE and still counted; None if no file says.
    lazy_free_bytes: int | None = None
    # Resident pages of files and of shared memory; None if no file says.
    file_bytes: int | None = None
    shared_bytes: int = 0  # those of shared memory
    # Anonymous pages of the program and its libraries, by smaps.
    program_data_bytes: int | None = None
    # C's heap that is resident, as the program counts it; None if nothing says.
    native_bytes: int | None = None
    # Whether what is reserved for the runtime is all else of Go's: free slots and stacks, too.
    is_runtime_all_else: bool = False

    @cached_property
    def divides(self) -> bool:
        """Whether it shows how much of Go's reserved memory is resident."""
        return self.resident is not None and bool(self.reserved) and self.is_one_state

    @property
    def reserved_heap_bytes(self) -> int:
        """What Go has reserved in its arenas and not released."""
        return sum(size for group, size in self.reserved.items() if group in _CLAIMED_HEAP)


OBJECTS = "objects"  # reserved: live and garbage
_CLAIMED_HEAP = (OBJECTS, FREE, STACKS)


def nearest_that_divide(readings: Sequence[Reading], place: int) -> list[Reading]:
    """The nearest moment on either side that shows what was touched."""
    before = next((reading for reading in reversed(readings[:place]) if reading.divides), None)
    after = next((reading for reading in readings[place + 1 :] if reading.divides), None)
    return [reading for reading in (before, after) if reading is not None]


def with_objects(
    parts: Mapping[str, Interval], objects: Interval, reserved: int, live_bytes: int | None
) -> Bounds:
    """With objects as live heap and garbage, as far as the last collection's mark divides them."""
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
    """What the files of a moment prove."""
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
    """With smaps: all but the heap is known, and the heap as a whole."""
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
    """What holds in 95 of 100; and by which assumption."""
    if reading.resident is not None:
        return _freely(reading, certain), ""
    if not reading.reserved:
        return certain, ""
    rss = reading.rss_bytes or 0
    heap, runtime = _resident_go(reading, near)
    margin = UNTOUCHED_ERROR * rss if near else 0.0
    go = _near(heap + runtime, margin, certain.together(GO))
    sums = [(GO, go), (GO_HEAP, _near(heap, margin, certain.together(GO_HEAP)))]
    data = [other.program_data_bytes for other in near if other.program_data_bytes is not None]
    if reading.file_bytes is not None:
        most = reading.file_bytes + (2 * max(data) if data else PROGRAM_DATA)
        sums.append((FILE_GROUPS, Interval(reading.file_bytes, max(most, reading.file_bytes))))
    narrower = Bounds(certain.parts, (*certain.sums, *sums)).closed()
    return narrower, ASSUMED if near else PRESUMED


def _near(estimate: Interval, margin: float, certain: Interval) -> Interval:
    """An estimate with its margin, within what is certain.

    One that does not fit is as uncertain as any other: it lies at the nearest end, give or take.
    """
    return estimate.within(certain).around(margin).within(certain)


def _resident_go(reading: Reading, near: Sequence[Reading]) -> tuple[Interval, Interval]:
    """How much of what Go reserves is resident: in its arenas, and of its own structures."""
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
    """With smaps: what was never touched is taken to be free heap first, if that is enough."""
    free = reading.reserved.get(FREE, 0)
    untouched = certain.parts[FREE].high - certain.parts[FREE].low
    if not reading.divides or untouched > free:
        return certain
    lowest = Interval.exactly(certain.parts[FREE].low)
    return Bounds(dict(certain.parts) | {FREE: lowest}, certain.sums).closed()
