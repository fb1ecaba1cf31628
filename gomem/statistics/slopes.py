"""How fast does something change over time, and how precise is that slope?

The slope is the Theil–Sen estimate: the median of the slopes between all pairs of points, which a
few outliers cannot move. Its interval is Sen's rank interval (Sen, 1968, JASA 63: 1379-1389),
corrected for ties.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gomem.statistics.sampling import Z95, FloatArray


def theil_sen(seconds: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the slope per second of each row of values, and both ends of its 95 % interval.

    Each row is one quantity, each column one snapshot. Times ascend, and at least two differ.
    """
    first, second = np.triu_indices(len(seconds), 1)
    apart = seconds[second] > seconds[first]
    first, second = first[apart], second[apart]
    slopes = np.sort((values[:, second] - values[:, first]) / (seconds[second] - seconds[first]))
    same_times = _equal(seconds)
    reach = Z95 * np.sqrt([_variance(len(seconds), same_times, _equal(row)) for row in values])
    pairs = slopes.shape[1]
    lowest = np.maximum(np.round((pairs - reach) / 2).astype(np.int64) - 1, 0)
    highest = np.minimum(np.round((pairs + reach) / 2).astype(np.int64), pairs - 1)
    rows = np.arange(len(slopes))
    return np.median(slopes, axis=1), slopes[rows, lowest], slopes[rows, highest]


def _equal(values: FloatArray) -> npt.NDArray[np.int64]:
    """Return the size of each group of equal values."""
    return np.unique(values, return_counts=True)[1]


def _variance(moments: int, *equal: npt.NDArray[np.int64]) -> float:
    """Return the variance of Kendall's S; pairs with equal times or values do not count."""

    def term(n: npt.NDArray[np.int64]) -> int:
        return int((n * (n - 1) * (2 * n + 5)).sum())

    return max(term(np.array([moments])) - sum(map(term, equal)), 0) / 18
