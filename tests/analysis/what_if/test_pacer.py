"""The pacer's arithmetic: by hand, release by release, and both sides of each bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.what_if.pacer import (
    Era,
    Goals,
    Marking,
    limit_goal,
    percent_goal,
    runway,
    trigger,
)
from gomem.units import MIB

NO_GOAL = np.inf
OLD, BOUNDED, CONS, LIMIT, FIVE, HEADROOM = Era
SIZES = st.integers(1, 1 << 40)


@pytest.mark.parametrize(
    ("minor", "era"),
    [(5, OLD), (13, OLD), (14, BOUNDED), (17, BOUNDED), (18, CONS), (19, LIMIT), (20, FIVE),
     (21, HEADROOM), (27, HEADROOM), (99, HEADROOM)],
)  # fmt: skip
def test_an_era_begins_with_its_release(minor, era):
    assert era is Era.of(minor)


def test_the_goal_is_what_the_runtime_said_of_it():
    """
    Go 1.27.3: /gc/heap/live, /gc/scan/stack and /gc/scan/globals made /gc/heap/goal, to the byte.
    """
    assert 85187122 == int(percent_goal(42441632, 145704 + 158154, 1.0, HEADROOM))


@pytest.mark.parametrize(("era", "goal"), [(BOUNDED, 80), (CONS, 175 - 1), (HEADROOM, 174)])
def test_stacks_and_globals_count_from_1_18_on(era, goal):
    """
    40 MiB live, 62 of stacks and 32 of globals, at GOGC=100.
    """
    assert goal * MIB == percent_goal(40 * MIB, 94 * MIB, 1.0, era)


@pytest.mark.parametrize(("live", "goal"), [(1, 4), (2, 4), (2.5, 5)])
def test_no_goal_is_below_the_least_heap(live, goal):
    assert goal * MIB == percent_goal(live * MIB, 0, 1.0, HEADROOM)


def test_the_least_heap_goes_with_gogc():
    assert 16 * MIB == percent_goal(1 * MIB, 0, 4.0, HEADROOM)
    assert NO_GOAL == percent_goal(1 * MIB, 0, np.inf, HEADROOM)


@pytest.mark.parametrize(
    ("era", "goal"),
    [(BOUNDED, NO_GOAL), (CONS, NO_GOAL), (LIMIT, 89), (FIVE, 89), (HEADROOM, 87.3)],
)
def test_a_limit_less_what_is_no_heap_less_headroom(era, goal):
    """
    100 MiB, of which 10 are no heap: 1 MiB of headroom from 1.19 on, 3 % of the 90 from 1.21 on.
    """
    assert goal * MIB == pytest.approx(limit_goal(np.array(40 * MIB), 100 * MIB, 10 * MIB, era))


@pytest.mark.parametrize(("limit", "goal"), [(42, 31), (43, 32), (44, 32.98)])
def test_headroom_is_at_least_a_mib(limit, goal):
    """
    3 % of 33.3 MiB are a MiB.
    """
    told = limit_goal(np.array(1 * MIB), limit * MIB, 10 * MIB, HEADROOM)

    assert goal * MIB == pytest.approx(told)


@pytest.mark.parametrize("limit", [5, 10, 20, 49])
def test_no_limit_makes_a_goal_below_what_lives(limit):
    assert 45 * MIB == limit_goal(np.array(45 * MIB), limit * MIB, 10 * MIB, HEADROOM)


def start(room, wanted, era, gogc=1.0, live=100):
    goals = Goals(*(np.array(float(size)) for size in (live * MIB, (live + room) * MIB, np.inf)))
    return float(trigger(goals, np.array(wanted * MIB), gogc, era)) / MIB - live


@pytest.mark.parametrize(
    ("era", "wanted", "room"),
    [
        pytest.param(OLD, 100, 1, id="1.13 knows no least, but to sweep"),
        pytest.param(OLD, 0, 60.8, id="1.13 starts at 95 % at the latest"),
        pytest.param(BOUNDED, 100, 38.4, id="1.14 starts at 60 % at the earliest"),
        pytest.param(BOUNDED, 0, 60.8, id="1.17 starts at 95 % at the latest"),
        pytest.param(CONS, 100, 44.8, id="1.18 starts at 70 % at the earliest"),
        pytest.param(CONS, 0, 60.8, id="1.18 starts at 95 % at the latest"),
        pytest.param(LIMIT, 19.5, 45, id="1.19 starts at 45/64 at the earliest"),
        pytest.param(LIMIT, 18.5, 45.5, id="and no later than it wants to"),
        pytest.param(HEADROOM, 3.5, 60.5, id="1.21 starts when it wants to"),
        pytest.param(HEADROOM, 2.5, 61, id="but at 61/64 at the latest"),
    ],
)  # fmt: skip
def test_a_start_lies_within_bounds(era, wanted, room):
    """
    64 MiB of room.
    """
    assert room == pytest.approx(start(64, wanted, era))


@pytest.mark.parametrize(("room", "latest"), [(84, 80.0625), (86, 82), (400, 396)])
def test_a_large_heap_starts_four_mib_before_its_goal(room, latest):
    """
    61/64 of 85.3 MiB are 4 MiB before it.
    """
    assert latest == pytest.approx(start(room, 0, HEADROOM))


def test_sweeping_has_a_mib_even_where_there_is_less():
    assert 1 == start(0.5, 0, HEADROOM)


def test_a_limit_grants_no_room_for_sweeping():
    live, goal = np.array(100.0 * MIB), np.array(100.5 * MIB)
    at = trigger(Goals(live, np.array(np.inf), goal), np.array(0.0), np.inf, HEADROOM)

    assert 100 * MIB < at < goal


def test_without_room_the_next_starts_at_once():
    live = np.array(100.0 * MIB)

    assert live == trigger(Goals(live, live * 2, live), np.array(5.0 * MIB), 1.0, HEADROOM)


def test_without_a_goal_nothing_starts():
    live, none = np.array(100.0 * MIB), np.array(np.inf)

    assert np.inf == trigger(Goals(live, none, none), np.array(5.0 * MIB), np.inf, HEADROOM)


def marked(*meanwhile, assist=0.0, idle=0.0):
    """Marking took 10 ms of 4 Ps."""
    sizes = np.array(meanwhile, float) * MIB
    same = np.ones(len(sizes))
    return Marking(0.01 * same, 4 * same, assist * same, idle * same, sizes)


def test_a_runway_is_what_was_allocated_weighed_by_cpu():
    """
    A quarter of the CPU marks and three quarters allocate, as they should: just what it took. With
    idle marking of as much again, a quarter alone would take twice as long.
    """
    assert [4 * MIB] == pytest.approx(runway(marked(4), HEADROOM))
    assert [8 * MIB] == pytest.approx(runway(marked(4, idle=0.01), HEADROOM))


def test_assists_lengthen_it():
    """
    Half the CPU marked, half allocated: with a quarter, three times as much would be allocated.
    """
    assert [12 * MIB] == pytest.approx(runway(marked(4, assist=0.01), HEADROOM))


def test_the_greatest_of_five_counts_from_1_20_on():
    told = runway(marked(1, 9, 1, 1, 1, 1, 1), FIVE) / MIB

    assert [1, 9, 9, 9, 9, 9, 1] == pytest.approx(told)


def test_before_it_is_smoothed():
    assert [4, 6, 7] == pytest.approx(runway(marked(4, 8, 8), LIMIT) / MIB)


def test_the_old_pacer_aims_at_thirty_per_cent():
    """
    A quarter of the CPU is five sixths of that.
    """
    assert [5 * MIB] == pytest.approx(runway(marked(6), BOUNDED))


@given(SIZES, SIZES, st.floats(0.01, 10), st.sampled_from(Era))
def test_a_start_lies_between_what_lives_and_the_goal(live, wanted, gogc, era):
    by_percent = percent_goal(np.array(float(live)), 0, gogc, era)
    goals = Goals(np.array(float(live)), by_percent, np.array(np.inf))

    at = float(trigger(goals, np.array(float(wanted)), gogc, era))

    assert live <= at <= max(float(by_percent), live + MIB) * (1 + 1e-12)


@given(SIZES, SIZES, SIZES, st.sampled_from(Era))
def test_a_higher_limit_makes_no_lower_goal(live, limit, more, era):
    low, high = (
        float(limit_goal(np.array(float(live)), float(size), 0.0, era))
        for size in (limit, limit + more)
    )

    assert live <= low <= high
