"""Phases: a start-up, a burst and a quiet time, each of known length."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.collector.cost import cost_of_collection
from gomem.analysis.collector.phases import _start_up, _usual, gc_phases
from tests.builders import CAPTURES
from tests.gc_logs import captured, cycles_of

SECOND, TENTH = 1.0, 0.1


def paced(*intervals, **usual):
    """Collections so far apart, each with 10 MiB allocated since the one before."""
    at = pd.Series([0.0, *intervals]).cumsum()
    return cycles_of(*({"at": time} for time in at), **usual)


def named(phases):
    return list(zip(phases["phase"], phases["cycles"], strict=True))


def test_a_burst_between_steady_times():
    """
    Allocation is ten times as fast for thirty collections.
    """
    phases = gc_phases(paced(*[SECOND] * 20, *[TENTH] * 30, *[SECOND] * 20))

    assert [("steady", 20), ("burst", 30), ("steady", 21)] == named(phases)
    assert [0.0, 20.0, 23.0] == [round(at, 3) for at in phases["begin_seconds"]]
    assert list(phases["begin_seconds"][1:]) == list(phases["end_seconds"][:-1])


def test_a_quiet_time_after_traffic():
    """
    Nine in ten seconds are quiet only where collections are far apart.
    """
    phases = gc_phases(paced(*[TENTH] * 200, *[SECOND] * 10))

    assert [("steady", 200), ("quiet", 11)] == named(phases)


def test_the_quiet_end_of_a_log_is_no_part_of_the_traffic_before_it():
    """
    Its last collections are few, and take longer than all others.
    """
    phases = gc_phases(paced(*[TENTH] * 100, 4 * SECOND, 20 * SECOND))

    assert ["burst", "steady"] == list(phases["phase"])
    assert [14.0, 34.0] == [round(at, 3) for at in phases["end_seconds"]]


def test_the_start_up_ends_when_the_live_heap_is_half_as_large_as_usual():
    filling = [{"live": live, "at": live / 100} for live in (1, 2, 4)]
    filled = [{"live": 10, "at": float(at)} for at in range(1, 20)]

    phases = gc_phases(cycles_of(*filling, *filled))

    assert [("start-up", 3), ("steady", 19)] == named(phases)


def test_the_median_interval_of_a_phase_is_that_of_the_whole_log():
    """
    Of six intervals it is the third, as everywhere, and not the mean of the two in the middle.
    """
    cycles = paced(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)

    (phase,) = gc_phases(cycles)["interval_p50_seconds"]

    assert 3.0 == phase == cost_of_collection(cycles).interval.p50


def test_a_single_odd_interval_is_no_phase():
    assert [("steady", 31)] == named(gc_phases(paced(*[SECOND] * 15, 0.01, *[SECOND] * 14)))


def allocating(*sizes):
    """Collections a second apart, so many MiB allocated from each to the next."""
    return cycles_of(*({"start": 10, "end": 10 + size, "live": 10} for size in sizes))


@pytest.mark.parametrize(("size", "phase"), [(38, "burst"), (37, None)])
def test_a_burst_is_four_times_the_usual_rate_less_rounding(size, phase):
    """
    Usual are 9 MiB a second, and what a step allocated is known to 2 MiB: 38 are 36 at least.
    """
    phases = named(gc_phases(allocating(*[9] * 20, *[size] * 10, *[9] * 20)))

    assert ([("steady", 20), (phase, 10), ("steady", 20)] if phase else [("steady", 50)]) == phases


def test_a_burst_may_stand_at_either_end():
    """
    Where a step has fewer neighbours than two on each side.
    """
    first = named(gc_phases(allocating(*[38] * 10, *[9] * 30)))
    last = named(gc_phases(allocating(*[9] * 30, *[38] * 10)))

    assert [("burst", 10), ("steady", 30)] == first
    assert [("steady", 30), ("burst", 10)] == last


def test_each_process_has_its_own_phases():
    """
    Twelve collections a second apart, then ten of another process a tenth of a second apart.
    """
    at = [(number, number * SECOND) for number in range(1, 13)]
    at += [(number, number * TENTH) for number in range(1, 11)]

    phases = gc_phases(cycles_of(*({"number": number, "at": time} for number, time in at)))

    assert [1, 2] == list(phases["run"])
    assert [12, 10] == list(phases["cycles"])
    assert [SECOND, TENTH] == list(phases["interval_p50_seconds"].round(6))
    assert [9 * 2**20, 90 * 2**20] == list(phases["allocation_rate_bytes_per_second"].round())
    assert [12.0, 1.0] == list(phases["end_seconds"])


@pytest.mark.parametrize(("size", "phase"), [(8, "quiet"), (9, None)])
def test_quiet_is_a_quarter_of_the_usual_rate_and_rounding(size, phase):
    """
    Usual are 40 MiB a second: 8 are 10 at most.
    """
    phases = named(gc_phases(allocating(*[40] * 20, *[size] * 10, *[40] * 20)))

    assert ([("steady", 20), (phase, 10), ("steady", 20)] if phase else [("steady", 50)]) == phases


@pytest.mark.parametrize(("count", "is_phase"), [(5, True), (4, False)])
def test_five_collections_make_a_phase(count, is_phase):
    phases = named(gc_phases(allocating(*[9] * 20, *[90] * count, *[9] * 20)))

    burst = [("steady", 20), ("burst", count), ("steady", 20)]
    assert (burst if is_phase else [("steady", 40 + count)]) == phases


@pytest.mark.parametrize(
    ("before", "phases"), [(5, [("steady", 5), ("burst", 6)]), (4, [("steady", 10)])]
)
def test_fewer_steps_than_two_phases_have_are_steady(before, phases):
    assert phases == named(gc_phases(paced(*[SECOND] * before, *[TENTH] * 5)))


@pytest.mark.parametrize(
    ("live", "phases"), [(5, [("steady", 20)]), (4, [("start-up", 1), ("steady", 19)])]
)
def test_half_of_the_usual_live_heap_is_no_start_up(live, phases):
    filled = [{"live": 10}] * 19

    assert phases == named(gc_phases(cycles_of({"live": live}, *filled)))


def test_where_no_live_heap_is_known_nothing_is_a_start_up():
    """
    Lines that a person cut before the heap.
    """
    assert 0 == _start_up(np.array([np.nan, np.nan]))
    assert 2 == _start_up(np.array([1.0, np.nan, 10, 10]))


def test_the_usual_rate_is_that_which_half_of_the_time_is_spent_below():
    """
    10 and less for two of three seconds, 1 for one; and of what is not known nothing counts.
    """
    rates = np.array([100.0, 1, 10, np.nan])

    assert 10 == _usual(rates, np.array([1.0, 1, 1, 9]))
    assert 100 == _usual(rates, np.array([9.0, 1, 1, 9]))
    assert 0 == _usual(rates[3:], np.ones(1))


def test_rounding_makes_no_phase():
    """
    1 MiB a step, printed as 0, 1 or 2: steps without allocation are not quiet.
    """
    odd = {"start": 10, "end": 10}
    lines = [({} if number % 3 else odd) | {"start": 10, "end": 11} for number in range(60)]

    assert [("steady", 60)] == named(gc_phases(cycles_of(*lines)))


def test_what_a_phase_was_like():
    """
    In each second 9 MiB are found to be garbage and the heap does not grow; a collection takes
    1 ms of 2 Ps.
    """
    (phase,) = gc_phases(paced(*[SECOND] * 12)).to_dict("records")

    assert 9 * 2**20 == phase["allocation_rate_bytes_per_second"]
    assert 0.0005 == round(phase["gc_cpu_fraction"], 6)
    assert (1.0, 10 * 2**20) == (phase["interval_p50_seconds"], phase["heap_live_p50_bytes"])


def test_every_collection_is_in_one_phase():
    for path in CAPTURES:
        cycles = captured(path).cycles

        phases = gc_phases(cycles)

        assert len(cycles) == phases["cycles"].sum()
        assert list(phases["first_number"][1:]) == list(phases["last_number"][:-1] + 1)


def test_no_collection_has_no_phase():
    assert gc_phases(cycles_of()).empty
