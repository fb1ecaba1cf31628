"""Each threshold of the collector's causes, of growth and of spikes, on both sides of its edge."""

from dataclasses import replace
from functools import cache
from math import inf, nan, nextafter
from types import SimpleNamespace

import pytest

from gomem.causes import (
    allocation_spike,
    forced_gc,
    gc_pressure,
    heap_headroom,
    long_pauses,
    memory_limit_thrash,
)
from gomem.causes.collecting import marking_words
from gomem.causes.finding import Severity
from gomem.causes.thresholds import Thresholds
from gomem.text import Count
from gomem.units import MIB
from tests.causes import test_allocation_spike
from tests.causes.test_gc_causes import LIMITED, ROOMIER, ROOMY, answers, every, moment


def found(cause, case, **thresholds):
    return cause.find(replace(case, thresholds=Thresholds(**thresholds)))


def edge(cause, case, name, at, **about):
    """Whether it is found with the threshold at a number, and with the next above."""
    over = at + 1 if isinstance(at, int) else nextafter(at, inf)
    return [bool(found(cause, case, **about, **{name: one})) for one in (at, over)]


@cache
def pressed():
    return answers(*every(0.010, background=0.8))


@cache
def slow():
    return answers(*every(2.0, assist=0, background=480))


@cache
def thrash():
    return answers(*every(0.010, **LIMITED, background=2))


@cache
def room():
    return answers(*every(1.0, **ROOMIER))


@cache
def growing():
    return answers(*({"live": 10 + n, "start": 40, "end": 41, "goal": 90} for n in range(40)))


@cache
def spiky():
    return test_allocation_spike.answers(*range(10, 70, 10), *range(570, 630, 10))


@pytest.mark.parametrize(
    ("cause", "case", "cycles"),
    [
        pytest.param(gc_pressure, pressed, 39, id="gc-pressure"),
        pytest.param(memory_limit_thrash, thrash, None, id="memory-limit-thrash"),
    ],
)
def test_enough_collections(cause, case, cycles):
    """
    All 40 of them, but for the first, in which a heap fills; of thrash those that a limit drove.
    """
    case = case()
    cycles = cycles or int(case.facts.collector.triggers.of("limit")["cycles"])

    assert [True, False] == edge(cause, case, "enough_cycles", cycles)


def test_the_pacer_decides_most_collections():
    """
    30 of 40, which marked for as long each: ten are forced.
    """
    lines = every(0.010, background=1.2)
    for line in lines[:10]:
        line["forced"] = " (forced)"
    case = answers(*lines)
    marked = case.facts.collector.triggers.counts.set_index("trigger")["marking_cpu_seconds"]
    share = marked["pacer"] / marked.sum()

    assert 0.7 < share < 0.8
    assert [True, False] == edge(gc_pressure, case, "deciding_fraction", share)


def test_room_that_a_limit_leaves_is_chosen():
    """
    Limit-driven in so many of 40: above the threshold nothing is said.
    """
    case = answers(*every(1.0, live=200, goal=300, start=280, end=281), moments=(moment(400),))
    share = case.facts.collector.triggers.of("limit")["cycles"] / 40

    assert 0 < share <= 1
    assert found(heap_headroom, case, deciding_fraction=share)
    assert [] == found(heap_headroom, case, deciding_fraction=nextafter(share, 0))


def test_marking_that_costs_much():
    cpu = slow().facts.collector.marking_share_of("pacer")

    assert [True, False] == edge(gc_pressure, slow(), "marking_fraction", cpu)


@pytest.mark.parametrize(
    ("all_cpu", "words"),
    [
        pytest.param(0.204, "20 % of the CPU", id="rounds to the same"),
        pytest.param(0.22, "22 % of the CPU (20 % for marking)", id="more"),
        pytest.param(nan, "20 % of the CPU", id="stops are not told"),
    ],
)
def test_what_stops_take_is_told_where_it_is_more(all_cpu, words):
    case = replace(slow().facts.collector)
    seconds = {
        "marking_cpu_seconds": 0.2 * case.cost.available_cpu_seconds,
        "gc_cpu_seconds": all_cpu * case.cost.available_cpu_seconds,
    }
    vars(case)["triggers"] = SimpleNamespace(of=lambda trigger: {"pacer": seconds}[trigger])
    vars(case)["cost"] = replace(case.cost, gc_cpu_fraction=None)

    assert words == marking_words(case, "pacer")


def test_all_collections_of_a_log_take_no_more_than_their_share():
    facts = slow().facts.collector

    assert facts.collecting_share_of("pacer") == facts.cost.gc_cpu_fraction


def test_marking_that_costs_less_and_comes_often():
    cpu = pressed().facts.collector.marking_share_of("pacer")

    assert [True, False] == edge(gc_pressure, pressed(), "frequent_marking_fraction", cpu)


def test_an_interval_that_is_frequent():
    """
    The interval may reach the threshold, and no more.
    """
    interval = pressed().facts.collector.cost.interval.p50

    def often(cause, case, seconds, **about):
        return bool(found(cause, case, frequent_interval_seconds=seconds, **about))

    assert [True, False] == [
        often(gc_pressure, pressed(), one) for one in (interval, nextafter(interval, 0))
    ]
    steps = float(thrash().facts.collector.triggers.of("limit")["interval_p50_seconds"])
    rare = {"marking_fraction": 2}
    assert [True, False] == [
        often(memory_limit_thrash, thrash(), one, **rare) for one in (steps, nextafter(steps, 0))
    ]


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("frequent_marking_fraction", {"limit_room_fraction": 0}),
        ("marking_fraction", {"frequent_interval_seconds": 0}),
    ],
)
def test_marking_under_a_limit(name, about):
    cpu = float(thrash().facts.collector.triggers.of("limit")["marking_cpu_fraction"])

    assert [True, False] == edge(memory_limit_thrash, thrash(), name, cpu, **about)


def test_marking_under_a_limit_that_is_critical():
    cpu = float(thrash().facts.collector.triggers.of("limit")["marking_cpu_fraction"])

    severities = [
        found(memory_limit_thrash, thrash(), critical_marking_fraction=one)[0].severity
        for one in (cpu, nextafter(cpu, inf))
    ]

    assert [Severity.CRITICAL, Severity.WARNING] == severities


@pytest.mark.parametrize(("name", "at"), [("forced_cycles", 12), ("forced_fraction", 0.375)])
def test_forced_collections(name, at):
    """
    12 of 32.
    """
    lines = every(1.0)[:32]
    for line in lines[:12]:
        line["forced"] = " (forced)"

    assert [True, False] == edge(forced_gc, answers(*lines), name, at)


def long_stops(long=8):
    """So many of 32 stop for 0.02 + 12 ms."""
    lines = every(1.0)[:32]
    for line in lines[:long]:
        line["first"] = 12
    return answers(*lines)


def longest_stop():
    cycles = long_stops().facts.collector.cycles
    stopped = cycles["sweep_termination_seconds"] + cycles["mark_termination_seconds"]
    return float(stopped.max())


@pytest.mark.parametrize(("name", "at"), [("long_cycles", 8), ("long_fraction", 0.25)])
def test_long_stops_that_come_again(name, at):
    assert [True, False] == edge(long_pauses, long_stops(), name, at)


def test_long_stops_are_a_warning_by_the_time_they_take():
    """
    16 × 12.02 ms of 31 s: six in a thousand, which few requests meet.
    """
    case = long_stops(16)
    share = found(long_pauses, case)[0].cpu_fraction
    assert share == pytest.approx(16 * 0.01202 / 31)

    def severity(**about):
        return str(found(long_pauses, case, **about)[0].severity)

    assert severity() == "info"
    assert severity(stopped_fraction=share) == "warning"
    assert severity(stopped_fraction=nextafter(share, inf)) == "info"
    assert severity(worst_pause_seconds=0.01202) == "warning"
    assert severity(worst_pause_seconds=0.0121) == "info"


def test_where_most_stops_are_short_long_ones_are_the_kernels_and_a_note():
    """
    16 of 32, and 15; three that take as long as users notice, and two.
    """

    def told(long, **about):
        (finding,) = found(long_pauses, long_stops(long), stopped_fraction=0.001, **about)
        return str(finding.severity), finding.confidence, "waited for a CPU" in finding.mechanism

    assert ("warning", "likely", False) == told(16)
    assert ("info", "possible", True) == told(15)
    assert ("warning", "possible", True) == told(3, worst_pause_seconds=0.01202)
    assert ("info", "possible", True) == told(2, worst_pause_seconds=0.01202)
    assert ("warning", "likely", False) == told(32, worst_pause_seconds=0.01202)
    assert ("warning", "likely", False) == told(32, enough_cycles=32)
    assert ("info", "possible", False) == told(32, enough_cycles=33)
    assert ("warning", "likely", False) == told(15, deciding_fraction=15 / 32)
    assert ("info", "possible", True) == told(15, deciding_fraction=nextafter(15 / 32, 1))


def test_the_time_in_long_stops_is_that_of_stops_from_the_threshold_on():
    """
    8 × 12.02 ms of 31 s: those of 0.04 ms are not long.
    """
    (finding,) = found(long_pauses, long_stops(), pause_seconds=longest_stop())

    assert [8, 32] == [count.value for count in finding.title.of(Count)]
    assert finding.cpu_fraction == pytest.approx(8 * 0.01202 / 31)


def test_a_log_of_one_collection_has_no_share_of_time():
    case = answers({"first": 120})

    (finding,) = found(long_pauses, case)
    assert "of the time" not in finding.title
    assert finding.cpu_fraction is None


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("pause_seconds", {}),
        ("worst_pause_seconds", {"long_cycles": 33}),
    ],
)
def test_a_stop_that_is_long(name, about):
    assert [True, False] == edge(long_pauses, long_stops(), name, longest_stop(), **about)


@pytest.mark.parametrize(
    ("cause", "case", "spent"),
    [
        pytest.param(
            gc_pressure, slow, lambda gc: gc.cost.steady_marking_cpu_seconds, id="gc-pressure"
        ),
        pytest.param(
            memory_limit_thrash,
            thrash,
            lambda gc: float(gc.triggers.of("limit")["marking_cpu_seconds"]),
            id="memory-limit-thrash",
        ),
    ],
)
def test_enough_cpu_in_few_collections(cause, case, spent):
    """
    What they cost counts where they are too few; and what is too little is said.
    """
    case = case()

    assert [True, False] == edge(
        cause, case, "enough_cpu_seconds", spent(case.facts.collector), enough_cycles=1000
    )
    too_high = Thresholds(enough_cycles=1000, enough_cpu_seconds=3600)
    lack = cause.lack(replace(case, thresholds=too_high))
    assert cause.CAUSE.code == lack.code
    assert "1\u202f000" == lack.needed
    assert "at least 1\u202f000 " in lack.next_step
    assert "GCs" in lack.had
    assert f"{lack.had.partition(' ')[2]} or with 1 h of marking" in lack.next_step
    assert cause.lack(case) is None


def test_pressure_in_few_collections_is_likely_and_in_enough_certain():
    n = slow().facts.collector.cost.steady_cycles

    sure = [found(gc_pressure, slow(), enough_cycles=one)[0].confidence for one in (n, n + 1)]

    assert ["certain", "likely"] == sure


def dear():
    """Eight of 40 forced, each of which marks for half a second, two seconds apart, on 2 Ps."""
    lines = every(2.0)
    for line in lines[:8]:
        line |= {"forced": " (forced)", "background": 500}
    return answers(*lines)


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("enough_cpu_seconds", lambda gc: float(gc.triggers.of("forced")["marking_cpu_seconds"])),
        ("marking_fraction", lambda gc: gc.marking_share_of("forced")),
    ],
)
def test_forced_collections_that_cost_much_however_few(name, at):
    case = dear()
    usual = {"marking_fraction": 0.01, "enough_cpu_seconds": 0.1} | {name: 0}

    assert [True, False] == edge(
        forced_gc,
        case,
        name,
        at(case.facts.collector),
        **{k: v for k, v in usual.items() if k != name},
    )


def test_forced_collections_that_cost_something_are_a_warning():
    case = dear()
    share = case.facts.collector.marking_share_of("forced")

    severities = [
        found(forced_gc, case, forced_cycles=8, forced_fraction=0, forced_marking_fraction=one)[
            0
        ].severity
        for one in (share, nextafter(share, inf))
    ]

    assert [Severity.WARNING, Severity.INFO] == severities


def test_forced_collections_that_cost_much_in_too_short_a_log_are_said():
    """
    From the share on that would be a finding, were it for longer.
    """
    share = dear().facts.collector.marking_share_of("forced")

    def lack(least):
        limits = Thresholds(marking_fraction=least, enough_cpu_seconds=3600)
        assert [] == forced_gc.find(replace(dear(), thresholds=limits))
        return forced_gc.lack(replace(dear(), thresholds=limits))

    assert "forced-gc" == lack(share).code
    assert "10" == lack(share).needed
    assert "10 forced GCs or with 1 h of marking" in lack(share).next_step
    assert lack(nextafter(share, 1)) is None
    assert forced_gc.lack(dear()) is None


@pytest.mark.parametrize(("share", "asks"), [(1.0, False), (nextafter(1.0, inf), True)])
def test_little_room_is_asked_about(share, asks):
    """
    10 above 10 live: a goal that leaves less than the threshold is GOGC's, or a limit's.
    """
    (finding,) = found(gc_pressure, pressed(), small_room_fraction=share)

    assert asks == ("GOMEMLIMIT that lowers the goal" in finding.next_step)


@pytest.mark.parametrize(("gogc", "sure"), [(0.4, "certain"), (None, "possible")])
def test_little_room_that_may_be_a_limits_is_possible_pressure(gogc, sure):
    """
    4 above 10 live, of a heap too small to tell GOGC.
    """
    case = answers(*every(0.010, background=1.8, goal=14), gogc_fraction=gogc)
    (finding,) = gc_pressure.find(case)

    assert sure == finding.confidence


def test_enough_goals_for_the_usual_room():
    n = int(room().facts.collector.pacing.summary.set_index("what").loc["headroom_bytes", "n"])

    assert [True, False] == edge(heap_headroom, room(), "headroom_goals", n)


def test_room_for_garbage():
    assert [True, False] == edge(heap_headroom, room(), "headroom_bytes", 200 * MIB)


def test_room_for_garbage_of_rss():
    """
    100 of 400 MiB.
    """
    case = answers(*every(1.0, **ROOMY), moments=(moment(400),))

    assert [True, False] == edge(heap_headroom, case, "headroom_fraction", 0.25)


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        ("spike_bytes", "beyond_lag_bytes"),
        ("spike_rates", "with_news"),
    ],
)
def test_a_spike(name, measured):
    at = getattr(spiky().facts.profiles.spike, measured)

    assert [True, False] == edge(allocation_spike, spiky(), name, at)


def test_of_a_spike_little_is_kept():
    """
    20 sightings of 500 stay in use: too little to be a jump of what is.
    """
    case = test_allocation_spike.answers(
        *range(10, 70, 10), *range(570, 630, 10), in_use=[10] * 6 + [30] * 6
    )
    kept = case.facts.profiles.spike.kept_bytes / case.facts.profiles.spike.extra_bytes

    assert found(allocation_spike, case, spike_kept_fraction=kept * (1 + 1e-9))
    assert [] == found(allocation_spike, case, spike_kept_fraction=kept * (1 - 1e-9))


def test_a_spike_is_so_many_times_the_usual():
    ratio = spiky().facts.profiles.spike.allocated_bytes / spiky().facts.profiles.spike.usual_bytes

    assert found(allocation_spike, spiky(), spike_ratio=ratio * (1 - 1e-9))
    assert [] == found(allocation_spike, spiky(), spike_ratio=ratio * (1 + 1e-9))


def test_room_under_a_limit():
    """
    1 MiB above 200: the room may reach the threshold, and no more.
    """
    room = 1 / 200

    assert found(
        memory_limit_thrash, thrash(), frequent_marking_fraction=2, limit_room_fraction=room
    )
    assert [] == found(
        memory_limit_thrash,
        thrash(),
        frequent_marking_fraction=2,
        limit_room_fraction=room * (1 - 1e-9),
    )
