"""The report as a notebook: what it shows is what its code shows."""

import ast
import json

import nbformat

from gomem.cli.main import run
from tests.builders import FIXTURES, memstats_json
from tests.views.ledgers import SHRUNK


def written(tmp_path, *arguments):
    target = tmp_path / "report.ipynb"
    assert 0 == run(["report", *arguments, "--format", "ipynb", "-o", str(target)])
    return target.read_text(encoding="utf-8")


def shown_by(cells):
    """What each cell's last line shows, run one after the other."""
    names = {}
    for cell in cells:
        *before, last = ast.parse(cell["source"]).body
        exec(compile(ast.Module(before, []), "cell", "exec"), names)  # noqa: S102 - our own code
        if isinstance(last, ast.Expr):
            yield eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), names)  # noqa: S102
            yield None


def test_its_code_gives_the_words_that_stand_there(tmp_path, monkeypatch):
    """
    From where the notebook lies; sections of both, in order.
    """
    notebook = json.loads(written(tmp_path, str(SHRUNK)))
    nbformat.validate(notebook)
    monkeypatch.chdir(tmp_path)

    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, shown in zip(code, shown_by(code), strict=True):
        outputs = [one["data"]["text/plain"] for one in cell["outputs"]]
        assert outputs == ([] if shown is None else [repr(shown)])
    headings = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    assert "# cache-shrink, go1.12.17: Go memory report" == headings[0]
    assert "## Where RSS goes" in headings


def test_a_baseline_is_named_beside_it(tmp_path):
    zeroing, older = (FIXTURES / f"captures/zeroing-go1.{n}" for n in ("24.2", "23.4"))

    text = written(tmp_path, str(zeroing), "--baseline", str(older))

    assert "zeroing-go1.23.4'\\ndiagnosis = open_capture(CAPTURE, BASELINE)" in text


def test_names_cannot_become_markup_or_code(tmp_path):
    folder = tmp_path / "'); import os; ('<script>x"
    folder.mkdir()
    (folder / "m.json").write_bytes(memstats_json(HeapAlloc=8, HeapInuse=8))

    cells = json.loads(written(tmp_path, str(folder)))["cells"]

    assert not any("<script" in json.dumps(cell.get("outputs", "")) for cell in cells)
    assert "<script" not in cells[0]["source"]
    first, *_ = (cell["source"] for cell in cells if cell["cell_type"] == "code")
    assert ["ImportFrom", "Assign", "Assign", "Assign"] == [
        type(one).__name__ for one in ast.parse(first).body
    ]
