"""Is the live heap level at the end? That answers whether memory that grew goes on growing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.groups import FREE, GARBAGE
from gomem.analysis.memory.live_heap import LOG, PROFILES
from gomem.analysis.series.level import LATE, Level
from gomem.analysis.series.shapes import MOVES
from gomem.causes.checks import grows, printed_bytes
from gomem.diagnosis.changes import is_stable
from gomem.facts.profiles import IN_USE, that_count
from gomem.text import Bytes, Count, Seconds, Text, text

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Account
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

MIN_READINGS = 3  # GCs at the end that find about the same
SAME = 0.01  # of a level: two GCs that differ by no more found the same
MIN_SHARE = 0.1  # of the total: a smaller live heap does not decide how it moves
DRIFT = 0.025  # of a level: its second half is no higher than that
MOSTLY = 0.75  # of a growth
SWAYS = 2.0  # errors of a reading: a level's readings differ by no more


@dataclass(frozen=True)
class Stretch:
    """The readings at the end of a level that are about the same."""

    begins: float  # the time of the first, on the level's clock
    readings: int
    seconds: float  # from the first to the last
    least: float
    most: float
    is_whole: bool  # whether all readings are in it


def level_at_end(level: Level) -> Stretch | None:
    """Return the longest stretch at the end in which a level stays; None if it is too short.

    It has to last for a third of what was watched, and its second half may be no higher. Two
    readings are enough if they are the same.
    """
    values, seconds, errors = level.values, level.seconds, level.each_error
    ends = values[::-1]
    highest, lowest = np.maximum.accumulate(ends), np.minimum.accumulate(ends)
    slack = MOVES * highest + SWAYS * np.maximum.accumulate(errors[::-1])
    count = int(np.argmin(np.append(highest - lowest <= slack, False)))
    begins = float(seconds[-count])
    stretch = Stretch(
        begins=begins,
        readings=count,
        seconds=float(seconds[-1]) - begins,
        least=float(lowest[count - 1]),
        most=float(highest[count - 1]),
        is_whole=count == len(values),
    )
    begin, until = level.watched or (float(seconds[0]), float(seconds[-1]))
    watched = max(until, float(seconds[-1])) - min(begin, float(seconds[0]))
    is_same = count > 1 and stretch.most - stretch.least <= SAME * stretch.most
    is_long = (count >= MIN_READINGS or is_same) and stretch.seconds >= LATE * watched
    return stretch if is_long and _stays(values[-count:], errors[-count:]) else None


def _stays(values: np.ndarray, errors: np.ndarray) -> bool:
    """Whether the second half of a stretch is no higher than the first, within the errors."""
    half = len(values) // 2
    risen = float(np.median(values[-half:]) - np.median(values[:half]))
    return risen <= max(DRIFT * float(values.max()), float(np.median(errors)))


def live_level_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """Say that the last GCs found about the same live heap; empty if they did not, or are few."""
    stretch, account = live_stretch(diagnosis), diagnosis.facts.account
    live = diagnosis.facts.live_heap
    if facts is None or facts.ledger is None or stretch is None or account is None or live is None:
        return Text()
    if stretch.most < MIN_SHARE * account.last.total_bytes:
        return Text()
    ends, error = (stretch.least, stretch.most), live.level.error_at(-1)
    least, most = (Bytes(printed_bytes(size, error)) for size in ends)
    size = most if least == most else text("{} to {}", least, most)
    which = "all" if stretch.is_whole else "the last"
    is_both = stretch.is_whole and stretch.readings == 2
    seen = Text("both GCs") if is_both else text(f"{which} {{}}", Count(stretch.readings, "GC"))
    words = "The live heap is level: {} after {} ({}){}."
    return text(words, size, seen, Seconds(stretch.seconds), _reused(account))


def _reused(account: Account) -> str:
    """Say that what grew beside a level live heap is reused; empty if it is mostly not."""
    change = account.last.total_bytes - account.first.total_bytes
    room = sum(part.change.middle for part in account.parts if part.groups <= {GARBAGE, FREE})
    has_grown = not is_stable(account.first, account.last) and room >= MOSTLY * change > 0
    return "; most of the growth is garbage and free heap, which Go reuses" if has_grown else ""


def live_stretch(diagnosis: Diagnosis) -> Stretch | None:
    """The stretch of the live heap that collections marked, unless a finding says that it grows."""
    live = diagnosis.facts.live_heap
    if live is None or live.earlier_run is not None:
        return None
    if live.level.source == PROFILES or live.level.is_rough:
        return None
    return None if grows(diagnosis.case) else level_at_end(live.level)


def is_level_between_profiles(diagnosis: Diagnosis) -> bool:
    """Whether GCs found a level live heap for as long as the heap profiles were taken.

    Profiles that differ then are a GC or two behind, or differ by sampling. The first was taken
    after a GC of the level, by NumGC beside it or by its time; a log has a clock of its own.
    """
    stretch, live = live_stretch(diagnosis), diagnosis.facts.live_heap
    profiles = that_count(IN_USE, diagnosis.facts.profiles.in_order)
    if stretch is None or live is None or not profiles:
        return False
    moment, first = next(iter(profiles.items()))
    facts, log = diagnosis.by_moment.get(moment), diagnosis.collector
    counted = None if facts is None else facts.told("NumGC")
    last = None if log is None else log.last_number
    if counted is not None and last is not None and counted > last - stretch.readings:
        return True
    return live.level.source != LOG and stretch.begins <= first.columns.time_nanos / 1e9


def level_profiles_words(diagnosis: Diagnosis) -> Text:
    """Say that heap profiles have about the same in use, or even the same data; else empty.

    Without a GC between them they repeat the first one. Few seconds show no slow leak.
    """
    shown, every = diagnosis.facts.profiles.of_in_use, diagnosis.capture.heap_profiles
    count = len(shown.news) + len(shown.repeated)
    if count < 2 or count < len(that_count(IN_USE, every)):
        return Text()
    seconds = Seconds(shown.news[-1].until_seconds)
    if len(shown.news) == 1:
        words = "{} in {} have the same data: no GC ran in between, so they cannot show growth."
        return text(words, Count(count, "heap profile"), seconds)
    sizes = [new.profile.total(IN_USE) for new in shown.news]
    if max(sizes) - min(sizes) > MOVES * max(sizes):
        return Text()
    least, most = Bytes(min(sizes)), Bytes(max(sizes))
    size = most if least == most else text("{} to {}", least, most)
    words = "In use is level: {} in {} ({}); a slow leak takes longer to show."
    return text(words, size, Count(count, "heap profile"), seconds)
