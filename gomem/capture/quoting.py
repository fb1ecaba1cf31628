"""Removes how a text was quoted, before anything in it is recognised.

Characters   HTML entities and what editors and terminals add
Quotes       `> ` before each line of a stretch, also nested; one line alone can be a prompt
Indentation  of four blanks or a tab, if all lines of the text share it: a block of code in Markdown
Blanks       at the end of a line, and carriage returns
Lines keep their number.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from gomem.inputs.unwrap import LAYERS, QUOTE, plain_characters

if TYPE_CHECKING:
    from gomem.sources.artefact import Source

MAX_BYTES = 1 << 21  # a text that a person wrote is shorter
MIN_LINES = 2  # of a quote
_MARKED = re.compile(rb"^ {0,3}>", re.MULTILINE)
_ESCAPED = re.compile(rb"&(?:[gl]t|amp|quot|nbsp|#3[49]);")
_INDENT = re.compile(rb" {4,}|\t")


def without_quoting(source: Source) -> Source:
    """Return a text as it was before somebody quoted it; other artefacts are unchanged."""
    data = source.data
    if len(data) > MAX_BYTES or b"\0" in data:
        return source
    if _ESCAPED.search(data):
        data = plain_characters(data)
    for _ in range(LAYERS):
        plain = _undented(data) if _INDENT.match(data.lstrip(b"\r\n")) else data
        plain = _without_marks(plain_characters(plain)) if _MARKED.search(plain) else plain
        if plain == data:
            break
        data = plain
    data = b"\n".join(line.rstrip(b" \r") for line in data.split(b"\n"))
    return source if data == source.data else replace(source, data=data)


def _without_marks(data: bytes) -> bytes:
    """The text without the outermost marks of its quotes."""
    lines = data.split(b"\n")
    filled = [line for line in lines if line.strip()]
    is_most = 2 * sum(QUOTE.match(line) is not None for line in filled) > len(filled)
    texts: list[bytes] = []
    for is_marked, group in groupby(lines, key=lambda line: QUOTE.match(line) is not None):
        stretch = list(group)
        if is_marked and (is_most or len(stretch) >= MIN_LINES):
            stretch = [QUOTE.sub(b"", line, count=1) for line in stretch]
        texts += stretch
    return b"\n".join(texts)


def _undented(data: bytes) -> bytes:
    """The text without the indentation of a block of code that all of its lines share."""
    lines = data.split(b"\n")
    filled = [line for line in lines if line.strip()]
    found = _INDENT.match(filled[0]) if filled else None
    if found is None:
        return data
    shared = found[0]
    while shared and not all(line.startswith(shared) for line in filled):
        shared = shared[:-1]
    if not _INDENT.match(shared):
        return data
    return b"\n".join(line.removeprefix(shared) for line in lines)
