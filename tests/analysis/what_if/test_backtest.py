"""How well a log foretells itself: each error by hand."""

import math

import pandas as pd
import pytest

from gomem.analysis.what_if import backtest as module
from gomem.analysis.what_if.backtest import Backtest, Made, backtest
from gomem.analysis.what_if.pacer import Era
from gomem.units import MIB
from tests.gc_logs import cycles_of

MADE = Made(1.0, math.inf, 10.0 * MIB, Era.HEADROOM)
FORETOLD = {"cycles_per_second": 2.0, "gc_cpu_cores": 0.003, "peak_heap_bytes": 39.0 * MIB}


@pytest.fixture(autouse=True)
def replayed(monkeypatch):
    """What is replayed; it foretells the same of everything."""
    asked = []

    def replay(load, setting, era):
        asked.append((load, setting, era))
        return pd.DataFrame([FORETOLD])

    monkeypatch.setattr(module, "replay", replay)
    return asked


def test_a_goal_is_foretold_by_the_middle_of_what_the_formula_allows():
    """
    20 to 24 MiB of 20 that are printed, which are 20.5; one goal of eight is 30.
    """
    found = backtest(cycles_of(*[{}] * 8, {"goal": 30}), MADE)

    assert (8, 7 / 8) == (found.cycles, found.goals_agree_fraction)
    usual, odd = 22 / 20.5 - 1, 1 - 22 / 30.5
    assert found.goal_error_p95 == pytest.approx(usual + 0.65 * (odd - usual))


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(Made(1.0, 90.0 * MIB, 0.0, Era.HEADROOM), id="a limit made them"),
        pytest.param(Made(math.inf, math.inf, 0.0, Era.HEADROOM), id="there are none"),
    ],
)
def test_goals_that_gogc_did_not_make_are_not_foretold(made):
    found = backtest(cycles_of(*[{}] * 8), made)

    assert (0, None, None) == (found.cycles, found.goals_agree_fraction, found.goal_error_p95)


def distance(rate):
    """The error of a second that is foretold at a rate, in MiB a second.

    10.5 MiB live of which the goal makes 21; a collection starts at the earliest, 45/64 of the way.
    """
    return abs(0.00103 + 10.5 * 45 / 64 / rate - 1)


def test_the_next_distance_is_foretold_by_the_rate_of_the_five_before():
    """
    The first took ten seconds for the 9 MiB that the others take in one.
    """
    times = [{"at": at} for at in (0.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0)]

    two = backtest(cycles_of(*times), MADE).interval_error_p50
    first = backtest(cycles_of(*times[:7]), MADE).interval_error_p50

    assert first == pytest.approx(distance(45 / 14))
    assert two == pytest.approx((distance(45 / 14) + distance(9)) / 2)
    assert backtest(cycles_of(*times[:6]), MADE).interval_error_p50 is None


def test_five_distances_within_a_second_have_a_rate():
    """
    9 MiB in each eighth of one.
    """
    times = [{"at": number / 8} for number in range(7)]

    found = backtest(cycles_of(*times), MADE).interval_error_p50

    assert found == pytest.approx(abs(8 * (0.00103 + 10.5 * 45 / 64 / 72) - 1))


def test_without_a_goal_no_distance_is_foretold():
    made = Made(math.inf, math.inf, 0.0, Era.HEADROOM)

    assert backtest(cycles_of(*[{}] * 9), made).interval_error_p50 is None


def test_a_heap_without_room_is_foretold_to_be_collected_at_once():
    """
    The limit leaves less than what lives: nothing is left of the second but the marking.
    """
    made = Made(1.0, 5.0 * MIB, 0.0, Era.HEADROOM)

    found = backtest(cycles_of(*[{}] * 9), made).interval_error_p50

    assert found == pytest.approx(1 - 0.00103)


def test_a_replay_is_with_baseline_the_second_half_and_the_whole(replayed):
    """
    One a second in the first half, one in two in the second, 7 in 10 s in all; each takes 1 ms of
    CPU; the highest heap is 19.5 MiB. Of two errors the greater counts.
    """
    times = [{"at": at} for at in (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)]

    found = backtest(cycles_of(*times), MADE)

    assert 3.0 == pytest.approx(found.cycles_per_second_error)
    assert 5.0 == pytest.approx(found.gc_cpu_cores_error)
    assert 1.0 == pytest.approx(found.peak_heap_bytes_error)
    assert [5, 8] == [len(load.begin) for load, _, _ in replayed]
    _, setting, era = replayed[0]
    assert Era.HEADROOM is era
    told = setting.gogc, setting.limit, setting.not_heap, setting.rate, setting.survival
    assert [1.0, math.inf, 10.0 * MIB, 1.0, 1.0] == [float(one[0]) for one in told]
    assert 0.0 == setting.offset[0]


def test_the_error_of_the_whole_counts_where_it_is_the_greater():
    times = [{"at": at} for at in (0.0, 4.0, 8.0, 12.0, 16.0, 17.0, 18.0, 19.0)]

    found = backtest(cycles_of(*times), MADE)

    assert 2 / (7 / 19) - 1 == pytest.approx(found.cycles_per_second_error)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"start": 10, "end": 10, "live": 10}, id="nothing is allocated"),
        pytest.param({"at": 1.0}, id="no time passes"),
    ],
)
def test_what_cannot_be_replayed_has_no_error(changes):
    found = backtest(cycles_of(*[{}] * 8, **changes), MADE)

    assert (None, None, None) == (
        found.cycles_per_second_error, found.gc_cpu_cores_error, found.peak_heap_bytes_error,
    )  # fmt: skip


def test_what_costs_nothing_has_no_error_of_its_cost():
    found = backtest(cycles_of(*[{}] * 8, assist=0, background=0), MADE)

    assert found.gc_cpu_cores_error is None
    assert found.cycles_per_second_error is not None


def test_where_nothing_could_be_tested_a_tenth_is_taken():
    tested = Backtest(cycles_per_second_error=0.0, peak_heap_bytes_error=0.3)

    errors = [tested.error_of(one) for one in ("cycles_per_second", "goal_bytes", "gc_cpu_cores")]
    assert [0.0, 0.3, 0.1] == errors
