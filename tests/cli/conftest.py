"""What tests of several commands share."""

import shutil

import pytest

from gomem.cli.main import run
from tests.views.planted import as_text, plant_all


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch):
    """Reports are named after captures and written here."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """What `plant_all` plants, by the names that arguments have for it."""
    return plant_all(tmp_path_factory.mktemp("psst"))


@pytest.fixture
def written(planted, tmp_path, capsys, monkeypatch):
    """Run a command in a folder of its own, and give all that it wrote, by where."""

    def run_it(*arguments, code=0):
        folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        if "DATASET" in arguments:  # which is written to
            shutil.copytree(planted["DATASET"], folder / "DATASET")
        pieces = [argument.partition("/") for argument in arguments]
        places = planted | {"DATASET": "DATASET"}
        named = [f"{places.get(first, first)}{slash}{rest}" for first, slash, rest in pieces]
        before = set(folder.rglob("*"))
        assert code == run(named)
        told = capsys.readouterr()
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        new = {path.name: as_text(path.read_bytes()) for path in files if path not in before}
        return {"stdout": told.out, "stderr": told.err, "names": " ".join(new), **new}

    return run_it
