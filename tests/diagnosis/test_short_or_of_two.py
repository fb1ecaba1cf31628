"""What no verdict is of: less than a second, two processes, and bounds said as sizes."""

import pytest

import gomem
from gomem.views.report.verdict import verdict
from tests.diagnosis.made import made_of, mapped, moment

GC = (
    "gc {n} @{at:.3f}s 1%: 0.05+0.5+0.01 ms clock, 0.1+0/0.4/0.3+0.02 ms cpu, "
    "3->3->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)
STATUS = "Name:\tapi\nPid:\t{pid}\nVmHWM:\t{kib} kB\nVmRSS:\t{kib} kB\nThreads:\t5\n"


@pytest.mark.parametrize(("apart", "is_verdict"), [(0.025, False), (2.5, True)])
def test_a_log_of_less_than_a_second_shows_no_growth_of_anything(tmp_path, apart, is_verdict):
    lines = (GC.format(n=n, at=41 + n * apart) for n in range(1, 19))
    (tmp_path / "gc.log").write_text("".join(lines))

    said = verdict(gomem.diagnose(tmp_path)).label

    assert is_verdict == ("no verdict" not in said)


@pytest.mark.parametrize(("pids", "is_of_two"), [((11, 12), True), ((11, 11), False)])
def test_rss_of_two_processes_is_not_missing(tmp_path, pids, is_of_two):
    for name, pid, kib in zip("12", pids, (57360, 16560), strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "status").write_text(STATUS.format(pid=pid, kib=kib))

    diagnosis = gomem.diagnose(tmp_path)

    (change,) = diagnosis.changes
    assert "missing" not in change.between
    assert is_of_two == ("two processes" in change.between)


@pytest.mark.parametrize(("made", "words"), [(moment, "at most 60 MiB"), (mapped, "60 MiB")])
def test_what_go_retains_is_at_most_resident_without_smaps(made, words):
    where = made_of(made("1", heap_objects=60, native_heap=40), findings=()).verdict.where

    assert f"{words} Go objects and garbage" in where
    assert ("at most" in words) == ("at most" in where)
