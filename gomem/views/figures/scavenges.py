"""What the scavenger gave back, on the collector's clock: the work of each line, and the total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.units import format_bytes, format_count
from gomem.views.figures.figure import INK, MUTED, Drawing, draw_byte_axis, style
from gomem.views.figures.look import ORANGE, YELLOW
from gomem.views.figures.time_axis import draw_clock
from gomem.views.figures.two_axes import upper_and_lower

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HEIGHT, WORK, TOP, GAP = 2.6, 0.85, 0.2, 0.32  # inches
POINTS = 400  # columns that a figure has room for


def plot_gc_scavenges(
    scavenges: pd.DataFrame, end_seconds: float, *, name: str = "gc-scavenges"
) -> Drawing:
    """Draw the memory released over time, and what each line released.

    Args:
        scavenges: Lines as `gomem.analysis.collector.scavenges.gc_scavenges` places them.
        end_seconds: Where the log's clock ends.
        name: Unique on its page.
    """
    placed = scavenges.dropna(subset=["log_seconds"])
    with style():
        figure, total, work = upper_and_lower(HEIGHT, WORK, top=TOP, gap=GAP)
        _draw_total(total, placed, end_seconds)
        _draw_work(work, placed, end_seconds)
    return Drawing(name, "Memory given back over time", _describe(scavenges), figure)


def _draw_total(axes: Axes, placed: pd.DataFrame, end: float) -> None:
    known = _thinned(placed.dropna(subset=["released_total_bytes"]))
    at = np.append(known["log_seconds"].to_numpy(float), end)
    total = known["released_total_bytes"].to_numpy(float)
    if len(total):
        axes.fill_between(
            at, np.append(total, total[-1]), step="post", facecolor=YELLOW, edgecolor=INK, lw=0.6
        )
    high = float(total.max(initial=1.0))
    axes.set_ylim(0, high * 1.04)
    draw_byte_axis(axes, 0, high, along="y")
    draw_clock(axes, 0, end, labelled=False)
    _heading(axes, "released in all (HeapReleased)")


def _draw_work(axes: Axes, placed: pd.DataFrame, end: float) -> None:
    """Stems in one path; of lines that share a column the one that gave back most."""
    worked = _thinned(placed[placed["released_bytes"].fillna(0) > 0])
    at, size = worked["log_seconds"].to_numpy(float), worked["released_bytes"].to_numpy(float)
    nothing = np.full(len(at), np.nan)
    stems = np.stack([np.zeros(len(at)), size, nothing], axis=1).ravel()
    axes.plot(np.repeat(at, 3), stems, color=ORANGE, lw=1.4, solid_capstyle="butt")
    high = float(size.max(initial=1.0))
    axes.set_ylim(0, high * 1.04)
    draw_byte_axis(axes, 0, high, along="y")
    draw_clock(axes, 0, end)
    _heading(axes, "given back since the line before")


def _thinned(lines: pd.DataFrame) -> pd.DataFrame:
    """Of lines in one column of the figure the one that gave back most."""
    if len(lines) <= POINTS:
        return lines
    at = lines["log_seconds"]
    column = ((at - at.min()) / (at.max() - at.min()) * (POINTS - 1)).fillna(0).astype(int)
    most = lines["released_bytes"].fillna(0).groupby(column).idxmax()
    return lines.loc[most]


def _heading(axes: Axes, text: str) -> None:
    axes.text(0, 1.03, text, transform=axes.transAxes, va="bottom", alpha=MUTED, fontsize=7.5)


def _describe(scavenges: pd.DataFrame) -> str:
    given = scavenges.groupby("run")["released_so_far_bytes"].max().sum()
    last = scavenges["released_total_bytes"].dropna()
    end = format_bytes(int(last.iloc[-1])) if len(last) else "unknown"
    return (
        f"{format_count(len(scavenges))} lines gave back {format_bytes(int(given))}; at the end "
        f"{end} are released."
    )
