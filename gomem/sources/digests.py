"""What a file was to the last bit, so that a page can say which ones it was made from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.sources.globs import matching
from gomem.sources.listing import list_capture
from gomem.sources.names import readable_name

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True, slots=True)
class Digest:
    """A file as it lies there."""

    name: str  # its path from the folder that was named, which it begins with
    stored_bytes: int  # its size
    sha256: str  # what `sha256sum` prints of it


def digests_of(path: str | PathLike[str]) -> list[Digest]:
    """The files behind a path or pattern, in natural order; an archive is one. Or CaptureError."""
    return [one for name in matching(path) for one in _of_one(Path(name))]


def _of_one(root: Path) -> list[Digest]:
    if root.is_file():
        return [_digest(root, root.name)]
    entries = list_capture(root).entries
    folder = root.resolve().name
    return [_digest(one.path, f"{folder}/{one.name}") for one in entries if one.path is not None]


def _digest(path: Path, name: str) -> Digest:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256")
        return Digest(readable_name(name), file.tell(), found.hexdigest())
