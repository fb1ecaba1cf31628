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

from gomem.formats.varints import (
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

    @classmethod
    def cut(cls, data: bytes, starts: IntArray, stops: IntArray) -> Messages:
        """Copy messages out of a file, with what lies between them unless that is more."""
        low, high = int(starts[0]), int(stops[-1])
        if high - low > 2 * int((stops - starts).sum()):
            places = zip(starts.tolist(), stops.tolist(), strict=True)
            return cls.join([data[start:stop] for start, stop in places])
        padding = bytes(PADDING)
        moved = PADDING - low
        return cls(b"".join([padding, data[low:high], padding]), starts + moved, stops + moved)

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


@dataclass(frozen=True)
class Fields:
    """The wanted fields of many messages: one record a field, those of a message by place.

    Attributes:
        messages: Where they were read.
        message: The message of each record.
        tag: Field number and wire type, as encoded: `number << 3 | type`.
        start: First byte of the field's content: of the number, or of what its length announces.
        stop: One past the content's last byte.
    """

    messages: Messages
    message: NDArray[np.int32]
    tag: NDArray[np.int16]
    start: IntArray
    stop: IntArray

    def one(self, number: int) -> IntArray:
        """The number that each message has for a field, 0 where it has none.

        It cannot fail: `scan` has read the numbers once, to find where they end.
        Unsigned numbers from 2**63 on come out negative: view them as uint64.
        """
        values = np.zeros(len(self.messages), np.int64)
        records = (self.tag == (number << 3 | VARINT)).nonzero()[0]
        if not records.size:
            return values
        # Of two numbers for one message the later counts: it stands later in the records.
        values[self.message[records]], _ = read_each(self.messages.data, self.start[records])
        return values

    def many(self, number: int) -> tuple[NDArray[Any], IntArray]:
        """The numbers that each message has for a repeated field, packed or not.

        Returns:
            All values in order, as unsigned numbers of two or four bytes if all were written in
            as many and as int64 otherwise, and the offsets that divide them: message i has
            `values[offsets[i]:offsets[i + 1]]`.

        Raises:
            WireError: A packed field ends within a number, or holds one that is too long.
        """
        records = self._by_place((self.tag >> 3 == number).nonzero()[0])
        start, stop = self.start.take(records), self.stop.take(records)
        try:
            # An unpacked number is a run of one: its content looks no different.
            if len(self.messages.raw) <= WINDOW_BYTES:
                values, counts = self.messages.numbers.runs(start, stop)
            else:
                values, counts = read_runs(self.messages.data, start, stop)
        except VarintError as error:
            raise _placed(self.messages, error) from None
        offsets = np.zeros(len(self.messages) + 1, np.int64)
        offsets[1:] = np.bincount(self.message.take(records), counts, len(self.messages))
        return values, np.cumsum(offsets, out=offsets)

    def nested(self, number: int) -> tuple[Messages, NDArray[np.int32]]:
        """The messages inside a field, and the outer message that each of them is in."""
        records = self._by_place((self.tag == (number << 3 | BYTES)).nonzero()[0])
        inner = Messages(self.messages.raw, self.start[records], self.stop[records])
        return inner, self.message[records]

    def _by_place(self, records: IntArray) -> IntArray:
        """Records in the order of the buffer, hence of the messages."""
        place = self.start.take(records)
        if (place[1:] < place[:-1]).any():
            return records[np.argsort(place, kind="stable")]
        return records


def scan(messages: Messages, wanted: Mapping[int, tuple[int, ...]]) -> Fields:
    """Find the fields of all messages.

    Args:
        messages: The messages, all of one type.
        wanted: The wire types that each field may have, by field number. Other fields are
            passed over.

    Raises:
        WireError: A message is cut, or is not one, or a wanted field has another wire type.
    """
    verdicts = _verdicts(tuple(wanted.items()))
    active = np.flatnonzero(messages.starts < messages.stops)
    cursor, limit = messages.starts[active], messages.stops[active]
    rounds: list[tuple[NDArray[Any], ...]] = []
    found = 0
    while active.size > FEW:
        record, cursor = _round(messages, active, cursor, limit, verdicts)
        rounds.append(record)
        found += len(record[0])
        if found > FIELDS_LIMIT:
            raise WireError(int(active[0]), 0, f"more than {FIELDS_LIMIT} fields")
        unfinished = cursor < limit
        if not unfinished.any():
            active = active[:0]
        elif not unfinished.all():
            active, cursor, limit = active[unfinished], cursor[unfinished], limit[unfinished]
    if active.size or not rounds:
        rounds.append(_one_by_one(messages, active, cursor, limit, verdicts))
    return Fields(messages, *_joined(rounds))


def _joined(rounds: list[tuple[NDArray[Any], ...]]) -> Iterator[NDArray[Any]]:
    """The records of all rounds, column by column: each is freed once it is joined."""
    columns = [list(column) for column in zip(*rounds, strict=True)]
    rounds.clear()
    for column in columns:
        joined = np.concatenate(column)
        column.clear()
        yield joined


def walk(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Go through the fields of one message: number, wire type, place, content's start and stop.

    Raises:
        WireError: The message is cut or is none; its offset is that of the field.
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
) -> tuple[tuple[NDArray[Any], ...], IntArray]:
    """Read one field of every active message: records of the wanted ones, and the next places."""
    byte = messages.data.take(cursor)
    if byte[0] < MARK and (byte == byte[0]).all():
        return _same_round(messages, active, cursor, limit, verdicts)
    tag, at = _numbers_at(messages, active, cursor, cursor)
    wire_type = tag & 7
    # Below zero are tags of more than 63 bits; they are unknown like all that are high.
    verdict = verdicts[np.minimum(tag.view(np.uint64), np.uint64(TAGS - 1)).view(np.int64)]
    start, stop = at, at + np.where(wire_type == FIXED64, 8, 4)
    numbered = np.flatnonzero((wire_type == VARINT) | (wire_type == BYTES))
    number, after = _numbers_at(messages, active[numbered], cursor[numbered], at[numbered])
    has_length = wire_type[numbered] == BYTES
    start[numbered] = np.where(has_length, after, at[numbered])
    stop[numbered] = np.where(has_length, after + number, after)
    # A length of 2**63 or more is negative, and one short of it wraps: both stop before they start.
    bad = (stop > limit) | (stop < start) | (verdict >= _WRONG_TYPE) | ~_LEGAL[wire_type]
    _raise_first(messages, active, cursor, bad)
    kept = verdict == _WANTED
    return (
        active[kept].astype(np.int32),
        tag[kept].astype(np.int16),
        start[kept],
        stop[kept],
    ), stop


def _same_round(
    messages: Messages,
    active: IntArray,
    cursor: IntArray,
    limit: IntArray,
    verdicts: NDArray[np.int8],
) -> tuple[tuple[NDArray[Any], ...], IntArray]:
    """A round in which every message has the same field, of a tag of one byte."""
    tag, start = int(messages.data[cursor[0]]), cursor + 1
    wire_type = tag & 7
    if wire_type in (VARINT, BYTES):
        number, stop = _numbers_at(messages, active, cursor, start)
        if wire_type == BYTES:
            start, stop = stop, stop + number
    else:
        stop = start + (8 if wire_type == FIXED64 else 4)
    wrong = verdicts[tag] >= _WRONG_TYPE or not _LEGAL[wire_type]
    _raise_first(messages, active, cursor, (stop > limit) | (stop < start) | wrong)
    kept = slice(None) if verdicts[tag] == _WANTED else slice(0)
    tags = np.full(len(active), tag, np.int16)
    return (active[kept].astype(np.int32), tags[kept], start[kept], stop[kept]), stop


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
) -> tuple[NDArray[Any], ...]:
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
    columns = [np.ascontiguousarray(column) for column in table.T]
    return columns[0].astype(np.int32), columns[1].astype(np.int16), columns[2], columns[3]


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
