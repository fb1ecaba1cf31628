"""`gomem report -` reads what is piped into it, or pasted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gomem.cli.main import run
from tests.builders import FIXTURES

pytestmark = pytest.mark.usefixtures("in_an_empty_folder")
TICKET = FIXTURES / "pasted" / "several" / "fenced.md"
HEAP = FIXTURES / "captures" / "healthy-go1.27.3" / "3-later" / "heap.pb.gz"


def piped(arguments, data):
    command = [sys.executable, "-m", "gomem", *arguments]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def test_a_ticket_is_read_from_a_pipe():
    done = piped(["report", "-", "--format", "json"], TICKET.read_bytes())
    report = json.loads(done.stdout)

    assert 0 == done.returncode
    moments = report["capture"]["moments"]  # of three readings in the ticket
    assert ["stdin:4"] == [file["path"] for file in report["capture"]["artefacts"]]
    paths = {file["path"] for moment in moments for file in moment["artefacts"]}
    assert (3, {"stdin:14", "stdin:22", "stdin:38"}) == (len(moments), paths)


def test_the_page_of_a_packed_profile_is_called_after_standard_input():
    done = piped(["report", "-"], HEAP.read_bytes())

    assert 0 == done.returncode
    assert b"stdin.gomem.html" in done.stdout + done.stderr
    assert b"main.newSession" in Path("stdin.gomem.html").read_bytes()


def test_inspect_reads_it_too():
    done = piped(["inspect", "-"], TICKET.read_bytes())

    assert 0 == done.returncode
    assert b"stdin:38" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["-", str(HEAP)], "do not name files as well"),
        (["-", "--format", "ipynb"], "a notebook reads its capture again"),
    ],
)
def test_it_is_alone_and_read_once(arguments, why, capsys):
    assert 2 == run(["report", *arguments])
    assert why in capsys.readouterr().err
