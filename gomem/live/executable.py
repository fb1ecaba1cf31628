"""The Go release and the main module of an executable, by the build information in it.

Described in  Go's debug/buildinfo: the section `.go.buildinfo` begins with a magic text; since Go
              1.18 two strings follow at byte 32, each with its length before it; before that, two
              pointers to Go's string headers, of the size in byte 14.
Quirks        The list of modules stands between two marks of 16 bytes. Go 1.12 and older have none
              of this. Only ELF of 64 bits is read, which is all that Linux runs Go on but for 386
              and arm.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

MAGIC = b"\xff Go buildinf:"
SECTION = ".go.buildinfo"
HEADER_BYTES, INLINE_AT = 32, 32
LARGEST_STRING_BYTES = 1 << 22
MARK_BYTES = 16
MOST_HEADERS = 4096


@dataclass(frozen=True, slots=True)
class BuildInfo:
    """What an executable says of its build.

    Attributes:
        go_version: Such as `go1.24.2`.
        modules: Lines as `go version -m` prints them, below `path`, `mod`, `dep` and `build`.
    """

    go_version: str
    modules: str = ""

    @property
    def main(self) -> str:
        """The main module with its version, or the package's path; empty if neither is told."""
        lines = [line.split("\t") for line in self.modules.splitlines()]
        for word in ("mod", "path"):
            for line in lines:
                if line[0] == word:
                    return " ".join(line[1:3]).strip()
        return ""

    def text(self, name: str) -> str:
        """As `go version -m` prints it."""
        lines = [f"{name}: {self.go_version}", *(f"\t{line}" for line in self.modules.splitlines())]
        return "\n".join(lines) + "\n"


def read_build_info(file: int) -> BuildInfo | None:
    """The build information of an open executable; None if it has none that is known."""
    try:
        return _read(file)
    except (OSError, struct.error, IndexError, ValueError):
        return None


def _read(file: int) -> BuildInfo | None:
    head = os.pread(file, 64, 0)
    if head[:5] != b"\x7fELF\x02":
        return None
    order = "<" if head[5] == 1 else ">"
    place = _section(file, head, order)
    if place is None:
        return None
    blob = os.pread(file, place[1], place[0])
    if not blob.startswith(MAGIC):
        return None
    if blob[15] & 2:
        version, end = _inline(blob, INLINE_AT)
        modules, _ = _inline(blob, end)
    else:
        version, modules = _by_pointers(file, head, order, blob)
    if len(modules) >= 2 * MARK_BYTES:
        modules = modules[MARK_BYTES:-MARK_BYTES]
    release = version.decode("ascii", "replace")
    return BuildInfo(release, modules.decode("utf-8", "replace")) if release else None


def _section(file: int, head: bytes, order: str) -> tuple[int, int] | None:
    """Where the section lies in the file, and its size."""
    (headers_at,) = struct.unpack_from(f"{order}Q", head, 40)
    size, count, names = struct.unpack_from(f"{order}HHH", head, 58)
    if size < 64 or count > MOST_HEADERS:
        return None
    table = os.pread(file, size * count, headers_at)
    sections = [struct.unpack_from(f"{order}IIQQQQ", table, size * n) for n in range(count)]
    strings = sections[names]
    texts = os.pread(file, min(strings[5], LARGEST_STRING_BYTES), strings[4])
    for name, _, _, _, offset, length in sections:
        if texts[name:].startswith(SECTION.encode() + b"\0"):
            return offset, min(length, LARGEST_STRING_BYTES)
    return None


def _inline(blob: bytes, at: int) -> tuple[bytes, int]:
    """A string with its length before it, seven bits a byte, and where it ends."""
    length = shift = 0
    while True:
        byte = blob[at]
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    if length > len(blob) - at:
        raise ValueError
    return blob[at : at + length], at + length


def _by_pointers(file: int, head: bytes, order: str, blob: bytes) -> tuple[bytes, bytes]:
    """Both strings as Go before 1.18 keeps them: a pointer to a pointer and a length each."""
    order = ">" if blob[15] & 1 else order
    (headers_at,) = struct.unpack_from(f"{order}Q", head, 32)
    size, count = struct.unpack_from(f"{order}HH", head, 54)
    table = os.pread(file, size * min(count, MOST_HEADERS), headers_at)
    loads = [
        struct.unpack_from(f"{order}IIQQQQ", table, size * n)
        for n in range(min(count, MOST_HEADERS))
    ]

    def memory(address: int, length: int) -> bytes:
        for kind, _, offset, start, _, stored in loads:
            if kind == 1 and start <= address and address + length <= start + stored:
                return os.pread(file, length, offset + address - start)
        return b""

    found = []
    for pointer in struct.unpack_from(f"{order}QQ", blob, 16):
        header = memory(pointer, 16)
        address, length = struct.unpack(f"{order}QQ", header) if len(header) == 16 else (0, 0)
        found.append(memory(address, min(length, LARGEST_STRING_BYTES)))
    return found[0], found[1]
