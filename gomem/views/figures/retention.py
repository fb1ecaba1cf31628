"""Retained and released heap over time, with the scavenger's goals and its rate.

Upper figure: the filled area is the heap in use, the lighter area on top the idle heap; together
they are the retained heap. Dashed lines are the goals, the heavy line is RSS, and the dotted line
is released memory. A tick at the bottom is a scavtrace line of the log. Lower figure: bytes
released per second, and the time to the goal at that rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import INK, Line, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import BLUE, GREEN, ORANGE, PURPLE, VERMILLION, YELLOW
from gomem.charts.time_axis import LEFT, name_durations, name_times, one_panel, upper_and_lower
from gomem.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    import pandas as pd

HEIGHT, MARKS, TOP, GAP = 4.1, 0.28, 0.52, 0.26  # inches
RATE_HEIGHT, TO_GOAL, RATE_TOP, RATE_GAP = 2.9, 0.95, 0.2, 0.32
POINTS = 1200  # readings that fit into a figure
GOALS: dict[str, tuple[str, Look]] = {
    "paced_goal_bytes": ("goal from the pacer", Look(edge=VERMILLION, width=1.4, dash="--")),
    "limit_goal_bytes": ("goal from GOMEMLIMIT", Look(edge=PURPLE, width=1.4, dash="--")),
    "limit_bytes": ("room under GOMEMLIMIT", Look(edge=GREEN, width=1.8, dash=":")),
}


def plot_retention(
    retention: pd.DataFrame, marks: pd.DataFrame, *, name: str = "retention"
) -> Drawing:
    """Draw the heap over time (rows of `RETENTION` with a time) with its goals.

    `marks` has `seconds` and `released_bytes` of each scavenger line that released memory.
    """
    rows = _thinned(retention.dropna(subset=["retained_bytes"]))
    chart, heap, lines = upper_and_lower(HEIGHT, MARKS, top=TOP, gap=GAP)
    at = _numbers(rows, "seconds")
    low, high = float(retention["seconds"].min()), float(retention["seconds"].max())
    _draw_heap(heap, rows, at)
    drawn = [mark for mark in heap.marks if isinstance(mark, Line)]
    top = max(float(np.nanmax(line.y, initial=1.0)) for line in drawn)
    heap.y.scale = Scale(0, top * 1.04)
    name_bytes(heap.y, 0, top)
    name_times(heap.x, low, high, labelled=False)
    placed = marks["seconds"].dropna().to_numpy(float)
    lines.stems(placed, 0, np.ones(len(placed)), Look(edge=ORANGE, width=1.2))
    lines.heading("scavenger lines in the log")
    name_times(lines.x, low, high)
    chart.explain(heap.labelled(), left=LEFT, columns=4, handle=1.9)
    return Drawing(name, "Retained and released heap over time", _describe(rows), chart)


def _draw_heap(panel: Panel, rows: pd.DataFrame, at: np.ndarray) -> None:
    in_use, retained = _numbers(rows, "HeapInuse"), _numbers(rows, "retained_bytes")
    panel.area(at, 0, in_use, Look(BLUE, opacity=0.85), "in use")
    panel.area(at, in_use, retained, Look(ORANGE, opacity=0.5), "idle heap")
    panel.line(at, retained, Look(edge=INK, width=0.5))
    lazy = _numbers(rows, "lazy_free_bytes")
    if np.nanmax(lazy, initial=0.0) > 0:
        panel.line(at, lazy, Look(edge=YELLOW, width=1.8), "released, still in RSS")
    panel.line(at, _numbers(rows, "HeapReleased"), Look(edge=INK, width=1.0, dash=":"), "released")
    for column, (label, look) in GOALS.items():
        goal = _numbers(rows, column)
        if not np.isnan(goal).all():
            panel.line(at, goal, look, label, steps=True)
    rss = _numbers(rows, "rss_bytes")
    if not np.isnan(rss).all():
        panel.line(at, rss, Look(edge=INK, width=1.6), "RSS")


def plot_release(retention: pd.DataFrame, *, name: str = "release") -> Drawing:
    """Draw the release rate; if memory was released above a goal, also the time to the goal."""
    rows = retention.dropna(subset=["retained_bytes"])
    left = _numbers(rows, "seconds_to_goal")
    known = left[np.isfinite(left) & (left > 0)]
    to_goal: Panel | None = None
    if len(known):
        chart, rate, to_goal = upper_and_lower(RATE_HEIGHT, TO_GOAL, top=RATE_TOP, gap=RATE_GAP)
    else:
        chart, rate = one_panel(RATE_HEIGHT - TO_GOAL - RATE_GAP, top=RATE_TOP)
    at, speed = _numbers(rows, "seconds"), _numbers(rows, "release_bytes_per_second")
    low, high = float(at.min()), float(at.max())
    # A rate applies to the interval that ends at its reading.
    edges, held = np.append(at[:1], at), np.append(speed, speed[-1:])
    rate.area(edges, 0, np.nan_to_num(held), Look(ORANGE, edge=INK, width=0.4), steps=True)
    top = float(np.nanmax(speed, initial=1.0))
    rate.y.scale = Scale(0, top * 1.04)
    name_bytes(rate.y, 0, top)
    name_times(rate.x, low, high, labelled=to_goal is None)
    rate.heading("released per second")
    if to_goal is not None:
        floor = 10 ** np.floor(np.log10(known.min(initial=1.0)))
        ceiling = 10 ** np.ceil(np.log10(known.max(initial=1.0) * 1.001))
        to_goal.line(at, left, Look(edge=BLUE, width=0.8), marker="o", size=4)
        name_durations(to_goal.y, float(floor), float(ceiling))
        name_times(to_goal.x, low, high)
        to_goal.heading("time to the goal at that rate")
    fastest = rows["release_bytes_per_second"].max()
    description = f"Released at up to {format_bytes(fastest)}/s."
    return Drawing(name, "Rate of release to the OS", description, chart)


def _numbers(rows: pd.DataFrame, column: str) -> np.ndarray:
    return rows[column].to_numpy(float, na_value=np.nan)


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the readings with the most and the least retained memory per column of the figure."""
    if len(rows) <= POINTS:
        return rows
    column = np.arange(len(rows)) * (POINTS // 2) // len(rows)
    by_column = rows["retained_bytes"].reset_index(drop=True).groupby(column)
    ends = np.unique(np.concatenate([by_column.idxmin(), by_column.idxmax(), [len(rows) - 1]]))
    return rows.iloc[ends]


def _describe(rows: pd.DataFrame) -> str:
    first, last = rows.iloc[0], rows.iloc[-1]
    return (
        f"{format_count(len(rows))} readings in "
        f"{format_seconds(last['seconds'] - first['seconds'])}. Retained heap: "
        f"{format_bytes(first['retained_bytes'])} at first, "
        f"{format_bytes(last['retained_bytes'])} at last, peak "
        f"{format_bytes(rows['retained_bytes'].max())}. At the end: "
        f"{format_bytes(last['HeapInuse'])} in use, {format_bytes(last['HeapReleased'])} released, "
        f"goal {format_bytes(last['goal_bytes'])}, RSS {format_bytes(last['rss_bytes'])}."
    )
