"""A call and its source position in one line, as people shorten stacks: `main.f(...) f.go:66`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_JOINED = 1 << 20  # bytes of a text that a person wrote
_JOINED = re.compile(
    rb"[ \t]*(created by \S{1,300}(?: in goroutine \d{1,19})?"
    rb"|[\w./*()\[\]{}%~-]{1,300}\([^()\n]*\))"
    rb"[ \t]+(?:at |@ ?|- |\xe2\x86\x92 ?)?"
    rb"\(?([^\s():]{1,300}\.(?:go|s|c|goc):\d{1,9}(?: \+0x[0-9a-f]+)?)\)?[ \t]*"
)


def each_on_its_own(lines: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers; a call and its position as two of one number."""
    for number, line in enumerate(lines, start=1):
        joined = _JOINED.fullmatch(line) if b":" in line and line[:1] != b"\t" else None
        if joined is None:
            yield number, line
        else:
            yield number, joined[1]
            yield number, b"\t" + joined[2]
