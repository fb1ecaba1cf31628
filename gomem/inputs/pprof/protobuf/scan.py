"""Reads the fields of many protobuf messages of one type at once, with NumPy.

A message is a chain: where a field starts is known only after the previous field has been read. So
all messages advance together, one field per round. A round is a few array operations, for any
number of messages. The few messages with far more fields than the others are read one by one.
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
    MAX_TAG,
    VARINT,
    WireError,
    complaint,
    field_at,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

MIN_AT_ONCE = 24  # messages: below this, reading field by field is faster than an array round
# fields in all messages of a type, packed runs not counted: 400 MB of records
FIELDS_LIMIT = 1 << 24
ROUNDS = 32  # kept separately, as most queries are for a field that only one round has
TAGS = 1024  # tags below this have a verdict each: fields up to number 127

_UNKNOWN, _WANTED, _WRONG_TYPE = range(3)
_LEGAL = np.isin(np.arange(8), (VARINT, FIXED64, BYTES, FIXED32))


def scan(messages: Messages, wanted: Mapping[int, tuple[int, ...]]) -> Fields:
    """Find the fields of all messages of one type.

    `wanted` maps each field's number to the wire types that it may have. Other fields are skipped.
    Raises WireError if a message is cut or malformed, or if a wanted field has another wire type.
    """
    active = (messages.starts < messages.stops).nonzero()[0]
    chains = _Chains(messages, _verdicts(tuple(wanted.items())), active)
    if len(active) < len(messages):
        chains.cursor, chains.limit = messages.starts[active], messages.stops[active]
    rounds: list[Records] = []
    found = 0
    while chains.active.size > MIN_AT_ONCE:
        records = chains.round()
        if len(records):
            rounds.append(records)
        found += len(records)
        if found > FIELDS_LIMIT:
            raise WireError(int(chains.active[0]), 0, f"more than {FIELDS_LIMIT} fields")
        chains.let_go_of_read()
    if chains.active.size:
        rounds.append(chains.one_by_one())
    if len(rounds) > ROUNDS:
        rounds = [Records.joined(rounds)]
    return Fields(messages, rounds)


@cache
def _verdicts(wanted: tuple[tuple[int, tuple[int, ...]], ...]) -> NDArray[np.int8]:
    """Return what to do with each tag; the last entry is for all higher tags."""
    verdicts = np.full(TAGS, _UNKNOWN, np.int8)
    for number, types in wanted:
        verdicts[number << 3 : (number + 1) << 3] = _WRONG_TYPE
        verdicts[[number << 3 | wire_type for wire_type in types]] = _WANTED
    verdicts[:8] = _WRONG_TYPE  # there is no field 0
    return verdicts


class _Chains:
    """The messages that have fields left: their indices, next positions and ends."""

    def __init__(self, messages: Messages, verdicts: NDArray[np.int8], active: IntArray) -> None:
        self.messages, self.verdicts, self.active = messages, verdicts, active
        self.cursor, self.limit = messages.starts, messages.stops

    def let_go_of_read(self) -> None:
        unfinished = (self.cursor < self.limit).nonzero()[0]
        if len(unfinished) < len(self.active):
            self.active, self.cursor = self.active.take(unfinished), self.cursor.take(unfinished)
            self.limit = self.limit.take(unfinished)

    def round(self) -> Records:
        """Read one field of every message; returns the wanted ones."""
        byte = self.messages.data.take(self.cursor)
        if byte[0] < MARK and (byte == byte[0]).all():
            return self._same_round(int(byte[0]))
        tag, at = self._numbers_at(self.cursor)
        wire_type = tag & 7
        unsigned = tag.view(np.uint64)
        known = np.minimum(unsigned, np.uint64(TAGS - 1)).view(np.int64)
        verdict = self.verdicts[known]
        start, stop = at, at + np.where(wire_type == FIXED64, 8, 4)
        value = np.zeros(len(at), np.int64)
        numbered = np.flatnonzero((wire_type == VARINT) | (wire_type == BYTES))
        number, after = self._numbers_at(at[numbered], numbered)
        has_length = wire_type[numbered] == BYTES
        start[numbered] = np.where(has_length, after, at[numbered])
        stop[numbered] = np.where(has_length, after + number, after)
        value[numbered] = number
        wrong = (verdict >= _WRONG_TYPE) | ~_LEGAL[wire_type] | (unsigned > np.uint64(MAX_TAG))
        self._refuse(start, stop, wrong)
        self.cursor = stop
        records = Records(self.active, tag.astype(np.int16), start, stop, value)
        kept = (verdict == _WANTED).nonzero()[0]
        return records if len(kept) == len(self.active) else records.take(kept)

    def _same_round(self, tag: int) -> Records:
        """Read a round in which every message has the same field, with a tag of one byte."""
        wire_type = tag & 7
        number = start = self.cursor + 1
        if wire_type in (VARINT, BYTES):
            number, stop = self._numbers_at(start)
            if wire_type == BYTES:
                start, stop = stop, stop + number
        else:
            stop = start + (8 if wire_type == FIXED64 else 4)
        wrong = self.verdicts[tag] >= _WRONG_TYPE or not _LEGAL[wire_type]
        self._refuse(start, stop, bool(wrong))
        self.cursor = stop
        kept = slice(None) if self.verdicts[tag] == _WANTED else slice(0)
        return Records(self.active[kept], tag, start[kept], stop[kept], number[kept])

    def _numbers_at(
        self, at: IntArray, which: IntArray | slice = slice(None)
    ) -> tuple[IntArray, IntArray]:
        """Decode the number at a position in some messages; also returns where each ends."""
        try:
            return read_each(self.messages.data, at)
        except VarintError as error:
            message = int(self.active[which][error.index])
            place = int(self.cursor[which][error.index])
            raise self.messages.error(message, place, str(error)) from None

    def _refuse(self, start: IntArray, stop: IntArray, wrong: NDArray[np.bool_] | bool) -> None:
        """Raise an error for the first field that is wrong, or exceeds its message."""
        # A length of 2**63 or more is negative, and slightly smaller ones wrap: in both cases the
        # field stops before it starts.
        bad = (stop > self.limit) | (stop < start) | wrong
        if bad.any():
            first = int(np.argmax(bad))
            message, place = int(self.active[first]), int(self.cursor[first])
            what = complaint(self.messages.raw, place, int(self.messages.stops[message]))
            raise self.messages.error(message, place, what)

    def one_by_one(self) -> Records:
        """Read the remaining messages one by one, field by field."""
        records, messages, raw = array("q"), self.messages, self.messages.raw
        verdict_of = self.verdicts.tolist()
        ends = zip(*(each.tolist() for each in (self.active, self.cursor, self.limit)), strict=True)
        for message, begin, end in ends:
            place = begin
            while place < end:
                tag, start, stop, after = field_at(raw, place, end)
                verdict = verdict_of[min(tag, TAGS - 1)]
                if stop < 0 or tag > MAX_TAG or verdict >= _WRONG_TYPE:
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
