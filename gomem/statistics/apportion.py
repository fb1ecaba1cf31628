"""Divide a whole number into weighted whole parts that add up exactly (largest remainder)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def apportion(whole: int, weights: ArrayLike) -> NDArray[np.int64]:
    """Divide `whole` into whole numbers in proportion to non-negative weights.

    Each part is its exact share rounded down. The remaining units go to the parts with the largest
    remainders; of equal remainders, the first wins. Raises ValueError if all weights are 0 and
    `whole` is not.
    """
    parts = np.asarray(weights, np.float64)
    total = float(parts.sum())
    if total <= 0:
        if whole:
            raise ValueError(f"{whole}: nothing says in which parts; wanted a weight above 0")
        return np.zeros(len(parts), np.int64)
    exact = parts * (whole / total)
    shares = np.floor(exact).astype(np.int64)
    left = whole - int(shares.sum())
    order = np.argsort(shares - exact, kind="stable")
    if left < 0:  # for very large numbers, rounding errors of floats exceed one
        raise ValueError(f"{whole}: too large for its parts to be exact")
    np.add.at(shares, np.resize(order, left), 1)
    return shares
