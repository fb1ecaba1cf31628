"""Lay out a table for a terminal, so that no number and no short word is cut.

If a table is too wide, its words are wrapped. If its numbers are too wide, or leave no room for a
sentence, the last columns follow in a table below, beside the same first column.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table as RichTable

HEADING = 10  # characters of a heading, if a table is wider than the terminal
SHORT = 20  # characters; shorter words are never broken
LONG, READABLE = 60, 30  # characters: cells longer than the first are never wrapped to fewer
BETWEEN = 2  # spaces between two columns


@dataclass(frozen=True)
class TextColumn:
    """A column of a table as plain text."""

    heading: str
    is_number: bool
    cells: Sequence[str]

    @property
    def lines(self) -> list[str]:
        """The heading in short lines, over text no shorter than the text."""
        room = 0 if self.is_number else min(READABLE, max(map(len, self.cells), default=0))
        return textwrap.wrap(self.heading, max(HEADING, room), break_long_words=False) or [""]

    @property
    def widest(self) -> int:
        """The width at which no cell is wrapped."""
        return max(map(len, (*self.lines, *self.cells)))

    @property
    def narrowest(self) -> int:
        """The width below which a number or a short word is broken, or a sentence is a column."""
        if self.is_number:
            return self.widest
        words = (*" ".join(self.cells).split(), *self.heading.split())
        short = max((len(word) for word in words if len(word) <= SHORT), default=0)
        return max(short, READABLE) if self.widest > LONG else short


def text_tables(
    columns: Sequence[TextColumn], width: int, *, bold_rows: int = 0
) -> list[RichTable]:
    """Return the tables that show these columns within a width; the last rows can be bold."""
    one_line = [max(map(len, (column.heading, *column.cells))) for column in columns]
    if _total(one_line) <= width:
        headings = [column.heading for column in columns]
        return [_drawn(columns, headings, one_line, bold_rows)]
    tables = []
    for group in _groups(columns, width):
        headings = ["\n".join(column.lines) for column in group]
        tables.append(_drawn(group, headings, _widths(group, width), bold_rows))
    return tables


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + BETWEEN * (len(widths) - 1)


def _groups(columns: Sequence[TextColumn], width: int) -> list[list[TextColumn]]:
    """The columns of each table: as many as fit, each time beside the first."""
    first, *others = columns
    groups = [[first]]
    for column in others:
        tried = [*groups[-1], column]
        if _total([each.narrowest for each in tried]) <= width or len(groups[-1]) == 1:
            groups[-1] = tried
        else:
            groups.append([first, column])
    return groups


def _widths(columns: Sequence[TextColumn], width: int) -> list[int]:
    """The width of each column: that of its text, or a limit that is the same for all."""
    bounds = [(column.narrowest, column.widest) for column in columns]
    for limit in range(max(widest for _, widest in bounds), 0, -1):
        widths = [max(narrowest, min(widest, limit)) for narrowest, widest in bounds]
        if _total(widths) <= width:
            return widths
    return [narrowest for narrowest, _ in bounds]


def _drawn(
    columns: Sequence[TextColumn], headings: Sequence[str], widths: Sequence[int], bold_rows: int
) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    drawn = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column, heading, width in zip(columns, headings, widths, strict=True):
        drawn.add_column(
            heading,
            justify="right" if column.is_number else "left",
            width=width,
            overflow="fold",
            header_style="dim",
        )
    rows = list(zip(*(column.cells for column in columns), strict=True))
    for number, row in enumerate(rows):
        drawn.add_row(*row, style="bold" if number >= len(rows) - bold_rows else "")
    return drawn
