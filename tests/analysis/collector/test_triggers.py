"""Why collections ran: what the log says, and what only its goals tell."""

import math
from collections import Counter

import pandas as pd
import pytest

from gomem.analysis.collector.triggers import METRICS, _Limited, _runs_with_lower, gc_triggers
from tests.gc_logs import cycles_of

FIRST = {"start": 3, "end": 4, "live": 4, "goal": 4}  # of a program with GOGC=100
NO_STACKS = {"stacks": ""}  # Go 1.17 and older


BIG = {"live": 100, "start": 180, "end": 185, "goal": 200}  # GOGC=100 of a heap that tells
LOW = BIG | {"start": 110, "goal": 120}


def triggers(*changes, gogc_fraction=None, memory_limit_bytes=None, **usual):
    answer = gc_triggers(cycles_of(*changes, **usual), gogc_fraction, memory_limit_bytes)
    return list(answer.cycles["trigger"])


def gogc(*changes, **usual):
    """GOGC as the goals tell it, and how it is known."""
    row = gc_triggers(cycles_of(*changes, **usual)).gogc.iloc[0]
    return (None if math.isnan(row["gogc_fraction"]) else row["gogc_fraction"], row["known_from"])


def test_what_the_log_says_is_taken_from_it():
    forced, periodic = {"forced": " (forced)"}, {"before": "GC forced\n"}

    assert ["pacer", "forced", "periodic"] == triggers(FIRST | {"goal": 5}, forced, periodic)


def test_goals_that_agree_tell_gogc():
    """
    150 above 100 live four times, whose first collection has none before it: GOGC=150.
    """
    assert (1.5, "4 of 4 goals") == gogc(FIRST | {"live": 100}, *[BIG | {"goal": 250}] * 4)


@pytest.mark.parametrize(("goal", "known"), [(248, 1.47), (249, 1.5), (137, 0.37), (126, 0.25)])
def test_of_values_that_fit_alike_the_roundest_is_taken(goal, known):
    """
    Rounding leaves two or three for a heap of 100 MiB; where none is round, the middle of them.
    """
    assert known == gogc(*[BIG | {"start": 120, "goal": goal}] * 5, **NO_STACKS)[0]


def test_the_roundest_is_a_multiple_of_ten_before_one_of_five():
    """
    From 30 MiB to 50 rounding leaves 62 to 70 %.
    """
    assert 0.7 == gogc(*[{"live": 30, "start": 40, "end": 45, "goal": 50}] * 5, **NO_STACKS)[0]


def test_a_quarter_is_rounder_than_a_tenth():
    """
    From 20 MiB to 35: 67 to 80 %.
    """
    assert 0.75 == gogc(*[{"live": 20, "start": 30, "end": 31, "goal": 35}] * 5, **NO_STACKS)[0]


def test_stacks_and_globals_of_less_than_a_mebibyte_each_ask_for_room_too():
    """
    From 40 MiB to 74, both sizes cut: with 2 MiB beside the heap 77 to 87 %, and not 75, of which
    the most is 41 + 43 x 0.75.
    """
    assert 0.8 == gogc(*[{"live": 40, "start": 60, "end": 61, "goal": 74}] * 5)[0]


@pytest.mark.parametrize(("goal", "why"), [(208, "limit"), (209, "pacer")])
def test_less_than_five_per_cent_of_room_is_a_limits_where_one_is_set(goal, why):
    """
    8 MiB above 200, and less than 1 more, are 4.5 %; one more is 5.
    """
    roomy = {"live": 200, "start": 200, "goal": goal}

    assert ["pacer", why] == triggers(roomy, roomy, memory_limit_bytes=300 << 20)


@pytest.mark.parametrize(("goal", "why"), [(197, "limit"), (198, "pacer")])
def test_a_goal_a_hundredth_lower_than_gogc_sets_is_not_lower(goal, why):
    """
    Of 100 MiB live GOGC=100 sets 200: 198 and a hundredth are less, 199 and one are not.
    """
    big = BIG | {"goal": goal}

    assert ["pacer", why] == triggers(big, big, gogc_fraction=1.0)


def test_the_room_that_stacks_and_globals_ask_for_is_theirs():
    """
    100 + (100 + 30 + 20) x 1 are 250: GOGC=100, and not 150.
    """
    stacks = "30 MB stacks, 20 MB globals, "

    assert (1.0, "4 of 4 goals") == gogc(*[BIG | {"goal": 250, "stacks": stacks}] * 5)


def test_releases_without_stacks_have_another_formula():
    assert (1.5, "4 of 4 goals") == gogc(*[BIG | {"goal": 250}] * 5, **NO_STACKS)


def test_a_first_goal_says_nothing():
    """
    One that began late had its goal moved up: 25 MiB are no GOGC=625.
    """
    assert (None, "no file states it") == gogc(
        {"start": 24, "goal": 25, "live": 2}, {"live": 2}, {}
    )


@pytest.mark.parametrize(("live", "known"), [(7, None), (8, 1.0)])
def test_a_small_heap_says_nothing(live, known):
    """
    Its goal is the least there is, or rounding is most of its room.
    """
    assert known == gogc(*[{"live": live, "start": live + 1, "goal": 2 * live}] * 5)[0]


@pytest.mark.parametrize(("count", "known"), [(3, None), (4, 1.0)])
def test_two_goals_agree_by_chance(count, known):
    """
    Of so many collections one less has a goal that tells.
    """
    assert known == gogc(*[BIG] * count)[0]


@pytest.mark.parametrize(("others", "known"), [(4, 1.0), (5, None)])
def test_half_of_the_goals_must_agree(others, known):
    """
    Four do; each of the others says something else, and lower.
    """
    odd = [BIG | {"goal": 130 + 10 * number, "start": 120} for number in range(1, 1 + others)]

    assert known == gogc(*[BIG] * 5, *odd)[0]


@pytest.mark.parametrize(("higher", "known"), [(2, 0.2), (3, None)])
def test_a_gogc_that_three_goals_lie_above_is_not_known(higher, known):
    """
    A limit only lowers goals: six that agree on 20 may be its, if 100 and more were asked for.
    """
    above = [BIG | {"goal": 200 + 40 * number} for number in range(higher)]

    assert known == gogc(BIG, *above, *[LOW] * 6)[0]


@pytest.mark.parametrize(("start", "known"), [(199, None), (198, 1.0)])
def test_a_collection_that_began_late_says_nothing(start, known):
    assert known == gogc(*[BIG | {"start": start}] * 5)[0]


def test_goals_that_a_limit_lowers_are_not_asked():
    """
    Five that agree tell it, whatever six at the live heap say.
    """
    assert 1.0 == gogc(*[BIG] * 6, *[BIG | {"goal": 100}] * 6)[0]


def test_goals_lower_than_the_others_agree_on_are_a_limits():
    """
    GOGC=100 asks for 200 MiB over 100 live. Goals of 120, 130 and 140 were not made by it.
    """
    lower = [LOW | {"goal": goal} for goal in (120, 130, 140)]

    assert [*["pacer"] * 5, *["limit"] * 3] == triggers(*[BIG] * 5, *lower)


def of_runs(*rows):
    """What lower goals of runs allow: run, from and to how many per cent, how many goals."""
    return pd.DataFrame(rows, columns=["run", "low", "high", "goals"])


@pytest.mark.parametrize(("count", "proven"), [(2, False), (3, True)])
def test_three_lower_goals_of_a_run_prove_a_limit(count, proven):
    allowed = of_runs(*((1, low, low, 1) for low in range(10, 10 + count)))

    assert proven == (1 in _runs_with_lower(Counter({1: count}), allowed))


@pytest.mark.parametrize(("known_from", "lower"), [("4 of 4 goals", set()), (METRICS, {1})])
def test_two_lower_goals_are_a_limits_where_gogc_is_known(known_from, lower):
    """
    What the metrics say is certain; what the goals themselves tell is not.
    """
    cycles = cycles_of(LOW, LOW, LOW | {"goal": 130})
    gogc = pd.DataFrame({"gogc_fraction": [1.0], "known_from": [known_from]}, index=[1])

    assert lower == _Limited.of(cycles, gogc, frozenset(), set_to=None).lower


@pytest.mark.parametrize(("count", "sure"), [(2, False), (3, True)])
@pytest.mark.parametrize("goals", [(100, 100, 100), (120, 130, 140)], ids=["no room", "lower"])
def test_of_a_limit_three_goals_are_sure(goals, count, sure):
    """
    Behind the first collection, which none is before.
    """
    cycles = cycles_of(BIG, *(LOW | {"goal": goal} for goal in goals[:count]))
    gogc = pd.DataFrame({"gogc_fraction": [1.0], "known_from": ["4 of 4 goals"]}, index=[1])

    assert sure == (1 in _Limited.of(cycles, gogc, frozenset(), set_to=None).sure)
    assert 1 in _Limited.of(cycles, gogc, frozenset(), set_to=300.0).sure


def test_two_lower_goals_prove_no_limit():
    assert ["pacer"] * 7 == triggers(*[BIG] * 5, LOW, LOW | {"goal": 130})


def test_lower_goals_that_agree_are_another_gogc():
    """
    A program that sets its GOGC to 20 while it runs has no limit.
    """
    assert ["pacer"] * 8 == triggers(*[BIG] * 5, *[LOW] * 3)


def test_one_odd_goal_in_ten_is_still_another_gogc():
    """
    Nine agree on 20; the tenth does not. A second odd one is one too many.
    """
    low, odd = [LOW] * 9, LOW | {"goal": 140}

    assert "limit" not in triggers(*[BIG] * 30, *low, odd)
    assert "limit" in triggers(*[BIG] * 30, *low, odd, LOW | {"goal": 150})


def test_goals_at_the_live_heap_are_a_limits_whatever_gogc_is():
    """
    While the heap is swept GOGC leaves 1 MiB at least.
    """
    late = {"live": 50, "goal": 50, "start": 51, "end": 52}

    assert ["pacer", *["limit"] * 4] == triggers(*[late] * 5)
    assert ["pacer"] * 5 == triggers(*[late | {"goal": 51}] * 5)


@pytest.mark.parametrize(("live", "why"), [(199, "pacer"), (200, "limit")])
def test_less_than_one_per_cent_of_room_is_a_limits(live, why):
    """
    A goal of 1 MiB more than 199 may be one of 1.99: GOGC=1. Above 200 it may not.
    """
    late = {"live": live, "goal": live + 1, "start": live, "end": live + 2}

    assert ["pacer", *[why] * 4] == triggers(*[late] * 5)


def test_goals_that_no_gogc_makes_are_counted():
    """
    Four at the live heap; the first collection's goal was made of what nobody saw marked.
    """
    late = {"live": 50, "goal": 50, "start": 51, "end": 52}

    assert 4 == gc_triggers(cycles_of(*[late] * 5)).beyond_any
    assert 0 == gc_triggers(cycles_of(*[BIG] * 5)).beyond_any


def test_a_goal_of_a_large_heap_may_allow_one_gogc_alone():
    """
    From 1000 MiB to 1500: rounding leaves 49.9 to 50.1 %.
    """
    large = {"live": 1000, "start": 1400, "end": 1410, "goal": 1500}

    assert (0.5, "4 of 4 goals") == gogc(*[large] * 5, **NO_STACKS)


def test_hardly_any_room_is_a_limits_where_there_is_one():
    """
    4 MiB above 200 may be GOGC=2; where three others prove a limit, it is none.
    """
    roomy, none = ({"live": 200, "start": 200, "goal": goal} for goal in (204, 200))

    assert ["pacer"] * 4 == triggers(*[roomy] * 4)
    assert ["pacer", "limit", *["limit"] * 3] == triggers(none, roomy, *[none] * 3)
    assert ["pacer", "pacer", *["limit"] * 2] == triggers(none, roomy, *[none] * 2)


def test_a_limit_that_is_set_made_the_goals_without_room():
    roomy = {"live": 200, "start": 200, "goal": 204}

    assert ["pacer", "limit"] == triggers(roomy, roomy, memory_limit_bytes=300 << 20)


def test_where_no_limit_is_set_none_made_a_goal():
    """
    SetGCPercent(0) does that too.
    """
    late = {"live": 50, "goal": 50, "start": 51, "end": 52}

    assert ["pacer"] * 5 == triggers(*[late] * 5, memory_limit_bytes=math.inf)


def test_what_the_metrics_say_of_gogc_comes_first():
    """
    A program with GOGC=50 and no limit: its goals of 15 MiB over 10 live are what it asked for.
    """
    assert ["pacer"] * 3 == triggers({}, {"goal": 15}, {"goal": 15}, gogc_fraction=0.5)
    assert ["pacer", "limit", "limit"] == triggers({}, {"goal": 15}, {"goal": 15}, gogc_fraction=1)


@pytest.mark.parametrize(
    ("gogc", "goal", "why"), [(0.5, 2, "pacer"), (2.0, 8, "pacer"), (2.0, 6, "limit")]
)
def test_the_least_goal_is_4_mib_times_gogc(gogc, goal, why):
    """
    Of a heap of 1 MiB live: with GOGC=50 a goal of 2 MiB is not lowered; with 200, 8 is none less.
    """
    small = {"live": 1, "start": 1, "end": 1, "goal": goal}

    assert ["pacer", why] == triggers(small, small, gogc_fraction=gogc)


def test_with_gogc_off_every_goal_is_a_limits():
    assert ["limit", "limit", "limit"] == triggers({}, {}, {}, gogc_fraction=math.inf)
    least = {"start": 4, "end": 4, "live": 2, "goal": 4}
    assert ["pacer", "limit"] == triggers(least, {}, gogc_fraction=math.inf)


def test_a_release_without_limits_has_none():
    """
    Lines without stacks are of Go 1.17 or older; a low goal there is another GOGC.
    """
    late = {"live": 50, "goal": 50, "start": 51, "end": 52}

    assert ["pacer"] * 5 == triggers(*[late] * 5, **NO_STACKS)


@pytest.mark.parametrize("live", [5, 10, 20])
def test_rounding_makes_no_limit(live):
    """
    5.9 MiB live are printed as 5, and their goal of 11.8 as 11: one below twice the truth, not
    below twice what is printed. Live 5.0 with a goal of 9.99, which is less than GOGC asks, may
    be 10: the log cannot tell.
    """
    goal = 2 * live - 1

    assert ["pacer"] * 2 == triggers({"live": live}, {"goal": goal}, gogc_fraction=1.0)


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
    assert not answer.gogc_is_known


def test_two_starts_in_one_millisecond_leave_no_time_for_a_share():
    pacer = gc_triggers(cycles_of({"at": 1.0}, {"at": 1.0}), 1.0).of("pacer")

    assert 0.001 == pytest.approx(pacer["marking_cpu_seconds"])
    assert math.isnan(pacer["marking_cpu_fraction"])


def test_what_is_usual_of_each_trigger_is_told():
    """
    Three seconds apart: 2 ms of marking in 6 s of 2 Ps for two of the pacer's, the third has no
    step.
    """
    lines = [{"at": 3.0 * number} for number in (1, 2, 3)]

    pacer = gc_triggers(cycles_of(*lines), 1.0).of("pacer")

    assert 0.002 == pytest.approx(pacer["marking_cpu_seconds"])
    assert 0.002 / 12 == pytest.approx(pacer["marking_cpu_fraction"])
    assert (3.0, 10 << 20, 20 << 20, 1.0) == tuple(
        pacer[["interval_p50_seconds", "heap_live_p50_bytes", "heap_goal_p50_bytes",
               "room_p50_fraction"]]
    )  # fmt: skip


HIGH = {"start": 200, "end": 201, "goal": 210}


@pytest.mark.parametrize(
    ("live", "first"),
    [
        pytest.param([15] * 6, 212, id="before anything was marked"),
        pytest.param([15, 40, 15, 30, 15, 22], 4, id="over live heaps that differ"),
    ],
)
def test_a_goal_that_stays_is_a_limits(live, first):
    lines = [HIGH | {"live": size} for size in live]
    lines[0] |= {"goal": first}

    said = gc_triggers(cycles_of(*lines))
    assert (None, "no file states it") == gogc(*lines)
    assert 5 <= said.of("limit")["cycles"]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param({"number": 7}, id="lines are missing before"),
        pytest.param({"start": 14, "goal": 16}, id="the first goal is GOGC's"),
        pytest.param({"start": 99}, id="the first one started late"),
    ],
)
def test_over_a_live_heap_that_stays_gogc_leaves_the_goal_too(first):
    usual = {"live": 20, "start": 90, "goal": 100}
    begin = first.get("number", 1)
    lines = [usual | {"number": begin + place} for place in range(6)]
    lines[0] |= first

    assert 4.0 == gogc(*lines)[0]
