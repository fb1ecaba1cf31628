"""Paths, archives and bytes, opened within bounds: nothing leaves the capture, no cut passes."""

import gzip
import io
import tarfile
import zipfile

import pytest

from gomem import sources
from gomem.errors import CaptureError
from gomem.sources import list_capture, natural_key, open_source, packaged

TEXT = b"heap profile: 1\n" * 4000


def tar_with(path, members: dict[str, bytes], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def test_gzip_is_undone_all_members_of_it():
    source = open_source(gzip.compress(TEXT) + gzip.compress(b"tail"))

    assert TEXT + b"tail" == source.data
    assert () == source.damage


def test_zstd_is_undone():
    import pyarrow as pa

    buffer = pa.BufferOutputStream()
    with pa.CompressedOutputStream(buffer, "zstd") as stream:
        stream.write(TEXT)

    assert TEXT == open_source(buffer.getvalue().to_pybytes()).data


def test_a_cut_gzip_gives_what_is_there_and_says_where_it_ends():
    stored = gzip.compress(TEXT)

    source = open_source(stored[:-30], name="heap.pb.gz")

    assert TEXT.startswith(source.data)
    assert [f"heap.pb.gz: byte {len(stored) - 30}"] == [one.place for one in source.damage]
    assert "ends early" in source.damage[0].what


def test_a_corrupt_gzip_is_damage():
    stored = bytearray(gzip.compress(TEXT))
    stored[20:30] = b"\xff" * 10

    assert "gzip stream is corrupt" in open_source(bytes(stored)).damage[0].what


def test_a_gzip_bomb_stops_at_the_bound(monkeypatch):
    monkeypatch.setattr(sources, "ARTEFACT_LIMIT_BYTES", 1 << 20)

    source = open_source(gzip.compress(bytes(8 << 20)), name="bomb.gz")

    assert 1 << 20 == len(source.data)
    assert "more than 1.00 MiB when decompressed" in source.damage[0].what


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


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil"])
def test_a_name_that_leaves_the_archive_is_left_out(tmp_path, name):
    tar_with(tmp_path / "c.tar.gz", {name: b"x", "api/smaps": b"y"})

    listing = list_capture(tmp_path / "c.tar.gz")

    assert ["smaps"] == [entry.name for entry in listing.entries]
    assert [name] == [one.source for one in listing.damage]


def test_the_one_top_folder_of_an_archive_is_not_part_of_the_names(tmp_path):
    tar_with(tmp_path / "c.tgz", {"api/1-start/smaps": b"x", "api/app.log": b"y"})

    names = [entry.name for entry in list_capture(tmp_path / "c.tgz").entries]

    assert ["1-start/smaps", "app.log"] == names


def test_a_zip_is_read_like_a_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("1/smaps", TEXT)

    (entry,) = list_capture(tmp_path / "c.zip").entries

    assert TEXT == entry.open().data


def test_a_cut_archive_gives_what_is_there(tmp_path):
    tar_with(tmp_path / "c.tar", {"a": TEXT, "b": TEXT}, "w:")
    whole = (tmp_path / "c.tar").read_bytes()
    (tmp_path / "c.tar").write_bytes(whole[: len(TEXT) + 4096])

    listing = list_capture(tmp_path / "c.tar")

    assert TEXT == listing.by_name["a"].open().data
    assert listing.by_name["b"].open().damage or listing.damage


@pytest.mark.parametrize("name", ["c.zip", "c.tar.gz"])
def test_what_is_no_archive_is_an_error_with_its_name(tmp_path, name):
    (tmp_path / name).write_bytes(b"not an archive at all")

    with pytest.raises(CaptureError, match="not a readable"):
        list_capture(tmp_path / name)


def test_a_path_where_nothing_is_says_so(tmp_path):
    with pytest.raises(CaptureError, match="no such file or folder"):
        list_capture(tmp_path / "nothing")


def test_the_demo_and_the_notebooks_are_there():
    assert packaged("demo").is_dir()
    assert packaged("notebooks").is_dir()


def test_numbers_in_names_count_as_numbers():
    assert ["a-2", "a-10", "b-1"] == sorted(["b-1", "a-10", "a-2"], key=natural_key)
