"""Huge pages: resident beyond what Go counts is certain, resident as a whole is a question."""

from dataclasses import replace

import pytest

from gomem.analysis.memory.skew import Skew
from gomem.causes.finding import Severity
from gomem.causes.huge_pages import find
from gomem.releases import known_version
from gomem.units import MIB
from tests.builders import smaps_entry
from tests.causes.situations import HIGH, answers, facts

USED = {"HeapAlloc": 10, "HeapInuse": 10, "HeapIdle": 54, "HeapReleased": 54}


def test_more_than_go_counts_in_huge_pages_is_a_warning():
    """
    64 MiB resident, all huge; 10 in use and 54 given back: 54 too many.
    """
    (found,) = find(answers(facts(heap_mib=64, huge_mib=64, **USED)))

    assert ("huge-pages", Severity.WARNING, 54 * MIB) == (found.code, found.severity, found.bytes)


def test_more_than_go_counts_without_huge_pages_is_something_else():
    assert [] == find(answers(facts(heap_mib=64, huge_mib=0, **USED)))


def test_a_collection_between_the_files_explains_it_as_well():
    skewed = facts(heap_mib=64, huge_mib=6, skew=Skew(3.0, 1), **USED)

    assert [] == find(answers(skewed))


def test_a_heap_in_huge_pages_is_a_note_where_the_release_did_not_ask():
    version = known_version("go1.27.3", "test")
    moment = facts(heap_mib=64, huge_mib=62, HeapAlloc=64, HeapInuse=64)

    (found,) = find(answers(moment, version=version))

    assert (Severity.INFO, "possible") == (found.severity, found.confidence)
    assert 62 * MIB == found.bytes


def test_the_release_that_asked_for_them_makes_it_a_warning():
    version = known_version("go1.21.1", "test")
    moment = facts(heap_mib=64, huge_mib=62, HeapAlloc=64, HeapInuse=64)

    (found,) = find(answers(moment, version=version))

    assert Severity.WARNING == found.severity
    assert "Go 1.21.1 asks the kernel for huge pages" in found.mechanism
    assert "Move to Go 1.21.4" in found.next_step


def test_the_repaired_release_is_not_blamed():
    version = known_version("go1.21.4", "test")

    (found,) = find(answers(facts(heap_mib=64, huge_mib=62, HeapAlloc=64, HeapInuse=64),
                              version=version))  # fmt: skip

    assert "asks the kernel" not in found.mechanism


def test_huge_pages_hold_no_more_than_there_are():
    """
    54 too many, and 30 in huge pages.
    """
    (found,) = find(answers(facts(heap_mib=64, huge_mib=30, **USED)))

    assert (Severity.WARNING, 30 * MIB) == (found.severity, found.bytes)


def test_without_memstats_nothing_is_beyond_what_go_counts():
    moment = replace(facts(heap_mib=64, huge_mib=64, **USED), memstats=None)

    (found,) = find(answers(moment))

    assert (Severity.INFO, 64 * MIB) == (found.severity, found.bytes)


def own_mapping(mib, huge_mib):
    """Anonymous memory that the program has mapped."""
    entry = smaps_entry(HIGH, HIGH + mib * MIB, rss_kib=mib * 1024)
    return entry.replace("LazyFree:", f"AnonHugePages: {huge_mib * 1024} kB\nLazyFree:")


def test_mappings_of_the_programs_own_in_huge_pages_are_a_note():
    """
    61 of 71 MiB of RSS: one, by MemStats, may be the runtime's own.
    """
    moment = facts(own_mapping(62, 62), HeapAlloc=8, HeapInuse=8, HeapSys=64)

    (found,) = find(answers(moment))

    assert ("huge-pages", Severity.INFO, "possible") == (
        found.code,
        found.severity,
        found.confidence,
    )
    assert 61 * MIB == found.bytes
    assert "outside the Go heap" in found.title
    assert "hg" in found.mechanism


@pytest.mark.parametrize(
    ("flags", "said", "asks"),
    [
        pytest.param("rd wr hg", "asked for them", False, id="asked for"),
        pytest.param("rd wr", "setting is `always`", True, id="not asked for"),
        pytest.param("", "Either", True, id="not printed"),
    ],
)
def test_the_flags_of_a_mapping_say_who_asked_for_huge_pages(flags, said, asks):
    entry = own_mapping(62, 62).replace("VmFlags: rd wr mr mw me ac ", f"VmFlags: {flags}")
    moment = facts(entry, HeapAlloc=8, HeapInuse=8, HeapSys=64)

    (found,) = find(answers(moment))

    assert said in found.mechanism
    assert asks == ("transparent_hugepage" in found.next_step)


def test_from_which_size_and_share_they_are_one():
    def found(mib, huge_mib, **thresholds):
        moment = facts(own_mapping(mib, huge_mib), HeapAlloc=8, HeapInuse=8, HeapSys=64)
        return len(find(answers(moment, **thresholds)))

    at_least = {"huge_pages_whole_fraction": 0.0}
    assert [1, 0] == [found(62, 8, **at_least), found(62, 6, **at_least)]
    assert [1, 0] == [found(62, huge) for huge in (20, 16)]  # of 71: a quarter is 17.8


def test_a_heap_in_huge_pages_is_named_before_them():
    moment = facts(own_mapping(62, 62), heap_mib=64, huge_mib=62, HeapAlloc=64, HeapInuse=64)

    (found,) = find(answers(moment))

    assert "Huge pages back 62 MiB of the heap" in found.title
