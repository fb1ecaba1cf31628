"""Removes what container runtimes and log collectors put around the lines of a program's stderr.

`gomem.inputs.wrappers` has the formats. If a stamp has a time zone, it gives the line its wall
time. A stamp without one (klog, old syslog) is removed and not used. Docker splits lines above
16 KiB, and CRI marks the pieces with `P`; they are joined again.

Some prefixes can also come from the program itself, which puts them before its own lines but never
before the runtime's. So the GC lines, if there are any, decide what is a wrapper.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from gomem.errors import Damage, excerpt
from gomem.inputs.gctrace.mixed_lines import OWN_LINE, has_own_line
from gomem.inputs.wrappers import JSON_KEYS, PREFIXES, unwrapped_lines, wrapper_of_line
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.inputs.wrappers import StoredLine

SAMPLE_BYTES = 1 << 16
SAMPLE_LINES = 50

_PARTIAL = re.compile(rb"^\S+ (?:stdout|stderr) P(?::\S*)? ", re.MULTILINE)
_ALSO_PROGRAMS = frozenset({"timestamps", "syslog-rfc3164", "klog", "bare-stamps", "compose"})
NEWLINE = 10
# Wall times of log collectors: RFC 3339 with a zone, or microseconds since 1970.
_FRACTION = re.compile(r"[.,]([0-9]{1,9})[0-9]*")  # to nanoseconds, after a point
NAT = np.datetime64("NaT", "ns")
MICROSECOND_DIGITS = 16
# Times outside of these years overflow 64 bits of nanoseconds, and NumPy would wrap around.
_EARLIEST, _LATEST = np.datetime64("1678-01-01", "s"), np.datetime64("2262-01-01", "s")
# Returns the wall times, as written, of some lines of a piece, by line from 0: called only for
# lines with an event.
Stamps = Callable[[np.ndarray], list[str | None]]


def listed(stamps: list[str | None], then: Stamps | None = None) -> Stamps:
    """Return stamps from a list, followed by the stamps of a later piece."""

    def at(lines: np.ndarray) -> list[str | None]:
        later = lines[lines >= len(stamps)] - len(stamps)
        found = [stamps[line] for line in lines[lines < len(stamps)]]
        return found + (then(later) if then else [None] * len(later))

    return at


def prefixed(piece: bytes, prefix: re.Pattern[bytes]) -> Stamps:
    """Return stamps that are still in front of their lines."""

    def at(lines: np.ndarray) -> list[str | None]:
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == NEWLINE) + 1
        starts = np.concatenate(([0], ends))[lines].tolist()
        found = (prefix.match(piece, start) for start in starts)
        return [match["time"].decode() if match and match["time"] else None for match in found]

    return at


@dataclass(frozen=True)
class Unwrapped:
    """A piece of a program's output, with the wrapper's data on each line."""

    text: bytes = b""  # the program's output
    wrapper: str | None = None  # the wrapper that was removed; None if there was none
    # The line of the log, from 1, in which each line of `text` began.
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    # Wall time of each line as written, if the wrapper writes one with a zone.
    stamps: Stamps | None = None
    damage: tuple[Damage, ...] = ()  # lines that do not fit the wrapper

    def place_of(self, line: int) -> str:
        """Return a line's position in words, for damage."""
        return f"line {self.numbers[line]}"

    def times_of(self, lines: np.ndarray) -> np.ndarray:
        """Return the wall times (UTC, ns) of lines of `text`, in order; NaT if unknown."""
        if self.stamps is None:
            return np.full(len(lines), NAT)
        return parse_stamps(self.stamps(lines))

    def after(self, lines: int, size: int) -> Unwrapped:
        """Return the rest after removing processed lines and their bytes."""
        left = np.arange(lines, len(self.numbers))
        stamps = None if self.stamps is None else listed(self._stamps_at(left))
        return Unwrapped(self.text[size:], self.wrapper, self.numbers[lines:], stamps)

    def followed_by(self, later: Unwrapped) -> Unwrapped:
        """Join both pieces; a line that continues in the later piece is numbered only once."""
        if not self.text:
            return later
        numbers = np.concatenate((self.numbers, later.numbers))
        stamps = later.stamps or self.stamps
        if stamps is not None:
            stamps = listed(self._stamps_at(np.arange(len(self.numbers))), later.stamps)
        return Unwrapped(self.text + later.text, later.wrapper, numbers, stamps, later.damage)

    def _stamps_at(self, lines: np.ndarray) -> list[str | None]:
        return [None] * len(lines) if self.stamps is None else self.stamps(lines)


def parse_stamps(stamps: Sequence[str | None]) -> np.ndarray:
    """Parse the times of many lines as UTC, in ns; NaT if there is none."""
    # A collector writes all stamps in one format, so usually all are parsed together.
    try:
        return _times(stamps)
    except pa.ArrowInvalid:
        return np.array([parse_stamp(stamp) for stamp in stamps], "datetime64[ns]")


def parse_stamp(stamp: str | None) -> np.datetime64:
    """Parse an RFC 3339 time, or microseconds since 1970, as UTC; NaT for anything else."""
    if stamp is not None and is_digits(stamp):
        is_known = len(stamp) <= MICROSECOND_DIGITS and int(stamp) // 10**6 < _LATEST.astype(int)
        return np.datetime64(int(stamp), "us").astype("datetime64[ns]") if is_known else NAT
    try:
        (time,) = _times([None if stamp is None else _FRACTION.sub(r".\1", stamp)])
    except pa.ArrowInvalid:
        return NAT
    return time


def _times(stamps: Sequence[str | None]) -> np.ndarray:
    """Parse RFC 3339 times as UTC; NaT outside of these years; ArrowInvalid for other text."""
    column = pa.array(stamps, pa.string()).cast(pa.timestamp("ns", "UTC"))
    times = column.to_numpy(zero_copy_only=False)
    return np.where((times >= _EARLIEST) & (times < _LATEST), times, NAT)


def unwrap(log: bytes, *, source: str) -> Unwrapped:
    """Remove the log collector's wrapper from each line of a whole log."""
    return Unwrapper(source).unwrap(log)


class Unwrapper:
    """Removes the wrapper from a log that comes in pieces; other lines are unchanged.

    The first GC lines decide which wrapper it is.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._wrapper: str | None = None
        self._decided = False
        self._lines = 0
        self._begins = True

    def unwrap(self, piece: bytes) -> Unwrapped:
        """Return the output in the next piece, which contains whole lines except at its end."""
        if not self._decided:
            self._wrapper = wrapper_of(piece)
            self._decided = self._wrapper is not None or has_own_line(piece)
        first = self._lines + 1
        self._lines += _count_lines(piece)
        if self._wrapper is None:
            return Unwrapped(piece, None, np.arange(first, self._lines + 1))
        together = self._together(piece, self._wrapper, first) if self._begins else None
        return together or self._line_by_line(piece, self._wrapper, first)

    def end_line(self) -> None:
        """End the current line, so that the next piece begins a new one."""
        self._begins = True

    def _together(self, piece: bytes, wrapper: str, first: int) -> Unwrapped | None:
        """Unwrap all lines at once, if each line of the log is one line of the program."""
        if wrapper in JSON_KEYS:
            return _json_together(piece, wrapper, first)
        if wrapper == "cri" and _PARTIAL.search(piece):
            return None
        prefix = PREFIXES[wrapper]
        text = prefix.sub(b"", piece)
        stamps = prefixed(piece, prefix) if "time" in prefix.groupindex else None
        return Unwrapped(text, wrapper, np.arange(first, first + _count_lines(piece)), stamps)

    def _line_by_line(self, piece: bytes, wrapper: str, first: int) -> Unwrapped:
        lines = unwrapped_lines(enumerate(io.BytesIO(piece), start=first), wrapper)
        joined, self._begins = _join(lines, wrapper, self._source, begins=self._begins)
        return joined


def wrapper_of(log: bytes) -> str | None:
    """Return the wrapper of most of the log's first GC lines."""
    # If there are none yet, the wrapper of its first lines, unless a program could have written it.
    own = _own_lines(log)
    lines = own or [line for line in log[:SAMPLE_BYTES].split(b"\n") if line.strip()]
    lines = lines[:SAMPLE_LINES]
    votes = Counter(map(wrapper_of_line, lines))
    wrapper, count = votes.most_common(1)[0] if votes else (None, 0)
    if 2 * count <= len(lines) or (not own and wrapper in _ALSO_PROGRAMS):
        return None
    return wrapper


def _own_lines(log: bytes) -> list[bytes]:
    """Return the first stored lines that contain GC lines."""
    lines: list[bytes] = []
    if not has_own_line(log):
        return lines
    for match in islice(OWN_LINE.finditer(log), SAMPLE_LINES):
        start = log.rfind(b"\n", 0, match.start()) + 1
        end = log.find(b"\n", match.end())
        lines.append(log[start : end if end >= 0 else len(log)])
    return lines


def _count_lines(text: bytes) -> int:
    newlines = int(np.count_nonzero(np.frombuffer(text, np.uint8) == NEWLINE))
    return newlines + (not text.endswith(b"\n") and bool(text))


def _json_together(piece: bytes, wrapper: str, first: int) -> Unwrapped | None:
    """Parse records as columns; None unless every line is a record of one whole line."""
    key, clock = JSON_KEYS[wrapper]
    schema = pa.schema([(key, pa.string()), (clock, pa.string())])
    try:
        piece.decode()  # which the reader of columns does not look at
        table = arrow_json.read_json(
            pa.BufferReader(piece),
            arrow_json.ReadOptions(use_threads=False, block_size=max(len(piece), 1)),
            arrow_json.ParseOptions(
                explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="ignore"
            ),
        ).combine_chunks()
    except (UnicodeDecodeError, pa.ArrowInvalid):
        return None
    text = table[key]
    if table.num_rows != _count_lines(piece) or b"\n\n" in piece or text.null_count:
        return None
    if wrapper == "journald-json":
        text = pc.binary_join_element_wise(text, "", "\n")
    if not pc.all(pc.ends_with(text, "\n")).as_py() or pc.max(
        pc.count_substring(text, "\n")
    ).as_py() not in {1, None}:
        return None
    stamps = _one_array(table[clock])
    numbers = np.arange(first, first + table.num_rows)
    return Unwrapped(
        _bytes_of(_one_array(text)),
        wrapper,
        numbers,
        lambda lines: stamps.take(pa.array(lines)).to_pylist(),
    )


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _bytes_of(texts: pa.StringArray) -> bytes:
    if not len(texts):
        return b""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    return texts.buffers()[2][offsets[0] : offsets[-1]].to_pybytes()


def _join(
    lines: Iterator[StoredLine], wrapper: str, source: str, *, begins: bool
) -> tuple[Unwrapped, bool]:
    """Join the text of all lines; also return whether the last line is complete."""
    texts: list[bytes] = []
    numbers: list[int] = []
    stamps: list[str | None] = []
    damage: list[Damage] = []
    for line in lines:
        if line.problem:
            shown = excerpt(line.stored.rstrip())
            damage.append(Damage(source, f"line {line.number}", line.problem, shown))
            continue
        texts.append(line.text)
        more = line.text.count(b"\n") + (not line.text.endswith(b"\n")) - (not begins)
        numbers += [line.number] * more
        stamps += [line.stamp] * more
        begins = line.text.endswith(b"\n")
    numbered = np.array(numbers, np.int64)
    return Unwrapped(b"".join(texts), wrapper, numbered, listed(stamps), tuple(damage)), begins
