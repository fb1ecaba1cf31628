"""Heap and pauses over time: what a gctrace log looks like.

Filled up to the live heap, then, lighter, what stands on top of it: it grows from one collection to
the next, and falls when that one has told garbage from live. The dashed line is the goal. Below, on
the same clock, how long each collection stopped the world. Where collections share a column, it
holds the highest heap and the longest stop of them, so no peak is lost, and of live heap, goal and
stops the median, so that what is usual is seen beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.units import MICROSECOND, format_bytes, format_count, format_seconds
from gomem.views.figures.figure import INK, MUTED, Drawing, draw_byte_axis, style
from gomem.views.figures.look import BLUE, SKY, VERMILLION
from gomem.views.figures.time_axis import draw_clock, draw_durations
from gomem.views.figures.two_axes import draw_legend, upper_and_lower

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HEIGHT, PAUSES, TOP, GAP = 4.0, 0.95, 0.34, 0.3  # inches
FEW = 80  # so many collections have room for a dot on each pause
FEW_RUNS = 20  # so many restarts can be told apart


def plot_gc_timeline(timeline: pd.DataFrame, *, name: str = "gc-timeline") -> Drawing:
    """Draw heap sizes over time, and the stops of the world under them.

    Args:
        timeline: Windows as `gomem.analysis.collector.timeline.gc_timeline` makes them.
        name: Unique on its page.
    """
    with style():
        figure, heap, pauses = upper_and_lower(HEIGHT, PAUSES, top=TOP, gap=GAP)
        _draw_heap(heap, timeline)
        _draw_pauses(pauses, timeline)
        draw_legend(figure, heap, handle_length=1.8)
    return Drawing(name, "Heap and pauses over time", _describe(timeline), figure)


def edges_of(timeline: pd.DataFrame) -> np.ndarray:
    """Where windows begin, and where the last one ends."""
    return np.append(timeline["begin_seconds"], timeline["end_seconds"].iloc[-1])


def shared(timeline: pd.DataFrame) -> bool:
    """Whether collections share windows."""
    return int(timeline["cycles"].max()) > 1


def steps(values: pd.Series) -> np.ndarray:
    """Values for `edges_of`: a step holds until the next edge, the last one to the end."""
    known = values.to_numpy(float, na_value=np.nan)
    return np.append(known, known[-1])


def _draw_heap(axes: Axes, timeline: pd.DataFrame) -> None:
    edges = edges_of(timeline)
    live = steps(timeline["heap_live_p50_bytes"])
    at, low, top = _swing(timeline)
    goal = steps(timeline["heap_goal_p50_bytes"])
    axes.fill_between(at, low, top, color=SKY, lw=0, alpha=0.55, label="allocated since")
    axes.fill_between(edges, 0, live, step="post", color=BLUE, lw=0, label="live heap")
    axes.step(edges, goal, where="post", color=INK, lw=1.0, ls="--", label="goal")
    high = float(np.nanmax([np.nanmax(top, initial=1), np.nanmax(goal, initial=1)]))
    axes.set_ylim(0, high * 1.04)
    draw_byte_axis(axes, 0, high, along="y")
    draw_clock(axes, edges[0], edges[-1], labelled=False)
    draw_runs(axes, timeline)


def _swing(timeline: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clock, live heap and top of the heap: saw teeth, or columns where collections share them."""
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


def _draw_pauses(axes: Axes, timeline: pd.DataFrame) -> None:
    """A stem for each collection, in one path: thousands of them must not make the page large.

    Where they share windows, a band from the median to the longest.
    """
    at = timeline["begin_seconds"].to_numpy(float)
    middle = timeline["stopped_p50_seconds"].to_numpy(float, na_value=np.nan)
    stopped = timeline["stopped_max_seconds"].to_numpy(float, na_value=np.nan)
    longest = float(np.nanmax(stopped, initial=MICROSECOND))
    shortest = float(np.nanmin(np.where(middle > 0, middle, np.nan), initial=longest))
    floor = 10 ** np.floor(np.log10(max(MICROSECOND, shortest)))
    ceiling = 10 ** np.ceil(np.log10(longest * 1.001))
    tops = np.maximum(stopped, floor)
    heading = "world stopped, each collection"
    if shared(timeline):
        heading += ": from the median to the longest"
        _draw_band(axes, timeline, np.maximum(middle, floor), tops)
    else:
        stems = np.stack([np.full(len(at), floor), tops, np.full(len(at), np.nan)], axis=1).ravel()
        axes.plot(np.repeat(at, 3), stems, color=VERMILLION, lw=1.2, solid_capstyle="butt")
    if len(at) <= FEW:
        axes.plot(at, tops, color=VERMILLION, lw=0, marker="o", ms=3)
    draw_durations(axes, floor, ceiling, along="y")
    edges = edges_of(timeline)
    draw_clock(axes, edges[0], edges[-1])
    axes.text(
        0, 1.03, heading, transform=axes.transAxes, va="bottom",
        alpha=MUTED, fontsize=7.5,
    )  # fmt: skip


def _draw_band(axes: Axes, timeline: pd.DataFrame, middle: np.ndarray, longest: np.ndarray) -> None:
    edges = edges_of(timeline)
    low, high = np.append(middle, middle[-1]), np.append(longest, longest[-1])
    axes.fill_between(edges, low, high, step="post", color=VERMILLION, lw=0, alpha=0.45)
    axes.step(edges, low, where="post", color=VERMILLION, lw=1.2)


def draw_runs(axes: Axes, timeline: pd.DataFrame) -> None:
    """A line where another process begins, unless they would cover everything else."""
    run = timeline["run"].to_numpy(float, na_value=np.nan)
    places = np.flatnonzero(run[1:] != run[:-1]) + 1
    if len(places) > FEW_RUNS:
        words = f"{format_count(int(run[-1] - run[0]))} restarts"
        axes.text(
            1, 1.03, words, transform=axes.transAxes, ha="right", va="bottom", fontsize=7,
            alpha=MUTED,
        )  # fmt: skip
        return
    for place in places:
        at = float(timeline["begin_seconds"].iloc[place])
        axes.axvline(at, color=INK, lw=0.8, ls=":")
        axes.annotate(
            "restart", (at, 1), (2, -2), xycoords=axes.get_xaxis_transform(),
            textcoords="offset points", va="top", fontsize=7, alpha=MUTED,
        )  # fmt: skip


def _describe(timeline: pd.DataFrame) -> str:
    seconds = timeline["end_seconds"].iloc[-1] - timeline["begin_seconds"].iloc[0]
    return (
        f"{format_count(int(timeline['cycles'].sum()))} collections in {format_seconds(seconds)}. "
        f"The live heap goes from {format_bytes(timeline['heap_live_low_bytes'].iloc[0])} to "
        f"{format_bytes(timeline['heap_live_high_bytes'].iloc[-1])}, between "
        f"{format_bytes(timeline['heap_live_low_bytes'].min())} and "
        f"{format_bytes(timeline['heap_live_high_bytes'].max())}; the heap reaches "
        f"{format_bytes(timeline['heap_at_mark_end_high_bytes'].max())}. The longest stop is "
        f"{format_seconds(timeline['stopped_max_seconds'].max())}."
    )
