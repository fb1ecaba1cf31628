"""The notebooks run on fixtures, are stored without outputs, and hold more prose than code."""

import json
import re
import tempfile
from pathlib import Path

import pytest

from gomem.sources.packaged import packaged
from gomem.views.writers.notebook import execute_notebook, notebook_for, parameters_of

FOLDER = packaged("notebooks")
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CELL_LINES = 5
SECONDS = 60

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path, kind: str) -> list[dict]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


def source(cell: dict) -> str:
    return "".join(cell["source"])


def tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


def words(found: list[dict]) -> int:
    return sum(len(source(cell).split()) for cell in found)


def test_there_are_the_three_stories():
    names = [path.stem for path in NOTEBOOKS]

    assert ["10_rss_vs_heap", "20_scavenger", "30_before_after"] == names


@each_notebook
def test_a_notebook_runs_on_its_fixtures_and_its_claims_hold(path):
    """
    Every cell runs, the last one among them, which asserts what the prose says.
    """
    with tempfile.TemporaryDirectory(prefix="gomem-") as sockets:
        executed = execute_notebook(
            path.read_text(), folder=FOLDER, sockets=Path(sockets), cell_limit_seconds=SECONDS
        )

    last = json.loads(executed)["cells"][-1]
    assert ["check"] == tags(last)
    assert len(cells(path, "code")) == last["execution_count"]


@each_notebook
def test_a_notebook_is_stored_without_outputs(path):
    """
    Outputs in a repository grow old, make every change unreadable, and leak.
    """
    for cell in cells(path, "code"):
        assert [] == cell["outputs"]
        assert cell["execution_count"] is None


@each_notebook
def test_a_notebook_is_stored_with_the_least_metadata(path):
    stored = json.loads(path.read_text())

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert {"kernelspec": kernel} == stored["metadata"]
    for cell in stored["cells"]:
        assert set() == set(cell["metadata"]) - {"tags"}


@each_notebook
def test_a_notebook_holds_no_logic(path):
    """
    A function in a cell wants a module and a test; a long cell wants to be one.
    """
    for cell in cells(path, "code"):
        assert "def " not in source(cell)
        assert "lambda" not in source(cell)
        assert len(source(cell).splitlines()) <= CELL_LINES


@each_notebook
def test_a_notebook_holds_more_prose_than_code(path):
    assert words(cells(path, "markdown")) > words(cells(path, "code"))


@each_notebook
def test_every_figure_is_followed_by_its_table(path):
    """
    Who cannot see the figure, or wants the number, finds it in the next cell.
    """
    code = [source(cell).splitlines()[-1] for cell in cells(path, "code")]

    figures = [place for place, line in enumerate(code) if re.search(r"plot_\w+\(", line)]
    assert figures
    for place in figures:
        assert "_table(" in code[place + 1], code[place]


def test_for_another_capture_the_story_and_its_claims_are_left_out():
    text = (FOLDER / "10_rss_vs_heap.ipynb").read_text()

    kept = json.loads(notebook_for(text, {"CAPTURE": "capture/api"}))["cells"]

    assert kept
    assert [] == [cell for cell in kept if {"check", "fixture-only"} & set(tags(cell))]
    assert "fixtures" not in "".join(map(source, kept))


def test_for_another_capture_the_parameters_are_its_paths():
    text = (FOLDER / "30_before_after.ipynb").read_text()

    ready = notebook_for(text, {"BEFORE": "before/api", "AFTER": "after/it's"})

    setting = next(cell for cell in json.loads(ready)["cells"] if "parameters" in tags(cell))
    assert "BEFORE = 'before/api'\nAFTER = \"after/it's\"" == source(setting)


def test_a_notebook_says_which_captures_it_asks_for():
    text = (FOLDER / "30_before_after.ipynb").read_text()

    assert ["BEFORE", "AFTER"] == parameters_of(text)
