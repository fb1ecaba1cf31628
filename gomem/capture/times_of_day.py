"""Times of day without a date, in names (`ps-035727.txt`) and in listings (`top - 03:57:27 up …`).

The date is that of the capture's dated files, if all such times then lie among those, and one of
them agrees to a few seconds. Otherwise the clocks have different zones, or the digits are no time.
If no file has a date, the times of one file's readings still have the intervals between them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.capture.clock import BY_NAME, CLOCK_WITHOUT_DATE, OWN_CLOCK
from gomem.inputs.kinds import CAPTURE_SCOPE
from gomem.sources.artefact import SourcePart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.capture.moment import Artefact

AGREES = timedelta(seconds=5)  # a time of day with a dated one
AROUND = timedelta(minutes=10)  # of the dated times
UNKNOWN_DAY = date(1970, 1, 1)
LONGEST = timedelta(days=1)  # longer, and the readings are not in the order of their times
DATED = frozenset({BY_NAME, OWN_CLOCK})
TIME_OF_DAY = re.compile(
    r"(?<![0-9])([01][0-9]|2[0-3])([-:._]?)([0-5][0-9])\2([0-5][0-9])(?![0-9])"
)


def dated(artefacts: Sequence[Artefact]) -> list[Artefact]:
    """Give files whose names have a time of day a date, as far as the other files have one.

    The parts of one text, whose order is that of its lines, need no date for the time between them.
    """
    of_day = [_in_name(file) for file in artefacts]
    found = [each for each in of_day if each]
    source, known = BY_NAME, dates_of(found, artefacts)
    if not known and all(isinstance(file.source, SourcePart) for file in artefacts):
        source, known = CLOCK_WITHOUT_DATE, without_date(found, artefacts)
    times = iter(known)
    given = [next(times, None) if each else None for each in of_day]
    return [
        file if at is None else replace(file, time=at, time_source=source)
        for file, at in zip(artefacts, given, strict=True)
    ]


def dates_of(of_day: Sequence[str], others: Sequence[Artefact]) -> list[datetime]:
    """Return times of day such as `03:57:27` on the date of dated files; empty if they differ."""
    known = sorted(at for file in others for at in dated_times(file))
    if not known or not of_day:
        return []
    begin, end = known[0], known[-1]
    middle = begin + (end - begin) / 2
    times = [_nearest(time.fromisoformat(each), middle) for each in of_day]
    are_within = all(begin - AROUND <= at <= end + AROUND for at in times)
    agree = any(bisect_left(known, at - AGREES) < bisect_right(known, at + AGREES) for at in times)
    return times if are_within and agree else []


def without_date(of_day: Sequence[str], others: Sequence[Artefact]) -> list[datetime]:
    """Return ascending times of day on an unknown day; empty if a file has a date.

    A time that is earlier than the one before is of the next day.
    """
    if not of_day or not all(of_day) or any(dated_times(file) for file in others):
        return []
    times: list[datetime] = []
    day = UNKNOWN_DAY
    for each in map(time.fromisoformat, of_day):
        if times and datetime.combine(day, each, UTC) < times[-1]:
            day += timedelta(days=1)
        times.append(datetime.combine(day, each, UTC))
    return times if times[0] < times[-1] <= times[0] + LONGEST else []


def dated_times(file: Artefact) -> list[datetime]:
    """Return the time of a file, if its name or its own clock has one."""
    return [file.time] if file.time_source in DATED and file.time is not None else []


def _in_name(file: Artefact) -> str:
    """The time of day of a file without a better clock, in a loop or in its name; else empty."""
    if file.time_source in DATED or file.kind.scope == CAPTURE_SCOPE:
        return ""
    if isinstance(file.source, SourcePart) and file.source.time_of_day:
        return file.source.time_of_day
    found = TIME_OF_DAY.search(PurePosixPath(file.source.name).name)
    return "" if found is None else f"{found[1]}:{found[3]}:{found[4]}"


def _nearest(of_day: time, to: datetime) -> datetime:
    """The moment at that time of day that is nearest to another."""
    days = (to.date() + timedelta(days=days) for days in (-1, 0, 1))
    return min((datetime.combine(day, of_day, UTC) for day in days), key=lambda at: abs(at - to))
