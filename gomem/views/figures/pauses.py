"""GC pauses and the intervals between GCs: distributions and quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import INK, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing
from gomem.charts.look import BLUE, VERMILLION
from gomem.charts.time_axis import name_durations
from gomem.units import format_count, format_seconds
from gomem.views.words import TIMES

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.collector.pauses import GcPauses

WIDTH, HEIGHT = 7.6, 2.7  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT, GAP = 0.55, 0.12, 0.6, 0.32, 0.5
COLOURS = {"stopped": VERMILLION, "interval": BLUE}  # per panel
MARKED = {0.5: "p50", 0.99: "p99"}
BOTTOM = 0.7  # start of a logarithmic axis of counts: a single collection must be visible


def plot_gc_pauses(pauses: GcPauses, *, name: str = "gc-pauses") -> Drawing:
    """Draw the distributions of pauses and of intervals, with medians and p99."""
    width = (WIDTH - LEFT - RIGHT - GAP) / 2
    chart = Chart(WIDTH, HEIGHT)
    for place, what in enumerate(COLOURS):
        left = LEFT + place * (width + GAP)
        right = WIDTH - left - width
        _draw_panel(chart.panel(left=left, right=right, top=TOP, bottom=FOOT), pauses, what)
    return Drawing(name, "GC pauses and intervals", _describe(pauses), chart)


def _draw_panel(panel: Panel, pauses: GcPauses, what: str) -> None:
    bins = pauses.histogram[pauses.histogram["what"] == what]
    panel.words(TIMES[what][0], "left", "top", up=25, upright="bottom", bold=True)
    if bins.empty:
        panel.has_foot = False
        return
    highs = bins["high_seconds"].to_numpy(float)
    # The first bin begins at 0, which a logarithmic axis cannot show.
    lows = np.append(highs[0] / 10**0.2, highs[:-1])
    counts = bins["cycles"].to_numpy(float)
    look = Look(COLOURS[what], edge=INK, width=0.5)
    for low, high, count in zip(lows.tolist(), highs.tolist(), counts.tolist(), strict=True):
        if count:
            panel.bar(low, 0, high - low, count, look)
    largest = float(counts.max())
    panel.y.scale = Scale(BOTTOM, max(10.0, largest * 1.5), log=True)
    ticks = [10**power for power in range(8) if 10**power <= max(10, largest)]
    panel.y.name(ticks, [format_count(tick) for tick in ticks], grid=True)
    decades = np.log10([lows[0] * 1.001, highs[-1] / 1.001])
    name_durations(panel.x, 10 ** np.floor(decades[0]), 10 ** np.ceil(decades[1]))
    panel.x.grid = False
    _draw_quantiles(panel, pauses.quantiles[pauses.quantiles["what"] == what])


def _draw_quantiles(panel: Panel, quantiles: pd.DataFrame) -> None:
    """Mark the median and p99, with names in separate lines, because they can be close."""
    values = quantiles.set_index("quantile")["seconds"]
    for line, (quantile, label) in enumerate(MARKED.items()):
        seconds = max(float(values[quantile]), panel.x.scale.low)
        panel.rule(Look(edge=INK, width=1.0, dash="--"), x=seconds)
        is_to_the_right = panel.x.scale.shares(seconds) < 0.5
        panel.words(
            f"{label} {format_seconds(values[quantile])}", seconds, "top", up=2 + 10 * line,
            anchor="start" if is_to_the_right else "end", upright="bottom", size=7.5,
        )  # fmt: skip


def _describe(pauses: GcPauses) -> str:
    each = []
    for what in COLOURS:
        own = pauses.quantiles[pauses.quantiles["what"] == what].set_index("quantile")["seconds"]
        median, p99, longest = (format_seconds(own[quantile]) for quantile in (0.5, 0.99, 1.0))
        each.append(f"{TIMES[what][0]}: median {median}, p99 {p99}, longest {longest}")
    return "; ".join(each) + "."
