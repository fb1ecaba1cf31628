"""How does a level move: how far, how fast, in what shape, and is it still moving at the end?

A level is an amount at a point in time: bytes marked by a GC, resident bytes, goroutines. Readings
come from logs, MemStats, profiles, mappings or counts. They differ only in their error (rounding,
sampling, bounds of an account) and their timestamp, so one engine handles all of them.

A level that rises and then plateaus is not growing. The engine fits a straight line and a
saturating curve together. How much of the rise the line explains, rather than the curve, tells
growth from a plateau better than any rank test, and works from three readings on. Some readings are
only upper bounds: HeapAlloc includes garbage on top of the live heap. If continued growth would
have passed such a bound, the growth has stopped.

A second table answers how large RSS and the heap are typically, and at worst (`LEVEL_QUANTILES`).
The q-quantile is the smallest level with at least a fraction q of the snapshots at or below it. A
p99 of 200 MB means that 99 % of the snapshots are at or below 200 MB. It is reported only with
enough snapshots: with fewer than a hundred, p99 is just the maximum. A share of the snapshots
equals a share of the time only if they were taken at even intervals, as by `gomem capture --every`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.shapes import shape_of
from gomem.inputs.schema import Column, build_rows
from gomem.statistics.quantiles import carries
from gomem.statistics.slopes import theil_sen
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.statistics.sampling import FloatArray

MAX_BLOCKS = 60  # neighbours in time resemble each other: of more readings, medians of blocks
ENDS = 10  # a first and last level is the median of a tenth of the readings
# Time constants of the fills that are tried, as shares of the time: from one that is over at once
# to one that a line can hardly be told from.
FILLS = np.array([0.03, 0.07, 0.15, 0.3, 0.6])
LATE = 1 / 3  # of the time
STILL_LINEAR, STILL_LATE = 0.5, 0.15  # of a rise that goes on: its line, and its last third
FAR_BEYOND = 3.0  # rises beyond a ceiling: more says nothing more
MIN_MOMENTS = 20  # with fewer, a table of all of them says more
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
    """Readings of one quantity, in order of time."""

    source: str  # the kind of evidence they are from
    seconds: FloatArray  # of what time each is, ascending, on the capture's clock
    values: FloatArray  # the readings
    # How far each can be off; half of the width of its 95 % interval.
    errors: FloatArray = field(default_factory=lambda: np.empty(0))
    # From when to when the capture looked, whether or not a reading came of it.
    watched: tuple[float, float] | None = None
    # A time after the last reading, and what the level cannot have been above then.
    ceiling: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def span_seconds(self) -> float:
        """From the first reading to the last."""
        return float(self.seconds[-1] - self.seconds[0]) if len(self) else 0.0

    @cached_property
    def rise(self) -> Rise | None:
        """How it moved; None of fewer than two readings of different times."""
        return _rise(self) if len(self) > 1 and self.span_seconds > 0 else None


@dataclass(frozen=True)
class Rise:
    """How a level moved from its first readings to its last."""

    readings: int  # how many there are
    seconds: float  # from the first to the last
    first: float  # the level at first: of many readings, the median of the first tenth
    last: float  # the same at last
    reached: float  # the last reading itself
    are_medians: bool  # whether the first and the last level are of several readings
    apart_seconds: float  # from the time of `first` to that of `last`
    error: float  # how far `grown` can be off by the readings' errors
    slope: float  # per second: Theil and Sen's
    low: float  # lower end of its 95 % interval, errors of the readings included
    high: float  # upper end of the same
    shape: str  # one of `shapes.SHAPES`
    # The share of the rise that a straight line makes beside a fill that saturates: 1 for a line, 0
    # for what filled and stayed.
    linear_share: float
    late_share: float  # the share of the rise that came in the last third of the time
    coverage: float  # the share of the time watched that the readings cover
    # By how much the level would lie above its ceiling if it had gone on, in rises; below zero
    # where it fits beneath.
    beyond_ceiling: float

    @property
    def grown(self) -> float:
        """The last level less the first."""
        return self.last - self.first

    @property
    def rate(self) -> float:
        """Per second, from the first level to the last: what a page calls the speed of growth.

        The slope is the median of all pairs, and so mostly of the time with most readings: of a
        start-up, where GCs follow one another fast.
        """
        return self.grown / self.apart_seconds

    @property
    def goes_on(self) -> bool:
        """Whether it still rose at the end."""
        return self.linear_share >= STILL_LINEAR and self.late_share >= STILL_LATE

    @property
    def ratio(self) -> float:
        """The last level as a multiple of the first; infinite from nothing."""
        return self.last / self.first if self.first > 0 else np.inf


def _rise(level: Level) -> Rise:
    seconds, values, errors = _in_blocks(level)
    tenth = max(1, len(values) // ENDS)
    first, last = float(np.median(values[:tenth])), float(np.median(values[-tenth:]))
    span = float(seconds[-1] - seconds[0])
    apart = float(np.median(seconds[-tenth:]) - np.median(seconds[:tenth]))
    slope, low, high = _slope(seconds, values, errors)
    begin, until = level.watched or (float(level.seconds[0]), float(level.seconds[-1]))
    late = last - float(np.interp(seconds[-1] - LATE * span, seconds, values))
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
        slope=slope,
        low=low,
        high=high,
        shape=shape_of(seconds, values, float(np.median(errors)) / 2),
        linear_share=linear_share(seconds, values) if grown > 0 else 0.0,
        late_share=float(np.clip(late / grown, -1, 1.5)) if grown > 0 else 0.0,
        coverage=min(1.0, span / (until - begin)) if until > begin else 1.0,
        beyond_ceiling=_beyond(level, last, grown, span),
    )


def _in_blocks(level: Level) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The readings; of many, medians of neighbours."""
    errors = level.errors if len(level.errors) else np.zeros(len(level))
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


def _slope(
    seconds: FloatArray, values: FloatArray, errors: FloatArray
) -> tuple[float, float, float]:
    """Theil and Sen's slope, and its interval with the errors of the readings."""
    slope, low, high = (float(end[0]) for end in theil_sen(seconds, values[None, :]))
    tilt = float(np.hypot(errors[0], errors[-1]) / (seconds[-1] - seconds[0]))
    return (
        slope,
        slope - float(np.hypot(slope - low, tilt)),
        slope + float(np.hypot(high - slope, tilt)),
    )


def linear_share(seconds: FloatArray, values: FloatArray) -> float:
    """The share of a rise that needs a straight line beside a fill that saturates; 0 where none is.

    By least squares with no part below zero, over a handful of time constants: the best fits.
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
    """Least squares of two parts, none below zero."""
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
    """By how much the level would have passed its ceiling, in rises."""
    if level.ceiling is None or grown <= 0:
        return 0.0
    at, most = level.ceiling
    ahead = last + grown / span * max(0.0, at - float(level.seconds[-1]))
    return float(np.clip((ahead - most) / grown, -1.0, FAR_BEYOND))


def level_quantiles(levels: pd.DataFrame) -> pd.DataFrame:
    """A row for each level, a column in bytes, that enough moments have; see `LEVEL_QUANTILES`."""
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
