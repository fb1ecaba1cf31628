"""Jumps of what is in use: of which profiles, since when, by whom, and for whom."""

import pytest

from gomem.analysis.profiles.level_jumps import in_use_jump
from tests.causes.test_allocation_spike import taken
from tests.heap_profiles import heap, turned_over


def profiles(*levels, seconds=None, names=("main.leaf", "main.root")):
    """Each allocates a little, and has so many sightings of 4 KiB in use."""
    times = range(len(levels)) if seconds is None else seconds
    return {
        f"{number:02}": taken(at, heap(turned_over(1000 + number, level, 4096), names=names))
        for number, (level, at) in enumerate(zip(levels, times, strict=True))
    }


def repeated(*levels):
    """The same, but equal neighbours repeat each other: no collection ran."""
    return {
        f"{number:02}": taken(number, heap(turned_over(1000, level, 4096)))
        for number, level in enumerate(levels)
    }


def test_who_has_more_and_when():
    names = ("io.ReadAll", "main.unpack")

    found = in_use_jump(profiles(40, 40, 41, 362, 298, 40, 41, 40, names=names))

    assert ("02", "03", "07") == (found.before, found.after, found.last)
    assert (1.0, 3.0, 8) == (found.seconds, found.at_seconds, found.profiles)
    assert "main.unpack" == found.caller
    largest = found.sites.sites.iloc[0]
    assert ("io.ReadAll", 321 * 526_338 // 1000) == (
        largest["function"],
        int(largest["change"]) // 1000,
    )


def test_profiles_without_news_are_moments():
    found = in_use_jump(repeated(40, 40, 40, 40, 362, 298, 40, 40))

    assert ("03", "04", True, 8) == (
        found.before,
        found.after,
        found.levels.came_back,
        found.profiles,
    )
    assert 1 == found.contents_before


def test_a_burst_that_stays_in_the_profiles_until_the_next_collection():
    """
    Most profiles show it, because none ran; of those that say something new, two of seven do.
    """
    found = in_use_jump(repeated(40, 41, 40, 362, 362, 362, 362, 362, 41, 40, 361, 361, 361))

    assert ("02", "03", True) == (found.before, found.after, found.levels.came_back)
    assert 13 == found.profiles


def test_of_two_at_once_the_later_counts():
    """
    The scrape 13 ms before shows what the one after the forced collection no longer has.
    """
    seconds = [0, 1, 2, 3, 3.013, 4, 5]

    found = in_use_jump(profiles(40, 40, 41, 362, 40, 41, 40, seconds=seconds))

    assert pytest.approx(41 * 526_338, rel=1e-4) == found.levels.highest


def test_contents_before_are_those_at_the_usual_level():
    """
    200 is far from it, give or take a quarter of the way to 362.
    """
    found = in_use_jump(profiles(40, 200, 40, 41, 40, 41, 362, 40, 41, 40))

    assert 4 == found.contents_before


def test_without_profiles_there_is_none():
    assert in_use_jump({}) is None
