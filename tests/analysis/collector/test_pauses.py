"""Quantiles of pauses: their values, and how often their intervals hold the truth."""

import numpy as np
import pytest

from gomem.analysis.collector.pauses import (
    _binomial_quantile,
    carries,
    gc_pauses,
    quantile_interval,
)
from tests.builders import CAPTURES
from tests.gc_logs import captured, cycles_of, dumps_of


def of(answer, what):
    return answer.quantiles[answer.quantiles["what"] == what].set_index("quantile")


def test_the_quantiles_are_pauses_that_happened():
    """
    First stops of 1 to 4 ms and second ones of 1: of both together half are at most 3 ms.
    """
    answer = gc_pauses(cycles_of(*({"first": ms, "last": 1} for ms in (1, 2, 3, 4))))

    assert [0.003, 0.005, 0.005, 0.005] == list(of(answer, "stopped")["seconds"])
    assert [0.002, 0.004, 0.004, 0.004] == list(of(answer, "first_stop")["seconds"])
    assert [4, 4, 4, 4] == list(of(answer, "stopped")["n"])


def test_of_a_collection_that_tells_one_stop_that_is_counted():
    cycles = cycles_of({"first": 2, "last": 1}, {"first": 3, "last": 1}, {"first": 4, "last": 1})
    cycles.loc[1, "mark_termination_seconds"] = np.nan
    cycles.loc[2, list(STOPS)] = np.nan

    answer = gc_pauses(cycles)

    assert [0.003, 0.003, 2] == [*of(answer, "stopped")["seconds"][:2], len(answer.stopped)]
    assert 2 == of(answer, "first_stop")["n"].iloc[0]


def test_an_interval_of_ranks_by_hand():
    """
    Of 10 values, at most 1 lies below the median with a chance of 11 in 1024, at most 2 with 56 in
    1024: so the 2nd and the 9th value hold it, in 978 of 1024 cases.
    """
    assert (2.0, 9.0) == quantile_interval(np.arange(1.0, 11.0), 0.5)


@pytest.mark.parametrize(("n", "ends"), [(5, (None, None)), (6, (1.0, 6.0))])
def test_six_values_are_the_fewest_that_hold_the_median(n, ends):
    """
    All of 5 lie on one side of it once in 16 times, all of 6 once in 32: less than 1 in 20.
    """
    assert ends == quantile_interval(np.arange(1.0, n + 1), 0.5)


def test_few_collections_leave_a_high_quantile_open():
    """
    That all of 40 values lie below the p99 has a chance of 0.99^40, two in three.
    """
    low, high = quantile_interval(np.arange(40.0), 0.99)

    assert None is high
    assert 37.0 == low


def test_a_single_value_says_nothing_of_the_median():
    assert (None, None) == quantile_interval(np.array([1.0]), 0.5)


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.99])
def test_the_interval_holds_the_true_quantile_as_often_as_it_says(quantile):
    """
    2000 samples of 1000 from an exponential law, whose quantiles are known: at least 95 of 100
    intervals hold them; the binomial law is of steps, so it may be somewhat more.
    """
    rng = np.random.default_rng(7)
    true = -np.log(1 - quantile)
    samples = np.sort(rng.exponential(size=(2000, 1000)))

    ends = [quantile_interval(sample, quantile) for sample in samples]

    held = np.mean([low <= true and (high is None or true <= high) for low, high in ends])
    assert 0.94 <= held <= 0.985


def test_bins_are_a_fifth_of_a_decade_and_lose_nothing():
    answer = gc_pauses(cycles_of(*({"first": ms, "last": 0} for ms in (0, 0.011, 0.35, 1.0, 2))))
    bins = answer.histogram[answer.histogram["what"] == "stopped"]

    assert 5 == bins["cycles"].sum()
    assert list(bins["high_seconds"][:-1]) == list(bins["low_seconds"][1:])
    assert 10**0.2 == pytest.approx(bins["high_seconds"].iloc[-1] / bins["low_seconds"].iloc[-1])
    assert (0.0, 1) == tuple(bins[["low_seconds", "cycles"]].iloc[0])


def test_intervals_have_no_bins_below_what_the_clock_prints():
    """
    Two starts in the same millisecond are less than 1 ms apart; nothing finer is known.
    """
    answer = gc_pauses(cycles_of({"at": 1.0}, {"at": 1.0}, {"at": 1.002}))
    bins = answer.histogram[answer.histogram["what"] == "interval"]

    assert [(0.0, 0.001, 1)] == [tuple(row)[1:] for row in bins.head(1).itertuples(index=False)]
    assert 2 == bins["cycles"].sum()


def test_a_missing_collection_is_no_interval():
    answer = gc_pauses(cycles_of({}, {"number": 3, "at": 9.0}, {"number": 4, "at": 9.5}))

    assert [0.5] * 4 == list(of(answer, "interval")["seconds"])


def test_no_collection_has_no_quantiles():
    answer = gc_pauses(cycles_of())

    assert answer.quantiles["seconds"].isna().all()
    assert answer.histogram.empty


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_longest_pauses_agree_with_pause_ns(path):
    """
    Two sources, one number: MemStats keeps the exact pause of each collection. What the log
    prints is two terms cut to two digits each, so at most a tenth less.
    """
    cycles, memstats = captured(path).cycles, dumps_of(path)
    exact = memstats["PauseTotalNs"].iloc[-1] / 1e9
    collections = int(memstats["NumGC"].iloc[-1])
    stopped = gc_pauses(cycles.head(collections)).quantiles
    assert collections == int(of_frame(stopped, "stopped")["n"].iloc[0])

    printed = float(cycles.head(collections)[list(STOPS)].sum().sum())

    assert 0.9 * exact - collections * 2e-6 <= printed <= exact


STOPS = ("sweep_termination_seconds", "mark_termination_seconds")


def of_frame(quantiles, what):
    return quantiles[quantiles["what"] == what]


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_ranks_are_those_of_scipys_binomial_distribution(share):
    """
    Two sources, one number, from a handful of pauses to millions.
    """
    from scipy.stats import binom  # takes a second to import

    for n in (*range(1, 400), 1_000, 12_345, 100_000, 3_600_000):
        for tail in (0.025, 0.975):
            assert int(binom.ppf(tail, n, share)) == _binomial_quantile(tail, n, share), (n, tail)


@pytest.mark.parametrize(
    ("n", "quantile", "carried"),
    [
        (0, 0.5, False),
        (1, 0.5, False),
        (2, 0.5, True),
        (9, 0.9, False),
        (10, 0.9, True),
        (99, 0.99, False),
        (100, 0.99, True),
        (1, 1.0, True),
    ],
)
def test_a_quantile_is_carried_by_so_many(n, quantile, carried):
    """
    One in ten must lie above a p90.
    """
    assert carried == carries(n, quantile)
