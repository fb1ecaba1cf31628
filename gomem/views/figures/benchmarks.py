"""Benchmarks before and after: medians with their intervals, as multiples of the median before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Look, Panel, Scale
from gomem.charts.figure import Drawing
from gomem.inputs.schema import rows_of
from gomem.units import format_relative, is_unknown, minus
from gomem.views.figures.rows import SIDES, explain_sides, label_rows, rows_panel
from gomem.views.measurements import format_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

NAMES, VERDICTS = 2.3, 1.5  # inches beside the rows


def have_multiples(metrics: pd.DataFrame) -> pd.Series:
    """Which rows can be drawn: both medians are known, and the first is above 0."""
    return metrics["after_median"].notna() & (metrics["before_median"].fillna(0) > 0)


def plot_benchmarks(metrics: pd.DataFrame, *, name: str = "benchmarks") -> Drawing:
    """Draw medians with their 95 % intervals, each as a multiple of the median before.

    Rows of `comparison.samples.METRICS`; those without a multiple are left out.
    """
    rows = rows_of(metrics[have_multiples(metrics)])
    chart, panel = rows_panel(len(rows), left=NAMES, right=VERDICTS)
    for place, row in enumerate(rows):
        for side in SIDES:
            _draw_median(panel, place, row, side)
    names = [f"{row['name']}  {row['unit']}" for row in rows]
    verdicts = [f"{minus(format_relative(row['change']))}  {row['verdict']}" for row in rows]
    label_rows(panel, names, verdicts)
    ends = ("after_median", "after_high", "before_high")
    known = [(row[end], row["before_median"]) for row in rows for end in ends]
    high = max([1.0, *(end / base for end, base in known if not is_unknown(end))])
    panel.x.scale = Scale(-0.02 * high, high * 1.08)
    ticks = multiple_ticks(high)
    panel.x.name(ticks, [f"{tick:g}" for tick in ticks], grid=True)
    panel.rule(Look(edge=INK, width=0.8, opacity=MUTED), x=1)
    foot: dict[str, Any] = {"up": -16, "anchor": "end", "upright": "top", "opacity": MUTED}
    panel.words("multiple of the median before", "right", "bottom", **foot)
    explain_sides(chart, left=NAMES, bars=False)
    each = [
        f"{row['name']}: {format_value(row['before_median'], row['unit'])} before, "
        f"{format_value(row['after_median'], row['unit'])} after, {row['verdict']}"
        for row in rows
    ]
    return Drawing(name, "Medians before and after", "; ".join(each) + ".", chart)


def _draw_median(panel: Panel, place: int, row: Mapping[str, Any], side: str) -> None:
    colour, marker, shift = SIDES[side]
    base, at = row["before_median"], place - shift
    median, low, high = (row[f"{side}_{key}"] for key in ("median", "low", "high"))
    if not is_unknown(low) and not is_unknown(high):
        panel.line([low / base, high / base], [at] * 2, Look(edge=colour, width=2.2))
    look = Look(edge=colour, width=0)
    panel.line([median / base], [at], look, marker=marker, mark_edge=INK)


def multiple_ticks(high: float, at_most: int = 8) -> list[float]:
    """Round numbers from 0 to `high`."""
    steps = (digit * 10.0**power for power in range(-1, 300) for digit in (1, 2, 5))
    step = next(step for step in steps if high / step <= at_most)
    return [round(step * number, 1) for number in range(int(high / step) + 1)]
