"""How a level leaves its base: how far, how suddenly, for how long, and whether it comes back."""

import numpy as np
import pytest

from gomem.analysis.series.excursion import at_base, excursion_of
from gomem.analysis.series.level import Level


def excursion(*values, seconds=None):
    at = np.arange(len(values), dtype=float) if seconds is None else np.array(seconds, float)
    return excursion_of(Level("marks", at, np.array(values, float)))


def test_a_burst_between_quiet_times():
    """
    The textbook's, once a second: it left behind the fourth reading, and came back in the eighth.
    """
    found = excursion(20, 20, 20, 20, 181, 149, 110, 20, 20, 20, 20)

    assert (20, 181, 161, 1) == (found.base, found.highest, found.extra, found.times)
    assert (3, 4, 6) == (found.before, found.peak, found.last)
    assert 4 / 10 == found.away_fraction
    assert (0.0, 1.0, 0.0) == (found.climb_fraction, found.back_fraction, found.spread_fraction)


def test_bursts_are_counted_and_the_highest_is_told():
    found = excursion(10, 90, 10, 10, 70, 10, 10, 100, 10)

    assert (3, 6, 7) == (found.times, found.before, found.peak)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="none"),
        pytest.param([5, 90], id="two"),
        pytest.param([7, 7, 7, 7], id="flat"),
        pytest.param([90, 90, 10, 10], id="high from the first on"),
    ],
)
def test_what_never_left_its_base(values):
    assert excursion(*values) is None


def test_the_usual_level_is_by_time():
    """
    The base is the median of the lower half of the readings, and most of these are of climbs.
    """
    values = (6, 6, 12, 25, 42, 80, 160, 6, 12, 25, 42, 80, 160, 6)
    found = excursion(*values, seconds=[0, 9, 10, 11, 12, 13, 14, 29, 30, 31, 32, 33, 34, 49])

    assert 6 == found.usual < found.base


def test_readings_of_one_time_tell_nothing():
    assert excursion(1, 90, 1, seconds=[3, 3, 3]) is None


def test_what_stays_has_not_come_back():
    assert 0.0 == excursion(10, 10, 10, 90, 90).back_fraction
    assert 0.5 == excursion(10, 10, 10, 90, 50).back_fraction


def test_of_several_one_that_came_back_is_enough():
    """
    The highest is the last reading; the one before fell back all the way.
    """
    assert 1.0 == excursion(10, 90, 10, 10, 90).back_fraction


def test_a_climb_takes_the_time_behind_its_first_reading():
    """
    In ten seconds one excursion, of which three quarters stand after three seconds more.
    """
    assert 0.3 == pytest.approx(excursion(0, 30, 50, 70, 90, 100, 0, 0, 0, 0, 0).climb_fraction)
    assert 0.0 == excursion(0, 100, 80, 60, 50, 20, 0, 0, 0, 0, 0).climb_fraction


def test_a_reading_more_can_only_shorten_the_time_away():
    """
    Away at 4 s: from 3 to 5 at most. Without the reading at 5 s, to 6.
    """
    seconds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    values = [10, 10, 10, 10, 90, 10, 10, 10, 10, 10]

    assert 2 / 9 == pytest.approx(excursion(*values, seconds=seconds).away_fraction)
    del seconds[5], values[5]
    assert 3 / 9 == pytest.approx(excursion(*values, seconds=seconds).away_fraction)


def test_where_one_of_an_even_series_is_missing_it_may_have_been_away():
    """
    Away for 2 s at most at 3 s; 8 s was not read, and lies in a hole as long.
    """
    seconds = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11]
    values = [10, 10, 10, 90, 10, 10, 10, 10, 10, 10, 10]

    assert 4 / 11 == pytest.approx(excursion(*values, seconds=seconds).away_fraction)


def test_how_far_the_base_itself_varies():
    """
    Behind the lowest and before the highest tenth of eleven readings, ten from 0 to 36 and a 0.
    """
    found = excursion(*range(0, 40, 4), 200, 0)

    assert 16 == found.base
    assert 32 / 184 == found.spread_fraction


@pytest.mark.parametrize(
    ("values", "base"),
    [
        pytest.param([10, 90, 11, 12, 95, 13, 99], [10, 11, 12, 13], id="it ends within a burst"),
        pytest.param([10, 20, 30, 40, 50, 60], None, id="a ramp"),
        pytest.param([10, 20, 56, 40, 57, 70, 60, 100], None, id="a ramp with noise"),
        pytest.param([10, 10, 90, 90, 90], None, id="a step"),
        pytest.param([10, 90, 10], None, id="a single burst"),
    ],
)
def test_the_base_of_a_level_that_comes_back_to_it(values, base):
    level = Level("marks", np.arange(len(values), dtype=float), np.array(values, float))

    assert (base or values) == at_base(level).values.tolist()


def test_readings_and_seconds_are_those_of_the_level():
    found = excursion(10, 90, 10, 10, seconds=[5, 6, 8, 15])

    assert (4, 10.0) == (found.readings, found.seconds)


def test_three_readings_are_enough_and_two_are_not():
    found = excursion(10, 90, 10)

    assert (10, 90, 1, 1) == (found.base, found.highest, found.peak, found.times)
    assert excursion(10, 90) is None


@pytest.mark.parametrize(
    ("values", "goes_on"),
    [
        ((10, 10, 10, 90), True),
        ((10, 10, 90, 90), True),
        ((10, 10, 90, 10), False),
        ((10, 90, 10, 90), True),
    ],
)
def test_a_level_that_is_high_at_the_last_reading_goes_on(values, goes_on):
    assert goes_on is excursion(*values).goes_on


def test_readings_at_half_of_the_range_are_of_its_lower_half():
    """
    Of 0, 0, 50 and 50 the median is 25.
    """
    found = excursion(0, 50, 50, 100, 0)

    assert (25, 75, 3, 3) == (found.base, found.extra, found.peak, found.last)


def test_a_reading_midway_between_base_and_peak_is_away():
    midway = excursion(0, 0, 0, 50, 100, 50, 0, 0)
    below = excursion(0, 0, 0, 49, 100, 49, 0, 0)

    assert (0, 2, 4, 5) == (midway.base, midway.before, midway.peak, midway.last)
    assert (0, 3, 4, 4) == (below.base, below.before, below.peak, below.last)
    assert (3 / 8, 1 / 8) == (midway.high_fraction, below.high_fraction)


def test_what_was_high_at_the_first_reading_is_no_excursion_and_the_next_one_is():
    found = excursion(90, 10, 10, 10, 80, 10)

    assert (1, 3, 4, 4) == (found.times, found.before, found.peak, found.last)
    assert (10, 80) == (found.base, found.highest)
    assert 2 / 6 == found.high_fraction


@pytest.mark.parametrize(
    ("values", "climb"),
    [
        pytest.param((0, 25, 60, 100), 0.1, id="a reading at a quarter is still low"),
        pytest.param((0, 26, 60, 100), 0.2, id="one above a quarter has left"),
        pytest.param((0, 75, 80, 100), 0.0, id="three quarters at once"),
        pytest.param((0, 74, 80, 100), 0.1, id="less than three quarters at once"),
    ],
)
def test_a_climb_goes_from_a_quarter_to_three_quarters_of_its_own_rise(values, climb):
    """
    In ten seconds: from 25 to 100, three quarters stand at 81.25.
    """
    assert pytest.approx(climb) == excursion(*values, *[0] * 7).climb_fraction


def test_the_climb_is_the_median_of_all_in_shares_of_the_time_between_them():
    """
    Three in 18 seconds, which took 0, 1 and 2 s behind their first reading.
    """
    at_once, quick, slow = (0, 0, 100, 0, 0), (0, 0, 40, 100, 0, 0), (0, 0, 30, 60, 100, 0, 0, 0)

    assert pytest.approx(1 / 6) == excursion(*at_once, *quick, *slow).climb_fraction


def test_a_fall_below_the_base_is_a_full_return():
    assert 1.0 == excursion(10, 10, 90, 0).back_fraction


def at(*seconds: float, high: set[float]) -> float:
    """The largest share of the time that a level may be away that is high at these seconds."""
    values = [90 if second in high else 10 for second in seconds]
    return excursion(*values, seconds=seconds).away_fraction


def test_time_away_is_that_of_every_interval_with_an_end_away():
    assert pytest.approx(5 / 10) == at(*range(11), high={2, 7, 8})
    assert pytest.approx(3 / 10) == at(*range(11), high={0, 9})
    assert pytest.approx(1 / 10) == at(*range(11), high={10})


def test_a_hole_counts_that_is_three_quarters_of_the_shortest_excursion():
    """
    Away from 2 to 6 s at most; 3 s of no reading may hide as much, and 2.9 may not.
    """
    evenly = range(11)

    assert pytest.approx((4 + 3) / 13) == at(*evenly, 13, high={3, 4, 5})
    assert pytest.approx(4 / 12.9) == at(*evenly, 12.9, high={3, 4, 5})


def test_the_shortest_of_several_excursions_says_how_short_one_is():
    """
    The first took 4 s and the second 2, and a hole of 2 may hide one like it.
    """
    evenly = range(15)

    assert pytest.approx((4 + 2 + 2) / 16) == at(*evenly, 16, high={3, 4, 5, 9})
    assert pytest.approx((4 + 2 + 2) / 16) == at(*evenly, 16, high={3, 9, 10, 11})


def test_a_level_high_at_its_first_reading_says_nothing_of_how_short_an_excursion_is():
    """
    Behind one second, from 4 to 8 at most; 2 s cannot hide that.
    """
    assert pytest.approx((1 + 4) / 16) == at(*range(15), 16, high={0, 5, 6, 7})


def test_no_hole_counts_while_none_has_come_back():
    assert pytest.approx(2 / 16) == at(0, *range(2, 17), high={15, 16})


@pytest.mark.parametrize(("last", "may_be"), [(11.75, 1.75), (11.74, 0)])
def test_a_hole_is_nearly_twice_the_usual_time(last, may_be):
    """
    An excursion of 2 s at most, of which three quarters are 1.5.
    """
    assert pytest.approx((2 + may_be) / last) == at(*range(11), last, high={3})


def test_a_series_that_is_not_even_has_no_holes():
    """
    Of eight intervals six are a second long, which is even; of seven five are not.
    """
    even, uneven = (0, 1, 2, 3, 4, 5, 6, 8, 10), (0, 1, 2, 3, 4, 5, 7, 9)

    assert pytest.approx((2 + 4) / 10) == at(*even, high={3})
    assert pytest.approx(2 / 9) == at(*uneven, high={3})


def test_the_base_keeps_times_and_errors_of_its_readings():
    values, seconds = np.array([10.0, 90, 11, 95, 12]), np.array([1.0, 2, 4, 7, 9])

    base = at_base(Level("marks", seconds, values, errors=values / 10))

    assert ([1, 4, 9], [10, 11, 12]) == (base.seconds.tolist(), base.values.tolist())
    assert [1.0, 1.1, 1.2] == base.errors.tolist()
    assert 0 == len(at_base(Level("marks", seconds, values)).errors)


@pytest.mark.parametrize(("end", "readings"), [(25, 5), (26, 7)])
def test_a_level_has_a_base_if_two_bursts_came_back_by_three_quarters(end, readings):
    values = np.array([0.0, 0, 0, 100, 0, 100, end])

    assert readings == len(at_base(Level("marks", np.arange(7.0), values)))


def test_an_excursion_has_no_least_height():
    assert (0, 1, 2) == ((found := excursion(0, 0, 1, 0)).base, found.extra, found.peak)


@pytest.mark.parametrize("seconds", [(3, 3, 4), (3, 4, 4)])
def test_two_readings_may_be_of_one_time(seconds):
    assert (10, 90) == ((found := excursion(10, 90, 10, seconds=seconds)).base, found.highest)


def test_an_interval_a_quarter_longer_than_usual_is_even():
    """
    Of five intervals three are a second, one is 1.25 s, and one is a hole of 2.
    """
    assert pytest.approx((2 + 2) / 6.25) == at(0, 1, 2, 3, 4.25, 6.25, high={1})
    assert pytest.approx(2 / 6.26) == at(0, 1, 2, 3, 4.26, 6.26, high={1})


def test_a_level_high_at_its_first_reading_and_once_again_has_no_base_yet():
    values = np.array([90.0, 10, 10, 10, 80, 10, 10])

    assert 7 == len(at_base(Level("marks", np.arange(7.0), values)))
