"""What periodic profiles publish: repetitions, lag, profiles at once, restarts."""

from gomem.analysis.profiles.published import heap_at_most, published, since_restart
from gomem.units import MIB
from tests.causes.test_allocation_spike import taken
from tests.heap_profiles import bucket, heap, seen


def profiles(*counts, seconds=None):
    """A profile of so many sightings at each time, a second apart if no times are given."""
    times = range(len(counts)) if seconds is None else seconds
    return {
        f"{number:02}": taken(at, heap(seen(count, 4096)))
        for number, (count, at) in enumerate(zip(counts, times, strict=True))
    }


def test_what_repeats_is_no_news_and_still_an_interval():
    found = published(profiles(1, 1, 2, 2, 2, 3))

    assert ["00", "02", "05"] == [one.moment for one in found.news]
    assert ("01", "03", "04") == found.repeated
    assert 5 == found.intervals


def test_news_are_dated_by_when_they_were_shown_and_how_far_they_may_lag():
    """
    The content of second 5 is of no time before the last that showed the one two before: second 1.
    Of the first two nothing is known: as far back as news are apart, which is 2.5 s.
    """
    found = published(profiles(1, 1, 2, 2, 2, 3))

    assert [0.0, 2.0, 5.0] == [one.seconds for one in found.news]
    assert [1.0, 4.0, 5.0] == [one.until_seconds for one in found.news]
    assert ["01", "04", "05"] == [one.until_moment for one in found.news]
    assert [-5.0, -2.5, 1.0] == [one.since_seconds for one in found.news]


def test_of_two_at_once_the_later_says_all():
    """
    13 ms after the last scrape, and a forced collection in between. A tenth of the usual ten
    seconds is an interval.
    """
    at_once = published(profiles(1, 2, 3, 4, seconds=[0, 1, 2, 2.013]))
    apart = published(profiles(1, 2, 3, 4, 5, seconds=[0, 10, 20, 21, 31]))

    assert (["00", "01", "03"], ("02",)) == ([one.moment for one in at_once.news], at_once.at_once)
    assert 2.013 == at_once.news[-1].seconds
    assert () == apart.at_once


def test_a_content_that_was_repeated_was_shown_for_long_enough():
    """
    It was shown first a second before the one that follows at once.
    """
    found = published(profiles(1, 2, 2, 3, seconds=[0, 1, 2, 2.013]))

    assert ["00", "01", "03"] == [one.moment for one in found.news]
    assert () == found.at_once


def test_seconds_count_from_the_first_that_is_left():
    found = published(profiles(1, 2, 3, 4, seconds=[0, 0.01, 1, 2]))

    assert [0.0, 0.99, 1.99] == [round(one.seconds, 6) for one in found.news]


def test_three_profiles_have_a_usual_distance():
    """
    The median of both, 0.5065 s; a tenth of it is more than 13 ms.
    """
    assert ("01",) == published(profiles(1, 2, 3, seconds=[0, 1, 1.013])).at_once


def test_two_profiles_have_no_usual_distance():
    assert 2 == len(published(profiles(1, 2, seconds=[0, 0.001])).news)


def test_of_two_profiles_nothing_is_known_from_before_as_far_as_they_are_apart():
    """
    4 s: the first may be of twice as long before it, the other of once.
    """
    found = published(profiles(1, 2, seconds=[0, 4]))

    assert [-8.0, -4.0] == [one.since_seconds for one in found.news]


def test_without_profiles_there_are_no_news():
    assert ((), 0) == (published({}).news, published({}).intervals)


def test_a_profile_without_a_time_is_left_out():
    assert () == published({"a": taken(-1, heap(seen(3, 4096)))}).news


def test_where_the_counts_fall_another_process_began():
    assert ["02", "03"] == list(since_restart(profiles(5, 6, 2, 3)))
    assert ["00", "01", "02"] == list(since_restart(profiles(5, 5, 6)))


def test_profiles_without_a_time_stand_in_the_order_of_their_moments_if_asked():
    """
    Text of heap?debug=1 says no time; where one profile does, the others are left out.
    """
    untimed = profiles(5, 6, 2, 3, seconds=[-1] * 4)

    assert {} == since_restart(untimed)
    assert ["02", "03"] == list(since_restart(untimed, by_moment=True))
    mixed = profiles(5, 6, 7, seconds=[-1, 3, -1])
    assert ["01"] == list(since_restart(mixed, by_moment=True))


def test_a_heap_holds_no_more_than_was_ever_allocated():
    """
    And three collections' worth that no profile has counted yet, of 4 MiB at least. A sampled
    total counts with the upper end of its interval.
    """
    assert 1.2 * (2 + 3 * 4) * MIB < heap_at_most(heap(seen(2, 16384)))
    assert 1.2 * (1 + 3 * 4) * MIB == heap_at_most(heap(bucket(256, MIB), rate=1))
    assert 1.2 * (10 + 3 * 10) * MIB == heap_at_most(heap(bucket(2560, 10 * MIB), rate=1))
    assert heap_at_most(heap()) is None
