"""The list of inputs: whatever is recognised is read, shown or reasoned away, tested, recorded."""

import gzip
import json
import tarfile
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import gomem
from gomem.capture.capture import Capture
from gomem.capture.load import load
from gomem.capture.series import SERIES
from gomem.errors import CaptureError, FormatError
from gomem.inputs.kinds import BY_NAME, FILE_WORDS, KINDS, kind_of
from gomem.inputs.read import read_artefact
from gomem.inputs.schema import WithDamage
from gomem.sources.artefact import open_source
from tests.builders import CAPTURES, FIXTURES

TESTS = Path(__file__).parent
MOMENT = FIXTURES / "captures/healthy-go1.27.3/2-steady"


# Of kinds with several forms, of which one says more than the others: that one.
DOORS = FIXTURES / "doors/go1.27.3"
FULLEST = {
    "metrics": DOORS / "metrics.prom.gz",
    "count_text": DOORS / "goroutine-1.txt.gz",
    "goroutines": DOORS / "goroutine-2.txt.gz",
    "buildinfo": FIXTURES / "buildinfo/go1.27.3.txt",
    "processes": FIXTURES / "pasted/kernel/dmesg.txt",
    "cgroup": FIXTURES / "injected/contained-go1.27.3/2-filled/memory.stat",
}


@cache
def examples():
    """A recorded file of each kind, by the kind's name."""
    found = {name: open_source(path) for name, path in FULLEST.items()}
    apart = {"laboratory", "malformed"}
    whole = [path for path in FIXTURES.rglob("*") if apart.isdisjoint(path.parts)]
    for path in {path.name: path for path in sorted(whole)}.values():
        if len(found) < len(KINDS) and path.is_file():
            source = open_source(path)
            kind = kind_of(source.data, source.name)
            if kind is not None:
                found.setdefault(kind.name, source)
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_has_a_fixture_a_test_and_a_reader_of_the_one_shape(kind):
    """
    Every reader gives a frozen object whose frames are attributes, damage among them.
    """
    read = read_artefact(kind, examples()[kind.name])

    assert isinstance(read, WithDamage)
    for name in kind.frames:
        assert isinstance(getattr(read, name), pd.DataFrame), name
    assert "damage" == kind.frames[-1]
    folder = kind.reader.partition(".")[0]
    assert list((TESTS / folder).glob("test_*.py"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_fills_a_frame_of_the_capture_or_stands_there_itself(kind, tmp_path):
    """
    Recognised, read, listed and then taken by nobody: that cannot happen.
    """
    source = examples()[kind.name]
    (tmp_path / Path(source.name).name).write_bytes(source.stored)
    capture = gomem.load(tmp_path)

    for name in kind.fills:
        assert len(getattr(capture, name)) > 0, name
    file, *moments = capture.files

    assert kind.name in SERIES or not moments
    assert [file.source.name] * len(moments) == [one.source.name for one in moments]
    assert kind.fills or any(one is file.parsed for one in held_by(capture))


def held_by(capture):
    """What the properties of a capture hold, alone or by path, moment and kind."""
    values = [getattr(capture, name) for name in vars(Capture) if not name.startswith("_")]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        yield value


@pytest.mark.parametrize("kind", [one for one in KINDS if one.is_pasted], ids=lambda one: one.name)
def test_what_is_pasted_into_a_fence_is_of_its_kind(kind):
    source = examples()[kind.name]

    assert kind is kind_of(b"Here it is:\n\n```\n" + source.data + b"```\n", source.name)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_every_file_of_a_capture_is_taken_by_somebody(path):
    capture = gomem.load(path)

    assert not capture.passed_over
    assert sum(1 for one in path.rglob("*") if one.is_file()) - 1 == len(capture.files)


def test_names_are_unique_and_readers_are_public():
    assert len(KINDS) == len(BY_NAME)
    for kind in KINDS:
        assert getattr(gomem, kind.reader.rpartition(".")[2]) is not None


def test_words_that_tell_a_kind_tell_no_moment():
    assert {"heap", "smaps", "memstats", "gz", "goroutine"} <= FILE_WORDS


def test_read_finds_the_kind_by_content():
    assert "Smaps" == type(gomem.read(MOMENT / "smaps")).__name__
    assert "MemStats" == type(gomem.read((MOMENT / "memstats.json").read_bytes())).__name__
    with pytest.raises(
        FormatError, match=r"text of no known kind; wanted a profile, a GC log, MemStats"
    ):
        gomem.read(b"hello\n")


def test_the_damage_of_a_cut_file_is_kept(tmp_path):
    """
    A cut statm.gz still has its seven numbers, and what was cut is said.
    """
    whole = gzip.compress((MOMENT / "statm").read_bytes())
    cut = tmp_path / "statm.gz"
    cut.write_bytes(whole[:-8])

    read = gomem.read_statm(cut)

    assert ["gzip stream ends early"] == [one.what[:22] for one in read.damaged]
    assert len(read.statm) == 1


def test_a_reader_that_fails_unforeseen_is_that_files_damage(tmp_path, monkeypatch):
    """
    One file never takes the others with it; what went wrong is said, and to be reported.
    """
    for name in ("smaps", "status"):
        (tmp_path / name).write_bytes((MOMENT / name).read_bytes())

    def broken(*_, **__):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("gomem.inputs.status.table.parse_status", broken)
    capture = gomem.load(tmp_path)

    assert len(capture.smaps) > 0
    assert ["status"] == [one.source for one in capture.damaged]
    assert "ZeroDivisionError: division by zero; please report it" in capture.damaged[0].what


def test_a_long_log_that_fells_its_reader_is_that_files_damage_too(tmp_path, monkeypatch):
    """
    It is read piece by piece, and through the same guard.
    """
    (tmp_path / "smaps").write_bytes((MOMENT / "smaps").read_bytes())
    (tmp_path / "gctrace.log").write_bytes((MOMENT.parent / "gctrace.log").read_bytes())

    def broken(*_, **__):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("gomem.sources.long.LONG_FROM_BYTES", 1)
    monkeypatch.setattr("gomem.inputs.gctrace.table.parse_pieces", broken)
    capture = gomem.load(tmp_path)

    assert len(capture.smaps) > 0
    assert ["gctrace.log"] == [one.source for one in capture.damaged]
    assert "ZeroDivisionError" in capture.damaged[0].what


def test_a_document_of_json_that_names_goroutines_is_no_log(tmp_path):
    """
    What somebody wrote of the capture lies beside it, and is no snapshot of its own.
    """
    notes = {"phases": [{"goroutines": at, "vmrss_kb": 15844 * at} for at in (1, 4801)]}
    (tmp_path / "notes.json").write_text(json.dumps(notes, indent=1))
    lines = b"goroutines: 1\ngoroutines: 12\ngoroutines: 4801\n"

    assert kind_of((tmp_path / "notes.json").read_bytes(), "notes.json") is None
    assert BY_NAME["runtime_lines"] is kind_of(lines, "app.log")


def test_an_archive_in_a_folder_is_not_its_first_file(tmp_path):
    with tarfile.open(tmp_path / "incident.tar.gz", "w:gz") as tar:
        tar.add(FIXTURES / "captures/healthy-go1.27.3/3-later/memstats.json", "1/memstats.json")
    (tmp_path / "todo.txt").write_text("ask Ann\n")

    with pytest.raises(CaptureError, match=r"incident\.tar\.gz: .*archive"):
        load(tmp_path)
