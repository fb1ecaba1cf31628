"""Which anonymous mappings are C's: malloc's arenas and the stacks of threads?

glibc reserves 64 MiB for each arena but the first and makes it usable page by page. A thread's
stack lies above a guard page; without cgo there are none, as Go's threads have their stacks in its
heap. Shapes from glibc's malloc/arena.c and nptl/allocatestack.c, and musl's pthread_create.c.

malloc maps large blocks on their own: from M_MMAP_THRESHOLD on, 128 KiB at first. Nothing names
them. Where C's heap is in use, such blocks are most likely its; where it hardly is, only those that
have malloc's shape: it adds a header to what is asked for and rounds up to pages, so the round size
that a program asks for becomes one that is not round, whereas mmap itself leaves it round. The
kernel joins blocks that lie side by side, and eight of 8 MiB and 8 KiB are round again: so sizes
that have a block in common which is not round have malloc's shape, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.mapping_rows import (
    ARENA,
    CHUNK,
    Cut,
    anonymous,
    assign,
    is_32_bit,
    mmap_area,
)
from gomem.analysis.memory.runtime_metadata import CUT_BEYOND
from gomem.units import KIB, MIB

if TYPE_CHECKING:
    import pandas as pd

MALLOC_ARENA = 64 * MIB  # HEAP_MAX_SIZE: twice the largest mmap threshold
MALLOC_ARENA_32_BIT = MIB
LARGEST_GUARD = 64 * KIB
SMALLEST_THREAD_STACK = 64 * KIB
LARGEST_THREAD_STACK = 64 * MIB
MMAP_THRESHOLD = 128 * KIB
HEAP_IN_USE = MIB  # a C library that is only linked in touches a few pages of its first 132 KiB
ROUND = 64 * KIB
MOST_JOINED = 64  # more sizes than that are the program's own choice


def find_native_memory(frame: pd.DataFrame) -> None:
    """Give malloc's arenas and the stacks of threads their kinds."""
    arena = _malloc_arenas(frame)
    tail = arena.shift(1, fill_value=False)
    assign(frame, arena | tail, "native-heap", "a malloc arena of glibc's")
    stack = _thread_stacks(frame)
    guard = stack.shift(-1, fill_value=False)
    assign(frame, stack | guard, "thread-stack", "a guard page and a stack above it")


def _malloc_arenas(frame: pd.DataFrame) -> pd.Series:
    """Runs that are usable from an arena's boundary on, and reserved for the rest of it."""
    whole = MALLOC_ARENA_32_BIT if is_32_bit(frame) else MALLOC_ARENA
    above = frame.shift(-1)
    reserved_to = above["end"].fillna(0).astype("uint64")
    grown_by_pages = (frame["end"] - frame["start"]) % CHUNK != 0
    return (
        _in_mmap_area(frame)
        & (frame["start"] % whole == 0)
        & (grown_by_pages | (whole < ARENA))
        & (above["perms"] == "---p")
        & (above["start"] == frame["end"])
        & (reserved_to - frame["start"] == whole)
    )


def _thread_stacks(frame: pd.DataFrame) -> pd.Series:
    size = frame["end"] - frame["start"]
    return _above_a_guard(frame) & size.between(SMALLEST_THREAD_STACK, LARGEST_THREAD_STACK)


def _above_a_guard(frame: pd.DataFrame) -> pd.Series:
    below = frame.shift(1)
    guard_end = below["end"].fillna(0).astype("uint64")
    guard_bytes = guard_end - below["start"].fillna(0).astype("uint64")
    return (
        _in_mmap_area(frame)
        & _has_c(frame)
        & (below["perms"] == "---p")
        & (below["path"] == "")
        & (below["end"] == frame["start"])
        & (guard_bytes <= LARGEST_GUARD)
    )


def _has_c(frame: pd.DataFrame) -> bool:
    """Whether there is a C library: as a file, or, linked statically, by the brk it begins with.

    Without one no thread has a stack outside Go's heap, whatever stands above a guard page.
    """
    return bool((frame["kind"] == "library").any() or (frame["path"] == "[heap]").any())


def _in_mmap_area(frame: pd.DataFrame) -> pd.Series:
    lowest = 0 if is_32_bit(frame) else mmap_area(frame)
    return anonymous(frame) & (frame["perms"] == "rw-p") & (frame["start"] >= lowest)


def stack_cuts(frame: pd.DataFrame) -> list[Cut]:
    """Where the kernel joined something to the upper end of a thread's stack, the highest first.

    Threads of one program have stacks of few sizes. One of an odd size is taken to be a stack of
    the nearest size that several have, with another mapping behind it; as much of it is taken to be
    resident as the median of those has.
    """
    above_guard = frame[_above_a_guard(frame)]
    start = above_guard["start"].astype("int64")
    size = above_guard["end"].astype("int64") - start
    several = size.duplicated(keep=False)
    usual = size[several & size.between(SMALLEST_THREAD_STACK, LARGEST_THREAD_STACK)]
    odd = above_guard.index[~several]
    cuts: list[Cut] = []
    if len(odd) > MOST_JOINED:
        return cuts
    for position in reversed(odd):
        smaller = usual[usual < size[position]]
        if len(smaller):
            nearest = (start[smaller.index] - start[position]).abs().idxmin()
            alike = usual.index[usual == usual[nearest]]
            resident = int(above_guard.loc[alike, "Rss"].fillna(0).median())
            cuts.append(Cut(int(position), int(start[position] + usual[nearest]), resident))
    return cuts


def malloced_blocks(mappings: pd.DataFrame) -> pd.Series:
    """Which classified mappings are most likely large blocks of malloc's.

    Args:
        mappings: Classified mappings of one moment.

    Returns:
        True where it is one; of the same index.
    """
    heap = mappings["Rss"][mappings["kind"] == "native-heap"].fillna(0).sum()
    size = (mappings["end"] - mappings["start"]).astype("int64")
    blocks = (
        (mappings["kind"] == "anonymous-other")
        & (mappings["path"] == "")
        & (mappings["perms"] == "rw-p")
        & (size >= MMAP_THRESHOLD)
    )
    if heap >= HEAP_IN_USE:
        return blocks
    return blocks & (heap > 0) & _mostly_of_mallocs_shape(mappings[blocks])


def _mostly_of_mallocs_shape(blocks: pd.DataFrame) -> bool:
    """By bytes, of those that are whole: a mapping that was cut by count has no shape."""
    whole = blocks[blocks["rule"] != CUT_BEYOND]
    size = (whole["end"] - whole["start"]).to_numpy(np.int64)
    odd = size % ROUND != 0
    if not odd.any():
        return False
    block = np.gcd(size, size[odd].max())
    joined = (block >= MMAP_THRESHOLD) & (block % ROUND != 0)
    return bool(2 * size[odd | joined].sum() > size.sum())
