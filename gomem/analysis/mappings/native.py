"""Which anonymous mappings belong to C: malloc arenas and thread stacks?

glibc reserves 64 MiB for each arena except the first, and makes the arena usable page by page. A
thread's stack has a guard page below. Without cgo there are no such stacks, because Go's threads
have their stacks in the Go heap. The shapes come from glibc's malloc/arena.c and
nptl/allocatestack.c, and from musl's pthread_create.c.

malloc maps large blocks separately, from M_MMAP_THRESHOLD on (128 KiB at first). Such blocks have
no name. If the C heap is in use, the blocks most likely belong to malloc, except those of whole
MiB. If the C heap is hardly used, only blocks with malloc's shape count. malloc adds a header to
the requested size and rounds up to pages, so a round request becomes a size that is not round:
malloc's shape. mmap leaves a size as requested. The kernel merges adjacent blocks, and eight blocks
of 8 MiB and 8 KiB have a round size again. So sizes also have malloc's shape if all are multiples
of a block size that is not round. It is enough if most blocks have this shape, in one snapshot or
in all snapshots together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.mappings.rows import ARENA, CHUNK, Cut, below_each, is_32_bit, mmap_area
from gomem.analysis.mappings.runtime import CUT_BEYOND
from gomem.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gomem.analysis.mappings.rows import MappingRows, Mask

MALLOC_ARENA = 64 * MIB  # HEAP_MAX_SIZE: twice the largest mmap threshold
MALLOC_ARENA_32_BIT = MIB
LARGEST_GUARD = 64 * KIB
SMALLEST_THREAD_STACK = 64 * KIB
LARGEST_THREAD_STACK = 64 * MIB
MMAP_THRESHOLD = 128 * KIB
HEAP_IN_USE = MIB  # a C library that is linked but unused touches a few pages of its first 132 KiB
ROUND = 64 * KIB
WHOLE = MIB  # a size that a program requests, and that malloc's header makes rare
MAX_JOINED = 64  # distinct sizes: more are the program's own choice


def find_native_memory(rows: MappingRows) -> None:
    """Assign the kinds of malloc's arenas and of thread stacks."""
    arena = _malloc_arenas(rows)
    tail = below_each(arena, first=False)
    rows.assign(arena | tail, "native-heap", "a malloc arena of glibc's")
    stack = _above_a_guard(rows) & _of_a_stacks_size(rows.size)
    guard = np.zeros_like(stack)
    guard[:-1] = stack[1:]
    rows.assign(stack | guard, "thread-stack", "a guard page and a stack above it")


def stacks_of_threads(mappings: pd.DataFrame) -> int | None:
    """Return the number of threads by their stacks, the first one's too; None if C made none.

    Stacks that Go makes for threads, in programs without C, are part of its heap.
    """
    is_stack = mappings["kind"] == "thread-stack"
    count = int((is_stack & mappings["perms"].astype("str").str.startswith("rw")).sum())
    return count if count > 1 else None


def _malloc_arenas(rows: MappingRows) -> Mask:
    """Find runs that are usable from an arena boundary on, with the rest of the arena reserved."""
    whole = MALLOC_ARENA_32_BIT if is_32_bit(rows) else MALLOC_ARENA
    found = np.zeros(len(rows), dtype=bool)
    found[:-1] = (
        (rows.perms[1:] == "---p")
        & (rows.start[1:] == rows.end[:-1])
        & (rows.end[1:] - rows.start[:-1] == whole)
    )
    grown_by_pages = rows.size % CHUNK != 0
    return (
        found & _in_mmap_area(rows) & (rows.start % whole == 0) & (grown_by_pages | (whole < ARENA))
    )


def _of_a_stacks_size(size: NDArray[np.int64]) -> Mask:
    return (size >= SMALLEST_THREAD_STACK) & (size <= LARGEST_THREAD_STACK)


def _above_a_guard(rows: MappingRows) -> Mask:
    above = np.zeros(len(rows), dtype=bool)
    above[1:] = (
        (rows.perms[:-1] == "---p")
        & (rows.path[:-1] == "")
        & (rows.end[:-1] == rows.start[1:])
        & (rows.size[:-1] <= LARGEST_GUARD)
    )
    # A C library shows as a file, or if linked statically, by brk's heap. Without one, no thread
    # has a stack outside Go's heap, whatever is above a guard page.
    has_c = bool((rows.kind == "library").any() or (rows.path == "[heap]").any())
    # The reserved end of a full arena below an arena looks like a guard page.
    return above & _in_mmap_area(rows) & has_c & ~_malloc_arenas(rows)


def _in_mmap_area(rows: MappingRows) -> Mask:
    lowest = 0 if is_32_bit(rows) else mmap_area(rows)
    return rows.anonymous & (rows.perms == "rw-p") & (rows.start >= lowest)


def stack_cuts(rows: MappingRows) -> list[Cut]:
    """Find where the kernel merged a mapping with the top of a thread stack, highest first.

    The threads of one program have stacks of few sizes. A stack of an odd size is taken to have the
    nearest size that several other stacks have; the rest is another mapping. The resident part of
    the stack is taken to be the median of those stacks.
    """
    places = np.flatnonzero(_above_a_guard(rows))
    start, size = rows.start[places].astype(np.int64), rows.size[places]
    _, which_size, so_many = np.unique(size, return_inverse=True, return_counts=True)
    several = so_many[which_size] > 1
    usual = several & _of_a_stacks_size(size)
    odd = np.flatnonzero(~several)
    cuts: list[Cut] = []
    if len(odd) > MAX_JOINED:
        return cuts
    for block in reversed(odd):
        smaller = np.flatnonzero(usual & (size < size[block]))
        if len(smaller):
            nearest = size[smaller[np.abs(start[smaller] - start[block]).argmin()]]
            alike = places[usual & (size == nearest)]
            resident = int(np.median(rows.resident[alike]))
            cuts.append(Cut(int(places[block]), int(start[block] + nearest), resident))
    return cuts


@dataclass(frozen=True)
class LargeBlocks:
    """The large anonymous blocks of all snapshots that no other rule explains."""

    moments: Sequence[pd.DataFrame]  # classified mappings of each snapshot

    @cached_property
    def have_mallocs_shape(self) -> bool:
        """Whether most of the blocks have malloc's shape; an unchanged block counts once."""
        return _mostly_of_mallocs_shape(
            pd.concat([mappings[_are_large_blocks(mappings)] for mappings in self.moments])
        )


def malloced_blocks(mappings: pd.DataFrame, of_all: LargeBlocks | None = None) -> pd.Series:
    """Find the mappings that are most likely large blocks of malloc.

    `of_all` has the blocks of all snapshots. Their shape decides if that of these mappings does
    not.
    """
    heap = mappings["Rss"][mappings["kind"] == "native-heap"].fillna(0).sum()
    is_large = _are_large_blocks(mappings)
    if not (heap > 0 and is_large.any()):
        return is_large & False
    own = _mostly_of_mallocs_shape(mappings[is_large])
    if own or (of_all is not None and of_all.have_mallocs_shape):
        return is_large
    if heap < HEAP_IN_USE:
        return is_large & False
    return is_large & ((_sizes(mappings) % WHOLE != 0) | (mappings["rule"] == CUT_BEYOND))


def _sizes(mappings: pd.DataFrame) -> pd.Series:
    return (mappings["end"] - mappings["start"]).astype("int64")


def _are_large_blocks(mappings: pd.DataFrame) -> pd.Series:
    """Find mappings as large as malloc's separate blocks that are not otherwise explained."""
    unknown = (mappings["kind"] == "anonymous-other") & (mappings["path"] == "")
    return unknown & (mappings["perms"] == "rw-p") & (_sizes(mappings) >= MMAP_THRESHOLD)


def _mostly_of_mallocs_shape(blocks: pd.DataFrame) -> bool:
    """Decide by bytes of complete mappings: one that was cut by count has no shape."""
    whole = blocks[blocks["rule"] != CUT_BEYOND].drop_duplicates(["start", "end"])
    size = _sizes(whole).to_numpy(np.int64)
    odd = size % ROUND != 0
    if not odd.any():
        return False
    block = np.gcd(size, size[odd].max())
    joined = (block >= MMAP_THRESHOLD) & (block % ROUND != 0)
    return bool(2 * size[odd | joined].sum() > size.sum())
