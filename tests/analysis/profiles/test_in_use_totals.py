"""How much heap profiles have in use at most, and what they count as allocated."""

import pytest

from gomem.analysis.profiles.published import in_use_totals, total_bounds
from gomem.units import KIB, MIB
from tests.heap_profiles import heap, seen, turned_over

SMALL = heap(turned_over(40, 10, 512 * KIB))
LARGE = heap(turned_over(50, 30, 512 * KIB))


def test_the_largest_counts_with_the_upper_end_of_its_interval():
    found = in_use_totals({"1": SMALL, "2": LARGE, "3": SMALL})

    low, high = total_bounds(LARGE)
    assert low < LARGE.total("inuse_space") < high == found.at_most
    small, large = SMALL.total("alloc_space"), LARGE.total("alloc_space")
    assert ("2", {"1": small, "2": large, "3": small}) == (found.moment, found.allocated)


def test_objects_that_are_all_sampled_are_exact():
    exact = heap(seen(3, 64 * MIB))

    assert exact.total("inuse_space") == pytest.approx(in_use_totals({"1": exact}).at_most)


def test_nothing_in_use_says_nothing():
    assert in_use_totals({}) is None
    assert in_use_totals({"1": heap(turned_over(40, 0, 512 * KIB))}) is None
    assert total_bounds(heap(turned_over(40, 0, 512 * KIB))) is None
