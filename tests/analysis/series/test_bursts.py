"""Bursts from the lows of a level: what is one, what only fills, and how many there are."""

import numpy as np
import pytest

from gomem.analysis.series.bursts import find_bursts, find_uneven_bursts, high_fraction


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
    assert 9 / 14 == found.high_fraction


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
    [
        ((0, 0, 0, 0, 0), 0.0),
        ((0, 0, 80, 0, 0), 2 / 4),
        ((0, 0, 40, 0, 0, 0, 80, 80, 0), 5 / 8),
        ((0, 0, 39, 0, 0, 0, 80, 80, 0), 3 / 8),
        ((80, 0, 0, 0, 80), 2 / 4),
    ],
)
def test_high_lasts_from_the_low_before_to_the_low_after(levels, share):
    assert share == high_fraction(np.array(levels, float))


def test_by_the_clock_if_there_is_one():
    """
    A reading more can only make it shorter.
    """
    levels = np.array([4, 4, 64, 4, 4], float)

    assert 3 / 20 == find_bursts(levels, np.array([0, 9, 10, 12, 20], float)).high_fraction
    assert 12 / 20 == find_bursts(levels, np.array([0, 8, 10, 20, 20], float)).high_fraction


def test_three_quarters_of_the_rise_come_within_two_intervals():
    assert bursts(0, 10, 60, 80, 0)
    assert bursts(0, 10, 61, 85, 100, 0) is not None
    assert bursts(0, 11, 50, 74, 100, 0) is None
    assert bursts(0, 80, 70, 100, 0) is not None  # within one, and a little more later


@pytest.mark.parametrize(
    ("climb", "found"),
    [
        pytest.param(2.5, True, id="a quarter of the time from burst to burst"),
        pytest.param(2.6, False, id="more"),
    ],
)
def test_read_at_uneven_times_a_burst_climbs_within_a_quarter_of_the_time_between(climb, found):
    """
    A burst each 10 s, in steps: of 60 above the low, 45 are there after the climb.
    """
    times, levels = [], []
    for start in (0, 10, 20):
        times += [start, start + climb / 2, start + climb, start + 5, start + 9]
        levels += [4, 20, 49, 64, 4]
    bursts = find_uneven_bursts(np.array(levels, float), np.array(times))

    assert found == (bursts is not None)
    if bursts is not None:
        assert (3, 4.0, 64.0) == (len(bursts.each), bursts.low, bursts.highest)


def test_read_at_uneven_times_one_burst_has_no_time_between():
    assert find_uneven_bursts(np.array([4, 64, 4], float), np.array([0, 1, 20], float)) is None
    assert find_uneven_bursts(np.array([4, 64, 4, 64, 4], float), np.arange(0, 50, 10.0)) is None
    twice = find_uneven_bursts(np.array([4, 64, 4, 64, 4], float), np.array([9, 10, 19, 20, 29.0]))
    assert twice is not None


@pytest.mark.parametrize(
    ("times", "share"),
    [
        ([0, 3, 6, 9, 12, 15, 18, 21, 24], 4 * 3 / 24),
        # One is missing, where a burst of 6 s may have been; not in five seconds.
        ([0, 3, 6, 9, 12, 15, 21, 24, 27], (4 * 3 + 6) / 27),
        ([0, 3, 6, 9, 12, 15, 20, 23, 26], 4 * 3 / 26),
        # Of uneven times none is missing.
        ([0, 1, 6, 9, 12, 15, 21, 22, 23], (5 + 3 * 3) / 23),
    ],
)
def test_where_a_reading_is_missing_a_burst_may_have_been(times, share):
    levels = np.array([4, 4, 64, 4, 64, 4, 4, 4, 4], float)

    assert share == pytest.approx(high_fraction(levels, np.array(times, float)))


def test_a_long_burst_does_not_hide_where_one_reading_is_missing():
    """
    High for 9 s at least and 12 at most; the hole has 6.
    """
    levels = np.array([4, 4, 64, 64, 64, 64, 4, 4, 4, 4, 4, 4], float)
    times = np.array([0, 3, 6, 9, 12, 15, 18, 21, 24, 30, 33, 36], float)

    assert 15 / 36 == pytest.approx(high_fraction(levels, times))
