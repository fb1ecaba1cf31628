"""A log of frequent GCs of a small heap: the least heap goal sets their pace."""

import pytest

import gomem

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

    assert "every 50 ms because the heap goal is the least that GOGC=100 allows" in verdict.sentence
    assert "allocates 60 MiB/s" in verdict.sentence
    assert "GOGC=1000" in verdict.next_step
    assert "40 MiB" in verdict.next_step
    assert verdict.severity is None


def test_another_gogc_has_another_least_goal(tmp_path):
    verdict = verdict_of(tmp_path, "We run it with GOGC=300.", start=11, goal=12)

    assert "GOGC=300 allows, 12 MiB" in verdict.sentence
    assert "GOGC=3000" in verdict.next_step


@pytest.mark.parametrize(
    "about",
    [
        pytest.param({"every": 0.5}, id="few GCs"),
        pytest.param({"start": 20, "live": 10, "goal": 20}, id="a larger heap"),
    ],
)
def test_other_logs_say_nothing_of_it(tmp_path, about):
    verdict = verdict_of(tmp_path, **about)

    assert "the least that" not in verdict.sentence
    assert "GOGC=" not in verdict.next_step
