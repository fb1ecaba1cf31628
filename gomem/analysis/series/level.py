"""How does a level change: how far, how fast, in what shape, and is it still changing at the end?

A level is an amount at a point in time: bytes marked by a GC, resident bytes, goroutines. Readings
come from logs, MemStats, profiles, mappings or counts. Readings differ only in their errors
(rounding, sampling, bounds of an account) and their times, so one engine handles all.

A level that rises and then plateaus is not growing. The engine fits the sum of a straight line and
a saturating curve. The line's share of the rise separates growth from a plateau better than any
rank test, and works from three readings on. Some readings are only upper bounds: HeapAlloc includes
garbage on top of the live heap. If continued growth would have passed such a bound, the growth has
stopped.

A second table has the typical and the worst size of RSS and the heap (`LEVEL_QUANTILES`). The
q-quantile is the smallest level with at least a fraction q of the snapshots at or below it. A p99
of 200 MB means that 99 % of the snapshots are at or below 200 MB. A p99 is reported only with
enough snapshots: with fewer than a hundred, it is just the maximum. A share of the snapshots equals
a share of the time only if they were taken at even intervals, as by `gomem capture --every`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.shapes import MIN_STEP, shape_of
from gomem.inputs.schema import Column, build_rows
from gomem.statistics.quantiles import carries
from gomem.statistics.slopes import theil_sen
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from gomem.statistics.sampling import FloatArray

MAX_BLOCKS = 60  # consecutive readings are similar: if there are more, medians of blocks are used
MIN_FILLED = 8  # readings after the warm-up; with fewer, a slope of their own means nothing
ENDS = 10  # a first and last level is the median of a tenth of the readings
# Time constants of the tested fills, as shares of the time: from one that ends immediately to one
# that is almost a line.
FILLS = np.array([0.03, 0.07, 0.15, 0.3, 0.6])
LATE = 1 / 3  # of the time
START_READINGS = 4  # that must follow a first reading from before the start-up
ROUGH = 0.2  # of the readings: errors as large as that are said
SLOWER = 0.55  # of the rise in the first third: the last third of a filling cache, not of a line
STILL_LINEAR, STILL_LATE = 0.5, 0.15  # of a continuing rise: its line, its last third
FAR_BEYOND = 3.0  # rises beyond a ceiling: more is not more informative
MIN_MOMENTS = 20  # with fewer, a table of all of them is better
QUANTILES = {"p50_bytes": 0.5, "p99_bytes": 0.99, "p999_bytes": 0.999}
LEVELS = ("rss_bytes", "HeapAlloc", "HeapInuse")
LEVEL_QUANTILES = (
    Column("level", "str", "", "`rss_bytes`, or a field of MemStats.", Words),
    Column("moments", "int64", "count", "Moments that say it."),
    Column("p50_bytes", "Int64", "B", "Half of the moments are at or below."),
    Column("p99_bytes", "Int64", "B", "99 % are at or below; missing of fewer than 100 moments."),
    Column("p999_bytes", "Int64", "B", "99.9 % are; missing of fewer than 1000 moments."),
    Column("max_bytes", "int64", "B", "The highest of all."),
)


@dataclass(frozen=True)
class Level:
    """Readings of one quantity, in time order."""

    source: str  # the kind of evidence
    seconds: FloatArray  # times, ascending, on the capture's clock
    values: FloatArray  # the readings
    # The error of each: half of the width of its 95 % interval.
    errors: FloatArray = field(default_factory=lambda: np.empty(0))
    # Start and end of the capture, with or without readings then.
    watched: tuple[float, float] | None = None
    # A time after the last reading, and an upper bound of the level then.
    ceiling: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def span_seconds(self) -> float:
        """Seconds from the first reading to the last."""
        return float(self.seconds[-1] - self.seconds[0]) if len(self) else 0.0

    @property
    def each_error(self) -> FloatArray:
        """The error of each reading; zeros if they are exact."""
        return self.errors if len(self.errors) else np.zeros(len(self))

    def error_at(self, place: int) -> float:
        """Return the error of a reading; 0 if it is exact."""
        return float(self.each_error[place])

    @property
    def is_rough(self) -> bool:
        """Whether the errors are a large part of the readings."""
        return bool(len(self.errors)) and bool(self.errors.sum() >= ROUGH * self.values.sum())

    @cached_property
    def rise(self) -> Rise | None:
        """The rise over time; None without readings at two different times."""
        return _rise(self) if len(self) > 1 and self.span_seconds > 0 else None

    @cached_property
    def warm_from(self) -> int:
        """The index of the first reading at or above the median: where the warm-up ends.

        A heap that only fills is at its median soon. Of one that grows all the time, half of the
        growth remains.
        """
        return int((self.values >= np.median(self.values)).argmax()) if len(self) else 0

    @property
    def warm(self) -> Level:
        """The readings after the warm-up."""
        errors = self.errors[self.warm_from :]
        seconds, values = self.seconds[self.warm_from :], self.values[self.warm_from :]
        return replace(self, seconds=seconds, values=values, errors=errors)

    @cached_property
    def slope(self) -> tuple[float, float, float]:
        """The slope per second after the warm-up, and both ends of its 95 % interval.

        Readings are closest together in a warm-up, so its pairs would outweigh all others. A level
        with few readings afterwards is taken as a whole. The errors of readings are limits, such as
        of rounding, and not chance: they widen the interval in full.
        """
        warm = self.warm
        is_enough = np.unique(warm.seconds).size >= MIN_FILLED
        seconds, values, errors = _in_blocks(warm if is_enough else self)
        slope, low, high = (float(end[0]) for end in theil_sen(seconds, values[None, :]))
        tilt = float(np.hypot(errors[0], errors[-1]) / (seconds[-1] - seconds[0]))
        return slope, low - tilt, high + tilt

    @property
    def since_start(self) -> Level:
        """The readings without a first one from before the program had started up.

        A loop that began with the process shows it at a few MiB once; the step from there to the
        second reading is most of the rise, and says nothing of what came after it.
        """
        steps = np.diff(self.values)
        if len(steps) < START_READINGS or steps[0] < MIN_STEP * np.ptp(self.values):
            return self
        errors = self.errors[1:]
        return replace(self, seconds=self.seconds[1:], values=self.values[1:], errors=errors)


@dataclass(frozen=True)
class Rise:
    """The change of a level from its first readings to its last."""

    readings: int  # number of readings
    seconds: float  # from the first to the last
    # the first level: the first reading; for many readings, the median of the first tenth
    first: float
    last: float  # the last level, computed in the same way
    reached: float  # the last reading itself
    are_medians: bool  # whether the first and last level are medians of several readings
    apart_seconds: float  # from the time of `first` to that of `last`
    error: float  # error of `grown` due to the readings' errors
    slope: float  # per second, over all readings: the Theil–Sen estimate
    rate: float  # per second, as reports show it: `Level.slope`
    low: float  # lower end of the rate's 95 % interval, including the readings' errors
    high: float  # upper end of the interval
    shape: str  # one of `shapes.SHAPES`
    # The part of the rise that is a straight line rather than a saturating fill: 1 for a line, 0
    # for a level that filled and stayed.
    linear_share: float
    early_share: float  # the part of the rise in the first third of the time
    late_share: float  # the part of the rise in the last third of the time
    coverage: float  # the part of the observed time that the readings cover
    # How far the level would be above its ceiling had it continued, in multiples of the rise;
    # negative if it fits.
    beyond_ceiling: float

    @property
    def grown(self) -> float:
        """The last level minus the first."""
        return self.last - self.first

    @property
    def goes_on(self) -> bool:
        """Whether the level still rose at the end."""
        return self.linear_share >= STILL_LINEAR and self.late_share >= STILL_LATE

    @property
    def slows(self) -> bool:
        """Whether the last third of a rise is at most half of the first, beyond its errors."""
        if self.late_share <= 0 or self.late_share > SLOWER * self.early_share:
            return False
        return (self.early_share - self.late_share) * self.grown > self.error

    @property
    def ratio(self) -> float:
        """The last level as a multiple of the first; infinite if the first is 0."""
        return self.last / self.first if self.first > 0 else np.inf


def median_by_time(
    at: FloatArray, values: FloatArray, counted: NDArray[np.bool_] | bool = True
) -> float:
    """Return the median of readings, each of which counts for the time since the one before.

    While a heap climbs, collections are frequent, so most readings can be of a climb. The next one
    after a quiet time finds what the heap had then.
    """
    weights = np.diff(at, prepend=at[0]) * counted
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def _rise(level: Level) -> Rise:
    seconds, values, errors = _in_blocks(level)
    tenth = max(1, len(values) // ENDS)
    first, last = float(np.median(values[:tenth])), float(np.median(values[-tenth:]))
    span = float(seconds[-1] - seconds[0])
    apart = float(np.median(seconds[-tenth:]) - np.median(seconds[:tenth]))
    rate, low, high = level.slope
    begin, until = level.watched or (float(level.seconds[0]), float(level.seconds[-1]))
    ends = np.interp([seconds[0] + LATE * span, seconds[-1] - LATE * span], seconds, values)
    early, late = float(ends[0]) - first, last - float(ends[1])
    grown = last - first
    return Rise(
        readings=len(level),
        seconds=span,
        first=first,
        last=last,
        reached=float(level.values[-1]),
        are_medians=tenth > 1,
        apart_seconds=apart if apart > 0 else span,
        error=float(np.hypot(np.median(errors[:tenth]), np.median(errors[-tenth:]))),
        slope=float(theil_sen(seconds, values[None, :])[0][0]),
        rate=rate,
        low=low,
        high=high,
        shape=shape_of(seconds, values, float(np.median(errors)) / 2),
        linear_share=linear_share(seconds, values) if grown > 0 else 0.0,
        early_share=float(np.clip(early / grown, -1, 1.5)) if grown > 0 else 0.0,
        late_share=float(np.clip(late / grown, -1, 1.5)) if grown > 0 else 0.0,
        coverage=min(1.0, span / (until - begin)) if until > begin else 1.0,
        beyond_ceiling=_beyond(level, last, grown, span),
    )


def _in_blocks(level: Level) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the readings; if there are many, medians of consecutive ones."""
    errors = level.each_error
    if len(level) <= MAX_BLOCKS:
        return level.seconds, level.values, errors
    blocks = np.array_split(np.arange(len(level)), MAX_BLOCKS)
    columns = (level.seconds, level.values, errors)
    seconds, values, errors = (
        np.array([np.median(column[block]) for block in blocks]) for column in columns
    )
    if seconds[-1] > seconds[0]:
        return seconds, values, errors
    return level.seconds, level.values, columns[2]


def linear_share(seconds: FloatArray, values: FloatArray) -> float:
    """Return the part of a rise that needs a line in addition to a saturating curve; 0 if none.

    The fit is by non-negative least squares over a few time constants, of which the best is used.
    """
    span = seconds[-1] - seconds[0]
    since = (seconds - seconds[0]) / span
    grown = values - values[0]
    best, share = np.inf, 0.0
    for fill in FILLS:
        parts = np.stack([(1 - np.exp(-since / fill)) / (1 - np.exp(-1 / fill)), since])
        filled, line = _not_negative(parts, grown)
        misfit = float(((filled * parts[0] + line * parts[1] - grown) ** 2).sum())
        if misfit < best and filled + line > 0:
            best, share = misfit, line / (filled + line)
    return share


def _not_negative(parts: FloatArray, wanted: FloatArray) -> tuple[float, float]:
    """Fit two non-negative terms by least squares."""
    gram, right = parts @ parts.T, parts @ wanted
    determinant = gram[0, 0] * gram[1, 1] - gram[0, 1] ** 2
    if determinant > 1e-12 * gram[0, 0] * gram[1, 1]:
        first = (right[0] * gram[1, 1] - right[1] * gram[0, 1]) / determinant
        second = (right[1] * gram[0, 0] - right[0] * gram[0, 1]) / determinant
        if first >= 0 and second >= 0:
            return float(first), float(second)
    alone = [max(0.0, float(right[part] / gram[part, part])) for part in (0, 1)]
    gain = [alone[part] * float(right[part]) for part in (0, 1)]
    return (alone[0], 0.0) if gain[0] > gain[1] else (0.0, alone[1])


def _beyond(level: Level, last: float, grown: float, span: float) -> float:
    """Return how far the level would have passed its ceiling, in multiples of the rise."""
    if level.ceiling is None or grown <= 0:
        return 0.0
    at, most = level.ceiling
    ahead = last + grown / span * max(0.0, at - float(level.seconds[-1]))
    return float(np.clip((ahead - most) / grown, -1.0, FAR_BEYOND))


def level_quantiles(levels: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each column in bytes that enough snapshots have; see `LEVEL_QUANTILES`."""
    rows = []
    for name in LEVELS:
        sample = levels[name].dropna() if name in levels else []
        if len(sample) >= MIN_MOMENTS:
            values = np.asarray(sample, np.float64)
            carried = [carries(len(values), share) for share in QUANTILES.values()]
            sizes = np.quantile(values, list(QUANTILES.values()), method="inverted_cdf")
            told = [
                int(size) if tells else None for size, tells in zip(sizes, carried, strict=True)
            ]
            rows.append((name, len(values), *told, int(values.max())))
    return build_rows(rows, LEVEL_QUANTILES)
