"""A container's working set that rises beside a table of who has the heap in use."""

import pytest

import gomem

STATS = "NAME   CPU %   MEM USAGE / LIMIT   MEM %\napi    1.1%    {size}MiB / 1GiB    1.0%\n"
TOP = (
    "File: api\nType: inuse_space\nTime: 2026-11-27 12:53:44 UTC\n"
    "Showing nodes accounting for {in_use}MB, 100% of {in_use}MB total\n"
    "      flat  flat%   sum%        cum   cum%\n"
    "   {in_use}MB   100%   100%   {in_use}MB   100%  example.com/api/{function}\n"
    "         0     0%   100%   {in_use}MB   100%  main.main\n"
)
GROWING = [18, 30, 43, 54, 68, 80, 132]


def growth(folder, *, sizes=GROWING, in_use=97, function="drops.Fetch"):
    (folder / "stats.txt").write_text("".join(STATS.format(size=size) for size in sizes))
    (folder / "top.txt").write_text(TOP.format(in_use=in_use, function=function))
    findings = gomem.diagnose(folder).findings
    return [finding for finding in findings if finding.code == "heap-growth"]


def test_it_is_a_warning_with_the_function_that_has_it(tmp_path):
    (finding,) = growth(tmp_path)

    assert ("warning", "possible") == (str(finding.severity), finding.confidence)
    assert "the working set grows from 18 MiB to 132 MiB" in finding.title
    assert "inuse_space is from example.com/api/drops.Fetch" in finding.title
    assert ["stats.txt", "stats.txt", "top.txt"] == [row.artefact for row in finding.evidence]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"sizes": [103, 104, 103, 103, 104, 103, 103]}, id="a level"),
        pytest.param({"sizes": [18, 90, 20, 95, 19, 91, 20]}, id="batches"),
        pytest.param({"in_use": 2}, id="the table has little of it"),
    ],
)
def test_otherwise_nothing_is_said_of_growth(tmp_path, given):
    assert [] == growth(tmp_path, **given)
