"""Dates of tables with the day or the month first: 27/11/2026, 11/27/2026, 27.11.2026.

Which of the two comes first is known if a number in that place is above 12 in any row, or by dots,
with which nobody writes the month first. Else the dates stay as they are, and unread.
"""

from __future__ import annotations

import re

_DATE = re.compile(rb"(?<![\d./])(\d{1,2})([./])(\d{1,2})\2(20\d\d)(?=[ ,;T\t\"|])")
MONTHS = 12
SAMPLE = 1 << 20  # bytes that decide


def with_iso_dates(data: bytes) -> bytes:
    """Return a text with such dates as 2026-11-27; unchanged if their order is unknown."""
    found = [match.groups() for match in _DATE.finditer(data[:SAMPLE])]
    if not found:
        return data
    first_is_day = any(int(first) > MONTHS for first, *_ in found)
    second_is_day = any(int(second) > MONTHS for _, _, second, _ in found)
    if first_is_day is second_is_day:
        if first_is_day or any(mark != b"." for _, mark, *_ in found):
            return data
        first_is_day = True
    return _DATE.sub(_day_first if first_is_day else _month_first, data)


def _day_first(match: re.Match[bytes]) -> bytes:
    day, _, month, year = match.groups()
    return b"-".join((year, month.zfill(2), day.zfill(2)))


def _month_first(match: re.Match[bytes]) -> bytes:
    month, _, day, year = match.groups()
    return b"-".join((year, month.zfill(2), day.zfill(2)))
