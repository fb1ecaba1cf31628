"""`gomem fleet`, from the command line to the exit code, over recorded pods."""

import io
import json
import random
import re
import shutil
import tarfile

import jsonschema
import pytest

import gomem
from gomem.cli.main import run as run_gomem
from gomem.views.json.schemas import schema_of
from tests.builders import FIXTURES
from tests.views.json.schemas.closed import closed

PODS = FIXTURES / "pods"
LABELS = "{service}/{pod}/{time}.tar.gz"
ODD = {"pod-007": "goroutines", "pod-019": "heap_idle", "pod-033": "gc_cpu_fraction"}
GONE = 0.25  # of the files


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    into = tmp_path_factory.mktemp("fleet") / "pods"
    gomem.fleet(PODS, into=into, labels=LABELS, workers=0)
    return into


@pytest.fixture
def run(dataset, tmp_path, capsys, monkeypatch):
    """Run the command on a copy of the pods' dataset: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(dataset, tmp_path / "pods")

    def run_here(*arguments):
        code = run_gomem(["fleet", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run_here


def parts_of(fleet):
    return dict(zip(fleet.outliers["instance"], fleet.outliers["part"], strict=True))


def test_the_planted_outliers_are_named_with_the_right_part_and_no_others(dataset):
    fleet = gomem.fleet(into=dataset)

    assert parts_of(fleet) == ODD
    assert "8 of 11 instances are alike" in fleet.verdict.sentence
    assert "pod-007 leaks goroutines" in fleet.verdict.sentence
    rows = fleet.outliers.set_index("instance")
    assert ["goroutine-leak", "idle-heap-kept", "gc-pressure"] == list(rows.loc[list(ODD), "code"])
    assert "main.waitForAnswer" == rows.loc["pod-007", "site"]
    assert "GOGC 4, not 100" == rows.loc["pod-033", "settings"]
    assert 4202.0 == rows.loc["pod-007", "value"]


def test_without_them_all_are_alike(tmp_path):
    for path in PODS.glob("shop/*"):
        if path.name not in ODD:
            shutil.copytree(path, tmp_path / "captures" / "shop" / path.name)

    fleet = gomem.fleet(tmp_path / "captures", labels=LABELS, workers=0)

    assert "All 8 instances are alike." == fleet.verdict.sentence
    assert fleet.outliers.empty


def without_files(source, target, chosen):
    """An archive without a quarter of its files."""
    target.parent.mkdir(parents=True)
    with tarfile.open(source) as old, tarfile.open(target, "w:gz") as new:
        for member in old.getmembers():
            if chosen.random() >= GONE:
                new.addfile(member, io.BytesIO(old.extractfile(member).read()))


@pytest.mark.at_most(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_quarter_of_the_files_missing_makes_no_other_outlier(tmp_path, seed):
    """
    One pod is cut off besides. What is left of the three may hide them, never mistake them.
    """
    chosen = random.Random(seed)  # noqa: S311 - which files, and the same each time
    for path in sorted(PODS.glob("shop/*/*.tar.gz")):
        without_files(path, tmp_path / path.relative_to(PODS), chosen)
    (cut,) = tmp_path.glob("shop/pod-004/*")
    cut.write_bytes(cut.read_bytes()[:200])

    fleet = gomem.fleet(tmp_path, labels=LABELS, workers=0)

    found = parts_of(fleet)
    assert set(found) <= set(ODD)
    assert {"pod-007"} <= set(found)
    assert ["pod-004"] == list(fleet.failed["instance"])
    assert all(found[name] in {ODD[name], "rss_bytes"} for name in found)


def test_the_page_says_the_verdict_and_links_to_reports(run, tmp_path):
    code, output, errors = run("-o", "pods", "--reports")

    assert (0, "") == (code, errors)
    assert "8 of 11 instances are alike" in output
    page = (tmp_path / "pods" / "fleet.html").read_text()
    assert page.index("8 of 11 instances are alike") < page.index("<svg")
    links = re.findall(r'href="(reports/[^"]+)"', page)
    assert 3 == len(set(links))
    for link in set(links):
        assert "<!doctype html>" in (tmp_path / "pods" / link).read_text().lower()
    assert not re.findall(r"(?:src|href)=\"https?:", page)


def test_json_is_as_its_schema_says(run):
    code, output, _ = run("-o", "pods", "--format", "json")
    answer = json.loads(output)

    assert 0 == code
    jsonschema.validate(answer, closed(schema_of("fleet")))
    assert ("gomem.fleet/1", 11) == (answer["schema"], answer["instances"])
    assert "sentence" in answer["verdict"]
    first = {"instance", "what", "part", "value", "median", "z", "code", "sentence"}
    assert first <= set(answer["outliers"][0])
    assert ODD == {row["instance"]: row["part"] for row in answer["outliers"]}
    assert "pod-007 leaks goroutines: 4 202" in next(
        row["sentence"].replace("\u202f", " ") for row in answer["outliers"]
        if row["instance"] == "pod-007"
    )  # fmt: skip


def test_text_and_markdown_go_to_standard_output(run):
    code, output, _ = run("-o", "pods", "--format", "md")

    assert 0 == code
    assert "| pod-019 | idle heap" in output


def test_a_second_run_says_what_it_skipped(run):
    code, _output, errors = run(PODS, "-o", "pods", "--labels", LABELS, "--workers", "0")

    assert 0 == code
    assert "gomem: 11 captures done before, 0 read now\n" == errors


def test_nothing_named_is_wrong_usage(run):
    code, _, errors = run()

    assert 2 == code
    assert "no captures named" in errors


def test_a_page_that_gomem_did_not_write_stays(run, tmp_path):
    (tmp_path / "pods" / "fleet.html").write_text("mine")

    code, _, errors = run("-o", "pods")

    assert 2 == code
    assert "--force" in errors
    assert "mine" == (tmp_path / "pods" / "fleet.html").read_text()
