"""How long collections stop the world and how far apart they are: distributions and quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.units import format_count, format_seconds
from gomem.views.figures.figure import FAINT, INK, MUTED, Drawing, new_figure, style
from gomem.views.figures.look import BLUE, VERMILLION
from gomem.views.figures.time_axis import draw_durations
from gomem.views.words import TIMES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gomem.analysis.collector.pauses import GcPauses

WIDTH, HEIGHT = 7.6, 2.7  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT, GAP = 0.55, 0.12, 0.6, 0.32, 0.5
COLOURS = {"stopped": VERMILLION, "interval": BLUE}  # a panel each
MARKED = {0.5: "p50", 0.99: "p99"}
BOTTOM = 0.7  # of an axis of counts that is logarithmic: one collection must be seen


def plot_gc_pauses(pauses: GcPauses, *, name: str = "gc-pauses") -> Drawing:
    """Draw the distributions of stops and of intervals, with medians and p99.

    Args:
        pauses: The answer.
        name: Unique on its page.
    """
    width = (WIDTH - LEFT - RIGHT - GAP) / 2
    with style():
        figure = new_figure(WIDTH, HEIGHT)
        for place, what in enumerate(COLOURS):
            left = LEFT + place * (width + GAP)
            height = HEIGHT - TOP - FOOT
            box = (left / WIDTH, FOOT / HEIGHT, width / WIDTH, height / HEIGHT)
            _draw_panel(figure.add_axes(box), pauses, what)
    return Drawing(name, "Distributions of stops and intervals", _describe(pauses), figure)


def _draw_panel(axes: Axes, pauses: GcPauses, what: str) -> None:
    bins = pauses.histogram[pauses.histogram["what"] == what]
    axes.set_title(TIMES[what][0], loc="left", fontsize=8.5, weight="bold", pad=25)
    if bins.empty:
        axes.set_axis_off()
        return
    highs = bins["high_seconds"].to_numpy(float)
    lows = np.append(
        highs[0] / 10**0.2, highs[:-1]
    )  # the first one begins at 0, off any such scale
    counts = bins["cycles"].to_numpy(float)
    axes.bar(
        lows, counts, highs - lows, align="edge", color=COLOURS[what], edgecolor=INK, lw=0.5,
        bottom=0,
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(BOTTOM, max(10.0, counts.max() * 1.5))
    _draw_counts(axes, counts.max())
    decades = np.log10([lows[0] * 1.001, highs[-1] / 1.001])
    draw_durations(axes, 10 ** np.floor(decades[0]), 10 ** np.ceil(decades[1]), along="x")
    axes.grid(visible=False, axis="x")
    _draw_quantiles(axes, pauses.quantiles[pauses.quantiles["what"] == what])


def _draw_counts(axes: Axes, largest: float) -> None:
    ticks = [10**power for power in range(8) if 10**power <= max(10, largest)]
    axes.yaxis.set_ticks(ticks, [format_count(tick) for tick in ticks], alpha=MUTED)
    axes.yaxis.set_ticks([], minor=True)
    axes.grid(visible=True, axis="y", color=INK, alpha=FAINT, lw=0.6)
    axes.set_axisbelow(True)


def _draw_quantiles(axes: Axes, quantiles: pd.DataFrame) -> None:
    """Median and p99, named above on a line each: they may stand close."""
    values = quantiles.set_index("quantile")["seconds"]
    low, high = np.log(axes.get_xlim())
    for line, (quantile, label) in enumerate(MARKED.items()):
        seconds = max(float(values[quantile]), axes.get_xlim()[0])
        axes.axvline(seconds, color=INK, lw=1.0, ls="--")
        to_the_right = np.log(seconds) < (low + high) / 2
        axes.annotate(
            f"{label} {format_seconds(values[quantile])}", (seconds, 1), (0, 2 + 10 * line),
            xycoords=axes.get_xaxis_transform(), textcoords="offset points",
            ha="left" if to_the_right else "right", va="bottom", fontsize=7.5,
        )  # fmt: skip


def _describe(pauses: GcPauses) -> str:
    each = []
    for what in COLOURS:
        own = pauses.quantiles[pauses.quantiles["what"] == what].set_index("quantile")["seconds"]
        each.append(
            f"{TIMES[what][0]}: median {format_seconds(own[0.5])}, "
            f"p99 {format_seconds(own[0.99])}, longest {format_seconds(own[1.0])}"
        )
    return "; ".join(each) + "."
