"""How much of the heap survives, how far is the goal missed, and how much room does it leave?

The room between the live heap and the goal is what GOGC buys: memory for fewer collections. It is
the first thing to look at when the heap seems twice too large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from gomem.inputs.schema import Column, build

PACING = (
    "survival_fraction", "overshoot_bytes", "overshoot_fraction", "headroom_bytes",
    "headroom_fraction",
)  # fmt: skip
PACING_SUMMARY = (
    Column("what", "str", "", "One of `PACING`, whose name ends in the unit."),
    Column("n", "int64", "count", "Collections that tell it."),
    Column("p10", "float64", "", "One in ten is at most this."),
    Column("p50", "float64", "", "Every second one is at most this."),
    Column("p90", "float64", "", "Nine in ten are at most this."),
    Column("max", "float64", "", "The largest."),
)
QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}


@dataclass(frozen=True)
class HeapPacing:
    """How collections were paced.

    Attributes:
        cycles: A row per collection: `run`, `number` and the columns of `PACING`. Made of sizes
            floored to 1 MiB: each is known to 1 MiB either way, and where the heap is small the
            fractions say little.
        summary: A row per column of `PACING`; see `PACING_SUMMARY`.
    """

    cycles: pd.DataFrame
    summary: pd.DataFrame


def heap_pacing(cycles: pd.DataFrame) -> HeapPacing:
    """Hold the heap sizes of collections against their goals.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them.
    """
    live, goal = cycles["heap_live_bytes"], cycles["heap_goal_bytes"]
    overshoot = (cycles["heap_at_mark_end_bytes"] - goal).clip(lower=0)
    headroom = _next(cycles, "heap_goal_bytes") - live
    frame = cycles[["run", "number"]].assign(
        survival_fraction=_ratio(live, cycles["heap_at_start_bytes"]),
        overshoot_bytes=overshoot,
        overshoot_fraction=_ratio(overshoot, goal),
        headroom_bytes=headroom,
        headroom_fraction=_ratio(headroom, live),
    )
    summary = pd.DataFrame([_summary(frame, what) for what in PACING])
    return HeapPacing(frame, build(dict(summary), PACING_SUMMARY))


def _next(cycles: pd.DataFrame, column: str) -> pd.Series:
    """A column of the collection that follows, if no line is missing between the two."""
    after = cycles.groupby("run", sort=False)[[column, "number"]].shift(-1)
    return after[column].where(cycles["number"].add(1).eq(after["number"]))


def _ratio(part: pd.Series, whole: pd.Series) -> pd.Series:
    """A part of a whole; missing where the whole is less than the log can print."""
    return (part / whole.where(whole > 0)).astype("Float64")


def _summary(frame: pd.DataFrame, what: str) -> dict[str, object]:
    sample = frame[what].dropna().to_numpy(float)
    known = len(sample) > 0
    quantiles = {
        name: float(np.quantile(sample, quantile, method="inverted_cdf")) if known else np.nan
        for name, quantile in QUANTILES.items()
    }
    return {
        "what": what,
        "n": len(sample),
        **quantiles,
        "max": float(sample.max()) if known else np.nan,
    }
