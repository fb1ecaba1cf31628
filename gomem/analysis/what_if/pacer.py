"""What goal and what trigger does the runtime set, by release?

The rules are from mgcpacer.go (mgc.go before 1.17), and checked against recorded logs:

    to 1.17    goal = live + live x GOGC/100
    from 1.18  goal = live + (live + stacks + globals) x GOGC/100
    all        goal >= 4 MiB x GOGC/100; GOGC=off: none
    from 1.19  with a memory limit the lesser of that and of
               limit - (mapped non-heap memory) - headroom, but never less than live;
               the headroom is 1 MiB, from 1.21 on 3 % of the rest if that is more

A collection starts before the heap reaches the goal. The distance is the runway that the last
collections needed: what was allocated while they marked, scaled to marking with a quarter of the
CPU. The start has bounds:

    to 1.13      at most 0.95 of the way from live to goal
    1.14 - 1.17  0.6 to 0.95 of it
    1.18         0.7 to 0.95 of it, or 4 MiB x GOGC/100 below the goal if that is later
    from 1.19    45/64 to 61/64 of it, or 4 MiB below the goal if that is later
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from gomem.releases import Fact, GoVersion
from gomem.units import MIB

if TYPE_CHECKING:
    import pandas as pd


MIN_HEAP_BYTES = 4 * MIB  # at GOGC=100
SWEEP_DISTANCE_BYTES = MIB  # minimum room above the live heap during sweeping
MIN_HEADROOM_BYTES = MIB  # below a memory limit
HEADROOM_FRACTION = 0.03  # of what a memory limit leaves to the heap
BACKGROUND_FRACTION = 0.25  # of GOMAXPROCS, for background marking
GOAL_FRACTION_TO_117 = 0.30  # target of the old pacer for marking, including assists

Array = np.ndarray


class Era(IntEnum):
    """Releases that have the same pacer, by the minor number of the first of these releases."""

    RATIO = 5
    RATIO_BOUNDED = Fact.TRIGGER_HAS_A_FLOOR.since.minor
    CONS_MARK = Fact.STACKS_COUNT.since.minor
    LIMIT = Fact.MEMORY_LIMIT.since.minor
    LATEST_OF_FIVE = Fact.RUNWAY_OF_FIVE.since.minor
    HEADROOM = Fact.LIMIT_HEADROOM.since.minor

    @classmethod
    def of(cls, minor: int) -> Era:
        """Return the era of Go 1.`minor`."""
        return max((era for era in cls if era <= minor), default=cls.RATIO)

    @property
    def counts_stacks(self) -> bool:
        """Whether stacks and globals raise the goal."""
        return self >= Era.CONS_MARK

    @property
    def knows_limit(self) -> bool:
        """Whether these releases have GOMEMLIMIT."""
        return self >= Era.LIMIT


def era_of(version: GoVersion, cycles: pd.DataFrame) -> tuple[Era, str]:
    """Return the era of a release, and a sentence if the era is assumed."""
    low, high = version.low, version.high
    eras = [Era.of(release.minor) for release in (low, high) if release is not None]
    if len(eras) == 2 and eras[0] == eras[1]:
        return eras[0], ""
    if len(eras) == 1 and low is not None and Era.of(low.minor) == max(Era):
        return eras[0], ""
    prints_stacks = bool(len(cycles)) and bool(cycles["stacks_bytes"].notna().any())
    if prints_stacks:
        return Era.HEADROOM, "unknown Go release: the pacer of Go 1.21 and later is assumed"
    return Era.RATIO_BOUNDED, "unknown Go release: the pacer of Go 1.14 to 1.17 is assumed"


def percent_goal(live: Array, scanned: Array | float, gogc: Array | float, era: Era) -> Array:
    """Return the goal in bytes set by GOGC (1.0 for 100); infinite if off.

    The goal follows from the heap that the previous collection marked; from 1.18 on, also from
    stacks and globals.
    """
    base = live + scanned if era.counts_stacks else live
    return np.maximum(live + base * gogc, MIN_HEAP_BYTES * gogc)


def limit_goal(live: Array, limit: Array | float, not_heap: Array | float, era: Era) -> Array:
    """Return the goal in bytes set by a memory limit; infinite without a limit, and before 1.19.

    `not_heap` is mapped memory that has no objects and cannot have any.
    """
    limited = np.isfinite(limit) & era.knows_limit
    left = np.where(limited, limit, 0.0) - not_heap
    share = HEADROOM_FRACTION if era >= Era.HEADROOM else 0.0
    headroom = np.maximum(left * share, MIN_HEADROOM_BYTES)
    goal = np.maximum(np.where(left > 0, np.maximum(left - headroom, headroom), live), live)
    return np.where(limited, goal, np.inf)


@dataclass(frozen=True)
class Goals:
    """The two goals of collections, in bytes; a goal is infinite if nothing sets it."""

    live: Array  # marked by the previous collection
    by_percent: Array  # see `percent_goal`
    by_limit: Array  # see `limit_goal`

    @property
    def goal(self) -> Array:
        """The smaller of the two goals, which is the one that applies."""
        return np.minimum(self.by_percent, self.by_limit)


def trigger(goals: Goals, runway: Array, gogc: Array | float, era: Era) -> Array:
    """Return the heap size at which a collection starts, in bytes; infinite without a goal.

    The pacer aims to start a `runway` before the goal.
    """
    live, goal = goals.live, goals.goal
    room = goal - live
    with np.errstate(invalid="ignore"):
        low, high = _bounds(room, gogc, era)
        unlimited = goals.by_percent <= goals.by_limit
        least = live + np.where(unlimited, SWEEP_DISTANCE_BYTES, 0.0)
        least = np.maximum(least, live + low)
        most = np.maximum(live + high, least)
        start = np.clip(goal - runway, least, most)
    return np.where(np.isinf(goal), np.inf, np.where(room <= 0, goal, start))


def _bounds(room: Array, gogc: Array | float, era: Era) -> tuple[Array, Array]:
    """Return the bounds of how far above the live heap a collection starts."""
    if era < Era.CONS_MARK:
        return room * (0.6 if era >= Era.RATIO_BOUNDED else 0.0), room * 0.95
    if era == Era.CONS_MARK:
        return room * 0.7, np.maximum(room * 0.95, room - MIN_HEAP_BYTES * gogc)
    return room / 64 * 45, np.maximum(room / 64 * 61, room - MIN_HEAP_BYTES)


@dataclass(frozen=True)
class Marking:
    """The marking of several collections, one value per collection."""

    seconds: Array  # duration of marking
    gomaxprocs: Array  # GOMAXPROCS
    assist_seconds: Array  # CPU of assists
    idle_seconds: Array  # CPU of idle marking
    allocated_bytes: Array  # bytes that the program allocated during marking


def runway(marking: Marking, era: Era) -> Array:
    """Return how far before the goal the pacer aims to start after each collection, in bytes.

    From 1.18 on, the pacer divides the bytes that the program allocates per CPU-second by the bytes
    that marking scans per CPU-second; from 1.20 on, it uses the largest ratio of the last five
    collections. Before 1.18, half of each error enters the next trigger, which a mean of the last
    few collections approximates.
    """
    cpu = marking.seconds * marking.gomaxprocs
    with np.errstate(invalid="ignore", divide="ignore"):
        assisted = np.where(cpu > 0, marking.assist_seconds / cpu, 0.0)
        idle = np.where(cpu > 0, marking.idle_seconds / cpu, 0.0)
    used = np.minimum(BACKGROUND_FRACTION + assisted, 0.95)
    if era < Era.CONS_MARK:
        return _smoothed(used / GOAL_FRACTION_TO_117 * marking.allocated_bytes)
    marked_by = (used + idle) / (1 - used)
    wanted = (1 - BACKGROUND_FRACTION) / BACKGROUND_FRACTION * marked_by * marking.allocated_bytes
    if era < Era.LATEST_OF_FIVE:
        return _smoothed(wanted)
    padded = np.concatenate([np.full(4, -np.inf), wanted])
    return np.lib.stride_tricks.sliding_window_view(padded, 5).max(axis=1)


def _smoothed(values: Array) -> Array:
    kept, mean = np.empty(len(values)), values[0] if len(values) else 0.0
    for place, value in enumerate(values):
        mean += 0.5 * (value - mean)
        kept[place] = mean
    return kept
