"""The manual: its commands run, it builds without a warning, and a search finds its pages."""

import html.parser
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from gomem.causes import CAUSES
from gomem.cli.main import run
from tests.live.services import has_go
from tests.manual import (
    BUILT,
    PAGES,
    ROOT,
    blocks,
    cause_commands,
    exit_code,
    is_valid_shell,
    lay_out,
    typed,
    words,
)

RUN = list({block.text: block for block in blocks() if block.language == "sh"}.values())
NOT_RUN = [block for block in blocks() if block.language == "bash"]
WITHOUT_COMMANDS = {"go", "{math}", "toml", "yaml", "text", "python", *BUILT}
OF_CAUSES = [line for line in cause_commands() if line.startswith("gomem ") and "$PID" not in line]
NOT_OF_GOMEM = [line for line in cause_commands() if line not in OF_CAUSES]
IN_THE_PROJECT = re.compile(r"`((?:gomem|tests|tools|fixtures|docs)/[\w./-]+)`")


@pytest.fixture
def beside_the_captures(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.at_most(4)
@pytest.mark.usefixtures("beside_the_captures")
@pytest.mark.parametrize("block", RUN, ids=lambda block: block.name)
def test_what_is_to_be_typed_works(block):
    for command in typed(block.text):
        if "activate" not in command:
            assert 0 == exit_code(command), command


@pytest.mark.at_most(4)
@pytest.mark.usefixtures("beside_the_captures")
@pytest.mark.parametrize("command", OF_CAUSES)
def test_what_a_page_of_a_cause_says_to_type_works(command):
    assert 0 == exit_code(command)


@pytest.mark.parametrize("block", NOT_RUN, ids=lambda block: block.name)
def test_what_is_not_run_says_why_and_is_shell(block):
    assert re.fullmatch(r"not run: .{8,}", block.mark)
    assert is_valid_shell(block.text)


@pytest.mark.parametrize("command", NOT_OF_GOMEM)
def test_a_command_of_another_tool_or_a_live_process_is_shell(command):
    assert is_valid_shell(command)


def test_no_command_hides_in_a_block_that_nobody_runs():
    others = [block for block in blocks() if block not in RUN and block not in NOT_RUN]

    assert {block.language.split()[0] for block in others} <= WITHOUT_COMMANDS
    assert len(RUN) >= 5
    assert len(OF_CAUSES) >= 10


# The workflow of a pull request


@pytest.mark.usefixtures("beside_the_captures")
def test_the_workflow_compares_as_it_says():
    """
    What it gives the action are inputs of the action, and what gomem compares with them passes.
    """
    yaml = pytest.importorskip("yaml")
    (text,) = (b.text for b in blocks() if b.language == "yaml" and "pull_request" in b.text)
    steps = yaml.safe_load(text)["jobs"]["compare"]["steps"]
    (given,) = (step["with"] for step in steps if step.get("uses") == "./.gomem")
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]

    assert all(is_valid_shell(step["run"]) for step in steps if "run" in step)
    assert set(given) <= set(inputs)
    assert {name for name in inputs if inputs[name].get("required")} <= set(given)
    sides = given["before"], given["after"]
    assert 0 == run(["compare", *sides, "--fail-on", given["fail-on"]])


@pytest.mark.usefixtures("beside_the_captures")
def test_the_budgets_of_the_file_are_read():
    (text,) = (block.text for block in blocks() if block.language == "toml")
    Path("gomem.toml").write_text(text, encoding="utf-8")

    assert 1 == run(["compare", "captures/after", "captures/before"])
    assert 0 == run(["compare", "captures/before", "captures/after"])


# The ten lines of Go


@pytest.mark.go
@pytest.mark.skipif(not has_go, reason="Go is not installed")
def test_the_snippet_serves_what_a_capture_takes(tmp_path, monkeypatch):
    """
    As it stands there, but for the port, which another program may have.
    """
    (snippet,) = (
        block.text
        for block in blocks()
        if block.language == "go" and block.page.name == "collect.md"
    )
    assert len(snippet.splitlines()) <= 10
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "go.mod").write_text("module snippet\n\ngo 1.21\n")
    (tmp_path / "snippet.go").write_text(f"package main\n\n{snippet.replace('6060', str(port))}")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() { select {} }\n")
    subprocess.run(["go", "build", "-o", "snippet", "."], cwd=tmp_path, check=True)
    process = subprocess.Popen([str(tmp_path / "snippet")])
    try:
        wait_for(port)
        assert 0 == run(["capture", str(process.pid), "-o", "captures/snippet"])
    finally:
        process.kill()
        process.wait()

    (manifest,) = Path("captures/snippet").glob("*-*/gomem.json")
    taken = json.loads(manifest.read_text())["moments"][0]["artefacts"]
    assert {"memstats", "heap", "goroutine", "smaps"} <= taken.keys()


def wait_for(port):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    pytest.fail("the snippet does not listen")


# What pages are made of


def test_every_cause_has_its_words_and_no_other():
    told = words()

    assert {cause.code for cause in CAUSES} == told.keys()
    assert len(told) == len({said["title"] for said in told.values()})


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_a_file_of_the_project_that_is_named_is_there(page):
    named = set(IN_THE_PROJECT.findall(page.read_text(encoding="utf-8")))

    assert [] == [path for path in named if not (ROOT / path).exists()]


# The built manual


@pytest.fixture(scope="module")
def built(request, tmp_path_factory):
    """The manual, built once, from a copy: pages are made beside their sources.

    All commands and examples are run with --every-case, and by `make docs`; else those that are not
    slow, in one process.
    """
    if find_spec("furo") is None or find_spec("myst_nb") is None:
        pytest.skip("the packages of the extra `docs` are not installed")
    copy = tmp_path_factory.mktemp("manual")
    for folder in ("docs", "fixtures", "gomem"):
        (copy / folder).symlink_to(ROOT / folder) if folder != "docs" else shutil.copytree(
            ROOT / folder,
            copy / folder,
            ignore=shutil.ignore_patterns("causes", "reference", "gallery", "__pycache__"),
        )
    (copy / "CHANGELOG.md").write_bytes((ROOT / "CHANGELOG.md").read_bytes())
    every = request.config.getoption("--every-case")
    much = ["-j", "auto"] if every else ["-D", "gomem_brief=1"]
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", *much, "-b", "html"]
    answer = subprocess.run(
        [*sphinx, str(copy / "docs"), str(copy / "html")],
        capture_output=True, text=True, check=False, cwd=copy,
    )  # fmt: skip
    assert 0 == answer.returncode, answer.stderr[-4000:]
    return copy / "html"


class _Page(html.parser.HTMLParser):
    """The links, ids and loaded files of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        self.ids.add(told.get("id"))
        if tag == "a" and told.get("href"):
            self.links.append(told["href"])
        loads = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
        if tag in loads and told.get(loads[tag]) and told.get("rel") != "canonical":
            self.loaded.append(told[loads[tag]])


@pytest.fixture(scope="module")
def pages(built):
    return {page: _Page(page.read_text(encoding="utf-8")) for page in built.rglob("*.html")}


def test_it_builds_without_a_warning(pages, built):
    assert {f"{cause.code}.html" for cause in CAUSES} <= {
        page.name for page in (built / "causes").iterdir()
    }
    assert len(pages) >= 50


def test_every_link_inside_leads_somewhere(pages, built):
    broken = []
    for page, told in pages.items():
        for link in told.links:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            there = (page.parent / unquote(target.path)).resolve() if target.path else page
            anchor = unquote(target.fragment)
            known = pages[there].ids if there in pages else {None}
            if not there.exists() or (anchor and there in pages and anchor not in known):
                broken.append(f"{page.relative_to(built)} -> {link}")

    assert [] == broken


def test_it_loads_nothing_from_a_network(pages, built):
    foreign = [url for told in pages.values() for url in told.loaded if urlsplit(url).netloc]
    styles = "".join(style.read_text(encoding="utf-8") for style in built.rglob("*.css"))

    assert [] == foreign
    assert not re.search(r"""(?:@import\s+|url\()["']?(?:https?:)?//""", styles)


def test_a_page_of_a_cause_shows_what_gomem_says(built):
    shown = (built / "causes" / "goroutine-leak.html").read_text(encoding="utf-8")

    assert "<svg" in shown
    assert "goroutine" in shown.partition("In a recorded process")[2]


def test_outputs_are_those_of_commands(built):
    """
    The first page shows what the demo says today.
    """
    import gomem

    title = (
        gomem.diagnose(
            ROOT / "fixtures/captures/zeroing-go1.24.2", ROOT / "fixtures/captures/zeroing-go1.23.4"
        )
        .findings[0]
        .title
    )
    shown = (built / "start.html").read_text(encoding="utf-8")

    assert " ".join(title.split()[:4]) in " ".join(re.sub(r"<[^>]+>", "", shown).split())


# Its search


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("RSS higher than heap", "questions#rss-higher-than-heap"),
        ("OOMKilled", "questions#oomkilled"),
        ("GOMEMLIMIT", "questions#gomemlimit"),
        ("Go 1.24 upgrade", "questions#go-1-24-upgrade-rss-20"),
        ("goroutine leak", "causes/goroutine-leak"),
        ("heap profile shows nothing", "questions#heap-profile-shows-nothing-of-the-spike"),
        ("GC every 15 ms", "questions#gc-every-15-ms"),
    ],
)
def test_a_search_finds_its_page_first(built, query, page):
    from tests.sphinx_search import found

    assert page == found(built, query)[0]
