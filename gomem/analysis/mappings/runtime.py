"""Which anonymous mappings outside the arenas belong to the runtime, and which are foreign?

The runtime counts the memory it maps for itself: span structures, caches, GC metadata, profiling
buckets. In every release measured (1.9 to 1.27, with and without cgo), the sizes of its read-write
mappings outside the arenas match this count to within 32 KiB. The one exception is the heap index
of 32 MiB, which Go maps since 1.11 on 64-bit systems but does not count. So MemStats shows how much
anonymous memory is foreign, although no anonymous mapping has a name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.mappings.arenas import LEGACY_METADATA, arena_bytes, work_buffer_bytes
from gomem.analysis.mappings.rows import SMALLEST_PAGE, Cut, MappingRows, is_32_bit, which
from gomem.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.mappings.rows import Mask, Places

METADATA = ("MSpanSys", "MCacheSys", "GCSys", "BuckHashSys", "OtherSys")
HEAP_INDEX = 32 * MIB  # mheap.arenas: 4 Mi pointers, hardly any ever written
UNCOUNTED = 256 * KIB  # page rounding of each mapping, and a few pages of the C library
FITS_WITHIN = 64 * KIB
SMALLEST_FOREIGN = 64 * KIB
MAX_STEPS = 1 << 25  # limit of the search for matching sizes: some 0.2 s
# Without MemStats: span structures and bitmaps take up to 8 % of the arenas (Go 1.11), and some 4
# MiB in a small program.
METADATA_AT_MOST = 8 * MIB
METADATA_SHARE = 0.08

NO_HEAP = "no Go heap beside it"
EXCERPT = "neither Go's heap nor a program beside it: an excerpt"
COUNTED = "within what MemStats counts for the runtime"
BEYOND = "more than the runtime counts"
_ADVISED = re.compile(r"\b(?:hg|nh)\b")
CUT_COUNTED = "the runtime's share, by MemStats, of a mapping it shares"
CUT_BEYOND = "more than the runtime counts, in a mapping it shares; taken as resident first"


def is_excerpt(mappings: pd.DataFrame) -> bool:
    """Return whether classified mappings are a few of a process's, with no Go heap to judge by."""
    return bool((mappings["rule"] == EXCERPT).any())


def metadata_claim(memstats: pd.Series) -> int:
    """Return the bytes that the runtime counts for its own structures, unknown fields as 0.

    If some fields are unknown, as in a program's log, the result is Sys minus heap and stacks, if
    known.
    """
    whole = memstats.reindex(["Sys", "HeapSys", "StackInuse"])
    if memstats[list(METADATA)].isna().any() and whole.notna().all():
        return max(0, int(whole["Sys"] - whole["HeapSys"] - whole["StackInuse"]))
    return sum(int(memstats[name]) for name in METADATA if not pd.isna(memstats[name]))


def metadata_bytes(mappings: pd.DataFrame | MappingRows, memstats: pd.Series) -> int:
    """Return the size of the runtime's own read-write mappings, according to MemStats, in bytes."""
    rows = MappingRows.of(mappings)
    counted = metadata_claim(memstats) - (work_buffer_bytes(rows, memstats) or 0)
    is_indexed = not (is_32_bit(rows) or (rows.rule == LEGACY_METADATA).any())
    return counted + (HEAP_INDEX if is_indexed else 0)


def divide_the_rest(rows: MappingRows, memstats: pd.Series | None) -> Cut | None:
    """Assign the remaining mappings to the runtime, up to its count, then to `anonymous-other`.

    If one mapping has both kinds, the cut is returned: the lower part is foreign.
    """
    shared = None
    rows.assign(~rows.in_use, "go-runtime", "reserved address space, nothing in it")
    if not (rows.kind == "go-heap").any():
        is_whole = memstats is not None or bool((rows.kind == "binary").any())
        rows.assign(rows.unknown, "anonymous-other", NO_HEAP if is_whole else EXCERPT)
        return None
    if memstats is None or memstats[list(METADATA)].isna().any():
        _divide_by_residence(rows)
    else:
        shared = _divide_by_size(rows, memstats)
    rows.assign(rows.anonymous, "go-runtime", COUNTED)
    rows.assign(rows.unknown, "anonymous-other", "other permissions than the runtime's")
    return shared


def _divide_by_residence(rows: MappingRows) -> None:
    """Without MemStats: assign the least resident to the runtime, up to an upper bound."""
    at_most = METADATA_AT_MOST + int(METADATA_SHARE * arena_bytes(rows))
    left = np.flatnonzero(rows.anonymous)
    least_first = left[np.argsort(rows.resident[left], kind="stable")]
    within = least_first[np.cumsum(rows.resident[least_first]) <= at_most]
    rows.assign(rows.among(within), "go-runtime", "small enough to be the runtime's own")
    rows.assign(rows.anonymous, "anonymous-other", "too much to be the runtime's own")


def _divide_by_size(rows: MappingRows, memstats: pd.Series) -> Cut | None:
    """Assign whole mappings that match the runtime's count, or else cut one in two."""
    own = (rows.kind == "go-runtime") & rows.in_use  # by name, or below an old arena
    left = rows.anonymous
    counted = metadata_bytes(rows, memstats) - int(rows.size[own].sum())
    resident_beyond = int(rows.resident[own | left].sum()) - metadata_claim(memstats) - MIB
    # Resident bytes beyond the count are foreign too, even if the index was not found.
    beyond = max(int(rows.size[left].sum()) - counted, resident_beyond)
    if beyond <= UNCOUNTED:
        return None
    known = _known_by_shape(rows, memstats)
    counted -= int(rows.size[left & known].sum())
    open_to_both = np.flatnonzero(left & ~known)
    foreign = _beyond_a_fit(rows, open_to_both, counted)
    if foreign is None:
        return _densest_first(rows, open_to_both, beyond)
    rows.assign(rows.among(foreign), "anonymous-other", BEYOND)
    return None


def _known_by_shape(rows: MappingRows, memstats: pd.Series) -> Mask:
    """Find the remaining mappings that are certainly the runtime's.

    These are small mappings, because the pages of its tables are isolated between reserved ones;
    and those with madvise calls about huge pages, if they are as empty as its tables are.
    """
    advised = which(rows.flags, _ADVISED.search) & (rows.resident <= metadata_claim(memstats))
    return (rows.size < SMALLEST_FOREIGN) | (advised & (rows.resident * 2 < rows.size))


def _beyond_a_fit(rows: MappingRows, left: Places, counted: int) -> Places | None:
    """Find all mappings except those whose sizes add up to the runtime's count; or None.

    Of several choices, the least resident is the runtime's: foreign memory was mapped to be used,
    but the runtime's largest mappings are tables that are hardly touched.
    """
    if counted < 0 or len(left) * counted // SMALLEST_PAGE > MAX_STEPS:
        return None
    sizes, resident = rows.size[left].tolist(), rows.resident[left].tolist()
    own = _least_resident_fit(sizes, resident, counted)
    return None if own is None else np.delete(left, own)


def _least_resident_fit(
    sizes: Sequence[int], resident: Sequence[int], wanted: int
) -> list[int] | None:
    """Find sizes that add up to a sum, or up to `FITS_WITHIN` more, with the least resident."""
    last = (wanted + FITS_WITHIN) // SMALLEST_PAGE
    least = np.full(last + 1, np.inf)
    least[0] = 0
    taken = np.zeros((len(sizes), last + 1), dtype=bool)
    for row, (size, rss) in enumerate(zip(sizes, resident, strict=True)):
        pages = size // SMALLEST_PAGE
        if pages > last:
            continue
        with_it = np.full(last + 1, np.inf)
        with_it[pages:] = least[: last + 1 - pages] + rss
        taken[row] = with_it < least
        least = np.minimum(least, with_it)
    first = -(-wanted // SMALLEST_PAGE)
    total = first + int(np.argmin(least[first:]))
    if not np.isfinite(least[total]):
        return None
    chosen = []
    for row in range(len(sizes) - 1, -1, -1):
        if taken[row, total]:
            chosen.append(row)
            total -= sizes[row] // SMALLEST_PAGE
    return chosen[::-1]


def _densest_first(rows: MappingRows, left: Places, beyond: int) -> Cut | None:
    """Take whole mappings while they fit into the foreign part; the one across the limit is cut.

    Foreign memory is taken to be denser: most of the runtime's is the heap index, which is hardly
    resident. The kernel places new mappings below older ones, so the lower part of a shared mapping
    is taken to be foreign.
    """
    density = rows.resident[left] / rows.size[left]
    densest = left[np.argsort(-density, kind="stable")]
    size = rows.size[densest]
    remaining = beyond - (np.cumsum(size) - size)
    ends = (remaining <= UNCOUNTED) | (size > remaining + UNCOUNTED)
    count = int(ends.argmax()) if ends.any() else len(ends)
    rows.assign(rows.among(densest[:count]), "anonymous-other", BEYOND)
    if count == len(densest) or remaining[count] <= UNCOUNTED:
        return None
    pages = int(remaining[count]) // SMALLEST_PAGE
    position = int(densest[count])
    return Cut(position, int(rows.start[position]) + pages * SMALLEST_PAGE)
