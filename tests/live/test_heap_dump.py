"""`gomem capture --heap-dump URL`: never by surprise, whole or not at all."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

import gomem
from gomem.cli.main import run
from tests.live.services import GOOD, fake_service
from tests.live.test_collect_script import collected, manifests, shell, unpacked

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no Linux")
PATH = "/debug/pprof/heapdump?token=s3cr3t"
__all__ = ["shell"]  # a fixture


def capture(service, out, *options, path=PATH):
    return run(
        ["capture", service.url, "-o", str(out), "--heap-dump", service.url + path, *options]
    )


def test_it_is_part_of_the_first_snapshot_and_for_the_user_alone(tmp_path, capsys):
    with fake_service(GOOD | {PATH: "dump"}) as service:
        assert 0 == capture(service, tmp_path / "c", "--yes", "--every", "100ms", "--for", "4s")

    said = capsys.readouterr().err
    assert "secrets included" in said
    assert "can end the process while it writes a heap dump" in said
    assert "s3cr3t" not in said
    read = gomem.load(tmp_path / "c")
    (path,) = read.heap_dumps
    assert 1 < len(read.by_moment)
    assert path.startswith("1-")
    file = tmp_path / "c" / path
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    assert "s3cr3t" not in "".join(p.read_text() for p in (tmp_path / "c").rglob("gomem.json"))
    assert len(read.heap_dumps[path].objects) > 1000


def test_a_release_that_can_end_the_process_is_not_asked_without_yes(tmp_path, capsys):
    with fake_service(GOOD | {PATH: "dump"}) as service:
        assert 2 == capture(service, tmp_path / "c")

    said = capsys.readouterr().err
    assert "go1.27.3 can end the process while it writes a heap dump; add --yes" in said
    assert not (tmp_path / "c").exists()


def test_an_older_release_needs_no_yes(tmp_path, capsys, monkeypatch):
    """
    The release is that of the heap profile's paths, where nothing else names one.
    """
    answers = {key: how for key, how in GOOD.items() if key != "/metrics"} | {PATH: "dump"}
    with fake_service(answers) as service:
        assert 2 == capture(service, tmp_path / "c")
        assert "go1.27.3 can end" in capsys.readouterr().err
        monkeypatch.setattr("gomem.live.heap_dump._release_of_profile", lambda _: "go1.25.7")
        assert 0 == capture(service, tmp_path / "c")

    assert "can end the process" not in capsys.readouterr().err


def test_an_unknown_release_can_be_one_that_ends(tmp_path, capsys):
    with fake_service({"/debug/vars": "expvar", PATH: "dump"}) as service:
        assert 2 == capture(service, tmp_path / "c")

    assert "the Go release is not known, and from 1.26 on it can end" in capsys.readouterr().err


@pytest.mark.parametrize(("how", "why"), [("html", "not a heap dump"), ("die", "before the end")])
def test_what_is_no_whole_dump_is_not_kept(how, why, tmp_path, capsys):
    with fake_service(GOOD | {PATH: how}) as service:
        assert 0 == capture(service, tmp_path / "c", "--yes")

    assert why in capsys.readouterr().err
    (manifest,) = (tmp_path / "c").glob("1-*/gomem.json")
    missing = json.loads(manifest.read_text())["moments"][0]["missing"]
    assert ["heapdump"] == [entry["artefact"] for entry in missing]
    assert [] == [path for path in (tmp_path / "c").rglob("*") if path.name.startswith(".")]
    assert {} == dict(gomem.load(tmp_path / "c").heap_dumps)


def test_contents_cannot_be_redacted(tmp_path, capsys):
    with fake_service(GOOD) as service:
        assert 2 == capture(service, tmp_path / "c", "--yes", "--redact")

    assert "which --redact cannot hide" in capsys.readouterr().err


def test_the_sh_collector_takes_it_once_with_yes(shell, tmp_path):
    with fake_service(GOOD | {PATH: "dump"}) as service:
        given = ("-u", service.url, "-d", service.url + PATH)
        _, refused = collected(shell, *given, service.pid, code=2)
        tar, said = collected(shell, "-n", "0", "-c", "2", "-y", *given, service.pid)

    assert "go1.27.3 can end the process while it writes a heap dump; -y" in refused
    assert "it holds secrets" in said
    capture = unpacked(tar, tmp_path)
    assert 2 == len(manifests(capture))
    (path,) = gomem.load(capture).heap_dumps
    assert path.startswith("1-")


def test_the_sh_collector_keeps_nothing_else(shell, tmp_path):
    with fake_service(GOOD | {PATH: "html"}) as service:
        given = ("-u", service.url, "-d", service.url + PATH, "-y")
        tar, said = collected(shell, *given, service.pid)

    assert "no heapdump: did not answer with a heap dump" in said
    assert {} == dict(gomem.load(unpacked(tar, tmp_path)).heap_dumps)


def test_the_sh_collector_is_clean_sh():
    assert 0 == subprocess.run(["sh", "-n", "gomem/live/collect.sh"], check=False).returncode
