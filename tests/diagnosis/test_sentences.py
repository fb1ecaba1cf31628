"""What the verdict says, and from where on, of moments that are made up in a line."""

from types import SimpleNamespace

import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.readings import ALL
from gomem.causes.finding import Finding, Severity
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.changes import Change, change_between
from gomem.diagnosis.next_step import NOTHING_TO_DO, TAKE_ANOTHER
from gomem.diagnosis.part_words import PART_NAMES
from gomem.diagnosis.verdict import Verdict, telling_moment
from gomem.facts.moment import MomentFacts
from gomem.text import Bytes, BytesChange, MomentName
from gomem.units import MIB
from tests.diagnosis.made import COLUMNS, divided, made_of, mapped, moment, of_rss
from tests.views.ledgers import ledger

GOGC, LIMIT = "/gc/gogc:percent", "/gc/gomemlimit:bytes"


def said_of(*moments, findings=(), **more) -> Verdict:
    """The verdict of a capture of these moments."""
    return made_of(*moments, findings=findings, **more).verdict


def levels_of(sentence):
    """The amounts in a sentence that are no changes."""
    return [part.value for part in sentence.of(Bytes) if not isinstance(part, BytesChange)]


def change_of(*moments):
    """What the verdict says of how the whole moved, with its typed parts."""
    made = made_of(*moments, findings=())
    sentence = made.observations[0].sentence
    assert sentence in made.verdict.sentence
    return sentence


def finding(code="native-memory", severity=Severity.WARNING, mib=1, **about):
    more = {"moment": None, "mechanism": "", "next_step": f"look at {code}", "now": True} | about
    return Finding(code=code, severity=severity, title=f"{code} it is", bytes=mib * MIB,
                   evidence=(), **more)  # fmt: skip


@pytest.mark.parametrize(
    ("first", "last", "moved"),
    [
        pytest.param(98, 100, True, id="2% of the larger"),
        pytest.param(98.1, 100, False, id="less"),
        pytest.param(10, 11, True, id="1 MiB"),
        pytest.param(10, 10.99, False, id="less than 1 MiB"),
        pytest.param(11, 10, True, id="fell"),
        pytest.param(100, 98.1, False, id="fell by less"),
    ],
)
def test_from_where_on_rss_has_changed(first, last, moved):
    said = change_of(*of_rss(first, last))

    assert moved != ("stable" in said)
    levels = [first, last] if moved else [last]
    assert [round(size * MIB) for size in levels] == pytest.approx(levels_of(said), abs=1)
    assert ("1",) * moved == tuple(part.value for part in said.of(MomentName))


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
        pytest.param((16, 23.9, 16), False, id="by less than 8 MiB"),
        pytest.param((100, 120, 96.5), False, id="less above the first"),
    ],
)
def test_a_peak_between_is_named(sizes, named):
    said = change_of(*of_rss(*sizes))

    assert named == ("2" in [part.value for part in said.of(MomentName)])
    assert named == (sizes[1] * MIB in levels_of(said))


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"heap_objects": 95, "native_heap": 5}, ["95 MiB Go obj", "5 MiB C and"]),
        ({"heap_objects": 95.1, "native_heap": 4.9}, ["95 MiB Go objects"]),
        (
            {"heap_objects": 40, "native_heap": 30, "mapped_files": 20, "binary": 10},
            ["40 MiB Go", "30 MiB C", "20 MiB mapped files"],
        ),
    ],
)
def test_the_three_largest_groups_are_named_from_a_twentieth_on(parts, names):
    where = said_of(moment("1", **parts)).where

    assert where.startswith("RSS is 100")
    assert len(names) == where.count(" %")
    assert all(name in where for name in names)


def test_of_several_moments_the_last_one_that_tells_is_named():
    silent = MomentFacts("3", ledger=ledger(None, heap_objects=MIB))

    said = said_of(*of_rss(100, 100), silent)

    assert said.headline.startswith("RSS is 100 MiB at ")
    assert ("2",) == tuple(part.value for part in said.headline.of(MomentName))
    assert telling_moment(SimpleNamespace(moments=[silent])) is silent
    assert telling_moment(SimpleNamespace(moments=[MomentFacts("1")])) is None


@pytest.mark.parametrize(("idle", "named"), [(51, True), (49, False)])
def test_of_what_go_retains_the_largest_part_is_named(idle, named):
    """
    100 MiB are retained, of which 50 were never touched.
    """
    claims = {"heap_objects": 100 - idle, "heap_idle": idle}
    facts = mapped("1", claims=claims, heap_objects=100 - idle, heap_idle=idle, heap_untouched=-50)

    where = said_of(facts).where

    largest = max(idle, 100 - idle)
    kept = f"including {largest} MiB {'free Go heap' if named else 'Go objects'}"
    assert f"50 MiB Go heap (100 %). Go retains 100 MiB of heap and stacks, {kept}" in where
    assert where.endswith(" 50 MiB of the 100 MiB is not in RSS.")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"native_heap": 90, "anonymous_other": 10}, ["in malloc's heaps", "most likely malloc's"]),
        ({"native_heap": 91, "anonymous_other": 9}, ["in malloc's heaps"]),
        ({"native_heap": 0, "anonymous_other": 9}, ["in large blocks, most likely malloc's"]),
        ({"libraries": 0, "anonymous_other": 9}, ["in large blocks, most likely malloc's"]),
        ({"thread_stacks": 9, "anonymous_other": 9}, ["by the program", "in thread stacks"]),
    ],
)
def test_memory_outside_go_is_named_from_a_tenth_of_it_on(parts, words):
    where = said_of(moment("1", **parts)).where

    assert len(words) == where.count(" in ") + where.count("mapped by")
    assert all(word in where for word in words)


@pytest.mark.parametrize(
    ("sizes", "name"),
    [
        ({"/a/one.db": 5, "/a/two.db": 5}, "mostly one.db"),
        ({"/a/one.db": 4, "/a/two.db": 3, "/a/x.db": 3}, ""),
        ({"": 5}, "mostly shared anonymous memory"),
        ({"/dev/zero (deleted)": 5}, "mostly shared anonymous memory"),
        ({"": 0}, ""),
    ],
)
def test_the_file_that_half_of_the_mapped_bytes_are_of_is_named(sizes, name):
    rows = [("mapped-file", path, size * MIB) for path, size in sizes.items()]
    rows = [row for row in rows if row[2]] + [("library", "/lib/c.so", 99 * MIB)]
    table = pd.DataFrame(rows, columns=["kind", "path", "Rss"]).reindex(columns=COLUMNS)

    where = said_of(moment("1", mapped_files=10, mappings=table)).where

    assert name in where
    assert ("mostly" in where) == bool(name)
    assert "mostly" not in said_of(moment("1", mapped_files=10)).headline


def test_the_parts_that_moved_are_named_with_their_signs_the_largest_first():
    first = mapped("1", heap_objects=60, native_heap=10, binary=30)
    last = mapped("2", heap_objects=10, native_heap=40, binary=60.5)

    for before, after, sign in ((first, last, 1), (last, first, -1)):
        said = change_of(before, after)
        changes = [round(part.value / MIB, 1) for part in said.of(BytesChange)]
        assert [-50 * sign, 30.5 * sign, 30 * sign] == changes
        moved = said.partition(": ")[2]
        places = [moved.index(name) for name in ("Go heap", "program text", "C ")]
        assert sorted(places) == places


def test_less_than_a_tenth_of_the_change_is_not_named():
    first = mapped("1", heap_objects=10, native_heap=10, binary=10)

    said = change_of(first, mapped("2", heap_objects=100.9, native_heap=19.1, binary=10))

    assert [round(90.9 * MIB)] == pytest.approx([one.value for one in said.of(BytesChange)], abs=1)
    of_both = change_of(first, mapped("2", heap_objects=100, native_heap=20, binary=10))
    assert [90 * MIB, 10 * MIB] == [one.value for one in of_both.of(BytesChange)]


def test_what_moves_within_an_rss_that_does_not_is_said():
    """
    As where a cache is dropped and its heap stays: a fifth of RSS is enough.
    """
    first = divided("1", heap_objects=80, heap_idle=20)

    said = change_of(first, divided("2", heap_objects=60, heap_idle=40))

    assert "stable" in said
    assert [-20 * MIB, 20 * MIB] == [part.value for part in said.of(BytesChange)]
    assert not change_of(first, divided("2", heap_objects=61, heap_idle=39)).of(BytesChange)


@pytest.mark.parametrize(
    ("before", "after", "moved", "severity"),
    [
        (100, 101, False, None),
        (100, 119, True, None),
        (100, 120, True, Severity.INFO),
        (120, 100, True, None),
    ],
)
def test_a_baseline_is_what_rss_is_compared_with(before, after, moved, severity):
    """
    And not the first moment, which had a tenth of it.
    """
    said = said_of(*of_rss(10, after), baseline=moment("1", heap_objects=before))

    assert "in the baseline" in said.sentence
    assert f"{before} MiB" in said.sentence
    assert moved != ("about the same" in said.sentence)
    assert "at 1" not in said.sentence
    assert severity == said.severity


def test_every_part_that_made_much_of_the_change_against_a_baseline_is_named():
    before = mapped("old", heap_objects=10, native_heap=10)
    after = mapped("1", heap_objects=30, native_heap=31)

    said = said_of(after, baseline=before)

    moved = said.headline.partition("in the baseline")[2]
    assert moved.index("C and other native memory (malloc)") < moved.index("Go heap")
    assert Severity.INFO == said.severity


def test_what_the_baseline_cannot_divide_has_not_moved_by_nothing():
    """
    RSS alone on one side: of which group the growth is, nobody knows.
    """
    after = mapped("1", heap_objects=100, native_heap=20)

    said = said_of(after, baseline=moment("old", heap_objects=80))

    moved = said.headline.partition("in the baseline")[2]
    assert "to 120 MiB" in moved
    assert not any(name in moved for groups, name in PART_NAMES.items() if groups != ALL)


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
    several = made_of(first, silent, second, third)

    assert [("1", "2"), ("2", "3")] == [(one.before, one.after) for one in several.changes]
    assert ("1", "3") == (several.change_over_all.before, several.change_over_all.after)
    assert made_of(first, silent, third).change_over_all is None


def test_a_warning_stands_first_and_a_note_last():
    warning, note = finding(), finding(severity=Severity.INFO)

    warned, noted = (said_of(*of_rss(9), findings=(one,)) for one in (warning, note))

    assert ("Native-memory it is.", Severity.WARNING) == (warned.headline, warned.severity)
    assert warned.second.startswith("RSS is 9 MiB: ")
    assert (Severity.INFO, "look at native-memory") == (noted.severity, noted.next_step)
    assert noted.headline.startswith("RSS is 9 MiB: ")
    assert noted.second.endswith("Native-memory it is.")
    assert "Native-memory it is." == noted.found


@pytest.mark.parametrize(("mib", "first"), [(45, True), (44.9, False)])
def test_a_note_of_half_of_rss_that_holds_is_the_headline(mib, first):
    """
    A smaller one follows what RSS consists of.
    """
    least = Thresholds().large_rss_fraction
    note = finding(severity=Severity.INFO, mib=mib * 2 * least)

    said = said_of(*of_rss(90), findings=(note,))

    assert first == (said.headline == "Native-memory it is.")
    assert first != (said.found == "Native-memory it is.")
    over = finding(severity=Severity.INFO, mib=mib * 2 * least, now=False, moment="1")
    assert said_of(*of_rss(90), findings=(over,)).headline.startswith("RSS is ")


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
        ((finding(), finding("heap-growth")), 0, "Also: 1 further warning (heap-growth)."),
        (
            (finding(), *[finding("heap-growth")] * 2, finding("huge-pages", Severity.INFO)), 2,
            (
                "Also: 2 further warnings (heap-growth), 1 note (huge-pages), 2 places could not "
                "be read."
            ),
        ),
        ((finding("data-damaged"),), 1, "Also: 1 place could not be read."),
    ],
)  # fmt: skip
def test_what_else_there_is_is_counted(findings, damaged, further):
    assert further == said_of(*of_rss(9), findings=findings, damaged=damaged).further


def test_two_moments_with_mappings_on_one_side_are_not_matched():
    table = pd.DataFrame({"kind": [], "path": [], "start": [], "end": [], "Size": [], "Rss": []})
    bare, mapped = of_rss(9)[0], moment("2", heap_objects=9, mappings=table)

    for before, after in ((bare, mapped), (mapped, bare)):
        found = change_between(before, after)
        assert isinstance(found, Change)
        assert found.mappings is None
    assert change_between(MomentFacts("1"), bare) is None
    assert change_between(bare, MomentFacts("2")) is None


def test_two_readings_of_a_text_that_are_about_the_same_are_the_answer(tmp_path):
    """
    Nothing says what RSS consists of, so how it moved comes first.
    """
    row = "19221 root 30 10 1694936 {} 8084 S 0.0 0.4 0:00.39 priceoracle\n"
    head = "  PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND\n"
    tables = [head + row.format(size) for size in (94804, 95128)]
    (tmp_path / "ticket.md").write_text("Morning:\n\n{}\nEvening:\n\n{}".format(*tables))

    verdict = gomem.diagnose(tmp_path / "ticket.md").verdict

    assert verdict.headline.startswith("RSS was stable at 93 MiB")
    assert verdict.second.startswith("RSS is 93 MiB (priceoracle, PID 19221, by top)")
