r"""Structured logs: lines with an object in JSON, or with pairs `key=value`, that have a size.

JSON     {"time":"2026-11-20T09:00:00Z","msg":"mem","rss_mb":196.4,"goroutines":5}
         {"ts":1795755239.5,"mem":{"alloc":12345678,"sys":33345678}}
Pairs    time=2026-11-20T09:00:00Z level=INFO msg=stats rss_mb=196.4 goroutines=5
         2026/11/20 09:00:00 stats: rss_mb=196.4 goroutines=5
Keys     Their meaning and unit are those of columns, see `quantities`. Rows have a time.
         If rows name several processes, they are no series, and are not read.
Three fields of MemStats in a row are read with all others, see `memstats.in_words`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gomem.errors import FormatError
from gomem.inputs.json_text import DECODER
from gomem.inputs.runtime_lines.columns import LEVELS
from gomem.inputs.runtime_lines.parse import (
    ISO,
    LoggedReading,
    in_time,
    reading_of,
)
from gomem.inputs.runtime_lines.patterns import COUNTS, Pattern
from gomem.inputs.runtime_lines.quantities import SAMPLE_ROWS, quantity_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gomem.errors import Damage

HEAD_BYTES = 1 << 20
MIN_ROWS = 2
MAX_LINE = 1 << 14
MAX_NAMED = 200  # different keys
OWN_WORDS = "the program"
# One of these is enough; others, which are anybody's words, have another one beside them.
_GOS_OWN = frozenset({"rss", "go_heap_inuse", "go_heap_sys"})
_ANYBODYS = frozenset({"res", "res_bytes", "res_kb", "res_mb"})  # also of a response
_PROCESS_KEYS = frozenset(
    {"pid", "pod", "container", "container_id", "instance", "host", "hostname", "process"}
)
_MAY_HAVE_SIZE = re.compile(rb"(?i)rss|resident|alloc|heap|sys")
_PAIR = re.compile(rb"(?<![^\s,;({\[|])([A-Za-z][\w.-]{0,60})=(\"[^\"\n]{0,200}\"|[^\s,;\"]+)")
_ON_MEMORY = re.compile(r"(?i)rss|resident|alloc|heap|mem|stack|released|(?:_|\b)[kmg]i?b\b|bytes")
_IS_SIZE = re.compile(rb"\d{1,15}(?:\.\d{1,9})?(?: ?[KMGT]i?B)?")


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    before: bytes  # the text before its first pair; empty in JSON
    values: dict[str, bytes] = field(default_factory=dict)


def looks_like_structured(data: bytes) -> bool:
    """Whether rows of a structured log have a time, and a size of a known unit."""
    try:
        readings, _ = parse_structured(data[:HEAD_BYTES], source="")
    except FormatError:
        return False
    return len(readings) >= MIN_ROWS


def parse_structured(data: bytes, *, source: str) -> tuple[list[LoggedReading], list[Damage]]:
    """Parse the rows of a log that have a size; FormatError if there are none."""
    rows = [row for row in _rows(data) if not LEVELS.isdisjoint(_quantities(row))]
    units = _units(rows) if _is_of_one_process(rows) else {}
    readings = [found for row in rows if (found := _reading(row, units)) is not None]
    if not readings:
        raise FormatError(source, "", "no row of a structured log has a time, and a known size")
    return in_time(readings), []


def unread_sizes(data: bytes) -> list[str]:
    """Return the keys that look like a size of memory, and are of no known quantity and unit."""
    rows = list(_rows(data[:HEAD_BYTES]))
    known = _units(rows)
    names = dict.fromkeys(name for row in rows for name in row.values)
    return [
        name
        for name in names
        if _ON_MEMORY.search(name)
        and (own_quantity_of(name)[0] not in known or own_quantity_of(name)[0] not in LEVELS)
        and all(_IS_SIZE.fullmatch(row.values[name]) for row in rows if name in row.values)
    ]


def _rows(data: bytes) -> Iterator[_Row]:
    """Yield the rows that can have a size."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        if len(line) > MAX_LINE or _MAY_HAVE_SIZE.search(line) is None:
            continue
        if line.lstrip()[:1] == b"{":
            if values := _in_json(line):
                yield _Row(number, b"", values)
            continue
        pairs = list(_PAIR.finditer(line))
        if pairs:
            values = {pair[1].decode(): pair[2].strip(b'"') for pair in reversed(pairs)}
            yield _Row(number, line[: pairs[0].start()], values)


def _in_json(line: bytes) -> dict[str, bytes]:
    """Return the values of an object, and of objects in it, as texts."""
    try:
        value = DECODER.decode(line.decode("utf-8", "replace").strip())
    except (json.JSONDecodeError, RecursionError):
        return {}
    own: dict[str, Any] = value if isinstance(value, dict) else {}
    inner = [inside for inside in own.values() if isinstance(inside, dict)]
    found = {str(name): said for each in (*inner, own) for name, said in each.items()}
    return {
        name: str(said).encode()
        for name, said in found.items()
        if isinstance(said, str | int | float) and not isinstance(said, bool)
    }


@lru_cache(maxsize=1024)
def own_quantity_of(name: str) -> tuple[str, int | None]:
    """Return the quantity and unit of a key, as those of a column, but for words of anybody."""
    return ("", None) if name.lower() in _ANYBODYS else quantity_of(name)


def _quantities(row: _Row) -> dict[str, str]:
    """Return the first key of each quantity in a row."""
    found: dict[str, str] = {}
    for name in row.values:
        quantity, _ = own_quantity_of(name)
        if quantity:
            found.setdefault(quantity, name)
    return found


def _is_of_one_process(rows: list[_Row]) -> bool:
    named: defaultdict[str, set[bytes]] = defaultdict(set)
    for row in rows:
        for name in _PROCESS_KEYS & row.values.keys():
            named[name].add(row.values[name])
    return all(len(values) == 1 for values in named.values())


def _units(rows: list[_Row]) -> dict[str, tuple[str, int]]:
    """Return the unit of each quantity, as a pattern has it; without those of unknown units."""
    cells: defaultdict[tuple[str, int | None], list[bytes]] = defaultdict(list)
    for row in rows[:SAMPLE_ROWS]:
        for quantity, name in _quantities(row).items():
            cells[quantity, own_quantity_of(name)[1]].append(row.values[name])
    units = {}
    for (quantity, unit), values in cells.items():
        judged = unit_of(quantity, values) if unit is None else unit
        has_two = any(other != unit for kind, other in cells if kind == quantity)
        if quantity == "time" or (judged is not None and not has_two):
            units[quantity] = (quantity, 1 if judged is None else judged)
    sizes = units.keys() - {"time"}
    is_enough = bool(_GOS_OWN & sizes) or len(sizes) > 1
    return units if is_enough and sizes - set(COUNTS) else {}


def _reading(row: _Row, units: Mapping[str, tuple[str, int]]) -> LoggedReading | None:
    """Return the sizes of a row with its time; None without one of both."""
    named = _quantities(row)
    cells: dict[str, bytes | None] = {
        quantity: row.values[named[quantity]] if quantity in named else None for quantity in units
    }
    if cells.get("time") is None and (stamp := ISO.search(row.before)) is not None:
        cells["time"] = stamp[0]
    pattern = Pattern(OWN_WORDS, _PAIR, b"", {**units, "time": ("time", 1)})
    read = reading_of({"time": None, **cells}, pattern, row.line)
    is_level = read is not None and not LEVELS.isdisjoint(read.values)
    return read if read is not None and is_level and read.time is not None else None
