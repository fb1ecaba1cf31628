"""A whole number in parts of given weights: they add up to it exactly, by largest remainder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def apportion(whole: int, weights: ArrayLike) -> NDArray[np.int64]:
    """Whole numbers in proportion to weights, none of which is negative; their sum is `whole`.

    Each is its exact share cut down, and one more for those that lost most by it, the first of
    equals first. ValueError where the weights are all 0 and the whole is not.
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
    if left < 0:  # of very large numbers a float is off by more than one
        raise ValueError(f"{whole}: too large for its parts to be exact")
    np.add.at(shares, np.resize(order, left), 1)
    return shares
