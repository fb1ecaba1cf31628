"""Goroutines that pile up: how many came, where they wait, and what they hold."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.live_heap import LiveHeap
from gomem.analysis.retention.keepers import retention_of
from gomem.analysis.series.goroutine_growth import (
    SMALLEST_STACK,
    Waiting,
    goroutine_growth,
    waiting_of,
)
from gomem.analysis.series.level import Level
from gomem.capture.capture import levels_of
from gomem.causes import goroutine_leak
from gomem.causes.cause import Case
from gomem.causes.finding import Severity
from gomem.causes.goroutines import where_words
from gomem.causes.thresholds import Thresholds
from gomem.facts.goroutines import GoroutineCount, Leaked
from gomem.facts.keepers import Kept
from gomem.facts.profiles import ProfileFacts
from gomem.inputs.heapdump.table import read_heapdump
from gomem.text import Count, Function
from gomem.units import KIB, MIB
from tests import heap_dumps as made
from tests.builders import FIXTURES, but, case_of
from tests.causes.situations import facts
from tests.causes.test_heap_growth import holders
from tests.heap_profiles import bucket, heap, stack

PASTED = FIXTURES / "pasted" / "goroutines"
WAITING = "runtime.gopark;sync.(*WaitGroup).Wait;main.(*report).wait;main.serve.func1"
STACK = made.ARENA + 0x90000
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


@pytest.mark.parametrize(
    ("without_stack", "said"),
    [
        pytest.param(0, "they hold about", id="all have stacks"),
        pytest.param(40, "they hold at least", id="most have none"),
    ],
)
def test_what_has_no_stack_has_no_upper_bound(without_stack, said):
    """
    60 KiB of in-use objects have a stack, and 0 or 360 000 B have none.
    """
    profile = heap(bucket(60, 60 << 10), *[stack()] * without_stack)
    hides = ProfileFacts(SimpleNamespace(heap_profiles={"1": profile})).hides_most_in_use
    live = LiveHeap(Level("marks", np.arange(3) * 3.0, np.array([1, 5, 9]) * MIB), frozenset(), 1.0)
    told = case([1, 3001, 6001], live_heap=live)

    (found,) = goroutine_leak.find(but(told, hides_most_in_use=hides))

    assert said in found.title


def test_a_tie_of_two_places_is_no_largest_part():
    shares = (("a.read", 0.5), ("a.write", 0.5))
    waiting = Waiting("a.read", "", frozenset(), 9, 9, 18, shares=shares)

    assert ", as many waiting in a.read as in a.write" == where_words(waiting, Thresholds())


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
    assert "no file counts goroutines" in uncounted.title


def test_a_dump_beside_stacks_that_grow_is_used_and_not_asked_for():
    frame = pd.DataFrame(
        {
            "goroutines": [4_000],
            "function": ["main.(*desk).ask"],
            "stack": ["sync.(*Mutex).Lock;main.(*desk).ask"],
        }
    )
    alone = case([4_000], stacks=())
    grown = goroutine_growth(
        Level("goroutines", np.array([0.0]), np.array([4_000.0])),
        Level("stacks", np.arange(4) * 3.0, np.array([8, 16, 24, 32]) * float(MIB)),
        profiles=[frame],
    )
    counts = (replace(alone.facts.goroutine_counts[0], frame=frame),)

    (found,) = goroutine_leak.find(but(alone, goroutines=grown, goroutine_counts=counts))

    assert "The goroutines are counted once" in found.mechanism
    assert "No file counts" not in found.mechanism
    assert "missing mu.Unlock()" in found.next_step
    assert "curl" not in found.next_step


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


OF_A_POOL = "database/sql.(*DB).conn(0x1)\n\t/go/sql.go:9 +0x1\nmain.(*desk).ask(0x1)"
OF_ROWS = (
    "database/sql.(*Rows).awaitDone(0x1)\n\t/go/sql.go:9 +0x1\n"
    "created by database/sql.(*Rows).initContextClose"
)
QUERIES = "net.(*conn).Read(0x1)\n\t/go/net.go:9 +0x1\ndatabase/sql.(*DB).query(0x1)"
READS = f"{QUERIES}\n\t/go/sql.go:9 +0x1\nmain.(*desk).ask(0x1)"
SERVES = "main.serve(0x1)"


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        pytest.param({OF_A_POOL: 136, SERVES: 4}, "warning", id="none uses a connection"),
        pytest.param({OF_A_POOL: 12, SERVES: 4}, "info", id="a few wait"),
        pytest.param({OF_A_POOL: 6, SERVES: 4}, None, id="too few"),
        pytest.param({OF_A_POOL: 136, READS: 10}, None, id="a busy pool of 10"),
        pytest.param({OF_A_POOL: 36, SERVES: 60}, None, id="some of the workers"),
        pytest.param({OF_ROWS: 150, SERVES: 20}, "warning", id="more rows than could be read"),
        pytest.param({OF_ROWS: 150, READS: 150, SERVES: 20}, None, id="150 queries run"),
        pytest.param({OF_ROWS: 60, SERVES: 20}, None, id="few rows"),
    ],
)
def test_goroutines_that_only_wait_for_a_pool_or_are_of_unclosed_rows(tmp_path, groups, found):
    stacks = [stack for stack, there in groups.items() for _ in range(there)]
    dump = "".join(
        f"goroutine {number**2} [select]:\n{stack}\n\t/src/main.go:9 +0x1d\n\n"
        for number, stack in enumerate(stacks, start=1)
    )
    (tmp_path / "goroutines.txt").write_text(dump)

    findings = goroutine_leak.find(gomem.diagnose(tmp_path).case)

    assert ([found] if found else []) == [str(finding.severity) for finding in findings]
    for finding in findings:
        assert "possible" == finding.confidence
        assert "rows.Close()" == finding.missing_call.call


@pytest.mark.parametrize(
    ("frames", "found"),
    [
        pytest.param(["sync.(*Mutex).Lock", "sync.(*Mutex).lockSlow"], True, id="a lock"),
        pytest.param(["sync.(*RWMutex).RLock"], True, id="a lock for reading"),
        pytest.param(["sync.(*WaitGroup).Wait"], False, id="others that work"),
        pytest.param(["time.Sleep"], False, id="the time"),
    ],
)
def test_frames_show_what_they_are_blocked_in_where_a_profile_has_no_states(
    tmp_path, frames, found
):
    every = [*reversed(frames), "main.(*desk).ask", "main.main.func1"]
    lines = "".join(
        f"#\t0x{at:x}\t{name}+0x1\t/src/main.go:{at}\n" for at, name in enumerate(every, 1)
    )
    addresses = " ".join(f"0x{at:x}" for at in range(1, len(every) + 1))
    head = "goroutine profile: total 561\n"
    (tmp_path / "goroutine.txt").write_text(
        f"{head}540 @ {addresses}\n{lines}\n21 @ 0x99\n#\t0x99\tmain.serve+0x1\t/src/main.go:7\n"
    )

    findings = goroutine_leak.find(gomem.diagnose(tmp_path).case)

    assert ([(Severity.WARNING, "possible")] if found else []) == [
        (one.severity, one.confidence) for one in findings
    ]


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


def diagnosed(tmp_path, *names: str):
    """Recorded dumps, as one snapshot."""
    for name in names:
        (tmp_path / name).write_bytes((PASTED / name).read_bytes())
    return gomem.diagnose(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "go1.26.4-leaks.pb.gz", "go1.26.4-leaks.txt", "go1.27.1-leaks.pb.gz", "go1.27.1-leaks.txt",
        "go1.27.1-leaks-as-markdown.txt", "go1.27.1-leaks-with-spaces.txt",
    ],
)  # fmt: skip
def test_what_the_runtime_proves_is_certain_in_one_snapshot(tmp_path, name):
    """
    The program left 700 in main.send; 300 more wait for a group that main still has.
    """
    diagnosis = diagnosed(tmp_path, name)

    (finding,) = goroutine_leak.find(diagnosis.case)
    assert (Severity.WARNING, "certain") == (finding.severity, finding.confidence)
    assert [700] == [count.value for count in finding.title.of(Count)]
    assert ["main.send"] == [site.own_function for site in finding.sites]
    assert 700 * SMALLEST_STACK == finding.bytes
    assert "warning" == str(diagnosis.verdict.severity)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("go1.26.4-leaked.txt", [3, 9]),
        ("go1.27.1-leaked.txt", [3, 9]),
        ("go1.27.1-quit.txt", [3, 9]),
        ("go1.27.1-leaked-only-leaks.txt", [3]),
    ],
)
def test_a_mark_in_a_dump_is_the_same_proof(tmp_path, name, counts):
    (finding,) = goroutine_leak.find(diagnosed(tmp_path, name).case)

    assert (Severity.WARNING, "certain") == (finding.severity, finding.confidence)
    assert counts == [count.value for count in finding.title.of(Count)]
    assert ["main.send", "main.report"] == [name.value for name in finding.title.of(Function)]


def test_a_look_that_found_none_is_no_leak(tmp_path):
    (tmp_path / "leaks.txt").write_text("goroutineleak profile: total 0\n")

    diagnosis = gomem.diagnose(tmp_path)

    assert [] == goroutine_leak.find(diagnosis.case)
    assert "found none" in diagnosis.verdict.sentence


def leaks(goroutines: int) -> Leaked:
    frame = pd.DataFrame({"goroutines": [goroutines], "function": ["main.send"],
                          "stack": ["main.send"]})  # fmt: skip
    return Leaked("1", "1/leaks.txt", frame)


@pytest.mark.parametrize(
    ("goroutines", "heap_mib", "severity"),
    [
        pytest.param(3, 90, "warning", id="a few are a fault, too"),
        pytest.param(9_999, 900, "warning", id="many"),
        pytest.param(10_000, 900, "critical", id="very many"),
        pytest.param(9_000, 30, "critical", id="a good part of RSS"),
    ],
)
def test_a_proven_leak_is_as_severe_as_it_is_large(goroutines, heap_mib, severity):
    made = case_of([facts(heap_mib=heap_mib)], leaked_goroutines=leaks(goroutines))

    (finding,) = goroutine_leak.find(made)

    assert severity == str(finding.severity)
    assert "certain" == finding.confidence


def test_growth_that_the_runtime_proves_is_certain():
    grown = case([1, 3001, 6001], leaked_goroutines=None)

    (alone,) = goroutine_leak.find(grown)
    (few,) = goroutine_leak.find(but(grown, leaked_goroutines=leaks(2_999)))
    (proved,) = goroutine_leak.find(but(grown, leaked_goroutines=leaks(3_000)))

    assert "certain" != alone.confidence
    assert alone.confidence == few.confidence
    assert "certain" == proved.confidence
    assert alone.title == proved.title
    assert [3_000] == [one.value for one in proved.evidence if "never run" in one.field]


@pytest.mark.parametrize("release", ["go1.20.14", "go1.26.4", "go1.27.1"])
@pytest.mark.parametrize(
    ("name", "said", "missing"),
    [
        ("unread", "unclosed responses", "resp.Body.Close()"),
        ("unclosed", "idle connections", "client.CloseIdleConnections()"),
    ],
)
def test_connections_that_nothing_uses_are_seen_in_one_dump(tmp_path, release, name, said, missing):
    """
    400 connections with two goroutines each, and the one that writes the profile.
    """
    (finding,) = goroutine_leak.find(diagnosed(tmp_path, f"{release}-{name}.txt").case)

    assert (Severity.WARNING, "possible") == (finding.severity, finding.confidence)
    assert [800, 801, 400] == [count.value for count in finding.title.of(Count)]
    assert said in finding.title
    assert finding.missing_call is not None
    assert missing == finding.missing_call.call


@pytest.mark.parametrize("release", ["go1.20.14", "go1.26.4", "go1.27.1"])
def test_a_server_with_three_thousand_idle_connections_is_healthy(tmp_path, release):
    diagnosis = diagnosed(tmp_path, f"{release}-idle-connections.txt")

    assert [] == goroutine_leak.find(diagnosis.case)
    assert "2\u202f999 wait in http.(*conn).serve" in diagnosis.verdict.sentence


READ, WRITE, TRIP = (
    f"net/http.(*persistConn).{name}" for name in ("readLoop", "writeLoop", "roundTrip")
)


@pytest.mark.parametrize(
    ("read", "write", "used", "others", "found"),
    [
        pytest.param(300, 300, 0, 100, True, id="three hundred"),
        pytest.param(299, 299, 0, 100, False, id="one less"),
        pytest.param(400, 400, 101, 100, False, id="most are being used"),
        pytest.param(300, 340, 0, 100, False, id="no pairs"),
        pytest.param(300, 310, 0, 100, True, id="some are just being closed"),
        pytest.param(300, 300, 0, 600, False, id="half of all, and no more"),
    ],
)
def test_pairs_of_loops(read, write, used, others, found):
    frame = pd.DataFrame(
        {
            "goroutines": [read, write, used, others],
            "function": [READ, WRITE, TRIP, "main.main"],
            "stack": [READ, WRITE, f"{TRIP};net/http.(*Client).Do;main.ask", "main.main"],
        }
    )
    frame = frame[frame["goroutines"] > 0]

    assert found == bool(goroutine_leak.find(case_of([facts(goroutines=frame)])))


@pytest.mark.parametrize(
    ("minutes", "state", "found"),
    [
        pytest.param([10, 11, 30, 80, 155], "select", True, id="for hours, one after the other"),
        pytest.param([9, 11, 30, 80, 155], "select", False, id="a fifth waits for less"),
        pytest.param([155] * 5, "chan receive", False, id="a pool that began at once"),
        pytest.param([10, 11, 30, 80, 155], "IO wait", False, id="connections"),
    ],
)
def test_minutes_of_waiting_in_one_place(tmp_path, minutes, state, found):
    """
    20 goroutines of each wait: 100 are enough.
    """
    stack = "main.(*hub).subscribe(0x1)\n\t/src/main.go:9 +0x1d\n\n"
    headers = [f"[{state}, {wait} minutes]:\n" for wait in minutes[::-1] for _ in range(20)]
    dump = "".join(f"goroutine {n} {header}{stack}" for n, header in enumerate(headers, start=1))
    (tmp_path / "goroutines.txt").write_text(dump)

    findings = goroutine_leak.find(gomem.diagnose(tmp_path).case)

    assert found == bool(findings)
    for finding in findings:
        assert (Severity.WARNING, "possible") == (finding.severity, finding.confidence)
        assert [100, 100, 10] == [count.value for count in finding.title.of(Count)]


def test_the_number_of_the_header_leads_and_the_excerpt_is_called_one(tmp_path):
    """
    People paste the largest record; 1 001 stands above it.
    """
    (tmp_path / "goroutines.txt").write_bytes((PASTED / "go1.27.1-counts-largest.txt").read_bytes())

    diagnosis = gomem.diagnose(tmp_path)

    assert (
        "1\u202f001 goroutines; the 700 shown here wait in main.send." == diagnosis.verdict.sentence
    )
    (count,) = diagnosis.facts.goroutine_counts
    assert (1001, 700) == (count.goroutines, count.shown)
    levels = levels_of(diagnosis.capture.by_moment.values())
    assert [1001] == levels["goroutines"].to_list()


def test_a_heap_dump_says_what_they_alone_keep():
    read = read_heapdump(
        made.dump(
            made.an_object(made.ARENA, [0], size=4096),
            made.goroutine(1),
            made.frame(STACK, [made.ARENA], "main.(*report).wait", at=[0]),
            made.frame(STACK + 8, [0], "main.serve.func1", depth=1),
            made.segment(12, made.DATA, [0]),
        )
    )
    kept = Kept("1/heap.dump", "1", retention_of(read))

    (finding,) = goroutine_leak.find(case([1, 3001, 6001], kept=kept))

    assert ("1/heap.dump", "held by the goroutines of main.serve.func1", 4096) in {
        (one.artefact, one.field, one.value) for one in finding.evidence
    }


def test_an_excerpt_counts_its_own_stacks_and_shares_and_names_no_starter(tmp_path):
    text = """goroutine profile: total 2000
1800 @ 0x436bb0 0x40506d 0x8ce854 0x466431
#\t0x8ce853\tmain.(*gate).enter+0x83\t/home/b/gate.go:23
#\t0x466430\tmain.(*conn).close.func1+0x31\t/home/b/conn.go:14
"""
    (tmp_path / "goroutine.txt").write_text(text)
    diagnosis = gomem.diagnose(gomem.load(tmp_path))

    (found,) = (f for f in diagnosis.findings if f.code == "goroutine-leak")
    assert 1800 * SMALLEST_STACK == found.bytes
    assert "started by" not in found.title
    assert "in goroutines that run main.(*conn).close.func1" in found.title
    assert [pytest.approx(0.9)] == diagnosis.facts.goroutine_groups["share"].tolist()


def test_open_files_that_rise_with_them_are_evidence(tmp_path):
    """
    Each of the connections has a socket.
    """
    page = (
        "go_goroutines {}\nprocess_open_fds {}\nprocess_resident_memory_bytes 3e7\n"
        "go_memstats_heap_alloc_bytes 9e6\n"
    )
    for at, (goroutines, files) in enumerate([(571, 293), (1138, 577), (1697, 856), (2273, 1143)]):
        (tmp_path / f"metrics-01.07.{20 + 9 * at}.txt").write_text(page.format(goroutines, files))

    diagnosis = gomem.diagnose(gomem.load(tmp_path))

    (found,) = (f for f in diagnosis.findings if f.code == "goroutine-leak")
    said = {(str(one.field), one.value, one.artefact) for one in found.evidence}
    assert ("open files, first", 293, "metrics-01.07.20.txt") in said
    assert ("open files, last", 1143, "metrics-01.07.47.txt") in said


def test_the_step_names_the_library_function_that_shows_the_missing_call():
    """
    A server and its own client: the server's side waits in most goroutines, a body is left open.
    """
    served = "net/http.(*conn).serve"
    stacks = [f"runtime.gopark;internal/poll.runtime_pollWait;{served}",
              f"runtime.gopark;runtime.selectgo;{READ}",
              f"runtime.gopark;runtime.selectgo;{WRITE}"]  # fmt: skip
    frames = [
        pd.DataFrame({"goroutines": [n + 9, n, n], "function": stacks, "stack": stacks})
        for n in (1, 2000)
    ]
    level = Level("goroutines", np.array([0.0, 3.0, 6.0]), np.array([12.0, 3000.0, 6009.0]))
    growth = goroutine_growth(level, Level("stacks", np.array([]), np.array([])), profiles=frames)
    start = pd.Timestamp("2026-11-23T10:00:00Z")
    counted = tuple(
        GoroutineCount(str(at), start + pd.Timedelta(at, "s"), count, f"{at}/goroutine", frame)
        for at, count, frame in ((0, 12, frames[0]), (3, 3000, None), (6, 6009, frames[1]))
    )
    (finding,) = goroutine_leak.find(
        case_of([facts(name="1")], goroutines=growth, goroutine_counts=counted, live_heap=None,
                growth_holders=None)
    )  # fmt: skip

    assert "resp.Body.Close()" in finding.missing_call.call
    assert f"See the stacks in {READ}" in finding.next_step
