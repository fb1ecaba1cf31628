"""Sizes in rows and lines of unknown origin: no known tool prints them so. gomem only lists them.

Markdown      | RSS | 51 MB | 62 MB (max 70) |   below `| metric | start | +1h |`: named sizes
              | before | 9376 | 5644 |   below `| | RSS | PSS |`: bare numbers stay bare
Rows          api:api   4711   0.4%   24.0MB (0.1%)   of a program's own table of processes
Times         12s:0.0860825 Gi             what a shell loop around one size prints
Labels        Memory: 670 samples, avg is 583.0MB, max is 1429.6MB   the same words in several lines
Only the words next to a size say what it measures.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from gomem.inputs.markdown import RULE, cells_of_row
from gomem.inputs.processes.row import bytes_of
from gomem.inputs.resemblance import quoted
from gomem.inputs.text_lines import decoded
from gomem.text import Count, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MIN_ROWS = 4
MIN_LABELLED = 3
NAMED = 4  # rows of a table
SHOWN = 6  # sizes of a series; of more, the first, the last and the largest
SIZE = rb"\d{1,12}(?:\.\d{1,9})?[ ]?(?:[KMGT]i?[Bb]|[kmg]b|[KMGT]i)(?![\w/])"
_SIZE = re.compile(rb"(?<![\w.,-])(?<![eE]\+)" + SIZE)
_CELL = re.compile(rb"[~\xe2\x89\x88 ]{0,4}(" + SIZE + rb")")
_NUMBER = re.compile(rb"[~\xe2\x89\x88 ]{0,4}(\d{1,12}(?:[.,]\d{1,9}){0,3})")
_UNIT = re.compile(rb"(?<![A-Za-z])(?:[KMGT]i?[Bb]|[kmg][bB]|[KMG]i|bytes)(?![A-Za-z])")
_ON_MEMORY = re.compile(
    rb"go_memstats_\w{1,40}_bytes|process_resident_memory_bytes|container_memory_\w{1,40}"
    rb"|\b(?:[RPU]SS|heap|Heap\w{2,9}|alloc|TotalAlloc|mem(?:ory)?|working[ _-]set|anon|VmRSS)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(rb"([A-Za-z][\w.]{0,30})(?: is| was| of| at)?[ \t]*[:=]?[ \t]*[\"'(\[]?\Z")
_TIMED = re.compile(
    rb"[ \t>]*(\d{1,9}(?:\.\d{1,6})?) ?(?:s|sec|m|min|h)?[:,;][ \t]*(" + SIZE + rb")"
)
_OWN_ROW = re.compile(
    rb"[ \t>]*(?P<name>[A-Za-z][\w./:@-]{0,80})[ \t]+\d{1,10}[ \t][^\n=]{0,80}?(?P<size>" + SIZE
    + rb")(?:[ \t]+\(?\d[\d.]{0,6}%\)?)?[ \t]*"
)  # fmt: skip
_CGROUP_FILE = re.compile(rb"memory\.(?:usage_in_bytes|current)\b")


def rows_with_sizes(head: bytes) -> Text:
    """Describe rows or lines of one form, each with a size; empty without any."""
    lines = head.split(b"\n")
    looks = (_in_markdown, _own_table, _timed, _labelled)
    what = next(filter(None, (look(lines) for look in looks)), None)
    of = Text(", of a cgroup's usage") * (_CGROUP_FILE.search(head) is not None)
    return Text() if what is None else text("it has {}{}", what, of)


def tables_of_sizes(data: bytes) -> Iterator[tuple[bytes, list[str]]]:
    """Yield Markdown's tables of memory, each with its sizes and their names: `RSS 51 MB`."""
    lines = data.split(b"\n")
    for start, columns, rows in _tables(lines):
        named = _named_sizes(columns, rows)
        sizes = [decoded(b"%b %b" % (name, size)) for name, of in named for size, _ in of]
        if sizes:
            yield b"\n".join(lines[start : start + 2 + len(rows)]) + b"\n", sizes


def _in_markdown(lines: Sequence[bytes]) -> Text | None:
    """Describe a table in Markdown whose rows or columns are named sizes of memory."""
    found = [row for _, names, rows in _tables(lines) for row in _named_sizes(names, rows)]
    if not found:
        return None
    named = [
        text("{} {}", quoted(name), joined(", ", (text("{} ({})", *map(quoted, s)) for s in sizes)))
        for name, sizes in found[:NAMED]
    ]
    more = f", and {len(found) - NAMED} more" * (len(found) > NAMED)
    has_unit = any(_UNIT.search(name + size) for name, sizes in found for size, _ in sizes)
    unit = "" if has_unit else ", without a unit"
    return text("a table of sizes{}: {}{}", unit, joined("; ", named), more)


def _tables(lines: Sequence[bytes]) -> Iterator[tuple[int, list[bytes], list[list[bytes]]]]:
    """Yield the first line of each table, its columns, and the cells of its rows."""
    for place, line in enumerate(lines):
        if place and RULE.fullmatch(line):
            columns = cells_of_row(lines[place - 1])
            below = takewhile(lambda row: b"|" in row, islice(lines, place + 1, None))
            rows = [cells for row in below if len(cells := cells_of_row(row)) == len(columns)]
            yield place - 1, columns, rows


def _named_sizes(
    columns: Sequence[bytes], rows: Sequence[Sequence[bytes]]
) -> list[tuple[bytes, list[tuple[bytes, bytes]]]]:
    """Return what rows, else columns, are called that are of memory; and sizes with their place."""
    of_rows = [_sizes(row[0], columns[1:], row[1:], _CELL) for row in rows]
    if any(of_rows):
        return list(filter(None, of_rows))
    places = [row[0].partition(b" (")[0] for row in rows]
    cells = ([row[column] for row in rows] for column in range(1, len(columns)))
    of_columns = (
        _sizes(name, places, sizes, _CELL) or _sizes(name, places, sizes, _NUMBER)
        for name, sizes in zip(columns[1:], cells, strict=True)
    )
    return list(filter(None, of_columns))


def _sizes(
    name: bytes, places: Sequence[bytes], cells: Sequence[bytes], form: re.Pattern[bytes]
) -> tuple[bytes, list[tuple[bytes, bytes]]] | None:
    """Return a name of memory with the sizes in its cells; None if it has none."""
    if _ON_MEMORY.search(name) is None:
        return None
    match = form.match if form is _CELL else form.fullmatch
    found = ((match(cell), place) for cell, place in zip(cells, places, strict=True))
    sizes = [(size[1], place) for size, place in found if size]
    return (name, sizes) if sizes else None


def _own_table(lines: Sequence[bytes]) -> Text | None:
    """Describe rows below each other, each with a name, a number and a size."""
    rows = max(_runs(lines, _OWN_ROW), key=len, default=[])
    if len(rows) < MIN_ROWS:
        return None
    largest = sorted(rows, key=lambda row: -bytes_of(row["size"]))[:NAMED]
    each = (text("{} {}", quoted(row["name"]), quoted(row["size"])) for row in largest)
    return text("{} with a size each, the largest: {}", Count(len(rows), "row"), joined(", ", each))


def _timed(lines: Sequence[bytes]) -> Text | None:
    """Describe lines below each other, each with a time and a size."""
    rows = max(_runs(lines, _TIMED), key=len, default=[])
    if len(rows) < MIN_ROWS:
        return None
    sizes = [row[2] for row in rows]
    words = "{} with a time and a size each: {}"
    return text(words, Count(len(rows), "line"), _series(sizes))


def _runs(lines: Sequence[bytes], form: re.Pattern[bytes]) -> Iterator[list[re.Match[bytes]]]:
    """Yield the lines of a form that are below each other."""
    run: list[re.Match[bytes]] = []
    for line in lines:
        found = form.match(line) if form is _TIMED else form.fullmatch(line)
        if found is not None:
            run.append(found)
        elif run:
            yield run
            run = []
    yield run


def _labelled(lines: Sequence[bytes]) -> Text | None:
    """Describe several lines that have the same words before their two or more sizes."""
    found: defaultdict[tuple[bytes, ...], list[list[bytes]]] = defaultdict(list)
    for line in lines:
        sizes = list(_SIZE.finditer(line))
        labels = [_LABEL.search(line[max(size.start() - 40, 0) : size.start()]) for size in sizes]
        if len(sizes) > 1 and all(labels):
            key = tuple(label[1] for label in labels if label)
            found[key].append([size[0] for size in sizes])
    labels_of, series = max(found.items(), key=lambda each: len(each[1]), default=((), []))
    if len(series) < MIN_LABELLED or len(set(labels_of)) < len(labels_of):
        return None
    columns = zip(labels_of, zip(*series, strict=True), strict=True)
    each = (text("{} {}", quoted(label), _series(sizes)) for label, sizes in columns)
    return text("{} of one form: {}", Count(len(series), "line"), joined("; ", each))


def _series(sizes: Sequence[bytes]) -> Text:
    """Return sizes in their order; of many, the first, the last and the largest."""
    if len(sizes) <= SHOWN:
        return joined(", ", map(quoted, sizes))
    most = max(sizes, key=bytes_of)
    said = text("from {} to {}", quoted(sizes[0]), quoted(sizes[-1]))
    return text("{}, at most {}", said, quoted(most)) if most != sizes[-1] else said
