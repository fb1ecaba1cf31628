"""A log of frequent GCs of a small heap: the least heap goal sets their pace."""

import pytest

import gomem
from tests.builders import as_text
from tests.heap_profiles import heap_bytes, seen

LINE = (
    "gc {number} @{at:.3f}s 1%: 0.01+0.5+0.01 ms clock, 0.02+0/0.4/0+0.02 ms cpu, "
    "{start}->{start}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)


def verdict_of(folder, words="", *, every=0.05, start=4, live=1, goal=4):
    lines = (
        LINE.format(number=n, at=n * every, start=start, live=live, goal=goal) for n in range(1, 61)
    )
    (folder / "mail.txt").write_text(f"{words}\n\n{''.join(lines)}")
    return gomem.diagnose(folder / "mail.txt").verdict


def test_it_says_what_sets_the_pace_and_what_makes_gcs_rarer(tmp_path):
    verdict = verdict_of(tmp_path)

    (pace,) = verdict.whose
    assert "every 50 ms because the heap goal is the least that GOGC=100 allows" in pace
    assert "allocates 60 MiB/s" in pace
    assert "GOGC=1000" in verdict.next_step
    assert "40 MiB" in verdict.next_step
    assert verdict.severity is None


def test_another_gogc_has_another_least_goal(tmp_path):
    verdict = verdict_of(tmp_path, "We run it with GOGC=300.", start=11, goal=12)

    assert "GOGC=300 allows, 12 MiB" in verdict.whose[0]
    assert "GOGC=3000" in verdict.next_step


def test_what_is_read_beside_the_log_takes_nothing_of_it_away(tmp_path):
    """
    RSS of ps leads, and a profile of allocations says who sets the pace.
    """
    rss = "    PID   RSS COMMAND\n   4711 12904 bin/mail\n"
    beside = verdict_of(tmp_path, rss)
    raw = heap_bytes(seen(2000, 64 << 10), names=("bufio.NewReader", "mail.Read"))
    (tmp_path / "allocs.pb").write_bytes(raw)
    profiled = gomem.diagnose(tmp_path).verdict

    assert beside.rss_bytes == 12904 << 10
    (pace,) = (words for words in beside.whose if "the least that GOGC=100 allows" in words)
    assert "under 1 % of the CPU" in pace
    assert "GOGC=1000" in beside.next_step
    assert any("from mail.Read" in words for words in profiled.whose)
    assert "debug/pprof/allocs" in beside.next_step
    assert "debug/pprof/allocs" not in profiled.next_step


@pytest.mark.parametrize(
    ("live", "headline"),
    [pytest.param(1, "healthy", id="level"), pytest.param(2, "no verdict", id="grew at each")],
)
def test_a_log_of_the_start_in_which_the_heap_grew_shows_no_health(live, headline, tmp_path):
    """
    Five GCs in 70 s: after a start-up that is over, or of a leak.
    """
    sizes = (1, *(1 + (live - 1) * number for number in range(1, 5)))
    lines = (
        LINE.format(number=n, at=n * 14, start=4, live=size, goal=4)
        for n, size in enumerate(sizes, 1)
    )
    (tmp_path / "gc.log").write_text("".join(lines))
    raw = heap_bytes(seen(5, 64 << 10), names=("mail.Read", "main.main"))
    (tmp_path / "heap.pb").write_bytes(raw)

    assert headline in as_text(gomem.diagnose(tmp_path)).splitlines()[2]


@pytest.mark.parametrize(
    ("stopped", "headline"),
    [
        pytest.param(0.02, "healthy", id="cheap"),
        pytest.param(3.5, "no steady growth", id="costly"),
    ],
)
def test_a_pace_that_costs_is_not_called_healthy(stopped, headline, tmp_path):
    """
    The world stops for long, and marking takes little.
    """
    raw = heap_bytes(seen(5, 64 << 10), names=("mail.Read", "main.main"))
    (tmp_path / "heap.pb").write_bytes(raw)
    lines = [LINE.replace("0.02", f"{stopped}")] * 400
    (tmp_path / "gc.log").write_text(
        "".join(
            line.format(number=n, at=n * 0.05, start=4, live=1, goal=4)
            for n, line in enumerate(lines, 1)
        )
    )

    assert headline in as_text(gomem.diagnose(tmp_path)).splitlines()[2]


@pytest.mark.parametrize(
    "about",
    [
        pytest.param({"every": 0.5}, id="few GCs"),
        pytest.param({"start": 20, "live": 10, "goal": 20}, id="a larger heap"),
    ],
)
def test_other_logs_say_nothing_of_it(tmp_path, about):
    verdict = verdict_of(tmp_path, **about)

    assert "the least that" not in " ".join((verdict.sentence, *verdict.whose))
    assert "GOGC=" not in verdict.next_step
