"""How much of the heap is large allocations with pointers, and how much of them is resident?

Three counts give bounds. MemStats' BySize counts the small objects by class, so the rest of
HeapAlloc is large objects (above 18 KiB, because the classes from there to 32 KiB are not printed).
/gc/scan/heap:bytes (Go 1.21) is the memory that GC has to scan: the objects with pointers, each up
to its last pointer. The ledger has the untouched part of the memory that MemStats counts in the
arenas. No file says which pages are untouched. A release that touches large memory with pointers by
itself leaves only pointer-free memory untouched. So untouched bytes are assigned to pointer-free
memory first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

EXACT = 0.9  # the least, as a share of the most


@dataclass(frozen=True)
class LargeAllocations:
    """Large objects of one moment, in bytes."""

    large_bytes: int  # in all of them
    pointer_bytes: int  # in those with pointers: the most that it can be
    least_pointer_bytes: int  # the least: as if all small objects were pointers and nothing else
    untouched_bytes: int  # of `pointer_bytes`: beyond what the pointer-free have room for

    @property
    def resident_bytes(self) -> int:
        """Of those with pointers, what can be resident."""
        return self.pointer_bytes - self.untouched_bytes

    @property
    def least_resident_bytes(self) -> int:
        """The same, of the least that it can be."""
        return max(0, self.least_pointer_bytes - self.untouched_bytes)

    @property
    def is_exact(self) -> bool:
        """Whether the bounds are so near to each other that they are one number to a person."""
        return self.least_resident_bytes >= EXACT * self.resident_bytes


def large_allocations(
    heap_alloc: int, size_classes: pd.DataFrame, scannable: int | None, untouched: int
) -> LargeAllocations | None:
    """Bound the large objects of one moment, by HeapAlloc and BySize; None without BySize.

    `scannable` is /gc/scan/heap:bytes; without it all large objects can have pointers, and none
    need to. `untouched` are bytes that the arenas claim and that are not resident.
    """
    if size_classes.empty:
        return None
    in_use = size_classes["Mallocs"] - size_classes["Frees"]
    large = max(0, heap_alloc - int((size_classes["Size"] * in_use).sum()))
    most = large if scannable is None else min(large, scannable)
    least = 0 if scannable is None else min(most, max(0, scannable - (heap_alloc - large)))
    beyond_room = max(0, untouched - (large - most))
    return LargeAllocations(large, most, least, min(most, beyond_room))
