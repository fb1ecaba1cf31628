"""Which anonymous mappings outside the arenas are the runtime's own, and which are foreign?

The runtime counts what it maps for itself: span structures, caches, GC metadata, profiling buckets.
In every release measured (1.9 to 1.27, with cgo and without) the sizes of its read-write mappings
outside the arenas are that count to within 32 KiB, but for the 32 MiB of the heap index, which Go
1.11 and later map on 64-bit systems and count nowhere. So the moment's MemStats tells how much of
the anonymous memory is somebody else's, although none of it has a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.memory.arenas import LEGACY_METADATA, arena_bytes, work_buffer_bytes
from gomem.analysis.memory.mapping_rows import (
    SMALLEST_PAGE,
    Cut,
    anonymous,
    assign,
    is_32_bit,
    size_of,
)
from gomem.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

METADATA = ("MSpanSys", "MCacheSys", "GCSys", "BuckHashSys", "OtherSys")
HEAP_INDEX = 32 * MIB  # mheap.arenas: 4 Mi pointers, hardly any of them ever written
UNCOUNTED = 256 * KIB  # page rounding of each mapping, and the C library's few pages of its own
FITS_WITHIN = 64 * KIB
SMALLEST_FOREIGN = 64 * KIB
MOST_STEPS = 1 << 25  # of the search for sizes that fit: some 0.2 s
# Without MemStats: span structures and bitmaps take up to 8 % of the arenas (Go 1.11), and a
# small program has some 4 MiB of them.
METADATA_AT_MOST = 8 * MIB
METADATA_SHARE = 0.08

COUNTED = "within what MemStats counts for the runtime"
BEYOND = "more than the runtime counts"
CUT_COUNTED = "the runtime's share, by MemStats, of a mapping it shares"
CUT_BEYOND = "more than the runtime counts, in a mapping it shares; taken as resident first"


def metadata_claim(memstats: pd.Series) -> int:
    """What the runtime counts for its own structures, in bytes; unknown fields add nothing."""
    return int(memstats[list(METADATA)].fillna(0).sum())


def metadata_bytes(frame: pd.DataFrame, memstats: pd.Series) -> int:
    """Address space of the runtime's read-write mappings outside the arenas, by its count."""
    counted = metadata_claim(memstats) - (work_buffer_bytes(frame, memstats) or 0)
    indexed = not (is_32_bit(frame) or (frame["rule"] == LEGACY_METADATA).any())
    return counted + (HEAP_INDEX if indexed else 0)


def divide_the_rest(frame: pd.DataFrame, memstats: pd.Series | None) -> Cut | None:
    """Give what is left to the runtime, as much as it counts, and the rest to `anonymous-other`.

    Returns:
        The cut where one mapping holds both: it has the runtime's kind, and its lower part is
        foreign.
    """
    shared = None
    unknown = frame["kind"] == ""
    empty = unknown & (frame["perms"] == "---p")
    assign(frame, empty, "go-runtime", "reserved address space, nothing in it")
    if not (frame["kind"] == "go-heap").any():
        assign(frame, frame["kind"] == "", "anonymous-other", "no Go heap beside it")
        return None
    if memstats is None or memstats[list(METADATA)].isna().any():
        _divide_by_residence(frame)
    else:
        shared = _divide_by_size(frame, memstats)
    assign(frame, anonymous(frame), "go-runtime", COUNTED)
    assign(frame, frame["kind"] == "", "anonymous-other", "other permissions than the runtime's")
    return shared


def _divide_by_residence(frame: pd.DataFrame) -> None:
    """Without MemStats: the runtime's, up to a bound on its structures, least resident first."""
    at_most = METADATA_AT_MOST + int(METADATA_SHARE * arena_bytes(frame))
    left = frame[anonymous(frame)]
    resident = left["Rss"].fillna(0).sort_values(kind="stable").cumsum()
    within = pd.Series(frame.index.isin(resident.index[resident <= at_most]), index=frame.index)
    assign(frame, within, "go-runtime", "small enough to be the runtime's own")
    assign(frame, anonymous(frame), "anonymous-other", "too much to be the runtime's own")


def _divide_by_size(frame: pd.DataFrame, memstats: pd.Series) -> Cut | None:
    """By the runtime's count: whole mappings where they fit it, else one cut in two."""
    counted = metadata_bytes(frame, memstats) - _known_bytes(frame)
    left = frame[anonymous(frame)]
    beyond = max(size_of(left) - counted, _resident_beyond(frame, left, memstats))
    if beyond <= UNCOUNTED:
        return None
    known = _known_by_shape(left, memstats)
    open_to_both = left[~known]
    counted -= size_of(left[known])
    foreign = _beyond_a_fit(open_to_both, counted)
    if foreign is None:
        return _densest_first(frame, open_to_both, beyond)
    assign(frame, _among(frame, foreign), "anonymous-other", BEYOND)
    return None


def _known_by_shape(left: pd.DataFrame, memstats: pd.Series) -> pd.Series:
    """Which of the remaining mappings are certainly the runtime's.

    These are its small mappings, since the pages of its tables lie alone between reserved ones, and
    those for which it advised the kernel about huge pages, if they are as empty as its tables are.
    """
    size = left["end"] - left["start"]
    advised = left["VmFlags"].str.contains(r"\b(?:hg|nh)\b")
    advised &= left["Rss"].fillna(0) <= metadata_claim(memstats)
    return (size < SMALLEST_FOREIGN) | (advised & (left["Rss"].fillna(0) * 2 < size))


def _known_bytes(frame: pd.DataFrame) -> int:
    """How much of the runtime's own is known already: by name, or below an old arena."""
    return size_of(frame[(frame["kind"] == "go-runtime") & (frame["perms"] != "---p")])


def _resident_beyond(frame: pd.DataFrame, left: pd.DataFrame, memstats: pd.Series) -> int:
    """Resident bytes beyond the count: foreign too, even if the index lies somewhere unseen."""
    known = frame[(frame["kind"] == "go-runtime") & (frame["perms"] != "---p")]
    resident = int(left["Rss"].fillna(0).sum()) + int(known["Rss"].fillna(0).sum())
    return resident - metadata_claim(memstats) - MIB


def _among(frame: pd.DataFrame, rows: pd.Index) -> pd.Series:
    return pd.Series(frame.index.isin(rows), index=frame.index)


def _beyond_a_fit(left: pd.DataFrame, counted: int) -> pd.Index | None:
    """All but the mappings whose sizes add up to the runtime's count; None if none do.

    Of several choices, the one with the least resident: foreign memory was mapped to be used,
    whereas the runtime's largest mappings are tables that are hardly touched.
    """
    if counted < 0 or len(left) * counted // SMALLEST_PAGE > MOST_STEPS:
        return None
    sizes = (left["end"] - left["start"]).astype("int64")
    resident = left["Rss"].fillna(0).astype("int64")
    own = _least_resident_fit(list(sizes), list(resident), counted)
    return None if own is None else left.index.difference(left.index[own])


def _least_resident_fit(
    sizes: Sequence[int], resident: Sequence[int], wanted: int
) -> list[int] | None:
    """Which sizes add up to what is wanted, or up to `FITS_WITHIN` more, with least resident."""
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


def _densest_first(frame: pd.DataFrame, left: pd.DataFrame, beyond: int) -> Cut | None:
    """Whole mappings while they fit into what is foreign; the one across the line is cut.

    Foreign memory is taken to be the denser: most of the runtime's is the heap index, of which
    hardly a page is resident. The kernel places new mappings below older ones, so the foreign part
    of a shared one is taken to be the lower.
    """
    size = (left["end"] - left["start"]).astype("int64")
    density = left["Rss"].fillna(0).astype("int64") / size
    densest = size[density.sort_values(ascending=False, kind="stable").index]
    remaining = beyond - densest.cumsum().shift(1, fill_value=0)
    ends = (remaining <= UNCOUNTED) | (densest > remaining + UNCOUNTED)
    whole = densest.index[~ends.cummax()]
    assign(frame, _among(frame, whole), "anonymous-other", BEYOND)
    if len(whole) == len(densest) or remaining.iloc[len(whole)] <= UNCOUNTED:
        return None
    position = int(densest.index[len(whole)])
    pages = int(remaining.iloc[len(whole)]) // SMALLEST_PAGE
    return Cut(position, int(frame.loc[position, "start"]) + pages * SMALLEST_PAGE)
