"""Sizes in rows and lines of unknown origin: no known tool prints them so. gomem only lists them.

Rows          api:api   4711   0.4%   24.0MB (0.1%)   of a program's own table of processes
Times         12s:0.0860825 Gi             what a shell loop around one size prints
Labels        Memory: 670 samples, avg is 583.0MB, max is 1429.6MB   the same words in several lines
Only the words next to a size say what it measures.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import bytes_of
from gomem.inputs.resemblance import quoted
from gomem.inputs.size_tables import SIZE
from gomem.text import Count, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MIN_ROWS = 4
MIN_LABELLED = 3
NAMED = 4  # rows of a list
SHOWN = 6  # sizes of a series; of more, the first, the last and the largest
_SIZE = re.compile(rb"(?<![\w.,-])(?<![eE]\+)" + SIZE)
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
    looks = (_own_table, _timed, _labelled)
    what = next(filter(None, (look(lines) for look in looks)), None)
    of = Text(", of a cgroup's usage") * (_CGROUP_FILE.search(head) is not None)
    return Text() if what is None else text("it has {}{}", what, of)


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
