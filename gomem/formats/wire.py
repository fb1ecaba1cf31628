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
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.formats.varints import (
    CUT,
    LONGEST,
    PADDING,
    TOO_LONG,
    IntArray,
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
FIELDS_LIMIT = 1 << 25  # fields of one type's messages outside packed runs: 800 MB of records
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

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True)
class Fields:
    """The wanted fields of many messages: one record a field, by message and place.

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
        records = np.flatnonzero(self.tag == (number << 3 | VARINT))
        # Of two numbers for one message the later counts: it stands later in the records.
        values[self.message[records]], _ = read_each(self.messages.data, self.start[records])
        return values

    def many(self, number: int) -> tuple[NDArray[Any], IntArray]:
        """The numbers that each message has for a repeated field, packed or not.

        Returns:
            All values in order, as uint32 if every one was written in four bytes or fewer and
            as int64 otherwise, and the offsets that divide them: message i has
            `values[offsets[i]:offsets[i + 1]]`.

        Raises:
            WireError: A packed field ends within a number, or holds one that is too long.
        """
        records = np.flatnonzero(self.tag >> 3 == number)
        start, stop = self.start[records], self.stop[records]
        try:
            # An unpacked number is a run of one: its content looks no different.
            values, counts = read_runs(self.messages.data, start, stop)
        except VarintError as error:
            raise _placed(self.messages, error) from None
        per_message = np.bincount(self.message[records], counts, len(self.messages))
        return values, np.concatenate(([0], np.cumsum(per_message))).astype(np.int64)

    def nested(self, number: int) -> tuple[Messages, NDArray[np.int32]]:
        """The messages inside a field, and the outer message that each of them is in."""
        records = np.flatnonzero(self.tag == (number << 3 | BYTES))
        inner = Messages(self.messages.raw, self.start[records], self.stop[records])
        inner.__dict__["data"] = self.messages.data
        return inner, self.message[records]


def scan(messages: Messages, wanted: Mapping[int, tuple[int, ...]]) -> Fields:
    """Find the fields of all messages.

    Args:
        messages: The messages, all of one type.
        wanted: The wire types that each field may have, by field number. Other fields are
            passed over.

    Raises:
        WireError: A message is cut, or is not one, or a wanted field has another wire type.
    """
    verdicts = _verdicts(wanted)
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
        if not unfinished.all():
            active, cursor, limit = active[unfinished], cursor[unfinished], limit[unfinished]
    rounds.append(_one_by_one(messages, active, cursor, limit, verdicts))
    return Fields(messages, *_joined(rounds))


def _joined(rounds: list[tuple[NDArray[Any], ...]]) -> Iterator[NDArray[Any]]:
    """The records of all rounds in order, column by column: each is freed once it is joined."""
    columns = [list(column) for column in zip(*rounds, strict=True)]
    rounds.clear()
    order: IntArray | None = None
    if len(columns[0]) > 1:
        # By place is by message, too: the messages ascend. A round is one run, so this merges.
        place = np.concatenate(columns[2])
        if (np.diff(place) < 0).any():
            order = np.argsort(place, kind="stable")
        del place
    for column in columns:
        joined = np.concatenate(column)
        column.clear()
        yield joined if order is None else joined[order]


def walk(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Go through the fields of one message: number, wire type, place, content's start and stop.

    Raises:
        WireError: The message is cut or is none; its offset is that of the field.
    """
    cursor = 0
    limit = len(data)
    while cursor < limit:
        tag, start, stop, after = _field(data, cursor, limit)
        if stop < 0 or tag < 8:  # there is no field 0
            raise WireError(0, cursor, _complaint(data, cursor, limit))
        yield tag >> 3, tag & 7, cursor, start, stop
        cursor = after


def _verdicts(wanted: Mapping[int, tuple[int, ...]]) -> NDArray[np.int8]:
    """What to do with each tag; the last entry stands for all higher ones."""
    verdicts = np.full(TAGS, _UNKNOWN, np.int8)
    for number, types in wanted.items():
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
    try:
        tag, at = read_each(messages.data, cursor)
        number, after = read_each(messages.data, at)
    except VarintError as error:
        message, place = int(active[error.index]), int(cursor[error.index])
        raise _error(messages, message, place, str(error)) from None
    wire_type = tag & 7
    # Below zero are tags of more than 63 bits; they are unknown like all that are high.
    verdict = verdicts[np.minimum(tag.view(np.uint64), np.uint64(TAGS - 1)).view(np.int64)]
    start, stop = at, after
    has_length = wire_type == BYTES
    if has_length.all():
        start, stop = after, after + number
    elif has_length.any():
        start = np.where(has_length, after, at)
        stop = np.where(has_length, after + number, after)
    if (wire_type & 1).any():
        stop = stop + np.where(wire_type == FIXED64, at + 8 - stop, 0)
        stop = stop + np.where(wire_type == FIXED32, at + 4 - stop, 0)
    # A length of 2**63 or more is negative, and one short of it wraps: both stop before they start.
    bad = (stop > limit) | (stop < start) | (verdict >= _WRONG_TYPE) | ~_LEGAL[wire_type]
    if bad.any():
        _raise_first(messages, active, cursor, bad)
    kept = verdict == _WANTED
    if kept.all():
        return (active.astype(np.int32), tag.astype(np.int16), start, stop), stop
    records = active[kept].astype(np.int32), tag[kept].astype(np.int16), start[kept], stop[kept]
    return records, stop


def _raise_first(
    messages: Messages, active: IntArray, cursor: IntArray, bad: NDArray[np.bool_]
) -> None:
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
            tag, start, stop, after = _field(raw, place, end)
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


def _field(raw: bytes, place: int, limit: int) -> tuple[int, int, int, int]:
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
    if _field(raw, place, limit)[2] < 0:
        if wire_type == VARINT:
            return TOO_LONG if at + LONGEST <= limit else CUT
        return CUT_FIELD
    return f"field {number} has wire type {wire_type}, wanted another"
