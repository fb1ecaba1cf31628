"""profile.proto: pprof profiles from any producer, with any sample types.

Written by    Go's runtime/pprof and net/http/pprof, and by many other profilers.
Described in  github.com/google/pprof, proto/profile.proto.
Quirks        Go writes the string table last, after all references to it.
              Samples, locations and functions come in any order, with arbitrary ids.
              One location has a line for each inlined call, innermost first.
              Go packs repeated numbers only when there are more than two.
              A delta profile (`?seconds=N`) has negative values.
              Strings need not be UTF-8; gomem escapes other bytes.

The protobuf decoder splits a profile into its messages. NumPy then decodes all messages of one type
at once. Tables refer to each other by row index, where -1 means none. Strings are indices into
`strings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.errors import Damage, FormatError
from gomem.inputs.pprof.columns import (
    NO_TYPE,
    Functions,
    Locations,
    Mappings,
    PprofColumns,
    ValueType,
    offsets_of,
)
from gomem.inputs.pprof.protobuf import schema
from gomem.inputs.pprof.protobuf.messages import Fields, Messages
from gomem.inputs.pprof.protobuf.samples import Rows, SampleError, Samples, read_samples
from gomem.inputs.pprof.protobuf.scan import scan
from gomem.inputs.pprof.protobuf.top_level import split
from gomem.inputs.pprof.protobuf.wire import WireError, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gomem.inputs.pprof.columns import IntArray, RowArray

START_BYTES = 1 << 16  # bytes of a file that `starts_like_pprof` looks at
START_FIELDS = 32


def parse_pprof(data: bytes, *, source: str) -> tuple[PprofColumns, list[Damage]]:
    """Parse a decompressed profile; returns its columns and the damage.

    Lines whose function is missing and locations whose mapping is missing count as damage, and stay
    in the stacks. Raises FormatError if the data is not a complete profile: it is cut, its samples
    do not match its sample types, or they refer to missing locations or strings.
    """
    return _Reader(data, source).columns()


def starts_like_pprof(data: bytes) -> bool:
    """Whether decompressed bytes begin like a profile, even if they are cut."""
    # Text, archives and executables do not pass: every field must be in profile.proto, with its
    # wire type, and the first messages must match the type of their field.
    messages: set[int] = set()
    count = texts = 0
    try:
        for number, wire_type, _, start, stop in walk(data[:START_BYTES]):
            if wire_type not in schema.TOP_TYPES.get(number, ()):
                return False
            if number in schema.MESSAGE_FIELDS and not _reads_as(data[start:stop], number):
                return False
            if number in schema.MESSAGE_FIELDS and stop > start:
                messages.add(number)
            if number == schema.STRING and not count:
                if not texts and stop > start:  # the first string is empty
                    return False
                texts += 1
                continue
            count += 1
            if count == START_FIELDS:
                break
    except WireError as error:
        if not _is_cut_after(data[:START_BYTES], error.offset):
            return False
    declared = messages & {schema.SAMPLE_TYPE, schema.PERIOD_TYPE}
    is_all_texts = not count and texts >= START_FIELDS
    return bool(declared and count >= 3) or bool(messages and count == START_FIELDS) or is_all_texts


def _reads_as(message: bytes, number: int) -> bool:
    """Whether a message has only fields of its type."""
    wanted = schema.MESSAGE_FIELDS[number]
    try:
        return all(kind in wanted.get(field, ()) for field, kind, *_ in walk(message))
    except WireError:
        return False


def _is_cut_after(data: bytes, offset: int) -> bool:
    """Whether the unreadable field starts like a field of profile.proto, and is cut."""
    if offset + 1 >= len(data):
        return True
    tag = data[offset]
    return tag & 7 in schema.TOP_TYPES.get(tag >> 3, ())


class _Reader:
    """A profile being parsed: its top level is split, and errors get their position in the file."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source
        self.damage: list[Damage] = []
        if not data:
            raise self._error("", "is empty, wanted a pprof profile")
        self.top = split(data, source)

    def columns(self) -> tuple[PprofColumns, list[Damage]]:
        top = self.top
        if not top.parts(schema.SAMPLE_TYPE):
            raise self._error("", "declares no sample types, wanted a pprof profile")
        self.strings = _decoded(top.parts(schema.STRING))
        if not self.strings or self.strings[0]:
            raise self._error("", "its string table does not begin with an empty string")
        if "" in self.strings[1:] and top.count(schema.TIME_NANOS) > 1:
            # Two profiles in one file: each begins with an empty string, and the string indices of
            # the second would be misread.
            place = f"byte {top.place(schema.TIME_NANOS, 1)}"
            raise self._error(place, "a second profile in one file; separate them")
        sample_types = self._value_types(schema.SAMPLE_TYPE)
        functions = self._functions()
        mappings = self._mappings()
        locations = self._locations(functions, mappings)
        period_types = self._value_types(schema.PERIOD_TYPE)
        samples = self._samples(len(sample_types), locations)
        columns = PprofColumns(
            sample_types=sample_types,
            value=samples.value,
            stack_offsets=samples.stack_offsets,
            stack=samples.stack,
            labels=samples.labels,
            locations=locations,
            functions=functions,
            mappings=mappings,
            strings=self.strings,
            period_type=period_types[-1] if period_types else NO_TYPE,
            **self._header(),
        )
        return columns, self.damage

    def _header(self) -> dict[str, Any]:
        """Return the profile's singular fields, and its comments."""
        texts = ("default_sample_type", "doc_url", "drop_frames", "keep_frames")
        numbers = ("time_nanos", "duration_nanos", "period")
        found = {name: self.top.one(schema.PROFILE[name][0]) for name in (*numbers, *texts)}
        return {
            **{name: found[name] for name in numbers},
            **{name: self._text(found[name], name) for name in texts},
            "comments": tuple(self._text(index, "comment") for index in self.top.comments()),
        }

    def _samples(self, types: int, locations: Locations) -> Samples:
        parts, rows, strings = self.top.parts(schema.SAMPLE), Rows(locations.id), len(self.strings)
        try:
            return read_samples(parts, len(self.data), types=types, locations=rows, strings=strings)
        except SampleError as error:
            raise self._error_at(schema.SAMPLE, error.sample, str(error)) from None

    def _functions(self) -> Functions:
        fields = self._fields(schema.FUNCTION)
        ids = self._ids(schema.FUNCTION, fields.one(1))
        texts = (self._strings(fields.one(number), schema.FUNCTION) for number in (2, 3, 4))
        name, system_name, file = texts
        return Functions(ids, name, system_name, file, fields.one(5))

    def _mappings(self) -> Mappings:
        fields = self._fields(schema.MAPPING)
        ids = self._ids(schema.MAPPING, fields.one(1))
        start, limit, offset = (fields.one(number).view(np.uint64) for number in (2, 3, 4))
        file, build_id = (self._strings(fields.one(number), schema.MAPPING) for number in (5, 6))
        flags = (fields.one(number) != 0 for number in (7, 8, 9, 10))
        return Mappings(ids, start, limit, offset, file, build_id, *flags)

    def _locations(self, functions: Functions, mappings: Mappings) -> Locations:
        fields = self._fields(schema.LOCATION)
        ids = self._ids(schema.LOCATION, fields.one(1))
        messages, owner = fields.nested(4)
        lines = self._scan(schema.LOCATION, messages, schema.LINE_FIELDS, owner)
        function_ids, mapping_ids = lines.one(1), fields.one(2)
        function, mapping = Rows(functions.id).of(function_ids), Rows(mappings.id).of(mapping_ids)
        self._missing("function", function < 0, function_ids, ids[owner])
        self._missing("mapping", (mapping < 0) & (mapping_ids != 0), mapping_ids, ids)
        address, folded = fields.one(3).view(np.uint64), fields.one(5) != 0
        offsets = offsets_of(np.bincount(owner, minlength=len(ids)))
        places = (function, lines.one(2), lines.one(3))
        return Locations(ids, mapping, address, folded, offsets, *places)

    def _missing(
        self, word: str, missing: NDArray[np.bool_], named: IntArray, location: IntArray
    ) -> None:
        """Record damage for locations whose function or mapping is missing."""
        count = int(np.count_nonzero(missing))
        if count:
            first = int(np.argmax(missing))
            example = f"location {location[first]} names {word} {named[first]}"
            what = f"{count} without their {word}: {example}, which the profile does not hold"
            self.damage.append(Damage(self.source, "locations", what))

    def _ids(self, number: int, ids: IntArray) -> IntArray:
        """Check that ids are present and unique."""
        if not (ids == np.arange(1, len(ids) + 1)).all():
            if not ids.all():
                row = int(np.argmin(ids != 0))
                raise self._error_at(number, row, f"{schema.WORDS[number]} without an id")
            order = np.argsort(ids, kind="stable")
            again = np.flatnonzero(np.diff(ids[order]) == 0)
            for row in order[again[:1] + 1].tolist():
                what = f"a second {schema.WORDS[number]} with the id {ids[row]}"
                raise self._error_at(number, row, what)
        return ids

    def _value_types(self, number: int) -> tuple[ValueType, ...]:
        """Return types and units; protobuf parses them, as there are few, if they are complete."""
        pairs = [schema.value_type(part) for part in self.top.parts(number)]
        table = len(self.strings)
        if not all(pair and min(pair) >= 0 and max(pair) < table for pair in pairs):
            fields = self._fields(number)
            names = (self._strings(fields.one(field), number).tolist() for field in (1, 2))
            pairs = list(zip(*names, strict=True))
        strings = self.strings
        return tuple(ValueType(strings[pair[0]], strings[pair[1]]) for pair in pairs if pair)

    def _fields(self, number: int) -> Fields:
        messages = Messages.join(self.top.parts(number))
        return self._scan(number, messages, schema.MESSAGE_FIELDS[number])

    def _scan(
        self,
        number: int,
        messages: Messages,
        wanted: Mapping[int, tuple[int, ...]],
        owner: NDArray[Any] | None = None,
    ) -> Fields:
        try:
            return scan(messages, wanted)
        except WireError as error:
            row = error.message if owner is None else int(owner[error.message])
            raise self._error_at(number, row, f"{schema.WORDS[number]} {row}: {error}") from None

    def _strings(self, indices: IntArray, number: int) -> RowArray:
        """Check indices into the string table."""
        outside = (indices < 0) | (indices >= len(self.strings))
        if outside.any():
            row, size = int(np.argmax(outside)), len(self.strings)
            what = f"{schema.WORDS[number]} {row} names string {indices[row]}, the table has {size}"
            raise self._error_at(number, row, what)
        return indices.astype(np.int32)

    def _text(self, index: int, field: str) -> str:
        if not 0 <= index < len(self.strings):
            what = f"{field} names string {index}, the table has {len(self.strings)}"
            raise self._error("", what)
        return self.strings[index]

    def _error_at(self, number: int, row: int, what: str) -> FormatError:
        """Return the error for a field's message number `row`, with its position in the file."""
        return self._error(f"byte {self.top.place(number, row)}", what)

    def _error(self, where: str, what: str) -> FormatError:
        return FormatError(self.source, where, what)


def _decoded(parts: Sequence[bytes]) -> list[str]:
    """Decode texts; bytes that are not UTF-8 are escaped."""
    try:
        texts = b"\0".join(parts).decode().split("\0")
    except UnicodeDecodeError:
        texts = []
    if len(texts) == len(parts):  # no text contains a zero byte
        return texts
    return [part.decode("utf-8", "backslashreplace") for part in parts]
