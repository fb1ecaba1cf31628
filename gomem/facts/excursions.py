"""Which metrics of a capture spiked, by which evidence, and what allocated at the time?

Four kinds of evidence can show a spike, the clearest first: memory in use in heap profiles (and
single objects between two of them, see `large_objects`), the marked heap, HeapAlloc, and RSS with
the kernel's own peak (VmHWM). HeapAlloc is the weakest for the heap: it includes garbage, so it
swings up to the heap goal in normal operation.

The profiles around the peak show what allocated. If one was taken in a burst, what it has in use
beyond a profile outside shows what filled up; a profile lags, so this can be a part of the rise.
Otherwise the difference in alloc_space shows it, which also counts memory freed since.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.profiles.allocation_spikes import large_objects
from gomem.analysis.profiles.own_code import holders
from gomem.analysis.series.excursion import MIDDLE, Excursion, excursion_of
from gomem.analysis.series.level import Level
from gomem.facts.live_heap import IN_USE, in_use_of
from gomem.facts.moment import MomentFacts, seconds_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from gomem.analysis.memory.live_heap import LiveHeap
    from gomem.facts.capture import CaptureFacts
    from gomem.inputs.pprof.table import Profile

PROFILES, MARKS, HEAP_ALLOC, RSS = "profiles", "marks", "HeapAlloc", "RSS"
ALLOCATED = "alloc_space"
MIN_FILLED = 0.2  # of the rise: a profile in a burst has at least this much more in use
MAX_MARKS = 400  # for a long log, the highest mark of each of as many stretches


@dataclass(frozen=True)
class Sighting:
    """One kind of evidence in which a level rose above its baseline and fell back."""

    source: str  # `profiles`, `marks`, `HeapAlloc` or `RSS`
    level: Level  # the readings, in bytes
    moments: tuple[str, ...]  # the snapshot of each reading; empty if unknown
    excursion: Excursion  # how the level rose above its baseline and fell back
    # The level reached in normal operation: the usual heap goal for HeapAlloc; else 0.
    swing_bytes: float = 0.0
    # The program's functions that hold more at the peak, or allocated more until then; see
    # `profiles.own_code.HOLDERS`. None without two such profiles.
    holders: pd.DataFrame | None = None
    profiles: tuple[str, str] | None = None  # the snapshots of these profiles
    # the sample type of `holders`, inuse_space or alloc_space; empty without them
    held_in: str = ""
    is_timed: bool = True  # whether the readings have times; else they are numbered

    @property
    def peak_moment(self) -> str:
        """The snapshot with the highest reading; empty if unknown."""
        return self.moments[self.excursion.peak]

    @property
    def last_moment(self) -> str:
        """The snapshot with the last reading away from the baseline; empty if unknown."""
        return self.moments[self.excursion.last]


def sightings_of(facts: CaptureFacts) -> tuple[Sighting, ...]:
    """Return the levels that rose above their baseline and fell back, the clearest first."""
    known = facts.capture.status.dropna(subset=["VmHWM"])
    peaks = dict(zip(known["moment"], known["VmHWM"].astype(float), strict=True))
    return sightings(facts.of_last_process, facts.profiles.of_last_process, facts.live_heap, peaks)


def sightings(
    moments: Sequence[MomentFacts],
    profiles: Mapping[str, Profile],
    live: LiveHeap | None,
    peaks: Mapping[str, float],
) -> tuple[Sighting, ...]:
    """Return each kind of evidence in which a level left its baseline, the clearest first.

    `profiles` are heap profiles of the last process and `peaks` the largest RSS so far (VmHWM),
    both by snapshot.
    """
    timed = [(name, profile.columns.time_nanos / 1e9) for name, profile in profiles.items()]
    levels = (
        _of_profiles(profiles),
        _of_marks(live, moments),
        _of_heap_alloc(moments),
        _of_rss(moments, peaks),
    )
    return tuple(_attributed(seen, profiles, dict(timed)) for seen in levels if seen is not None)


def _seen(
    source: str,
    seconds: ArrayLike,
    values: ArrayLike,
    moments: Sequence[str],
    *,
    is_timed: bool = True,
) -> Sighting | None:
    """Return the excursion of a level; None if there is none."""
    at, sizes = np.asarray(seconds, np.float64), np.asarray(values, np.float64)
    order = np.argsort(at, kind="stable")
    level = Level(source, at[order], sizes[order])
    excursion = excursion_of(level)
    if excursion is None:
        return None
    names = tuple(moments[place] for place in order)
    return Sighting(source, level, names, excursion, is_timed=is_timed)


def _of_profiles(profiles: Mapping[str, Profile]) -> Sighting | None:
    """Return the memory in use by each profile with new data, for as long as it stayed the same."""
    shown = in_use_of(profiles)
    rows = [(reading.seconds, reading.in_use_bytes, reading.moment) for reading in shown]
    rows += [
        (reading.until_seconds, reading.in_use_bytes, reading.until_moment)
        for reading in shown
        if reading.until_seconds > reading.seconds
    ]
    rows += [(each.seconds, each.least_in_use, each.moment) for each in large_objects(profiles)]
    return _seen(PROFILES, *zip(*rows, strict=True)) if rows else None


def _of_marks(live: LiveHeap | None, moments: Sequence[MomentFacts]) -> Sighting | None:
    """Return what collections marked, each at the first snapshot that can show it."""
    marked = None if live is None else live.marked
    if marked is None:
        return None
    timed = [
        (moment.time.timestamp(), moment.name) for moment in moments if moment.time is not None
    ]
    timed = timed if len(timed) == len(moments) else []  # else an untimed one could be first
    starts = np.array([at for at, _ in timed])
    names = [*(name for _, name in timed), timed[-1][1]] if timed else [""]
    blocks = np.array_split(np.arange(len(marked)), min(len(marked), MAX_MARKS))
    highest = np.array([block[marked.values[block].argmax()] for block in blocks])
    seconds, sizes = marked.seconds[highest], marked.values[highest]
    is_on_log = marked.source == "log"  # the log has its own clock
    places = np.full(len(highest), len(starts)) if is_on_log else np.searchsorted(starts, seconds)
    return _seen(MARKS, seconds, sizes, [names[place] for place in places.tolist()])


def _of_heap_alloc(moments: Sequence[MomentFacts]) -> Sighting | None:
    told = [moment for moment in moments if moment.memstats is not None]
    sizes = [float(moment.memstats["HeapAlloc"]) for moment in told if moment.memstats is not None]
    at, is_timed = _seconds(told)
    names = [moment.name for moment in told]
    seen = _seen(HEAP_ALLOC, at, sizes, names, is_timed=is_timed)
    goals = pd.Series([moment.memstats["NextGC"] for moment in told if moment.memstats is not None])
    goal = pd.to_numeric(goals).median()
    return None if seen is None else replace(seen, swing_bytes=0.0 if pd.isna(goal) else goal)


def _of_rss(moments: Sequence[MomentFacts], peaks: Mapping[str, float]) -> Sighting | None:
    """Return RSS at each snapshot, and the kernel's peak between two snapshots if it rose there."""
    told = [moment for moment in moments if moment.rss_bytes is not None]
    at, is_timed = _seconds(told)
    names = [moment.name for moment in told]
    sizes = [float(moment.rss_bytes or 0) for moment in told]
    for place in range(1, len(told)):
        before, peak = (peaks.get(name, np.nan) for name in names[place - 1 : place + 1])
        if peak > before and peak > max(sizes[place - 1], sizes[place]):
            at.append((at[place - 1] + at[place]) / 2)
            sizes.append(peak)
            names.append(names[place])
    return _seen(RSS, at, sizes, names, is_timed=is_timed)


def _seconds(moments: Sequence[MomentFacts]) -> tuple[list[float], bool]:
    """Return the snapshots' times and True; or their positions and False if a time is unknown."""
    seconds = seconds_of(moments)
    first = moments[0].time if moments else None
    if seconds is None or first is None:
        return [float(place) for place in range(len(moments))], False
    return (seconds + first.timestamp()).tolist(), True


def _attributed(
    seen: Sighting, profiles: Mapping[str, Profile], times: Mapping[str, float]
) -> Sighting:
    """Add the functions that hold the memory, as far as profiles around the peak show them."""
    if seen.source != PROFILES and (filled := _filled_up(seen, profiles, times)) is not None:
        return filled
    begin, peak = (
        seen.level.seconds[place] for place in (seen.excursion.before, seen.excursion.peak)
    )
    before = [name for name, at in times.items() if at <= begin]
    after = [name for name, at in times.items() if at >= peak]
    if not before or not after:
        return seen
    old, new = max(before, key=lambda name: times[name]), min(after, key=lambda name: times[name])
    is_met = seen.source == PROFILES and times[new] == peak
    wanted = IN_USE if is_met else ALLOCATED
    if old == new or not all(wanted in profiles[name].sample_type_names for name in (old, new)):
        return seen
    rows = holders(profiles[new], profiles[old], wanted)
    return replace(seen, holders=rows, profiles=(old, new), held_in=wanted)


def _filled_up(
    seen: Sighting, profiles: Mapping[str, Profile], times: Mapping[str, float]
) -> Sighting | None:
    """Add the functions with more in use in a burst than outside, if they are enough of the rise.

    None if no profile was taken in a burst, or none outside.
    """
    high = seen.excursion.base + MIDDLE * seen.excursion.extra
    levels = {
        name: level
        for name, profile in profiles.items()
        if IN_USE in profile.sample_type_names
        and (level := _level_at(seen, name, times[name])) is not None
    }
    inside = [name for name, level in levels.items() if level >= high]
    outside = [name for name, level in levels.items() if level < high]
    if not inside or not outside:
        return None
    new = max(inside, key=lambda name: profiles[name].total(IN_USE))
    old = min(outside, key=lambda name: abs(times[name] - times[new]))
    rows = holders(profiles[new], profiles[old], IN_USE)
    if rows.empty or rows["low"].iloc[0] < MIN_FILLED * seen.excursion.extra:
        return None
    return replace(seen, holders=rows, profiles=(old, new), held_in=IN_USE)


def _level_at(seen: Sighting, moment: str, seconds: float) -> float | None:
    """Return the level at a snapshot; None if it has no reading.

    What a collection marked is the level until the next one.
    """
    values = seen.level.values
    if seen.source != MARKS:
        return float(values[seen.moments.index(moment)]) if moment in seen.moments else None
    place = int(np.searchsorted(seen.level.seconds, seconds, side="right"))
    return float(values[place - 1]) if place else None
