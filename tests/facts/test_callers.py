"""Who calls the collector, C and mmap in a recorded program that does all three."""

import shutil

import pytest

import gomem
from gomem.causes.goroutines import where_evidence
from gomem.facts.callers import Callers
from gomem.text import Function
from tests.builders import FIXTURES

RECORDED = FIXTURES / "callers"


def of_files(folder, *names):
    for name in names:
        shutil.copy(RECORDED / name, folder)
    return Callers(gomem.load(folder))


def test_a_cpu_profile_names_who_calls(tmp_path):
    callers = of_files(tmp_path, "cpu.pb.gz", "goroutine.pb.gz")

    assert {
        ("main.(*janitor).release", "runtime/debug.FreeOSMemory", 48),
        ("main.(*janitor).sweep", "runtime.GC", 45),
    } == {(one.function, one.called, one.line) for one in callers.collecting}
    assert [("main.(*shop).look", "main._Cfunc_keep", 30, 1.0)] == [
        (one.function, one.called, one.line, one.share) for one in callers.calling_c
    ]
    assert [("main.(*index).grow", "syscall.Mmap", "example.org/callers/main.go")] == [
        (one.function, one.called, one.file) for one in callers.mapping
    ]
    assert {"cpu.pb.gz"} == {one.path for one in (*callers.collecting, *callers.mapping)}
    assert pytest.approx(1) == sum(one.share for one in callers.collecting)


@pytest.mark.parametrize("name", ["goroutine.pb.gz", "goroutines.txt"])
def test_goroutines_show_who_recurses(tmp_path, name):
    """
    A stack of 61 calls.
    """
    (deep,) = of_files(tmp_path, name).recursing

    assert ("main.(*index).visit", 61, 68) == (deep.function, deep.depth, deep.line)


def test_where_no_file_says_nobody_is_named(tmp_path):
    callers = of_files(tmp_path, "goroutine.pb.gz")

    assert () == callers.collecting == callers.calling_c == callers.mapping


def test_what_the_collector_takes_is_what_pprof_says():
    """
    go tool pprof -top -focus of the same functions gives the same share.
    """
    path = RECORDED / "cpu.pb.gz"
    callers = Callers(gomem.load(path))
    profile = gomem.read_pprof(path)

    taken = callers.collector_cpu
    stacks = profile.stacks.groupby("sample")["function"].agg(" ".join)
    is_of_gc = stacks.str.contains(r"runtime\.(?:gcBgMarkWorker|gcAssistAlloc|gcDrain|bgsweep)")
    values = profile.values("cpu")

    assert profile.total("cpu") / 1e9 == taken.used_seconds
    assert taken.fraction == pytest.approx(
        sum(values[sample] for sample in stacks.index[is_of_gc]) / values.sum(), abs=0.02
    )


LABORATORY = FIXTURES / "laboratory" / "captures"


@pytest.mark.parametrize(
    ("capture", "waits", "opens"),
    [
        ("foundryd-b", "net/http.(*persistConn).readLoop", "alloy.(*Lab).Ask"),
        ("almanacd-b", "database/sql.(*DB).connectionOpener", "tenant.(*Reconciler).Reconcile"),
        ("shelld-a", "golang.org/x/crypto/ssh.(*mux).loop", "lesson.(*Class).Teach"),
    ],
)
def test_who_asks_the_library_in_which_goroutines_wait(capture, waits, opens):
    """
    A body, a database and a session that nobody closes: the program is on no stack that waits.
    """
    callers = Callers(gomem.load(LABORATORY / f"{capture}.tar.gz"))

    first, *_ = callers.opening(waits)

    assert first.function.endswith(opens)
    assert 1 >= first.share > 0


def test_of_the_programs_own_function_nobody_is_asked(tmp_path):
    callers = of_files(tmp_path, "cpu.pb.gz", "goroutine.pb.gz")

    assert () == callers.opening("main.(*index).visit") == callers.opening("")


def test_a_goroutine_profile_has_the_line_in_which_goroutines_wait(tmp_path):
    """
    The evidence of every goroutine finding names it, by the file's base name.
    """
    shutil.copy(RECORDED / "goroutine.pb.gz", tmp_path)
    case = gomem.diagnose(tmp_path).case
    (counted,) = case.facts.goroutine_counts

    placed = {caller.function: caller.line for caller in case.facts.callers.waiting}
    first = where_evidence(case, counted.frame, counted.path)[0]

    assert placed
    (function,) = first.field.of(Function)
    assert f"goroutines in {function.value} (main.go:{placed[function.value]})" == first.field
