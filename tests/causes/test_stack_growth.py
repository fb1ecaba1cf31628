"""Large stacks, told from many."""

import json
from dataclasses import replace

import pandas as pd
import pytest

import gomem
from gomem.causes.finding import Severity
from gomem.causes.stack_growth import find
from gomem.text import Count, Text
from gomem.units import MIB
from tests.builders import but
from tests.causes.situations import answers, facts, goroutines
from tests.causes.test_callers import caller, callers

STACKS = {"heap_mib": 60, "HeapAlloc": 10, "HeapInuse": 10, "HeapSys": 24, "StackInuse": 40}


def counts(title):
    return [part.value for part in Text(title).of(Count)]


def test_few_goroutines_with_large_stacks_are_deep():
    (found,) = find(answers(facts(**STACKS, goroutines=goroutines(20))))

    assert ("stack-growth", Severity.WARNING, 40 * MIB) == (
        found.code,
        found.severity,
        found.bytes,
    )
    assert "20 goroutines with at most 2 MiB on average" in found.title


@pytest.mark.parametrize(
    ("low", "severity"), [(20, Severity.INFO), (21, Severity.WARNING)], ids=["half", "more"]
)
def test_stacks_that_come_and_go_are_a_note(low, severity):
    """
    40 MiB, then so much, then 42.
    """
    told = [
        facts(**{**STACKS, "StackInuse": mib}, name=str(n), goroutines=goroutines(20))
        for n, mib in enumerate((40, low, 42))
    ]

    assert {severity} == {one.severity for one in find(answers(*told))}
    sure = "possible" if severity is Severity.INFO else "likely"
    assert {sure} == {one.confidence for one in find(answers(*told))}
    assert {Severity.WARNING} == {one.severity for one in find(answers(*told[:2]))}


def test_many_goroutines_with_small_stacks_are_many():
    assert [] == find(answers(facts(**STACKS, goroutines=goroutines(20_000))))


def test_without_a_count_it_says_what_to_collect():
    (found,) = find(answers(facts(**STACKS)))

    assert "no file counts the goroutines" in found.title
    assert "/debug/pprof/goroutine" in found.next_step
    assert ("possible", Severity.INFO) == (found.confidence, found.severity)


def test_stacks_of_a_tenth_are_a_note():
    (found,) = find(answers(facts(heap_mib=64, HeapAlloc=50, HeapInuse=50, HeapSys=55,
                                    StackInuse=9, goroutines=goroutines(10))))  # fmt: skip

    assert Severity.INFO == found.severity


def test_small_stacks_that_take_a_large_part_of_rss_are_a_note():
    """
    40 of 61 MiB, in 1280 stacks of 32 KiB: none is large, but no heap profile shows them.
    """
    (found,) = find(answers(facts(**STACKS, goroutines=goroutines(1_280))))

    assert (Severity.INFO, 40 * MIB) == (found.severity, found.bytes)
    assert "with at most 32 KiB on average" in found.title


def test_from_which_share_of_rss_on():
    moment = facts(**STACKS, goroutines=goroutines(1_280))
    share = 40 * MIB / moment.rss_bytes

    assert find(answers(moment, large_rss_fraction=share))
    assert [] == find(answers(moment, large_rss_fraction=share * 1.01))


def test_stacks_that_stay_while_rss_grows_are_not_resolved():
    """
    40 MiB of an RSS that is once more than they need, and then less, down to 0.8 of the share.
    """
    first, later = (
        facts(name=name, **{**STACKS, "heap_mib": heap_mib}, goroutines=goroutines(1_280))
        for name, heap_mib in (("1", 45), ("2", 55))
    )
    share, fallen = (40 * MIB / moment.rss_bytes for moment in (first, later))

    assert 0.8 < fallen / share < 1
    assert [] == find(answers(later, large_rss_fraction=share))
    held = find(answers(first, later, large_rss_fraction=share))
    assert ["1", "2"] == [finding.moment for finding in held]
    gone = find(answers(first, later, large_rss_fraction=share, holding_fraction=1.0))
    assert ["1"] == [finding.moment for finding in gone]


def test_without_rss_small_stacks_have_no_share_of_it():
    moment = replace(facts(**STACKS, goroutines=goroutines(1_280)), ledger=None)

    assert [] == find(answers(moment))


def test_very_many_are_told_by_another_cause():
    assert find(answers(facts(**STACKS, goroutines=goroutines(9_999))))
    assert [] == find(answers(facts(**STACKS, goroutines=goroutines(10_000))))


def test_stacks_of_goroutines_that_pile_up_are_no_growth_of_stacks():
    moments = [
        facts(name=str(n), **STACKS, goroutines=goroutines(count))
        for n, count in enumerate((1_000, 3_000, 5_000, 7_000, 9_000))
    ]

    assert [] == find(answers(*moments))
    assert find(answers(moments[-1]))


@pytest.mark.parametrize(
    ("depth", "heap_mib", "stacks_mib"),
    [
        pytest.param(40, 10, 50, id="all that was ever allocated is 10 MiB"),
        pytest.param(40, 58, 0, id="the arenas can hold what was allocated"),
        pytest.param(3, 10, 0, id="no recursion: it can be garbage that no profile has counted"),
    ],
)
def test_without_memstats_stacks_are_what_the_arenas_hold_beyond_the_profiles(
    depth, heap_mib, stacks_mib
):
    moment = replace(facts(heap_mib=60, goroutines=goroutines(20)), memstats=None)
    deep = callers(recursing=caller("main.visit", "", depth=depth))

    found = find(but(answers(moment), callers=deep, heap_at_most={"1": heap_mib * MIB}))

    assert [MIB * stacks_mib] * (stacks_mib > 0) == [finding.bytes for finding in found]
    assert all("at least 50 MiB" in finding.title for finding in found)
    assert all("possible" == finding.confidence for finding in found)


def test_what_another_snapshot_counts_is_not_called_uncounted():
    """
    Goroutines pile up at the first two snapshots: the stacks of the third, without a count, too.
    """
    counted = [facts(**STACKS, name=str(n), goroutines=goroutines(n * 3_000)) for n in (1, 2, 3)]
    uncounted = facts(**STACKS, name="4")
    steady = facts(**STACKS, name="0", goroutines=goroutines(20))

    assert "4" not in {finding.moment for finding in find(answers(*counted, uncounted))}
    (*_, last) = find(answers(steady, uncounted))
    assert "no file of this snapshot counts the goroutines" in last.title


@pytest.mark.parametrize(
    ("grown", "alike"),
    [
        pytest.param((40, 80, 120), True, id="stacks grow"),
        pytest.param((120, 120, 120), False, id="stacks stay"),
    ],
)
def test_goroutines_with_one_stack_whose_number_grows_come_before_recursion(grown, alike):
    """
    120 goroutines of 121 wait with the same stack, of 1 MiB each.
    """
    frame = pd.DataFrame(
        {
            "goroutines": [119, 1],
            "function": ["main.walk", "main.main"],
            "stack": ["runtime.gopark;main.walk;main.walk;main.start", "main.main"],
        }
    )
    start = pd.Timestamp("2026-11-27T02:00:00Z")
    told = [
        facts(**{**STACKS, "StackInuse": mib, "HeapSys": 200}, name=str(n),
              time=start + pd.Timedelta(10 * n, "s"))
        for n, mib in enumerate(grown)
    ]  # fmt: skip
    told[-1] = replace(told[-1], goroutines=frame)
    recursing = callers(recursing=caller("main.walk", "", depth=30))

    (last,) = find(but(answers(*told), callers=recursing))[-1:]

    said = "119 goroutines wait in main.walk with about 1 MiB of stack each"
    assert alike == (said in last.title)
    assert alike == ("give each a way to end" in last.next_step)


def test_a_dump_without_time_or_sizes_counts_the_goroutines_of_all_snapshots(tmp_path):
    stack = "".join(f"#\t0x{at:x}\tmain.ascend+0x1\t/src/main.go:7\n" for at in range(60))
    addresses = " ".join(f"0x{at:x}" for at in range(60))
    (tmp_path / "goroutine_debug1.txt").write_text(
        f"goroutine profile: total 124\n124 @ {addresses}\n{stack}"
    )
    for at, mib in (("a", 60), ("b", 120), ("c", 180)):
        stats = {
            "HeapAlloc": 4 << 20, "HeapInuse": 5 << 20, "HeapIdle": 1 << 20, "HeapReleased": 0,
            "HeapSys": 6 << 20, "StackInuse": mib << 20, "StackSys": mib << 20, "NextGC": 8 << 20,
            "Sys": (mib + 10) << 20, "NumGC": 3, "LastGC": 1795800000000000000 + mib * 10**9,
        }  # fmt: skip
        (tmp_path / f"vars-{at}.json").write_text(json.dumps({"memstats": stats}))

    first = gomem.diagnose(tmp_path).findings[0]

    assert ("stack-growth", Severity.WARNING) == (first.code, first.severity)
    assert "Deep recursion in main.ascend" in first.title
    assert "--traces" in first.next_step
    assert "only the number of goroutines" not in first.mechanism


def test_the_place_of_most_goroutines_is_named():
    """
    19 of 20 are in one function of the program; the 20th is not in the frame.
    """
    shown = goroutines(19)
    (found,) = find(answers(facts(**STACKS, goroutines=shown, goroutine_total=20)))

    assert [20, 19] == counts(found.title)
    assert [shown["function"][0]] == [site.own_function for site in found.sites]


def test_the_total_of_a_profile_counts_goroutines_without_their_stacks():
    (found,) = find(answers(facts(**STACKS, goroutine_total=20)))

    assert Severity.WARNING == found.severity
    assert [20] == counts(found.title)
