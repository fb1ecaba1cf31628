"""Which of many builds or pods differs from all the others, and in which metric?

One value per build cannot separate a change from noise, but several builds form a population. 4 201
goroutines in one build, with one goroutine in each of the others, is not noise. Each value is
compared with the median of the others, in units of their spread (the median absolute deviation,
scaled to a standard deviation). One extreme value does not widen this spread. Nearly equal values
have hardly any spread. So the spread is at least a tenth of their median, and at least the square
root of a count.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from gomem.comparison.single_values import LOWER
from gomem.comparison.windows import GROWING
from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.units import MIB, format_count, format_value, is_unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import pandas as pd

OUTLIERS = (
    Column("build", "str", "", "The build that differs from the others."),
    Column("name", "str", "", "In what."),
    Column("unit", "str", "", "Unit of the values, a base unit."),
    Column("value", "float64", "", "Its median."),
    Column("typical", "float64", "", "The median of the others."),
    Column("distance", "float64", "ratio", "How far apart, in spreads of the others."),
)
MIN_BUILDS = 4  # three others have a middle and a spread
MIN_DISTANCE = 6.0  # spreads: of a hundred thousand normal values not one lies so far
MIN_TIMES = 2.0  # what is typical: less is within what pods differ by
SPREAD_OF_MAD = 1.4826  # of a normal sample
MIN_SPREAD = 0.1  # of the median
# A smaller difference is nobody's concern, whatever the spread: a thousand goroutines, one GC.
MIN_DIFFERENCE = {"count": 100.0, "B": 8 * MIB, "fraction": 0.05, "s": 0.01}
JUDGED = ("memory", "collector")  # layers of one value a run


def outliers(metrics: pd.DataFrame, apart: Collection[str] = ()) -> pd.DataFrame:
    """The builds that are worse than all others in some metric, the farthest first; see `OUTLIERS`.

    Builds that are `apart` are not of the population, such as those of another program.
    """
    found: list[tuple[Any, ...]] = []
    is_level = metrics["layer"].isin(JUDGED) & ~metrics["name"].isin(GROWING)
    judged = metrics[is_level & (metrics["better"] == LOWER) & ~metrics["build"].isin([*apart])]
    for (name, unit), of_metric in judged.groupby(["name", "unit"], sort=False):
        known = [row for row in rows_of(of_metric) if not is_unknown(row["median"])]
        if len(known) >= MIN_BUILDS:
            found += _of_metric(name, unit, [(row["build"], row["median"]) for row in known])
    found.sort(key=lambda row: -row[-1])
    return build_rows(found, OUTLIERS)


def _of_metric(
    name: str, unit: str, values: Sequence[tuple[str, float]]
) -> Iterator[tuple[Any, ...]]:
    for place, (build, value) in enumerate(values):
        others = [other for n, (_, other) in enumerate(values) if n != place]
        typical = median(others)
        distance = (value - typical) / spread_of(others, is_count=unit == "count")
        is_far = distance >= MIN_DISTANCE and value >= MIN_TIMES * typical
        if is_far and value - typical >= MIN_DIFFERENCE.get(unit, 0.0):
            yield build, name, unit, value, typical, distance


def spread_of(values: Sequence[float], *, is_count: bool) -> float:
    """By how much values differ from their median, as a standard deviation; never 0."""
    middle = median(values)
    spread = SPREAD_OF_MAD * median(abs(value - middle) for value in values)
    least = max(MIN_SPREAD * abs(middle), abs(middle) ** 0.5 if is_count else 0.0)
    return max(spread, least) or 1e-9


def outlier_words(row: dict[str, Any]) -> str:
    """`goroutines 4 201, where the others have 1`."""
    words = (
        format_count if row["unit"] == "count" else lambda value: format_value(value, row["unit"])
    )
    return f"{row['name']} {words(row['value'])}, where the others have {words(row['typical'])}"
