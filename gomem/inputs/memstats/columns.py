r"""Tables whose columns are fields of MemStats: a row becomes `HeapInuse: 91 MiB | …`.

Markdown     | HeapAlloc | HeapSys | …    with the rule below
psql, mysql  heap_alloc | heap_sys        with `---+---` below, or `+---+` around
Blanks       Alloc  HeapAlloc  HeapIdle   InfluxDB's SHOW STATS, a program's own columns
Tabs, CSV    time,HeapAlloc,HeapSys       a spreadsheet, Grafana
The first column can be a time, or a label without a name above it. A row with fewer cells than the
header has, or without numbers below the fields, ends a table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.markdown import RULE
from gomem.inputs.memstats.field_names import field_of, plain_name
from gomem.inputs.memstats.grouped import ANYBODYS, MIN_FIELDS
from gomem.inputs.unwrap import QUOTE, plain_characters, plain_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.inputs.unwrap import PlainText

_DRAWN = re.compile(rb"\|?\+?-{2,}(?:\+-{2,})+\+?\|?|-{2,}(?:\s+-{2,})*")
_TIME = re.compile(r"(?i)time|date|when|after|uptime|elapsed|minute|second|hour|day|snapshot|#|^$")
_MARKUP = re.compile(r"[`*\"]+")
# A line of words: the names of fields, and no number before them.
_MARK = re.compile(
    rb"(?:alloc|heap|sys)[^\n=:0-9]{1,200}?(?:alloc|heap|sys)[^\n=:0-9]{0,200}$",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = re.compile(rb"[^=:0-9]{0,200}?(?:alloc|heap)", re.IGNORECASE)
_GAP = " {2,}"
_CELL = re.compile(r"[0-9][0-9.,]*(?: (?:bytes|[KMGT]i?B?|B)(?![A-Za-z]))?(?=\s|$)|\S+")
_NUMBER = re.compile(
    r"[0-9][0-9,_]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?:i| ?(?:bytes|[KMGT]i?B?|B))?", re.IGNORECASE
)
MAX_LINE = 2000  # of a table's lines
_SEPARATORS = ("\t", ";", ",")


@dataclass(frozen=True, slots=True)
class _Head:
    """The header of a table."""

    names: tuple[str, ...]
    separator: str  # between cells; empty for blanks
    lines: frozenset[int]  # its own position, and those of rules below it

    @property
    def fields(self) -> list[int]:
        """The columns that are fields of MemStats."""
        return [column for column, name in enumerate(self.names) if field_of(name)]

    @property
    def begins_with_label(self) -> bool:
        """Whether the first column names what each row is of, and is not a time."""
        return not self.begins_with_fields and _TIME.search(self.names[0]) is None

    @property
    def begins_with_fields(self) -> bool:
        """Whether the first column is a field already."""
        return field_of(self.names[0]) is not None


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table."""

    place: int  # of its line in the text, from 0
    head: _Head
    cells: tuple[str, ...]
    line: bytes  # without a collector's prefix


def with_columns_in_words(text: bytes) -> bytes:
    """Rewrite each table cell as its column's name and value."""
    rows = _rows_in(text)
    if not rows:
        return text
    lines = text.split(b"\n")
    for row in rows:
        pairs = zip(map(plain_name, row.head.names), row.cells, strict=True)
        words = " | ".join(f"{name}: {cell}" for name, cell in pairs).encode()
        # A collector's prefix stays: it has the time.
        stored = lines[row.place]
        prefix = stored.removesuffix(row.line) if stored != row.line else b""
        lines[row.place] = (prefix if prefix != stored else b"") + words
    return b"\n".join(lines)


def heads_of_tables(data: bytes) -> set[int]:
    """Return the lines, from 1, of the header and rule of each table of MemStats."""
    return {place + 1 for row in _rows_in(plain_characters(data)) for place in row.head.lines}


def rows_apart(data: bytes) -> frozenset[int]:
    """Return the lines, from 1, of rows of separate processes: their first column names them."""
    rows = _rows_in(plain_characters(data))
    return frozenset(row.place + 1 for row in rows if row.head.begins_with_label)


def _rows_in(text: bytes) -> list[_Row]:
    """Return the rows of a text; of one in a wrapper, such as a log collector's, if it has none."""
    if _MARK.search(text) is None:
        return []
    if rows := list(_rows(text.split(b"\n"))):
        return rows
    for plain in plain_texts(text):
        if rows := list(_rows(plain.data.split(b"\n"))):
            return [_in_file(row, plain) for row in rows]
    return []


def _in_file(row: _Row, plain: PlainText) -> _Row:
    """Return a row of a text in a wrapper with its place, and its header's, in the file."""
    place, *lines = (plain.lines(np.array([row.place, *row.head.lines]) + 1) - 1).tolist()
    return replace(row, place=place, head=replace(row.head, lines=frozenset(lines)))


def _rows(lines: list[bytes]) -> Iterator[_Row]:
    """Yield rows of tables of MemStats."""
    head: _Head | None = None
    for place, line in enumerate(lines):
        if head is not None and _is_rule(line):
            head = replace(head, lines=head.lines | {place})
            continue
        found = _head_of(line, place)
        if found is not None:
            below = lines[place + 1] if place + 1 < len(lines) else b""
            head = found if found.separator != "|" or _is_rule(below) else None
        elif head is not None:
            row = None if len(line) > MAX_LINE else _row_of(line, place, head)
            head = None if row is None else row.head
            if row is not None:
                yield row


def _is_rule(line: bytes) -> bool:
    """Whether a line is drawn, also behind a prefix that only the other lines have lost."""
    text = line.strip()
    if len(text) > MAX_LINE:
        return False
    drawn = text.split()[-1] if b"-+-" in text else text
    return bool(text) and bool(RULE.fullmatch(text) or _DRAWN.fullmatch(drawn))


def _head_of(line: bytes, place: int) -> _Head | None:
    """Return the header that a line is: some of its cells are fields, and none is a number."""
    if len(line) > MAX_LINE or _HEAD.match(line) is None:
        return None
    text = _unquoted(line)
    separators = ("|",) if "|" in text else (*_SEPARATORS, _GAP, "")
    splits = ((separator, _cells(text, separator)) for separator in separators)
    separator, names = max(splits, key=lambda split: len(_fields_of(split[1])))
    fields = _fields_of(names)
    if len(fields) < MIN_FIELDS or fields <= ANYBODYS:
        return None
    return _Head(tuple(names), "" if separator == _GAP else separator, frozenset({place}))


def _unquoted(line: bytes) -> str:
    return QUOTE.sub(b"", line, count=1).decode("utf-8", "replace")


def _fields_of(names: Sequence[str]) -> set[str]:
    return {field for name in names if (field := field_of(name))}


def _cells(text: str, separator: str) -> list[str]:
    """Split a line at a separator, or at blanks if it is empty."""
    if not separator:
        return text.split()
    inner = text.strip().strip("|") if separator == "|" else text.strip(" ")
    cells = re.split(_GAP, inner.strip()) if separator == _GAP else inner.split(separator)
    return [_MARKUP.sub("", cell).strip() for cell in cells]


def _row_of(line: bytes, place: int, head: _Head) -> _Row | None:
    """Return a row, whose header has a column for a label before the fields; None if not one."""
    text = _unquoted(line)
    cells = _cells(text, head.separator) if head.separator else _CELL.findall(text)
    more = len(cells) - len(head.names)
    if more > 0 and not head.separator:  # a label of several words, or a date and a time
        if head.begins_with_fields:
            head = replace(head, names=("", *head.names))
            more -= 1
        label, cells = cells[: more + 1], cells[more + 1 :]
        if all(map(_NUMBER.fullmatch, label)):
            return None  # more numbers than columns
        cells = [" ".join(label), *cells]
    if len(cells) != len(head.names):
        return None
    numbers = [cells[column] for column in head.fields if cells[column]]
    are_numbers = all(map(_NUMBER.fullmatch, numbers)) or head.separator == "|"
    return _Row(place, head, tuple(cells), line) if numbers and are_numbers else None
