"""What makes up RSS at each snapshot, and what changed between snapshots?

The ledger covers one snapshot; the account covers all snapshots of a capture. It gives each group
of memory a lower and an upper bound. The bounds are consistent with RSS even when a snapshot has
few files. With smaps and MemStats, a group is known to the byte. With fewer files, the bounds come
from simple limits. Go cannot hold more than it has reserved. Non-Go memory is at most RSS minus
Go's minimum. No group can exceed RSS. These bounds are certain, and often wide.

So each group also has an estimated interval, which contains the true value in 95 % of the recorded
snapshots. It assumes that the untouched share of Go's reserved memory equals that of the nearest
snapshots where it is known. In a back-test on 1 260 recorded snapshots with smaps withheld, the
estimate of the Go part was off by less than 5 % of RSS in 95 % of them. If no snapshot shows the
share, the estimate uses the range that covers 95 % of the recorded snapshots.

The change of a group between two snapshots is an interval. The true changes lie within these
intervals and add up to the change in RSS. If either snapshot does not break a group down, the
group's change is given as bounds, never as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.bounds import ZERO, Bounds, Interval, difference
from gomem.analysis.memory.groups import (
    FILES,
    FREE,
    GARBAGE,
    LIVE,
    NATIVE,
    PROGRAM,
    RUNTIME,
    STACKS,
)  # fmt: skip
from gomem.analysis.memory.readings import (
    ALL,
    FILE_GROUPS,
    GO,
    GO_HEAP,
    GROUPS,
    NOT_GO,
    OBJECTS,
    Reading,
    certain_bounds,
    likely_bounds,
    nearest_that_divide,
    with_objects,
)  # fmt: skip
from gomem.analysis.series.level import Level
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.series.level import Rise

# How finely a change can be told, from the finest to the coarsest.
DIVISIONS = (
    tuple(frozenset({group}) for group in GROUPS),
    (frozenset({LIVE, GARBAGE}), *(frozenset({group}) for group in GROUPS[2:])),
    (GO_HEAP, *(frozenset({group}) for group in (RUNTIME, NATIVE, FILES, PROGRAM))),
    (GO, frozenset({NATIVE}), FILE_GROUPS),
    (GO, NOT_GO),
    (ALL,),
)
QUANTITIES = ("rss", "reserved", "in_use", "live")


@dataclass(frozen=True)
class Snapshot:
    """One moment of the account."""

    moment: str  # its name
    seconds: float | None  # when it was; None if that is not known
    total_bytes: int  # what the groups add up to: RSS, or what Go reserves
    certain: Bounds  # bounds that follow from the files alone
    # Bounds that hold in 95 of 100, by the assumption; never outside the certain ones.
    likely: Bounds
    assumption: str = ""  # what the likely ones rest on; empty where they are the certain ones
    # What Go has reserved in its arenas; None where nothing says.
    reserved_heap_bytes: int | None = None


@dataclass(frozen=True)
class Part:
    """A group of the account, or several that cannot be told apart, at two moments."""

    groups: frozenset[str]  # which of `GROUPS`
    before: Interval  # its likely interval at the earlier moment
    after: Interval  # the same at the later one
    change: Interval  # by how much it grew, likely
    certain: Interval  # the same by the certain bounds


@dataclass(frozen=True)
class Account:
    """All moments of a capture that say how large it is."""

    quantity: str  # what the groups add up to; one of `QUANTITIES`
    snapshots: tuple[Snapshot, ...]  # in order

    @property
    def first(self) -> Snapshot:
        """The earliest."""
        return self.snapshots[0]

    @property
    def last(self) -> Snapshot:
        """The latest."""
        return self.snapshots[-1]

    @property
    def change_bytes(self) -> int:
        """By how much the whole grew from the first to the last."""
        return self.last.total_bytes - self.first.total_bytes

    @property
    def is_timed(self) -> bool:
        """Whether every moment has a time; else levels number them."""
        return all(snapshot.seconds is not None for snapshot in self.snapshots)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What moved from the first to the last; see `moved`."""
        return moved(self.first, self.last)

    def of(self, moment: str) -> Snapshot | None:
        """The snapshot of a moment; None if it does not say how large the process is."""
        return next((snapshot for snapshot in self.snapshots if snapshot.moment == moment), None)

    def rise(self, groups: frozenset[str]) -> Rise | None:
        """How several groups moved together; None where no two moments have a time."""
        seconds, levels = self.levels(groups)
        middles = np.array([level.middle for level in levels])
        errors = np.array([level.width / 2 for level in levels])
        return Level("account", np.array(seconds), middles, errors).rise

    def levels(self, groups: frozenset[str]) -> tuple[list[float], list[Interval]]:
        """When each moment was, and the likely interval of several groups together then.

        Where a time is not known, moments are numbered.
        """
        seconds = [snapshot.seconds for snapshot in self.snapshots]
        known = [at for at in seconds if at is not None]
        order = [float(place) for place in range(len(seconds))]
        return (
            known if len(known) == len(seconds) else order,
            [snapshot.likely.together(groups) for snapshot in self.snapshots],
        )


def moved(before: Snapshot, after: Snapshot, *, bounded: bool = False) -> tuple[Part, ...]:
    """What moved from one snapshot, of this capture or of another, as finely as both can tell.

    The parts have no group in common and hold all of them; their changes close to that of the
    whole. Those that are nowhere are left out. If `bounded`, rather with wide bounds than as a
    whole of which nothing is said.
    """
    division, likely = _division(before, after, bounded=bounded)
    certain = difference(before.certain, after.certain, division)
    old, new = before.likely, after.likely
    parts = (
        Part(groups, old.together(groups), new.together(groups), likely[groups], certain[groups])
        for groups in division
    )
    return tuple(part for part in parts if part.before.high > 0 or part.after.high > 0)


MAX_DRAWN_DOUBT = 0.1  # of the largest whole: a part that is known no better is not told apart


def drawn_doubt(largest: int) -> float:
    """How wide the bounds of a part may be that is shown with one size, in bytes."""
    return max(MAX_DRAWN_DOUBT * largest, MIB)


def common_division(snapshots: Sequence[Snapshot]) -> tuple[frozenset[str], ...]:
    """The parts that every one of these snapshots tells apart, as finely as all of them can.

    Unlike `moved`, which asks how well a change is known, this asks how well each level is.
    """
    doubt = drawn_doubt(max(snapshot.total_bytes for snapshot in snapshots))
    return next(
        division
        for division in DIVISIONS
        if division == DIVISIONS[-1]
        or all(
            snapshot.likely.together(groups).width <= doubt
            for snapshot in snapshots
            for groups in division
        )
    )


MIN_SURE = 0.5  # of the change of the whole: what surely moved, where the rest is not known
MAX_DOUBT = 0.25  # of the change of the whole, or of the larger whole where that is about the same


_Changes = dict[frozenset[str], Interval]


def _division(
    before: Snapshot, after: Snapshot, *, bounded: bool
) -> tuple[Sequence[frozenset[str]], _Changes]:
    """As finely as every change is known well; else where most is known to have moved."""
    larger = max(before.total_bytes, after.total_bytes)
    grown = abs(after.total_bytes - before.total_bytes)
    doubt = max(MAX_DOUBT * grown, MAX_DOUBT * MAX_DOUBT * larger, MIB)
    every: list[tuple[Sequence[frozenset[str]], _Changes]] = []
    for division in DIVISIONS:
        changes = difference(before.likely, after.likely, division)
        if division != DIVISIONS[-1] and all(c.width <= doubt for c in changes.values()):
            return division, changes
        every.append((division, changes))
    if bounded:
        return next((each for each in every[2:] if _tells(before, after, each[0])), every[-1])
    told = max(every, key=lambda pair: _surely_moved(pair[1]))
    return told if _surely_moved(told[1]) >= MIN_SURE * grown else every[-1]


def _tells(before: Snapshot, after: Snapshot, division: Sequence[frozenset[str]]) -> bool:
    """Whether some part is known on both sides to hold less than all, or more than nothing."""
    return any(
        max(
            snapshot.likely.together(groups).width / max(1, snapshot.total_bytes)
            for snapshot in (before, after)
        )
        < 1
        for groups in division
    )


def _surely_moved(changes: _Changes) -> float:
    """How many bytes moved, one way or the other, at least."""
    return sum(max(change.low, -change.high, 0.0) for change in changes.values())


def account_of(readings: Sequence[Reading]) -> Account | None:
    """Add up what each moment of one process says, in order.

    By RSS where two moments say it, or one and none says more; else by what Go reserves; None where
    no moment says either.
    """
    resident = [reading for reading in readings if reading.rss_bytes is not None]
    reserved = [reading for reading in readings if reading.reserved]
    if resident and (len(resident) > 1 or len(reserved) < 2):
        return Account("rss", tuple(_by_rss(resident)))
    if reserved:
        return Account("reserved", tuple(map(_by_reserved, reserved)))
    return None


def account_of_live_heap(
    quantity: str, moments: Sequence[str], seconds: Sequence[float], sizes: Sequence[Interval]
) -> Account:
    """The account where nothing is known but what is held on the heap, each size with its error.

    The quantity is `in_use` by heap profiles, or `live` by a log.
    """
    snapshots = []
    for moment, at, size in zip(moments, seconds, sizes, strict=True):
        held = Interval(max(0.0, size.low), size.high)
        bounds = Bounds(dict.fromkeys(GROUPS, ZERO) | {LIVE: held}, ((ALL, held),))
        whole = held.low if quantity == "live" else held.middle  # a log rounds down
        snapshots.append(Snapshot(moment, at, round(whole), bounds, bounds))
    return Account(quantity, tuple(snapshots))


def _by_reserved(reading: Reading) -> Snapshot:
    sizes = reading.reserved
    parts = {group: Interval.exactly(sizes.get(group, 0)) for group in (FREE, STACKS, RUNTIME)}
    parts |= dict.fromkeys(NOT_GO, ZERO)
    objects = sizes.get(OBJECTS, 0)
    bounds = with_objects(parts, Interval.exactly(objects), objects, reading.live_bytes)
    whole = sum(sizes.values())
    closed = Bounds(bounds.parts, (*bounds.sums, (ALL, Interval.exactly(whole)))).closed()
    return Snapshot(reading.moment, reading.seconds, whole, closed, closed)


def _by_rss(readings: Sequence[Reading]) -> list[Snapshot]:
    snapshots = []
    for place, reading in enumerate(readings):
        certain = certain_bounds(reading).closed()
        near = nearest_that_divide(readings, place)
        likely, assumption = likely_bounds(reading, near, certain)
        size, heap = reading.rss_bytes or 0, reading.reserved_heap_bytes
        bounds = (certain, likely, assumption, heap if reading.reserved else None)
        snapshots.append(Snapshot(reading.moment, reading.seconds, size, *bounds))
    return snapshots
