"""Medians, intervals and p of two samples.

What is expected of the recorded runs was printed by golang.org/x/perf at v0.0.0-20260908200009,
whose benchmath package is what benchstat computes with.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.statistics.rank_tests import (
    can_tell,
    holm,
    interval_ranks,
    most_by_chance,
    rank_sum_p,
    rank_sum_tails,
    summarise,
)
from tests.benchmark_runs import IDLE_AFTER, IDLE_BEFORE, REQUEST_AFTER, REQUEST_BEFORE

WIDGETS_BEFORE = [7, 5, 6, 3, 4, 6, 6, 7, 9, 6]
WIDGETS_AFTER = [5, 6, 8, 5, 4, 6, 4, 4, 3, 6]

finite = st.floats(-1e6, 1e6, allow_nan=False)
few = st.lists(st.integers(0, 4), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("values", "median", "low", "high"),
    [
        (REQUEST_BEFORE, 196.2, 161.9, 208),
        (REQUEST_AFTER, 13.93, 13.6, 14.2),
        (IDLE_BEFORE, 0.2363, 0.2358, 0.2377),
        (IDLE_AFTER, 0.237, 0.2349, 0.2725),
        (WIDGETS_BEFORE, 6, 4, 7),
        (WIDGETS_AFTER, 5, 4, 6),
        ([10.75, 11.63, 10.27, 8.77, 9.04, 11.6], 10.51, 8.77, 11.63),
    ],
)
def test_medians_and_intervals_are_benchstats(values, median, low, high):
    summary = summarise(np.array(values, dtype=float))

    assert (median, low, high) == pytest.approx((summary.median, summary.low, summary.high))


@pytest.mark.parametrize(
    ("before", "after", "p"),
    [
        pytest.param(REQUEST_BEFORE, REQUEST_AFTER, 1.082508822446903e-05, id="wholly-apart"),
        pytest.param(IDLE_BEFORE, IDLE_AFTER, 0.5909090909090909, id="with-ties"),
        pytest.param(WIDGETS_BEFORE, WIDGETS_AFTER, 0.22511853471605794, id="few-values"),
        pytest.param(
            [10.75, 11.63, 10.27, 8.77, 9.04, 11.6],
            [10.9, 8.97, 10.62, 9.54, 10.07, 10.21, 9.99, 11.25, 10.64],
            0.6889110889110891,
            id="sizes-differ",
        ),
    ],
)
def test_p_is_benchstats(before, after, p):
    assert p == pytest.approx(rank_sum_p(np.array(before), np.array(after)))


@given(few, few)
def test_p_is_the_share_of_all_ways_to_part_the_values(before, after):
    """
    Counted out: of all ways to choose which of the values come from before, those with a rank sum
    as far to one side, twice.
    """
    pooled = np.array(before + after, dtype=float)
    ranks = np.array([(pooled < v).sum() + (pooled == v).sum() / 2 for v in pooled])
    sums = [sum(ranks[list(c)]) for c in combinations(range(len(pooled)), len(before))]
    observed = sum(ranks[: len(before)])
    share = min(np.mean([s <= observed for s in sums]), np.mean([s >= observed for s in sums]))

    p = rank_sum_p(pooled[: len(before)], pooled[len(before) :])

    assert len(pooled) == 2 or min(1, 2 * share) == pytest.approx(p)


@given(st.lists(finite, min_size=1, max_size=60), st.lists(finite, min_size=1, max_size=60))
def test_p_is_the_same_whichever_side_comes_first(before, after):
    there, back = np.array(before), np.array(after)

    assert rank_sum_p(there, back) == pytest.approx(rank_sum_p(back, there))


def test_p_is_near_the_exact_one_where_it_becomes_an_approximation():
    """
    51 values a side are approximated, 50 are counted out; one value more does not change p much.
    """
    before, after = np.arange(51.0), np.arange(51.0) + 5.5

    exact, approximate = rank_sum_p(before[:50], after[:50]), rank_sum_p(before, after)

    assert exact == pytest.approx(approximate, abs=0.01)


@pytest.mark.parametrize("n", [6, 7, 8, 10, 25, 31, 100, 1001])
def test_the_interval_holds_the_median_with_95_per_cent(n):
    """
    The probability that so many of n values lie below the median is binomial; by hand for n = 6:
    all but 2 of 64 outcomes, 96.9 %.
    """
    from scipy.stats import binom

    low, high = interval_ranks(n)

    assert 0.95 <= binom.cdf(high - 1, n, 0.5) - binom.cdf(low - 1, n, 0.5)
    assert 0.95 > binom.cdf(high - 1, n, 0.5) - binom.cdf(low, n, 0.5)


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_values_have_no_interval(n):
    assert None is interval_ranks(n)


def test_holm_by_hand():
    """
    Three comparisons: the smallest p counts three times, the next twice, and none less than the
    one before it.
    """
    assert [0.03, None, 0.06, 0.06] == pytest.approx(holm([0.01, None, 0.04, 0.03]))


@pytest.mark.parametrize(
    ("before", "after", "enough"),
    [(4, 4, True), (3, 4, False), (3, 5, True), (1, 39, True), (1, 38, False), (0, 99, False)],
)
def test_how_many_values_a_change_needs_to_show(before, after, enough):
    """
    Two of the C(m + n, n) ways to part the values put them wholly apart: 2/70 for four and four.
    """
    assert enough == can_tell(before, after)


@pytest.mark.parametrize(("compared", "most"), [(1, 0), (2, 0), (3, 1), (14, 1), (15, 2)])
def test_how_many_come_out_on_one_side_by_chance(compared, most):
    """
    None of two in 0.975^2 = 95.06 % of all tables; of three in 92.7. At most one of 14 in 95.3.
    """
    assert most == most_by_chance(compared)


@pytest.mark.parametrize("n", [4, 7, 51])
def test_p_of_each_side_is_scipys(n):
    from scipy.stats import mannwhitneyu  # takes a second to import

    rng = np.random.default_rng(n)
    before, after = rng.integers(0, 500, n) + 0.5 * np.arange(n), rng.integers(100, 600, n) * 1.0

    wanted = [
        mannwhitneyu(
            before, after, alternative=side, method="exact" if n <= 50 else "asymptotic"
        ).pvalue
        for side in ("less", "greater")
    ]
    assert pytest.approx(wanted) == rank_sum_tails(before, after)
