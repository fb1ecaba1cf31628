"""What could not be read is one finding, which counts places and files."""

import pytest

from gomem.causes.data_damaged import SHOWN, TORN, find
from gomem.causes.finding import Severity
from gomem.errors import EXCERPT, Damage
from gomem.releases import GoVersion
from tests.builders import case_of


def found(*places: tuple[str, str], what: str = "cut"):
    """The findings of damage in these files and places."""
    damage = tuple(Damage(source, where, what) for source, where in places)
    return find(case_of((), GoVersion(), damage))


def test_nothing_damaged_is_nothing():
    assert [] == found()


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([("a", "line 1")], "1 place in 1 file"),
        ([("a", "line 1"), ("a", "line 2")], "2 places in 1 file"),
        ([("a", "line 1"), ("b", "line 1")], "2 places in 2 files"),
    ],
)
def test_places_and_files_are_counted(places, told):
    (finding,) = found(*places)

    assert finding.title.startswith(f"Unreadable input: {told}, ")
    assert Severity.WARNING == finding.severity


def test_the_first_few_places_are_the_evidence():
    """
    A whole file has no place; what was wrong is the value.
    """
    (finding,) = found(("a", ""), *(("b", f"line {n}") for n in range(SHOWN)))

    assert SHOWN == 5 == len(finding.evidence)
    assert ("a", "whole file", "cut", "") == (
        finding.evidence[0].artefact,
        finding.evidence[0].field,
        finding.evidence[0].value,
        finding.evidence[0].unit,
    )
    assert ("b", "line 0") == (finding.evidence[1].artefact, finding.evidence[1].field)


def test_a_torn_line_of_the_log_is_no_copys_fault():
    (torn,) = found(("gctrace.log", "line 7"), what=f"{TORN}: gc 1 @")
    (cut,) = found(("gctrace.log", "line 7"))

    assert torn.next_step.endswith("let the program log to standard output or to a file.")
    assert "log to standard output" not in cut.next_step


def test_lines_that_a_person_left_out_are_a_note():
    (finding,) = found(("page.txt", ""), what="an excerpt: MemStats without Sys")

    assert Severity.INFO == finding.severity
    assert finding.title.startswith("An excerpt: lines are missing at 1 place in 1 file")
    assert "Copy or record" not in finding.next_step


@pytest.mark.parametrize("dots", ["...", "[...]", "…", "....", "(snip)", "# ..."])
def test_dots_stand_for_lines_left_out(dots):
    assert Damage("a", "line 4", "not a line of smaps", dots).is_excerpt


@pytest.mark.parametrize("torn", ["Rss:  ...", "go_memstats_sys_bytes seven", ".", "gc 4 @0.1", ""])
def test_a_torn_line_is_none(torn):
    assert not Damage("a", "line 4", "not a line of smaps", torn).is_excerpt


def test_a_cut_beside_an_excerpt_is_a_warning():
    damage = (Damage("a", "line 4", "cut", "..."), Damage("a", "line 9", "ends within a line"))
    (finding,) = find(case_of((), GoVersion(), damage))

    assert Severity.WARNING == finding.severity


def test_lines_left_out_are_no_places_that_could_not_be_read():
    damage = (
        Damage("a", "line 1", f"{EXCERPT}its records count 2, and its header says 3"),
        Damage("a", "line 2", "cut"),
    )
    (finding,) = find(case_of((), GoVersion(), damage))

    assert finding.title.startswith("Unreadable input: 1 place in 1 file, ")
    assert ["line 2"] == [each.field for each in finding.evidence]
