"""What part of a log is looked at, and what is refused: both sides of each edge."""

import pytest

from gomem.analysis.what_if.watched import watched
from tests.gc_logs import cycles_of, packed_cycles


def steady(count, **usual):
    return cycles_of(*[{}] * count, **usual)


@pytest.mark.parametrize(("count", "refused"), [(7, True), (8, False)])
def test_eight_collections_are_enough(count, refused):
    said = watched(steady(count)).refused

    assert refused == (said is not None)
    assert not refused or said.startswith("only 7 of the log's 7 GCs")


def test_a_log_without_a_collection_is_refused():
    assert "GOGC=off" in watched(steady(0)).refused


def test_the_filling_of_the_heap_is_left_out():
    part = watched(cycles_of(*({"live": size} for size in (1, 3, 5)), *[{}] * 10))

    assert list(range(4, 14)) == part.cycles["number"].tolist()
    assert None is part.refused
    assert ("the first 3 GCs are left out: the heap was still filling",) == part.notes


@pytest.mark.parametrize(("forced", "refused"), [(5, False), (6, True)])
def test_mostly_forced_collections_are_refused(forced, refused):
    """
    Of ten, half is not most.
    """
    asked = [{"forced": " (forced)"}] * forced

    said = watched(cycles_of(*asked, *[{}] * (10 - forced))).refused

    assert refused == (said is not None)
    assert not refused or said.startswith("the program forced 60 % of the GCs")


@pytest.mark.parametrize(("live", "refused"), [(3, True), (4, False)])
def test_a_heap_of_less_than_four_mib_is_refused(live, refused):
    said = watched(steady(10, live=live)).refused

    assert refused == (said is not None)


@pytest.mark.parametrize(("mark", "refused"), [(499, False), (501, True)])
def test_a_collector_without_rest_is_refused(mark, refused):
    """
    Collections a second apart: marking for half of it.
    """
    said = watched(steady(10, mark=mark, first=0, last=0)).refused

    assert refused == (said is not None)
    assert not refused or said.startswith("the GC ran for 50 % of the 9 s")


def test_of_several_processes_the_longest_is_taken():
    """
    Numbers that go back end a process: the second one is a collection longer.
    """
    lines = [{"number": one, "at": float(one)} for one in (*range(1, 10), *range(1, 11))]

    part = watched(cycles_of(*lines))

    assert {2} == set(part.cycles["run"])
    assert 10 == len(part.cycles)
    assert "has 2 processes" in part.notes[0]


def test_a_packed_log_says_the_same():
    cycles = steady(40)
    whole, pieces = watched(cycles), watched(packed_cycles(cycles, 7))

    assert whole.cycles.equals(pieces.cycles)
    assert (whole.refused, whole.notes) == (pieces.refused, pieces.notes)
