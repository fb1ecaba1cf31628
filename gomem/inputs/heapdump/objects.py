"""Reads the hundreds of thousands of objects of a heap dump with NumPy.

Records are a chain: the start of a record is known only after the record before it has been read.
But the runtime writes all objects in a row, and the start of an object is easy to recognise: the
tag, then an address in the heap. So reading begins at thousands of places in the window that look
like a start, and the chains from all of them advance together, one object per round. Only the chain
from the window's first object counts. A place that this chain does not reach was not the start of
an object, and its chain is dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.heapdump.window import WORD_BYTES, numbers_at, zeros_at
from gomem.units import KIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.columns import AddressArray, IntArray
    from gomem.inputs.heapdump.window import Window

OBJECT = 1  # the tag of an object record
MAX_CHAINS = 4096  # per window
MIN_CHAIN_BYTES = 2 * KIB
BEGINNING = re.compile(rb"\x01[\x80-\xff]{2,9}[\x01-\x7f]")


@dataclass(frozen=True, slots=True)
class Run:
    """Objects of a window, in its order; all values are positions in the window."""

    at: IntArray  # the tag
    address: AddressArray
    size: IntArray
    content: IntArray  # first byte of the content
    fields: IntArray  # first byte of the field list
    stop: IntArray  # the zero that ends the field list

    def take(self, chosen: NDArray[Any]) -> Run:
        """Select objects by index or mask."""
        columns = (self.at, self.address, self.size, self.content, self.fields, self.stop)
        return Run(*(column[chosen] for column in columns))

    @staticmethod
    def joined(runs: list[Run]) -> Run:
        """Join the objects of several runs."""
        names = ("at", "address", "size", "content", "fields", "stop")
        return Run(*(np.concatenate([getattr(run, name) for run in runs]) for name in names))

    def __len__(self) -> int:
        return len(self.at)


def read_run(window: Window, arena: tuple[int, int]) -> tuple[Run, int]:
    """Read all objects from the window's position to the next other record or the window's end.

    Returns the objects, and the position after the last one.
    """
    starts = _beginnings(window, arena)
    limits = np.append(starts[1:], window.size)
    chain, run = _advance(window, starts, limits)
    ends = starts.copy()
    np.maximum.at(ends, chain, run.stop + 1)
    chain_at = {start: number for number, start in enumerate(starts.tolist())}
    is_true = np.zeros(len(starts), np.bool_)
    place, more = int(starts[0]), []
    while True:
        number = chain_at.get(place)
        if number is not None:
            is_true[number] = True
            end = int(ends[number])
        else:  # the chain overran a false start, or reached a record that is not an object
            limit = limits[np.searchsorted(limits, place, side="right") :][:1]
            if not len(limit):
                break
            _, piece = _advance(window, np.array([place]), limit)
            more.append(piece)
            end = int(piece.stop[-1]) + 1 if len(piece) else place
        if end == place:
            break
        place = end
    if not is_true.all():
        run = run.take(is_true[chain])
    found = Run.joined([run, *more]) if any(map(len, more)) else run
    return found.take(np.argsort(found.at, kind="stable")), place


def _beginnings(window: Window, arena: tuple[int, int]) -> IntArray:
    """Return the window's position, and evenly spaced ones that look like an object's start."""
    step = max((window.size - window.at) // MAX_CHAINS, MIN_CHAIN_BYTES)
    places = range(window.at + step, window.size - step, step)
    matches = (BEGINNING.search(window.buffer, place, place + step) for place in places)
    found = np.array([match.start() for match in matches if match is not None], np.int64)
    address, _ = numbers_at(window.data, window.words, found + 1)
    inside = (address >= np.uint64(arena[0])) & (address < np.uint64(arena[1]))
    return np.concatenate([[window.at], found[inside]])


def _advance(window: Window, starts: IntArray, limits: IntArray) -> tuple[IntArray, Run]:
    """Read consecutive objects from each start, while they begin before its limit.

    Returns the chain of each object, and the objects. A chain ends where there is no object, or
    only part of one.
    """
    data, words = window.data, window.words
    chain, at = np.arange(len(starts)), starts
    chains: list[IntArray] = []
    runs: list[Run] = []
    while len(at):
        is_object = data[at] == OBJECT
        if not is_object.all():
            chain, at, limits = chain[is_object], at[is_object], limits[is_object]
        address, after = numbers_at(data, words, at + 1)
        size, content = numbers_at(data, words, np.maximum(after, 0))
        length = size.view(np.int64)
        is_whole = (after > at) & (content > after) & (length >= 0)
        is_whole &= length < window.size - content
        if not is_whole.all():
            chain, at, limits = chain[is_whole], at[is_whole], limits[is_whole]
            address, length, content = address[is_whole], length[is_whole], content[is_whole]
        fields = content + length
        stop = _ends_of_fields(window, fields)
        is_whole = (stop >= 0) & (stop < window.size)
        piece = Run(at, address, length, content, fields, stop)
        if not is_whole.all():
            chain, limits, piece = chain[is_whole], limits[is_whole], piece.take(is_whole)
        chains.append(chain)
        runs.append(piece)
        at = piece.stop + 1
        goes_on = at < limits
        chain, at, limits = chain[goes_on], at[goes_on], limits[goes_on]
    return np.concatenate(chains), Run.joined(runs)


def _ends_of_fields(window: Window, fields: IntArray) -> IntArray:
    """Return the position of the zero that ends each field list; -1 if it is not in the window.

    Kinds are not zero. Offsets ascend, so only the first can be zero. So the end is the first zero
    after the first offset.
    """
    data = window.data
    stop = fields.copy()
    filled = np.flatnonzero(data[fields] != 0)
    if not len(filled):
        return stop
    words = window.words
    _, second = numbers_at(data, words, fields[filled] + 1)
    second = np.maximum(second, 0)
    end, is_found = zeros_at(words, second)
    further = np.flatnonzero(~is_found)
    if len(further):
        end[further], is_found[further] = zeros_at(words, second[further] + WORD_BYTES)
        for row in np.flatnonzero(~is_found).tolist():
            after = int(second[row]) + 2 * WORD_BYTES
            end[row] = window.buffer.find(0, after, window.size)
    stop[filled] = end
    return stop
