r"""When a log's line was written: the time before its fields, or its key `time`.

2026-11-20T03:53:49Z HeapAlloc: 5,242,880        {"ts": 1795789701.25, "heap_alloc": 5242880}
{"heap_alloc":5242880,"msg":"mem","time":"2026-11-20T03:53:49Z"}        logrus sorts its keys
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.sources.times import parse_time, time_of_seconds

if TYPE_CHECKING:
    from datetime import datetime

_STAMP = re.compile(
    rb"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})"
    rb"(?:[.,]([0-9]{1,9}))?(Z| ?[+-][0-9]{2}:?[0-9]{2})?"
)
_KEY = re.compile(
    rb"(?<![A-Za-z0-9_])(?:time|ts|timestamp|datetime|date)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    rb"(?=(?P<unix>1[0-9]{9})(?:\.?(?P<part>[0-9]{1,9}))?(?![0-9])|[0-9]{4}[-/])"
)


_CLOCK = re.compile(rb"[ \t>\[]*([01]?\d:[0-5]\d:[0-5]\d|2[0-3]:[0-5]\d:[0-5]\d)(?![\d:])")


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
    found = list(_STAMP.finditer(text, since, start))
    return (_of_stamp(found[-1]) if found else None), end


def clock_at_start(line: bytes) -> str:
    """Return the time of day that a line begins with, as `09:00:05`; empty without one."""
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
