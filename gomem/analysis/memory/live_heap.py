"""How large is the live heap over time, without garbage, and does it grow?

HeapAlloc is the live heap plus garbage that no collection has found yet, so it swings. The marked
heap does not swing. The log prints it for each collection, runtime/metrics has it for the last one
(`/gc/heap/live:bytes`, since Go 1.21), and it follows from the next goal (NextGC is GOGC per cent
higher). Each mark is dated to its collection, LastGC, and not to the time of reading. Two snapshots
without a collection in between show the same mark. If fewer than three marks are known, heap
profiles add more: each shows what a collection found.

HeapAlloc is an upper bound of the live heap after the last mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.series.excursion import at_base
from gomem.analysis.series.level import Level, Rise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.statistics.sampling import FloatArray

LOG, MARKS, PROFILES = "log", "marks", "profiles"
MIN_MARKS = 3  # for a direction; below, profiles may have one
MIN_PROFILES = 4  # of a series that is better than marks which cover a third of it
FAR_LONGER = 3.0
REFUTED = 1.25  # times what goals tell: stacks and globals raise goals, and never lower them
FOLLOWS = 0.4  # of the rise: a kind of evidence that shows as much of it agrees
DEFAULT_GOGC = 1.0


@dataclass(frozen=True)
class Marks:
    """What the collections of one process marked, by its log."""

    seconds: FloatArray  # when each began, on the log's own clock
    live_bytes: FloatArray  # what each marked
    numbers: FloatArray  # which collection each is
    error_bytes: float  # how far a size can be off by the rounding of the log


@dataclass(frozen=True)
class InUse:
    """What a heap profile has in use: what a collection before it found."""

    seconds: float  # when it was first shown
    until_seconds: float  # when it was last shown
    in_use_bytes: float  # the total
    error_bytes: float  # half of the width of its 95 % interval, by sampling
    moment: str = ""  # the moment that first shows it
    until_moment: str = ""  # the moment that last shows it


@dataclass(frozen=True)
class LiveHeap:
    """The live heap over the time of a capture."""

    level: Level  # the best readings of it
    agreeing: frozenset[str]  # the kinds of evidence that show its rise, the level's own among them
    gogc: float  # GOGC as a fraction, by which goals were read as marks
    # What collections marked, by the log and by moments; None of fewer than two.
    marked: Level | None = None

    @cached_property
    def rise(self) -> Rise | None:
        """How it moved; None of fewer than two readings.

        Of a level that leaves its base several times, whichever is the less steady: all readings,
        or those at the base. Where the watch ends within an excursion, the last says nothing.
        """
        whole, base = self.level.rise, at_base(self.level).rise
        if whole is None or base is None:
            return whole
        return min(whole, base, key=lambda rise: rise.linear_share * rise.grown)

    @property
    def rises_between_bursts(self) -> bool:
        """Whether that is how its base moved, from which bursts were left out."""
        return self.rise is not None and self.rise is not self.level.rise

    @property
    def burst_at_end(self) -> float | None:
        """The last reading where it is of a burst, which `rise` leaves out; else None."""
        ends_in_one = at_base(self.level).seconds[-1] < self.level.seconds[-1]
        return float(self.level.values[-1]) if self.rises_between_bursts and ends_in_one else None

    @property
    def grown_to_the_end(self) -> float:
        """By how much it grew while the capture looked, as far as readings and HeapAlloc tell.

        Marks are of collections: behind the last, and before the first, a level that rises goes on
        as it did between them, up to what HeapAlloc leaves. 0 without two readings.
        """
        rise, level = self.rise, self.level
        if rise is None:
            return 0.0
        begin, until = level.watched or (level.seconds[0], level.seconds[-1])
        speed = max(0.0, rise.grown / rise.seconds)
        last = rise.last + speed * max(0.0, until - level.seconds[-1])
        if level.ceiling is not None and level.ceiling[1] >= rise.last:
            last = min(last, level.ceiling[1])
        return last - max(0.0, rise.first + speed * (begin - level.seconds[0]))


def live_heap(
    stats: pd.DataFrame,
    marks: Marks | None = None,
    profiles: Sequence[InUse] = (),
    gogc: float = DEFAULT_GOGC,
    gogc_bounds: tuple[float, float] | None = None,
) -> LiveHeap | None:
    """Put together what all says of the live heap; None where fewer than two readings do.

    `stats` has a row per moment that has MemStats, in order: `seconds` (when it was read), `LastGC`
    (in seconds on the same clock), `NumGC`, `NextGC`, `HeapAlloc`, `live_bytes`
    (`/gc/heap/live:bytes`) and `stack_bytes` (StackInuse, where stacks count for the goal); missing
    where it is not known. Marks are the log's; profiles are of one process, without those that
    repeat the one before. GOGC is a fraction, infinite where no goal follows from what was marked;
    its bounds are between which it lies, where that is all that is known.
    """
    stats = of_last_process(stats)
    evidence = _Evidence(stats, marks, tuple(profiles), gogc, gogc_bounds or (gogc, gogc))
    level = evidence.level
    if level is None or level.rise is None:
        return None
    return LiveHeap(level, evidence.agreeing(level), gogc, evidence.marked)


def of_last_process(stats: pd.DataFrame) -> pd.DataFrame:
    """The rows since NumGC last fell: before, it was another process."""
    began = np.flatnonzero(stats["NumGC"].diff().to_numpy(np.float64) < 0)
    return stats.iloc[int(began[-1]) :] if len(began) else stats


@dataclass(frozen=True)
class _Evidence:
    """All that says what is held."""

    stats: pd.DataFrame  # as of `live_heap`; of one process
    marks: Marks | None  # of the log
    profiles: tuple[InUse, ...]  # of one process
    gogc: float  # as a fraction
    gogc_bounds: tuple[float, float]  # between which it lies

    @property
    def level(self) -> Level | None:
        """The kind of evidence that shows most of the time, by most readings."""
        marked, shown = self.marked, self._level_of_profiles
        if marked is not None and len(shown) > 1 and self._are_beyond(marked):
            return shown
        if marked is None or len(marked) < min(MIN_MARKS, len(shown)):
            return shown if len(shown) > 1 else marked
        is_longer = shown.span_seconds > FAR_LONGER * marked.span_seconds
        return shown if len(shown) >= MIN_PROFILES and is_longer else marked

    def _are_beyond(self, marked: Level) -> bool:
        """Whether profiles surely have more in use than goals tell: those are a memory limit's."""
        most = max(profile.in_use_bytes - profile.error_bytes for profile in self.profiles)
        return most > REFUTED * float((marked.values + marked.errors).max())

    def agreeing(self, level: Level) -> frozenset[str]:
        """The kinds of evidence that rise as the level does."""
        rise = level.rise
        assert rise is not None
        rises = {
            LOG: _grown(self.marks.live_bytes) if self.marks is not None else 0.0,
            MARKS: _grown(self._moments["value"].to_numpy(np.float64)),
            PROFILES: _grown([profile.in_use_bytes for profile in self.profiles]),
        }
        least = FOLLOWS * rise.grown
        follow = {kind for kind, grown in rises.items() if grown >= least > 0}
        return frozenset(follow | {level.source})

    @cached_property
    def marked(self) -> Level | None:
        """What collections marked, by the log and by moments on one clock; None of fewer than two.

        Where nothing ties the log to the moments' clock, whichever has more.
        """
        moments, log = self._moments, self.marks
        source, rows, watched = MARKS, moments, self._watched
        if log is not None and len(log.seconds) >= MIN_MARKS:
            of_log = pd.DataFrame(
                {
                    "seconds": log.seconds,
                    "value": log.live_bytes + log.error_bytes,
                    "error": log.error_bytes,
                    "number": log.numbers,
                }
            )
            offset = self._offset(of_log)
            if offset is not None:
                of_log["seconds"] += offset
                new = of_log[~of_log["number"].isin(moments["number"])]
                rows = pd.concat([moments, new], ignore_index=True)
            elif len(moments) < MIN_MARKS or len(of_log) >= FAR_LONGER * len(moments):
                source, rows, watched = LOG, of_log, None
        rows = rows.sort_values("seconds", kind="stable").drop_duplicates("seconds", keep="last")
        if len(rows) < 2:
            return None
        seconds, values, errors = (
            rows[name].to_numpy(np.float64) for name in ("seconds", "value", "error")
        )
        ceiling = None if source == LOG else self._ceiling
        return Level(source, seconds, values, errors, watched=watched, ceiling=ceiling)

    @cached_property
    def _moments(self) -> pd.DataFrame:
        """The mark of each collection that a moment shows, at the time of that collection."""
        stats = self.stats
        next_goals = stats["NextGC"].to_numpy(np.float64)
        goals = next_goals / (1 + self.gogc)
        least, most = (next_goals / (1 + gogc) for gogc in reversed(self.gogc_bounds))
        # Somewhere between none and all of the stacks was scanned, and raised the goal.
        stacks = np.nan_to_num(stats["stack_bytes"].to_numpy(np.float64))
        by_stacks = np.minimum(stacks * (1 - 1 / (1 + self.gogc)), goals) / 2
        errors = by_stacks + np.maximum(goals - least, most - goals)
        live = stats["live_bytes"].to_numpy(np.float64)
        at = stats["LastGC"].where(stats["LastGC"] > 0, stats["seconds"])
        if at.isna().all():
            at = pd.Series(np.arange(len(stats), dtype=np.float64), stats.index)
        rows = pd.DataFrame(
            {
                "seconds": at.to_numpy(np.float64),
                "value": np.where(np.isnan(live), goals - by_stacks, live),
                "error": np.where(np.isnan(live), errors, 0.0),
                "number": stats["NumGC"].to_numpy(np.float64),
            }
        )
        rows = rows[(rows["value"] > 0) & rows["seconds"].notna() & (rows["number"] > 0)]
        return rows.drop_duplicates("number", keep="first")

    def _offset(self, log: pd.DataFrame) -> float | None:
        """What the log's clock lacks of the moments'; None where no collection is in both."""
        both = log.merge(self._moments, on="number", suffixes=("", "_moment"))
        both = both[~both["number"].duplicated(keep=False)]
        if both.empty:
            return None
        return float((both["seconds_moment"] - both["seconds"]).median())

    @property
    def _watched(self) -> tuple[float, float] | None:
        """From the first thing that was read to the last."""
        read = [
            *self.stats["seconds"].dropna().tolist(),
            *self.stats["LastGC"].where(self.stats["LastGC"] > 0).dropna().tolist(),
            *(end for profile in self.profiles for end in (profile.seconds, profile.until_seconds)),
        ]
        return (min(read), max(read)) if read else None

    @property
    def _ceiling(self) -> tuple[float, float] | None:
        """HeapAlloc at the last moment that has a time."""
        timed = self.stats.dropna(subset=["seconds", "HeapAlloc"])
        if timed.empty:
            return None
        return float(timed["seconds"].iloc[-1]), float(timed["HeapAlloc"].iloc[-1])

    @property
    def _level_of_profiles(self) -> Level:
        rows = [
            (profile.seconds, profile.in_use_bytes, profile.error_bytes)
            for profile in self.profiles
        ]
        seconds, values, errors = np.array(rows, np.float64).reshape(len(rows), 3).T
        within = {"watched": self._watched, "ceiling": self._ceiling}
        return Level(PROFILES, seconds, values, errors, **within)


def _grown(values: Iterable[float]) -> float:
    """The last reading less the first, of many by medians of a tenth; 0 of fewer than two."""
    sizes = np.asarray(list(values), np.float64)
    sizes = sizes[~np.isnan(sizes)]
    if len(sizes) < 2:
        return 0.0
    tenth = max(1, len(sizes) // 10)
    return float(np.median(sizes[-tenth:]) - np.median(sizes[:tenth]))
