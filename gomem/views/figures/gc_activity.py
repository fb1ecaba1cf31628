"""GC CPU over time, by kind of work, and the allocation rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import BLUE, EDGE, GREY, ORANGE, PURPLE, VERMILLION
from gomem.charts.time_axis import LEFT, name_times, upper_and_lower
from gomem.units import format_bytes
from gomem.views.figures.gc_timeline import draw_runs, edges_of, steps

if TYPE_CHECKING:
    import pandas as pd

HEIGHT, RATE, TOP, GAP = 3.4, 1.0, 0.46, 0.34  # inches
CORES = [digit * 10.0**power for power in range(-6, 6) for digit in (1, 2, 5)]  # tick distances
KINDS = {  # in stacking order: work that delays the program first
    "stopped": ("pauses", VERMILLION, ""),
    "assist": ("mark assists", ORANGE, "////"),
    "background": ("background workers", BLUE, ""),
    "idle": ("idle marking", GREY, "||||"),
}


def plot_gc_activity(timeline: pd.DataFrame, *, name: str = "gc-activity") -> Drawing:
    """Draw GC CPU by kind, stacked, in cores, and the allocation rate below."""
    chart, cpu, rate = upper_and_lower(HEIGHT, RATE, top=TOP, gap=GAP)
    _draw_cpu(cpu, timeline)
    _draw_rate(rate, timeline)
    chart.explain(cpu.labelled(), left=LEFT)
    return Drawing(name, "GC CPU and allocation rate over time", _describe(timeline), chart)


def _draw_cpu(panel: Panel, timeline: pd.DataFrame) -> None:
    edges = edges_of(timeline)
    reached = np.zeros(len(edges))
    for kind, (label, colour, hatch) in KINDS.items():
        top = reached + np.nan_to_num(steps(timeline[f"{kind}_cores"]))
        panel.area(edges, reached, top, Look(colour, hatch, EDGE, width=0), label, steps=True)
        reached = top
    high = float(reached.max()) or 1.0
    panel.y.scale = Scale(0, high * 1.04)
    step = next(step for step in CORES if high / step <= 5)
    ticks = [step * number for number in range(int(high / step) + 1)]
    panel.y.name(ticks, [f"{tick:g}" for tick in ticks], grid=True)
    name_times(panel.x, edges[0], edges[-1], labelled=False)
    draw_runs(panel, timeline)
    panel.heading("GC CPU, cores")


def _draw_rate(panel: Panel, timeline: pd.DataFrame) -> None:
    edges = edges_of(timeline)
    rate = np.fmax(steps(timeline["allocation_rate_bytes_per_second"]), 0)
    panel.area(edges, 0, rate, Look(PURPLE), steps=True)
    high = float(np.nanmax(rate, initial=1.0))
    panel.y.scale = Scale(0, high * 1.04)
    name_bytes(panel.y, 0, high)
    name_times(panel.x, edges[0], edges[-1])
    panel.heading("allocation rate, per second")


def _describe(timeline: pd.DataFrame) -> str:
    lengths = timeline["end_seconds"] - timeline["begin_seconds"]
    each = [
        f"{label} {(timeline[f'{kind}_cores'] * lengths).sum() / lengths.sum():.3g}"
        for kind, (label, _, _) in KINDS.items()
    ]
    highest = timeline["allocation_rate_bytes_per_second"].max()
    return (
        f"Mean GC CPU in cores: {', '.join(each)}. Allocation rate up to {format_bytes(highest)}/s."
    )
