"""The top level of a profile: where each of its messages lies, and the numbers beside them.

A profile is one long chain of fields, and where one begins is known only when the one before it
has been read. So the chain is walked once, a short step a message, and nothing is copied; all
else is NumPy's.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import FormatError
from gomem.formats.pprof_schema import TOP_TYPES
from gomem.formats.varints import CUT, MARK, IntArray, VarintError, read_each
from gomem.formats.wire import BYTES, VARINT, WireError, field_at, walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 14  # fields that are walked over before they are put into arrays
FIELDS_LIMIT = 1 << 24  # fields of a profile's top level
PLAIN = frozenset(range(8 | BYTES, MARK, 8))  # tags of one byte with a length


@dataclass(frozen=True)
class TopLevel:
    """The fields of a profile's top level, a row each, in the order of the file.

    Attributes:
        data: The profile.
        tag: Field number and wire type, `number << 3 | type`; 0 for a field that is not known.
        start: First byte of the field's content: of the number, or of what its length announces.
        stop: One past the content's last byte; the next field begins there.
    """

    data: bytes
    tag: NDArray[np.uint8]
    start: IntArray
    stop: IntArray

    def spans(self, field: int) -> tuple[IntArray, IntArray]:
        """Where the messages of a field begin, and where they stop."""
        rows = np.flatnonzero(self.tag == (field << 3 | BYTES))
        return self.start[rows], self.stop[rows]

    def parts(self, field: int) -> list[bytes]:
        """The messages of a field."""
        starts, stops = self.spans(field)
        places = zip(starts.tolist(), stops.tolist(), strict=True)
        return [self.data[start:stop] for start, stop in places]

    def one(self, field: int) -> int:
        """The number of a field, the last one if it came again, 0 if it did not come."""
        rows = np.flatnonzero(self.tag == (field << 3 | VARINT))
        return self._number(int(rows[-1])) if len(rows) else 0

    def many(self, field: int) -> list[int]:
        """The numbers of a repeated field, packed or not.

        Raises:
            VarintError: A packed field ends within a number, or holds one that is too long.
        """
        numbers: list[int] = []
        for row in self._rows(field).tolist():
            if self.tag[row] & 7 == VARINT:
                numbers.append(self._number(row))
            else:
                numbers += self._packed(row)
        return numbers

    def place(self, field: int, index: int) -> int:
        """Where in the file the field of a number begins that came as the index-th, from 0."""
        row = int(self._rows(field)[index])
        return int(self.stop[row - 1]) if row else 0

    def count(self, field: int) -> int:
        """How often a field came."""
        return len(self._rows(field))

    def _rows(self, field: int) -> IntArray:
        return np.flatnonzero(self.tag >> 3 == field)

    def _number(self, row: int) -> int:
        values, _ = read_each(np.frombuffer(self.data, np.uint8), self.start[row : row + 1])
        return int(values[0])

    def _packed(self, row: int) -> list[int]:
        content = np.frombuffer(self.data[int(self.start[row]) : int(self.stop[row])], np.uint8)
        if not len(content):
            return []
        if content[-1] >= MARK:
            raise VarintError(row, int(self.start[row]), CUT)
        starts = np.append(0, np.flatnonzero(content[:-1] < MARK) + 1)
        return read_each(content, starts)[0].tolist()


def split(data: bytes, source: str) -> TopLevel:
    """Find the fields of a profile's top level.

    Raises:
        FormatError: They are not a profile's, or it is cut.
    """
    blocks: list[tuple[NDArray[np.uint8], IntArray, IntArray]] = []
    place = count = 0
    while place < len(data):
        stop = np.frombuffer(_block(data, place, source), np.int64)
        blocks.append((*_headers(data, np.append(place, stop[:-1]), source), stop))
        place = int(stop[-1])
        count += len(stop)
        if count > FIELDS_LIMIT:
            what = f"more than {FIELDS_LIMIT} messages, wanted a pprof profile"
            raise FormatError(source, f"byte {place}", what)
    columns = zip(*blocks, strict=True)
    return TopLevel(data, *(np.concatenate(column) for column in columns))


def _block(data: bytes, place: int, source: str) -> array[int]:
    """Where each of the next fields stops."""
    ends = array("q")
    while place < len(data) and len(ends) < BLOCK:
        place = _plain_fields(data, place, ends)
        if place < len(data) and len(ends) < BLOCK:
            tag, _, stop, place = field_at(data, place, len(data))
            if stop < 0 or tag < 8:  # there is no field 0
                raise broken(data, source)
            ends.append(place)
    return ends


def _plain_fields(data: bytes, place: int, ends: array[int]) -> int:
    """Walk over messages of one byte of tag and one or two of length, as nearly all are."""
    begin, mark, append = place, MARK, ends.append
    plain = PLAIN
    try:
        for _ in range(BLOCK):
            length = data[place + 1]
            if data[place] not in plain:
                break
            if length < mark:
                place += length + 2
            elif data[place + 2] < mark:
                place += (length & 0x7F) + (data[place + 2] << 7) + 3
            else:
                break
            append(place)
    except IndexError:
        pass  # the file ends
    if place > len(data):  # within the last one
        ends.pop()
        return ends[-1] if ends else begin
    return place


def _headers(data: bytes, place: IntArray, source: str) -> tuple[NDArray[np.uint8], IntArray]:
    """Tags of fields, and where their content starts."""
    content = np.frombuffer(data, np.uint8)
    tag, start = read_each(content, place)
    wire_type = tag & 7
    known = tag.view(np.uint64) < MARK
    allowed = _ALLOWED[np.where(known, tag, 0)]
    if (known & ~allowed).any():
        raise broken(data, source)
    messages = np.flatnonzero(wire_type == BYTES)
    start[messages] = read_each(content, start[messages])[1]
    return np.where(known, tag, 0).astype(np.uint8), start


def broken(data: bytes, source: str) -> FormatError:
    """Where the top level stops being a profile's, found by walking it again."""
    end = 0
    try:
        for number, wire_type, place, _, stop in walk(data):
            if wire_type not in TOP_TYPES.get(number, (wire_type,)):
                what = f"field {number} has wire type {wire_type}"
                return FormatError(source, f"byte {place}", f"{what}, which no profile has there")
            end = stop
    except WireError as error:
        what = str(error).replace("its message", f"the file, which has {len(data)} bytes")
        return FormatError(source, f"byte {error.offset}", f"not a whole pprof profile: {what}")
    return FormatError(source, f"byte {end}", "not a pprof profile")


def _allowed_tags() -> NDArray[np.bool_]:
    """Which tags of one byte a profile can have; fields of higher numbers are passed over."""
    allowed = np.zeros(MARK, np.bool_)
    for number, types in TOP_TYPES.items():
        allowed[[number << 3 | one for one in types]] = True
    return allowed


_ALLOWED = _allowed_tags()
