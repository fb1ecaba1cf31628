"""What moved from one ledger to another: a bar a part.

To the right stands what rose, to the left what fell, and below the change of RSS, which all of
them add up to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.charts.chart import INK, MUTED, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import LOOK, edge_of
from gomem.charts.svg import POINTS
from gomem.units import format_bytes, format_change, minus
from gomem.views.words import part_name

if TYPE_CHECKING:
    from gomem.analysis.memory.ledger_change import LedgerChange

WIDTH = 7.6  # inches, as all lengths here
ROW = 0.27
NAMES, NUMBERS = 1.62, 1.05  # beside the bars: names to their left, numbers to their right
AXIS = 0.38
TOP = 0.08
BAR = 0.62  # of a row
SMALL = 0.002  # of the largest change: below, a bar cannot be seen, and the table has the number
_TOTAL, _UNTOUCHED = "RSS", "heap_untouched"


def plot_ledger_change(
    change: LedgerChange, *, name: str = "ledger-change", before: str = "", after: str = ""
) -> Drawing:
    """Draw how a ledger changed; parts that did not, or that are unknown, are left out."""
    rows = _rows(change)
    height = TOP + ROW * max(1, len(rows)) + AXIS
    chart = Chart(WIDTH, height)
    panel = chart.panel(left=NAMES, right=NUMBERS, top=TOP, bottom=AXIS)
    _draw_bars(panel, rows)
    _frame(panel, rows)
    title = f"What changed from {before} to {after}" if before else "What changed, part by part"
    return Drawing(name, title, _describe(change, rows), chart)


def _rows(change: LedgerChange) -> list[tuple[str, int]]:
    known = change.parts.dropna(subset=["change_bytes"])
    sizes = dict(zip(known["part"], known["change_bytes"].astype("int64"), strict=True))
    least = SMALL * max(map(abs, sizes.values()), default=0)
    rows = [(str(part), int(size)) for part, size in sizes.items() if abs(size) > least]
    if change.rss_change_bytes is not None:
        rows.append((_TOTAL, change.rss_change_bytes))
    return rows


def _draw_bars(panel: Panel, rows: list[tuple[str, int]]) -> None:
    """Bars from zero, names to the left, signed bytes to the right."""
    for place, (part, size) in enumerate(rows):
        colour, hatch = LOOK.get(part, (INK, ""))
        total = part == _TOTAL
        opacity = MUTED if total else 1.0
        look = Look(colour, hatch, edge_of(colour, INK), opacity=opacity)
        panel.bar(0, place - BAR / 2, size, BAR, look)
        words: dict[str, Any] = {"y": place, "anchor": "end", "bold": total}
        panel.words(_label(part, size), "left", right=-7, **words)
        panel.words(minus(format_change(size)), "right", right=NUMBERS * POINTS, **words)


def _label(part: str, size: int) -> str:
    """A part's name; of what was never touched, what became of it, as it stands below zero."""
    if part == _UNTOUCHED:
        return "now resident, before never touched" if size > 0 else "mapped, never touched"
    return part_name(part)


def _frame(panel: Panel, rows: list[tuple[str, int]]) -> None:
    sizes = [0, *(size for _, size in rows)]
    low, high = min(sizes), max(sizes)
    room = 0.01 * max(1, high - low)
    panel.x.scale = Scale(low - room, high + room)
    panel.y.scale = Scale(max(1, len(rows)) - 0.5, -0.5)
    name_bytes(panel.x, low, high)
    panel.rule(Look(edge=INK, width=0.8), x=0)


def _describe(change: LedgerChange, rows: list[tuple[str, int]]) -> str:
    parts = [f"{_label(part, size)} {format_change(size)}" for part, size in rows if part != _TOTAL]
    unknown = change.parts.loc[change.parts["change_bytes"].map(pd.isna), "part"]
    lacking = (
        f" Unknown on at least one side: {', '.join(map(part_name, unknown))}."
        if len(unknown)
        else ""
    )
    rss = change.rss_change_bytes
    whole = "RSS is not known on both sides"
    if rss is not None:
        whole = f"RSS {'rose' if rss > 0 else 'fell'} by {format_bytes(abs(rss))}"
    return f"{whole}. By part: {'; '.join(parts) or 'nothing moved'}.{lacking}"
