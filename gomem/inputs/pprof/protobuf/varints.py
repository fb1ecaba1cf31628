"""Protobuf's varints: seven bits per byte, lowest first; the high bit marks all bytes but the last.

NumPy decodes many of them at once, without a loop. This module knows nothing about messages.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

IntArray = NDArray[np.int64]
ByteArray = NDArray[np.uint8]

MARK = 0x80  # set in every byte of a number but the last
MAX_BYTES = 10  # of a 64-bit number
PADDING = 32  # zeros around a buffer: a number that runs past the end hits one of them
CHUNK_BYTES = 1 << 18  # decoded at a time: a chunk's arrays stay in the CPU's cache

SPARSE = 2  # runs that fill less than 1 / SPARSE of their span are gathered before decoding

BYTES_OF_UINT32 = 4  # a number of up to this many bytes always fits

CUT = "a number runs past the end of its message"
TOO_LONG = f"a number of more than {MAX_BYTES} bytes"


class VarintError(ValueError):
    """An unreadable number: its index among those asked for, and where in the buffer it begins."""

    def __init__(self, index: int, place: int, what: str) -> None:
        self.index = index
        self.place = place
        super().__init__(what)


def read_each(data: ByteArray, at: IntArray) -> tuple[IntArray, IntArray]:
    """Decode the number at each position of a buffer padded with `PADDING` zeros.

    Returns the numbers, as the 64 bits written, and the end of each. Raises VarintError if one has
    more than ten bytes.
    """
    byte = data.take(at)
    value = byte.astype(np.int64)
    after = at + 1
    more = (byte >= MARK).nonzero()[0]
    if not more.size:
        return value, after
    value &= 0x7F
    for group in range(1, MAX_BYTES):
        byte = data[at[more] + group]
        value[more] |= (byte & 0x7F).astype(np.int64) << np.int64(7 * group)
        after[more] += 1
        more = more[byte >= MARK]
        if not more.size:
            return value, after
    raise VarintError(int(more[0]), int(at[more[0]]), TOO_LONG)


class Numbers:
    """All numbers of a buffer; intermediate arrays are computed once and kept.

    The buffer is padded with `PADDING` zeros before and after. The arrays take about ten times its
    size, so use `read_runs` for large buffers.
    """

    def __init__(self, data: ByteArray) -> None:
        self.data = data
        self._ends_here = data < MARK

    def runs(self, starts: IntArray, stops: IntArray) -> tuple[NDArray[Any], IntArray]:
        """Decode all numbers in runs that contain nothing else; also returns the count in each run.

        Runs ascend and do not overlap. The byte before a run is unmarked: the last byte of a
        length, or of a tag. Numbers are uint16 if none has more than two bytes, uint32 if none has
        more than four, else int64 with the 64 bits written. Raises VarintError if a number is cut
        by the end of its run, or has more than ten bytes.
        """
        whole = self._ends_here.take(stops - 1) | (stops == starts)
        if not whole.all():
            run = int(np.argmin(whole))
            raise VarintError(run, int(starts[run]), CUT)
        inside = _inside(starts, stops, len(self.data))
        ends = (self._ends_here & inside).nonzero()[0]
        values: NDArray[Any] = self._short.take(ends)
        if (self._long & inside).any():
            longer = self._long.take(ends).nonzero()[0]
            values = _lengthen(self.data, values, longer, ends.take(longer))
        # Runs do not overlap, so a run's numbers end after the previous stop and up to its own.
        return values, np.diff(np.searchsorted(ends, stops), prepend=0)

    @cached_property
    def _long(self) -> NDArray[np.bool_]:
        """The bytes at which a number of at least three bytes ends."""
        long = self._ends_here.copy()
        long[:2] = False
        long[2:] &= ~(self._ends_here[1:-1] | self._ends_here[:-2])
        return long

    @cached_property
    def _short(self) -> NDArray[np.uint16]:
        """For every byte, the number that ends there, if it has one or two bytes."""
        # Most of these are never used. Computing all of them without a branch is still faster: a
        # byte counts 128 times if the byte before it is marked, as then it is in the same number.
        before = self.data[:-1]
        low_bits = (before >> 7) * np.uint8(0x7F)  # of a marked byte; 0 for others
        value = np.zeros(len(self.data), np.uint16)
        np.multiply(self.data[1:], low_bits.astype(np.uint16) + np.uint16(1), out=value[1:])
        value[1:] += before & low_bits
        return value


def read_runs(data: ByteArray, starts: IntArray, stops: IntArray) -> tuple[NDArray[Any], IntArray]:
    """Decode runs of any size, a chunk at a time, as uint32 or int64; see `Numbers.runs`."""
    counts = np.zeros(len(starts), np.int64)
    piece_starts, piece_stops, run_of = _pieces(data, starts, stops)
    # There are at most as many numbers as bytes. The unused rest costs no memory: its pages are
    # never touched.
    numbers: NDArray[Any] = np.empty(int((stops - starts).sum()), np.uint32)
    found = 0
    for first, last in chunks(piece_stops - piece_starts):
        runs = run_of[first:last]
        values, each = _read_chunk(data, piece_starts[first:last], piece_stops[first:last], runs)
        np.add.at(counts, runs, each)
        if values.dtype == np.int64 and numbers.dtype == np.uint32:
            numbers = numbers.astype(np.int64)
        numbers[found : found + len(values)] = values
        found += len(values)
    return numbers[:found], counts


def _read_chunk(
    data: ByteArray, starts: IntArray, stops: IntArray, run_of: IntArray
) -> tuple[NDArray[Any], IntArray]:
    low, high = int(starts[0]), int(stops[-1])
    if SPARSE * int((stops - starts).sum()) >= high - low:
        window, moved = data[low - PADDING : high + PADDING], np.full(len(starts), low - PADDING)
    else:
        window, moved = _gathered(data, starts, stops)
    begins = starts - moved
    try:
        return Numbers(window).runs(begins, stops - moved)
    except VarintError as error:
        run = int(np.searchsorted(begins, error.place, side="right")) - 1
        place = error.place + int(moved[run])
        raise VarintError(int(run_of[run]), place, str(error)) from None


def _pieces(
    data: ByteArray, starts: IntArray, stops: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Split runs longer than a chunk between numbers: starts, stops, and the run of each piece."""
    run_of = np.arange(len(starts))
    cuts: list[tuple[int, int]] = []
    for run in np.flatnonzero(stops - starts > CHUNK_BYTES).tolist():
        place, stop = int(starts[run]), int(stops[run])
        while stop - place > CHUNK_BYTES + MAX_BYTES:
            ending = data[place + CHUNK_BYTES : place + CHUNK_BYTES + MAX_BYTES] < MARK
            if not ending.any():
                raise VarintError(run, place + CHUNK_BYTES, TOO_LONG)
            place += CHUNK_BYTES + int(np.argmax(ending)) + 1
            cuts.append((run, place))
    if not cuts:
        return starts, stops, run_of
    runs, places = np.array(cuts).T
    run_of = np.sort(np.concatenate([run_of, runs]))
    return np.sort(np.append(starts, places)), np.sort(np.append(stops, places)), run_of


def chunks(lengths: IntArray) -> Iterator[tuple[int, int]]:
    """Group runs into chunks of about `CHUNK_BYTES`, at least one run each."""
    ends = np.cumsum(lengths)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + CHUNK_BYTES, side="right")))
        yield first, last
        first = last


def _gathered(
    data: ByteArray, starts: IntArray, stops: IntArray
) -> tuple[ByteArray, NDArray[np.int64]]:
    """Concatenate runs in a new buffer; also returns how far each was moved."""
    lengths = stops - starts
    ends = PADDING + np.cumsum(lengths)
    moved = starts - (ends - lengths)
    gathered = np.zeros(int(ends[-1]) + PADDING, np.uint8)
    gathered[PADDING:-PADDING] = data[np.repeat(moved, lengths) + np.arange(PADDING, ends[-1])]
    return gathered, moved


def _inside(starts: IntArray, stops: IntArray, size: int) -> NDArray[np.bool_]:
    """Return which bytes of a window are inside a run."""
    edges = np.zeros(2 * len(starts) + 2, np.int64)
    edges[1:-1:2] = starts
    edges[2:-1:2] = stops
    edges[-1] = size
    is_run = np.zeros(len(edges) - 1, np.bool_)
    is_run[1::2] = True
    return np.repeat(is_run, np.diff(edges))


def _lengthen(
    data: ByteArray, values: NDArray[Any], index: IntArray, ends: IntArray
) -> NDArray[Any]:
    """Add the missing bytes, backwards, to numbers of at least three bytes."""
    numbers = values.take(index).astype(np.int64)
    group, rest, places = 2, np.arange(len(index)), ends - 2
    while rest.size:
        if group == MAX_BYTES:
            raise VarintError(-1, int(places[0]), TOO_LONG)
        bits = (data.take(places) & np.uint8(0x7F)).astype(np.int64)
        numbers[rest] = numbers.take(rest) << np.int64(7) | bits
        more = (data.take(places - 1) >= MARK).nonzero()[0]
        rest, places = rest.take(more), places.take(more) - 1
        group += 1
    lengthened = values.astype(np.int64 if group > BYTES_OF_UINT32 else np.uint32)
    lengthened[index] = numbers
    return lengthened
