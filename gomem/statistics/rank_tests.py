"""Do two samples differ by more than chance, and how precise is the answer?

No distribution is assumed. A sample is summarised by its median with a 95 % interval from order
statistics, and two samples are compared by the Mann-Whitney test (Mann and Whitney 1947; with ties,
Klotz 1966). Medians, intervals and p are those of benchstat, except where benchstat approximates
and gomem is exact: intervals of more than 30 values, and p for tied samples that differ in size or
have more than 25 values per side. For many comparisons, p is corrected by Holm's method (1979).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.statistics.sampling import FloatArray

CONFIDENCE = 0.95  # of the intervals
ALPHA = 0.05  # a p above it is not significant
MIN_VALUES = 4  # per side: of the 70 ways to divide eight values, 2 separate them completely
EXACT_LIMIT = 50  # values per side up to which p is exact, not approximated
MIN_INTERVAL_VALUES = 6  # the smallest n for which `interval_ranks` has an answer
EQUIVALENT, NO_WORSE, NOT_SHOWN = "equivalent", "no worse", "?"
EQUIVALENCES = (EQUIVALENT, NO_WORSE, NOT_SHOWN)


@dataclass(frozen=True, slots=True)
class Summary:
    """A sample's median with its 95 % interval; None where unknown."""

    n: int
    median: float | None = None
    low: float | None = None
    high: float | None = None


def summarise(values: FloatArray) -> Summary:
    """Return a sample's median and its interval, which is unknown for fewer than six values."""
    if not len(values):
        return Summary(0)
    ranks = interval_ranks(len(values))
    if ranks is None:
        return Summary(len(values), float(np.median(values)))
    ordered = np.sort(values)
    low, high = (float(ordered[rank - 1]) for rank in ranks)
    return Summary(len(values), float(np.median(values)), low, high)


@lru_cache(maxsize=1024)
def interval_ranks(n: int) -> tuple[int, int] | None:
    """Return the ranks, from 1, of the values that enclose the median with 95 % confidence.

    The number of values below the true median is binomial with p = 0.5. The most likely outcomes
    are taken until they add up to 95 %; of two equally likely ones, the lower first. Returns None
    if the interval would extend beyond the smallest or the largest value.
    """
    low, behind = n // 2, n // 2 + 1
    covered = comb(n, low) / 2**n
    below, above = covered * low / (n - low + 1), covered * (n - low) / behind
    while covered < CONFIDENCE and (low > 0 or behind <= n):
        if low - 1 + behind >= n:
            low -= 1
            covered += below
            below *= low / (n - low + 1)
        else:
            covered += above
            above *= (n - behind) / (behind + 1)
            behind += 1
    return (low, behind) if low >= 1 and behind <= n else None


def rank_sum_p(before: FloatArray, after: FloatArray) -> float | None:
    """Return the two-sided p of the Mann-Whitney U test.

    For up to 50 values per side, p is the exact permutation probability, ties included. For more
    values, it is the normal approximation, corrected for ties and continuity. Returns None if no
    outcome could show a difference: a side is empty, or both sides have one value.
    """
    tails = rank_sum_tails(before, after)
    return None if tails is None else min(1.0, 2 * min(tails))


def rank_sum_tails(before: FloatArray, after: FloatArray) -> tuple[float, float] | None:
    """Return the two one-sided p: that the before values are smaller, and that they are larger."""
    if not len(before) or not len(after) or len(before) + len(after) == 2:
        return None
    pooled = np.concatenate([before, after])
    if (pooled == pooled[0]).all():
        return 1.0, 1.0
    if max(len(before), len(after)) > EXACT_LIMIT:
        from scipy.stats import mannwhitneyu  # takes a second

        less, greater = (
            mannwhitneyu(before, after, method="asymptotic", alternative=side).pvalue
            for side in ("less", "greater")
        )
        return float(less), float(greater)
    _, place, times = np.unique(pooled, return_inverse=True, return_counts=True)
    doubled = (2 * times.cumsum() - times + 1)[place]  # ranks, of which tied ones are halves
    ways = np.zeros((len(before) + 1, doubled.sum() + 1))  # by number of ranks, and their sum
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank]
    of_sum = ways[-1] / ways[-1].sum()
    observed = doubled[: len(before)].sum()
    return float(of_sum[: observed + 1].sum()), float(of_sum[observed:].sum())


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust each known p for the number of comparisons (Holm 1979)."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for done, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - done)))
        adjusted[place] = largest
    return adjusted


def beyond_chance(p_values: Sequence[float | None], claimed: int) -> bool:
    """Return whether one side has more significant results than chance explains.

    True if a comparison is significant after Holm's correction, or if `claimed`, the number of
    results in favour of the side, is too large for chance. Without any real change, that number is
    binomial with p = 2.5 %.
    """
    if any(p <= ALPHA for p in holm(p_values) if p is not None):
        return True
    return claimed > most_by_chance(sum(p is not None for p in p_values))


def most_by_chance(compared: int) -> int:
    """Return how many results chance alone puts on one side, at most, in 95 % of tables."""
    claimed, chance = 0, (1 - ALPHA / 2) ** compared
    within = chance
    while within < 1 - ALPHA:
        chance *= (compared - claimed) / (claimed + 1) * (ALPHA / 2) / (1 - ALPHA / 2)
        claimed += 1
        within += chance
    return claimed


def can_tell(before: int, after: int) -> bool:
    """Return whether two samples of these sizes reach p = 5 % if they do not overlap."""
    return bool(before and after) and 2 / comb(before + after, before) <= ALPHA


def equivalence(
    before: FloatArray, after: FloatArray, margin: float, better: str | None
) -> tuple[str, float | None]:
    """Test whether the after values are no worse than the before values, or equivalent to them.

    The before values are made worse by the margin (a fraction of each). If they then differ
    significantly from the after values, for the worse, the after values are no worse. If this holds
    whether lower or higher counts as worse, the sides are equivalent (two one-sided tests,
    Schuirmann 1987, here by ranks). If `better` is None, only equivalence is tested. Samples
    without variation on either side are compared directly.

    Returns one of `EQUIVALENCES` and the p of the test: that for the worse direction, or the larger
    of both if `better` is None. The p is None if nothing varies, or if there are too few values.
    """
    moved = [before + sign * margin * np.abs(before) for sign in (1, -1)]
    if min(len(before), len(after)) > 1 and len(set(before)) == len(set(after)) == 1:
        p_above, p_below = (
            float(not within) for within in (after[0] <= moved[0][0], after[0] >= moved[1][0])
        )
        is_known = False
    else:
        tails = [rank_sum_tails(values, after) for values in moved]
        if tails[0] is None or tails[1] is None:
            return NOT_SHOWN, None
        p_above, p_below, is_known = tails[0][1], tails[1][0], True
    p_worse = {"lower": p_above, "higher": p_below}.get(better or "", max(p_above, p_below))
    shown = EQUIVALENT if max(p_above, p_below) <= ALPHA else NO_WORSE
    return (shown if p_worse <= ALPHA else NOT_SHOWN), (p_worse if is_known else None)
