"""How narrow are the bounds of a part, if the sum of several parts is known?

RSS is the sum of all parts, and the arenas hold the four parts of the heap. Each part is at least
the sum minus the upper bounds of the others, and at most the sum minus their lower bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WIDE = 0.1  # of the middle
MAX_ROUNDS = 16  # each narrows the bounds; a few are enough for eight parts and a handful of sums


@dataclass(frozen=True, slots=True)
class Interval:
    """A range of bytes, both bounds included."""

    low: float  # lower bound
    high: float  # upper bound

    @classmethod
    def exactly(cls, size: float) -> Interval:
        """Create the interval of a known size."""
        return cls(size, size)

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.high - self.low

    @property
    def middle(self) -> float:
        """The midpoint of the bounds."""
        return (self.low + self.high) / 2

    @property
    def is_wide(self) -> bool:
        """Whether it is too wide for one number: over 512 KiB and over a tenth of its middle."""
        return self.width > max(WIDE * abs(self.middle), MIB / 2)

    @property
    def surely_moves(self) -> bool:
        """Whether a change between these bounds cannot be 0."""
        return self.low > 0 or self.high < 0

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def within(self, other: Interval) -> Interval:
        """Intersect with another interval; if disjoint, return the nearest end of the other."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low <= high:
            return Interval(low, high)
        return Interval.exactly(other.low if self.high < other.low else other.high)

    def around(self, margin: float) -> Interval:
        """Widen by a margin on both sides."""
        return Interval(self.low - margin, self.high + margin)

    def holds(self, size: float, tolerance: float = 0.0) -> bool:
        """Return whether a size is in the interval."""
        return self.low - tolerance <= size <= self.high + tolerance


ZERO = Interval.exactly(0)


def total(intervals: Iterable[Interval]) -> Interval:
    """Add intervals of parts that have no known relation to each other."""
    return sum(intervals, ZERO)


@dataclass(frozen=True)
class Bounds:
    """Bounds of each part, and known sums of several parts."""

    parts: Mapping[str, Interval]  # the interval of each part
    # sets of parts with the interval of their sum
    sums: tuple[tuple[frozenset[str], Interval], ...] = ()

    def closed(self) -> Bounds:
        """Narrow the bounds of each part as far as the known sums allow."""
        closed = self
        for _ in range(MAX_ROUNDS):
            parts = {part: closed.together({part}) for part in closed.parts}
            if parts == closed.parts:
                break
            closed = Bounds(parts, self.sums)
        return closed

    @cached_property
    def _asked(self) -> dict[frozenset[str], Interval]:
        """Bounds of sums that were computed before: each change needs them on both sides."""
        return {}

    def together(self, members: Iterable[str]) -> Interval:
        """Return the bounds of the sum of several parts, from their bounds and the known sums."""
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
        """Return the sum of parts by their own bounds, and by the sums of subsets."""
        bounds = total(self.parts[part] for part in wanted)
        for whole, size in self.sums:
            if whole <= wanted:
                bounds = bounds.within(size + self._inside(wanted - whole))
        return bounds


def difference(
    before: Bounds, after: Bounds, groups: Sequence[frozenset[str]]
) -> dict[frozenset[str], Interval]:
    """Return the growth of each of several disjoint groups, consistent with that of the total."""
    whole = frozenset().union(*groups)
    change = after.together(whole) - before.together(whole)
    grown = {
        str(place): after.together(group) - before.together(group)
        for place, group in enumerate(groups)
    }
    closed = Bounds(grown, ((frozenset(grown), change),)).closed()
    return {group: closed.parts[str(place)] for place, group in enumerate(groups)}
