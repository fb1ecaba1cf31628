"""Jumps from the usual level: what is one, what only climbs or swings, and what came back."""

import numpy as np
import pytest

from gomem.analysis.series.jumps import find_jump


def jump(*levels):
    return find_jump(np.array(levels, float))


def test_a_burst_that_comes_back():
    """
    The textbook's: 20 → 181 → 149 → 85 → 20.
    """
    found = jump(20, 20, 20, 20, 181, 149, 85, 20, 20, 20)

    assert (3, 4, 20.0, 181.0) == (found.before, found.peak, found.usual, found.highest)
    assert (161.0, 2, True) == (found.extra, found.high, found.came_back)


def test_a_jump_is_one_in_any_unit():
    assert (5, 0.75) == (jump(*[0.25] * 5, 1, 0.25).peak, jump(*[0.25] * 5, 1, 0.25).extra)


def test_the_second_moment_may_be_a_jump():
    assert (0, 1) == (jump(20, 181, 20, 20, 20).before, jump(20, 181, 20, 20, 20).peak)


def test_a_step_does_not():
    """
    A real database's: eight profiles at 46.7 MiB, two at 137.
    """
    found = jump(*[46.7] * 8, 137, 137)

    assert (7, 8, 2, False) == (found.before, found.peak, found.high, found.came_back)


def test_of_two_the_one_that_came_back_is_told():
    found = jump(20, 20, 20, 150, 20, 20, 20, 20, 20, 181)

    assert (3, 150.0, True) == (found.peak, found.highest, found.came_back)


def test_of_two_that_came_back_the_higher():
    assert 6 == jump(20, 20, 150, 20, 20, 20, 181, 20, 20, 20).peak


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param([], id="nothing"),
        pytest.param([20], id="one moment"),
        pytest.param([20] * 10, id="no move"),
        pytest.param([100, 20, 20, 20, 20], id="high from the start"),
        pytest.param(range(10, 110, 10), id="a ramp"),
        pytest.param([10, 40, 70, 100, 130, 10, 40, 70, 100, 130], id="a saw-tooth"),
        pytest.param([20] * 8 + [70, 120, 170, 220], id="it climbs for several"),
        pytest.param([20] * 5 + [180] * 6, id="the new level is the usual one"),
    ],
)
def test_what_is_none(levels):
    assert jump(*levels) is None


def test_half_of_the_moments_are_at_the_usual_level():
    """
    Three of six at 50, which is the median; then three of seven.
    """
    assert jump(50, 50, 50, 10, 200, 200).usual == 50.0
    assert jump(50, 50, 50, 10, 200, 200, 200) is None


@pytest.mark.parametrize(("low", "found"), [(25, True), (24.9, False)])
def test_most_of_those_that_are_not_high_lie_within_half_of_the_way(low, found):
    """
    From 50 to 150: of eleven, nine lie between 75 and `low`.
    """
    usual = jump(0, low, 50, 50, 50, 50, 50, 50, 75, 99, 150, 50)

    assert found == (usual is not None)


def test_the_tops_of_a_saw_tooth_are_no_jumps():
    """
    A table of tariffs, by the profiles that say something new, and one of them less.
    """
    levels = [15.5, 25.5, 7.5, 13.6, 25.4, 48.5, 19.0, 39.1, 72.2, 55.9, 35.9, 55.5, 28.8]

    assert jump(*levels) is None
    assert {None} == {jump(*levels[:gone], *levels[gone + 1 :]) for gone in range(len(levels))}


def test_near_is_a_quarter_of_the_way():
    """
    From 100 to 260: 60 and 140 are just near.
    """
    found = jump(100, 100, 100, 60, 140, 100, 260)

    assert (100.0, 40.0) == (found.usual, found.near)
    assert found.is_usual(60)
    assert found.is_usual(140)
    assert not found.is_usual(59.9)


def test_one_interval_has_half_of_the_way():
    """
    From 20 over 99 or 101 to 180: what was above half of the way before is no jump.
    """
    assert jump(*[20] * 6, 99, 180, 20).before == 6
    assert jump(*[20] * 6, 80, 158, 180, 20) is None


def test_a_moment_half_of_the_way_down_has_come_back():
    assert jump(*[20] * 6, 180, 99).came_back
    assert not jump(*[20] * 6, 180, 100).came_back
