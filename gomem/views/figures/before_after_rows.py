"""What figures of rows with a before and an after share: room, names, words, the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import INK, Bar, Chart, Line, Look, Panel, Scale
from gomem.charts.look import BLUE, ORANGE

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, ROW, HEAD, FOOT = 7.4, 0.3, 0.36, 0.42  # inches, as all lengths here
NAME_CHARACTERS = 40
# Colour, marker, and how far above the middle of its row each side stands.
SIDES = {"before": (ORANGE, "s", 0.16), "after": (BLUE, "o", -0.16)}
HATCHES = {"before": "////", "after": ""}


def height_of(rows: int) -> float:
    """The height of a figure with so many rows, in inches."""
    return HEAD + ROW * max(1, rows) + FOOT


def rows_panel(rows: int, *, left: float, right: float) -> tuple[Chart, Panel]:
    """A chart of so many rows, with room in inches for names on the left and words on the right."""
    chart = Chart(WIDTH, height_of(rows))
    panel = chart.panel(left=left, right=right, top=HEAD, bottom=FOOT)
    panel.y.scale = Scale(max(1, rows) - 0.5, -0.5)
    return chart, panel


def label_rows(panel: Panel, names: Sequence[str], words: Sequence[str]) -> None:
    """Put names left of the rows and words right of them."""
    panel.y.name(range(len(names)), [short_name(name) for name in names], muted=False)
    for place, word in enumerate(words):
        panel.words(word, "right", place, right=8)


def explain_sides(chart: Chart, *, left: float, bars: bool) -> None:
    """Say which side is which, for bars or for markers."""
    entries = [_bar(side) if bars else _marker(side) for side in SIDES]
    chart.explain(entries, left=left, top=0.14, columns=2, handle=1.9)


def _bar(side: str) -> Bar:
    return Bar(0, 0, 0, 0, Look(SIDES[side][0], HATCHES[side], INK), side)


def _marker(side: str) -> Line:
    colour, marker, _ = SIDES[side]
    nothing = np.empty(0)
    return Line(nothing, nothing, Look(edge=colour, width=2.2), marker, 5, side, INK)


def short_name(text: str, most: int = NAME_CHARACTERS) -> str:
    """A name as its end, where it is longer than there is room for."""
    return text if len(text) <= most else f"…{text[1 - most :]}"
