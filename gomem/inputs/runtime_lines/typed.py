"""Readings that a person types or a loop prints: a time, and sizes that the line or its head names.

Named    18:03  RSS 42 MB, HeapAlloc 35.0 MB, HeapObjects 511373
         18:16:56  rss=7768  nlwp=20       in KiB below `ps -o rss=,nlwp= -p PID`
Bare     - 18:40:57: 8 MB                  below a line that says of what: `rss, by hand`
In cells 18:05:30   138   1.6MB   19MB     below `the columns are time, jobs, heap_alloc, rss`
Rows     of one shape are a series: three, or two whose sizes each have a name. Rows that say
         nothing but named quantities are one, whichever they name: a person leaves some out.
Lists    RSS: 500 MB                       a line for each name, without a time: one reading
         go_goroutines: 12000             a list; of several lists, the last one is the latest
Log      stats: 740 MiB RSS, 187 goroutines    see `logged_rows`
A size of an unknown unit is not read. Bullets, quote marks and brackets around the time do not
count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.processes.row import rounded_size
from gomem.inputs.runtime_lines.columns import LEVELS
from gomem.inputs.runtime_lines.logged_rows import readings_of_rows
from gomem.inputs.runtime_lines.parse import (
    ISO,
    TIME_OF_DAY,
    LoggedReading,
    in_time,
    parse_runtime_lines,
)
from gomem.inputs.runtime_lines.patterns import COUNTS
from gomem.inputs.runtime_lines.quantities import unit_of
from gomem.inputs.runtime_lines.structured import MIN_ROWS as MIN_STRUCTURED
from gomem.inputs.runtime_lines.structured import own_quantity_of, parse_structured
from gomem.inputs.runtime_lines.tables import lines_of_table
from gomem.sources.times import parse_time
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gomem.errors import Damage

HEAD_BYTES = 1 << 18
MAX_LINE = 400
MIN_ROWS, MIN_NAMED = 3, 2
BY_HAND = "the text"
_NAMES = b"names"  # the shape of rows that say nothing but named quantities
_TIME = (
    rb"(?P<time>(?:\d{4}[-/]\d\d[-/]\d\d[T ])?(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:Z| ?UTC)?)"
)
_ROW = re.compile(
    rb"[ \t>]*(?:[-*+\xe2\x80\xa2]{1,3}[ \t]+)?[\[(]?" + _TIME
    + rb"[\])]?(?::|[ \t]*[-=|,])?[ \t]+(?P<said>\S[^\n]*)"
)  # fmt: skip
_NUMBER = rb"\d{1,15}(?:\.\d{1,9})?(?: ?(?:[kKMGT]i?[bB]?|bytes|B)(?![\w/]))?"
_PAIR = re.compile(
    rb"(?<![\w.-])(?P<name>[A-Za-z][A-Za-z_.]{1,30})(?:[ \t]*[=:][ \t]*|[ \t]+(?:is |was )?)"
    rb"(?P<number>" + _NUMBER + rb")(?![\w%]|\.\d|[-:/]\d)"
)
_ITEM = re.compile(rb"[ \t>]*(?:[-*+\xe2\x80\xa2]{1,3}[ \t]+)?")
MAX_ITEM = 120
_BETWEEN = re.compile(rb"(?:[ \t,;|]|\band\b)*(?:\([^()]*\))?[ \t.\r]*")
_BARE = re.compile(rb"(?P<number>" + _NUMBER + rb")[ \t\r]*")
_CELL = re.compile(_NUMBER + rb"(?=[ \t|,;\r]|\Z)|[^\s|,;]+")
_PID = re.compile(rb"\bpid[=: ]{1,2}(\d+)")
_DIGITS = re.compile(rb"\d+(?:\.\d+)?")
_BY_PS = re.compile(rb"\bps +(?:-?\w+ +)*-?\w*o *[\w=,]*\brs[sz]\b")
_SAYS_RSS = re.compile(rb"(?<![A-Za-z])(?:[Vv]m)?(?:RSS|rss|Rss)(?![A-Za-z=])|\bresident memory\b")
_COLUMNS = re.compile(rb"\btime, ?(?:[\w -]{1,30}, ?)*[\w -]{1,30}")


@dataclass(frozen=True, slots=True)
class _Series:
    """Rows of one shape, with their lines from 0, and the line that says what they are."""

    rows: dict[int, re.Match[bytes]] = field(default_factory=dict)
    head: int | None = None


def looks_like_typed(data: bytes) -> bool:
    """Whether a text has a series of such readings."""
    return bool(_readings(data[:HEAD_BYTES])[0])


def parse_typed(data: bytes, *, source: str) -> tuple[list[LoggedReading], list[Damage]]:
    """Parse the readings of the first such series; FormatError if there is none."""
    readings, _ = _readings(data)
    if not readings:
        raise FormatError(source, "", "no series of lines with a time, and a known size")
    return in_time(readings), []


def lines_of_readings(data: bytes) -> set[int]:
    """Return the lines, from 1, of readings between lines of another kind, such as a GC log's."""
    for parse, least in ((parse_runtime_lines, 1), (parse_structured, MIN_STRUCTURED)):
        try:
            readings, _ = parse(data, source="")
        except FormatError:
            continue
        if len(readings) >= least:
            return {reading.line for reading in readings}
    return _readings(data[:HEAD_BYTES])[1] or lines_of_table(data)


def says_what(lines: Sequence[bytes], place: int) -> bool:
    """Whether a line says what the sizes of the readings below it are."""
    below = next((line for line in lines[place + 1 : place + 4] if line.strip()), b"")
    row = _ROW.fullmatch(below)
    return row is not None and _units_of([row], lines[place]) != _units_of([row], b"")


def _readings(data: bytes) -> tuple[list[LoggedReading], set[int]]:
    if b"\0" in data[:4096]:
        return [], set()
    lines = data.split(b"\n")
    forms = (_timed, _listed) if b":" in data else ()
    for readings, kept in (found(lines) for found in forms):
        if readings:
            return readings, kept
    rows = readings_of_rows(lines)
    return rows, {reading.line for reading in rows}


def _listed(lines: Sequence[bytes]) -> tuple[list[LoggedReading], set[int]]:
    """Return a reading for each list of two names or more; none if a name is there twice."""
    readings: list[LoggedReading] = []
    kept: set[int] = set()
    for is_item, group in groupby(enumerate(lines), lambda item: _is_item(item[1])):
        places, items = zip(*group, strict=True)
        said = b", ".join(map(_bare_item, items))
        pairs = [own_quantity_of(pair["name"].decode())[0] for pair in _PAIR.finditer(said)]
        is_list = is_item and len(pairs) >= MIN_NAMED and len(set(pairs)) == len(pairs)
        if not is_list or not _says_names_alone(said):
            continue
        values, steps = _sizes_of(said, _units_said(said), b"")
        if not LEVELS.isdisjoint(values):
            readings.append(LoggedReading(BY_HAND, places[0] + 1, None, values, steps))
            kept |= {place + 1 for place in places}
    return readings, kept


def _is_item(line: bytes) -> bool:
    """Whether a line is the name of a quantity with its number, and nothing else."""
    if len(line) > MAX_ITEM or (pair := _PAIR.fullmatch(_bare_item(line))) is None:
        return False
    is_of_status = pair["name"].startswith(b"Vm")
    return not is_of_status and own_quantity_of(pair["name"].decode())[0] not in {"", "time"}


def _bare_item(line: bytes) -> bytes:
    return _ITEM.sub(b"", line).strip(b"*`_ \t\r.,;").replace(b"**", b"").replace(b"`", b"")


def _timed(lines: Sequence[bytes]) -> tuple[list[LoggedReading], set[int]]:
    for series in _series(lines):
        head = b"" if series.head is None else lines[series.head]
        rows = list(series.rows.values())
        units = _units_of(rows, head)
        if (
            not units
            or not _are_of_one_process(rows)
            or len(rows) < (MIN_NAMED if _are_named(rows, units) else MIN_ROWS)
        ):
            continue
        read = (_reading(row, units, head, place + 1) for place, row in series.rows.items())
        readings = [reading for reading in read if reading is not None]
        if len({tuple(reading.values.items()) for reading in readings}) > 1 or len(readings) > 2:
            needs_head = series.head is not None and _units_of(rows, b"") != units
            kept = {series.head + 1} if needs_head and series.head is not None else set()
            return readings, kept | {reading.line for reading in readings}
    return [], set()


def _series(lines: Sequence[bytes]) -> Iterator[_Series]:
    """Yield rows by their shape, the most first; their head is the last other line above."""
    found: defaultdict[bytes, _Series] = defaultdict(_Series)
    above: int | None = None
    for place, line in enumerate(lines):
        row = _ROW.fullmatch(line.rstrip()) if len(line) <= MAX_LINE else None
        if row is None:
            above = place if line.strip() and not line.strip().startswith(b"```") else above
            continue
        shape = _NAMES if _says_names_alone(row["said"]) else _shape_of(row["said"])
        if shape not in found:
            found[shape] = _Series(head=above)
        found[shape].rows[place] = row
    yield from sorted(found.values(), key=lambda series: -len(series.rows))


def _shape_of(said: bytes) -> bytes:
    return b" ".join(_DIGITS.sub(b"0", said).split())


def _says_names_alone(said: bytes) -> bool:
    """Whether a row has named quantities, sizes with units among them, and no other word."""
    if not _BETWEEN.fullmatch(_PAIR.sub(b"", said)):
        return False
    pairs = [
        (own_quantity_of(pair["name"].decode())[0], pair["number"]) for pair in _PAIR.finditer(said)
    ]
    return all(quantity for quantity, _ in pairs) and any(
        quantity in LEVELS and not number.replace(b".", b"").isdigit() for quantity, number in pairs
    )


def _are_of_one_process(rows: Sequence[re.Match[bytes]]) -> bool:
    """Whether no two rows name different PIDs."""
    return len({pid[1] for row in rows if (pid := _PID.search(row["said"]))}) < MIN_NAMED


def _units_of(rows: Sequence[re.Match[bytes]], head: bytes) -> dict[str, int]:
    """Return the unit of a bare number of each quantity; empty if no size has a known one."""
    cells: defaultdict[str, list[bytes]] = defaultdict(list)
    named: dict[str, int | None] = {}
    for row in rows:
        for quantity, (number, unit) in _cells(row["said"], head).items():
            cells[quantity].append(number)
            named[quantity] = unit
    units = {}
    for quantity, numbers in cells.items():
        unit = named[quantity]
        if unit is None and quantity == "rss" and _BY_PS.search(head):
            unit = KIB
        has_own = not any(number.replace(b".", b"").isdigit() for number in numbers)
        judged = unit or (1 if has_own else unit_of(quantity, numbers))
        if judged is not None:
            units[quantity] = judged
    return {} if LEVELS.isdisjoint(units) else units


def _units_said(said: bytes) -> dict[str, int]:
    """Return the unit of each quantity whose number or name has one."""
    return {
        quantity: unit or 1
        for quantity, (number, unit) in _named(said).items()
        if unit or not number.replace(b".", b"").isdigit()
    }


def _are_named(rows: Sequence[re.Match[bytes]], units: Mapping[str, int]) -> bool:
    """Whether each row says named quantities alone, or two or more, of which one is a size."""
    if all(_says_names_alone(row["said"]) for row in rows):
        return True
    return len(units) > 1 and all(len(_named(row["said"])) > 1 for row in rows)


def _cells(said: bytes, head: bytes) -> dict[str, tuple[bytes, int | None]]:
    """Return the number of each quantity in a row, and the unit in its name."""
    if named := _named(said):
        return named
    if (bare := _BARE.fullmatch(said)) is not None:
        return {"rss": (bare["number"], None)} if _SAYS_RSS.search(head) else {}
    columns = _COLUMNS.search(head)
    if columns is None:
        return {}
    names = [name.strip().decode() for name in columns[0].split(b",")][1:]
    cells = _CELL.findall(said)
    if len(names) != len(cells):
        return {}
    found = ((own_quantity_of(name), cell) for name, cell in zip(names, cells, strict=True))
    return {quantity: (cell, unit) for (quantity, unit), cell in found if quantity}


def _named(said: bytes) -> dict[str, tuple[bytes, int | None]]:
    """Return the numbers behind names of quantities in a line; the first of each."""
    found: dict[str, tuple[bytes, int | None]] = {}
    for pair in _PAIR.finditer(said):
        quantity, unit = own_quantity_of(pair["name"].decode())
        if quantity and quantity != "time":
            found.setdefault(quantity, (pair["number"], unit))
    return found


def _reading(
    row: re.Match[bytes], units: Mapping[str, int], head: bytes, line: int
) -> LoggedReading | None:
    """Return the known sizes of a row with its time; None without a size."""
    values, steps = _sizes_of(row["said"], units, head)
    if LEVELS.isdisjoint(values):
        return None
    dated = ISO.match(row["time"])
    at = None if dated is None else parse_time("{}-{}-{}T{}Z".format(*_ascii(dated)))
    of_day = TIME_OF_DAY.match(row["time"]) if at is None else None
    clock = ":".join(f"{int(part or 0):02}" for part in of_day.groups()) if of_day else ""
    return LoggedReading(BY_HAND, line, at, values, steps, clock)


def _sizes_of(
    said: bytes, units: Mapping[str, int], head: bytes
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers of the quantities with a known unit, and the resolution of each size."""
    values: dict[str, int] = {}
    steps: dict[str, int] = {}
    for quantity, (number, _) in _cells(said, head).items():
        if quantity in COUNTS:
            values |= {quantity: int(number)} if number.isdigit() else {}
        elif quantity in units and (size := rounded_size(number, bare=units[quantity])):
            values[quantity], steps[quantity] = size.bytes, size.step_bytes
    return values, steps


def _ascii(dated: re.Match[bytes]) -> tuple[str, ...]:
    return tuple(part.decode("ascii") for part in dated.group(1, 2, 3, 4))
