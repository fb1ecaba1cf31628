"""Memory released by the scavenger, on the GC log's clock: per line, and in total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import INK, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import ORANGE, YELLOW
from gomem.charts.time_axis import name_times, upper_and_lower
from gomem.units import format_bytes
from gomem.views.words import how_many

if TYPE_CHECKING:
    import pandas as pd

HEIGHT, WORK, TOP, GAP = 2.6, 0.85, 0.2, 0.32  # inches
BEYOND = 1.02
POINTS = 400  # columns that fit into a figure


def plot_gc_scavenges(
    scavenges: pd.DataFrame, end_seconds: float, *, name: str = "gc-scavenges"
) -> Drawing:
    """Draw the total memory released until the end of the log, and the amount of each line.

    `scavenges` comes from `analysis.collector.timeline.gc_scavenges`.
    """
    placed = scavenges.dropna(subset=["log_seconds"])
    chart, total, work = upper_and_lower(HEIGHT, WORK, top=TOP, gap=GAP)
    end = BEYOND * end_seconds  # a release at the very end must be visible
    _draw_total(total, placed, end)
    _draw_work(work, placed, end)
    return Drawing(name, "Memory returned to the OS over time", _describe(scavenges), chart)


def _draw_total(panel: Panel, placed: pd.DataFrame, end: float) -> None:
    known = _thinned(placed.dropna(subset=["released_total_bytes"]))
    at = np.append(known["log_seconds"].to_numpy(float), end)
    total = known["released_total_bytes"].to_numpy(float)
    if len(total):
        panel.area(at, 0, np.append(total, total[-1]), Look(YELLOW, edge=INK), steps=True)
    high = float(total.max(initial=1.0))
    panel.y.scale = Scale(0, high * 1.04)
    name_bytes(panel.y, 0, high)
    name_times(panel.x, 0, end, labelled=False)
    panel.heading("released in total (HeapReleased)")


def _draw_work(panel: Panel, placed: pd.DataFrame, end: float) -> None:
    """Draw a stem per line; if lines share a column, the largest."""
    worked = _thinned(placed[placed["released_bytes"].fillna(0) > 0])
    at, size = worked["log_seconds"].to_numpy(float), worked["released_bytes"].to_numpy(float)
    panel.stems(at, 0, size, Look(edge=ORANGE, width=1.4))
    high = float(size.max(initial=1.0))
    panel.y.scale = Scale(0, high * 1.04)
    name_bytes(panel.y, 0, high)
    name_times(panel.x, 0, end)
    panel.heading("released since the line before")


def _thinned(lines: pd.DataFrame) -> pd.DataFrame:
    """Keep the line with the largest release in each column of the figure."""
    if len(lines) <= POINTS:
        return lines
    at = lines["log_seconds"]
    column = ((at - at.min()) / (at.max() - at.min()) * (POINTS - 1)).fillna(0).astype(int)
    most = lines["released_bytes"].fillna(0).groupby(column).idxmax()
    return lines.loc[most]


def _describe(scavenges: pd.DataFrame) -> str:
    given = scavenges.groupby("run")["released_so_far_bytes"].max().sum()
    last = scavenges["released_total_bytes"].dropna()
    end = f", and {format_bytes(int(last.iloc[-1]))} is released at the end" if len(last) else ""
    lines = how_many(len(scavenges), "scavenger line")
    return f"By {lines} of the log, {format_bytes(int(given))} was released{end}."
