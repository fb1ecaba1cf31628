"""The live heap of a log with several runs."""

import pytest

import gomem

GC = (
    "gc {n} @{at:.3f}s 1%: 0.11+0.98+0.005 ms clock, 0.23+0.24/0.63/0.41+0.043 ms cpu, "
    "{before}->{before}->{live} MB, {goal} MB goal, 4 P\n"
)


def log(*sizes):
    return "".join(
        GC.format(n=n, at=n / 2, before=2 * live - 1, live=live, goal=2 * live)
        for n, live in enumerate(sizes, 1)
    )


LEAK = log(16, 31, 60, 95, 124, 163, 190, 214, 260, 288, 317)


@pytest.mark.parametrize("begun", [log(16), log(16, 17)])
def test_a_run_that_has_just_begun_does_not_hide_the_one_before(begun, tmp_path):
    (tmp_path / "gctrace.log").write_text(LEAK + begun)

    found = gomem.diagnose(tmp_path).findings[0]

    assert "heap-growth" == found.code
    assert "in run 1 of the log, the live heap grows" in found.title


def test_a_last_run_with_collections_of_its_own_is_the_subject(tmp_path):
    (tmp_path / "gctrace.log").write_text(LEAK + log(*[16, 17] * 8))

    assert "heap-growth" not in {found.code for found in gomem.diagnose(tmp_path).findings}
