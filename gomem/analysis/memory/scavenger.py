"""How much heap is idle, how much of it goes back to the kernel, and how much is kept needlessly?

The runtime keeps free heap for reuse. From Go 1.13 on a background scavenger works while `retained
= HeapInuse + (HeapIdle - HeapReleased)` exceeds its goal: 1.1 × the peak of HeapInuse × the ratio
of the new heap goal to the old, which settles near 1.1 × NextGC. From 1.19 on it works as well
while all that the runtime has mapped and not given back exceeds 0.95 × GOMEMLIMIT; so the lower of
the two counts. (In 1.19 to 1.21 it misses that goal by a fault, golang/go#62449; there allocation
gives memory back, once the limit itself is reached.) Before 1.13 there is no goal: spans that lay
idle for five minutes go back. What is given back with MADV_FREE, the default from 1.12 to 1.15 and
GODEBUG=madvdontneed=0 since, counts as resident until the kernel needs it. From the runtime's
mgcscavenge.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.scavenge_goals import (
    BACKGROUND_SCAVENGER,
    MAPPED_PER_LIMIT,
    MEMORY_LIMIT,
    RETAINED_PER_GOAL,
)
from gomem.releases import GoVersion

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS = ["HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "NextGC"]


def heap_return(
    memstats: pd.DataFrame,
    mappings: pd.DataFrame | None = None,
    version: GoVersion | None = None,
    memory_limits: Mapping[str, int | None] | None = None,
) -> pd.DataFrame:
    """What each moment keeps, has given back, and still has resident.

    Args:
        memstats: Rows of the MemStats table with a `moment` column; the last row of each counts.
        mappings: Classified mappings with a `moment` column, where there are any.
        version: The release; one that is not known to be older is taken to have the scavenger.
        memory_limits: GOMEMLIMIT by moment, in bytes; None, or no entry, where none is known.

    Returns:
        A row per moment, in the table's order, in bytes: `HeapAlloc`, `HeapInuse`, `HeapIdle`,
        `HeapReleased`, `NextGC`, `idle_kept_bytes` (idle and not given back), `retained_bytes`
        (that, plus what is in use), `limit_goal_bytes` (how much of it GOMEMLIMIT lets the
        scavenger leave; missing without a limit), `goal_bytes` (where the background scavenger
        stops once the heap is steady: 1.1 × NextGC, or the limit's if that is lower; missing before
        Go 1.13), `excess_bytes` (retained beyond that goal, or beyond NextGC where there is none;
        not below 0), `lazy_free_bytes` and `arena_rss_bytes` (missing without mappings).
    """
    version = version or GoVersion()
    rows = memstats.drop_duplicates("moment", keep="last").set_index("moment")
    table = rows[FIELDS].astype("Int64")
    table["idle_kept_bytes"] = table["HeapIdle"] - table["HeapReleased"]
    table["retained_bytes"] = table["HeapInuse"] + table["idle_kept_bytes"]
    table["limit_goal_bytes"] = _limit_goals(rows, version, memory_limits or {})
    table["goal_bytes"] = _goals(table, version)
    used_again = table["goal_bytes"].fillna(table["NextGC"])
    wanted = pd.concat([used_again, table["HeapInuse"]], axis=1).max(axis=1, skipna=False)
    table["excess_bytes"] = (table["retained_bytes"] - wanted).clip(lower=0)
    table["lazy_free_bytes"] = _of_arenas(mappings, "LazyFree", table.index)
    table["arena_rss_bytes"] = _of_arenas(mappings, "Rss", table.index)
    return table.astype("Int64").reset_index()


def has_scavenger(version: GoVersion) -> bool:
    """Whether there may be one in the background: the release is not known to be older."""
    return version.high is None or version.high >= BACKGROUND_SCAVENGER


def counts_fresh_as_released(version: GoVersion) -> bool:
    """Whether heap that was mapped and never touched surely counts as given back: from Go 1.13."""
    return version.low is not None and version.low >= BACKGROUND_SCAVENGER


def _goals(table: pd.DataFrame, version: GoVersion) -> pd.Series:
    if not has_scavenger(version):
        return pd.Series(pd.NA, index=table.index, dtype="Int64")
    paced = (table["NextGC"].astype("Float64") * RETAINED_PER_GOAL).round()
    return pd.concat([paced, table["limit_goal_bytes"]], axis=1).min(axis=1).astype("Int64")


def _limit_goals(
    rows: pd.DataFrame, version: GoVersion, memory_limits: Mapping[str, int | None]
) -> pd.Series:
    """What 0.95 × GOMEMLIMIT leaves for the heap: the limit counts all that the runtime maps."""
    if version.high is not None and version.high < MEMORY_LIMIT:
        memory_limits = {}
    limits = pd.Series([memory_limits.get(name) for name in rows.index], rows.index, dtype="Int64")
    beside = rows["Sys"].astype("Int64") - rows["HeapSys"].astype("Int64")
    goals = (limits.astype("Float64") * MAPPED_PER_LIMIT).round() - beside
    return goals.clip(lower=0).astype("Int64")


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
