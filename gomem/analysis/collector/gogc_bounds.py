"""What bounds on GOGC follow from the heap goals of several snapshots?

A collection that marked `live` bytes sets the goal `live + (live + stacks + globals) × GOGC/100`.
Before Go 1.18 the formula has no stacks and globals. The goal is never below 4 MiB × GOGC/100. So a
reading of NextGC bounds GOGC if the live heap has a bound, which can come from these:

- HeapAlloc includes the whole marked heap, so the room between HeapAlloc and the goal gives a lower
  bound of GOGC. A goal just above HeapAlloc says nothing: during sweeping, the goal is at least
  1 MiB above the heap.
- A heap profile shows objects that were present at the collection before last and survived the last
  one, so they are part of the marked heap. The room between the lower end of the profile's interval
  and the goal gives an upper bound of GOGC. A profile with more bytes than HeapAlloc belongs to
  another collection.
- `/gc/heap/live:bytes` is the marked heap.
- The next collection starts no earlier than halfway to the goal. So the room is at most twice the
  allocation between two collections, which gives an upper bound of GOGC.
- The smallest possible goal, 4 MiB × GOGC/100, gives another upper bound.

A memory limit lowers goals. Then the upper bounds of GOGC do not hold.
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
# above the live heap during sweeping, plus a little for the time of reading
SWEEPING_BYTES = 1.25 * MIB
GLOBALS_BYTES = MIB  # typical; no file has it
NO_GOAL = 1 << 60  # with GOGC=off, NextGC is about 2^63
EARLIEST_START = 0.5  # of the way from the live heap to the goal
MIN_CYCLES = 8  # between the readings, because those at both ends are only partly visible
MAX_INTERVAL_SECONDS = 10.0  # between collections: those of the two-minute timer come too early
# Tolerance of the bounds, as a fraction: stacks change, two files are read some time apart, and a
# profile's interval covers 95 %.
SLACK_BELOW, SLACK_ABOVE = 0.1, 0.04
LIKELY_ABOVE_LEAST = 1.5  # a goal is read soon after a collection, so the lower bound is near


@dataclass(frozen=True)
class GogcBounds:
    """Bounds of GOGC as fractions (1.0 for 100); the range is empty if no GOGC fits all goals."""

    low: float = 0.0
    high: float = math.inf

    @property
    def is_empty(self) -> bool:
        """Whether goals contradict each other: GOGC changed, or a memory limit set some goals."""
        return self.low > self.high

    def has(self, fraction: float) -> bool:
        """Return whether a GOGC is within the bounds, with a tolerance."""
        return self.low / (1 + SLACK_BELOW) <= fraction <= self.high * (1 + SLACK_ABOVE)

    @property
    def likeliest(self) -> float:
        """The roundest GOGC within the bounds and near the lower bound, if there is one."""
        if not self.low > 0:
            return self.high
        ends = (100 * self.low, 100 * min(self.high, LIKELY_ABOVE_LEAST * self.low))
        low, high = (pd.Series([end]) for end in (math.ceil(ends[0]), math.floor(ends[1])))
        return float(roundest(low, high).iloc[0]) / 100 if (low <= high).all() else self.low


def gogc_bounds(stats: pd.DataFrame, *, stacks_count: bool, is_limited: bool) -> GogcBounds:
    """Compute bounds of GOGC from readings of one process.

    `stats` has a row per snapshot, in order: `LastGC` in seconds, `NumGC`, `NumForcedGC`, `NextGC`,
    `HeapAlloc`, `TotalAlloc`, `live_bytes` (`/gc/heap/live:bytes`), `in_use_bytes` (the lower end
    of a heap profile's interval) and `stack_bytes`; missing where unknown. `stacks_count` says
    whether stacks and globals raise goals, as in later releases.
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
    """Return the bounds from each reading alone: lower, upper."""
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
    """Return an upper bound of GOGC from the allocation between collections; infinite if unknown.

    From the first to the last reading, with the lowest goal, and without forced collections.
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
