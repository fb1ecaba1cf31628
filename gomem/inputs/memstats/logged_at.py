r"""When a log's line was written: the time before its fields, or its key `time`.

2026-11-20T03:53:49Z HeapAlloc: 5,242,880        {"ts": 1795789701.25, "heap_alloc": 5242880}
{"heap_alloc":5242880,"msg":"mem","time":"2026-11-20T03:53:49Z"}        logrus sorts its keys
start_time 2026-11-20T03:53:49Z, and uptime 45h39m37s        the reading is of their sum
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gomem.inputs.loadtest.report import duration
from gomem.inputs.text_lines import decoded
from gomem.sources.times import known_time, parse_time, time_of_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

_STAMP = re.compile(
    rb"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})"
    rb"(?:[.,]([0-9]{1,9}))?(Z| ?[+-][0-9]{2}:?[0-9]{2})?"
)
_KEY = re.compile(
    rb"(?<![A-Za-z0-9_])(?:time|ts|timestamp|datetime|date)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    rb"(?=(?P<unix>1[0-9]{9})(?:\.?(?P<part>[0-9]{1,9}))?(?![0-9])|[0-9]{4}[-/])"
)
# What stands before the time at which a process was started, and how long it has run since.
_SIGN = rb"[\"'`*]*[ \t]*[:=]?[ \t]*[\"'`]?"
_START = re.compile(
    rb"\b(?:start(?:ed(?:[_ -]?at)?|[_ -]?time|[_ -]?at)|boot[_ -]?time)" + _SIGN + rb"\Z",
    re.IGNORECASE,
)
_UPTIME = re.compile(rb"\bup[_ -]?time" + _SIGN + rb"(\d[\d.hmns]{1,40})(?!\w)", re.IGNORECASE)
# At the start of a line or in a column `time`, or where it says when: `/debug/vars at 09:00:05:
# HeapAlloc 2517560`.
_CLOCK = re.compile(
    rb"(?:[^\n:]{0,60} at )?[ \t>\[]*(?:time: )?"
    rb"([01]?\d:[0-5]\d:[0-5]\d|2[0-3]:[0-5]\d:[0-5]\d)(?!\d|:\d)"
)


def time_beside(text: bytes, since: int, start: int, end: int) -> tuple[datetime | None, int]:
    """Return the time of fields from `start` to `end`, and where the text of the next ones begins.

    It is the last time before them from `since` on, in UTC if it has no zone. A key `time` in their
    own line counts first, also behind them. None if there is no time.
    """
    first, stop = max(since, text.rfind(b"\n", 0, start) + 1), text.find(b"\n", end)
    stop = len(text) if stop < 0 else stop
    is_one_line = b"\n" not in text[start:end]
    if is_one_line and (keyed := _keyed(text[first:stop])) is not None:
        return keyed, stop
    found = list(_times(text, since, start))
    return (found[-1] if found else None), end


def _times(text: bytes, since: int, stop: int) -> Iterator[datetime]:
    """Yield the times in a piece of text; that of a start counts with the uptime below it."""
    for found in _STAMP.finditer(text, since, stop):
        time = _of_stamp(found)
        if _START.search(text, since, found.start()) is not None:
            uptime = _UPTIME.search(text, found.end(), stop)
            ran = duration(decoded(uptime[1])) if uptime is not None else None
            time = known_time(time + timedelta(seconds=ran)) if time and ran else None
        if time is not None:
            yield time


def clock_at_start(line: bytes) -> str:
    """Return the time of day that a line begins with, or is of, as `09:00:05`; else empty."""
    found = _CLOCK.match(line)
    return "" if found is None else found[1].decode().zfill(8)


def _keyed(line: bytes) -> datetime | None:
    """Return the time of the only key for it; None without one, or with several."""
    keys = list(_KEY.finditer(line))
    if len(keys) != 1:
        return None
    (key,) = keys
    if key["unix"]:
        return time_of_seconds(float(f"{key['unix'].decode()}.{(key['part'] or b'0').decode()}"))
    stamp = _STAMP.match(line, key.end())
    return None if stamp is None else _of_stamp(stamp)


def _of_stamp(found: re.Match[bytes]) -> datetime | None:
    year, month, day, clock, fraction, zone = (
        (part or b"").decode("ascii") for part in found.groups()
    )
    stamp = f"{year}-{month}-{day}T{clock}.{(fraction or '0')[:6]}{(zone or 'Z').strip()}"
    return parse_time(stamp)
