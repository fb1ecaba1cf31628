"""Room for garbage, seen at one moment: why RSS is twice what a heap profile shows."""

import math
from dataclasses import replace

import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.skew import Skew
from gomem.analysis.profiles.published import InUseTotals
from gomem.causes.finding import Severity
from gomem.causes.heap_headroom import find
from gomem.facts.moment import LIVE
from gomem.facts.settings import Setting, Settings
from gomem.releases import GoRelease, GoVersion
from gomem.text import Bytes
from gomem.units import MIB
from tests.builders import but, case_of
from tests.causes.situations import answers, facts
from tests.gc_logs import facts_of

HEAP = {"heap_mib": 60, "HeapAlloc": 50, "HeapInuse": 50, "HeapIdle": 14, "HeapReleased": 4}
SMALL = {"headroom_bytes": 4 * MIB}


def moment(live_mib: int | None = 30, **about):
    """30 MiB live, 50 of objects, 60 in the arenas resident: the goal is 1.1 × 60."""
    metrics = {} if live_mib is None else {LIVE: float(live_mib * MIB)}
    return facts(metrics=metrics, **{**HEAP, "NextGC": 60, **about})


def limited(goal_mib: int):
    """The same, with a goal that GOMEMLIMIT sets."""
    plain = moment()
    heap = plain.heap.copy()
    heap["limit_goal_bytes"] = goal_mib * MIB
    return replace(plain, heap=heap)


def test_what_is_resident_beyond_the_live_heap_is_garbage_and_free_room():
    """
    60 - 30 = 30, of which 50 - 30 = 20 are garbage; with 1 of program and the stack, RSS is 61.
    """
    (finding,) = find(answers(moment(), **SMALL))

    assert (30 * MIB, Severity.INFO, "certain") == (
        finding.bytes, finding.severity, finding.confidence,
    )  # fmt: skip
    assert finding.title.startswith(
        "GC headroom: 30 MiB (49 % of RSS) on top of 30 MiB of live heap"
    )


def test_what_lies_above_the_goal_is_kept_and_no_room():
    """
    1.1 × 40 = 44, less 30.
    """
    (finding,) = find(answers(moment(NextGC=40), **SMALL, headroom_fraction=0))

    assert 14 * MIB == finding.bytes
    assert [14 * MIB, 30 * MIB] == [size.value for size in finding.title.of(Bytes)]


def test_what_was_never_touched_is_no_room_in_rss():
    (finding,) = find(answers(moment(heap_mib=50), **SMALL))

    assert 20 * MIB == finding.bytes


def test_what_is_retained_beyond_the_next_goal_is_not_gogcs():
    """
    50 MiB in spans, 12 of them objects, 8 live, and a goal of 16: the scavenger keeps a tenth more.
    """
    fragmented = moment(live_mib=8, HeapAlloc=12, HeapInuse=50, HeapIdle=14, NextGC=16)
    heap = fragmented.heap.copy()
    heap["goal_bytes"] = 58 * MIB
    (finding,) = find(answers(replace(fragmented, heap=heap), headroom_fraction=0, **SMALL))

    assert round(1.1 * 16 * MIB) - 8 * MIB == finding.bytes


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(lambda: moment(live_mib=None), id="nothing counts what is live"),
        pytest.param(lambda: moment(NextGC=1 << 40), id="no goal"),
        pytest.param(lambda: replace(moment(), skew=Skew(2, 1, "NumGC")), id="of two states"),
        pytest.param(lambda: replace(moment(), ledger=None), id="no RSS"),
        pytest.param(lambda: moment(live_mib=60), id="all live"),
        pytest.param(lambda: limited(66), id="a limit's goal as high"),
    ],
)
def test_each_guard_alone_silences_it(silent):
    assert [] == find(answers(silent(), **SMALL))


def test_a_far_limit_changes_nothing():
    assert 1 == len(find(answers(limited(67), **SMALL)))


def test_less_room_is_not_advised_where_the_gc_is_expensive(tmp_path):
    line = (
        "gc {0} @{1}.063s 12%: 0.35+1435+0.47 ms clock, 9.3+1411/17193/14413+12 ms cpu, "
        "22429->{3}->{2} MB, {3} MB goal, 48 P\n"
    )
    log, live = tmp_path / "gc.log", [21693 + 7 * (n % 5) for n in range(9)]
    sizes = [(live[n], round(1.1 * live[n - 1])) for n in range(9)]
    log.write_text("".join(line.format(31 + n, 851 + 3 * n, *sizes[n]) for n in range(9)))
    (tmp_path / "status").write_text(f"VmRSS:\t{25 << 20} kB\n")
    limits = gomem.Thresholds(headroom_fraction=0.05)
    findings = gomem.diagnose(tmp_path, thresholds=limits).findings
    said = {found.code: found.next_step for found in findings}

    assert "GOGC=100" in said["gc-pressure"]
    assert "GOGC=" not in said["heap-headroom"]
    assert said["heap-headroom"].startswith("Leave it")


def test_it_begins_at_its_thresholds():
    share = 30 * MIB / moment().rss_bytes

    assert [1, 0] == [len(find(answers(moment(), headroom_bytes=30 * MIB + n))) for n in (0, 1)]
    assert [1, 0] == [
        len(find(answers(moment(), **SMALL, headroom_fraction=share * (1 + n))))
        for n in (-1e-9, 1e-9)
    ]


# With a log

# 40 MiB above what is live
GOALS = [{"live": 20, "start": 7, "goal": 8}, *[{"live": 20, "goal": 60}] * 17]


def logged(counted, *, live_mib=30, goals=GOALS):
    """A log of 18 collections, and a moment that counts so many."""
    told = moment(live_mib)
    told.memstats["NumGC"] = counted
    return but(answers(told, **SMALL), collector=facts_of(*goals))


@pytest.mark.parametrize(("counted", "size"), [(20, 40), (21, 30), (None, 40)])
def test_a_log_that_ends_long_before_the_moments_is_of_the_past(counted, size):
    """
    Of 20 collections it has nine in ten, and of 21 fewer: then the moment says 60 - 30.
    """
    (finding,) = find(logged(pd.NA if counted is None else counted))

    assert (size * MIB, "certain") == (finding.bytes, finding.confidence)


def test_where_the_moments_do_not_tell_a_log_of_the_past_is_possible():
    (finding,) = find(logged(21, live_mib=None))

    assert (40 * MIB, "possible") == (finding.bytes, finding.confidence)


def test_room_of_a_heap_that_still_fills_is_likely():
    filling = [
        {"live": live, "goal": live + 40}
        for live in (4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 10, 12, 16, 20, 24, 30, 36, 44)
    ]

    (finding,) = find(logged(18, goals=filling))

    assert "likely" == finding.confidence


# Where nothing says what is live


IDLE = {"heap_mib": 60, "HeapAlloc": 12, "HeapInuse": 12, "HeapIdle": 52, "HeapReleased": 4}
SINCE_113 = GoVersion(GoRelease(13), GoRelease(13))


def idle(**about):
    """12 MiB in use and 48 idle, below a goal of 1.1 × 100."""
    return facts(**{**IDLE, "NextGC": 100, **about})


def test_idle_heap_below_the_goal_is_room_at_least():
    (finding,) = find(answers(idle(), **SMALL))

    assert (48 * MIB, Severity.INFO, "likely") == (
        finding.bytes, finding.severity, finding.confidence,
    )  # fmt: skip
    assert finding.title == (
        "GC headroom: at least 48 MiB (79 % of RSS) of idle heap is kept for a heap goal of 100 MiB"
    )


def test_where_rss_is_one_number_idle_room_is_the_most_there_can_be():
    """
    Files that the program maps may stand in RSS for heap that was never touched.
    """
    (finding,) = find(answers(replace(idle(), mappings=None), **SMALL))

    assert finding.title.startswith("GC headroom: up to 48 MiB (79 % of RSS) of idle heap")
    assert "likely" == finding.confidence


def test_idle_heap_above_the_goal_is_no_room():
    """
    1.1 × 20 = 22, less 12.
    """
    (finding,) = find(answers(idle(NextGC=20), **SMALL, headroom_fraction=0))

    assert 10 * MIB == finding.bytes


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(lambda: answers(idle(metrics={LIVE: 48.0 * MIB}), **SMALL), id="live is told"),
        pytest.param(
            lambda: but(answers(idle(), **SMALL), collector=facts_of()), id="a log tells it"
        ),
        pytest.param(
            lambda: answers(idle(), version=GoVersion(GoRelease(11), GoRelease(12)), **SMALL),
            id="no scavenger",
        ),
        pytest.param(lambda: answers(by_limit(110), **SMALL), id="a limit's goal as high"),
        pytest.param(
            lambda: answers(replace(idle(), skew=Skew(2, 1, "NumGC")), **SMALL), id="of two states"
        ),
        pytest.param(lambda: answers(replace(idle(), ledger=None), **SMALL), id="no RSS"),
        pytest.param(lambda: answers(replace(idle(), heap=None), **SMALL), id="no heap"),
    ],
)
def test_each_guard_alone_silences_idle_room(silent):
    assert [] == find(silent())


def by_limit(goal_mib: int):
    """A goal that GOMEMLIMIT sets, against 110 MiB by GOGC."""
    plain = idle()
    heap = plain.heap.copy()
    heap["limit_goal_bytes"] = goal_mib * MIB
    return replace(plain, heap=heap)


def test_idle_room_begins_at_its_thresholds():
    share = 48 * MIB / idle().rss_bytes

    assert 1 == len(find(answers(by_limit(111), version=SINCE_113, **SMALL)))
    assert [1, 0] == [len(find(answers(idle(), headroom_bytes=48 * MIB + n))) for n in (0, 1)]
    assert [1, 0] == [
        len(find(answers(idle(), **SMALL, headroom_fraction=share * (1 + n))))
        for n in (-1e-9, 1e-9)
    ]


def profiled(at_most: float = 30, *, each: float = 80, moments=None, first=None, **about):
    """Heap profiles with so many MiB in use at most, at a moment that had allocated 100 MiB."""
    told = moments or [moment(live_mib=None, TotalAlloc=100)]
    name = first or told[0].name
    totals = InUseTotals(at_most * MIB, name, {name: round(each * MIB)})
    return but(answers(*told, **SMALL), **{"in_use": totals, **about})


def test_what_no_heap_profile_has_in_use_is_room_too():
    """
    60 - 30 = 30, of which 20 are garbage, as where runtime/metrics say what is live.
    """
    (finding,) = find(profiled())

    assert (30 * MIB, Severity.INFO, "likely") == (
        finding.bytes, finding.severity, finding.confidence,
    )  # fmt: skip
    assert finding.title == (
        "GC headroom: at least 30 MiB (49 % of RSS) on top of at most 30 MiB in use by heap "
        "profiles"
    )
    live, _, counted = (one.value for one in finding.evidence[:3])
    assert (30 * MIB, 60 * MIB) == (live, counted)
    assert finding.bytes == counted - live  # the arithmetic is on the page


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(lambda: profiled(each=50 - 1e-6), id="half was not sampled"),
        pytest.param(lambda: profiled(57), id="all is in use"),
        pytest.param(lambda: profiled(first="2"), id="the first profile came later"),
        pytest.param(lambda: profiled(in_use=None), id="no profile"),
        pytest.param(lambda: profiled(collector=facts_of()), id="a log says more"),
        pytest.param(lambda: profiled(moments=growing()), id="it grows"),
    ],
)
def test_each_guard_of_profiles_alone_silences_it(silent):
    assert [] == find(silent())


def growing():
    """HeapAlloc and its goals rise from moment to moment, with two collections between."""
    told = [
        moment(None, name=str(n), HeapAlloc=10 * n, NextGC=12 * n, TotalAlloc=100)
        for n in range(1, 6)
    ]
    for place, one in enumerate(told):
        one.memstats["NumGC"] = 2 * place
    return told


def test_profiles_that_count_half_of_what_was_allocated_are_enough():
    assert find(profiled(each=50))


def test_the_usual_threshold_is_not_met_by_a_small_heap():
    assert [] == find(answers(moment()))


def without_gc(*sizes_mib: int, collections=0, gogc=None, limit=None):
    """Snapshots ten seconds apart of a process that was started with GOGC=off."""
    start = pd.Timestamp("2026-11-23T10:00:00Z")
    read = [
        facts(
            name=f"{number}", heap_mib=size + 10, HeapAlloc=size, HeapInuse=size, HeapIdle=10,
            HeapReleased=0, time=start + pd.Timedelta(10 * number, "s"),
        )
        for number, size in enumerate(sizes_mib)
    ]  # fmt: skip
    read[-1].memstats["NumGC"] += collections
    off = gogc or Setting("GOGC", math.inf, "environment", "environ")
    return case_of(read, settings=Settings(off, limit))


RAISED = Setting("GOGC", 4.0, "goals", "3", 3.0, 9.0)


@pytest.mark.parametrize(
    ("gogc", "expected"),
    [
        pytest.param(RAISED, [(45 - 20) * MIB], id="four times what is live"),
        pytest.param(replace(RAISED, low=0.7), [], id="perhaps the default"),
        pytest.param(replace(RAISED, known_by="environment"), [], id="somebody chose it"),
    ],
)
def test_heap_alloc_far_below_goals_shows_room_without_a_live_heap(gogc, expected):
    """
    A goal of 80 MiB and a GOGC of 300 or more: 20 MiB are live at most, and 45 are in use.
    """
    read = facts(heap_mib=60, HeapAlloc=45, HeapInuse=45, HeapIdle=20, HeapReleased=4, NextGC=80)
    heap = read.heap.copy()
    heap["goal_bytes"] = 44 * MIB  # that of the last GC: the scavenger keeps nothing idle for it
    told = answers(replace(read, heap=heap), **SMALL)
    found = find(but(told, settings=Settings(gogc)))

    assert expected == [one.bytes for one in found]
    for one in found:
        assert "on top of at most 20 MiB of live heap" in one.title


def test_without_a_gc_the_fields_of_a_log_are_enough(tmp_path):
    lines = (
        f"10:00:{at:02} rss={mib + 20}Mi heap_alloc={mib}Mi num_gc=0\n"
        for at, mib in ((0, 60), (15, 180), (30, 300))
    )
    (tmp_path / "app.log").write_text("".join(lines))
    (tmp_path / "environ").write_bytes(b"GOGC=off\0HOME=/\0")

    first = gomem.diagnose(tmp_path).findings[0]

    assert ("heap-headroom", "certain", 300 * MIB) == (first.code, first.confidence, first.bytes)


def test_without_a_gc_the_heap_grows_by_what_is_allocated():
    (finding,) = find(without_gc(10, 210, 410))

    assert finding.title.startswith("The GC is off (GOGC=off): the heap grows by 20 MiB/s")
    assert (400 * MIB, Severity.WARNING, "certain") == (
        finding.bytes, finding.severity, finding.confidence,
    )  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(without_gc(10, 11, 12), id="little is allocated"),
        pytest.param(without_gc(10, 210, 410, collections=1), id="somebody calls runtime.GC"),
        pytest.param(
            without_gc(10, 210, 410, limit=Setting("GOMEMLIMIT", float(500 * MIB), "environment")),
            id="GOMEMLIMIT starts it",
        ),
        pytest.param(without_gc(10, 210, 410, gogc=Setting("GOGC", 1.0, "assumed")), id="GOGC"),
    ],
)
def test_a_heap_that_is_collected_or_small_is_not_without_a_gc(case):
    assert not [finding for finding in find(case) if "The GC is off" in finding.title]
