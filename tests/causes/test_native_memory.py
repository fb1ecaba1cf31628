"""Memory of C's is named with its bytes; what every program has of it is not."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.bounds import Interval
from gomem.analysis.memory.ledger import reconcile_rss
from gomem.causes import anonymous_mapping, native_memory
from gomem.causes.finding import Severity
from gomem.causes.native_memory import find
from gomem.causes.outside_go import Growth
from gomem.text import Bytes, MomentName, Rate, Share
from gomem.units import KIB, MIB
from tests.builders import but, smaps_entry
from tests.causes.situations import HIGH, answers, facts, goroutines
from tests.causes.test_callers import caller, callers
from tests.heap_profiles import heap_bytes, seen

UNKNOWN = reconcile_rss(None, None, rollup_rss_bytes=140 * MIB)
START = pd.Timestamp("2026-01-02T03:04:05Z")


def brk(rss_mib: int) -> str:
    return smaps_entry(0x1000000, 0x1000000 + rss_mib * MIB, "rw-p", "[heap]",
                       rss_kib=rss_mib * 1024)  # fmt: skip


def test_a_large_heap_of_cs_is_named():
    """
    40 of 40 + 8 + 1 MiB and a page of stack.
    """
    (found,) = find(answers(facts(brk(40), HeapAlloc=8, HeapInuse=8)))

    assert ("native-memory", Severity.INFO) == (found.code, found.severity)
    assert 40 * MIB + 16 * KIB == found.bytes
    assert (40 * MIB + 16 * KIB) / (49 * MIB + 16 * KIB) == found.title.of(Share)[0].value


@pytest.mark.parametrize(
    ("first", "severities"),
    [
        pytest.param(32, {Severity.INFO, Severity.WARNING}, id="it grew"),
        pytest.param(33, {Severity.INFO}, id="by less than 8 MiB"),
        pytest.param(60, {Severity.INFO}, id="it shrank"),
    ],
)
def test_it_is_a_warning_where_it_has_grown(first, severities):
    found = find(answers(facts(brk(first), name="1"), facts(brk(40), name="2")))

    assert severities == {one.severity for one in found}


@pytest.mark.parametrize(
    ("first", "since"),
    [
        pytest.param(40, ["1"], id="it stays"),
        pytest.param(32, [], id="it grew"),
        pytest.param(60, [], id="it shrank"),
    ],
)
def test_what_stays_as_large_is_no_leak_to_search(first, since):
    found = find(answers(facts(brk(first), name="1"), facts(brk(40), name="2")))

    step = found[-1].next_step
    assert since == [part.value for part in step.of(MomentName)]
    assert bool(since) != ("C.malloc" in step)


def test_stacks_of_threads_are_cs_too():
    """
    Five of them, in a program that C's brk says has a C library.
    """
    threads = "".join(
        smaps_entry(at, at + 4096, "---p") + smaps_entry(at + 4096, at + 8 * MIB, rss_kib=2048)
        for at in range(HIGH, HIGH + 80 * MIB, 16 * MIB)
    )

    (found,) = find(answers(facts(brk(0), threads)))

    assert 5 * 2 * MIB + 16 * KIB == found.bytes


def test_a_small_share_is_a_note():
    """
    12 of 12 + 50 + 1: a fifth.
    """
    (found,) = find(answers(facts(brk(12), heap_mib=50, HeapAlloc=50, HeapInuse=50)))

    assert Severity.INFO == found.severity


def test_a_program_without_c_has_nothing():
    assert [] == find(answers(facts(heap_mib=50)))


def test_the_first_moment_is_evidence_of_growth():
    found = find(answers(facts(brk(1), name="1"), facts(brk(40), name="2")))

    assert ["2"] == [one.moment for one in found]
    assert {
        ("C and other native memory, first", MIB + 16 * KIB),
        ("C and other native memory, last", 40 * MIB + 16 * KIB),
    } <= {(one.field, one.value) for one in found[0].evidence}


OWN = smaps_entry(HIGH - 80 * MIB, HIGH - 44 * MIB, rss_kib=1024)  # the runtime's, with its index
COUNTED = {"GCSys": 3, "MSpanSys": 1}
BLOCK = smaps_entry(HIGH, HIGH + 40 * MIB + 4 * KIB, rss_kib=40 * 1024)
ROUND = smaps_entry(HIGH, HIGH + 40 * MIB, rss_kib=40 * 1024)
LINKED = smaps_entry(0x1000000, 0x1021000, "rw-p", "[heap]", rss_kib=8)
CODES = {"native-memory": native_memory.find, "anonymous-mapping": anonymous_mapping.find}


def claimed(moment):
    """Bytes by code; a byte is claimed once."""
    return {code: one.bytes for code, find in CODES.items() for one in find(answers(moment))}


def test_large_blocks_beside_cs_heap_are_most_likely_malloced():
    (found,) = find(answers(facts(brk(20), OWN, BLOCK, **COUNTED)))

    assert 60 * MIB + 16 * KIB == found.bytes
    assert [60 * MIB + 16 * KIB, 40 * MIB] == [size.value for size in found.title.of(Bytes)]
    assert "likely" == found.confidence
    assert "M_MMAP_THRESHOLD" in found.mechanism
    assert ("certain", False) == without_blocks()


@pytest.mark.parametrize(("few", "sure"), [(0.6, "likely"), (0.7, "certain")])
def test_few_blocks_leave_the_rest_as_sure_as_it_is(few, sure):
    """
    40 of 60 MiB.
    """
    (found,) = find(answers(facts(brk(20), OWN, BLOCK, **COUNTED), native_blocks_fraction=few))

    assert sure == found.confidence


def without_blocks():
    (found,) = find(answers(facts(brk(20))))
    return found.confidence, "M_MMAP_THRESHOLD" in found.mechanism


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        pytest.param((brk(20), BLOCK), "native-memory", id="C's heap in use"),
        pytest.param((brk(0), BLOCK), "anonymous-mapping", id="no page of C's heap in use"),
        pytest.param((BLOCK,), "anonymous-mapping", id="no C"),
        pytest.param((LINKED, BLOCK), "native-memory", id="hardly in use, malloc's shape"),
        pytest.param((LINKED, ROUND), "anonymous-mapping", id="hardly in use, a round size"),
    ],
)
def test_a_large_block_is_cs_or_the_programs_and_never_both(entries, code):
    found = claimed(facts(OWN, *entries, **COUNTED))

    assert [code] == list(found)
    assert 40 * MIB <= found[code] <= 60 * MIB + 16 * KIB


@pytest.mark.parametrize(
    ("mib", "severity"),
    [
        pytest.param((8, 20, 40, 60, 80), Severity.WARNING, id="it grows to the end"),
        pytest.param((8, 40, 64, 76, 80, 80, 80), Severity.INFO, id="it has levelled off"),
        pytest.param((8, 8, 80, 80, 80, 80, 80), Severity.INFO, id="it came at once and stayed"),
    ],
)
def test_what_has_levelled_off_is_a_note(mib, severity):
    *_, last = find(answers(*(facts(brk(one), name=str(n)) for n, one in enumerate(mib))))

    assert severity == last.severity


RECURSING = callers(recursing=caller("main.visit", "", depth=40))


def totals(rss_mib: int, *, name="1", anonymous_mib: int | None = None, **about):
    """A moment with totals alone: 10 MiB of RSS are files' if nothing else is said."""
    plain = facts(name=name)
    anonymous = rss_mib - 10 if anonymous_mib is None else anonymous_mib
    rollup = pd.Series({"Rss": rss_mib * MIB, "Anonymous": anonymous * MIB, "LazyFree": 0})
    ledger = reconcile_rss(None, plain.memstats, rollup=rollup, rollup_rss_bytes=rss_mib * MIB)
    paths = {"smaps_rollup": f"{name}/smaps_rollup", "memstats": f"{name}/memstats.json"}
    return replace(plain, **{"mappings": None, "ledger": ledger, "paths": paths} | about)


def test_what_grows_is_told_with_its_speed():
    """
    From 8 to 80 MiB in 40 s; 16 KiB of it are the main thread's stack.
    """
    grows = [
        facts(brk(8 + 18 * place), name=str(place), time=START + pd.Timedelta(10 * place, "s"))
        for place in range(5)
    ]

    *_, last = find(answers(*grows))

    assert ("likely", Severity.WARNING) == (last.confidence, last.severity)
    assert [72 * MIB / 40] == [rate.value for rate in last.title.of(Rate)]
    assert [40.0] == [each.value for each in last.evidence if each.field == "time watched"]
    assert [80 * MIB + 16 * KIB] == [size.value for size in last.title.of(Bytes)]


@pytest.mark.parametrize(("each_mib", "sure"), [(4, "possible"), (5, "likely")])
def test_a_rise_of_less_than_a_fifth_is_not_likely(each_mib, sure):
    """
    From 90 MiB, in four steps: malloc's arenas come and go by as much.
    """
    grows = [
        facts(brk(90 + each_mib * at), name=str(at), time=START + pd.Timedelta(10 * at, "s"))
        for at in range(5)
    ]

    assert sure == find(answers(*grows))[-1].confidence


def test_a_moment_without_mappings_bounds_it():
    """
    RSS of 30 MiB leaves no room for 40 MiB of C's: it has grown since.
    """
    small = facts(name="1", heap_mib=8)
    ledger = reconcile_rss(None, small.memstats, status=pd.Series({"VmRSS": 30 * MIB}))
    paths = {"status": "1/status", "memstats": "1/memstats.json"}
    bounded = replace(small, mappings=None, ledger=ledger, paths=paths)

    (found,) = find(answers(bounded, facts(brk(90), name="2")))

    assert Severity.WARNING == found.severity


@pytest.mark.parametrize(
    ("stack", "is_named"),
    [
        pytest.param("runtime.cgocall;main._Cfunc_wait;main.wait", True, id="they are in C"),
        pytest.param("main._Cfunc_wait;main.wait", True, id="as text profiles show it"),
        pytest.param("runtime.gopark;main.wait", False, id="they wait in Go"),
    ],
)
def test_goroutines_in_c_that_came_with_it_are_to_be_mended_first(stack, is_named):
    """
    900 goroutines more, and 36 MiB. What grows at the same time need not be the cause.
    """
    moments = [
        facts(
            brk(4 + 12 * place),
            name=str(place),
            goroutines=goroutines(100 + 300 * place).assign(stack=stack),
        )
        for place in range(4)
    ]

    *_, last = find(answers(*moments))

    each = [size.value for size in last.next_step.of(Bytes)]
    assert [round(36 * MIB / 900)] * is_named == each
    assert is_named == ("goroutine leak" in last.next_step)


@pytest.mark.parametrize(
    ("sizes", "is_level"), [((140, 141, 140), True), ((90, 140, 141), False), ((140,), False)]
)
def test_constant_memory_outside_go_is_said_to_be_level(sizes, is_level):
    moments = [totals(size, name=str(place)) for place, size in enumerate(sizes)]

    found = find(answers(*moments))

    assert [is_level] * len(found) == ["is level" in each.title for each in found]
    assert is_level <= all("C.malloc" not in each.next_step for each in found)


def test_a_shape_alone_makes_nothing_likely():
    """
    Nothing of C's heap is in use but the pages of a library that is linked in.
    """
    (found,) = find(answers(facts(LINKED, OWN, BLOCK, **COUNTED)))

    assert "possible" == found.confidence


def test_totals_tell_how_much_is_not_gos_at_least():
    moments = (totals(40), totals(140, name="2"))

    (found,) = find(answers(*moments))

    assert ("warning", "possible", "2") == (str(found.severity), found.confidence, found.moment)
    assert 60 * MIB < found.bytes <= moments[1].ledger.part("anonymous_other")
    assert {"2/smaps_rollup": 140 * MIB}.items() <= {
        one.artefact: one.value for one in found.evidence
    }.items()


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        pytest.param(
            (56, 73), (272, 283),
            " has grown by at least 199 MiB, to at least 272 MiB (93 % of RSS)", id="far",
        ),
        pytest.param((64, 66), (276, 280), " grows: 65 MiB → 278 MiB (95 % of RSS)", id="near"),
    ],
)  # fmt: skip
def test_bounds_far_apart_are_said_as_at_least(first, last, words):
    ends = [(None, Interval(low * MIB, high * MIB)) for low, high in (first, last)]
    rise = SimpleNamespace(first=65 * MIB, last=278 * MIB)

    assert f"It{words}" == Growth(rise, 292 * MIB, False, "possible", tuple(ends)).title("It")


def test_totals_of_one_moment_are_a_note():
    (found,) = find(answers(totals(140)))

    assert ("info", "possible") == (str(found.severity), found.confidence)


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(lambda: totals(140, memstats=None, ledger=UNKNOWN), id="nor what Go reserved"),
        pytest.param(lambda: totals(140, ledger=None), id="nobody says what is resident"),
        pytest.param(lambda: totals(140, anonymous_mib=5), id="it is files'"),
    ],
)
def test_totals_that_do_not_say_both_tell_nothing(silent):
    assert [] == find(answers(silent()))


@pytest.mark.parametrize(
    ("heap_mib", "beside", "found_mib"),
    [
        pytest.param(30, {}, 60, id="30 MiB were ever allocated"),
        pytest.param(85, {}, 0, id="nearly all can be Go objects"),
        pytest.param(30, {"callers": RECURSING}, 0, id="stacks can be as large"),
    ],
)
def test_what_rss_grew_by_beyond_all_that_was_allocated_is_not_gos(heap_mib, beside, found_mib):
    """
    From 40 to 130 MiB, and no file but heap profiles says what Go holds.
    """
    moments = [totals(rss, name=name) for name, rss in (("1", 40), ("2", 130))]
    moments = [replace(one, memstats=None, ledger=_by_status(one)) for one in moments]

    found = find(but(answers(*moments), heap_at_most={"2": heap_mib * MIB}, **beside))

    assert [("possible", found_mib * MIB)] * (found_mib > 0) == [
        (one.confidence, one.bytes) for one in found
    ]


def _by_status(moment):
    return reconcile_rss(None, None, status=pd.Series({"VmRSS": moment.rss_bytes}))


@pytest.mark.parametrize("names", [(), ("heap.pb",), ("status",), ("heap.pb", "status")])
@pytest.mark.parametrize("moments", [("1", "2"), ("10h01", "10h03")])
def test_files_taken_once_do_not_weaken_what_two_snapshots_show(moments, names, tmp_path):
    stack = smaps_entry(1 << 46, (1 << 46) + 132 * KIB, "rw-p", "[stack]", rss_kib=16)
    for moment, mib in zip(moments, (9, 66), strict=True):
        (tmp_path / f"smaps_{moment}").write_text(brk(mib) + stack)
    status = f"Name:\tapi\nPid:\t7\nVmRSS:\t{66 * 1024} kB\nRssAnon:\t{66 * 1024} kB\n"
    once = {"heap.pb": heap_bytes(seen(9, 9000), seconds=1_767_000_000), "status": status.encode()}
    for name in names:
        (tmp_path / name).write_bytes(once[name])

    assert Severity.WARNING in {
        one.severity for one in gomem.diagnose(tmp_path).findings if one.code == "native-memory"
    }


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param((155, 1142), True, id="in step with C memory"),
        pytest.param((155, 160), False, id="about constant"),
        pytest.param((1142, 155), False, id="fewer"),
    ],
)
def test_open_files_that_rise_with_c_memory_explain_it(files, said, tmp_path):
    """
    Each connection of SQLite, or each unread result, has a file and C memory of its own.
    """
    page = (
        'go_info{{version="go1.23.4"}} 1\nprocess_open_fds {}\ngo_memstats_heap_inuse_bytes 4e6\n'
    )
    for number, (mib, count) in enumerate(zip((20, 140), files, strict=True)):
        (tmp_path / f"metrics.t{number}").write_text(page.format(count))
        (tmp_path / f"smaps.t{number}").write_text(brk(mib))

    found = {one.code: one for one in gomem.diagnose(tmp_path).findings}["native-memory"]

    assert said == ("open files 155 → " in found.title)
    assert said == ("rows.Close()" in found.next_step)
    assert said == ("open files, last" in {one.field for one in found.evidence})
