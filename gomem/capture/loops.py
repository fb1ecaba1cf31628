"""Files of a loop that prints one or two files again and again: a reading at each time.

    while sleep 5; do date; cat /proc/PID/smaps_rollup; done > rollup.log

A reading begins at a line that is only a time, or, without such lines, where the file's first line
comes again, with other numbers. What stands between must be of a kind that gomem reads alone. Of
/proc/PID/status below a rollup, or its lines that grep found, each is a file of the reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gomem.inputs.kinds import MOMENT_SCOPE, kind_of
from gomem.inputs.processes.dates import is_date, time_of, time_of_day
from gomem.sources.artefact import Source, SourcePart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

HEAD_BYTES = 1 << 12  # searched for a byte that no text has
HEAD_LINES = 400  # within which the second reading of a file in text begins
MAX_READINGS = 10_000
# Kinds that a loop prints without anything in between: their readers would take the first.
BARE = frozenset({"status", "smaps_rollup", "statm"})
_AROUND_A_TIME = b"=-#*+<>[] \t\r"
_NUMBERS = re.compile(rb"[0-9a-f]*[0-9][0-9a-f]*")
# A line of status has a tab after its colon; smaps has blanks.
_STATUS_LINE = re.compile(rb"\w+:\t")


@dataclass(frozen=True)
class LoopPart(SourcePart):
    """A part of a loop's output."""

    time: datetime | None = None  # printed above it
    time_of_day: str = ""  # the same if only that is known


def loop_parts(source: Source) -> list[Source]:
    """Take the output of a loop apart; empty if it is something else."""
    if not _may_repeat(source.data):  # before a question that is asked of each file again
        return []
    kind = kind_of(source.data, source.name)
    if kind is not None and kind.name not in BARE:
        return []
    lines = source.data.split(b"\n")
    starts = _starts(lines)
    if not 1 < len(starts) <= MAX_READINGS:
        return []
    parts: list[Source] = []
    for start, stop in pairwise([*starts, len(lines)]):
        at = _time_in(lines[start])
        is_dated = is_date(at)
        time = time_of(at) if is_dated else None
        of_day = time_of_day(at) if is_dated and time is None else ""
        pieces = [*_pieces(lines, start + is_dated, stop)]
        known = [piece for piece in pieces if _is_read(piece[1], source.name)]
        if not known:
            return []
        parts += [
            LoopPart(
                f"{source.name}:{number}", data, data, source.modified,
                first_line=number, time=time, time_of_day=of_day,
            )
            for number, data in known
        ]  # fmt: skip
    return parts


def _may_repeat(data: bytes) -> bool:
    """Whether a text begins like the output of a loop: with a time, or with a line that repeats."""
    head = data.lstrip(b"\r\n")
    if b"\0" in head[:HEAD_BYTES]:
        return False
    lines = head.split(b"\n", HEAD_LINES)[:HEAD_LINES]
    starts = _starts(lines)
    return len(starts) > 1 or (bool(starts) and is_date(_time_in(lines[starts[0]])))


def _starts(lines: Sequence[bytes]) -> list[int]:
    """The lines at which readings begin; empty if the file does not begin with one."""
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return []
    if is_date(_time_in(lines[first])):
        return [number for number, line in enumerate(lines) if is_date(_time_in(line))]
    shape = _NUMBERS.sub(b"0", lines[first])
    return [
        number
        for number, line in enumerate(lines)
        if (line[:1] == shape[:1] or shape[:1] == b"0") and _NUMBERS.sub(b"0", line) == shape
    ]


def _time_in(line: bytes) -> bytes:
    """A line without what decorates a time: `== 07:13:48 ==`."""
    return line.strip(_AROUND_A_TIME)


def _pieces(lines: Sequence[bytes], start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """The files of a reading, with the number of the first line: parted where status begins."""
    begin = start
    for number in range(start + 1, stop + 1):
        is_end = number == stop
        if not is_end and _is_of_status(lines[number]) == _is_of_status(lines[number - 1]):
            continue
        data = b"\n".join(lines[begin:number]).strip()
        if data:
            yield begin + 1, data + b"\n"
        begin = number


def _is_of_status(line: bytes) -> bool:
    return _STATUS_LINE.match(line) is not None


def _is_read(data: bytes, name: str) -> bool:
    kind = kind_of(data, name)
    return kind is not None and kind.scope == MOMENT_SCOPE
