"""Each guard of a rule alone: everything else is a finding, and this one thing says nothing.

A negative test in which several conditions fail at once holds none of them.
"""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.analysis.collector import steps
from gomem.analysis.memory.skew import Skew
from gomem.causes import (
    anonymous_mapping,
    data_skew,
    data_thin,
    file_mapping,
    forced_gc,
    gc_pressure,
    goroutine_leak,
    heap_fragmentation,
    heap_headroom,
    huge_pages,
    idle_heap_kept,
    long_pauses,
    memory_limit_thrash,
    native_memory,
    one_dump,
    released_but_resident,
    stack_growth,
    untouched_now_resident,
)
from gomem.causes.collecting import every as every_words
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Lack, Severity
from gomem.causes.thresholds import Thresholds
from gomem.errors import CaptureError
from gomem.facts.collector import CollectorFacts
from gomem.facts.moment import GOGC, GOMEMLIMIT, GOROUTINES, LIVE, MomentFacts
from gomem.releases import GoVersion, known_version
from gomem.text import Command, File
from gomem.units import MIB
from tests.builders import but, case_of, smaps_entry
from tests.causes.situations import HIGH, answers, facts, goroutines
from tests.causes.test_counted_causes import LIMITED
from tests.causes.test_counted_causes import moment as counted_moment
from tests.causes.test_gc_causes import answers as of_log
from tests.causes.test_gc_causes import every
from tests.gc_logs import log_of, packed_cycles

ZEROING = known_version("go1.24.2", "test")
RETURNED = {"HeapAlloc": 10, "HeapInuse": 10, "HeapIdle": 54, "HeapReleased": 54}
IDLE = {"HeapAlloc": 10, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20}
NO_CLASSES = pd.DataFrame({"Size": [8], "Mallocs": [0], "Frees": [0]})


def states_apart(moment: MomentFacts) -> MomentFacts:
    return replace(moment, skew=Skew(3.0, 1, "NumGC"))


# ---- huge pages


def test_huge_pages_beyond_use_need_files_of_one_state():
    """
    54 MiB too many, of which 7 in huge pages: a tenth of 65.
    """
    moment = facts(heap_mib=64, huge_mib=7, **RETURNED)

    assert [7 * MIB] == [one.bytes for one in huge_pages.find(answers(moment))]
    assert [] == huge_pages.find(answers(states_apart(moment)))


def test_huge_pages_without_smaps_are_not_known():
    moment = facts(heap_mib=64, huge_mib=64, **RETURNED)

    assert [] == huge_pages.find(answers(replace(moment, mappings=None, ledger=None)))


def test_what_huge_pages_show():
    """
    54 of 65 MiB and a page of stack.
    """
    moment = facts(heap_mib=64, huge_mib=60, **RETURNED)

    (finding,) = huge_pages.find(answers(moment, version=known_version("go1.21.3", "test")))

    assert finding.title == "Huge pages keep 54 MiB of unused heap resident (83 % of RSS)"
    assert ("likely", True) == (finding.confidence, "Go 1.21.4 stopped that" in finding.mechanism)
    assert [
        ("1/smaps", "AnonHugePages of go-heap", 60 * MIB, "B"),
        ("1/smaps", "Rss of go-heap beyond MemStats", 54 * MIB, "B"),
        ("1/smaps", "Rss", moment.rss_bytes, "B"),
        ("Go release", "test", "go1.21.3", ""),
    ] == shown(finding)


def shown(finding):
    """The evidence as tuples."""
    return [(one.artefact, one.field, one.value, one.unit) for one in finding.evidence]


# ---- idle heap


def kept(**about):
    return facts(heap_mib=64, **IDLE, **about)


@pytest.mark.parametrize(
    "without",
    [
        pytest.param({"heap": None}, id="no MemStats"),
        pytest.param({"ledger": None}, id="no RSS"),
    ],
)
def test_idle_heap_needs_both_sides(without):
    assert idle_heap_kept.find(answers(kept()))
    assert [] == idle_heap_kept.find(answers(replace(kept(), **without)))


def test_idle_heap_without_a_goal_is_not_known():
    heap = kept().heap.copy()
    heap["excess_bytes"] = pd.NA

    assert [] == idle_heap_kept.find(answers(replace(kept(), heap=heap)))


@pytest.mark.parametrize("side", [0, 1])
def test_collections_that_nobody_counted_were_not_the_programs(side):
    """
    An idle heap that the next moment no longer has is a note, unless the program gave it back.
    """
    moments = [kept(name="1"), facts(name="2", heap_mib=10, **RETURNED, NextGC=20)]
    for place, one in enumerate(moments):
        one.memstats["NumForcedGC"] = pd.NA if place == side else 2 * place

    (finding,) = idle_heap_kept.find(answers(*moments))

    assert Severity.INFO == finding.severity


def test_what_idle_heap_shows():
    (finding,) = idle_heap_kept.find(answers(kept()))

    assert (
        finding.title
        == "42 MiB of idle heap above the scavenger's goal has not been returned to the OS"
    )
    assert [
        ("1/memstats.json", "HeapIdle", 54 * MIB, "B"),
        ("1/memstats.json", "HeapReleased", 0, "B"),
        ("1/memstats.json", "HeapInuse", 10 * MIB, "B"),
        ("1/memstats.json", "NextGC", 20 * MIB, "B"),
        ("1/smaps", "Rss", kept().rss_bytes, "B"),
        ("scavenger", "goal, an upper bound", 22 * MIB, "B"),
    ] == shown(finding)


@pytest.mark.parametrize(
    ("moment", "confidence"),
    [
        pytest.param(kept, "certain", id="smaps"),
        pytest.param(lambda: replace(kept(), mappings=None), "likely", id="a total alone"),
        pytest.param(lambda: states_apart(kept()), "possible", id="of two states"),
    ],
)
def test_how_sure_idle_heap_is(moment, confidence):
    (finding,) = idle_heap_kept.find(answers(moment(), version=known_version("go1.13.15", "test")))

    assert confidence == finding.confidence


# ---- given back, and resident


@pytest.mark.parametrize("without", ["ledger", "rss"])
def test_lazily_freed_memory_needs_a_ledger_with_rss(without):
    moment = facts(heap_mib=50, lazy_mib=40, **RETURNED)
    assert released_but_resident.find(answers(moment))

    ledger = None if without == "ledger" else replace(moment.ledger, rss_bytes=None)

    assert [] == released_but_resident.find(answers(replace(moment, ledger=ledger)))


def test_what_lazily_freed_memory_shows():
    """
    40 of 51 MiB and a page of stack.
    """
    moment = facts(heap_mib=50, lazy_mib=40, **RETURNED)

    (finding,) = released_but_resident.find(answers(moment))

    assert finding.title == (
        "MADV_FREE: 40 MiB was released but still counts toward RSS; the process needs only 11 MiB"
    )
    assert [
        ("1/smaps", "LazyFree", 40 * MIB, "B"),
        ("1/smaps", "Rss", moment.rss_bytes, "B"),
        ("1/memstats.json", "HeapReleased", 54 * MIB, "B"),
    ] == shown(finding)[:3]


# ---- untouched, now resident


def tables(resident: int):
    """60 MiB of large objects with pointers, so many of them resident."""
    about = {"HeapAlloc": 60, "HeapInuse": 60, "size_classes": NO_CLASSES}
    return facts(heap_mib=resident, **about)


@pytest.mark.parametrize("lacking", ["mappings", "memstats", "size_classes", "ledger"])
def test_large_allocations_need_every_side(lacking):
    find = untouched_now_resident.find
    assert find(answers(tables(60), version=ZEROING))

    assert [] == find(answers(replace(tables(60), **{lacking: None}), version=ZEROING))


def test_a_baseline_alone_makes_it_likely():
    """
    59 MiB that the baseline never touched; only the release and smaps together make it certain.
    """
    find, before = untouched_now_resident.find, tables(1)

    (unknown,) = find(answers(tables(60), baseline=before))
    (known,) = find(answers(tables(60), baseline=before, version=ZEROING))

    assert ["likely", "certain"] == [unknown.confidence, known.confidence]
    assert "Name the release with --go-version" in unknown.next_step
    assert "--go-version" not in known.next_step


@pytest.mark.parametrize("release", ["go1.24.0", "go1.24.5"])
def test_a_baseline_that_touches_it_as_well_decides_nothing(release):
    before = tables(1)
    zeroes_too = answers(before, version=known_version(release, "test"))
    repaired = answers(before, version=known_version("go1.24.6", "test"))
    case = answers(tables(60), version=ZEROING, baseline=before)

    def confidences(baseline):
        found = untouched_now_resident.find(replace(case, baseline=baseline.facts))
        return [one.confidence for one in found]

    assert ["possible"] == confidences(zeroes_too)
    assert ["certain"] == confidences(repaired)


# ---- stops


def test_long_stops_of_which_no_time_is_known_are_a_note():
    """
    One collection is no stretch of time: that 50 ms are a share of it, nobody can say.
    """
    case = of_log({"first": 50})
    limits = replace(case.thresholds, long_cycles=1)

    (finding,) = long_pauses.find(replace(case, thresholds=limits))

    assert (Severity.INFO, None) == (finding.severity, finding.cpu_fraction)


# ---- who allocates, beside the pressure


def holding(*flat):
    """Own functions a, b, … by what they allocated, the largest first."""
    names = [chr(ord("a") + place) for place in range(len(flat))]
    rows = pd.DataFrame({"own_function": names, "function": names, "file": "m.go", "line": 7,
                         "change": flat, "low": flat, "high": flat})  # fmt: skip
    rows["object_bytes"] = pd.NA
    return rows.sort_values("change", ascending=False, kind="stable")


def allocates(allocation_holders, **paths):
    case = but(
        of_log(*every(0.010, background=0.8)), allocation_holders=allocation_holders, paths=paths
    )
    (finding,) = gc_pressure.find(case)
    named = [one for one in shown(finding) if one[1].startswith("alloc_space")]
    return named, finding


def test_the_largest_three_are_named():
    named, finding = allocates(holding(10, 30, 20, 9), **{"2": "2/heap.pb.gz"})

    assert [
        ("2/heap.pb.gz", "alloc_space: b (m.go:7), with library calls", 30, "B"),
        ("2/heap.pb.gz", "alloc_space: c (m.go:7), with library calls", 20, "B"),
        ("2/heap.pb.gz", "alloc_space: a (m.go:7), with library calls", 10, "B"),
    ] == named
    assert ["b", "c", "a"] == [site.own_function for site in finding.sites]
    assert ("2/heap.pb.gz",) == finding.next_step.of(Command)[0].value.of(File)
    assert "Allocate less in b: reuse" in finding.next_step
    assert finding.title.endswith("; the largest part of the allocation is from b")


def test_without_a_profile_one_is_asked_for():
    named, finding = allocates(None)

    assert ([], ()) == (named, finding.sites)
    assert finding.next_step.startswith(
        "See who allocates: curl -s http://HOST:PORT/debug/pprof/allocs"
    )


# ---- C's memory, stacks, free slots


def brk(rss_mib: int) -> str:
    return smaps_entry(0x1000000, 0x1000000 + rss_mib * MIB, "rw-p", "[heap]",
                       rss_kib=rss_mib * 1024)  # fmt: skip


def test_what_cs_memory_shows():
    """
    Of the first moment itself nothing is told twice; and no thread's stack is named without one.
    """
    moment = facts(brk(40), HeapAlloc=8, HeapInuse=8)

    (finding,) = native_memory.find(answers(moment))

    assert ("1/smaps", "Rss of native-heap", 40 * MIB, "B") == shown(finding)[0]
    assert ("1/memstats.json", "HeapInuse", 8 * MIB, "B") == shown(finding)[-1]
    assert "Rss of all this, first moment" not in {one.field for one in finding.evidence}


def test_cs_memory_needs_a_ledger():
    assert [] == native_memory.find(answers(replace(facts(brk(40)), ledger=None)))


def test_what_stacks_show():
    """
    40 MiB of 20 goroutines.
    """
    stacks = {"heap_mib": 60, "HeapAlloc": 10, "HeapInuse": 10, "HeapSys": 24, "StackInuse": 40}
    moment = facts(**stacks, goroutines=goroutines(20))

    (finding,) = stack_growth.find(answers(moment))

    assert (
        finding.title
        == "Goroutine stacks take 40 MiB: 20 goroutines with at most 2 MiB on average, "
        "all of them in main.wait"
    )
    assert [
        ("1/memstats.json", "StackInuse", 40 * MIB, "B"),
        ("1/smaps", "Rss", moment.rss_bytes, "B"),
        ("goroutine", "goroutines", 20, "count"),
    ] == shown(finding)


def test_what_free_slots_show():
    classes = pd.DataFrame({"Size": [64, 1024], "Mallocs": [10, 60], "Frees": [0, 0]})
    moment = facts(heap_mib=60, HeapAlloc=8, HeapInuse=60, NextGC=16, size_classes=classes)

    (finding,) = heap_fragmentation.find(answers(moment))

    assert finding.title == "The heap is fragmented: 52 MiB of HeapInuse (60 MiB) is free slots"
    assert ("likely", 44 * MIB) == (finding.confidence, finding.bytes)
    assert [
        ("1/memstats.json", "HeapInuse", 60 * MIB, "B"),
        ("1/memstats.json", "HeapAlloc", 8 * MIB, "B"),
        ("1/memstats.json", "NextGC", 16 * MIB, "B"),
        ("1/smaps", "Rss", moment.rss_bytes, "B"),
    ] == shown(finding)


@pytest.mark.parametrize("silent", [{"memstats": None}, {"skew": Skew(3.0, 1, "NumGC")}])
def test_free_slots_need_memstats_of_the_same_state(silent):
    moment = replace(facts(heap_mib=60, HeapAlloc=8, HeapInuse=60, NextGC=16), **silent)

    assert [] == heap_fragmentation.find(answers(moment))
    assert 0 == heap_fragmentation.free_slots(moment)


# ---- what is known of a moment


def test_a_gomemlimit_is_advised_for_a_limit_and_a_ledger_with_rss():
    cgroup = {"memory.max": 100 * MIB, "memory.current": 62 * MIB, "anon": 62 * MIB, "file": 0}
    moment = facts(heap_mib=60, HeapAlloc=30, HeapInuse=32, HeapIdle=28, cgroup=cgroup)

    assert moment.limit_advice is not None
    for without in (
        {"cgroup": {}},
        {"cgroup": {**cgroup, "memory.max": None}},
        {"ledger": None},
        {"ledger": replace(moment.ledger, rss_bytes=None)},
    ):
        assert replace(moment, **without).limit_advice is None


def test_without_a_ledger_a_moment_knows_no_rss():
    moment = MomentFacts("1")

    assert (None, None, None, ()) == (
        moment.rss_bytes, moment.groups, moment.worst_case, rss_evidence(moment),
    )  # fmt: skip
    assert (None, None, None) == (
        moment.arenas_rss_bytes, moment.goroutine_count, moment.cgroup_use,
    )  # fmt: skip


def test_gogc_is_what_the_last_moment_says():
    """
    100 where none says it, and no goal another.
    """

    def gogc(*percents):
        told = tuple(
            MomentFacts(str(place), metrics={"/gc/gogc:percent": float(one)})
            for place, one in enumerate(percents)
        )
        setting = case_of(told).facts.settings.gogc
        return setting.value, setting.known_by, [value for value, _ in setting.others]

    assert [(2.0, "metrics", []), (0.5, "metrics", ["200"]), (1.0, "assumed", [])] == [
        gogc(200, 200),
        gogc(200, 50),
        gogc(),
    ]


# ---- two states


def test_what_skew_that_was_counted_shows():
    moment = facts(skew=Skew(2.5, 2, "NumGC"), HeapSys=60, StackInuse=4)

    (finding,) = data_skew.find(answers(moment))

    assert finding.title == (
        "MemStats and smaps measured 2.5 s apart, with 2 collections between the readings: do not "
        "trust the breakdown of the heap"
    )
    files = "1/memstats.json, 1/smaps"
    assert "certain" == finding.confidence
    assert [
        (files, "seconds apart", 2.5, "s"),
        ("NumGC", "collections between", 2, "count"),
        ("1/memstats.json", "HeapSys + StackInuse", 64 * MIB, "B"),
        ("1/smaps", "Size of go-heap", 64 * MIB, "B"),
    ] == shown(finding)[:-1]


def test_what_skew_that_nobody_counted_shows():
    (finding,) = data_skew.find(answers(facts(skew=Skew(30.0))))

    assert finding.title == (
        "MemStats and smaps measured 30 s apart; no file says whether a collection ran "
        "between the readings"
    )
    assert [("seconds apart", 30.0), ("HeapSys + StackInuse", 64 * MIB)] == [
        (one.field, one.value) for one in finding.evidence
    ]


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param({"mappings": None}, id="no smaps: one side alone"),
        pytest.param({"skew": Skew(0.99)}, id="a second is not reached"),
        pytest.param({"skew": Skew(None)}, id="nobody knows how far apart"),
        pytest.param({"skew": Skew(30.0, 0, "NumGC")}, id="no collection ran"),
    ],
)
def test_time_between_the_files_is_a_note_only_where_it_may_matter(silent):
    moment = facts(skew=Skew(30.0))
    assert data_skew.find(answers(moment))

    assert [] == data_skew.find(answers(replace(moment, **silent)))


def test_a_moment_without_a_ledger_has_no_doubtful_parts():
    assert [] == data_skew.find(answers(MomentFacts("1", skew=Skew(3.0, 1, "NumGC"))))


# ---- against a baseline


def test_a_side_without_smaps_compares_rss_and_is_likely():
    """
    One side has smaps, the other a total: what is compared is the total of both.
    """
    find = untouched_now_resident.find

    for moment, before in (
        (replace(tables(60), mappings=None), tables(1)),
        (tables(60), replace(tables(1), mappings=None)),
    ):
        (finding,) = find(answers(moment, baseline=before, version=ZEROING))
        assert ("likely", 59 * MIB) == (finding.confidence, finding.bytes)
        assert [] == find(answers(moment, baseline=before))


@pytest.mark.parametrize("side", ["capture", "baseline"])
@pytest.mark.parametrize("lacking", ["rss", "heap", "ledger"])
def test_a_comparison_takes_rss_and_heap_on_both_sides(side, lacking):
    sides = {"capture": tables(60), "baseline": tables(1)}
    about = {lacking: None}
    if lacking == "rss":
        about = {"ledger": replace(sides[side].ledger, rss_bytes=None)}
    sides[side] = replace(sides[side], **about)

    found = untouched_now_resident.find(
        answers(sides["capture"], baseline=sides["baseline"], version=ZEROING)
    )

    assert "certain" not in [one.confidence for one in found]


def test_what_the_comparison_shows():
    (finding,) = untouched_now_resident.find(
        answers(tables(60), baseline=tables(1), version=ZEROING)
    )

    assert finding.title == (
        "Go 1.24.2 zeroes large allocations: 59 MiB that was only reserved in the baseline is now "
        "in RSS; the heap is 60 MiB in both captures"
    )
    assert [
        ("baseline, 1/smaps", "Rss of go-heap", 1 * MIB, "B"),
        ("1/smaps", "Rss of go-heap", 60 * MIB, "B"),
        ("baseline, computed", "reserved Go heap, not yet touched", 59 * MIB, "B"),
        ("computed", "reserved Go heap, not yet touched", 0, "B"),
        ("baseline, 1/memstats.json", "HeapInuse", 60 * MIB, "B"),
        ("1/memstats.json", "HeapInuse", 60 * MIB, "B"),
        ("Go release", "test", "go1.24.2", ""),
    ] == shown(finding)


# ---- mapped files


def mapped(name: str, place: int, rss_mib: int) -> str:
    at = HIGH + place * 128 * MIB
    return smaps_entry(at, at + rss_mib * MIB, "r--s", name, rss_kib=rss_mib * 1024)


def test_the_three_largest_files_are_the_evidence():
    files = [mapped(f"/data/{name}", place, mib) for place, (name, mib) in enumerate(
        [("a", 10), ("b", 40), ("c", 20), ("d", 30)]
    )]  # fmt: skip

    (finding,) = file_mapping.find(answers(facts(*files)))

    assert [
        ("Rss of b", 40 * MIB),
        ("Rss of d", 30 * MIB),
        ("Rss of c", 20 * MIB),
        ("Rss of mapped files and shared memory", 100 * MIB),
        ("Rss that cannot be reclaimed", 0),
    ] == [(one.field, one.value) for one in finding.evidence][:5]


def test_files_without_smaps_are_not_known():
    moment = facts(mapped("/data/a", 0, 40))

    assert [] == file_mapping.find(answers(replace(moment, mappings=None)))


def test_of_shared_files_written_pages_go_back_to_the_file():
    """
    Only what is private and written stays.
    """
    shared = mapped("/data/a", 0, 40).replace("LazyFree:", "Private_Dirty: 8192 kB\nLazyFree:")

    (finding,) = file_mapping.find(answers(facts(shared)))

    assert finding.title.endswith("; the kernel can reclaim all of it")


# ---- room for garbage


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(lambda one: replace(one, heap=None), id="no MemStats"),
        pytest.param(states_apart, id="of two states"),
    ],
)
def test_room_that_is_not_known_is_none_whatever_the_thresholds(silent):
    about = {"HeapAlloc": 50, "HeapInuse": 52, "HeapIdle": 12, "NextGC": 60}
    moment = facts(heap_mib=60, **about, metrics={heap_headroom.LIVE: 30.0 * MIB})
    all_zero = {"headroom_bytes": 0, "headroom_fraction": 0}
    assert heap_headroom.find(answers(moment, **all_zero))

    assert [] == heap_headroom.find(answers(silent(moment), **all_zero))


def test_what_room_shows():
    about = {"HeapAlloc": 50, "HeapInuse": 52, "HeapIdle": 12, "HeapReleased": 4, "NextGC": 60}
    moment = facts(heap_mib=60, **about, metrics={heap_headroom.LIVE: 30.0 * MIB})

    (finding,) = heap_headroom.find(answers(moment, headroom_bytes=4 * MIB))

    assert [
        ("metrics", heap_headroom.LIVE, 30 * MIB, "B"),
        ("1/memstats.json", "HeapAlloc", 50 * MIB, "B"),
        ("computed", "resident heap up to the goal", 60 * MIB, "B"),
        *(
            ("1/memstats.json", name, size * MIB, "B")
            for name, size in about.items()
            if name != "HeapAlloc"
        ),
        ("1/smaps", "Rss", moment.rss_bytes, "B"),
    ] == shown(finding)


# ---- goroutines


def counted(count: int, **about):
    return MomentFacts("1", goroutines=goroutines(count), **about)


def test_what_many_goroutines_show():
    """
    50 000 in one moment, and where they wait.
    """
    stacks = {"heap_mib": 60, "HeapAlloc": 4, "HeapInuse": 4, "HeapSys": 14, "StackInuse": 50}
    moment = facts(**stacks, goroutines=goroutines(50_000, "net.(*conn).Read"))

    (finding,) = goroutine_leak.find(answers(moment))

    assert finding.title == (
        "50\u202f000 goroutines have 50 MiB of stacks; one snapshot cannot show whether the "
        "number grows"
    )
    assert [
        ("goroutine", "goroutines", 50_000, "count"),
        ("goroutine", "goroutines in net.(*conn).Read", 50_000, "count"),
    ] == shown(finding)


def test_stacks_that_nothing_counts_are_at_least_the_smallest():
    of_many = MomentFacts("1", goroutines=goroutines(50_000, "net.(*conn).Read"))

    (finding,) = goroutine_leak.find(answers(of_many))

    assert "have at least 98 MiB of stacks" in finding.title


def test_where_nothing_counts_stacks_each_is_taken_for_the_smallest():
    """
    7 × 2 KiB, without a ledger, and with one that has no part for them; 3 MiB by MemStats.
    """
    told = facts(StackInuse=3, goroutines=goroutines(7))
    parts = told.ledger.parts
    of_rss = replace(told.ledger, parts=parts[parts["part"] != "stacks"])

    assert 7 * 2048 == one_dump.goroutine_stack_bytes(counted(7))
    assert 7 * 2048 == one_dump.goroutine_stack_bytes(replace(told, ledger=of_rss))
    assert 3 * MIB == one_dump.goroutine_stack_bytes(told)


@pytest.mark.parametrize(
    ("forced", "severity"),
    [((2, 2), Severity.INFO), ((2, 3), Severity.WARNING), ((3, 2), Severity.INFO)],
    ids=["as many", "one more", "another process"],
)
def test_only_a_collection_more_means_that_the_program_gave_it_back(forced, severity):
    """
    Of three moments it is the next that counts.
    """
    moments = [kept(name="1"), *(facts(name=n, heap_mib=10, **RETURNED, NextGC=20) for n in "23")]
    for one, count in zip(moments, (*forced, 9), strict=True):
        one.memstats["NumForcedGC"] = count

    (finding,) = idle_heap_kept.find(answers(*moments))

    assert severity == finding.severity


def test_who_decides_half_of_the_marking_decides():
    """
    20 of 40 collections after the first are forced, and each marks for as long: half is enough.
    """
    lines = [*every(0.010, background=1.2), {"at": 0.41, "background": 1.2}]
    for line in lines[1:21]:
        line["forced"] = " (forced)"
    case = of_log(*lines)
    marked = case.facts.collector.triggers.counts.set_index("trigger")["marking_cpu_seconds"]
    half = float(marked["pacer"]) / float(marked.sum())

    def found(share):
        limits = replace(case.thresholds, deciding_fraction=share, frequent_marking_fraction=0)
        return gc_pressure.find(replace(case, thresholds=limits))

    assert 0.5 == half
    assert found(half)
    assert [] == found(half * (1 + 1e-9))


def test_what_forced_collections_show():
    """
    10 of 40 in 39 s on 2 Ps, each of which marks for 78.3 ms and stops for 0.03.
    """
    lines = every(1.0, background=78)
    for line in lines[:10]:
        line["forced"] = " (forced)"

    (finding,) = forced_gc.find(of_log(*lines))

    assert finding.title == (
        "The program calls runtime.GC(): 10 of 40 collections, at most 2 % of the CPU"
    )
    assert [("forced", 10), ("cycles", 40)] == [(one[1], one[2]) for one in shown(finding)[:2]]
    assert ["gc_cpu_seconds of forced GCs", "stopped_seconds of forced GCs", "seconds"] == [
        one[1] for one in shown(finding)[2:]
    ]
    assert [0.7836, 0.0003, 39.0] == pytest.approx([one[2] for one in shown(finding)[2:]], abs=1e-3)


def test_where_no_time_is_watched_forced_collections_have_no_share():
    limits = replace(of_log().thresholds, forced_cycles=1)

    (finding,) = forced_gc.find(replace(of_log({"forced": " (forced)"}), thresholds=limits))

    assert "marking for them" not in finding.title
    assert (Severity.INFO, None) == (finding.severity, finding.cpu_fraction)


# ---- whose growth, and how well it is known


def rise(seconds, low, high, slope=10.0):
    return SimpleNamespace(seconds=seconds, low=low, high=high, slope=slope)


def test_a_goal_is_that_of_the_last_moment_that_says_whose_it_is():
    """
    At the first it was the limit's, at the last it is GOGC's; and the other way round. Where the
    last has no metrics, the one before tells.
    """
    metrics = {GOMEMLIMIT: 170.0 * MIB, LIVE: 100.0 * MIB, GOGC: 100.0}

    def goal(*goals, silent=None):
        told = tuple(
            MomentFacts(
                str(place),
                memstats=pd.Series({"NextGC": one * MIB}),
                metrics={} if place == silent else metrics,
            )
            for place, one in enumerate(goals)
        )
        moment = case_of(told).facts.limited_moment
        if moment is None:
            return None
        made = moment.limited_goal
        return moment.name, made.goal_bytes // MIB, made.room_fraction

    assert goal(150, 200) is None
    assert ("1", 150, 0.5) == goal(200, 150)
    assert ("0", 150, 0.5) == goal(150, 120, silent=1)
    assert goal(200, 120, silent=1) is None
    assert goal() is None


# ---- words that every finding has


def test_a_finding_has_its_causes_words_where_it_has_none_of_its_own():
    cause = forced_gc.CAUSE

    plain = cause.finding(Severity.INFO, "t", evidence=())
    own = cause.finding(Severity.INFO, "t", evidence=(), mechanism="m", next_step="n", moment="1")

    assert (cause.mechanism, cause.remedy, ()) == (plain.mechanism, plain.next_step, plain.moments)
    assert ("m", "n", ("1",)) == (own.mechanism, own.next_step, own.moments)
    assert ("certain", cause.references, True) == (plain.confidence, plain.references, plain.now)


def test_what_pressure_shows():
    """
    40 collections in 0.39 s; the first, in which a heap fills, has no goal of its own.
    """
    (finding,) = gc_pressure.find(of_log(*every(0.010, background=0.8)))

    told = {one[1]: one[2] for one in shown(finding)}
    assert ["cycles", "seconds", "interval_p50_seconds", "marking_cpu_fraction"] == list(told)[:4]
    assert (40, 0.39, 0.01) == pytest.approx(list(told.values())[:3])
    assert 0.055 == pytest.approx(told["marking_cpu_fraction"], abs=1e-3)
    assert "heap_goal_bytes" in told
    assert {"app.log"} == {one[0] for one in shown(finding)}


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0005, "every 1 ms or less"), (0.001, "every 2 ms or less"), (2.0, "every 2 s")],
)
def test_the_logs_clock_tells_a_millisecond(seconds, told):
    assert told == every_words(seconds)


def test_collections_at_one_time_have_no_share_of_any():
    """
    Thirty in the same millisecond: no time has passed in which they could have cost something.
    """
    case = of_log(*[{"at": 1.0}] * 30)

    assert case.facts.collector.marking_share_of("pacer") is None
    assert [] == gc_pressure.find(case)
    assert gc_pressure.lack(case) is None


# ---- what is not there


def test_stacks_that_nobody_counted_are_none():
    """
    Not one byte, so that no threshold can find it.
    """
    moment = replace(facts(heap_mib=60, HeapAlloc=40, StackInuse=20), memstats=None)
    nothing = {"notable_rss_fraction": 0, "stack_bytes": 0, "large_rss_fraction": 0}

    assert [] == stack_growth.find(answers(moment, **nothing))


def test_huge_pages_that_nobody_counted_are_none():
    moment = facts(huge_mib=8)

    assert 0 == huge_pages.huge_bytes(replace(moment, mappings=None), "go-heap")
    assert 0 == huge_pages.excess_bytes(replace(moment, memstats=None))


def test_a_heap_within_its_goal_keeps_nothing():
    assert 0 == idle_heap_kept.kept_bytes(facts(HeapInuse=8, NextGC=60), GoVersion())


def test_without_smaps_no_size_of_the_arenas_is_evidence_of_skew():
    moment = replace(facts(skew=Skew(2.5, 1, "NumGC")), mappings=None)

    assert "Size of go-heap" not in {one[1] for one in shown(data_skew.find(answers(moment))[0])}


def test_a_log_without_a_collection_has_no_long_stop_whatever_the_thresholds():
    limits = replace(of_log().thresholds, long_cycles=0)

    assert [] == long_pauses.find(replace(of_log(), thresholds=limits))
    assert () == of_log().facts.collector.notes


def test_a_long_log_says_of_what_it_is_told(monkeypatch):
    """
    Four collections: one by one, or in groups of two where two rows are the most.
    """
    log = log_of(*[{}] * 4)
    long = CollectorFacts(replace(log, cycles=packed_cycles(log.cycles, 2)), "app.log")

    assert () == long.notes
    monkeypatch.setattr(steps, "MAX_ROWS", 2)
    (note,) = long.notes
    assert note.endswith("are computed from groups of 2 collections")


def test_a_limit_that_drives_collections_since_the_start():
    """
    Of a single moment nobody knows how often they come: what they cost says it.
    """
    limited = counted_moment("1", 40, 100.0, **LIMITED)

    (finding,) = memory_limit_thrash.find(case_of((limited,), GoVersion()))

    assert ("memory-limit-thrash", 0.2) == (finding.code, finding.cpu_fraction)


def test_an_empty_goroutine_profile_counts_nobody():
    """
    Then runtime/metrics say how many there are.
    """
    empty = goroutines(1).iloc[:0]
    paths = {"goroutine": "g.pb.gz", "metrics": "m.json"}
    counted_too = MomentFacts("1", goroutines=empty, metrics={GOROUTINES: 5.0}, paths=paths)

    assert (5, "m.json") == (counted_too.goroutine_count, counted_too.goroutine_path)
    assert MomentFacts("1", goroutines=empty).goroutine_count is None
    assert "g.pb.gz" == replace(counted_too, goroutines=goroutines(7)).goroutine_path


def test_collections_of_which_no_interval_is_known():
    assert every_words(None).startswith("every ")


def test_a_single_collection_between_the_files_is_told_in_words():
    (finding,) = data_skew.find(answers(facts(skew=Skew(2.5, 1, "NumGC"))))

    assert "with 1 collection between the readings" in finding.title


def test_stacks_of_one_goroutine_are_its_own():
    stacks = {"heap_mib": 60, "HeapAlloc": 10, "HeapInuse": 10, "HeapSys": 24, "StackInuse": 40}

    (one,) = stack_growth.find(answers(facts(**stacks, goroutines=goroutines(1))))
    (uncounted,) = stack_growth.find(answers(facts(**stacks)))

    assert one.title.endswith("1 goroutine with at most 40 MiB, in main.wait")
    assert (stack_growth.CAUSE.mechanism, stack_growth.CAUSE.remedy) == (
        one.mechanism, one.next_step,
    )  # fmt: skip
    assert stack_growth.CAUSE.mechanism != uncounted.mechanism
    assert {"StackInuse", "Rss"} == {each.field for each in uncounted.evidence}


@pytest.mark.parametrize("setting", ["growth_bytes", "=5", "grwth_bytes=5", "growth_bytes=-1",
                                     "growth_bytes=nan", "growth_bytes=much"])  # fmt: skip
def test_what_sets_no_threshold_is_an_error(setting):
    what = "is not a number" if setting.startswith("growth_bytes=") else "lists all"

    with pytest.raises(CaptureError, match=what):
        Thresholds.of([setting])


def test_a_threshold_may_be_nothing():
    assert (0, 2.5) == (
        Thresholds.of(["growth_bytes=0"]).growth_bytes,
        Thresholds.of(["growth_bytes=0", "spike_ratio=2.5"]).spike_ratio,
    )


def test_a_mistyped_threshold_is_answered_with_the_nearest():
    with pytest.raises(
        CaptureError, match=r"did you mean growth_bytes=8388608 or growth_few_bytes"
    ):
        Thresholds.of(["growt_bytes=1"])


def test_the_three_largest_mappings_and_what_go_claims_are_the_evidence():
    """
    Of four; and without MemStats it is likely, for nothing says what the runtime mapped.
    """
    sizes = (40, 30, 20, 10)
    own = [
        smaps_entry(HIGH + n * 256 * MIB, HIGH + (n * 256 + mib) * MIB, rss_kib=mib * 1024)
        for n, mib in enumerate(sizes)
    ]
    moment = facts(*own, Sys=80, GCSys=1)

    (finding,) = anonymous_mapping.find(answers(moment))
    (alone,) = anonymous_mapping.find(answers(replace(moment, memstats=None)))

    assert [40, 30, 20] == [one.value // MIB for one in finding.evidence[:3]]
    assert ("1/memstats.json", "Sys", 80 * MIB, "B") == shown(finding)[-1]
    assert ["certain", "likely"] == [finding.confidence, alone.confidence]
    assert "Sys" not in {one.field for one in alone.evidence}


def test_what_is_lacking_is_added_and_nothing_is_worked_out_again():
    lack = Lack("heap-growth", "seen", "had", "needed", "next", ())
    case = answers(facts(HeapAlloc=8))

    lacking = replace(case, lacks=(lack,))

    assert ["data-thin"] == [one.code for one in data_thin.find(lacking)]
    assert [] == data_thin.find(case)
    assert lacking.facts is case.facts
