"""What collecting costs over time, by kind of work, and how fast the program allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.units import format_bytes
from gomem.views.figures.figure import FAINT, INK, MUTED, Drawing, draw_byte_axis, style
from gomem.views.figures.gc_timeline import draw_runs, edges_of, steps
from gomem.views.figures.look import BLUE, EDGE, GREY, ORANGE, PURPLE, VERMILLION
from gomem.views.figures.time_axis import draw_clock
from gomem.views.figures.two_axes import draw_legend, upper_and_lower

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HEIGHT, RATE, TOP, GAP = 3.4, 1.0, 0.46, 0.34  # inches
CORES = [digit * 10.0**power for power in range(-6, 6) for digit in (1, 2, 5)]  # between ticks
KINDS = {  # in the order in which they are stacked: what delays the program first
    "stopped": ("world stopped", VERMILLION, ""),
    "assist": ("assists", ORANGE, "////"),
    "background": ("background workers", BLUE, ""),
    "idle": ("idle Ps", GREY, "||||"),
}


def plot_gc_activity(timeline: pd.DataFrame, *, name: str = "gc-activity") -> Drawing:
    """Draw GC CPU by kind, stacked, in cores, and the allocation rate under it.

    Args:
        timeline: Windows as `gomem.analysis.collector.timeline.gc_timeline` makes them.
        name: Unique on its page.
    """
    with style():
        figure, cpu, rate = upper_and_lower(HEIGHT, RATE, top=TOP, gap=GAP)
        _draw_cpu(cpu, timeline)
        _draw_rate(rate, timeline)
        draw_legend(figure, cpu, handle_length=1.6)
    return Drawing(name, "GC CPU and allocation rate over time", _describe(timeline), figure)


def _draw_cpu(axes: Axes, timeline: pd.DataFrame) -> None:
    edges = edges_of(timeline)
    reached = np.zeros(len(edges))
    for kind, (label, colour, hatch) in KINDS.items():
        top = reached + np.nan_to_num(steps(timeline[f"{kind}_cores"]))
        axes.fill_between(
            edges, reached, top, step="post", facecolor=colour, hatch=hatch, edgecolor=EDGE, lw=0,
            label=label,
        )  # fmt: skip
        reached = top
    high = float(reached.max()) or 1.0
    axes.set_ylim(0, high * 1.04)
    step = next(one for one in CORES if high / one <= 5)
    ticks = [step * number for number in range(int(high / step) + 1)]
    axes.yaxis.set_ticks(ticks, [f"{tick:g}" for tick in ticks], alpha=MUTED)
    axes.grid(visible=True, axis="y", color=INK, alpha=FAINT, lw=0.6)
    draw_clock(axes, edges[0], edges[-1], labelled=False)
    draw_runs(axes, timeline)
    _heading(axes, "GC CPU, cores")


def _draw_rate(axes: Axes, timeline: pd.DataFrame) -> None:
    edges = edges_of(timeline)
    rate = np.fmax(steps(timeline["allocation_rate_bytes_per_second"]), 0)
    axes.fill_between(edges, 0, rate, step="post", color=PURPLE, lw=0)
    high = float(np.nanmax(rate, initial=1.0))
    axes.set_ylim(0, high * 1.04)
    draw_byte_axis(axes, 0, high, along="y")
    draw_clock(axes, edges[0], edges[-1])
    _heading(axes, "allocated, each second")


def _heading(axes: Axes, text: str) -> None:
    axes.text(0, 1.03, text, transform=axes.transAxes, va="bottom", alpha=MUTED, fontsize=7.5)


def _describe(timeline: pd.DataFrame) -> str:
    lengths = timeline["end_seconds"] - timeline["begin_seconds"]
    each = [
        f"{label} {(timeline[f'{kind}_cores'] * lengths).sum() / lengths.sum():.3f}"
        for kind, (label, _, _) in KINDS.items()
    ]
    highest = timeline["allocation_rate_bytes_per_second"].max()
    return f"Cores on average: {', '.join(each)}. Allocation up to {format_bytes(highest)}/s."
