"""Idle heap beyond the goal is a finding; the slack that the pacer wants is not."""

import math
from dataclasses import replace

import pandas as pd
import pytest

import gomem
from gomem.analysis.mappings.kinds import classify_mappings
from gomem.analysis.memory.ledger import reconcile_rss
from gomem.analysis.memory.skew import Skew
from gomem.analysis.scavenger.scavenger import heap_return
from gomem.causes import heap_headroom
from gomem.causes.cause import Case
from gomem.causes.finding import Severity
from gomem.causes.idle_heap_kept import find
from gomem.causes.thresholds import Thresholds
from gomem.facts.moment import GOGC, GOMEMLIMIT, LIVE, MomentFacts
from gomem.releases import GoVersion, known_version
from gomem.units import MIB
from tests.builders import but, case_of, mappings, memstats_json, memstats_row, smaps_entry

HEAP = 0xC000000000


def answers(
    *,
    rss_mib: int,
    version: GoVersion | None = None,
    limit_mib: int | None = None,
    skew: Skew | None = None,
    **memstats: int,
) -> Case:
    """One moment of a process with one arena of 64 MiB in use."""
    sizes = {name: mib * MIB for name, mib in memstats.items()}
    row = memstats_row(HeapSys=64 * MIB, NumGC=2, **sizes)
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
    return case_of((facts,), version or GoVersion())


def test_idle_heap_beyond_the_goal_is_kept():
    """
    In use 10, idle 54, nothing given back, goal 20: 64 retained - 22 = 42 MiB too much.
    """
    found = find(answers(rss_mib=64, HeapAlloc=10, HeapInuse=10, HeapIdle=54, NextGC=20))

    assert ["idle-heap-kept"] == [finding.code for finding in found]
    assert Severity.WARNING == found[0].severity
    assert 42 * MIB == found[0].bytes
    assert (
        "42 MiB of idle heap above the scavenger's goal has not been returned to the OS"
        == found[0].title
    )
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
    assert "Go 1.16 or later" in find(old)[0].next_step
    assert "debug.FreeOSMemory once the heap has shrunk" in find(new)[0].next_step
    assert "GOGC" not in find(new)[0].next_step  # what lies above the goal does not depend on it


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
    assert "heap that it keeps when steady" not in {one.field for one in finding.evidence}
    assert "Go 1.16" in finding.next_step


def test_a_memory_limit_lowers_the_goal():
    """
    0.95 × 20 = 19, where 1.1 × 20 would be 22; all that Go maps is heap.
    """
    memstats = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20, "Sys": 64}
    (finding,) = find(answers(rss_mib=64, limit_mib=20, **memstats))

    assert 45 * MIB == finding.bytes
    fields = {one.field: one.value for one in finding.evidence}
    assert 19 * MIB == fields["goal under GOMEMLIMIT"]


@pytest.mark.parametrize(
    ("idle", "gogc", "told"),
    [
        pytest.param(32, math.inf, True, id="half-of-rss"),
        pytest.param(31.75, math.inf, False, id="less-than-half"),
        pytest.param(32, 100.0, False, id="a-goal-of-gogcs-own"),
    ],
)
def test_a_heap_that_is_mostly_idle_because_of_a_far_limit_is_a_note(idle, gogc, told):
    """
    64 MiB resident, 1900 the goal, GOGC off: nothing goes back, and by intention.
    """
    used = 64 - idle
    case = answers(rss_mib=64, HeapAlloc=used, HeapInuse=used, HeapIdle=idle, NextGC=1900)
    metrics = {LIVE: (950.0 if gogc == 100 else 1) * MIB, GOGC: gogc, GOMEMLIMIT: 2000.0 * MIB}
    case = but(case, moments=(replace(case.facts.moments[0], metrics=metrics),))

    found = find(case)

    assert [(Severity.INFO, 32 * MIB)] * told == [(one.severity, one.bytes) for one in found]
    assert all(
        "is kept for the heap goal of 1.86 GiB that GOMEMLIMIT sets" in f.title for f in found
    )


@pytest.mark.parametrize(("least", "told"), [(32 * MIB, True), (32 * MIB + 1, False)])
def test_what_a_far_limit_keeps_is_worth_a_word_from_its_size_on(least, told):
    case = answers(rss_mib=64, HeapAlloc=32, HeapInuse=32, HeapIdle=32, NextGC=1900)
    metrics = {LIVE: 1.0 * MIB, GOGC: math.inf, GOMEMLIMIT: 2000.0 * MIB}
    case = but(case, moments=(replace(case.facts.moments[0], metrics=metrics),))

    assert told == bool(find(replace(case, thresholds=Thresholds(idle_heap_bytes=least))))


def over_moments(case: Case, *totals: int) -> Case:
    """The same moment so many times, with what was allocated in all by then, in MiB."""
    (one,) = case.facts.moments
    told = (
        replace(one, name=str(n), memstats=pd.Series({**one.memstats, "TotalAlloc": total * MIB}))
        for n, total in enumerate(totals)
    )
    return but(case, moments=tuple(told))


@pytest.mark.parametrize(
    ("idle", "totals", "told"),
    [
        pytest.param(40, (100, 102, 104), True, id="a tenth is allocated"),
        pytest.param(40, (100, 102, 105), False, id="more than a tenth"),
        pytest.param(32, (100, 100), True, id="half of RSS"),
        pytest.param(31, (100, 100), False, id="less than half of RSS"),
        pytest.param(40, (100,), False, id="one moment"),
        pytest.param(40, (100, 3, 4), False, id="another process"),
    ],
)
def test_a_heap_that_is_mostly_idle_and_not_needed_is_a_note(idle, totals, told):
    """
    64 MiB resident, all below the goal of 100 MiB.
    """
    used = 64 - idle
    case = answers(rss_mib=64, HeapAlloc=used, HeapInuse=used, HeapIdle=idle, NextGC=100)

    found = find(over_moments(case, *totals))

    assert len(totals) * told == len(found)
    assert {(Severity.INFO, idle * MIB)} == {(one.severity, one.bytes) for one in found} or not told
    assert all("of idle heap is kept for a heap goal of 100 MiB" in one.title for one in found)


def test_idle_heap_that_is_not_needed_says_what_was_allocated_and_is_no_headroom():
    case = answers(rss_mib=64, HeapAlloc=24, HeapInuse=24, HeapIdle=40, NextGC=100)
    still, busy = over_moments(case, 100, 102), over_moments(case, 100, 900)
    small = Thresholds(headroom_bytes=MIB)

    first, last = find(still)
    assert last.title.endswith("the program allocates only 2 MiB")
    fields = [(one.field, one.value) for one in last.evidence]
    assert [("TotalAlloc", 100 * MIB), ("TotalAlloc", 102 * MIB)] == fields[4:6]
    assert [] == heap_headroom.find(replace(still, thresholds=small))
    assert heap_headroom.find(replace(busy, thresholds=small))
    assert first.moment == "0"


def test_without_a_goal_idle_heap_is_found_all_the_same():
    """
    GOGC=off and no limit: the goal is a number that no heap reaches.
    """
    case = answers(rss_mib=64, HeapAlloc=24, HeapInuse=24, HeapIdle=40, NextGC=1 << 43)

    found = find(over_moments(case, 100, 102))

    assert found[-1].title.endswith("of idle heap is kept; the program allocates only 2 MiB")


def test_with_gogc_off_and_no_limit_idle_heap_is_kept_for_no_goal(tmp_path):
    """
    The program allocated far more than is idle since the moment before, and frees it in one GC.
    """
    sizes = {"HeapAlloc": 30 * MIB, "HeapInuse": 32 * MIB, "HeapIdle": 190 * MIB}
    sizes |= {"HeapSys": 222 * MIB, "Sys": 240 * MIB, "OtherSys": 18 * MIB}
    for moment, collected in (("before", 0), ("after", 1)):
        (tmp_path / moment).mkdir()
        about = {"NumGC": collected, "PauseTotalNs": 0, "NextGC": 2**63 - 10**13}
        dump = memstats_json(**sizes, **about, TotalAlloc=(1 + 9 * collected) * 100 * MIB)
        (tmp_path / moment / "memstats.json").write_bytes(dump)
        (tmp_path / moment / "status").write_bytes(b"Name:\tx\nPid:\t7\nVmRSS:\t235520 kB\n")

    (found,) = [one for one in gomem.diagnose(tmp_path).findings if one.code == "idle-heap-kept"]

    assert ("after", "Up to 180 MiB of idle heap is kept: GOGC is off") == (
        found.moment,
        found.title,
    )
    (gogc,) = [one for one in found.evidence if one.field == "GOGC"]
    assert ("after/memstats.json", "off") == (gogc.artefact, gogc.value)


@pytest.mark.parametrize(("least", "told"), [(40 * MIB, True), (40 * MIB + 1, False)])
def test_what_is_not_needed_is_worth_a_word_from_its_size_on(least, told):
    case = answers(rss_mib=64, HeapAlloc=24, HeapInuse=24, HeapIdle=40, NextGC=100)
    limits = Thresholds(idle_heap_bytes=least)

    assert told == bool(find(replace(over_moments(case, 100, 102), thresholds=limits)))


def test_where_a_collection_ran_between_the_files_it_is_only_possible():
    memstats = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20}

    (apart,) = find(answers(rss_mib=64, skew=Skew(2.0, 1, "NumGC"), **memstats))
    (together,) = find(answers(rss_mib=64, skew=Skew(2.0, 0, "NumGC"), **memstats))

    assert ("possible", "certain") == (apart.confidence, together.confidence)


def test_before_the_scavenger_room_up_to_the_goal_is_filled_by_what_is_resident():
    """
    In use 20, idle 44, of which 28 were never touched: 36 resident, and the goal is 36.
    """
    about = {"HeapAlloc": 19, "HeapInuse": 20, "HeapIdle": 44}
    version = known_version("go1.12.17", "test")

    assert [] == find(answers(rss_mib=36, version=version, NextGC=36, **about))
    assert [] == find(answers(rss_mib=36, NextGC=33, **about))  # of no known release
    (kept,) = find(answers(rss_mib=36, version=version, NextGC=26, **about))
    assert 10 * MIB == kept.bytes


def test_since_the_scavenger_untouched_heap_counts_as_released_and_idle_heap_is_resident():
    """
    In use 20, of which 10 were not written; idle 44: 64 retained, less 1.1 × 20.
    """
    version = known_version("go1.13.15", "test")
    (kept,) = find(
        answers(rss_mib=54, version=version, HeapAlloc=19, HeapInuse=20, HeapIdle=44, NextGC=20)
    )

    assert 34 * MIB == kept.bytes


def without_kernel(case: Case) -> Case:
    """The same, of MemStats alone."""
    (moment,) = case.facts.moments
    ledger = reconcile_rss(None, moment.memstats)
    return but(case, moments=(replace(moment, ledger=ledger, mappings=None),))


@pytest.mark.parametrize(
    ("release", "inuse", "idle", "kept"),
    [
        pytest.param("go1.12.17", 10, 78, None, id="an-arena-may-be-untouched"),
        pytest.param("go1.12.17", 10, 96, 12, id="more-than-an-arena"),
        pytest.param("go1.11.13", 10, 78, None, id="since-go-1.11"),
        pytest.param("go1.10.8", 10, 78, 58, id="grows-by-1-mib"),
        pytest.param("go1.13.15", 10, 78, 55, id="counts-as-released"),
    ],
)
def test_without_the_kernels_side_a_fresh_arena_may_be_untouched(release, inuse, idle, kept):
    """
    In use 10, goal 30.
    """
    version = known_version(release, "test")
    about = {"HeapAlloc": 10, "HeapInuse": inuse, "HeapIdle": idle, "NextGC": 30}

    found = find(without_kernel(answers(rss_mib=64, version=version, **about)))

    assert ([] if kept is None else [kept]) == [one.bytes // MIB for one in found]


@pytest.mark.parametrize(("in_use", "told"), [(88, True), (90, False)])
def test_without_the_kernels_side_it_is_a_share_of_what_go_claims(in_use, told):
    """
    10.0 of 98 MiB lie beyond the goal, or 9.8 of 100.
    """
    goal = round(in_use / 1.1)
    about = {"HeapAlloc": in_use, "HeapInuse": in_use, "HeapIdle": 10, "NextGC": goal}
    case = without_kernel(answers(rss_mib=64, version=known_version("go1.20", "test"), **about))

    assert (in_use + 10) * MIB == case.facts.moments[0].held_bytes
    assert told == bool(find(replace(case, thresholds=Thresholds(idle_heap_bytes=0))))


def by_status(case: Case, *, files: int | None = 6 * MIB, rest: int = 0) -> Case:
    """The same with RSS as `status` has it, files and what is not Go's among it, and no smaps."""
    (moment,) = case.facts.moments
    resident = moment.rss_bytes + (files or 6 * MIB) + rest
    status = pd.Series(
        {"VmRSS": resident, "RssFile": files, "RssShmem": None if files is None else 0}
    )
    ledger = reconcile_rss(None, moment.memstats, status)
    return but(case, moments=(replace(moment, mappings=None, ledger=ledger),))


@pytest.mark.parametrize(("files", "most"), [(6 * MIB, ""), (None, "Up to ")])
def test_without_smaps_files_that_nobody_counts_may_be_what_is_resident(files, most):
    """
    34 MiB are claimed and idle, 40 resident: with 6 MiB of files all of them, or who knows.
    """
    about = {"HeapInuse": 4, "HeapAlloc": 4, "HeapIdle": 36, "NextGC": 4}
    case = answers(rss_mib=40, version=known_version("go1.13.15", "test"), **about)

    (finding,) = find(by_status(case, files=files))

    assert finding.title.startswith(f"{most}3")


@pytest.mark.parametrize(
    ("release", "idle", "rest", "told"),
    [
        pytest.param("go1.12.17", 92, 200, ("info", "likely", "At least 8 MiB"), id="beyond"),
        pytest.param("go1.12.17", 91, 200, None, id="7-mib-beyond"),
        pytest.param("go1.12.17", 27, 200, None, id="below-a-finding"),
        pytest.param("go1.10.8", 78, 200, ("info", "likely", "58 MiB"), id="grows-by-1-mib"),
        pytest.param("go1.13.15", 78, 200, ("info", "likely", "55 MiB"), id="counts-as-released"),
    ],
)
def test_beside_memory_of_c_a_fresh_arena_may_be_untouched(release, idle, rest, told):
    """
    In use 10, goal 30; RSS holds all that Go reserves, and memory that no file breaks down. Less
    than half of it is idle: a note.
    """
    version = known_version(release, "test")
    about = {"HeapAlloc": 10, "HeapInuse": 10, "HeapIdle": idle, "NextGC": 30}
    case = by_status(answers(rss_mib=64, version=version, **about), rest=rest * MIB)
    nothing = Thresholds(notable_rss_fraction=0)

    found = find(replace(case, thresholds=nothing))

    words = [(str(one.severity), one.confidence) for one in found]
    assert ([] if told is None else [told[:2]]) == words
    assert told is None or found[0].title.startswith(f"{told[2]}")


def test_without_rss_it_is_possible_and_nothing_is_said_to_be_resident():
    about = {"HeapAlloc": 10, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20}
    case = answers(rss_mib=64, version=known_version("go1.13.15", "test"), **about)
    (known,), (unknown,) = find(case), find(without_kernel(case))

    assert ("certain", "possible") == (known.confidence, unknown.confidence)
    assert "no file says" not in known.title
    assert (
        "42 MiB of idle heap above the scavenger's goal has not been returned to the OS; no file "
        "says how much is resident"
    ) == unknown.title


def test_what_the_next_moment_no_longer_has_is_a_note():
    """
    Kept at 1 and 2, gone at 3; kept at 4 and 5, the last.
    """
    (kept,) = answers(rss_mib=64, HeapAlloc=9, HeapInuse=10, HeapIdle=54, NextGC=20).facts.moments
    (gone,) = answers(rss_mib=64, HeapAlloc=59, HeapInuse=60, HeapIdle=4, NextGC=60).facts.moments

    found = find(case_of((kept, kept, gone, kept, kept), GoVersion()))

    notes = [Severity.INFO] * 2
    assert [*notes, Severity.WARNING, Severity.WARNING] == [one.severity for one in found]


def test_what_was_in_use_one_moment_before_is_a_note():
    (kept,) = answers(rss_mib=64, HeapAlloc=9, HeapInuse=10, HeapIdle=54, NextGC=20).facts.moments
    (used,) = answers(rss_mib=64, HeapAlloc=59, HeapInuse=60, HeapIdle=4, NextGC=60).facts.moments

    (dropped,) = find(case_of((used, kept), GoVersion()))
    (alone,) = find(case_of((kept,), GoVersion()))

    assert (Severity.INFO, Severity.WARNING) == (dropped.severity, alone.severity)


def test_a_moment_that_does_not_say_what_is_resident_shows_nothing_that_lasts():
    """
    Kept at 1, gone at 3; of 2 nobody knows what was resident. Alone it may be kept.
    """
    (kept,) = answers(rss_mib=64, HeapAlloc=9, HeapInuse=10, HeapIdle=54, NextGC=20).facts.moments
    (gone,) = answers(rss_mib=64, HeapAlloc=59, HeapInuse=60, HeapIdle=4, NextGC=60).facts.moments
    blind = without_kernel(case_of((kept,), GoVersion())).facts.moments[0]

    (found,) = find(case_of((kept, blind, gone), GoVersion()))

    assert (Severity.INFO, kept.name) == (found.severity, found.moment)
    assert 1 == len(find(case_of((blind,), known_version("go1.22.12", "test"))))


def test_a_later_moment_without_rss_says_that_it_has_gone_back():
    """
    Kept at 1, where it is known to be resident; by MemStats of 2 all has been given back.
    """
    about = {"HeapAlloc": 9, "HeapInuse": 10, "NextGC": 20}
    (kept,) = answers(rss_mib=64, HeapIdle=54, **about).facts.moments
    gone = answers(rss_mib=64, HeapIdle=54, HeapReleased=54, **about)
    (blind,) = without_kernel(gone).facts.moments

    (found,) = find(case_of((kept, replace(blind, name="2")), GoVersion()))

    assert (Severity.INFO, kept.name) == (found.severity, found.moment)


@pytest.mark.parametrize(
    ("forced", "severity"), [(1, Severity.WARNING), (0, Severity.INFO)], ids=["itself", "runtime"]
)
def test_what_the_program_gave_back_itself_would_have_stayed(forced, severity):
    """
    debug.FreeOSMemory collects first, and that counts as forced.
    """
    about = {"HeapAlloc": 9, "HeapInuse": 10, "HeapIdle": 54, "NextGC": 20}
    (kept,) = answers(rss_mib=64, **about).facts.moments
    (gone,) = answers(rss_mib=10, HeapReleased=54, **about).facts.moments
    kept, gone = (
        replace(one, memstats=pd.Series({**one.memstats, "NumForcedGC": count}))
        for one, count in ((kept, 2), (gone, 2 + forced))
    )

    (found,) = find(case_of((kept, gone), GoVersion()))

    assert severity == found.severity


def test_a_capture_without_moments_keeps_nothing():
    assert [] == find(case_of((), GoVersion()))
