"""The section on what could not be read or was left out, the same in every document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.text import Quoted, text
from gomem.units import format_count
from gomem.views.document import Cell, Paragraph, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gomem.errors import Damage

PLACES = 50  # named per file; JSON has all of them


def damage_section(damaged: Iterable[Damage]) -> Section | None:
    """A row for each place; for a file with many, the first `PLACES` and a count of the rest."""
    by_source: dict[str, list[Damage]] = {}
    for damage in damaged:
        by_source.setdefault(damage.source, []).append(damage)
    if not by_source:
        return None
    has_unread = any(not place.is_excerpt for places in by_source.values() for place in places)
    heading = "What could not be read" if has_unread else "What was left out"
    words = (Paragraph("Missing from the numbers above:"),) if has_unread else ()
    rows = tuple(row for source, places in by_source.items() for row in _rows(source, places))
    columns = ("file", "place", "problem")
    return Section("unread", heading, (*words, Table(heading, columns, "<<<", rows)))


def _rows(source: str, places: list[Damage]) -> Iterator[tuple[Cell, ...]]:
    path = Cell(source, code=True)
    for damage in places[:PLACES]:
        quotation = text("'{}'", Quoted(damage.text)) if damage.text else ""
        yield path, Cell(damage.where or "whole file"), Cell(damage.what, note=quotation)
    more = len(places) - PLACES
    if more > 0:
        words = f"{format_count(more)} more places; the report as JSON has all of them"
        yield path, Cell("and"), Cell(words)
