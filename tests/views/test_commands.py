"""The commands of a report name the capture's files so that a shell finds them."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from gomem.cli.main import run
from gomem.errors import CaptureError
from gomem.inputs.pprof.read import read_pprof
from tests.builders import FIXTURES

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
TOP = re.compile(r"^ *(gomem top [^\n]+)$", re.MULTILINE)


@pytest.fixture
def commands(monkeypatch, capsys):
    """The commands that a report of a capture prints, in a folder."""

    def printed(folder: Path, named: str) -> list[str]:
        monkeypatch.setenv("COLUMNS", "300")
        monkeypatch.chdir(folder)
        assert run(["report", named, "--format", "text"]) == 0
        return TOP.findall(capsys.readouterr().out)

    return printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a capture of which a report names two profiles, also packed and loose."""
    made = tmp_path_factory.mktemp("incident")
    kept = made / "on call" / "api"
    for moment in ("scrape-00", "scrape-09", "scrape-15", "settled"):
        shutil.copytree(SPIKY / moment, kept / moment)
    shutil.make_archive(str(made / "api"), "gztar", kept.parent, "api")
    return made


@pytest.mark.parametrize("named", ["on call/api", "api.tar.gz"])
def test_each_command_works_where_the_report_was_made(folder, named, commands):
    found = commands(folder, named)
    assert found
    for command in found:
        files = [word for word in shlex.split(command) if word.endswith(".pb.gz")]
        assert len(files) == 2
        assert all(len(read_pprof(folder / file).samples) for file in files)


def test_a_page_names_the_capture_without_its_folder(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.html"
    assert run(["report", str(folder / "on call" / "api"), "-o", str(page)]) == 0
    said = page.read_text("utf-8")
    assert "gomem top api/settled/heap.pb.gz --base api/scrape-" in said
    assert str(folder) not in said
    assert "on call" not in said


def test_a_page_of_a_file_alone_names_no_folder(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder / "on call")
    page = tmp_path / "page.html"
    loose = [f"api/{moment}/heap.pb.gz" for moment in ("scrape-00", "scrape-15")]
    assert run(["report", *loose, "-o", str(page)]) == 0
    said = page.read_text("utf-8")
    assert "gomem top scrape-15/heap.pb.gz" in said
    assert "api/scrape" not in said


def test_a_name_that_a_shell_would_run_is_quoted(folder, tmp_path, commands):
    kept = tmp_path / "a'; touch run #"
    shutil.copytree(folder / "on call" / "api", kept)
    found = commands(tmp_path, kept.name)
    assert found
    assert all(shlex.split(command)[2].startswith(kept.name) for command in found)


def test_a_file_that_an_archive_lacks_is_said_with_the_nearest(folder):
    with pytest.raises(CaptureError, match=r"api\.tar\.gz: has no file settled/heap\.pb; did you"):
        read_pprof(folder / "api.tar.gz" / "settled" / "heap.pb")
