"""Does a level rise above its baseline: how far, how suddenly, for how long, and does it return?

The baseline is the median of the readings in the lower half of the range. It is the usual level if
the level is high for less than half of the time. An excursion lasts while the level is above the
midpoint between the baseline and the highest reading. A rise over several readings means that
something fills up, such as a cache or a batch. A rise within one reading is sudden.

The true duration lies between the readings inside the excursion and the ones just outside it. The
longest possible duration is reported, so an extra reading can only shorten it. If one reading of an
evenly spaced series is missing, an excursion may have gone unseen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.analysis.series.level import Level
    from gomem.statistics.sampling import FloatArray

    Places = NDArray[np.int64]

LOW, MIDDLE, HIGH = 0.25, 0.5, 0.75  # of the way from the base to the highest
MAX_CLIMBS = 256  # enough of them for a median
SEVERAL = 2  # excursions from which a level has a base that it comes back to
EVEN = 0.25  # of the usual time between readings: most of an even series do not differ by more
USUAL_LOWS = 0.1, 0.9  # quantiles of the readings at the base, between which most of them lie


@dataclass(frozen=True)
class Excursion:
    """A level that rose above its baseline, once or several times."""

    readings: int  # how many there are
    seconds: float  # from the first to the last
    base: float  # the level as a rule
    highest: float  # the highest reading
    times: int  # how often it left its base
    before: int  # place of the last reading before it left for the highest
    peak: int  # place of the highest reading
    last: int  # place of the last reading away from its base
    away_fraction: float  # the share of the time for which it may have been away, at most
    # How long three quarters of a rise took behind the first reading of it, as a share of the time
    # from one excursion to another; the median of all of them.
    climb_fraction: float
    # How far it fell behind the peak of an excursion, at most, as a share of the way.
    back_fraction: float
    spread_fraction: float  # how far the readings at the base lie apart, as a share of the way

    @property
    def extra(self) -> float:
        """The highest reading less the base."""
        return self.highest - self.base

    @property
    def goes_on(self) -> bool:
        """Whether the last reading is away from the base."""
        return self.last == self.readings - 1


def excursion_of(level: Level) -> Excursion | None:
    """Measure how a level left its baseline; None of fewer than three readings, or if it never did.

    A level that is already high at the first reading has made no excursion.
    """
    at, values = level.seconds, level.values
    if len(values) < 3 or not at[-1] > at[0]:
        return None
    highest, middle = float(values.max()), float(values.max() + values.min()) / 2
    base = float(np.median(values[values <= middle]))
    way = highest - base
    is_away, runs = _runs_away(values, base + MIDDLE * way)
    away = [run for run in runs if run[0] > 0]
    if way <= 0 or not away:
        return None
    top = max(away, key=lambda run: values[run].max())
    peak = int(top[values[top].argmax()])
    apart = (at[-1] - at[0]) / len(away)
    lows = np.quantile(values[~is_away], USUAL_LOWS)
    return Excursion(
        readings=len(values),
        seconds=float(at[-1] - at[0]),
        base=base,
        highest=float(values[peak]),
        times=len(away),
        before=int(top[0]) - 1,
        peak=peak,
        last=int(away[-1][-1]),
        away_fraction=_longest_fraction(is_away, at),
        climb_fraction=float(np.median(_climbs(values, at, away, base + LOW * way))) / apart,
        back_fraction=min(1.0, float(_falls(values, away).max()) / way),
        spread_fraction=float(lows[1] - lows[0]) / way,
    )


def at_base(level: Level) -> Level:
    """Only the readings at the baseline, if the level left it and returned several times; else all.

    Whether such a level grows is a question about its baseline. If the recording ends during an
    excursion, the last reading does not show the baseline.
    """
    values = level.values
    excursion = excursion_of(level)
    if excursion is None or excursion.times < SEVERAL:
        return level
    is_away, runs = _runs_away(values, excursion.base + MIDDLE * excursion.extra)
    came_back = _falls(values, runs) >= (1 - LOW) * excursion.extra
    if came_back.sum() < SEVERAL:
        return level
    errors = level.errors[~is_away] if len(level.errors) else level.errors
    return replace(level, seconds=level.seconds[~is_away], values=values[~is_away], errors=errors)


def _runs_away(values: FloatArray, least: float) -> tuple[NDArray[np.bool_], list[Places]]:
    """Which readings are as high, and those in a row that are."""
    is_away = values >= least
    runs = np.split(np.arange(len(values)), np.flatnonzero(np.diff(is_away)) + 1)
    return is_away, [run for run in runs if is_away[run[0]]]


def _climbs(values: FloatArray, at: FloatArray, runs: list[Places], low: float) -> FloatArray:
    """How long three quarters of a rise took, behind the first reading of it; of some rises."""
    places = np.where(values <= low, np.arange(len(values)), 0)
    last_low = np.maximum.accumulate(places)  # up to each reading
    some = runs[:: -(-len(runs) // MAX_CLIMBS)]
    begins = last_low[[run[0] - 1 for run in some]]
    climbs = []
    for begin, peak in zip(begins.tolist(), _peaks(values, some).tolist(), strict=True):
        most = values[begin] + HIGH * (values[peak] - values[begin])
        reached = begin + int((values[begin : peak + 1] >= most).argmax())
        climbs.append(at[reached] - at[begin + 1])
    return np.array(climbs)


def _falls(values: FloatArray, runs: list[Places]) -> FloatArray:
    """How far it fell behind the peak of each excursion."""
    lowest_after = np.minimum.accumulate(values[::-1])[::-1]
    peaks = _peaks(values, runs)
    return values[peaks] - lowest_after[peaks]


def _peaks(values: FloatArray, runs: list[Places]) -> Places:
    """The place of the highest reading of each excursion."""
    return np.array([run[0] + values[run[0] : run[-1] + 1].argmax() for run in runs], np.int64)


def _longest_fraction(away: NDArray[np.bool_], at: FloatArray) -> float:
    """Share of the time for which it may have been away, at most.

    That is from reading to reading where one of the two was, and where readings are missing, if it
    was ever away for so short a time.
    """
    apart = np.diff(at)
    may_be = away[1:] | away[:-1]
    may_be |= _is_hole(apart) & (apart >= (1 - EVEN) * _shortest(away, at))
    return float(apart[may_be].sum() / (at[-1] - at[0]))


def _is_hole(apart: FloatArray) -> NDArray[np.bool_]:
    """Which intervals lack a reading, in a series that is even otherwise."""
    pace = np.median(apart)
    even = np.abs(apart - pace) <= EVEN * pace
    return (apart >= (2 - EVEN) * pace) & (even.mean() >= 1 - EVEN)


def _shortest(away: NDArray[np.bool_], at: FloatArray) -> float:
    """The shortest time that it may have been away, from the reading before to the one after."""
    turns = np.flatnonzero(np.diff(away)) + 1
    turns = turns[int(away[0]) :]  # from its first rise on
    rises, falls = turns[::2], turns[1::2]
    return float((at[falls] - at[rises[: len(falls)] - 1]).min(initial=np.inf))
