"""Why collections ran: what the log says, and what only its goals tell."""

import math

import pytest

from gomem.analysis.collector.triggers import gc_triggers
from tests.gc_logs import cycles_of

FIRST = {"start": 3, "end": 4, "live": 4, "goal": 4}  # of a program with GOGC=100
NO_STACKS = {"stacks": ""}  # Go 1.17 and older


def triggers(*changes, gogc_fraction=None, **usual):
    return list(gc_triggers(cycles_of(*changes, **usual), gogc_fraction).cycles["trigger"])


def test_what_the_log_says_is_taken_from_it():
    forced, periodic = {"forced": " (forced)"}, {"before": "GC forced\n"}

    assert ["pacer", "forced", "periodic"] == triggers(FIRST | {"goal": 5}, forced, periodic)


def test_a_goal_below_what_gogc_sets_is_a_limits():
    """
    GOGC=100 asks for 20 MiB over 10 live. A goal of 14 was not made by it.
    """
    assert ["pacer", "pacer", "pacer", "limit"] == triggers(FIRST, {"goal": 8}, {}, {"goal": 14})


def test_the_first_goal_tells_gogc():
    """
    It is 4 MiB x GOGC / 100, of a heap that was never marked: 16 MiB say GOGC=400, and then a goal
    of 20 MiB over 10 live is too low.
    """
    answer = gc_triggers(cycles_of({"start": 12, "goal": 16, "live": 4}, {"goal": 20}, {}))

    assert 4.0 == answer.gogc["gogc_fraction"].iloc[0]
    assert "limit" == answer.cycles["trigger"].iloc[2]


def test_a_first_goal_that_a_large_allocation_raised_tells_nothing():
    """
    The heap began at 30 MiB, so the goal was put above it: GOGC is the room of the other goals.
    """
    answer = gc_triggers(cycles_of({"start": 30, "goal": 30, "live": 10}, {}, {}))

    assert ["pacer", "pacer", "pacer"] == list(answer.cycles["trigger"])
    assert [(1.0, "the room that most goals leave")] == [
        tuple(row) for row in answer.gogc[["gogc_fraction", "known_from"]].to_numpy()
    ]


def test_what_the_metrics_say_of_gogc_comes_first():
    """
    A program with GOGC=50 and no limit: its goals of 15 MiB over 10 live are what it asked for.
    """
    assert ["pacer"] * 3 == triggers({}, {"goal": 15}, {"goal": 15}, gogc_fraction=0.5)
    assert ["pacer", "limit", "limit"] == triggers({}, {"goal": 15}, {"goal": 15}, gogc_fraction=1)


def test_with_gogc_off_every_goal_is_a_limits():
    assert ["pacer", "limit", "limit"] == triggers({}, {}, {}, gogc_fraction=math.inf)


def test_goals_without_any_room_are_a_limits_even_if_gogc_is_not_known():
    """
    A log that begins late, with goals at the live heap: no GOGC that anybody sets does that.
    """
    late = {"live": 200, "goal": 200, "start": 201, "end": 202}
    lines = [late | {"number": number} for number in range(50, 60)]

    assert ["pacer", *["limit"] * 9] == triggers(*lines)


def test_a_release_without_limits_has_none():
    """
    Lines without stacks are of Go 1.17 or older; a low goal there is another GOGC.
    """
    assert ["pacer"] * 3 == triggers(FIRST, {"goal": 8}, {"goal": 14}, **NO_STACKS)


@pytest.mark.parametrize("live", [5, 10, 20])
def test_rounding_makes_no_limit(live):
    """
    5.9 MiB live are printed as 5, and their goal of 11.8 as 11: one below twice the truth, not
    below twice what is printed. Live 5.0 with a goal of 9.99, which is less than GOGC asks, may
    be 10: the log cannot tell.
    """
    goal = 2 * live - 1

    assert ["pacer"] * 2 == triggers(FIRST | {"live": live}, {"goal": goal})


def test_the_costs_of_each_trigger_add_up():
    """
    Each collection takes 1 ms of CPU and stops the world for 0.03 ms.
    """
    counts = gc_triggers(cycles_of({}, {}, {"forced": " (forced)"}), 1.0).counts
    counts = counts.set_index("trigger")

    assert {"pacer": 2, "limit": 0, "forced": 1, "periodic": 0} == counts["cycles"].to_dict()
    assert [0.002, 0.0, 0.001, 0.0] == pytest.approx(list(counts["gc_cpu_seconds"]))
    assert [0.00006, 0.0, 0.00003, 0.0] == pytest.approx(list(counts["stopped_seconds"]))
    assert 1.0 == pytest.approx(counts["fraction"].sum())


def test_no_collection_has_no_reason():
    answer = gc_triggers(cycles_of())

    assert answer.cycles.empty
    assert [0, 0, 0, 0] == list(answer.counts["cycles"])
