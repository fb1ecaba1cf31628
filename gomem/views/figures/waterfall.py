"""The ledger as a waterfall: from heap objects, part by part, to RSS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import LOOK, edge_of
from gomem.charts.svg import POINTS
from gomem.units import format_bytes, format_fraction, minus
from gomem.views.words import PARTS, part_name

if TYPE_CHECKING:
    from gomem.analysis.memory.ledger import Ledger

WIDTH = 7.6  # inches, as all lengths here
ROW = 0.27
NAMES, NUMBERS = 1.62, 1.62  # beside the bars: names to their left, numbers to their right
BYTES = 0.88  # right of the bars: where bytes end, and shares have the rest
AXIS = 0.38
TOP = 0.08
BAR = 0.62  # of a row
_TOTAL = "RSS"


def plot_rss_vs_heap(ledger: Ledger, *, name: str = "ledger", moment: str = "") -> Drawing:
    """Draw one moment's ledger; parts of 0 bytes are left out, and the total without RSS."""
    rows = _rows(ledger)
    height = TOP + ROW * max(1, len(rows)) + AXIS
    chart = Chart(WIDTH, height)
    panel = chart.panel(left=NAMES, right=NUMBERS, top=TOP, bottom=AXIS)
    _frame(panel, rows)
    _draw_bars(panel, rows)
    _draw_words(panel, rows, ledger.rss_bytes)
    title = f"Resident memory, part by part: {moment}" if moment else "Resident memory by part"
    return Drawing(name, title, describe_ledger(ledger), chart)


_Row = tuple[str, int, int]  # part, where its bar begins, its bytes


def _rows(ledger: Ledger) -> list[_Row]:
    rows: list[_Row] = []
    reached = 0
    for part, size in zip(ledger.parts["part"], ledger.parts["bytes"], strict=True):
        if size:
            rows.append((str(part), reached, int(size)))
            reached += int(size)
    if ledger.rss_bytes is not None:
        rows.append((_TOTAL, 0, ledger.rss_bytes))
    return rows


def _draw_bars(panel: Panel, rows: list[_Row]) -> None:
    for place, (part, begin, size) in enumerate(rows):
        colour, hatch = LOOK.get(part, (INK, ""))
        opacity = MUTED if part == _TOTAL else 1.0
        look = Look(colour, hatch, edge_of(colour, INK), opacity=opacity)
        panel.bar(begin, place - BAR / 2, size, BAR, look)
        if place + 1 < len(rows) and rows[place + 1][0] != _TOTAL:
            ends = [place + BAR / 2, place + 1 - BAR / 2]
            panel.line([begin + size] * 2, ends, Look(edge=INK, opacity=MUTED))


def _draw_words(panel: Panel, rows: list[_Row], rss_bytes: int | None) -> None:
    """Names left of the bars, bytes and share right of them, each in its column."""
    for place, (part, _, size) in enumerate(rows):
        words: dict[str, Any] = {"y": place, "anchor": "end", "bold": part == _TOTAL}
        panel.words(part_name(part), "left", right=-7, **words)
        panel.words(minus(format_bytes(size)), "right", right=BYTES * POINTS, **words)
        if rss_bytes:
            share = minus(format_fraction(size / rss_bytes))
            panel.words(share, "right", right=NUMBERS * POINTS, opacity=MUTED, **words)


def _frame(panel: Panel, rows: list[_Row]) -> None:
    ends = [0, *(begin for _, begin, _ in rows), *(begin + size for _, begin, size in rows)]
    low, high = min(ends), max(ends) or 1
    panel.x.scale = Scale(low, high * 1.01)
    panel.y.scale = Scale(max(1, len(rows)) - 0.5, -0.5)
    name_bytes(panel.x, low, high)
    panel.rule(Look(edge=INK), x=0)


def describe_ledger(ledger: Ledger) -> str:
    """The figure in words: each part with its bytes, then RSS."""
    parts = [
        f"{part_name(part)} {format_bytes(size)} ({PARTS[part]})"
        for part, size in zip(ledger.parts["part"], ledger.parts["bytes"], strict=True)
        if size
    ]
    return "; ".join(parts) + f". RSS is {format_bytes(ledger.rss_bytes)}."
