"""Does a level jump up from where it usually is, when, and does it come back?

A level is usual if at least half of the moments are at it, give or take a quarter of the way from
it to the highest, and most of those that are not high lie within half of that way of each other: so
a saw-tooth and a ramp have none, for they are as long at one height as at another. A jump leaves
the lower half of the way in one interval, by half of the way at least: what climbs for several is
no jump.

It has come back if a later moment lies in the lower half again. Of several jumps, the highest that
came back is told; if none did, the one that the series ends with: a step.

How long a level was high, readings tell no finer than from the last one before to the first one
after. So the longest that it may have been is told: a reading more can only shorten it. Where one
of an even series is missing, it may have been high unseen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

NEAR = 0.25  # of the way from the usual level to the highest
HALF = 0.5  # of the moments, and of the way
EVEN = 0.25  # of the usual time between readings: most of an even series do not differ by more
MOST = 0.1, 0.9  # quantiles: between them lie most of the moments that are not high


@dataclass(frozen=True)
class Jump:
    """A level that jumped, and where.

    Attributes:
        before: Place of the last moment before the jump.
        peak: Place of its highest moment.
        usual: The level that at least half of the moments are near.
        highest: The level of its highest moment.
        high: How many moments it lasted.
        times: How often the level was in the upper half.
        near: How far from the usual level a moment may be and still be at it.
        came_back: Whether a later moment lies in the lower half of the way again.
        high_fraction: Share of the time for which levels may have been in the upper half, at most.
    """

    before: int
    peak: int
    usual: float
    highest: float
    high: int
    times: int
    near: float
    came_back: bool
    high_fraction: float

    @property
    def extra(self) -> float:
        """The highest level less the usual one."""
        return self.highest - self.usual

    def is_usual(self, level: float) -> bool:
        """Whether a level is near the usual one."""
        return abs(level - self.usual) <= self.near


def find_jump(levels: FloatArray, times: FloatArray | None = None) -> Jump | None:
    """Find the highest jump of a level over the usual one.

    Args:
        levels: In order of time, in any unit.
        times: When each was, ascending, in any unit; None if only their order is known.

    Returns:
        None if no level is usual, or nothing jumps from it.
    """
    if len(levels) < 2:
        return None
    usual = float(np.median(levels))
    way = float(levels.max()) - usual
    near = NEAR * way
    if way <= 0:
        return None
    above, at_it = levels >= usual + HALF * way, np.abs(levels - usual) <= near
    if at_it.mean() < HALF or np.ptp(np.quantile(levels[~above], MOST)) > HALF * way:
        return None
    edges = np.flatnonzero(np.diff(above)) + 1
    runs = np.split(np.arange(len(levels)), edges)
    fraction = longest_fraction(above, times)
    jumps = [
        Jump(
            before=int(run[0]) - 1,
            peak=int(run[levels[run].argmax()]),
            usual=usual,
            highest=float(levels[run].max()),
            high=len(run),
            times=sum(bool(above[one[0]]) for one in runs),
            near=near,
            came_back=bool(run[-1] < len(levels) - 1),
            high_fraction=fraction,
        )
        for run in runs
        if above[run[0]] and run[0] > 0 and levels[run[0]] - levels[run[0] - 1] >= HALF * way
    ]
    return max(jumps, key=lambda one: (one.came_back, one.highest), default=None)


def longest_fraction(high: NDArray[np.bool_], times: FloatArray | None = None) -> float:
    """Share of the time for which a level may have been high, at most.

    That is from reading to reading where one of the two was, and where readings are missing, if it
    was ever high for so short a time.

    Args:
        high: Whether it was, reading by reading.
        times: When each was, ascending; None if only their order is known.
    """
    at = np.arange(len(high), dtype=np.float64) if times is None else times
    whole, apart = at[-1] - at[0], np.diff(at)
    may_be = high[1:] | high[:-1] | (_is_hole(apart) & (apart >= (1 - EVEN) * _shortest(high, at)))
    return float(apart[may_be].sum() / whole) if whole > 0 else float(high.mean())


def _is_hole(apart: FloatArray) -> NDArray[np.bool_]:
    """Which intervals lack a reading, in a series that is even otherwise."""
    pace = np.median(apart)
    even = np.abs(apart - pace) <= EVEN * pace
    return (apart >= (2 - EVEN) * pace) & (even.mean() >= 1 - EVEN)


def _shortest(high: NDArray[np.bool_], at: FloatArray) -> float:
    """The shortest time that it may have been high, from the reading before to the one after."""
    turns = np.flatnonzero(np.diff(high)) + 1
    turns = turns[int(high[0]) :]  # from its first rise on
    rises, falls = turns[::2], turns[1::2]
    return float((at[falls] - at[rises[: len(falls)] - 1]).min(initial=np.inf))
