"""Put readings and files on one timeline: what was taken at about the same time is one snapshot.

People watch a process with several loops at once: `ps` every three seconds into one file, a heap
profile every ten into others, and the program's own log beside them. A file with dated readings is
taken apart. Each reading joins the snapshot of the other files that is nearest in time, if nearer
than half of the time between two readings; the others are snapshots of their own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from gomem.capture.clock import CLOCK_WITHOUT_DATE, time_in_name
from gomem.capture.loops import LoopPart
from gomem.capture.manifest import ONLY_MOMENT
from gomem.capture.place import (
    AFTER,
    ONE_SCRIPT,
    TOP_MOMENT,
    are_repeated,
    names_of_day,
    place_of_word,
    row_of,
    stem_of,
)
from gomem.capture.times_of_day import TIME_OF_DAY, dated_times
from gomem.sources.names import natural_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import timedelta

    from gomem.capture.moment import Artefact
    from gomem.capture.series import Series


def with_series(placed: Sequence[Artefact], series: Iterable[Series]) -> list[Artefact]:
    """Add the readings of series to placed files.

    Files without a time and a snapshot of their own were taken once, most likely at the end.
    """
    groups: dict[str, list[Artefact]] = defaultdict(list)
    for file in placed:
        groups[file.moment].append(file)
    whole = groups.pop("", [])
    loops = sorted(series, key=lambda loop: -len(loop.readings))
    stems = Counter(map(_stem, loops))
    for each in loops:
        _join(groups, each, is_alone=stems[_stem(each)] == 1)
    last = max(groups, key=lambda name: _time(groups[name]) or datetime.min.replace(tzinfo=UTC))
    at_the_end = [name for name in groups if place_of_word(name) == AFTER]
    for name in (ONLY_MOMENT, TOP_MOMENT, *at_the_end[: len(at_the_end) == 1]):
        if name in groups and name != last and _time(groups[name]) is None:
            ends = [replace(file, moment=last, is_of_last=True) for file in groups.pop(name)]
            groups[last] += ends
    return [*whole, *(file for group in groups.values() for file in group)]


def _stem(series: Series) -> str:
    """What the snapshots of a series are called by; its folder comes first where two have one."""
    path = PurePosixPath(series.name)
    return stem_of(path.name) or path.name.partition(".")[0] or ONLY_MOMENT


def _join(groups: dict[str, list[Artefact]], series: Series, *, is_alone: bool) -> None:
    """Add readings to the nearest snapshots, each at most once; the others become snapshots."""
    times = [cast("datetime", reading.time) for reading in series.readings]
    reach = series.reach
    near = sorted(
        (abs(at - times[number]), number, name)
        for name, group in groups.items()
        if (at := _time(group)) is not None
        for number in _within(times, at, reach)
        if not are_repeated([*group, series.readings[number]])
    )
    joined: dict[int, str] = {}
    taken: set[str] = set()
    for _, number, name in near:
        if number not in joined and name not in taken:
            joined[number] = name
            taken.add(name)
    folder = PurePosixPath(series.name).parent
    stem = _stem(series) if is_alone else str(folder / _stem(series))
    clocks = names_of_day(times) if is_alone else []
    names = _names(series.readings, clocks, stem, set(groups))
    for number, (reading, name) in enumerate(zip(series.readings, names, strict=False)):
        moment = joined.get(number, name)
        if moment == ONLY_MOMENT and clocks:
            groups[name] += [replace(file, moment=name) for file in groups.pop(moment)]
            moment = name
        groups[moment].append(replace(reading, moment=moment))


def _names(
    readings: Sequence[Artefact], clocks: Sequence[str], stem: str, others: set[str]
) -> Iterable[str]:
    """What readings of a series are called: by their time, the row in the file, or a number."""
    rows = [f"{stem}-{row}" for reading in readings if (row := row_of(reading))]
    for names in (clocks, rows):
        if len(names) == len(readings) and others.isdisjoint(names):
            return names
    return (name for number in count(1) if (name := f"{stem}-{number}") not in others)


def _within(times: Sequence[datetime], at: datetime, reach: timedelta) -> range:
    """The places of ascending times that are at most so far from another."""
    return range(bisect_left(times, at - reach), bisect_right(times, at + reach))


def _time(group: Sequence[Artefact]) -> datetime | None:
    """The time of a snapshot, from its first clock; None without one."""
    of_day = (file.time for file in group if file.time_source == CLOCK_WITHOUT_DATE and file.time)
    times = [*(at for file in group for at in dated_times(file)), *of_day]
    return min(times, default=None)


def with_stamped(placed: Sequence[Artefact]) -> list[Artefact]:
    """Join snapshots taken within seconds of one that a time names, if no kind is there twice.

    `heap_after.pb.gz` has a clock: it is of the snapshot of `metrics-04-02-26.prom`. A name with
    the date is kept rather than one with the time of day.
    """
    groups: dict[str, list[Artefact]] = defaultdict(list)
    for file in placed:
        groups[file.moment].append(file)
    hosts = {
        name
        for name, group in groups.items()
        if time_in_name(name)
        or TIME_OF_DAY.search(name)
        or all(isinstance(file.source, LoopPart) for file in group)
    }
    times = {name: at for name, group in groups.items() if (at := _time(group)) is not None}
    dated = {name for name in hosts if time_in_name(name)}
    in_time = sorted(hosts & times.keys(), key=lambda host: times[host])
    clock = [times[host] for host in in_time]
    joining = times.keys() - dated - {""}
    renamed: dict[str, str] = {}
    for name in sorted(joining, key=lambda name: (name in hosts, natural_key(name))):
        near = [
            host
            for host in (in_time[place] for place in _within(clock, times[name], ONE_SCRIPT))
            if host != name
            and host not in renamed
            and (name not in hosts or host in dated)
            and not are_repeated([*groups[host], *groups[name]])
        ]
        if near:
            host = min(near, key=lambda host: (abs(times[host] - times[name]), host))
            groups[host] = [*groups[host], *groups[name]]
            renamed[name] = host
    return [replace(file, moment=_last(file.moment, renamed)) for file in placed]


def _last(name: str, renamed: Mapping[str, str]) -> str:
    """The snapshot that a renamed one has become."""
    while name in renamed:
        name = renamed[name]
    return name
