"""What gomem overwrites unasked: what it wrote itself, and nothing else."""

import json
import shutil
from pathlib import Path

import pytest

from gomem.cli.main import run
from gomem.cli.own_outputs import is_own_output
from tests.builders import FIXTURES

pytestmark = pytest.mark.usefixtures("in_an_empty_folder")

HEALTHY = FIXTURES / "captures/healthy-go1.27.3"
PROFILE = HEALTHY / "2-steady/heap.pb.gz"


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", str(HEALTHY), "-o", "again.html"],
        ["report", str(HEALTHY), "-o", "again.json"],
        ["report", str(HEALTHY), "-o", "again.ipynb"],
        ["report", str(HEALTHY), "-o", "again.png"],
        ["compare", str(HEALTHY), str(HEALTHY), "-o", "again.html"],
        ["compare", str(HEALTHY), str(HEALTHY), "-o", "again.json"],
        ["top", str(PROFILE), "--format", "json", "-o", "again.json"],
        ["what-if", str(HEALTHY), "-o", "again.html"],
        ["top", str(PROFILE), "--format", "pprof", "-o", "again.pb.gz"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_what_a_command_wrote_it_writes_again(arguments, tmp_path):
    assert 0 == run(arguments)
    before = (tmp_path / arguments[-1]).read_bytes()

    assert 0 == run(arguments)
    assert before == (tmp_path / arguments[-1]).read_bytes()


def test_a_notebook_that_was_saved_elsewhere_is_the_users(tmp_path):
    target = tmp_path / "mine.ipynb"
    assert 0 == run(["report", str(HEALTHY), "-o", str(target)])
    saved = json.loads(target.read_text())
    target.write_text(json.dumps(saved, sort_keys=True))  # as Jupyter does

    assert 2 == run(["report", str(HEALTHY), "-o", str(target)])
    assert saved == json.loads(target.read_text())


def test_a_manifest_looks_like_ours_and_is_an_input_all_the_same(tmp_path, capsys):
    shutil.copytree(HEALTHY, tmp_path / "c")
    manifest = tmp_path / "c/gomem.json"
    before = manifest.read_bytes()

    assert 2 == run(["report", str(PROFILE), "-o", str(manifest), "--format", "json"])
    assert "does not say that gomem wrote it" in capsys.readouterr().err
    assert before == manifest.read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"precious",
        b"<!doctype html><title>gomem</title>",
        b'<!doctype html><meta name="generator" content="Hugo 0.1">',
        b'{"schema": "gomem.capture/1"}',
        b'{"schema": "other.report/1"}',
        b'{"notes": {"schema": "gomem.report/1"}}',
        b'{"cells": [], "metadata": {"gomem": {}}}',
        b"\x89PNG\r\n\x1a\n tEXtSoftware\0Matplotlib version 3",
    ],
)
def test_what_gomem_did_not_write(content, tmp_path):
    (tmp_path / "file").write_bytes(content)

    assert not is_own_output(tmp_path / "file")


def test_only_the_head_is_read(tmp_path):
    far = b"<!doctype html>" + b" " * 5000 + b'<meta name="generator" content="gomem 1">'
    (tmp_path / "file").write_bytes(far)

    assert not is_own_output(tmp_path / "file")


def test_a_configuration_is_an_input_and_is_never_overwritten(capsys):
    budgets = Path("gomem.toml")
    budgets.write_text('[budgets]\nrss = "+10%"\n')
    sides = [str(HEALTHY), str(HEALTHY)]

    output = ["-o", "gomem.toml", "--format", "json", "--force"]
    assert 2 == run(["compare", *sides, "--config", "gomem.toml", *output])
    assert "is an input" in capsys.readouterr().err
    assert budgets.read_text().startswith("[budgets]")


def test_what_the_system_refuses_is_no_fault_of_gomems_own(capsys):
    assert 2 == run(["report", "a" * 300])
    assert "File name too long" in capsys.readouterr().err
