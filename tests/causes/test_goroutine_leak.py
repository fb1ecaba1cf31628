"""Goroutines that pile up from moment to moment, or are very many in one."""

from dataclasses import replace

from gomem.causes.finding import Severity
from gomem.causes.goroutine_leak import find
from gomem.units import MIB
from tests.causes.situations import answers, facts, goroutines


def moments(*counts: int):
    return [
        facts(name=str(place), goroutines=goroutines(count), StackInuse=1)
        for place, count in enumerate(counts, start=1)
    ]


def test_goroutines_that_only_grow_are_a_leak():
    (found,) = find(answers(*moments(100, 1500, 3000)))

    assert ("goroutine-leak", Severity.WARNING, "3") == (found.code, found.severity, found.moment)
    assert "from 100 to 3\u202f000" in found.title
    assert ("goroutines in main.wait", 3000) in {(one.field, one.value) for one in found.evidence}


def test_goroutines_that_come_and_go_are_load():
    assert [] == find(answers(*moments(100, 3000, 200, 2900)))


def test_two_moments_show_a_difference_and_no_direction():
    assert [] == find(answers(*moments(100, 3000)))


def test_very_many_whose_stacks_weigh_are_a_warning():
    """
    50 000 × 2 KiB of stacks are most of what is resident.
    """
    moment = facts(heap_mib=60, HeapAlloc=4, HeapInuse=4, HeapSys=14, StackInuse=50,
                   goroutines=goroutines(50_000))  # fmt: skip

    (found,) = find(answers(moment))

    assert (Severity.WARNING, "possible") == (found.severity, found.confidence)
    assert 50 * MIB == found.bytes


def test_many_goroutines_of_a_large_server_are_no_warning():
    moment = facts(heap_mib=60, HeapAlloc=56, HeapInuse=56, HeapSys=62, StackInuse=2,
                   goroutines=goroutines(12_000))  # fmt: skip

    assert [] == find(answers(moment))


def test_metrics_count_them_where_no_profile_is():
    counted = [
        facts(name=str(n), metrics={"/sched/goroutines:goroutines": n * 2000.0}) for n in (1, 2, 3)
    ]

    assert ["goroutine-leak"] == [one.code for one in find(answers(*counted))]


def test_the_file_that_counted_them_is_the_evidence():
    """
    The goroutine profile where there is one, which also says where they wait; else metrics.
    """
    profiles = [replace(one, paths={"goroutine": f"{one.name}/g.pb.gz"}) for one in moments(1, 9)]
    counted = [
        replace(one, metrics={"/sched/goroutines:goroutines": 3000.0}) for one in moments(3000)
    ]

    last = replace(counted[0], name="3", paths={"metrics": "3/m.json", "goroutine": "3/g.pb.gz"})
    metrics_alone = replace(last, goroutines=None)
    (found,) = find(answers(*profiles, last))
    (by_metrics,) = find(answers(*profiles, metrics_alone))

    assert [
        ("1/g.pb.gz", "goroutines, first moment"),
        ("2/g.pb.gz", "goroutines, the one before the last"),
        ("3/g.pb.gz", "goroutines, last moment"),
        ("3/g.pb.gz", "goroutines in main.wait"),
    ] == [(one.artefact, one.field) for one in found.evidence if "goroutines" in one.field]
    assert ("3/m.json", "goroutines, last moment") in {
        (one.artefact, one.field) for one in by_metrics.evidence
    }
