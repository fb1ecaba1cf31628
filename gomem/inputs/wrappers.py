r"""The wrappers that log collectors put around lines: prefixes with a time stamp, and JSON records.

Docker       {"log":"gc 1 @0.002s …\n","stream":"stderr","time":"2026-11-20T03:53:49.470512345Z"}
CRI          2026-11-20T03:53:49.470512345Z stderr F gc 1 @0.002s …
Time stamps  2026-11-20T03:53:49.470512345Z gc 1 @0.002s …      (kubectl logs, docker logs -t, CI)
journald     {"MESSAGE":"gc 1 @0.002s …","__REALTIME_TIMESTAMP":"1795146829470512", …}
             2026-11-20T03:53:49+0000 host api[12]: gc 1 @0.002s …      (-o short-iso)
syslog       <30>1 2026-11-20T03:53:49.470Z host api 12 - - gc 1 @0.002s …
             Nov 20 03:53:49 host api[12]: gc 1 @0.002s …
klog         I1120 03:53:49.470512      12 run.go:33] gc 1 @0.002s …
Bare stamps  2026-11-20 03:53:49.470 gc 1 @0.002s …      (ts, multilog, with or without brackets)
kubectl      [pod/api-7d9f/api] gc 1 @0.002s …           (kubectl logs --prefix)
compose      api-1  | gc 1 @0.002s …                     (docker compose logs)
             shop_api.1.q8zk2l9xv0a3@node-7    | gc 1 …  (docker service logs)
Talos        10.5.0.2: kern:    info: [2026-11-20T03:53:49.470Z]: gc 1 …    (talosctl dmesg)
Names alone  api[12]: gc 1 @0.002s …                     (syslog with its stamps cut off)
grep -H      /proc/12/status:VmRSS:  76420 kB            (grep of files of one process)
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.inputs.markdown import FENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
# Old syslog, and journalctl with -o short, short-precise, short-full and short-unix.
_OLD_STAMP = (
    rb"(?:[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]{1,9})?"
    rb"|[A-Z][a-z]{2} [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} \S+|[0-9]{9,10}\.[0-9]{6}) "
)
# The host, which some leave out, and the program: the tag of a line of the runtime is neither.
_NAME = rb"(?!scvg-?[0-9]*:|pacer:)[^\s:\[]+"
_IDENT = rb"(?:\S*[^\s:] " + _NAME + rb"(?:\[[0-9]+\])?|" + _NAME + rb"\[[0-9]+\]): "
_REGEXES = {
    "cri": _STAMP + rb" (?:stdout|stderr) (?P<part>[FP])(?::\S*)? ?",
    "journald": _STAMP + rb" " + _IDENT,
    "syslog": rb"(?:<[0-9]{1,3}>)?1 " + _STAMP + rb" \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]\n]*\])+) ?",
    "timestamps": _STAMP + rb" ",
    "syslog-rfc3164": rb"(?:<[0-9]{1,3}>)?" + _OLD_STAMP + _IDENT,
    "klog": rb"[IWEF][0-9]{4} [0-9:]{8}\.[0-9]{6} +[0-9]+ [^\s:]+:[0-9]+\] ",
    "bare-stamps": _BARE_STAMP,
    "kubectl": rb"\[[^\s/\]]+/[^\s/\]]+/[^\s/\]]+\] ",
    "compose": rb"[A-Za-z0-9][\w.-]*(?:@[\w.-]+)? +\|(?: |$)",
    "talos": rb"\S+: [a-z]+: +[a-z]+: \[" + _STAMP + rb"\]: ",
    "ident": rb"[A-Za-z][\w.-]*\[[0-9]+\]: ",
}
PREFIXES = {name: re.compile(rb"^" + regex, re.MULTILINE) for name, regex in _REGEXES.items()}
MIN_SHARED_LINES = 3  # fewer can begin alike by chance
MAX_PREFIX = 160
# the separator between a prefix and its line
_PREFIX_END = re.compile(rb"(?:[|\]:>]|\s-|\]:) +|\t")
_WORD = re.compile(rb"\w")
_PROC_PREFIX = re.compile(rb"/proc/(?:\d{1,9}|self)/[a-z_]{1,30}:")
_VARYING = re.compile(rb"[A-Za-z]*\d[\w]*|[^\w]+|[A-Za-z_]+")
JSON_KEYS = {"docker": ("log", "time"), "journald-json": ("MESSAGE", "__REALTIME_TIMESTAMP")}


def wrapper_of_line(line: bytes) -> str | None:
    """Return the collector that wrote a line, by its form; None if unknown."""
    if line.startswith(b"{"):
        record = json_object(line) or {}
        if isinstance(record.get("log"), str):
            return "docker"
        return "journald-json" if "MESSAGE" in record else None
    return next((name for name, prefix in PREFIXES.items() if prefix.match(line)), None)


def shared_prefix(lines: Sequence[bytes]) -> re.Pattern[bytes] | None:
    """Return a pattern for the prefix that most lines share, whatever its numbers; None if none.

    It is the longest such prefix that ends in a separator and is in at least `MIN_SHARED_LINES`
    lines; or the name of one file of /proc, before all of them.
    """
    of_proc = {found[0] if (found := _PROC_PREFIX.match(line)) else b"" for line in lines}
    if len(of_proc) == 1 and (name := of_proc.pop()):
        return re.compile(rb"\A" + re.escape(name))
    least = max(MIN_SHARED_LINES, len(lines) // 2 + 1)
    for line in lines[: len(lines) - least + 1]:
        ends = [found.end() for found in _PREFIX_END.finditer(line[:MAX_PREFIX])]
        ends = [end for end in ends if _WORD.search(line[:end])]  # `> ` is a quote mark
        for end in reversed(ends):
            shape = re.compile(rb"\A" + b"".join(map(_shape, _VARYING.findall(line[:end]))))
            if sum(shape.match(other) is not None for other in lines) >= least:
                return shape
    return None


def _shape(word: bytes) -> bytes:
    """Return a pattern for a word: any word with a digit if it has one, any spaces, or itself."""
    if any(48 <= byte <= 57 for byte in word):
        return rb"[A-Za-z]*+\d\w*+"
    return rb"\s++" if word.isspace() else re.escape(word)


def json_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line; None if it is not one."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def message_of(message: object) -> bytes | None:
    """Return a record's text; journald writes an array of bytes if it is not UTF-8."""
    if isinstance(message, str):
        return message.encode("utf-8", "surrogatepass")
    try:
        return bytes(message) if isinstance(message, list) else None
    except (TypeError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line of a log, and the text in it that the program printed."""

    number: int  # line number in the log
    stored: bytes  # the original line
    text: bytes  # without its wrapper; with its newline, unless it continues in the next line
    stamp: str | None = None  # its time, as written by the wrapper
    problem: str = ""  # why the line does not fit the wrapper


def unwrapped_lines(stored: Iterable[tuple[int, bytes]], wrapper: str) -> Iterator[StoredLine]:
    """Remove the collector's wrapper from numbered lines, which keep their newlines."""
    return (_json_lines if wrapper in JSON_KEYS else _prefixed_lines)(stored, wrapper)


def _json_lines(stored: Iterable[tuple[int, bytes]], wrapper: str) -> Iterator[StoredLine]:
    key, clock = JSON_KEYS[wrapper]
    for number, line in stored:
        if not line.strip() or FENCE.fullmatch(line.rstrip()):
            continue
        record = json_object(line)
        text = None if record is None else message_of(record.get(key))
        if record is None:
            is_torn = line.lstrip().startswith(b"{") or line.rstrip().endswith(b"}")
            problem = f"not a JSON object as {wrapper} writes it" if is_torn else ""
            yield StoredLine(number, line, line, problem=problem)
        elif text is None:
            problem = f"JSON without {key!r}, as {wrapper} writes it"
            yield StoredLine(number, line, b"", problem=problem)
        else:
            stamp, ending = record.get(clock), b"" if wrapper == "docker" else b"\n"
            time = stamp if isinstance(stamp, str) else None
            yield StoredLine(number, line, text + ending, time)


def _prefixed_lines(stored: Iterable[tuple[int, bytes]], wrapper: str) -> Iterator[StoredLine]:
    prefix = PREFIXES[wrapper]
    for number, line in stored:
        match = prefix.match(line)
        if match is None:
            yield StoredLine(number, line, line)
            continue
        groups = match.groupdict()
        stamp = groups["time"].decode() if groups.get("time") else None
        text = line[match.end() :]
        text = text.rstrip(b"\r\n") if groups.get("part") == b"P" else text
        yield StoredLine(number, line, text, stamp)
