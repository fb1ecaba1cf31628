from dataclasses import replace

import pandas as pd
import pytest

from gomem.analysis.collector.counters import (
    ALL_CPU,
    GC_CPU,
    IDLE_MARKING,
    LIMITER,
    STOPS,
    CounterReading,
    collector_counters,
    gc_cpu_between,
)
from tests.builders import collector_row


def reading(moment, cycles=10, forced=2, paused_ms=30.0, at=100.0, share=0.2, **metrics):
    row = collector_row(cycles, forced, paused_ms, at, share)
    return CounterReading(row, metrics, f"{moment}/memstats.json", f"{moment}/metrics", moment)


def cpu(gc, idle, total):
    return {GC_CPU: gc, IDLE_MARKING: idle, ALL_CPU: total}


def test_what_lies_between_two_moments():
    """
    20 collections in 10 s, half of them forced; 3 of 20 CPU seconds marked when nothing was idle.
    """
    found = collector_counters(
        [
            reading("a", **cpu(1, 0.5, 10)),
            reading("b", 30, 12, 530, 110.0, **cpu(6, 2.5, 30)),
        ]
    )

    assert (20, 10, 0.5) == (found.cycles, found.forced, found.forced_fraction)
    assert found.interval_seconds == pytest.approx(0.5)
    assert found.stopped_fraction == pytest.approx(0.05)
    assert found.cpu_fraction == pytest.approx((5 - 2) / 20)
    assert found.marking_fraction == pytest.approx(0.15 - 0.05)
    assert not found.cpu_since_start
    assert "b/metrics" == found.cpu_path
    assert not found.since_start


def test_moments_may_lie_less_than_a_second_apart():
    """
    20 collections in half a second.
    """
    found = collector_counters([reading("a"), reading("b", 30, 2, 130.0, 100.5)])

    assert found.interval_seconds == pytest.approx(0.025)
    assert found.stopped_fraction == pytest.approx(0.2)


def test_the_classes_of_cpu_tell_stops_better_than_pauses():
    """
    Of 3 CPU seconds in 20, stops took 1; PauseTotalNs is of both Ps, and of no CPU.
    """
    between = collector_counters(
        [
            reading("a", paused_ms=pd.NA, **cpu(1, 0.5, 10), **{STOPS: 0.25}),
            reading("b", 30, 12, pd.NA, 110.0, **cpu(6, 2.5, 30), **{STOPS: 1.25}),
        ]
    )
    alone = collector_counters([reading("b", share=pd.NA, **cpu(6, 2.5, 30), **{STOPS: 1.25})])

    assert 1 / 20 == between.cpu_stopped_fraction
    assert between.marking_fraction == pytest.approx(2 / 20)
    assert alone.marking_fraction == pytest.approx((6 - 2.5 - 1.25) / 30)


def test_one_moment_counts_from_the_start():
    found = collector_counters([reading("a")])

    assert found.since_start
    assert (10, 2, 0.2) == (found.cycles, found.forced, found.cpu_fraction)
    assert found.interval_seconds is None
    assert found.stopped_fraction is None
    assert found.marking_fraction == found.cpu_fraction
    assert found.paused_seconds == pytest.approx(0.03)


def test_no_collection_between_is_the_last_moment_alone():
    found = collector_counters([reading("0", 20), reading("a"), reading("b"), reading("c")])

    assert found.since_start
    assert 10 == found.cycles
    assert "a" == found.none_since.moment
    assert collector_counters([reading("c")]).none_since is None


def test_what_lies_before_a_restart_is_another_process():
    """
    Counters go back from 30 to 4: of 4 and 9 the difference counts.
    """
    found = collector_counters(
        [reading("a"), reading("b", 30), reading("c", 4, 1, 1.0, 200.0), reading("d", 9, at=205.0)]
    )

    assert 5 == found.cycles
    assert found.seconds == pytest.approx(5.0)


def test_cpu_since_the_start_where_nothing_else_is_told():
    found = collector_counters([reading("a"), reading("b", 30, 12, 530, 110.0, 0.31)])

    assert 0.31 == found.cpu_fraction
    assert found.cpu_since_start
    assert "GCCPUFraction" == found.cpu_field
    assert not found.since_start


def test_a_count_that_stood_still_is_none_and_not_unknown():
    found = collector_counters([reading("a"), reading("b", 30, at=110.0)])

    assert (0, 0.0) == (found.forced, found.paused_seconds)


@pytest.mark.parametrize("share", [None, pd.NA])
def test_classes_of_cpu_speak_for_metrics_alone(share):
    one = reading("a", share=share, **cpu(4, 1, 30))

    assert 0.1 == collector_counters([one]).cpu_fraction


def test_cpu_is_taken_between_the_moments_that_have_its_classes():
    """
    The first and the last have none, one of the classes, or all of them.
    """
    between = [
        reading("b", 15, **cpu(1, 0, 10), **{STOPS: 0.5}),
        reading("c", 20, **cpu(2, 0, 15), **{STOPS: 1.0}),
        reading("d", 25, **cpu(4, 0, 30), **{STOPS: 2.5}),
    ]
    ends = reading("a"), reading("e", 30, share=0.4)

    found = collector_counters([ends[0], *between, ends[1]])

    assert (20, 3 / 20, 2 / 20) == (found.cycles, found.cpu_fraction, found.cpu_stopped_fraction)
    # The metric's own name is of a number that includes idle marking.
    name = "GC CPU without idle marking (/cpu/classes/gc/total:cpu-seconds less mark/idle)"
    assert (f"{name}, since b, until d", "d/metrics") == (found.cpu_field, found.cpu_path)
    assert not found.cpu_since_start
    assert f"{name}, since b" == collector_counters([ends[0], *between]).cpu_field
    alone = collector_counters([ends[0], between[0], ends[1]])
    assert (0.4, True) == (alone.cpu_fraction, alone.cpu_since_start)


def test_of_a_share_since_the_start_stops_between_the_moments_may_be_a_part():
    """
    0.5 s of 10 s between the moments.
    """
    both = [reading("a"), reading("b", 30, 12, 530, 110.0, 0.31)]
    unknown = [reading("a", paused_ms=pd.NA), both[1]]
    told = [reading("a", **cpu(1, 0, 10)), reading("b", 30, 12, 530, 110.0, **cpu(6, 0, 30))]

    assert collector_counters(both).least_marking_fraction == pytest.approx(0.31 - 0.05)
    assert collector_counters(unknown).least_marking_fraction is None
    between = collector_counters(told)
    assert between.least_marking_fraction == between.marking_fraction == pytest.approx(0.25 - 0.05)


def test_what_runtime_metrics_lack_is_of_the_page():
    """
    Two pages, with 20 collections, 0.5 s of stops and 10 s between them.
    """
    lacking = ["PauseTotalNs", "LastGC"]
    whole = reading("a"), reading("b", 30, 12, 530, 110.0)
    bare = [replace(one, memstats=one.memstats.drop(lacking)) for one in whole]
    told = [
        replace(one, page=full.memstats, page_path=f"{one.moment}/metrics.prom")
        for one, full in zip(bare, whole, strict=True)
    ]

    found, without = collector_counters(told), collector_counters(bare)

    assert (0.5, 10.0) == (found.paused_seconds, found.seconds)
    assert (None, None) == (without.paused_seconds, without.seconds)
    assert "b/metrics.prom" == found.last.path_of("PauseTotalNs")
    assert "b/memstats.json" == found.last.path_of("NumGC") == whole[1].path_of("LastGC")


def sized(moment, cycles, goal, allocated, forced=0, **metrics):
    row = collector_row(cycles, forced, 0, 100.0, 0.1, NextGC=goal, TotalAlloc=allocated)
    return CounterReading(row, metrics, "m", "r", moment)


def test_room_is_what_is_allocated_between_collections():
    """
    20 collections, half of them forced, allocate 200: 20 from one of the others to the next. The
    lowest goal is 120.
    """
    first, last = sized("a", 10, 150, 1000), sized("c", 30, 120, 1200, 10)
    found = collector_counters([first, sized("b", 20, 130, 1100), last])

    assert (120, 100.0) == (found.goal_bytes, found.live_bytes)
    assert found.room_fraction == pytest.approx(0.2)


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param([sized("a", 10, 120, 1000)], id="since the start"),
        pytest.param([sized("a", 10, 9, 0), sized("b", 30, 9, 20, 20)], id="all forced"),
        pytest.param([sized("a", 10, 120, 0), sized("b", 12, 120, 20, 1)], id="one not forced"),
        pytest.param([sized("a", 10, pd.NA, 0), sized("b", 30, pd.NA, 20)], id="no goal"),
        pytest.param([sized("a", 10, 9, pd.NA), sized("b", 30, 9, 20)], id="not counted"),
        pytest.param([sized("a", 10, 9, 0), sized("b", 30, 9, 180)], id="more than the goal"),
    ],
)
def test_no_room_is_told_where_it_is_not_known(readings):
    assert collector_counters(readings).room_fraction is None


@pytest.mark.parametrize(("cycle", "told"), [(10, None), (11, 11), (30, 30)])
def test_the_limiter_counts_if_it_was_on_between_the_moments(cycle, told):
    between = [sized("a", 10, 9, 0), sized("b", 30, 9, 0, **{LIMITER: float(cycle)})]

    assert told == collector_counters(between).limiter_cycle
    assert cycle == collector_counters(between[1:]).limiter_cycle
    assert collector_counters(between[:1]).limiter_cycle is None


@pytest.mark.parametrize("total", [0, 10])
def test_no_cpu_passed_is_no_share(total):
    """
    The classes are updated by collections: none in between leaves them as they were.
    """
    before, after = reading("a", **cpu(1, 0, 10)), reading("b", 30, share=None, **cpu(1, 0, 10))
    after.metrics[ALL_CPU] = 10 + total

    found = collector_counters([before, after])

    assert (found.cpu_fraction == 0.0) == bool(total)
    assert found.cpu_since_start != bool(total)


def test_what_nobody_counted_is_unknown():
    """
    Before Go 1.8 nobody counts forced collections, and runtime/metrics have no pauses.
    """
    one = reading("a", forced=pd.NA, paused_ms=1.0)
    one.memstats["PauseTotalNs"] = pd.NA

    found = collector_counters([one])

    assert found.forced is None
    assert found.paused_seconds is None
    assert 0.0 == found.forced_fraction


def test_no_count_of_collections_is_no_answer():
    assert collector_counters([]) is None
    assert collector_counters([reading("a", cycles=pd.NA)]) is None


def test_a_clock_that_stands_tells_no_interval():
    found = collector_counters([reading("a"), reading("b", 30)])

    assert found.seconds is None
    assert found.interval_seconds is None


def without(one, *names):
    """A reading in which these were not counted."""
    return CounterReading(
        one.memstats.drop(list(names)), one.metrics, one.path, one.metrics_path, one.moment
    )


def test_pauses_that_nobody_counted_are_unknown_and_not_none():
    found = collector_counters(
        [without(one, "PauseTotalNs") for one in (reading("a"), reading("b", 30, at=110.0))]
    )

    assert 10 == found.seconds
    assert found.paused_seconds is None
    assert found.stopped_fraction is None


@pytest.mark.parametrize("which", [0, 1])
def test_without_one_of_the_collections_times_there_is_no_time_between(which):
    readings = [reading("a"), reading("b", 30, at=110.0)]
    readings[which] = without(readings[which], "LastGC")

    assert collector_counters(readings).seconds is None


def test_idle_marking_that_is_not_there_is_none():
    """
    3 of 20 s: nothing is taken off.
    """
    old = reading("a", **{GC_CPU: 1, ALL_CPU: 10})
    new = reading("b", 30, at=110.0, **{GC_CPU: 4, ALL_CPU: 30})

    assert collector_counters([old, new]).cpu_fraction == pytest.approx(3 / 20)


def test_what_was_allocated_between_is_counted_and_what_nobody_counts_is_unknown():
    readings = [reading("a"), reading("b", 30, at=110.0)]
    for one, total in zip(readings, (5, 12), strict=True):
        one.memstats["TotalAlloc"] = total

    assert 7 == collector_counters(readings).allocated_bytes
    assert collector_counters([reading("a")]).allocated_bytes is None


def test_of_no_collection_none_was_forced():
    nothing = replace(collector_counters([reading("a")]), cycles=0, forced=0)

    assert 0.0 == nothing.forced_fraction


def test_no_more_than_all_cpu_was_the_collectors():
    """
    The classes are estimates, read one after the other.
    """
    found = collector_counters([reading("a", **cpu(1, 0, 10)), reading("b", 30, **cpu(13, 0, 20))])

    assert 1.0 == found.cpu_fraction


@pytest.mark.parametrize(
    ("before", "after", "seconds"),
    [
        (cpu(1, 0.5, 10), cpu(1.75, 0.75, 20), 0.5),
        (cpu(1, 0.5, 10), cpu(1, 0.75, 20), 0.0),
        ({GC_CPU: 1.0}, {GC_CPU: 3.0}, 2.0),
        (cpu(1, 0.5, 10), {}, None),
        ({}, cpu(1, 0.5, 10), None),
    ],
)
def test_the_collectors_cpu_is_without_idle_marking(before, after, seconds):
    assert seconds == gc_cpu_between(before, after)
