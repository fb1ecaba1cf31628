"""Decompress gzip and zstd in chunks; a truncated or corrupt stream is damage.

gzip uses ISA-L's igzip, three times as fast as zlib, and zstd uses Arrow. Text from a Windows
editor or shell begins with a byte order mark, or is UTF-16: `curl … > memstats.json` in Windows
PowerShell 5 writes UTF-16, and editors put U+FEFF before UTF-8. No binary artefact begins with
these bytes: gzip, zstd, ELF and archives have their own first bytes, and a profile would begin with
a wire type that protobuf does not have.
"""

from __future__ import annotations

import codecs
from itertools import chain
from typing import IO, TYPE_CHECKING

from gomem.errors import Damage
from gomem.units import KIB, MIB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
CHUNK_BYTES = MIB
STORED_CHUNK_BYTES = 256 * KIB
FILLING = b"\0\r\n"  # after a whole stream it is no loss
ZSTD_CHUNK_BYTES = 128 * KIB  # a block; data in the same chunk as a corrupt block is lost
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MAX_BOM_BYTES = len(codecs.BOM_UTF8)


class Tape:
    """A binary file that counts the bytes read, and takes back bytes read too far.

    A tape leaves the file open; `closed` only says that the reader is done.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.position = 0
        self.closed = False
        self._file = file
        self._held = b""

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes; empty only at the end."""
        if not self._held:
            self._held = self._file.read(size)
        piece, self._held = self._held[:size], self._held[size:]
        self.position += len(piece)
        return piece

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them; fewer only at the end."""
        while len(self._held) < size and (piece := self._file.read(STORED_CHUNK_BYTES)):
            self._held += piece
        return self._held[:size]

    def take_back(self, piece: bytes) -> None:
        """Push back the bytes read last."""
        self._held = piece + self._held
        self.position -= len(piece)

    def close(self) -> None:
        """Mark as done, but leave the file open: Arrow closes every file it reads."""
        self.closed = True


def is_compressed(beginning: bytes) -> bool:
    """Return whether data begins like gzip or zstd."""
    return beginning.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def decompressed(tape: Tape, name: str, damage: list[Damage]) -> Iterator[bytes]:
    """Yield chunks of decompressed gzip (all members) or zstd; other data is unchanged."""
    # Damage is added after the chunks before it were consumed.
    if tape.peek(2) == GZIP_MAGIC:
        yield from _gunzip(tape, name, damage)
    elif tape.peek(4) == ZSTD_MAGIC:
        yield from _unzstd(tape, name, damage)
    else:
        while chunk := tape.read(CHUNK_BYTES):
            yield chunk


def _gunzip(tape: Tape, name: str, damage: list[Damage]) -> Iterator[bytes]:
    """Decompress all members; data after the last, such as zero padding, is ignored."""
    from isal import igzip_lib, isal_zlib

    size = 0
    while tape.peek(2) == GZIP_MAGIC:
        member = isal_zlib.decompressobj(wbits=31)
        while not member.eof:
            stored = tape.read(STORED_CHUNK_BYTES)
            try:
                chunk = member.decompress(stored, CHUNK_BYTES)
            except igzip_lib.IsalError as error:  # type: ignore[misc]  # by its stub no class
                what = f"gzip stream is corrupt after {format_bytes(size)}: {error}"
                damage.append(Damage(name, f"byte {tape.position - len(stored)}", what))
                return
            if not stored and not chunk:
                what = f"gzip stream ends early, after {format_bytes(size)}; copy the file again"
                damage.append(Damage(name, f"byte {tape.position}", what))
                return
            tape.take_back(member.unused_data if member.eof else member.unconsumed_tail)
            size += len(chunk)
            yield chunk
    rest = tape.read(STORED_CHUNK_BYTES)
    if rest.strip(FILLING):
        what = "what follows the gzip stream is not of it, and is not read"
        damage.append(Damage(name, f"byte {tape.position - len(rest)}", what))


def _unzstd(tape: Tape, name: str, damage: list[Damage]) -> Iterator[bytes]:
    import pyarrow as pa

    size = 0
    stream = pa.CompressedInputStream(pa.PythonFile(tape, mode="r"), "zstd")
    while True:
        try:
            chunk = stream.read(ZSTD_CHUNK_BYTES)
        except OSError as error:
            what = f"zstd stream is cut or corrupt after {format_bytes(size)}: {error}"
            damage.append(Damage(name, f"byte {tape.position}", what))
            return
        if not chunk:
            return
        size += len(chunk)
        yield chunk


def without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content as UTF-8, without a byte order mark."""
    chunks = iter(chunks)
    beginning = b""
    for chunk in chunks:
        beginning += chunk
        if len(beginning) >= _MAX_BOM_BYTES:
            break
    if beginning.startswith(_UTF16):
        for text in codecs.iterdecode(chain([beginning], chunks), "utf-16", "replace"):
            yield text.encode("utf-8", "replace")
        return
    yield beginning.removeprefix(codecs.BOM_UTF8)
    yield from chunks
