"""A long artefact, read and decompressed in pieces, so that it is never in memory as a whole."""

from __future__ import annotations

import hashlib
import io
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from gomem.errors import CaptureError, Damage
from gomem.sources.artefact import Source, open_path, stream_name
from gomem.sources.bounds import Bounds
from gomem.sources.decompress import Tape, decompressed, without_mark
from gomem.sources.names import readable_name
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gomem.sources.artefact import Readable
    from gomem.sources.listing import Entry

    Progress = Callable[[int, int | None], None]

LONG_FROM_BYTES = 64 * MIB  # shorter files of a capture are read whole
PIECE_BYTES = 4 * MIB  # many lines, but little memory compared with their parsed form


@dataclass
class Stream:
    """One artefact, to be read once from start to end."""

    name: str  # name in messages
    stored_bytes: int | None  # size as stored; None if unknown
    bounds: Bounds  # the limits; data beyond them is damage
    _open: Callable[[], AbstractContextManager[IO[bytes]]]
    # The damage found so far.
    damage: list[Damage] = field(default_factory=list)

    def pieces(self, progress: Progress | None = None) -> Iterator[bytes]:
        """Yield the decompressed content in pieces of about `PIECE_BYTES`."""
        # `progress` is called after each piece with the stored bytes read and their total.
        with self._open() as file:
            tape = Tape(file)
            for piece in _joined(self._chunks(tape)):
                yield piece
                if progress is not None:
                    progress(tape.position, self.stored_bytes)
        if progress is not None:
            progress(self.stored_bytes or 0, self.stored_bytes)

    def _chunks(self, tape: Tape) -> Iterator[bytes]:
        content = without_mark(decompressed(tape, self.name, self.damage))
        try:
            yield from self.bounds.within(content, self.name, self.damage)
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            self.damage.append(Damage(self.name, f"byte {tape.position}", what))


def _joined(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Join chunks to pieces of `PIECE_BYTES`; empty content gives one empty piece."""
    gathered: list[bytes] = []
    for chunk in chunks:
        gathered.append(chunk)
        if sum(map(len, gathered)) >= PIECE_BYTES:
            yield b"".join(gathered)
            gathered = []
    yield b"".join(gathered)


@dataclass(frozen=True)
class LongSource(Source):
    """A file too long for memory; `data` is its beginning, which determines its kind."""

    path: Path = field(default_factory=Path)
    bounds: Bounds = field(default_factory=Bounds)

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
    """Return a long file, of which only the start is read; None if it is short or unreadable."""
    try:
        if entry.path is None or entry.path.stat().st_size < LONG_FROM_BYTES:
            return None
        beginning = next(open_stream(entry.path).pieces())
    except (CaptureError, OSError):
        return None
    return LongSource(entry.name, beginning, b"", entry.modified, (), entry.path, entry.bounds)


def open_stream(
    readable: Readable, *, name: str | None = None, bounds: Bounds | None = None
) -> Stream:
    """Open an artefact to read it in pieces; see `open_source`."""
    # By default, within the remaining limits of its capture, or the limits of a new capture.
    if isinstance(readable, LongSource):
        bounds = bounds or readable.bounds
        return open_stream(readable.path, name=readable.name, bounds=bounds)
    bounds = bounds or Bounds()
    if isinstance(readable, Source):
        data = readable.data
        damage = list(readable.damage)
        return Stream(readable.name, len(data), bounds, lambda: io.BytesIO(data), damage)
    if isinstance(readable, (bytes, bytearray, memoryview)):
        content = readable
        return Stream(name or "<bytes>", len(content), bounds, lambda: io.BytesIO(content))
    if hasattr(readable, "read"):
        file = cast("IO[bytes]", readable)
        return Stream(name or stream_name(file), None, bounds, lambda: nullcontext(file))
    path = Path(readable)
    with open_path(path):  # so that errors appear immediately
        size = path.stat().st_size
    return Stream(name or readable_name(str(path)), size, bounds, lambda: path.open("rb"))
