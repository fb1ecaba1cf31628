"""The ledger as a waterfall: from heap objects, part by part, to RSS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.charts.chart import INK, MUTED, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import LOOK
from gomem.units import format_bytes, format_fraction, minus
from gomem.views.figures.rows import BAR, BYTES, RSS, memory_bar, memory_panel, name_row
from gomem.views.words import PARTS, part_name

if TYPE_CHECKING:
    from gomem.analysis.memory.ledger import Ledger

NAMES, NUMBERS = 1.62, 1.62  # inches: names left of the bars, numbers right of them
_Row = tuple[str, int, int]  # part, start of its bar, its bytes


def plot_rss_vs_heap(ledger: Ledger, *, name: str = "ledger", moment: str = "") -> Drawing:
    """Draw one moment's ledger, without parts of 0 bytes; the total is left out without RSS."""
    rows: list[_Row] = []
    reached = 0
    for part, size in zip(ledger.parts["part"], ledger.parts["bytes"], strict=True):
        if size:
            rows.append((str(part), reached, int(size)))
            reached += int(size)
    described = [f"{part_name(part)} {format_bytes(n)} ({PARTS[part]})" for part, _, n in rows]
    description = f"{'; '.join(described)}. RSS is {format_bytes(ledger.rss_bytes)}."
    if ledger.rss_bytes is not None:
        rows.append((RSS, 0, ledger.rss_bytes))
    chart, panel = memory_panel(len(rows), left=NAMES, right=NUMBERS)
    ends = [0, *(end for _, begin, size in rows for end in (begin, begin + size))]
    low, high = min(ends), max(ends) or 1
    panel.x.scale = Scale(low, high * 1.01)
    name_bytes(panel.x, low, high)
    panel.rule(Look(edge=INK), x=0)
    _draw(panel, rows, ledger.rss_bytes)
    title = f"RSS by part at {moment}" if moment else "RSS by part"
    return Drawing(name, title, description, chart)


def _draw(panel: Panel, rows: list[_Row], rss_bytes: int | None) -> None:
    """Draw bars joined by lines; names on the left, bytes and share in columns on the right."""
    for place, (part, begin, size) in enumerate(rows):
        memory_bar(panel, place, begin, size, LOOK.get(part))
        if place + 1 < len(rows) and rows[place + 1][0] != RSS:
            ends = [place + BAR / 2, place + 1 - BAR / 2]
            panel.line([begin + size] * 2, ends, Look(edge=INK, opacity=MUTED))
    for place, (part, _, size) in enumerate(rows):
        numbers = [(minus(format_bytes(size)), BYTES, 1.0)]
        if rss_bytes:
            numbers.append((minus(format_fraction(size / rss_bytes)), NUMBERS, MUTED))
        name_row(panel, place, part_name(part), numbers, bold=part == RSS)
