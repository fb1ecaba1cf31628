"""Goroutines with large stacks: a log counts both, a profile has the recursion, RSS comes apart."""

import gomem
from gomem.diagnosis.diagnosis import diagnose
from gomem.text import Command

ROW = (
    'api-1  | {{"ts":"2026-11-27T12:53:{at:02}Z","alloc":{heap},"sys":{sys},"stackInuse":{stacks},'
    '"numGoroutine":{count},"gcCPUFraction":0.0}}\n'
)
STATUS = "Fri Nov 27 12:53:{at:02} UTC 2026\nName:\tapi\nPid:\t7\nVmRSS:\t{rss} kB\nThreads:\t5\n"
COUNTS = [100 + 97 * n for n in range(9)]
FRAMES = "#\t0x471\ttime.Sleep+0x114\t/usr/local/go/src/runtime/time.go:195\n" + 31 * (
    "#\t0x6a6\tmain.fill+0x8f\t/src/fill.go:11\n"
)
PROFILE = "goroutine profile: total 910\n{} @ {}\n{}\n5 @ 0x43e\n#\t0x43e\tmain.main+0x1\t/a.go:1\n"
STATS = ("Alloc = 900000", "TotalAlloc = 900000", "Sys = 488795528", "HeapAlloc = 900000",
         "HeapSys = 4358144", "HeapIdle = 2777088", "HeapInuse = 1581056", "HeapReleased = 2129920",
         "Stack = 480000000 / 480000000", "MSpan = 218080 / 228480", "MCache = 2400 / 15600",
         "BuckHashSys = 1447736", "GCSys = 2313224", "OtherSys = 432344", "NextGC = 4194304",
         "LastGC = 0", "NumGC = 0")  # fmt: skip


def captured(folder):
    log = [
        ROW.format(
            at=2 * n,
            heap=200_000 + 60_000 * n,
            sys=9_000_000 + (count << 19),
            stacks=count << 19,
            count=count,
        )
        for n, count in enumerate(COUNTS)
    ]
    (folder / "api.log").write_text("".join(log))
    (folder / "goroutines.txt").write_text(PROFILE.format(905, " ".join(32 * ["0x1"]), FRAMES))
    (folder / "status.txt").write_text(
        "".join(STATUS.format(at=4 * n, rss=40_000 + 50_000 * n) for n in range(5))
    )
    lines = "".join(f"# {line}\n" for line in ("runtime.MemStats", *STATS))
    (folder / "heap.txt").write_text(
        "heap profile: 1: 524288 [1: 524288] @ heap/1048576\n"
        f"1: 524288 [1: 524288] @ 0x1\n#\t0x1\tmain.fill+0x1\t/src/fill.go:9\n\n{lines}"
    )
    return diagnose(gomem.load(folder))


def test_the_leak_says_what_the_stacks_take_and_names_the_file_that_has_them(tmp_path):
    diagnosis = captured(tmp_path)
    found = {finding.code: finding for finding in diagnosis.findings}
    leak = found["goroutine-leak"]

    assert "their stacks, about 515 KiB each, take 408 MiB" in leak.title
    (shown,) = leak.next_step.of(Command)
    assert shown.value.endswith("goroutines.txt")
    assert "Bound the recursion" in leak.next_step
    assert "select" not in leak.next_step
    assert any("StackInuse" in row.field for row in leak.evidence)
    assert "905 goroutines wait in main.fill" in found["stack-growth"].title


def test_without_smaps_no_size_of_go_is_subtracted_from_rss(tmp_path):
    """
    Which of the reserved bytes are not resident no file says: each size is the most that it can be.
    """
    said = captured(tmp_path).verdict.sentence

    assert "at most 234 MiB goroutine stacks (100 %)" in said
    assert "is not in RSS" not in said
