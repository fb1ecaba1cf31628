"""Benchmarks before and after: medians with their intervals, as multiples of the median before."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Look, Panel, Scale
from gomem.charts.figure import Drawing
from gomem.inputs.schema import rows_of
from gomem.units import format_relative, is_unknown, minus
from gomem.views.figures.rows import SIDES, explain_sides, label_rows, rows_panel
from gomem.views.measurements import format_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

NAMES, VERDICTS = 2.3, 1.5  # inches on either side of the rows
EXTREME = 5.0  # ratio from which the axis is logarithmic
MIN_DECADE = -6
ENDINGS = ("_bytes_per_second", "_per_second", "_cpu_seconds", "_bytes", "_seconds", "_fraction")


def have_multiples(metrics: pd.DataFrame) -> pd.Series:
    """Which rows can be drawn: both medians are known, and `before` is above 0."""
    return metrics["after_median"].notna() & (metrics["before_median"].fillna(0) > 0)


def plot_benchmarks(metrics: pd.DataFrame, *, name: str = "benchmarks") -> Drawing:
    """Draw medians with their 95 % intervals, each as a multiple of the median before.

    `metrics` are rows of `comparison.samples.METRICS`; rows without a multiple are left out.
    """
    rows = rows_of(metrics[have_multiples(metrics)])
    chart, panel = rows_panel(len(rows), left=NAMES, right=VERDICTS)
    _scale(panel, rows)
    for place, row in enumerate(rows):
        for side in SIDES:
            _draw_median(panel, place, row, side)
    label_rows(panel, [_name(row) for row in rows], [_change(row) for row in rows])
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


def _scale(panel: Panel, rows: Sequence[Mapping[str, Any]]) -> None:
    """Axis of multiples; logarithmic if one is below a fifth, or above five."""
    ends = ("after_median", "after_low", "after_high", "before_low", "before_high")
    known = [(row[end], row["before_median"]) for row in rows for end in ends]
    multiples = [end / base for end, base in known if not is_unknown(end)]
    above = [multiple for multiple in multiples if multiple > 0]
    low, high, has_zero = min([1.0, *above]), max([1.0, *multiples]), len(above) < len(multiples)
    if high <= EXTREME and low >= 1 / EXTREME and not has_zero:
        panel.x.scale = Scale(-0.02 * high, high * 1.08)
        ticks = multiple_ticks(high)
    else:  # values of 0 are at the left end of the axis
        first = max(MIN_DECADE, math.floor(math.log10(low)) - has_zero)
        last = max(math.ceil(math.log10(high)), first + 1)
        panel.x.scale = Scale(0.8 * 10.0**first, 1.25 * 10.0**last, log=True)
        ticks = [10.0**power for power in range(first, last + 1)]
    names = [f"{tick:g}" for tick in ticks]
    if has_zero:
        names[0] = "0"
    panel.x.name(ticks, names, grid=True)


def _name(row: Mapping[str, Any]) -> str:
    """A metric and its unit; gomem's own names already end in the unit."""
    name = str(row["name"])
    ending = next((end for end in ENDINGS if name.endswith(end)), "")
    return (
        f"{name.removesuffix(ending).replace('_', ' ')}, {row['unit']}"
        if ending
        else (f"{name}  {row['unit']}")
    )


def _change(row: Mapping[str, Any]) -> str:
    """The change and the verdict; only the verdict if the change is unknown."""
    if is_unknown(row["change"]):
        return str(row["verdict"])
    return f"{minus(format_relative(row['change']))}  {row['verdict']}"


def _draw_median(panel: Panel, place: int, row: Mapping[str, Any], side: str) -> None:
    colour, marker, shift = SIDES[side]
    base, at = row["before_median"], place - shift
    median, low, high = (row[f"{side}_{key}"] for key in ("median", "low", "high"))
    least = panel.x.ticks[0].value
    if not is_unknown(low) and not is_unknown(high):
        ends = [max(least, end / base) for end in (low, high)]
        panel.line(ends, [at] * 2, Look(edge=colour, width=2.2))
    look = Look(edge=colour, width=0)
    panel.line([max(least, median / base)], [at], look, marker=marker, mark_edge=INK)


def multiple_ticks(high: float, at_most: int = 8) -> list[float]:
    """Round numbers from 0 to `high`."""
    steps = (digit * 10.0**power for power in range(-1, 300) for digit in (1, 2, 5))
    step = next(step for step in steps if high / step <= at_most)
    return [round(step * number, 1) for number in range(int(high / step) + 1)]
