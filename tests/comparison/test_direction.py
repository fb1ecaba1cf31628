"""What one value a side can tell: a heap's own swing is no change."""

import pytest

from gomem.comparison.direction import direction, together

MIB = 1 << 20


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param(100, 100, "same", id="equal"),
        pytest.param(100, 101.9, "same", id="less-than-2-per-cent"),
        pytest.param(100, 102.1, "?", id="more-than-2-per-cent"),
        pytest.param(10, 10.99, "same", id="less-than-a-mebibyte"),
        pytest.param(10, 11, "?", id="a-mebibyte"),
        pytest.param(100, 200, "?", id="as-far-as-a-heap-swings"),
        pytest.param(100, 200.1, "worse", id="beyond-a-heaps-swing"),
        pytest.param(200.1, 100, "better", id="and-the-other-way"),
        pytest.param(0, 2, "worse", id="from-nothing"),
    ],
)
def test_one_value_a_side(before, after, verdict):
    assert verdict == direction(before * MIB, after * MIB)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param([100, 102, 104], [130, 132, 133], "worse", id="apart"),
        pytest.param([130, 132, 133], [100, 102, 104], "better", id="apart-the-other-way"),
        pytest.param([100, 110, 120], [140, 150, 160], "?", id="as-wide-as-the-gap"),
        pytest.param([100, 110, 119], [140, 150, 159], "worse", id="less-wide-than-the-gap"),
        pytest.param([100, 104], [130, 132, 133], "?", id="two-moments-do-not-spread"),
        pytest.param([5, 102, 104], [6, 132, 133], "?", id="with-the-start-in-it"),
    ],
)
def test_a_sides_own_moments_say_how_far_it_spreads(before, after, verdict):
    series = [[MIB * one for one in side] for side in (before, after)]

    assert verdict == direction(
        series[0][-1], series[1][-1], before_series=series[0], after_series=series[1]
    )


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ([], "same"),
        (["same", "?"], "?"),
        (["?", "better", "same"], "better"),
        (["?", "worse"], "worse"),
        (["better", "worse"], "mixed"),
        (["mixed", "better"], "mixed"),
    ],
)
def test_several_verdicts_are_one(verdicts, verdict):
    assert verdict == together(verdicts)
