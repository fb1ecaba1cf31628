"""The top level of a profile: its messages as bytes, and its numbers.

protobuf's compiled decoder splits it. If the decoder fails, it does not say why; then a walk over
the fields finds the error. The same walk finds where a message begins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from gomem.errors import FormatError
from gomem.inputs.pprof.protobuf.schema import COMMENT, NAMES, TOP_TYPES, Profile
from gomem.inputs.pprof.protobuf.varints import CUT, MARK
from gomem.inputs.pprof.protobuf.wire import BYTES, WireError, field_at, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

FIELDS_LIMIT = 1 << 24  # fields at a profile's top level; protobuf uses at least 16 bytes for each
SHORTEST = 2  # minimum bytes of a field
BLOCK = 1 << 14  # fields that one walk handles
PACKED = re.compile(rb"(?:[\x80-\xff]{0,9}[\x00-\x7f])*")  # only numbers
PLAIN = frozenset(range(8 | BYTES, MARK, 8))  # tags of one byte with a length


class TopLevel:
    """The fields of a profile's top level, each in file order."""

    def __init__(self, data: bytes, message: Any) -> None:
        self.data = data
        self._message = message

    def parts(self, field: int) -> Sequence[bytes]:
        """Return a field's messages. Each is created when it is accessed, every time."""
        parts: Sequence[bytes] = getattr(self._message, NAMES[field])
        return parts

    def one(self, field: int) -> int:
        """Return a field's number; the last one if repeated, 0 if missing."""
        return int(getattr(self._message, NAMES[field]))

    def comments(self) -> list[int]:
        """Return the comments, packed or not."""
        return list(self._message.comment)

    def place(self, field: int, index: int) -> int:
        """Return where a field's occurrence number `index` (from 0) begins in the file."""
        return self._places(field)[index]

    def count(self, field: int) -> int:
        """Return how often a field occurs."""
        return len(self._places(field))

    def _places(self, field: int) -> list[int]:
        return [place for number, _, place, *_ in walk(self.data) if number == field]


def split(data: bytes, source: str) -> TopLevel:
    """Split a profile's top level; raises FormatError if it is cut, or not a profile."""
    if len(data) > SHORTEST * FIELDS_LIMIT:
        _refuse_many(data, source)
    message = Profile()
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise broken(data, source) from None
    # A field unknown to protobuf is from a newer profile.proto, or has another wire type.
    if len(UnknownFieldSet(message)) and not _has_types_of_profiles(data):
        raise broken(data, source)
    return TopLevel(data, message)


def _has_types_of_profiles(data: bytes) -> bool:
    """Whether all known fields have the right wire type; groups are not allowed."""
    try:
        return all(kind in TOP_TYPES.get(number, (kind,)) for number, kind, *_ in walk(data))
    except WireError:
        return False


def _refuse_many(data: bytes, source: str) -> None:
    """Raise FormatError if a profile has too many fields to hold in memory."""
    place = count = 0
    while place < len(data):
        place, walked = _plain_fields(data, place)
        count += walked
        if place < len(data):
            tag, _, stop, place = field_at(data, place, len(data))
            count += 1
            if stop < 0 or tag < 8:  # there is no field 0
                raise broken(data, source)
        if count > FIELDS_LIMIT:
            what = f"more than {FIELDS_LIMIT} messages, wanted a pprof profile"
            raise FormatError(source, f"byte {place}", what)


def _plain_fields(data: bytes, place: int) -> tuple[int, int]:
    """Walk over messages with a tag of one byte and a length of at most two: end and count."""
    plain, mark = PLAIN, MARK
    count = 0
    try:
        while count < BLOCK:
            length = data[place + 1]
            if data[place] not in plain:
                break
            if length < mark:
                place += length + 2
            elif data[place + 2] < mark:
                place += (length & 0x7F) + (data[place + 2] << 7) + 3
            else:
                break
            count += 1
    except IndexError:
        pass  # the file ends
    return place, count


def broken(data: bytes, source: str) -> FormatError:
    """Return the error for the position where the top level stops being a profile."""
    end = 0
    try:
        for number, wire_type, place, start, end in walk(data):
            if wire_type not in TOP_TYPES.get(number, (wire_type,)):
                what = f"field {number} has wire type {wire_type}"
                return FormatError(source, f"byte {place}", f"{what}, which no profile has there")
            if number == COMMENT and wire_type == BYTES and not PACKED.fullmatch(data, start, end):
                return FormatError(source, f"byte {start}", f"comment: {CUT}")
    except WireError as error:
        what = str(error).replace("its message", f"the file, which has {len(data)} bytes")
        return FormatError(source, f"byte {error.offset}", f"not a whole pprof profile: {what}")
    return FormatError(source, f"byte {end}", "not a pprof profile")
