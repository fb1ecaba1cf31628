"""Tables whose rows are fields of MemStats, and whose columns are snapshots.

| go_memstats  | before    | after     |
| ---          | ---       | ---       |
| `heap_alloc` | 328.4 MiB | 24-29 MiB, flat |
| `next_gc`    | 649.2 MiB | 44.4 MiB  |

            before    after       the same with two blanks or a tab between its cells
HeapAlloc   328 MiB   24 MiB

Each column becomes a line, as if the program had printed it; those that are more than the lines
share the first. Of a range, the upper end counts.
Columns are of separate processes if a name says another build or setting, or if none says a time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gomem.inputs.markdown import RULE, cells_of_row
from gomem.inputs.memstats.field_names import field_of
from gomem.inputs.memstats.grouped import ANYBODYS, LONE, MIN_FIELDS
from gomem.inputs.unwrap import plain_characters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RSS = "RSS"
MIN_COLUMNS, MAX_LINE = 2, 2000
CUT = b"\0"
_SIZE = re.compile(
    r"[~\u2248 ]{0,3}(?:[0-9][0-9.]{0,9} ?(?:[KMGT]i?B)? ?[-\u2013] ?)?"
    r"([0-9][0-9,]{0,15}(?:\.[0-9]{1,6})?(?: ?(?:bytes|[KMGT]i?B|B))?)(?![\w.%/])"
)
_IS_RSS = re.compile(r"process_resident_memory_bytes|RSS|VmRSS|resident(?: size)?", re.IGNORECASE)
_NO_SNAPSHOT = re.compile(rb"diff|delta|change|saved|limit|ratio|percent|%|\xce\x94", re.IGNORECASE)
# What a person calls a moment, and another build or setting.
_IN_TIME = re.compile(
    rb"\b(?:before|after|start\w*|first|begin\w*|initial|baseline|early|during|mid\w*|peak|spike"
    rb"|second|third|late\w*|last|end|final|now|idle|load|t\d|\d+:\d\d|day|hour|week)\b"
    rb"|\d ?(?:m?s|sec\w*|m|min\w*|h|hours?|d|days?|GCs?)\b",
    re.IGNORECASE,
)
ANOTHER_RUN = re.compile(
    rb"\b(?:with(?:out)?|fix\w*|patch\w*|old|new|version|branch)\b|\bgo ?1\.\d", re.IGNORECASE
)
_APART = re.compile(rb"\t\s*| {2,}")  # between cells without bars
# The name of a row of such cells.
_BEGUN = re.compile(rb"\s*+([^\s\d][^\t\n]{0,60}?)(?:\t| {2,})")
_MARKUP = re.compile("[`*]+")


class _Table(NamedTuple):
    """A table of fields: its lines from 0, and its columns' names with a snapshot's line."""

    head: int
    first: int  # row
    last: int
    snapshots: list[tuple[bytes, bytes]]

    @property
    def places(self) -> range:
        """The lines of the snapshots: from the first row on, or also the header's if needed."""
        more = max(0, len(self.snapshots) - (self.last + 1 - self.first))
        begin = max(self.head, self.first - more)
        return range(begin, min(begin + len(self.snapshots), self.last + 1))


def with_rows_in_words(text: bytes) -> bytes:
    """Rewrite each such table: a snapshot a line, in the table's lines."""
    lines = text.split(b"\n")
    tables = list(_tables(lines))
    for table in tables:
        words = [line for _, line in table.snapshots]
        shared = len(words) + 1 - len(table.places)
        words[:shared] = [b" | ".join(words[:shared])]
        lines[table.first : table.last + 1] = [b""] * (table.last + 1 - table.first)
        for place, line in zip(table.places, words, strict=True):
            lines[place] = line
    return b"\n".join(lines) if tables else text


def lines_of_rows(data: bytes) -> set[int]:
    """Return the lines, from 1, of all such tables with their headers."""
    tables = _tables(data.split(b"\n"))
    return {place + 1 for table in tables for place in range(table.head, table.last + 1)}


@lru_cache(maxsize=1)
def titles_of_columns(data: bytes) -> dict[int, str]:
    """Return what each snapshot's column is called, by its line from 1."""
    return {
        place + 1: title.decode("utf-8", "replace")
        for table in _tables(plain_characters(data).split(b"\n"))
        for place, (title, _) in zip(table.places[::-1], table.snapshots[::-1], strict=False)
    }


def columns_apart(data: bytes) -> frozenset[int]:
    """Return the lines, from 1, of snapshots of another process than the column before."""
    titles = titles_of_columns(data)
    said = " | ".join(titles.values()).encode()
    is_one = _IN_TIME.search(said) is not None and ANOTHER_RUN.search(said) is None
    return frozenset(() if is_one else titles)


def _tables(lines: Sequence[bytes]) -> Iterator[_Table]:
    """Yield each table of fields."""
    for place, line in enumerate(lines):
        if not place:
            continue
        rows: list[list[bytes]] = []
        if b"|" in line and RULE.fullmatch(line.strip()):
            columns = cells_of_row(lines[place - 1])
            places = list(_below(lines, place + 1, len(columns)))
            is_barred = lines[place - 1].rstrip().endswith(b"|")
            rows = [_whole_cells(lines[row], is_barred=is_barred) for row in places]
        elif columns := _columns_apart(lines[place - 1], line):
            rows = list(_rows_apart(lines, place, len(columns)))
            places = list(range(place, place + len(rows)))
        if rows and len(snapshots := _snapshots(rows, columns)) >= MIN_COLUMNS:
            yield _Table(place - 1, places[0], places[-1], snapshots)


def _columns_apart(head: bytes, row: bytes) -> list[bytes]:
    """Return the names above a first row of cells with blanks between; empty if it is none."""
    begun = _BEGUN.match(row)
    if begun is None or not _name(begun[1]) or max(len(head), len(row)) >= MAX_LINE:
        return []
    cells = _APART.split(row.strip())
    if len(cells) <= MIN_COLUMNS:
        return []
    names = _APART.split(head.strip())
    names = [b"", *names] if len(names) == len(cells) - 1 else names
    return names if len(names) == len(cells) and not _name(names[0]) else []


def _rows_apart(lines: Sequence[bytes], place: int, width: int) -> Iterator[list[bytes]]:
    while place < len(lines) and len(lines[place]) < MAX_LINE:
        cells = _APART.split(lines[place].strip())
        if len(cells) != width:
            return
        yield cells
        place += 1


def _below(lines: Sequence[bytes], place: int, width: int) -> Iterator[int]:
    while place < len(lines) and len(lines[place]) < MAX_LINE and b"|" in lines[place]:
        if len(cells_of_row(lines[place])) != width:
            return
        yield place
        place += 1


def _whole_cells(line: bytes, *, is_barred: bool) -> list[bytes]:
    """Return the cells of a row; a last one that the end of the text cuts is `CUT`."""
    cells = cells_of_row(line)
    return [*cells[:-1], CUT] if is_barred and not line.rstrip().endswith(b"|") else cells


def _snapshots(
    rows: Sequence[Sequence[bytes]], columns: Sequence[bytes]
) -> list[tuple[bytes, bytes]]:
    """Return the columns' names with lines of fields; empty if the rows are not fields."""
    named = {name: row for row in rows if row and (name := _name(row[0]))}
    fields = {name for name in named if name != RSS}
    if fields <= ANYBODYS or (len(fields) < MIN_FIELDS and not fields & LONE):
        return []
    dumps = []
    for column, title in enumerate(columns[1:], start=1):
        cells = {name: _SIZE.match(_plain(row[column])) for name, row in named.items()}
        sizes = {name: size[1] for name, size in cells.items() if size}
        cut = {name for name, row in named.items() if row[column] == CUT}
        if _NO_SNAPSHOT.search(title) is None and fields - cut <= sizes.keys():
            words = " | ".join(f"{name}: {size.replace(' ', '')}" for name, size in sizes.items())
            dumps.append((title, words.encode()))
    return dumps


def _name(cell: bytes) -> str:
    """Return what a row is of: a field, or RSS; empty if neither."""
    name = _plain(cell)
    return RSS if _IS_RSS.fullmatch(name) else field_of(name) or ""


def _plain(cell: bytes) -> str:
    return _MARKUP.sub("", cell.decode("utf-8", "replace")).strip()
