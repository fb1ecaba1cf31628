"""Heap in use, kept and given back, moment by moment, one panel a capture.

A column is the heap's address space (HeapSys), divided by what the runtime says of it: in use, idle
and kept, given back. What was given back with MADV_FREE and is still resident is hatched. The line
is the RSS of the process: it follows the kept part, or it does not.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import pandas as pd

from gomem.units import format_bytes, is_unknown
from gomem.views.figures.figure import INK, Drawing, draw_byte_axis, new_figure, style
from gomem.views.figures.look import LOOK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.4  # inches, as all lengths here
PANEL, LEGEND, TITLE, FOOT = 2.3, 0.4, 0.44, 0.3
SCALE, GAP = 0.72, 0.22  # left of the panels, and between two of them
BAR = 0.66  # of a moment's room
PANELS = 2  # in a row
CHARACTERS = 16  # so many stand beside one another on an inch
NAME_CHARACTERS, VALUE_CHARACTERS = 16, 11  # of a moment's name, and of the RSS above its column
LAYERS = {
    "in use": LOOK["heap_objects"],
    "idle, kept": LOOK["heap_idle"],
    "given back, still resident": LOOK["heap_released_resident"],
    "given back": ("none", ""),
}


def plot_heap_return(frames: Mapping[str, pd.DataFrame], *, name: str = "scavenger") -> Drawing:
    """Draw what is kept and given back at each moment, a panel for each capture, on one scale.

    Args:
        frames: By what its panel is called, a row for each moment of a capture: `moment`,
            `HeapInuse`, `idle_kept_bytes`, `HeapReleased`, `LazyFree`, `goal_bytes` and `RSS`, in
            bytes; the last three are missing where no file says.
        name: Unique on its page.
    """
    high = max(int(_tops(frame).max()) for frame in frames.values())
    rows = -(-len(frames) // PANELS)
    height = LEGEND + rows * (TITLE + PANEL + FOOT)
    with style():
        figure = new_figure(WIDTH, height)
        for place, (title, frame) in enumerate(frames.items()):
            axes = figure.add_axes(_box(place, len(frames), height))
            _draw_panel(axes, title, frame, high, labelled=place % PANELS == 0)
            _draw_names(axes, frame, _width(len(frames)))
        _draw_legend(figure.axes[0], figure)
    description = " ".join(f"{title}: {_describe(frame)}" for title, frame in frames.items())
    return Drawing(name, "Heap in use, kept and given back", description, figure)


def _tops(frame: pd.DataFrame) -> pd.Series:
    columns = frame["HeapInuse"] + frame["idle_kept_bytes"] + frame["HeapReleased"]
    return pd.concat([columns, frame["RSS"]], axis=1).max(axis=1)


def _box(place: int, panels: int, height: float) -> tuple[float, float, float, float]:
    """Where a panel stands: rows of two below the legend, as parts of the figure."""
    width = _width(panels)
    row, column = divmod(place, PANELS)
    bottom = height - LEGEND - (row + 1) * (TITLE + PANEL + FOOT) + FOOT
    left = SCALE + column * (width + GAP)
    return left / WIDTH, bottom / height, width / WIDTH, PANEL / height


def _width(panels: int) -> float:
    in_row = min(panels, PANELS)
    return (WIDTH - SCALE - GAP * (in_row - 1)) / in_row


def _draw_panel(axes: Axes, title: str, frame: pd.DataFrame, high: int, *, labelled: bool) -> None:
    places = range(len(frame))
    lazy = frame["LazyFree"].fillna(0)
    sizes = (frame["HeapInuse"], frame["idle_kept_bytes"], lazy, frame["HeapReleased"] - lazy)
    reached = pd.Series(0, index=frame.index, dtype="Int64")
    for (label, (colour, hatch)), size in zip(LAYERS.items(), sizes, strict=True):
        dotted = ":" if colour == "none" else "-"
        axes.bar(
            places, size.astype(float), BAR, bottom=reached.astype(float), color=colour,
            hatch=hatch, edgecolor=INK, lw=0.6, ls=dotted, label=label,
        )  # fmt: skip
        reached = reached + size
    _draw_lines(axes, frame)
    axes.set_xlim(-0.6, len(frame) - 0.4)
    axes.set_ylim(0, high * 1.02)
    axes.set_title(title, loc="left", fontsize=8.5, weight="bold", y=1.0, pad=16)
    draw_byte_axis(axes, 0, high, along="y")
    if not labelled:
        axes.tick_params(labelleft=False)


def _draw_names(axes: Axes, frame: pd.DataFrame, width_inches: float) -> None:
    """The moments below, and the RSS of each above, as many as there is room for."""
    names = [_short(str(name)) for name in frame["moment"]]
    longest = max(VALUE_CHARACTERS, *map(len, names)) + 1
    every = max(1, ceil(len(frame) * longest / (CHARACTERS * width_inches)))
    rows = frame.iloc[::every]
    axes.set_xticks(list(rows.index), names[::every])
    for place, size in rows["RSS"].dropna().items():
        axes.annotate(
            format_bytes(size), (place, 1), (0, 3), xycoords=axes.get_xaxis_transform(),
            textcoords="offset points", ha="center", va="bottom", weight="bold",
        )  # fmt: skip


def _draw_lines(axes: Axes, frame: pd.DataFrame) -> None:
    for place, goal in enumerate(frame["goal_bytes"]):
        if not is_unknown(goal) and goal:
            ends = [place - BAR / 2 - 0.06, place + BAR / 2 + 0.06]
            axes.plot(ends, [goal, goal], color=INK, lw=1.2, ls="--", label="scavenger's goal")
    known = frame[frame["RSS"].notna()]
    if len(known):
        axes.plot(
            list(known.index), known["RSS"].astype(float), color=INK, lw=1.4, marker="o", ms=4,
            label="RSS of the process",
        )  # fmt: skip


def _short(moment: str) -> str:
    return moment if len(moment) <= NAME_CHARACTERS else f"{moment[: NAME_CHARACTERS - 1]}…"


def _draw_legend(axes: Axes, figure: Figure) -> None:
    handles, labels = axes.get_legend_handles_labels()
    by_label = dict(zip(labels, handles, strict=True))
    order = [
        label for label in (*LAYERS, "scavenger's goal", "RSS of the process") if label in by_label
    ]
    figure.legend(
        [by_label[label] for label in order], order, loc="upper left", ncols=3,
        bbox_to_anchor=(SCALE / WIDTH, 1), borderaxespad=0, handlelength=1.8,
    )  # fmt: skip


def _describe(frame: pd.DataFrame) -> str:
    each = [
        f"{row['moment']} {format_bytes(row['HeapInuse'])} in use, "
        f"{format_bytes(row['idle_kept_bytes'])} idle and kept, "
        f"{format_bytes(row['HeapReleased'])} given back, RSS {format_bytes(row['RSS'])}"
        for row in frame.to_dict("records")
    ]
    return "; ".join(each) + "."
