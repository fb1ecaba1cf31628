"""Whole numbers in proportion: they add up, and none is a whole away from its share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.statistics.apportion import apportion

WEIGHTS = st.lists(st.integers(0, 2**40), min_size=1, max_size=30)


@given(WEIGHTS, st.integers(0, 2**45))
def test_parts_add_up_and_are_within_one_of_their_share(weights, whole):
    if not sum(weights):
        weights = [1, *weights]

    parts = apportion(whole, weights)

    assert whole == parts.sum()
    exact = np.array(weights) / sum(weights) * whole
    assert (np.abs(parts - exact) < 1 + 1e-9 * whole).all()
    assert (parts >= 0).all()
    assert all(part == 0 for part, weight in zip(parts, weights, strict=True) if not weight)


def test_those_that_lost_most_get_what_is_left():
    assert [3, 2, 2] == apportion(7, [1, 1, 1]).tolist()
    assert [1, 0, 9] == apportion(10, [0.7, 0.4, 9.0]).tolist()


def test_nothing_in_no_parts_is_nothing():
    assert [0, 0] == apportion(0, [0, 0]).tolist()
    with pytest.raises(ValueError, match="nothing says in which parts"):
        apportion(5, [0, 0])
