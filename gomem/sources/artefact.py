"""One artefact, from a path, an open file or bytes: read whole within limits, and decompressed."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, cast

from gomem.errors import CaptureError, Damage
from gomem.sources.bounds import Bounds
from gomem.sources.decompress import CHUNK_BYTES, Tape, decompressed, is_compressed, without_mark
from gomem.sources.names import readable_name
from gomem.sources.paths import check_no_named_pipe, no_such_path, place_of
from gomem.sources.times import file_time
from gomem.text import Quoted, text
from gomem.units import MIB, format_bytes, is_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from os import PathLike

    Readable: TypeAlias = (
        str | PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | "Source"
    )


# `gzip -r` compresses gzip files again if their names hide it, as profiles' names often do.
PACKED_TWICE_BYTES = 64 * MIB


@dataclass(frozen=True)
class Source:
    """One artefact's content (decompressed, UTF-8), its name, and its time if known."""

    name: str  # name in messages and tables; inside a capture the relative path, with `/`
    data: bytes  # the content, decompressed
    stored: bytes  # the bytes as stored
    modified: datetime | None = None  # modification time (UTC); None for bytes and streams
    # parts that could not be read, such as the end of a truncated gzip stream
    damage: tuple[Damage, ...] = ()

    @property
    def stored_bytes(self) -> int:
        """Size in bytes, as stored."""
        return len(self.stored)

    @property
    def text_name(self) -> str:
        """The name of the whole text, of which this artefact can be a pasted part."""
        return self.name

    @property
    def whole_text(self) -> bytes:
        """The content of the whole text, of which this artefact can be a pasted part."""
        return self.data

    def placed(self, damage: Damage) -> Damage:
        """Return damage with its location in the user's file."""
        return damage

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the bytes as stored."""
        return hashlib.sha256(self.stored).hexdigest()


@dataclass(frozen=True)
class SourcePart(Source):
    """One of several artefacts in a text."""

    first_line: int = 1  # its first line in the text
    time: datetime | None = None  # printed above it
    time_of_day: str = ""  # the same if only that is known

    @property
    def has_time(self) -> bool:
        """Whether a time stands above it."""
        return self.time is not None or bool(self.time_of_day)

    @property
    def text_name(self) -> str:
        """The name of the whole text."""
        return self.name.removesuffix(f":{self.first_line}")

    def placed(self, damage: Damage) -> Damage:
        """Return damage of the part with its location in the text."""
        word, _, number = damage.where.partition(" ")
        if word != "line" or not is_digits(number):
            return damage
        return replace(damage, where=f"line {int(number) + self.first_line - 1}")


def open_source(
    readable: Readable, *, name: str | None = None, bounds: Bounds | None = None
) -> Source:
    """Read one artefact whole: a path, bytes, or a binary file object.

    A file of an archive is named below it: `api.tar.gz/1/heap.pb.gz`. `bounds` are those of a
    capture by default. Raises CaptureError if the path does not exist, is a folder, or cannot be
    opened.
    """
    if isinstance(readable, Source):
        return readable
    bounds = bounds or Bounds()
    if isinstance(readable, (bytes, bytearray, memoryview)):
        return source_of([bytes(readable)], name or "<bytes>", None, bounds)
    if hasattr(readable, "read"):
        file = cast("IO[bytes]", readable)
        return source_of(chunks_of(file), name or stream_name(file), None, bounds)
    path = Path(readable)
    if not path.exists() and (archived := _of_archive(path, bounds)) is not None:
        return archived
    with open_path(path) as opened:
        modified = file_time(path)
        return source_of(chunks_of(opened), name or readable_name(str(path)), modified, bounds)


def _of_archive(path: Path, bounds: Bounds) -> Source | None:
    from gomem.sources.listing import file_of_archive

    entry = file_of_archive(path, bounds)
    return None if entry is None else replace(entry.open(), name=readable_name(str(path)))


def source_of(
    chunks: Iterable[bytes], name: str, modified: datetime | None, bounds: Bounds
) -> Source:
    """Build an artefact from its stored bytes; unreadable or excess data becomes damage."""
    damage: list[Damage] = []
    if not bounds.left_bytes:
        read = format_bytes(bounds.capture_bytes)
        what = f"not read: {read} of the capture's files are, and no more is read of one capture"
        return Source(name, b"", b"", modified, (Damage(name, "", what),))
    stored_bounds = Bounds(bounds.artefact_bytes, bounds.artefact_bytes)
    stored = _gathered(stored_bounds.within(_readable(chunks, name, damage), name, damage))
    if is_compressed(stored):
        data = _unpacked(stored, name, damage, bounds)
        if is_compressed(data) and len(data) <= PACKED_TWICE_BYTES:
            data = _unpacked(data, name, damage, bounds)
    else:
        data = b"".join(bounds.within(without_mark([stored]), name, damage))
    return Source(name, data, stored, modified, tuple(damage))


def _unpacked(packed: bytes, name: str, damage: list[Damage], bounds: Bounds) -> bytes:
    content = without_mark(decompressed(Tape(io.BytesIO(packed)), name, damage))
    return _gathered(bounds.within(content, name, damage, len(packed)))


def _gathered(chunks: Iterable[bytes]) -> bytes:
    """The chunks as one, held once: a join would hold them twice."""
    whole = io.BytesIO()
    for chunk in chunks:
        whole.write(chunk)
    return whole.getvalue()


def _readable(chunks: Iterable[bytes], name: str, damage: list[Damage]) -> Iterator[bytes]:
    try:
        yield from chunks
    except OSError as error:
        damage.append(Damage(name, "", f"cannot be read: {error.strerror or error}"))


def chunks_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a file until no more come; the file's stated size is not trusted."""
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def open_path(path: Path) -> IO[bytes]:
    """Open a file; raises CaptureError if it does not exist, is a folder, or cannot be opened."""
    named = place_of(path)
    if path.is_dir():
        what = "{}: is a folder, wanted one artefact; name a file in it"
        raise CaptureError(text(what, named))
    check_no_named_pipe(path)
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise no_such_path(path) from error
    except OSError as error:
        why = error.strerror or Quoted(error)
        raise CaptureError(text("{}: cannot be read: {}", named, why)) from error


def stream_name(file: object) -> str:
    """Return the name that messages use for an open file."""
    name = getattr(file, "name", None)
    return readable_name(name) if isinstance(name, str) else "<stream>"
