"""What moved is arithmetic: it closes, and its words fit its numbers."""

import re
import shutil
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gomem
from gomem.analysis.memory.bounds import Interval
from gomem.analysis.memory.groups import FREE, GARBAGE, LIVE, NATIVE
from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.analysis.memory.readings import ALL, GO_HEAP
from gomem.diagnosis.part_words import interval_words, part_name
from gomem.facts.moment import GOROUTINES
from gomem.text import Bytes, BytesChange, Count, Function, MomentName, Share
from gomem.units import MIB
from tests.builders import CAPTURES, diagnosed
from tests.diagnosis.made import divided, made_of, mapped, moment, of_rss

pytestmark = pytest.mark.at_most(6)  # of the cases below, each a capture with fewer files

MUCH = 0.4  # of the change: who made more is named
GREW, FELL = ("grew", "rose"), ("fell",)
SLACK = 1  # of a byte: intervals are made of floats


FIRST_SMAPS, KERNEL, ALL_BUT_PROFILES, ALL_BUT_LOG = (
    "first moment without smaps", "without RSS", "heap profiles alone", "log alone",
)  # fmt: skip
OF_KERNEL = ("smaps", "smaps_rollup", "status", "statm")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        pytest.param(199, 227, "+199 MiB or more", id="near"),
        pytest.param(-61, -43, "at least 43 MiB less", id="a fall"),
        pytest.param(10, 100, "between +10 MiB and +100 MiB", id="far apart"),
    ],
)
def test_the_bounds_of_a_change_do_not_read_as_from_and_to(low, high, words):
    assert words == f"{interval_words(Interval(low * MIB, high * MIB), about=False)}"


@cache
def lacking(what: str, path: Path, folder: Path) -> gomem.Diagnosis:
    """The capture as it would be with fewer files."""
    copy = folder / what / path.name
    shutil.copytree(path, copy)
    files = sorted(one for one in copy.rglob("*") if one.is_file() and one.name != "gomem.json")
    gone = {
        FIRST_SMAPS: [one for one in files if one.name == "smaps"][:1],
        KERNEL: [one for one in files if one.name in OF_KERNEL],
        ALL_BUT_PROFILES: [one for one in files if one.name != "heap.pb.gz"],
        ALL_BUT_LOG: [one for one in files if one.name != "gctrace.log"],
    }
    for one in gone[what]:
        one.unlink()
    if what in (ALL_BUT_PROFILES, ALL_BUT_LOG):
        (copy / "gomem.json").unlink()
    return gomem.diagnose(copy)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("captures")


@pytest.fixture(params=CAPTURES, ids=lambda path: path.name)
def path(request):
    return request.param


@pytest.fixture(params=["whole", FIRST_SMAPS, KERNEL, ALL_BUT_PROFILES, ALL_BUT_LOG])
def recorded(request, path, folder):
    """A recorded capture's diagnosis, and what it would be with fewer files."""
    return diagnosed(path) if request.param == "whole" else lacking(request.param, path, folder)


def levels_of(sentence):
    """The amounts in a sentence that are no changes."""
    return [part.value for part in sentence.of(Bytes) if not isinstance(part, BytesChange)]


def has_changed(account):
    larger = max(account.first.total_bytes, account.last.total_bytes)
    return abs(account.change_bytes) >= max(MIN_BYTES, MIN_SHARE * larger)


def check_closes(account):
    """Parts have nothing in common, and their changes add up to the change of the whole."""
    parts, change = account.parts, account.change_bytes
    groups = [group for part in parts for group in part.groups]
    assert len(set(groups)) == len(groups)
    for bounds in ("change", "certain"):
        changes = [getattr(part, bounds) for part in parts]
        assert sum(one.low for one in changes) - SLACK <= change
        assert change <= sum(one.high for one in changes) + SLACK
    is_counted = account.quantity in ("rss", "reserved")  # the others have an error as a whole
    for part in parts:
        assert part.certain.low - SLACK <= part.change.low
        assert part.change.low <= part.change.high + SLACK
        assert part.change.high <= part.certain.high + SLACK
        for level, total in ((part.before, account.first), (part.after, account.last)):
            assert -SLACK <= level.low <= level.high + SLACK
            assert not is_counted or level.high <= total.total_bytes + SLACK


IN_VERDICT = {"rss", "reserved"}  # quantities; of others profiles and the log speak themselves


def check_words(made):
    """Whatever made more than 40 % is named, verbs fit signs, and levels are none below zero."""
    for one in made.observations:
        assert all(level >= 0 for level in levels_of(one.sentence)), one.sentence
        assert all(0 <= part.value <= 1 for part in one.sentence.of(Share)), one.sentence
        verb = one.sentence.partition(" from ")[0].rpartition(" ")[2]
        if "stable" not in one.sentence:
            assert verb in (GREW if one.change_high > 0 else FELL), one.sentence
            assert one.change_low > 0 or one.change_high < 0 or one.change_low == one.change_high
    account = made.facts.account
    if account is None or len(account.snapshots) < 2 or account.quantity not in IN_VERDICT:
        return
    said = made.observations[0].sentence
    assert said in made.verdict.sentence
    assert has_changed(account) != ("stable" in said)
    is_residency = "of the Go heap is resident" in said  # no part of its own moved
    if has_changed(account) and len(account.parts) > 1 and not is_residency:
        check_names(account, said, made.case)


def check_names(account, said, case):
    much = MUCH * abs(account.change_bytes)
    for part in account.parts:
        if min(abs(part.change.low), abs(part.change.high)) > much and (
            part.change.low > 0 or part.change.high < 0
        ):
            assert part_name(part.groups, case.facts.moments) in said.partition(": ")[2], said
    sure = [part.change for part in account.parts]
    for change in said.of(BytesChange):
        assert any(one.holds(change.value, tolerance=SLACK) for one in sure), said


# Of everything recorded


def test_the_change_closes(recorded):
    if recorded.facts.account is not None:
        check_closes(recorded.facts.account)


def test_what_rests_on_an_assumption_is_not_known_to_the_byte(path, folder):
    """
    Where what is assumed does not fit RSS, bounds must not close up to a point.
    """
    account = lacking(FIRST_SMAPS, path, folder).facts.account
    assumed = bool(account.first.assumption)

    for part in account.parts if assumed else ():
        assert part.change.width > 0 or part.certain.width == 0, part


@pytest.mark.at_most(1)
@pytest.mark.parametrize("paths", [CAPTURES[::3], CAPTURES], ids=["some", "every"])
def test_what_is_likely_holds_in_nine_of_ten_groups(folder, paths):
    """
    What the mappings that were taken away show, within the hundredth of RSS that pages may move.
    """
    held = []
    for path in paths:
        less = lacking(FIRST_SMAPS, path, folder).facts.account
        whole = diagnosed(path).facts.account
        for group in ALL:
            truth = whole.first.certain.parts[group]
            likely = less.first.likely.parts[group].around(0.01 * whole.first.total_bytes)
            held.append(likely.low <= truth.high and truth.low <= likely.high)

    assert sum(held) >= 0.9 * len(held)


def test_a_log_alone_has_one_size_of_the_live_heap(path, folder):
    alone = lacking(ALL_BUT_LOG, path, folder)

    assert "live" == alone.facts.account.quantity
    assert alone.collector.cost.heap_live_last_bytes == alone.facts.account.last.total_bytes
    no_growth = ("does not grow", "too few collections", "shrinks")
    if any(words in alone.verdict.sentence for words in no_growth):
        assert "still growing" not in alone.verdict.sentence


def test_the_words_fit_the_numbers(recorded):
    check_words(recorded)


def test_a_moment_that_lacks_a_file_contradicts_no_moment_that_has_it(path, folder):
    """
    What the mappings that were taken away show lies within what is certain without them.
    """
    less = lacking(FIRST_SMAPS, path, folder).facts.account

    for snapshot in diagnosed(path).facts.account.snapshots:
        bare = less.of(snapshot.moment)
        for group in ALL:
            truth, bounds = snapshot.certain.parts[group], bare.certain.parts[group]
            assert bounds.low <= truth.high + SLACK, (snapshot.moment, group)
            assert truth.low <= bounds.high + SLACK, (snapshot.moment, group)


def test_what_moved_by_a_fifth_and_by_8_mib_is_said(recorded):
    account = recorded.facts.account
    told = {one.group for one in recorded.observations}

    for part in () if account is None or not account.parts[1:] else account.parts:
        level = max(part.before.middle, part.after.middle)
        least = max(0.2 * level, 8 * MIB)
        if part.change.low > least or part.change.high < -least:
            assert "+".join(sorted(part.groups)) in told


def test_most_is_more_than_half(recorded):
    for one in recorded.observations:
        if "most of it" in one.sentence:
            assert all(share.value > 0.5 for share in one.sentence.of(Share)), one.sentence
        if "inuse_space rose" in one.sentence and ", " in one.sentence.partition(" rose ")[2]:
            assert one.sentence.of(Function), one.sentence


def test_a_peak_is_the_highest_moment_and_named(recorded):
    account = recorded.facts.account
    if account is None or not account.snapshots[1:] or account.quantity not in IN_VERDICT:
        return
    highest = max(account.snapshots, key=lambda snapshot: snapshot.total_bytes)
    ends = max(account.first.total_bytes, account.last.total_bytes)
    said = recorded.observations[0].sentence

    far_above = highest.total_bytes >= max(1.25 * ends, ends + 8 * MIB)
    assert far_above == (highest.total_bytes in levels_of(said) and "peak" in said)


def test_what_fell_far_below_both_ends_and_came_back_is_named(tmp_path):
    sizes = (160, 164, 166, 17, 39, 165, 165)
    rows = (f"2026-11-27 14:31:{5 * at:02},{size}\n" for at, size in enumerate(sizes))
    (tmp_path / "rss.csv").write_text("time,rss_mb\n" + "".join(rows))

    said = gomem.diagnose(tmp_path).verdict.sentence

    assert "(only 17" in said
    assert "at 14:31:15)" in said


def test_what_was_higher_before_is_not_still_growing(recorded):
    account = recorded.facts.account
    whole = [one for one in recorded.observations if one.group == "+".join(sorted(ALL))]

    for one in whole:
        highest = max(snapshot.total_bytes for snapshot in account.snapshots)
        goes_on = "still growing" in one.sentence
        assert not goes_on or account.last.total_bytes >= (1 - MIN_SHARE) * highest


def test_a_shape_does_not_contradict_the_words(recorded):
    for one in recorded.observations:
        if "stable" not in one.sentence:
            assert "flat" != one.shape, one.sentence
        if "still growing" in one.sentence:
            assert one.shape not in ("plateau", "decline"), one.sentence
        assert one.shape != ("decline" if one.change_high > 0 else "ramp"), one.sentence


# Of moments made up

SIZES = st.integers(0, 300).map(lambda size: size if size > 2 else 0)
PARTS = (
    "heap_objects",
    "heap_idle",
    "runtime_metadata",
    "native_heap",
    "anonymous_other",
    "binary",
)
MOMENTS = st.tuples(
    st.sampled_from([moment, mapped, divided]),
    st.fixed_dictionaries(dict.fromkeys(PARTS, SIZES)),
    st.one_of(st.none(), st.integers(0, 300)),
)


@settings(max_examples=60)
@given(st.lists(MOMENTS, min_size=2, max_size=4))
def test_whatever_the_files_show_it_closes_and_is_worded_by_its_numbers(made_up):
    moments = [
        make(str(place), live=live, seconds=10 * place, **parts)
        for place, (make, parts, live) in enumerate(made_up)
    ]
    made = made_of(*moments, findings=())

    check_closes(made.facts.account)
    check_words(made)


def test_what_one_moment_cannot_divide_is_unknown_and_not_unchanged():
    first = moment("1", heap_objects=60, native_heap=40)
    last = divided("2", heap_objects=150, native_heap=40)

    account = made_of(first, last).facts.account

    for part in account.parts:
        assert part.groups == ALL or part.change.width > 0
    assert ALL == frozenset().union(*(part.groups for part in account.parts))


def test_what_could_not_have_been_there_has_come():
    """
    Of 16 MiB none can have been more than 16: of 136 MiB of an mmap 120 came, whoever had them.
    """
    first = moment("1", heap_objects=16)
    last = mapped("2", heap_objects=40, anonymous_other=136)

    said = made_of(first, last, findings=()).observations[0].sentence

    assert "anonymous memory outside Go" in said


def test_what_is_told_apart_on_both_sides_is_named_by_its_own_name():
    first = divided("1", heap_objects=40, live=30)
    last = divided("2", heap_objects=140, heap_idle=20, live=100)

    made = made_of(first, last, findings=())

    changes = {
        frozenset(part.groups): part.change.middle / MIB for part in made.facts.account.parts
    }
    assert {70.0, 30.0, 20.0} == {changes[frozenset({one})] for one in (LIVE, GARBAGE, FREE)}
    said = made.observations[0].sentence
    assert [70.0, 30.0, 20.0] == [part.value / MIB for part in said.of(BytesChange)]


def test_live_heap_and_garbage_are_one_where_nothing_marks_them():
    first, last = (divided(name, heap_objects=size) for name, size in (("1", 40), ("2", 140)))

    account = made_of(first, last).facts.account

    assert frozenset({LIVE, GARBAGE}) in {part.groups for part in account.parts}


def test_without_memstats_the_heap_is_one():
    first, last = (
        mapped(name, heap_objects=size, native_heap=9) for name, size in (("1", 40), ("2", 140))
    )

    account = made_of(first, last).facts.account

    assert {GO_HEAP, frozenset({NATIVE})} == {part.groups for part in account.parts}


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        pytest.param(40, 50, True, id="a fifth and more than 8 MiB"),
        pytest.param(43, 53, False, id="less than a fifth"),
        pytest.param(1, 9, True, id="8 MiB"),
        pytest.param(1, 8.9, False, id="less than 8 MiB"),
        pytest.param(53, 40, True, id="fell"),
    ],
)
def test_from_where_on_a_part_is_told_by_itself(first, last, told):
    """
    Beside 101 MiB that do not move.
    """
    moments = [
        divided(name, heap_objects=1, stacks=size, native_heap=100)
        for name, size in (("1", first), ("2", last))
    ]

    of_parts = made_of(*moments, findings=()).observations[1:]

    assert (["go_stacks"] if told else []) == [one.group for one in of_parts]
    for one in of_parts:
        assert ("grew" if last > first else "fell") in one.sentence
        assert [round(first * MIB), round(last * MIB)] == levels_of(one.sentence)


def test_of_one_moment_nothing_has_moved():
    made = made_of(*of_rss(100), findings=())

    assert () == made.observations
    assert "grew" not in made.verdict.sentence


def test_what_says_no_size_has_no_account():
    assert () == made_of(findings=()).observations


@pytest.mark.parametrize(
    ("sizes", "goes_on"),
    [
        pytest.param((10, 40, 70, 100), True, id="a line"),
        pytest.param((10, 90, 99, 100), False, id="a fill"),
        pytest.param((10, 100, 100, 100), False, id="a step"),
        pytest.param((100, 70, 40, 10), False, id="a decline"),
        pytest.param((10, 100, 10, 100), False, id="up and down"),
        pytest.param((10, 100), False, id="two moments show no direction"),
    ],
)
def test_only_what_goes_on_to_the_end_is_still_growing(sizes, goes_on):
    said = made_of(*of_rss(*sizes, every=60), findings=()).observations[0].sentence

    assert goes_on == ("still growing" in said)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        pytest.param((10, 60, 100, 101, 100, 102), ", and has been level for 3 min", id="a fill"),
        pytest.param((10, 100, 100), "", id="too few to say"),
        pytest.param((10, 40, 70, 100), "", id="a line"),
        pytest.param((100, 50, 10, 10, 10), "", id="a fall"),
    ],
)
def test_since_when_a_size_is_level_is_said(sizes, said):
    found = made_of(*of_rss(*sizes, every=60), findings=()).observations[0].sentence

    assert said in found
    assert bool(said) == ("level for" in found)


def test_without_times_a_size_is_level_since_a_snapshot():
    found = made_of(*of_rss(10, 60, 100, 101, 100), findings=()).observations[0].sentence

    assert ", and has been level since " in found


@pytest.mark.parametrize(
    ("first", "last", "verb"),
    [
        pytest.param(10, 110, "rose", id="by 100"),
        pytest.param(10, 109, "", id="by less"),
        pytest.param(200, 300, "rose", id="by half"),
        pytest.param(201, 301, "", id="by less than half"),
        pytest.param(300, 200, "fell", id="fell"),
        pytest.param(0, 100, "rose", id="from none"),
    ],
)
def test_from_where_on_goroutines_have_moved(first, last, verb):
    moments = [
        moment(name, heap_objects=9, metrics={GOROUTINES: float(count)})
        for name, count in (("1", first), ("2", last))
    ]

    made = made_of(*moments, findings=())

    told = [one for one in made.observations if one.group == "goroutines"]
    assert bool(verb) == bool(told)
    for one in told:
        assert verb in one.sentence
        assert [first, last] == [part.value for part in one.sentence.of(Count)][:2]
        assert (last - first, "2") == (one.change_low, one.moment)
        assert str(one.sentence) in made.verdict.whose


def test_a_part_that_rests_on_an_assumption_is_about_so_much():
    """
    The first moment has no mappings: how much of the heap is resident is as at the second.
    """
    claims = {"heap_objects": 8.0, "runtime_metadata": 2.0}
    first = moment(
        "1", claims, heap_objects=8, runtime_metadata=2, mapped_files=5, anonymous_other=1
    )
    last = divided("2", heap_objects=57, runtime_metadata=3, anonymous_other=120, binary=6)

    made = made_of(first, last, findings=())

    assert made.facts.account.first.assumption
    (of_native,) = [one for one in made.facts.account.parts if one.groups == {NATIVE}]
    assert of_native.change.low >= 100 * MIB
    said = made.observations[0].sentence
    assert re.search(r"C and other native memory .*about \+\d+ MiB", said)


def test_moments_are_named_by_their_names():
    said = made_of(*of_rss(10, 20), findings=()).observations[0].sentence

    assert ("1",) == tuple(part.value for part in said.of(MomentName))
    assert "snapshot 1" in said  # a number alone would read as an amount
