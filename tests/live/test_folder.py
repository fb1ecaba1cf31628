"""The folder of a capture: one capture at a time writes to it."""

import pytest

from gomem.capture.manifest import MANIFEST
from gomem.errors import CaptureError
from gomem.live.folder import CaptureFolder

FACTS = {"schema": "gomem.capture/1", "pid": 7, "started": "2026-11-20T03:53:49.000000Z"}


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_second_capture_to_a_folder_is_refused_before_it_begins(tmp_path):
    """
    Whether the folder was there or not as the second one looked; what the first wrote stays.
    """
    first, second = (CaptureFolder(tmp_path / "c", dict(FACTS)) for _ in range(2))
    first.begin({"buildinfo.txt": b"go1.27.3"})
    third, before = CaptureFolder(tmp_path / "c", dict(FACTS)), files(tmp_path / "c")

    for other in (second, third):
        with pytest.raises(CaptureError, match="another capture writes to it"):
            other.begin({"buildinfo.txt": b"other"})

    assert before == files(tmp_path / "c")
    assert {MANIFEST, "buildinfo.txt"} == set(before)


def test_after_a_capture_has_ended_another_goes_on_behind_it(tmp_path):
    first = CaptureFolder(tmp_path / "c", dict(FACTS))
    second = CaptureFolder(tmp_path / "c", dict(FACTS))
    first.begin({})
    (tmp_path / "c" / "1-20261120T035349Z").mkdir()
    first.end("done")

    second.begin({})

    assert 1 == second.moments
