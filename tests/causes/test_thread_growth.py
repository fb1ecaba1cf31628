"""Threads that pile up are named with what their stacks hold, and never twice."""

from dataclasses import replace

import pandas as pd
import pytest

import gomem
from gomem.causes import native_memory
from gomem.causes.finding import Severity
from gomem.causes.thread_growth import find
from gomem.facts.sides import facts_of_moments
from gomem.text import Bytes, Count, Function
from gomem.units import KIB, MIB
from tests.builders import smaps_entry
from tests.causes.situations import HIGH, answers, facts

STATUS = "Name:\tapi\nState:\tS (sleeping)\nPid:\t7\nVmSize:\t9000 kB\nVmRSS:\t100 kB\n"


def moments(*numbers: int | None):
    """Moments that count their threads, and nothing else of note."""
    return [
        replace(facts(name=str(place), threads=number), paths={"status": f"{place}/status"})
        for place, number in enumerate(numbers)
    ]


def test_threads_that_pile_up_are_counted():
    (found,) = find(answers(*moments(12, 62, 112, 162)))

    assert ("thread-growth", Severity.WARNING) == (found.code, found.severity)
    assert ("likely", "3") == (found.confidence, found.moment)
    assert [12, 162] == [count.value for count in found.title.of(Count)]
    assert {("0/status", 12), ("3/status", 162)} <= {
        (one.artefact, one.value) for one in found.evidence
    }


def test_two_counts_make_it_possible():
    (found,) = find(answers(*moments(12, 162)))

    assert "possible" == found.confidence


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param((12, 18, 24, 30), id="fewer than twenty more"),
        pytest.param((40, 50, 60, 70), id="less than twice as many"),
        pytest.param((12, 160, 160, 160, 160, 160), id="a burst that made them, which stay"),
        pytest.param((160, 12), id="fewer"),
        pytest.param((160,), id="one count"),
        pytest.param((None, None), id="none"),
    ],
)
def test_what_does_not_pile_up_is_no_finding(numbers):
    assert [] == find(answers(*moments(*numbers)))


def stacks(so_many: int) -> str:
    """The heap of a C library, and threads' stacks of 8 MiB with 256 KiB in use."""
    brk = smaps_entry(0x1000000, 0x1021000, "rw-p", "[heap]", rss_kib=8)
    return brk + "".join(
        smaps_entry(at, at + 4096, "---p") + smaps_entry(at + 4096, at + 8 * MIB, rss_kib=256)
        for at in range(HIGH, HIGH + so_many * 16 * MIB, 16 * MIB)
    )


def test_their_stacks_are_theirs_and_not_called_mallocs_too():
    case = answers(
        *(facts(stacks(n), name=str(n), threads=n, heap_mib=4) for n in (10, 60, 110, 160))
    )

    (found,) = find(case)

    assert 160 * 256 * KIB + 16 * KIB == found.bytes
    assert [found.bytes] == [size.value for size in found.title.of(Bytes)]
    assert [] == native_memory.find(case)


@pytest.mark.parametrize(
    ("files", "threads"),
    [
        pytest.param({"status": STATUS + "Threads:\t34\n"}, 34, id="the kernel"),
        pytest.param(
            {"metrics.prom": "go_memstats_alloc_bytes 1e6\ngo_threads 21\n"}, 21, id="a page"
        ),
        pytest.param({"status": STATUS}, None, id="nothing"),
    ],
)
def test_who_counts_them(tmp_path, files, threads):
    for name, content in files.items():
        (tmp_path / name).write_text(content)

    (moment,) = facts_of_moments(gomem.load(tmp_path))

    assert threads == moment.threads


def test_times_make_it_a_rate():
    start = pd.Timestamp("2026-01-02T03:04:05Z")
    timed = [
        replace(one, time=start + pd.Timedelta(10 * place, "s"))
        for place, one in enumerate(moments(12, 62, 112, 162))
    ]

    (found,) = find(answers(*timed))

    assert [30.0] == [each.value for each in found.evidence if each.field == "time watched"]


def dump(stuck, state="syscall"):
    """A goroutine dump: so many in C, each locked to its thread, beside three others."""
    stack = "main._Cfunc_query(0x3)\n\t_cgo_gotypes.go:45 +0x47\nmain.look(0x3)\n\t/src/look.go:23"
    in_c = f"[{state}, locked to thread]:\n{stack} +0x4f\ncreated by main.main in goroutine 1\n"
    other = "[select]:\nmain.wait()\n\t/src/wait.go:7 +0x1\n"
    each = [in_c] * stuck + [other] * 3
    begun = "\t/src/main.go:27 +0x1\n\n"
    return "".join(f"goroutine {n} {text}{begun}" for n, text in enumerate(each, start=1))


def codes(diagnosis):
    return {finding.code: finding for finding in diagnosis.findings}


@pytest.mark.parametrize("is_text", [True, False])
def test_a_dump_in_which_most_goroutines_are_in_c_shows_their_threads(tmp_path, is_text):
    grouped = IN_C.format(total=553, stuck=550)
    (tmp_path / "goroutines.txt").write_text(dump(stuck=550) if is_text else grouped)

    found = codes(gomem.diagnose(tmp_path))

    assert "goroutine-leak" not in found
    finding = found["thread-growth"]
    assert ("possible", Severity.WARNING) == (finding.confidence, finding.severity)
    assert [550, 553] == [count.value for count in finding.title.of(Count)]
    assert ["main.look"] == [site.own_function for site in finding.sites]


@pytest.mark.parametrize(("stuck", "state"), [(99, "syscall"), (550, "runnable")])
def test_few_in_c_or_goroutines_elsewhere_occupy_no_threads(stuck, state, tmp_path):
    (tmp_path / "goroutines.txt").write_text(dump(stuck, state))

    assert "thread-growth" not in codes(gomem.diagnose(tmp_path))


LISTING = "07:14:0{}\n  PID NLWP   RSS COMMAND\n    7 {} {} ./api\n"


def test_ps_counts_threads(tmp_path):
    """
    Beside readings of ps, a dump without a clock is of the last.
    """
    numbers = (26, 91, 157, 223)
    rows = (LISTING.format(place, n, 9000 + n) for place, n in enumerate(numbers))
    (tmp_path / "ps.log").write_text("".join(rows))
    (tmp_path / "goroutines.txt").write_text(dump(stuck=200))

    diagnosis = gomem.diagnose(tmp_path)

    assert [*numbers] == [moment.threads for moment in diagnosis.moments]
    finding = codes(diagnosis)["thread-growth"]
    assert "likely" == finding.confidence
    assert [26, 223, 200] == [count.value for count in finding.title.of(Count)]
    assert ("goroutines.txt",) == diagnosis.capture[diagnosis.moments[-1].name].assumed


def test_threads_that_a_person_noted_are_of_that_text(tmp_path):
    rows = (f"18:1{at}:56 rss={7768 + 4000 * at} nlwp={20 + 120 * at}\n" for at in range(6))
    (tmp_path / "notes.txt").write_text("till, by ps -o rss=,nlwp= each minute:\n" + "".join(rows))

    found = {one.code: one for one in gomem.diagnose(tmp_path).findings}["thread-growth"]

    assert "Threads pile up: 20 → 620" in found.title
    assert {"notes.txt"} == {one.artefact.partition(":")[0] for one in found.evidence}


IN_C = """goroutine profile: total {total}
{stuck} @ 0x47a16b 0x66af46 0x66b225
#\t0x66af45\tmain._Cfunc_query+0x45\t_cgo_gotypes.go:50
#\t0x66b224\tmain.look+0x64\t/src/look.go:14

2 @ 0x43cc91 0x47bf5d
#\t0x64d7b0\tmain.wait+0xb0\t/src/wait.go:7
"""


@pytest.mark.parametrize(
    "goroutines",
    [
        pytest.param(IN_C.format(total=202, stuck=200), id="debug=1, without states"),
        pytest.param(dump(stuck=200), id="debug=2"),
    ],
)
def test_threads_are_joined_with_the_goroutines_in_c(goroutines, tmp_path):
    """
    What the capture has is not asked for again.
    """
    for at, number in (("1", 12), ("2", 212)):
        rss = STATUS.replace("100 kB", f"{1000 + 80 * number} kB")
        (tmp_path / f"status.{at}").write_text(rss + f"Threads:\t{number}\n")
    (tmp_path / "goroutine.txt").write_text(goroutines)

    finding = codes(gomem.diagnose(tmp_path))["thread-growth"]

    assert [12, 212, 200] == [count.value for count in finding.title.of(Count)]
    assert ["main.look"] == [name.value for name in finding.title.of(Function)]
    assert "curl" not in finding.next_step
    assert "goroutine.txt" in finding.next_step
    values = {one.field: one.value for one in finding.evidence}
    assert 80 * KIB == values["growth of RSS for each new thread"]


def test_goroutines_in_c_that_are_far_fewer_than_threads_explain_nothing(tmp_path):
    for at, number in (("1", 12), ("2", 812)):
        (tmp_path / f"status.{at}").write_text(STATUS + f"Threads:\t{number}\n")
    (tmp_path / "goroutine.txt").write_text(IN_C.format(total=202, stuck=200))

    finding = codes(gomem.diagnose(tmp_path))["thread-growth"]

    assert [12, 812] == [count.value for count in finding.title.of(Count)]
