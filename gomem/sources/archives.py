"""List the files of a zip or tar archive, and read them in place: nothing is unpacked to disk."""

from __future__ import annotations

import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, TypeVar, cast

from gomem.errors import CaptureError, Damage
from gomem.sources.artefact import chunks_of, open_source
from gomem.sources.bounds import Bounds, expanded
from gomem.sources.listing import Entry, Listing
from gomem.sources.names import readable_name
from gomem.sources.paths import place_of
from gomem.sources.times import time_of_seconds
from gomem.text import Quoted, text
from gomem.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Member = TypeVar("Member", zipfile.ZipInfo, tarfile.TarInfo)

# Errors of the standard library for truncated, corrupt, encrypted or malicious archives.
UNREADABLE = (
    *(OSError, EOFError, RuntimeError, ValueError, OverflowError, struct.error, zlib.error),
    *(lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError),
)


def list_zip(root: Path, bounds: Bounds) -> Listing:
    """List a zip, which stays open while its entries are used; CaptureError if unreadable."""
    named = place_of(root)
    try:
        archive = zipfile.ZipFile(root)
    except UNREADABLE as error:
        what = text("{}: not a readable zip archive: {}", named, Quoted(error))
        raise CaptureError(what) from error
    members = [
        (info.filename, info) for info in archive.infolist() if not info.filename.endswith("/")
    ]
    damage: list[Damage] = []
    entries = [
        Entry(name, _zip_time(info), bounds, partial(_zip_chunks, archive, info))
        for name, info in _inside(root, members, bounds, damage)
    ]
    return Listing.of(root, entries, damage)


def _zip_chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield a member's content, unless it expands far more than any real file."""
    most, size = expanded(info.compress_size), 0
    for chunk in _chunks(partial(archive.open, info)):
        yield chunk
        size += len(chunk)
        if size > most:
            raise OSError(f"more than {format_bytes(most)} when decompressed; the rest is not read")


def _chunks(open_member: Callable[[], IO[bytes] | None]) -> Iterator[bytes]:
    """Yield a member's content, as the standard library reads it."""
    try:
        with cast("IO[bytes]", open_member()) as file:
            yield from chunks_of(file)
    except UNREADABLE as error:
        raise OSError(f"from the archive: {error}") from error


def _zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """The time in a zip: local time of an unknown zone, to 2 s, so it is only good for sorting."""
    with suppress(ValueError):
        return datetime(*info.date_time, tzinfo=UTC)
    return None


def list_tar(root: Path, bounds: Bounds) -> Listing:
    """List a tar, which is decompressed in memory; CaptureError if unreadable."""
    whole = open_source(root, bounds=Bounds(bounds.artefact_bytes, bounds.artefact_bytes))
    damage = list(whole.damage)
    try:
        archive = tarfile.open(fileobj=io.BytesIO(whole.data), mode="r:")  # noqa: SIM115 - as bytes
        members = _tar_members(archive, whole.data, whole.name, damage)
    except UNREADABLE as error:
        what = text("{}: not a readable tar archive: {}", place_of(root), Quoted(error))
        raise CaptureError(what) from error
    read = partial(_tar_chunks, archive, whole.data)
    entries = [
        Entry(name, time_of_seconds(info.mtime), bounds, partial(read, info))
        for name, info in _inside(root, members, bounds, damage)
    ]
    return Listing.of(root, entries, damage)


def _tar_members(
    archive: tarfile.TarFile, data: bytes, name: str, damage: list[Damage]
) -> list[tuple[str, tarfile.TarInfo]]:
    """The regular files; a missing end-of-archive marker is damage."""
    members = []
    try:
        for info in archive:
            if info.isreg():
                members.append((info.name, info))
            elif not info.isdir():
                what = "not a regular file; links are not followed"
                damage.append(Damage(readable_name(info.name), "", what))
    except UNREADABLE as error:
        damage.append(Damage(name, f"byte {archive.offset}", f"archive ends early: {error}"))
        return members
    end = data[archive.offset : archive.offset + tarfile.BLOCKSIZE]
    if end.strip(b"\0") or not end:
        found = "what follows is no header" if end else "the file ends without the archive's end"
        what = f"archive ends early: {found}; copy the file again"
        damage.append(Damage(name, f"byte {archive.offset}", what))
    return members


def _tar_chunks(archive: tarfile.TarFile, data: bytes, info: tarfile.TarInfo) -> Iterator[bytes]:
    """Yield a member's content; holes of a sparse file are zeros."""
    if info.issparse():
        yield from _chunks(partial(archive.extractfile, info))
        return
    content = data[info.offset_data : info.offset_data + info.size]
    yield content
    if len(content) < info.size:
        raise OSError(f"archive ends early: {len(content)} of {info.size} bytes")


def _inside(
    root: Path, members: Sequence[tuple[str, Member]], bounds: Bounds, damage: list[Damage]
) -> list[tuple[str, Member]]:
    """The members inside the capture, with names relative to their common folder."""
    kept: list[tuple[PurePosixPath, Member]] = []
    for stored_name, info in members:
        name = readable_name(stored_name)
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or not path.parts:
            damage.append(Damage(name, "", "names a place outside the capture; left out"))
        elif len(kept) == bounds.files:
            what = f"more than {bounds.files} files; the rest is not read"
            damage.append(Damage(readable_name(str(root)), "", what))
            break
        elif not any(part.startswith(".") for part in path.parts):
            kept.append((path, info))
    prefix = _common_folder([path for path, _ in kept])
    inside = [(path.relative_to(prefix).as_posix(), info) for path, info in kept]
    last: dict[str, Member] = dict(inside)
    times = Counter(name for name, _ in inside)
    damage += [
        Damage(
            name, "", f"is in the archive {count} times; only the last is read, as tar unpacks it"
        )
        for name, count in times.items()
        if count > 1
    ]
    return list(last.items())


def _common_folder(paths: list[PurePosixPath]) -> PurePosixPath:
    """The single top folder of an archive, if there is one."""
    tops = {path.parts[0] for path in paths}
    if len(tops) == 1 and all(len(path.parts) > 1 for path in paths):
        return PurePosixPath(*tops)
    return PurePosixPath()
