"""Lines that are only a time, as `date` prints it between the listings of a loop.

Forms    07:13:48   2026-11-26 07:13:48+00:00   Thu Nov 26 07:13:48 UTC 2026   1795677228
         Thu 26 Nov 2026 07:13:48 AM UTC   Thu, 26 Nov 2026 07:13:48 +0000   (other locales, -R)
A time without a zone, or with letters other than UTC as its zone, is only a time of day. top's
first line has one: `top - 07:13:48 up 3:34, …`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.sources.times import parse_date, parse_time, time_of_seconds

if TYPE_CHECKING:
    from datetime import datetime

_TIME = re.compile(rb"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?[AP]M)?")
_ISO = re.compile(rb"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?")
_DATE = re.compile(
    rb"[A-Z][a-z]{2},? +([A-Z][a-z]{2} +\d{1,2} +\d\d:\d\d:\d\d) ([A-Z]{3,5}) (\d{4})"
)
# In other locales the day comes first, and a half of the day can stand before the zone.
_OTHER_DATE = re.compile(
    rb"[A-Z][a-z]{2},? +(?:(?P<day>\d{1,2}) +(?P<month>[A-Z][a-z]{2})"
    rb"|(?P<month_first>[A-Z][a-z]{2}) +(?P<day_second>\d{1,2})),? +(?:(?P<year>\d{4}),? +)?"
    rb"(?P<time>\d{1,2}:\d\d:\d\d) +(?:(?P<half>[AP]M) +)?(?P<zone>[A-Z]{3,5}|[+-]\d{4})"
    rb"(?: +(?P<year_last>\d{4}))?"
)
_UNIX = re.compile(rb"1\d{9}(?:\.\d{1,9})?")
_NO_OFFSET = frozenset({b"UTC", b"GMT", b"+0000"})

# ps -o etime, and etimes, both under ELAPSED: [[days-]hours:]minutes:seconds, or seconds.
_ELAPSED = re.compile(rb"(?:(?:(?:(\d{1,5})-)?(\d\d):)?(\d\d):)?(\d{1,10})")
_PROMPTED = re.compile(rb"\[?(\d\d:\d\d:\d\d)\]? (?=[$#%>] )")
_CLOCK = re.compile(rb"(?:top - |[^\n]{0,40}?[ T])?(\d{1,2}:\d\d:\d\d)\b")


def time_of_day(line: bytes) -> str:
    """Return the time of day in such a line, or in top's first line, as `07:13:48`; else empty."""
    found = _CLOCK.match(line)
    is_afternoon = re.search(rb"[ \d][AP]M\b", line) is not None
    return "" if found is None or is_afternoon else found[1].decode().zfill(8)


def before_prompt(line: bytes) -> tuple[str, bytes]:
    """Return the time of day before a prompt, empty without one, and the line without it."""
    found = _PROMPTED.match(line)
    return ("", line) if found is None else (found[1].decode(), line[found.end() :])


def is_date(line: bytes) -> bool:
    """Whether a line is a time and nothing else."""
    return any(form.fullmatch(line) for form in (_TIME, _ISO, _DATE, _UNIX, _OTHER_DATE))


def time_of(line: bytes) -> datetime | None:
    """Return the time in such a line; None if it has no date or no zone."""
    if _UNIX.fullmatch(line):
        return time_of_seconds(float(line))
    if (iso := _ISO.fullmatch(line)) and iso[3]:
        return parse_time(b"".join((iso[1], b"T", *iso.group(2, 3))).decode())
    if (dated := _DATE.fullmatch(line)) and dated[2] in (b"UTC", b"GMT"):
        return parse_date(f"{dated[1].decode()} {dated[3].decode()}")
    other = _OTHER_DATE.fullmatch(line)
    if other is None or other["zone"] not in _NO_OFFSET:
        return None
    day, month = other["day"] or other["day_second"], other["month"] or other["month_first"]
    words = b" ".join((month, day, other["time"], other["year"] or other["year_last"] or b""))
    half = {None: 0, b"AM": 0, b"PM": 12}[other["half"]]
    time = parse_date(words.decode())
    if time is None or (other["half"] and not 1 <= time.hour <= 12):
        return None
    return time.replace(hour=time.hour % 12 + half) if other["half"] else time


def seconds_elapsed(text: bytes) -> int | None:
    """Return the age of a process as ps prints it, in seconds; None if it is none."""
    found = _ELAPSED.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def clock_of(line: bytes) -> tuple[datetime | None, str]:
    """Return the time in such a line; the time of day if only that is known; else neither."""
    time = time_of(line)
    return time, "" if time is not None else time_of_day(line)
