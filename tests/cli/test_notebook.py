"""`gomem notebook`: one file for a postmortem, that asks for nothing and tells no folder."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from gomem.cli.main import run
from gomem.views.writers.notebook import render_notebook_html
from tests.builders import FIXTURES

CAPTURES = FIXTURES / "captures"
# What a browser fetches by itself. Links that a reader may follow, and places in the page, are not.
LOADS = re.compile(
    r"""<(?:script|iframe|object|embed|link|base)\b|@import|\bsrcset=|\bsrc=["'](?!data:)"""
    r"""|url\((?!["']?(?:\#|data:))|<(?!a\b)[a-z]+\b[^>]*\bhref=["'](?!\#)""",
    re.IGNORECASE,
)


def rendered(tmp_path: Path, name: str, *captures: Path, suffix: str = ".html") -> str:
    target = tmp_path / f"postmortem{suffix}"
    assert 0 == run(["notebook", name, *map(str, captures), "-o", str(target)])
    return target.read_text()


def memstats_alone(tmp_path: Path) -> Path:
    capture = tmp_path / "private" / "api"
    capture.mkdir(parents=True)
    shutil.copy(CAPTURES / "healthy-go1.27.3" / "2-steady" / "memstats.json", capture)
    return capture


@pytest.mark.parametrize(
    ("name", "captures"),
    [
        pytest.param("rss-vs-heap", ["healthy-go1.27.3"], id="rss-vs-heap"),
        pytest.param("scavenger", ["cache-shrink-go1.12.17"], id="scavenger"),
        pytest.param(
            "before-after",
            ["alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3"],
            id="before-after",
        ),
    ],
)
def test_a_page_has_figures_and_tables_and_loads_nothing(tmp_path, name, captures):
    """
    A page that is passed on must look the same in ten years and on a plane.
    """
    page = rendered(tmp_path, name, *(CAPTURES / capture for capture in captures))

    assert [] == LOADS.findall(page)
    assert page.count("<svg ") >= 1
    assert page.count("<table>") > page.count("<svg ")
    assert captures[-1] in page


def test_a_page_names_no_folder_of_the_machine(tmp_path):
    """
    Where a capture lies, who ran it and with which Python is nobody's business.
    """
    page = rendered(tmp_path, "rss-vs-heap", memstats_alone(tmp_path), suffix=".ipynb")

    assert "api" in page
    assert "private" not in page
    assert str(tmp_path) not in page
    assert str(Path.home()) not in page


def test_the_same_capture_gives_the_same_bytes(tmp_path):
    capture = memstats_alone(tmp_path)
    first = rendered(tmp_path, "rss-vs-heap", capture)
    (tmp_path / "postmortem.html").unlink()

    assert first == rendered(tmp_path, "rss-vs-heap", capture)


def test_what_a_capture_is_called_cannot_become_markup_or_a_module(tmp_path):
    """
    Captures come from strangers: a name is text, and a folder called pandas is not imported.
    """
    before = tmp_path / "<script>alert(1)</script>"
    after = tmp_path / "pandas"
    for capture in (before, after):
        shutil.copytree(CAPTURES / "healthy-go1.27.3" / "2-steady", capture)
    (after / "__init__.py").write_text("raise SystemExit('imported')")

    page = rendered(tmp_path, "before-after", before, after)

    assert "<script" not in page


def test_a_capture_that_the_notebook_cannot_use_is_one_clear_line(tmp_path, capsys):
    """
    Where, what was found, what was wanted, the way out; and no file that looks like an answer.
    """
    capture = tmp_path / "logs"
    capture.mkdir()
    shutil.copy(CAPTURES / "healthy-go1.27.3" / "gctrace.log", capture)
    target = tmp_path / "postmortem.html"

    assert 2 == run(["notebook", "rss-vs-heap", str(capture), "-o", str(target)])

    message = capsys.readouterr().err
    assert "no moment says where memory is; wanted smaps, MemStats or status" in message
    assert "Traceback" not in message
    assert 1 == message.count("\n")
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["heap", "CAPTURE"],
            "heap: no such notebook; wanted one of rss-vs-heap, scavenger, before-after",
            id="unknown-name",
        ),
        pytest.param(
            ["before-after", "CAPTURE"],
            "before-after: wanted 2 captures (BEFORE, AFTER), got 1",
            id="one-capture-of-two",
        ),
        pytest.param(
            ["scavenger", "CAPTURE", "CAPTURE"],
            "scavenger: wanted 1 captures (CAPTURE), got 2",
            id="two-captures-of-one",
        ),
        pytest.param(["scavenger", "nowhere"], "nowhere: no such file or folder", id="nothing"),
        pytest.param(
            ["scavenger", "CAPTURE", "-o", "page.pdf"],
            "page.pdf: wanted a file that ends in .html or .ipynb",
            id="other-ending",
        ),
    ],
)
def test_a_wrong_request_says_what_was_wanted(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    capture = str(CAPTURES / "healthy-go1.27.3")

    code = run(["notebook", *(capture if one == "CAPTURE" else one for one in arguments)])

    assert 2 == code
    assert f"gomem: {message}\n" == capsys.readouterr().err


def test_a_file_that_exists_is_not_overwritten(tmp_path, capsys):
    target = tmp_path / "page.html"
    target.write_text("mine")
    capture = str(CAPTURES / "healthy-go1.27.3")

    assert 2 == run(["notebook", "scavenger", capture, "-o", str(target)])

    assert "is not overwritten without --force" in capsys.readouterr().err
    assert "mine" == target.read_text()


def test_without_the_extra_the_message_says_how_to_install_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbformat", None)  # importing it fails from now on
    capture = str(CAPTURES / "healthy-go1.27.3")

    assert 2 == run(["notebook", "scavenger", capture, "-o", str(tmp_path / "page.html")])

    assert "pip install 'gomem[notebooks]'" in capsys.readouterr().err


def test_what_a_cell_prints_is_escaped():
    """
    Text and streams of an executed notebook are text in the page.
    """
    stream = {"output_type": "stream", "name": "stdout", "text": "<script>"}
    plain = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "<img src=x>"}}
    cell = {
        "cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1,
        "source": "print('<b>')", "outputs": [stream, plain],
    }  # fmt: skip
    executed = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}

    page = render_notebook_html(json.dumps(executed), title="<title>")

    for raw in ("<script>", "<img", "<b>", "<title><"):
        assert raw not in page
