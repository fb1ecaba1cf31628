"""Where captures lie: folders, archives, patterns, and object storage."""

import shutil
from pathlib import Path

import pytest

from gomem.errors import CaptureError
from gomem.sources.captures import at_hand, captures_below, digest_of


def made(root, *files):
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())


def names(places):
    return [place.name for place in places]


def test_each_child_of_a_folder_is_a_capture(tmp_path):
    made(tmp_path, "pod-10/smaps", "pod-9/1-start/smaps", "pod-9/2-end/smaps", "heap.pb.gz",
         "pod-11.tar.gz", ".hidden/smaps")  # fmt: skip

    assert ["heap.pb.gz", "pod-9", "pod-10", "pod-11.tar.gz"] == names(captures_below(tmp_path))


def test_a_folder_with_a_manifest_is_one_capture_and_its_moments_are_none(tmp_path):
    made(tmp_path, "c/gomem.json", "c/1-start/gomem.json", "c/1-start/smaps")

    assert ["c"] == names(captures_below(tmp_path / "c"))
    assert ["c"] == names(captures_below(tmp_path))


def test_folders_of_captures_are_looked_into(tmp_path):
    made(tmp_path, "api/a/1/gomem.json", "api/a/2/gomem.json", "api/b/1.tar.gz", "web/loose/smaps",
         "api/a/3/smaps")  # fmt: skip

    expected = ["api/a/1", "api/a/2", "api/a/3", "api/b/1.tar.gz", "web"]
    assert expected == names(captures_below(tmp_path))


def test_with_a_depth_captures_lie_there_whatever_they_hold(tmp_path):
    made(tmp_path, "api/a/1/smaps", "api/a/2/smaps", "api/note.txt")

    assert ["api/a/1", "api/a/2"] == names(captures_below(tmp_path, 3))


def test_a_pattern_names_captures_by_what_it_leaves_open(tmp_path):
    made(tmp_path, "x/a/1/smaps", "x/b/1/smaps")

    assert ["a/1", "b/1"] == names(captures_below(f"{tmp_path}/x/*/1"))


def test_nothing_there_is_an_error(tmp_path):
    with pytest.raises(CaptureError, match="no capture in it"):
        captures_below(tmp_path)
    with pytest.raises(CaptureError, match="no such file or folder"):
        captures_below(tmp_path / "missing")


def test_a_digest_is_of_names_and_contents_alone(tmp_path):
    made(tmp_path, "a/1/smaps", "c/2/smaps")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    first, second, third = map(digest_of, captures_below(tmp_path))

    assert first == second
    assert first != third
    (tmp_path / "a/1/smaps").write_bytes(b"other")
    assert first != digest_of(captures_below(tmp_path)[0])


def test_object_storage_is_listed_and_copied_to_be_read():
    fsspec = pytest.importorskip("fsspec", reason="the extra fleet is not installed")
    store = fsspec.filesystem("memory")
    for name in ("a/1/smaps", "a/2/smaps", "b/1/smaps", "c.tar.gz"):
        store.pipe(f"/pods-listed/{name}", name.encode())

    places = captures_below("memory://pods-listed")

    assert ["a", "b", "c.tar.gz"] == names(places)
    assert ["a/1", "a/2", "b/1"] == names(captures_below("memory://pods-listed/*/[12]"))
    with at_hand(places[0]) as path:
        copied = Path(path)
        assert b"a/2/smaps" == (copied / "2/smaps").read_bytes()
    assert not copied.exists()
    before = digest_of(places[0])
    store.pipe("/pods-listed/a/1/smaps", b"longer than before")
    assert before != digest_of(captures_below("memory://pods-listed")[0])
