"""A histogram of a page of metrics, as runtime/metrics has it."""

from __future__ import annotations

import math


def histogram_of(buckets: list[tuple[float, float]]) -> tuple[list[float], list[int]] | None:
    """Return bounds and counts per bucket; a page's counts are cumulative, the runtime's are not.

    None if the counts decrease, which is impossible.
    """
    buckets = sorted(buckets)
    counts = [int(below) for _, below in buckets]
    between = [count - before for count, before in zip(counts, [0, *counts], strict=False)]
    if min(between) < 0:
        return None
    return [-math.inf, *(bound for bound, _ in buckets)], between
