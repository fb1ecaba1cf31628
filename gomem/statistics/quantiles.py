"""Quantiles of data that arrives in pieces: a sample as distinct values, with a count of each.

A log prints few digits, so ten million durations have some thousand distinct values. Their counts
take little memory and give the exact quantiles of the full sample. A sample with too many distinct
values is rounded to four digits, which moves a quantile by at most 0.05 %.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

EXACTLY = 1e-9  # 100 × (1 - 0.99) is a little less than 1
MAX_VALUES = 1 << 20
ROUNDED_DIGITS = 4  # relative error of at most 0.05 %


def carries(n: int, quantile: float) -> bool:
    """Return whether `n` values are enough to estimate a quantile; fewer give only the maximum."""
    return n > 0 and (quantile == 1 or n * (1 - quantile) >= 1 - EXACTLY)


@dataclass
class Tally:
    """The distinct values of a sample, ascending, and the count of each."""

    values: FloatArray = field(default_factory=lambda: np.empty(0))  # distinct
    # of each value
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    # whether there were too many values, so they are rounded to four digits
    is_rounded: bool = False

    def add(self, sample: FloatArray) -> None:
        """Add a part of the sample; missing values are left out."""
        self.merge(*np.unique(sample[~np.isnan(sample)], return_counts=True))

    def merge(self, values: FloatArray, counts: npt.NDArray[np.int64]) -> None:
        """Add distinct values, in any order, with their counts."""
        if self.is_rounded:
            values = _rounded(values)
        self._set(np.concatenate([self.values, values]), np.concatenate([self.counts, counts]))
        if len(self.values) > MAX_VALUES:
            self.is_rounded = True
            self._set(_rounded(self.values), self.counts)

    def _set(self, values: FloatArray, counts: npt.NDArray[np.int64]) -> None:
        self.values, where = np.unique(values, return_inverse=True)
        self.counts = np.bincount(where, counts, len(self.values)).astype(np.int64)

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __getitem__(self, rank: int) -> float:
        """Return the value at a rank; rank 0 is the smallest."""
        return float(self.values[np.searchsorted(self.counts.cumsum(), rank, side="right")])

    def quantile(self, share: float) -> float | None:
        """Return the smallest value with at least this fraction of the sample at or below it."""
        n = len(self)
        return self[max(0, int(np.ceil(n * share - 1)))] if n else None

    def at_least(self, bound: float) -> int:
        """Count the values at or above a bound."""
        return int(self.counts[self.values >= bound].sum())

    def sum_at_least(self, bound: float) -> float:
        """Sum the values at or above a bound."""
        reach = self.values >= bound
        return float((self.values[reach] * self.counts[reach]).sum())

    @property
    def median(self) -> float:
        """The middle value, or the mean of the middle two; NaN if the sample is empty."""
        n = len(self)
        return (self[(n - 1) // 2] + self[n // 2]) / 2 if n else float("nan")

    @property
    def max(self) -> float | None:
        """The largest value; None if the sample is empty."""
        return float(self.values[-1]) if len(self.values) else None


def _rounded(values: FloatArray) -> FloatArray:
    """Round each value to `ROUNDED_DIGITS` significant digits."""
    with np.errstate(divide="ignore"):
        places = ROUNDED_DIGITS - 1 - np.floor(np.log10(np.abs(values)))
    scale = 10.0 ** np.where(np.isfinite(places), places, 0)
    return np.round(values * scale) / scale
