"""`gomem matrix`: releases of one program, and the first that differs."""

import json

import jsonschema
import pytest

from gomem.cli.main import run as run_gomem
from gomem.releases import parse_release
from gomem.units import MIB
from gomem.views.json.schemas import schema_of
from tests.builders import FIXTURES
from tests.views.json.schemas.closed import closed

RELEASES = FIXTURES / "changes" / "releases"
EVERY = FIXTURES / "changes" / "matrix"
# The last before the change, its first, its last and the fix; and all eleven.
BUILDS = {
    "some": ["go1.23.4", "go1.24.0", "go1.24.5", "go1.24.6"],
    "every": sorted((path.name for path in EVERY.iterdir()), key=parse_release),
}


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments):
        code = run_gomem(["matrix", *map(str, arguments), "--workers", "0"])
        return code, *capsys.readouterr()

    return run_here


def test_the_release_that_zeroes_and_the_one_that_no_longer_does_are_named(run):
    code, output, _ = run(RELEASES, "--labels", "{build}/{}", "--format", "json")
    answer = json.loads(output)

    assert 0 == code
    jsonschema.validate(answer, closed(schema_of("matrix")))
    assert ["go1.23.4", "go1.24.2", "go1.24.6"] == answer["builds"]
    rss = [row for row in answer["differing"] if row["name"] == "rss_bytes"]
    assert ["go1.24.2", "go1.24.6"] == [row["build"] for row in rss]
    assert all(row["p_adjusted"] <= 0.05 and row["n"] == 6 for row in rss)
    low, median, high = (rss[0][key] / MIB for key in ("low", "median", "high"))
    assert 160 < low <= median <= high < 180
    assert "RSS first differs at go1.24.2" in answer["verdict"]["sentence"]
    assert "it changes again at go1.24.6" in answer["verdict"]["sentence"]


@pytest.mark.at_most(1)
@pytest.mark.parametrize("builds", BUILDS.values(), ids=list(BUILDS))
def test_of_many_releases_the_first_and_the_last_bad_one_are_named(run, tmp_path, builds):
    """
    Large allocations were zeroed from Go 1.24.0 on (golang/go#72991), until a fix.
    """
    (tmp_path / "matrix").mkdir()
    for build in builds:
        (tmp_path / "matrix" / build).symlink_to(EVERY / build)

    code, output, _ = run("matrix", "--labels", "{build}/{}", "--format", "json")
    answer = json.loads(output)

    assert 0 == code
    assert builds == answer["builds"]
    rss = {row["build"]: row["median"] for row in answer["rows"] if row["name"] == "rss_bytes"}
    bad = [build for build in answer["builds"] if rss[build] > 100 * MIB]
    changes = [row["build"] for row in answer["differing"] if row["name"] == "rss_bytes"]
    first_good = answer["builds"][answer["builds"].index(bad[-1]) + 1]
    assert [bad[0], first_good] == changes
    assert "go1.24.0" == bad[0]
    assert "go1.24.2" in bad or "go1.24.2" not in builds
    assert not {"go1.22.12", "go1.23.4", "go1.24.6", "go1.25.7", "go1.27.3"} & set(bad)
    assert f"RSS first differs at {bad[0]}" in answer["verdict"]["sentence"]
    assert f"it changes again at {first_good}" in answer["verdict"]["sentence"]


def test_each_build_is_a_row_and_each_answer_a_column(run):
    code, output, _ = run(RELEASES, "--labels", "{build}/{}", "--format", "md")

    assert 0 == code
    assert "| build | RSS |" in output
    assert "| go1.24.2 | ▲ " in output


def test_without_labels_the_release_is_the_build(run, tmp_path):
    captures = FIXTURES / "captures"
    code, _output, _ = run(f"{captures}/zeroing-*", "-o", "matrix.html")

    assert 0 == code
    page = (tmp_path / "matrix.html").read_text()
    assert "RSS first differs at go1.24.2" in page


def test_one_build_is_no_matrix(run):
    code, _, errors = run(RELEASES / "go1.24.2")

    assert 2 == code
    assert "one build found (go1.24.2)" in errors


def test_an_order_with_an_unknown_build_is_answered_with_the_nearest(run):
    code, _, errors = run(RELEASES, "--labels", "{build}/{}", "--order", "go1.23.3")

    assert 2 == code
    assert "did you mean go1.23.4" in errors
