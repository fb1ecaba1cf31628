"""GOGC by GOMEMLIMIT as a heat map: the darker the cell, the more CPU the GC takes.

One hue from light to dark is used, which works with any colour vision and in print. Each cell shows
its GCs per second and its highest heap. The current setting is framed. A cell in which the limit
leaves no headroom is hatched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.what_if.watched import OFF
from gomem.charts.chart import INK, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing
from gomem.charts.look import BLUE, EDGE, VERMILLION
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, is_unknown
from gomem.views.what_if.words import gogc_word

if TYPE_CHECKING:
    import pandas as pd

WIDTH, ROW = 7.6, 0.62  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 1.0, 0.08, 0.28, 0.42
LIGHTEST, DARKEST = 0.10, 0.75  # opacity of blue: numbers are legible on all shades
FRAME = 2.4


def plot_what_if_grid(grid: pd.DataFrame, *, name: str = "what-if") -> Drawing:
    """Draw a grid with the columns of `analysis.what_if.grid.GRID`."""
    gogc = sorted(set(grid["gogc"]) - {OFF}) + [OFF] * (OFF in set(grid["gogc"]))
    # No limit first, then from the largest to the smallest.
    known = set(map(limit_key, rows_of(grid)))
    limits = [-1] * (-1 in known) + sorted(known - {-1}, reverse=True)
    chart = Chart(WIDTH, TOP + FOOT + ROW * max(1, len(limits)))
    panel = chart.panel(left=LEFT, right=RIGHT, top=TOP, bottom=FOOT)
    shades = _shades(grid["gc_cpu_cores"].to_numpy(float))
    for row, shade in zip(rows_of(grid), shades, strict=True):
        place = gogc.index(row["gogc"]), limits.index(limit_key(row))
        _draw_field(panel, row, place, shade)
    # The current setting has its own colour and label, drawn over the other cells' edges.
    for row in rows_of(grid[grid["is_present"]]):
        left, top = gogc.index(row["gogc"]), limits.index(limit_key(row))
        panel.bar(left, top, 1, 1, Look("none", "", VERMILLION, FRAME), label="today")
        panel.words("today", left + 0.04, top + 0.12, size=6.5)
    panel.x.scale, panel.y.scale = Scale(0, len(gogc)), Scale(len(limits), 0)
    names = [f"GOGC={gogc_word(percent)}" for percent in gogc]
    panel.x.name([place + 0.5 for place in range(len(gogc))], names)
    panel.y.name(
        [place + 0.5 for place in range(len(limits))],
        ["no limit" if limit < 0 else format_bytes(limit) for limit in limits],
    )
    panel.heading("GOMEMLIMIT by GOGC: GCs a second, highest heap")
    return Drawing(name, "What other settings would do", _describe(grid), chart)


def limit_key(row: dict[str, Any]) -> int:
    """A setting's limit in bytes; -1 without a limit."""
    limit = row["memory_limit_bytes"]
    return -1 if is_unknown(limit) else int(limit)


def _shades(cores: np.ndarray) -> np.ndarray:
    """Opacity by rank of CPU: settings differ by factors, and an extreme one by hundreds."""
    levels, order = np.unique(cores.round(6), return_inverse=True)
    share = order / max(1, len(levels) - 1)
    return LIGHTEST + share * (DARKEST - LIGHTEST)


def _draw_field(panel: Panel, row: dict[str, Any], place: tuple[int, int], shade: float) -> None:
    left, top = place
    panel.bar(left, top, 1, 1, Look(BLUE, opacity=float(shade)))
    is_met = row["bound_by"] == "live heap"
    panel.bar(left, top, 1, 1, Look("none", "////" if is_met else "", EDGE if is_met else INK, 0.6))
    rate, peak = row["cycles_per_second"], format_bytes(row["peak_heap_bytes"])
    panel.words(f"{rate:.3g}/s", left + 0.5, top + 0.34, anchor="middle", bold=True)
    panel.words(peak, left + 0.5, top + 0.70, anchor="middle", size=7.5)


def _describe(grid: pd.DataFrame) -> str:
    each = []
    for row in rows_of(grid):
        gogc, limit = gogc_word(row["gogc"]), row["memory_limit_bytes"]
        under = "no limit" if is_unknown(limit) else format_bytes(limit)
        today = ", today's" if row["is_present"] else ""
        each.append(
            f"GOGC={gogc}, {under}{today}: {row['cycles_per_second']:.3g} GCs a second, "
            f"{row['gc_cpu_cores']:.3g} cores, {format_bytes(row['peak_heap_bytes'])}"
        )
    return "; ".join(each) + "."
