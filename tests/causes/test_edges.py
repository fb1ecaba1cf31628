"""Each threshold on both sides of its edge: what reaches it is a finding, what is next to it none.

A situation is fixed, and its threshold is set to the very number found there, then to the next.
"""

from dataclasses import asdict, replace
from functools import cache
from math import inf, nextafter

import pandas as pd
import pytest

from gomem.analysis.memory.skew import Skew
from gomem.causes import (
    anonymous_mapping,
    data_skew,
    file_mapping,
    goroutine_leak,
    heap_fragmentation,
    huge_pages,
    idle_heap_kept,
    limit_risk,
    native_memory,
    profiling_memory,
    released_but_resident,
    stack_growth,
    untouched_now_resident,
)
from gomem.causes.finding import Severity
from gomem.causes.thresholds import Thresholds
from gomem.releases import known_version
from gomem.text import Bytes, Share
from gomem.units import KIB, MIB
from tests.builders import smaps_entry
from tests.causes.situations import HIGH, answers, facts, goroutines

NEVER = 1 << 60  # bytes: no finding of this kind
A_BIT = 1e-9  # relative: where a share cannot be met to the last bit


def over(value: float) -> float:
    """The next number above."""
    return value + 1 if isinstance(value, int) else nextafter(value, inf)


def test_the_usual_thresholds():
    """
    A judgement changes on purpose, with its reason in the docstring, or not at all.
    """
    assert {
        "notable_rss_fraction": 0.10,
        "large_rss_fraction": 0.25,
        "holding_fraction": 0.8,
        "idle_heap_bytes": 8 * MIB,
        "idle_by_goal_fraction": 0.50,
        "idle_unused_fraction": 0.10,
        "released_bytes": 4 * MIB,
        "untouched_bytes": 8 * MIB,
        "untouched_resident_fraction": 0.90,
        "untouched_same_heap_fraction": 0.10,
        "native_bytes": 8 * MIB,
        "native_blocks_fraction": 0.10,
        "anonymous_bytes": 4 * MIB,
        "file_bytes": 4 * MIB,
        "same_mappings": 100,
        "deleted_files": 10,
        "same_work_ratio": 1.05,
        "other_pace_ratio": 1.5,
        "huge_pages_bytes": 4 * MIB,
        "huge_pages_whole_bytes": 8 * MIB,
        "huge_pages_whole_fraction": 0.25,
        "fragmentation_bytes": 8 * MIB,
        "fragmentation_inuse_fraction": 0.25,
        "goroutine_count": 10_000,
        "goroutine_bytes": 8 * MIB,
        "goroutine_growth": 100,
        "uncounted_goroutines": 1_000,
        "goroutine_wait_seconds": 600.0,
        "goroutine_waits": 5,
        "connection_pairs": 300,
        "excerpt_goroutines": 2,
        "huge_object_bytes": 64 << 20,
        "huge_object_share": 0.25,
        "kept_live_share": 0.25,
        "kept_bytes": 64 << 20,
        "larger_listed_ratio": 4.0,
        "leaked_share": 0.25,
        "goroutine_growth_ratio": 1.5,
        "one_each_ratio": 1.4,
        "goroutines_beside": 20,
        "goroutine_change_ratio": 2.0,
        "thread_growth": 20,
        "thread_growth_ratio": 2.0,
        "many_threads": 200,
        "finalizer_growth": 1_000,
        "finalizer_seconds": 60.0,
        "profiling_bytes": 16 * MIB,
        "profiler_cpu_fraction": 0.10,
        "stack_bytes": 8 * MIB,
        "stack_each_bytes": 64 * KIB,
        "recursion_depth": 10,
        "limit_full_fraction": 0.90,
        "limit_reach_times": 10.0,
        "limit_near_fraction": 0.80,
        "small_victim_bytes": 64 * MIB,
        "heading_share": 0.01,
        "limit_soon_seconds": 86_400.0,
        "emptied_objects_share": 0.1,
        "emptied_bytes": 16 * MIB,
        "emptied_heap_share": 0.25,
        "growth_bytes": 8 * MIB,
        "growth_fraction": 0.10,
        "growth_few_bytes": 16 * MIB,
        "growth_few_ratio": 2.0,
        "growth_site_bytes": 4 * MIB,
        "growth_readings": 3,
        "growth_watch_seconds": 4.0,
        "growth_many_readings": 10,
        "growth_stopped_share": 0.25,
        "growth_likely_kinds": 2,
        "linear_share": 0.5,
        "possible_probability": 0.5,
        "likely_probability": 0.9,
        "named_share": 0.1,
        "most_share": 0.5,
        "nearly_all_share": 0.9,
        "waiters_per_holder": 10,
        "growth_sure_seconds": 600.0,
        "spike_bytes": 16 * MIB,
        "spike_ratio": 3.0,
        "spike_kept_fraction": 0.5,
        "jump_ratio": 2.0,
        "spike_climb_fraction": 0.25,
        "spike_back_fraction": 0.5,
        "spike_away_fraction": 0.5,
        "spike_usual_fraction": 0.7,
        "spike_times": 3,
        "spike_usual_bytes": 32 * MIB,
        "spike_rates": 3,
        "healthy_log_seconds": 1.0,
        "enough_cycles": 20,
        "enough_cpu_seconds": 1.0,
        "deciding_fraction": 0.5,
        "marking_fraction": 0.10,
        "frequent_marking_fraction": 0.05,
        "frequent_interval_seconds": 0.1,
        "critical_marking_fraction": 0.25,
        "small_room_fraction": 0.5,
        "limit_room_fraction": 0.05,
        "forced_cycles": 10,
        "forced_fraction": 0.25,
        "forced_marking_fraction": 0.03,
        "pause_seconds": 0.010,
        "long_fraction": 0.01,
        "long_cycles": 3,
        "stopped_fraction": 0.01,
        "worst_pause_seconds": 0.1,
        "headroom_goals": 3,
        "headroom_bytes": 64 * MIB,
        "headroom_fraction": 0.25,
        "skew_seconds": 1.0,
        "skew_bytes": 8 * MIB,
        "rss_disagreement": 0.1,
        "rise_ratio": 1.2,
        "live_change_ratio": 1.5,
        "peak_ratio": 1.25,
        "given_back_fraction": 0.5,
    } == asdict(Thresholds())


@pytest.mark.parametrize(
    ("rss_bytes", "least"), [(None, 4), (0, 4), (40, 4), (41, 4.1), (1000, 100)]
)
def test_what_is_notable_is_the_larger_of_a_size_and_a_share(rss_bytes, least):
    assert least == pytest.approx(Thresholds().notable(4, rss_bytes))


def test_nothing_is_not_notable_whatever_the_thresholds():
    assert 1 == Thresholds(notable_rss_fraction=0).notable(0, 1000)


@pytest.mark.parametrize(
    ("before", "after", "grew"),
    [
        (10 * MIB, 12 * MIB, True),
        (10 * MIB, 12 * MIB - 1, False),
        (2 * MIB, 3 * MIB, True),
        (2 * MIB, 3 * MIB - 1, False),
        (0, MIB, True),
        (12 * MIB, 10 * MIB, False),
    ],
)
def test_a_size_has_grown_by_a_fifth_and_by_a_mebibyte(before, after, grew):
    assert grew == Thresholds().has_grown(before, after)


# ---- sizes and shares of RSS

BRK = smaps_entry(0x1000000, 0x1000000 + 20 * MIB, "rw-p", "[heap]", rss_kib=20 * 1024)
FOREIGN = smaps_entry(HIGH, HIGH + 20 * MIB, rss_kib=20 * 1024)
SHARED = smaps_entry(HIGH, HIGH + 20 * MIB, "rw-s", "/memfd:ring (deleted)", rss_kib=20 * 1024)
SPARSE = {"HeapAlloc": 8, "HeapInuse": 60}
RETURNED = {"HeapAlloc": 10, "HeapInuse": 10, "HeapIdle": 54, "HeapReleased": 54}
IDLE = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20}
STACKS = {"heap_mib": 60, "HeapAlloc": 10, "HeapInuse": 10, "HeapSys": 24, "StackInuse": 40}
LOADED = {"heap_mib": 60, "HeapAlloc": 60, "HeapInuse": 60}
POINTERS = {untouched_now_resident.SCANNABLE: 64.0 * MIB}
NO_CLASSES = pd.DataFrame({"Size": [8], "Mallocs": [0], "Frees": [0]})
ZEROING = known_version("go1.24.2", "test")
UNTOUCHED = facts(heap_mib=10, HeapAlloc=60, HeapInuse=60)


def lazily_freed():
    moment = facts(heap_mib=64, **RETURNED)
    moment.ledger.parts.loc[moment.ledger.parts["part"] == "heap_released_resident", "bytes"] = MIB
    return moment


CASES = [
    pytest.param(
        idle_heap_kept, lambda: facts(heap_mib=64, **IDLE), "idle_heap_bytes", {}, id="idle heap"
    ),
    pytest.param(released_but_resident, lazily_freed, "released_bytes", {}, id="released"),
    pytest.param(native_memory, lambda: facts(BRK), "native_bytes", {}, id="native"),
    pytest.param(anonymous_mapping, lambda: facts(FOREIGN), "anonymous_bytes", {}, id="anonymous"),
    pytest.param(file_mapping, lambda: facts(SHARED), "file_bytes", {}, id="files"),
    pytest.param(
        huge_pages,
        lambda: facts(heap_mib=64, huge_mib=64, **RETURNED),
        "huge_pages_bytes",
        {"huge_pages_whole_bytes": NEVER},
        id="huge pages beyond use",
    ),
    pytest.param(
        heap_fragmentation,
        lambda: facts(heap_mib=60, NextGC=16, **SPARSE),
        "fragmentation_bytes",
        {"fragmentation_inuse_fraction": 2},
        id="free slots beyond the goal",
    ),
    pytest.param(
        heap_fragmentation,
        lambda: facts(heap_mib=60, **SPARSE),
        "fragmentation_bytes",
        {},
        id="free slots without a goal",
    ),
    pytest.param(
        goroutine_leak,
        lambda: facts(**STACKS, goroutines=goroutines(20_000, "net.(*conn).Read")),
        "goroutine_bytes",
        {},
        id="goroutines",
    ),
    pytest.param(
        stack_growth,
        lambda: facts(**STACKS, goroutines=goroutines(20)),
        "stack_bytes",
        {},
        id="stacks",
    ),
    pytest.param(
        profiling_memory,
        lambda: facts(heap_mib=60, BuckHashSys=20),
        "profiling_bytes",
        {},
        id="the profiler's table",
    ),
    pytest.param(
        untouched_now_resident,
        lambda: facts(**LOADED, size_classes=NO_CLASSES),
        "untouched_bytes",
        {"version": ZEROING},
        id="zeroed by the release",
    ),
    pytest.param(
        untouched_now_resident,
        lambda: facts(**LOADED),
        "untouched_bytes",
        {"baseline": UNTOUCHED},
        id="untouched in the baseline",
    ),
]


@pytest.mark.parametrize(("cause", "moment", "name", "about"), CASES)
def test_a_size_is_a_finding_from_its_threshold_on(cause, moment, name, about):
    moment = moment()

    def found(least):
        return cause.find(answers(moment, **{"notable_rss_fraction": 0, **about, name: least}))

    (finding,) = found(0)

    assert finding.bytes > 0
    assert [finding] == found(finding.bytes)
    assert [] == found(finding.bytes + 1)


@pytest.mark.parametrize(("cause", "moment", "name", "about"), CASES)
def test_a_share_of_rss_is_a_finding_from_its_threshold_on(cause, moment, name, about):
    moment = moment()

    def found(share):
        return cause.find(answers(moment, **{**about, name: 0, "notable_rss_fraction": share}))

    (finding,) = found(0)
    share = finding.bytes / moment.rss_bytes

    assert [finding] == found(share * (1 - A_BIT))
    assert [] == found(share * (1 + A_BIT))


@pytest.mark.parametrize(
    ("cause", "moment"),
    [
        pytest.param(file_mapping, lambda: facts(SHARED), id="files"),
        pytest.param(stack_growth, lambda: facts(**STACKS, goroutines=goroutines(20)), id="large"),
    ],
)
def test_a_large_share_of_rss_makes_a_note_a_warning(cause, moment):
    moment = moment()
    (finding,) = cause.find(answers(moment))
    share = finding.bytes / moment.rss_bytes

    def severity(least):
        finding = cause.find(answers(facts(name="0"), moment, large_rss_fraction=least))[-1]
        return finding.severity

    assert Severity.WARNING == severity(share * (1 - A_BIT))
    assert Severity.INFO == severity(share * (1 + A_BIT))


def test_of_files_only_what_stays_makes_a_warning():
    """
    20 MiB of shared memory: a warning while the least size is not above it.
    """
    clean = smaps_entry(HIGH - 64 * MIB, HIGH - 24 * MIB, "r--s", "/data/x", rss_kib=40 * 1024)
    moment = facts(SHARED, clean)

    def severity(least):
        (finding,) = file_mapping.find(answers(moment, file_bytes=least))
        return finding.severity

    assert Severity.WARNING == severity(20 * MIB)
    assert Severity.INFO == severity(20 * MIB + 1)


# ---- one threshold each


def edge(rule, name, at, *moments, **about):
    """Whether the rule finds something with the threshold at a number, and with the next above."""
    return [bool(rule(answers(*moments, **about, **{name: one}))) for one in (at, over(at))]


@cache
def whole():
    return facts(heap_mib=64, huge_mib=62, HeapAlloc=64, HeapInuse=64)


def test_huge_pages_as_a_whole():
    find, size = huge_pages.find, 62 * MIB
    no_share = {"huge_pages_whole_fraction": 0}

    assert [True, False] == edge(find, "huge_pages_whole_bytes", size, whole(), **no_share)
    share = size / whole().rss_bytes
    assert find(answers(whole(), huge_pages_whole_fraction=share * (1 - A_BIT)))
    assert [] == find(answers(whole(), huge_pages_whole_fraction=share * (1 + A_BIT)))


def test_free_slots_hardly_beyond_the_goal_are_measured_by_the_heap_in_use():
    """
    32 of 64 MiB.
    """
    moment = facts(heap_mib=64, HeapAlloc=32, HeapInuse=64, NextGC=63)

    assert [True, False] == edge(
        heap_fragmentation.find, "fragmentation_inuse_fraction", 0.5, moment
    )


def test_free_slots_of_a_heap_whose_goal_is_not_known_are_what_a_sweep_leaves():
    moment = facts(heap_mib=64, HeapAlloc=32, HeapInuse=64)
    moment.memstats["NextGC"] = pd.NA

    assert [] == heap_fragmentation.find(answers(moment))


def counted(*counts):
    return [
        facts(name=str(place), goroutines=goroutines(count)) for place, count in enumerate(counts)
    ]


def test_very_many_goroutines():
    moment = facts(**STACKS, goroutines=goroutines(20_000, "net.(*conn).Read"))

    assert [True, False] == edge(goroutine_leak.find, "goroutine_count", 20_000, moment)


def test_the_average_stack():
    """
    10 MiB of 20 goroutines, a sixth of RSS: no share that is a note by itself.
    """
    used = {"heap_mib": 60, "HeapAlloc": 40, "HeapInuse": 40, "HeapSys": 54, "StackInuse": 10}
    moment = facts(**used, goroutines=goroutines(20))

    assert [True, False] == edge(stack_growth.find, "stack_each_bytes", MIB // 2, moment)


def test_the_resident_share_of_large_allocations_under_an_unknown_release():
    """
    56 of 64 MiB; where the release is known to zero, any share is as good.
    """
    loaded = {"heap_mib": 56, "HeapAlloc": 64, "HeapInuse": 64, "size_classes": NO_CLASSES}
    moment = facts(**loaded, metrics=POINTERS)
    find, name = untouched_now_resident.find, "untouched_resident_fraction"

    assert [True, False] == edge(find, name, 0.875, moment)
    assert [True, True] == edge(find, name, 0.875, moment, version=ZEROING)


@pytest.mark.parametrize(("inuse", "other"), [(64, 60), (60, 64)])
def test_the_same_heap_as_in_the_baseline(inuse, other):
    """
    4 of 64 MiB apart: it may differ by as much, and by no more.
    """
    moment = facts(heap_mib=inuse, HeapAlloc=inuse, HeapInuse=inuse)
    before = facts(heap_mib=10, HeapAlloc=other, HeapInuse=other)

    def found(share):
        return untouched_now_resident.find(
            answers(moment, baseline=before, untouched_same_heap_fraction=share)
        )

    assert ["untouched-now-resident"] == [one.code for one in found(0.0625)]
    assert [] == found(nextafter(0.0625, 0))


@pytest.mark.parametrize(
    ("release", "severities"),
    [
        ("go1.23.12", []),
        ("go1.24.0", [Severity.INFO, Severity.WARNING]),
        ("go1.24.5", [Severity.INFO, Severity.WARNING]),
        ("go1.24.6", []),
    ],
)
def test_the_releases_that_zero(release, severities):
    """
    Alone, and against a baseline.
    """
    moment, version = facts(**LOADED, size_classes=NO_CLASSES), known_version(release, "test")
    find = untouched_now_resident.find

    found = [
        *find(answers(moment, version=version)),
        *find(answers(moment, version=version, baseline=UNTOUCHED)),
    ]

    assert severities == [one.severity for one in found]


@pytest.mark.parametrize(
    ("release", "severity"),
    [
        ("go1.20.14", Severity.INFO),
        ("go1.21.0", Severity.WARNING),
        ("go1.21.3", Severity.WARNING),
        ("go1.21.4", Severity.INFO),
    ],
)
def test_the_releases_that_ask_for_huge_pages(release, severity):
    (finding,) = huge_pages.find(answers(whole(), version=known_version(release, "test")))

    assert severity == finding.severity
    assert (severity is Severity.WARNING) == finding.next_step.startswith("Move to Go 1.21.4")


@pytest.mark.parametrize(
    ("release", "old"), [("go1.12.17", True), ("go1.13", False), ("go1.27.3", False)]
)
def test_the_releases_without_a_background_scavenger(release, old):
    moment = facts(heap_mib=64, **IDLE)

    (finding,) = idle_heap_kept.find(answers(moment, version=known_version(release, "test")))

    assert old == finding.mechanism.endswith("calls debug.FreeOSMemory.")


USED = {"heap_mib": 60, "HeapAlloc": 30, "HeapInuse": 32, "HeapIdle": 28}


def cgroup(limit_mib, anon_mib):
    used = anon_mib * MIB
    sizes = {"memory.current": used, "anon": used, "file": 0}
    return {"memory.max": limit_mib * MIB, **sizes}


def test_a_limit_that_is_nearly_full():
    """
    96 of 128 MiB.
    """
    moment = facts(**USED, cgroup=cgroup(128, 96))

    assert [True, False] == edge(limit_risk.find, "limit_full_fraction", 0.75, moment)
    (finding,) = limit_risk.find(answers(moment, limit_full_fraction=0.75))
    assert Severity.CRITICAL == finding.severity


def test_a_limit_that_is_reached_soon():
    """
    Sooner than the threshold: not at it.
    """
    noon = pd.Timestamp("2026-11-20T12:00:00Z")
    moments = [
        replace(facts(name=str(n), **USED, cgroup=cgroup(200, 70 + 10 * n),
                      time=noon + pd.Timedelta(seconds=10 * n)), memstats=None)
        for n in range(4)
    ]  # fmt: skip
    soonest = answers(*moments).facts.limit_growth.soonest_seconds

    assert [False, True] == edge(limit_risk.find, "limit_soon_seconds", soonest, *moments)


def test_the_worst_case_may_fill_the_limit_and_not_pass_it():
    """
    62 charged, and 50 of 60 MiB of objects untouched: 112.
    """
    found = [
        limit_risk.find(answers(facts(heap_mib=10, HeapAlloc=60, HeapInuse=60, cgroup=at)))
        for at in (cgroup(112, 62), cgroup(111, 62))
    ]

    assert [Severity.INFO, Severity.WARNING] == [one.severity for (one,) in found]


def test_the_worst_case_that_nearly_fills_the_limit():
    """
    62 charged, and 50 of 60 MiB of objects untouched: 112 of 128.
    """
    moment = facts(heap_mib=10, HeapAlloc=60, HeapInuse=60, cgroup=cgroup(128, 62))

    assert [True, False] == edge(limit_risk.find, "limit_near_fraction", 0.875, moment)


def test_little_room_under_the_limit_is_a_note():
    """
    96 of 128 MiB charged; nothing says what Go has mapped beyond that.
    """
    moment = replace(facts(cgroup=cgroup(128, 96)), ledger=None)

    assert [True, False] == edge(limit_risk.find, "limit_near_fraction", 0.75, moment)
    (finding,) = limit_risk.find(answers(moment, limit_near_fraction=0.75))
    assert Severity.INFO is finding.severity
    assert [0.75] == [share.value for share in finding.title.of(Share)]
    assert [32 * MIB, 128 * MIB] == [size.value for size in finding.title.of(Bytes)]


def test_time_between_the_files():
    assert [True, False] == edge(data_skew.find, "skew_seconds", 1.5, facts(skew=Skew(1.5)))
