"""Hide names in a capture's files while they are written: `gomem capture --redact`.

Home directories become `~`, also in a profile's source paths. Mapped files keep their names but
lose their folders, except the system's folders. Linker flags, which can contain anything, and the
program's own log lines are left out. Functions, sizes and addresses stay, because a diagnosis needs
them.
"""

from __future__ import annotations

import gzip
import re

from gomem.inputs.pprof.protobuf.schema import STRING
from gomem.inputs.pprof.protobuf.wire import WireError, walk
from gomem.inputs.pprof.protobuf.write import message
from gomem.views.share import without_home

WIRE_TYPES = frozenset({0, 2})  # in a profile's fields: numbers, and length-delimited values
HIDDEN_FOLDER = b"/redacted/"
_MAPPED = re.compile(
    rb"(?m)^([0-9a-f]+-[0-9a-f]+ [rwxps-]{4} [0-9a-f]+ [0-9a-f:]+ \d+ +)"
    rb"(?!/(?:dev|usr|lib|lib64|memfd:|SYSV|anon_hugepage|proc|sys)\b)(/[^\n]*)$"
)
_COLLECTOR_LINE = re.compile(rb"\b(?:gc \d+ @|scvg|scav |pacer:|GC forced)")
_LINKER_FLAGS = re.compile(rb"(?m)^\tbuild\t\"?-ldflags=[^\n]*\n")


def redacted(name: str, data: bytes) -> bytes:
    """Return the content of a capture's file, without what must be hidden.

    The file's `name` says how to read the content.
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
        return b"".join(line for line in lines if _COLLECTOR_LINE.search(line))
    return _text(data)


def _last(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


def _text(data: bytes) -> bytes:
    return without_home(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _profile(data: bytes) -> bytes:
    """Replace home directories in a profile's strings; raises ValueError if it cannot be parsed."""
    profile = gzip.decompress(data)
    out = bytearray()
    try:
        for field, wire_type, place, start, stop in walk(profile):
            if wire_type not in WIRE_TYPES:
                raise ValueError("not a profile")
            if field == STRING:
                out += message(STRING, _text(profile[start:stop]))
            else:
                out += profile[place:stop]
    except WireError as error:
        raise ValueError("not a profile") from error
    return gzip.compress(bytes(out), 1, mtime=0)
