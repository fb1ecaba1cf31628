"""Completion in shells, and the examples that help shows."""

import re
import shlex
import subprocess

import pytest

from gomem.cli.main import COMMANDS, parser_of, run


def script_for(shell, capsys):
    assert 0 == run(["completion", shell])
    return capsys.readouterr().out


def test_bash_offers_commands_then_options_then_their_values(capsys):
    """
    One shell for all four: what it is asked stands below the script.
    """
    asked = [("gomem", "rep"), ("gomem", "report", "--b"), ("gomem", "report", "--format", ""),
             ("gomem", "schema", "wh")]  # fmt: skip
    lines = [
        f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _gomem; "
        'echo "${COMPREPLY[@]}"'
        for words in asked
    ]
    program = "\n".join([script_for("bash", capsys), *lines])

    told = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)

    offered = told.stdout.splitlines()
    assert [
        "report",
        "--baseline",
        "html text json md ipynb summary png pprof",
        "what-if",
    ] == offered


def test_zsh_takes_what_bash_takes(capsys):
    bash, zsh = (script_for(shell, capsys) for shell in ("bash", "zsh"))

    assert zsh.endswith(bash)
    assert zsh.startswith("autoload")


def test_fish_has_a_line_for_each_command_and_option(capsys):
    text = script_for("fish", capsys)

    assert set(COMMANDS) == set(re.findall(r"__fish_use_subcommand -a ([\w-]+) ", text))
    formats = "html text json md ipynb summary png pprof"
    assert f"-n '__fish_seen_subcommand_from report' -l format -x -a '{formats}'" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_examples_whose_options_it_has(name):
    options = {option for one in parser_of(name).params for option in one.opts}

    _, _, shown = parser_of(name).help.partition("Examples:\n")
    assert shown
    for example in shown.split("\n"):
        assert f"gomem {name}" in example
        own = example.partition("|")[0].partition("gomem")[2]
        assert {word for word in shlex.split(own.rstrip(")")) if word.startswith("-")} <= options
