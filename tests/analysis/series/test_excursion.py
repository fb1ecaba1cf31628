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
