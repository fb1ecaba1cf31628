"""A finalizer that holds up all others is named, and who allocates what waits for it."""

import pytest

import gomem
from gomem.causes import finalizer_backlog, heap_growth
from gomem.causes.finding import Severity
from gomem.inputs.goroutines.parse import finalizer_of
from gomem.text import Command, Count, Function
from tests.builders import but, case_of
from tests.causes.situations import facts

LOOPS = ("runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups")
DUMP = """goroutine 1 [running]:
main.main()
\t/src/main.go:9 +0x1d

goroutine 19 [sleep{minutes}]:
time.Sleep(0x2625a00)
\t/go/src/runtime/time.go:363 +0x165
main.(*press).clean(...)
\t/src/main.go:41
{loop}()
\t/go/src/runtime/mfinal.go:290 +0x45
created by runtime.createfing in goroutine 1
\t/go/src/runtime/mfinal.go:172 +0x3d
"""


def dumps(tmp_path, *loops: str, minutes: int = 0):
    """A capture of a dump of goroutines a moment, in which a finalizer runs or none does."""
    for place, loop in enumerate(loops):
        folder = tmp_path / f"{place}"
        folder.mkdir()
        text = DUMP.format(loop=loop or "main.wait", minutes=f", {minutes} minutes" * (minutes > 0))
        (folder / "goroutines.txt").write_text(text)
    return gomem.diagnose(tmp_path).case


@pytest.mark.parametrize("loop", LOOPS)
def test_what_the_runtimes_loop_calls_is_the_finalizer(loop):
    assert "main.(*press).clean" == finalizer_of(["time.Sleep", "main.(*press).clean", loop])
    assert "" == finalizer_of(["runtime.gopark", loop])
    assert "" == finalizer_of(["time.Sleep", "main.main", "runtime.main"])
    assert "" == finalizer_of([])


@pytest.mark.parametrize("loop", LOOPS)
def test_a_goroutine_that_runs_a_finalizer_counts(tmp_path, loop):
    """
    As runtime.NumGoroutine counts it; one that waits for work does not.
    """
    case = dumps(tmp_path, loop)

    assert [2] == [one.goroutines for one in case.facts.goroutine_counts]
    assert ("main.(*press).clean", ("0",), 1, None) == (
        case.facts.finalizing.function,
        case.facts.finalizing.moments,
        case.facts.finalizing.looked,
        case.facts.finalizing.wait_seconds,
    )


def test_one_that_is_stuck_is_found_by_a_single_dump(tmp_path):
    (found,) = finalizer_backlog.find(dumps(tmp_path, LOOPS[1], minutes=12))

    assert ("finalizer-backlog", Severity.WARNING, "possible") == (
        found.code,
        found.severity,
        found.confidence,
    )
    assert ["main.(*press).clean"] == [name.value for name in found.title.of(Function)]
    assert ["main.(*press).clean"] == [site.own_function for site in found.sites]
    assert "12 min" in found.title


@pytest.mark.parametrize(
    "loops",
    [
        pytest.param((LOOPS[1],), id="it runs, and nothing grows"),
        pytest.param((LOOPS[1], ""), id="it has run"),
        pytest.param(("", ""), id="none runs"),
    ],
)
def test_one_that_runs_is_no_backlog(tmp_path, loops):
    assert [] == finalizer_backlog.find(dumps(tmp_path, *loops))


MAIN = "goroutine 1 [running]:\nmain.main()\n\t/src/main.go:9 +0x1d\n\n"
WORKER = (
    "goroutine 27 [select]:\nmain.work()\n\t/src/main.go:7 +0x1d\n"
    "created by main.main\n\t/src/main.go:8 +0x1d\n"
)
SLEEPS = "goroutine 19 [sleep]:\ntime.Sleep(0x2625a00)\n\t/go/time.go:3 +0x1\n"
CLEANS = f"{SLEEPS}main.clean(0x0)\n\t/src/main.go:41\n"
CALLED = f"{SLEEPS}main._cgoexp_call(0x0)\n\t/src/main.go:4\n"
CUT_MAIN = (
    "fatal error: all goroutines are asleep - deadlock!\n\n"
    "goroutine 1 [chan send]:\nmain.(*pool).put(...)\n\t/src/pool.go:7\n"
)


@pytest.mark.parametrize(
    ("dump", "finalizer"),
    [
        pytest.param(f"{MAIN}{CLEANS}\n{WORKER}", "main.clean", id="the finalizer"),
        pytest.param(f"{MAIN}{CLEANS}{WORKER}", "main.clean", id="without empty lines"),
        pytest.param(f"{MAIN}{CALLED}\n{WORKER}", None, id="called by C"),
        pytest.param(f"{MAIN}{WORKER}\n{CLEANS}", None, id="cut behind a frame"),
        pytest.param(f"{MAIN}{WORKER}\n{CLEANS}and so on\n", None, id="prose behind it"),
        pytest.param(f"{MAIN}{CLEANS}...\n\n{WORKER}", None, id="frames left out"),
        pytest.param(f"{CLEANS}\n{WORKER}", None, id="no main goroutine"),
        pytest.param(CUT_MAIN, None, id="a cut crash of main alone"),
        pytest.param(f"{CUT_MAIN}\n{WORKER}", None, id="a cut main goroutine"),
    ],
)
def test_until_go_1_20_it_is_the_goroutine_that_nobody_began(tmp_path, dump, finalizer):
    """
    A dump shows neither the loop nor who began it, and a cut goroutine shows no more.
    """
    (tmp_path / "goroutines.txt").write_text(dump)

    running = gomem.diagnose(tmp_path).case.facts.finalizing

    assert finalizer == (None if running is None else running.function)


def growing(tmp_path, *loops: str):
    """The same, with a live heap of 20 MiB more at each moment."""
    case = dumps(tmp_path, *loops)
    moments = [
        facts(name=str(place), NextGC=2 * size, HeapAlloc=size, NumGC=place + 1)
        for place, size in enumerate((20, 40, 60, 80, 100, 120, 140, 160))
    ]
    grown = case_of(moments).facts.live_heap
    return but(case, live_heap=grown)


def test_one_that_runs_while_the_live_heap_grows_is_the_cause_of_that(tmp_path):
    case = growing(tmp_path, LOOPS[1], LOOPS[1])

    (found,) = finalizer_backlog.find(case)
    (growth,) = heap_growth.find(case)

    assert ("likely", Severity.WARNING) == (found.confidence, found.severity)
    assert Severity.INFO == growth.severity
    assert growth.bytes == found.bytes
    assert [2, 2] == [count.value for count in found.title.of(Count)]


BLOCKED = """goroutine 1 [running]:
main.main()
\t/src/main.go:9 +0x1d

goroutine 19 [{state}]:
main.(*spool).note(0x1)
\t/src/main.go:27 +0x9d
main.(*session).reap(0x0?)
\t/src/main.go:37 +0x45
{loop}()
\t/go/src/runtime/mfinal.go:290 +0x45
created by runtime.createfing in goroutine 1
\t/go/src/runtime/mfinal.go:172 +0x3d
"""


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("state", ["chan send", "select", "sync.Mutex.Lock", "IO wait"])
def test_one_that_is_blocked_does_not_run_and_is_likely(tmp_path, loop, state):
    """
    The finalizer is the function that the runtime calls; the capture has its stack already.
    """
    (tmp_path / "stacks.txt").write_text(BLOCKED.format(loop=loop, state=state))
    running = gomem.diagnose(tmp_path).case.facts.finalizing
    moments = [
        facts(name=str(place), NextGC=2 * size, HeapAlloc=size, NumGC=place + 1)
        for place, size in enumerate((20, 40, 60, 80))
    ]
    case = but(case_of(moments), finalizing=running)

    (found,) = finalizer_backlog.find(case)

    assert "likely" == found.confidence
    assert "main.(*session).reap (in main.(*spool).note) " in found.title
    assert f"blocked ({state})" in found.title
    assert "running" not in found.title
    assert ("less stacks.txt",) == tuple(map(str, found.next_step.of(Command)))[:1]
    assert ("state of its goroutine", state) in [(row.field, row.value) for row in found.evidence]


def test_one_that_is_blocked_in_a_single_dump_is_a_note(tmp_path):
    (tmp_path / "stacks.txt").write_text(BLOCKED.format(loop=LOOPS[0], state="chan send"))

    (found,) = finalizer_backlog.find(gomem.diagnose(tmp_path).case)

    assert (Severity.INFO, "possible") == (found.severity, found.confidence)
    assert "blocked (chan send)" in found.title
    assert ["main.(*spool).note"] == [site.own_function for site in found.sites]


def test_one_that_sleeps_is_not_blocked(tmp_path):
    (found,) = finalizer_backlog.find(growing(tmp_path, LOOPS[1]))

    assert "possible" == found.confidence
    assert "was running in the only stack dump" in found.title


def test_a_queue_that_is_counted_is_certain():
    moments = [
        facts(
            name=str(place),
            metrics={
                "/gc/finalizers/queued:finalizers": 2000.0 * place,
                "/gc/finalizers/executed:finalizers": 100.0 * place,
                "/gc/cleanups/queued:cleanups": 7.0,
                "/gc/cleanups/executed:cleanups": 7.0,
            },
        )
        for place in range(1, 5)
    ]

    (found,) = finalizer_backlog.find(case_of(moments))

    assert "certain" == found.confidence
    assert [1900, 7600] == [count.value for count in found.title.of(Count)]


def test_a_queue_that_is_worked_off_is_none():
    moments = [
        facts(
            name=str(place),
            metrics={
                "/gc/finalizers/queued:finalizers": 2000.0 * place,
                "/gc/finalizers/executed:finalizers": 2000.0 * place - waiting,
                "/gc/cleanups/queued:cleanups": 0.0,
                "/gc/cleanups/executed:cleanups": 0.0,
            },
        )
        for place, waiting in enumerate((0, 1500, 0, 900), start=1)
    ]

    assert [] == finalizer_backlog.find(case_of(moments))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_finalizer_that_sleeps_is_slow_and_polls_nothing(tmp_path, loop):
    (found,) = finalizer_backlog.find(dumps(tmp_path, loop, minutes=12))

    assert "x.Close()" == found.missing_call.call


def test_until_go_1_20_it_needs_no_loop_of_the_runtimes_to_be_slow(tmp_path):
    (tmp_path / "goroutines.txt").write_text(
        f"{MAIN}{CLEANS}\n{WORKER}".replace("[sleep]", "[sleep, 12 minutes]")
    )
    (found,) = finalizer_backlog.find(gomem.diagnose(tmp_path).case)

    assert "x.Close()" == found.missing_call.call
