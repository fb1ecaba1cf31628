"""The same capture says the same numbers through every door, and twice the same bytes.

The doors are Python, JSON, CSV, Parquet and the pprof profile of RSS.
"""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.cli.main import run
from gomem.errors import printable
from gomem.inputs.kinds import kind_of
from gomem.sources.artefact import open_source
from tests.builders import FIXTURES

CAPTURES = sorted(path for path in (FIXTURES / "captures").iterdir() if path.is_dir())
FILES = sorted(
    path
    for path in (FIXTURES / "captures").rglob("*")
    if path.is_file() and path.name != "gomem.json" and path.parent.name != "captures"
)


def values(frame):
    """Cells by column, None where nothing is known."""
    return {
        str(name): [None if pd.isna(cell) else cell for cell in column.astype(object).tolist()]
        for name, column in frame.items()
    }


def as_file(cell):
    """A cell as text of a file: numbers as they are read back, times and names in words."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, bool | np.bool_):
        return str(cell).lower()
    if isinstance(cell, pd.Timestamp):
        return str(cell.value)
    return float(cell) if isinstance(cell, float) else str(cell)


def read_back(text, like):
    """What a file has for a cell, in the type of the cell that it is compared with."""
    if like is None or text is None or text == "":
        return text or ""
    if isinstance(like, bool | np.bool_):
        return str(text).lower()
    if isinstance(like, pd.Timestamp):
        return str(pd.Timestamp(text).value)
    return float(text) if isinstance(like, float) else str(text)


def assert_same(expected, found):
    """Every cell of a file is that of the frame."""
    assert list(expected) == list(found)
    for name, cells in expected.items():
        theirs = [read_back(text, cell) for text, cell in zip(found[name], cells, strict=True)]
        assert [as_file(cell) for cell in cells] == theirs, name


@pytest.mark.at_most(6)
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_a_file_is_the_same_table_in_python_json_csv_and_parquet(path, tmp_path, capsys):
    source = open_source(path)
    kind = kind_of(source.data, source.name)
    frame = getattr(kind.read(path), kind.frames[0])
    expected = values(frame)

    assert 0 == run(["table", str(path), "--format", "json"])
    rows = json.loads(capsys.readouterr().out)
    assert 0 == run(["table", str(path), "--format", "csv"])
    csv = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype=str, keep_default_na=False)
    parquet = tmp_path / "table.parquet"
    assert 0 == run(["table", str(path), "--format", "parquet", "-o", str(parquet)])

    assert_same(expected, values(pd.read_parquet(parquet)))
    finite = {
        name: [None if cell == np.inf else cell for cell in expected[name]] for name in expected
    }
    assert_same(finite, {name: [row[name] for row in rows] for name in expected})  # JSON has no inf
    escaped = {
        name: [printable(cell) if isinstance(cell, str) else cell for cell in expected[name]]
        for name in expected
    }
    assert_same(escaped, {name: csv[name].tolist() for name in csv.columns})  # one row, one line


@pytest.mark.at_most(2)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_rss_and_its_parts_are_the_same_in_python_json_and_pprof(path, tmp_path, capsys):
    diagnosis = gomem.diagnose(gomem.load(path))
    assert 0 == run(["report", str(path), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    sizes = {facts.name: facts.rss_bytes for facts in diagnosis.moments}
    last = next(name for name in reversed(sizes) if sizes[name] is not None)
    profile = tmp_path / "rss.pb.gz"
    assert 0 == run(["rss", str(path), "--moment", last, "-o", str(profile)])

    assert sizes == {row["moment"]: row["rss_bytes"] for row in report["ledger"]}
    ledger = diagnosis.by_moment[last].ledger
    told = next(row for row in report["ledger"] if row["moment"] == last)
    assert {row.part: row.bytes for row in ledger.parts.itertuples()} == {
        row["part"]: row["bytes"] for row in told["parts"]
    }
    assert sizes[last] == gomem.read_pprof(profile).total("rss") == ledger.parts["bytes"].sum()


@pytest.mark.at_most(1)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_two_processes_write_the_same_bytes(path, tmp_path):
    """
    One of them is this one, which has been asked of other captures, too.
    """
    names = ("report.json", "report.html")
    for turn in ("here", "there"):
        (tmp_path / turn).mkdir()
    asked = [["report", str(path), "-o", str(tmp_path / "there" / name)] for name in names]
    code = f"from gomem.cli.main import run; raise SystemExit(max(map(run, {asked})))"

    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    for name in names:
        assert 0 == run(["report", str(path), "-o", str(tmp_path / "here" / name)])
        here, there = ((tmp_path / turn / name).read_bytes() for turn in ("here", "there"))
        assert here == there
