"""In which shape a level moves, by where its rises and falls lie."""

import numpy as np

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
