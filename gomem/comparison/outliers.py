"""Which of many builds or pods differs from all the others, and in which metric?

One value per build cannot separate a change from noise, but several builds form a population. 4 201
goroutines in one build, with one goroutine in each of the others, is not noise. Each value is
compared with the median of the others, in units of their spread (the median absolute deviation,
scaled to a standard deviation). One extreme value does not widen this spread. Nearly equal values
have hardly any spread. So the spread is at least a tenth of their median, and at least the square
root of a count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.fleet.thresholds import (
    MIN_DIFFERENCE,
    MIN_DISTANCE,
    MIN_INSTANCES,
    MIN_SPREAD,
    MIN_TIMES,
)
from gomem.comparison.single_values import LOWER
from gomem.comparison.windows import GROWING
from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.numbered import Build, Metric, Unit
from gomem.statistics.robust import distance
from gomem.units import format_count, format_value, is_unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import pandas as pd

OUTLIERS = (
    Column("build", "str", "", "The build that differs from the others.", Build),
    Column("name", "str", "", "The metric.", Metric),
    Column("unit", "str", "", "Unit of the values, a base unit.", Unit),
    Column("value", "float64", "", "Median of the build."),
    Column("typical", "float64", "", "Median of the other builds."),
    Column("distance", "float64", "ratio", "Distance between the two, in spreads of the others."),
)
JUDGED = ("memory", "collector")  # layers with one value per run


def outliers(metrics: pd.DataFrame, apart: Collection[str] = ()) -> pd.DataFrame:
    """The builds that are worse than all others in some metric, farthest first; see `OUTLIERS`.

    Builds in `apart`, such as those of another program, are excluded.
    """
    found: list[tuple[Any, ...]] = []
    is_level = metrics["layer"].isin(JUDGED) & ~metrics["name"].isin(GROWING)
    judged = metrics[is_level & (metrics["better"] == LOWER) & ~metrics["build"].isin([*apart])]
    for (name, unit), of_metric in judged.groupby(["name", "unit"], sort=False):
        known = [row for row in rows_of(of_metric) if not is_unknown(row["median"])]
        if len(known) >= MIN_INSTANCES:
            found += _of_metric(name, unit, [(row["build"], row["median"]) for row in known])
    found.sort(key=lambda row: -row[-1])
    return build_rows(found, OUTLIERS)


def _of_metric(
    name: str, unit: str, values: Sequence[tuple[str, float]]
) -> Iterator[tuple[Any, ...]]:
    for place, (build, value) in enumerate(values):
        others = np.array([other for n, (_, other) in enumerate(values) if n != place], float)
        typical = float(np.median(others))
        z = distance(value, others, min_share=MIN_SPREAD, is_count=unit == "count")
        is_far = z >= MIN_DISTANCE and value >= MIN_TIMES * typical
        if is_far and value - typical >= MIN_DIFFERENCE.get(unit, 0.0):
            yield build, name, unit, value, typical, z


def outlier_words(row: dict[str, Any]) -> str:
    """Format as `goroutines 4 201, where the others have 1`."""
    words = (
        format_count if row["unit"] == "count" else lambda value: format_value(value, row["unit"])
    )
    return f"{row['name']} {words(row['value'])}, where the others have {words(row['typical'])}"
