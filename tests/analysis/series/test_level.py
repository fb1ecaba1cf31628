"""How a level moves: a line, a fill that saturates, a ceiling that it cannot have passed."""

from dataclasses import replace

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


def crowded(later):
    """
    Fourteen readings in a second, in which the level rises by five, then a tenth each second.
    """
    seconds = np.concatenate([np.linspace(0, 1, 14), later])
    return Level("log", seconds, np.where(seconds <= 1, 5 * seconds, 5 + (seconds - 1) / 10))


def test_readings_that_crowd_in_a_warm_up_do_not_move_the_rate():
    rise = crowded(np.arange(10, 101, 5)).rise

    assert pytest.approx(0.1) == rise.rate
    assert rise.low <= 0.1 <= rise.high < (rise.last - rise.first) / rise.seconds
    assert rise.slope > rise.rate


def test_a_level_with_few_readings_after_the_warm_up_is_taken_as_a_whole():
    level = crowded(np.arange(20, 101, 20))

    assert len(level.warm) == 10
    assert level.warm.seconds[0] < 1
    few = replace(level, seconds=level.seconds[8:], values=level.values[8:])
    assert few.rise.rate == few.rise.slope


def test_of_many_readings_the_rate_is_between_the_middles_of_both_tenths():
    rise = Level("log", np.arange(100.0), 2 * np.arange(100.0)).rise

    assert rise.apart_seconds < rise.seconds
    assert pytest.approx(2.0) == rise.rate


def test_a_short_rise_goes_from_its_first_reading_to_its_last():
    """
    Two thirds of two seconds lie at 24 + 15 / 3 = 29, of which 10 to the end are late.
    """
    rise = level([8, 24, 39]).rise

    assert (8, 39, 39, 31, 39 / 8) == (rise.first, rise.last, rise.reached, rise.grown, rise.ratio)
    assert (3, 2, 2, 15.5) == (rise.readings, rise.seconds, rise.apart_seconds, rise.rate)
    assert (0, False, "ramp") == (rise.error, rise.are_medians, rise.shape)
    assert pytest.approx(10 / 31) == rise.late_share
    assert (1.0, 0.0) == (rise.coverage, rise.beyond_ceiling)


def test_a_level_that_was_nothing_has_grown_endlessly():
    assert np.inf == level([0, 24, 39]).rise.ratio


@pytest.mark.parametrize(
    ("count", "first", "last", "seconds", "apart"),
    [
        pytest.param(19, 0, 18, 18, 18, id="as they are"),
        pytest.param(20, 0.5, 18.5, 19, 18, id="tenths of two"),
        pytest.param(60, 2.5, 56.5, 59, 54, id="tenths of six"),
        pytest.param(61, 3.5, 57.5, 59.5, 54, id="in blocks, of which the first has two"),
        pytest.param(120, 5.5, 113.5, 118, 108, id="blocks of two"),
    ],
)
def test_first_and_last_levels_are_medians_of_tenths_and_beyond_sixty_of_blocks(
    count, first, last, seconds, apart
):
    """
    A reading a second, of three times its second: of 61 the first block is at half a second.
    """
    at = np.arange(float(count))

    rise = Level("log", at, 3 * at).rise

    assert (count, seconds, apart) == (rise.readings, rise.seconds, rise.apart_seconds)
    assert (3 * first, 3 * last, 3 * (count - 1)) == (rise.first, rise.last, rise.reached)
    assert (count >= 20) is rise.are_medians
    assert seconds / (count - 1) == rise.coverage


def test_tenths_of_one_time_are_as_far_apart_as_the_readings():
    seconds = np.array([0.0, *[5.0] * 38, 10.0])

    rise = Level("log", seconds, np.arange(40.0)).rise

    assert (10, 10) == (rise.apart_seconds, rise.seconds)
    assert (1.5, 37.5) == (rise.first, rise.last)


def test_blocks_of_one_time_are_no_series_and_the_readings_are():
    """
    Of 180 readings, three to a block, only the first and the last are at another time.
    """
    seconds = np.array([0.0, *[5.0] * 178, 10.0])

    rise = Level("log", seconds, np.arange(180.0)).rise

    assert (180, 10) == (rise.readings, rise.seconds)
    assert (8.5, 170.5) == (rise.first, rise.last)


def test_readings_of_one_time_have_no_rise_and_no_span():
    still = Level("log", np.array([3.0, 3.0]), np.array([1.0, 2.0]))

    assert still.rise is None
    assert (0.0, 2) == (still.span_seconds, len(still))
    assert (0.0, 0) == (level([]).span_seconds, len(level([])))
    assert 10.0 == level(T).span_seconds


def test_the_error_of_growth_is_that_of_both_ends():
    rise = level([8, 24, 39], errors=np.array([3.0, 90.0, 4.0])).rise

    assert 5 == rise.error


def test_errors_are_limits_and_widen_the_interval_of_the_rate_in_full():
    """
    From 3 and 4 at the ends, ten seconds apart, half a byte a second.
    """
    values = 3 * T + np.array([0, 4, -2, 1, 0, -5, 3, 0, 2, -1, 0])
    errors = np.array([3.0, *[9.0] * 9, 4.0])

    exact, rough = level(values).rise, level(values, errors=errors).rise

    assert exact.low < exact.rate < exact.high
    assert rough.rate == exact.rate
    assert (exact.low - 0.5, exact.high + 0.5) == pytest.approx((rough.low, rough.high))


def test_a_range_within_the_errors_is_flat():
    """
    An error is two standard deviations: of 22, three are 33.
    """
    values = [100, 110, 120, 133]

    assert "flat" == level(values, errors=np.full(4, 22.0)).rise.shape
    assert "ramp" == level(values, errors=np.full(4, 21.9)).rise.shape


@pytest.mark.parametrize(
    ("values", "late"),
    [
        pytest.param([0, 10, 20, 30], 1 / 3, id="a line"),
        pytest.param([0, 10, 10, 10], 0, id="it has filled"),
        pytest.param([0, 0, -10, 10], 1.5, id="twice the rise, cut"),
        pytest.param([0, 30, 30, 10], -1, id="a fall of twice the rise, cut"),
        pytest.param([0, 20, 15, 10], -0.5, id="a fall of half the rise"),
        pytest.param([30, 20, 10, 0], 0, id="a decline has no rise"),
        pytest.param([5, 9, 1, 5], 0, id="it ends where it began"),
        pytest.param([0.0, 0.1, 0.2, 0.3], 1 / 3, id="a line below one"),
    ],
)
def test_the_last_third_of_the_time_has_a_part_of_the_rise(values, late):
    assert pytest.approx(late) == level(values).rise.late_share


def test_a_decline_has_no_line_of_a_rise():
    assert 0.0 == level(30 - T).rise.linear_share


@pytest.mark.parametrize(
    ("linear", "late", "goes_on"),
    [(0.5, 0.15, True), (0.49, 0.9, False), (0.9, 0.149, False), (1.0, 1.0, True)],
)
def test_a_rise_goes_on_that_is_half_a_line_and_has_a_late_part(linear, late, goes_on):
    rise = replace(level(T).rise, linear_share=linear, late_share=late)

    assert goes_on is rise.goes_on


@pytest.mark.parametrize(
    ("watched", "coverage"),
    [
        ((0.0, 40.0), 0.25),
        ((-10.0, 10.0), 0.5),
        ((0.0, 10.0), 1.0),
        ((2.0, 9.0), 1.0),
        ((5.0, 5.0), 1.0),
        (None, 1.0),
    ],
)
def test_coverage_is_a_part_of_the_watch_and_at_most_all(watched, coverage):
    assert coverage == level(T, watched=watched).rise.coverage


@pytest.mark.parametrize(
    ("ceiling", "beyond"),
    [
        pytest.param(None, 0.0, id="none"),
        pytest.param((10.0, 50.0), 0.0, id="where it ended"),
        pytest.param((20.0, 70.0), 0.5, id="half a rise below it"),
        pytest.param((20.0, 110.0), -0.5, id="half a rise above it"),
        pytest.param((20.0, 10.0), 2.0, id="two rises below it"),
        pytest.param((90.0, 10.0), 3.0, id="more than three"),
        pytest.param((20.0, 900.0), -1.0, id="far above it"),
        pytest.param((0.0, 50.0), 0.0, id="before the end it does not go back"),
    ],
)
def test_a_ceiling_is_measured_in_rises(ceiling, beyond):
    """
    From 10 to 50 in ten seconds: 90 after twenty.
    """
    assert pytest.approx(beyond) == level(10 + 4 * T, ceiling=ceiling).rise.beyond_ceiling


def test_a_decline_passes_no_ceiling():
    assert 0.0 == level(50 - 4 * T, ceiling=(20.0, 1.0)).rise.beyond_ceiling


@pytest.mark.parametrize("fill", [0.03, 0.07, 0.15, 0.3, 0.6])
@pytest.mark.parametrize(("filled", "line"), [(3, 1), (1, 3), (1, 0)])
def test_a_fill_of_any_pace_is_told_from_the_line_on_it(fill, filled, line):
    """
    Of 40, each has a share by how it was made.
    """
    since = np.linspace(0, 1, 60)
    curve = (1 - np.exp(-since / fill)) / (1 - np.exp(-1 / fill))

    share = linear_share(100 + 7 * since, 5 + 10 * (filled * curve + line * since))

    assert pytest.approx(line / (filled + line), abs=1e-6) == share


@pytest.mark.parametrize(
    ("values", "share"),
    [
        pytest.param(7 * T, 1.0, id="a line"),
        pytest.param(T**2, 1.0, id="faster than a line"),
        pytest.param(np.where(T < 1, 0, 50 - T), 0.0, id="filled, and falls since"),
        pytest.param(0 * T, 0.0, id="flat"),
        pytest.param(-3 * T, 0.0, id="a decline"),
    ],
)
def test_neither_a_fill_nor_a_line_is_below_nothing(values, share):
    assert pytest.approx(share, abs=1e-9) == linear_share(T, np.asarray(values, float))


def test_small_levels_in_a_short_time_are_told_as_large_ones_in_a_long_time():
    """
    From half a byte to 0.6 in a tenth of a second.
    """
    rise = Level("log", T / 100, 0.5 + T / 100).rise

    assert pytest.approx((1.2, 0.1, 1.0, 1.0)) == (
        rise.ratio, rise.apart_seconds, rise.rate, rise.linear_share,
    )  # fmt: skip


def test_a_level_that_ends_where_it_began_has_neither_a_line_nor_a_ceiling_to_pass():
    rise = level([5, 1, 9, 5], ceiling=(20.0, 4.0)).rise

    assert (0.0, 0.0, 1.0) == (rise.linear_share, rise.beyond_ceiling, rise.ratio)


def test_nothing_depends_on_where_the_clock_begins():
    """
    All of it is told in seconds between readings.
    """
    values = 3 * T + np.array([0, 4, -2, 1, 0, -5, 3, 0, 2, -1, 0])
    errors = np.array([3.0, *[9.0] * 9, 4.0])

    early = Level("log", T, values, errors, watched=(-5.0, 15.0), ceiling=(20.0, 45.0)).rise
    late = Level(
        "log", 1000 + T, values, errors, watched=(995.0, 1015.0), ceiling=(1020.0, 45.0)
    ).rise

    assert pytest.approx(vars(early)) == vars(late)
    assert (0.5, 0.5) == (early.coverage, pytest.approx(early.beyond_ceiling))


@pytest.mark.parametrize(
    ("values", "slows"),
    [
        pytest.param([10, 31, 41, 46, 49, 50], True, id="a fill"),
        pytest.param([10, 20, 30, 40, 50, 60], False, id="a line"),
        pytest.param([10, 12, 16, 24, 40, 72], False, id="ever faster"),
        pytest.param([10, 50, 50, 50, 50, 50], False, id="stopped"),
        pytest.param([60, 50, 40, 30, 20, 10], False, id="a decline"),
    ],
)
def test_a_rise_slows_where_its_last_third_is_at_most_half_of_its_first(values, slows):
    assert slows == Level("log", np.arange(6.0), np.array(values, float)).rise.slows


def test_a_difference_within_the_errors_does_not_slow_a_rise():
    values, errors = np.array([10, 31, 41, 46, 49, 50], float), np.full(6, 40.0)

    assert not Level("log", np.arange(6.0), values, errors).rise.slows
