"""How a level moves: a line, a fill that saturates, a ceiling that it cannot have passed."""

import numpy as np
import pytest

from gomem.analysis.series.level import Level, linear_share

T = np.linspace(0, 10, 11)


def level(values, **more) -> Level:
    return Level("marks", T[: len(values)], np.asarray(values, float), **more)


def test_a_straight_line_is_all_line():
    assert pytest.approx(1, abs=0.02) == level(5 + 3 * T).rise.linear_share


def test_what_filled_at_once_and_stayed_has_no_line():
    filled = np.where(T < 1, 5, 80)

    assert level(filled).rise.linear_share < 0.05


def test_a_fill_with_a_line_behind_it_has_a_part_of_both():
    share = level(50 * (1 - np.exp(-T / 0.7)) + 5 * T).rise.linear_share

    assert 0.4 < share < 0.6


def test_three_readings_in_a_line_are_enough_for_a_direction():
    rise = level([8, 24, 39]).rise

    assert rise.linear_share > 0.9
    assert 3 == rise.readings
    assert pytest.approx(15.5, rel=0.05) == rise.slope


def test_a_share_has_no_unit():
    assert linear_share(T, 7 * T) == pytest.approx(linear_share(T * 3600, 7e6 * T))


def test_growth_that_would_have_passed_its_ceiling_has_not_gone_on():
    """
    From 10 to 50 in ten seconds, then HeapAlloc of 55 at 30 s: at that pace it would be 130.
    """
    rise = level(10 + 4 * T, ceiling=(30.0, 55.0)).rise

    assert pytest.approx((130 - 55) / 40) == rise.beyond_ceiling


def test_readings_cover_a_part_of_the_watch():
    assert 0.5 == level(T, watched=(0.0, 20.0)).rise.coverage


def test_errors_of_the_readings_widen_the_slope():
    exact, rough = level(3 * T).rise, level(3 * T, errors=np.full(11, 5.0)).rise

    assert exact.low > rough.low
    assert pytest.approx(3 - np.hypot(5, 5) / 10) == rough.low


@pytest.mark.parametrize("values", [[], [4.0]])
def test_fewer_than_two_readings_have_no_rise(values):
    assert level(values).rise is None


def test_many_readings_are_looked_at_in_blocks():
    seconds = np.linspace(0, 100, 100_000)
    rise = Level("log", seconds, 2 * seconds).rise

    assert 100_000 == rise.readings
    assert pytest.approx(2, rel=0.01) == rise.slope


def test_the_rate_is_what_first_last_and_time_make_of_it():
    """
    Readings that crowd at a fast start move the median slope of all pairs, and not the rate.
    """
    crowded = np.concatenate([np.linspace(0, 1, 14), np.arange(20, 101, 20)])
    values = np.where(crowded <= 1, 5 * crowded, 5 + (crowded - 1) / 10)

    rise = Level("log", crowded, values).rise

    assert rise.rate == pytest.approx((rise.last - rise.first) / rise.apart_seconds)
    assert (0.149, 100.0) == pytest.approx((rise.rate, rise.apart_seconds))
    assert rise.slope > 1.5 * rise.rate


def test_of_many_readings_the_rate_is_between_the_middles_of_both_tenths():
    rise = Level("log", np.arange(100.0), 2 * np.arange(100.0)).rise

    assert rise.apart_seconds < rise.seconds
    assert pytest.approx(2.0) == rise.rate
