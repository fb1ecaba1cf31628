"""The replay: a load computed by hand, and what must hold of any."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.what_if import replay as module
from gomem.analysis.what_if.pacer import Era
from gomem.analysis.what_if.replay import PERIODIC_SECONDS, Load, Setting, _Run, replay
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
def test_more_gogc_never_means_more_collections(changes, gogc):
    load = load_of(*changes, start=50, end=52)

    less, more = replayed(load, gogc), replayed(load, 2 * gogc)

    assert more["cycles_per_second"] < less["cycles_per_second"]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(10, 40),
    st.lists(st.integers(1, 50), min_size=10, max_size=20),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_more_gogc_never_means_less_heap_where_as_much_is_live(live, marks, gogc):
    """
    Where what is live jumps for one collection, a replay with fewer of them may pass it by.
    """
    load = load_of(*[{"mark": mark} for mark in marks], live=live, start=50, end=52)

    less, more = replayed(load, gogc), replayed(load, 2 * gogc)

    assert more["peak_heap_bytes"] > less["peak_heap_bytes"]


@settings(max_examples=30, deadline=None)
@given(LOADS)
def test_a_far_limit_is_none(changes):
    load = load_of(*changes, start=50, end=52)

    assert replayed(load, 1.0).equals(replayed(load, 1.0, 1 << 50))
    # 10 MiB are beside the heap, and 3 % of the rest are headroom: more than ever lives here.
    assert replayed(load, 1.0, 60 * MIB)["goal_bytes"] <= 0.97 * 50 * MIB * (1 + 1e-9)


def test_what_a_log_says_of_each_collection():
    """
    Stops and marking take 1.03 ms, but never longer than until the next one; idle marking costs
    nothing; the third is forced.
    """
    load = load_of(
        {"stacks": "3 MB stacks, 2 MB globals, "}, {"mark": 5000}, {"forced": " (forced)"}, {},
        assist=100, background=300, idle=900,
    )  # fmt: skip

    assert [0.00103, 1.0, 0.00103, 0.00103] == pytest.approx(load.lasting.tolist())
    assert [0.4] * 4 == pytest.approx(load.cpu_seconds.tolist())
    assert [5 * MIB, 0, 0, 0] == load.scanned.tolist()
    assert ([2.0], 2.0) == (load.forced.tolist(), load.gomaxprocs)


def test_the_nearest_collection_in_a_load_that_goes_round():
    """
    They begin at 0, 1, 2 and 3 s; then it is 0 again.
    """
    at = np.array([0.0, 0.4, 0.5, 0.6, 1.4, 2.9, 3.4, 3.6])

    assert [0, 0, 1, 1, 1, 3, 0, 1] == load_of(*[{}] * 4).nearest(at).tolist()


def test_what_survives_lies_between_two_collections():
    load = load_of({"live": 11}, {"live": 21}, {"live": 31}, end=18)

    assert [11.5, 16.5, 31.5 - 5, 16.5] == pytest.approx(
        (load.survivors(np.array([0.0, 0.5, 1.5, 2.5])) / MIB).tolist()
    )


def test_the_next_that_the_program_asks_for():
    """
    It does so at 1 and at 3 s of each 4; not twice at one time.
    """
    forced = {"forced": " (forced)"}
    load = load_of({}, forced, {}, forced, {})

    at = np.array([0.0, 0.5, 1.0, 2.9, 3.0, 4.5, 7.5])
    assert [1.0, 1.0, 3.0, 3.0, 5.0, 5.0, 9.0] == load.next_forced(at).tolist()
    assert math.isinf(load_of({}, {}).next_forced(np.array(0.0)))


def test_beside_a_missing_line_the_rate_of_the_others_stands():
    """
    1 MiB while each marks, 8 between the first two and 15 before the last, which follows a gap of
    three seconds: of (9 + 16) / 2 MiB a second.
    """
    lines = [{}, {}, {}, {}, {"start": 99, "end": 100}, {"start": 25, "end": 26}]
    cycles = cycles_of(*lines).drop(index=[2, 3]).reset_index(drop=True)

    load = Load.of(cycles, ERA)

    assert [0, 0.00103, 1, 1.00103, 4, 4.00103, 5] == pytest.approx(load.knots_seconds.tolist())
    assert [0, 1, 9, 10, 46.5, 47.5, 62.5] == pytest.approx((load.knots_bytes / MIB).tolist())


def steady():
    """100 MiB live, 31 MiB a second, nothing while it marks; 1 ms of CPU each."""
    return load_of(*[{}] * 40, start=131, end=131, live=100, goal=200)


@pytest.mark.parametrize(
    ("about", "room"),
    [
        pytest.param({}, 96.5, id="4 MiB before the goal"),
        pytest.param({"rate": 2.0}, 96.5 / 2, id="allocating twice as fast"),
        pytest.param({"survival": 0.5}, 50.25 * 61 / 64, id="half of it survives"),
        pytest.param({"offset": 0.25}, 96.5, id="begun elsewhere"),
        pytest.param({"gogc": 2.0}, 197.0, id="twice the room"),
    ],
)
def test_how_often_it_is_collected(about, room):
    """
    100.5 MiB live, as much room at GOGC=100, 61/64 of it or all but 4 MiB.
    """
    one = replayed(steady(), **about)

    assert 31 / room == pytest.approx(one["cycles_per_second"], rel=2e-3)
    assert 0.001 * 31 / room == pytest.approx(one["gc_cpu_cores"], rel=2e-3)


def test_how_high_the_heap_and_its_goal_are():
    """
    Twice 100.5 MiB, and 4 less; of a limit of 170 MiB 10 are no heap, and 3 % of the rest room.
    """
    free, limited = replayed(steady()), replayed(steady(), limit=170 * MIB)

    assert 201 * MIB == pytest.approx(free["goal_bytes"])
    assert 197 * MIB == pytest.approx(free["peak_heap_bytes"])
    assert 160 * 0.97 * MIB == pytest.approx(limited["goal_bytes"])
    assert (0.0, 1.0) == (free["limited_fraction"], limited["limited_fraction"])
    assert {0.0} == {free[name] for name in ("met_fraction", "forced_fraction")}


def test_what_is_allocated_while_it_marks_is_on_top_and_survives():
    """
    9 MiB each, of which none is marked: 91.5 MiB of the 100.5 are older.
    """
    load = load_of(*[{}] * 40, start=131, end=140, live=100, goal=200)

    twice = replayed(load, rate=2.0)["peak_heap_bytes"] - replayed(load)["peak_heap_bytes"]

    assert {91.5 * MIB} == set(load.survived)
    assert twice > 9 * MIB


def test_a_replay_lasts_as_long_as_the_load_and_eight_collections():
    """
    And two more before it that still know where it began: of two minutes each, ten in all.
    """
    assert 10 == steps_of(math.inf)


@pytest.mark.parametrize(("most", "steps"), [(8, 10), (9, 11), (1000, 16)])
def test_a_replay_ends_after_so_many_collections_however_long_the_load_is(most, steps, monkeypatch):
    """
    Two go before. At GOGC=100 they are 3.1 s apart, and the load is 39 s long.
    """
    monkeypatch.setattr(module, "MAX_REPLAYED", most)

    assert steps == steps_of(1.0)


def steps_of(gogc):
    """How many collections are replayed."""
    setting = Setting(*(np.ones(1) * one for one in (gogc, math.inf, 0, 1, 1, 0)))
    run, steps = _Run(steady(), setting, ERA), 1
    while run.step():
        steps += 1
    return steps
