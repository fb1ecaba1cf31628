"""Goroutines that pile up from moment to moment, or are very many in one."""

from dataclasses import replace

import pandas as pd
import pytest

from gomem.analysis.profiles.growth import growth, series_of
from gomem.causes.finding import Severity
from gomem.causes.goroutine_leak import find
from gomem.causes.goroutines import goroutines_pile_up
from gomem.facts.moment import MomentFacts
from gomem.releases import GoVersion
from gomem.units import MIB
from tests.builders import but, case_of
from tests.causes.situations import answers, facts, goroutines
from tests.causes.test_allocation_spike import taken
from tests.heap_profiles import heap, seen


def moments(*counts: int):
    return [
        facts(name=str(place), goroutines=goroutines(count), StackInuse=1)
        for place, count in enumerate(counts, start=1)
    ]


def test_goroutines_that_only_grow_are_a_leak():
    (found,) = find(answers(*moments(100, 1500, 3000)))

    assert ("goroutine-leak", Severity.WARNING, "3") == (found.code, found.severity, found.moment)
    assert "from 100 to 3\u202f000" in found.title
    evidence = {one.field: one.value for one in found.evidence}
    assert 3000 == evidence["goroutines in main.wait"]
    assert [100, 1500, 3000] == [
        evidence[f"goroutines, {which}"]
        for which in ("first moment", "the one before the last", "last moment")
    ]


def test_a_last_moment_without_memstats_makes_no_smaller_stacks():
    """
    2 MiB for 1000 goroutines of 2000 that came: 2.05 KiB each, and for the others 2 KiB at least.
    """
    told = [
        facts(name=str(n), goroutines=goroutines(1000 * n), StackInuse=2 * n) for n in (1, 2, 3)
    ]
    (whole,) = find(answers(*told))
    (less,) = find(answers(*told[:2], replace(told[2], memstats=None)))

    assert "those that came hold at least 4.00 MiB, each 2.05 KiB of stack" in whole.title
    assert "those that came hold at least 3.95 MiB, each 2.05 KiB of stack" in less.title


def test_a_single_count_leaves_the_stacks_to_tell():
    told = [facts(name=str(n), StackInuse=size) for n, size in enumerate((4, 10, 16, 22, 28))]
    counted = replace(told[0], goroutines=goroutines(3))

    assert ["goroutine-leak"] == [one.code for one in find(answers(counted, *told[1:]))]


def test_goroutines_that_come_and_go_are_load():
    assert [] == find(answers(*moments(100, 3000, 200, 2900)))


def test_two_moments_show_a_difference_and_no_direction():
    assert [] == find(answers(*moments(100, 3000)))


def test_very_many_in_one_moment_are_a_note_that_says_what_would_decide():
    """
    50 000 × 2 KiB of stacks are most of what is resident; whether they grow, nobody can tell.
    """
    moment = facts(heap_mib=60, HeapAlloc=4, HeapInuse=4, HeapSys=14, StackInuse=50,
                   goroutines=goroutines(50_000))  # fmt: skip

    (found,) = find(answers(moment))

    assert (Severity.INFO, "possible") == (found.severity, found.confidence)
    assert 50 * MIB == found.bytes
    assert "one moment cannot tell" in found.title
    assert "Count them again" in found.next_step


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


MANY = {"heap_mib": 60, "HeapAlloc": 4, "HeapInuse": 4, "HeapSys": 14, "StackInuse": 50}


def many(*counts: int):
    return [
        facts(name=str(place), goroutines=goroutines(count), **MANY)
        for place, count in enumerate(counts, start=1)
    ]


def test_ten_thousand_that_are_there_from_the_start_are_a_design():
    """
    Five moments of as many, and two; of two that differ twofold, nobody can tell.
    """
    assert [] == find(answers(*many(*[10_000] * 5)))
    assert [] == find(answers(*many(10_000, 19_999)))
    assert ["info"] == [str(one.severity) for one in find(answers(*many(10_000, 20_000)))]


def test_of_three_moments_that_go_to_and_fro_many_are_no_note():
    assert [] == find(answers(*many(10_000, 30_000, 20_000)))


def test_those_that_came_and_stayed_are_told_in_the_past():
    (found,) = find(answers(*many(100, 5000, 10_000, 10_000, 10_000, 10_000)))

    assert (Severity.INFO, False) == (found.severity, found.now)
    assert found.title.endswith("grew from 100 to 10\u202f000, and has stayed since")


def test_where_nothing_counts_their_stacks_they_are_the_least():
    """
    10 000 × 2 KiB.
    """
    told = [replace(one, ledger=None) for one in many(100, 5000, *[10_000] * 4)]

    (found,) = find(answers(*told))

    assert found.title.endswith("has stayed since: at least 19.5 MiB of stacks")
    assert 10_000 * 2048 == found.bytes


def test_over_many_moments_the_slope_decides_and_not_each_step():
    """
    A thousand more each time but once, when some requests ended.
    """
    (found,) = find(answers(*moments(1000, 2000, 3000, 2900, 4000, 5000, 6000)))

    assert Severity.WARNING == found.severity
    assert "from 1\u202f000 to 6\u202f000" in found.title


def test_two_of_three_moments_that_rise_are_no_direction():
    assert [] == find(answers(*moments(1000, 5000, 4900)))


def stacked(*mib: int, **about):
    return [
        facts(name=str(place), StackInuse=size, **about) for place, size in enumerate(mib, start=1)
    ]


def test_uncounted_goroutines_show_in_their_stacks():
    """
    From 4 to 20 MiB in five moments; and nothing else makes stacks grow steadily.
    """
    (found,) = find(answers(*stacked(4, 8, 12, 16, 20)))

    assert (Severity.WARNING, "possible", 16 * MIB) == (
        found.severity,
        found.confidence,
        found.bytes,
    )
    assert "nothing here counts them: stacks from 4.00 MiB to 20.0 MiB" in found.title


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        pytest.param((8, 10, 12, 14, 16), True, id="8 MiB more, twice as much"),
        pytest.param((8, 10, 12, 14, 15), False, id="7 MiB more"),
        pytest.param((9, 11, 13, 15, 17), False, id="8 MiB more, less than twice"),
        pytest.param((4, 12, 20, 20, 20), False, id="they have stayed since"),
        pytest.param((4, 12, 16, 20), False, id="four moments"),
    ],
)
def test_stacks_on_both_sides_of_each_condition(sizes, found):
    assert found == bool(find(answers(*stacked(*sizes))))


def test_a_count_that_stays_stands_before_stacks_that_grow():
    """
    Deeper stacks of as many goroutines: see stack-growth.
    """
    assert [] == find(answers(*stacked(4, 8, 12, 16, 20, goroutines=goroutines(50))))


NEWPROC = "runtime.systemstack;runtime.newproc.func1;runtime.newproc1;runtime.malg"


def grown(stack: str, last: float):
    """One stack that rises, as `growth` tells it."""
    return pd.DataFrame(
        {
            "stack": [stack],
            "function": [stack.rpartition(";")[2]],
            "first": [0.0],
            "last": [last],
            "slope_low": [1.0],
            "shape": ["ramp"],
        }
    )


def test_uncounted_goroutines_show_in_their_descriptors():
    """
    A thousand of 384 bytes, and one byte less.
    """
    series = {"a": taken(1, heap(seen(1, 4096)))}
    about = {"heap_series": series_of(series)}

    def pile_up(size):
        case = case_of((), GoVersion(), growth=grown(NEWPROC, size), **about)
        return goroutines_pile_up(case)

    assert pile_up(384_000.0)
    assert not pile_up(383_999.0)


def test_stacks_that_do_not_grow_are_no_sign_beside_descriptors_that_do():
    """
    Five profiles with 5 MiB more of descriptors each, and 4 MiB of stacks all the time.
    """
    profiles = [
        taken(n, heap(seen(10 + 10 * n, 4096), names=("runtime.malg", "runtime.newproc1")))
        for n in range(5)
    ]
    series = series_of({str(n): one for n, one in enumerate(profiles)})
    case = but(answers(*stacked(4, 4, 4, 4, 4)), heap_series=series, growth=growth(series))

    (found,) = find(case)

    assert found.title.endswith("nothing here counts them: their descriptors by 20.1 MiB")
    assert "possible" == found.confidence


def test_where_most_wait_and_for_how_long():
    """
    Of those in the same function; a dump says for how long, a profile does not.
    """
    dump = pd.DataFrame(
        {
            "goroutines": [2000, 999, 5],
            "function": ["main.wait", "main.wait", "main.serve"],
            "state": ["chan receive", "select", "IO wait"],
            "wait_seconds": [3600.0, 60.0, 7200.0],
        }
    )
    told = moments(100, 1500, 3004)
    (found,) = find(answers(*told[:2], replace(told[2], goroutines=dump)))
    (silent,) = find(answers(*told[:2], replace(told[2], goroutines=dump.assign(wait_seconds=0.0))))

    last = [(one.field, one.value, one.unit) for one in found.evidence[-2:]]
    waits = ("in state chan receive", 2000, "count")
    assert [waits, ("longest wait, at least", 3600.0, "s")] == last
    assert "in state chan receive" == silent.evidence[-1].field


def test_what_each_holds_is_its_stack_and_the_heap_of_its_own_functions():
    """
    3000 more goroutines with 4 MiB more of stacks, and 12 MiB that main.wait allocates.
    """
    frames = [
        goroutines(count).assign(stack="runtime.gopark;main.wait") for count in (1000, 2000, 4000)
    ]
    told = [
        facts(name=str(place), goroutines=frame, StackInuse=2 * place)
        for place, frame in enumerate(frames, start=1)
    ]
    case = but(answers(*told), growth=grown("main.wait;main.read", 12.0 * MIB))

    (found,) = find(case)

    held = "those that came hold at least 16.0 MiB, each 1.37 KiB of stack and 4.10 KiB of heap"
    assert f"waiting in main.wait; {held}" in found.title
    assert (4 + 12) * MIB == found.bytes


def test_the_heap_that_rises_with_them_is_theirs_unless_another_site_rises():
    """
    3000 more, with 4 MiB of stacks and 40 MiB of heap, which no profile names; or main.fill does.
    """
    told = [
        facts(name=str(place), goroutines=goroutines(1000 * place), StackInuse=place,
              HeapAlloc=10 * place, NextGC=20 * place, NumGC=3 * place / MIB)
        for place in range(1, 6)
    ]  # fmt: skip
    case = answers(*told)
    series = series_of({f"{n}": taken(n, heap(seen(50 + 10 * n, 4096))) for n in range(10)})
    other = but(case, heap_series=series, growth=growth(series))

    (found,), (apart,) = find(case), find(other)

    assert (4 + 40) * MIB == found.bytes
    held = "those that came hold up to 44.0 MiB, each 1.02 KiB of stack and up to 10.2 KiB of heap"
    assert held in found.title
    assert "those that came hold at least 4.00 MiB, each 1.02 KiB of stack" in apart.title
    assert ("HeapAlloc without garbage, growth", 40 * MIB) in {
        (one.field, one.value) for one in found.evidence
    }
    assert 4 * MIB == apart.bytes


def test_goroutine_profiles_alone_are_enough():
    """
    Nothing says what the stacks of those that came take: 2 KiB each at least.
    """
    counted = [
        MomentFacts(str(place), goroutines=goroutines(count))
        for place, count in enumerate((100, 1500, 3000))
    ]

    (found,) = find(case_of(tuple(counted), GoVersion()))

    assert (Severity.WARNING, "2", 2900 * 2048) == (found.severity, found.moment, found.bytes)
