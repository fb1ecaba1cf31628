"""What bounds on GOGC follow from the heap goals of several snapshots?

A collection that marked `live` bytes sets the goal `live + (live + stacks + globals) × GOGC/100`.
Before Go 1.18 the formula has no stacks and globals. The goal is never below 4 MiB × GOGC/100. So
each reading of NextGC bounds GOGC if something bounds the live heap:

- HeapAlloc includes everything that was marked, so the room that the goal leaves above HeapAlloc
  gives a lower bound. A goal just above HeapAlloc is uninformative: during sweeping it is at least
  1 MiB above the heap.
- A heap profile has the survivors of the last collection among the objects present at the one
  before. The room that the goal leaves above the lower end of the profile's interval gives an upper
  bound. A profile with more than HeapAlloc belongs to another collection.
- `/gc/heap/live:bytes` is the marked heap.
- The allocation between two collections is most of the goal's room, because the next collection
  starts no earlier than half of the way to the goal. So twice that allocation gives an upper bound
  on the room, and on GOGC.
- The smallest goal is a bound of its own.

A memory limit lowers goals. Upper bounds on GOGC then no longer hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.gogc import roundest
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.statistics.sampling import FloatArray

MIN_GOAL_BYTES = 4 * MIB  # at GOGC=100
SWEEPING_BYTES = 1.25 * MIB  # above what is live while it is swept, and a little for the reading
GLOBALS_BYTES = MIB  # of most programs; no file says it
NO_GOAL = 1 << 60  # NextGC of GOGC=off is about 2^63
EARLIEST_START = 0.5  # of the way from the live heap to the goal
MIN_CYCLES = 8  # from one reading to the other: those at both ends are seen in part
MAX_INTERVAL_SECONDS = 10.0  # between collections: the timer's, two minutes apart, come too early
# By how much of itself GOGC can lie beyond its bounds: stacks change, two files are read some time
# apart, and a profile's interval is one of 95 %.
SLACK_BELOW, SLACK_ABOVE = 0.1, 0.04
LIKELY_ABOVE_LEAST = 1.5  # a goal is read soon after some collection, so the lower bound is near


@dataclass(frozen=True)
class GogcBounds:
    """GOGC as a fraction, 1.0 for 100, at least and at most; empty where no GOGC fits all goals."""

    low: float = 0.0
    high: float = math.inf

    @property
    def is_empty(self) -> bool:
        """Whether goals contradict each other: GOGC changed, or a memory limit made some."""
        return self.low > self.high

    def has(self, fraction: float) -> bool:
        """Whether a GOGC lies within, nearly."""
        return self.low / (1 + SLACK_BELOW) <= fraction <= self.high * (1 + SLACK_ABOVE)

    @property
    def likeliest(self) -> float:
        """The roundest GOGC within, near the lower bound."""
        ends = (100 * self.low, 100 * min(self.high, LIKELY_ABOVE_LEAST * self.low))
        low, high = (pd.Series([end]) for end in (math.ceil(ends[0]), math.floor(ends[1])))
        return float(roundest(low, high).iloc[0]) / 100 if (low <= high).all() else self.low


def gogc_bounds(stats: pd.DataFrame, *, stacks_count: bool, is_limited: bool) -> GogcBounds:
    """Bound GOGC by readings of one process.

    `stats` has a row per moment, in order: `LastGC` in seconds, `NumGC`, `NumForcedGC`, `NextGC`,
    `HeapAlloc`, `TotalAlloc`, `live_bytes` (`/gc/heap/live:bytes`), `in_use_bytes` (of a heap
    profile, the lower end) and `stack_bytes`; missing where it is not known. By the release, stacks
    and globals may raise goals.
    """
    lows, highs = _by_readings(stats, stacks_count)
    low = float(np.max(lows, initial=0.0))
    if is_limited:
        return GogcBounds(low)
    high = min(float(np.min(highs, initial=math.inf)), _by_allocation(stats))
    if high < low <= high * (1 + SLACK_BELOW):
        low, high = high, low
    return GogcBounds(low, high)


def _by_readings(stats: pd.DataFrame, stacks_count: bool) -> tuple[FloatArray, FloatArray]:
    """What each reading tells alone: at least, at most."""
    names = ("NextGC", "HeapAlloc", "live_bytes", "in_use_bytes", "stack_bytes")
    goal, allocated, live, in_use, stacks = (stats[name].to_numpy(np.float64) for name in names)
    beside = np.nan_to_num(stacks) + GLOBALS_BYTES if stacks_count else np.zeros(len(goal))
    with np.errstate(invalid="ignore", divide="ignore"):
        usable = (goal > 0) & (goal < NO_GOAL)
        most = np.fmin(allocated, live)
        least = np.fmax(live, np.where(in_use <= allocated, in_use, np.nan))
        smallest = np.where(usable, goal / MIN_GOAL_BYTES, np.inf)
        room = np.where(usable & (goal - allocated > SWEEPING_BYTES), goal - most, 0.0)
        low = np.minimum(np.nan_to_num(room / (most + beside)), smallest)
        high = np.where(least > 0, (goal - least) / least, np.inf)
    return low.clip(0), np.fmin(np.where(usable & (high >= low), high, np.inf), smallest)


def _by_allocation(stats: pd.DataFrame) -> float:
    """GOGC at most, by what is allocated from one collection to the next; infinite if unknown.

    Of the first reading and the last: with the lowest goal, and without collections that the
    program asked for.
    """
    known = stats.dropna(subset=["NumGC", "NextGC", "TotalAlloc", "LastGC"])
    if len(known) < 2:
        return math.inf
    ends = known.iloc[[0, -1]]
    cycles, allocated, seconds = (
        float(ends[name].iloc[1] - ends[name].iloc[0]) for name in ("NumGC", "TotalAlloc", "LastGC")
    )
    own = cycles - float(np.nan_to_num(ends["NumForcedGC"].diff().iloc[1]))
    goal = float(known["NextGC"].min())
    if own < MIN_CYCLES or seconds > MAX_INTERVAL_SECONDS * cycles or goal >= NO_GOAL:
        return math.inf
    room = allocated / (own - 1) / EARLIEST_START
    return room / (goal - room) if room < goal else math.inf
