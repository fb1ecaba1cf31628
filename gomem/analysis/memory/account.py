"""What makes up RSS at each snapshot, and what changed between snapshots?

The ledger covers one snapshot; the account covers all snapshots of a capture. The account gives
each group of memory a lower and an upper bound. The bounds are consistent with RSS even if a
snapshot has few files. With smaps and MemStats, each group is known to the byte. With fewer files,
the bounds come from simple limits. Go cannot hold more than it has reserved. Non-Go memory is at
most RSS minus Go's minimum. No group can exceed RSS. Such bounds are certain, but often wide.

So each group also has an estimated interval, which contains the true value in 95 % of the recorded
snapshots. The estimate takes the untouched share of Go's reserved memory from the nearest
snapshots that show it. In a back-test on 1 260 recorded snapshots with smaps
withheld, the estimate of the Go part was off by less than 5 % of RSS in 95 % of the snapshots. If
no snapshot shows the share, the estimate uses the range that covers 95 % of the recorded snapshots.

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
from gomem.analysis.series.level import Level, Rise
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# Divisions by which a change can be reported, from the finest to the coarsest.
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
    """One snapshot of an account."""

    moment: str  # its name
    seconds: float | None  # its time; None if unknown
    total_bytes: int  # the sum of the groups: RSS, or memory reserved by Go
    certain: Bounds  # bounds proved by the files
    # Bounds that hold in 95 % of cases, given the assumption; always within the certain ones.
    likely: Bounds
    assumption: str = ""  # the assumption of `likely`; empty if it equals `certain`
    # Memory reserved by Go in its arenas; None if unknown, or of another state than RSS.
    reserved_heap_bytes: int | None = None


@dataclass(frozen=True)
class Part:
    """A group of the account at two snapshots, or several groups that cannot be separated."""

    groups: frozenset[str]  # which of `GROUPS`
    before: Interval  # likely interval at the earlier snapshot
    after: Interval  # likely interval at the later snapshot
    change: Interval  # likely interval of the growth
    certain: Interval  # certain interval of the growth


@dataclass(frozen=True)
class Account:
    """All snapshots of a capture at which the size of the process is known."""

    quantity: str  # what the groups add up to; one of `QUANTITIES`
    snapshots: tuple[Snapshot, ...]  # in order

    @property
    def first(self) -> Snapshot:
        """The first snapshot."""
        return self.snapshots[0]

    @property
    def last(self) -> Snapshot:
        """The last snapshot."""
        return self.snapshots[-1]

    @property
    def change_bytes(self) -> int:
        """The growth of the whole process from the first snapshot to the last."""
        return self.last.total_bytes - self.first.total_bytes

    @property
    def is_timed(self) -> bool:
        """Whether every snapshot has a time; otherwise they are numbered."""
        return all(snapshot.seconds is not None for snapshot in self.snapshots)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The changes from the first snapshot to the last; see `moved`."""
        return moved(self.first, self.last)

    def of(self, moment: str) -> Snapshot | None:
        """Return the account of a snapshot; None if the process's size is unknown there."""
        return next((snapshot for snapshot in self.snapshots if snapshot.moment == moment), None)

    def rise(self, groups: frozenset[str]) -> Rise | None:
        """Return the rise of the sum of several groups; None without two snapshots with times."""
        return self.level(groups).rise

    def level(self, groups: frozenset[str]) -> Level:
        """Return the likely sum of several groups at each snapshot; see `levels`."""
        seconds, levels = self.levels(groups)
        middles = np.array([level.middle for level in levels])
        errors = np.array([level.width / 2 for level in levels])
        return Level("account", np.array(seconds), middles, errors)

    def levels(self, groups: frozenset[str]) -> tuple[list[float], list[Interval]]:
        """Return the times of the snapshots, and likely intervals of the sum of several groups.

        If a time is unknown, the times are the snapshots' numbers.
        """
        seconds = [snapshot.seconds for snapshot in self.snapshots]
        known = [at for at in seconds if at is not None]
        order = [float(place) for place in range(len(seconds))]
        return (
            known if len(known) == len(seconds) else order,
            [snapshot.likely.together(groups) for snapshot in self.snapshots],
        )


def moved(before: Snapshot, after: Snapshot, *, bounded: bool = False) -> tuple[Part, ...]:
    """Return the changes between two snapshots, of one or two captures, as finely as both allow.

    The parts are disjoint and cover all groups; their changes add up to that of the whole. Parts
    that are empty at both snapshots are left out. If `bounded`, parts with wide bounds are
    preferred to a whole that is not broken down.
    """
    division, likely = _division(before, after, bounded=bounded)
    certain = difference(before.certain, after.certain, division)
    old, new = before.likely, after.likely
    parts = (
        Part(groups, old.together(groups), new.together(groups), likely[groups], certain[groups])
        for groups in division
    )
    return tuple(part for part in parts if part.before.high > 0 or part.after.high > 0)


MAX_DRAWN_DOUBT = 0.1  # of the largest whole: parts with wider bounds are not separated


def drawn_doubt(largest: int) -> float:
    """Return how wide a part's bounds, in bytes, can be for figures to show a single size."""
    return max(MAX_DRAWN_DOUBT * largest, MIB)


def common_division(snapshots: Sequence[Snapshot]) -> tuple[frozenset[str], ...]:
    """Return the finest division into parts that all of these snapshots allow.

    `moved` needs known changes of the parts; this function needs known levels.
    """
    doubt = drawn_doubt(max(snapshot.total_bytes for snapshot in snapshots))
    return next(
        division
        for division in DIVISIONS
        if division == DIVISIONS[-1]
        or all(_is_divided(snapshot, division, doubt) for snapshot in snapshots)
    )


MAX_DOUBTS = 3.0  # of all parts together; if one sum alone bounds several parts, each is as wide


def _is_divided(snapshot: Snapshot, division: Iterable[frozenset[str]], doubt: float) -> bool:
    """Return whether a snapshot shows each part well enough, and all together."""
    widths = [snapshot.likely.together(groups).width for groups in division]
    return max(widths) <= doubt and sum(widths) <= MAX_DOUBTS * doubt


MIN_SURE = 0.5  # of the change of the whole: what certainly changed, if the rest is unknown
MAX_DOUBT = 0.25  # of the change of the whole, or of the larger whole if both are about equal


_Changes = dict[frozenset[str], Interval]


def _division(
    before: Snapshot, after: Snapshot, *, bounded: bool
) -> tuple[Sequence[frozenset[str]], _Changes]:
    """Return the finest division with well-known changes; else that with most certain changes."""
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
    """Return whether some part has informative bounds at both snapshots."""
    return any(
        max(
            snapshot.likely.together(groups).width / max(1, snapshot.total_bytes)
            for snapshot in (before, after)
        )
        < 1
        for groups in division
    )


def _surely_moved(changes: _Changes) -> float:
    """Return a lower bound of the bytes that changed, in either direction."""
    return sum(max(change.low, -change.high, 0.0) for change in changes.values())


def account_of(readings: Sequence[Reading]) -> Account | None:
    """Build the account from the readings of one process, in time order.

    The size of the process is RSS. If too few readings have RSS (none, or one while two or more
    have reserved memory), the size is the memory reserved by Go instead. None if no reading has
    either.
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
    """Build an account of the live heap alone; each size has an error.

    The quantity is `in_use` for sizes from heap profiles, `live` for sizes from a log.
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
        is_of_rss = bool(reading.reserved) and reading.is_one_state
        size, heap = reading.rss_bytes or 0, reading.reserved_heap_bytes if is_of_rss else None
        bounds = (certain, likely, assumption, heap)
        snapshots.append(Snapshot(reading.moment, reading.seconds, size, *bounds))
    return snapshots
