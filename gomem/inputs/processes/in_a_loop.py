"""Rows of `ps -o pid=,rss=,vsz=,args=` that a script prints again and again, behind a time.

Printed by    while sleep 2; do echo "$(date +%T) $(ps -o pid=,rss=,vsz=,args= -p PID)"; done
              07:44:43  7756  7904 1529132 /usr/bin/api
              or below a line with the time, as date prints it; etime can stand before the command
Quirks        Nothing names the columns. Two sizes, of which one is never below the other, are RSS
              and VSZ; ps counts both in KiB, so whole pages are multiples of 4. The PID is the
              number that all rows share. A size alone is not read: it can be either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.dates import clock_of, is_date
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
    rb"(?:(?:\d{1,4}-)?(?:\d\d:)?\d\d:\d\d[ \t]++)?(?P<args>[^\d\s\n][^\n]*)"
)
_HEADER = re.compile(
    rb"\s*(?=[^\n]*\bRSS\b)[A-Z%]+(?:\s+[A-Z%]+)*\s*"
)  # of a process that has ended
PS = "ps"


def rows_of_a_loop(data: bytes) -> tuple[ProcessRow, ...]:
    """Return the rows; empty if a line has another form, or if the columns are not certain."""
    found = _rows(data) or []
    if len(found) < MIN_ROWS or len({row["pid"] for _, row, _ in found}) > 1:
        return ()
    if len({(row["clock"] is None, not above) for _, row, above in found}) > 1:
        return ()
    sizes = [(int(row["a"]), int(row["b"])) for _, row, _ in found]
    rss = _resident(sizes)
    if rss is None:
        return ()
    rows = []
    for reading, ((number, row, above), pair) in enumerate(zip(found, sizes, strict=True)):
        time, of_day = _time(row), (row["clock"] or b"").decode()
        if not of_day:
            time, of_day = clock_of(above)
        rows.append(
            ProcessRow(
                PS,
                row["args"].decode("utf-8", "backslashreplace"),
                pid=int(row["pid"]),
                rss=Rounded(pair[rss] * KIB, KIB),
                mapped_bytes=pair[1 - rss] * KIB,
                time=time,
                time_of_day="" if time else of_day,
                reading=reading,
                line=number,
            )
        )
    return tuple(rows)


def _rows(data: bytes) -> list[tuple[int, re.Match[bytes], bytes]] | None:
    """Return each row with its line and the time above it; None if a line has another form."""
    lines = [(n, line.strip()) for n, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if len(lines) > MIN_ROWS and not data.endswith(b"\n"):
        lines.pop()  # it can be cut
    found: list[tuple[int, re.Match[bytes], bytes]] = []
    above = b""
    for number, line in lines:
        row = _ROW.fullmatch(line)
        if row is not None:
            found.append((number, row, above))
        elif is_date(line):
            above = line
        elif _HEADER.fullmatch(line) is None:
            return None
    return found


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
