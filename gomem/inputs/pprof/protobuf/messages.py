"""Many protobuf messages of one type in one buffer, and their fields.

Quirks        A repeated number can be packed, unpacked, or both in one message.
              If a singular field occurs several times, the last one counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.protobuf.varints import (
    CHUNK_BYTES,
    PADDING,
    IntArray,
    Numbers,
    VarintError,
    read_each,
    read_runs,
)
from gomem.inputs.pprof.protobuf.wire import BYTES, VARINT, WireError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

WINDOW_BYTES = 4 * CHUNK_BYTES  # bytes of a buffer; up to here, its numbers are decoded all at once
NARROW = 8  # numbers per run; up to here, decoding one of each run at a time is faster


@dataclass(frozen=True)
class Messages:
    """Messages of one type in one buffer, in ascending order, not overlapping."""

    raw: bytes  # the buffer, with `PADDING` zeros before and after the messages
    starts: IntArray  # first byte of each message
    stops: IntArray  # one past the last byte of each

    @classmethod
    def join(cls, parts: Sequence[bytes]) -> Messages:
        """Concatenate messages."""
        lengths = np.fromiter(map(len, parts), np.int64, len(parts))
        stops = PADDING + np.cumsum(lengths)
        padding = bytes(PADDING)
        return cls(b"".join([padding, *parts, padding]), stops - lengths, stops)

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The buffer as an array."""
        return np.frombuffer(self.raw, np.uint8)

    @cached_property
    def numbers(self) -> Numbers:
        """All numbers in the buffer."""
        return Numbers(self.data)

    def error(self, message: int, place: int, what: str) -> WireError:
        """Return an error at a position in the buffer, located in a message."""
        return WireError(message, place - int(self.starts[message]), what)

    def number_error(self, error: VarintError) -> WireError:
        """Return a number's error, located in the message that contains the number."""
        message = int(np.searchsorted(self.starts, error.place, side="right")) - 1
        return self.error(message, error.place, str(error))

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True)
class Records:
    """Fields found, one per row: those of one round, or of many."""

    message: IntArray  # the message of each field
    # Field number and wire type, as encoded: `number << 3 | type`; an int if all are the same.
    tag: NDArray[np.int16] | int
    # First byte of the field's content: of the number, or of the bytes after the length.
    start: IntArray
    stop: IntArray  # one past the content's last byte
    number: IntArray  # the number, or the length

    def __len__(self) -> int:
        return len(self.message)

    @property
    def is_of_one_round(self) -> bool:
        """Whether there is surely at most one field per message, in the messages' order."""
        return isinstance(self.tag, int)

    def is_of_all(self, messages: int) -> bool:
        """Whether there is surely exactly one field per message, in the messages' order."""
        return self.is_of_one_round and len(self) == messages

    def of(self, tags: tuple[int, ...]) -> Records | None:
        """Return the fields with one of these tags; None if there are none."""
        if isinstance(self.tag, int):
            return self if self.tag in tags else None
        wanted = self.tag == tags[0]
        for tag in tags[1:]:
            wanted |= self.tag == tag
        chosen = wanted.nonzero()[0]
        if len(chosen) == len(wanted):
            return self
        return self.take(chosen) if len(chosen) else None

    def take(self, chosen: IntArray) -> Records:
        """Return some fields, by index."""
        tag = self.tag if isinstance(self.tag, int) else self.tag.take(chosen)
        columns = (self.start, self.stop, self.number)
        return Records(self.message.take(chosen), tag, *(column.take(chosen) for column in columns))

    @staticmethod
    def joined(rounds: list[Records]) -> Records:
        """Concatenate many rounds; empties the list."""
        tags = [
            np.full(len(part), part.tag, np.int16) if isinstance(part.tag, int) else part.tag
            for part in rounds
        ]
        columns = [[part.message, part.start, part.stop, part.number] for part in rounds]
        rounds.clear()
        message, start, stop, number = (
            np.concatenate(column) for column in zip(*columns, strict=True)
        )
        return Records(message, np.concatenate(tags), start, stop, number)


@dataclass(frozen=True)
class Fields:
    """The wanted fields of many messages; fields of one message are in the order of the buffer."""

    messages: Messages  # the messages that they were read from
    rounds: list[Records]  # the fields, in one or more blocks, each from one or more rounds

    def one(self, number: int) -> IntArray:
        """Return each message's number in a field, 0 if missing; values from 2**63 on wrap."""
        count = len(self.messages)
        values: IntArray | None = None
        # If a message has the field twice, the later one counts: its record comes later.
        for found in self._of((number << 3 | VARINT,)):
            if found.is_of_all(count):
                values = found.number
            else:
                values = np.zeros(count, np.int64) if values is None else values.copy()
                values[found.message] = found.number
        return np.zeros(count, np.int64) if values is None else values

    def many(self, number: int) -> tuple[NDArray[Any], IntArray]:
        """Return each message's numbers in a repeated field, packed or not.

        Returns all values in order, as uint16 or uint32 if their encodings are short enough (at
        most two or four bytes) and as int64 otherwise, and offsets: message i has
        `values[offsets[i]:offsets[i + 1]]`. Raises WireError if a packed field ends inside a
        number, or contains a number that is too long.
        """
        offsets = np.zeros(len(self.messages) + 1, np.int64)
        # An unpacked number is treated as a run of length one: its content looks the same.
        runs = self._by_place((number << 3 | BYTES, number << 3 | VARINT))
        if runs is None:
            return np.zeros(0, np.uint16), offsets
        try:
            if len(self.messages.raw) <= WINDOW_BYTES:
                values, counts = self.messages.numbers.runs(runs.start, runs.stop)
            else:
                values, counts = read_runs(self.messages.data, runs.start, runs.stop)
        except VarintError as error:
            raise self.messages.number_error(error) from None
        if not runs.is_of_all(len(self.messages)):
            counts = np.bincount(runs.message, counts, len(self.messages))
        offsets[1:] = counts
        return values, np.cumsum(offsets, out=offsets)

    def of_width(self, number: int, width: int) -> IntArray | None:
        """The numbers of a repeated field of which every message has just so many, in one run."""
        # None if the layout differs or is unreadable. For a small width, it is faster than `many`
        # to decode the first number of all runs, then the second, and so on.
        runs = self._by_place((number << 3 | BYTES, number << 3 | VARINT))
        if width > NARROW or runs is None or not runs.is_of_all(len(self.messages)):
            return None
        rows, at = np.empty((len(runs), width), np.int64), runs.start
        try:
            for column in range(width):
                rows[:, column], at = read_each(self.messages.data, at)
        except VarintError:
            return None
        return rows if (at == runs.stop).all() else None

    def nested(self, number: int) -> tuple[Messages, NDArray[np.int32]]:
        """Return the messages nested in a field, and the outer message of each."""
        found = self._by_place((number << 3 | BYTES,))
        if found is None:
            none = np.zeros(0, np.int64)
            return Messages(self.messages.raw, none, none), none.astype(np.int32)
        inner = Messages(self.messages.raw, found.start, found.stop)
        return inner, found.message.astype(np.int32)

    def _by_place(self, tags: tuple[int, ...]) -> Records | None:
        """Return the fields with these tags in the order of the buffer, and so of the messages."""
        chosen = list(self._of(tags))
        if not chosen:
            return None
        found = chosen[0] if len(chosen) == 1 else Records.joined(chosen)
        if not found.is_of_one_round and (found.start[1:] < found.start[:-1]).any():
            return found.take(np.argsort(found.start, kind="stable"))
        return found

    def _of(self, tags: tuple[int, ...]) -> Iterator[Records]:
        for records in self.rounds:
            found = records.of(tags)
            if found is not None:
                yield found
