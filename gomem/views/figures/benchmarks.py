"""Benchmarks before and after: medians with their intervals, as multiples of the median before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.units import is_unknown
from gomem.views.figures.before_after_rows import (
    SIDES,
    WIDTH,
    add_legend,
    add_rows,
    height_of,
    label_rows,
)
from gomem.views.figures.figure import FAINT, INK, MUTED, Drawing, new_figure, style
from gomem.views.measurements import format_relative, format_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

NAMES, VERDICTS = 2.3, 1.5  # inches beside the rows


def have_multiples(metrics: pd.DataFrame) -> pd.Series:
    """Which rows can be drawn: both medians are known, and the one before is above 0."""
    return metrics["after_median"].notna() & (metrics["before_median"].fillna(0) > 0)


def plot_benchmarks(metrics: pd.DataFrame, *, name: str = "benchmarks") -> Drawing:
    """Draw medians with their 95 % intervals, each as a multiple of the median before.

    Args:
        metrics: Rows of `gomem.analysis.comparison.before_after.METRICS`. Rows without a multiple
            are left out; see `have_multiples`.
        name: Unique on its page.
    """
    rows = metrics[have_multiples(metrics)].to_dict("records")
    with style():
        figure = new_figure(WIDTH, height_of(len(rows)))
        axes = add_rows(figure, len(rows), left=NAMES, right=VERDICTS)
        for place, row in enumerate(rows):
            for side in SIDES:
                _draw_median(axes, place, row, side)
        _frame(axes, rows)
    return Drawing(name, "Medians before and after", _describe(rows), figure)


def _draw_median(axes: Axes, place: int, row: Mapping[str, Any], side: str) -> None:
    colour, marker, shift = SIDES[side]
    base = row["before_median"]
    median, low, high = (row[f"{side}_{key}"] for key in ("median", "low", "high"))
    if not is_unknown(low) and not is_unknown(high):
        axes.plot([low / base, high / base], [place - shift] * 2, color=colour, lw=2.2, zorder=3)
    axes.plot(
        [median / base], [place - shift], ls="none", marker=marker, ms=5, color=colour,
        mec=INK, mew=0.6, zorder=4,
    )  # fmt: skip


def _frame(axes: Axes, rows: list[dict[str, Any]]) -> None:
    ends = ("after_median", "after_high", "before_high")
    known = [(row[end], row["before_median"]) for row in rows for end in ends]
    high = max([1.0, *(end / base for end, base in known if not is_unknown(end))])
    names = [f"{row['name']}  {row['unit']}" for row in rows]
    label_rows(axes, names, [f"{format_relative(row['change'])}  {row['verdict']}" for row in rows])
    axes.set_xlim(-0.02 * high, high * 1.08)
    axes.axvline(1, color=INK, lw=0.8, alpha=MUTED)
    axes.grid(visible=True, axis="x", color=INK, alpha=FAINT, lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelcolor=INK)
    axes.set_xlabel("multiple of the median before", alpha=MUTED)
    add_legend(axes, bars=False)


def _describe(rows: list[dict[str, Any]]) -> str:
    each = [
        f"{row['name']}: {format_value(row['before_median'], row['unit'])} before, "
        f"{format_value(row['after_median'], row['unit'])} after, {row['verdict']}"
        for row in rows
    ]
    return "; ".join(each) + "."
