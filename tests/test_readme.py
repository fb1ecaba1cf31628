"""The README's commands and its Python, run on the fixtures: the manual cannot rot."""

import re
import shlex
from pathlib import Path

import pytest

from gomem.cli.main import run
from tests.builders import FIXTURES

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line
    for language, block in BLOCKS
    if language == "sh"
    for line in block.splitlines()
    if line.startswith("gomem ")
]


@pytest.fixture(autouse=True)
def beside_the_fixtures(tmp_path, monkeypatch):
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_it_says(command):
    assert 0 == run(shlex.split(command)[1:])


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
