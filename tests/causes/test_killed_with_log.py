"""A kill at a cgroup's limit, beside the log of the GC that let the heap grow so far."""

import pytest

import gomem

DMESG = """[38933.70520] Memory cgroup stats for /app:
[38933.70521] hierarchical_memory_limit {limit}
[38933.70522] hierarchical_memsw_limit 9223372036854771712
[38933.70531] Memory cgroup out of memory: Killed process 29766 (api) total-vm:1668412kB, \
anon-rss:101760kB, file-rss:3968kB, shmem-rss:0kB, UID:0 pgtables:344kB oom_score_adj:0
"""
GC = (
    "gc {number} @{number}.119s 3%: 0.1+1.0+0.1 ms clock, 0.2+0.1/1.0/0.1+0.2 ms cpu, "
    "{goal}->{goal}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)


def step(folder, *cycles, limit=100 << 20):
    (folder / "dmesg.txt").write_text(DMESG.format(limit=limit))
    lines = (GC.format(number=n, goal=goal, live=live) for n, (goal, live) in enumerate(cycles, 1))
    (folder / "gctrace.log").write_text("".join(lines))
    diagnosis = gomem.diagnose(folder)
    assert "limit-risk" == diagnosis.findings[0].code
    return f"{diagnosis.findings[0].title}", f"{diagnosis.findings[0].next_step}"


def test_the_goal_after_the_last_gc_is_above_the_limit(tmp_path):
    title, next_step = step(tmp_path, (58, 20), (60, 20), (61, 21), (61, 21))

    assert "(limit 100 MiB)" in title
    assert "left 21 MiB live" in next_step
    assert "about 61 MiB before the next" in next_step
    assert "GOMEMLIMIT=90MiB" in next_step


@pytest.mark.parametrize(
    "cycles",
    [
        pytest.param([(16, 4), (22, 11), (61, 21)], id="garbage would fill the rest"),
        pytest.param([(4, 3), (8, 6), (14, 12), (26, 24), (52, 47)], id="a buffer that doubles"),
    ],
)
def test_a_limit_is_no_remedy_for_a_live_heap_that_grows(tmp_path, cycles):
    _, next_step = step(tmp_path, *cycles)

    assert f"left {cycles[-1][1]} MiB live, and the live heap was growing" in next_step
    assert "a GOMEMLIMIT cannot free live memory" in next_step
    assert "raise the container's limit: gomem capture" in next_step
    assert "GOMEMLIMIT=" not in next_step


@pytest.mark.parametrize(
    "cycles",
    [
        pytest.param([(22, 11), (22, 11)], id="a goal far below the limit"),
        pytest.param([(61, 21)], id="one GC"),
    ],
)
def test_otherwise_the_log_explains_nothing(tmp_path, cycles):
    _, next_step = step(tmp_path, *cycles)

    assert "GOMEMLIMIT=" not in next_step


def test_what_is_live_nearly_fills_the_limit(tmp_path):
    _, next_step = step(tmp_path, (122, 61), (160, 80))

    assert "left 80 MiB live, of 100 MiB: no GOGC frees that" in next_step
