"""The trade-off of GOGC: the highest heap against GC CPU, one point per setting.

For each GOMEMLIMIT, a line connects its points from the smallest GOGC to the largest; bars are the
intervals. A setting with a far larger heap than the others, such as GOGC=off without a limit, has
no point, because it would compress the scale for all others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.what_if.watched import OFF
from gomem.charts.chart import INK, MUTED, Chart, Dash, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from gomem.charts.svg import POINTS
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, is_unknown
from gomem.views.figures.benchmarks import multiple_ticks
from gomem.views.figures.what_if_grid import limit_key
from gomem.views.what_if.words import gogc_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    Rows = Sequence[dict[str, Any]]

WIDTH, HEIGHT = 7.6, 3.1  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 0.62, 0.3, 0.62, 0.42
MILLI = 1000  # millicores per core
ROOM = 1.08  # factor beyond the largest number of each axis
FAR = 2.5  # of the highest heap of a finite GOGC: settings beyond have no point
INTERVAL = 0.4  # opacity
NEAR = 0.095, 0.06  # of each axis: closer labels would overlap
BESIDE = (7.0, -8.0)  # offsets in typographic points above the data point, in order of preference
# Distinct by marker and dash as well as by colour.
LINES: tuple[tuple[str, str, Dash], ...] = (
    (BLUE, "o", ""), (ORANGE, "s", "--"), (GREEN, "^", ":"), (PURPLE, "v", "--"),
)  # fmt: skip


def plot_what_if_trade(grid: pd.DataFrame, *, name: str = "what-if-trade") -> Drawing:
    """Draw a grid with the columns of `analysis.what_if.grid.GRID`."""
    shown = _within_reach(rows_of(grid))
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=LEFT, right=RIGHT, top=TOP, bottom=FOOT)
    _scale(panel, shown)
    labels = _Labels(panel)
    limits = list(dict.fromkeys(limit_key(row) for row in shown))[: len(LINES)]
    for limit, look in zip(limits, LINES, strict=False):
        _draw_limit(panel, [row for row in shown if limit_key(row) == limit], look, labels)
    for row in shown:
        if row["is_present"]:
            _mark_today(panel, row)
    panel.heading("GC CPU, millicores")
    panel.words("highest heap", "right", "bottom", up=-26, anchor="end", size=7.5, opacity=MUTED)
    chart.explain(panel.labelled(), left=LEFT, columns=4, handle=2.4)
    return Drawing(name, "CPU against heap", _describe(shown), chart)


def _within_reach(rows: Rows) -> list[dict[str, Any]]:
    """The rows that get a point, sorted by GOGC."""
    finite = [row["peak_heap_bytes"] for row in rows if row["gogc"] != OFF]
    reach = FAR * max(finite) if finite else np.inf
    near = [row for row in rows if row["peak_heap_bytes"] <= reach]
    return sorted(near, key=lambda row: (row["gogc"] == OFF, row["gogc"]))


def _scale(panel: Panel, rows: Rows) -> None:
    heap, cores = (_highest(rows, name) for name in ("peak_heap_bytes", "gc_cpu_cores"))
    panel.x.scale, panel.y.scale = Scale(0, heap), Scale(0, MILLI * cores)
    name_bytes(panel.x, 0, heap)
    ticks = multiple_ticks(MILLI * cores, 5)
    panel.y.name(ticks, [f"{tick:g}" for tick in ticks], grid=True)


def _highest(rows: Rows, name: str) -> float:
    ends = [row[end] for row in rows for end in (name, f"{name}_high") if not is_unknown(row[end])]
    return ROOM * max(map(float, ends), default=0.0) or 1.0


@dataclass
class _Labels:
    """Labels of points, placed without overlap."""

    panel: Panel
    places: list[np.ndarray] = field(default_factory=list)
    written: set[tuple[str, float, float]] = field(default_factory=set)

    def add(self, text: str, x: float, y: float) -> None:
        """Write the label above or below its point, if there is room."""
        if (text, x, y) in self.written:
            return  # the same point under another limit that has no effect
        at = [float(self.panel.x.scale.shares(x)), float(self.panel.y.scale.shares(y))]
        for up in BESIDE:
            place = np.array([at[0], at[1] + up / POINTS / self.panel.height])
            if all((np.abs(place - other) > NEAR).any() for other in self.places):
                self.places.append(place)
                self.written.add((text, x, y))
                self.panel.words(text, x, y, right=5, up=up, size=7.5)
                return


def _draw_limit(panel: Panel, rows: Rows, look: tuple[str, str, Dash], labels: _Labels) -> None:
    """Draw a line through the points of a limit, each with its intervals and its GOGC."""
    colour, marker, dash = look
    bar = Look(edge=colour, width=1.6, opacity=INTERVAL)
    points = [_point(row) for row in rows]
    for row, (heap, cores) in zip(rows, points, strict=True):
        panel.line(_ends(row, "peak_heap_bytes"), [cores] * 2, bar)
        panel.line([heap] * 2, MILLI * _ends(row, "gc_cpu_cores"), bar)
        labels.add(_gogc(row), heap, cores)
    edge = Look(edge=colour, width=1.4, dash=dash)
    x, y = np.array(points).T
    panel.line(x, y, edge, _limit(rows[0]), marker=marker, mark_edge=INK)


def _mark_today(panel: Panel, row: dict[str, Any]) -> None:
    """Mark the current setting's point in its own colour."""
    heap, cores = _point(row)
    look = Look(edge=VERMILLION, width=0)
    panel.line([heap], [cores], look, "today", marker="D", size=8, mark_edge=INK)


def _point(row: dict[str, Any]) -> tuple[float, float]:
    return float(row["peak_heap_bytes"]), MILLI * float(row["gc_cpu_cores"])


def _ends(row: dict[str, Any], name: str) -> np.ndarray:
    """The interval of a number; missing ends draw nothing."""
    ends = [row[f"{name}_low"], row[f"{name}_high"]]
    return np.array([np.nan if is_unknown(end) else float(end) for end in ends])


def _gogc(row: dict[str, Any]) -> str:
    return f"GOGC {gogc_word(row['gogc'])}"


def _limit(row: dict[str, Any]) -> str:
    limit = limit_key(row)
    return "no limit" if limit < 0 else f"GOMEMLIMIT {format_bytes(limit)}"


def _describe(rows: Rows) -> str:
    each = []
    for row in rows:
        today = ", today's" if row["is_present"] else ""
        each.append(
            f"{_gogc(row)}, {_limit(row)}{today}: {row['gc_cpu_cores']:.3g} cores, "
            f"{format_bytes(row['peak_heap_bytes'])}"
        )
    return "; ".join(each) + "."
