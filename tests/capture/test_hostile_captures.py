"""A file that fells its reader, a name or a time from nowhere: the rest is reported as it was."""

import os
import shutil

import pytest
from pandas.testing import assert_frame_equal

import gomem
from gomem.inputs.kinds import Kind
from gomem.views.json.report import render_json_report
from tests.builders import FIXTURES, as_html, as_text

ZEROING = FIXTURES / "captures/zeroing-go1.24.2"


@pytest.fixture
def capture(tmp_path):
    shutil.copytree(ZEROING, tmp_path / "c")
    return tmp_path / "c"


def reported(path):
    """What was read of a capture, once its reports are seen to be made."""
    diagnosis = gomem.diagnose(path)
    for render in (as_html, render_json_report, as_text):
        assert render(diagnosis).encode()
    return diagnosis.capture


@pytest.mark.parametrize("raised", [ZeroDivisionError("0 / 0"), RecursionError(), KeyError("x")])
def test_an_error_that_no_reader_foresaw_is_the_damage_of_its_file(capture, raised, monkeypatch):
    read = Kind.read

    def failing(kind, readable):
        if kind.name == "metrics":
            raise raised
        return read(kind, readable)

    monkeypatch.setattr(Kind, "read", failing)

    loaded = reported(capture)

    assert {"1-start/metrics.json", "2-loaded/metrics.json"} <= {
        one.source for one in loaded.damaged
    }
    assert type(raised).__name__ in loaded.damaged[0].what
    assert "please report it" in loaded.damaged[0].what
    assert_frame_equal(gomem.load(ZEROING).memstats, loaded.memstats)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, MemoryError])
def test_ctrl_c_and_want_of_memory_are_nobodys_damage(capture, raised, monkeypatch):
    def failing(*_):
        raise raised

    monkeypatch.setattr(Kind, "read", failing)

    with pytest.raises(raised):
        gomem.load(capture)


def test_files_whose_names_are_not_utf_8_are_read_and_shown(capture):
    harmed = capture / "2-loaded" / os.fsdecode(b"smaps-\xe9")
    (capture / "2-loaded/smaps").rename(harmed)

    loaded = reported(capture)

    assert "2-loaded/smaps-\ufffd" in set(loaded.artefacts["path"])
    assert len(gomem.load(ZEROING).smaps) == len(loaded.smaps)


def test_loose_files_whose_names_are_not_utf_8_are_read_and_shown(tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(ZEROING / "2-loaded", folder)

    loaded = gomem.load(folder / "smaps", folder / "memstats.json")

    assert f"{tmp_path}/caf\ufffd" == loaded.name


@pytest.mark.parametrize("seconds", [9_999_999_999, 253_402_300_799])
def test_a_file_time_that_no_frame_can_hold_is_unknown(capture, seconds):
    """
    Of the years 2286 and 9999, as a copy or a clock that was never set can give them.
    """
    (capture / "gomem.json").unlink()
    for path in capture.rglob("*.json"):
        os.utime(path, (seconds, seconds))

    loaded = gomem.load(capture)

    assert loaded.artefacts.set_index("path")["time"].isna()["2-loaded/memstats.json"]


@pytest.mark.parametrize(
    "stamp", ["2286-11-20T17:46:40Z", "9999-01-01T00-00-00", "0001-01-01T00:00:00Z"]
)
def test_a_time_in_a_name_that_no_frame_can_hold_is_unknown(capture, stamp):
    (capture / "gomem.json").unlink()
    (capture / "2-loaded/memstats.json").rename(capture / f"2-loaded/memstats-{stamp}.json")

    times = gomem.load(capture).artefacts.set_index("path")["time_source"]

    assert "name" != times[f"2-loaded/memstats-{stamp}.json"]


@pytest.mark.parametrize(
    "time", ["2286-11-20T17:46:40Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
)
def test_a_time_in_a_manifest_that_no_frame_can_hold_is_unknown(capture, time):
    manifest = capture / "gomem.json"
    text = manifest.read_text()
    first = text.split('"time": "')[1].split('"')[0]
    manifest.write_text(text.replace(first, time))

    assert len(gomem.load(capture).artefacts) == len(gomem.load(ZEROING).artefacts)
