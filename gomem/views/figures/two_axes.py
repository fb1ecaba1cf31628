"""Two pictures on one clock, one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.figures.figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.6  # inches, as all lengths here
LEFT, RIGHT, FOOT = 0.78, 0.12, 0.3


def upper_and_lower(
    height: float, lower: float, *, top: float, gap: float
) -> tuple[Figure, Axes, Axes]:
    """Make a figure of two axes, of which the lower one carries the labels of the clock.

    Args:
        height: Of the figure.
        lower: Height of the lower axes.
        top: Room above the upper ones, for a legend.
        gap: Room between the two, for a heading of the lower ones.
    """
    figure = new_figure(WIDTH, height)
    left, width = LEFT / WIDTH, (WIDTH - LEFT - RIGHT) / WIDTH
    foot = FOOT + lower + gap
    upper_axes = figure.add_axes((left, foot / height, width, (height - foot - top) / height))
    lower_axes = figure.add_axes((left, FOOT / height, width, lower / height))
    return figure, upper_axes, lower_axes


def draw_legend(figure: Figure, axes: Axes, *, handle_length: float) -> None:
    """In one row, above the upper axes."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper left", ncols=4, bbox_to_anchor=(LEFT / WIDTH, 1),
        borderaxespad=0.2, handlelength=handle_length,
    )  # fmt: skip
