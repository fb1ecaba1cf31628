"""The notebooks run on fixtures, are stored without outputs, and hold more prose than code."""

import ast
import json
import tempfile
from pathlib import Path

import pytest

from gomem.sources.packaged import packaged
from gomem.views.writers.notebook import (
    execute_notebook,
    notebook_for,
    parameters_of,
    taking_several,
)
from tests.builders import FIXTURES

FOLDER = packaged("notebooks")
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
STRANGERS = [
    Path("captures/zeroing-go1.24.2/2-loaded/heap.pb.gz"),
    Path("captures/healthy-go1.27.3/2-steady/smaps"),
    Path("captures/healthy-go1.27.3/gctrace.log"),
    Path("captures/zeroing-go1.24.2/2-loaded/memstats.json"),
    Path("laboratory/captures/mailq-c.tar.gz"),
]
CELL_LINES = 6
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


def test_there_is_a_notebook_for_each_question():
    names = [path.stem for path in NOTEBOOKS]

    assert [
        "00_start_here", "10_rss_vs_heap", "20_scavenger", "30_before_after", "40_gc_log",
        "50_spikes_and_growth", "55_who_keeps_it", "60_limits_and_what_if", "70_many_builds",
        "80_fleet",
    ] == names  # fmt: skip


def shown_by(notebook: str, name: str) -> list[str]:
    """What each cell of code shows, run one after the other in this process."""
    scope: dict[str, object] = {}
    shown = []
    for cell in (one for one in json.loads(notebook)["cells"] if "code" == one["cell_type"]):
        tree = ast.parse(source(cell))
        *statements, last = tree.body
        exec(compile(ast.Module(statements, []), name, "exec"), scope)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), scope)  # noqa: S307
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
        else:
            exec(compile(ast.Module([last], []), name, "exec"), scope)  # noqa: S102
            shown.append("")
    return shown


@each_notebook
def test_a_notebook_runs_on_its_fixtures_and_its_claims_hold(path, monkeypatch):
    """
    Every cell runs, the last one among them, which asserts what the prose says.
    """
    monkeypatch.chdir(FOLDER)

    shown = shown_by(path.read_text(), path.name)

    assert ["check"] == tags(cells(path, "code")[-1])
    assert len(cells(path, "code")) == len(shown)


@pytest.mark.every_notebook
def test_in_a_kernel_of_its_own_a_notebook_does_the_same():
    """
    One of them: a kernel takes four seconds, and `gomem notebook` runs others in one, those that
    the wheel has with their claims.
    """
    path = NOTEBOOKS[0]
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
def test_a_notebook_uses_public_names_alone(path):
    """
    What a notebook shows, its reader can write: nothing is imported from inside.
    """
    imports = [
        line
        for cell in cells(path, "code")
        for line in source(cell).splitlines()
        if line.startswith(("import ", "from "))
    ]

    known = {"import gomem", "import pandas as pd", "from gomem import plot"}
    assert imports
    for line in imports:
        assert line in known or line.startswith("from gomem.notebook import "), line


@each_notebook
def test_a_notebook_ends_in_plain_pandas(path):
    assert "## Take it further" in "".join(map(source, cells(path, "markdown"))) or (
        path.stem == "00_start_here"  # which is nothing else
    )


@each_notebook
def test_what_is_told_of_the_recorded_captures_says_so(path):
    """
    Who changes the path and runs all cells reads it beside another capture's numbers.
    """
    for cell in cells(path, "markdown"):
        if "fixture-only" in tags(cell):
            assert "record" in source(cell).lower()


@each_notebook
def test_a_notebook_says_first_which_of_its_questions_can_be_answered(path):
    """
    And each of them is asked further down, in the same words.
    """
    stored = cells(path, "code")
    (place,) = [n for n, cell in enumerate(stored) if source(cell).startswith("questions(")]
    asked = ast.parse(source(stored[place])).body[0].value.args[1]
    prose = "".join(map(source, cells(path, "markdown")))

    assert source(stored[place - 1]).splitlines()[-1].startswith("verdict(")
    for key in asked.keys:
        assert key.value in prose


@each_notebook
def test_a_notebook_says_what_it_was_made_from(path):
    """
    Of every capture that it was given.
    """
    (made_from,) = [one for one in cells(path, "code") if source(one).startswith("provenance(")]

    given = source(made_from).removeprefix("provenance(").removesuffix(")").split(", ")
    assert list(parameters_of(path.read_text())) == given


def run_cells(path: Path, capture: Path) -> str:
    """All that the cells show of another capture."""
    names: dict[str, object] = {
        key: str(capture) for key, optional in parameters_of(path.read_text()).items()
        if not optional
    }  # fmt: skip
    if several := taking_several(path.read_text()):
        names[several] = [
            str(capture),
            str(FIXTURES / "captures/healthy-go1.27.3/2-steady/memstats.json"),
        ]
    return "\n".join(shown_by(notebook_for(path.read_text(), names), path.name))


@pytest.mark.at_most(3)
@each_notebook
@pytest.mark.parametrize("capture", STRANGERS, ids=lambda path: path.name)
def test_a_notebook_runs_on_anybodys_capture(path, capture):
    """
    One file of a capture is the commonest input of all: what is absent is one line, no traceback.
    """
    shown = run_cells(path, FIXTURES / capture)

    assert "zeroing-go1.24.2" not in shown or "zeroing" in str(capture)
    assert str(FIXTURES) not in shown


def test_for_another_capture_the_story_and_its_claims_are_left_out():
    text = (FOLDER / "10_rss_vs_heap.ipynb").read_text()

    kept = json.loads(notebook_for(text, {"CAPTURE": "capture/api"}))["cells"]

    assert kept
    assert [] == [cell for cell in kept if {"check", "fixture-only"} & set(tags(cell))]
    assert "The recorded story" not in "".join(map(source, kept))


STORIES = {  # words that are true of a recorded capture alone
    "00_start_here": "unpacks large reports",
    "20_scavenger": "A cache is filled",
    "50_spikes_and_growth": "packed tight",
}


@pytest.mark.parametrize("name", STORIES)
def test_no_sentence_on_a_page_is_about_another_capture(name):
    text = (FOLDER / f"{name}.ipynb").read_text()

    kept = json.loads(notebook_for(text, {"CAPTURE": "capture/api"}))["cells"]

    assert STORIES[name] in text
    assert STORIES[name] not in "".join(map(source, kept))


def test_for_another_capture_the_parameters_are_its_paths():
    text = (FOLDER / "30_before_after.ipynb").read_text()

    ready = notebook_for(text, {"BEFORE": "before/api", "AFTER": "after/it's"})

    setting = next(cell for cell in json.loads(ready)["cells"] if "parameters" in tags(cell))
    assert "BEFORE = 'before/api'\nAFTER = \"after/it's\"" == source(setting)


def test_a_notebook_says_which_captures_it_asks_for():
    text = (FOLDER / "30_before_after.ipynb").read_text()

    assert {"BEFORE": False, "AFTER": False} == parameters_of(text)
    text = (FOLDER / "10_rss_vs_heap.ipynb").read_text()
    assert {"CAPTURE": False, "BASELINE": True} == parameters_of(text)
