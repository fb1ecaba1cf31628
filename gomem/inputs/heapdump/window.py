"""The part of a heap dump that is in memory: it advances through the file piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.protobuf.varints import VarintError, read_each
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gomem.inputs.heapdump.columns import IntArray

PADDING = 64  # zeros after the window, so that reads of a few bytes need no bounds check
WINDOW_BYTES = 4 * MIB  # tens of thousands of objects; small compared with the data kept of them

WORD_BYTES = 8
_ONES = np.uint64(0x0101010101010101)
_MARKS = np.uint64(0x8080808080808080)
_LAST_OF_EACH = tuple(
    (np.uint64(low), np.uint64(high), np.uint64(shift))
    for low, high, shift in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)


class Window:
    """Unread bytes of the dump that are in memory."""

    def __init__(self, pieces: Iterator[bytes], window_bytes: int = WINDOW_BYTES) -> None:
        self._pieces = pieces
        self._min_bytes = window_bytes  # read at a time
        self.base = 0  # position in the dump of the window's first byte
        self.at = 0  # position in the window of the next record
        self.size = 0  # bytes of the window; `PADDING` zeros follow
        self.has_ended = False  # whether the dump ends with the window
        self.buffer = bytes(PADDING)
        self.grow()

    @property
    def place(self) -> int:
        """Position of the next record in the dump."""
        return self.base + self.at

    def grow(self, wanted: int = 0) -> bool:
        """Drop the bytes already read and load more of the dump; False if there are no more."""
        # `wanted` is the number of bytes that the next record is known to have.
        if self.has_ended:
            return False
        parts = [self.buffer[self.at : self.size]]
        held, taken = len(parts[0]), 0
        enough = max(self._min_bytes, wanted + PADDING - held, held // 2)
        while taken < enough:
            piece = next(self._pieces, None)
            if piece is None:
                self.has_ended = True
                break
            parts.append(piece)
            taken += len(piece)
        self.base += self.at
        self.at, self.size = 0, held + taken
        self.buffer = b"".join([*parts, bytes(PADDING)])
        return taken > 0

    @property
    def data(self) -> NDArray[np.uint8]:
        """The window as an array."""
        return np.frombuffer(self.buffer, np.uint8)

    @property
    def words(self) -> NDArray[np.uint64]:
        """The eight bytes from each position, as little-endian words."""
        return np.ndarray(len(self.buffer) - 7, np.dtype("<u8"), self.buffer, strides=(1,))


def numbers_at(
    data: NDArray[np.uint8], words: NDArray[np.uint64], at: IntArray
) -> tuple[NDArray[np.uint64], IntArray]:
    """Return the number at each position, and its end (before its start if it is not a number).

    Numbers of nine bytes or more are rare, and are read separately.
    """
    word = words[at]
    ends = ~word & _MARKS
    last = ends & (~ends + np.uint64(1))  # the highest bit of the number's last byte
    value = word & (last - np.uint64(1)) & ~_MARKS
    for low, high, shift in _LAST_OF_EACH:
        value = value & low | (value & high) >> shift
    after = at + _bytes_up_to(last)
    for place in np.flatnonzero(ends == 0).tolist():
        try:
            long, stop = read_each(data, at[place : place + 1])
            value[place], after[place] = long.view(np.uint64)[0], stop[0]
        except VarintError:
            after[place] = at[place] - 1
    return value, after


def zeros_at(words: NDArray[np.uint64], at: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return the first zero of the eight bytes from each position, and whether there is one."""
    word = words[np.minimum(at, len(words) - 1)]
    # The lowest bit set here is that of the first zero byte; higher bits can be wrong.
    found = (word - _ONES) & ~word & _MARKS
    first = found & (~found + np.uint64(1))
    return at + _bytes_up_to(first) - 1, found != 0


def _bytes_up_to(mark: NDArray[np.uint64]) -> IntArray:
    """Return the number of bytes up to the marked one; the mark is the highest bit of its byte."""
    # The exponent of a power of two: bit 7 is one byte, bit 15 two bytes.
    return (np.frexp(mark.astype(np.float64))[1] >> 3).astype(np.int64)
