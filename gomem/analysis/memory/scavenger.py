"""How much heap is idle, how much of it goes back to the kernel, and how much is kept needlessly?

The runtime keeps free heap for reuse. From Go 1.13.15 on its scavenger works while `retained =
HeapInuse + (HeapIdle - HeapReleased)` exceeds 1.1 × the peak of HeapInuse × the ratio of the new
goal to the old, which settles near 1.1 × NextGC. Before 1.13 idle spans waited five minutes. From
1.12 to 1.15, memory goes back with MADV_FREE: the kernel takes it when it needs it, and counts it
as resident until then. Facts from the runtime's mgcscavenge.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

RETAINED_PER_GOAL = 1.1  # the runtime's retainExtraPercent


def heap_return(memstats: pd.DataFrame, mappings: pd.DataFrame | None = None) -> pd.DataFrame:
    """What each moment keeps, has given back, and still has resident.

    Args:
        memstats: Rows of the MemStats table with a `moment` column; the last row of each counts.
        mappings: Classified mappings with a `moment` column, where there are any.

    Returns:
        A row per moment, in the table's order, in bytes: `HeapAlloc`, `HeapInuse`, `HeapIdle`,
        `HeapReleased`, `NextGC`, `idle_kept_bytes` (idle and not given back), `retained_bytes`
        (that, plus what is in use), `goal_bytes` (1.1 × NextGC, where the background scavenger
        stops once the heap is steady), `excess_bytes` (retained beyond that goal, not below 0),
        `lazy_free_bytes` and `arena_rss_bytes` (missing without mappings).
    """
    columns = ["HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "NextGC"]
    table = memstats.drop_duplicates("moment", keep="last").set_index("moment")[columns]
    table = table.astype("Int64")
    table["idle_kept_bytes"] = table["HeapIdle"] - table["HeapReleased"]
    table["retained_bytes"] = table["HeapInuse"] + table["idle_kept_bytes"]
    table["goal_bytes"] = (table["NextGC"].astype("Float64") * RETAINED_PER_GOAL).round()
    wanted = table[["goal_bytes", "HeapInuse"]].max(axis=1, skipna=False)
    table["excess_bytes"] = (table["retained_bytes"] - wanted).clip(lower=0)
    table["lazy_free_bytes"] = _of_arenas(mappings, "LazyFree", table.index)
    table["arena_rss_bytes"] = _of_arenas(mappings, "Rss", table.index)
    return table.astype("Int64").reset_index()


def _of_arenas(mappings: pd.DataFrame | None, field: str, moments: pd.Index) -> pd.Series:
    if mappings is None or mappings.empty:
        return pd.Series(pd.NA, index=moments, dtype="Int64")
    arenas = mappings[mappings["kind"] == "go-heap"]
    return arenas.groupby("moment")[field].sum(min_count=1).reindex(moments)


def heap_steps(heap: pd.DataFrame, rss_bytes: Mapping[str, int | None]) -> pd.DataFrame:
    """How much more, or less, is in use, given back and resident from each moment to the next.

    Args:
        heap: Rows of `heap_return`, in order.
        rss_bytes: RSS by moment; None, or no entry, where it is unknown.

    Returns:
        A row per moment but the first, in bytes: `before`, `after` (the moments),
        `inuse_change_bytes`, `released_change_bytes` and `rss_change_bytes` (missing where either
        RSS is unknown).
    """
    heap = heap.reindex(columns=["moment", "HeapInuse", "HeapReleased"])  # of no moment, too
    rss = pd.Series([rss_bytes.get(name) for name in heap["moment"]], heap.index, dtype="Int64")
    steps = pd.DataFrame(
        {
            "before": heap["moment"].shift(),
            "after": heap["moment"],
            "inuse_change_bytes": heap["HeapInuse"].astype("Int64").diff(),
            "released_change_bytes": heap["HeapReleased"].astype("Int64").diff(),
            "rss_change_bytes": rss.diff(),
        }
    )
    return steps.iloc[1:].reset_index(drop=True)
