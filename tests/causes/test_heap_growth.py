"""Growth of the live heap: a score decides, and the program's own function is named."""

import tarfile

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.live_heap import LiveHeap
from gomem.analysis.profiles.own_code import HOLDERS
from gomem.analysis.retention.growth import grown
from gomem.analysis.series.level import Level
from gomem.causes import heap_growth
from gomem.causes.cause import Case
from gomem.causes.finding import Severity
from gomem.diagnosis.diagnosis import diagnose
from gomem.facts.keepers import Kept
from gomem.inputs.schema import build
from gomem.text import Bytes, Function, Rate
from gomem.units import KIB, MIB
from tests.analysis.retention.test_keepers import recorded
from tests.builders import FIXTURES, but, case_of, diagnosed
from tests.causes.situations import facts
from tests.pprof_messages import (
    INUSE_SPACE,
    STRINGS,
    TWO_FUNCTIONS,
    TWO_LOCATIONS,
    field,
    sample,
    strings,
)

T = np.linspace(0, 30, 16)
KINDS = ("log", "marks", "profiles")
OBJECT = 24 * KIB


def holders(*rows: tuple[str, str, float]) -> pd.DataFrame:
    """What own functions have more, by own function, allocator and MiB."""
    sizes = [more * MIB for _, _, more in rows]
    columns = {
        "own_function": [own for own, _, _ in rows],
        "function": [function for _, function, _ in rows],
        "file": ["main.go"] * len(rows),
        "line": [7] * len(rows),
        "object_bytes": [OBJECT] * len(rows),
        "before": [0.0] * len(rows),
        "after": sizes,
        "change": sizes,
        "low": [size / 2 for size in sizes],
        "high": [size * 2 for size in sizes],
    }
    return build(columns, HOLDERS)


def case(levels_mib, *, seconds=T, kinds=KINDS, more=None, **about) -> Case:
    """A capture whose live heap has these readings."""
    values = np.asarray(levels_mib, float) * MIB
    level = Level("marks", np.asarray(seconds, float)[: len(values)], values, **about)
    live = LiveHeap(level, frozenset(kinds), 1.0)
    return case_of([facts(name="1"), facts(name="2")], live_heap=live, growth_holders=more)


def test_a_line_to_the_end_is_growth_with_its_rate():
    (finding,) = heap_growth.find(case(10 + 2 * T))

    (rate,) = finding.title.of(Rate)
    assert pytest.approx(2 * MIB) == rate.value
    assert (Severity.WARNING, "likely") == (finding.severity, finding.confidence)
    assert round(60 * MIB) == finding.bytes
    assert "the live heap grows by" in finding.title


def test_of_a_single_profile_who_has_most_in_use_is_named_and_not_said_to_grow():
    """
    50 MiB of 60 are main.fill's.
    """
    held = holders(("main.fill", "io.ReadAll", 50), ("main.index", "main.index", 10))

    (finding,) = heap_growth.find(but(case(10 + 2 * T), in_use_holders=held))

    assert ["main.fill", "main.index"] == [site.own_function for site in finding.sites]
    assert "of inuse_space is from main.fill" in finding.title
    assert ("inuse_space of main.fill (main.go:7)", 50 * MIB) in {
        (one.field, one.value) for one in finding.evidence
    }


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param(np.where(T < 3, 10, 80), id="filled at once and stayed"),
        pytest.param(80 - 70 * np.exp(-T / 3), id="a fill that saturates"),
        pytest.param(40 + 0.2 * T, id="6 MiB are not worth a finding"),
        pytest.param(200 + 0.5 * T, id="less than a tenth of what is held"),
        pytest.param(80 - 2 * T, id="it falls"),
        pytest.param([10, 18], id="two readings that are not far apart"),
    ],
)
def test_what_has_filled_or_does_not_matter_is_no_growth(levels):
    assert [] == heap_growth.find(case(levels))


def test_one_kind_of_evidence_alone_is_possible_and_no_more():
    """
    The log of a job that keeps its work until it ends looks the same.
    """
    (finding,) = heap_growth.find(case(10 + 2 * T, kinds=("log",)))

    assert "possible" == finding.confidence


@pytest.mark.parametrize(("seconds", "found"), [(3.9, 0), (4.1, 1)])
def test_a_few_seconds_show_no_leak_because_any_work_in_progress_looks_the_same(seconds, found):
    level = Level("log", np.linspace(0, seconds, 16), (10 + 2 * T) * MIB)
    told = but(case(10 + 2 * T), live_heap=LiveHeap(level, frozenset({"log"}), 1.0))

    assert found == len(heap_growth.find(told))


def test_growth_that_would_have_passed_heap_alloc_has_stopped():
    ceiling = (120.0, 30.0 * MIB)
    assert [] == heap_growth.find(case(10 + 2 * T[:4], ceiling=ceiling, kinds=("marks",)))


def test_two_readings_far_apart_are_possible_and_no_more():
    (finding,) = heap_growth.find(case([10, 60], seconds=[0.0, 30.0]))

    assert "possible" == finding.confidence


def test_the_own_function_is_named_and_the_librarys_behind_it():
    more = holders(("main.(*job).read", "io.ReadAll", 55), ("main.log", "main.log", 5))

    (finding,) = heap_growth.find(case(10 + 2 * T, more=more))

    assert ["main.(*job).read", "io.ReadAll"] == [one.value for one in finding.title.of(Function)]
    assert finding.title.endswith(
        "nearly all of the growth is from main.(*job).read (calls io.ReadAll)"
    )
    assert [("main.(*job).read", "main.go", 7)] == [
        (site.own_function, site.file, site.line) for site in finding.sites
    ]


@pytest.mark.parametrize(
    ("largest", "words"),
    [(95, "nearly all of the growth is from main.fill"), (60, "60 % of the"), (40, "40 % of the")],
)
def test_how_much_a_site_has_is_said_in_words_that_hold(largest, words):
    others = [(f"main.other{n}", "", (100 - largest) / 4) for n in range(4)]
    more = holders(("main.fill", "main.fill", largest), *others)

    (finding,) = heap_growth.find(case(10 + 2 * T, more=more))

    assert words in finding.title


def test_few_readings_of_a_large_rise_are_called_thin():
    lack = heap_growth.lack(case([10, 60], kinds=("marks",), seconds=[0.0, 0.5]))

    assert [10 * MIB, 60 * MIB] == [one.value for one in lack.seen.of(Bytes)]
    assert heap_growth.lack(case(10 + 2 * T)) is None


def test_nothing_that_says_what_is_held_is_no_finding():
    assert [] == heap_growth.find(case_of([facts(name="1")], live_heap=None))


def test_growth_is_of_the_level_and_not_of_a_burst_at_the_end():
    """
    The last profile of spiky lies within a spike of main.unpack: what grows is newAuditRecord's.
    """
    diagnosis = diagnosed(FIXTURES / "captures" / "spiky-go1.27.3")

    (growth,) = (one for one in diagnosis.findings if one.code == "heap-growth")
    assert "main.newAuditRecord" == growth.sites[0].own_function
    # Of 180 MiB that are live at the end; this level leaves the spike out, and says so.
    assert "outside bursts the live heap grows by" in growth.title
    assert "MiB before the last burst" in growth.title
    assert "The last reading, 180 MiB, falls in a burst" in growth.mechanism
    shown = {row.field: row for row in growth.evidence}
    assert pytest.approx(180.35 * MIB, rel=1e-3) == shown["live heap in the burst at the end"].value
    assert "25 snapshots, gctrace.log" == shown["slope"].artefact
    assert shown["inuse_space growth, all functions"].value > 42 * MIB
    assert "live heap outside bursts, median of the last 10 % of readings" in {
        one.field for one in growth.evidence
    }
    assert "of the memory that main.newAuditRecord allocated was still in use" in growth.mechanism
    (in_use,) = (one for one in diagnosis.observations if one.group == "in_use")
    assert ["main.unpack"] == [one.value for one in in_use.sentence.of(Function)][:1]


def kept(name="dump", *others):
    """What a recorded heap dump says, alone or after another."""
    last = recorded("1.24.13", (name, *others)[-1])
    first = recorded("1.24.13", name)
    growth = grown(first, last) if others else None
    return Kept("2/heap.dump", "2", last, growth, "1" if others else "")


def test_the_keeper_that_grew_between_two_heap_dumps_is_named():
    (finding,) = heap_growth.find(but(case(10 + 2 * T), kept=kept("dump", "second.dump")))

    assert "; held by main.cache" in finding.title
    assert ("2/heap.dump", "held by main.cache", "B") in {
        (one.artefact, one.field, one.unit) for one in finding.evidence
    }


def test_of_one_heap_dump_it_is_what_keeps_most_of_what_the_site_allocated():
    held = holders(("main.enqueue", "main.enqueue", 50))

    (finding,) = heap_growth.find(but(case(10 + 2 * T), growth_holders=held, kept=kept()))

    assert "; held by main.queue" in finding.title


def test_of_one_heap_dump_no_keeper_is_named_where_no_site_is_known():
    (finding,) = heap_growth.find(but(case(10 + 2 * T), kept=kept()))

    assert "kept by" not in finding.title


def of_rss_and_one_profile(name, folder):
    """A recorded capture of which only RSS over time and the last heap profile are left."""
    with tarfile.open(FIXTURES / "laboratory" / "captures" / f"{name}.tar.gz") as tar:
        members = sorted(tar.getmembers(), key=lambda member: member.name)
        heap = [member for member in members if member.name.endswith("heap.pb.gz")][-1]
        kept = [member for member in members if member.name.endswith("/status")]
        tar.extractall(folder, [*kept, heap], filter="data")
    return gomem.diagnose(gomem.load(folder))


def test_rss_that_rises_steadily_and_one_profile_name_who_most_likely_holds_it(tmp_path):
    """
    Of a heap that grows; without a second profile it is possible and no more.
    """
    found = of_rss_and_one_profile("dnsd-a", tmp_path).findings[0]

    assert ("heap-growth", "possible", Severity.WARNING) == (
        found.code, found.confidence, found.severity,
    )  # fmt: skip
    assert found.title.startswith("Leak or cache still filling: RSS grows by")
    assert "main.fill" == found.sites[0].own_function


@pytest.mark.parametrize("name", ["parkd-a", "vendingd-c"])
def test_rss_that_files_make_or_that_has_filled_is_no_growth_of_the_heap(name, tmp_path):
    diagnosis = of_rss_and_one_profile(name, tmp_path)

    assert "heap-growth" not in [finding.code for finding in diagnosis.findings]


def test_readings_of_a_log_are_said_as_the_log_prints_them():
    """
    The log rounds down to 1 MiB; a reading is the middle of what it can be, 0.5 MiB higher.
    """
    level = Level("log", T, (10.5 + 2 * T) * MIB, errors=np.full(len(T), MIB / 2))
    live = LiveHeap(level, frozenset(KINDS), 1.0)

    (finding,) = heap_growth.find(case_of([facts(name="1")], live_heap=live))

    (reached,) = finding.title.of(Bytes)
    assert 70 * MIB == reached.value
    assert {10 * MIB, 70 * MIB} <= {one.value for one in finding.evidence if one.unit == "B"}


def test_a_rate_whose_bounds_are_far_apart_is_said_as_the_least():
    """
    A slice that doubles: each copy is garbage by the next GC but one, so the marks swing.
    """
    steady, swings = 2 * T, 2 * T + np.where(np.arange(len(T)) % 2, 22, 0)
    said = [
        heap_growth.find(
            case_of([facts(name="1")], live_heap=LiveHeap(level, frozenset(KINDS), 1.0))
        )[0]
        for level in (Level("marks", T, (10 + values) * MIB) for values in (steady, swings))
    ]

    assert "grows by 2 MiB/s" in said[0].title
    assert "grows by at least" in said[1].title


def delta(tmp_path, grown_mib, *, nanos=30 * 10**9):
    """The diagnosis of a profile as heap?seconds=30 serves it."""
    used = sample(1, 2, value=grown_mib * MIB)
    code = (TWO_LOCATIONS, TWO_FUNCTIONS, strings(*STRINGS), field(10, nanos))
    (tmp_path / "heap.pb").write_bytes(b"".join([INUSE_SPACE, used, *code]))
    return diagnose(tmp_path)


def test_a_delta_profile_is_itself_a_growth(tmp_path):
    found = delta(tmp_path, 60)
    (growth,) = [finding for finding in found.findings if finding.code == "heap-growth"]

    assert "60 MiB more in use after 30 s (2 MiB/s)" in growth.title
    assert (60 * MIB, Severity.WARNING, "possible") == (
        growth.bytes, growth.severity, growth.confidence,
    )  # fmt: skip
    assert "memory in use rose by 60 MiB" in found.verdict.sentence


@pytest.mark.parametrize(
    ("grown", "nanos"),
    [
        pytest.param(4, 30 * 10**9, id="it grew little"),
        pytest.param(-60, 30 * 10**9, id="it fell"),
        pytest.param(60, 0, id="it is a level"),
    ],
)
def test_what_is_no_growth_is_not_called_so(grown, nanos, tmp_path):
    found = delta(tmp_path, grown, nanos=nanos)

    assert "heap-growth" not in {finding.code for finding in found.findings}
    assert (grown < 0) == ("fell by 60 MiB" in found.verdict.sentence)
