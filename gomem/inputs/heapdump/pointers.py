"""Finds the pointers in the objects, frames and segments of a heap dump by their field lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.heapdump.window import numbers_at
from gomem.inputs.pprof.protobuf.varints import MARK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.columns import AddressArray, IntArray, Machine
    from gomem.inputs.heapdump.window import Window

POINTER, INTERFACE, EMPTY_INTERFACE = 1, 2, 3  # kinds of fields; since Go 1.4 only POINTER


@dataclass(frozen=True, slots=True)
class Contents:
    """Positions of contents and their field lists in a window."""

    content: IntArray
    size: IntArray
    fields: IntArray
    stop: IntArray


@dataclass(frozen=True, slots=True)
class Pointers:
    """The pointers that field lists name."""

    row: IntArray  # row of the contents
    offset: IntArray
    target: AddressArray
    wrong: IntArray  # rows with an invalid field list, which have no pointers here


def pointers_in(window: Window, contents: Contents, machine: Machine) -> Pointers:
    """Return the pointers in many contents, including nil."""
    row, number = _numbers(window, contents)
    first = np.searchsorted(row, np.arange(len(contents.size) + 1))
    counts = np.diff(first)
    is_kind = (np.arange(len(row)) - first[row]) % 2 == 0
    kind, owner = number[is_kind], row[is_kind]
    is_odd = counts % 2 == 1
    if is_odd.any():  # a kind without an offset
        whole = ~is_odd[row]
        is_kind, row, number = is_kind[whole], row[whole], number[whole]
        kind, owner = number[is_kind], row[is_kind]
    offset = number[~is_kind].view(np.int64)
    offset = offset + np.where(kind == POINTER, 0, machine.pointer_bytes)
    is_right = (kind >= POINTER) & (kind <= EMPTY_INTERFACE) & (offset >= 0)
    is_right &= offset <= contents.size[owner] - machine.pointer_bytes
    wrong = np.unique(np.concatenate([np.flatnonzero(is_odd), owner[~is_right]]))
    if len(wrong):
        kept = ~np.isin(owner, wrong)
        owner, offset = owner[kept], offset[kept]
    return Pointers(
        owner, offset, words_at(window, contents.content[owner] + offset, machine), wrong
    )


def words_at(window: Window, at: IntArray, machine: Machine) -> AddressArray:
    """Return the words at positions of the window, as addresses."""
    word = window.words[at]
    if machine.big_endian:
        word = word.byteswap()
        return word >> np.uint64(8 * (8 - machine.pointer_bytes))
    return word & np.uint64((1 << 8 * machine.pointer_bytes) - 1)


def all_words(contents: Contents, machine: Machine) -> tuple[IntArray, IntArray]:
    """Return row and offset of every word of the contents."""
    counts = contents.size // machine.pointer_bytes
    row = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return row, (np.arange(len(row)) - first[row]) * machine.pointer_bytes


def _numbers(window: Window, contents: Contents) -> tuple[IntArray, NDArray[np.uint64]]:
    """Return all numbers of the field lists, with the row of each."""
    lengths = contents.stop - contents.fields
    row = np.repeat(np.arange(len(lengths)), lengths)
    moved = contents.fields - (np.cumsum(lengths) - lengths)
    place = np.arange(len(row)) + moved[row]
    ends = window.data[place] < MARK
    # A number begins at the start of its list, and after the end of another number.
    begins = np.ones(len(place), np.bool_)
    begins[1:] = ends[:-1] | (row[1:] != row[:-1])
    begin = place[begins]
    number = window.data[begin].astype(np.uint64)  # most have one byte
    longer = np.flatnonzero(~ends[begins])
    number[longer], _ = numbers_at(window.data, window.words, begin[longer])
    return row[begins], number
