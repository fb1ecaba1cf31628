r"""What container runtimes and log collectors put around the lines of a program's stderr.

Docker       {"log":"gc 1 @0.002s …\n","stream":"stderr","time":"2026-11-20T03:53:49.470512345Z"}
CRI          2026-11-20T03:53:49.470512345Z stderr F gc 1 @0.002s …
Time stamps  2026-11-20T03:53:49.470512345Z gc 1 @0.002s …      (kubectl logs, docker logs -t)
journald     {"MESSAGE":"gc 1 @0.002s …","__REALTIME_TIMESTAMP":"1795146829470512", …}
             2026-11-20T03:53:49+0000 host api[12]: gc 1 @0.002s …      (-o short-iso)
syslog       <30>1 2026-11-20T03:53:49.470Z host api 12 - - gc 1 @0.002s …
             Nov 20 03:53:49 host api[12]: gc 1 @0.002s …
klog         I1120 03:53:49.470512      12 run.go:33] gc 1 @0.002s …
Bare stamps  2026-11-20 03:53:49.470 gc 1 @0.002s …      (ts, multilog, with or without brackets)
kubectl      [pod/api-7d9f/api] gc 1 @0.002s …           (kubectl logs --prefix)
compose      api-1  | gc 1 @0.002s …                     (docker compose logs)

Their clock gives a line its wall time, where they write the zone: a stamp without one (klog, old
syslog) is taken off and no time is made of it. Docker splits a line above 16 KiB and CRI marks the
pieces `P`: they are joined.

Some of these a program also writes itself, in front of its own lines and never of the runtime's.
So the collector's lines decide, where there are any.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from gomem.errors import Damage, excerpt
from gomem.inputs.gctrace.mixed_lines import OWN_LINE, has_own_line
from gomem.inputs.gctrace.unwrap import (
    NEWLINE,
    ColumnOfStamps,
    ListedStamps,
    PrefixedStamps,
    Unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SAMPLE_BYTES = 1 << 16
SAMPLE_LINES = 50

_STAMP = (
    rb"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
    rb"(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))"
)
_BARE_STAMP = (
    rb"\[?(?:(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}"
    rb"(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))"
    rb"|[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?)"
    rb"\]?:? "
)
# Old syslog's, and journalctl's -o short, short-precise, short-full and short-unix.
_OLD_STAMP = (
    rb"(?:[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]{1,9})?"
    rb"|[A-Z][a-z]{2} [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} \S+|[0-9]{9,10}\.[0-9]{6}) "
)
_IDENT = rb"\S+ [^\s:\[]+(?:\[[0-9]+\])?: "
_PREFIXES = {
    "cri": _STAMP + rb" (?:stdout|stderr) (?P<part>[FP])(?::\S*)? ?",
    "journald": _STAMP + rb" " + _IDENT,
    "syslog": rb"(?:<[0-9]{1,3}>)?1 " + _STAMP + rb" \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]\n]*\])+) ?",
    "timestamps": _STAMP + rb" ",
    "syslog-rfc3164": rb"(?:<[0-9]{1,3}>)?" + _OLD_STAMP + _IDENT,
    "klog": rb"[IWEF][0-9]{4} [0-9:]{8}\.[0-9]{6} +[0-9]+ [^\s:]+:[0-9]+\] ",
    "bare-stamps": _BARE_STAMP,
    "kubectl": rb"\[[^\s/\]]+/[^\s/\]]+/[^\s/\]]+\] ",
    "compose": rb"[A-Za-z0-9][\w.-]* +\| ",
}
_PREFIX = {name: re.compile(rb"^" + regex, re.MULTILINE) for name, regex in _PREFIXES.items()}
_PARTIAL = re.compile(rb"^\S+ (?:stdout|stderr) P(?::\S*)? ", re.MULTILINE)
_ALSO_PROGRAMS = frozenset({"timestamps", "syslog-rfc3164", "klog", "bare-stamps", "compose"})
_JSON_KEYS = {"docker": ("log", "time"), "journald-json": ("MESSAGE", "__REALTIME_TIMESTAMP")}


def unwrap(log: bytes, *, source: str) -> Unwrapped:
    """Take off what a log collector put around each line of a whole log.

    Args:
        log: The log as stored.
        source: What damage calls it.
    """
    return Unwrapper(source).unwrap(log)


class Unwrapper:
    """Takes the wrapper off a log that comes in pieces.

    Which one is decided by its first lines of the collector's; lines that it did not wrap stay as
    they are.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._wrapper: str | None = None
        self._decided = False
        self._lines = 0
        self._begins = True

    def unwrap(self, piece: bytes) -> Unwrapped:
        """The output in the next piece of the log, which holds whole lines but at its end."""
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
        """Let the next piece begin a line, whatever the last one ended with."""
        self._begins = True

    def _together(self, piece: bytes, wrapper: str, first: int) -> Unwrapped | None:
        """All lines at once, where each line of the log is one of the program's."""
        if wrapper in _JSON_KEYS:
            return _json_together(piece, wrapper, first)
        if wrapper == "cri" and _PARTIAL.search(piece):
            return None
        prefix = _PREFIX[wrapper]
        text = prefix.sub(b"", piece)
        stamps = PrefixedStamps(piece, prefix) if "time" in prefix.groupindex else None
        return Unwrapped(text, wrapper, np.arange(first, first + _count_lines(piece)), stamps)

    def _line_by_line(self, piece: bytes, wrapper: str, first: int) -> Unwrapped:
        stored = enumerate(io.BytesIO(piece), start=first)
        lines = (_json_lines if wrapper in _JSON_KEYS else _prefixed_lines)(stored, wrapper)
        joined, self._begins = _join(lines, wrapper, self._source, begins=self._begins)
        return joined


def wrapper_of(log: bytes) -> str | None:
    """The wrapper that most of a log's first lines of the collector's have.

    Where it has none yet, that of its first lines, if it is one that no program writes itself.
    """
    own = _own_lines(log)
    lines = own or [line for line in log[:SAMPLE_BYTES].split(b"\n") if line.strip()]
    lines = lines[:SAMPLE_LINES]
    votes = Counter(_wrapper_of_line(line) for line in lines)
    wrapper, count = votes.most_common(1)[0] if votes else (None, 0)
    if 2 * count <= len(lines) or (not own and wrapper in _ALSO_PROGRAMS):
        return None
    return wrapper


def _own_lines(log: bytes) -> list[bytes]:
    """Stored lines with the collector's in them, the first of them."""
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
    """Records as columns; None unless every line is a record, and its text one whole line."""
    key, clock = _JSON_KEYS[wrapper]
    schema = pa.schema([(key, pa.string()), (clock, pa.string())])
    try:
        table = arrow_json.read_json(
            pa.BufferReader(piece),
            arrow_json.ReadOptions(use_threads=False, block_size=max(len(piece), 1)),
            arrow_json.ParseOptions(
                explicit_schema=schema,
                newlines_in_values=False,
                unexpected_field_behavior="ignore",
            ),
        ).combine_chunks()
    except pa.ArrowInvalid:
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
    stamps = ColumnOfStamps(_one_array(table[clock]))
    numbers = np.arange(first, first + table.num_rows)
    return Unwrapped(_bytes_of(_one_array(text)), wrapper, numbers, stamps)


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _bytes_of(texts: pa.StringArray) -> bytes:
    if not len(texts):
        return b""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    return texts.buffers()[2][offsets[0] : offsets[-1]].to_pybytes()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as its wrapper has it; `text` holds its newline unless the line goes on."""

    number: int
    text: bytes
    stamp: str | None
    problem: str | None = None


def _wrapper_of_line(line: bytes) -> str | None:
    if line.startswith(b"{"):
        record = _json_object(line)
        if record is not None and isinstance(record.get("log"), str):
            return "docker"
        if record is not None and "MESSAGE" in record:
            return "journald-json"
        return None
    return next((name for name, prefix in _PREFIX.items() if prefix.match(line)), None)


def _json_object(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _json_lines(stored: Iterable[tuple[int, bytes]], wrapper: str) -> Iterator[_Line]:
    key, clock = _JSON_KEYS[wrapper]
    for number, line in stored:
        if not line.strip():
            continue
        record = _json_object(line)
        if record is None:
            yield _Line(number, line, None, f"not a JSON object as {wrapper} writes it")
            continue
        text = _message(record.get(key))
        if text is None:
            yield _Line(number, line, None, f"JSON without {key!r}, as {wrapper} writes it")
            continue
        stamp = record.get(clock)
        ending = b"" if wrapper == "docker" else b"\n"
        yield _Line(number, text + ending, stamp if isinstance(stamp, str) else None)


def _message(message: object) -> bytes | None:
    """A record's text; journald writes an array of bytes where it is not UTF-8."""
    if isinstance(message, str):
        return message.encode("utf-8", "surrogatepass")
    if isinstance(message, list):
        try:
            return bytes(message)
        except (TypeError, ValueError):
            return None
    return None


def _prefixed_lines(stored: Iterable[tuple[int, bytes]], wrapper: str) -> Iterator[_Line]:
    prefix = _PREFIX[wrapper]
    for number, line in stored:
        match = prefix.match(line)
        if match is None:
            yield _Line(number, line, None)
            continue
        groups = match.groupdict()
        stamp = groups["time"].decode() if groups.get("time") else None
        text = line[match.end() :]
        yield _Line(number, text.rstrip(b"\r\n") if groups.get("part") == b"P" else text, stamp)


def _join(
    lines: Iterator[_Line], wrapper: str, source: str, *, begins: bool
) -> tuple[Unwrapped, bool]:
    """The text of all lines, and whether it ends one: without a newline, the next goes on in it."""
    texts: list[bytes] = []
    numbers: list[int] = []
    stamps: list[str | None] = []
    damage: list[Damage] = []
    for line in lines:
        if line.problem is not None:
            damage.append(
                Damage(source, f"line {line.number}", line.problem, excerpt(line.text.rstrip()))
            )
            continue
        texts.append(line.text)
        for _ in range(line.text.count(b"\n") + (not line.text.endswith(b"\n")) - (not begins)):
            numbers.append(line.number)
            stamps.append(line.stamp)
        begins = line.text.endswith(b"\n")
    listed = ListedStamps(stamps)
    numbered = np.array(numbers, np.int64)
    return Unwrapped(b"".join(texts), wrapper, numbered, listed, tuple(damage)), begins
