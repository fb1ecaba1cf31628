"""Intervals of sampled numbers hold the truth as often as they say, also for few sightings."""

import numpy as np
import pytest

from gomem.statistics.sampling import (
    UNSEEN_SIGHTINGS,
    limit_ratios,
    scale_of,
)
from tests.heap_profiles import RATE, bounds


def how_often(sizes, truth, *, runs=4_000, given_seen=True):
    """In which share of samplings of so many objects the interval holds their bytes."""
    sizes, truth = np.asarray(sizes, float), np.asarray(truth)
    chance = 1 / scale_of(sizes, RATE)
    counts = np.random.default_rng(17).binomial(truth, chance, (runs, len(sizes)))
    unseen = counts.sum(axis=1) == 0
    low, high = bounds(np.where(unseen[:, None], 1, counts), sizes)
    low, high = np.where(unseen, 0, low), np.where(unseen, UNSEEN_SIGHTINGS * RATE, high)
    inside = (low <= sizes @ truth) & (sizes @ truth <= high)
    return float(inside[~unseen].mean() if given_seen else inside.mean())


def test_an_interval_by_hand():
    """
    1 object of 16 B seen stands for 16 / (1 - exp(-16 / 524288)) = 524296 B. Limits of the mean
    of a Poisson number that is 1, if it is not 0: 0 and 4.514, where P(more than 1) plus half
    of P(1) is 0.975. The interval begins at what was seen and ends at 4.514 × 524296 + 16 / 2,
    which is 2.3666 million.
    """
    low, high = bounds(np.array([[1]]), [16])

    assert [16, 2.3666] == [round(low[0]), round(high[0] / 1e6, 4)]


def test_the_limits_are_those_of_the_poisson_distribution():
    """
    Held against SciPy's: at each limit, the chance of as much or more (less) is 2.5 %, the number
    itself counted half, given that something was seen.
    """
    numbers = np.array([2.0, 3.0, 10.0, 50.0, 51.0, 200.0])

    low, high = (ratio * numbers for ratio in limit_ratios(numbers))

    def more(mean):
        from scipy import stats  # takes a second to import

        chance = stats.poisson.sf(numbers, mean) + stats.poisson.pmf(numbers, mean) / 2
        return chance / stats.poisson.sf(0, mean)

    assert pytest.approx(np.full(6, 0.025), abs=4e-4) == more(low)
    assert pytest.approx(np.full(6, 0.975), abs=4e-4) == more(high)


@pytest.mark.parametrize("size", [96, 4096, 60_000])
@pytest.mark.parametrize(
    ("expected_seen", "at_most"),
    [(0.3, 1.0), (1, 0.99), (2, 0.99), (3, 0.99), (5, 0.98), (10, 0.98), (100, 0.98)],
)
def test_the_truth_is_inside_in_95_of_100_samplings(size, expected_seen, at_most):
    """
    A known number of objects, sampled as Go's runtime samples them, of those times that something
    is seen. With few sightings only some shares are possible, and the rule errs to the safe side.
    """
    truth = round(expected_seen * scale_of(np.array([size]), RATE)[0])

    assert 0.92 <= how_often([size], [truth]) <= at_most


@pytest.mark.parametrize("expected_seen", [1, 3, 5, 10, 100])
def test_with_the_times_that_nothing_is_seen_it_is_as_often(expected_seen):
    """
    Then the bound is what may be there without being seen, 3.69 times the rate.
    """
    truth = round(expected_seen * scale_of(np.array([96]), RATE)[0])

    assert 0.92 <= how_often([96], [truth], given_seen=False) <= 0.995


@pytest.mark.parametrize("truth", [2, 3, 5, 7, 20])
@pytest.mark.parametrize("size", [1 << 18, 1 << 19, 1 << 20, 1 << 21])
def test_large_objects_are_counted_whole(size, truth):
    """
    Where one in 50 is missed, its whole size is missing; the end half an object further has it.
    """
    assert 0.92 <= how_often([size], [truth])


@pytest.mark.parametrize(
    ("sizes", "truth"),
    [
        pytest.param([32, 1024, 65536, 1 << 20], [100_000, 8_000, 60, 5], id="all sizes"),
        pytest.param([1 << 18, 1 << 20], [3, 3], id="few large ones"),
        pytest.param([32, 1 << 19], [32_768, 2], id="a few of each"),
        pytest.param([16] * 5, [10_000] * 5, id="five stacks hardly seen"),
    ],
)
def test_the_truth_is_inside_for_a_site_of_many_sizes(sizes, truth):
    assert 0.92 <= how_often(sizes, truth) <= 0.99
