"""Captures get copied: cloned, unzipped, fetched from a bucket. The dates of files tell nothing."""

import os
import shutil

import pytest

import gomem
from tests.builders import FIXTURES, diagnosed

HOUR = 3600.0
NOW = 1_700_000_000.0
COPIED = [
    FIXTURES / "captures" / name
    for name in ("cache-shrink-go1.12.17", "healthy-go1.27.3", "zeroing-go1.24.2")
]


def copied(capture, folder, *, seconds_apart: float):
    """A copy without its manifest, whose files are dated so far apart, the first the newest."""
    shutil.copytree(capture, folder)
    (folder / "gomem.json").unlink()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for number, path in enumerate(files):
        date = NOW - number * seconds_apart
        os.utime(path, (date, date))
    return gomem.diagnose(gomem.load(folder, go_version=str(gomem.load(capture).go_version)))


def told(diagnosis: gomem.Diagnosis):
    """What a diagnosis says, without the names of what was collected."""
    return [(one.code, one.severity, one.moment, one.title) for one in diagnosis.findings]


@pytest.mark.at_most(2)
@pytest.mark.parametrize("capture", COPIED, ids=lambda path: path.name)
@pytest.mark.parametrize("seconds_apart", [0.0, HOUR], ids=["all-alike", "hours-apart"])
def test_the_dates_of_files_neither_create_nor_remove_a_finding(capture, seconds_apart, tmp_path):
    """
    The same findings, in the same words, of the same moments, as with the recorded times.
    """
    copy = copied(capture, tmp_path / "copy", seconds_apart=seconds_apart)

    assert told(diagnosed(capture)) == told(copy)
    assert list(diagnosed(capture).ledgers) == list(copy.ledgers)


@pytest.mark.parametrize("seconds_apart", [0.0, HOUR], ids=["all-alike", "hours-apart"])
def test_without_a_clock_there_is_no_skew_and_no_time(seconds_apart, tmp_path):
    """
    A moment without profile or manifest has files with dates, and no clock.
    """
    (tmp_path / "m").mkdir()
    for name in ("smaps", "memstats.json"):
        shutil.copy(COPIED[1] / "2-steady" / name, tmp_path / "m" / name)
    copy = tmp_path / "m"
    os.utime(copy / "smaps", (NOW + seconds_apart, NOW + seconds_apart))

    diagnosis = gomem.diagnose(copy)
    (facts,) = diagnosis.moments

    assert facts.skew.seconds is None
    assert facts.skew.collections is None
    assert facts.time is None
    assert diagnosis.capture.moments["time"].isna().all()


def test_moments_are_ordered_by_the_collections_they_know(tmp_path):
    """
    Named b before a, and MemStats say which was first: the last collection that each knows.
    """
    for name, moment in (("b", "1-start"), ("a", "3-later")):
        (tmp_path / name).mkdir()
        for file in ("smaps", "memstats.json"):
            shutil.copy(COPIED[1] / moment / file, tmp_path / name / file)

    assert ["b", "a"] == list(gomem.load(tmp_path).moments["moment"])
