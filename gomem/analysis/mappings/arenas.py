"""Which mappings are the Go heap's arenas, in every layout since Go 1.5?

An arena has no name on most kernels, and since Go 1.26 no fixed address. An arena is recognised by
its shape: runs of anonymous memory that begin and end on an arena boundary. If the snapshot has
MemStats, the runs must also be as large as MemStats says. Sources: the runtime's malloc.go and
mheap.go. Before Go 1.11, malloc.go made a single reservation of spans, bitmap and arena.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.mappings.rows import (
    ARENA,
    ARENA_32_BIT,
    CHUNK,
    Cut,
    MappingRows,
    below_each,
    is_32_bit,
    mmap_area,
    runs,
)
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.analysis.mappings.rows import Places

GO_PAGE = 8 * KIB  # granularity of what is in the arenas and counts as GCSys
LEGACY_BASE = 0xC000000000
LEGACY_ARENAS = (0xC420000000, 0xC820000000)  # Go 1.7 to 1.10, and 1.5 to 1.6
LEGACY_LARGEST = 1 << 39
LOWEST_ARENA = 1 << 32
MAX_RUNS = 8  # every subset of these is checked against MemStats

NAMED = "named by the runtime"
LEGACY_METADATA = "spans and bitmap below the arena, before Go 1.11"


def arena_bytes(mappings: pd.DataFrame | MappingRows) -> int:
    """Return the bytes of the arenas in use: the readable and writable part of `go-heap`."""
    rows = MappingRows.of(mappings)
    return int(rows.size[(rows.kind == "go-heap") & rows.in_use].sum())


def work_buffer_bytes(mappings: pd.DataFrame | MappingRows, memstats: pd.Series) -> int | None:
    """Return the GC work buffers in the arenas: the arenas minus HeapSys and stacks.

    In the runtime, arenas = HeapSys + StackInuse + W, where W is work buffers of 32 KiB and,
    observed with Go 1.23, unrolled pointer bitmaps in pages of 8 KiB. Both are part of GCSys. None
    if the remainder cannot be W, as when smaps and MemStats are from different times.
    """
    return _work_buffers_in(arena_bytes(mappings), memstats)


def _work_buffers_in(mapped: int, memstats: pd.Series) -> int | None:
    if pd.isna(memstats["HeapSys"]) or pd.isna(memstats["StackInuse"]):
        return None
    rest = mapped - int(memstats["HeapSys"]) - int(memstats["StackInuse"])
    gc_bytes = memstats["GCSys"]
    at_most = mapped if pd.isna(gc_bytes) else int(gc_bytes)
    return rest if 0 <= rest <= at_most and rest % GO_PAGE == 0 else None


def find_arenas(rows: MappingRows, memstats: pd.Series | None) -> None:
    """Assign the kind of arenas, unless the mappings' names have already given it."""
    if (rows.rule == NAMED).any():
        return
    legacy = legacy_arena(rows)
    if legacy is not None:
        _assign_legacy(rows, legacy)
        return
    found = list(_runs_of_arenas(rows))
    chosen = _as_memstats_says(rows, found, memstats)
    unit = "4 MiB" if is_32_bit(rows) else "64 MiB"
    rule = f"anonymous, in whole {unit} arenas"
    if not found and memstats is not None:
        chosen = _where_the_kernel_chose(rows, memstats)
        rule = "anonymous, in chunks of 4 MiB that hold what HeapSys and StackInuse say"
    for run in chosen:
        rows.assign(rows.among(run), "go-heap", rule)


def _runs_of_arenas(rows: MappingRows) -> Iterator[Places]:
    """Find runs of anonymous memory that are whole arenas and have grown like a heap."""
    unit, lowest = (ARENA_32_BIT, 0) if is_32_bit(rows) else (ARENA, LOWEST_ARENA)
    below = rows.anonymous & (rows.end <= mmap_area(rows)) & (rows.start >= lowest)
    for run in runs(rows, below):
        first, last = int(rows.start[run[0]]), int(rows.end[run[-1]])
        # If the list was truncated after the heap's mappings, the reserved rest of the arena is
        # missing.
        is_cut = first == LEGACY_BASE and run[-1] == len(rows) - 1 and last % CHUNK == 0
        whole = first % unit == 0 and last % unit == 0
        if (whole or is_cut) and _grown_like_a_heap(rows, run):
            yield run


def _grown_like_a_heap(rows: MappingRows, run: Places) -> bool:
    """Check that the part in use grew by 4 MiB (1.17 and later) or by whole arenas (1.11 to 1.16).

    If madvise split it into several mappings, they are adjacent, so only the edges next to reserved
    address space matter.
    """
    in_use = rows.in_use[run]
    edges = rows.start[run][in_use & ~below_each(in_use, first=False)]
    return bool(in_use.any()) and bool((edges % CHUNK == 0).all())


def _as_memstats_says(
    rows: MappingRows, found: Sequence[Places], memstats: pd.Series | None
) -> Sequence[Places]:
    """Choose all runs, or fewer if only those match MemStats.

    A program can map aligned memory of its own at low addresses. If no choice matches, MemStats is
    from another time, and the shape alone decides.
    """
    if memstats is None or not 1 < len(found) <= MAX_RUNS:
        return found
    used = np.where(rows.in_use, rows.size, 0)
    for count in range(len(found), 0, -1):
        for some in combinations(found, count):
            if _work_buffers_in(sum(int(used[run].sum()) for run in some), memstats) is not None:
                return some
    return found


def _where_the_kernel_chose(rows: MappingRows, memstats: pd.Series) -> list[Places]:
    """Find arenas in the mmap area, where the kernel places them if all hints are taken.

    glibc's arenas are aligned too, but grow by pages. There alignment alone is weak evidence, so a
    candidate counts only if it matches MemStats exactly.
    """
    aligned = (rows.start % ARENA == 0) & (rows.size % CHUNK == 0)
    found = runs(rows, rows.anonymous & rows.in_use & aligned)
    mapped = sum(int(rows.size[run].sum()) for run in found)
    return found if found and _work_buffers_in(mapped, memstats) is not None else []


def legacy_arena(rows: MappingRows) -> int | None:
    """Return the start of the arena in Go 1.5 to 1.10; None in other releases.

    Spans and bitmap are below the arena.
    """
    unnamed = rows.unnamed
    spans = rows.end[unnamed & (rows.start == LEGACY_BASE)]
    if not len(spans) or int(spans[0]) % ARENA == 0:
        return None
    for arena in LEGACY_ARENAS:
        if (unnamed & (rows.start <= arena) & (rows.end > arena)).any():
            return arena
    return None


def legacy_cut(rows: MappingRows) -> list[Cut]:
    """Return a cut at the start of the arena, in a mapping shared by bitmap and arena.

    Such a mapping is possible before Go 1.11; else the result is empty. The bitmap, which every
    collection writes, is taken to be resident first.
    """
    arena = legacy_arena(rows)
    if arena is None:
        return []
    across = np.flatnonzero((rows.start < arena) & (rows.end > arena) & (rows.path == ""))
    return [Cut(int(across[0]), arena)] if len(across) else []


def _assign_legacy(rows: MappingRows, arena: int) -> None:
    largest = arena + LEGACY_LARGEST
    reservation = rows.anonymous & (rows.start >= LEGACY_BASE) & (rows.end <= largest)
    rows.assign(reservation & (rows.start >= arena), "go-heap", "arena before Go 1.11")
    rows.assign(reservation, "go-runtime", LEGACY_METADATA)
