"""How many bytes of the heap are large objects with pointers, and how many of these are resident?

Three counts give bounds. MemStats' BySize counts small objects by class, so the rest of HeapAlloc
is large objects. (Large means above 18 KiB here, because BySize does not have the classes from 18
to 32 KiB.) /gc/scan/heap:bytes (since Go 1.21) is the memory that GC has to scan: each object with
pointers, up to its last pointer. The ledger has the memory that MemStats counts in the arenas but
that was never touched. No file says which pages were never touched. Some releases touch all large
objects with pointers, so that only objects without pointers stay untouched. So untouched bytes are
assigned to objects without pointers first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

EXACT = 0.9  # lower bound as a fraction of the upper bound


@dataclass(frozen=True)
class LargeAllocations:
    """Bounds of the large objects at one snapshot, in bytes."""

    large_bytes: int  # all large objects
    pointer_bytes: int  # those with pointers: upper bound
    least_pointer_bytes: int  # lower bound: as if small objects consisted only of pointers
    untouched_bytes: int  # the part of `pointer_bytes` for which pointer-free objects have no room

    @property
    def resident_bytes(self) -> int:
        """Upper bound of resident large objects with pointers, in bytes."""
        return self.pointer_bytes - self.untouched_bytes

    @property
    def least_resident_bytes(self) -> int:
        """Lower bound of resident large objects with pointers, in bytes."""
        return max(0, self.least_pointer_bytes - self.untouched_bytes)

    @property
    def is_exact(self) -> bool:
        """Whether the bounds are so close that they can be shown as one number."""
        return self.least_resident_bytes >= EXACT * self.resident_bytes


def large_allocations(
    heap_alloc: int, size_classes: pd.DataFrame, scannable: int | None, untouched: int
) -> LargeAllocations | None:
    """Compute bounds of the large objects at one snapshot, from HeapAlloc and BySize.

    None without BySize. `scannable` is /gc/scan/heap:bytes; if None, all or none of the large
    objects can have pointers. `untouched` is memory that Go counts in the arenas but that is not
    resident.
    """
    if size_classes.empty:
        return None
    in_use = size_classes["Mallocs"] - size_classes["Frees"]
    large = max(0, heap_alloc - int((size_classes["Size"] * in_use).sum()))
    most = large if scannable is None else min(large, scannable)
    least = 0 if scannable is None else min(most, max(0, scannable - (heap_alloc - large)))
    beyond_room = max(0, untouched - (large - most))
    return LargeAllocations(large, most, least, min(most, beyond_room))
