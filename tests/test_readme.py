"""The README's commands and its Python, run on the fixtures: the manual cannot rot."""

import json
import re
import shlex
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gomem.cli.main import run
from tests.builders import FIXTURES
from tests.live.services import GOOD, fake_service, has_go

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line
    for language, block in BLOCKS
    if language == "sh"
    for line in block.splitlines()
    if line.startswith("gomem ") and "$PID" not in line
]
CAPTURES = [
    line for _, block in BLOCKS for line in block.splitlines() if "gomem capture $PID" in line
]
SNIPPET = next(block for language, block in BLOCKS if language == "go")


@pytest.fixture(autouse=True)
def beside_the_fixtures(tmp_path, monkeypatch):
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_it_says(command):
    assert 0 == run(shlex.split(command)[1:])


def test_the_first_command_collects_a_capture():
    command = CAPTURES[0]
    with fake_service(GOOD) as service:
        assert 0 == run(shlex.split(command.replace("$PID", service.pid))[1:])

    assert 0 == run(["inspect", "captures/api"])


@pytest.mark.go
@pytest.mark.skipif(not has_go, reason="Go is not installed")
def test_the_snippet_serves_what_a_capture_takes(tmp_path):
    """
    As it stands there, but for the port, which another program may have.
    """
    assert len(SNIPPET.splitlines()) <= 10
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "go.mod").write_text("module snippet\n\ngo 1.21\n")
    (tmp_path / "snippet.go").write_text(f"package main\n\n{SNIPPET.replace('6060', str(port))}")
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


def test_there_are_commands_to_run():
    assert len(COMMANDS) >= 8


def test_the_python_runs_and_says_what_the_comment_says():
    (code,) = (block for language, block in BLOCKS if language == "python")
    names = {}

    exec(code, names)  # noqa: S102 - the README's own code

    title = names["diagnosis"].findings[0].title
    assert f"# {title!r}" in README


def test_the_picture_is_there():
    (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", README)

    assert (Path(__file__).parent.parent / picture).stat().st_size > 10_000
