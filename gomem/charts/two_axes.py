"""Two pictures on one clock, one above the other."""

from __future__ import annotations

from gomem.charts.chart import Chart, Panel

WIDTH = 7.6  # inches, as all lengths here
LEFT, RIGHT, FOOT = 0.78, 0.12, 0.3


def upper_and_lower(
    height: float, lower: float, *, top: float, gap: float
) -> tuple[Chart, Panel, Panel]:
    """Make a chart of two panels, of which the lower one carries the labels of the clock.

    `lower` is its height, `top` the room above for a legend, `gap` that between them for a heading.
    """
    chart = Chart(WIDTH, height)
    above = chart.panel(left=LEFT, right=RIGHT, top=top, bottom=FOOT + lower + gap)
    below = chart.panel(left=LEFT, right=RIGHT, top=height - FOOT - lower, bottom=FOOT)
    return chart, above, below
