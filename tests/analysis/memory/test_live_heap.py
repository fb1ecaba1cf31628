"""The live heap over time: marks at the time of their collection, on one clock."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.memory.live_heap import InUse, Marks, live_heap
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


def test_a_restart_begins_anew():
    found = live_heap(
        stats(
            (1, 1, 50, 600 * MIB, 310 * MIB, np.nan),
            (2, 2, 1, 10 * MIB, 9 * MIB, np.nan),
            (3, 3, 2, 12 * MIB, 9 * MIB, np.nan),
        )
    )

    assert [5 * MIB, 6 * MIB] == found.level.values.tolist()


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
