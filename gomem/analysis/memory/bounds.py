"""What bounds on each part follow from a known sum and from known sums of some parts?

A part is an interval. A known sum of several parts bounds each of them: RSS is the sum of all
parts, and the arenas hold the four parts of the heap. The lower bound of a part is the sum minus
the upper bounds of the others. Its upper bound is the sum minus their lower bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_ROUNDS = 16  # each narrows; of eight parts and a handful of sums a few are enough


@dataclass(frozen=True, slots=True)
class Interval:
    """Bytes between two bounds, both possible."""

    low: float  # the least
    high: float  # the most

    @classmethod
    def exactly(cls, size: float) -> Interval:
        """The interval of a size that is known."""
        return cls(size, size)

    @property
    def width(self) -> float:
        """How far apart the bounds lie."""
        return self.high - self.low

    @property
    def middle(self) -> float:
        """Halfway between the bounds."""
        return (self.low + self.high) / 2

    @property
    def surely_moves(self) -> bool:
        """Of a change: whether it is certainly not 0."""
        return self.low > 0 or self.high < 0

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def within(self, other: Interval) -> Interval:
        """The part of it that lies in another; where they do not meet, the nearest end of that."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low <= high:
            return Interval(low, high)
        return Interval.exactly(other.low if self.high < other.low else other.high)

    def around(self, margin: float) -> Interval:
        """The same, wider by a margin on both sides."""
        return Interval(self.low - margin, self.high + margin)

    def holds(self, size: float, tolerance: float = 0.0) -> bool:
        """Whether a size lies in it."""
        return self.low - tolerance <= size <= self.high + tolerance


ZERO = Interval.exactly(0)


def total(intervals: Iterable[Interval]) -> Interval:
    """The sum of intervals, of which nothing is known together."""
    return sum(intervals, ZERO)


@dataclass(frozen=True)
class Bounds:
    """Parts between bounds, and what is known of several of them together."""

    parts: Mapping[str, Interval]  # each part's interval
    sums: tuple[tuple[frozenset[str], Interval], ...] = ()  # parts whose sum lies in an interval

    def closed(self) -> Bounds:
        """The same with each part as narrow as the sums make it."""
        closed = self
        for _ in range(MAX_ROUNDS):
            parts = {part: closed.together({part}) for part in closed.parts}
            if parts == closed.parts:
                break
            closed = Bounds(parts, self.sums)
        return closed

    @cached_property
    def _asked(self) -> dict[frozenset[str], Interval]:
        """What was asked of several parts together: each change asks it of both its sides."""
        return {}

    def together(self, members: Iterable[str]) -> Interval:
        """What several parts hold together, by their own bounds and by every sum that says more."""
        wanted = frozenset(self.parts.keys() & members)
        if wanted not in self._asked:
            self._asked[wanted] = self._together(wanted)
        return self._asked[wanted]

    def _together(self, wanted: frozenset[str]) -> Interval:
        bounds = self._inside(wanted)
        for whole, size in self.sums:
            if wanted < whole:
                bounds = bounds.within(size - self._inside(whole - wanted))
        return bounds

    def _inside(self, wanted: frozenset[str]) -> Interval:
        """The sum of parts by their own bounds, and by the sums of those among them."""
        bounds = total(self.parts[part] for part in wanted)
        for whole, size in self.sums:
            if whole <= wanted:
                bounds = bounds.within(size + self._inside(wanted - whole))
        return bounds


def difference(
    before: Bounds, after: Bounds, groups: Sequence[frozenset[str]]
) -> dict[frozenset[str], Interval]:
    """By how much each group of parts grew; the intervals close to the change of all of them.

    The groups have no part in common.
    """
    whole = frozenset().union(*groups)
    change = after.together(whole) - before.together(whole)
    grown = {
        str(place): after.together(group) - before.together(group)
        for place, group in enumerate(groups)
    }
    closed = Bounds(grown, ((frozenset(grown), change),)).closed()
    return {group: closed.parts[str(place)] for place, group in enumerate(groups)}
