"""Protobuf's wire format: the fields of many messages of one type at once, with NumPy.

Described in  protobuf.dev, "Encoding".
Quirks        A repeated number may come packed, unpacked, or both in one message.
              A field that should come once may come again; the last one counts.
              Negative numbers are varints of ten bytes.
              Fields may come in any order, and unknown ones are passed over.

A message is a chain: where a field begins is known only when the one before it has been read. So
all messages advance together, one field a round, and a round is a few array operations however
many messages there are. The few that have far more fields than the others are read one by one.
This module knows nothing of profiles.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.protobuf.varints import (
    CHUNK_BYTES,
    CUT,
    LONGEST,
    MARK,
    PADDING,
    TOO_LONG,
    IntArray,
    Numbers,
    VarintError,
    read_each,
    read_runs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

VARINT = 0
FIXED64 = 1
BYTES = 2
FIXED32 = 5

FEW = 24  # messages: below this, reading field by field is faster than an array round
FIELDS_LIMIT = 1 << 24  # fields of one type's messages outside packed runs: 400 MB of records
WINDOW_BYTES = 4 * CHUNK_BYTES  # of a buffer whose numbers are worth to be found all at once
ROUNDS = 32  # whose records are kept apart: most are asked for by a field that one round has
NARROW = 8  # numbers of a run: up to here, reading one of each run at a time is faster
TAGS = 1024  # tags below this have a verdict of their own: fields up to number 127

CUT_FIELD = "a field runs past the end of its message"

_UNKNOWN, _WANTED, _WRONG_TYPE = range(3)
_LEGAL = np.isin(np.arange(8), (VARINT, FIXED64, BYTES, FIXED32))


class WireError(ValueError):
    """Bytes that are not a protobuf message.

    Attributes:
        message: Which of the messages, from 0.
        offset: Where in it, in bytes.
    """

    def __init__(self, message: int, offset: int, what: str) -> None:
        self.message = message
        self.offset = offset
        super().__init__(what)


@dataclass(frozen=True)
class Messages:
    """Messages of one type in one buffer, in ascending order and without overlap.

    Attributes:
        raw: The buffer, with `PADDING` zeros before and after the messages.
        starts: First byte of each message.
        stops: One past the last byte of each.
    """

    raw: bytes
    starts: IntArray
    stops: IntArray

    @classmethod
    def join(cls, parts: Sequence[bytes]) -> Messages:
        """Lay messages end to end."""
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
        """All numbers of the buffer."""
        return Numbers(self.data)

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True)
class Records:
    """Fields that were found, one each: a round's, or those of many rounds.

    Attributes:
        message: The message of each.
        tag: Field number and wire type, as encoded: `number << 3 | type`; one for all if they
            have the same.
        start: First byte of the field's content: of the number, or of what its length announces.
        stop: One past the content's last byte.
        number: The number, or the length.
    """

    message: IntArray
    tag: NDArray[np.int16] | int
    start: IntArray
    stop: IntArray
    number: IntArray

    def __len__(self) -> int:
        return len(self.message)

    @property
    def is_of_one_round(self) -> bool:
        """Whether they are known to be one of a message at most, in the messages' order."""
        return isinstance(self.tag, int)

    def is_of_all(self, messages: int) -> bool:
        """Whether they are known to be one of each message, in the messages' order."""
        return self.is_of_one_round and len(self) == messages

    def of(self, tags: tuple[int, ...]) -> Records | None:
        """Those with one of some tags, None if there are none."""
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
        """Some of them, by index."""
        tag = self.tag if isinstance(self.tag, int) else self.tag.take(chosen)
        columns = (self.start, self.stop, self.number)
        return Records(self.message.take(chosen), tag, *(column.take(chosen) for column in columns))

    @staticmethod
    def joined(rounds: list[Records]) -> Records:
        """Those of many rounds; the list is emptied."""
        tags = [
            np.full(len(one), one.tag, np.int16) if isinstance(one.tag, int) else one.tag
            for one in rounds
        ]
        columns = [[one.message, one.start, one.stop, one.number] for one in rounds]
        rounds.clear()
        message, start, stop, number = (
            np.concatenate(column) for column in zip(*columns, strict=True)
        )
        return Records(message, np.concatenate(tags), start, stop, number)


@dataclass(frozen=True)
class Fields:
    """The wanted fields of many messages, those of a message by place.

    Attributes:
        messages: Where they were read.
        rounds: The records, at most `ROUNDS` of them.
    """

    messages: Messages
    rounds: list[Records]

    def one(self, number: int) -> IntArray:
        """The number that each message has for a field, 0 where it has none.

        Unsigned numbers from 2**63 on come out negative: view them as uint64.
        """
        count = len(self.messages)
        values: IntArray | None = None
        # Of two numbers for one message the later counts: it stands later in the records.
        for found in self._of((number << 3 | VARINT,)):
            if found.is_of_all(count):
                values = found.number
            else:
                values = np.zeros(count, np.int64) if values is None else values.copy()
                values[found.message] = found.number
        return np.zeros(count, np.int64) if values is None else values

    def many(self, number: int) -> tuple[NDArray[Any], IntArray]:
        """The numbers that each message has for a repeated field, packed or not.

        Returns:
            All values in order, as unsigned numbers of two or four bytes if all were written in
            as many and as int64 otherwise, and the offsets that divide them: message i has
            `values[offsets[i]:offsets[i + 1]]`.

        Raises:
            WireError: A packed field ends within a number, or holds one that is too long.
        """
        offsets = np.zeros(len(self.messages) + 1, np.int64)
        # An unpacked number is a run of one: its content looks no different.
        runs = self._by_place((number << 3 | BYTES, number << 3 | VARINT))
        if runs is None:
            return np.zeros(0, np.uint16), offsets
        try:
            if len(self.messages.raw) <= WINDOW_BYTES:
                values, counts = self.messages.numbers.runs(runs.start, runs.stop)
            else:
                values, counts = read_runs(self.messages.data, runs.start, runs.stop)
        except VarintError as error:
            raise _placed(self.messages, error) from None
        if not runs.is_of_all(len(self.messages)):
            counts = np.bincount(runs.message, counts, len(self.messages))
        offsets[1:] = counts
        return values, np.cumsum(offsets, out=offsets)

    def of_width(self, number: int, width: int) -> IntArray | None:
        """The numbers of a repeated field of which every message has just so many, in one run.

        Where these are few, to read the first of all runs, then the second, is faster than `many`.

        Returns:
            A row a message; None if the field is not laid out so, or cannot be read.
        """
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
        """The messages inside a field, and the outer message that each of them is in."""
        found = self._by_place((number << 3 | BYTES,))
        if found is None:
            none = np.zeros(0, np.int64)
            return Messages(self.messages.raw, none, none), none.astype(np.int32)
        inner = Messages(self.messages.raw, found.start, found.stop)
        return inner, found.message.astype(np.int32)

    def _by_place(self, tags: tuple[int, ...]) -> Records | None:
        """Records of some tags in the order of the buffer, hence of the messages."""
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


def scan(messages: Messages, wanted: Mapping[int, tuple[int, ...]]) -> Fields:
    """Find the fields of all messages.

    Args:
        messages: The messages, all of one type.
        wanted: The wire types that each field may have, by field number: a number's or a
            message's. Other fields are passed over.

    Raises:
        WireError: A message is cut, or is not one, or a wanted field has another wire type.
    """
    verdicts = _verdicts(tuple(wanted.items()))
    active = (messages.starts < messages.stops).nonzero()[0]
    cursor, limit = messages.starts, messages.stops
    if len(active) < len(cursor):
        cursor, limit = cursor[active], limit[active]
    rounds: list[Records] = []
    found = 0
    while active.size > FEW:
        records, cursor = _round(messages, active, cursor, limit, verdicts)
        if len(records):
            rounds.append(records)
        found += len(records)
        if found > FIELDS_LIMIT:
            raise WireError(int(active[0]), 0, f"more than {FIELDS_LIMIT} fields")
        unfinished = (cursor < limit).nonzero()[0]
        if len(unfinished) < len(active):
            active, cursor, limit = (each.take(unfinished) for each in (active, cursor, limit))
    if active.size:
        rounds.append(_one_by_one(messages, active, cursor, limit, verdicts))
    if len(rounds) > ROUNDS:
        rounds = [Records.joined(rounds)]
    return Fields(messages, rounds)


def walk(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Go through the fields of one message: number, wire type, place, content's start and stop.

    Raises:
        WireError: The message is cut or cannot be read; its offset is that of the field.
    """
    cursor = 0
    limit = len(data)
    while cursor < limit:
        tag, start, stop, after = field_at(data, cursor, limit)
        if stop < 0 or tag < 8:  # there is no field 0
            raise WireError(0, cursor, _complaint(data, cursor, limit))
        yield tag >> 3, tag & 7, cursor, start, stop
        cursor = after


@cache
def _verdicts(wanted: tuple[tuple[int, tuple[int, ...]], ...]) -> NDArray[np.int8]:
    """What to do with each tag; the last entry stands for all higher ones."""
    verdicts = np.full(TAGS, _UNKNOWN, np.int8)
    for number, types in wanted:
        verdicts[number << 3 : (number + 1) << 3] = _WRONG_TYPE
        verdicts[[number << 3 | one for one in types]] = _WANTED
    verdicts[:8] = _WRONG_TYPE  # there is no field 0
    return verdicts


def _round(
    messages: Messages,
    active: IntArray,
    cursor: IntArray,
    limit: IntArray,
    verdicts: NDArray[np.int8],
) -> tuple[Records, IntArray]:
    """Read one field of every active message: records of the wanted ones, and the next places."""
    byte = messages.data.take(cursor)
    if byte[0] < MARK and (byte == byte[0]).all():
        return _same_round(messages, active, cursor, limit, verdicts)
    tag, at = _numbers_at(messages, active, cursor, cursor)
    wire_type = tag & 7
    # Below zero are tags of more than 63 bits; they are unknown like all that are high.
    verdict = verdicts[np.minimum(tag.view(np.uint64), np.uint64(TAGS - 1)).view(np.int64)]
    start, stop = at, at + np.where(wire_type == FIXED64, 8, 4)
    value = np.zeros(len(at), np.int64)
    numbered = np.flatnonzero((wire_type == VARINT) | (wire_type == BYTES))
    number, after = _numbers_at(messages, active[numbered], cursor[numbered], at[numbered])
    has_length = wire_type[numbered] == BYTES
    start[numbered] = np.where(has_length, after, at[numbered])
    stop[numbered] = np.where(has_length, after + number, after)
    value[numbered] = number
    # A length of 2**63 or more is negative, and one short of it wraps: both stop before they start.
    bad = (stop > limit) | (stop < start) | (verdict >= _WRONG_TYPE) | ~_LEGAL[wire_type]
    _raise_first(messages, active, cursor, bad)
    records = Records(active, tag.astype(np.int16), start, stop, value)
    kept = (verdict == _WANTED).nonzero()[0]
    return records if len(kept) == len(active) else records.take(kept), stop


def _same_round(
    messages: Messages,
    active: IntArray,
    cursor: IntArray,
    limit: IntArray,
    verdicts: NDArray[np.int8],
) -> tuple[Records, IntArray]:
    """A round in which every message has the same field, of a tag of one byte."""
    tag, start = int(messages.data[cursor[0]]), cursor + 1
    wire_type = tag & 7
    number = start
    if wire_type in (VARINT, BYTES):
        number, stop = _numbers_at(messages, active, cursor, start)
        if wire_type == BYTES:
            start, stop = stop, stop + number
    else:
        stop = start + (8 if wire_type == FIXED64 else 4)
    wrong = verdicts[tag] >= _WRONG_TYPE or not _LEGAL[wire_type]
    _raise_first(messages, active, cursor, (stop > limit) | (stop < start) | wrong)
    kept = slice(None) if verdicts[tag] == _WANTED else slice(0)
    return Records(active[kept], tag, start[kept], stop[kept], number[kept]), stop


def _numbers_at(
    messages: Messages, active: IntArray, cursor: IntArray, at: IntArray
) -> tuple[IntArray, IntArray]:
    """The number at a place in each message's current field, and where each has ended."""
    try:
        return read_each(messages.data, at)
    except VarintError as error:
        message, place = int(active[error.index]), int(cursor[error.index])
        raise _error(messages, message, place, str(error)) from None


def _raise_first(
    messages: Messages, active: IntArray, cursor: IntArray, bad: NDArray[np.bool_]
) -> None:
    if not bad.any():
        return
    first = int(np.argmax(bad))
    message, place = int(active[first]), int(cursor[first])
    what = _complaint(messages.raw, place, int(messages.stops[message]))
    raise _error(messages, message, place, what)


def _error(messages: Messages, message: int, place: int, what: str) -> WireError:
    return WireError(message, place - int(messages.starts[message]), what)


def _placed(messages: Messages, error: VarintError) -> WireError:
    """A number's error as one of the message that it is in."""
    message = int(np.searchsorted(messages.starts, error.place, side="right")) - 1
    return _error(messages, message, error.place, str(error))


def _one_by_one(
    messages: Messages,
    active: IntArray,
    cursor: IntArray,
    limit: IntArray,
    verdicts: NDArray[np.int8],
) -> Records:
    """Read the rest of some messages field by field."""
    records = array("q")
    verdict_of = verdicts.tolist()
    raw = messages.raw
    ends = zip(active.tolist(), cursor.tolist(), limit.tolist(), strict=True)
    for message, begin, end in ends:
        place = begin
        while place < end:
            tag, start, stop, after = field_at(raw, place, end)
            verdict = verdict_of[min(tag, TAGS - 1)]
            if stop < 0 or verdict >= _WRONG_TYPE:
                raise _error(messages, message, place, _complaint(raw, place, end))
            if verdict == _WANTED:
                records.extend((message, tag, start, stop))
                if len(records) > 4 * FIELDS_LIMIT:
                    raise _error(messages, message, place, f"more than {FIELDS_LIMIT} fields")
            place = after
    table = np.frombuffer(records, np.int64).reshape(-1, 4)
    owners, tags, starts, stops = (np.ascontiguousarray(column) for column in table.T)
    numbers = stops - starts
    plain = (tags & 7 == VARINT).nonzero()[0]
    numbers[plain], _ = read_each(messages.data, starts[plain])
    return Records(owners, tags.astype(np.int16), starts, stops, numbers)


def field_at(raw: bytes, place: int, limit: int) -> tuple[int, int, int, int]:
    """Tag, content's start and stop, next field's place; a negative stop if it cannot be read."""
    tag, at = _varint(raw, place, limit)
    wire_type = tag & 7
    if at < 0:
        return 0, -1, -1, -1
    if wire_type == VARINT:
        _, after = _varint(raw, at, limit)
        return tag, at, after, after
    if wire_type == BYTES:
        length, start = _varint(raw, at, limit)
        stop = start + length if start >= 0 and start + length <= limit else -1
        return tag, start, stop, stop
    if wire_type in (FIXED64, FIXED32):
        stop = at + (8 if wire_type == FIXED64 else 4)
        stop = stop if stop <= limit else -1
        return tag, at, stop, stop
    return tag, at, -1, -1


def _varint(raw: bytes, place: int, limit: int) -> tuple[int, int]:
    """The number at a place and where it has ended; -1 if it is cut or too long."""
    value = 0
    for group in range(LONGEST):
        if place >= limit:
            return 0, -1
        byte = raw[place]
        place += 1
        if byte < 0x80:
            return (value | byte << (7 * group)) & 0xFFFF_FFFF_FFFF_FFFF, place
        value |= (byte & 0x7F) << (7 * group)
    return 0, -1


def _complaint(raw: bytes, place: int, limit: int) -> str:
    """Why the field at a place cannot be read."""
    tag, at = _varint(raw, place, limit)
    if at < 0:
        return TOO_LONG if place + LONGEST <= limit else CUT
    number, wire_type = tag >> 3, tag & 7
    if number == 0 or wire_type in (3, 4, 6, 7):
        return f"field {number} of wire type {wire_type}, which protobuf does not have"
    if field_at(raw, place, limit)[2] < 0:
        if wire_type == VARINT:
            return TOO_LONG if at + LONGEST <= limit else CUT
        return CUT_FIELD
    return f"field {number} has wire type {wire_type}, wanted another"
