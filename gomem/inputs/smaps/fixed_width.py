"""A fast reader for smaps whose entries all have the same fields, as a single kernel prints them.

The kernel pads its numbers to eight characters, so each field is at the same distance from its
entry's header line. Eight characters are one 64-bit word, so one field of all mappings is an array
of words, read at once. Files of any other shape (cut, with a nine-digit number, or with a foreign
line) are left to the general parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

AT_ONCE = 4096  # entries, about 3 MB, which fit in the processor's cache
WIDTH = 8  # digits that the kernel pads a number to
FIRST_ENTRY = 1 << 16  # maximum end of the first entry
LINE_END = np.uint8(ord("\n"))
FIELD = re.compile(rb"(\w+): *\d{1,8}( kB)?")
FLAGS = b"VmFlags:"
EACH = np.uint64(0x0101010101010101)  # a one in each byte of a word
# Shift, weight of the left one of two parts, and mask of the result.
_PAIRING = (8, 10, 0x00FF00FF00FF00FF, 16, 100, 0x0000FFFF0000FFFF, 32, 10_000, 0xFFFFFFFF)
PAIRING = np.array(_PAIRING, np.uint64).reshape(3, 3)


@dataclass(frozen=True, slots=True)
class UniformEntries:
    """The headers, numbers and flags of all entries of a file, column by column."""

    headers: list[bytes]  # the header line of each mapping
    # The printed numbers by the kernel's field name, one per mapping.
    fields: dict[bytes, NDArray[np.int64]]
    in_kib: frozenset[bytes]  # names of the fields in kB
    flags: list[bytes]  # the VmFlags line of each mapping; empty if the kernel does not print it
    stride: int  # lines per entry


@dataclass(frozen=True, slots=True)
class _Shape:
    """The layout of the fields of each entry: `width` characters, with numbers at `begins`."""

    names: list[bytes]
    in_kib: frozenset[bytes]
    begins: list[int]
    width: int
    has_flags: bool

    @property
    def stride(self) -> int:
        return 1 + len(self.names) + self.has_flags


def uniform_entries(data: bytes) -> UniformEntries | None:
    """Return the entries of a file; None if not all have the layout of the first."""
    shape = _shape_of_first(data)
    if shape is None:
        return None
    line_ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_END)
    if data[-1:] != b"\n" or len(line_ends) % shape.stride:
        return None
    ends = line_ends.reshape(-1, shape.stride)
    begins, behind = ends[:, 0] + 1, ends[:, len(shape.names)] + 1
    if (behind - begins != shape.width).any():
        return None
    fields = _numbers(_slices(data, begins, behind), shape)
    others = _slices(data, np.append(0, behind), np.append(begins, len(data)))
    lines = b"".join(others).split(b"\n")[:-1]
    flags = lines[1::2] if shape.has_flags else []
    if fields is None or not all(line.startswith(FLAGS) for line in set(flags)):
        return None
    headers = lines[::2] if shape.has_flags else lines
    return UniformEntries(headers, fields, shape.in_kib, flags, shape.stride)


def _slices(data: bytes, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> list[bytes]:
    return [data[at:end] for at, end in zip(begins.tolist(), ends.tolist(), strict=True)]


def _shape_of_first(data: bytes) -> _Shape | None:
    """Return the layout of the first entry: fields from the second line, then perhaps VmFlags."""
    lines = data[:FIRST_ENTRY].split(b"\n")[1:-1]
    names: list[bytes] = []
    in_kib: set[bytes] = set()
    begins: list[int] = []
    width = 0
    for line in lines:
        field = FIELD.fullmatch(line)
        if field is None:
            break
        tail = len(field[2] or b"")
        begin = width + len(line) - tail - WIDTH
        if begin <= width + len(field[1]) or field[1] in names:
            return None
        names.append(field[1])
        begins.append(begin)
        width += len(line) + 1
        if tail:
            in_kib.add(field[1])
    if not names:
        return None
    has_flags = len(lines) > len(names) and lines[len(names)].startswith(FLAGS)
    return _Shape(names, frozenset(in_kib), begins, width, has_flags)


def _numbers(entries: list[bytes], shape: _Shape) -> dict[bytes, NDArray[np.int64]] | None:
    """Return each field of each entry; None if entries differ in anything but digits."""
    constant = np.full(shape.width, 0xFF, dtype=np.uint8)
    for begin in shape.begins:
        constant[begin : begin + WIDTH] = 0
    alike = (np.frombuffer(entries[0], np.uint8) & constant).tobytes()
    values = np.empty((len(shape.names), len(entries)), dtype=np.int64)
    for first in range(0, len(entries), AT_ONCE):
        some = entries[first : first + AT_ONCE]
        joined = b"".join(some)
        characters = np.frombuffer(joined, np.uint8).reshape(len(some), shape.width)
        if (characters & constant).tobytes() != alike * len(some):
            return None
        texts = np.array([_words(joined, shape, at) for at in shape.begins])
        if not _are_padded_digits(texts):
            return None
        values[:, first : first + AT_ONCE] = _eight_digits(texts)
    return dict(zip(shape.names, values, strict=True))


def _words(entries: bytes, shape: _Shape, at: int) -> NDArray[np.uint64]:
    """Return the eight characters at one position of each entry."""
    count = len(entries) // shape.width
    return np.ndarray((count,), "<u8", entries, offset=at, strides=(shape.width,))


def _are_padded_digits(texts: NDArray[np.uint64]) -> bool:
    """Whether all are spaces followed by digits; the first character is the lowest byte."""
    digit = (texts >> np.uint64(4)) & EACH  # 0x30 to 0x39 have this bit, a space does not
    low = texts & (EACH * np.uint64(0x0F))
    return not (
        ((texts & (EACH * np.uint64(0xE0))) != EACH * np.uint64(0x20)).any()
        or ((low + EACH * np.uint64(6)) & (EACH * np.uint64(0x10))).any()
        or (low & ~(digit * np.uint64(0x0F))).any()
        or ((digit << np.uint64(8)) & ~digit).any()
        or (digit >> np.uint64(56) == 0).any()
    )


def _eight_digits(texts: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return their values: digits are added to pairs, pairs to fours, fours to eights."""
    value = texts & (EACH * np.uint64(0x0F))  # a space is 0
    for bits, ten, mask in PAIRING:
        value = (value * (ten * (np.uint64(1) << bits) + np.uint64(1)) >> bits) & mask
    return value.astype(np.int64)
