"""The scavenger's goals by release, against the runtime's arithmetic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.scavenger.goals import (
    goals_of,
    limit_goal_bytes,
    paced_goal_bytes,
    steady_goal_bytes,
)
from gomem.releases import GoRelease, GoVersion, known_version
from gomem.units import MIB

SIZES = st.integers(4 * MIB, 1 << 40)


def release(text):
    return known_version(text, "by hand")


def applying(version, limit=None):
    return {goal.name for goal in goals_of(version, limit) if goal.applies == "yes"}


def test_a_goal_by_hand():
    """
    HeapInuse peaked at 100 MiB, and the heap goal fell from 120 to 30 MiB: a quarter stays, and a
    tenth of that on top, to the next page.
    """
    assert int(27.5 * MIB) == paced_goal_bytes(100 * MIB, 30 * MIB, 120 * MIB)
    assert 28 * MIB == paced_goal_bytes(100 * MIB, 30 * MIB, 120 * MIB, page=2 * MIB)


@given(SIZES, SIZES)
def test_a_steady_heap_keeps_a_tenth_more_than_its_goal(goal, other):
    """
    Where HeapInuse peaks at the goal and nothing changes, the two formulas are one, to a page.
    """
    assert 0 <= paced_goal_bytes(goal, goal, goal) - steady_goal_bytes(goal) <= 4096
    assert paced_goal_bytes(goal, other, other) == paced_goal_bytes(goal, goal, goal)


@given(SIZES, SIZES, SIZES)
def test_the_goal_is_what_the_runtime_computes(peak, goal, last):
    """
    gcPaceScavenger: the product cut to bytes, a tenth of it added, rounded up to a page.
    """
    kept = int(float(peak) * (float(goal) / float(last)))
    kept += kept // 10

    assert (kept + 4095) & ~4095 == paced_goal_bytes(peak, goal, last)


def test_a_limit_leaves_a_twentieth():
    assert 95 == limit_goal_bytes(100)


@pytest.mark.parametrize(
    ("version", "limit", "rules"),
    [
        ("go1.12.17", None, {"five-minutes"}),
        ("go1.13.1", None, {"paced-by-goal"}),
        ("go1.13.2", None, {"paced"}),
        ("go1.18.10", 1, {"paced"}),  # GOMEMLIMIT is a word to it
        ("go1.19", None, {"paced"}),
        ("go1.19", 1, {"paced", "limit-allocation"}),
        ("go1.21.13", 1, {"paced", "limit-allocation"}),
        ("go1.22", 1, {"paced", "limit-background", "limit-allocation"}),
        ("go1.27.3", None, {"paced"}),
    ],
)
def test_each_release_has_its_rules(version, limit, rules):
    assert rules == applying(release(version), limit)


def test_without_a_limit_its_rules_do_not_hold():
    """
    That none is set is one thing, and that nothing says is another.
    """
    version = release("go1.27.3")
    unset = {goal.name: goal.applies for goal in goals_of(version, math.inf)}
    unsaid = {goal.name: goal.applies for goal in goals_of(version, None)}

    assert ("no", "no") == (unset["limit-background"], unset["limit-allocation"])
    assert ("unknown", "unknown") == (unsaid["limit-background"], unsaid["limit-allocation"])


@pytest.mark.parametrize(
    ("cycles", "applies"), [(0, "not yet"), (1, "not yet"), (2, "yes"), (None, "yes")]
)
def test_a_rule_that_needs_a_second_collection_does_not_apply_before(cycles, applies):
    goals = goals_of(release("go1.22.12"), None, cycles)

    assert applies == {goal.name: goal.applies for goal in goals}["paced"]


def test_a_release_that_is_not_known_may_have_them_all():
    assert set() == applying(GoVersion(), 1)
    assert {"unknown"} == {goal.applies for goal in goals_of(GoVersion(), 1)}
    newer = GoVersion(low=GoRelease(18))
    assert {"paced"} == applying(newer, 1)


def test_the_broken_limit_is_named_where_the_release_may_have_it():
    for version, broken in (("go1.18.10", False), ("go1.21", True), ("go1.22", False)):
        notes = {goal.name: goal.note for goal in goals_of(release(version), 1)}
        assert broken == ("62449" in notes["limit-background"])
