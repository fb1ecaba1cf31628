"""Protobuf's numbers: seven bits a byte, the lowest first, and every byte but the last marked.

Many are read at once, with NumPy and without a loop over them. This module knows no messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

IntArray = NDArray[np.int64]
ByteArray = NDArray[np.uint8]

MARK = 0x80  # on every byte of a number but its last
LONGEST = 10  # bytes of a number of 64 bits
PADDING = 32  # zeros to keep around a buffer: a number that runs past its end meets one of them
CHUNK_BYTES = 1 << 17  # read at a time: the arrays of a chunk stay in the CPU's L2 cache

SPARSE = 2  # runs that fill less than one byte in so many are gathered before they are read

EIGHT = np.uint64(8)
EARLIER_MARKS = np.uint64(0x0080_8080_8080_8080)  # of all bytes of a word but the last
LOW_7 = np.uint64(0x007F_007F_007F_007F)
LOW_14 = np.uint64(0x0000_3FFF_0000_3FFF)
LOW_28 = np.uint64(0x0FFF_FFFF)

CUT = "a number runs past the end of its message"
TOO_LONG = f"a number of more than {LONGEST} bytes"


class VarintError(ValueError):
    """A number that cannot be read.

    Attributes:
        index: Which of the places or runs that were asked for.
        place: Where it begins, in the buffer.
    """

    def __init__(self, index: int, place: int, what: str) -> None:
        self.index = index
        self.place = place
        super().__init__(what)


def read_each(data: ByteArray, at: IntArray) -> tuple[IntArray, IntArray]:
    """Read the number at each of some places.

    Args:
        data: The buffer, padded with `PADDING` zeros.
        at: Where each number begins.

    Returns:
        The numbers, as the 64 bits that were written, and where each one has ended.

    Raises:
        VarintError: A number has more than ten bytes.
    """
    byte = data[at]
    value = byte.astype(np.int64)
    after = at + 1
    more = np.flatnonzero(byte >= MARK)
    if not more.size:
        return value, after
    value &= 0x7F
    for group in range(1, LONGEST):
        byte = data[at[more] + group]
        value[more] |= (byte & 0x7F).astype(np.int64) << np.int64(7 * group)
        after[more] += 1
        more = more[byte >= MARK]
        if not more.size:
            return value, after
    raise VarintError(int(more[0]), int(at[more[0]]), TOO_LONG)


def read_runs(data: ByteArray, starts: IntArray, stops: IntArray) -> tuple[NDArray[Any], IntArray]:
    """Read all numbers of some runs, each of them numbers and nothing else.

    Args:
        data: The buffer, padded with `PADDING` zeros before and after.
        starts: Where each run begins; runs ascend and do not overlap, and the byte before each
            is not marked: it is the last one of a length, or of what announces a single number.
        stops: One past the end of each run.

    Returns:
        All numbers in order, and how many each run has. They are uint32 if none has more than
        four bytes, else int64 with the 64 bits that were written.

    Raises:
        VarintError: A number is cut off by its run's end, or has more than ten bytes.
    """
    if not len(starts):
        return np.zeros(0, np.uint32), np.zeros(0, np.int64)
    asked_for = int((stops - starts).sum())
    if SPARSE * asked_for >= stops[-1] - starts[0]:
        return _read_dense(data, starts, stops)
    gathered, begins, ends = _gathered(data, starts, stops)
    try:
        return _read_dense(gathered, begins, ends)
    except VarintError as error:
        run = int(np.searchsorted(begins, error.place, side="right")) - 1
        place = int(starts[run]) + error.place - int(begins[run])
        raise VarintError(error.index, place, str(error)) from None


def _read_dense(
    data: ByteArray, starts: IntArray, stops: IntArray
) -> tuple[NDArray[Any], IntArray]:
    """Read runs together with what lies between them."""
    counts = np.zeros(len(starts), np.int64)
    # There are no more numbers than bytes. What is not filled costs no memory: no page is touched.
    numbers: NDArray[Any] = np.empty(int((stops - starts).sum()), np.uint32)
    found = 0
    for first, last in _chunks(stops - starts):
        low, high = int(starts[first]), int(stops[last - 1])
        ends_here = _last_bytes(data, starts[first:last], stops[first:last], first)
        values, earlier = _numbers(data, low, high, ends_here)
        counts[first:last] = earlier[stops[first:last] - low] - earlier[starts[first:last] - low]
        if values.dtype != numbers.dtype and numbers.dtype == np.uint32:
            numbers = numbers.astype(np.int64)
        numbers[found : found + len(values)] = values
        found += len(values)
    return numbers[:found], counts


def _chunks(lengths: IntArray) -> Iterator[tuple[int, int]]:
    """Cut runs into chunks of about `CHUNK_BYTES`, at least one run each."""
    ends = np.cumsum(lengths)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + CHUNK_BYTES, side="right")))
        yield first, last
        first = last


def _gathered(
    data: ByteArray, starts: IntArray, stops: IntArray
) -> tuple[ByteArray, IntArray, IntArray]:
    """Runs laid end to end in a buffer of their own: what lies between is not gone through."""
    lengths = stops - starts
    ends = PADDING + np.cumsum(lengths)
    begins = ends - lengths
    gathered = np.zeros(int(ends[-1]) + PADDING, np.uint8)
    for first, last in _chunks(lengths):
        low, high = int(begins[first]), int(ends[last - 1])
        moved = np.repeat((starts - begins)[first:last], lengths[first:last])
        gathered[low:high] = data[moved + np.arange(low, high)]
    return gathered, begins, ends


def _last_bytes(
    data: ByteArray, starts: IntArray, stops: IntArray, first: int
) -> NDArray[np.bool_]:
    """Which bytes from the first start to the last stop are a number's last."""
    low, high = int(starts[0]), int(stops[-1])
    ends_here = data[low:high] < MARK
    if len(starts) > 1:
        ends_here &= _inside(starts - low, stops - low, high - low)
    filled = np.flatnonzero(stops > starts)
    whole = ends_here[stops[filled] - low - 1]
    if not whole.all():
        run = int(filled[np.argmin(whole)])
        raise VarintError(first + run, int(starts[run]), CUT)
    return ends_here


def _inside(starts: IntArray, stops: IntArray, size: int) -> NDArray[np.bool_]:
    """Which bytes of a window lie between a start and its stop."""
    lengths = np.empty(2 * len(starts), np.int64)
    lengths[0::2] = stops - starts
    lengths[1:-1:2] = starts[1:] - stops[:-1]
    lengths[-1] = size - stops[-1]
    return np.repeat(np.arange(len(lengths)) % 2 == 0, lengths)


def _numbers(
    data: ByteArray, low: int, high: int, ends_here: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The numbers that end at the marked places of a window, and how many end before each byte."""
    earlier = np.zeros(high - low + 1, np.int32)
    np.cumsum(ends_here, out=earlier[1:])
    values: NDArray[Any] = _short_numbers(data, low, high)[np.flatnonzero(ends_here)]
    values = values.astype(np.uint32)
    goes_on = data[low - 2 : high - 1] >= MARK
    longer = np.flatnonzero(ends_here & goes_on[1:] & goes_on[:-1])
    if longer.size:
        values = _lengthen(data, values, earlier[longer], longer + low)
    return values, earlier


def _short_numbers(data: ByteArray, low: int, high: int) -> NDArray[np.uint16]:
    """For every byte of a window the number that ends there, if it has one or two bytes.

    Most of these are never asked for. It is still faster than to ask, as long as there is no
    choice to be made: a byte counts 128 times if the one before it is marked, hence of the same
    number. (The byte before a run is never marked.)
    """
    before = data[low - 1 : high - 1]
    marked = before >> 7
    value = data[low:high] * (marked.astype(np.uint16) * np.uint16(127) + np.uint16(1))
    value += before & np.negative(marked) & np.uint8(0x7F)
    return value


def _lengthen(
    data: ByteArray, values: NDArray[Any], index: NDArray[np.int32], ends: IntArray
) -> NDArray[Any]:
    """Give numbers of three bytes and more the rest of their bytes.

    Eight bytes are read as one word that ends with the number. Of the earlier bytes in it the
    highest one without a mark is the end of the number before; all up to it are shifted out.
    """
    words = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))[ends - 7]
    others = ~words & EARLIER_MARKS
    shift = np.frexp(others.astype(np.float64))[1].astype(np.uint64)
    numbers = _without_marks(words >> shift)
    if (shift < 8 * 4).any():
        values = values.astype(np.int64)
    values[index] = numbers.astype(values.dtype)
    whole_word = shift == 0
    if whole_word.any():
        values = _lengthen_words(data, values, index[whole_word], ends[whole_word])
    return values


def _without_marks(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Close the gaps that the marks leave: pairs of seven bits, then of fourteen, then of 28."""
    words = (words & LOW_7) | ((words & (LOW_7 << EIGHT)) >> np.uint64(1))
    words = (words & LOW_14) | ((words & (LOW_14 << np.uint64(16))) >> np.uint64(2))
    return (words & LOW_28) | ((words & (LOW_28 << np.uint64(32))) >> np.uint64(4))


def _lengthen_words(
    data: ByteArray, values: NDArray[Any], index: NDArray[np.int32], ends: IntArray
) -> NDArray[Any]:
    """Give numbers of eight bytes and more those that did not fit in a word, backwards."""
    group = 8
    marked = data[ends - group] >= MARK
    index, ends = index[marked], ends[marked]
    while index.size:
        if group == LONGEST:
            raise VarintError(-1, int(ends[0]) - LONGEST, TOO_LONG)
        byte = (data[ends - group] & np.uint8(0x7F)).astype(values.dtype)
        values[index] = values[index] << values.dtype.type(7) | byte
        group += 1
        marked = data[ends - group] >= MARK
        index, ends = index[marked], ends[marked]
    return values
