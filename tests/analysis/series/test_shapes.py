"""In which shape a level moves, by where its rises and falls lie."""

import numpy as np
import pytest

from gomem.analysis.series.shapes import shape_of


def test_a_plateau_is_a_tenth_of_the_range_in_the_last_third():
    """
    Ten moments, so that the last third begins at the seventh: 90 of 100, and one less.
    """
    seconds = np.arange(10.0)
    rising = [0, 20, 40, 60, 70, 80]

    assert "plateau" == shape_of(seconds, np.array([*rising, 90, 95, 98, 100.0]))
    assert "ramp" == shape_of(seconds, np.array([*rising, 89.9, 95, 98, 100.0]))


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


def shape(*levels: float, seconds=None, **more) -> str:
    at = np.arange(len(levels), dtype=float) if seconds is None else np.array(seconds, float)
    return shape_of(at, np.array(levels, float), **more)


@pytest.mark.parametrize(
    ("levels", "noise", "expected"),
    [
        pytest.param((90, 95, 100), 0, "flat", id="a tenth of the level"),
        pytest.param((89.9, 95, 100), 0, "ramp", id="more than a tenth"),
        pytest.param((70, 85, 100), 10, "flat", id="three standard deviations"),
        pytest.param((70, 85, 100), 9.9, "ramp", id="more than three"),
        pytest.param((90, 95, 100), 1, "flat", id="beyond the noise, within a tenth"),
        pytest.param((0, 0, 0), 0, "flat", id="nothing"),
        pytest.param((7,), 0, "flat", id="a single reading"),
    ],
)
def test_a_range_within_a_tenth_or_the_noise_is_flat(levels, noise, expected):
    assert expected == shape(*levels, noise=noise)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        pytest.param((0, 50, 100, 50), "saw-tooth", id="a fall of half"),
        pytest.param((0, 50, 100, 51), "plateau", id="a fall of less"),
        pytest.param((100, 0, 50), "saw-tooth", id="a rise of half"),
        pytest.param((100, 0, 49), "decline", id="a rise of less"),
        pytest.param((100, 60, 20, 0), "decline", id="no rise"),
        pytest.param((0, 30, 10, 40, 20, 100, 90), "saw-tooth", id="falls of half together"),
    ],
)
def test_falls_of_half_the_range_are_a_saw_tooth_or_a_decline(levels, expected):
    assert expected == shape(*levels)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        pytest.param([100, 103, 106, 109, 110], "step", id="60 % in 30 % of the time"),
        pytest.param([100, 102.9, 106, 109, 110], "ramp", id="in more"),
    ],
)
def test_a_step_is_twice_as_fast_as_a_steady_rise(seconds, expected):
    assert expected == shape(0, 20, 80, 90, 100, seconds=seconds)


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ([100, 103, 106, 109, 110], "step"),
        ([100, 102.9, 106, 109, 110], "ramp"),
        ([100, 103, 100, 100, 100], "step"),
    ],
)
def test_a_step_is_as_long_as_the_reading_before_it_may_be_old(since, expected):
    seconds = [100, 104, 106, 109, 110]

    assert expected == shape(
        0, 20, 80, 90, 100, seconds=seconds, since_seconds=np.array(since, float)
    )


def test_the_last_third_is_that_of_the_time_from_the_first_reading_on():
    """
    From 100 to 109 s it begins at 106, with 90 of 100, or less.
    """
    seconds = 100 + np.arange(10.0)
    rising = (0, 20, 40, 60, 70, 80)

    assert "plateau" == shape(*rising, 90, 95, 98, 100, seconds=seconds)
    assert "ramp" == shape(*rising, 89.9, 95, 98, 100, seconds=seconds)


def test_a_level_that_fell_a_little_in_the_last_third_is_a_plateau():
    assert "plateau" == shape(0, 30, 60, 100, 95, 90)
