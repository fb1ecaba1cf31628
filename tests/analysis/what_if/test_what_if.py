"""What other settings would do: against what they did, and what is said where nobody can tell."""

import math

import pandas as pd
import pytest
from scipy.special import stdtrit

from gomem.analysis.what_if.backtest import goal_check
from gomem.analysis.what_if.grid import CYCLES_REPEAT, GRID, MAX_STRETCHES, STUDENT, MemoryNow
from gomem.analysis.what_if.pacer import Era, era_of
from gomem.analysis.what_if.thresholds import MAX_REPLAY_ERROR
from gomem.analysis.what_if.watched import OFF
from gomem.analysis.what_if.what_if import Asked, what_if
from gomem.releases import GoRelease, GoVersion, known_version
from gomem.units import MIB
from tests.gc_logs import cycles_of
from tools.what_if_table import GOAL_RELEASES, METRICS, PAGE, foretold, goals_checked, runs

GO = known_version("go1.27.3", "the test")
# Of the log of GOGC=100, which most people have: what it says of all others that were really run.
SOURCE = "100"


def steady(count=40, **usual):
    """100 MiB live, 97 MiB a second."""
    usual = {"start": 197, "end": 197, "live": 100, "goal": 201} | usual
    return cycles_of(*[{}] * count, **usual)


def asked_of(cycles=None, *, gogc=1.0, limit=math.inf, version=GO, memory=None, **asked):
    return what_if(
        steady() if cycles is None else cycles,
        version,
        gogc_fraction=gogc,
        memory_limit_bytes=limit,
        memory=memory,
        asked=Asked(**asked),
    )


# What was measured


@pytest.mark.at_most(2)
@pytest.mark.parametrize("minor", GOAL_RELEASES)
def test_goals_are_the_formula_s(minor):
    counts = goals_checked(minor).loc[minor]

    assert counts["goals"] >= 100
    assert counts["agree"] >= 0.99 * counts["goals"]


@pytest.mark.parametrize("wrong", [0.9, 1.1])
def test_with_another_gogc_they_are_not(wrong):
    """
    That a range of MiB allows them is no accident.
    """
    (run,) = [one for one in runs() if one.path.name == "steady-go1.27.3-gogc-400.log.gz"]
    cycles = run.cycles[run.cycles["at_seconds"] > 1]

    agrees = goal_check(cycles, {1: 4.0 * wrong}, Era.HEADROOM)["agrees"]

    assert agrees.mean() < 0.1


@pytest.mark.parametrize(
    ("metric", "most"),
    [
        ("cycles_per_second", 0.15),
        ("peak_heap_bytes", 0.05),
        ("gc_cpu_cores", 0.25),
        ("retained_bytes", 0.10),
    ],
)
def test_a_steady_program_under_another_gogc(metric, most):
    rows = foretold(SOURCE)
    rows = rows[(rows["load"] == "steady") & (rows["metric"] == metric) & ~rows["limited"]]

    assert 9 == len(rows)
    assert rows["error"].abs().max() <= most


@pytest.mark.parametrize("metric", ["cycles_per_second", "peak_heap_bytes", "retained_bytes"])
def test_a_steady_program_under_a_limit(metric):
    rows = foretold(SOURCE)
    rows = rows[(rows["load"] == "steady") & (rows["metric"] == metric) & rows["limited"]]
    rows = rows[~rows["met"]]

    assert 9 == len(rows)
    assert rows["error"].abs().max() <= 0.15


def test_the_interval_holds_what_was_measured():
    rows = foretold(SOURCE)

    assert rows.groupby("load")["covered"].mean().min() >= 0.9
    assert {"steady", "bursty"} == set(rows["load"])


def test_an_interval_says_something():
    """
    One that held everything would be worth nothing: those of a steady program are narrow.
    """
    rows = foretold(SOURCE)
    rows = rows[(rows["load"] == "steady") & ~rows["limited"]]
    half = (rows["high"] - rows["low"]) / 2 / rows["value"]

    assert half[rows["metric"] == "peak_heap_bytes"].max() < 0.1
    assert half[rows["metric"] == "cycles_per_second"].max() < 0.2


def test_where_live_heap_and_limit_meet_the_limiter_is_the_bound():
    rows = foretold(SOURCE)
    met = rows[rows["met"] & (rows["metric"] == "gc_cpu_cores")]

    assert 3 == len(met)
    assert {2.0} == set(met["high"])
    assert met["covered"].all()


def test_the_page_has_the_table():
    rows = foretold(SOURCE)

    for release in set(rows["release"]):
        assert f"| steady, {release} | 200 |" in PAGE.read_text()


# What is said


def test_today_s_setting_is_in_the_grid_and_as_measured():
    answer = asked_of(steady(start=172, end=172, goal=175), gogc=0.75)
    today = answer.grid[answer.grid["is_present"]]

    assert [75] == today["gogc"].tolist()
    assert list(answer.grid) == [column.name for column in GRID]
    assert 1.0 == pytest.approx(answer.present.cycles_per_second)
    assert 100.5 * MIB == answer.present.live_bytes


@pytest.mark.parametrize("metric", METRICS)
def test_a_value_lies_in_its_interval(metric):
    grid = asked_of(limits=[math.inf, 150 * MIB]).grid

    assert (grid[f"{metric}_low"] <= grid[metric]).all()
    assert (grid[metric] <= grid[f"{metric}_high"]).all()


def test_two_runs_differ_however_steady_the_log_is():
    row = asked_of().cell(200)

    assert row["cycles_per_second_high"] >= row["cycles_per_second"] * (1 + CYCLES_REPEAT)


def test_gogc_off_without_a_limit_is_the_timer_s():
    row = asked_of().cell(OFF)

    assert "timer" == row["bound_by"]
    assert row["goal_bytes"] is pd.NA


def test_what_the_program_asks_for_comes_whatever_is_set():
    """
    One in five is forced: without a goal there are no others.
    """
    cycles = cycles_of(
        *([{"forced": " (forced)"}, *[{}] * 4] * 8), start=197, end=197, live=100, goal=200
    )

    assert "program" == asked_of(cycles).cell(OFF)["bound_by"]


@pytest.mark.parametrize(("limit", "bound"), [(300, "gogc"), (170, "limit"), (100, "live heap")])
def test_what_decides(limit, bound):
    assert bound == asked_of(limits=[limit * MIB]).cell(100, limit * MIB)["bound_by"]


def test_before_1_19_there_is_no_limit():
    old = known_version("go1.16.15", "the test")
    answer = asked_of(steady(stacks=""), version=old, limits=[150 * MIB], container_bytes=400 * MIB)

    assert answer.grid["memory_limit_bytes"].isna().all()
    assert None is answer.advice.gomemlimit_bytes
    assert "Go before 1.19 has no memory limit" in answer.assumptions


def test_an_unknown_gogc_leaves_the_answer_but_no_back_test():
    answer = asked_of(gogc=None)

    assert None is answer.refused
    assert not answer.grid["is_present"].any()
    assert None is answer.backtest.cycles_per_second_error
    assert any("fit no single GOGC" in one for one in answer.assumptions)


def test_what_is_refused_has_no_grid():
    answer = asked_of(steady(5))

    assert "are needed" in answer.refused
    assert answer.grid.empty


@pytest.mark.parametrize(
    ("live", "is_refused"),
    [
        pytest.param([100] * 40, False, id="steady"),
        pytest.param(range(60, 100), False, id="slowly up"),
        pytest.param([round(10 * 1.1**n) for n in range(40)], True, id="a leak"),
    ],
)
def test_no_setting_is_predicted_by_a_replay_that_misses_its_own_log(live, is_refused):
    ends = [{"live": size, "start": 2 * size, "end": 2 * size, "goal": 2 * size} for size in live]
    answer = asked_of(cycles_of(*ends), container_bytes=2000 * MIB)

    assert is_refused == (max(answer.backtest.replay_errors.values()) > MAX_REPLAY_ERROR)
    assert is_refused == answer.grid.empty == (answer.advice is None)
    assert is_refused == (answer.refused is not None and "does not fit" in answer.refused)


def test_a_program_that_allocates_nothing_is_refused():
    answer = asked_of(steady(start=100, end=100, goal=200))

    assert "no allocation" in answer.refused


@pytest.mark.parametrize(
    ("low", "high", "era", "assumed"),
    [
        pytest.param(GoRelease(27), GoRelease(27), Era.HEADROOM, False, id="known"),
        pytest.param(GoRelease(21), None, Era.HEADROOM, False, id="known well enough"),
        pytest.param(GoRelease(20), None, Era.HEADROOM, True, id="two pacers"),
        pytest.param(GoRelease(18), GoRelease(25), Era.HEADROOM, True, id="by its form"),
    ],
)
def test_the_pacer_of_a_release(low, high, era, assumed):
    found, words = era_of(GoVersion(low, high), steady())

    assert (era, assumed) == (found, bool(words))


def test_a_log_without_stacks_is_of_an_old_pacer():
    assert Era.RATIO_BOUNDED is era_of(GoVersion(), steady(stacks=""))[0]


# A container


def test_the_arithmetic_adds_up():
    advice = asked_of(container_bytes=400 * MIB).advice

    assert 360 * MIB == advice.gomemlimit_bytes == advice.steps["bytes"].sum()
    assert advice.held_bytes <= advice.gomemlimit_bytes
    assert advice.expected["gogc"] == advice.gogc
    assert advice.live_bytes < advice.limit_decides_bytes < advice.met_bytes


def test_more_memory_advises_no_lower_gogc():
    told = [asked_of(container_bytes=size * MIB).advice.gogc for size in (300, 500, 900, 2000)]

    assert sorted(told) == told
    assert told[0] < told[-1]


def test_a_container_that_is_too_small_is_said_to_be():
    advice = asked_of(container_bytes=100 * MIB).advice

    assert (None, None) == (advice.gogc, advice.expected)


def test_memstats_give_rss_and_what_is_beside_the_heap():
    """
    Of 230 MiB that are resident 200 are heap that is kept: 30 MiB stay beside whatever is kept.
    """
    memory = MemoryNow(200 * MIB, 8 * MIB, 3 * MIB, 2 * MIB, 210 * MIB, 230 * MIB)
    row = asked_of(memory=memory).cell(200)

    assert row["retained_bytes"] + 30 * MIB == row["rss_bytes"]
    assert row["retained_bytes_low"] < row["retained_bytes"] < row["retained_bytes_high"]


def test_without_memstats_rss_is_not_known():
    assert asked_of().grid["rss_bytes"].isna().all()


def test_student_s_quantiles_are_scipy_s():
    known = [stdtrit(free, 0.975) for free in range(1, MAX_STRETCHES)]

    assert known == pytest.approx(STUDENT, rel=2e-5)
