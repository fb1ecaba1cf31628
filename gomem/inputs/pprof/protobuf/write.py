"""Writes columns as profile.proto, gzipped, which all readers of profiles accept."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from gomem.inputs.pprof.columns import rows_of
from gomem.inputs.pprof.protobuf import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.inputs.pprof.columns import Labels, Locations, PprofColumns

WORD = (1 << 64) - 1
# The header of gzip: ten bytes, the fourth of which has flags for what follows (RFC 1952).
HEADER, FLAGS, WITH_COMMENT = 10, 3, 0x10
MADE_BY = b"gomem\0"


def write_pprof(columns: PprofColumns) -> bytes:
    """Write a profile. Equal columns give equal bytes: the header has no time.

    A comment in the gzip header names gomem; the profile itself does not.
    """
    packed = bytearray(gzip.compress(b"".join(_Writer(columns).messages()), mtime=0))
    packed[FLAGS] |= WITH_COMMENT
    packed[HEADER:HEADER] = MADE_BY
    return bytes(packed)


class _Writer:
    """The state of a writer. Ids are row numbers from 1; strings are numbered as they occur."""

    def __init__(self, columns: PprofColumns) -> None:
        self.columns = columns
        self.texts = list(columns.strings) or [""]
        self.numbers = {
            text: number for number, text in enumerate(self.texts) if text or not number
        }

    def messages(self) -> Iterator[bytes]:
        columns = self.columns
        for kind in columns.sample_types:
            yield message(schema.SAMPLE_TYPE, self._value_type(kind.type, kind.unit))
        yield from self._samples()
        for row, (_, *values) in enumerate(rows_of(columns.mappings), start=1):
            yield message(schema.MAPPING, _numbers(row, *map(int, values)))
        yield from self._locations(columns.locations)
        for row, (_, *values) in enumerate(rows_of(columns.functions), start=1):
            yield message(schema.FUNCTION, _numbers(row, *values))
        if columns.period_type.type or columns.period_type.unit:
            period_type = self._value_type(columns.period_type.type, columns.period_type.unit)
            yield message(schema.PERIOD_TYPE, period_type)
        for name in ("time_nanos", "duration_nanos", "period"):
            yield _number(schema.PROFILE[name][0], getattr(columns, name))
        for name in ("default_sample_type", "doc_url", "drop_frames", "keep_frames"):
            yield _number(schema.PROFILE[name][0], self._string(getattr(columns, name)))
        for comment in columns.comments:
            yield message(schema.COMMENT, _varint(self._string(comment)))
        yield from (message(schema.STRING, text.encode()) for text in self.texts)

    def _string(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return self.numbers[text]

    def _value_type(self, kind: str, unit: str) -> bytes:
        return _number(1, self._string(kind)) + _number(2, self._string(unit))

    def _samples(self) -> Iterator[bytes]:
        columns = self.columns
        labels = _label_messages(columns.labels)
        ids = [_varint(row + 1) for row in range(len(columns.locations.id))]
        offsets, stack = columns.stack_offsets.tolist(), columns.stack.tolist()
        for row, values in enumerate(columns.value.tolist()):
            entries = b"".join([ids[place] for place in stack[offsets[row] : offsets[row + 1]]])
            numbers = b"".join([_varint(value) for value in values])
            yield message(
                schema.SAMPLE, message(1, entries) + message(2, numbers) + labels.get(row, b"")
            )

    def _locations(self, locations: Locations) -> Iterator[bytes]:
        entries = enumerate(locations.entries(), start=1)
        for row, (mapping, address, folded, lines) in entries:
            own = b"".join(
                message(4, _numbers(function + 1, number, column))
                for function, number, column in lines
            )
            yield message(
                schema.LOCATION, _numbers(row, mapping + 1, address) + own + _number(5, int(folded))
            )


def _label_messages(labels: Labels) -> dict[int, bytes]:
    """Return the encoded labels of each sample that has labels."""
    messages: dict[int, bytes] = {}
    for sample, *values in rows_of(labels):
        messages[sample] = messages.get(sample, b"") + message(3, _numbers(*values))
    return messages


def _numbers(*values: int) -> bytes:
    """Encode the fields 1, 2, … of a message; zeros are omitted."""
    return b"".join(_number(tag, value) for tag, value in enumerate(values, start=1))


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value) if value else b""


def message(tag: int, body: bytes) -> bytes:
    """Encode a field that contains a message or a text."""
    return _varint(tag << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    value &= WORD
    if value < 0x80:
        return _SINGLE[value]
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


_SINGLE: list[bytes] = [bytes([value]) for value in range(0x80)]
