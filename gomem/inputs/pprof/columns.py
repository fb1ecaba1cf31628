"""A pprof profile as columns: what is read from one, filtered, compared and written back."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

IntArray = NDArray[np.int64]
RowArray = NDArray[np.int32]
BASE_UNITS = {"bytes": "B", "count": "count", "nanoseconds": "ns"}  # by what profiles call them


def offsets_of(counts: NDArray[Any] | list[int]) -> IntArray:
    """Where each of some runs begins, laid end to end, and the end of the last."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def rows_of(table: Labels | Mappings | Functions) -> Iterator[tuple[int, ...]]:
    """A table's rows as plain values, in the order of its fields."""
    columns = (getattr(table, field.name).tolist() for field in fields(table))
    return zip(*columns, strict=True)


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a number of a sample counts, and in which unit, as the producer names both."""

    type: str
    unit: str


NO_TYPE = ValueType("", "")  # of a profile that does not say


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of samples, a row each, by sample; `key`, `text` and `unit` are strings."""

    sample: RowArray
    key: RowArray
    text: RowArray
    number: IntArray
    unit: RowArray


def no_labels() -> Labels:
    """Those of a profile that has none."""
    none = np.zeros(0, np.int32)
    return Labels(none, none, none, none.astype(np.int64), none)


@dataclass(frozen=True, slots=True)
class Mappings:
    """Mapped files; `file` and `build_id` are strings, addresses and offsets are bytes."""

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


@dataclass(frozen=True, slots=True)
class Locations:
    """Places in the code; location i has the lines `line_offsets[i]` to `line_offsets[i + 1]`.

    The lines are calls inlined into one another, innermost first: `line_function` is a row of
    the functions, `line_number` and `line_column` are of its file.
    """

    id: IntArray
    mapping: RowArray
    address: NDArray[np.uint64]
    folded: NDArray[np.bool_]
    line_offsets: IntArray
    line_function: RowArray
    line_number: IntArray
    line_column: IntArray

    def entries(self) -> Iterator[tuple[int, int, bool, list[tuple[int, int, int]]]]:
        """Each location's mapping, address, folded, and its lines: function, number, column."""
        offsets = self.line_offsets.tolist()
        columns = (self.line_function, self.line_number, self.line_column)
        lines = list(zip(*(column.tolist() for column in columns), strict=True))
        rows = zip(self.mapping.tolist(), self.address.tolist(), self.folded.tolist(), strict=True)
        for row, (mapping, address, folded) in enumerate(rows):
            yield mapping, address, folded, lines[offsets[row] : offsets[row + 1]]


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions; `name`, `system_name` and `file` are strings."""

    id: IntArray
    name: RowArray
    system_name: RowArray
    file: RowArray
    start_line: IntArray


@dataclass(frozen=True, slots=True)
class PprofColumns:
    """A profile, one array a field."""

    sample_types: tuple[ValueType, ...]  # what each column of `value` counts
    value: IntArray  # samples by sample types, in the units of `sample_types`
    stack_offsets: IntArray  # sample i has the stack `stack_offsets[i]` to `stack_offsets[i + 1]`
    stack: RowArray  # rows of `locations`, leaf first
    labels: Labels
    locations: Locations
    functions: Functions
    mappings: Mappings
    strings: list[str]
    time_nanos: int = 0  # when it was taken, in nanoseconds since 1970, 0 if it does not say
    duration_nanos: int = 0  # for how long, 0 if it does not say
    period_type: ValueType = NO_TYPE
    period: int = 0  # events between samples, in the unit of `period_type`; 0 if it does not say
    default_sample_type: str = ""
    comments: tuple[str, ...] = ()
    doc_url: str = ""
    drop_frames: str = ""
    keep_frames: str = ""


def object_sizes(columns: PprofColumns) -> tuple[IntArray, NDArray[np.bool_]]:
    """The numeric label `bytes` of each sample, 0 without one, and whether it has one."""
    # In Go's heap profiles it is the size of an object.
    sizes, known = np.zeros(len(columns.value), np.int64), np.zeros(len(columns.value), np.bool_)
    if "bytes" in columns.strings:
        labels = columns.labels
        of_size = (labels.key == columns.strings.index("bytes")) & (labels.text == 0)
        sizes[labels.sample[of_size]] = labels.number[of_size]
        known[labels.sample[of_size]] = True
    return sizes, known
