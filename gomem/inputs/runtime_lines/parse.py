"""Log lines in which a program reports its memory, mixed with any other lines.

Printed by    programs, each in its own form: see `patterns.toml`, which users can extend.
Quirks        Sizes are rounded to two digits, as in `8.6 MiB`; some have whole MiB only.
              If a program logs one quantity per line, lines with the same time form one reading.
              A script writes a table, see `columns`.
              Log viewers show the newest line first, so readings are sorted by time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.processes.dates import time_of
from gomem.inputs.processes.row import rounded_size
from gomem.inputs.runtime_lines.columns import TABLES, pattern_of_columns
from gomem.inputs.runtime_lines.day_first import with_iso_dates
from gomem.inputs.runtime_lines.folded import folded
from gomem.inputs.runtime_lines.patterns import COUNTS, USER, patterns
from gomem.inputs.runtime_lines.quantities import NO_BREAK
from gomem.inputs.runtime_lines.tables import table_in
from gomem.sources.times import parse_time, time_of_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.errors import Damage
    from gomem.inputs.runtime_lines.patterns import Pattern

HEAD_BYTES = 1 << 20  # searched for the first such line
MAX_LINE = 1 << 14
MAX_TRIED = 200  # lines tried that contain a pattern's text
# CockroachDB's time
SHORT = re.compile(rb"[IWEFD]?(\d\d)(\d\d)(\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?)")
ISO = re.compile(
    rb"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?"
    rb" ?(Z|[+-]\d\d:?\d\d|UTC)?"
)
UNIX = re.compile(rb"(?<!\d)(\d{10})(?:\.?(\d{1,9}))?(?!\d)")  # 1795754239123 is in ms
# In tables: a date and a time in two cells, or without seconds; a time of day.
BETWEEN = re.compile(rb"[\s,;|\"]+")
MINUTES = re.compile(rb"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d) ?(?:Z|UTC)?")
TIME_OF_DAY = re.compile(rb"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d{1,9})?)?")
BY_A_SCRIPT = "a script that reads /proc"  # in `patterns.toml`; its time can be one of the day
BY_1000 = re.compile(rb"([KMGTkmgt])([Bb])(?![A-Za-z])")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LoggedReading:
    """Values that a program logged at one time: bytes, and counts."""

    program: str
    line: int
    time: datetime | None = None
    values: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)  # resolution of each size
    time_of_day: str = ""  # if only that is known


def looks_like_runtime_lines(data: bytes) -> bool:
    """Whether one of the first lines is one in which a program logs its memory."""
    head = folded(data[:HEAD_BYTES])
    if (table := pattern_of_columns(head)) is not None:
        return any(_read(line, table, 0) for line in head.split(b"\n", MAX_TRIED)[1:MAX_TRIED])
    near = [pattern for pattern in patterns() if pattern.contains in head]
    return any(
        _read(line, pattern, 0) is not None
        for pattern in near
        for line in (
            head.split(b"\n") if pattern.name == USER else _lines_with(head, pattern.contains)
        )
    )


def _lines_with(head: bytes, text: bytes) -> list[bytes]:
    """Return the first lines that contain a text."""
    lines: list[bytes] = []
    at = head.find(text)
    while at >= 0 and len(lines) < MAX_TRIED:
        end = head.find(b"\n", at)
        end = len(head) if end < 0 else end
        lines.append(head[head.rfind(b"\n", 0, at) + 1 : end])
        at = head.find(text, end)
    return lines


def parse_runtime_lines(data: bytes, *, source: str) -> tuple[list[LoggedReading], list[Damage]]:
    """Parse a log; other lines are skipped, and are not damage.

    Raises FormatError if no line has one of the forms.
    """
    readings: list[LoggedReading] = []
    table = pattern_of_columns(data)
    data = folded(data) if table is None else with_iso_dates(data)
    known = [pattern for pattern in patterns() if pattern.contains in data]
    known = [*known, table] if table else known
    for number, line in enumerate(data.split(b"\n"), start=1):
        for pattern in known:
            if pattern.contains in line and (found := _read(line, pattern, number)) is not None:
                _add(readings, found)
                break
    if not readings:
        raise FormatError(source, "", "no line has memory figures; --pattern names a form")
    return in_time(readings), []


def parse_table(data: bytes, *, source: str) -> tuple[list[LoggedReading], list[Damage]]:
    """Parse the first table over time, see `tables`; FormatError if there is none."""
    data = with_iso_dates(data)
    table = table_in(data)
    rows = [] if table is None else data.split(b"\n")[table.start : table.stop]
    read = (
        _read(line, table.pattern, table.start + place)
        for place, line in enumerate(rows, start=1)
        if table is not None
    )
    readings = [reading for reading in read if reading is not None]
    if not readings:
        raise FormatError(source, "", "no table names a time, and a size with its unit")
    return in_time(readings), []


def _read(line: bytes, pattern: Pattern, number: int) -> LoggedReading | None:
    """Parse a line; None if it does not have the form, or has no number."""
    found = pattern.regex.search(line[:MAX_LINE])
    return None if found is None else reading_of(found.groupdict(), pattern, number)


def reading_of(
    found: Mapping[str, bytes | None], pattern: Pattern, number: int
) -> LoggedReading | None:
    """Return the values in the groups of a line; None if none is a number."""
    time = _time(found, pattern)
    of_day = _time_of_day(found, pattern) if time is None else ""
    reading = LoggedReading(pattern.name, number, time, time_of_day=of_day)
    for quantity, (group, unit) in pattern.units.items():
        cell = None if quantity == "time" else found[group]
        if cell is None:
            continue
        text = cell.replace(NO_BREAK, b" ")
        text = BY_1000.sub(rb"\1i\2", text) if pattern.is_by_1024 else text
        if quantity in COUNTS:
            if text.strip().isdigit() and len(text) < 19:
                reading.values[quantity] = int(text)
        elif (size := rounded_size(text, bare=unit)) is not None:
            reading.values[quantity], reading.steps[quantity] = size.bytes, size.step_bytes
    return reading if reading.values else None


def _add(readings: list[LoggedReading], reading: LoggedReading) -> None:
    """Append a reading, or join it to the last if a program logs one value per line at one time."""
    last = readings[-1] if readings else None
    if (
        last is not None
        and reading.time is not None
        and (last.time, last.program) == (reading.time, reading.program)
        and last.values.keys().isdisjoint(reading.values)
    ):
        last.values.update(reading.values)
        last.steps.update(reading.steps)
    else:
        readings.append(reading)


def in_time(readings: Sequence[LoggedReading]) -> list[LoggedReading]:
    """Sort readings by time, if all have one."""
    times = [reading.time for reading in readings]
    if None in times:
        return list(readings)
    return sorted(readings, key=lambda reading: reading.time or EPOCH)


def _time(found: Mapping[str, bytes | None], pattern: Pattern) -> datetime | None:
    """Return when the line was logged, in UTC if it has no zone; None if unknown."""
    group = pattern.units.get("time")
    text = None if group is None else found[group[0]]
    if text is None:
        return None
    if pattern.name in TABLES:
        text = BETWEEN.sub(b" ", text.strip())
        if minutes := MINUTES.fullmatch(text):
            year, month, day, clock = (part.decode("ascii") for part in minutes.groups())
            return parse_time(f"{year}-{month}-{day}T{clock}:00Z")
    if short := SHORT.fullmatch(text.strip()):
        year, month, day, clock = (part.decode("ascii") for part in short.groups())
        return parse_time(f"20{year}-{month}-{day}T{clock}Z")
    if iso := ISO.search(text):
        year, month, day, clock, fraction, zone = (
            (part or b"").decode("ascii") for part in iso.groups()
        )
        after = f".{fraction}" if fraction else ""
        named = "Z" if zone in {"", "UTC"} else zone
        return parse_time(f"{year}-{month}-{day}T{clock}{after}{named}")
    if unix := UNIX.search(text):
        return time_of_seconds(float(f"{unix[1].decode()}.{(unix[2] or b'0').decode()}"))
    return time_of(text)


def _time_of_day(found: Mapping[str, bytes | None], pattern: Pattern) -> str:
    """Return when a row was written, if it has only the time of day; else empty."""
    is_table = pattern.name in TABLES or pattern.name == BY_A_SCRIPT
    group = pattern.units.get("time") if is_table else None
    of_day = None if group is None else TIME_OF_DAY.fullmatch((found[group[0]] or b"").strip())
    if of_day is None:
        return ""
    hour, minute, second = (int(part or 0) for part in of_day.groups())
    return f"{hour:02}:{minute:02}:{second:02}"
