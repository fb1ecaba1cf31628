"""Protobuf's wire format: the fields of one message, one by one.

Described in  protobuf.dev, "Encoding".
Quirks        Negative numbers are varints of ten bytes.
              Fields can come in any order, and unknown ones are skipped.

`scan` reads many messages at once. Neither module knows anything about profiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.pprof.protobuf.varints import CUT, MAX_BYTES, TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

VARINT = 0
FIXED64 = 1
BYTES = 2
FIXED32 = 5
MAX_TAG = (1 << 32) - 1  # a tag has 32 bits: field numbers end at 2**29 - 1
CUT_FIELD = "a field runs past the end of its message"


class WireError(ValueError):
    """Malformed protobuf, with the message's index (from 0) and the offset in bytes."""

    def __init__(self, message: int, offset: int, what: str) -> None:
        self.message = message
        self.offset = offset
        super().__init__(what)


def walk(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the fields of one message: number, wire type, position, content's start and stop.

    Raises WireError with the field's offset if the message is cut or malformed.
    """
    cursor = 0
    limit = len(data)
    while cursor < limit:
        tag, start, stop, after = field_at(data, cursor, limit)
        if stop < 0 or not 8 <= tag <= MAX_TAG:  # there is no field 0
            raise WireError(0, cursor, complaint(data, cursor, limit))
        yield tag >> 3, tag & 7, cursor, start, stop
        cursor = after


def field_at(raw: bytes, place: int, limit: int) -> tuple[int, int, int, int]:
    """Return tag, content's start and stop, and next position; a negative stop if unreadable."""
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
    """Return the number at a position and its end; -1 if it is cut or too long."""
    value = 0
    for group in range(MAX_BYTES):
        if place >= limit:
            return 0, -1
        byte = raw[place]
        place += 1
        if byte < 0x80:
            return (value | byte << (7 * group)) & 0xFFFF_FFFF_FFFF_FFFF, place
        value |= (byte & 0x7F) << (7 * group)
    return 0, -1


def complaint(raw: bytes, place: int, limit: int) -> str:
    """Return why the field at a position cannot be read."""
    tag, at = _varint(raw, place, limit)
    if at < 0:
        return TOO_LONG if place + MAX_BYTES <= limit else CUT
    number, wire_type = tag >> 3, tag & 7
    if tag > MAX_TAG:
        return f"field {number}, which is higher than any that protobuf has"
    if number == 0 or wire_type in (3, 4, 6, 7):
        return f"field {number} of wire type {wire_type}, which protobuf does not have"
    if field_at(raw, place, limit)[2] < 0:
        if wire_type == VARINT:
            return TOO_LONG if at + MAX_BYTES <= limit else CUT
        return CUT_FIELD
    return f"field {number} has wire type {wire_type}, wanted another"
