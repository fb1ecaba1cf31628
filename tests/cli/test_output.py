"""The way out: an output is whole or what was there, and never an input."""

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from gomem.cli import output
from gomem.cli.main import run
from gomem.errors import CaptureError
from tests.builders import FIXTURES
from tests.cli.forks import Forks

pytestmark = pytest.mark.usefixtures("in_an_empty_folder")

ZEROING = FIXTURES / "captures/zeroing-go1.24.2"
SMALL = ZEROING / "1-start/memstats.json"  # where it matters who reads, and not what
PROFILE = next((ZEROING / "2-loaded").glob("heap*"))
GOMEM = [sys.executable, "-m", "gomem"]


@pytest.fixture(scope="module")
def gomem():
    """The command in a process of its own, which is a fork."""
    forks = Forks()
    yield forks.run
    forks.close()


def started(*arguments, redirected="", **environment):
    """The command in a new interpreter, as a shell line where it must be redirected."""
    command = [*GOMEM, *map(str, arguments)]
    if redirected:
        command = ["sh", "-c", f'"$@" {redirected}', "sh", *command]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


WRITERS = {
    "text": ["report", SMALL, "--format", "text"],
    "html": ["report", SMALL],
    "pprof": ["top", PROFILE, "--format", "pprof"],
    "csv": ["table", ZEROING / "2-loaded/smaps"],
    "pieces": ["table", ZEROING / "gctrace.log", "--format", "trace"],
    "parquet": ["table", ZEROING / "2-loaded/smaps", "--format", "parquet"],
}


@pytest.mark.at_most(3)
@pytest.mark.parametrize("arguments", WRITERS.values(), ids=list(WRITERS))
def test_a_full_disk_leaves_what_was_there(arguments, tmp_path, gomem):
    """
    A file may grow to 512 bytes here, as if the disk were full behind them.
    """
    (tmp_path / "out").write_text("precious")

    done = gomem(*arguments, "-o", "out", "--force", file_bytes=512)

    assert 2 == done.returncode
    assert "gomem: out: cannot be written: File too large" == done.stderr.splitlines()[-1]
    assert "precious" == (tmp_path / "out").read_text()
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("raised", [ValueError("no"), KeyboardInterrupt()])
def test_an_error_half_way_leaves_what_was_there(raised, tmp_path):
    def pieces():
        yield "half"
        raise raised

    (tmp_path / "out").write_text("precious")

    with pytest.raises(type(raised)):
        output.write_pieces(pieces(), tmp_path / "out")

    assert "precious" == (tmp_path / "out").read_text()
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


def test_an_output_keeps_the_mode_of_the_file_whose_place_it_takes(tmp_path):
    (tmp_path / "out").write_text("old")
    (tmp_path / "out").chmod(0o640)

    output.write("new", tmp_path / "out")

    assert 0o640 == (tmp_path / "out").stat().st_mode & 0o777
    assert "new" == (tmp_path / "out").read_text()


def test_a_link_stays_one_and_its_target_is_written(tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "latest").symlink_to("reports/today")

    output.write("new", tmp_path / "latest")

    assert (tmp_path / "latest").is_symlink()
    assert "new" == (tmp_path / "reports/today").read_text()


def link(path):
    Path("other").symlink_to(path)
    return Path("other")


def hard_link(path):
    Path("other").hardlink_to(path)
    return Path("other")


@pytest.mark.parametrize(
    "named", [lambda path: path, link, hard_link], ids=["path", "link", "hard-link"]
)
@pytest.mark.parametrize(
    ("arguments", "artefact"),
    [
        (["report", "c"], "c/2-loaded/smaps"),
        (["report", "c/2-loaded/smaps"], "c/2-loaded/smaps"),
        (["report", str(ZEROING), "--baseline", "c"], "c/2-loaded/smaps"),
        (["table", "c/gctrace.log"], "c/gctrace.log"),
        (["table", "c/gctrace.log", "--format", "trace"], "c/gctrace.log"),
        (["compare", "c", str(ZEROING), "--format", "html"], "c/gctrace.log"),
        (["top", str(PROFILE), "--base", f"c/2-loaded/{PROFILE.name}"], "c/2-loaded/heap.pb.gz"),
    ],
)
def test_an_input_is_not_overwritten_even_by_force(arguments, artefact, named, capsys):
    shutil.copytree(ZEROING, "c")
    artefact = Path(artefact).with_name(PROFILE.name) if "heap" in artefact else Path(artefact)
    before = artefact.read_bytes()
    other = named(artefact)

    assert 2 == run([*arguments, "-o", str(other), "--force"])

    assert f"gomem: {other}: is an input, which is never overwritten\n" == capsys.readouterr().err
    assert before == artefact.read_bytes()


def test_a_report_inside_of_its_capture_is_no_input():
    shutil.copytree(ZEROING / "2-loaded", "c/2-loaded")

    assert 0 == run(["report", "c", "-o", "c/report.html"])
    assert 0 == run(["report", "c", "-o", "c/report.html", "--force"])


def test_a_device_is_written_to_directly_and_needs_no_force(tmp_path, gomem):
    (tmp_path / "out").write_text("before\n")

    with (tmp_path / "out").open("ab") as out:
        done = gomem("top", PROFILE, "--format", "json", "-o", "/dev/stdout", stdout=out)
    full = gomem("top", PROFILE, "-o", "/dev/full")

    assert (0, "") == (done.returncode, done.stderr)
    assert (tmp_path / "out").read_text().startswith('before\n{\n "schema"')
    assert 0 == gomem("top", PROFILE, "-o", "/dev/null").returncode
    assert 2 == full.returncode
    assert "gomem: /dev/full: cannot be written: No space left on device\n" == full.stderr


@pytest.mark.parametrize("command", [["top", PROFILE], ["report", SMALL], ["table", PROFILE]])
def test_a_dash_is_standard_output(tmp_path, command, gomem):
    """
    And a page stands there alone, without the summary that otherwise goes with it.
    """
    done = gomem(*command, "-o", "-")

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout
    assert command[0] != "report" or done.stdout.rstrip().endswith("</html>")
    assert [] == [path.name for path in tmp_path.iterdir()]


def test_a_folder_is_no_output(tmp_path, capsys):
    assert 2 == run(["report", str(ZEROING), "-o", str(tmp_path), "--force"])
    assert f"{tmp_path}: is a folder; name a file in it" in capsys.readouterr().err


@pytest.mark.at_most(1)
@pytest.mark.parametrize(
    "environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_a_terminal_that_takes_ascii_gets_ascii_and_the_page_is_written(tmp_path, environment):
    done = started("report", ZEROING, **environment)

    assert (0, "") == (done.returncode, done.stderr)
    assert "zeroing-go1.24.2.gomem.html" == done.stdout.splitlines()[-1]
    assert done.stdout.isascii()
    assert (tmp_path / "zeroing-go1.24.2.gomem.html").read_text().rstrip().endswith("</html>")


@pytest.mark.at_most(1)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_standard_stream_does_not_keep_the_page_from_being_written(tmp_path, closed):
    done = started("report", SMALL, redirected=closed)

    assert (0, "") == (done.returncode, done.stderr)
    assert (tmp_path / "memstats.json.gomem.html").read_text().rstrip().endswith("</html>")


def test_a_pipe_that_nobody_reads_is_no_failure_and_the_page_is_written(tmp_path, gomem):
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "wb") as pipe:
        done = gomem("report", SMALL, stdout=pipe)

    assert (0, "") == (done.returncode, done.stderr)
    assert (tmp_path / "memstats.json.gomem.html").exists()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["top", PROFILE]])
def test_the_last_flush_into_a_pipe_that_nobody_reads_is_quiet(arguments):
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [*GOMEM, *map(str, arguments)], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)

    assert (0, b"") == (done.returncode, done.stderr)


def test_a_standard_output_that_is_full_is_told(gomem):
    with Path("/dev/full").open("wb") as full:
        done = gomem("top", PROFILE, stdout=full)

    assert 2 == done.returncode
    assert "gomem: standard output: cannot be written: No space left on device\n" == done.stderr


def test_a_fault_of_our_own_is_one_line_with_an_exit_code_of_its_own(monkeypatch, capsys):
    """
    It must not look like --fail-on, and how to get the traceback stands in it.
    """
    monkeypatch.setattr("gomem.cli.top._Question", lambda *_: 1 / 0)

    assert 70 == run(["top", str(PROFILE)])

    err = capsys.readouterr().err
    assert 1 == err.count("\n")
    assert "gomem: this is a bug in gomem: ZeroDivisionError: division by zero" in err
    assert "GOMEM_DEBUG=1" in err


def test_the_traceback_is_there_for_the_asking(monkeypatch, capsys):
    monkeypatch.setattr("gomem.cli.top._Question", lambda *_: 1 / 0)
    monkeypatch.setenv("GOMEM_DEBUG", "1")

    assert 70 == run(["top", str(PROFILE)])
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(("raised", "code"), [(MemoryError, 71), (KeyboardInterrupt, 130)])
def test_want_of_memory_and_ctrl_c_have_codes_of_their_own(raised, code, monkeypatch, capsys):
    def question(*_):
        raise raised

    monkeypatch.setattr("gomem.cli.top._Question", question)

    assert code == run(["top", str(PROFILE)])
    assert "fault of gomem's own" not in capsys.readouterr().err


@pytest.mark.parametrize("command", [["report"], ["inspect"], ["report", "--format", "text"]])
def test_a_name_with_escape_codes_steers_no_terminal(command, tmp_path, capsys):
    smaps = (ZEROING / "2-loaded/smaps").read_bytes()
    with tarfile.open(tmp_path / "c.tar", "w") as archive:
        for name, content in (("\x1b[2Jsmaps", smaps), ("\x1b]0;x\x07memstats.json", b"{")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))

    assert 0 == run([*command, "c.tar"])

    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert r"\x1b]0;x\x07memstats.json" in out + err


def test_an_error_that_names_a_file_with_escape_codes_steers_no_terminal(tmp_path, capsys):
    (tmp_path / "\x1b[2Jheap.pb.gz").write_bytes(b"no profile")

    assert 2 == run(["top", "\x1b[2Jheap.pb.gz"])
    assert r"gomem: \x1b[2Jheap.pb.gz" in capsys.readouterr().err


def test_a_capture_whose_name_is_not_utf_8_is_reported(tmp_path, gomem):
    name = os.fsdecode(b"caf\xe9")
    moment = tmp_path / name / os.fsdecode(b"2-\xff")
    moment.mkdir(parents=True)
    shutil.copy(SMALL, moment)

    for arguments in (["report"], ["inspect"], ["report", "--format", "json"]):
        done = gomem(*arguments, name)
        assert (0, "") == (done.returncode, done.stderr)
    assert (tmp_path / f"{name}.gomem.html").exists()


def test_what_the_door_cannot_write_names_the_file_and_the_reason(tmp_path):
    with pytest.raises(CaptureError, match=r"gone/out: cannot be written: No such file"):
        output.write("text", tmp_path / "gone/out")
