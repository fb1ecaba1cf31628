"""Which way does a level go, how fast, how sure is that, and in which shape?

A level is what there is at a moment: bytes in use, resident bytes, goroutines. The slope is Theil
and Sen's, with its interval (see `analysis.slopes`). The shape says where the rises and falls lie:
what filled at the start and has stayed since has a slope, too, and is no leak.

Of three or four moments no test of ranks is sure: they stand in ascending order by chance in one of
6 and one of 24 cases. But what is counted has no error of sampling, and chance does not lay it in a
line either: where each moment has more than the one before, and no pair of them rises at less than
half of the slope, it may rise. What fills and slows down does not pass; what it takes beyond that
is for the cause to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from gomem.statistics.slopes import theil_sen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SHAPES = ("flat", "ramp", "step", "plateau", "saw-tooth", "decline")
NOISE = 3.0  # standard deviations: a smaller range is that of sampling
MOVES = 0.1  # of the level: a smaller range is no change worth a name
HALF, MOST = 0.5, 0.6  # of the range
STEEP = 2.0  # times the share of the time that an interval takes: above, its rise stands out
FEWEST = 3  # moments: two show a difference, three a direction
WELL_KNOWN = 0.25  # width of a slope's interval, as a part of it: the size is good to an eighth
SURE_FROM = 5  # moments: four stand in order by chance in 1 of 12 cases, five in 1 of 60


@dataclass(frozen=True)
class Trend:
    """How a level moved over the moments of a capture.

    Attributes:
        moments: How many there are.
        seconds: From the first to the last; None if they are only known to follow each other.
        first: The level in the first of them.
        last: The same in the last.
        slope: Theil and Sen's: per second, or per moment without times.
        low: Lower end of its 95 % interval.
        high: Upper end of the same.
        shape: One of `SHAPES`.
        lows_follow: Whether its lows rise with the slope, by half of it at least, from the first
            third of the time to the last: garbage comes and goes on top of what is held.
        only_rises: Whether each moment has more than the one before.
        each_counts: Whether each has more by a tenth at least of what an even rise would add.
        in_line: Whether the slope gives half of what grew, at least, in the time: what stands
            higher at the end by a burst alone does not follow from it. Without times, whether it
            rises between half of the moments: they may lie any time apart, and where it stands
            still be the longest.
        slows: Whether the second half of the time has less than a quarter of what it grew.
        tails_off: Whether the last third has less than a sixth of that.
    """

    moments: int
    seconds: float | None
    first: float
    last: float
    slope: float
    low: float
    high: float
    shape: str
    lows_follow: bool
    only_rises: bool
    each_counts: bool
    in_line: bool
    slows: bool
    tails_off: bool

    @property
    def grown(self) -> float:
        """The last level less the first."""
        return self.last - self.first

    @property
    def rises(self) -> bool:
        """Whether it surely rises, and still did so at the end."""
        sure = self.moments >= SURE_FROM and self.low > 0
        return sure and self.goes_on and (self.in_line or self.each_counts)

    @property
    def may_rise(self) -> bool:
        """Whether it rises in a line over moments too few to be sure of it."""
        few = FEWEST <= self.moments < SURE_FROM
        return few and self.only_rises and is_steady(self.slope, self.low)

    @property
    def levels_off(self) -> bool:
        """Whether it has risen and stays, or nearly does; a single step is no levelling off."""
        return self.shape == "plateau" or (self.shape == "ramp" and self.tails_off)

    @property
    def goes_on(self) -> bool:
        """Whether it moves to the end, in a line or in teeth whose lows follow the slope."""
        return self.shape == "ramp" or (self.shape == "saw-tooth" and self.lows_follow)


def trend_of(levels: FloatArray, seconds: FloatArray | None = None) -> Trend | None:
    """Measure how a level moved.

    Args:
        levels: In the moments' order.
        seconds: When each was, ascending; None if that is not known.

    Returns:
        None if there are fewer than two moments of different times.
    """
    times = np.arange(len(levels), dtype=np.float64) if seconds is None else seconds
    if len(levels) < 2 or not times[-1] > times[0]:
        return None
    steps = np.diff(levels)
    slope, low, high = (float(end[0]) for end in theil_sen(times, levels[None, :]))
    return Trend(
        moments=len(levels),
        seconds=None if seconds is None else float(times[-1] - times[0]),
        first=float(levels[0]),
        last=float(levels[-1]),
        slope=slope,
        low=low,
        high=high,
        shape=shape_of(times, levels),
        lows_follow=_lows_follow(times, levels, slope),
        only_rises=bool((steps > 0).all()),
        each_counts=bool((steps >= max(MOVES * steps.mean(), 0.0)).all()),
        in_line=_is_in_line(levels, seconds, slope),
        slows=_loses_pace(times, levels, 1 / 2),
        tails_off=_loses_pace(times, levels, 1 / 3),
    )


def is_steady(slope: float, low: float) -> bool:
    """Whether even the lower end of a slope's interval is half of it: of few moments, any pair."""
    return slope > 0 and low >= HALF * slope


def above_the_lowest(levels: Sequence[float]) -> list[float]:
    """By how much each level lies above the lowest before it; 0 of the first, or if it does not."""
    return [level - lowest for level, lowest in zip(levels, accumulate(levels, min), strict=True)]


def shape_of(
    seconds: FloatArray,
    levels: FloatArray,
    noise: float = 0.0,
    since_seconds: FloatArray | None = None,
) -> str:
    """Name how a level moves, by where its rises and falls lie.

    A fall as deep as half the range, after or before a rise as high, is a saw-tooth; a fall alone
    a decline. A rise of which most comes in one interval, and far faster than it took on average,
    is a step; one that has ended by the last third a plateau; any other a ramp.

    Args:
        seconds: When each level was read, ascending.
        levels: One for each.
        noise: Standard deviation of a level that is an estimate.
        since_seconds: The earliest time that each reading may be of, where readings lag.

    Returns:
        One of `SHAPES`.
    """
    extent = levels.max() - levels.min()
    if extent <= max(NOISE * noise, MOVES * levels.max()):
        return "flat"
    steps = np.diff(levels) / extent
    rises, falls = steps[steps > 0].sum(), -steps[steps < 0].sum()
    if falls >= HALF:
        return "saw-tooth" if rises >= HALF else "decline"
    if _has_step(steps, seconds, seconds if since_seconds is None else since_seconds):
        return "step"
    late = np.interp(seconds[0] + (seconds[-1] - seconds[0]) * 2 / 3, seconds, levels)
    return "plateau" if levels[-1] - late <= MOVES * extent else "ramp"


def _is_in_line(levels: FloatArray, seconds: FloatArray | None, slope: float) -> bool:
    """Whether the slope gives half of what grew; without times, whether half of the intervals rise.

    One rises by a tenth at least of what an even one would.
    """
    if seconds is not None:
        return bool(slope * (seconds[-1] - seconds[0]) >= HALF * (levels[-1] - levels[0]))
    steps = np.diff(levels)
    return bool((steps >= max(MOVES * steps.mean(), 0.0)).sum() >= HALF * len(steps))


def _loses_pace(seconds: FloatArray, levels: FloatArray, part: float) -> bool:
    """Whether it rises, in the last part of the time at less than half of its pace in all."""
    since = seconds[-1] - part * (seconds[-1] - seconds[0])
    late = levels[-1] - float(np.interp(since, seconds, levels))
    grown = levels[-1] - levels[0]
    return bool(grown > 0 and late < HALF * part * grown)


def _lows_follow(seconds: FloatArray, levels: FloatArray, slope: float) -> bool:
    third = (seconds[-1] - seconds[0]) / 3
    early, late = seconds <= seconds[0] + third, seconds >= seconds[-1] - third
    first, last = (
        (seconds[part][levels[part].argmin()], levels[part].min()) for part in (early, late)
    )
    follow = last[1] - first[1] >= HALF * slope * (last[0] - first[0])
    return bool(slope > 0 and follow)


def _has_step(steps: FloatArray, seconds: FloatArray, since_seconds: FloatArray) -> bool:
    """Whether one interval has most of the rise, beyond what its time gives a steady one."""
    largest = int(steps.argmax())
    whole = seconds[-1] - seconds[0]
    taken = (seconds[largest + 1] - since_seconds[largest]) / whole
    return bool(steps[largest] >= MOST and steps[largest] >= STEEP * taken)
