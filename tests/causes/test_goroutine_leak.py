"""Goroutines that pile up: how many came, where they wait, and what they hold."""

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.live_heap import LiveHeap
from gomem.analysis.series.goroutine_growth import SMALLEST_STACK, goroutine_growth, waiting_of
from gomem.analysis.series.level import Level
from gomem.causes import goroutine_leak
from gomem.causes.case import Case
from gomem.causes.finding import Severity
from gomem.facts.goroutines import GoroutineCount
from gomem.text import Count, Function
from gomem.units import KIB, MIB
from tests.builders import but, case_of
from tests.causes.situations import facts
from tests.causes.test_heap_growth import holders

WAITING = "runtime.gopark;sync.(*WaitGroup).Wait;main.(*report).wait;main.serve.func1"
IDLE = "runtime.gopark;main.accept;main.main"


def profile(waiting: int, idle: int = 1) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "goroutines": [waiting, idle],
            "function": ["sync.(*WaitGroup).Wait", "main.accept"],
            "stack": [WAITING, IDLE],
        }
    )


def case(counts, *, seconds=None, stacks=(), **given) -> Case:
    """A capture with so many goroutines at moments three seconds apart."""
    times = np.arange(len(counts)) * 3.0 if seconds is None else np.asarray(seconds, float)
    level = Level("goroutines", times, np.asarray(counts, float))
    growth = goroutine_growth(
        level,
        Level("stacks", times[: len(stacks)], np.asarray(stacks, float)),
        profiles=[profile(max(1, counts[0] - 1)), profile(counts[-1] - 1)],
    )
    start = pd.Timestamp("2026-11-23T10:00:00Z")
    counted = tuple(
        GoroutineCount(f"{n}", start + pd.Timedelta(at, "s"), count, f"{n}/goroutine", None)
        for n, (at, count) in enumerate(zip(times, counts, strict=True))
    )
    given = {"live_heap": None, "growth_holders": None} | given
    return case_of([facts(name="1")], goroutines=growth, goroutine_counts=counted, **given)


def test_a_number_that_rises_in_a_line_is_a_leak_with_its_rate():
    (finding,) = goroutine_leak.find(case([1, 3001, 6001]))

    assert [1, 6001] == [one.value for one in finding.title.of(Count)]
    assert [6.0] == [each.value for each in finding.evidence if each.field == "time watched"]
    assert Severity.WARNING == finding.severity


def test_where_they_wait_is_the_programs_own_function():
    """
    sync.(*WaitGroup).Wait tells nobody what to mend.
    """
    (finding,) = goroutine_leak.find(case([1, 3001, 6001]))

    assert ["main.(*report).wait", "main.serve.func1"] == [
        one.value for one in finding.title.of(Function)
    ]
    assert "nearly all waiting in" in finding.title
    assert ["main.(*report).wait"] == [site.own_function for site in finding.sites]


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([5000] * 5, id="many that are there from the start"),
        pytest.param([100, 900, 1500, 1500, 1500, 1500, 1500, 1500], id="they came and stayed"),
        pytest.param([10, 40, 70], id="too few to be looked at"),
        pytest.param([1000, 1100, 1200, 1300], id="not twice as many"),
        pytest.param([6000, 3000, 1], id="they go"),
    ],
)
def test_what_does_not_pile_up_is_no_leak(counts):
    assert [] == goroutine_leak.find(case(counts))


def test_a_few_hundred_behind_an_unclosed_result_are_seen():
    (finding,) = goroutine_leak.find(case([5, 120, 235, 350, 465]))

    assert "main.(*report).wait" in finding.title


def test_they_hold_their_stacks_at_least():
    (small,) = goroutine_leak.find(case([1, 3001, 6001]))
    (measured,) = goroutine_leak.find(case([1, 3001, 6001], stacks=[MIB, 13 * MIB, 25 * MIB]))

    assert 6000 * SMALLEST_STACK == small.bytes
    assert 24 * MIB == measured.bytes


@pytest.mark.parametrize(
    ("each", "hold"),
    [
        pytest.param(1.0, True, id="one object each"),
        pytest.param(0.8, True, id="one each, less what sampling missed"),
        pytest.param(8.0, False, id="eight times as many: something else"),
        pytest.param(0.3, False, id="one for every third of them"),
    ],
)
def test_objects_of_which_one_came_for_each_goroutine_are_theirs(each, hold):
    """
    main.post allocates a letter of 24 KiB and starts the goroutine that waits with it: no stack of
    that goroutine has main.post.
    """
    size, came = 24 * KIB, 6000
    live = LiveHeap(
        Level("marks", np.arange(7.0), MIB + each * size * came * np.arange(7.0) / 6),
        frozenset({"marks"}),
        1.0,
    )
    more = holders(("main.post", "main.post", each * size * came / MIB))
    (finding,) = goroutine_leak.find(case([1, 3001, 6001], live_heap=live, growth_holders=more))

    stacks = came * SMALLEST_STACK
    assert round(stacks + each * size * came * hold) == finding.bytes


def test_where_most_of_those_wait_that_came_not_where_most_are():
    waiting = waiting_of([profile(10, idle=5000), profile(4000, idle=5000)])

    assert ("main.(*report).wait", 3990, 4000) == (waiting.function, waiting.came, waiting.there)


def test_one_count_has_no_direction():
    alone = case_of([facts(name="1")], goroutine_counts=())

    assert [] == goroutine_leak.find(alone)


def test_stacks_that_grow_beside_one_count_are_no_uncounted_goroutines():
    """
    123 goroutines whose stacks grow to 2 MiB each: deep recursion, and somebody did count them.
    """
    deep = case([123], stacks=())
    grown = goroutine_growth(
        Level("goroutines", np.array([0.0]), np.array([123.0])),
        Level("stacks", np.arange(4) * 3.0, np.array([20, 80, 160, 240]) * float(MIB)),
    )

    assert [] == goroutine_leak.find(but(deep, goroutines=grown))
    (uncounted,) = goroutine_leak.find(but(deep, goroutines=grown, goroutine_counts=()))
    assert "no file counts them" in uncounted.title


@pytest.mark.parametrize(
    ("state", "blocked", "found"),
    [
        pytest.param("chan send", 540, True, id="nobody receives"),
        pytest.param("sync.Mutex.Lock", 540, True, id="nobody unlocks"),
        pytest.param("chan receive", 540, False, id="workers that wait for work"),
        pytest.param("chan send", 99, False, id="few"),
    ],
)
def test_a_single_dump_in_which_most_are_blocked_in_a_send_or_a_lock(
    tmp_path, state, blocked, found
):
    """
    Of 25 others nobody knows more.
    """
    stuck = f"[{state}]:\nmain.(*desk).ask(0x1)\n\t/src/main.go:9 +0x1d\n\n"
    busy = "[IO wait]:\nmain.serve(0x1)\n\t/src/main.go:7 +0x1d\n\n"
    stacks = [stuck] * blocked + [busy] * 25
    dump = "".join(f"goroutine {number} {stack}" for number, stack in enumerate(stacks, start=1))
    (tmp_path / "goroutines.txt").write_text(dump)

    findings = goroutine_leak.find(gomem.diagnose(tmp_path).case)

    assert found == bool(findings)
    for one in findings:
        assert (Severity.WARNING, "possible") == (one.severity, one.confidence)
        assert [540, 565] == [count.value for count in one.title.of(Count)][:2]
        assert ["main.(*desk).ask"] == [site.own_function for site in one.sites]


@pytest.mark.parametrize(
    ("there", "stacks", "found"),
    [
        pytest.param(2_300, 60, ["warning"], id="their stacks are most of it"),
        pytest.param(2_300, 30, ["info"], id="a good part, as of a design"),
        pytest.param(2_300, 9, ["info"], id="their stacks are little"),
        pytest.param(900, 60, [], id="fewer than a thousand"),
    ],
)
def test_a_single_dump_of_a_thousand_in_one_place_that_hold_much(there, stacks, found):
    """
    Of 100 MiB that the process holds.
    """
    frame = pd.DataFrame(
        {
            "goroutines": [there, 20],
            "function": ["main.(*desk).watch", "main.main"],
            "stack": ["main.(*desk).watch", "main.main"],
        }
    )
    moment = facts(heap_mib=90, StackInuse=stacks, StackSys=stacks, goroutines=frame)

    findings = goroutine_leak.find(case_of([moment]))

    assert found == [str(one.severity) for one in findings]
    for one in findings:
        assert ["main.(*desk).watch"] == [site.own_function for site in one.sites]
        assert stacks * MIB == one.bytes
