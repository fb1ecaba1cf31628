"""A long artefact, read and decompressed a piece at a time, so that it is never whole in memory."""

from __future__ import annotations

import hashlib
import io
import zlib
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from gomem.errors import CaptureError, Damage
from gomem.sources import CHUNK_BYTES, GZIP_MAGIC, ZSTD_MAGIC, Source, stream_name
from gomem.units import GIB, MIB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gomem.sources import Entry, Readable

    Progress = Callable[[int, int | None], None]

LONG_FROM_BYTES = 64 * MIB  # shorter files of a capture are read whole
PIECE_BYTES = 4 * MIB  # many lines, and little beside what is made of them
STREAM_LIMIT_BYTES = 256 * GIB  # a compressed file that never ends must


@dataclass
class _Tape:
    """A file that counts what was read of it, and takes back what was read to look at it."""

    file: IO[bytes]
    position: int = 0
    closed: bool = False
    _held: bytes = b""

    def read(self, size: int) -> bytes:
        if not self._held:
            self._held = self.file.read(size)
        piece, self._held = self._held[:size], self._held[size:]
        self.position += len(piece)
        return piece

    def close(self) -> None:
        """Let go of the file, which is not the tape's to close; Arrow closes what it read."""
        self.closed = True

    def take_back(self, piece: bytes) -> None:
        self._held = piece + self._held
        self.position -= len(piece)


@dataclass
class Stream:
    """One artefact, to be read once from its beginning.

    Attributes:
        name: How messages call it.
        stored_bytes: Size as stored, if it is known.
        damage: What could not be read, as far as it has been met.
    """

    name: str
    stored_bytes: int | None
    _open: Callable[[], AbstractContextManager[IO[bytes]]]
    damage: list[Damage] = field(default_factory=list)
    _tape: _Tape = field(init=False)

    def pieces(
        self, progress: Progress | None = None, *, limit: int = STREAM_LIMIT_BYTES
    ) -> Iterator[bytes]:
        """The content, decompressed, in pieces of at most `PIECE_BYTES` or a little more.

        Args:
            progress: Called after each piece with the stored bytes read and how many there are.
            limit: No more than this is read; what is left out is damage.
        """
        with self._open() as file:
            self._tape = _Tape(file)
            yield from self._gather(progress, limit)

    def _gather(self, progress: Progress | None, limit: int) -> Iterator[bytes]:
        size = 0
        gathered: list[bytes] = []
        for chunk in self._decompressed():
            gathered.append(chunk[: limit - size])
            size += len(gathered[-1])
            if size == limit:
                what = f"more than {format_bytes(limit)}; the rest is not read"
                self.damage.append(Damage(self.name, "", what))
                break
            if sum(map(len, gathered)) >= PIECE_BYTES:
                yield b"".join(gathered)
                gathered = []
                if progress is not None:
                    progress(self._tape.position, self.stored_bytes)
        yield b"".join(gathered)
        if progress is not None:
            progress(self.stored_bytes or 0, self.stored_bytes)

    def _decompressed(self) -> Iterator[bytes]:
        first = self._tape.read(CHUNK_BYTES)
        if first.startswith(GZIP_MAGIC):
            yield from self._gunzip(first)
        elif first.startswith(ZSTD_MAGIC):
            yield from self._unzstd(first)
        else:
            while first:
                yield first
                first = self._tape.read(CHUNK_BYTES)

    def _gunzip(self, stored: bytes) -> Iterator[bytes]:
        member = zlib.decompressobj(wbits=31)
        size = 0
        while stored or (stored := self._tape.read(CHUNK_BYTES)):
            if member.eof:
                if not stored.startswith(GZIP_MAGIC):
                    return
                member = zlib.decompressobj(wbits=31)
            try:
                chunk = member.decompress(stored, CHUNK_BYTES)
            except zlib.error as error:
                what = f"gzip stream is corrupt after {format_bytes(size)}: {error}"
                where = f"byte {self._tape.position - len(stored)}"
                self.damage.append(Damage(self.name, where, what))
                return
            stored = member.unused_data if member.eof else member.unconsumed_tail
            size += len(chunk)
            yield chunk
        while not member.eof and (chunk := member.flush(CHUNK_BYTES)):
            size += len(chunk)
            yield chunk
        if not member.eof:
            what = f"gzip stream ends early, after {format_bytes(size)}; copy the file again"
            self.damage.append(Damage(self.name, f"byte {self._tape.position}", what))

    def _unzstd(self, first: bytes) -> Iterator[bytes]:
        import pyarrow as pa

        self._tape.take_back(first)
        size = 0
        stream = pa.CompressedInputStream(pa.PythonFile(self._tape, mode="r"), "zstd")
        while True:
            try:
                chunk = stream.read(CHUNK_BYTES)
            except OSError as error:
                what = f"zstd stream is cut or corrupt after {format_bytes(size)}: {error}"
                self.damage.append(Damage(self.name, "", what))
                return
            if not chunk:
                return
            size += len(chunk)
            yield chunk


@dataclass(frozen=True)
class LongSource(Source):
    """A file too long to be held; `data` is its beginning, by which its kind is found."""

    path: Path = field(default_factory=Path)

    @property
    def stored_bytes(self) -> int:
        """Size as stored."""
        return self.path.stat().st_size

    @cached_property
    def sha256(self) -> str:
        """Digest of the bytes as stored."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def long_source(entry: Entry) -> LongSource | None:
    """The beginning of a file of a capture that is long; None if it is short, or cannot be read."""
    if entry.path is None or entry.path.stat().st_size < LONG_FROM_BYTES:
        return None
    try:
        beginning = next(open_stream(entry.path).pieces())
    except (CaptureError, OSError):
        return None
    return LongSource(entry.name, beginning, b"", entry.modified, (), entry.path)


def open_stream(readable: Readable, *, name: str | None = None) -> Stream:
    """Open an artefact to be read piece by piece.

    Args:
        readable: A path, bytes, or a binary file object.
        name: What messages call it; a path names itself.

    Raises:
        CaptureError: The path does not exist, is a folder, or cannot be opened.
    """
    if isinstance(readable, LongSource):
        return open_stream(readable.path, name=readable.name)
    if isinstance(readable, Source):
        data = readable.data
        return Stream(readable.name, len(data), lambda: io.BytesIO(data), list(readable.damage))
    if isinstance(readable, (bytes, bytearray, memoryview)):
        content = readable
        return Stream(name or "<bytes>", len(content), lambda: io.BytesIO(content))
    if hasattr(readable, "read"):
        file = cast("IO[bytes]", readable)
        return Stream(name or stream_name(file), None, lambda: nullcontext(file))
    path = Path(readable)
    if path.is_dir():
        raise CaptureError(f"{path}: is a folder, wanted one artefact; name a file in it")
    try:
        with path.open("rb"):  # so that it is said at once if it cannot be
            size = path.stat().st_size
    except OSError as error:
        raise CaptureError(f"{path}: cannot be read: {error.strerror}") from error
    return Stream(name or str(path), size, lambda: path.open("rb"))
