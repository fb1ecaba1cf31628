"""What a pasted text does not bear, and so nothing says of it."""

import pytest

import gomem
from gomem.text import Share, Text
from gomem.views.report.verdict import verdict


@pytest.fixture
def diagnosed(tmp_path):
    """A text as a file, diagnosed."""

    def written(text, name="ticket.md"):
        (tmp_path / name).write_text(text)
        return gomem.diagnose(gomem.load(tmp_path / name))

    return written


RUNS = """\
gc 1 @0.031s 3%: 0.026+1.3+1.2 ms clock, 0.053+0/0/2.3+2.5 ms cpu, 4->4->1 MB, 5 MB goal, 2 P
gc 2 @0.338s 1%: 0.014+1.3+2.2 ms clock, 0.028+0/1.2/1.3+4.4 ms cpu, 4->4->1 MB, 5 MB goal, 2 P
gc 3 @0.429s 1%: 0.016+1.4+1.2 ms clock, 0.032+0.006/1.1/1.1+2.5 ms cpu, 4->4->1 MB, 5 MB goal, 2 P
gc 1 @0.027s 19%: 4.7+2.0+2.3 ms clock, 9.4+0/0/6.5+4.7 ms cpu, 4->4->3 MB, 5 MB goal, 2 P
gc 2 @0.042s 23%: 3.1+4.7+1.9 ms clock, 6.2+0/0.53/4.3+3.8 ms cpu, 7->7->5 MB, 8 MB goal, 2 P
gc 3 @0.118s 13%: 0.054+15+2.7 ms clock, 0.10+0.27/5.2/0+5.5 ms cpu, 9->9->5 MB, 11 MB goal, 2 P
"""


def test_the_cost_of_several_runs_is_that_of_the_costliest(diagnosed):
    """
    Made up: the first run takes 1.1 % of 398 ms, the second 21 ms more of 91 ms, on two Ps.
    """
    found = diagnosed(RUNS)

    place, share = found.collector.costliest_run
    assert 2 == place
    assert 0.13 < share < 0.14
    assert found.collector.cost.gc_cpu_fraction < 0.06
    assert "run 2, the costliest" in found.verdict.headline
    assert [share] == [part.value for part in Text(found.verdict.headline).of(Share)]


def test_half_a_second_of_a_gc_log_is_not_called_healthy(diagnosed):
    longer = "".join(RUNS.splitlines(keepends=True)[:3]).replace("@0.429s", "@2.429s")

    assert ["neutral", "good"] == [verdict(found).tone for found in map(diagnosed, (RUNS, longer))]
    assert "Go heap healthy" in verdict(diagnosed(longer)).label
