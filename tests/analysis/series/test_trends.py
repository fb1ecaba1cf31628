"""Trends: what surely rises, what has stopped, what only lags; each condition on both sides."""

import numpy as np
import pytest

from gomem.analysis.series.trends import above_the_lowest, shape_of, trend_of


def trend(*levels, seconds=None):
    return trend_of(np.array(levels, float), None if seconds is None else np.array(seconds, float))


def test_a_line_rises_and_its_slope_is_its_own():
    found = trend(10, 20, 30, 40, 50, seconds=[0, 2, 4, 6, 8])

    assert (5.0, 5.0, 5.0) == (found.slope, found.low, found.high)
    assert (10, 50, 40, 8.0) == (found.first, found.last, found.grown, found.seconds)
    assert found.rises


def test_without_times_the_slope_is_by_moment():
    found = trend(10, 20, 30, 40, 50)

    assert (10.0, None) == (found.slope, found.seconds)
    assert found.rises


@pytest.mark.parametrize(
    ("levels", "rises"),
    [
        pytest.param([10, 20, 30, 40, 50], True, id="five in order"),
        pytest.param([10, 20, 30, 40], False, id="four are in order by chance in 1 of 12"),
        pytest.param([10, 20, 30, 30, 50], False, id="the slope may be 0"),
        pytest.param([10, 20, 30, 31, 50], True, id="the slope is above 0"),
        pytest.param([10, 20, 40, 50, 50], False, id="it has stopped"),
        pytest.param([0, 40, 80, 95, 98, 100], False, id="it has filled, and still grows a little"),
        pytest.param([0, 1, 2, 3, 40, 41], False, id="a step"),
        pytest.param([50, 40, 30, 20, 10], False, id="it falls"),
    ],
)
def test_what_rises(levels, rises):
    assert rises == trend(*levels).rises


def test_garbage_on_top_of_what_is_held_does_not_hide_it():
    """
    20 moments: 4 more each, and every other one 30 of garbage, so that it falls by half of its
    range and more. Without the slope below, it goes nowhere; and one long tooth comes back.
    """
    held = np.arange(20) * 4.0
    garbage = np.tile([0.0, 30.0], 10)

    drifting, swinging = trend(*(held + garbage)), trend(*garbage)
    tooth = trend(*held[:-1], 0.0)

    assert ("saw-tooth", True, True) == (drifting.shape, drifting.lows_follow, drifting.rises)
    assert not swinging.rises
    assert ("saw-tooth", False) == (tooth.shape, tooth.lows_follow)
    assert tooth.low > 0
    assert not tooth.rises


def test_lows_follow_from_half_of_the_slope_on():
    """
    The slope of most pairs is 10; the lows of the first and of the last third rise by 5, then less.
    """
    levels = np.array([0, 10, 20, 30, 40, 50, 60, 70, 80, 90.0])

    def lows_follow(last_low):
        return trend(*levels[:-1], last_low).lows_follow

    # Lows: 0 at 0 and last_low at 9; the slope of the other pairs stays 10.
    assert lows_follow(45.0)
    assert not lows_follow(44.0)
    assert trend(*(levels[:-1] + 100), 145.0).lows_follow
    assert not trend(*(levels[:-1] + 100), 144.0).lows_follow


def test_a_low_where_the_first_third_ends_is_of_the_first():
    """
    Lows: 1 at 1 and 4 at 2. Without it 5 at 0 would be the first, and the lows would fall.
    """
    assert trend(5, 1, 4, 6).lows_follow
    assert not trend(5, 4, 4, 6).lows_follow


def test_a_low_before_the_last_third_is_not_of_the_last():
    """
    At 5 of 9 seconds it comes back to 10; from 6 on the lowest is 60.
    """
    assert trend(0, 10, 20, 30, 40, 10, 60, 70, 80, 90).lows_follow
    assert not trend(0, 10, 20, 30, 40, 50, 10, 70, 80, 90).lows_follow


@pytest.mark.parametrize(("moments", "may_rise"), [(2, False), (3, True), (4, True), (5, False)])
def test_of_three_or_four_moments_in_a_line_it_may_rise(moments, may_rise):
    """
    Of two nobody knows; of five it does, or does not.
    """
    assert may_rise == trend(*range(10, 10 + moments)).may_rise


@pytest.mark.parametrize("levels", [[], [5]])
def test_fewer_than_two_moments_have_none(levels):
    assert trend(*levels) is None


def test_moments_of_one_time_have_none():
    assert trend(1, 2, 3, seconds=[7, 7, 7]) is None


def test_a_plateau_is_a_tenth_of_the_range_in_the_last_third():
    """
    Ten moments, so that the last third begins at the seventh: 90 of 100, and one less.
    """
    seconds = np.arange(10.0)
    rising = [0, 20, 40, 60, 70, 80]

    assert "plateau" == shape_of(seconds, np.array([*rising, 90, 95, 98, 100.0]))
    assert "ramp" == shape_of(seconds, np.array([*rising, 89.9, 95, 98, 100.0]))


def test_it_tails_off_at_less_than_half_of_its_pace_in_the_last_third():
    """
    Of 60 in six seconds the last two give 10 at half of the pace, and then less.
    """
    assert not trend(0, 20, 35, 45, 50, 55, 60).tails_off
    assert trend(0, 20, 35, 45, 50.1, 55, 60).tails_off
    assert not trend(60, 50, 40, 30, 20, 10, 0).tails_off


def test_the_last_third_counts_though_no_moment_lies_in_it():
    """
    Nothing was read between the fourth second and the sixtieth: a line may have gone on.
    """
    assert "ramp" == shape_of(np.array([0.0, 1, 2, 3, 4, 60]), np.array([0.0, 1, 2, 3, 4, 60]))


def test_a_step_has_most_of_the_rise():
    seconds = np.arange(11.0)
    before, after = np.linspace(0, 20, 5), np.linspace(80, 100, 6)

    assert "step" == shape_of(seconds, np.array([*before, *after]))
    assert "ramp" == shape_of(seconds, np.array([*(before * 1.02), *after]))


def test_a_step_comes_faster_than_the_rise_on_average():
    """
    Of four seconds, one that has 60 of 100 has more than twice its share, and one and a half not.
    """
    levels = np.array([0.0, 10, 20, 80, 90, 100])

    assert "step" == shape_of(np.array([0.0, 1, 2, 3.2, 4, 5]), levels)
    assert "ramp" == shape_of(np.array([0.0, 1, 2, 4, 4.5, 5]), levels)


def test_a_rise_that_readings_may_lag_by_is_no_step():
    """
    The reading before it may be of any time from the first on: all of it may have come steadily.
    """
    seconds, levels = np.arange(6.0), np.array([0.0, 1, 2, 3, 4, 40])

    assert "step" == shape_of(seconds, levels)
    assert "ramp" == shape_of(seconds, levels, since_seconds=np.array([0.0, 0, 0, 0, 0, 4]))


def test_what_only_ends_in_a_burst_is_not_in_line():
    """
    The median slope gives 18 of the 90 that the last has more than the first.
    """
    seconds = np.arange(7, dtype=float)
    burst = trend_of(np.array([10, 14, 13, 17, 16, 20, 100], float), seconds)
    line = trend_of(np.array([10, 14, 13, 17, 16, 20, 24], float), seconds)

    assert (burst.low > 0, burst.in_line, burst.rises) == (True, False, False)
    assert (line.low > 0, line.in_line, line.rises) == (True, True, True)


def test_half_of_what_grew_is_in_line():
    """
    A slope of 1 a second over 4 seconds, and 8 that grew, or more.
    """
    at, above = (trend(0, 1, 2, 3, last, seconds=range(5)) for last in (8, 8.01))

    assert (1.0, 1.0) == (at.slope, above.slope)
    assert (True, False) == (at.in_line, above.in_line)


def test_without_times_half_of_the_intervals_rise():
    """
    An even share of 14 is 2.8: three of five intervals rise by a tenth of it, or one does.
    """
    assert trend(0, 1, 2, 2, 2, 14).in_line
    assert not trend(0, 0.27, 0.27, 0.54, 0.54, 14).in_line
    assert trend(0, 0.28, 0.28, 0.56, 0.56, 14).in_line
    assert trend(0, 1, 2, 3, 26.5, 50).in_line  # three by a tenth of 10, and no more


def test_without_times_what_stands_still_between_most_is_not_in_line():
    levels = np.array([2, 67, 67, 67, 68, 67.5, 104, 112], float)

    timed, ordered = trend_of(levels, np.arange(8, dtype=float)), trend_of(levels)

    assert (ordered.low > 0, ordered.in_line, ordered.rises) == (True, False, False)
    assert timed.in_line


def test_what_rises_at_each_moment_needs_no_line():
    """
    Twice as much each time: the median slope gives less than half of it.
    """
    levels = 2.0 ** np.arange(12)

    found = trend_of(levels, np.arange(12, dtype=float))

    assert (found.in_line, found.only_rises) == (False, True)


def test_how_far_levels_lie_above_the_lowest_before_them():
    assert [0, 3, 0, 1, 6] == above_the_lowest([4, 7, 2, 3, 8])
    assert [] == above_the_lowest([])


@pytest.mark.parametrize(
    ("levels", "slows"),
    [
        pytest.param([0, 30, 60, 70, 80], False, id="a quarter in the second half"),
        pytest.param([0, 30, 61, 70, 80], True, id="less than a quarter"),
        pytest.param([0, 10, 20, 30, 40], False, id="a line"),
        pytest.param([40, 30, 20, 10, 0], False, id="a decline"),
    ],
)
def test_what_slows(levels, slows):
    assert slows == trend_of(np.array(levels, np.float64)).slows


def test_the_second_half_is_of_the_time():
    """
    Of 100 s the last 50 begin behind the fourth of five readings.
    """
    levels = np.array([0.0, 60, 70, 79, 80])

    assert trend_of(levels, np.array([0.0, 1, 2, 3, 100])).slows
    assert not trend_of(np.array([0.0, 10, 20, 30, 80]), np.array([0.0, 1, 2, 3, 100])).slows


@pytest.mark.parametrize(("step", "counts"), [(2.5, True), (2.4, False)])
def test_a_tenth_of_an_even_rise_counts(step, counts):
    """
    100 in four steps, 25 each if they were even.
    """
    found = trend_of(np.array([0.0, 50 - step, 50, 75, 100]))

    assert (True, counts) == (found.only_rises, found.each_counts)
