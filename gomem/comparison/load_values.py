"""How fast did it answer, and what did a request cost, by what a load generator counted?

A quantile of fewer requests than it takes to have one beyond it says nothing of the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LOAD = "load"
LOWER, HIGHER, NEITHER = "lower", "higher", "neither"
REQUESTS, REQUEST_RATE, ERRORS = "load_requests", "requests_per_second", "error_fraction"
QUANTILES = {0.5: "p50", 0.9: "p90", 0.95: "p95", 0.99: "p99"}
OF_LOAD = (
    (REQUEST_RATE, "requests/s", HIGHER),
    *((f"latency_{word}_seconds", "s", LOWER) for word in ("mean", *QUANTILES.values(), "max")),
    (ERRORS, "fraction", LOWER),
    (REQUESTS, "count", NEITHER),
    ("load_seconds", "s", NEITHER),
)
OF_REQUEST = (
    ("alloc_bytes_per_request", "B/request", LOWER),
    ("mallocs_per_request", "count/request", LOWER),
    ("gc_cpu_seconds_per_request", "s/request", LOWER),
)


def load_values(runs: pd.DataFrame, latencies: pd.DataFrame) -> dict[str, float]:
    """What one load test measured, as far as it says, by the names of `OF_LOAD`."""
    run: Mapping[str, Any] = runs.iloc[0]
    requests, errors = run["requests"], run["errors"]
    known = not pd.isna(requests) and requests > 0
    values = {
        REQUEST_RATE: run["requests_per_second"],
        "latency_mean_seconds": run["mean_seconds"],
        "latency_max_seconds": run["max_seconds"],
        ERRORS: errors / requests if known and not pd.isna(errors) else None,
        REQUESTS: requests,
        "load_seconds": run["seconds"],
    }
    for quantile, seconds in zip(latencies["quantile"], latencies["seconds"], strict=True):
        word = QUANTILES.get(round(quantile, 6))
        if word and known and requests * (1 - quantile) >= 1 - 1e-9:
            values[f"latency_{word}_seconds"] = seconds
    return {name: float(value) for name, value in values.items() if not pd.isna(value)}


def load_levels(values: Mapping[str, float]) -> pd.DataFrame:
    """What is known of `OF_LOAD` and `OF_REQUEST`, as a sample to compare.

    Columns `name`, `unit`, `layer`, `better` (lower, higher, neither) and `value`.
    """
    rows = [
        (name, unit, LOAD, better, values[name])
        for name, unit, better in (*OF_LOAD, *OF_REQUEST)
        if name in values
    ]
    return pd.DataFrame(rows, columns=["name", "unit", "layer", "better", "value"])
