"""profile.proto: pprof's profiles, of any producer and with any sample types.

Written by    Go's runtime/pprof and net/http/pprof, and by many other profilers.
Described in  github.com/google/pprof, proto/profile.proto.
Quirks        Go writes the string table last, and what refers to it first.
              Samples, locations and functions come in any order, ids in any numbering.
              One location has a line for each call that was inlined there, innermost first.
              Go packs repeated numbers only where there are more than two.
              A delta profile (`?seconds=N`) has negative values.
              Strings need not be UTF-8; other bytes become escapes here.

protobuf's decoder splits a profile into its messages, and NumPy reads these, all of a type at once.
Tables refer to each other by row, -1 where nothing is named; strings are indices into `strings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.errors import Damage, FormatError
from gomem.inputs.pprof.columns import (
    NO_TYPE,
    Functions,
    IntArray,
    Locations,
    Mappings,
    PprofColumns,
    RowArray,
    ValueType,
)
from gomem.inputs.pprof.protobuf.messages import Fields, Messages
from gomem.inputs.pprof.protobuf.rows import Rows
from gomem.inputs.pprof.protobuf.samples import SampleError, Samples, read_samples
from gomem.inputs.pprof.protobuf.scan import scan
from gomem.inputs.pprof.protobuf.schema import (
    FUNCTION,
    FUNCTION_FIELDS,
    LINE_FIELDS,
    LOCATION,
    LOCATION_FIELDS,
    MAPPING,
    MAPPING_FIELDS,
    MESSAGE_FIELDS,
    PERIOD_TYPE,
    PROFILE,
    SAMPLE,
    SAMPLE_TYPE,
    STRING,
    TIME_NANOS,
    TOP_TYPES,
    VALUE_TYPE_FIELDS,
    WORDS,
    value_type,
)
from gomem.inputs.pprof.protobuf.top_level import split
from gomem.inputs.pprof.protobuf.wire import WireError, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

START_BYTES = 1 << 16  # how much of a file `starts_like_pprof` looks at
START_FIELDS = 32


def parse_pprof(data: bytes, *, source: str) -> tuple[PprofColumns, list[Damage]]:
    """Read a decompressed profile: base columns, and what of it could not be read.

    Lines without their function and locations without their mapping are damage, and stay in the
    stacks. FormatError where it is no profile, or not a whole one: it is cut, its samples do not
    fit its sample types, or they name locations or strings that it does not hold.
    """
    return _Reader(data, source).columns()


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
        if not data:
            raise self._error("", "is empty, wanted a pprof profile")
        self.top = split(data, source)

    def columns(self) -> tuple[PprofColumns, list[Damage]]:
        top = self.top
        if not top.parts(SAMPLE_TYPE):
            raise self._error("", "declares no sample types, wanted a pprof profile")
        self.strings = _decoded(top.parts(STRING))
        if not self.strings or self.strings[0]:
            raise self._error("", "its string table does not begin with an empty string")
        if "" in self.strings[1:]:
            self._refuse_second()
        sample_types = self._value_types(SAMPLE_TYPE)
        functions = self._functions()
        mappings = self._mappings()
        locations = self._locations(functions, mappings)
        period_types = self._value_types(PERIOD_TYPE)
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
        """The fields that a profile has once, and its comments."""
        texts = ("default_sample_type", "doc_url", "drop_frames", "keep_frames")
        numbers = ("time_nanos", "duration_nanos", "period")
        one = {name: self.top.one(PROFILE[name][0]) for name in (*numbers, *texts)}
        return {
            **{name: one[name] for name in numbers},
            **{name: self._text(one[name], name) for name in texts},
            "comments": tuple(self._text(index, "comment") for index in self.top.comments()),
        }

    def _refuse_second(self) -> None:
        """Refuse two profiles in one file: the strings of the second would be taken for others.

        Each begins its string table with an empty string, and says when it was taken.
        """
        if self.top.count(TIME_NANOS) > 1:
            place = f"byte {self.top.place(TIME_NANOS, 1)}"
            raise self._error(place, "a second profile in one file; separate them")

    def _samples(self, types: int, locations: Locations) -> Samples:
        try:
            return read_samples(
                self.top.parts(SAMPLE),
                len(self.data),
                types=types,
                locations=Rows(locations.id),
                strings=len(self.strings),
            )
        except SampleError as error:
            raise self._error_at(SAMPLE, error.sample, str(error)) from None

    def _functions(self) -> Functions:
        fields = self._fields(FUNCTION, FUNCTION_FIELDS)
        ids = self._ids(FUNCTION, fields.one(1))
        name, system_name, file = (
            self._strings(fields.one(number), FUNCTION, None) for number in (2, 3, 4)
        )
        return Functions(ids, name, system_name, file, fields.one(5))

    def _mappings(self) -> Mappings:
        fields = self._fields(MAPPING, MAPPING_FIELDS)
        ids = self._ids(MAPPING, fields.one(1))
        start, limit, offset = (fields.one(number).view(np.uint64) for number in (2, 3, 4))
        file, build_id = (self._strings(fields.one(number), MAPPING, None) for number in (5, 6))
        flags = (fields.one(number) != 0 for number in (7, 8, 9, 10))
        return Mappings(ids, start, limit, offset, file, build_id, *flags)

    def _locations(self, functions: Functions, mappings: Mappings) -> Locations:
        fields = self._fields(LOCATION, LOCATION_FIELDS)
        ids = self._ids(LOCATION, fields.one(1))
        messages, owner = fields.nested(4)
        lines = self._scan(LOCATION, messages, LINE_FIELDS, owner)
        function_ids, mapping_ids = lines.one(1), fields.one(2)
        function, mapping = Rows(functions.id).of(function_ids), Rows(mappings.id).of(mapping_ids)
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

    def _value_types(self, number: int) -> tuple[ValueType, ...]:
        """Types and units; the few that there are are protobuf's to read, if they are whole."""
        pairs = [value_type(part) for part in self.top.parts(number)]
        table = len(self.strings)
        if not all(pair and min(pair) >= 0 and max(pair) < table for pair in pairs):
            fields = self._fields(number, VALUE_TYPE_FIELDS)
            types, units = (self._strings(fields.one(one), number, None) for one in (1, 2))
            pairs = list(zip(types.tolist(), units.tolist(), strict=True))
        return tuple(
            ValueType(self.strings[pair[0]], self.strings[pair[1]]) for pair in pairs if pair
        )

    def _fields(self, number: int, wanted: Mapping[int, tuple[int, ...]]) -> Fields:
        return self._scan(number, Messages.join(self.top.parts(number)), wanted, None)

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
        return self._error(f"byte {self.top.place(number, row)}", what)

    def _error(self, where: str, what: str) -> FormatError:
        return FormatError(self.source, where, what)


def _decoded(parts: Sequence[bytes]) -> list[str]:
    """Texts; bytes that are not UTF-8 become escapes."""
    try:
        texts = b"\0".join(parts).decode().split("\0")
    except UnicodeDecodeError:
        texts = []
    if len(texts) == len(parts):  # none has a zero in it
        return texts
    return [part.decode("utf-8", "backslashreplace") for part in parts]


def _rows(numbers: NDArray[Any]) -> RowArray:
    return numbers.astype(np.int32)
