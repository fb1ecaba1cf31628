"""What a file of a capture says of the machine, hidden as it is written: `gomem capture --redact`.

Home directories become `~`, also in a profile's source paths; mapped files keep their name and
lose their folders, unless these are the system's; the linker's flags, which may hold anything,
are left out, and so are the program's own lines in its log. Functions, sizes and addresses stay:
without them nothing could be explained.
"""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

from gomem.views.share import without_home

if TYPE_CHECKING:
    from collections.abc import Iterator

STRING_TABLE = 6  # of profile.proto
BYTES_FIELD, VARINT_FIELD = 2, 0
HIDDEN_FOLDER = b"/redacted/"
_MAPPED = re.compile(
    rb"(?m)^([0-9a-f]+-[0-9a-f]+ [rwxps-]{4} [0-9a-f]+ [0-9a-f:]+ \d+ +)"
    rb"(?!/(?:dev|usr|lib|lib64|memfd:|SYSV|anon_hugepage|proc|sys)\b)(/[^\n]*)$"
)
_OF_THE_COLLECTOR = re.compile(rb"\b(?:gc \d+ @|scvg|scav |pacer:|GC forced)")
_LINKER_FLAGS = re.compile(rb"(?m)^\tbuild\t\"?-ldflags=[^\n]*\n")


def redacted(name: str, data: bytes) -> bytes:
    """A file as it may be handed on.

    Args:
        name: What it is called in the capture.
        data: Its bytes.
    """
    if name.endswith(".pb.gz"):
        return _profile(data)
    if name == "smaps":
        return _MAPPED.sub(lambda found: found[1] + HIDDEN_FOLDER + _last(found[2]), data)
    if name == "buildinfo.txt":
        first, _, rest = data.partition(b"\n")
        path, _, release = first.rpartition(b": ")
        return _text(_LINKER_FLAGS.sub(b"", _last(path) + b": " + release + b"\n" + rest))
    if name == "gctrace.log":
        lines = data.splitlines(keepends=True)
        return b"".join(line for line in lines if _OF_THE_COLLECTOR.search(line))
    return _text(data)


def _last(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


def _text(data: bytes) -> bytes:
    return without_home(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _profile(data: bytes) -> bytes:
    """A profile whose strings name no home directory; one that cannot be taken apart is left out.

    Raises:
        ValueError: It is no profile.
    """
    message = gzip.decompress(data)
    out = bytearray()
    for field, start, end, begins in _fields(message):
        if field == STRING_TABLE:
            text = _text(message[begins:end])
            out += bytes([STRING_TABLE << 3 | BYTES_FIELD]) + _varint(len(text)) + text
        else:
            out += message[start:end]
    return gzip.compress(bytes(out), 1, mtime=0)


def _fields(message: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Number, start and end of each field of a message, and where its content begins."""
    at = 0
    while at < len(message):
        start = at
        key, at = _read_varint(message, at)
        if key & 7 == BYTES_FIELD:
            length, at = _read_varint(message, at)
            begins, at = at, at + length
        elif key & 7 == VARINT_FIELD:
            begins = at
            _, at = _read_varint(message, at)
        else:
            raise ValueError("not a profile")
        if at > len(message):
            raise ValueError("not a profile")
        yield key >> 3, start, at, begins


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError("not a profile")
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
