"""What tells the time of an artefact, which of several does, and what may be subtracted."""

import json
import os
import shutil
from datetime import UTC, datetime

import pytest

import gomem
from gomem.sources.times import parse_time
from tests.builders import FIXTURES

CAPTURE = FIXTURES / "captures/cache-shrink-go1.12.17"
FILLED, SHRUNK = CAPTURE / "1-filled", CAPTURE / "2-shrunk"
STAMP = 1_600_000_000
STAMPED = datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


def copied(folder, files):
    """A folder of recorded files under other names; `gomem.json` is text."""
    for name, source in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, str):
            (folder / name).write_text(source)
        else:
            shutil.copy(source, folder / name)
    return gomem.load(folder)


def manifest(*entries):
    moments = [{"name": "m", "artefacts": list(entries)}]
    return json.dumps({"schema": "gomem.capture/1", "moments": moments})


def sources_of(capture):
    return dict(zip(capture.artefacts["path"], capture.artefacts["time_source"], strict=True))


def test_the_manifest_stands_before_the_name_and_the_name_before_the_own_clock(tmp_path):
    entry = {"path": f"smaps-{STAMP}", "time": "2026-01-01T00:00:00Z"}
    files = {f"smaps-{STAMP}": FILLED / "smaps", f"heap-{STAMP}.pb.gz": FILLED / "heap.pb.gz"}
    files |= {"goroutine.pb.gz": FILLED / "goroutine.pb.gz", "statm": FILLED / "statm"}

    capture = copied(tmp_path, files | {"gomem.json": manifest(entry)})

    assert {
        f"smaps-{STAMP}": "manifest",
        f"heap-{STAMP}.pb.gz": "name",
        "goroutine.pb.gz": "its own clock",
        "statm": "file",
    } == sources_of(capture)


def test_a_manifest_without_a_time_leaves_the_artefact_its_own(tmp_path):
    files = {"heap.pb.gz": FILLED / "heap.pb.gz", "gomem.json": manifest({"path": "heap.pb.gz"})}

    capture = copied(tmp_path, files)

    assert ["m"] == list(capture.by_moment)
    assert {"heap.pb.gz": "its own clock"} == sources_of(capture)


def test_a_moment_is_when_its_best_clock_says(tmp_path):
    """
    The stamp of a script is in the past or the future of the profile's own clock, as zones are.
    """
    files = {f"smaps-{STAMP}": FILLED / "smaps", "heap.pb.gz": FILLED / "heap.pb.gz"}

    (moment,) = copied(tmp_path, files).by_moment.values()

    assert STAMPED == moment.time


def test_names_and_dates_of_files_are_not_subtracted(tmp_path):
    """
    MemStats and smaps by a script's stamp, profiles by their own clock: only these have a skew.
    """
    files = {f"{name}-{STAMP}": FILLED / name for name in ("smaps", "status", "statm")}
    files |= {f"memstats-{STAMP}.json": FILLED / "memstats.json"}

    capture = copied(tmp_path, files)
    (moment,) = capture.by_moment.values()
    (facts,) = gomem.diagnose(capture).moments

    assert STAMPED == moment.time
    assert moment.skew_seconds is None
    assert facts.skew.seconds is None
    assert moment.time_of("smaps") is None


def test_the_skew_of_a_moment_needs_two_clocks(tmp_path):
    alone = copied(tmp_path / "one", {"heap.pb.gz": FILLED / "heap.pb.gz"})
    both = {name: FILLED / name for name in ("heap.pb.gz", "goroutine.pb.gz")}
    (first,), (second,) = (
        capture.by_moment.values() for capture in (alone, copied(tmp_path / "two", both))
    )

    assert first.skew_seconds is None
    assert second.skew_seconds is not None
    assert 0 < second.skew_seconds < 1


def test_a_stamp_two_hours_ahead_crosses_no_collection(tmp_path):
    """
    The log is tied to the wall clock by LastGC, and a script's stamp is of its own zone.
    """
    last = gomem.load(CAPTURE)["1-filled"].memstats["LastGC"].iloc[0]
    ahead = int(last.timestamp()) + 7200
    files = {f"smaps-{ahead}": FILLED / "smaps", "gctrace.log": CAPTURE / "gctrace.log"}
    files |= {f"memstats-{ahead}.json": FILLED / "memstats.json"}

    diagnosis = gomem.diagnose(copied(tmp_path, files))

    assert "data-skew" not in {one.code for one in diagnosis.findings}
    assert "doubtful" not in set(diagnosis.ledger["confidence"])


def test_of_two_that_only_memstats_date_the_earlier_collection_is_first(tmp_path):
    """
    A moment dated by its profile stands between two that are not: names say nothing, MemStats do.
    """
    later = CAPTURE / "3-collected"
    files = {"b/memstats.json": FILLED / "memstats.json", "b/heap.pb.gz": FILLED / "heap.pb.gz"}
    files |= {"a/memstats.json": later / "memstats.json", "a/smaps": later / "smaps"}

    assert ["b", "a"] == list(copied(tmp_path, files).by_moment)


@pytest.mark.parametrize("dates", [(0, 60), (60, 0)])
def test_files_that_say_nothing_else_are_in_the_order_of_their_dates(dates, tmp_path):
    for name, date in zip(("smaps.txt", "smaps.text"), dates, strict=True):
        shutil.copy(FILLED / "smaps", tmp_path / name)
        os.utime(tmp_path / name, (STAMP + date, STAMP + date))

    capture = gomem.load(tmp_path)

    order = list(capture.smaps["artefact"].drop_duplicates())
    assert (
        ["smaps.txt", "smaps.text"] if dates == (0, 60) else ["smaps.text", "smaps.txt"]
    ) == order
    assert ["capture-1", "capture-2"] == list(capture.by_moment)


def test_profiles_whose_names_say_nothing_are_in_the_order_of_their_own_clocks(tmp_path):
    files = {"heap.gz": SHRUNK / "heap.pb.gz", "heap.pb.gz": FILLED / "heap.pb.gz"}

    capture = copied(tmp_path, files)

    paths = [one.artefacts[0].source.name for one in capture.by_moment.values()]
    assert ["heap.pb.gz", "heap.gz"] == paths


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-01-01T01:00:00+01:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("2300-01-01T00:00:00Z", None),
        ("yesterday", None),
        (1_600_000_000, None),
        (None, None),
    ],
)
def test_a_manifests_time(value, time):
    assert time == parse_time(value)
