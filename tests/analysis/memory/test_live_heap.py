"""The live heap over time: marks at the time of their collection, on one clock."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.memory.live_heap import InUse, LiveHeap, Marks, live_heap
from gomem.analysis.series.level import Level
from gomem.units import MIB

COLUMNS = ["seconds", "LastGC", "NumGC", "NextGC", "HeapAlloc", "live_bytes"]


def stats(*rows, stack_bytes: float = 0) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS, dtype=float).assign(stack_bytes=stack_bytes)


def test_a_mark_is_true_at_its_collection_and_counts_once():
    """
    Two moments between which no collection ran show one mark.
    """
    found = live_heap(
        stats(
            (10, 9, 3, 16 * MIB, 10 * MIB, np.nan),
            (20, 9, 3, 16 * MIB, 15 * MIB, np.nan),
            (30, 28, 5, 48 * MIB, 40 * MIB, np.nan),
        )
    )

    assert [9, 28] == found.level.seconds.tolist()
    assert [8 * MIB, 24 * MIB] == found.level.values.tolist()
    assert (30, 40 * MIB) == found.level.ceiling


def test_the_runtimes_own_number_is_better_than_the_goal():
    found = live_heap(
        stats((1, 1, 1, 90 * MIB, 20 * MIB, 9 * MIB), (2, 2, 2, 90 * MIB, 30 * MIB, 19 * MIB))
    )

    assert [9 * MIB, 19 * MIB] == found.level.values.tolist()


def test_stacks_that_raise_goals_make_marks_wide():
    """
    16 MiB are 8 MiB twice, or 4 MiB twice and 8 MiB of stacks; nobody says how much was scanned.
    """
    rows = (1, 1, 1, 16 * MIB, 20 * MIB, np.nan), (2, 2, 2, 38 * MIB, 30 * MIB, 19 * MIB)

    found = live_heap(stats(*rows, stack_bytes=8 * MIB))

    assert [6 * MIB, 19 * MIB] == found.level.values.tolist()
    assert [2 * MIB, 0] == found.level.errors.tolist()


def test_growth_goes_on_behind_the_last_mark_up_to_what_heapalloc_leaves():
    """
    8 → 24 MiB in 20 s; the last reading is 10 s behind the last mark, the first 2 before.
    """
    marks = (12, 10, 1, 16 * MIB, 15 * MIB, np.nan), (30, 30, 3, 48 * MIB, 40 * MIB, np.nan)
    last = (40, 30, 3, 48 * MIB, 60 * MIB, np.nan)

    assert 24 * MIB == live_heap(stats(*marks, last)).grown_to_the_end
    assert 20 * MIB == live_heap(stats(*marks, (*last[:4], 28 * MIB, np.nan))).grown_to_the_end


def test_a_log_that_a_collection_ties_stands_on_the_moments_clock():
    at, live = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]) * MIB
    tied = (103.5, 103, 3, 12 * MIB, 8 * MIB, np.nan)
    later = (105, 104.5, 4, 16 * MIB, 9 * MIB, np.nan)

    found = live_heap(stats(tied, later), Marks(at, live, at, 0.0))

    assert [101, 102, 103, 104.5] == found.level.seconds.tolist()
    assert [4 * MIB, 5 * MIB, 6 * MIB, 8 * MIB] == found.level.values.tolist()
    assert {"log", "marks"} <= found.agreeing


def test_profiles_with_more_in_use_than_goals_tell_refute_them():
    """
    A memory limit holds the goals at 60 MiB, of which GOGC=100 would make marks of 30 MiB.
    """
    profiles = [InUse(float(t), float(t), (15 + 10 * t) * MIB, MIB) for t in range(5)]
    rows = [(t, t, t + 1, 60 * MIB, 58 * MIB, np.nan) for t in range(5)]

    found = live_heap(stats(*rows), profiles=profiles)

    assert "profiles" == found.level.source


def test_where_marks_are_few_profiles_tell_more():
    profiles = [InUse(float(t), float(t), (5 + 10 * t) * MIB, MIB) for t in range(5)]

    found = live_heap(stats((0, 0, 1, 10 * MIB, 9 * MIB, np.nan)), profiles=profiles)

    assert "profiles" == found.level.source
    assert 5 == found.rise.readings


def test_goals_are_marks_by_the_gogc_that_is_known_and_off_by_its_bounds():
    readings = stats((1, 1, 1, 14 * MIB, 12 * MIB, np.nan), (2, 2, 2, 28 * MIB, 24 * MIB, np.nan))

    exact = live_heap(readings, gogc=0.4).level
    about = live_heap(readings, gogc=0.4, gogc_bounds=(0.25, 0.75)).level

    assert [10 * MIB, 20 * MIB] == exact.values.tolist() == about.values.tolist()
    assert [0.0, 0.0] == exact.errors.tolist()
    assert pytest.approx([2 * MIB, 4 * MIB]) == about.errors.tolist()


def test_with_gogc_off_no_goal_is_a_mark():
    readings = stats((1, 1, 1, 14 * MIB, 12 * MIB, np.nan), (2, 2, 2, 28 * MIB, 24 * MIB, np.nan))

    assert live_heap(readings, gogc=np.inf) is None


def test_heap_alloc_alone_says_nothing_of_the_live_heap():
    assert live_heap(stats((1, 0, 0, 4 * MIB, 3 * MIB, np.nan))) is None


def series(seconds, values, source="marks", **more) -> LiveHeap:
    level = Level(source, np.array(seconds, float), np.array(values, float), **more)
    return LiveHeap(level, frozenset({source}), 1.0)


def test_without_its_time_a_mark_is_of_the_reading():
    found = live_heap(
        stats((10, 0, 3, 16 * MIB, 10, np.nan), (20, np.nan, 4, 20 * MIB, 15, np.nan))
    )

    assert [10, 20] == found.level.seconds.tolist()


def test_without_any_time_marks_are_numbered():
    rows = [(np.nan, np.nan, count, 16 * MIB, 10, np.nan) for count in (3, 4, 5)]

    assert [0, 1, 2] == live_heap(stats(*rows)).level.seconds.tolist()


def test_before_the_first_collection_there_is_no_mark():
    found = live_heap(
        stats(
            (1, 0, 0, 4 * MIB, 3 * MIB, np.nan),
            (2, 2, 1, 6 * MIB, 4 * MIB, np.nan),
            (3, 3, 2, 8 * MIB, 5 * MIB, np.nan),
        )
    )

    assert ([2, 3], [3 * MIB, 4 * MIB]) == (
        found.level.seconds.tolist(), found.level.values.tolist(),
    )  # fmt: skip
    assert (1, 3) == found.level.watched


def test_stacks_are_at_most_all_of_a_goal():
    """
    Half of 90 MiB of stacks are more than the goal of 16 MiB leaves: the mark has 0 to 8 MiB.
    """
    rows = (1, 1, 1, 16 * MIB, 9, np.nan), (2, 2, 2, 20 * MIB, 9, np.nan)

    found = live_heap(stats(*rows, stack_bytes=90 * MIB))

    assert [4 * MIB, 5 * MIB] == found.level.values.tolist() == found.level.errors.tolist()


def log_of(count: int, number: int = 50, error: float = 0.0) -> Marks:
    """A collection a second from 1 s on, each with a MiB more."""
    at = np.arange(1.0, count + 1)
    return Marks(at, at * MIB, number + at, error)


def untied(count: int) -> pd.DataFrame:
    """Snapshots ten seconds apart, of collections that the log does not have."""
    return stats(*((10 * n, 10 * n, n, 16 * n * MIB, 9, np.nan) for n in range(1, count + 1)))


@pytest.mark.parametrize(
    ("snapshots", "collections", "source"),
    [
        (2, 3, "log"),
        (2, 2, "marks"),
        (3, 8, "marks"),
        (3, 9, "log"),
        (0, 3, "log"),
    ],
)
def test_of_two_clocks_the_one_with_far_more_marks_is_taken(snapshots, collections, source):
    """
    Fewer than three collections of a log say nothing; fewer than three snapshots give way.
    """
    found = live_heap(untied(snapshots), log_of(collections))

    assert source == found.level.source == found.marked.source
    assert (source == "log") is (found.level.watched is None)
    assert (source == "log") is (found.level.ceiling is None)
    assert (collections if source == "log" else snapshots) == found.rise.readings


def test_a_log_rounds_down_and_its_marks_are_off_by_half_of_that_either_way():
    found = live_heap(untied(0), log_of(3, error=100.0))

    assert [MIB + 100, 2 * MIB + 100, 3 * MIB + 100] == found.level.values.tolist()
    assert [100, 100, 100] == found.level.errors.tolist()


def test_of_several_ties_the_median_moves_the_log():
    """
    Collections 1 to 3 were 100, 101 and 107 s after the log's time; the log alone has the fourth.
    """
    ties = [(at + 1, at, n, 16 * MIB, 9, np.nan) for n, at in ((1, 101), (2, 103), (3, 110))]

    found = live_heap(stats(*ties), log_of(4, number=0))

    assert [101, 103, 105, 110] == found.level.seconds.tolist()
    assert [8 * MIB, 8 * MIB, 4 * MIB, 8 * MIB] == found.level.values.tolist()


def test_a_number_that_a_log_has_twice_ties_nothing():
    """
    The log has 7 at 1 s and at 3 s, and 9 at 4 s, which was 104 s for the snapshots.
    """
    at = np.array([1.0, 2.0, 3.0, 4.0])
    twice = Marks(at, at * MIB, np.array([7.0, 8.0, 7.0, 9.0]), 0.0)
    of_seven, of_nine = ((100, 100, 7, 16 * MIB, 9, np.nan), (104, 104, 9, 16 * MIB, 9, np.nan))

    assert "log" == live_heap(stats(of_seven), twice).level.source
    assert [100, 102, 104] == live_heap(stats(of_seven, of_nine), twice).level.seconds.tolist()


def shown(*sizes: float, apart: float = 1.0, error: float = 0.0) -> list[InUse]:
    """Heap profiles of so many MiB."""
    at = [apart * place for place in range(len(sizes))]
    return [InUse(t, t, size * MIB, error * MIB) for t, size in zip(at, sizes, strict=True)]


def goals(*sizes: float) -> pd.DataFrame:
    """Snapshots a second apart, with marks of so many MiB."""
    return stats(*((t, t, t + 1, 2 * size * MIB, 9, np.nan) for t, size in enumerate(sizes)))


@pytest.mark.parametrize(
    ("marks", "profiles", "source"),
    [
        pytest.param((10, 20), shown(5, 6, 7), "profiles", id="two marks, three profiles"),
        pytest.param((10, 20), shown(5, 6), "marks", id="two of each"),
        pytest.param((10, 20, 30), shown(5, 6, 7, 8), "marks", id="three marks"),
        pytest.param((10,), shown(5, 6), "profiles", id="one mark"),
        pytest.param((10, 20), (), "marks", id="no profile"),
        pytest.param((10, 20, 30), shown(*range(4), apart=2.0), "marks", id="three times as long"),
        pytest.param((10, 20, 30), shown(*range(4), apart=2.1), "profiles", id="longer than that"),
        pytest.param((10, 20, 30), shown(1, 2, 3, apart=9.0), "marks", id="three profiles"),
        pytest.param((10, 20, 40), shown(5, 50), "marks", id="a quarter more in use"),
        pytest.param((10, 20, 40), shown(5, 51), "profiles", id="more than that"),
        pytest.param((10, 20, 40), shown(5, 51, error=1), "marks", id="within the error"),
        pytest.param((10, 20, 40), shown(90), "marks", id="one profile is no series"),
    ],
)
def test_the_evidence_that_covers_most_is_taken(marks, profiles, source):
    assert source == live_heap(goals(*marks), profiles=profiles).level.source


def test_one_mark_or_one_profile_is_no_series():
    assert live_heap(goals(10)) is None
    assert live_heap(goals(), profiles=shown(5)) is None
    assert live_heap(goals(10), profiles=shown(5)) is None


@pytest.mark.parametrize(
    ("profiles", "agree"),
    [
        pytest.param(shown(5, 6, 9), True, id="two fifths of the rise"),
        pytest.param(shown(5, 6, 8.9), False, id="less"),
        pytest.param(shown(9, 6, 5), False, id="a fall"),
        pytest.param((), False, id="none"),
    ],
)
def test_evidence_agrees_that_shows_two_fifths_of_the_rise(profiles, agree):
    found = live_heap(goals(10, 15, 20), profiles=profiles)

    assert ({"marks", "profiles"} if agree else {"marks"}) == found.agreeing


def test_nothing_agrees_with_a_decline():
    assert {"marks"} == live_heap(goals(20, 15, 10), profiles=shown(9, 8, 7)).agreeing


def test_evidence_of_many_readings_grew_by_the_medians_of_its_tenths():
    """
    Of twenty profiles the first two and the last two have 0 and 100, and 0 and 8: 50 and 4.
    """
    profiles = shown(0, 100, *[50] * 16, 0, 8)

    assert {"marks"} == live_heap(goals(*range(100, 200, 5)), profiles=profiles).agreeing


def test_the_watch_is_from_the_first_to_the_last_of_all_times():
    rows = [(5, 4, 1, 16 * MIB, 9, np.nan), (9, 8, 2, 20 * MIB, 9, np.nan)]

    assert (4, 9) == live_heap(stats(*rows)).level.watched
    profile = InUse(3.0, 12.0, MIB, 0.0)
    assert (3, 12) == live_heap(stats(*rows), profiles=[profile]).level.watched
    early = (5, 0.5, 1, 16 * MIB, 9, np.nan)
    assert (0.5, 9) == live_heap(stats(early, *rows[1:])).level.watched


def test_a_ceiling_is_that_of_the_last_snapshot_that_has_a_time_and_heapalloc():
    rows = [
        (5, 4, 1, 16 * MIB, 11, np.nan),
        (9, 8, 2, 20 * MIB, 12, np.nan),
        (10, 8, 2, 20 * MIB, np.nan, np.nan),
        (np.nan, 8, 2, 20 * MIB, 14, np.nan),
    ]

    assert (9, 12) == live_heap(stats(*rows)).level.ceiling
    rows = [(*row[:4], np.nan, np.nan) for row in rows]
    assert live_heap(stats(*rows)).level.ceiling is None


@pytest.mark.parametrize(
    ("watched", "ceiling", "grown"),
    [
        pytest.param(None, None, 16, id="no more than the marks"),
        pytest.param((10.0, 40.0), None, 24, id="ten seconds more"),
        pytest.param((5.0, 30.0), None, 20, id="five seconds before"),
        pytest.param((-10.0, 30.0), None, 24, id="from nothing on"),
        pytest.param((10.0, 20.0), None, 16, id="a watch that ends before the last mark"),
        pytest.param((10.0, 40.0), (40.0, 30.0), 22, id="up to HeapAlloc"),
        pytest.param((10.0, 40.0), (40.0, 24.0), 16, id="HeapAlloc as high as the mark"),
        pytest.param((10.0, 40.0), (40.0, 23.0), 24, id="HeapAlloc below the mark says nothing"),
    ],
)
def test_growth_goes_on_at_its_rate_over_the_watch(watched, ceiling, grown):
    """
    From 8 at 10 s to 24 at 30 s: 0.8 a second.
    """
    found = series([10, 20, 30], [8, 16, 24], watched=watched, ceiling=ceiling)

    assert pytest.approx(grown) == found.grown_to_the_end


def test_a_decline_is_not_extended():
    assert -16 == series([10, 20, 30], [24, 16, 8], watched=(0.0, 90.0)).grown_to_the_end


def test_a_level_without_a_rise_has_not_grown():
    found = series([10], [8])

    assert (None, 0.0, False) == (found.rise, found.grown_to_the_end, found.rises_between_bursts)


@pytest.mark.parametrize(
    ("values", "last", "at_end", "between"),
    [
        pytest.param([10, 90, 11, 95, 12, 99], 12, 99, True, id="it ends in a burst"),
        pytest.param([10, 90, 11, 95, 12, 11], 11, None, False, id="it ends between bursts"),
        pytest.param([10, *[20] * 5, 85, 20, 100, 20], 20, None, True, id="its baseline filled"),
        pytest.param([10, 20, 30, 40, 50, 60], 60, None, False, id="a ramp"),
        pytest.param([10, 10, 90, 10, 10, 10], 10, None, False, id="a single burst"),
    ],
)
def test_of_a_rise_and_that_of_its_baseline_the_less_steady_is_told(values, last, at_end, between):
    found = series(range(len(values)), values)

    assert (last, at_end, between) == (
        found.rise.last, found.burst_at_end, found.rises_between_bursts,
    )  # fmt: skip
