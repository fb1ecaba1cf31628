"""A pprof profile as columns: the parser's result, which is then filtered, compared and written."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IntArray = NDArray[np.int64]
RowArray = NDArray[np.int32]
# A location as plain values: mapping, address, folded, and its lines (function, number, column).
Location = tuple[int, int, bool, "Sequence[tuple[int, int, int]]"]
BASE_UNITS = {"bytes": "B", "count": "count", "nanoseconds": "ns"}  # by the producers' names


def offsets_of(counts: NDArray[Any] | list[int]) -> IntArray:
    """Return the offset of each run if the runs are concatenated, and the end of the last run."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def matrix(rows: Sequence[Any], width: int) -> IntArray:
    """Return rows of `width` integers as an array; rows may be empty."""
    return np.array(rows, np.int64).reshape(-1, width)


def rows_of(table: Labels | Mappings | Functions) -> Iterator[tuple[int, ...]]:
    """Yield a table's rows as plain values, in the order of its fields."""
    columns = (getattr(table, field.name).tolist() for field in fields(table))
    return zip(*columns, strict=True)


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a sample's value counts, and its unit, both as the producer names them."""

    type: str
    unit: str


NO_TYPE = ValueType("", "")  # if the profile does not say


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels, a row each, sorted by sample; `key`, `text` and `unit` index the strings."""

    sample: RowArray
    key: RowArray
    text: RowArray
    number: IntArray
    unit: RowArray

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]] = ()) -> Labels:
        """Build the table from rows of its fields, in order."""
        table = matrix(rows, 5)
        sample, key, text, unit = (table[:, column].astype(np.int32) for column in (0, 1, 2, 4))
        return cls(sample, key, text, table[:, 3].copy(), unit)


@dataclass(frozen=True, slots=True)
class Mappings:
    """Mapped files; `file` and `build_id` index the strings; addresses and offsets are in bytes."""

    id: IntArray
    start: NDArray[np.uint64]
    limit: NDArray[np.uint64]
    offset: NDArray[np.uint64]
    file: RowArray
    build_id: RowArray
    has_functions: NDArray[np.bool_]
    has_filenames: NDArray[np.bool_]
    has_line_numbers: NDArray[np.bool_]
    has_inline_frames: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]] = ()) -> Mappings:
        """Build the table from rows of its fields without the ids, which count from 1."""
        kinds: tuple[Any, ...] = (*[np.uint64] * 3, *[np.int32] * 2, *[np.bool_] * 4)
        columns = (np.array([row[n] for row in rows], kind) for n, kind in enumerate(kinds))
        return cls(np.arange(1, len(rows) + 1), *columns)


@dataclass(frozen=True, slots=True)
class Locations:
    """Locations in the code; location i has the lines `line_offsets[i]` to `line_offsets[i + 1]`.

    The lines are inlined calls, innermost first. `line_function` indexes the functions;
    `line_number` and `line_column` refer to the function's file.
    """

    id: IntArray
    mapping: RowArray
    address: NDArray[np.uint64]
    folded: NDArray[np.bool_]
    line_offsets: IntArray
    line_function: RowArray
    line_number: IntArray
    line_column: IntArray

    @classmethod
    def of(cls, rows: Sequence[Location]) -> Locations:
        """Build the table from rows like those of `entries`, with ids from 1."""
        lines = matrix([line for row in rows for line in row[3]], 3)
        return cls(
            id=np.arange(1, len(rows) + 1),
            mapping=np.array([row[0] for row in rows], np.int32),
            address=np.array([row[1] for row in rows], np.uint64),
            folded=np.array([row[2] for row in rows], np.bool_),
            line_offsets=offsets_of([len(row[3]) for row in rows]),
            line_function=lines[:, 0].astype(np.int32),
            line_number=lines[:, 1].copy(),
            line_column=lines[:, 2].copy(),
        )

    def entries(self) -> Iterator[Location]:
        """Yield each location's mapping, address, folded, and lines: function, number, column."""
        offsets = self.line_offsets.tolist()
        columns = (self.line_function, self.line_number, self.line_column)
        lines = list(zip(*(column.tolist() for column in columns), strict=True))
        rows = zip(self.mapping.tolist(), self.address.tolist(), self.folded.tolist(), strict=True)
        for row, (mapping, address, folded) in enumerate(rows):
            yield mapping, address, folded, lines[offsets[row] : offsets[row + 1]]


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions; `name`, `system_name` and `file` index the strings."""

    id: IntArray
    name: RowArray
    system_name: RowArray
    file: RowArray
    start_line: IntArray

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]]) -> Functions:
        """Build the table from rows of its fields without the ids, which count from 1."""
        table = matrix(rows, 4)
        name, system_name, file = (table[:, column].astype(np.int32) for column in range(3))
        return cls(np.arange(1, len(table) + 1), name, system_name, file, table[:, 3].copy())


@dataclass(frozen=True, slots=True)
class PprofColumns:
    """A profile, as columns."""

    sample_types: tuple[ValueType, ...]  # what each column of `value` counts
    value: IntArray  # a row per sample, a column per sample type, in the units of `sample_types`
    stack_offsets: IntArray  # sample i has the stack `stack_offsets[i]` to `stack_offsets[i + 1]`
    stack: RowArray  # rows of `locations`, leaf first
    labels: Labels
    locations: Locations
    functions: Functions
    mappings: Mappings
    strings: list[str]
    time_nanos: int = 0  # time of the profile, in nanoseconds since 1970; 0 if unknown
    duration_nanos: int = 0  # 0 if unknown
    period_type: ValueType = NO_TYPE
    period: int = 0  # events between samples, in the unit of `period_type`; 0 if unknown
    default_sample_type: str = ""
    comments: tuple[str, ...] = ()
    doc_url: str = ""
    drop_frames: str = ""
    keep_frames: str = ""

    @property
    def lacks_stack(self) -> NDArray[np.bool_]:
        """A mask of the samples without a stack."""
        return np.diff(self.stack_offsets) == 0


def object_sizes(columns: PprofColumns) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return each sample's numeric label `bytes`, 0 without it, and whether it has the label."""
    # In Go's heap profiles, the label is the size of an object.
    sizes, known = np.zeros(len(columns.value), np.int64), np.zeros(len(columns.value), np.bool_)
    if "bytes" in columns.strings:
        labels = columns.labels
        of_size = (labels.key == columns.strings.index("bytes")) & (labels.text == 0)
        sizes[labels.sample[of_size]] = labels.number[of_size]
        known[labels.sample[of_size]] = True
    return sizes, known
