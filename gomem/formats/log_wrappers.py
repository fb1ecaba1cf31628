r"""What container runtimes and log collectors put around the lines of a program's stderr.

Docker       {"log":"gc 1 @0.002s …\n","stream":"stderr","time":"2026-11-20T03:53:49.470512345Z"}
CRI          2026-11-20T03:53:49.470512345Z stderr F gc 1 @0.002s …
Time stamps  2026-11-20T03:53:49.470512345Z gc 1 @0.002s …      (kubectl logs, docker logs -t)
journald     {"MESSAGE":"gc 1 @0.002s …","__REALTIME_TIMESTAMP":"1795146829470512", …}
             2026-11-20T03:53:49+0000 host api[12]: gc 1 @0.002s …      (-o short-iso)
syslog       <30>1 2026-11-20T03:53:49.470Z host api 12 - - gc 1 @0.002s …
             Nov 20 03:53:49 host api[12]: gc 1 @0.002s …
klog         I1120 03:53:49.470512      12 run.go:33] gc 1 @0.002s …

Their clock gives a line its wall time, where they write the zone: a stamp without one (klog, old
syslog) is taken off and no time is made of it. Docker splits a line above 16 KiB and CRI marks the
pieces `P`: they are joined.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.errors import Damage, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLE_BYTES = 1 << 16
SAMPLE_LINES = 50

_STAMP = (
    rb"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
    rb"(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))"
)
_IDENT = rb"\S+ [^\s:\[]+(?:\[[0-9]+\])?: "
_PREFIXES = {
    "cri": _STAMP + rb" (?:stdout|stderr) (?P<part>[FP])(?::\S*)? ?",
    "journald": _STAMP + rb" " + _IDENT,
    "syslog": rb"(?:<[0-9]{1,3}>)?1 " + _STAMP + rb" \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]\n]*\])+) ?",
    "timestamps": _STAMP + rb" ",
    "syslog-rfc3164": rb"(?:<[0-9]{1,3}>)?[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} " + _IDENT,
    "klog": rb"[IWEF][0-9]{4} [0-9:]{8}\.[0-9]{6} +[0-9]+ [^\s:]+:[0-9]+\] ",
}
_PREFIX = {name: re.compile(rb"^" + regex, re.MULTILINE) for name, regex in _PREFIXES.items()}
_TIME_PARTS = re.compile(r"([^.,Z+]{19})(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)$")


@dataclass(frozen=True)
class Unwrapped:
    """A program's output, with what its wrapper knew of each line.

    Attributes:
        text: The output.
        wrapper: Which wrapper was taken off; None if there was none.
        numbers: The line of the file, from 1, that each line of `text` began in; None if they
            are the same.
        stamps: Wall time of each line as written, if the wrapper writes it with its zone.
        damage: Lines that the wrapper does not explain.
    """

    text: bytes
    wrapper: str | None = None
    numbers: np.ndarray | None = None
    stamps: list[str | None] | None = None
    damage: tuple[Damage, ...] = ()

    def line_numbers_of(self, lines: np.ndarray) -> np.ndarray:
        """Lines of the file, from 1, for lines of `text`, from 0."""
        return lines + 1 if self.numbers is None else self.numbers[lines]

    def place_of(self, line: int) -> str:
        """Where damage says that a line is."""
        return f"line {self.line_numbers_of(np.array([line]))[0]}"

    def times_of(self, lines: np.ndarray) -> np.ndarray:
        """Wall times (UTC, ns) of lines of `text`; NaT where unknown."""
        times = np.full(len(lines), np.datetime64("NaT"), "datetime64[ns]")
        if self.stamps is not None:
            for row, line in enumerate(lines):
                times[row] = parse_stamp(self.stamps[line])
        return times


def unwrap(log: bytes, *, source: str) -> Unwrapped:
    """Take off what a log collector put around each line.

    Which one is decided by the log's first lines; lines that it did not wrap stay as they are.

    Args:
        log: The log as stored.
        source: What damage calls it.
    """
    wrapper = wrapper_of(log)
    if wrapper is None:
        return Unwrapped(log)
    if wrapper in {"docker", "journald-json"}:
        return _join(_json_lines(log, wrapper), wrapper, source)
    return _join(_prefixed_lines(log, wrapper), wrapper, source)


def wrapper_of(log: bytes) -> str | None:
    """The wrapper that most of a log's first lines have."""
    lines = log[:SAMPLE_BYTES].split(b"\n")
    lines = [line for line in lines[:SAMPLE_LINES] if line.strip()]
    votes = Counter(_wrapper_of_line(line) for line in lines)
    wrapper, count = votes.most_common(1)[0] if votes else (None, 0)
    return wrapper if 2 * count > len(lines) else None


def parse_stamp(stamp: str | None) -> np.datetime64:
    """An RFC 3339 time, or microseconds since 1970, as UTC; NaT for anything else."""
    if stamp is None:
        return np.datetime64("NaT")
    if stamp.isdecimal():
        return np.datetime64(int(stamp), "us").astype("datetime64[ns]")
    parts = _TIME_PARTS.match(stamp)
    if parts is None:
        return np.datetime64("NaT")
    try:
        seconds = np.datetime64(parts[1], "s")
    except ValueError:
        return np.datetime64("NaT")
    zone = 0 if parts[3] == "Z" else int(parts[3][1:3]) * 60 + int(parts[3][-2:])
    zone = -zone if parts[3][0] == "-" else zone
    nanoseconds = int((parts[2] or "0").ljust(9, "0")[:9])
    return (
        seconds.astype("datetime64[ns]")
        - np.timedelta64(zone, "m")
        + np.timedelta64(nanoseconds, "ns")
    )


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


def _json_lines(log: bytes, wrapper: str) -> Iterator[_Line]:
    key, clock = ("log", "time") if wrapper == "docker" else ("MESSAGE", "__REALTIME_TIMESTAMP")
    for number, line in enumerate(log.splitlines(keepends=True), start=1):
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


def _prefixed_lines(log: bytes, wrapper: str) -> Iterator[_Line]:
    prefix = _PREFIX[wrapper]
    for number, line in enumerate(log.splitlines(keepends=True), start=1):
        match = prefix.match(line)
        if match is None:
            yield _Line(number, line, None)
            continue
        groups = match.groupdict()
        stamp = groups["time"].decode() if groups.get("time") else None
        text = line[match.end() :]
        yield _Line(number, text.rstrip(b"\r\n") if groups.get("part") == b"P" else text, stamp)


def _join(lines: Iterator[_Line], wrapper: str, source: str) -> Unwrapped:
    """The text of all lines; a piece without a newline goes on in the next one."""
    texts: list[bytes] = []
    numbers: list[int] = []
    stamps: list[str | None] = []
    damage: list[Damage] = []
    begins = True
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
    return Unwrapped(b"".join(texts), wrapper, np.array(numbers), stamps, tuple(damage))
