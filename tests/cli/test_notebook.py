"""`gomem notebook`: one file for a postmortem, that asks for nothing and tells no folder."""

import ast
import contextlib
import hashlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from gomem.cli.main import run
from gomem.cli.notebook import _asked, _from
from gomem.sources.packaged import packaged
from gomem.views.writers import notebook
from gomem.views.writers.notebook import render_notebook_html
from tests.builders import FIXTURES

CAPTURES = FIXTURES / "captures"
STARTING_SECONDS, RUNNING_SECONDS = 0.02, 0.5  # a kernel's CPU
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


@pytest.mark.parametrize("after_seconds", [STARTING_SECONDS, RUNNING_SECONDS])
def test_ctrl_c_ends_it_with_130_and_leaves_no_kernel(tmp_path, after_seconds):
    # Of a shell's job in the background, and so of CI's, SIGINT is ignored until a program asks.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}; from gomem.cli.main import main; main()"
    command = [sys.executable, "-c", code, "notebook", "start-here", "-o", "x.html"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        kernels = kernels_of(process, after_seconds)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()

    # A kernel that has seen its parent go may say so, too.
    own = [line for line in said.splitlines() if not line.startswith("[IPKernelApp]")]
    assert (130, ["gomem: interrupted"]) == (process.returncode, own)
    assert [] == psutil.wait_procs(kernels, timeout=5)[1]
    assert [] == list(tmp_path.iterdir())


def kernels_of(process, after_seconds):
    """The kernel, once it has used so much CPU: while it loads its modules, or runs cells."""
    known = psutil.Process(process.pid)
    while process.poll() is None:
        kernels = known.children(recursive=True)
        if any(kernel.cpu_times().user > after_seconds for kernel in kernels):
            return kernels
        time.sleep(0.05)
    raise AssertionError("it ended before a kernel ran")


@pytest.fixture
def without_a_kernel(monkeypatch):
    """Run the cells in this process: where it matters what is shown, and not who runs it."""

    def execute(text, *, folder, **_):
        executed, scope = json.loads(text), {"__name__": "__main__"}
        with contextlib.chdir(folder):
            for cell in (one for one in executed["cells"] if "code" == one["cell_type"]):
                shown = outputs_of("".join(cell["source"]), scope)
                cell |= {"execution_count": 1, "outputs": shown}
        return json.dumps(executed)

    monkeypatch.setattr(notebook, "execute_notebook", execute)


def outputs_of(code: str, scope: dict[str, object]) -> list[dict]:
    """What a cell shows: its last expression, as a page takes it."""
    *statements, last = ast.parse(code).body
    shows = isinstance(last, ast.Expr)
    exec(compile(ast.Module([*statements, *([] if shows else [last])], []), "cell", "exec"), scope)  # noqa: S102
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), scope) if shows else None  # noqa: S307
    if value is None:
        return []
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    return [{"output_type": "display_data", "metadata": {}, "data": data}]


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
@pytest.mark.usefixtures("without_a_kernel")
def test_a_page_has_figures_and_tables_and_loads_nothing(tmp_path, name, captures):
    """
    A page that is passed on must look the same in ten years and on a plane.
    """
    page = rendered(tmp_path, name, *(CAPTURES / capture for capture in captures))

    assert [] == LOADS.findall(page)
    assert page.count("<svg ") >= 1
    assert page.count("<table") > page.count("<svg ")
    assert captures[-1] in page


def test_a_page_of_a_kernel_names_no_folder_and_is_the_same_each_time(tmp_path):
    """
    Where a capture lies and who ran it is nobody's business; what is shown is as above.
    """
    capture = memstats_alone(tmp_path)
    page = rendered(tmp_path, "rss-vs-heap", capture)

    assert "api" in page
    assert [] == LOADS.findall(page)
    assert page.count("<table") > page.count("<svg ") >= 1
    assert "private" not in page
    assert str(tmp_path) not in page
    assert str(Path.home()) not in page
    assert "api/memstats.json" in re.sub("</?wbr/?>", "", page)
    assert hashlib.sha256((capture / "memstats.json").read_bytes()).hexdigest() in page
    (tmp_path / "postmortem.html").unlink()
    assert page == rendered(tmp_path, "rss-vs-heap", capture)


@pytest.mark.usefixtures("without_a_kernel")
def test_a_notebook_can_be_run_again_where_it_lies(tmp_path):
    """
    It names its capture from where it stands, and nothing above that.
    """
    memstats_alone(tmp_path)
    page = rendered(tmp_path, "rss-vs-heap", tmp_path / "private/api", suffix=".ipynb")

    cell = next(
        c for c in json.loads(page)["cells"] if "parameters" in c["metadata"].get("tags", [])
    )
    assert "CAPTURE = 'private/api'\nBASELINE = None" == "".join(cell["source"])
    assert str(tmp_path) not in page


def test_a_notebook_of_many_captures_names_them_all_from_where_it_lies():
    """
    Run alone, it finds them again; what it was given is a list of links.
    """
    text = (packaged("notebooks") / "70_many_builds.ipynb").read_text()
    given = {"BUILDS": [Path("pods/a"), Path("pods/b")]}

    assert given == _asked("many-builds", text, given["BUILDS"], [])
    assert {"BUILDS": ["../pods/a", "../pods/b"]} == {
        name: _from(Path("pages"), paths, paths) for name, paths in given.items()
    }


def test_what_a_capture_is_called_cannot_become_markup_or_a_module(tmp_path):
    """
    Captures come from strangers: a name is text, and a folder called pandas is not imported.
    """
    before = tmp_path / "<script>alert(1)</script>"
    after = tmp_path / "pandas"
    for capture in (before, after):
        capture.mkdir(parents=True)
        shutil.copy(CAPTURES / "healthy-go1.27.3" / "2-steady" / "memstats.json", capture)
    (after / "__init__.py").write_text("raise SystemExit('imported')")

    page = rendered(tmp_path, "before-after", before, after)

    assert "<script" not in page


@pytest.mark.usefixtures("without_a_kernel")
def test_what_a_capture_lacks_is_a_line_of_the_page(tmp_path):
    """
    A log alone says nothing of where memory is; the page says that, and what it does say.
    """
    capture = tmp_path / "logs"
    capture.mkdir()
    shutil.copy(CAPTURES / "healthy-go1.27.3" / "gctrace.log", capture)

    page = rendered(tmp_path, "rss-vs-heap", capture)

    assert "No file here breaks RSS down" in page
    assert "logs: nothing here says where memory is" in page.lower()
    assert "Traceback" not in page


@pytest.mark.usefixtures("without_a_kernel")
def test_a_title_and_a_note_are_text(tmp_path):
    target = tmp_path / "page.html"
    note = "Tuesday <b>night</b>, *before* the [rollback](x)"

    capture = str(CAPTURES / "healthy-go1.27.3/2-steady/smaps")
    asked = ["rss-vs-heap", capture, "--title", "Incident_7", "--note", note, "--hide-code"]
    assert 0 == run(["notebook", *asked, "-o", str(target)])

    page = target.read_text()
    assert "<title>Incident_7</title>" in page
    assert "&lt;b&gt;night&lt;/b&gt;, *before* the [rollback](x)" in page
    assert '<details class="code">' not in page
    assert '<a href="#where-are-the-resident-bytes">' in page
    assert '<h2 id="where-are-the-resident-bytes">' in page


def test_the_notebooks_are_listed(capsys):
    assert 0 == run(["notebook", "--list"])

    lines = capsys.readouterr().out.splitlines()
    assert "rss-vs-heap" == lines[1].split()[0]
    assert lines[1].endswith("RSS against the heap")


def test_copies_are_as_packaged_and_are_not_overwritten(tmp_path, capsys):
    assert 0 == run(["notebook", "--copy", str(tmp_path / "mine")])

    copied = sorted((tmp_path / "mine").glob("*.ipynb"))
    assert [path.name for path in sorted(packaged("notebooks").glob("*.ipynb"))] == [
        path.name for path in copied
    ]
    assert copied[0].read_text() == (packaged("notebooks") / copied[0].name).read_text()
    assert 2 == run(["notebook", "gc-log", "--copy", str(tmp_path / "mine")])
    assert "does not say that gomem wrote it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["heap", "CAPTURE"],
            "heap: no such notebook; wanted one of start-here, rss-vs-heap, scavenger, "
            "before-after, gc-log, spikes-and-growth, who-keeps-it, limits-and-what-if, "
            "many-builds, fleet",
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
        pytest.param(
            ["many-builds", "CAPTURE"],
            "many-builds: wanted two captures or more (BUILDS), got 1",
            id="one-build",
        ),
        pytest.param(["scavenger", "nowhere"], "nowhere: no such file or folder", id="nothing"),
        pytest.param(
            ["scavenger", "CAPTURE", "-p", "CAPTUR=x"],
            "CAPTUR=x: wanted NAME=VALUE, NAME one of CAPTURE; did you mean CAPTURE?",
            id="no-such-parameter",
        ),
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

    assert "does not say that gomem wrote it" in capsys.readouterr().err
    assert "mine" == target.read_text()


def test_without_the_extra_the_message_says_how_to_install_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbformat", None)  # importing it fails from now on
    capture = str(CAPTURES / "healthy-go1.27.3")

    assert 2 == run(["notebook", "scavenger", capture, "-o", str(tmp_path / "page.html")])

    assert "pip install 'gomem[notebooks]'" in capsys.readouterr().err


def test_the_grammar_of_iris_is_not_built(monkeypatch):
    """
    jsonschema imports it where it is installed, which takes longer than the notebook.
    """
    monkeypatch.delitem(sys.modules, "rfc3987_syntax", raising=False)
    monkeypatch.setattr(notebook, "_require", lambda _: sys.modules["rfc3987_syntax"])

    assert notebook._nbformat() is None  # so that it cannot be imported
    assert "rfc3987_syntax" not in sys.modules


def test_what_a_cell_prints_is_escaped():
    """
    Text and streams of an executed notebook are text in the page.
    """
    stream = {"output_type": "stream", "name": "stdout", "text": "<script>"}
    plain = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "<img src=x>"}}
    frame = {**plain, "data": {"text/html": "<td>main\u202e\x1b[31m</td>"}}  # as pandas writes it
    cell = {
        "cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1,
        "source": "print('<b>')", "outputs": [stream, plain, frame],
    }  # fmt: skip
    executed = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}

    page = render_notebook_html(json.dumps(executed), title="<title>")

    for raw in ("<script>", "<img", "<b>", "<title><", "\x1b", "\u202e"):
        assert raw not in page
    assert "main\\u202e" in page
