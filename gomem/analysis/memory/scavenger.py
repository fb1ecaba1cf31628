"""How much heap is idle, how much of it goes back to the kernel, and what is kept beyond need?

The runtime keeps free heap for reuse. From Go 1.13.15 on its scavenger works while
`retained = HeapInuse + (HeapIdle - HeapReleased)` exceeds 1.1 × the peak of HeapInuse × the ratio
of the new goal to the old, which settles near 1.1 × NextGC. Before 1.13 idle spans waited five
minutes. From 1.12 to 1.15 memory goes back with MADV_FREE: the kernel takes it when it needs it,
and counts it as resident until then. Facts from the runtime's mgcscavenge.go.
"""

from __future__ import annotations

import pandas as pd

RETAINED_PER_GOAL = 1.1  # the runtime's retainExtraPercent


def heap_return(memstats: pd.DataFrame, mappings: pd.DataFrame | None = None) -> pd.DataFrame:
    """What each moment keeps, has given back, and still has resident.

    Args:
        memstats: Rows of the MemStats table with a `moment` column; the last row of each counts.
        mappings: Classified mappings with a `moment` column, where there are any.

    Returns:
        A row per moment, in the table's order, in bytes: `HeapAlloc`, `HeapInuse`, `HeapIdle`,
        `HeapReleased`, `NextGC`, `retained_bytes`, `goal_bytes` (1.1 × NextGC, where the background
        scavenger stops once the heap is steady), `excess_bytes` (retained beyond that goal, not
        below 0), `lazy_free_bytes` and `arena_rss_bytes` (missing without mappings).
    """
    columns = ["HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "NextGC"]
    table = memstats.drop_duplicates("moment", keep="last").set_index("moment")[columns]
    table = table.astype("Int64")
    table["retained_bytes"] = table["HeapInuse"] + table["HeapIdle"] - table["HeapReleased"]
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
