"""Free slots are fragmentation where no headroom explains them."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from gomem.analysis.memory.skew import Skew
from gomem.causes.finding import Severity
from gomem.causes.heap_fragmentation import find
from gomem.units import MIB
from tests.builders import but
from tests.causes.situations import answers, facts
from tests.gc_logs import facts_of


def test_spans_in_use_beyond_the_goal_hold_nothing():
    """
    In use 60, objects 8, goal 16: even a full heap leaves 44 MiB of slots free.
    """
    (found,) = find(answers(facts(heap_mib=60, HeapAlloc=8, HeapInuse=60, NextGC=16)))

    assert ("heap-fragmentation", Severity.WARNING) == (found.code, found.severity)
    assert 44 * MIB == found.bytes
    assert found.title.startswith("The heap is fragmented: ")


@pytest.mark.parametrize(
    ("resident_mib", "ending"),
    [(52, "is free slots"), (51, "is free slots, at most 51 MiB resident")],
)
def test_no_more_free_slots_are_resident_than_the_arenas(resident_mib, ending):
    """
    In use 60, objects 8, goal 16.
    """
    case = facts(heap_mib=resident_mib, HeapAlloc=8, HeapInuse=60, NextGC=16)

    (found,) = find(answers(case))

    assert found.title.startswith("The heap is fragmented: 52 MiB of HeapInuse (60 MiB) is ")
    assert found.title.endswith(ending)


def test_free_slots_that_the_goal_lets_fill_are_what_a_sweep_leaves():
    """
    In use 60, objects 30, goal 64: allocation fills them before the next collection.
    """
    assert [] == find(answers(facts(heap_mib=60, HeapAlloc=30, HeapInuse=60, NextGC=64)))


def test_a_few_free_slots_are_nothing():
    assert [] == find(answers(facts(heap_mib=60, HeapAlloc=50, HeapInuse=60, NextGC=90)))


def test_numbers_of_two_states_prove_nothing():
    moment = facts(heap_mib=60, HeapAlloc=8, HeapInuse=60, NextGC=16, skew=Skew(4.0, 2))

    assert [] == find(answers(moment))


LIMITED = {
    "/gc/gomemlimit:bytes": 90.0 * MIB,
    "/gc/heap/live:bytes": 8.0 * MIB,
    "/gc/gogc:percent": 100.0,
}


def test_a_goal_that_a_limit_makes_has_the_free_slots_taken_off():
    """
    In use 60, objects 8, goal 10, where GOGC alone would make 16: 44 MiB are beyond that, and with
    GOGC=700, which would make 64, none.
    """
    about = {"heap_mib": 60, "HeapAlloc": 8, "HeapInuse": 60, "NextGC": 10}
    (by_gogc,) = find(answers(facts(**about, metrics=LIMITED)))
    (note,) = find(answers(facts(**about, metrics={**LIMITED, "/gc/gogc:percent": 700.0})))

    assert (Severity.WARNING, 44 * MIB) == (by_gogc.severity, by_gogc.bytes)
    assert Severity.INFO == note.severity


def test_with_gogc_off_a_limit_leaves_nothing_beyond():
    """
    GOGC alone would make no goal at all, so all that is free may be filled.
    """
    about = {"heap_mib": 60, "HeapAlloc": 8, "HeapInuse": 60, "NextGC": 10}
    (note,) = find(answers(facts(**about, metrics={**LIMITED, "/gc/gogc:percent": math.inf})))

    assert Severity.INFO == note.severity


def test_where_another_moment_shows_the_limit_the_goal_says_nothing():
    """
    The first has metrics; the second has none.
    """
    about = {"heap_mib": 60, "HeapAlloc": 8, "HeapInuse": 60, "NextGC": 10}
    limited = facts(name="1", heap_mib=10, HeapAlloc=8, NextGC=10, metrics=LIMITED)
    free = facts(name="1", heap_mib=10, HeapAlloc=8, NextGC=16, metrics=LIMITED)

    (note,) = find(answers(limited, facts(name="2", **about)))
    (warned,) = find(answers(free, facts(name="2", **about)))

    assert (Severity.INFO, Severity.WARNING) == (note.severity, warned.severity)


@pytest.mark.parametrize(("gogc", "severity"), [(0.4, "warning"), (None, "info")])
def test_where_a_limit_may_have_made_the_goals_none_lies_beyond(gogc, severity):
    """
    A log whose goals leave 4 MiB above 10, and nothing says GOGC.
    """
    about = {"heap_mib": 60, "HeapAlloc": 8, "HeapInuse": 60, "NextGC": 10}
    log = facts_of(*[{}] * 5, goal=14, gogc_fraction=gogc)
    (found,) = find(but(answers(facts(**about)), collector=log))

    assert severity == str(found.severity)


def test_a_goal_of_0_is_no_goal():
    """
    Before the first collection: 52 MiB of free slots are a note.
    """
    (found,) = find(answers(facts(heap_mib=60, HeapAlloc=8, HeapInuse=60, NextGC=0)))

    assert (Severity.INFO, 52 * MIB) == (found.severity, found.bytes)


def test_objects_beyond_the_goal_are_no_free_slots():
    """
    In use 60, objects 50, goal 16.
    """
    (found,) = find(
        answers(
            facts(heap_mib=60, HeapAlloc=50, HeapInuse=60, NextGC=16),
            notable_rss_fraction=0,
        )
    )

    assert 10 * MIB == found.bytes


def test_a_goal_as_high_as_the_heap_in_use_leaves_nothing_beyond():
    def found(goal):
        return find(
            answers(
                facts(heap_mib=60, HeapAlloc=8, HeapInuse=60, NextGC=goal),
                notable_rss_fraction=0, fragmentation_bytes=MIB,
            )
        )  # fmt: skip

    assert [] == found(60)
    assert (Severity.WARNING, MIB) == (found(59)[0].severity, found(59)[0].bytes)


def in_words(**sizes):
    """MemStats that lack fields that a ledger needs, such as NextGC."""
    stats = pd.Series({name: size * MIB for name, size in sizes.items()} | {"NumGC": 11})
    return replace(facts(), memstats=None, heap=None, partial=stats)


def test_without_the_goal_it_is_at_most_what_objects_allow():
    """
    Objects 5, GOGC 100: the goal is 17 MiB at most, with 7 MiB of stacks and the like.
    """
    known = {"HeapAlloc": 5, "HeapInuse": 70, "HeapIdle": 12, "Sys": 89}

    (found,) = find(answers(in_words(**known)))

    assert found.title.startswith("The heap is fragmented: 65 MiB of HeapInuse (70 MiB) is free")
    assert ("possible", 53 * MIB) == (found.confidence, found.bytes)
    assert {"HeapInuse", "HeapAlloc", "Rss"} == {each.field for each in found.evidence}


@pytest.mark.parametrize(
    "known",
    [
        {"HeapAlloc": 40, "HeapInuse": 70, "HeapIdle": 12, "Sys": 89},
        {"HeapAlloc": 5, "HeapInuse": 70},
    ],
)
def test_what_fills_until_the_largest_goal_is_no_fragmentation(known):
    assert [] == find(answers(in_words(**known)))


@pytest.mark.parametrize(("objects", "found"), [(400, 0), (360, 1)])
def test_without_rss_the_heap_in_use_says_how_much_is_notable(objects, found):
    """
    In use 416: the 16 MiB above a full heap of 400 are what any heap has; 56 MiB are not.
    """
    moment = in_words(HeapAlloc=objects, HeapInuse=416, NextGC=objects)

    assert found == len(find(answers(replace(moment, ledger=None))))
