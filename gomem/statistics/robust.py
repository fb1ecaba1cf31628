"""How far is a value from the others, in units of their spread?

The spread is the median absolute deviation, scaled to the standard deviation of a normal sample. Up
to half of the values can be arbitrarily far off without widening the spread. Nearly equal values
have hardly any spread, so the spread has a minimum: a fraction of their median, the square root for
a count, or the smallest difference that matters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

SPREAD_OF_MAD = 1.4826  # for a normal sample
LEAST = 1e-9


def spread_of(
    values: FloatArray, *, min_share: float, is_count: bool, least: float = LEAST
) -> float:
    """Return the spread around the median, scaled to a standard deviation; at least `least`."""
    middle = float(np.median(values))
    spread = SPREAD_OF_MAD * float(np.median(np.abs(values - middle)))
    of_count = max(abs(middle), 1.0) ** 0.5 if is_count else 0.0
    return max(spread, min_share * abs(middle), of_count, least)


def distance(
    value: float, others: FloatArray, *, min_share: float, is_count: bool, least: float = LEAST
) -> float:
    """Return the distance of a value from the median of the others, in units of their spread."""
    spread = spread_of(others, min_share=min_share, is_count=is_count, least=least)
    return (value - float(np.median(others))) / spread


def log_distance(value: float, others: FloatArray, *, offset: float, min_spread: float) -> float:
    """Return the distance as `distance` does, but on a log scale.

    A log scale suits values that range over several times their median. `offset` is added to every
    value, so that small values count as equal.
    """
    logs = np.log(np.maximum(others, 0.0) + offset)
    middle = float(np.median(logs))
    spread = max(SPREAD_OF_MAD * float(np.median(np.abs(logs - middle))), min_spread)
    return (float(np.log(max(value, 0.0) + offset)) - middle) / spread
