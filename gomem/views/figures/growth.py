"""What the stacks that move have in use, from profile to profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.units import format_bytes
from gomem.views.figures.figure import Drawing, draw_byte_axis, new_figure, style
from gomem.views.figures.flame_graph import known_name, shortened
from gomem.views.figures.look import BLUE, GREY, ORANGE, PURPLE, VERMILLION
from gomem.views.figures.time_axis import draw_clock

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gomem.analysis.profiles.growth import Series

WIDTH, HEIGHT = 7.6, 2.9  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 0.78, 0.12, 0.5, 0.3
NAME_ROOM = 240.0  # of a name in the legend, in units of which a character has about seven
# Told apart by mark and dash as well as by colour.
LINES = (
    (VERMILLION, "o", "-"),
    (BLUE, "s", "-"),
    (ORANGE, "^", "--"),
    (PURPLE, "D", "--"),
    (GREY, "v", ":"),
)


def plot_growth(series: Series, growth: pd.DataFrame, *, name: str = "growth") -> Drawing:
    """Draw the levels of the stacks with the largest slopes, which are not flat.

    Args:
        series: Levels, as `gomem.analysis.profiles.growth.series_of` lays them out.
        growth: The same stacks, as `gomem.analysis.profiles.growth.growth` judges them.
        name: Unique on its page.
    """
    moving = growth[growth["shape"] != "flat"].head(len(LINES))
    with style():
        figure = new_figure(WIDTH, HEIGHT)
        size = ((WIDTH - LEFT - RIGHT) / WIDTH, (HEIGHT - TOP - FOOT) / HEIGHT)
        axes = figure.add_axes((LEFT / WIDTH, FOOT / HEIGHT, *size))
        _draw(axes, series, moving)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="upper left", ncols=3, bbox_to_anchor=(LEFT / WIDTH, 1),
            borderaxespad=0.2, handlelength=2.2,
        )  # fmt: skip
    return Drawing(name, "What stacks have in use over time", _describe(moving), figure)


def _draw(axes: Axes, series: Series, moving: pd.DataFrame) -> None:
    seconds = series.moments["seconds"].to_numpy(np.float64)
    levels = series.values.loc[moving["stack"]].to_numpy(np.float64)
    for row, function, (colour, mark, dash) in zip(
        levels, moving["function"], LINES[: len(levels)], strict=True
    ):
        label = shortened(known_name(function), NAME_ROOM)
        drawn = axes.plot(
            seconds, row, dash, color=colour, marker=mark, ms=3.5, lw=1.4, label=label
        )
        drawn[0].set_clip_on(False)  # a mark at the edge is whole
    highest = float(levels.max()) if levels.size else 0.0
    axes.set_ylim(0, 1.05 * highest or 1.0)
    draw_byte_axis(axes, 0, 1.05 * highest or 1.0, along="y")
    draw_clock(axes, 0.0, float(seconds[-1]))


def _describe(moving: pd.DataFrame) -> str:
    each = [
        f"{known_name(row['function'])}: {row['shape']}, {format_bytes(row['first'])} at first, "
        f"{format_bytes(row['last'])} at last"
        for row in moving.to_dict("records")
    ]
    return "; ".join(each) + "."
