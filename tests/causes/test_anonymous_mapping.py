"""Anonymous memory beyond what Go counts is named, with the mappings that hold it."""

import pytest

from gomem.analysis.mappings.kinds import classify_mappings
from gomem.analysis.memory.ledger import reconcile_rss
from gomem.causes import file_mapping
from gomem.causes.anonymous_mapping import find
from gomem.causes.finding import Severity
from gomem.facts.moment import MomentFacts
from gomem.units import MIB
from tests.builders import mappings, smaps_entry
from tests.causes.situations import HIGH, PROGRAM, answers, facts


def foreign(rss_mib: int) -> str:
    return smaps_entry(HIGH, HIGH + rss_mib * MIB, rss_kib=rss_mib * 1024)


def test_a_mapping_of_the_programs_own_is_told_with_its_place():
    """
    Up to 1 MiB can be the runtime's own that it counts nowhere; the rest is not.
    """
    (found,) = find(answers(facts(foreign(96))))

    assert ("anonymous-mapping", Severity.INFO) == (found.code, found.severity)
    assert 95 * MIB <= found.bytes <= 96 * MIB
    (place,) = [one for one in found.evidence if one.field.startswith("Rss at 7f0")]
    assert ("1/smaps", found.bytes) == (place.artefact, place.value)


@pytest.mark.parametrize(
    ("first", "severities"),
    [
        pytest.param(80, {Severity.INFO, Severity.WARNING}, id="it grew"),
        pytest.param(88, {Severity.INFO}, id="by less than a tenth of RSS"),
        pytest.param(120, {Severity.INFO}, id="it shrank"),
    ],
)
def test_it_is_a_warning_where_it_has_grown(first, severities):
    """
    To 96 MiB, of an RSS of 105.
    """
    found = find(answers(facts(foreign(first), name="1"), facts(foreign(96), name="2")))

    assert severities == {one.severity for one in found}


@pytest.mark.parametrize(
    ("path", "is_file"),
    [("/dev/zero (deleted)", False), ("/dev/zero", False), ("/dev/shm/zero", True)],
)
def test_shared_memory_of_no_file_is_anonymous(path, is_file):
    """
    mmap with MAP_SHARED and MAP_ANONYMOUS; 96 MiB.
    """
    shared = smaps_entry(HIGH, HIGH + 96 * MIB, "rw-s", path, rss_kib=96 * 1024)
    case = answers(facts(shared))

    rules = (file_mapping.find, find) if is_file else (find, file_mapping.find)
    assert [[96 * MIB], []] == [[one.bytes for one in rule(case)] for rule in rules]


def test_what_the_runtime_counts_for_itself_is_none():
    """
    4 MiB of span structures and bitmaps, and MemStats that say so.
    """
    assert [] == find(answers(facts(foreign(4), GCSys=3, MSpanSys=1)))


def test_c_is_named_as_a_suspect_only_where_there_is_c():
    library = smaps_entry(HIGH - 9 * MIB, HIGH - 8 * MIB, "r-xp", "/lib/libc.so.6", rss_kib=512)

    without = find(answers(facts(foreign(96))))[0].mechanism
    beside = find(answers(facts(library, foreign(96))))[0].mechanism

    assert "malloc" not in without
    assert "or malloc does: it maps blocks of 128 KiB or more" in beside


def test_below_a_tenth_of_rss_it_is_nobodys_business():
    assert [] == find(answers(facts(foreign(5), heap_mib=60)))


@pytest.mark.parametrize("has_program", [False, True])
def test_of_an_excerpt_without_go_heap_nobody_knows_whose_anonymous_memory_is(has_program):
    """
    9 MiB at an address where C, the program and Go's own structures are mapped; with the program's
    file beside it, the list is whole, and of no Go program.
    """
    rows = [PROGRAM] * has_program + [foreign(9)]
    classified = classify_mappings(mappings(*rows))
    ledger = reconcile_rss(classified)
    of_list = MomentFacts(
        "1", ledger=ledger, mappings=classified.mappings, paths={"smaps": "1/smaps"}
    )

    found = find(answers(of_list))

    assert [9 * MIB] * has_program == [finding.bytes for finding in found]
    assert ledger.is_least is not has_program
    assert of_list.groups.sizes.get("undivided") == (None if has_program else 9 * MIB)
