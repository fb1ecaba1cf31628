"""What MemStats and runtime/metrics say of the collector, where there is no log."""

from types import SimpleNamespace

import pandas as pd
import pytest

import gomem
from gomem.analysis.collector.counters import LIMITER, CounterReading, collector_counters
from gomem.causes import forced_gc, gc_pressure, long_pauses, memory_limit_thrash
from gomem.causes.thresholds import Thresholds
from gomem.facts.callers import RuntimeCpu
from gomem.facts.moment import GOGC, GOMEMLIMIT, LIVE, MomentFacts
from gomem.releases import GoRelease, GoVersion
from gomem.text import Share
from gomem.units import MIB
from tests.builders import but, case_of, collector_row
from tests.causes.test_gc_causes import answers as of_log
from tests.causes.test_gc_causes import every

CAUSES = (gc_pressure, forced_gc, memory_limit_thrash, long_pauses)
GO_118 = GoVersion(GoRelease(18), GoRelease(18))
LIMITED = {GOMEMLIMIT: 170.0 * MIB, LIVE: 146.0 * MIB, GOGC: 100.0}


def moment(
    name, cycles, at, share=0.2, forced=0, paused_ms=0.0, goal_mib=150, allocated=None, **metrics
):
    sizes = {"NextGC": goal_mib * MIB, "HeapAlloc": 100 * MIB}
    if allocated is not None:
        sizes["TotalAlloc"] = allocated * MIB
    row = collector_row(cycles, forced, paused_ms, at, share, **sizes)
    return MomentFacts(name, memstats=row, metrics=metrics)


def answers(
    cycles=40, seconds=20.0, *, thresholds=None, metrics=None, version=None, allocated=None, **about
):
    """Two moments so many collections and seconds apart."""
    metrics = metrics or {}
    moments = (
        moment("1", 5, 100.0, goal_mib=about.get("goal_mib", 150), allocated=allocated and 0,
               **metrics),
        moment("2", 5 + cycles, 100.0 + seconds, allocated=allocated, **about, **metrics),
    )  # fmt: skip
    return case_of(moments, version or GoVersion(), thresholds=Thresholds(**(thresholds or {})))


def found(*args, **about):
    case = answers(*args, **about)
    return [finding.code for cause in CAUSES for finding in cause.find(case)]


def severity(cause, **about):
    return str(cause.find(answers(**about))[0].severity)


def test_collections_of_the_pacer_that_cost_a_tenth():
    assert ["gc-pressure"] == found(share=0.10)
    assert [] == found(share=0.0999)


def test_frequent_ones_need_cost_less():
    """
    40 in 4 s are one every 0.1 s.
    """
    assert ["gc-pressure"] == found(seconds=4.0, share=0.05)
    assert [] == found(seconds=4.0, share=0.0499)
    assert [] == found(seconds=4.001, share=0.05)


def test_where_nobody_counts_the_forced_ones_all_may_be():
    """
    As on a page of metrics, which has pauses and no forced collections.
    """
    (told,), (unknown,) = (gc_pressure.find(answers(forced=one)) for one in (0, pd.NA))

    assert ("likely", "possible") == (told.confidence, unknown.confidence)


def test_few_collections_are_a_start():
    assert ["gc-pressure"] == found(20)
    assert [] == found(19)


def test_where_others_decide_the_pacer_does_not():
    """
    Half forced leaves half of the cost to the pacer; with a limit's goal, all is the limit's.
    """
    assert ["gc-pressure", "forced-gc"] == found(share=0.2, forced=20)
    assert ["forced-gc"] == found(share=0.9, forced=21)
    assert ["gc-pressure", "forced-gc"] == found(1000, 500.0, forced=500)
    assert ["forced-gc"] == found(1000, 500.0, forced=501)
    assert ["memory-limit-thrash"] == found(metrics=LIMITED)


@pytest.mark.parametrize(
    ("forced", "cycles", "codes"),
    [
        (10, 40, ["forced-gc"]),
        (9, 36, []),
        (10, 41, []),
        (25, 100, ["forced-gc"]),
        (25, 101, []),
    ],
)
def test_forced_ones_by_number_and_share(forced, cycles, codes):
    assert codes == found(cycles, share=0.04, forced=forced)


def test_forced_ones_are_a_warning_by_what_they_cost():
    """
    A quarter of the collections is taken for a quarter of the cost.
    """
    assert "warning" == severity(forced_gc, forced=10, share=0.12)
    assert "info" == severity(forced_gc, forced=10, share=0.1199)
    assert "info" == severity(forced_gc, forced=10, share=None)


def test_nobody_counted_the_forced_ones():
    assert [] == found(share=0.04, forced=pd.NA)


def test_a_cpu_profile_says_what_the_collector_takes_of_the_cpu_that_is_used():
    """
    The counters take its share of all CPUs; a profile of the CPU that the program uses.
    """
    case = answers(metrics=LIMITED, share=0.25)
    taken = RuntimeCpu(0.88, 10.9, "cpu.pb.gz")
    profiled = case_of(
        case.facts.moments, callers=SimpleNamespace(collector_cpu=taken, collecting=())
    )

    (without,), (found,) = (memory_limit_thrash.find(one) for one in (case, profiled))
    assert without.title.endswith("; the GC has taken 25 % of the CPU since the start")
    assert found.title.endswith("; the GC takes 88 % of the CPU that the program uses")
    assert ("share of the GC", 0.88) in {(str(one.field), one.value) for one in found.evidence}


def test_a_goal_below_what_gogc_makes_is_the_limits():
    """
    146 MiB live make a goal of 292 MiB by GOGC=100.
    """
    assert ["memory-limit-thrash"] == found(metrics=LIMITED, goal_mib=291)
    assert ["gc-pressure"] == found(metrics=LIMITED, goal_mib=292)
    assert ["gc-pressure"] == found(metrics={**LIMITED, GOMEMLIMIT: 2.0**63})
    assert ["gc-pressure"] == found(metrics={**LIMITED, GOGC: 2.0})
    for name in (LIVE, GOGC):
        assert ["gc-pressure"] == found(metrics=_less(name))


def _less(name):
    return {key: value for key, value in LIMITED.items() if key != name}


def test_a_limit_costs_or_leaves_no_room():
    """
    Room of 5 % above 140 MiB is 7 MiB.
    """
    live = LIMITED | {LIVE: 140.0 * MIB}

    def thrash(**about):
        return found(metrics=live, **about)

    assert ["memory-limit-thrash"] == thrash(share=0.10)
    assert [] == thrash(share=0.0999)
    assert ["memory-limit-thrash"] == thrash(share=0.05, seconds=4.0)
    assert [] == thrash(share=0.0499, seconds=4.0)
    assert ["memory-limit-thrash"] == thrash(share=0.01, seconds=4.0, goal_mib=147)
    assert [] == thrash(share=0.01, seconds=4.0, goal_mib=147.125)
    assert [] == thrash(share=0.01, seconds=4.01, goal_mib=147)
    assert ["memory-limit-thrash"] == found(20, metrics=live, share=0.5)
    assert [] == found(19, metrics=live, share=0.5)


def test_a_limit_that_takes_a_quarter_is_critical():
    assert "critical" == severity(memory_limit_thrash, metrics=LIMITED, share=0.25)
    assert "warning" == severity(memory_limit_thrash, metrics=LIMITED, share=0.2499)


def confidence(cause, **about):
    return cause.find(answers(**about))[0].confidence


def test_a_share_since_the_start_has_stops_in_it_too():
    """
    A fifth of the CPU; the world stood still for a tenth of the time between the moments, and for
    a little more.
    """
    assert "likely" == confidence(gc_pressure, paused_ms=2000)
    assert "possible" == confidence(gc_pressure, paused_ms=2001)
    assert "possible" == confidence(gc_pressure, paused_ms=pd.NA)


def test_a_share_that_the_stops_of_the_moments_may_be_alone_is_a_note():
    """
    A fifth of the CPU, less what stops took of the time: a tenth, and less.
    """
    assert "warning" == severity(gc_pressure, paused_ms=2000)
    assert "info" == severity(gc_pressure, paused_ms=2001)
    assert "warning" == severity(gc_pressure, paused_ms=pd.NA)


def test_where_goals_leave_little_room_a_limit_may_make_them():
    """
    Goals of 150 MiB: 50 MiB are allocated between collections, and a little less.
    """
    assert "likely" == confidence(gc_pressure, allocated=50 * 40)
    assert "possible" == confidence(gc_pressure, allocated=49 * 40)
    (cramped,) = gc_pressure.find(answers(allocated=30 * 40))
    assert (
        "The heap goal is only 25 % above the live heap: check for a low GOGC" in cramped.next_step
    )


SINCE_FIVE = {LIMITER: 6.0}  # the limiter was on after the first moment's fifth collection


def test_next_to_no_room_is_a_limit_s():
    """
    147 MiB of goals, 7 MiB between collections, forty of them; the limiter was on, or it was not.
    """
    cramped = {"allocated": 7 * 40, "goal_mib": 147}

    assert ["memory-limit-thrash"] == found(**cramped)
    assert ["gc-pressure"] == found(**cramped | {"allocated": 7 * 40 + 1})
    assert ["gc-pressure"] == found(**cramped, version=GO_118)
    assert ["gc-pressure"] == found(**cramped, metrics={GOMEMLIMIT: 2.0**63})
    assert [] == found(19, **cramped | {"allocated": 7 * 19})
    assert "possible" == confidence(memory_limit_thrash, **cramped)
    assert "likely" == confidence(memory_limit_thrash, **cramped, metrics=SINCE_FIVE)
    assert "possible" == confidence(memory_limit_thrash, **cramped, metrics={LIMITER: 5.0})


@pytest.mark.parametrize(
    ("about", "codes"),
    [
        pytest.param({"share": 0.10}, ["memory-limit-thrash"], id="dear"),
        pytest.param({"share": 0.0999}, [], id="cheap"),
        pytest.param({"share": 0.11, "paused_ms": 200}, ["memory-limit-thrash"], id="marking"),
        pytest.param({"share": 0.11, "paused_ms": 201}, ["gc-pressure"], id="stops"),
        pytest.param({"share": 0.10, "paused_ms": pd.NA}, ["memory-limit-thrash"], id="unknown"),
        pytest.param({"share": 0.01, "seconds": 4.0}, ["memory-limit-thrash"], id="many"),
        pytest.param({"share": 0.01, "seconds": 4.001}, [], id="fewer"),
        pytest.param(
            {"share": None, "metrics": SINCE_FIVE}, ["memory-limit-thrash"], id="held down"
        ),
    ],
)
def test_no_room_is_a_finding_where_collections_cost_much_or_are_many(about, codes):
    assert codes == found(allocated=7 * 40, goal_mib=147, **about)


def test_no_room_says_what_is_live_and_what_is_allocated():
    (said,) = memory_limit_thrash.find(
        answers(allocated=7 * 40, goal_mib=147, share=0.25, metrics=SINCE_FIVE)
    )

    assert said.title == (
        "The heap has hardly any headroom, as a memory limit leaves it: the goal is 7 MiB above "
        "140 MiB of live heap; the GC has taken 25 % of the CPU since the start, with a cycle "
        "every 500 ms on average"
    )
    assert ("critical", 140 * MIB, 0.25) == (str(said.severity), said.bytes, said.cpu_fraction)
    evidence = {one.field: one.value for one in said.evidence}
    assert 147 * MIB == evidence["lowest NextGC"]
    assert 280 * MIB == evidence["TotalAlloc, from the first snapshot to the last"]
    assert 6 == evidence[f"last GC with the GC CPU limiter (50 %) active ({LIMITER})"]
    assert "warning" == severity(memory_limit_thrash, allocated=7 * 40, goal_mib=147, share=0.2499)


def test_stops_that_are_long_on_average():
    """
    40 × 10 ms, and a little less; 3 × 10 ms, and two.
    """
    assert ["long-pauses"] == found(share=0, paused_ms=400)
    assert [] == found(share=0, paused_ms=399)
    assert ["long-pauses"] == found(3, share=0, paused_ms=30)
    assert [] == found(2, share=0, paused_ms=20)


def test_a_mean_does_not_say_whether_most_stops_are_long():
    """
    40 of 100 ms, and a little less: a note until users notice. Of the same 40 a log may show that
    one alone took all, so it is never more than possible.
    """
    assert "warning" == severity(long_pauses, paused_ms=4000, seconds=4000.0)
    assert "info" == severity(long_pauses, paused_ms=3999, seconds=4000.0)
    assert "info" == severity(long_pauses, paused_ms=3999, seconds=4.0)
    assert "possible" == long_pauses.find(answers(paused_ms=4000))[0].confidence
    assert "possible" == long_pauses.find(answers(paused_ms=3999))[0].confidence


def remembering(*stops_ms, cycles=40, seconds=20.0, **thresholds):
    """What MemStats remember of the last collections, the others of which took 1 ms."""
    case = answers(cycles, seconds, paused_ms=0, share=0, thresholds=thresholds)
    lengths = [*stops_ms, *[1] * (cycles - len(stops_ms))]
    pauses = pd.DataFrame(
        {
            "number": range(6, 6 + cycles),
            "end": pd.date_range("2026", periods=cycles, freq="s", tz="UTC"),
            "pause_seconds": [one / 1e3 for one in lengths],
        }
    )
    return long_pauses.find(but(case, pauses=pauses))


def test_stops_that_memstats_remember_are_judged_one_by_one():
    """
    Three of 40 that take 10 ms or more, and a little less; one that users notice, and two that are
    shorter. Most of them, in a hundredth of the time and in less.
    """
    (some,) = remembering(10, 11, 12.5)

    assert some.title == "Long GC pauses: up to 12 ms, in 3 of 40 collections"
    assert ("info", "possible") == (str(some.severity), some.confidence)
    assert "Most pauses are short" in some.mechanism
    evidence = {one.field: one.value for one in some.evidence}
    assert (8, 0.0125) == (
        evidence["GC number of the longest PauseNs"], evidence["longest PauseNs"],
    )  # fmt: skip
    assert [] == remembering(10, 11, 9.99)
    assert ["info"] == [str(one.severity) for one in remembering(100)]
    assert [] == remembering(99.9, 99.9)
    assert "warning" == str(remembering(100, 100, 100)[0].severity)

    (most,) = remembering(*[10] * 20)
    assert ("warning", "likely") == (str(most.severity), most.confidence)
    assert "Most stops" not in most.mechanism
    assert "info" == str(remembering(*[10] * 20, seconds=20.1)[0].severity)
    assert "possible" == remembering(*[10] * 19)[0].confidence


def test_what_stops_took_of_the_time_is_told_where_the_time_is_known():
    """
    0.4 s of 20, and of no time.
    """
    (told,) = long_pauses.find(answers(paused_ms=400))
    (silent,) = long_pauses.find(answers(paused_ms=400, seconds=0.0))

    assert told.title == "Long GC pauses: 10 ms on average over 40 collections, 2 % of the time"
    assert () == silent.title.of(Share)


def test_what_stops_took_is_no_cost_of_marking():
    """
    3 of 20 CPU seconds are the collector's; the world stood still for 0.499 s of 10, or for 0.501.
    """

    def told(paused_ms):
        spent = {"/cpu/classes/gc/total:cpu-seconds": 3.0, "/cpu/classes/total:cpu-seconds": 20.0}
        first = moment("1", 5, 100.0, **dict.fromkeys(spent, 0.0))
        last = moment("2", 45, 110.0, paused_ms=paused_ms, **spent)
        return gc_pressure.find(case_of((first, last), GoVersion()))

    (finding,) = told(499)
    assert "The GC takes 15 % of the CPU, with a cycle every 250 ms" in finding.title
    assert pytest.approx(0.15) == finding.cpu_fraction
    assert [] == told(501)


def test_titles_say_since_when():
    (since_start,) = gc_pressure.find(answers())
    assert (
        "has taken 20 % of the CPU since the start, with a cycle every 500 ms on av"
        in since_start.title
    )
    assert "likely" == since_start.confidence

    (alone,) = gc_pressure.find(case_of((moment("1", 40, 100.0),), GoVersion()))
    assert alone.title.endswith("of the CPU since the start")
    assert ("warning", "possible", True) == (str(alone.severity), alone.confidence, alone.now)


def test_what_filling_the_heap_cost_is_over_once_no_collection_runs():
    """
    40 collections until 1, and none from there to 3.
    """
    still = tuple(moment(name, 40, 100.0) for name in "123")

    (finding,) = gc_pressure.find(case_of(still, GoVersion()))

    said = "The GC took 20 % of the CPU until its last cycle; no cycle since snapshot 1"
    assert said == finding.title
    assert ("info", "likely", False) == (str(finding.severity), finding.confidence, finding.now)


def test_forced_collections_of_the_start_are_over_likewise():
    still = tuple(moment(name, 40, 100.0, forced=20) for name in "12")

    (over,) = forced_gc.find(case_of(still, GoVersion()))
    (now,) = forced_gc.find(case_of(still[1:], GoVersion()))

    assert over.title.endswith("about 10 % of the CPU; none since snapshot 1")
    assert now.title.endswith("about 10 % of the CPU")
    assert ("info", False) == (str(over.severity), over.now)
    assert ("warning", True) == (str(now.severity), now.now)


def test_a_log_speaks_before_the_counters():
    """
    With a log in which nothing is found, nothing is found in the counters.
    """
    case = of_log(*every(1.0), moments=answers(share=0.5).facts.moments)

    assert case.facts.counters.cpu_fraction == 0.5
    assert [] == gc_pressure.find(case)


ROW = (
    "2026/11/21 03:10:{:02} HeapAlloc={} TotalAlloc={} Sys={} HeapReleased=1048576 NextGC={} "
    "NumGC={}\n"
)


def logged(tmp_path, words="", *, live=50.0, goal=50.01, sys=71, gcs=15, step=20, rest=""):
    """A program's own log: six readings in fifty seconds, with so many GCs between two."""
    sizes = [round(size * MIB) for size in (live, 200, sys, goal)]
    rows = [
        ROW.format(
            10 * place, sizes[0], sizes[1] + place * step * MIB, *sizes[2:], 40 + place * gcs
        )
        for place in range(6)
    ]
    (tmp_path / "mail.txt").write_text(f"{words}\n\n{''.join(rows)}\n{rest}")
    return gomem.diagnose(tmp_path / "mail.txt")


LIMITED_TO_64 = "The store (arm64) runs with GOMEMLIMIT=64MiB. Go 1.22."


def test_a_log_at_its_goal_and_above_a_stated_limit_is_too_tight(tmp_path):
    diagnosis = logged(tmp_path, LIMITED_TO_64)
    (finding, *_) = diagnosis.findings

    assert ("memory-limit-thrash", "warning", "likely") == (
        finding.code,
        f"{finding.severity}",
        finding.confidence,
    )
    assert {"49 MiB", "64 MiB", "667 ms"} <= {f"{part}" for part in finding.title.parts}
    assert "From about " in diagnosis.verdict.next_step
    assert "not used" not in diagnosis.verdict.further


@pytest.mark.parametrize(
    ("words", "about"),
    [
        pytest.param(LIMITED_TO_64, {"sys": 60}, id="below the limit"),
        pytest.param(LIMITED_TO_64, {"live": 40.0}, id="a heap below its goal"),
        pytest.param(LIMITED_TO_64, {"gcs": 3}, id="few GCs"),
    ],
)
def test_a_log_shows_no_tight_limit(tmp_path, words, about):
    found = logged(tmp_path, words, **about).findings

    assert "memory-limit-thrash" not in [finding.code for finding in found]


def test_a_page_without_a_time_below_a_log_hides_no_pace(tmp_path):
    rest = f"# HeapAlloc = {50 * MIB + 77}\n# NextGC = {50 * MIB}\n# NumGC = 120\n"
    counters = logged(tmp_path, rest=rest).facts.counters

    assert (75, 50.0) == (counters.cycles, counters.seconds)


def test_the_last_readings_at_the_goal_are_counted_alone():
    rows = [
        pd.Series({"NumGC": gcs, "HeapAlloc": heap * MIB, "NextGC": 100 * MIB})
        for gcs, heap in ((1, 20), (9, 60), (20, 100), (60, 101), (99, 100))
    ]
    readings = [CounterReading(row, {}, "log", "", f"{at}") for at, row in enumerate(rows)]
    few, late = (collector_counters(readings[:-1]), collector_counters(readings))

    assert (59, False) == (few.cycles, few.is_always_collecting)
    assert (79, True) == (late.cycles, late.is_always_collecting)
