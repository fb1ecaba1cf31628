"""Idle heap beyond the goal is a finding; the slack that the pacer wants is not."""

from gomem.analysis.memory.mapping_kinds import classify_mappings
from gomem.analysis.memory.rss_vs_heap import reconcile_rss
from gomem.analysis.memory.scavenger import heap_return
from gomem.analysis.memory.skew import Skew
from gomem.causes.answers import Answers, MomentFacts
from gomem.causes.finding import Severity
from gomem.causes.idle_heap_kept import find
from gomem.releases import GoVersion, known_version
from gomem.units import MIB
from tests.builders import mappings, memstats_row, smaps_entry

HEAP = 0xC000000000


def answers(
    *,
    rss_mib: int,
    version: GoVersion | None = None,
    limit_mib: int | None = None,
    skew: Skew | None = None,
    **memstats: int,
) -> Answers:
    """One moment of a process with one arena of 64 MiB in use."""
    row = memstats_row(HeapSys=64 * MIB, **{name: mib * MIB for name, mib in memstats.items()})
    row["moment"] = "1"
    table = mappings(smaps_entry(HEAP, HEAP + 64 * MIB, rss_kib=rss_mib * 1024))
    classified = classify_mappings(table, row)
    facts = MomentFacts(
        "1",
        ledger=reconcile_rss(classified, row),
        memstats=row,
        heap=heap_return(
            row.to_frame().T,
            version=version,
            memory_limits={"1": None if limit_mib is None else limit_mib * MIB},
        ).iloc[0],
        skew=skew or Skew(),
        mappings=classified.mappings,
        paths={"smaps": "1/smaps", "memstats": "1/memstats.json"},
    )
    return Answers((facts,), version or GoVersion())


def test_idle_heap_beyond_the_goal_is_kept():
    """
    In use 10, idle 54, nothing given back, goal 20: 64 retained - 22 = 42 MiB too much.
    """
    found = find(answers(rss_mib=64, HeapAlloc=9, HeapInuse=10, HeapIdle=54, NextGC=20))

    assert ["idle-heap-kept"] == [finding.code for finding in found]
    assert Severity.WARNING == found[0].severity
    assert 42 * MIB == found[0].bytes
    assert "42.0 MiB of heap is idle" in found[0].title
    assert ("1/memstats.json", "HeapIdle", 54 * MIB) in {
        (one.artefact, one.field, one.value) for one in found[0].evidence
    }


def test_idle_heap_within_the_goal_is_headroom_and_no_finding():
    assert [] == find(answers(rss_mib=64, HeapAlloc=30, HeapInuse=32, HeapIdle=32, NextGC=60))


def test_idle_heap_that_was_never_touched_is_not_kept():
    """
    Up to Go 1.12 a fresh arena is idle and not released; nothing of it is resident.
    """
    assert [] == find(answers(rss_mib=3, HeapAlloc=2, HeapInuse=2, HeapIdle=62, NextGC=4))


def test_released_heap_is_not_kept():
    memstats = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "HeapReleased": 54, "NextGC": 20}

    assert [] == find(answers(rss_mib=10, **memstats))


def test_without_a_goal_nothing_can_be_beyond_it():
    """
    GOGC=off: NextGC says nothing, so it is unknown what the runtime wants to keep.
    """
    case = answers(rss_mib=64, HeapAlloc=9, HeapInuse=10, HeapIdle=54, NextGC=2**60 // MIB)

    assert [] == find(case)


def test_the_advice_is_of_the_release():
    memstats = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20}
    old = answers(rss_mib=64, version=known_version("go1.9.7", "test"), **memstats)
    new = answers(rss_mib=64, version=known_version("go1.27.3", "test"), **memstats)

    assert "five minutes" in find(old)[0].mechanism
    assert "GOMEMLIMIT" in find(new)[0].next_step


def test_before_the_scavenger_what_lies_above_the_heap_goal_waits_for_its_five_minutes():
    """
    64 retained - 20 of NextGC, which no scavenger multiplies by 1.1.
    """
    version = known_version("go1.12.17", "test")
    (finding,) = find(
        answers(rss_mib=64, version=version, HeapAlloc=9, HeapInuse=10, HeapIdle=54, NextGC=20)
    )

    assert 44 * MIB == finding.bytes
    assert "1.1 ×" not in finding.mechanism
    assert "goal" not in {one.field for one in finding.evidence}
    assert "Go 1.16" in finding.next_step


def test_a_memory_limit_lowers_the_goal():
    """
    0.95 × 20 = 19, where 1.1 × 20 would be 22; all that Go maps is heap.
    """
    memstats = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20, "Sys": 64}
    (finding,) = find(answers(rss_mib=64, limit_mib=20, **memstats))

    assert 45 * MIB == finding.bytes
    fields = {one.field: one.value for one in finding.evidence}
    assert 19 * MIB == fields["goal"] == fields["goal that GOMEMLIMIT sets"]


def test_where_a_collection_ran_between_the_files_it_is_only_possible():
    memstats = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20}

    (apart,) = find(answers(rss_mib=64, skew=Skew(2.0, 1, "NumGC"), **memstats))
    (together,) = find(answers(rss_mib=64, skew=Skew(2.0, 0, "NumGC"), **memstats))

    assert ("possible", "certain") == (apart.confidence, together.confidence)
