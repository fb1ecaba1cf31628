"""Names that a spreadsheet would run, or a terminal obey, in every format that a tool reads."""

import csv
import io
import json

import pandas as pd
import pytest

import gomem
from gomem.cli.main import run
from gomem.errors import printable
from gomem.views.spreadsheet import csv_cell, render_csv

FORMULA = "=HYPERLINK(A1)"
CONTROLS = "main.a\x1b[31m\x07\x00\u202eb\ufdd0\ufdd1\x9b"
STACKS = f"main.main;{FORMULA} 5\nmain.main;{CONTROLS} 7\nmain.main;main.é – ok 9\n"
SHOWN = ["main.main", "main.é – ok", "'=HYPERLINK(A1)", printable(CONTROLS)]


@pytest.fixture
def stacks(tmp_path):
    path = tmp_path / "heap.pb.gz"
    path.write_bytes(gomem.read_folded(STACKS.encode()).to_pprof())
    return str(path)


def printed(capsys, *arguments):
    assert 0 == run([*arguments])
    return capsys.readouterr().out


def invisible(text):
    return [char for char in text if char != "\n" and char != printable(char)]


@pytest.mark.parametrize(
    ("arguments", "column"),
    [
        (["top", "--format", "csv"], "function"),
        (["table", "--frame", "stacks"], "function"),
        (["top", "--tree", "--format", "csv"], "function"),
    ],
)
def test_csv_has_no_formula_and_no_control_character(arguments, column, stacks, capsys):
    output = printed(capsys, *arguments, stacks)

    assert [] == invisible(output)
    rows = csv.DictReader(io.StringIO(output))
    assert set(SHOWN) == {row[column] for row in rows if row[column]}


@pytest.mark.parametrize("arguments", [["top"], ["table", "--frame", "stacks"]])
def test_json_escapes_control_characters_and_keeps_the_names(arguments, stacks, capsys):
    output = printed(capsys, *arguments, stacks, "--format", "json")

    assert [] == invisible(output)
    read = json.loads(output)
    names = {row["function"] for row in (read if isinstance(read, list) else read["top"])}
    assert {"main.main", FORMULA, CONTROLS, "main.é – ok"} == names


def test_folded_stacks_have_a_line_each(stacks, capsys):
    output = printed(capsys, "top", stacks, "--format", "folded")

    assert [] == invisible(output)
    assert f"main.main;{printable(CONTROLS)} 7" in output.splitlines()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-cmd|x", "'-cmd|x"),
        (" =1", "' =1"),
        ("\t=1", "\\t=1"),
        ("-5", "-5"),
        ("+1.5e3", "+1.5e3"),
        ("main.f", "main.f"),
        (-5, -5),
    ],
)
def test_a_formula_stands_behind_an_apostrophe_and_a_number_does_not(text, cell):
    assert cell == csv_cell(text)


def test_words_of_the_kernel_stay_as_they_are():
    frame = pd.DataFrame({"perms": ["---p"], "path": ["-x"], "Rss": [-1]})
    frame.attrs["columns"] = {"perms": {"holds": "Words"}}

    assert "perms,path,Rss\n---p,'-x,-1\n" == render_csv(frame)
