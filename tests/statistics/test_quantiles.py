"""A counted sample gives the quantiles of the sample, however it came."""

import numpy as np
import pytest

from gomem.statistics import quantiles
from gomem.statistics.quantiles import Tally


def tally_of(sample, pieces=1):
    counted = Tally()
    for piece in np.array_split(np.asarray(sample, float), pieces):
        counted.add(piece)
    return counted


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 99, 100, 101])
def test_quantiles_are_those_of_the_sample(n, pieces):
    sample = np.random.default_rng(n).integers(0, 20, n) / 8
    counted = tally_of(sample, pieces)

    assert n == len(counted)
    for share in (0.1, 0.5, 0.9, 0.99, 1.0):
        assert np.quantile(sample, share, method="inverted_cdf") == counted.quantile(share)
    assert np.median(sample) == counted.median
    assert sample.max() == counted.max
    assert sorted(sample) == [counted[rank] for rank in range(n)]
    assert (sample >= 1.0).sum() == counted.at_least(1.0)


def test_what_reaches_a_bound_adds_up():
    counted = tally_of([1.0, 2.0, 2.0, 3.0])

    assert (3, 7.0) == (counted.at_least(2.0), counted.sum_at_least(2.0))
    assert (1, 3.0) == (counted.at_least(2.5), counted.sum_at_least(2.5))
    assert (0, 0.0) == (counted.at_least(3.1), counted.sum_at_least(3.1))


def test_what_is_unknown_is_not_counted():
    counted = tally_of([1.0, np.nan, 3.0])

    assert 2 == len(counted)
    assert 2.0 == counted.median


def test_nothing_has_no_quantile():
    counted = Tally()

    assert (0, None, None) == (len(counted), counted.quantile(0.5), counted.max)
    assert np.isnan(counted.median)


def test_of_too_many_values_quantiles_are_off_by_a_known_error(monkeypatch):
    monkeypatch.setattr(quantiles, "MAX_VALUES", 20_000)
    sample = np.random.default_rng(1).lognormal(0, 3, 50_000) - 0.001
    counted = tally_of(sample, 9)

    assert counted.is_rounded
    assert 50_000 == len(counted)
    assert len(counted.values) < 50_000
    for share in (0.01, 0.5, 0.99):
        exact = np.quantile(sample, share, method="inverted_cdf")
        assert exact == pytest.approx(counted.quantile(share), rel=0.0005)
