"""The fields of many protobuf messages of one type at once, with NumPy.

A message is a chain: where a field begins is known only when the one before it has been read. So
all messages advance together, one field a round, and a round is a few array operations however
many messages there are. The few that have far more fields than the others are read one by one.
"""

from __future__ import annotations

from array import array
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.protobuf.messages import Fields, Messages, Records
from gomem.inputs.pprof.protobuf.varints import MARK, IntArray, VarintError, read_each
from gomem.inputs.pprof.protobuf.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    WireError,
    complaint,
    field_at,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

FEW = 24  # messages: below this, reading field by field is faster than an array round
FIELDS_LIMIT = 1 << 24  # fields of one type's messages outside packed runs: 400 MB of records
ROUNDS = 32  # whose records are kept apart: most are asked for by a field that one round has
TAGS = 1024  # tags below this have a verdict of their own: fields up to number 127

_UNKNOWN, _WANTED, _WRONG_TYPE = range(3)
_LEGAL = np.isin(np.arange(8), (VARINT, FIXED64, BYTES, FIXED32))


def scan(messages: Messages, wanted: Mapping[int, tuple[int, ...]]) -> Fields:
    """Find the fields of all messages of one type.

    `wanted` has the wire types that each field may have, by its number: a number's or a message's.
    Other fields are passed over. WireError where a message is cut, or is not one, or a wanted field
    has another wire type.
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
        raise messages.error(message, place, str(error)) from None


def _raise_first(
    messages: Messages, active: IntArray, cursor: IntArray, bad: NDArray[np.bool_]
) -> None:
    if not bad.any():
        return
    first = int(np.argmax(bad))
    message, place = int(active[first]), int(cursor[first])
    what = complaint(messages.raw, place, int(messages.stops[message]))
    raise messages.error(message, place, what)


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
                raise messages.error(message, place, complaint(raw, place, end))
            if verdict == _WANTED:
                records.extend((message, tag, start, stop))
                if len(records) > 4 * FIELDS_LIMIT:
                    raise messages.error(message, place, f"more than {FIELDS_LIMIT} fields")
            place = after
    table = np.frombuffer(records, np.int64).reshape(-1, 4)
    owners, tags, starts, stops = (np.ascontiguousarray(column) for column in table.T)
    numbers = stops - starts
    plain = (tags & 7 == VARINT).nonzero()[0]
    numbers[plain], _ = read_each(messages.data, starts[plain])
    return Records(owners, tags.astype(np.int16), starts, stops, numbers)
