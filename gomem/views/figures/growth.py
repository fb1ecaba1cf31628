"""In-use bytes of the stacks that change, over a series of profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import Chart, Dash, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import BLUE, GREY, ORANGE, PURPLE, VERMILLION
from gomem.charts.time_axis import name_times
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes
from gomem.views.figures.flame_graph import known_name, shortened

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.growth import Series

WIDTH, HEIGHT = 7.6, 2.9  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 0.78, 0.12, 0.5, 0.3
NAME_ROOM = 240.0  # width of a name in the legend; a character has about seven units
# Distinct by marker and dash as well as by colour.
LINES: tuple[tuple[str, str, Dash], ...] = (
    (VERMILLION, "o", ""),
    (BLUE, "s", ""),
    (ORANGE, "^", "--"),
    (PURPLE, "D", "--"),
    (GREY, "v", ":"),
)


def plot_growth(series: Series, growth: pd.DataFrame, *, name: str = "growth") -> Drawing:
    """Draw the levels of the stacks with the largest slopes, without flat ones.

    `series` is the result of `analysis.profiles.growth.series_of`, `growth` its assessment.
    """
    moving = growth[growth["shape"] != "flat"].head(len(LINES))
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=LEFT, right=RIGHT, top=TOP, bottom=FOOT)
    _draw(panel, series, moving)
    chart.explain(panel.labelled(), left=LEFT, columns=3, handle=2.4)
    return Drawing(name, "In-use bytes by stack over time", _describe(moving), chart)


def _draw(panel: Panel, series: Series, moving: pd.DataFrame) -> None:
    seconds = series.moments["seconds"].to_numpy(np.float64)
    levels = series.values.loc[moving["stack"]].to_numpy(np.float64)
    lines = zip(levels, moving["function"], LINES[: len(levels)], strict=True)
    for row, function, (colour, mark, dash) in lines:
        label = shortened(known_name(function), NAME_ROOM)
        look = Look(edge=colour, width=1.4, dash=dash)
        panel.line(seconds, row, look, label, marker=mark, size=4.5)
    highest = float(levels.max()) if levels.size else 0.0
    panel.y.scale = Scale(0, 1.05 * highest or 1.0)
    name_bytes(panel.y, 0, 1.05 * highest or 1.0)
    name_times(panel.x, 0.0, float(seconds[-1]))


def _describe(moving: pd.DataFrame) -> str:
    each = [
        f"{known_name(row['function'])}: {row['shape']}, {format_bytes(row['first'])} at first, "
        f"{format_bytes(row['last'])} at last"
        for row in rows_of(moving)
    ]
    return "; ".join(each) + "."
