"""Find captures: in folders, as archives, by globs, and in object storage.

Each match of a pattern is a capture, and so is a folder with a manifest at its top. In any other
folder, each entry (folder, archive or file) is a capture, with one exception: a subfolder that has
no manifest, but contains folders with manifests, is searched in the same way. With a `depth`,
captures are the entries that many levels below the folder.

A URL such as `s3://bucket/captures` is listed through fsspec, and each capture is copied to a
temporary folder for reading.
"""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from gomem.errors import CaptureError
from gomem.numbered import Address
from gomem.sources.names import natural_key, readable_name
from gomem.sources.paths import (
    ARCHIVE_SUFFIXES,
    is_archive,
    matching,
    no_such_path,
    place_of,
    without_secrets,
)
from gomem.text import Quoted, Text, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

MANIFESTS = ("gomem.json", "gomem.json.gz")
MAX_DEPTH = 8
HIDDEN = "."
ONLY_HERE = "memory://"  # a store that exists only in one process
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a capture."""

    path: str  # a path or a URL
    name: str  # relative to the named folder or pattern

    @property
    def is_remote(self) -> bool:
        """Whether the capture is read through fsspec."""
        return is_url(self.path)

    @property
    def stem(self) -> str:
        """The name without an archive suffix."""
        ending = next((end for end in ARCHIVE_SUFFIXES if self.name.endswith(end)), "")
        return self.name.removesuffix(ending)


def is_url(path: str | PathLike[str]) -> bool:
    """Return whether a path is a URL for fsspec."""
    return "://" in str(path)


def _named(where: str | PathLike[str]) -> Text:
    """The name in messages."""
    return Address(without_secrets(str(where))) if is_url(where) else place_of(where)


def captures_below(where: str | PathLike[str], depth: int | None = None) -> list[Place]:
    """Return the captures that a path, a pattern or a URL names, in natural order.

    Raises CaptureError if there is no capture, or if fsspec is needed and not installed.
    """
    tree = _Remote.of(str(where)) if is_url(where) else _Local()
    places = [place for root in tree.roots(str(where)) for place in _below(tree, root, depth)]
    if not places:
        raise CaptureError(text("{}: no capture in it", _named(where)))
    return sorted(places, key=lambda place: natural_key(place.name))


def digest_of(place: Place) -> str:
    """Return a SHA-256 of a capture's file names and contents, or versions if it is remote."""
    digest = hashlib.sha256()
    tree = _Remote.of(place.path) if place.is_remote else _Local()
    for name, stamp in tree.stamps(place.path):
        digest.update(f"{name}\0{stamp}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


@contextmanager
def at_hand(place: Place) -> Iterator[str]:
    """Yield a local path to the capture, valid until the block ends."""
    if not place.is_remote:
        yield place.path
        return
    with tempfile.TemporaryDirectory(prefix="gomem-") as folder:
        yield _Remote.of(place.path).fetched(place.path, folder)


@dataclass(frozen=True, slots=True)
class _Root:
    path: str
    is_capture: bool  # whether a pattern matched it, so that it is not searched
    name: str = ""


def _below(tree: _Local | _Remote, root: _Root, depth: int | None) -> Iterator[Place]:
    if root.is_capture:
        yield Place(root.path, root.name)
    elif depth is not None:
        yield from _at_depth(tree, root.path, "", depth)
    elif not tree.is_folder(root.path) or _has_manifest(tree, root.path):
        yield Place(root.path, PurePosixPath(root.path).name)
    else:
        for path, name in tree.children(root.path):
            yield from _found(tree, path, name, MAX_DEPTH)


def _at_depth(tree: _Local | _Remote, path: str, name: str, depth: int) -> Iterator[Place]:
    if depth == 0:
        yield Place(path, name)
    elif tree.is_folder(path):
        for child, own in tree.children(path):
            yield from _at_depth(tree, child, f"{name}/{own}".lstrip("/"), depth - 1)


def _found(tree: _Local | _Remote, path: str, name: str, depth: int) -> list[Place]:
    """Return a folder, archive or file as one capture; or the captures in a folder of captures.

    A folder without a manifest holds captures if a folder below has one, or if it has an archive.
    Then each folder in it is a capture, too.
    """
    here = Place(path, name)
    if not depth or not tree.is_folder(path) or _has_manifest(tree, path):
        return [here]
    children = [Place(child, f"{name}/{own}") for child, own in tree.children(path)]
    inner = [
        (child, _found(tree, child.path, child.name, depth - 1))
        for child in children
        if is_archive(child.path) or tree.is_folder(child.path)
    ]
    if any(found != [child] or _is_marked(tree, child.path) for child, found in inner):
        return [place for _, found in inner for place in found]
    return [here]


def _is_marked(tree: _Local | _Remote, path: str) -> bool:
    return is_archive(path) or _has_manifest(tree, path)


def _has_manifest(tree: _Local | _Remote, path: str) -> bool:
    return tree.is_folder(path) and any(name in MANIFESTS for _, name in tree.children(path))


class _Local:
    """Folders on this machine."""

    def roots(self, where: str) -> Iterator[_Root]:
        is_pattern = has_magic(where) and not Path(where).exists()
        for path in matching(where):
            if not Path(path).exists():
                raise no_such_path(path)
            yield _Root(path, is_pattern, _below_pattern(where, path) if is_pattern else "")

    def is_folder(self, path: str) -> bool:
        return Path(path).is_dir()

    def children(self, path: str) -> list[tuple[str, str]]:
        found = sorted(Path(path).iterdir(), key=lambda child: natural_key(child.name))
        return [(str(p), readable_name(p.name)) for p in found if not p.name.startswith(HIDDEN)]

    def stamps(self, path: str) -> Iterator[tuple[str, str]]:
        root = Path(path)
        files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
        for file in files:
            with file.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
            yield ("" if file == root else file.relative_to(root).as_posix()), found


class _Remote:
    """A store that fsspec supports."""

    def __init__(self, store: Any, protocol: str) -> None:
        self._store, self._protocol = store, protocol

    @classmethod
    def of(cls, url: str) -> _Remote:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            how = "pip install 'gomem[fleet]'"
            what = text("{}: reading object storage needs fsspec: {}", _named(url), how)
            raise CaptureError(what) from error
        try:
            store, _ = url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise CaptureError(text("{}: {}", _named(url), Quoted(error))) from error
        return cls(store, url.partition("://")[0])

    def roots(self, where: str) -> Iterator[_Root]:
        if has_magic(where):
            for path in sorted(self._store.glob(where), key=natural_key):
                yield _Root(self._url(path), True, _below_pattern(where, self._url(path)))
        elif not self._store.exists(where):
            raise CaptureError(text("{}: nothing there", _named(where)))
        else:
            yield _Root(where.rstrip("/"), False)

    def is_folder(self, path: str) -> bool:
        return bool(self._store.isdir(path))

    def children(self, path: str) -> list[tuple[str, str]]:
        found = sorted(self._store.ls(path, detail=False), key=natural_key)
        names = ((self._url(child), PurePosixPath(child).name) for child in found)
        return [(url, name) for url, name in names if not name.startswith(HIDDEN)]

    def stamps(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield each file's name and version stamp, without reading its content."""
        for name, info in sorted(self._store.find(path, detail=True).items()):
            known = ("ETag", "etag", "md5Hash", "content_hash", "mtime", "LastModified", "created")
            stamp = next((str(info[key]) for key in known if info.get(key)), "")
            yield PurePosixPath(name).name, f"{info.get('size')}-{stamp}"

    def fetched(self, path: str, folder: str) -> str:
        """Copy a capture into a folder, and return its new path."""
        target = Path(folder) / PurePosixPath(path.rstrip("/")).name
        for name in self._store.find(path):
            inside = self._url(name).removeprefix(path).lstrip("/")
            file = target / inside if inside else target
            if not file.resolve().is_relative_to(target.resolve()):
                raise CaptureError(text("{}: a name in it leads out of it", _named(path)))
            file.parent.mkdir(parents=True, exist_ok=True)
            self._store.get_file(name, str(file))
        return str(target)

    def _url(self, path: str) -> str:
        return path if is_url(path) else f"{self._protocol}://{path.lstrip('/')}"


def _below_pattern(pattern: str, path: str) -> str:
    """The part of a path from the pattern's first wildcard folder on."""
    fixed: list[str] = []
    for part in PurePosixPath(pattern).parts:
        if has_magic(part):
            break
        fixed.append(part)
    parts = PurePosixPath(path).parts
    return readable_name("/".join(parts[len(fixed) :])) or PurePosixPath(path).name


def named_apart(listed: Iterable[list[Place]]) -> list[Place]:
    """Return the captures of several lists in order, without duplicate paths."""
    by_path = {place.path: place for places in listed for place in places}
    return list(by_path.values())
