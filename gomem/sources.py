"""A path, an open file, an archive or bytes: opened, decompressed within bounds, and named.

Captures come from strangers. So everything is read into memory up to a bound and nothing is ever
written: no archive is unpacked to disk, no link is followed out of a capture, no name in an archive
is used as a path. What a bound cuts off is `Damage`, and what came before the cut is still read.
"""

from __future__ import annotations

import hashlib
import io
import stat
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from gomem.errors import CaptureError, Damage
from gomem.units import GIB, MIB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    Readable: TypeAlias = (
        str | PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | "Source"
    )

ARTEFACT_LIMIT_BYTES = 2 * GIB  # one artefact, decompressed
CAPTURE_LIMIT_BYTES = 4 * GIB  # all artefacts of an archive together
CAPTURE_LIMIT_FILES = 100_000
FOLDER_DEPTH_LIMIT = 16
CHUNK_BYTES = MIB

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ARCHIVE_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".zip")


@dataclass(frozen=True)
class Source:
    """One artefact's bytes, decompressed, with its name and what is known of its time.

    Attributes:
        name: How messages and tables call it; inside a capture its path there, with `/`.
        data: The content, decompressed.
        modified: Modification time (UTC), unknown for bytes and streams.
        damage: What could not be read, such as the end of a cut gzip stream.
        stored: The bytes as stored.
    """

    name: str
    data: bytes
    stored: bytes
    modified: datetime | None = None
    damage: tuple[Damage, ...] = ()

    @property
    def stored_bytes(self) -> int:
        """Size as stored."""
        return len(self.stored)

    @cached_property
    def sha256(self) -> str:
        """Digest of the bytes as stored."""
        return hashlib.sha256(self.stored).hexdigest()


@dataclass(frozen=True)
class Entry:
    """A file of a capture, not read yet; `path` is where it lies, if not in an archive."""

    name: str
    modified: datetime | None
    _read: Callable[[], tuple[bytes, tuple[Damage, ...]]]
    path: Path | None = None

    def open(self) -> Source:
        """Read and decompress it within the bounds."""
        stored, damage = self._read()
        return _source(self.name, stored, self.modified, damage)


@dataclass(frozen=True)
class Listing:
    """The files of a capture in natural name order, and what could not be listed."""

    name: str
    entries: tuple[Entry, ...]
    damage: tuple[Damage, ...]

    @cached_property
    def by_name(self) -> dict[str, Entry]:
        """Entries by their path inside the capture."""
        return {entry.name: entry for entry in self.entries}


def open_source(readable: Readable, *, name: str | None = None) -> Source:
    """Read one artefact whole.

    Args:
        readable: A path, bytes, or a binary file object.
        name: What messages call it; a path names itself.

    Raises:
        CaptureError: The path does not exist, is a folder, or cannot be opened.
    """
    if isinstance(readable, Source):
        return readable
    if isinstance(readable, (bytes, bytearray, memoryview)):
        return _source(name or "<bytes>", bytes(readable), None, ())
    if hasattr(readable, "read"):
        stored, damage = _read_bounded(readable, name or stream_name(readable))
        return _source(name or stream_name(readable), stored, None, damage)
    return _open_path(Path(readable), name)


def list_capture(path: str | PathLike[str]) -> Listing:
    """List the files of a capture: a folder, a `.tar` (gzip, zstd), a `.zip`, or one file.

    Hidden files and folders are left out. Links are not followed.

    Raises:
        CaptureError: There is nothing at the path, or the archive cannot be opened.
    """
    root = Path(path)
    if not root.exists():
        raise CaptureError(f"{path}: no such file or folder")
    if root.is_dir():
        return _list_folder(root)
    if root.name.lower().endswith(".zip"):
        return _list_zip(root)
    if root.name.lower().endswith(ARCHIVE_SUFFIXES):
        return _list_tar(root)
    return Listing(str(path), (_file_entry(root, root.name),), ())


def packaged(name: str) -> Path:
    """A folder that ships with gomem: `demo` (a capture) or `notebooks`.

    In a wheel it lies inside the package; in a checkout it is the project's own folder.
    """
    inside = Path(str(resources.files("gomem"))) / "packaged" / name
    if inside.is_dir():
        return inside
    checkout = Path(str(resources.files("gomem"))).parent
    folder = {"demo": checkout / "fixtures" / "captures" / "zeroing-go1.24.2"}.get(
        name, checkout / name
    )
    if not folder.is_dir():
        raise CaptureError(f"{name}: not in this installation of gomem; install it again")
    return folder


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key in which `heap-9` comes before `heap-10`."""
    key: list[tuple[int, int, str]] = []
    digits = text = ""
    for character in f"{name}\0":
        if character.isascii() and character.isdigit():
            if text:
                key.append((1, 0, text))
                text = ""
            digits += character
        else:
            if digits:
                key.append((0, int(digits), ""))
                digits = ""
            text += character
    key.append((1, 0, text))
    return key


def _open_path(path: Path, name: str | None) -> Source:
    if path.is_dir():
        raise CaptureError(f"{path}: is a folder, wanted one artefact; name a file in it")
    try:
        with path.open("rb") as file:
            stored, damage = _read_bounded(file, name or str(path))
            modified = _utc(path.stat().st_mtime)
    except OSError as error:
        raise CaptureError(f"{path}: cannot be read: {error.strerror}") from error
    return _source(name or str(path), stored, modified, damage)


def _source(
    name: str, stored: bytes, modified: datetime | None, damage: tuple[Damage, ...]
) -> Source:
    data, more = decompress(stored, name)
    return Source(name, data, stored, modified, damage + more)


def decompress(stored: bytes, name: str) -> tuple[bytes, tuple[Damage, ...]]:
    """Undo gzip (all members) or zstd; other bytes come back as they are.

    A stream that is cut, corrupt or too large gives what could be read, and damage.
    """
    if stored.startswith(GZIP_MAGIC):
        return _gunzip(stored, name)
    if stored.startswith(ZSTD_MAGIC):
        return _unzstd(stored, name)
    return stored, ()


def _gunzip(stored: bytes, name: str) -> tuple[bytes, tuple[Damage, ...]]:
    pieces: list[bytes] = []
    size = 0
    rest = stored
    while rest.startswith(GZIP_MAGIC):
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            offset = len(stored) - len(rest)
            try:
                piece = member.decompress(rest, CHUNK_BYTES)
            except zlib.error as error:
                what = f"gzip stream is corrupt after {format_bytes(size)}: {error}"
                return b"".join(pieces), (Damage(name, f"byte {offset}", what),)
            pieces.append(piece)
            size += len(piece)
            rest = member.unconsumed_tail
            if size > ARTEFACT_LIMIT_BYTES:
                return _too_large(pieces, name)
            if not piece and not rest and not member.eof:
                what = f"gzip stream ends early, after {format_bytes(size)}; copy the file again"
                return b"".join(pieces), (Damage(name, f"byte {len(stored)}", what),)
        rest = member.unused_data
    return b"".join(pieces), ()


def _unzstd(stored: bytes, name: str) -> tuple[bytes, tuple[Damage, ...]]:
    import pyarrow as pa

    pieces: list[bytes] = []
    size = 0
    stream = pa.CompressedInputStream(pa.BufferReader(stored), "zstd")
    while True:
        try:
            piece = stream.read(CHUNK_BYTES)
        except OSError as error:
            what = f"zstd stream is cut or corrupt after {format_bytes(size)}: {error}"
            return b"".join(pieces), (Damage(name, "", what),)
        if not piece:
            return b"".join(pieces), ()
        pieces.append(piece)
        size += len(piece)
        if size > ARTEFACT_LIMIT_BYTES:
            return _too_large(pieces, name)


def _too_large(pieces: list[bytes], name: str) -> tuple[bytes, tuple[Damage, ...]]:
    what = f"more than {format_bytes(ARTEFACT_LIMIT_BYTES)} when decompressed; the rest is not read"
    return b"".join(pieces)[:ARTEFACT_LIMIT_BYTES], (Damage(name, "", what),)


def _read_bounded(file: Any, name: str) -> tuple[bytes, tuple[Damage, ...]]:
    """Read to the end or to the bound, in pieces: the sizes that files claim are not trusted."""
    buffer = io.BytesIO()
    while piece := file.read(CHUNK_BYTES):
        buffer.write(piece)
        if buffer.tell() > ARTEFACT_LIMIT_BYTES:
            what = f"more than {format_bytes(ARTEFACT_LIMIT_BYTES)}; the rest is not read"
            return buffer.getvalue()[:ARTEFACT_LIMIT_BYTES], (Damage(name, "", what),)
    return buffer.getvalue(), ()


def _list_folder(root: Path) -> Listing:
    entries: list[Entry] = []
    damage: list[Damage] = []
    for path in _walk(root, 0, damage):
        if len(entries) == CAPTURE_LIMIT_FILES:
            damage.append(Damage(str(root), "", f"more than {CAPTURE_LIMIT_FILES} files"))
            break
        entries.append(_file_entry(path, path.relative_to(root).as_posix()))
    return Listing(str(root), _in_order(entries), tuple(damage))


def _walk(folder: Path, depth: int, damage: list[Damage]) -> Iterator[Path]:
    if depth > FOLDER_DEPTH_LIMIT:
        what = f"folders nested deeper than {FOLDER_DEPTH_LIMIT}"
        damage.append(Damage(folder.name, "", what))
        return
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        damage.append(Damage(folder.name, "", f"folder cannot be read: {error.strerror}"))
        return
    for path in paths:
        if path.name.startswith("."):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            yield from _walk(path, depth + 1, damage)
        elif stat.S_ISREG(mode):
            yield path
        else:
            damage.append(Damage(path.name, "", "not a regular file; links are not followed"))


def _file_entry(path: Path, name: str) -> Entry:
    def read() -> tuple[bytes, tuple[Damage, ...]]:
        try:
            with path.open("rb") as file:
                return _read_bounded(file, name)
        except OSError as error:
            return b"", (Damage(name, "", f"cannot be read: {error.strerror}"),)

    return Entry(name, _utc(path.stat().st_mtime), read, path)


def _list_zip(root: Path) -> Listing:
    try:
        with zipfile.ZipFile(root) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise CaptureError(f"{root}: not a readable zip archive: {error}") from error

    def entry(info: zipfile.ZipInfo, name: str) -> Entry:
        def read() -> tuple[bytes, tuple[Damage, ...]]:
            try:
                with zipfile.ZipFile(root) as archive, archive.open(info) as file:
                    return _read_bounded(file, name)
            except (OSError, RuntimeError, zipfile.BadZipFile, zlib.error, EOFError) as error:
                return b"", (Damage(name, "", f"cannot be read from the archive: {error}"),)

        return Entry(name, _zip_time(info), read)

    return _list_members(root, [(info.filename, info.file_size, info) for info in members], entry)


def _list_tar(root: Path) -> Listing:
    stored = _open_path(root, None)
    damage = list(stored.damage)
    stream = io.BytesIO(stored.data)
    members: list[tarfile.TarInfo] = []
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            members = _tar_members(archive, root, damage)
    except tarfile.TarError as error:
        raise CaptureError(f"{root}: not a readable tar archive: {error}") from error

    def entry(info: tarfile.TarInfo, name: str) -> Entry:
        def read() -> tuple[bytes, tuple[Damage, ...]]:
            data = stored.data[info.offset_data : info.offset_data + info.size]
            if len(data) < info.size:
                what = f"archive ends early: {len(data)} of {info.size} bytes"
                return data, (Damage(name, "", what),)
            return data, ()

        return Entry(name, _utc(info.mtime), read)

    listing = _list_members(root, [(info.name, info.size, info) for info in members], entry)
    return Listing(listing.name, listing.entries, (*damage, *listing.damage))


def _tar_members(
    archive: tarfile.TarFile, root: Path, damage: list[Damage]
) -> list[tarfile.TarInfo]:
    members = []
    try:
        for info in archive:
            if info.isreg():
                members.append(info)
            elif not info.isdir():
                damage.append(Damage(info.name, "", "not a regular file; links are not followed"))
    except (tarfile.TarError, EOFError) as error:
        damage.append(Damage(str(root), "", f"archive ends early: {error}"))
    return members


def _list_members(
    root: Path, members: list[tuple[str, int, Any]], entry: Callable[[Any, str], Entry]
) -> Listing:
    """The members that stay inside the capture, below a folder common to all of them."""
    damage: list[Damage] = []
    kept: list[tuple[PurePosixPath, Any]] = []
    size = 0
    for name, member_bytes, info in members:
        path = PurePosixPath(name.replace("\\", "/"))
        size += member_bytes
        if path.is_absolute() or ".." in path.parts or not path.parts:
            damage.append(Damage(name, "", "names a place outside the capture; left out"))
        elif size > CAPTURE_LIMIT_BYTES or len(kept) == CAPTURE_LIMIT_FILES:
            damage.append(Damage(str(root), "", f"too large: stopped at {name}"))
            break
        elif not any(part.startswith(".") for part in path.parts):
            kept.append((path, info))
    prefix = _common_folder([path for path, _ in kept])
    entries = [entry(info, path.relative_to(prefix).as_posix()) for path, info in kept]
    return Listing(str(root), _in_order(entries), tuple(damage))


def _common_folder(paths: list[PurePosixPath]) -> PurePosixPath:
    """The one top folder that holds everything, as archives of a folder have."""
    tops = {path.parts[0] for path in paths}
    if len(tops) == 1 and all(len(path.parts) > 2 for path in paths):
        return PurePosixPath(*tops)
    if len(tops) == 1 and all(len(path.parts) > 1 for path in paths):
        return PurePosixPath(*tops)
    return PurePosixPath()


def _in_order(entries: list[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: natural_key(entry.name)))


def stream_name(file: object) -> str:
    """How messages call an open file."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "<stream>"


def _utc(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """The time a zip records: local time of an unknown zone, to 2 s. So it orders, and no more."""
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return None
