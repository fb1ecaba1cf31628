"""A GC log or a heap profile beside one size of the process: what the live heap is of it."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.units import MIB
from tests.builders import smaps_entry
from tests.heap_profiles import heap_bytes, seen

GC = (
    "gc {n} @{at:.3f}s 1%: 0.11+0.98+0.005 ms clock, 0.23+0.24/0.63/0.41+0.043 ms cpu, "
    "{before}->{before}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 8 P\n"
)
POD = "POD          NAME   CPU(cores)   MEMORY(bytes)\napi-5f9f-x   api    704m         1545Mi\n"
PS = "  PID   RSS    VSZ COMMAND\n26998 {rss} 1911244 api\n"


def log(live, goal):
    return "".join(GC.format(n=n, at=n, before=live + 1, live=live, goal=goal) for n in (1, 2))


def further(tmp_path, **files):
    for name, content in files.items():
        (tmp_path / f"{name}.txt").write_text(content)
    diagnosis = diagnose(load(tmp_path))
    return diagnosis.verdict.headline, " ".join(map(str, diagnosis.verdict.whose))


def test_a_working_set_far_above_the_goal_is_not_that_heap(tmp_path):
    headline, beside = further(tmp_path, gctrace=log(live=1, goal=4), top=POD)

    assert headline.startswith("The working set is 1.51 GiB")
    said = "The next GC starts when the heap reaches 4 MiB: the other 1.5 GiB of the working set is"
    assert said in beside


@pytest.mark.parametrize(("rss", "share"), [(120_000, "85 %"), (101_000, "100 %")])
def test_most_of_rss_is_the_live_heap(rss, share, tmp_path):
    _, beside = further(tmp_path, gctrace=log(live=100, goal=200), ps=PS.format(rss=rss))

    assert f"The live heap after the last GC (100 MiB) is {share} of RSS." in beside


def test_after_a_kill_log_and_size_may_be_of_two_processes(tmp_path):
    killed = '[{"State": {"OOMKilled": true}, "HostConfig": {"Memory": 268435456}}]\n'
    files = {"gctrace": log(live=100, goal=200), "ps": PS.format(rss=120_000), "inspect": killed}

    _, beside = further(tmp_path, **files)

    assert "of RSS" not in beside


def test_between_live_heap_and_goal_nothing_is_left_to_say(tmp_path):
    _, beside = further(tmp_path, gctrace=log(live=60, goal=200), ps=PS.format(rss=180_000))

    assert "The live heap after" not in beside
    assert "The next GC starts" not in beside


def test_memstats_divide_rss_themselves(tmp_path):
    usage = "Alloc = 5 MiB TotalAlloc = 6 MiB Sys = 90 MiB NumGC = 2\n"
    files = {"gctrace": log(live=1, goal=4), "ps": PS.format(rss=120_000), "memstats": usage}

    _, beside = further(tmp_path, **files)

    assert "The next GC starts" not in beside


@pytest.mark.parametrize(("mapped_mib", "is_told"), [(0, True), (20, True), (66, False)])
def test_what_else_rss_has_is_not_guessed_where_mappings_of_nearly_that_size_tell(
    mapped_mib, is_told, tmp_path
):
    status = f"Name:\tapi\nPid:\t7\nVmRSS:\t{70 * 1024} kB\nRssAnon:\t{70 * 1024} kB\n"
    (tmp_path / "status.2").write_text(status)
    for number in (1, 2):
        (tmp_path / f"heap.{number}.pb").write_bytes(heap_bytes(seen(9, 90_000)))
    if mapped_mib:
        entry = smaps_entry(1 << 24, (1 << 24) + mapped_mib * MIB, "rw-p", "[heap]",
                            rss_kib=mapped_mib * 1024)  # fmt: skip
        stack = smaps_entry(1 << 46, (1 << 46) + 132 * 1024, "rw-p", "[stack]", rss_kib=16)
        (tmp_path / "smaps.1").write_text(entry + stack)

    _, beside = further(tmp_path)

    assert "by the heap profile" in beside
    assert is_told == ("or memory outside Go" in beside)


def test_a_few_connections_are_no_matter_beside_a_large_working_set(tmp_path):
    stacks = (
        "goroutine profile: total 4\n2 @ 0x43e1d6 0x6ba1c5\n"
        "#\t0x6ba1c4\tnet/http.(*connReader).Read+0x1a4\t/go/src/net/http/server.go:798\n\n"
        "2 @ 0x43e1d6 0x6ba1c6\n#\t0x6ba1c5\tmain.main+0x1a5\t/app/main.go:12\n"
    )
    for name, content in {"goroutines": stacks, "top": POD}.items():
        (tmp_path / f"{name}.txt").write_text(content)
    verdict = diagnose(load(tmp_path)).verdict

    assert verdict.headline.startswith("The working set is 1.51 GiB")
    assert "ReadHeaderTimeout" not in verdict.next_step
