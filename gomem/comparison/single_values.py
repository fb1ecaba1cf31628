"""Which single numbers sum up a capture, and which way is better?

A level is one value per capture: RSS, what MemStats says at a moment, what the collector cost over
its log. Names are those that the artefact or the answer gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORY, COLLECTOR = "memory", "collector"
LOWER, HIGHER, NEITHER = "lower", "higher", "neither"
ALLOCATION_RATE = "allocation_rate_bytes_per_second"
COLLECTION_RATE = "collections_per_second"
RSS, HEAP, GOROUTINES, GC_CPU = "RSS", "HeapAlloc", "goroutines", "gc_cpu_fraction"
RATES = (GC_CPU, ALLOCATION_RATE, COLLECTION_RATE)  # what two readings of a process's counters tell
# Name, unit, and which way is better.
OF_MEMSTATS = (
    (HEAP, "B", LOWER),
    ("HeapInuse", "B", LOWER),
    ("Sys", "B", LOWER),
    ("HeapObjects", "count", LOWER),
    ("TotalAlloc", "B", LOWER),
    ("Mallocs", "count", LOWER),
    ("NumGC", "count", NEITHER),
)
OF_COLLECTOR = (
    ("seconds", "s", NEITHER),
    ("cycles", "count", NEITHER),
    ("interval_p50_seconds", "s", HIGHER),
    ("stw_p50_seconds", "s", LOWER),
    ("stw_p99_seconds", "s", LOWER),
    ("longest_stop_seconds", "s", LOWER),
    (GC_CPU, "fraction", LOWER),
    ("assist_fraction", "fraction", LOWER),
    (ALLOCATION_RATE, "B/s", LOWER),
    ("heap_live_last_bytes", "B", LOWER),
    ("heap_peak_bytes", "B", LOWER),
    ("heap_goal_bytes", "B", NEITHER),
)
OF_COUNTERS = ((COLLECTION_RATE, "Hz", NEITHER),)  # how often is no cost: GC CPU is
# A quantile of fewer values is one of the largest few: it says nothing of the rest. A median of
# fewer than six has no 95 % interval.
CARRIED_BY = {
    "stw_p50_seconds": ("stw_n", 6),
    "interval_p50_seconds": ("interval_n", 6),
    "stw_p99_seconds": ("stw_n", 100),
}
LEAST_CPU = 0.01  # of all CPU: a smaller change of the collector's share is nobody's concern
LEAST = {GC_CPU: LEAST_CPU}  # differences that matter to nobody, in the unit
COLUMNS = ("name", "unit", "layer", "better", "value", "least")


def levels_of(
    rss_bytes: int | None,
    memstats: pd.Series | None,
    goroutines: int | None,
    collector: Mapping[str, Any] | None,
) -> pd.DataFrame:
    """One value for each level that is known of a moment, as a sample to compare.

    `collector` is what it cost over the whole log: `GcCost.values`. Columns `name`, `unit`,
    `layer`, `better` (lower, higher, neither), `value`, and `least`: a smaller difference matters
    to nobody.
    """
    stats = {} if memstats is None else memstats
    rows = [
        (RSS, "B", MEMORY, LOWER, rss_bytes),
        *((name, unit, MEMORY, better, stats.get(name)) for name, unit, better in OF_MEMSTATS),
        (GOROUTINES, "count", MEMORY, LOWER, goroutines),
        *(
            (name, unit, COLLECTOR, better, _carried(name, collector or {}))
            for name, unit, better in (*OF_COLLECTOR, *OF_COUNTERS)
        ),
    ]
    known = [(*row, LEAST.get(row[0], 0.0)) for row in rows if not pd.isna(row[-1])]
    return pd.DataFrame(known, columns=list(COLUMNS))


def _carried(name: str, values: Mapping[str, Any]) -> Any:
    """A value of the collector's; None for a quantile of too few."""
    count, least = CARRIED_BY.get(name, ("", 0))
    return values.get(name) if (values.get(count) or 0) >= least else None
