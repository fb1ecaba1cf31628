"""What is missing is said with the command that gets it for this process, and why it is missing."""

import json

from gomem.capture.load import load
from gomem.views.collecting import collecting_sections
from tests.builders import FIXTURES

STEADY = FIXTURES / "captures/healthy-go1.27.3/2-steady"


def rows(capture):
    return {
        section.name: [[cell.text for cell in row] for row in section.blocks[0].rows]
        for section in collecting_sections(capture)
    }


def manifest(tmp_path, **facts):
    moment = {
        "name": "m",
        "artefacts": [{"path": "memstats.json"}],
        "missing": [{"artefact": "smaps", "why": "permission denied"}],
    }
    content = {"schema": "gomem.capture/1", "moments": [moment], **facts}
    (tmp_path / "gomem.json").write_text(json.dumps(content))
    (tmp_path / "memstats.json").write_bytes((STEADY / "memstats.json").read_bytes())
    return load(tmp_path)


def test_a_whole_capture_lacks_nothing():
    assert [] == list(collecting_sections(load(FIXTURES / "captures/healthy-go1.27.3")))


def test_the_command_is_of_this_process(tmp_path):
    capture = manifest(
        tmp_path, pid=4242, endpoints=["http://127.0.0.1:6060"], program="/usr/bin/api"
    )

    commands = {row[0]: row[2] for row in rows(capture)["better"]}

    assert f"gomem capture 4242 -o {tmp_path}" == commands["smaps"]
    wanted = "curl -s http://127.0.0.1:6060/debug/pprof/heap > heap.pb.gz"
    assert wanted == commands["a heap profile"]
    assert "GODEBUG=gctrace=1 /usr/bin/api 2> gctrace.log" == commands["a GC log"]
    assert "MemStats" not in commands
    assert [["smaps", "m", "permission denied"]] == rows(capture)["not-collected"]


def test_what_is_not_known_of_the_process_has_a_placeholder(tmp_path):
    """
    Nor does a manifest get a command of its own making onto anybody's terminal.
    """
    capture = manifest(tmp_path, pid="1; rm -rf ~", endpoints=["http://x;reboot"], program="a b")

    commands = {row[0]: row[2] for row in rows(capture)["better"]}

    assert "cat /proc/PID/smaps > smaps" == commands["smaps"]
    assert "http://HOST:PORT" in commands["a heap profile"]
    assert "PROGRAM" in commands["a GC log"]


def test_a_log_alone_asks_for_nothing():
    log = FIXTURES / "captures/healthy-go1.27.3/gctrace.log"

    assert [] == list(collecting_sections(load(log)))
