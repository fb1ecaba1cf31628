"""Does a level rise from its lows again and again, and fall back in between?

A job that comes every few seconds makes a level high for half of the moments or more: then no level
is usual, and none jumps from it (see `analysis.jumps`). So bursts are told from the lows. A moment
is low in the lowest quarter of the range, and high in its upper half. A burst leaves the lows,
reaches the heights, and lasts until the next low, or to the end.

It is sudden: three quarters of its rise come within two intervals, for a profile that lags may show
it in two parts. What climbs for longer fills, and is emptied: a cache, a batch, a saw-tooth. Where
levels are read at uneven times, three quarters of its rise come within a quarter of the time from
one burst to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.jumps import longest_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

LOW, HIGH = 0.25, 0.5  # of the range
SUDDEN = 0.75  # of a burst's rise
WITHIN = 2  # intervals
QUICK = 0.25  # of the time from burst to burst


@dataclass(frozen=True)
class Burst:
    """One rise of a level from its lows.

    Attributes:
        before: Place of the last low moment before it.
        peak: Place of its highest moment.
        last: Place of its last moment.
    """

    before: int
    peak: int
    last: int


@dataclass(frozen=True)
class Bursts:
    """All rises of a level from its lows, in order.

    Attributes:
        each: The bursts.
        low: The median of the low moments.
        highest: The level of the highest moment.
        top: The first burst that reaches it.
        high_fraction: Share of the time for which the level may have been high, at most.
    """

    each: tuple[Burst, ...]
    low: float
    highest: float
    top: Burst
    high_fraction: float

    @property
    def extra(self) -> float:
        """The highest level less the low one."""
        return self.highest - self.low


def find_bursts(levels: FloatArray, times: FloatArray | None = None) -> Bursts | None:
    """Find the sudden rises of a level from its lows.

    Args:
        levels: In order of time, in any unit.
        times: When each was, ascending, in any unit; None if only their order is known.

    Returns:
        None if there is none, or if one of them is not sudden.
    """
    each = _rises(levels)
    sudden = all(_is_sudden(levels, one) for one in each)
    return _bursts(levels, times, each) if each and sudden else None


def find_uneven_bursts(levels: FloatArray, times: FloatArray) -> Bursts | None:
    """Find the sudden rises of a level that was read at uneven times, more often as it rose.

    Args:
        levels: In order of time, in any unit.
        times: When each was, ascending, in any unit.

    Returns:
        None if there are fewer than two, or if one of them is not sudden.
    """
    each = _rises(levels)
    if len(each) < 2:
        return None
    apart = float(np.median(np.diff(times[[one.before for one in each]])))
    quick = all(_climb(levels, times, one) <= QUICK * apart for one in each)
    return _bursts(levels, times, each) if quick else None


def _rises(levels: FloatArray) -> list[Burst]:
    """Each time that a level leaves its lows and reaches its heights."""
    if len(levels) < 2:
        return []
    is_low = _is_low(levels)
    runs = np.split(np.arange(len(levels)), np.flatnonzero(np.diff(is_low)) + 1)
    least = levels.min() + HIGH * (levels.max() - levels.min())
    return [
        Burst(int(run[0]) - 1, int(run[levels[run].argmax()]), int(run[-1]))
        for run in runs
        if not is_low[run[0]] and run[0] > 0 and levels[run].max() >= least
    ]


def _bursts(levels: FloatArray, times: FloatArray | None, each: list[Burst]) -> Bursts:
    return Bursts(
        tuple(each),
        float(np.median(levels[_is_low(levels)])),
        float(levels.max()),
        max(each, key=lambda one: levels[one.peak]),
        high_fraction(levels, times),
    )


def high_fraction(levels: FloatArray, times: FloatArray | None = None) -> float:
    """Share of the time for which a level may have been high, at most; bursts or not."""
    lowest, highest = float(levels.min()), float(levels.max())
    is_high = (levels > lowest) & (levels >= lowest + HIGH * (highest - lowest))
    return longest_fraction(is_high, times)


def _is_low(levels: FloatArray) -> NDArray[np.bool_]:
    return levels <= levels.min() + LOW * (levels.max() - levels.min())


def _climb(levels: FloatArray, times: FloatArray, burst: Burst) -> float:
    """Time in which three quarters of its rise came."""
    rising = levels[burst.before : burst.peak + 1]
    most = rising[0] + SUDDEN * (rising[-1] - rising[0])
    return float(times[burst.before + int((rising >= most).argmax())] - times[burst.before])


def _is_sudden(levels: FloatArray, burst: Burst) -> bool:
    rising = levels[burst.before : burst.peak + 1]
    steps = [rising[one:] - rising[:-one] for one in range(1, min(WITHIN, len(rising) - 1) + 1)]
    fastest = max(one.max() for one in steps)
    return bool(fastest >= SUDDEN * (rising[-1] - rising[0]))
