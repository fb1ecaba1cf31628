"""Layout shared by figures with rows: space, names, words, and the look of sides and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.charts.chart import INK, MUTED, Bar, Chart, Line, Look, Panel, Scale
from gomem.charts.look import BLUE, ORANGE, edge_of
from gomem.charts.svg import POINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, ROW, HEAD, FOOT = 7.4, 0.3, 0.36, 0.42  # inches, as all lengths here
NAME_CHARACTERS = 40
# Colour, marker, and offset above the middle of the row, for each side.
SIDES = {"before": (ORANGE, "s", 0.16), "after": (BLUE, "o", -0.16)}
HATCHES = {"before": "////", "after": ""}
BYTES = 0.88  # inches right of memory bars: the right edge of bytes; shares take the rest
BAR = 0.62  # of a row's height
MARGIN = 0.07  # inches between words and the sheet's edge
RSS = "RSS"


def rows_panel(
    rows: int, *, left: float, right: float, width: float = WIDTH, row: float = ROW,
    head: float = HEAD, foot: float = FOOT,
) -> tuple[Chart, Panel]:  # fmt: skip
    """Create a chart with rows, with inches left for names and right for words."""
    chart = Chart(width, head + row * max(1, rows) + foot)
    panel = chart.panel(left=left, right=right, top=head, bottom=foot)
    panel.y.scale = Scale(max(1, rows) - 0.5, -0.5)
    return chart, panel


def memory_panel(rows: int, *, left: float, right: float) -> tuple[Chart, Panel]:
    """Create a chart with rows for bars of memory."""
    return rows_panel(rows, left=left, right=right, width=7.6, row=0.27, head=0.08, foot=0.38)


def memory_bar(
    panel: Panel, place: int, begin: int, size: int, look: tuple[str, str] | None
) -> None:
    """Draw a bar in its part's style; without a style, it is the total."""
    colour, hatch = look or (INK, "")
    drawn = Look(colour, hatch, edge_of(colour, INK), opacity=1.0 if look else MUTED)
    panel.bar(begin, place - BAR / 2, size, BAR, drawn)


def name_row(panel: Panel, place: int, name: str, numbers: Sequence[tuple[str, float, float]], *,
             bold: bool) -> None:  # fmt: skip
    """Write a name left of its bar, and numbers right of it, each with right end and opacity."""
    words: dict[str, Any] = {"y": place, "anchor": "end", "bold": bold}
    panel.words(name, "left", right=-7, **words)
    for number, end, opacity in numbers:
        panel.words(number, "right", right=(end - MARGIN) * POINTS, opacity=opacity, **words)


def label_rows(panel: Panel, names: Sequence[str], words: Sequence[str]) -> None:
    """Write names left of the rows and words right of them."""
    panel.y.name(range(len(names)), [short_name(name) for name in names], muted=False)
    for place, word in enumerate(words):
        panel.words(word, "right", place, right=8)


def explain_sides(chart: Chart, *, left: float, bars: bool) -> None:
    """Add the legend of the sides, for bars or for markers."""
    entries: list[Bar | Line] = []
    for side, (colour, marker, _) in SIDES.items():
        look, nothing = Look(edge=colour, width=2.2), np.empty(0)
        bar = Bar(0, 0, 0, 0, Look(colour, HATCHES[side], INK), side)
        entries.append(bar if bars else Line(nothing, nothing, look, marker, 5, side, INK))
    chart.explain(entries, left=left, top=0.14, columns=2, handle=1.9)


def short_name(text: str, most: int = NAME_CHARACTERS) -> str:
    """Shorten a name to its end if it is too long."""
    return text if len(text) <= most else f"…{text[1 - most :]}"
