"""Which files a page was made from: all of a folder, an archive as one, what a pattern matches."""

import hashlib

import pytest

from gomem.errors import CaptureError
from gomem.sources.listing import digests_of


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_files_of_a_folder_are_named_from_it_in_natural_order(tmp_path):
    folder = tmp_path / "api"
    for name in ("heap-10.pb", "heap-9.pb", ".hidden"):
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(name.encode())

    found = digests_of(folder)

    assert ["api/heap-9.pb", "api/heap-10.pb"] == [one.name for one in found]
    assert [9, 10] == [one.stored_bytes for one in found]
    assert [sha256(b"heap-9.pb"), sha256(b"heap-10.pb")] == [one.sha256 for one in found]


def test_an_archive_is_the_file_that_was_given(tmp_path):
    """
    Its digest is what `sha256sum` prints of it; it need not even be one.
    """
    archive = tmp_path / "capture.tar.gz"
    archive.write_bytes(b"cut")

    (found,) = digests_of(archive)

    assert ("capture.tar.gz", sha256(b"cut")) == (found.name, found.sha256)


def test_a_pattern_is_all_that_it_matches(tmp_path):
    for number in (2, 10, 1):
        (tmp_path / f"run-{number}").write_bytes(b"x")

    found = digests_of(tmp_path / "run-*")

    assert ["run-1", "run-2", "run-10"] == [one.name for one in found]
    with pytest.raises(CaptureError, match="no file or folder matches"):
        digests_of(tmp_path / "heap-*")
