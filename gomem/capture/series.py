"""Files with several readings: a log of MemStats, the listings of a loop of ps, a log of top.

Readings with a time go onto the capture's timeline (`gomem.capture.timeline`). Readings without one
have only their order: they are snapshots if nothing else is, or if the other files were taken at
their end; else the last reading is used, as it is unknown which one belongs to the other files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice, pairwise
from pathlib import PurePosixPath
from statistics import median
from typing import TYPE_CHECKING, Any, cast

from gomem.capture.ages import at_age, begin_of
from gomem.capture.clock import BESIDE, CLOCK_WITHOUT_DATE, OWN_CLOCK
from gomem.capture.pasted import PastedPart
from gomem.capture.place import AFTER, ONE_SCRIPT, are_repeated, place_of_word, stem_of
from gomem.capture.runs import in_order
from gomem.capture.times_of_day import dates_of, without_date
from gomem.inputs.kinds import MOMENT_SCOPE
from gomem.sources.artefact import SourcePart
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gomem.capture.moment import Artefact

# Kinds whose files can have several readings.
SERIES = frozenset({"memstats", "processes", "runtime_lines"})
FARTHEST = timedelta(minutes=1)  # from a reading to the snapshot that it joins


@dataclass(frozen=True)
class Series:
    """A file with several readings, each with a time."""

    name: str
    readings: tuple[Artefact, ...]  # in the order of their times

    @property
    def reach(self) -> timedelta:
        """How far a reading can be from the snapshot that it joins."""
        steps = [
            (cast("datetime", late.time) - cast("datetime", early.time)).total_seconds()
            for early, late in pairwise(self.readings)
        ]
        return min(FARTHEST, max(ONE_SCRIPT, timedelta(seconds=median(steps) / 2)))


def taken_apart(artefacts: list[Artefact]) -> tuple[list[Artefact], list[Series]]:
    """Take files apart whose readings all have a time; return the other files, and the series.

    A file alone stays, and so does a paste beside files without a clock.
    """
    of_moments = [file for file in artefacts if file.kind.scope == MOMENT_SCOPE]
    if len(of_moments) < 2:
        return artefacts, []
    are_dated = all(file.time_source in {OWN_CLOCK, BESIDE} for file in of_moments)
    are_dated |= _are_of_one_day(of_moments)
    found = {
        id(file): series
        for file in artefacts
        if file.kind.name in SERIES and (are_dated or not _is_pasted(file))
        if (series := _series_of(file, artefacts)) is not None
    }
    left = [file for file in artefacts if id(file) not in found]
    return left, [*found.values()]


def _are_of_one_day(files: Sequence[Artefact]) -> bool:
    """Whether pastes are series of different kinds, each with the times of day of its readings."""
    return len({file.kind.name for file in files}) == len(files) and all(
        file.kind.name in SERIES
        and has_several(file)
        and all(getattr(dump, "time_of_day", "") for dump in file.parsed.dumps)
        for file in files
    )


def _series_of(file: Artefact, others: Sequence[Artefact]) -> Series | None:
    """The readings of a file; None if it has only one, or one without a time.

    Times of day get the date of the other files.
    """
    if not has_several(file):
        return None
    readings = _timed(file, others)
    if not readings or not all(reading.time for reading in readings):
        return None
    return Series(file.source.name, tuple(in_order(readings)))


def _timed(file: Artefact, others: Sequence[Artefact]) -> list[Artefact]:
    """The readings of a file; if all have a time of day only, on the date of the other files."""
    readings = [_with_time(file, dump) for dump in file.parsed.dumps]
    if any(reading.time for reading in readings):
        return readings
    of_day = [getattr(reading.parsed, "time_of_day", "") for reading in readings]
    times, source = dates_of(of_day, others) if all(of_day) else [], OWN_CLOCK
    if begun := begin_of(readings, others):
        return [at_age(reading, begun, OWN_CLOCK) for reading in readings]
    if not times:
        times, source = without_date(of_day, others), CLOCK_WITHOUT_DATE
    if not times:
        return readings
    return [
        replace(reading, time=time, time_source=source)
        for reading, time in zip(readings, times, strict=True)
    ]


def with_undated_series(artefacts: list[Artefact], timed: Sequence[Series]) -> list[Artefact]:
    """Split a file with several readings into snapshots, unless other files have snapshots.

    Its times of day get a date from the readings of other files, `timed`, if from anywhere.

    Otherwise it is unknown which reading belongs to the other files, and the last reading is used.
    Other files that were taken once, without a clock, belong to the end of the series, and so does
    what is pasted below it.
    """
    of_moments = [artefact for artefact in artefacts if artefact.kind.scope == MOMENT_SCOPE]
    many = [file for file in of_moments if file.kind.name in SERIES and has_several(file)]
    are_pasted = all(map(_is_pasted, many))
    if len({file.kind.name for file in many}) != 1 or not (len(many) == 1 or are_pasted):
        return artefacts
    if are_pasted:
        many = [file for file in of_moments if file.kind is many[0].kind]
    beside = [file for file in of_moments if not any(file is series for series in many)]
    are_at_end = _are_taken_once(beside, many[0]) or _are_below(beside, many[-1])
    if not are_at_end and not all(map(_is_undated_paste, beside)):
        return artefacts
    dated = [*artefacts, *(reading for series in timed for reading in series.readings)]
    dumps = in_order([reading for file in many for reading in _timed(file, dated)])
    if beside and not are_at_end and dumps[-1].time is None:
        return artefacts
    undated = [replace(file, is_of_last=True) for file in beside]
    others = [file for file in artefacts if file.kind.scope != MOMENT_SCOPE]
    return [*others, *dumps, *undated]


def _are_taken_once(files: Sequence[Artefact], series: Artefact) -> bool:
    """Whether files beside a series were taken once: at one place, and one of each kind.

    They were most likely taken at its end, unless a word or number in their name, or a clock, says
    otherwise.
    """
    names = [PurePosixPath(file.source.name) for file in files]
    stems = {stem_of(name.name) for name in names} - {""}
    late = [dump.time for dump in series.parsed.dumps if dump.time is not None][-2:-1]
    times = [file.exact_time for file in files if file.exact_time is not None]
    return (
        not _is_pasted(series)
        and {name.parent for name in names} <= {PurePosixPath(series.source.name).parent}
        and {place_of_word(stem) for stem in stems} <= {AFTER, None}
        and not any(is_digits(letter) for stem in stems for letter in stem)
        and len(stems) < 2
        and all(time >= least for time in times for least in late)
        and not are_repeated([series, *files])
    )


def _are_below(files: Sequence[Artefact], series: Artefact) -> bool:
    """Whether files are pastes of one kind each in the text of a series, all below it."""
    text = series.source
    if not isinstance(text, SourcePart) or are_repeated([series, *files]):
        return False
    return all(
        isinstance(file.source, PastedPart)
        and file.source.text_name == text.text_name
        and file.source.first_line > text.first_line
        for file in files
    )


def has_several(file: Artefact) -> bool:
    """Whether a file has several readings."""
    return next(islice(file.parsed.dumps, 1, None), None) is not None


def _is_pasted(artefact: Artefact) -> bool:
    return isinstance(artefact.source, PastedPart)


def _is_undated_paste(artefact: Artefact) -> bool:
    return _is_pasted(artefact) and artefact.time_source != OWN_CLOCK


def _with_time(series: Artefact, dump: Any) -> Artefact:
    """One dump of a series, with its own time; without time if it has none."""
    source = OWN_CLOCK if dump.time else ""
    return replace(series, parsed=dump, time=dump.time, time_source=source)
