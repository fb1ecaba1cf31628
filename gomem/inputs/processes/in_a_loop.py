"""Rows of `ps -o pid=,rss=,vsz=,args=` that a script prints again and again, behind a time.

Printed by    while sleep 2; do echo "$(date +%T) $(ps -o pid=,rss=,vsz=,args= -p PID)"; done
              07:44:43  7756  7904 1529132 /usr/bin/api
Quirks        Nothing names the columns. Two sizes, of which one is never below the other, are RSS
              and VSZ; ps counts both in KiB, so whole pages are multiples of 4. The PID is the
              number that all rows share. A size alone is not read: it can be either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import ProcessRow, Rounded
from gomem.sources.times import parse_time
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

MIN_ROWS = 3
PAGE_KIB = 4
LEAST_RESERVED = 100 << 10  # KiB; a Go program reserves more address space
_ROW = re.compile(
    rb"[ \t]*+(?:(?P<date>\d{4}[-/]\d\d[-/]\d\d)[T \t]+)?"
    rb"(?:\[?(?P<clock>\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]++)?"
    rb"(?P<pid>\d{1,10})[ \t]++(?P<a>\d{1,12})[ \t]++(?P<b>\d{1,12})[ \t]++"
    rb"(?P<args>[^\d\s\n][^\n]*)"
)
PS = "ps"


def rows_of_a_loop(data: bytes) -> tuple[ProcessRow, ...]:
    """Return the rows; empty if a line has another form, or if the columns are not certain."""
    lines = [(n, line.strip()) for n, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if len(lines) > MIN_ROWS and not data.endswith(b"\n"):
        lines.pop()  # it can be cut
    found = []
    for number, line in lines:
        row = _ROW.fullmatch(line)
        if row is None:
            return ()
        found.append((number, row))
    if len(found) < MIN_ROWS or len({row["pid"] for _, row in found}) > 1:
        return ()
    if len({row["clock"] is None for _, row in found}) > 1:
        return ()
    sizes = [(int(row["a"]), int(row["b"])) for _, row in found]
    rss = _resident(sizes)
    if rss is None:
        return ()
    rows = []
    for reading, ((number, row), pair) in enumerate(zip(found, sizes, strict=True)):
        at = _time(row)
        rows.append(
            ProcessRow(
                PS,
                row["args"].decode("utf-8", "backslashreplace"),
                pid=int(row["pid"]),
                rss=Rounded(pair[rss] * KIB, KIB),
                mapped_bytes=pair[1 - rss] * KIB,
                time=at,
                time_of_day="" if at or not row["clock"] else row["clock"].decode(),
                reading=reading,
                line=number,
            )
        )
    return tuple(rows)


def _resident(sizes: Sequence[tuple[int, int]]) -> int | None:
    """Which of the two sizes is RSS; None if they are not RSS and VSZ in KiB."""
    if any(size % PAGE_KIB for pair in sizes for size in pair):
        return None
    for rss in (0, 1):
        if all(pair[rss] < pair[1 - rss] and pair[1 - rss] >= LEAST_RESERVED for pair in sizes):
            return rss
    return None


def _time(row: re.Match[bytes]) -> datetime | None:
    """The date and time of a row, in UTC; None if it has no date."""
    if row["date"] is None or row["clock"] is None:
        return None
    date = row["date"].replace(b"/", b"-").decode()
    return parse_time(f"{date}T{row['clock'].decode()}Z")
