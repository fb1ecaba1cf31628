"""How large is the live heap over time, without garbage, and does it grow?

HeapAlloc is the live heap plus garbage that no collection has found yet, so it rises and falls with
every cycle. The mark, which is what a collection marked, does not. The log prints the mark of each
collection, runtime/metrics has that of the last collection (`/gc/heap/live:bytes`, since Go 1.21),
and it can be computed from the next goal (NextGC is GOGC per cent higher). A mark is dated to its
collection, LastGC, and not to the time of reading. Two snapshots without a collection in between
show the same mark. If fewer than three marks are known, heap profiles add further readings: each
profile shows what a collection found.

HeapAlloc is an upper bound of the live heap after the last mark. If a log has HeapAlloc but no
goal, it also gives a lower bound of each mark, because it stays below the goal.
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
MIN_MARKS = 3  # for a direction; with fewer, profiles can have one
MIN_PROFILES = 4  # for a series that is preferred to marks over a third of its time
FAR_LONGER = 3.0
# times the mark inferred from goals: stacks and globals raise goals, and never lower them
REFUTED = 1.25
FOLLOWS = 0.4  # of the rise: evidence that shows this much of it agrees
DEFAULT_GOGC = 1.0
MIN_HEAP_BYTES = 4 << 20  # at GOGC=100: the goal is never lower, however small the mark


@dataclass(frozen=True)
class Marks:
    """What each collection of one process marked, from a log."""

    seconds: FloatArray  # start of each, on the log's own clock
    live_bytes: FloatArray  # live heap marked by each
    numbers: FloatArray  # number of each collection
    error_bytes: float  # the log's rounding of sizes


@dataclass(frozen=True)
class InUse:
    """In-use memory of a heap profile: what an earlier collection found live."""

    seconds: float  # when it was first shown
    until_seconds: float  # when it was last shown
    in_use_bytes: float  # the total
    error_bytes: float  # half of the width of its 95 % sampling interval
    moment: str = ""  # the first snapshot that shows it
    until_moment: str = ""  # the last snapshot that shows it


@dataclass(frozen=True)
class LiveHeap:
    """The live heap over time in a capture."""

    level: Level  # the best readings
    agreeing: frozenset[str]  # the kinds of evidence that show its rise, including the level's own
    gogc: float  # GOGC as a fraction, with which marks were computed from goals
    # What collections marked, from the log and from snapshots; None for fewer than two.
    marked: Level | None = None
    earlier_run: int | None = None  # the run of the log that it is of, if not the last

    @cached_property
    def rise(self) -> Rise | None:
        """The rise over time; None for fewer than two readings.

        If the level leaves its baseline several times, it is the less steady of two rises: the rise
        of all readings, and the rise of the readings at the baseline. If the recording ends during
        an excursion, the last reading proves nothing.
        """
        whole, base = self.level.rise, at_base(self.level).rise
        if whole is None or base is None:
            return whole
        return min(whole, base, key=lambda rise: rise.linear_share * rise.grown)

    @property
    def rises_between_bursts(self) -> bool:
        """Whether `rise` is the rise of the baseline, without bursts."""
        return self.rise is not None and self.rise is not self.level.rise

    @property
    def burst_at_end(self) -> float | None:
        """The last reading if it is in a burst that `rise` leaves out; else None."""
        ends_in_one = at_base(self.level).seconds[-1] < self.level.seconds[-1]
        return float(self.level.values[-1]) if self.rises_between_bursts and ends_in_one else None

    @property
    def grown_to_the_end(self) -> float:
        """The growth over the whole capture, as far as readings and HeapAlloc show it.

        Marks are dated to collections. Before the first mark and after the last, a rising level is
        extended at its rate, at the end at most to HeapAlloc. 0 without two readings.
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
    """Combine all evidence of the live heap; None for fewer than two readings.

    `stats` has a row per snapshot of one process with MemStats, in order: `seconds` (time of
    reading), `LastGC` (in seconds on the same clock), `NumGC`, `NextGC`, `HeapAlloc`, `live_bytes`
    (`/gc/heap/live:bytes`) and `stack_bytes` (StackInuse, if stacks count for the goal); missing
    where unknown. `marks` are from the log. `profiles` are of one process, without profiles that
    repeat the previous one. `gogc` is a fraction (1.0 for 100), infinite if goals do not depend on
    marks; `gogc_bounds` are used if only bounds are known.
    """
    evidence = _Evidence(stats, marks, tuple(profiles), gogc, gogc_bounds or (gogc, gogc))
    level = evidence.level
    if level is None or level.rise is None:
        return None
    return LiveHeap(level, evidence.agreeing(level), gogc, evidence.marked)


@dataclass(frozen=True)
class _Evidence:
    """All evidence of the live heap."""

    stats: pd.DataFrame  # as in `live_heap`; of one process
    marks: Marks | None  # from the log
    profiles: tuple[InUse, ...]  # of one process
    gogc: float  # as a fraction
    gogc_bounds: tuple[float, float]  # lower and upper bound

    @property
    def level(self) -> Level | None:
        """The kind of evidence that covers most of the time, with most readings."""
        marked, shown = self.marked, self._level_of_profiles
        if marked is not None and len(shown) > 1 and self._are_beyond(marked):
            return shown
        if marked is None or len(marked) < min(MIN_MARKS, len(shown)):
            return shown if len(shown) > 1 else marked
        is_longer = shown.span_seconds > FAR_LONGER * marked.span_seconds
        return shown if len(shown) >= MIN_PROFILES and is_longer else marked

    def _are_beyond(self, marked: Level) -> bool:
        """Return whether profiles exceed what goals imply: then a memory limit set the goals."""
        most = max(profile.in_use_bytes - profile.error_bytes for profile in self.profiles)
        return most > REFUTED * float((marked.values + marked.errors).max())

    def agreeing(self, level: Level) -> frozenset[str]:
        """Return the kinds of evidence that rise like the level."""
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
        """What collections marked, from log and snapshots on one clock; None for fewer than two.

        If nothing relates the log's clock to the snapshots', the source with more marks is used.
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
        """The mark of each collection that a snapshot shows, at the time of that collection."""
        stats = self.stats
        next_goals = stats["NextGC"].to_numpy(np.float64)
        goals = next_goals / (1 + self.gogc)
        least, most = (next_goals / (1 + gogc) for gogc in reversed(self.gogc_bounds))
        # The goal was raised by some of the stacks, between none and all of them.
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
        rows = rows.drop_duplicates("number", keep="first")
        if len(rows) >= MIN_MARKS:
            return rows
        bounded = self._within_allocs
        return pd.concat([rows, bounded[~bounded["number"].isin(rows["number"])]])

    @property
    def _within_allocs(self) -> pd.DataFrame:
        """The marks of snapshots without a goal: of each collection, the middle of its bounds.

        HeapAlloc is at least the last mark, and at most the goal, which is GOGC per cent higher.
        Where no snapshot counts collections, each reading bounds a mark of its own, whose number is
        unknown.
        """
        stats = self.stats.dropna(subset=["seconds", "HeapAlloc"])
        if stats["NumGC"].isna().all():
            stats = stats.assign(NumGC=-np.arange(1, len(stats) + 1, dtype=np.float64))
        else:
            stats = stats[stats["NumGC"] > 0]
        read = stats[stats["NextGC"].isna()].groupby("NumGC", sort=False)
        most = read["HeapAlloc"].min()
        goal = read["HeapAlloc"].max() - read["stack_bytes"].max().fillna(0) * self.gogc_bounds[1]
        least = (goal.where(goal > MIN_HEAP_BYTES, 0) / (1 + self.gogc_bounds[1])).clip(0, most)
        return pd.DataFrame(
            {
                "seconds": read["seconds"].first(),
                "value": (least + most) / 2,
                "error": (most - least) / 2,
                "number": most.index,
            }
        ).reset_index(drop=True)

    def _offset(self, log: pd.DataFrame) -> float | None:
        """Return the offset from the log's clock to the snapshots'; None without a common GC."""
        both = log.merge(self._moments, on="number", suffixes=("", "_moment"))
        both = both[~both["number"].duplicated(keep=False)]
        if both.empty:
            return None
        return float((both["seconds_moment"] - both["seconds"]).median())

    @property
    def _watched(self) -> tuple[float, float] | None:
        """The time of the first and the last reading."""
        read = [
            *self.stats["seconds"].dropna().tolist(),
            *self.stats["LastGC"].where(self.stats["LastGC"] > 0).dropna().tolist(),
            *(end for profile in self.profiles for end in (profile.seconds, profile.until_seconds)),
        ]
        return (min(read), max(read)) if read else None

    @property
    def _ceiling(self) -> tuple[float, float] | None:
        """HeapAlloc at the last snapshot with a time."""
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
    """Return the last reading minus the first; for many readings, medians of a tenth; 0 for one."""
    sizes = np.asarray(list(values), np.float64)
    sizes = sizes[~np.isnan(sizes)]
    if len(sizes) < 2:
        return 0.0
    tenth = max(1, len(sizes) // 10)
    return float(np.median(sizes[-tenth:]) - np.median(sizes[:tenth]))
