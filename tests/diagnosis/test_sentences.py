"""What the verdict says, and from where on, of moments that are made up in a line."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.causes.finding import Finding, Severity
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.findings import Scale
from gomem.diagnosis.verdict import NOTHING_TO_DO, TAKE_ANOTHER, Verdict, telling_moment, verdict_of
from gomem.facts.changes import (
    Change,
    change_between,
    change_over_all,
    changes_over_time,
)
from gomem.facts.moment import MomentFacts
from gomem.units import MIB
from tests.views.ledgers import ledger

GOGC, LIMIT = "/gc/gogc:percent", "/gc/gomemlimit:bytes"


def moment(name, claims=None, mappings=None, metrics=None, **parts):
    """A moment whose parts of RSS are these, in MiB; RSS is their sum."""
    sizes = {part: int(size * MIB) for part, size in parts.items()}
    made = ledger(sum(sizes.values()), **sizes)
    for part, claimed in (claims or {}).items():
        made.parts.loc[made.parts["part"] == part, "claimed_bytes"] = claimed * MIB
    return MomentFacts(name, ledger=made, mappings=mappings, metrics=metrics or {})


def said_of(*moments, findings=(), baseline=None, damaged=0) -> Verdict:
    """The verdict of a capture of these moments, and of a baseline's one if there is one."""
    against = None if baseline is None else change_between(baseline, moments[-1])
    rss = {one.name: one.rss_bytes for one in moments}
    return verdict_of(
        SimpleNamespace(
            moments=moments,
            findings=findings,
            collector=None,
            capture=SimpleNamespace(
                by_moment=rss,
                heap_profiles={},
                profiles={},
                bench={},
                escapes={},
                goroutines=pd.DataFrame(),
                damaged=[None] * damaged,
            ),
            change_against_baseline=against,
            baseline=baseline and SimpleNamespace(by_moment={baseline.name: baseline}),
            thresholds=Thresholds(),
            scale=Scale({name: {} for name in rss}, rss, moments[-1].rss_bytes),
        )
    )


def of_rss(*sizes_mib):
    """Moments 1, 2, … whose RSS is one part."""
    return [moment(str(n), heap_objects=size) for n, size in enumerate(sizes_mib, start=1)]


def finding(code="native-memory", severity=Severity.WARNING, mib=1, **about):
    more = {"moment": None, "mechanism": "", "next_step": f"look at {code}", "now": True} | about
    return Finding(code=code, severity=severity, title=f"{code} it is", bytes=mib * MIB,
                   evidence=(), **more)  # fmt: skip


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        pytest.param(100, 102, "It was 100 MiB at 1; the largest change is 2.00 MiB more", id="2%"),
        pytest.param(100, 101.9, "It was about the same at 1, 100 MiB.", id="less"),
        pytest.param(10, 11, "It was 10.0 MiB at 1; the largest change is 1.00 MiB more", id="1"),
        pytest.param(10, 10.99, "It was about the same at 1, 10.0 MiB.", id="less than 1 MiB"),
        pytest.param(
            11, 10, "It was 11.0 MiB at 1; the largest change is 1.00 MiB less", id="fell"
        ),
    ],
)
def test_from_where_on_rss_has_changed(first, last, told):
    assert told in said_of(*of_rss(first, last)).sentence


@pytest.mark.parametrize(("last", "severity"), [(2.4, Severity.INFO), (1.9, None)])
def test_growth_of_a_tiny_process_is_growth_from_a_mebibyte_on(last, severity):
    said = said_of(*of_rss(1, last))

    assert severity == said.severity
    assert (NOTHING_TO_DO if severity is None else TAKE_ANOTHER) == said.next_step


@pytest.mark.parametrize(
    ("sizes", "named"),
    [
        pytest.param((100, 125, 100), True, id="a quarter above both"),
        pytest.param((100, 124.9, 100), False, id="less"),
        pytest.param((80, 125, 100), True, id="above the last"),
        pytest.param((100, 125, 80), True, id="above the first"),
        pytest.param((100, 120, 96.5), False, id="less above the first"),
    ],
)
def test_a_peak_between_is_named(sizes, named):
    said = said_of(*of_rss(*sizes)).sentence

    assert named == (" at 2" in said)


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"heap_objects": 95, "native_heap": 5}, ["95.0 MiB Go obj", "5.00 MiB C and"]),
        ({"heap_objects": 95.1, "native_heap": 4.9}, ["95.1 MiB Go objects"]),
        (
            {"heap_objects": 40, "native_heap": 30, "mapped_files": 20, "binary": 10},
            ["40.0 MiB Go", "30.0 MiB C", "20.0 MiB files"],
        ),
    ],
)
def test_the_three_largest_groups_are_named_from_a_twentieth_on(parts, names):
    where = said_of(moment("1", **parts)).headline

    assert where.startswith("RSS is 100")
    assert len(names) == where.count(" %")
    assert all(name in where for name in names)


def test_of_several_moments_the_last_one_that_tells_is_named():
    silent = MomentFacts("3", ledger=ledger(None, heap_objects=MIB))

    said = said_of(*of_rss(100, 100), silent)

    assert said.headline.startswith("RSS is 100 MiB at 2: ")
    assert telling_moment(SimpleNamespace(moments=[silent])) is silent
    assert telling_moment(SimpleNamespace(moments=[MomentFacts("1")])) is None


@pytest.mark.parametrize(("idle", "named"), [(5, True), (4, False)])
def test_of_what_go_claims_a_twentieth_is_named(idle, named):
    """
    100 MiB are claimed, of which 50 were never touched.
    """
    claims = {"heap_objects": 100 - idle, "heap_idle": idle}
    facts = moment("1", claims, heap_objects=100 - idle, heap_idle=idle, heap_untouched=-50)

    where = said_of(facts).headline

    assert "50.0 MiB Go heap (100.0 %; Go claims 100 MiB for it: " in where
    assert named == ("free Go heap" in where)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"native_heap": 90, "anonymous_other": 10}, ["in malloc's heaps", "most likely malloc's"]),
        ({"native_heap": 91, "anonymous_other": 9}, ["in malloc's heaps"]),
        ({"native_heap": 0, "anonymous_other": 9}, ["in large blocks, most likely malloc's"]),
        ({"libraries": 0, "anonymous_other": 9}, ["in large blocks, most likely malloc's"]),
        ({"thread_stacks": 9, "anonymous_other": 9}, ["program's own", "in threads' stacks"]),
    ],
)
def test_memory_outside_go_is_named_from_a_tenth_of_it_on(parts, words):
    where = said_of(moment("1", **parts)).headline

    assert len(words) == where.count(" in ")
    assert all(word in where for word in words)


@pytest.mark.parametrize(
    ("sizes", "name"),
    [
        ({"/a/one.db": 5, "/a/two.db": 5}, "most of it one.db"),
        ({"/a/one.db": 4, "/a/two.db": 3, "/a/x.db": 3}, ""),
        ({"": 5}, "most of it shared anonymous memory"),
        ({"/dev/zero (deleted)": 5}, "most of it shared anonymous memory"),
        ({"": 0}, ""),
    ],
)
def test_the_file_that_half_of_the_mapped_bytes_are_of_is_named(sizes, name):
    rows = [("mapped-file", path, size * MIB) for path, size in sizes.items()]
    rows = [row for row in rows if row[2]] + [("library", "/lib/c.so", 99 * MIB)]
    table = pd.DataFrame(rows, columns=["kind", "path", "Rss"])

    where = said_of(moment("1", mapped_files=10, mappings=table)).headline

    assert name in where
    assert ("most of it" in where) == bool(name)
    assert "most of it" not in said_of(moment("1", mapped_files=10)).headline


def test_the_largest_change_is_one_in_the_direction_of_rss():
    first = moment("1", heap_objects=60, native_heap=10, binary=30)
    last = moment("2", heap_objects=10, native_heap=40, binary=60.5)

    assert "the largest change is 30.5 MiB more in program" in said_of(first, last).sentence
    assert "the largest change is 30.5 MiB less in program" in said_of(last, first).sentence


@pytest.mark.parametrize(
    ("before", "after", "words", "severity"),
    [
        (100, 101, "The baseline's is about the same, 100 MiB.", None),
        (100, 119, "Against the baseline, RSS rose by 19.0 MiB because the program holds", None),
        (
            100,
            120,
            "Against the baseline, RSS rose by 20.0 MiB because the program holds",
            Severity.INFO,
        ),
        (120, 100, "Against the baseline, RSS fell by 20.0 MiB because the program holds", None),
    ],
)
def test_a_baseline_is_what_rss_is_compared_with(before, after, words, severity):
    """
    And not the first moment, which had a tenth of it.
    """
    said = said_of(*of_rss(10, after), baseline=moment("1", heap_objects=before))

    assert words in said.sentence
    assert "at 1" not in said.sentence
    assert severity == said.severity


def test_where_no_one_cause_makes_the_change_the_largest_is_said():
    before = moment("old", heap_objects=10, native_heap=10, mapped_files=10)
    after = moment("1", heap_objects=30, native_heap=31, mapped_files=20)

    said = said_of(after, baseline=before)

    assert (
        "It was 30.0 MiB in the baseline; the largest change is 21.0 MiB more in" in said.sentence
    )
    assert Severity.INFO == said.severity


def test_a_warning_that_holds_now_is_named_before_one_that_does_not():
    over, now = finding("heap-growth", now=False), finding()
    note = finding("heap-headroom", Severity.INFO)

    assert "native-memory" == said_of(*of_rss(9), findings=(over, now, note)).code
    assert "heap-growth" == said_of(*of_rss(9), findings=(over, note)).code
    assert "heap-headroom" == said_of(*of_rss(9), findings=(note,)).code
    assert said_of(*of_rss(9)).code is None


@pytest.mark.parametrize(
    ("about", "named"),
    [
        pytest.param({"mib": 9}, True, id="as much as there is"),
        pytest.param({"mib": 10}, False, id="more than there is"),
        pytest.param({"mib": 10, "moment": "1"}, True, id="of a moment"),
        pytest.param({"mib": 10, "severity": Severity.WARNING, "now": False}, True, id="a warning"),
    ],
)
def test_a_note_of_the_whole_log_is_named_where_it_is_of_no_more_than_there_is(about, named):
    note = finding("heap-headroom", **({"severity": Severity.INFO} | about))

    assert named == (said_of(*of_rss(9), findings=(note,)).code is not None)


def test_where_rss_is_unknown_a_note_of_any_size_is_named():
    note = finding("heap-headroom", Severity.INFO, mib=999)

    said = said_of(MomentFacts("1", ledger=ledger(None, heap_objects=MIB)), findings=(note,))

    assert ("heap-headroom", None) == (said.code, said.rss_bytes)
    assert () == said.whose


def test_changes_lie_between_moments_that_have_a_ledger():
    silent = MomentFacts("x")
    first, second, third = of_rss(9, 10, 12)
    several = [first, silent, second, third]

    assert [("1", "2"), ("2", "3")] == [
        (one.before, one.after) for one in changes_over_time(several)
    ]
    assert ("1", "3") == (change_over_all(several).before, change_over_all(several).after)
    assert change_over_all([first, silent, third]) is None


def test_a_warning_stands_first_and_a_note_last():
    warning, note = finding(), finding(severity=Severity.INFO)

    warned, noted = (said_of(*of_rss(9), findings=(one,)) for one in (warning, note))

    assert ("Native-memory it is.", Severity.WARNING) == (warned.headline, warned.severity)
    assert warned.second.startswith("RSS is 9.00 MiB: ")
    assert (Severity.INFO, "look at native-memory") == (noted.severity, noted.next_step)
    assert noted.headline.startswith("RSS is 9.00 MiB: ")
    assert noted.second.endswith("Native-memory it is.")


def test_what_spoils_the_data_is_no_verdict_but_a_note_and_a_next_step():
    spoilt, missing = finding("data-damaged"), finding("data-missing", Severity.INFO)

    said, lacking = (said_of(*of_rss(9), findings=(one,)) for one in (spoilt, missing))

    assert (None, Severity.INFO, "look at data-damaged") == (
        said.code,
        said.severity,
        said.next_step,
    )
    assert (None, None, "look at data-missing") == (
        lacking.code, lacking.severity, lacking.next_step,
    )  # fmt: skip
    both = said_of(*of_rss(9), findings=(spoilt, missing))
    assert "look at data-missing" == both.next_step


@pytest.mark.parametrize(
    ("findings", "damaged", "further"),
    [
        ((), 0, ""),
        ((finding(),), 0, ""),
        ((finding(), finding("heap-growth")), 0, "Also: 1 further warning."),
        (
            (finding(), *[finding("heap-growth")] * 2, finding("huge-pages", Severity.INFO)), 2,
            "Also: 2 further warnings; 1 note; 2 places that could not be read.",
        ),
        ((finding("data-damaged"),), 1, "Also: 1 place that could not be read."),
    ],
)  # fmt: skip
def test_what_else_there_is_is_counted(findings, damaged, further):
    assert further == said_of(*of_rss(9), findings=findings, damaged=damaged).further


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({}, ()),
        ({GOGC: 50.0}, ("GOGC is 50.",)),
        ({GOGC: 1e9}, ("GOGC is 1000000000.",)),
        ({GOGC: 2.0**64}, ("GOGC is off.",)),
        ({LIMIT: 64.0 * MIB}, ("GOMEMLIMIT is 64.0 MiB.",)),
        ({GOGC: 100.0, LIMIT: 2.0**63}, ("GOGC is 100, GOMEMLIMIT is not set.",)),
    ],
)
def test_the_settings_that_bound_the_heap_are_said(metrics, words):
    assert words == said_of(moment("1", heap_objects=9, metrics=metrics)).whose


def test_two_moments_with_mappings_on_one_side_are_not_matched():
    table = pd.DataFrame({"kind": [], "path": [], "start": [], "end": [], "Size": [], "Rss": []})
    bare, mapped = of_rss(9)[0], moment("2", heap_objects=9, mappings=table)

    for before, after in ((bare, mapped), (mapped, bare)):
        found = change_between(before, after)
        assert isinstance(found, Change)
        assert found.mappings is None
    assert change_between(MomentFacts("1"), bare) is None
    assert change_between(bare, MomentFacts("2")) is None
