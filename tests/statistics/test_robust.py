"""Distances in spreads of the others."""

import numpy as np
import pytest

from gomem.statistics.robust import distance, log_distance, spread_of


def test_the_spread_is_the_scaled_median_deviation():
    """
    Deviations from 30 are 20, 10, 0, 10, 20: their median is 10.
    """
    values = np.array([10.0, 20, 30, 40, 50])

    assert pytest.approx(14.826) == spread_of(values, min_share=0.1, is_count=False)


def test_one_value_far_away_does_not_widen_it():
    values = np.array([10.0, 20, 30, 40, 1e9])

    assert pytest.approx(14.826) == spread_of(values, min_share=0.1, is_count=False)


def test_equal_values_have_the_spread_of_its_floor():
    assert 10.0 == spread_of(np.full(5, 100.0), min_share=0.1, is_count=False)
    assert 20.0 == spread_of(np.full(5, 400.0), min_share=0.01, is_count=True)
    assert spread_of(np.zeros(5), min_share=0.1, is_count=True) > 0


def test_a_distance_is_from_the_median_of_the_others():
    assert 4200.0 == distance(4201.0, np.ones(3), min_share=0.1, is_count=True)


def test_multiples_of_next_to_nothing_are_near():
    others = np.array([0.0, 0, 0, 0])

    assert log_distance(1.0, others, offset=100.0, min_spread=0.1) < 1
    assert log_distance(1e6, others, offset=100.0, min_spread=0.1) > 50


def test_zeros_have_the_spread_of_what_is_too_little_to_matter():
    assert 1.0 == spread_of(np.zeros(5), min_share=0.1, is_count=True)
    assert 8.0 == spread_of(np.zeros(5), min_share=0.1, is_count=False, least=8.0)
