"""Slopes, held against SciPy's and against lines that are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.statistics.slopes import theil_sen

LEVEL = 0.95


@given(
    st.lists(st.integers(0, 40), min_size=3, max_size=25, unique=True),
    st.data(),
)
def test_it_is_scipys_for_each_row(moments, data):
    """
    With equal values among them, as whole MiB have.
    """
    from scipy.stats import theilslopes  # takes a second to import

    seconds = np.sort(np.array(moments, dtype=float))
    one = st.lists(st.integers(0, 5), min_size=len(seconds), max_size=len(seconds))
    values = np.array([data.draw(one), data.draw(one)], dtype=float)

    found = np.column_stack(theil_sen(seconds, values))

    for row, answer in zip(values, found, strict=True):
        slope, _, low, high = theilslopes(row, seconds, LEVEL)
        assert (slope, low, high) == pytest.approx(tuple(answer))


def test_two_at_one_time_have_no_slope_between_them():
    slope, low, high = theil_sen(np.array([0.0, 1.0, 1.0, 2.0]), np.array([[0.0, 3.0, 3.0, 6.0]]))

    assert (3.0, 3.0, 3.0) == (slope[0], low[0], high[0])


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param([1, 2, 4, 8, 16, 32, 64, 128, 256, 512], id="none equal"),
        pytest.param([1, 2, 4, 8, 8, 8, 8, 8, 256, 512], id="five equal"),
    ],
)
def test_equal_values_make_the_interval_narrower(levels):
    """
    Kendall's count of 45 pairs has a variance of 125, and of 108.3 with five equal values.
    """
    from scipy.stats import theilslopes  # takes a second to import

    seconds = np.arange(10.0)

    ends = [end[0] for end in theil_sen(seconds, np.array([levels], float))]

    slope, _, low, high = theilslopes(levels, seconds, LEVEL)
    assert [slope, low, high] == pytest.approx(ends)
