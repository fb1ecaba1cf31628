"""Which single numbers sum up a capture, and which direction is better?

A level is one value per capture: RSS, MemStats at a snapshot, GC cost over the log, response times
of a load test, cost per request. Names are those of the artefact or the result. A quantile needs
enough requests to have at least one beyond it. Otherwise it depends on a single extreme value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MEMORY, COLLECTOR = "memory", "collector"
LOWER, HIGHER, NEITHER = "lower", "higher", "neither"
ALLOCATION_RATE = "allocation_rate_bytes_per_second"
COLLECTION_RATE = "collections_per_second"
RSS, HEAP, GOROUTINES, GC_CPU = "RSS", "HeapAlloc", "goroutines", "gc_cpu_fraction"
# computed from two readings of a process's counters
RATES = (GC_CPU, ALLOCATION_RATE, COLLECTION_RATE)
# Name, unit, and which direction is better.
MEMSTATS_METRICS = (
    (HEAP, "B", LOWER),
    ("HeapInuse", "B", LOWER),
    ("Sys", "B", LOWER),
    ("HeapObjects", "count", LOWER),
    ("TotalAlloc", "B", LOWER),
    ("Mallocs", "count", LOWER),
    ("NumGC", "count", NEITHER),
)
CUMULATIVE = ("TotalAlloc", "Mallocs", "NumGC")  # since process start
COLLECTOR_METRICS = (
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
COUNTER_METRICS = ((COLLECTION_RATE, "Hz", NEITHER),)  # GC frequency is not a cost; GC CPU is
# A share of few collections holds for these alone. A quantile of too few values is one of the
# largest of them and does not describe the rest. A median of fewer than six values has no 95 %
# interval.
CARRIED_BY = {
    "stw_p50_seconds": ("stw_n", 6),
    "interval_p50_seconds": ("interval_n", 6),
    "stw_p99_seconds": ("stw_n", 100),
    "assist_fraction": ("cycles", 20),  # a start-up's few collections are not representative
}
MIN_CPU = 0.01  # of all CPU: smaller changes of GC CPU do not matter
MIN_DIFFERENCES = {GC_CPU: MIN_CPU}  # smaller differences, in the unit, do not matter
COLUMNS = ("name", "unit", "layer", "better", "value", "least")
LOAD = "load"
LOWER, HIGHER, NEITHER = "lower", "higher", "neither"
REQUESTS, REQUEST_RATE, ERRORS = "load_requests", "requests_per_second", "error_fraction"
QUANTILES = {0.5: "p50", 0.9: "p90", 0.95: "p95", 0.99: "p99"}
LOAD_METRICS = (
    (REQUEST_RATE, "requests/s", HIGHER),
    *((f"latency_{word}_seconds", "s", LOWER) for word in ("mean", *QUANTILES.values(), "max")),
    (ERRORS, "fraction", LOWER),
    (REQUESTS, "count", NEITHER),
    ("load_seconds", "s", NEITHER),
)
REQUEST_METRICS = (
    ("alloc_bytes_per_request", "B/request", LOWER),
    ("mallocs_per_request", "count/request", LOWER),
    ("gc_cpu_seconds_per_request", "s/request", LOWER),
)
SECONDS = {"s", "sec", "ms", "us", "µs", "ns"}
BYTES = {"B", "bytes", "kB", "KB", "KiB", "MiB", "GiB"}
ALLOCATIONS = {"allocs", "mallocs", "objects"}
OPERATIONS = {"op", "ops", "req", "reqs", "requests"}


def levels_of(
    rss_bytes: int | None,
    memstats: pd.Series | None,
    goroutines: int | None,
    collector: Mapping[str, Any] | None,
) -> pd.DataFrame:
    """Return one value per known level of a moment, as a sample to compare.

    `collector` is the GC cost over the whole log: `GcCost.values`. Columns `name`, `unit`, `layer`,
    `better` (lower, higher, neither), `value`, and `least` (smaller differences do not matter).
    """
    stats = {} if memstats is None else memstats
    rows = [
        (RSS, "B", MEMORY, LOWER, rss_bytes),
        *((name, unit, MEMORY, better, stats.get(name)) for name, unit, better in MEMSTATS_METRICS),
        (GOROUTINES, "count", MEMORY, LOWER, goroutines),
        *(
            (name, unit, COLLECTOR, better, _carried(name, collector or {}))
            for name, unit, better in (*COLLECTOR_METRICS, *COUNTER_METRICS)
        ),
    ]
    known = [(*row, MIN_DIFFERENCES.get(row[0], 0.0)) for row in rows if not pd.isna(row[-1])]
    return pd.DataFrame(known, columns=list(COLUMNS))


def _carried(name: str, values: Mapping[str, Any]) -> Any:
    """A value of the collector; None for a quantile of too few values."""
    count, least = CARRIED_BY.get(name, ("", 0))
    return values.get(name) if (values.get(count) or 0) >= least else None


def load_values(runs: pd.DataFrame, latencies: pd.DataFrame) -> dict[str, float]:
    """The known results of one load test, by the names of `LOAD_METRICS`."""
    run: Mapping[str, Any] = runs.iloc[0]
    requests, errors = run["requests"], run["errors"]
    is_known = not pd.isna(requests) and requests > 0
    values = {
        REQUEST_RATE: run["requests_per_second"],
        "latency_mean_seconds": run["mean_seconds"],
        "latency_max_seconds": run["max_seconds"],
        ERRORS: errors / requests if is_known and not pd.isna(errors) else None,
        REQUESTS: requests,
        "load_seconds": run["seconds"],
    }
    for quantile, seconds in zip(latencies["quantile"], latencies["seconds"], strict=True):
        word = QUANTILES.get(round(quantile, 6))
        if word and is_known and requests * (1 - quantile) >= 1 - 1e-9:
            values[f"latency_{word}_seconds"] = seconds
    return {name: float(value) for name, value in values.items() if not pd.isna(value)}


def load_levels(values: Mapping[str, float]) -> pd.DataFrame:
    """Return the known `LOAD_METRICS` and `REQUEST_METRICS` as a sample to compare.

    Columns `name`, `unit`, `layer`, `better` (lower, higher, neither) and `value`.
    """
    rows = [
        (name, unit, LOAD, better, values[name])
        for name, unit, better in (*LOAD_METRICS, *REQUEST_METRICS)
        if name in values
    ]
    return pd.DataFrame(rows, columns=["name", "unit", "layer", "better", "value"])


def better_by_unit(unit: str) -> str | None:
    """Whether lower or higher values of a unit are better; None if the unit does not determine it.

    Time, bytes and allocations are costs; bytes and operations per second are speed. Other units,
    such as hits/op, are unknown.
    """
    above, _, below = unit.partition("/")
    words = set(above.split("-"))
    if below in SECONDS:
        return "higher" if words & (BYTES | OPERATIONS) else None
    return "lower" if words & (BYTES | SECONDS | ALLOCATIONS) else None
