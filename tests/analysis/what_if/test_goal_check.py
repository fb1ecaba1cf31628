"""Goals against the pacer's formula: what both sides' rounding allows, to the mebibyte."""

import numpy as np
import pytest

from gomem.analysis.what_if.backtest import goal_check
from gomem.analysis.what_if.pacer import Era
from gomem.units import KIB, MIB
from tests.gc_logs import cycles_of


def agrees(goal, *, gogc=1.0, era=Era.HEADROOM, start=18, stacks="0 MB stacks, 0 MB globals, "):
    """Whether a goal follows from 10 MiB that the collection before marked."""
    cycles = cycles_of({}, {"goal": goal, "start": start}, stacks=stacks)
    return goal_check(cycles, {1: gogc}, era)["agrees"].tolist() == [True]


@pytest.mark.parametrize(("goal", "is_one"), [(19, False), (20, True), (24, True), (25, False)])
def test_a_goal_is_twice_what_lives_and_each_number_is_rounded_down(goal, is_one):
    """
    10 to 11 MiB live, 0 to 2 of stacks and globals: 20 to 24.
    """
    assert is_one == agrees(goal)


@pytest.mark.parametrize(("goal", "is_one"), [(27, False), (28, True), (32, True), (33, False)])
def test_stacks_and_globals_count(goal, is_one):
    """
    With 5 and 3 MiB of them 10 + 18 MiB to 11 + 21.
    """
    assert is_one == agrees(goal, stacks="5 MB stacks, 3 MB globals, ")


@pytest.mark.parametrize(("goal", "is_one"), [(22, False), (23, True), (32, True), (33, False)])
def test_in_1_19_stacks_that_are_printed_may_not_count(goal, is_one):
    assert is_one == agrees(goal, era=Era.LIMIT, stacks="5 MB stacks, 3 MB globals, ")


@pytest.mark.parametrize(("goal", "is_one"), [(19, False), (20, True), (22, True), (23, False)])
def test_before_1_18_what_lives_counts_alone(goal, is_one):
    assert is_one == agrees(goal, era=Era.RATIO_BOUNDED, stacks="")


@pytest.mark.parametrize(("goal", "is_one"), [(12, True), (13, False)])
def test_there_is_a_mebibyte_to_sweep_in(goal, is_one):
    """
    GOGC=1 alone makes 11.1 MiB at most; with what is rounded and the room 12.
    """
    assert is_one == agrees(goal, gogc=0.01, start=0)


@pytest.mark.parametrize(("goal", "is_one"), [(26, True), (27, False)])
def test_a_goal_lies_beyond_a_late_start(goal, is_one):
    """
    By 64 KiB, the least that the runtime leaves; 25 to 26 MiB is where it started.
    """
    cycles = cycles_of({}, {"goal": goal, "start": 25})
    (high,) = goal_check(cycles, {1: 1.0}, Era.HEADROOM)["goal_high_bytes"]

    assert 26 * MIB + 64 * KIB == high
    assert is_one == agrees(goal, start=25)


def test_a_goal_is_checked_where_the_collection_before_it_is_known():
    """
    Of seven, the first follows none, the third another run's, the sixth a line that is missing.
    """
    cycles = cycles_of(*[{}] * 8).drop(index=5)
    cycles["run"] = [1, 1, 2, 2, 2, 2, 3]
    cycles["number"] = [1, 2, 1, 2, 3, 5, 6]

    checked = goal_check(cycles, {1: 1.0, 2: np.nan, 3: 1.0}, Era.HEADROOM)
    every = goal_check(cycles, {1: 1.0, 2: 1.0, 3: 1.0}, Era.HEADROOM)

    assert [(1, 2)] == list(zip(checked["run"], checked["number"], strict=True))
    assert [2, 2, 3] == every["number"].tolist()
    assert (20 * MIB, 24 * MIB) == tuple(every.loc[0, ["goal_low_bytes", "goal_high_bytes"]])


@pytest.mark.parametrize(("column", "row"), [("heap_goal_bytes", 1), ("heap_live_bytes", 0)])
def test_what_is_not_printed_is_not_checked(column, row):
    cycles = cycles_of({}, {})
    cycles[column] = cycles[column].astype("Int64")
    cycles.loc[row, column] = None

    assert goal_check(cycles, {1: 1.0}, Era.HEADROOM).empty


def test_no_collection_has_no_goal():
    assert goal_check(cycles_of({}).iloc[:0], {}, Era.HEADROOM).empty
