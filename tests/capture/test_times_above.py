"""A time above a pasted block is that of its readings."""

import pytest

import gomem

STATUS = "```\n$ cat /proc/1/status\nVmRSS:\t{} kB\nRssAnon:\t{} kB\nThreads:\t6\n```\n"


@pytest.mark.parametrize(
    ("above", "seconds"),
    [
        pytest.param("{}\n\n", 45.0, id="alone"),
        pytest.param("### {}\n\n", 45.0, id="as a heading"),
        pytest.param("**{}**\n", 45.0, id="in bold"),
        pytest.param("Then we looked again at our box, as before.\n\n", None, id="a sentence"),
    ],
)
def test_a_clock_above_a_fence_gives_the_time_between_two_blocks(above, seconds, tmp_path):
    ticket = "".join(
        above.format(clock) + STATUS.format(rss, rss - 7000) + "\n"
        for clock, rss in (("11:51:26", 38140), ("11:52:11", 170624))
    )
    path = tmp_path / "ticket.md"
    path.write_text(f"## The memory of the pod grows without an end\n\n{ticket}")
    first, last = gomem.diagnose(path).facts.moments

    took = None if None in (first.time, last.time) else (last.time - first.time).total_seconds()
    assert seconds == took
