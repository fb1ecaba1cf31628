"""Log lines that say several quantities, each by a number and its name, in either order.

Behind    I160502 13:06:31.194373 stats: 740 MiB RSS, 187 goroutines, 320 MiB alloc, 0.00 %gc
Before    mem: RSS: 740 MiB, HeapAlloc: 320 MiB, goroutines: 187
Rows are a series if two or more name the same quantities, of which two are known and one is a level
of memory. A size needs its unit. Other words and numbers do not count, and no time is needed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from gomem.inputs.memstats.logged_at import clock_at_start, time_beside
from gomem.inputs.processes.row import rounded_size
from gomem.inputs.runtime_lines.columns import LEVELS
from gomem.inputs.runtime_lines.parse import LoggedReading
from gomem.inputs.runtime_lines.patterns import COUNTS
from gomem.inputs.runtime_lines.structured import OWN_WORDS, own_quantity_of

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_ROWS = MIN_NAMED = 2
MAX_LINE = 1000
_NUMBER = rb"\d{1,15}(?:\.\d{1,9})?(?: ?[kKMGT]i?B)?"
_NAME = rb"[A-Za-z][A-Za-z_.]{1,30}(?: [A-Za-z][A-Za-z_.]{1,20}){0,2}"
_END = rb"(?=[ \t\r]*(?:[,;|)]|\Z))"
_FORMS = (
    re.compile(rb"(?<![\w.,:/+-])(?P<number>" + _NUMBER + rb") (?P<name>" + _NAME + rb")" + _END),
    re.compile(
        rb"(?<![\w.-])(?P<name>" + _NAME + rb")(?: ?[:=] ?| )(?P<number>" + _NUMBER + rb")" + _END
    ),
)


def readings_of_rows(lines: Sequence[bytes]) -> list[LoggedReading]:
    """Return the readings of the rows that name the same quantities, the most; empty if one."""
    found: defaultdict[frozenset[str], list[LoggedReading]] = defaultdict(list)
    for number, line in enumerate(lines, start=1):
        if len(line) <= MAX_LINE and (reading := _reading(line, number)) is not None:
            found[frozenset(reading.values)].append(reading)
    rows = max(found.values(), key=len, default=[])
    return rows if len(rows) >= MIN_ROWS else []


def _reading(line: bytes, number: int) -> LoggedReading | None:
    """The known quantities of a line; None if they are too few, or no size is a level."""
    values, steps = max((_values(line, form) for form in _FORMS), key=lambda found: len(found[0]))
    if len(values) < MIN_NAMED or LEVELS.isdisjoint(values):
        return None
    time, _ = time_beside(line, 0, len(line), len(line))
    clock = "" if time else clock_at_start(line)
    return LoggedReading(OWN_WORDS, number, time, values, steps, clock)


def _values(line: bytes, form: re.Pattern[bytes]) -> tuple[dict[str, int], dict[str, int]]:
    """The numbers of a line by quantity, the first of each, and the resolution of each size."""
    values: dict[str, int] = {}
    steps: dict[str, int] = {}
    for pair in form.finditer(line):
        quantity, _ = own_quantity_of(pair["name"].decode())
        number = pair["number"]
        if not quantity or quantity == "time" or quantity in values:
            continue
        if quantity in COUNTS:
            values |= {quantity: int(number)} if number.isdigit() else {}
        elif not number[-1:].isdigit() and (size := rounded_size(number)):
            values[quantity], steps[quantity] = size.bytes, size.step_bytes
    return values, steps
