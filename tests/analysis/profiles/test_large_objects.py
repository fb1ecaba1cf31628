"""A single object that was there between two profiles tells what was in use at least."""

import pytest

from gomem.analysis.profiles.allocation_spikes import large_objects
from gomem.units import MIB
from tests.causes.test_allocation_spike import taken
from tests.heap_profiles import heap, turned_over

IN_USE = 20 * 526_338  # of 20 sightings of 4 KiB


def profiles(*counts, size=32 * MIB):
    """One profile a second; so many large objects were allocated by then, and none is in use."""
    return {
        str(at): taken(at, heap(turned_over(100 * at, 20, 4096), turned_over(count, 0, size)))
        for at, count in enumerate(counts, start=1)
    }


def test_an_object_was_there_on_top_of_what_both_show():
    """
    One between the second and the third, at 3 and 4 s, and two between the fourth and the fifth.
    """
    found = large_objects(profiles(1, 1, 2, 2, 4, 4, 4))

    assert [("3", 3.5), ("5", 5.5)] == [(one.moment, one.seconds) for one in found]
    assert pytest.approx(32 * MIB + IN_USE, rel=1e-3) == found[0].least_in_use


def test_what_was_allocated_before_the_first_profile_is_of_no_interval():
    assert [] == large_objects(profiles(3, 3, 3))


@pytest.mark.parametrize(("size", "count"), [(MIB, 1), (MIB // 2, 0)])
def test_smaller_objects_may_not_be_sampled(size, count):
    assert count == len(large_objects(profiles(0, 1, 1, size=size)))


def test_fewer_than_two_profiles_have_no_interval():
    assert [] == large_objects(profiles(1))
    assert [] == large_objects({})
