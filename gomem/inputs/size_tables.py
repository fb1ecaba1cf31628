"""Tables of sizes of unknown origin: which rows or columns are of memory, and their sizes.

Markdown      | RSS | 51 MB | 62 MB (max 70) |   below `| metric | start | +1h |`: named sizes
              | before | 9376 | 5644 |   below `| | RSS | PSS |`: bare numbers stay bare
Bare          | RSS | 51 | 62 |   without a unit, and the one that the text's other sizes have
Units         | RSS GiB | 8.5 | 10.5 |   the label of a row, or the head of a column, has the unit
top           | `RES` | 13.1m |   a letter alone, as top prints it
Dashes        Files    RSS (MB)   above `-----    --------`: columns with a rule of dashes below
Boxes         │ Name │ Mem │   drawn with lines, or with `+---+`
Only the words next to a size say what it measures. A name above a table, such as a release, is its
label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from gomem.inputs.markdown import RULE, cells_of_row
from gomem.inputs.resemblance import quoted
from gomem.inputs.text_lines import decoded
from gomem.text import Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMED = 4  # rows of a table
SIZE = rb"\d{1,12}(?:\.\d{1,9})?[ ]?(?:[KMGT]i?[Bb]|[kmg]b|[KMGT]i)(?![\w/])"
_ANY_SIZE = re.compile(SIZE)
_APPROXIMATELY = rb"[~\xe2\x89\x88 ]{0,4}"
_CELL = re.compile(
    _APPROXIMATELY + rb"(" + SIZE + rb"|\d{1,12}(?:\.\d{1,9})?[KMGTkmgt](?= *(?:\(|$)))"
)
_NUMBER = re.compile(_APPROXIMATELY + rb"(\d{1,12}(?:[.,]\d{1,9}){0,3})")
_UNIT = re.compile(rb"(?<![A-Za-z])(?:[KMGT]i?[Bb]|[kmg][bB]|[KMG]i|bytes)(?![A-Za-z])")
_ANY_UNIT = re.compile(_UNIT.pattern + rb"|\d[KMGTkmgt](?!\w)")
_ON_MEMORY = re.compile(
    rb"go_memstats_\w{1,40}_bytes|process_resident_memory_bytes|container_memory_\w{1,40}"
    rb"|\b(?:[RPU]SS|RES|VIRT|heap|Heap\w{2,9}|alloc|TotalAlloc|mem(?:ory)?|working[ _-]set|anon"
    rb"|VmRSS)\b",
    re.IGNORECASE,
)
# Rows whose bare numbers are sizes, and no counts.
_IS_SIZE = re.compile(
    rb"\b(?:[RPU]SS|VmRSS|Heap(?:Alloc|Inuse|Sys|Idle)|live heap|heap (?:in use|size|used)"
    rb"|mem(?:ory)? (?:usage|used))\b",
    re.IGNORECASE,
)
_DASHES = re.compile(rb"[ \t]*-{2,}(?:[ \t]+-{2,})+[ \t]*")
_GAP = re.compile(rb"[ \t]{2,}|\t")
# A table drawn with lines: its bars, and what its rules consist of.
_BAR = re.compile("\u2502|\u2503|\u2551".encode())
_DRAWN = re.compile(r"[\s\u2500-\u257f+=-]*[\u2500-\u257f+=-][\s\u2500-\u257f+=-]*")
_BOX = re.compile(rb"\xe2\x94[\x80-\xbf]|\xe2\x95[\x80-\xbf]|\+-{2,}")

Sizes = list[tuple[bytes, bytes]]  # each with its place: the head of its column, or its row's label


@dataclass(frozen=True, slots=True)
class SizeTable:
    """A table in a text, and what of it is of memory."""

    data: bytes  # its lines
    named: list[tuple[bytes, Sizes]]
    unit: str = ""  # the only one that the text has

    @property
    def sizes(self) -> tuple[str, ...]:
        """Its sizes, also those in the heads of columns."""
        words = (pair for _, of in self.named for pair in of)
        found = ((size, *_ANY_SIZE.findall(place)) for size, place in words)
        return tuple(decoded(size) for sizes in found for size in sizes)

    @property
    def parts(self) -> tuple[Text, ...]:
        """The sizes of each row or column, each with its place; of the first few."""
        each = (
            (name, joined(", ", (text("{} ({})", *map(quoted, size)) for size in sizes)))
            for name, sizes in self.named[:NAMED]
        )
        return tuple(text("{} {}", quoted(name), sizes) for name, sizes in each)

    @property
    def words(self) -> Text:
        """A description of the table."""
        count = len(self.named) - NAMED
        more = f", and {count} more" if count > 0 else ""
        units = (_ANY_UNIT.search(name + b" " + s) for name, of in self.named for s, _ in of)
        other = f" (the others in the text are in {self.unit})" if self.unit else ""
        unit = "" if any(units) else f", without a unit{other}"
        return text("a table of sizes{}: {}{}", unit, joined("; ", self.parts), more)


def tables_of_sizes(data: bytes) -> Iterator[SizeTable]:
    """Yield the tables of a text of which some rows or columns are sizes of memory."""
    stored, unit = data.split(b"\n"), None
    lines = [_BAR.sub(b"|", line) for line in stored]
    for start, stop, columns, rows in _tables(lines):
        if rows and (named := _named_sizes(columns, rows)):
            unit = _only_unit(data) if unit is None else unit
            yield SizeTable(b"\n".join(stored[start:stop]) + b"\n", named, unit)


def _only_unit(data: bytes) -> str:
    """Return the unit of all sizes in a text; empty if it has several, or none."""
    units = {size.lstrip(b"0123456789. ") for size in _ANY_SIZE.findall(data)}
    return decoded(units.pop()) if len(units) == 1 else ""


def _tables(
    lines: Sequence[bytes],
) -> Iterator[tuple[int, int, list[bytes], list[list[bytes]]]]:
    """Yield the first line of each table and the one below it, its columns, and its rows' cells."""
    for place in range(1, len(lines)):
        head, rule = lines[place - 1], lines[place]
        if RULE.fullmatch(rule) or (b"|" in head and _is_drawn(rule)):
            columns = cells_of_row(head)
            below = list(takewhile(lambda row: b"|" in row, islice(lines, place + 1, None)))
            cells = [cells_of_row(row) for row in below]
        elif _DASHES.fullmatch(rule) and b"|" not in head:
            columns = _GAP.split(head.strip())
            below = list(takewhile(bytes.strip, islice(lines, place + 1, None)))
            cells = [_GAP.split(row.strip()) for row in below]
            if len(columns) != len(rule.split()):
                continue
        else:
            continue
        rows = [row for row in cells if len(row) == len(columns)]
        yield place - 1, place + 1 + len(below), columns, rows


def _is_drawn(line: bytes) -> bool:
    """Whether a line is the rule of a box."""
    return _BOX.search(line) is not None and _DRAWN.fullmatch(decoded(line)) is not None


def _named_sizes(
    columns: Sequence[bytes], rows: Sequence[Sequence[bytes]]
) -> list[tuple[bytes, Sizes]]:
    """Return what rows, else columns, are called that are of memory; and sizes with their place."""
    of_rows = [
        _sizes(row[0], columns[1:], row[1:], _CELL)
        or (_sizes(row[0], columns[1:], row[1:], _NUMBER) if _UNIT.search(row[0]) else None)
        for row in rows
    ]
    if any(of_rows):
        return list(filter(None, of_rows))
    places = [row[0].partition(b" (")[0] for row in rows]
    cells = ([row[column] for row in rows] for column in range(1, len(columns)))
    of_columns = (
        _sizes(name, places, sizes, _CELL) or _sizes(name, places, sizes, _NUMBER)
        for name, sizes in zip(columns[1:], cells, strict=True)
    )
    bare = (
        _sizes(row[0], columns[1:], row[1:], _NUMBER) for row in rows if _IS_SIZE.search(row[0])
    )
    return list(filter(None, of_columns)) or list(filter(None, bare))


def _sizes(
    name: bytes, places: Sequence[bytes], cells: Sequence[bytes], form: re.Pattern[bytes]
) -> tuple[bytes, Sizes] | None:
    """Return a name of memory with the sizes in its cells; None if it has none."""
    if _ON_MEMORY.search(name) is None:
        return None
    match = form.match if form is _CELL else form.fullmatch
    found = ((match(cell), place) for cell, place in zip(cells, places, strict=True))
    sizes = [(size[1], place) for size, place in found if size]
    return (name, sizes) if sizes else None
