"""What a log is found to show, and what it is not: each cause of the collector's own."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from gomem.analysis.collector.steps import STOPS
from gomem.causes import (
    data_thin,
    forced_gc,
    gc_pressure,
    heap_growth,
    heap_headroom,
    long_pauses,
    memory_limit_thrash,
)
from gomem.causes.cause import Case
from gomem.causes.collecting import collector_is_busy
from gomem.causes.finding import Severity
from gomem.causes.thresholds import Thresholds
from gomem.facts.callers import Caller, RuntimeCpu
from gomem.facts.moment import MomentFacts
from gomem.facts.settings import ENVIRONMENT, GOALS, LOG, METRICS, Setting
from gomem.releases import GoVersion
from gomem.text import Command, Share
from gomem.units import MIB
from tests.builders import CAPTURES, FIXTURES, but, case_of, diagnosed
from tests.gc_logs import captured_facts, facts_of
from tests.views.ledgers import ledger

CAUSES = (gc_pressure, forced_gc, memory_limit_thrash, long_pauses, heap_growth, heap_headroom)
MANY = 40


def answers(*changes, moments=(), thresholds=None, **usual) -> Case:
    """A log, of a program with GOGC=100 if nothing else is said."""
    facts = facts_of(*changes, **{"gogc_fraction": 1.0} | usual)
    return case_of(moments, GoVersion(), collector=facts, thresholds=thresholds or Thresholds())


def every(seconds, **change):
    """Many collections so far apart."""
    return [{"at": seconds * number, **change} for number in range(1, MANY + 1)]


def found(case: Case) -> list[str]:
    return [finding.code for cause in CAUSES for finding in cause.find(case)]


def test_a_usual_log_shows_nothing():
    assert [] == found(answers(*every(1.0)))


def test_no_log_shows_nothing():
    assert [] == found(case_of((), GoVersion()))


def test_a_log_without_a_collection_shows_nothing():
    assert [] == found(answers())


def test_frequent_collections_that_cost_are_pressure():
    """
    Every 10 ms a collection that marks for 1.1 ms of CPU of 2 Ps: 5.5 %, a hundred a second.
    """
    (finding,) = gc_pressure.find(answers(*every(0.010, background=0.8)))

    assert ("gc-pressure", Severity.WARNING) == (finding.code, finding.severity)
    assert "possible" == finding.confidence
    assert "The GC takes 5 % of the CPU, with a cycle every 10 ms" == finding.title
    rates = [each.value for each in finding.evidence if each.unit == "B/s"]
    assert pytest.approx([900 * MIB], rel=0.01) == rates
    assert "half as many GCs and 10 MiB more heap: GOGC=200" in finding.next_step


def test_the_gogc_that_the_capture_has_is_doubled():
    case = answers(*every(0.010, background=0.8))
    settings = replace(case.facts.settings, gogc=Setting("GOGC", 4.0, METRICS, "metrics.json"))
    (finding,) = gc_pressure.find(but(case, settings=settings))

    assert "Or double GOGC (now 400)" in finding.next_step
    assert "GOGC=800" in [part.value for part in finding.next_step.of(Command)]


@pytest.mark.parametrize(
    ("gogc", "is_low"),
    [
        pytest.param(Setting("GOGC", 0.2, METRICS, "metrics.json"), True, id="stated"),
        pytest.param(Setting("GOGC", 0.2, GOALS, "gc.log", 0.18, 0.22), True, id="inferred"),
        pytest.param(Setting("GOGC", 0.4, GOALS, "gc.log", 0.2, 0.9), False, id="within 90"),
        pytest.param(Setting("GOGC", 0.51, METRICS, "metrics.json"), False, id="a little below"),
    ],
)
def test_a_low_gogc_goes_back_to_the_default_first(gogc, is_low):
    """
    The step names its cost: the goal becomes twice the live heap of the last collection.
    """
    case = answers(*every(0.010, background=0.8))
    settings = replace(case.facts.settings, gogc=gogc)
    (finding,) = gc_pressure.find(but(case, settings=settings))

    assert is_low == finding.next_step.startswith("Set GOGC back to the default (now")
    assert is_low == ("the heap goal becomes about 20 MiB" in finding.next_step)
    assert is_low == ("double GOGC" not in finding.next_step)
    assert "See who allocates" in finding.next_step


@pytest.mark.parametrize(
    ("gogc", "is_found"),
    [
        pytest.param(Setting("GOGC", 0.2, METRICS, "metrics.json"), True, id="20"),
        pytest.param(Setting("GOGC", 0.6, METRICS, "metrics.json"), False, id="60"),
        pytest.param(Setting("GOGC", 0.2, LOG, "gc.log", 0.18, 0.22), True, id="inferred"),
        pytest.param(Setting("GOGC", 0.3, LOG, "gc.log", 0.2, 0.9), False, id="up to 90"),
    ],
)
def test_a_low_gogc_is_pressure_from_a_twentieth_on(gogc, is_found):
    """
    Every 200 ms 24 ms of CPU of 2 Ps: 6 %, which a GOGC of 100 would make a fifth of.
    """
    case = answers(*every_cpu(0.200, 24.0))
    findings = gc_pressure.find(but(case, settings=replace(case.facts.settings, gogc=gogc)))

    assert ["possible"] * is_found == [finding.confidence for finding in findings]
    assert is_found == any(f"GOGC={gogc.text}" in finding.title for finding in findings)


@pytest.mark.parametrize(
    ("gogc", "milliseconds", "is_busy"),
    [
        pytest.param(0.2, 16.0, True, id="a low GOGC, 4 %"),
        pytest.param(0.2, 4.0, False, id="a low GOGC, 1 %"),
        pytest.param(1.0, 16.0, False, id="the default"),
    ],
)
def test_a_low_gogc_that_keeps_the_collector_running_is_not_healthy(gogc, milliseconds, is_busy):
    case = answers(*every_cpu(0.200, milliseconds))
    settings = replace(case.facts.settings, gogc=Setting("GOGC", gogc, METRICS, "metrics.json"))

    assert is_busy == collector_is_busy(but(case, settings=settings).facts, case.thresholds)


def every_cpu(seconds, milliseconds):
    """Collections with so much CPU, all of it background marking."""
    return every(seconds, assist=0, background=milliseconds)


def test_frequent_collections_that_cost_little_are_none():
    """
    1 ms of 2 Ps times 50 ms is 1 %.
    """
    assert [] == found(answers(*every_cpu(0.050, 1.0)))


def test_rare_collections_are_pressure_from_a_tenth_of_the_cpu_on():
    """
    Two seconds apart, of 2 Ps: 480 ms of CPU are 12 %, 360 ms are 9 %.
    """
    assert ["gc-pressure"] == found(answers(*every_cpu(2.0, 480)))
    assert [] == found(answers(*every_cpu(2.0, 360)))


def doubling(count):
    """A heap that doubles from 1 MiB on, and marks for a second and a half each time."""
    heaps = [{"live": 2**n, "start": 2**n, "end": 2**n + 1, "goal": 2**n + 2} for n in range(count)]
    lines = every_cpu(2.0, 1500)[:count]
    return [line | heap for line, heap in zip(lines, heaps, strict=True)]


def test_a_start_up_is_no_pressure():
    """
    Fifteen doublings, however busy, end: each finds a heap that has grown.
    """
    case = answers(*doubling(15))

    assert [] == gc_pressure.find(case)
    assert "0 GCs without heap growth available, 20 required" in thin(case)


def test_few_collections_that_cost_much_are_pressure():
    """
    Eight in 16 s, of a heap that stays: 6 s of CPU say it, though eight are few.
    """
    (finding,) = gc_pressure.find(answers(*every_cpu(2.0, 750)[:8]))

    assert "likely" == finding.confidence
    assert 750 / 4000 == pytest.approx(finding.cpu_fraction)


def thin(case):
    """What rules had too little of."""
    lacks = [cause.lack(case) for cause in (gc_pressure, forced_gc, memory_limit_thrash)]
    found = data_thin.find(replace(case, lacks=tuple(lack for lack in lacks if lack)))
    assert all((Severity.INFO, "data-thin") == (one.severity, one.code) for one in found)
    return " ".join(one.title for one in found)


@pytest.mark.parametrize(
    ("log", "advises"),
    [
        ("gctrace/restarted-go1.16.15.log", False),
        ("captures/alloc-pressure-before-go1.27.3/gctrace.log", True),
    ],
)
def test_a_memory_limit_is_advised_only_where_the_release_has_one(log, advises):
    (finding,) = gc_pressure.find(diagnosed(FIXTURES / log).case)

    assert "Or double GOGC" in finding.next_step
    assert advises == ("set GOMEMLIMIT too" in finding.next_step)


def test_what_was_seen_too_little_of_is_said():
    """
    Eight collections in 80 ms: 5.5 % of the CPU, and 9 ms of it in all.
    """
    case = answers(*every(0.010, background=0.8)[:8])

    assert [] == found(case)
    assert (
        "Insufficient evidence for gc-pressure (marking takes 6 % of the CPU): 7 GCs without heap "
        "growth available, 20 required"
    ) == thin(case)


def test_a_heap_that_only_filled_says_so():
    """
    Six collections, each of which found more than the one before.
    """
    about = diagnosed(FIXTURES / "captures" / "zeroing-go1.24.2").case

    told = gc_pressure.lack(about)

    assert told is not None
    assert "0 GCs without heap growth" == told.had


def test_nothing_is_thin_where_nothing_is_seen():
    assert "" == thin(answers(*every(1.0)[:3]))
    assert "" == thin(answers())
    assert "" == thin(case_of((), GoVersion()))


def test_a_few_collections_at_the_limit_say_so():
    """
    The shape of golang/go#58106: eight collections in 17 s whose goals lie at the live heap, each
    marking for 2.6 s of 3 Ps.
    """
    lines = [
        {
            "number": 157 + n, "at": 1071 + 2.4 * n, "p": 3, "assist": 900, "background": 1700,
            "live": 2050, "start": 2050, "end": 2180, "goal": 2050,
            "stacks": "48 MB stacks, 0 MB globals, ",
        }
        for n in range(8)
    ]  # fmt: skip

    (finding,) = memory_limit_thrash.find(answers(*lines, gogc_fraction=None))

    assert (Severity.CRITICAL, "likely") == (finding.severity, finding.confidence)
    assert 2.6 / 7.2 == pytest.approx(finding.cpu_fraction)
    assert (
        "A memory limit is too tight: the live heap, 2 GiB, is at its goal; marking takes 36 % of "
        "the CPU" == finding.title
    )
    evidence = {each.field: each.value for each in finding.evidence}
    assert (7, 2.4) == (evidence["limit-driven GCs"], evidence["interval_p50_seconds"])


def test_a_limit_that_is_known_makes_thrash_certain():
    case = answers(*every(0.010, **LIMITED, background=2), gogc_fraction=None)
    facts = replace(case.facts.collector, memory_limit_bytes=float(210 * MIB))

    (finding,) = memory_limit_thrash.find(but(case, collector=facts))

    assert "certain" == finding.confidence
    assert "GOGC (100 by default) sets the heap goal" in finding.next_step
    facts = replace(facts, gogc_fraction=1.0)
    (finding,) = memory_limit_thrash.find(but(case, collector=facts))
    assert "sets the heap goal in place of the limit" in finding.next_step
    assert "GOMEMLIMIT is too tight: 200 MiB live under a limit of 210 MiB" in finding.title


def test_what_go_claims_is_said_where_it_exceeds_the_limit():
    found = diagnosed(FIXTURES / "laboratory/captures/tramcastd-c.tar.gz").findings[0]

    assert "memory-limit-thrash" == found.code
    assert ", and Go retains more than the limit; marking takes" in found.title


def test_the_sites_stand_beside_the_pressure():
    """
    With a heap profile there, the finding names who allocates.
    """
    (finding,) = diagnosed(FIXTURES / "captures/alloc-pressure-before-go1.27.3").findings[:1]

    assert "gc-pressure" == finding.code
    assert "Allocate less in main.render" in finding.next_step
    assert "Consider a sync.Pool in main.render: its objects live" in finding.next_step
    fields = [one.field for one in finding.evidence]
    assert any("main.render (handler.go:" in field for field in fields)


@pytest.mark.parametrize(("forced", "codes"), [(9, []), (10, ["forced-gc"]), (40, ["forced-gc"])])
def test_ten_forced_collections_in_forty_are_a_finding(forced, codes):
    lines = every(1.0)
    for line in lines[:forced]:
        line["forced"] = " (forced)"

    assert codes == found(answers(*lines))


def test_forced_collections_among_many_others_are_none():
    """
    Heap profiles fetched now and then: a quarter is not reached.
    """
    lines = [{"forced": " (forced)" if number % 5 == 0 else ""} for number in range(100)]

    assert [] == found(answers(*lines))


LIMITED = {"live": 200, "start": 201, "end": 202, "goal": 201}


def test_collections_without_room_under_a_limit_are_thrash():
    (finding,) = memory_limit_thrash.find(answers(*every(0.010, **LIMITED, background=2)))

    assert ("memory-limit-thrash", Severity.WARNING) == (finding.code, finding.severity)
    assert 200 * MIB == finding.bytes
    assert "certain" == finding.confidence


def test_thrash_that_takes_a_quarter_of_the_cpu_is_critical():
    (finding,) = memory_limit_thrash.find(answers(*every(0.010, **LIMITED, background=6)))

    assert Severity.CRITICAL == finding.severity


def test_a_limit_that_leaves_room_is_no_thrash():
    """
    The goal is the limit's and not GOGC's, and collections are rare.
    """
    assert [] == found(answers(*every(1.0, live=200, goal=300, start=280, end=281)))


def test_a_limit_without_room_is_thrash_however_cheap():
    """
    1 MiB above 200 live: half a per cent. What is live grows a little, and it costs all the CPU.
    """
    assert ["memory-limit-thrash"] == found(answers(*every(0.010, **LIMITED)))


def test_stops_are_not_counted_as_cost():
    """
    The log prints a stop from its request on, times all Ps; on a busy machine they go on running.
    """
    assert [] == found(answers(*every(0.010, first=1.0, background=0.5)))


def test_thrash_is_not_pressure_too():
    assert ["memory-limit-thrash"] == found(answers(*every(0.010, **LIMITED, background=2)))


def test_where_gogc_is_inferred_thrash_is_likely():
    case = answers(*every(0.010, **LIMITED, background=2), gogc_fraction=None)

    assert "likely" == memory_limit_thrash.find(case)[0].confidence


@pytest.mark.parametrize(("count", "codes"), [(2, []), (3, ["long-pauses"])])
def test_stops_of_ten_milliseconds_are_long_when_they_come_again(count, codes):
    """
    One or two come from the kernel on any busy machine.
    """
    lines = every(1.0)
    for line in lines[:count]:
        line["first"] = 12

    assert codes == found(answers(*lines))


def test_three_long_stops_in_a_thousand_are_none():
    lines = [{"first": 12 if number < 3 else 0.01} for number in range(1000)]

    assert [] == found(answers(*lines))


def test_a_stop_of_a_tenth_of_a_second_is_long_once():
    (finding,) = long_pauses.find(answers(*every(1.0), {"first": 0.05, "last": 120, "at": 50.0}))

    assert "Long GC pauses: up to 120 ms, in 1 of 41 collections" == finding.title
    assert "The longest STW phase here was mark termination" in finding.mechanism
    assert ("mark termination of that GC", 0.12) in [
        (one.field, one.value) for one in finding.evidence
    ]


def test_a_heap_that_fills_and_stays_is_no_growth():
    lines = [{"live": min(10 * n, 100), "goal": 205, "start": 180, "end": 181} for n in range(60)]

    assert "heap-growth" not in found(answers(*lines))


ROOMY = {"live": 100, "start": 180, "end": 182, "goal": 200}
ROOMIER = ROOMY | {"start": 270, "end": 273, "goal": 300}  # than GOGC=100 leaves


def test_room_for_garbage_is_worth_a_note():
    (finding,) = heap_headroom.find(answers(*every(1.0, **ROOMIER)))

    assert ("heap-headroom", Severity.INFO) == (finding.code, finding.severity)
    assert 200 * MIB == finding.bytes


def test_the_room_of_the_default_explains_an_rss_and_nothing_else():
    assert [] == heap_headroom.find(answers(*every(1.0, **ROOMY)))


def moment(rss_mib):
    return MomentFacts("1", ledger=ledger(rss_mib * MIB, heap_objects=rss_mib * MIB))


def test_room_is_with_baseline_rss():
    """
    100 MiB are a third of 300 MiB, and not a quarter of 1 GiB.
    """
    (finding,) = heap_headroom.find(answers(*every(1.0, **ROOMY), moments=(moment(300),)))
    assert "33 % of RSS" in finding.title

    assert [] == found(answers(*every(1.0, **ROOMY), moments=(moment(1024),)))


def test_thresholds_are_the_users():
    """
    Whoever cares for milliseconds can say so.
    """
    case = answers(*every(1.0, first=2))
    strict = replace(case, thresholds=Thresholds(pause_seconds=0.001))

    assert [] == found(case)
    assert ["long-pauses"] == found(strict)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_evidence_is_in_the_log(path):
    """
    What a finding says of the longest stop stands in the line that it names.
    """
    facts = captured_facts(path)
    case = case_of((), GoVersion(), collector=facts, thresholds=Thresholds(worst_pause_seconds=0.0))

    values = {one.field: one.value for one in long_pauses.find(case)[0].evidence}

    row = facts.cycles.set_index("line").loc[values["longest STW phase, line of the log"]]
    assert values["longest STW phase, GC number"] == row["number"]
    assert values["longest pause"] == pytest.approx(sum(row[name] for name in STOPS))


def test_an_interval_that_the_clock_does_not_tell_is_not_nothing():
    """
    The log tells a start to 1 ms: three collections in one of them are not 0 s apart.
    """
    lines = [{"at": 0.001 * (n // 3), "background": 0.8} for n in range(60)]

    (finding,) = gc_pressure.find(answers(*lines))

    assert "with a cycle every 1 ms or less" in finding.title


@pytest.mark.parametrize(("count", "told"), [(99, False), (100, True)])
def test_a_p99_takes_a_hundred(count, told):
    """
    Of fewer it is just the longest.
    """
    (finding,) = long_pauses.find(answers(*[{"first": 120}] * count))

    assert told == ("stw_p99_seconds" in [one.field for one in finding.evidence])


@pytest.mark.parametrize(
    ("fraction", "seconds", "found"),
    [(0.4, 2.0, True), (0.2, 2.0, False), (0.4, 0.5, False)],
    ids=["most of a second", "a fifth", "too little CPU to tell"],
)
def test_a_cpu_profile_alone_tells_what_the_collector_takes(fraction, seconds, found):
    taken = RuntimeCpu(fraction, seconds, "cpu.pb.gz")

    findings = gc_pressure.find(
        case_of(callers=SimpleNamespace(collector_cpu=taken, collecting=()))
    )

    assert found == bool(findings)
    for one in findings:
        assert ("warning", "possible", None) == (
            str(one.severity),
            one.confidence,
            one.cpu_fraction,
        )
        assert [fraction] == [share.value for share in one.title.of(Share)]


def test_who_forces_collections_in_a_cpu_profile_is_no_pressure():
    """
    Nothing counts collections, but the profile has runtime.GC on its stacks.
    """
    taken = RuntimeCpu(0.6, 4.0, "cpu.pb.gz")
    caller = Caller("main.commit", "runtime.GC", "main.go", 7, 1.0, "cpu.pb.gz")
    elsewhere = replace(caller, path="goroutine.pb.gz")

    both = SimpleNamespace(collector_cpu=taken, collecting=(caller,))
    (found,) = forced_gc.find(case_of(callers=both))
    assert [] == gc_pressure.find(case_of(callers=both))
    assert ("possible", ["main.commit"]) == (
        found.confidence, [site.own_function for site in found.sites],
    )  # fmt: skip

    other = SimpleNamespace(collector_cpu=taken, collecting=(elsewhere,))
    assert [] == forced_gc.find(case_of(callers=other))
    assert [gc_pressure.CAUSE.code] == [
        one.code for one in gc_pressure.find(case_of(callers=other))
    ]


@pytest.mark.parametrize(
    ("is_set", "source"), [(False, "the default: not set in api.env"), (True, "environment")]
)
def test_an_environment_that_does_not_set_gogc_is_not_its_source(is_set, source):
    case = answers(*every(0.010, **LIMITED, background=2))
    started = Setting("GOGC", 1.0, ENVIRONMENT, "api.env", is_set=is_set)
    case = but(case, settings=replace(case.facts.settings, gogc=started))
    (finding,) = memory_limit_thrash.find(case)

    (said,) = (row.value for row in finding.evidence if row.field == "source of GOGC")
    assert said.startswith("the default") == (not is_set)
    assert is_set or source == said


def test_long_pauses_of_the_start_alone_are_none_of_a_log_that_goes_on():
    start = [{"at": 0.1 * number, "first": 22} for number in range(1, 5)]
    late = every(1.5)[1:]

    assert ["long-pauses"] == found(answers(*start))
    assert [] == found(answers(*start, *late))
    assert ["long-pauses"] == found(answers(*start, *late, *[{"at": 90.0, "first": 22}] * 3))
