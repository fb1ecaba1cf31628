"""The files of a capture, which is a folder, an archive or a single file.

Nothing is written: no archive is unpacked to disk, no link is followed out of a capture, and no
name in an archive is used as a path. A file beyond a limit is `Damage`; the part before the limit
is still read.
"""

from __future__ import annotations

import hashlib
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.errors import CaptureError, Damage, did_you_mean
from gomem.sources.artefact import Source, chunks_of, source_of
from gomem.sources.bounds import Bounds
from gomem.sources.names import natural_key, readable_name
from gomem.sources.paths import (
    check_no_named_pipe,
    is_archive,
    matching,
    no_such_path,
    place_of,
)
from gomem.sources.times import file_time
from gomem.text import File, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from os import PathLike


@dataclass(frozen=True)
class Entry:
    """A file of a capture, not read yet; `path` is None for a file in an archive."""

    name: str
    modified: datetime | None
    bounds: Bounds
    _chunks: Callable[[], Iterable[bytes]]
    path: Path | None = None

    def open(self) -> Source:
        """Read and decompress the file within the remaining limits of the capture."""
        return source_of(self._chunks(), self.name, self.modified, self.bounds)


@dataclass(frozen=True)
class Listing:
    """The files of a capture in natural name order, and what could not be listed."""

    name: str
    entries: tuple[Entry, ...]
    damage: tuple[Damage, ...]

    @classmethod
    def of(cls, root: Path, entries: Iterable[Entry], damage: Iterable[Damage]) -> Listing:
        """Create a listing with sorted entries."""
        in_order = sorted(entries, key=lambda entry: natural_key(entry.name))
        return cls(readable_name(str(root)), tuple(in_order), tuple(damage))

    @cached_property
    def by_name(self) -> dict[str, Entry]:
        """The entries by relative path."""
        return {entry.name: entry for entry in self.entries}


def list_capture(path: str | PathLike[str], bounds: Bounds | None = None) -> Listing:
    """List the files of a capture: a folder, a `.tar` (gzip, zstd), a `.zip`, or one file.

    Hidden files and folders are left out. Links are not followed. Several listings of one capture
    can share `bounds`. Raises CaptureError if the path does not exist, or an archive cannot be
    opened.
    """
    from gomem.sources.archives import list_tar, list_zip

    root = Path(path)
    bounds = bounds or Bounds()
    if not root.exists():
        raise no_such_path(path)
    check_no_named_pipe(root)
    if root.is_dir():
        return _list_folder(root, bounds)
    if root.name.lower().endswith(".zip"):
        return list_zip(root, bounds)
    if is_archive(root):
        return list_tar(root, bounds)
    return Listing.of(root, [_file_entry(root, root.name, bounds)], ())


def only_archive(path: str | PathLike[str]) -> str | PathLike[str]:
    """Return the archive that is all that a folder has, which is then the capture; else the path.

    Hidden files do not count.
    """
    root = Path(path)
    if not root.is_dir():
        return path
    try:
        inside = [child for child in root.iterdir() if not child.name.startswith(".")]
    except OSError:
        return path  # which the listing says
    is_one = len(inside) == 1 and is_archive(inside[0]) and stat.S_ISREG(inside[0].lstat().st_mode)
    return inside[0] if is_one else path


def file_of_archive(path: Path, bounds: Bounds) -> Entry | None:
    """Return a file of an archive, named below it: `api.tar.gz/1/heap.pb.gz`; None for other paths.

    Raises CaptureError if the archive has no such file.
    """
    root = next((root for root in path.parents if is_archive(root) and root.is_file()), None)
    if root is None:
        return None
    listing, name = list_capture(root, bounds), path.relative_to(root).as_posix()
    if name not in listing.by_name:
        near = did_you_mean(name, listing.by_name, File)
        raise CaptureError(text("{}: has no file {}{}", place_of(root), File(name), near))
    return listing.by_name[name]


def _list_folder(root: Path, bounds: Bounds) -> Listing:
    entries: list[Entry] = []
    damage: list[Damage] = []
    for path in _walk(root, root, bounds.depth, damage):
        if len(entries) == bounds.files:
            what = f"more than {bounds.files} files; the rest is not read"
            damage.append(Damage(readable_name(str(root)), "", what))
            break
        entries.append(_file_entry(path, path.relative_to(root).as_posix(), bounds))
    return Listing.of(root, entries, damage)


def _walk(root: Path, folder: Path, depth: int, damage: list[Damage]) -> Iterator[Path]:
    """Yield the regular files below a folder, down to `depth` levels."""
    if depth < 0:
        _pass_over(folder, root, "folders are nested too deeply; what is in it is not read", damage)
        return
    try:
        paths = [(path, path.lstat().st_mode) for path in sorted(folder.iterdir())]
    except OSError as error:
        _pass_over(folder, root, f"folder cannot be read: {error.strerror}", damage)
        return
    for path, mode in paths:
        if path.name.startswith("."):
            continue
        if stat.S_ISDIR(mode):
            yield from _walk(root, path, depth - 1, damage)
        elif stat.S_ISREG(mode):
            yield path
        else:
            _pass_over(path, root, "not a regular file; links are not followed", damage)


def _pass_over(path: Path, root: Path, what: str, damage: list[Damage]) -> None:
    inside = path.relative_to(root).as_posix() if path != root else str(root)
    damage.append(Damage(readable_name(inside), "", what))


def _file_entry(path: Path, name: str, bounds: Bounds) -> Entry:
    def chunks() -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from chunks_of(file)

    return Entry(readable_name(name), file_time(path), bounds, chunks, path)


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of a file's bytes as stored."""

    name: str  # its path, beginning with the named folder
    stored_bytes: int  # its size
    sha256: str  # as `sha256sum` prints it


def digests_of(path: str | PathLike[str]) -> list[Digest]:
    """Return the digests of the files that a path or pattern names, in natural order.

    An archive is one file.
    """
    return [digest for name in matching(path) for digest in _of_one(Path(name))]


def _of_one(root: Path) -> list[Digest]:
    if root.is_file():
        return [_digest(root, root.name)]
    entries = list_capture(root).entries
    folder = root.resolve().name
    return [
        _digest(entry.path, f"{folder}/{entry.name}") for entry in entries if entry.path is not None
    ]


def _digest(path: Path, name: str) -> Digest:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256")
        return Digest(readable_name(name), file.tell(), found.hexdigest())
