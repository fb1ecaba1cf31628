"""Heap and pauses over time: a gctrace log as a picture.

The filled area is the live heap. The lighter area on top is memory allocated since the last GC: it
grows until the next GC, then drops to zero. The dashed line is the goal. Below, on the same time
axis, is the pause of each GC. A pixel column with several GCs shows their highest heap and longest
pause, so that no peak is lost, and their median live heap, goal and pause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import INK, MUTED, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import BLUE, SKY, VERMILLION
from gomem.charts.time_axis import LEFT, name_durations, name_times, upper_and_lower
from gomem.units import MICROSECOND, format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    import pandas as pd

HEIGHT, PAUSES, TOP, GAP = 4.0, 0.95, 0.34, 0.3  # inches
MAX_DOTS = 80  # with more GCs, pauses have no dots
MAX_RESTARTS = 20  # with more restarts, they are not drawn


def plot_gc_timeline(timeline: pd.DataFrame, *, name: str = "gc-timeline") -> Drawing:
    """Draw heap sizes over time, and pauses below, from windows of `collector.timeline`."""
    chart, heap, pauses = upper_and_lower(HEIGHT, PAUSES, top=TOP, gap=GAP)
    _draw_heap(heap, timeline)
    _draw_pauses(pauses, timeline)
    chart.explain(heap.labelled(), left=LEFT, handle=1.9)
    return Drawing(name, "Heap and pauses over time", _describe(timeline), chart)


def edges_of(timeline: pd.DataFrame) -> np.ndarray:
    """The start of each window, and the end of the last."""
    return np.append(timeline["begin_seconds"], timeline["end_seconds"].iloc[-1])


def shared(timeline: pd.DataFrame) -> bool:
    """Whether several GCs share a window."""
    return int(timeline["cycles"].max()) > 1


def steps(values: pd.Series) -> np.ndarray:
    """Values for `edges_of`: each holds until the next edge, the last to the end."""
    known = values.to_numpy(float, na_value=np.nan)
    return np.append(known, known[-1])


def _draw_heap(panel: Panel, timeline: pd.DataFrame) -> None:
    edges = edges_of(timeline)
    live = steps(timeline["heap_live_p50_bytes"])
    at, low, top = _swing(timeline)
    goal = steps(timeline["heap_goal_p50_bytes"])
    panel.area(at, low, top, Look(SKY, opacity=0.55), "allocated since the last GC")
    panel.area(edges, 0, live, Look(BLUE), "live heap", steps=True)
    panel.line(edges, goal, Look(edge=INK, width=1.0, dash="--"), "goal", steps=True)
    high = float(np.nanmax([np.nanmax(top, initial=1), np.nanmax(goal, initial=1)]))
    panel.y.scale = Scale(0, high * 1.04)
    name_bytes(panel.y, 0, high)
    name_times(panel.x, edges[0], edges[-1], labelled=False)
    draw_runs(panel, timeline)


def _swing(timeline: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time, live heap and top of the heap: a saw-tooth, or columns if GCs share windows."""
    live = timeline["heap_live_p50_bytes"].to_numpy(float, na_value=np.nan)
    end = timeline["heap_at_mark_end_high_bytes"].to_numpy(float, na_value=np.nan)
    start = timeline["heap_at_start_high_bytes"].to_numpy(float, na_value=np.nan)
    edges = edges_of(timeline)
    if shared(timeline):
        top = np.fmax(end, start)
        return np.repeat(edges, 2)[1:-1], np.repeat(live, 2), np.repeat(top, 2)
    at = np.stack([edges[:-1], edges[:-1], edges[1:]], axis=1).ravel()
    before_next = np.append(start[1:], live[-1])
    return at, np.repeat(live, 3), np.stack([end, live, before_next], axis=1).ravel()


def _draw_pauses(panel: Panel, timeline: pd.DataFrame) -> None:
    """Draw a stem for each GC; if they share windows, a band from median to longest."""
    at, edges = timeline["begin_seconds"].to_numpy(float), edges_of(timeline)
    middle = timeline["stopped_p50_seconds"].to_numpy(float, na_value=np.nan)
    stopped = timeline["stopped_max_seconds"].to_numpy(float, na_value=np.nan)
    longest = float(np.nanmax(stopped, initial=MICROSECOND))
    shortest = float(np.nanmin(np.where(middle > 0, middle, np.nan), initial=longest))
    floor = 10 ** np.floor(np.log10(max(MICROSECOND, shortest)))
    ceiling = 10 ** np.ceil(np.log10(longest * 1.001))
    tops = np.maximum(stopped, floor)
    heading = "pause of each GC"
    if shared(timeline):
        heading += ", median to longest"
        lows = np.maximum(middle, floor)
        low, high = np.append(lows, lows[-1]), np.append(tops, tops[-1])
        panel.area(edges, low, high, Look(VERMILLION, opacity=0.45), steps=True)
        panel.line(edges, low, Look(edge=VERMILLION, width=1.2), steps=True)
    else:
        panel.stems(at, floor, tops, Look(edge=VERMILLION, width=1.2))
    if len(at) <= MAX_DOTS:
        panel.line(at, tops, Look(edge=VERMILLION, width=0), marker="o", size=4)
    name_durations(panel.y, floor, ceiling)
    name_times(panel.x, edges[0], edges[-1])
    panel.heading(heading)


def draw_runs(panel: Panel, timeline: pd.DataFrame) -> None:
    """Draw a line at each restart, unless there are too many."""
    run = timeline["run"].to_numpy(float, na_value=np.nan)
    places = np.flatnonzero(run[1:] != run[:-1]) + 1
    if len(places) > MAX_RESTARTS:
        words = f"{format_count(int(run[-1] - run[0]))} restarts"
        panel.words(
            words, "right", "top", up=2, anchor="end", upright="bottom", size=7, opacity=MUTED
        )
        return
    for place in places:
        at = float(timeline["begin_seconds"].iloc[place])
        panel.rule(Look(edge=INK, width=0.8, dash=":"), x=at)
        panel.words("restart", at, "top", right=2, up=-2, upright="top", size=7, opacity=MUTED)


def _describe(timeline: pd.DataFrame) -> str:
    seconds = timeline["end_seconds"].iloc[-1] - timeline["begin_seconds"].iloc[0]
    return (
        f"{format_count(int(timeline['cycles'].sum()))} GCs in {format_seconds(seconds)}. "
        f"Live heap: {format_bytes(timeline['heap_live_low_bytes'].iloc[0])} at first, "
        f"{format_bytes(timeline['heap_live_high_bytes'].iloc[-1])} at last, lowest "
        f"{format_bytes(timeline['heap_live_low_bytes'].min())}, highest "
        f"{format_bytes(timeline['heap_live_high_bytes'].max())}. The heap peaked at "
        f"{format_bytes(timeline['heap_at_mark_end_high_bytes'].max())}. The longest pause is "
        f"{format_seconds(timeline['stopped_max_seconds'].max())}."
    )
