"""Columns of bare numbers about memory over time: Grafana's CSV, and `ps -o rss=` in a loop.

Grafana       "Time","api-0","api-1"   and rows   2026-11-20 09:00:00,412876800,398458880
              The unit is the panel's; the header often has the query or the pod alone.
ps            ps -o rss= -p PID   in a loop, above lines with one number: kB
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Count, Quoted, joined, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MIN_ROWS = 3
NAMED = 3  # series
_HEAD = re.compile(rb"^[ \t>]*\"Time\"[,;]\"?[^\n]{1,4000}$", re.MULTILINE)
_ROW = re.compile(rb"[ \t>]*\"?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\n]*")
_LOOP = re.compile(
    rb"\bps +(?:-?\w+ +){0,6}?-?\w*o *(?:rss|rssize|rsz)=?[^\n]{0,200}\n"
    rb"(?:[ \t`>]*\n){0,3}(?:```[^\n]*\n)?(?P<sizes>(?:[ \t>]*\d{1,12}[ \t]*\r?\n)+)"
)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?( ?[KMGT]i?B)?")
_ON_MEMORY = re.compile(rb"(?i)mem|\brss\b|heap|alloc|working_set|bytes|\d [KMGT]i?B\b")
_ASK_PAGE = (
    "a size over time does not say what holds it; gomem reads the page that is scraped: "
    "curl -s http://HOST:PORT/metrics > metrics.prom"
)
_ASK_SMAPS = "cat /proc/PID/smaps > smaps says what is in it"


def exported_by_grafana(head: bytes, _: str) -> Resemblance | None:
    """Describe the series of a panel of Grafana: first and last value of each."""
    begun = _HEAD.search(head)
    if begun is None:
        return None
    names, *rows = _cells(head[begun.start() :])
    if len(rows) < MIN_ROWS:
        return None
    moved = [
        text("{} from {} to {}", Quoted(name), Quoted(values[0]), Quoted(values[-1]))
        for name, values in _columns(names, rows)
    ]
    if not moved:
        return None
    more = f", and {len(moved) - NAMED} more" * (len(moved) > NAMED)
    is_on_memory = _ON_MEMORY.search(head) is not None
    words = "a table over time, as Grafana exports it, of {}: {}{}"
    what = text(words, Count(len(rows), "row"), joined(", ", moved[:NAMED]), more)
    return Resemblance(what, _ASK_PAGE, is_evidence=is_on_memory)


def loop_of_ps(head: bytes, _: str) -> Resemblance | None:
    """Describe the numbers that `ps -o rss=` printed again and again."""
    found = _LOOP.search(head)
    sizes = [] if found is None else [int(size) * KIB for size in found["sizes"].split()]
    if len(sizes) < MIN_ROWS:
        return None
    words = "{} of ps -o rss=: RSS from {} to {}, at most {}"
    ends = (Bytes(sizes[0]), Bytes(sizes[-1]), Bytes(max(sizes)))
    what = text(words, Count(len(sizes), "number"), *ends)
    return Resemblance(what, _ASK_SMAPS, is_evidence=True)


def _cells(table: bytes) -> list[list[str]]:
    """Return the header, and the rows that begin with a time, up to the first other line."""
    head, *below = table.decode("utf-8", "replace").replace("\r", " ").split("\n")
    kept = [head]
    for line in below:
        if _ROW.fullmatch(line.encode()) is None:
            break
        kept.append(line)
    separator = "," if "," in head else ";"
    return list(csv.reader((line.strip().lstrip("> ") for line in kept), delimiter=separator))


def _columns(
    names: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[tuple[str, list[str]]]:
    """Yield name and values of each column of numbers."""
    for place, name in enumerate(names[1:], start=1):
        values = [row[place] for row in rows if len(row) > place]
        values = [value for value in values if _NUMBER.fullmatch(value)]
        if len(values) >= MIN_ROWS:
            yield name, values
