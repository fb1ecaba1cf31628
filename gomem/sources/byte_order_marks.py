"""Text that an editor or a shell of Windows wrote begins with a byte order mark, or is UTF-16.

`curl … > memstats.json` in Windows PowerShell 5 writes UTF-16, and editors put U+FEFF before UTF-8.
No artefact that is binary begins with these bytes: gzip, zstd, ELF and archives have beginnings of
their own, and as the first bytes of a profile they would be of a wire type that protobuf lacks.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST = len(codecs.BOM_UTF8)


def without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content, in UTF-8 and without a byte order mark where it begins with one."""
    chunks = iter(chunks)
    beginning = b""
    for chunk in chunks:
        beginning += chunk
        if len(beginning) >= _LONGEST:
            break
    if beginning.startswith(_UTF16):
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        yield decoder.decode(beginning).encode("utf-8", "replace")
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "replace")
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")
        return
    yield beginning.removeprefix(codecs.BOM_UTF8)
    yield from chunks
