"""Does a level rise from its lows again and again, and fall back in between?

A job that comes every few seconds makes a level high for half of the moments or more: then no level
is usual, and none jumps from it (see `analysis.jumps`). So bursts are told from the lows. A moment
is low in the lowest quarter of the range, and high in its upper half. A burst leaves the lows,
reaches the heights, and lasts until the next low, or to the end.

It is sudden: three quarters of its rise come within two intervals, for a profile that lags may show
it in two parts. What climbs for longer fills, and is emptied: a cache, a batch, a saw-tooth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.jumps import longest_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

LOW, HIGH = 0.25, 0.5  # of the range
SUDDEN = 0.75  # of a burst's rise
WITHIN = 2  # intervals


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
    if len(levels) < 2 or not levels.max() > levels.min():
        return None
    lowest, way = float(levels.min()), float(levels.max() - levels.min())
    is_low = _is_low(levels, lowest, way)
    runs = np.split(np.arange(len(levels)), np.flatnonzero(np.diff(is_low)) + 1)
    each = [
        Burst(int(run[0]) - 1, int(run[levels[run].argmax()]), int(run[-1]))
        for run in runs
        if not is_low[run[0]] and run[0] > 0 and levels[run].max() >= lowest + HIGH * way
    ]
    if not each or not all(_is_sudden(levels, one) for one in each):
        return None
    return Bursts(
        tuple(each),
        float(np.median(levels[is_low])),
        float(levels.max()),
        max(each, key=lambda one: levels[one.peak]),
        high_fraction(levels, times),
    )


def high_fraction(levels: FloatArray, times: FloatArray | None = None) -> float:
    """Share of the time for which a level may have been high, at most; bursts or not."""
    lowest, highest = float(levels.min()), float(levels.max())
    is_high = (levels > lowest) & (levels >= lowest + HIGH * (highest - lowest))
    return longest_fraction(is_high, times)


def _is_low(levels: FloatArray, lowest: float, way: float) -> NDArray[np.bool_]:
    return levels <= lowest + LOW * way


def _is_sudden(levels: FloatArray, burst: Burst) -> bool:
    rising = levels[burst.before : burst.peak + 1]
    within = min(WITHIN, len(rising) - 1)
    fastest = (rising[within:] - rising[:-within]).max()
    return bool(fastest >= SUDDEN * (rising[-1] - rising[0]))
