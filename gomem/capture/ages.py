"""The age of a process, which ps prints as ELAPSED: a clock that began when the process did.

It orders readings of one process, and two ages say exactly how much time lies between them. A date
comes from other files: if two ages are as far apart as two of their times, they say when the
process began; else a dated paste next to a reading does, to a minute or so.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from gomem.capture.clock import BESIDE, BY_NAME, EXACT, OWN_CLOCK
from gomem.capture.times_of_day import AGREES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gomem.capture.moment import Artefact

MIN_AGREEING = 2


def age_of(file: Artefact) -> tuple[int, int] | None:
    """Return PID and age of the process of the last reading of a table; None if it has neither."""
    return getattr(file.parsed, "age", None)


def in_order_of_age(groups: Sequence[list[Artefact]]) -> list[list[Artefact]]:
    """Sort groups of files by the age of the process, if each has one, and all of one process."""
    ages = [next(filter(None, map(age_of, group)), (0, 0)) for group in groups]
    pids = {pid for pid, _ in ages}
    if len(pids) != 1 or not pids.pop():
        return list(groups)
    return [group for _, group in sorted(zip(ages, groups, strict=True), key=lambda pair: pair[0])]


def with_times_by_age(artefacts: Sequence[Artefact]) -> list[Artefact]:
    """Give tables without a clock the time that the age of their process says, as far as known."""
    undated = [file for file in artefacts if file.time_source not in EXACT | {BY_NAME}]
    pids = {age[0] for file in undated if (age := age_of(file)) is not None}
    timed: dict[int, Artefact] = {}
    for pid in pids:
        same = [file for file in undated if (age_of(file) or (0, 0))[0] == pid]
        begun, source = begin_of(readings_of(same), artefacts), OWN_CLOCK
        if begun is None:
            begun, source = _begin_beside(same), BESIDE
        if begun is not None:
            timed |= {id(file): at_age(file, begun, source) for file in same}
    return [timed.get(id(file), file) for file in artefacts]


def readings_of(files: Sequence[Artefact]) -> list[Artefact]:
    """Return each reading of some tables as a file."""
    return [replace(file, parsed=dump) for file in files for dump in file.parsed.dumps]


def begin_of(readings: Sequence[Artefact], others: Sequence[Artefact]) -> datetime | None:
    """Return when the process of all readings began, by two times of other files; else None."""
    ages = [age_of(reading) for reading in readings]
    if None in ages or len({pid for pid, _ in filter(None, ages)}) != 1:
        return None
    elapsed = {timedelta(seconds=seconds) for _, seconds in filter(None, ages)}
    times = {file.time for file in others if file.time_source == OWN_CLOCK and file.time}
    agreeing = [
        (begun, each)
        for begun in sorted(time - age for time in times for age in elapsed)
        if len(each := _at_times(begun, elapsed, times)) >= MIN_AGREEING
    ]
    if not agreeing:
        return None
    most = max(len(each) for _, each in agreeing)
    best = [begun for begun, each in agreeing if len(each) == most]
    return best[0] if best[-1] - best[0] <= AGREES else None


def _at_times(
    begun: datetime, ages: set[timedelta], times: set[datetime]
) -> dict[timedelta, datetime]:
    """The time near each age, of a process that began then; of two ages, each has its own."""
    near = {age: min(times, key=lambda time: abs(time - begun - age)) for age in ages}
    found = {age: time for age, time in near.items() if abs(time - begun - age) <= AGREES}
    return found if len(set(found.values())) == len(found) else {}


def _begin_beside(readings: Sequence[Artefact]) -> datetime | None:
    """When a process began, by the dated pastes next to its readings; None if these differ."""
    begins = [
        file.time - timedelta(seconds=age[1])
        for file in readings
        if file.time_source == BESIDE and file.time and (age := age_of(file)) is not None
    ]
    return begins[0] if len(begins) == 1 else None


def at_age(file: Artefact, begun: datetime, source: str) -> Artefact:
    """Return a reading with the time that its process had its age."""
    age = age_of(file)
    assert age is not None
    return replace(file, time=begun + timedelta(seconds=age[1]), time_source=source)
