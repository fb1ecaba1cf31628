"""What level readings show: health if the memory is accounted for, else no ongoing growth."""

from datetime import datetime, timedelta

import pytest

import gomem
from gomem.analysis.series.level import START_READINGS
from gomem.views.report.verdict import verdict
from tests.builders import FIXTURES

BEGIN = datetime(2026, 11, 27, 11, 16, 46)
HEAP = FIXTURES / "emptied/emptied-go1.24.2/2-night/heap.pb.gz"  # 23 MiB in use
PS = "{time:%a %b %d %H:%M:%S} UTC 2026\n  PID   RSS    VSZ COMMAND\n29728 {kib} 1696976 api\n"


def loop(folder, sizes, heap=None):
    times = (BEGIN + timedelta(seconds=6 * place) for place in range(len(sizes)))
    rows = (PS.format(time=time, kib=size << 10) for time, size in zip(times, sizes, strict=True))
    (folder / "ps.txt").write_text("".join(rows))
    if heap is not None:
        (folder / "heap").write_bytes(heap.read_bytes())
    return gomem.diagnose(folder)


def said_of(diagnosis):
    return f"{diagnosis.verdict.headline} {diagnosis.verdict.moved}"


@pytest.mark.parametrize(
    ("sizes", "heap", "label"),
    [
        pytest.param([50, 51, 50, 51], HEAP, "healthy", id="23 MiB in use"),
        pytest.param([300] * 4, HEAP, "no steady growth", id="of 300 MiB"),
        pytest.param([50, 51, 50, 51], None, "no steady growth", id="RSS alone"),
        pytest.param([50, 51], None, "no verdict", id="two readings"),
        pytest.param([50, 90, 130, 170], None, "note", id="it grows"),
    ],
)
def test_level_rss_is_healthy_only_if_most_of_it_is_accounted_for(tmp_path, sizes, heap, label):
    said = verdict(loop(tmp_path, sizes, heap))

    assert label == f"{said.label}".replace("\u00a0", " ")


def test_a_first_reading_of_a_process_that_just_started_hides_no_growth(tmp_path):
    """11 MiB at the start, 98 MiB six seconds later, and from there 6 MiB in each six seconds."""
    diagnosis = loop(tmp_path, [11, 98, 104, 110, 116, 122, 128, 134])

    assert "is still growing (1 MiB/s)" in said_of(diagnosis)


def test_a_start_needs_readings_after_it(tmp_path):
    diagnosis = loop(tmp_path, [11, 98, *[98] * (START_READINGS - 2)])

    assert "still growing" not in said_of(diagnosis)


def test_an_undated_profile_of_two_does_not_hide_a_dated_loop(tmp_path):
    for name in ("heap_a.txt", "heap_b.txt"):
        (tmp_path / name).write_text("heap profile: 0: 0 [0: 0] @ heap/1048576\n")
    diagnosis = loop(tmp_path, [20, 40, 60, 80, 100])

    assert 5 == sum(":" in name for name in diagnosis.capture.by_moment)
    assert "RSS grew from 20 MiB" in said_of(diagnosis)


def test_rss_below_the_goal_of_the_log_can_be_garbage(tmp_path):
    gc = (
        "gc {number} @{at}s 0%: 0.1+1.0+0.1 ms clock, 0.2+0.1/1.0/0.1+0.2 ms cpu, "
        "{goal}->{goal}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
    )
    rows = ((1, "0.004", 28, 27), (2, "5.092", 55, 44), (3, "28.482", 90, 44))
    lines = (gc.format(number=n, at=at, goal=goal, live=live) for n, at, goal, live in rows)
    (tmp_path / "gctrace.log").write_text("".join(lines))
    diagnosis = loop(tmp_path, [62, 66, 77, 89, 97])

    assert "goal of 90 MiB" in " ".join(map(str, diagnosis.verdict.whose))
    assert None is diagnosis.verdict.severity


DOCKER = "NAME   CPU %   MEM USAGE / LIMIT   MEM %\napi    1.1%    {size}MiB / 1GiB    1.0%\n"
LOGGED = "2026/11/27 12:52:{at:02} HeapAlloc = {size} MiB Sys = 40 MiB NumGC = {at}\n"


@pytest.mark.parametrize(
    ("sizes", "is_level"),
    [
        pytest.param([103, 103, 102, 103, 104, 103], True, id="level"),
        pytest.param([58, 86, 61, 107, 100, 61], True, id="batches"),
        pytest.param([58, 107, 75, 130, 90, 60], True, id="back at the start"),
        pytest.param([50, 100, 65, 130, 90, 70], False, id="lows that rise"),
        pytest.param([100, 103, 106, 109, 112, 115], False, id="slowly up"),
        pytest.param([18, 30, 43, 54, 68, 80], False, id="up"),
        pytest.param([103, 103], False, id="two readings"),
    ],
)
@pytest.mark.parametrize("of", ["a container", "a log"])
def test_level_readings_of_other_sizes_show_no_growth(tmp_path, sizes, is_level, of):
    rows = (
        DOCKER.format(size=size) if of == "a container" else LOGGED.format(at=at, size=size)
        for at, size in enumerate(sizes)
    )
    (tmp_path / "readings.txt").write_text("".join(rows))
    said = verdict(gomem.diagnose(tmp_path))

    assert is_level == said.label.startswith("no steady growth")


def test_sizes_in_whole_mebibytes_that_differ_by_one_have_not_grown(tmp_path):
    rows = (LOGGED.format(at=at, size=1 + (at > 2)) for at in range(6))
    (tmp_path / "api.log").write_text("".join(rows))

    assert verdict(gomem.diagnose(tmp_path)).label.startswith("no steady growth")


def test_one_gc_of_a_log_comes_after_what_the_container_uses(tmp_path):
    (tmp_path / "stats.txt").write_text(DOCKER.format(size=103) * 4)
    (tmp_path / "gc.log").write_text(
        "gc 1 @0.500s 0%: 0.1+30+0.1 ms clock, 0.2+1/8/1+0.2 ms cpu, 96->96->96 MB, 100 MB goal, "
        "0 MB stacks, 0 MB globals, 2 P\n"
    )
    said = gomem.diagnose(tmp_path).verdict.sentence

    assert said.startswith("The working set is 103 MiB")
    assert "1 GC: " in said
