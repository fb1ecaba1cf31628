"""Which instances drift: which quantities rise over hours of captures, and by how much?

The slope is the Theil–Sen estimate with its interval. Of very many captures, a limited number at
even spacing is used. A slope is a drift if its interval excludes zero and the total rise is large
enough to matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.fleet import thresholds
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.inputs.schema import Column, build_rows
from gomem.numbered import Instance, Service
from gomem.statistics.slopes import theil_sen
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

DRIFT = (
    Column("instance", "str", "", "The instance.", Instance),
    Column("service", "str", "", "Its program.", Service),
    Column("name", "str", "", "What drifts, one of `QUANTITIES`.", Words),
    Column("unit", "str", "", "Its unit, a base unit.", Words),
    Column("captures", "int64", "count", "Captures with a time that tell it."),
    Column("seconds", "float64", "s", "From the first of them to the last."),
    Column("first", "float64", "", "In the first."),
    Column("last", "float64", "", "In the last."),
    Column("slope_per_second", "float64", "", "Units a second: the median of all pairs."),
    Column("slope_low", "float64", "", "Lower end of its 95 % interval."),
    Column("slope_high", "float64", "", "Upper end of its 95 % interval."),
)
DRIFTING = ("rss_bytes", "live_heap", "heap_idle", "native", "goroutines", "threads")


def drift(levels: pd.DataFrame) -> pd.DataFrame:
    """Return a row per instance and quantity that drifts up, the fastest first; see `DRIFT`."""
    timed = levels[levels["time"].notna() & levels["name"].isin(DRIFTING)]
    rows: list[tuple[Any, ...]] = []
    for (service, instance, name), found in timed.groupby(
        ["service", "instance", "name"], sort=True
    ):
        if len(found) < thresholds.MIN_CAPTURES:
            continue
        ordered = found.sort_values("time", kind="stable")
        seconds = (ordered["time"] - ordered["time"].iloc[0]).dt.total_seconds().to_numpy(float)
        values = ordered["last"].to_numpy(float)
        if (row := _drift_of(str(name), seconds, values)) is not None:
            rows.append((instance, service, name, BY_NAME[str(name)].unit, len(found), *row))
    rows.sort(key=lambda row: -(row[7] - row[6]) / max(row[6], thresholds.MIN_DIFFERENCE[row[3]]))
    return build_rows(rows, DRIFT)


def _drift_of(name: str, seconds: Any, values: Any) -> tuple[float, ...] | None:
    """Return seconds, first, last, slope and its interval; None if it does not drift."""
    least = thresholds.MIN_DIFFERENCE[BY_NAME[name].unit]
    if not seconds[-1] > 0 or values.max() - values.min() < least:
        return None
    chosen = np.unique(np.linspace(0, len(values) - 1, thresholds.MAX_POINTS).round().astype(int))
    slope, low, high = (
        float(end[0]) for end in theil_sen(seconds[chosen], values[chosen][None, :])
    )
    rise, first = low * seconds[-1], float(values[0])
    if rise < least or rise < thresholds.MIN_DRIFT * max(first, least):
        return None
    return float(seconds[-1]), first, float(values[-1]), slope, low, high
