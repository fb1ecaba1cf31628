"""profile.proto: pprof's profiles, of any producer and with any sample types.

Written by    Go's runtime/pprof and net/http/pprof, and by many other profilers.
Described in  github.com/google/pprof, proto/profile.proto.
Quirks        Go writes the string table last, and what refers to it first.
              Samples, locations and functions come in any order, ids in any numbering.
              One location has a line for each call that was inlined there, innermost first.
              Go packs repeated numbers only where there are more than two.
              A delta profile (`?seconds=N`) has negative values.
              Strings need not be UTF-8; other bytes become escapes here.

protobuf's C decoder splits the profile into its messages and NumPy reads these, all at once.
Tables refer to each other by row, -1 where nothing is named; strings are indices into `strings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from gomem.errors import Damage, FormatError
from gomem.formats.pprof_columns import (
    Functions,
    IntArray,
    Labels,
    Locations,
    Mappings,
    PprofColumns,
    RowArray,
    ValueType,
)
from gomem.formats.pprof_schema import (
    FUNCTION,
    FUNCTION_FIELDS,
    LABEL_FIELDS,
    LINE_FIELDS,
    LOCATION,
    LOCATION_FIELDS,
    MAPPING,
    MAPPING_FIELDS,
    MESSAGE_FIELDS,
    PERIOD_TYPE,
    SAMPLE,
    SAMPLE_FIELDS,
    SAMPLE_TYPE,
    TIME_NANOS,
    TOP_TYPES,
    VALUE_TYPE_FIELDS,
    WORDS,
    Profile,
)
from gomem.formats.wire import Fields, Messages, WireError, scan, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

START_BYTES = 1 << 16  # how much of a file `starts_like_pprof` looks at
START_FIELDS = 32


def parse_pprof(data: bytes, *, source: str) -> tuple[PprofColumns, list[Damage]]:
    """Read a profile.

    Args:
        data: The profile, decompressed.
        source: What messages call it: as a rule, its path.

    Returns:
        The profile in base columns, and what of it could not be read: lines without their
        function and locations without their mapping, which stay in the stacks.

    Raises:
        FormatError: It is not a profile, or not a whole one: it is cut, its samples do not fit
            its sample types, or they name locations or strings that it does not hold.
    """
    return _Reader(data, source).columns()


def looks_like_pprof(data: bytes) -> bool:
    """Whether decompressed bytes are a whole profile: all of its top level reads as one."""
    if not starts_like_pprof(data):
        return False
    try:
        top = _Reader(data, "").top
    except FormatError:
        return False
    return bool(top.sample_type) and list(top.string_table[:1]) == [b""]


def starts_like_pprof(data: bytes) -> bool:
    """Whether decompressed bytes begin as a profile does, even if they are cut short.

    Text, archives and executables do not pass: every field must be one of profile.proto's, with
    its wire type, and the first messages must themselves be what their field says.
    """
    messages: set[int] = set()
    count = 0
    try:
        for number, wire_type, _, start, stop in walk(data[:START_BYTES]):
            if wire_type not in TOP_TYPES.get(number, ()):
                return False
            if number in MESSAGE_FIELDS and not _reads_as(data[start:stop], number):
                return False
            if number in MESSAGE_FIELDS and stop > start:
                messages.add(number)
            count += 1
            if count == START_FIELDS:
                break
    except WireError as error:
        if not _is_cut_after(data[:START_BYTES], error.offset):
            return False
    declared = messages & {SAMPLE_TYPE, PERIOD_TYPE}
    return bool(declared and count >= 3) or bool(messages and count == START_FIELDS)


def _reads_as(message: bytes, number: int) -> bool:
    """Whether a message has only the fields that its type has."""
    wanted = MESSAGE_FIELDS[number]
    try:
        return all(kind in wanted.get(field, ()) for field, kind, *_ in walk(message))
    except WireError:
        return False


def _is_cut_after(data: bytes, offset: int) -> bool:
    """Whether the field that could not be read begins as one of profile.proto's and is cut."""
    if offset + 1 >= len(data):
        return True
    tag = data[offset]
    return tag & 7 in TOP_TYPES.get(tag >> 3, ())


class _Reader:
    """One profile being read: its top level split, and its faults given their place."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source
        self.damage: list[Damage] = []
        self.top = self._split()

    def columns(self) -> tuple[PprofColumns, list[Damage]]:
        top = self.top
        if not top.sample_type:
            raise self._error("", "declares no sample types, wanted a pprof profile")
        self.strings = [text.decode("utf-8", "backslashreplace") for text in top.string_table]
        if not self.strings or self.strings[0]:
            raise self._error("", "its string table does not begin with an empty string")
        if "" in self.strings[1:]:
            self._refuse_second()
        sample_types = self._value_types(SAMPLE_TYPE, top.sample_type)
        functions = self._functions()
        mappings = self._mappings()
        locations = self._locations(functions, mappings)
        period_types = self._value_types(PERIOD_TYPE, top.period_type[-1:])
        header = self._header()
        samples = Messages.join(top.sample[:])
        del top, self.top  # as large as the profile; the samples are decoded without it
        offsets, stack, values, labels = self._samples(samples, len(sample_types), locations)
        columns = PprofColumns(
            sample_types=sample_types,
            value=values,
            stack_offsets=offsets,
            stack=stack,
            labels=labels,
            locations=locations,
            functions=functions,
            mappings=mappings,
            strings=self.strings,
            period_type=period_types[0] if period_types else ValueType("", ""),
            **header,
        )
        return columns, self.damage

    def _header(self) -> dict[str, Any]:
        """The fields that a profile has once, and its comments."""
        texts = ("default_sample_type", "doc_url", "drop_frames", "keep_frames")
        numbers = ("time_nanos", "duration_nanos", "period")
        return {
            **{name: getattr(self.top, name) for name in numbers},
            **{name: self._text(getattr(self.top, name), name) for name in texts},
            "comments": tuple(self._text(index, "comment") for index in self.top.comment),
        }

    def _split(self) -> Any:
        if not self.data:
            raise self._error("", "is empty, wanted a pprof profile")
        top = Profile()
        try:
            top.ParseFromString(self.data)
        except DecodeError:
            raise self._broken() from None
        unknown: Any = UnknownFieldSet(top)
        for field in unknown:
            # A newer profile.proto may have more fields; it will not change the type of one.
            if field.field_number in TOP_TYPES or field.wire_type not in (0, 1, 2, 5):
                raise self._broken()
        return top

    def _refuse_second(self) -> None:
        """Refuse two profiles in one file: the strings of the second would be taken for others.

        Each begins its string table with an empty string, and says when it was taken.
        """
        times = [place for number, _, place, *_ in walk(self.data) if number == TIME_NANOS]
        if len(times) > 1:
            raise self._error(f"byte {times[1]}", "a second profile in one file; separate them")

    def _broken(self) -> FormatError:
        """Where the top level stops being a profile's, found by walking it."""
        end = 0
        try:
            for number, wire_type, place, _, stop in walk(self.data):
                if wire_type not in TOP_TYPES.get(number, (wire_type,)):
                    what = f"field {number} has wire type {wire_type}"
                    return self._error(f"byte {place}", f"{what}, which no profile has there")
                end = stop
        except WireError as error:
            what = str(error).replace("its message", f"the file, which has {len(self.data)} bytes")
            return self._error(f"byte {error.offset}", f"not a whole pprof profile: {what}")
        return self._error(f"byte {end}", "not a pprof profile")

    def _samples(
        self, samples: Messages, types: int, locations: Locations
    ) -> tuple[IntArray, RowArray, IntArray, Labels]:
        fields = self._scan(SAMPLE, samples, SAMPLE_FIELDS, None)
        values, value_offsets = self._placed(SAMPLE, None, lambda: fields.many(2))
        counts = np.diff(value_offsets)
        if (counts != types).any():
            sample = int(np.argmax(counts != types))
            what = f"has {counts[sample]} values, the profile declares {types} sample types"
            raise self._error_at(SAMPLE, sample, f"sample {sample} {what}")
        ids, offsets = self._placed(SAMPLE, None, lambda: fields.many(1))
        stack = _rows_of(locations.id, ids)
        if len(stack) and stack.min() < 0:
            unknown = int(np.argmax(stack < 0))
            sample = int(np.searchsorted(offsets, unknown, side="right")) - 1
            named = self._placed(SAMPLE, None, lambda: fields.many(1))[0][unknown]
            what = f"names location {named}, which the profile does not hold"
            raise self._error_at(SAMPLE, sample, f"sample {sample} {what}")
        shaped = values.astype(np.int64, copy=False).reshape(-1, types)
        return offsets, stack, shaped, self._labels(fields)

    def _labels(self, samples: Fields) -> Labels:
        messages, owner = samples.nested(3)
        fields = self._scan(SAMPLE, messages, LABEL_FIELDS, owner)

        def strings(number: int) -> RowArray:
            return self._strings(fields.one(number), SAMPLE, owner)

        return Labels(_rows(owner), strings(1), strings(2), fields.one(3), strings(4))

    def _functions(self) -> Functions:
        fields = self._fields(FUNCTION, self.top.function, FUNCTION_FIELDS)
        ids = self._ids(FUNCTION, fields.one(1))
        name, system_name, file = (
            self._strings(fields.one(number), FUNCTION, None) for number in (2, 3, 4)
        )
        return Functions(ids, name, system_name, file, fields.one(5))

    def _mappings(self) -> Mappings:
        fields = self._fields(MAPPING, self.top.mapping, MAPPING_FIELDS)
        ids = self._ids(MAPPING, fields.one(1))
        start, limit, offset = (fields.one(number).view(np.uint64) for number in (2, 3, 4))
        file, build_id = (self._strings(fields.one(number), MAPPING, None) for number in (5, 6))
        flags = (fields.one(number) != 0 for number in (7, 8, 9, 10))
        return Mappings(ids, start, limit, offset, file, build_id, *flags)

    def _locations(self, functions: Functions, mappings: Mappings) -> Locations:
        fields = self._fields(LOCATION, self.top.location, LOCATION_FIELDS)
        ids = self._ids(LOCATION, fields.one(1))
        messages, owner = fields.nested(4)
        lines = self._scan(LOCATION, messages, LINE_FIELDS, owner)
        function_ids, mapping_ids = lines.one(1), fields.one(2)
        function, mapping = _rows_of(functions.id, function_ids), _rows_of(mappings.id, mapping_ids)
        self._missing("function", function < 0, function_ids, ids[owner])
        self._missing("mapping", (mapping < 0) & (mapping_ids != 0), mapping_ids, ids)
        counts = np.bincount(owner, minlength=len(ids))
        return Locations(
            id=ids,
            mapping=mapping,
            address=fields.one(3).view(np.uint64),
            folded=fields.one(5) != 0,
            line_offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            line_function=function,
            line_number=lines.one(2),
            line_column=lines.one(3),
        )

    def _missing(
        self, word: str, missing: NDArray[np.bool_], named: IntArray, location: IntArray
    ) -> None:
        """Note locations whose function or mapping the profile does not hold."""
        count = int(np.count_nonzero(missing))
        if count:
            first = int(np.argmax(missing))
            example = f"location {location[first]} names {word} {named[first]}"
            what = f"{count} without their {word}: {example}, which the profile does not hold"
            self.damage.append(Damage(self.source, "locations", what))

    def _ids(self, number: int, ids: IntArray) -> IntArray:
        """Check that ids are there and tell rows apart."""
        if not (ids == np.arange(1, len(ids) + 1)).all():
            if not ids.all():
                row = int(np.argmin(ids != 0))
                raise self._error_at(number, row, f"{WORDS[number]} without an id")
            order = np.argsort(ids, kind="stable")
            again = np.flatnonzero(np.diff(ids[order]) == 0)
            if again.size:
                row = int(order[again[0] + 1])
                what = f"a second {WORDS[number]} with the id {ids[row]}"
                raise self._error_at(number, row, what)
        return ids

    def _value_types(self, number: int, parts: Sequence[bytes]) -> tuple[ValueType, ...]:
        fields = self._fields(number, parts, VALUE_TYPE_FIELDS)
        types, units = (self._strings(fields.one(one), number, None) for one in (1, 2))
        return tuple(
            ValueType(self.strings[one], self.strings[unit])
            for one, unit in zip(types.tolist(), units.tolist(), strict=True)
        )

    def _fields(
        self, number: int, parts: Sequence[bytes], wanted: Mapping[int, tuple[int, ...]]
    ) -> Fields:
        return self._scan(number, Messages.join(parts[:]), wanted, None)

    def _scan(
        self,
        number: int,
        messages: Messages,
        wanted: Mapping[int, tuple[int, ...]],
        owner: NDArray[Any] | None,
    ) -> Fields:
        return self._placed(number, owner, lambda: scan(messages, wanted))

    def _placed(self, number: int, owner: NDArray[Any] | None, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except WireError as error:
            row = error.message if owner is None else int(owner[error.message])
            raise self._error_at(number, row, f"{WORDS[number]} {row}: {error}") from None

    def _strings(self, indices: IntArray, number: int, owner: NDArray[Any] | None) -> RowArray:
        """Check indices into the string table."""
        outside = (indices < 0) | (indices >= len(self.strings))
        if outside.any():
            first = int(np.argmax(outside))
            row = first if owner is None else int(owner[first])
            size = len(self.strings)
            what = f"{WORDS[number]} {row} names string {indices[first]}, the table has {size}"
            raise self._error_at(number, row, what)
        return _rows(indices)

    def _text(self, index: int, field: str) -> str:
        if not 0 <= index < len(self.strings):
            what = f"{field} names string {index}, the table has {len(self.strings)}"
            raise self._error("", what)
        return self.strings[index]

    def _error_at(self, number: int, row: int, what: str) -> FormatError:
        """The error for the row-th message of a field, with its place in the file."""
        places = (place for field, _, place, _, _ in walk(self.data) if field == number)
        for index, place in enumerate(places):
            if index == row:
                return self._error(f"byte {place}", what)
        return self._error("", what)

    def _error(self, where: str, what: str) -> FormatError:
        return FormatError(self.source, where, what)


def _rows(numbers: NDArray[Any]) -> RowArray:
    return numbers.astype(np.int32)


def _rows_of(ids: IntArray, named: NDArray[Any]) -> RowArray:
    """The rows that have the named ids, -1 where none has."""
    if (ids == np.arange(1, len(ids) + 1)).all():
        return _rows_of_numbered(len(ids), named)
    if not len(ids):
        return np.full(len(named), -1, np.int32)
    order = np.argsort(ids)
    inside = np.minimum(np.searchsorted(ids, named, sorter=order), len(ids) - 1)
    rows = order[inside]
    return np.where(ids[rows] == named, rows, -1).astype(np.int32)


def _rows_of_numbered(count: int, named: NDArray[Any]) -> RowArray:
    """Ids from 1 to a count, as Go writes them, are one more than their rows."""
    if named.dtype == np.uint32:
        named -= np.uint32(1)  # in place: of all columns the stacks' is the largest
        rows = named.view(np.int32)
        outside = named >= count
    else:
        outside = (named < 1) | (named > count)
        rows = np.where(outside, 0, named - 1).astype(np.int32)
    if outside.any():
        rows[outside] = -1
    return rows
