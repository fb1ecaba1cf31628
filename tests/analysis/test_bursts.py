"""Bursts from the lows of a level: what is one, what only fills, and how many there are."""

import numpy as np
import pytest

from gomem.analysis.bursts import find_bursts, low_fraction


def bursts(*levels):
    return find_bursts(np.array(levels, float))


def test_a_job_every_few_seconds():
    """
    High for three of five moments, so that no level is usual; the last goes on to the end.
    """
    found = bursts(4, 4, 33, 63, 63, 4, 4, 34, 64, 64, 4, 3, 33, 63, 63)

    assert [(1, 3, 4), (6, 8, 9), (11, 13, 14)] == [
        (one.before, one.peak, one.last) for one in found.each
    ]
    assert (4.0, 64.0, 60.0) == (found.low, found.highest, found.extra)
    assert found.top is found.each[1]
    assert 6 / 15 == found.low_fraction


def test_one_that_lasts_is_one():
    """
    Between two heights it must be low again.
    """
    assert 1 == len(bursts(4, 64, 30, 64, 4).each)
    assert 2 == len(bursts(4, 64, 4, 64, 4).each)


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param([], id="nothing"),
        pytest.param([20], id="one moment"),
        pytest.param([20] * 5, id="no move"),
        pytest.param([64, 64, 4, 4], id="high from the start"),
        pytest.param([10, 40, 70, 100, 130, 10, 40, 70, 100, 130], id="a saw-tooth"),
        pytest.param([4, 64, 4, 20, 36, 50, 64, 4], id="one of the two climbs"),
    ],
)
def test_what_is_none(levels):
    assert bursts(*levels) is None


def test_low_is_the_lowest_quarter_and_high_the_upper_half():
    """
    From 0 to 80: 20 is low and 21 is not; 40 is high and 39 is not.
    """
    assert 2 == len(bursts(0, 80, 20, 80).each)
    assert 1 == len(bursts(0, 80, 21, 80).each)
    assert 2 == len(bursts(0, 80, 0, 40, 0).each)
    assert 1 == len(bursts(0, 80, 0, 39, 0).each)


@pytest.mark.parametrize(
    ("levels", "share"),
    [((0, 80, 20, 80), 0.5), ((0, 80, 21, 80), 0.25), ((10, 40, 70, 100), 0.25), ((5, 5), 1.0)],
)
def test_how_many_moments_are_low_bursts_or_not(levels, share):
    assert share == low_fraction(np.array(levels, float))


def test_three_quarters_of_the_rise_come_within_two_intervals():
    assert bursts(0, 10, 60, 80, 0)
    assert bursts(0, 10, 61, 85, 100, 0) is not None
    assert bursts(0, 11, 50, 74, 100, 0) is None
