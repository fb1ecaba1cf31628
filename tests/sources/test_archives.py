"""Zip and tar: read where the members lie, nothing leaves the capture, no cut passes."""

import io
import subprocess
import tarfile
import zipfile

import pytest

from gomem.errors import CaptureError
from gomem.sources.listing import list_capture, only_archive

TEXT = b"heap profile: 1\n" * 4000


def tar_with(path, members: dict[str, bytes], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


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


def test_a_cut_member_gives_what_is_there_and_says_how_much(tmp_path):
    tar_with(tmp_path / "c.tar", {"a": TEXT, "b": TEXT}, "w:")
    whole = (tmp_path / "c.tar").read_bytes()
    (tmp_path / "c.tar").write_bytes(whole[: 512 + len(TEXT) + 512 + 512 + 1000])

    source = list_capture(tmp_path / "c.tar").by_name["b"].open()

    assert TEXT[: len(source.data)] == source.data
    assert [f"b: cannot be read: archive ends early: {len(source.data)} of {len(TEXT)} bytes"] == [
        str(one) for one in source.damage
    ]


@pytest.mark.parametrize(
    ("end", "what"),
    [
        (lambda whole, at: whole[:at], "the file ends without the archive's end"),
        (lambda whole, at: whole[:at] + b"x" * 512 + whole[at + 512 :], "no header"),
    ],
)
def test_an_archive_that_ends_between_two_members_is_damage(tmp_path, end, what):
    """
    Its members are whole, so that only the missing mark of the end tells that there were more.
    """
    tar_with(tmp_path / "c.tar", {"a": b"x" * 512, "b": TEXT}, "w:")
    whole = (tmp_path / "c.tar").read_bytes()
    (tmp_path / "c.tar").write_bytes(end(whole, 1024))

    listing = list_capture(tmp_path / "c.tar")

    assert ["a"] == [entry.name for entry in listing.entries]
    assert ["byte 1024"] == [one.where for one in listing.damage]
    assert what in listing.damage[0].what


@pytest.mark.parametrize("form", ["gnu", "posix"])
def test_a_sparse_member_has_its_holes(tmp_path, form):
    """
    Only what is no hole is stored: the member's bytes in the archive are not its content.
    """
    with (tmp_path / "smaps").open("wb") as file:
        for at in (0, 1 << 20, 3 << 20):
            file.seek(at)
            file.write(TEXT)
        file.truncate(4 << 20)
    subprocess.run(
        ["tar", f"--format={form}", "--sparse", "-cf", "c.tar", "smaps"], cwd=tmp_path, check=True
    )
    assert (tmp_path / "c.tar").stat().st_size < 1 << 20

    (entry,) = list_capture(tmp_path / "c.tar").entries

    assert (tmp_path / "smaps").read_bytes() == entry.open().data


def test_a_zip_is_opened_once(tmp_path, monkeypatch):
    """
    Its directory is read once, and not again for each of its members.
    """
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        for number in range(50):
            archive.writestr(f"{number}/smaps", TEXT)
    opened = []
    read_directory = zipfile.ZipFile._RealGetContents
    monkeypatch.setattr(
        zipfile.ZipFile,
        "_RealGetContents",
        lambda archive: (opened.append(archive), read_directory(archive)),
    )

    sources = [entry.open() for entry in list_capture(tmp_path / "c.zip").entries]

    assert 50 * [TEXT] == [source.data for source in sources]
    assert 1 == len(opened)


def test_a_member_of_a_zip_that_is_corrupt_is_damage_and_the_others_are_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("a", TEXT)
        archive.writestr("b", TEXT)
    stored = (tmp_path / "c.zip").read_bytes()
    (tmp_path / "c.zip").write_bytes(stored.replace(TEXT, TEXT[:-1] + b"X", 1))

    a, b = [entry.open() for entry in list_capture(tmp_path / "c.zip").entries]

    assert "a: cannot be read: from the archive: Bad CRC-32" in str(a.damage[0])
    assert TEXT == b.data
    assert () == b.damage


def test_a_member_whose_name_is_not_utf_8_is_shown_with_replacement_characters(tmp_path):
    name = b"api/caf\xe9\x1b[31m".decode("utf-8", "surrogateescape")
    tar_with(tmp_path / "c.tar", {name: TEXT})

    (entry,) = list_capture(tmp_path / "c.tar").entries

    assert "caf\ufffd\x1b[31m" == entry.name
    assert TEXT == entry.open().data


@pytest.mark.parametrize(
    ("members", "names"),
    [
        (["smaps"], ["smaps"]),
        (["api/smaps"], ["smaps"]),
        (["api/1/smaps", "api/2/smaps"], ["1/smaps", "2/smaps"]),
        (["api/smaps", "smaps"], ["api/smaps", "smaps"]),
        (["a/smaps", "b/smaps"], ["a/smaps", "b/smaps"]),
        (["api/.git/x", ".DS_Store", "api/smaps"], ["smaps"]),
        (["api\\smaps", "api/status"], ["smaps", "status"]),
    ],
)
def test_names_are_those_inside_the_one_folder(members, names, tmp_path):
    """
    Windows writes backslashes; hidden files are left out.
    """
    tar_with(tmp_path / "c.tar", dict.fromkeys(members, b"x"))

    listing = list_capture(tmp_path / "c.tar")

    assert names == [entry.name for entry in listing.entries]
    assert () == listing.damage


def test_a_link_in_an_archive_is_told_and_a_folder_is_not(tmp_path):
    with tarfile.open(tmp_path / "c.tar", "w:") as archive:
        for name, kind in (("api", tarfile.DIRTYPE), ("api/link", tarfile.SYMTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            archive.addfile(info)

    listing = list_capture(tmp_path / "c.tar")

    assert () == listing.entries
    assert ["api/link: not a regular file; links are not followed"] == [
        str(one) for one in listing.damage
    ]


def test_members_have_the_time_that_the_archive_records(tmp_path):
    with tarfile.open(tmp_path / "c.tar", "w:") as archive:
        for name, seconds in (("a", 1.5), ("b", -1e12)):
            info = tarfile.TarInfo(name)
            info.mtime = seconds
            archive.addfile(info)
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("a", (2026, 11, 22, 1, 2, 4)), b"x")
        archive.writestr(zipfile.ZipInfo("b", (2026, 0, 0, 1, 2, 4)), b"x")

    of_tar, of_zip = (list_capture(tmp_path / name).by_name for name in ("c.tar", "c.zip"))

    assert 1.5 == of_tar["a"].modified.timestamp()
    assert "2026-11-22T01:02:04+00:00" == of_zip["a"].modified.isoformat()
    assert None is of_tar["b"].modified is of_zip["b"].modified


@pytest.mark.parametrize("form", ["zip", "tar"])
def test_of_a_name_that_an_archive_has_twice_the_last_is_read_and_the_others_are_told(
    form, tmp_path
):
    path = tmp_path / f"c.{form}"
    if form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("gctrace.log", b"whole")
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr("gctrace.log", b"cut")
    else:
        with tarfile.open(path, "w") as archive:
            for content in (b"whole", b"cut"):
                info = tarfile.TarInfo("gctrace.log")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))

    listing = list_capture(path)

    assert [b"cut"] == [entry.open().data for entry in listing.entries]
    assert [("gctrace.log", True)] == [
        (one.source, "2 times" in one.what) for one in listing.damage
    ]


@pytest.mark.parametrize("beside", [None, ".DS_Store", "readme.txt", "other.zip"])
def test_a_folder_with_one_archive_alone_is_that_archive(tmp_path, beside):
    tar_with(tmp_path / "c.tgz", {"api/1-start/smaps": b"x"})
    if beside:
        (tmp_path / beside).write_bytes(b"x")

    is_alone = beside is None or beside.startswith(".")

    assert (tmp_path / "c.tgz" if is_alone else tmp_path) == only_archive(tmp_path)
