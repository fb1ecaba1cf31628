"""Texts that gomem does not read, but that name sizes of memory: a sentence, or a series of lines.

A size is a number with a unit, or of four digits and more, near a word such as RSS or heap. In a
series the lines have one shape and other numbers; the word can be in the first line, or in the
file's name.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.inputs.resemblance import quoted

if TYPE_CHECKING:
    from gomem.text import Quoted

HEAD_BYTES = 1 << 16
MIN_ROWS = 3  # of a series
MAX_LINE = 400
_WORD = (
    rb"(?<![A-Za-z])(?:[Vv]m)?(?:RSS|Rss|rss|[Hh]eap|HEAP|[Mm]em(?:ory)?|MEM(?:ORY)?"
    rb"|[Aa]lloc(?:ated)?)(?![a-z])"
)
_SIZE = rb"(?<![\w.:/-])\d{1,15}(?:\.\d{1,9})?(?: ?[kKMGT]i?[Bb]\b| ?bytes\b)"
_LONG = rb"(?<![\w.:/-])\d{4,15}(?![\w.:/-])"
_PHRASE = re.compile(
    _WORD + rb"[^\n\d]{0,40}?(?:" + _SIZE + rb")|" + _WORD + rb"\w{0,20}[=: \t]{1,3}" + _LONG
)
_IN_NAME = re.compile(r"(?i)(?<![a-z])(?:rss|mem|memory|heap|vmrss)(?![a-z])")
_WORDED = re.compile(_WORD)
_DIGITS = re.compile(rb"\d+(?:\.\d+)?")
_SIZED = re.compile(_SIZE + rb"|" + _LONG)


def size_named(head: bytes) -> Quoted | None:
    """Return the first words that name a size of memory; None if there are none."""
    found = _PHRASE.search(head[:HEAD_BYTES])
    return None if found is None else quoted(found[0])


def has_series(head: bytes, name: str) -> bool:
    """Whether lines of one shape have sizes that change, and the text or its name says memory."""
    lines = [line.strip() for line in head[:HEAD_BYTES].split(b"\n")]
    rows = [line for line in lines if len(line) <= MAX_LINE and _SIZED.search(line)]
    shapes = Counter(_DIGITS.sub(b"0", b" ".join(line.split())) for line in dict.fromkeys(rows))
    most = max(shapes.values(), default=0)
    if most < MIN_ROWS:
        return False
    first = next(iter(lines), b"")
    heading = _DIGITS.sub(b"0", b" ".join(first.split()))
    largest = [shape for shape, count in shapes.items() if count == most]
    above = b"" if heading in largest else first  # a line of names, or a heading
    said = (above, *largest)
    return bool(any(map(_WORDED.search, said)) or _IN_NAME.search(PurePosixPath(name).stem))
