"""The command line: exit codes, one line for an error, nothing overwritten unasked."""

import errno
import json
import shutil
import subprocess
import sys

import pytest

from gomem.cli import main
from gomem.cli.main import COMMANDS, run
from gomem.inputs.kinds import Kind
from tests.builders import CAPTURES, FIXTURES

pytestmark = pytest.mark.usefixtures("in_an_empty_folder")

HEALTHY = FIXTURES / "captures/healthy-go1.27.3"
ZEROING = FIXTURES / "captures/zeroing-go1.24.2"
SHRUNK = FIXTURES / "captures/cache-shrink-go1.12.17"


def one_line_error(capsys) -> str:
    """The message, when it is one line on standard error and nothing stands on standard output."""
    out, err = capsys.readouterr()
    assert "" == out
    assert 1 == err.count("\n")
    assert err.startswith("gomem: ")
    return err


@pytest.mark.at_most(2)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_report_on_every_fixture_is_done_and_adds_up(path, capsys):
    assert 0 == run(["report", str(path), "--format", "json"])

    report = json.loads(capsys.readouterr().out)

    assert [len(list(path.glob("*/status")))] == [len(report["ledger"])]
    for ledger in report["ledger"]:
        assert ledger["rss_bytes"] == sum(part["bytes"] for part in ledger["parts"])


def test_report_prints_a_summary_and_ends_with_the_path_of_the_html(tmp_path, capsys):
    assert 0 == run(["report", str(ZEROING)])

    *summary, last = capsys.readouterr().out.splitlines()

    assert "zeroing-go1.24.2.gomem.html" == last
    assert any(line.startswith("RSS is 170 MiB") for line in summary)
    assert (tmp_path / last).read_text().lower().startswith("<!doctype html>")


def test_the_demo_needs_no_argument_and_brings_its_baseline(tmp_path, capsys):
    assert 0 == run(["report", "--demo"])

    assert (tmp_path / "demo.gomem.html").exists()
    assert "161 MiB that was only reserved" in capsys.readouterr().out


def test_an_output_is_not_overwritten_without_force(tmp_path, capsys):
    (tmp_path / "mine.html").write_text("precious")

    assert 2 == run(["report", str(HEALTHY), "-o", "mine.html"])
    assert "precious" == (tmp_path / "mine.html").read_text()
    assert (
        "mine.html: exists, and does not say that gomem wrote it; --force overwrites"
        in one_line_error(capsys)
    )
    assert 0 == run(["report", str(HEALTHY), "-o", "mine.html", "--force"])
    assert "precious" != (tmp_path / "mine.html").read_text()


@pytest.mark.parametrize(
    ("code", "capture", "level"),
    [(1, SHRUNK, "warning"), (0, SHRUNK, "critical"), (0, HEALTHY, "warning")],
)
def test_fail_on_sets_the_exit_code(code, capture, level):
    assert code == run(["report", str(capture), "--format", "json", "--fail-on", level])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reprot"], "reprot: not a command; wanted one of report, compare"),
        (
            ["report"],
            "no capture named; wanted a folder, an archive or files, a PID or a URL, or --demo",
        ),
        (["report", "nowhere"], "nowhere: no such file or folder"),
        (["report", "--formt", "json"], "--formt"),
        (["report", "empty"], "empty: nothing in it"),
        (["report", "useless"], "useless: nothing that gomem can read: a.bin: an unknown binary"),
        (["inspect", "nowhere"], "nowhere: no such file or folder"),
        (["table", "useless/a.bin"], "useless/a.bin: an unknown binary beginning 00 01 02"),
        (["table", "useless"], "useless: is a folder, wanted one artefact"),
    ],
)
def test_an_error_is_one_line_that_says_what_was_wanted(tmp_path, capsys, arguments, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "useless").mkdir()
    (tmp_path / "useless/a.bin").write_bytes(bytes(range(256)))

    assert 2 == run(arguments)
    assert message in one_line_error(capsys)


def test_damage_goes_to_standard_error_and_the_rest_is_reported(tmp_path, capsys):
    shutil.copytree(HEALTHY, tmp_path / "c")
    (tmp_path / "c/2-steady/memstats.json").write_bytes(b"{")

    assert 0 == run(["report", "c", "--format", "json"])

    out, err = capsys.readouterr()
    assert err.startswith("gomem: 2-steady/memstats.json: ")
    assert ["2-steady/memstats.json"] == [one["source"] for one in json.loads(out)["damage"]]
    assert 3 == len(json.loads(out)["ledger"])


def test_loose_files_are_reported_together(capsys):
    files = [str(ZEROING / "2-loaded" / name) for name in ("smaps", "memstats.json")]

    assert 0 == run(["report", *files, "--format", "json"])
    assert 1 == len(json.loads(capsys.readouterr().out)["ledger"])


def test_inspect_lists_moments_files_and_kinds(capsys):
    assert 0 == run(["inspect", str(ZEROING)])

    out = capsys.readouterr().out
    assert "Go release: go1.24.2 (gomem.json go_version)" in out
    assert "2-loaded/smaps_rollup" in out
    assert "\n✓ No damage.\n" in out


@pytest.mark.parametrize(
    ("artefact", "header"),
    [
        ("gctrace.log", "run,number"),
        ("2-loaded/memstats.json", "Alloc,TotalAlloc,Sys"),
        ("2-loaded/smaps", "start,end,perms"),
        ("2-loaded/status", "Name,Threads,VmPeak"),
        ("2-loaded/statm", "size,resident,shared"),
        ("2-loaded/metrics.json", "reading,name,value"),
    ],
)
def test_any_artefact_is_a_table(artefact, header, capsys):
    assert 0 == run(["table", str(ZEROING / artefact)])
    assert capsys.readouterr().out.startswith(header)


def test_a_table_that_an_artefact_does_not_have_names_those_it_has(capsys):
    assert 2 == run(["table", str(ZEROING / "gctrace.log"), "--frame", "pauses"])
    assert "it has cycles, scavenges" in one_line_error(capsys)


def test_parquet_goes_to_a_file(tmp_path):
    import pandas as pd

    smaps = str(ZEROING / "2-loaded/smaps")

    assert 2 == run(["table", smaps, "--format", "parquet"])
    assert 0 == run(["table", smaps, "--format", "parquet", "-o", "smaps.parquet"])
    assert 0xFFFFFFFFFF600000 == pd.read_parquet(tmp_path / "smaps.parquet")["start"].max()


def test_help_lists_every_command_and_each_has_its_own(capsys):
    assert 0 == run(["--help"])
    overview = capsys.readouterr().out

    for name in COMMANDS:
        assert f"  {name}" in overview
        assert 0 == run([name, "--help"])
        assert name in capsys.readouterr().out


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "gomem", "--version"], capture_output=True, text=True, check=True
    )

    assert "gomem 0.1.0\n" == done.stdout


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 71),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 71),
        (RuntimeError("can't start new thread"), 71),
        (RuntimeError("something else"), 70),
    ],
)
def test_want_of_memory_is_told_as_that_wherever_it_comes(
    error, code, tmp_path, capsys, monkeypatch
):
    """
    In a reader, in a rule, and behind another error.
    """

    def failing(*_, **__):
        raise error

    def wrapped(*_, **__):
        raise SystemError("returned a result with an exception set") from error

    shutil.copytree(ZEROING, tmp_path / "zeroing")  # which is read anew
    for place, name, fails in (
        (Kind, "read", failing),
        (main, "_run", failing),
        (main, "_run", wrapped),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fails)
            got = run(["report", str(tmp_path / "zeroing"), "--format", "text"])
        said = capsys.readouterr().err
        if code == 71:
            assert (71, "gomem: out of memory; wanted a smaller capture or a larger machine\n") == (
                got,
                said,
            )
        else:
            assert "please report" in said
