"""A container's working set that grows beside a Go runtime that does not."""

from datetime import datetime, timedelta

import pytest

import gomem

LINE = "{time:%Y/%m/%d %H:%M:%S} mem: alloc=0.2MB sys={sys}MB gc=0 goroutines=3\n"
TOP = (
    "{time:%a %b %d %H:%M:%S} UTC 2026\n"
    "NAME   CPU(cores)   MEMORY(bytes)\nthumbs-0   3m   {used}Mi\n"
)
BEGIN = datetime(2026, 11, 27, 11, 6, 7)


def capture(folder, used, sys=(7, 7, 7, 7, 7, 7)):
    times = [BEGIN + timedelta(seconds=10 * place) for place in range(len(used))]
    lines = (LINE.format(time=time, sys=size) for time, size in zip(times, sys, strict=True))
    rows = (TOP.format(time=time, used=size) for time, size in zip(times, used, strict=True))
    (folder / "app.log").write_text("".join(lines))
    (folder / "kubectl-top.txt").write_text("".join(rows))
    return gomem.diagnose(folder)


def test_what_grows_beyond_all_that_go_reserved_is_not_gos(tmp_path):
    diagnosis = capture(tmp_path, [4, 24, 44, 64, 84, 104])

    finding = diagnosis.findings[0]

    assert ("native-memory", "possible") == (finding.code, finding.confidence)
    assert 100 * 2**20 - 7 * 10**6 == pytest.approx(finding.bytes, rel=0.01)
    assert "grows by 2 MiB/s: the working set reached 104 MiB" in str(finding.title)


@pytest.mark.parametrize(
    ("used", "sys"),
    [
        pytest.param([4, 24, 44, 64, 84, 104], [7, 30, 50, 70, 90, 110], id="Go reserves as much"),
        pytest.param([4, 90, 100, 104, 104, 104], [7] * 6, id="it has stopped"),
        pytest.param([4, 5, 6, 7, 8, 9], [7] * 6, id="it is little"),
    ],
)
def test_other_growth_is_no_memory_outside_go(tmp_path, used, sys):
    diagnosis = capture(tmp_path, used, sys)

    assert "native-memory" not in [finding.code for finding in diagnosis.findings]
