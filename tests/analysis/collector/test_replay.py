"""The replay: a load computed by hand, and what must hold of any."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.collector.pacer import Era
from gomem.analysis.collector.replay import PERIODIC_SECONDS, Load, Setting, replay
from gomem.units import MIB
from tests.gc_logs import cycles_of

ERA = Era.HEADROOM


def load_of(*changes, **usual):
    return Load.of(cycles_of(*(changes or [{}] * 20), **usual), ERA)


def replayed(load, gogc=1.0, limit=math.inf, *, rate=1.0, survival=1.0, offset=0.0):
    one = np.ones(1)
    given = (gogc, limit, 10 * MIB, rate, survival, offset)
    return replay(load, Setting(*(value * one for value in given)), ERA).iloc[0]


def test_a_load_is_what_lies_between_collections():
    """
    18 -> 19 -> 10 each second: 1 MiB while it marks and 8 until the next. Of what was there when it
    began, 9.5 MiB survive, half of the rounding granted.
    """
    load = load_of(start=18, end=19, live=10)

    assert (19.0, 19 * 9 * MIB) == (load.seconds, load.allocated_bytes)
    assert {9.5 * MIB} == set(load.survived)
    assert {1.0 * MIB} == set(load.meanwhile)
    assert 9 * MIB == load.allocated(np.array(1.0))
    assert 1.0 == pytest.approx(load.when(np.array(9.0 * MIB)))


def test_it_goes_round_and_round():
    load = load_of()

    assert 3 * load.allocated_bytes == load.allocated(np.array(3 * load.seconds))
    assert 2 * load.seconds + 1 == pytest.approx(
        load.when(np.array(2 * load.allocated_bytes + 9.0 * MIB))
    )


def test_another_gogc_by_hand():
    """
    100 MiB live, 64 KiB while it marks, 32 MiB a second. At GOGC=100 the room is 100.5 MiB, less
    4 MiB that are left before the goal: a collection every 3.02 s.
    """
    load = load_of(*[{}] * 40, start=131, end=131, live=100, goal=200)
    every = load.seconds / 39
    rate = load.allocated_bytes / load.seconds

    one = replayed(load)

    room = 100.5 * MIB - 4 * MIB
    assert 1.0 == every
    assert rate / room == pytest.approx(one["cycles_per_second"], rel=0.02)
    assert 197 * MIB == pytest.approx(one["peak_heap_bytes"], abs=MIB)


def test_without_a_goal_the_timer_starts_them():
    one = replayed(load_of(), math.inf)

    assert 1 / PERIODIC_SECONDS == pytest.approx(one["cycles_per_second"], rel=0.01)
    assert 1.0 == one["periodic_fraction"]
    assert math.isinf(one["goal_bytes"])


def test_forced_collections_come_all_the_same():
    """
    One in ten of a second each is forced: whatever GOGC is, one every 10 s.
    """
    load = load_of(*([{"forced": " (forced)"}, *[{}] * 9] * 4))

    one = replayed(load, math.inf)

    assert 0.1 == pytest.approx(one["cycles_per_second"], rel=0.1)
    assert (1.0, 0.0) == (one["forced_fraction"], one["periodic_fraction"])


@pytest.mark.parametrize(("limit", "met"), [(19, 1.0), (30, 0.0)])
def test_where_limit_and_live_heap_meet_there_is_no_room(limit, met):
    """
    10 MiB live and 10 MiB beside the heap.
    """
    assert met == replayed(load_of(), math.inf, limit * MIB)["met_fraction"]


def test_a_missing_line_is_bridged_by_the_usual_rate():
    whole = load_of(*[{}] * 20)
    cycles = cycles_of(*[{}] * 20).drop(index=[7, 8]).reset_index(drop=True)

    gap = Load.of(cycles, ERA)

    assert whole.allocated_bytes == pytest.approx(gap.allocated_bytes)


LOADS = st.lists(
    st.fixed_dictionaries({"live": st.integers(10, 40), "mark": st.integers(1, 50)}),
    min_size=10,
    max_size=20,
)


@settings(max_examples=30, deadline=None)
@given(LOADS, st.sampled_from([0.5, 1.0, 2.0]))
def test_more_gogc_never_means_more_collections_nor_less_heap(changes, gogc):
    load = load_of(*changes, start=50, end=52)

    less, more = replayed(load, gogc), replayed(load, 2 * gogc)

    assert more["cycles_per_second"] < less["cycles_per_second"]
    assert more["peak_heap_bytes"] > less["peak_heap_bytes"]


@settings(max_examples=30, deadline=None)
@given(LOADS)
def test_a_far_limit_is_none(changes):
    load = load_of(*changes, start=50, end=52)

    assert replayed(load, 1.0).equals(replayed(load, 1.0, 1 << 50))
    # 10 MiB are beside the heap, and 3 % of the rest are headroom: more than ever lives here.
    assert replayed(load, 1.0, 60 * MIB)["goal_bytes"] <= 0.97 * 50 * MIB * (1 + 1e-9)
