"""Replaces every number in a text with the same marker, so that lines of one format become equal.

    gc 12 @0.345s 6%: 0.18+0.87+0.004 ms clock   ->   gc 0 @0.0s 0%: 0+0+0 ms clock

A number is digits with single points between them. Only a number with three decimals before an `s`
keeps its point. Each step works on a window of the text that fits in the CPU's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NUMBER_BYTES = 11
"""Shorter numbers need no check of their length: every form allows this many digits."""
WINDOW_BYTES = 1 << 18

_ZERO, _POINT, _S = b"0.s"
_REPEATED = 0x80
_HIGH = bytes(range(_REPEATED, 256))
_ASCII = bytes.maketrans(_HIGH, b"\x7f" * len(_HIGH))
_MARK = bytes.maketrans(b"123456789", b"0" * 9)


def mark_numbers(text: bytes) -> tuple[bytes, np.ndarray]:
    """Replace the numbers of a text by markers; also return the positions of long numbers."""
    # Non-ASCII bytes become a byte that no form contains; newlines stay. For each number longer
    # than `MAX_NUMBER_BYTES`, the result has a position in `text` inside the number.
    marked: list[bytes] = []
    long_at = [np.empty(0, np.int64)]
    for start, end in _windows(text):
        window = text[start:end]
        if not window.isascii():
            window = window.translate(_ASCII)
        characters = np.frombuffer(window, np.uint8).copy()
        repeated = _repeated(characters)
        characters[1:] |= repeated.view(np.uint8) * np.uint8(_REPEATED)
        marked.append(characters.tobytes().translate(_MARK, _HIGH))
        long_at.append(_long_runs(repeated) + start)
    return b"".join(marked), np.concatenate(long_at)


def _windows(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and end of each window; windows end at a newline, unless a line is longer."""
    start = 0
    while start < len(text):
        end = start + WINDOW_BYTES
        if end < len(text):
            end = text.rfind(b"\n", start, end) + 1 or end
        yield start, min(end, len(text))
        start = end


def _repeated(characters: np.ndarray) -> np.ndarray:
    """For each character but the first: whether it continues the number before it."""
    digit = (characters - _ZERO) < 10  # characters below b"0" wrap round
    two = digit[1:] & digit[:-1]
    inside = characters == _POINT
    inside[:1] = inside[-1:] = False
    inside[1:-1] &= digit[:-2]
    inside[1:-1] &= digit[2:]
    if len(characters) >= len(b".000s"):
        seconds = characters[4:] == _S
        seconds &= two[1:-2]
        seconds &= digit[3:-1]
        inside[:-4] &= ~seconds
    inside |= digit
    return inside[1:] & inside[:-1]


def _long_runs(repeated: np.ndarray) -> np.ndarray:
    """For each number longer than `MAX_NUMBER_BYTES`, the position of its first excess byte."""
    run, length = repeated, 1
    while length < MAX_NUMBER_BYTES:
        ahead = min(length, MAX_NUMBER_BYTES - length)
        if len(run) <= ahead:
            return np.empty(0, np.int64)
        run = run[ahead:] & run[:-ahead]
        length += ahead
        if not run.any():  # reached early, in most windows
            return np.empty(0, np.int64)
    first = run.copy()
    first[1:] &= ~run[:-1]
    return np.flatnonzero(first) + MAX_NUMBER_BYTES
