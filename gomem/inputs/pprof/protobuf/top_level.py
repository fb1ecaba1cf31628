"""The top level of a profile: its messages as bytes, and the numbers beside them.

protobuf's compiled decoder splits it. If the bytes are not a profile, the decoder only reports that
it failed. Then a walk over the fields finds what is wrong, and where a message begins.
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

FIELDS_LIMIT = 1 << 24  # fields of a profile's top level: protobuf takes 16 bytes and more for each
SHORTEST = 2  # bytes of a field
BLOCK = 1 << 14  # fields that are walked over at a time
PACKED = re.compile(rb"(?:[\x80-\xff]{0,9}[\x00-\x7f])*")  # nothing but numbers
PLAIN = frozenset(range(8 | BYTES, MARK, 8))  # tags of one byte with a length


class TopLevel:
    """The fields of a profile's top level, each in the order of the file."""

    def __init__(self, data: bytes, message: Any) -> None:
        self.data = data
        self._message = message

    def parts(self, field: int) -> Sequence[bytes]:
        """The messages of a field. Each is made when it is asked for, anew."""
        parts: Sequence[bytes] = getattr(self._message, NAMES[field])
        return parts

    def one(self, field: int) -> int:
        """The number of a field, the last one if it came again, 0 if it did not come."""
        return int(getattr(self._message, NAMES[field]))

    def comments(self) -> list[int]:
        """The comments, packed or not."""
        return list(self._message.comment)

    def place(self, field: int, index: int) -> int:
        """Where in the file the field of a number begins that came as the index-th, from 0."""
        return self._places(field)[index]

    def count(self, field: int) -> int:
        """How often a field came."""
        return len(self._places(field))

    def _places(self, field: int) -> list[int]:
        return [place for number, _, place, *_ in walk(self.data) if number == field]


def split(data: bytes, source: str) -> TopLevel:
    """Split a profile's top level; FormatError where it is cut, or its fields are no profile's."""
    if len(data) > SHORTEST * FIELDS_LIMIT:
        _refuse_many(data, source)
    message = Profile()
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise broken(data, source) from None
    # A field that protobuf does not know is of a newer profile.proto, or has another wire type.
    if len(UnknownFieldSet(message)) and not _has_types_of_profiles(data):
        raise broken(data, source)
    return TopLevel(data, message)


def _has_types_of_profiles(data: bytes) -> bool:
    """Whether fields that a profile has are of its wire types; nothing has groups."""
    try:
        return all(kind in TOP_TYPES.get(number, (kind,)) for number, kind, *_ in walk(data))
    except WireError:
        return False


def _refuse_many(data: bytes, source: str) -> None:
    """Refuse a profile of more fields than memory is held for."""
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
    """Walk over messages of one byte of tag and one or two of length: their end, how many."""
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
    """Where the top level stops being a profile's, found by walking over it."""
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
