"""Heap in use, idle heap and released heap at each moment, one panel per capture.

A column is the heap's address space (HeapSys): in use, idle, and released to the OS. Memory that
was released with MADV_FREE and is still resident is hatched. The line is RSS.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.charts.chart import INK, Chart, Look, Panel, Scale, Tick
from gomem.charts.figure import Drawing, beginning, name_bytes
from gomem.charts.look import LOOK
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH = 7.4  # inches, as all lengths here
PANEL, LEGEND, TITLE, FOOT = 2.3, 0.4, 0.44, 0.3
SCALE, GAP = 0.72, 0.22  # left of the panels, and between panels
BAR = 0.66  # fraction of a moment's width
PANELS = 2  # per row
CHARACTERS = 16  # per inch
NAME_CHARACTERS, VALUE_CHARACTERS = 16, 11  # of a moment's name, and of the RSS above its column
GOAL, RSS = "scavenger goal", "RSS"
LAYERS = {
    "in use": LOOK["heap_objects"],
    "idle heap": LOOK["heap_idle"],
    "released, still in RSS": LOOK["heap_released_resident"],
    "released": ("none", ""),
}


def plot_heap_return(frames: Mapping[str, pd.DataFrame], *, name: str = "scavenger") -> Drawing:
    """Draw the heap at each moment, a panel per capture, with a common scale.

    `frames` by the title of the panel, a row per moment: `moment`, and in bytes `HeapInuse`,
    `idle_kept_bytes`, `HeapReleased`, `LazyFree`, `goal_bytes` and `RSS`; the last three can be
    missing.
    """
    high = max(int(_tops(frame).max()) for frame in frames.values())
    rows, across = -(-len(frames) // PANELS), min(len(frames), PANELS)
    width = (WIDTH - SCALE - GAP * (across - 1)) / across
    height = LEGEND + rows * (TITLE + PANEL + FOOT)
    chart = Chart(WIDTH, height)
    for place, (title, frame) in enumerate(frames.items()):
        row, column = divmod(place, PANELS)  # below the legend
        top, left = LEGEND + row * (TITLE + PANEL + FOOT) + TITLE, SCALE + column * (width + GAP)
        panel = chart.panel(
            left=left, right=WIDTH - left - width, top=top, bottom=height - top - PANEL
        )
        _draw_panel(panel, title, frame, high, labelled=column == 0)
        _draw_names(panel, frame, width)
    # The legend has the entries of all panels in one order.
    by_label = {mark.label: mark for panel in chart.panels for mark in panel.labelled()}
    order = (*LAYERS, GOAL, RSS)
    entries = [by_label[label] for label in order if label in by_label]
    chart.explain(entries, left=SCALE, columns=3, handle=1.9)
    description = " ".join(f"{title}: {_describe(frame)}" for title, frame in frames.items())
    return Drawing(name, "Heap in use, idle and released", description, chart)


def _tops(frame: pd.DataFrame) -> pd.Series:
    columns = frame["HeapInuse"] + frame["idle_kept_bytes"] + frame["HeapReleased"]
    return pd.concat([columns, frame["RSS"]], axis=1).max(axis=1)


def _draw_panel(
    panel: Panel, title: str, frame: pd.DataFrame, high: int, *, labelled: bool
) -> None:
    lazy = frame["LazyFree"].fillna(0)
    sizes = (frame["HeapInuse"], frame["idle_kept_bytes"], lazy, frame["HeapReleased"] - lazy)
    reached = [0] * len(frame)
    for (label, (colour, hatch)), column in zip(LAYERS.items(), sizes, strict=True):
        look = Look(colour, hatch, INK, dash=":" if colour == "none" else "")
        for place, size in enumerate(column.tolist()):
            panel.bar(place - BAR / 2, reached[place], BAR, size, look, label=label)
            reached[place] += size
    _draw_lines(panel, frame)
    panel.x.scale = Scale(-0.6, len(frame) - 0.4)
    panel.y.scale = Scale(0, high * 1.02)
    panel.words(title, "left", "top", up=16, upright="bottom", bold=True)
    name_bytes(panel.y, 0, high)
    if not labelled:
        panel.y.ticks = [Tick(tick.value, "") for tick in panel.y.ticks]


def _draw_names(panel: Panel, frame: pd.DataFrame, width_inches: float) -> None:
    """The moments below, and RSS above each, as many as fit."""
    names = [beginning(str(name), NAME_CHARACTERS) for name in frame["moment"]]
    longest = max(VALUE_CHARACTERS, *map(len, names)) + 1
    every = max(1, ceil(len(frame) * longest / (CHARACTERS * width_inches)))
    last = len(frame) - 1  # always named, because the page is about the end
    places = [place for place in range(0, last, every) if last - place >= every] + [last]
    panel.x.name(places, [names[place] for place in places], muted=False)
    is_full = every > 1
    if is_full:
        panel.x.end_last()
    for place, size in frame["RSS"].iloc[places].dropna().items():
        above: dict[str, Any] = {"upright": "bottom", "bold": True}
        at_the_end = is_full and place == last
        anchor = "end" if at_the_end else "middle"
        panel.words(format_bytes(size), place, "top", up=3, anchor=anchor, **above)


def _draw_lines(panel: Panel, frame: pd.DataFrame) -> None:
    for place, goal in enumerate(frame["goal_bytes"]):
        if not is_unknown(goal) and goal:
            ends = [place - BAR / 2 - 0.06, place + BAR / 2 + 0.06]
            panel.line(ends, [goal] * 2, Look(edge=INK, width=1.2, dash="--"), GOAL)
    known = frame[frame["RSS"].notna()]
    if len(known):
        look, sizes = Look(edge=INK, width=1.4), known["RSS"].astype(float)
        panel.line(list(known.index), sizes, look, RSS, marker="o")


def _describe(frame: pd.DataFrame) -> str:
    each = [
        f"{row['moment']} {format_bytes(row['HeapInuse'])} in use, "
        f"{format_bytes(row['idle_kept_bytes'])} idle, "
        f"{format_bytes(row['HeapReleased'])} released, RSS {format_bytes(row['RSS'])}"
        for row in rows_of(frame)
    ]
    return "; ".join(each) + "."
