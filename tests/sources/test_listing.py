"""The files of a capture: in order, without links, each only where it lies."""

import functools
import gzip
import os
import shutil
from pathlib import Path

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.sources.bounds import Bounds
from gomem.sources.listing import list_capture
from gomem.sources.long import long_source, open_stream
from gomem.units import MIB
from tests.builders import FIXTURES


def test_a_folder_is_listed_in_natural_order_without_hidden_files(tmp_path):
    for name in ("heap-10", "heap-9", ".hidden"):
        (tmp_path / name).write_bytes(b"x")

    assert ["heap-9", "heap-10"] == [entry.name for entry in list_capture(tmp_path).entries]


def test_a_link_is_not_followed_and_is_told(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret")
    capture = tmp_path / "capture"
    capture.mkdir()
    (capture / "smaps").symlink_to(outside)

    listing = list_capture(capture)

    assert () == listing.entries
    assert ["smaps"] == [one.source for one in listing.damage]


def test_a_path_where_nothing_is_says_so(tmp_path):
    with pytest.raises(CaptureError, match="no such file or folder"):
        list_capture(tmp_path / "nothing")


@pytest.fixture
def twelve(tmp_path):
    """A folder, a tar and a zip of the same twelve files, a small gzip of 1 MiB each."""
    folder = tmp_path / "capture"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.gz").write_bytes(gzip.compress(bytes(MIB)))
    for form in ("tar", "zip"):
        shutil.make_archive(str(folder), form, folder)
    return tmp_path


@pytest.mark.parametrize("name", ["capture", "capture.tar", "capture.zip"])
def test_the_files_of_a_capture_are_bounded_together(twelve, name):
    """
    Of 12 MiB 3.5 are read: what came before the bound is whole, and each file after it is damage.
    """
    listing = list_capture(twelve / name, Bounds(capture_bytes=7 * MIB // 2))

    sources = [entry.open() for entry in listing.entries]

    assert [MIB, MIB, MIB, MIB // 2] + 8 * [0] == [len(source.data) for source in sources]
    assert 3 * [0] + 9 * [1] == [len(source.damage) for source in sources]
    assert "files are more than 3.50 MiB together; the rest is not read" in str(
        sources[3].damage[0]
    )
    assert "11.gz: not read" in str(sources[11].damage[0])


def test_loose_files_of_one_capture_share_its_bounds(twelve, monkeypatch):
    monkeypatch.setattr(
        "gomem.capture.load.Bounds", functools.partial(Bounds, capture_bytes=7 * MIB // 2)
    )
    smaps = next(FIXTURES.glob("captures/*/*/smaps"))

    capture = gomem.load(smaps, *sorted((twelve / "capture").iterdir()))

    assert 9 == sum("not read" in one.what for one in capture.damaged)


def test_a_long_log_is_counted_too(twelve, monkeypatch):
    monkeypatch.setattr("gomem.sources.long.LONG_FROM_BYTES", 1)
    bounds = Bounds(capture_bytes=7 * MIB // 2)

    for entry in list_capture(twelve / "capture", bounds).entries[:4]:
        list(open_stream(long_source(entry)).pieces())

    assert 0 == bounds.left_bytes


@pytest.mark.parametrize("name", ["capture", "capture.tar", "capture.zip"])
def test_no_more_files_are_listed_than_the_bound_and_that_is_told(twelve, name):
    listing = list_capture(twelve / name, Bounds(files=5))

    assert 5 == len(listing.entries)
    assert ["more than 5 files; the rest is not read"] == [one.what for one in listing.damage]
    assert () == list_capture(twelve / name, Bounds(files=12)).damage


def test_folders_are_followed_as_deep_as_the_bound_and_what_is_deeper_is_told(tmp_path):
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/smaps").write_bytes(b"x")
    (tmp_path / "a/b/c/smaps").write_bytes(b"x")

    listing = list_capture(tmp_path, Bounds(depth=2))

    assert ["a/b/smaps"] == [entry.name for entry in listing.entries]
    assert ["a/b/c: folders are nested too deeply; what is in it is not read"] == [
        str(one) for one in listing.damage
    ]


def test_a_tar_that_is_too_large_is_read_to_the_bound(tmp_path):
    for number in range(12):
        (tmp_path / f"{number}.log").write_bytes(bytes(1024))
    archive = shutil.make_archive(str(tmp_path / "capture"), "tar", tmp_path)

    listing = list_capture(archive, Bounds(artefact_bytes=8192))

    assert 0 < len(listing.entries) < 12
    assert all(bytes(1024) == entry.open().data for entry in listing.entries[:-1])
    assert f"{archive}: more than 8.00 KiB; the rest is not read" == str(listing.damage[0])
    assert "archive ends early" in listing.damage[1].what


def test_a_file_that_cannot_be_read_is_damage(tmp_path):
    (tmp_path / "smaps").write_bytes(b"x")
    (entry,) = list_capture(tmp_path).entries
    (tmp_path / "smaps").unlink()

    assert ["smaps: cannot be read: No such file or directory"] == [
        str(one) for one in entry.open().damage
    ]


def test_a_name_that_is_not_utf_8_is_shown_with_replacement_characters(tmp_path):
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    Path(os.fsdecode(folder)).mkdir()
    Path(os.fsdecode(folder + b"/smaps-\xff")).write_bytes(b"x")

    listing = list_capture(os.fsdecode(folder))

    assert f"{tmp_path}/caf\ufffd" == listing.name
    assert ["smaps-\ufffd"] == [entry.name for entry in listing.entries]
    assert [b"x"] == [entry.open().data for entry in listing.entries]
