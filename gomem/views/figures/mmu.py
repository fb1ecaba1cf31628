"""Minimum mutator utilisation: the program's share of CPU in the worst window of each length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Chart, Look
from gomem.charts.figure import Drawing
from gomem.charts.look import BLUE
from gomem.charts.time_axis import name_durations
from gomem.units import format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.mmu import MutatorUtilization

WIDTH, HEIGHT = 7.6, 2.4  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 0.62, 1.25, 0.15, 0.42
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def plot_mmu(utilization: MutatorUtilization, *, name: str = "mmu") -> Drawing:
    """Draw the curve and the mean."""
    curve = utilization.curve.dropna(subset=["minimum_fraction"])
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=LEFT, right=RIGHT, top=TOP, bottom=FOOT)
    windows = utilization.curve["window_seconds"]
    name_durations(panel.x, windows.min(), windows.max())
    foot: dict[str, Any] = {"up": -15, "anchor": "end", "upright": "top", "size": 7.5}
    panel.words("window length", "right", "bottom", opacity=MUTED, **foot)
    panel.y.name(SHARES, [f"{100 * share:.0f} %" for share in SHARES], grid=True)
    panel.line(
        curve["window_seconds"], curve["minimum_fraction"], Look(edge=BLUE, width=1.8), marker="o"
    )
    mean = utilization.mean_fraction
    if mean is not None:
        panel.rule(Look(edge=INK, width=1.0, dash="--"), y=mean)
        panel.words(f"{format_fraction(mean)}\non average", "right", mean, right=6, size=7.5)
    points = zip(curve["window_seconds"], curve["minimum_fraction"], strict=True)
    each = [f"{format_seconds(window)} {format_fraction(kept)}" for window, kept in points]
    worst = f"The program's share of CPU in the worst window: {', '.join(each)}."
    description = f"{worst} On average: {format_fraction(mean)}."
    return Drawing(name, "Minimum mutator utilisation", description, chart)
