"""Does a series rise above its baseline: how far, how suddenly, for how long, and does it return?

The baseline is the median of the readings in the lower half of the range. That is the typical level
only if fewer than half of the readings are high. An excursion lasts while the series is above the
midpoint between the baseline and the highest reading. A rise over several readings means that
something fills up, such as a cache or a batch. A rise within one reading is sudden.

An excursion lasts at least from its first to its last reading above the midpoint, and at most from
the reading before to the reading after. The longer duration is reported, so a further reading can
only shorten it. If one reading of an evenly spaced series is missing, an excursion can be missed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.level import median_by_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.analysis.series.level import Level
    from gomem.statistics.sampling import FloatArray

    Places = NDArray[np.int64]

LOW, MIDDLE, HIGH = 0.25, 0.5, 0.75  # of the range from the baseline to the maximum
MAX_CLIMBS = 256  # enough for a median
SEVERAL = 2  # excursions, for a level to have a baseline to which it returns
# of the usual time between readings: in an evenly spaced series, most differ by no more
EVEN = 0.25
USUAL_LOWS = 0.1, 0.9  # quantiles that enclose most readings at the baseline


@dataclass(frozen=True)
class Excursion:
    """The excursion of a level above its baseline, once or several times."""

    readings: int  # number of readings
    seconds: float  # from the first reading to the last
    base: float  # the baseline
    usual: float  # the level outside of excursions, by time; one of the readings
    highest: float  # the highest reading
    times: int  # number of excursions
    before: int  # index of the last reading before the highest excursion
    peak: int  # index of the highest reading
    last: int  # index of the last reading away from the baseline
    away_fraction: float  # upper bound of the share of the time spent away from the baseline
    # Time for three quarters of a rise, after its first reading, as a share of the time between
    # excursions; the median over all rises.
    climb_fraction: float
    # The largest fall after the peak of an excursion, as a fraction of the range.
    back_fraction: float
    spread_fraction: float  # spread of the readings at the baseline, as a fraction of the range
    high_fraction: float  # share of the readings that are away from the baseline

    @property
    def extra(self) -> float:
        """The highest reading minus the baseline."""
        return self.highest - self.base

    @property
    def goes_on(self) -> bool:
        """Whether the last reading is above the baseline."""
        return self.last == self.readings - 1


def excursion_of(level: Level) -> Excursion | None:
    """Measure how a level left its baseline.

    None for fewer than three readings, or if the level did not leave its baseline. A level that is
    already high at the first reading is not an excursion.
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
        usual=median_by_time(at, values, ~is_away),
        highest=float(values[peak]),
        times=len(away),
        before=int(top[0]) - 1,
        peak=peak,
        last=int(away[-1][-1]),
        away_fraction=_longest_fraction(is_away, at),
        climb_fraction=float(np.median(_climbs(values, at, away, base + LOW * way))) / apart,
        back_fraction=min(1.0, float(_falls(values, away).max()) / way),
        spread_fraction=float(lows[1] - lows[0]) / way,
        high_fraction=float(is_away.mean()),
    )


def at_base(level: Level) -> Level:
    """Return the readings at the baseline, if a level returned to it several times; else all.

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
    """Return which readings are at least this high, and the runs of these."""
    is_away = values >= least
    runs = np.split(np.arange(len(values)), np.flatnonzero(np.diff(is_away)) + 1)
    return is_away, [run for run in runs if is_away[run[0]]]


def _climbs(values: FloatArray, at: FloatArray, runs: list[Places], low: float) -> FloatArray:
    """Return the times for three quarters of rises, after their first reading; a sample."""
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
    """Return the fall after the peak of each excursion."""
    lowest_after = np.minimum.accumulate(values[::-1])[::-1]
    peaks = _peaks(values, runs)
    return values[peaks] - lowest_after[peaks]


def _peaks(values: FloatArray, runs: list[Places]) -> Places:
    """Return the index of the highest reading of each excursion."""
    return np.array([run[0] + values[run[0] : run[-1] + 1].argmax() for run in runs], np.int64)


def _longest_fraction(away: NDArray[np.bool_], at: FloatArray) -> float:
    """Return an upper bound of the share of the time spent away.

    An interval counts if one of its ends is away; and if a reading is missing in it, and there was
    ever an excursion that short.
    """
    apart = np.diff(at)
    may_be = away[1:] | away[:-1]
    may_be |= _is_hole(apart) & (apart >= (1 - EVEN) * _shortest(away, at))
    return float(apart[may_be].sum() / (at[-1] - at[0]))


def _is_hole(apart: FloatArray) -> NDArray[np.bool_]:
    """Return which intervals miss a reading, in an otherwise evenly spaced series."""
    pace = np.median(apart)
    even = np.abs(apart - pace) <= EVEN * pace
    return (apart >= (2 - EVEN) * pace) & (even.mean() >= 1 - EVEN)


def _shortest(away: NDArray[np.bool_], at: FloatArray) -> float:
    """Return the shortest excursion, from the reading before to the one after."""
    turns = np.flatnonzero(np.diff(away)) + 1
    turns = turns[int(away[0]) :]  # from its first rise on
    rises, falls = turns[::2], turns[1::2]
    return float((at[falls] - at[rises[: len(falls)] - 1]).min(initial=np.inf))
