"""`gomem what-if`, from the command line to the exit code."""

import csv
import io
import json
import pty
import re
import shutil
import subprocess
import sys

import jsonschema
import pytest

from gomem.cli.main import run as run_gomem
from gomem.views.json.schemas import schema_of
from tests.builders import FIXTURES
from tests.views.json.schemas.closed import closed

LOG = FIXTURES / "what-if" / "steady-go1.22.12-gogc-100.log.gz"
CAPTURE = FIXTURES / "captures" / "healthy-go1.27.3"
CONTAINED = FIXTURES / "injected" / "contained-go1.27.3"


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run the command: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments):
        code = run_gomem(["what-if", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run_here


def test_text_goes_to_standard_output(run):
    code, output, errors = run(LOG, "--go-version", "go1.22.12")

    assert (0, "") == (code, errors)
    assert output.startswith("steady-go1.22.12-gogc-100.log.gz\n")
    assert "\nGo release: go1.22.12" in output
    assert "Today (GOGC=100): 2.9 GCs per second take" in output
    assert "GOGC=400 would save" in output
    assert "the previous GC predicts 100 % of 45 heap goals" in output


def test_a_container_gets_advice(run):
    _, output, _ = run(CAPTURE, "--container", "128MiB")

    assert "● advice: Set GOGC=" in output
    assert " and GOMEMLIMIT=118MiB for a container of 128 MiB." in output
    assert "GCs per second taking" in output


def test_json_is_as_its_schema_says(run):
    _, output, _ = run(CAPTURE, "--container", "128MiB", "--format", "json")
    found = json.loads(output)

    jsonschema.Draft202012Validator(closed(schema_of("what-if"))).validate(found)
    assert "gomem.what-if/1" == found["schema"]
    assert [50, 100, 200, 400, -1] == [row["gogc"] for row in found["grid"]][:5]
    assert 100 == found["present"]["gogc"]


def test_a_refusal_is_an_answer(run, tmp_path):
    short = tmp_path / "short.log"
    lines = (FIXTURES / "gctrace/plain-go1.27.3.log").read_text().splitlines(keepends=True)
    short.write_text("".join(lines[:3]))

    code, output, _ = run(short, "--format", "json")
    found = json.loads(output)

    assert 0 == code
    jsonschema.Draft202012Validator(closed(schema_of("what-if"))).validate(found)
    assert [] == found["grid"]
    assert "are needed" in found["refused"]
    assert "● no estimate: Only " in run(short)[1]


def test_csv_has_a_row_for_each_setting(run):
    _, output, _ = run(LOG, "--format", "csv", "--gogc", "75,off", "--memory-limit", "none,160MiB")
    rows = list(csv.DictReader(io.StringIO(output)))

    settings = [(row["gogc"], row["memory_limit_bytes"]) for row in rows]
    assert [("75", ""), ("-1", ""), ("75", "167772160"), ("-1", "167772160")] == settings[:4]
    assert ("100", "") == settings[4]


@pytest.mark.parametrize(("ending", "begins"), [("html", "<!doctype html>"), ("md", "# ")])
def test_a_file_s_name_says_the_format(run, tmp_path, ending, begins):
    target = tmp_path / f"out.{ending}"

    code, output, _ = run(LOG, "-o", target)

    assert (0, f"{target}\n") == (code, output)
    assert target.read_text().lower().startswith(begins)


def test_html_goes_to_a_file_named_after_the_capture(run, tmp_path):
    assert 0 == run(LOG, "--format", "html")[0]

    page = (tmp_path / "steady-go1.22.12-gogc-100.log.what-if.html").read_text()
    assert "<svg" in page
    assert "What other settings would do" in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(["--gogc", "0"], "--gogc: '0'; wanted per cents from 1", id="gogc 0"),
        pytest.param(["--gogc", "-5"], "--gogc: '-5'", id="gogc below 0"),
        pytest.param(["--gogc", "100001"], "--gogc: '100001'", id="gogc too high"),
        pytest.param(["--gogc", "5" * 30], "--gogc: '555", id="gogc of many digits"),
        pytest.param(["--gogc", "50,,100"], "--gogc: ''", id="an empty one"),
        pytest.param(["--memory-limit", "1MB"], "--memory-limit: '1MB'; wanted a size", id="MB"),
        pytest.param(["--memory-limit", "0"], "--memory-limit: '0'", id="a limit of nothing"),
        pytest.param(["--container", "much"], "--container: 'much'", id="no size"),
        pytest.param(["--container", "9999999999TiB"], "--container: '9999999999TiB'", id="huge"),
        pytest.param(["--gogc", ",".join(map(str, range(1, 22)))], "21 values", id="too many"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_one_line(run, options, words):
    code, output, errors = run(LOG, *options)

    assert (2, "") == (code, output)
    assert words in errors
    assert 1 == errors.count("\n")


def test_a_capture_without_a_log_is_told_what_is_wanted(run):
    code, _, errors = run(FIXTURES / "captures/healthy-go1.27.3/2-steady/smaps")

    assert 2 == code
    assert "has no gctrace log; wanted the stderr of a run with GODEBUG=gctrace=1" in errors


def test_a_path_that_is_not_there(run):
    assert 2 == run("nowhere")[0]


def test_damage_is_told_and_the_rest_answered(run, tmp_path):
    torn = tmp_path / "torn.log"
    text = (FIXTURES / "gctrace" / "plain-go1.27.3.log").read_text().replace(" MB goal", "", 3)
    torn.write_text(text)

    assert 0 == run(torn)[0]


def test_no_line_is_wider_than_a_terminal_of_80_columns():
    """
    As a person sees it: on a terminal.
    """
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "gomem", "what-if", str(CAPTURE), "--container", "128MiB"]
    environment = {"COLUMNS": "80", "NO_COLOR": "1", "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(
        command, stdout=follower, stderr=subprocess.DEVNULL, env=environment, cwd=FIXTURES.parent
    )
    with open(leader, "rb", closefd=True) as terminal:  # noqa: PTH123 - not a path
        import os

        os.close(follower)
        text = b""
        while True:
            try:
                piece = os.read(terminal.fileno(), 1 << 16)
            except OSError:
                break
            if not piece:
                break
            text += piece
    assert 0 == process.wait()
    lines = text.decode().splitlines()
    assert len(lines) > 30
    assert 80 >= max(map(len, lines))


def test_the_cgroup_of_a_capture_is_its_container(run, tmp_path):
    """
    A log beside the files of a process in a memory cgroup.
    """
    capture = tmp_path / "capture"
    shutil.copytree(CONTAINED, capture)
    (capture / "gctrace.log").unlink()
    shutil.copy(LOG, capture / "gctrace.log.gz")
    (capture / "gomem.json").unlink(missing_ok=True)

    _, output, _ = run(capture, "--format", "json")
    found = json.loads(output)

    assert None is found["refused"]
    assert "the cgroup of the capture" == found["advice"]["container_source"]
    limit = int((CONTAINED / "4-freed" / "memory.limit_in_bytes").read_text())
    assert limit == found["advice"]["container_bytes"]


def test_no_number_for_people_has_an_exponent(capsys):
    """
    Hundreds of collections a second are `500`, not `5e+02`.
    """
    capture = str(FIXTURES / "captures/alloc-pressure-before-go1.27.3")

    assert 0 == run_gomem(["what-if", capture])

    assert not re.search(r"\de[+-]\d", capsys.readouterr().out)


def test_the_page_begins_with_cpu_against_heap_and_what_to_set(run, tmp_path):
    target = tmp_path / "page.html"
    run(CAPTURE, "--container", "128MiB", "-o", target)
    page = target.read_text()

    opening = page[page.index('class="opening"') : page.index('id="what-if"')]
    assert 1 == opening.count("<svg")
    assert "CPU against heap" in opening
    assert "today" in opening
    assert "export GOGC=" in page[: page.index('class="opening"')]
    # Its numbers stand in the table below.
    assert page.index("CPU against heap") < page.index("Predicted GC rate")
