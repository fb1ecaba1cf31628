"""Memory of C's is named with its bytes; what every program has of it is not."""

from dataclasses import replace

import pandas as pd
import pytest

from gomem.analysis.memory.ledger import reconcile_rss
from gomem.causes import anonymous_mapping, native_memory
from gomem.causes.finding import Severity
from gomem.causes.native_memory import find, not_claimed_bytes
from gomem.units import KIB, MIB
from tests.builders import smaps_entry
from tests.causes.situations import HIGH, answers, facts


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
    assert "81.6 % of RSS" in found.title


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
    assert ("1/smaps", "Rss of all this, first moment", MIB + 16 * KIB) in {
        (one.artefact, one.field, one.value) for one in found[0].evidence
    }


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
    assert "20.0 MiB in malloc's heaps and threads' stacks, 40.0 MiB in large blocks" in found.title
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
        pytest.param((brk(20), ROUND), "native-memory", id="C's heap in use"),
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


def totals(rss_mib: int, *, name="1", anonymous_mib: int | None = None, **about):
    """A moment with totals alone: 10 MiB of RSS are files' if nothing else is said."""
    plain = facts(name=name)
    anonymous = rss_mib - 10 if anonymous_mib is None else anonymous_mib
    rollup = pd.Series({"Rss": rss_mib * MIB, "Anonymous": anonymous * MIB, "LazyFree": 0})
    ledger = reconcile_rss(None, plain.memstats, rollup=rollup, rollup_rss_bytes=rss_mib * MIB)
    paths = {"smaps_rollup": f"{name}/smaps_rollup", "memstats": f"{name}/memstats.json"}
    return replace(plain, **{"mappings": None, "ledger": ledger, "paths": paths} | about)


def test_totals_tell_how_much_is_not_gos_at_least():
    moments = (totals(40), totals(140, name="2"))
    size = not_claimed_bytes(moments[1])

    *_, last = find(answers(*moments))

    assert ("info", "possible", size) == (str(last.severity), last.confidence, last.bytes)
    assert size == moments[1].ledger.part("anonymous_other") > 100 * MIB
    assert "is neither Go's nor a file's: it is C's, or" in last.title
    assert {"2/smaps_rollup": 140 * MIB}.items() <= {
        one.artefact: one.value for one in last.evidence
    }.items()


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(lambda: totals(140, memstats=None), id="nobody says what Go claims"),
        pytest.param(lambda: totals(140, ledger=None), id="nobody says what is resident"),
        pytest.param(lambda: totals(140, anonymous_mib=5), id="it is files'"),
    ],
)
def test_totals_that_do_not_say_both_tell_nothing(silent):
    assert [] == find(answers(silent()))


def test_files_must_be_told_apart():
    plain = totals(140)
    one_number = reconcile_rss(None, plain.memstats, status=pd.Series({"VmRSS": 140 * MIB}))

    assert not_claimed_bytes(replace(plain, ledger=one_number)) is None
    assert not_claimed_bytes(facts(brk(40))) is None


def test_mappings_of_any_moment_say_more_than_totals():
    assert [] == find(answers(facts(name="1"), totals(140, name="2")))
