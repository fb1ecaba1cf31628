"""What the heap holds over the moments: what rises, what is garbage, what has stopped."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.memory.held_heap import held_heap
from gomem.units import MIB

FIVE = range(5)


def held(allocated, goals, collections=(0, 2, 4, 6, 8), **about):
    """What is held, in MiB."""
    stats = pd.DataFrame(
        {
            "HeapAlloc": np.array(allocated) * MIB,
            "NextGC": np.array(goals) * MIB,
            "NumGC": list(collections),
        }
    )
    return held_heap(stats, **about)


def test_a_program_that_only_adds():
    """
    20 MiB more each moment; the goal is twice what the last collection marked.
    """
    found = held([20, 40, 60, 80, 100], [32, 64, 64, 128, 128])

    assert found.rising is found.allocated
    assert 80 * MIB == found.rising.grown
    assert (8, "NextGC") == (found.collections, found.marked_field)


@pytest.mark.parametrize(
    ("collections", "rises"), [((6, 8, 8, 8, 8), False), ((6, 7, 8, 8, 8), True)]
)
def test_what_rises_after_the_last_collection_may_be_garbage(collections, rises):
    """
    The same levels and goals; of two marks and of three.
    """
    found = held([50, 62, 74, 86, 98], [60, 80, 100, 100, 100], collections)

    assert rises == (found.may_be_rising is not None)


def test_garbage_on_top_leaves_the_marks():
    """
    HeapAlloc goes up and down; the goals say 20, 30, 40, 50 and 60 MiB.
    """
    found = held([40, 31, 70, 52, 90], [40, 60, 80, 100, 120])

    assert found.rising is found.marked
    assert 40 * MIB == found.rising.grown


def test_marks_that_metrics_have_and_memstats_do_not_yet():
    """
    NumGC has four; a collection ran before the metrics of the third were read.
    """
    live = np.array([10, 20, 30, 40, 50.0]) * MIB

    found = held([40, 31, 70, 52, 90], [40, 60, 60, 100, 120], (0, 2, 2, 6, 8), live_bytes=live)
    without = held([40, 31, 70, 52, 90], [40, 60, 60, 100, 120], (0, 2, 2, 6, 8))

    assert (5, True) == (found.marks, found.rising is found.marked)
    assert (4, None) == (without.marks, without.rising)


def test_live_bytes_stand_before_the_goal():
    live = np.array([10, 20, 30, 40, 50.0]) * MIB

    found = held([40, 31, 70, 52, 90], [200] * 5, live_bytes=live)

    assert ("/gc/heap/live:bytes", 40 * MIB) == (found.marked_field, found.rising.grown)


@pytest.mark.parametrize(("said", "field"), [(5, "/gc/heap/live:bytes"), (4, "NextGC")])
def test_what_enough_moments_say_is_live_stands_before_the_goals_of_all(said, field):
    """
    Goals rise with stacks, too: six moments whose goals rise, of which five say that nothing does.
    """
    live = np.array([10.0] * said + [np.nan] * (6 - said)) * MIB

    found = held([40] * 6, [40, 60, 80, 100, 120, 140], range(0, 12, 2), live_bytes=live)

    assert field == found.marked_field
    assert ([said, 6][field == "NextGC"], field == "NextGC") == (
        found.marked.moments,
        found.marked.rises,
    )


def test_a_known_gogc_gives_the_size():
    """
    GOGC=300: a goal of 160 MiB more is 40 MiB marked.
    """
    found = held([40, 31, 70, 52, 90], [40, 80, 120, 160, 200], gogc=3.0)

    assert 40 * MIB == found.rising.grown


@pytest.mark.parametrize(
    ("collections", "rises"), [((0, 0, 1, 1, 2), True), ((0, 0, 0, 1, 1), False)]
)
def test_it_takes_two_collections(collections, rises):
    """
    One may have found only what filled before.
    """
    found = held([20, 40, 60, 80, 100], [32, 64, 64, 128, 128], collections)

    assert rises == (found.may_be_rising is not None)
    assert found.rising is None


@pytest.mark.parametrize(("last_goal", "rises"), [(72, True), (71.9, False)])
def test_marks_follow_by_a_quarter(last_goal, rises):
    """
    HeapAlloc has 80 MiB more, so the marks must have 20, and the goals 40; with ties, so that the
    marks alone are not sure.
    """
    found = held([20, 40, 60, 80, 100], [32, 32, 32, 32, last_goal])

    assert rises == (found.rising is not None)


def test_what_filled_and_stayed_has_stopped():
    filled = held([20, 60, 100, 100, 101], [40, 120, 200, 200, 202])
    growing = held([20, 40, 60, 80, 100], [32, 64, 64, 128, 128])

    assert filled.stopped
    assert not growing.stopped


def test_marks_that_stay_have_stopped_only_where_collections_renewed_them():
    """
    HeapAlloc swings. Two collections since then say that nothing came; one may lag.
    """
    levels = [40, 90, 50, 110, 60, 120, 50], [40, 60, 80, 100, 120, 120, 120]

    assert held(*levels, (0, 2, 4, 6, 8, 9, 10)).stopped
    assert not held(*levels, (0, 2, 4, 6, 8, 8, 9)).stopped


def test_a_swing_above_marks_that_stay_is_no_rise():
    """
    A table that filled for eleven seconds, and then changes: the lows of HeapAlloc follow on.
    """
    levels = [92, 166, 194, 268, 201, 276, 209, 284, 216]
    goals = [129, 225, 309, 309, 310, 310, 311, 311, 311]
    filled = held(levels, goals, [6, 7, 8, 8, 9, 9, 10, 10, 11])
    lagging = held(levels, goals, [6, 7, 8, 8, 8, 8, 8, 8, 9])

    assert filled.allocated.rises
    assert filled.rising is None
    assert filled.stopped
    assert not lagging.stopped


@pytest.mark.parametrize(
    ("collections", "sure"), [((0, 1, 2, 3, 4), True), ((0, 1, 2, 2, 3), False)]
)
def test_a_mark_is_a_reading_and_five_are_sure(collections, sure):
    """
    Not in a line: by four marks it may as well be garbage, and that is thin.
    """
    found = held([10, 12, 60, 62, 100], [20, 24, 120, 124, 200], collections)

    assert sure == (found.rising is not None)
    assert sure == (found.without_direction is None)
    assert found.may_be_rising is None


def test_what_is_held_may_lie_in_a_line_where_heap_alloc_does_not():
    """
    A job runner's, of Go 1.10: four marks in five moments, and garbage on top of each.
    """
    stats = pd.DataFrame(
        {
            "HeapAlloc": [14.2 * MIB, 28.8 * MIB, 43.2 * MIB, 47.9 * MIB, 75.5 * MIB],
            "NextGC": [22.5 * MIB, 45.0 * MIB, 62.9 * MIB, 88.3 * MIB, 88.3 * MIB],
            "NumGC": [6, 8, 9, 10, 10],
            "TotalAlloc": [30 * MIB, 60 * MIB, 90 * MIB, 120 * MIB, 150 * MIB],
        }
    )
    found = held_heap(stats)

    assert found.rising is None
    assert found.may_be_rising is found.allocated


def test_few_moments_have_not_stopped():
    """
    Four have filled and stayed, and a fifth would say so.
    """
    levels, goals = [20, 60, 100, 101, 101], [40, 120, 200, 202, 202]

    assert not held(levels[:4], goals[:4], (0, 2, 4, 6)).stopped
    assert held(levels, goals).stopped


def test_what_still_rises_by_its_marks_has_not_stopped():
    """
    HeapAlloc happens to have no more at the last moment than in the last third before.
    """
    found = held([32, 41, 64, 103, 88], [42, 76, 104, 121, 165])

    assert "plateau" == found.allocated.shape
    assert not found.stopped


def test_a_restart_begins_anew():
    """
    NumGC falls: of two processes the last five moments are the second's.
    """
    found = held(
        [300, 400, 20, 40, 60, 80, 100], [600, 800, 32, 64, 64, 128, 128], (8, 9, 0, 2, 4, 6, 8)
    )

    assert (5, 80 * MIB, 8) == (found.allocated.moments, found.allocated.grown, found.collections)


def test_a_count_that_stands_still_is_no_restart():
    """
    It falls once, behind the second moment; at the fourth no collection ran.
    """
    found = held([300, 400, 20, 40, 60, 80], [600, 800, 32, 64, 64, 128], (8, 9, 0, 0, 4, 6))

    assert (4, 60 * MIB, 6) == (found.allocated.moments, found.allocated.grown, found.collections)


def test_unknown_is_not_zero():
    stats = pd.DataFrame({"HeapAlloc": [1, None], "NextGC": [4, 4], "NumGC": [1, 2]})

    assert held_heap(stats) is None
    assert held([20, 40], [np.nan, np.nan], (0, 2)).marked is None
    assert held([20, 40], [np.nan, np.nan], (0, 2)).rising is None


def test_one_moment_has_none():
    assert held([20], [40], (1,)) is None


def totals(allocated, goals, total):
    """With what was allocated in all, in MiB."""
    stats = pd.DataFrame(
        {
            "HeapAlloc": np.array(allocated) * MIB,
            "NextGC": np.array(goals) * MIB,
            "NumGC": range(0, 2 * len(allocated), 2),
            "TotalAlloc": np.array(total) * MIB,
        }
    )
    return held_heap(stats)


def test_of_what_was_allocated_since_the_mark_as_much_stays_as_of_all():
    """
    Marks of 10 to 50 while 400 were allocated: a tenth stays, so of the 20 beyond each mark, 2.
    """
    found = totals([30, 40, 50, 60, 70], [20, 40, 60, 80, 100], [30, 130, 230, 330, 430])

    assert (12 * MIB, 52 * MIB) == (found.held.first, found.held.last)


def test_what_came_since_the_mark_was_allocated_behind_it():
    """
    The last marks are 40 and 50; by then 330 and, with 20 since, 410 were allocated: 10 of 80 stay
    of the last, 40 of 380 of all, which is less.
    """
    found = totals([10, 20, 30, 40, 70], [20, 40, 60, 80, 100], [30, 130, 230, 330, 430])

    assert pytest.approx((50 + 20 * 40 / 380) * MIB) == found.held.last


def test_what_stays_of_garbage_behind_the_last_mark_is_nothing():
    """
    A window that fills to 100 and stays: HeapAlloc goes on to the next goal, of 200.
    """
    heap = [20, 40, 60, 80, 100, 120, 140, 160, 180, 110, 130, 150, 170, 190]
    goals = [28, 52, 100, 100, 194, 194, 194, 194, 194, 200, 200, 200, 200, 200]
    found = totals(heap, goals, [20 + 20 * n for n in range(14)])

    assert found.held.last < 110 * MIB
    assert found.held.shape == "plateau"
    assert found.stopped
    assert (None, None, None) == (found.rising, found.may_be_rising, found.without_direction)


def test_between_two_marks_held_goes_in_a_line_over_what_was_allocated():
    """
    Marks of 10 and 50 with 100 allocated in between; of these 20 when the first was read.
    """
    assert (
        pytest.approx((10 + 20 * 40 / 100) * MIB)
        == totals([30, 50], [20, 100], [120, 200]).held.first
    )


def test_what_is_held_may_rise_where_garbage_hides_it():
    """
    HeapAlloc goes up and down; the marks rise from 10 to 50, and of what came since little stays.
    """
    found = totals([30, 60, 40, 70, 52], [20, 40, 60, 80, 100], [30, 230, 430, 630, 830])

    assert not found.allocated.rises
    assert found.rising is found.allocated


def test_where_nothing_was_allocated_or_nobody_knows_nothing_is_told_of_what_stays():
    assert totals([30] * 5, [20] * 5, [30] * 5).held is None
    assert totals([30] * 5, [np.nan] * 5, [30, 130, 230, 330, 430]).held is None
    assert held([30, 40, 50, 60, 70], [20, 40, 60, 80, 100]).held is None


def test_without_marks_only_heap_alloc_can_have_stopped():
    unknown = [np.nan] * 5

    assert not held([20, 90, 30, 80, 20], unknown).stopped
    assert held([20, 60, 100, 100, 101], unknown).stopped


@pytest.mark.parametrize(
    ("levels", "goals", "collections", "told"),
    [
        ((50, 62, 74, 86, 98), (60, 80, 100, 100, 100), (6, 8, 8, 8, 8), True),
        ((50, 62, 74, 86, 98), (60, 80, 100, 100, 100), (6, 7, 8, 8, 8), False),
        ((50, 62, 74, 86, 98), (60, 60, 60, 60, 62), (6, 8, 8, 8, 8), False),
        ((50, 50, 50, 50, 50), (60, 60, 60, 60, 60), (6, 8, 8, 8, 8), False),
        ((50, 62, 74), (60, 80, 100), (6, 8, 8), True),
    ],
)
def test_a_rise_over_two_marks_has_no_direction(levels, goals, collections, told):
    found = held(levels, goals, collections)

    assert (found.allocated if told else None) is found.without_direction


def test_what_slows_over_few_marks_is_no_line():
    """
    Three marks of a cache that warms: 22, 38 and 67; then hardly anything is allocated any more.
    """
    heap = [29, 43, 55, 70, 83, 87, 90, 93, 96, 99, 103]
    goals = [44, 76, 76, 134, 134, 134, 134, 134, 134, 134, 134]
    total = [463, 480, 496, 513, 526, 530, 533, 536, 539, 543, 546]
    slow = held_of(heap, goals, total, marks=[40, 41, 41] + [42] * 8)
    line = held_of(
        [29, 37, 44, 52, 59, 66, 73, 81, 88, 95, 103],
        goals,
        [463 + 8 * n for n in range(11)],
        marks=[40, 41, 41] + [42] * 8,
    )

    assert slow.held.slows
    assert slow.may_be_rising is None
    assert not line.held.slows
    assert line.may_be_rising is line.allocated


def held_of(heap, goals, total, marks):
    """As `totals`, with so many collections by each moment."""
    stats = pd.DataFrame({"HeapAlloc": heap, "NextGC": goals, "TotalAlloc": total}) * MIB
    return held_heap(stats.assign(NumGC=marks))
