"""A single object between two profiles is counted, with who allocates it and how often."""

import pytest

from gomem.analysis.profiles.large_objects import find_large_objects
from gomem.units import MIB
from tests.causes.test_allocation_spike import taken
from tests.heap_profiles import heap, turned_over

STEADY = 20  # sightings of 4 KiB in use, 10 MiB


def profiles(*counts, size=32 * MIB, other=0, other_size=24 * MIB):
    """One profile a second; so many large objects were allocated by then, and none is in use.

    Args:
        counts: Of objects at main.leaf.
        size: Of each.
        other: How many there were at main.root from the fourth profile on.
        other_size: Of each of these.
    """
    return {
        str(at): taken(
            at,
            heap(
                turned_over(100 * at, STEADY, 4096),
                turned_over(count, 0, size),
                *([turned_over(other, 0, other_size, leaf=2)] if other and at > 3 else []),
            ),
        )
        for at, count in enumerate(counts, start=1)
    }


def test_an_object_is_found_with_its_size_and_its_intervals():
    found = find_large_objects(profiles(1, 1, 2, 2, 4, 4, 4), 16 * MIB)

    assert ("main.leaf", 32 * MIB, "3") == (found.function, found.object_bytes, found.after)
    assert (2, 6, 1.0) == (found.intervals, found.of_intervals, found.seconds)
    assert pytest.approx(STEADY * 526_338, rel=0.01) == found.usual_bytes


def test_what_was_allocated_before_the_first_profile_is_of_no_interval():
    assert find_large_objects(profiles(3, 3, 3), 16 * MIB) is None


@pytest.mark.parametrize(("least", "told"), [(32 * MIB, True), (32 * MIB + 1, False)])
def test_smaller_objects_do_not_matter(least, told):
    assert told == (find_large_objects(profiles(0, 1, 1), least) is not None)


@pytest.mark.parametrize(("size", "intervals"), [(64 * MIB, 2), (64 * MIB + 2, 1)])
def test_half_of_the_largest_counts_with_it(size, intervals):
    """
    One of 32 MiB from the second profile on, and a larger one at the same function from the fourth.
    """
    several = {
        str(at): taken(
            at,
            heap(
                turned_over(100 * at, STEADY, 4096),
                turned_over(int(at >= 2), 0, 32 * MIB),
                turned_over(int(at >= 4), 0, size),
            ),
        )
        for at in range(1, 6)
    }

    found = find_large_objects(several, 16 * MIB)

    assert (size, "4", intervals) == (found.object_bytes, found.after, found.intervals)


def test_another_function_has_its_own_intervals():
    found = find_large_objects(profiles(0, 1, 2, 3, 4, other=5), 16 * MIB)

    assert ("main.leaf", 4, 4) == (found.function, found.intervals, found.of_intervals)
    found = find_large_objects(profiles(0, 1, 2, 3, 4, other=5, other_size=48 * MIB), 16 * MIB)
    assert ("main.root", 1, "4") == (found.function, found.intervals, found.after)


def test_fewer_than_two_profiles_have_no_interval():
    assert find_large_objects(profiles(1), 16 * MIB) is None
    assert find_large_objects({}, 16 * MIB) is None
