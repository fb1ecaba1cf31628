"""Intervals of sampled numbers hold the truth as often as they say, also for few sightings."""

import numpy as np
import pytest
from scipy import stats

from gomem.analysis.profiles.changes import profile_changes
from gomem.inputs.pprof.sites import top_sites
from gomem.statistics.sampling import (
    UNSEEN_SIGHTINGS,
    Sampling,
    interval,
    limit_ratios,
    sampling_of,
    sampling_of_counts,
    scale_of,
)
from tests.heap_profiles import MADE, RATE, heap, sampled_program, seen
from tests.pprof_messages import field, message, packed

RUNS = 200


def bounds(counts, sizes):
    """The interval of each row of counts, summed over sizes, and what the profile would say."""
    sizes = np.asarray(sizes, float)
    scale = scale_of(sizes, RATE)
    parts = sampling_of_counts(sizes, counts.astype(float), scale)
    estimate = (counts * sizes * scale).sum(axis=1)
    return interval(estimate, parts.mapped(lambda part: part.sum(axis=1)))


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


@pytest.fixture(scope="module")
def sampled():
    """The heap profiles of so many runs of one program."""
    return [sampled_program(run) for run in range(RUNS)]


def test_of_a_whole_program_95_of_100_intervals_hold(sampled):
    """
    A program of known bytes at 40 sites, its profile written anew 200 times as Go writes it, read
    back, and every row of flat and cum held against the truth.
    """
    shown = inside = 0
    for profile in sampled:
        top = top_sites(profile, "inuse_space").top.set_index("function")
        flat = top[top["flat"] > 0]
        truth = MADE.reindex(flat.index)
        shown += len(flat) + 1
        inside += ((flat["flat_low"] <= truth) & (truth <= flat["flat_high"])).sum()
        root = top.loc["main.root"]
        inside += root["cum_low"] <= MADE.sum() <= root["cum_high"]

    assert 0.92 <= inside / shown <= 0.98


def test_of_differences_95_of_100_intervals_hold(sampled):
    """
    Two samplings of one program: nothing changed, so 0 is inside, and the row says `~`. With
    twice the bytes at one site, that change is inside.
    """
    shown = inside = held = 0
    for run, before in enumerate(sampled, start=RUNS):
        after = sampled_program(run, doubled="main.site30")
        changes = profile_changes(before, after, "inuse_space").sites.set_index("function")
        grown = changes.loc["main.site30"]
        held += grown["low"] <= MADE["main.site30"] <= grown["high"]
        same = changes.drop("main.site30")
        shown += len(same)
        inside += (same["state"] == "~").sum()

    assert 0.92 <= held / RUNS <= 0.985
    assert 0.92 <= inside / shown <= 1.0


def test_what_one_process_allocated_between_two_profiles_is_a_sample_of_its_own():
    """
    100 sightings before, 110 after: the 10 between have the interval of 10 sightings,
    although 110 - 100 of two processes would be noise.
    """
    before, after = heap(seen(100, 4096)), heap(seen(110, 4096))

    of_one = profile_changes(before, after, "alloc_space", one_process=True).sites.iloc[0]
    of_two = profile_changes(before, after, "alloc_space").sites.iloc[0]

    low, high = bounds(np.array([[10]]), [4096])
    assert pytest.approx([low[0], high[0]], rel=1e-4) == [of_one["low"], of_one["high"]]
    assert ["grew", "~"] == [of_one["state"], of_two["state"]]


@pytest.mark.parametrize("labelled", [True, False], ids=["label", "no label"])
@pytest.mark.parametrize("count", [1, 2, 7, 500])
@pytest.mark.parametrize("size", [16, 96, 4096, 327_680, 1 << 20, 1 << 25])
def test_what_was_seen_is_had_back(size, count, labelled):
    """
    Also without the label of the exact size, from two numbers that were cut to whole ones.
    """
    profile = heap(seen(count, size, labelled=labelled))

    sampling = sampling_of(profile, "inuse_objects")

    assert isinstance(sampling, Sampling)
    assert [count] == sampling.seen.tolist()


def test_a_size_of_0_is_none():
    """
    Then the two numbers alone say what was seen: one object of 320 KiB stands for 2.152 of them
    and 705,084 B.
    """
    of_size_0 = message(3, field(1, 4), field(3, 0))
    values = packed(2, 2, 705_084, 2, 705_084)
    profile = heap(message(2, packed(1, 1, 2), values, of_size_0))

    sampling = sampling_of(profile, "inuse_space")

    assert isinstance(sampling, Sampling)
    assert [327_680] == sampling.seen.tolist()
