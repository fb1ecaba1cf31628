"""What could not be read, as every document tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.units import format_count
from gomem.views.document import Cell, Paragraph, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gomem.errors import Damage

PLACES = 50  # of each file that a document names; JSON has all of them


def damage_section(damaged: Iterable[Damage]) -> Section | None:
    """A line for each place; of a file with very many the first, and how many more there are."""
    by_source: dict[str, list[Damage]] = {}
    for one in damaged:
        by_source.setdefault(one.source, []).append(one)
    if not by_source:
        return None
    words = Paragraph("What stands here is in none of the numbers above.")
    rows = tuple(row for source, places in by_source.items() for row in _rows(source, places))
    columns = ("file", "place", "what was found")
    table = Table("What could not be read", columns, "<<<", rows)
    return Section("unread", "What could not be read", (words, table))


def _rows(source: str, places: list[Damage]) -> Iterator[tuple[Cell, ...]]:
    path = Cell(source, code=True)
    for one in places[:PLACES]:
        yield path, Cell(one.where or "whole file"), Cell(one.what, note=one.text)
    more = len(places) - PLACES
    if more > 0:
        words = f"{format_count(more)} more places; the report as JSON has all of them"
        yield path, Cell("and"), Cell(words)
