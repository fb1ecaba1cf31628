"""The samples of a profile: stacks, values and labels, read in windows of the file.

A window's temporary data fits in the CPU's cache. Only the result grows with the profile: four
bytes per frame, eight per value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.columns import IntArray, Labels, RowArray
from gomem.inputs.pprof.protobuf.messages import Fields, Messages
from gomem.inputs.pprof.protobuf.scan import scan
from gomem.inputs.pprof.protobuf.schema import LABEL_FIELDS, SAMPLE_FIELDS
from gomem.inputs.pprof.protobuf.varints import CHUNK_BYTES
from gomem.inputs.pprof.protobuf.wire import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Rows:
    """Finds a table's rows by id; ids are unique."""

    def __init__(self, ids: IntArray) -> None:
        self.ids = ids
        self._are_numbered = bool((ids == np.arange(1, len(ids) + 1)).all())

    def of(self, named: NDArray[Any]) -> RowArray:
        """Return the rows with these ids; -1 if there is none."""
        if not len(self.ids) or not len(named):
            return np.full(len(named), -1, np.int32)
        if self._are_numbered:
            return self._of_numbered(named)
        inside = np.minimum(np.searchsorted(self._ordered, named), len(self.ids) - 1)
        return np.where(self._ordered[inside] == named, self._order[inside], -1).astype(np.int32)

    def _of_numbered(self, named: NDArray[Any]) -> RowArray:
        """The same if ids are 1, 2, …, as Go writes them: the row is the id minus 1."""
        if named.min() >= 1 and named.max() <= len(self.ids):
            rows = named.astype(np.int32)
            rows -= 1
            return rows
        outside = (named < 1) | (named > len(self.ids))
        return np.where(outside, 0, named).astype(np.int32) - np.int32(1)

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.ids)

    @cached_property
    def _ordered(self) -> IntArray:
        return self.ids[self._order]


class SampleError(ValueError):
    """An error in a sample (counted from 0): unreadable, or it refers to something missing."""

    def __init__(self, sample: int, what: str) -> None:
        self.sample = sample
        super().__init__(f"sample {sample}{what}")


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples as columns; see `PprofColumns`."""

    value: IntArray
    stack_offsets: IntArray
    stack: RowArray
    labels: Labels


def read_samples(
    parts: Sequence[bytes], size: int, *, types: int, locations: Rows, strings: int
) -> Samples:
    """Read all samples of a profile: `types` values each, `size` bytes of messages in total.

    Raises SampleError if a sample cannot be read, has a different number of values, or refers to a
    missing location or string.
    """
    count = len(parts)
    reader = _Reader(count, size, types, locations, strings)
    window = max(1, CHUNK_BYTES * count // max(size, 1))
    for first in range(0, count, window):
        messages = Messages.join(parts[first : first + window])
        try:
            reader.read(first, scan(messages, SAMPLE_FIELDS))
        except WireError as error:
            raise SampleError(first + error.message, f": {error}") from None
    return reader.samples()


class _Reader:
    """The columns while they are being filled.

    All stacks together have at most as many frames as the messages have bytes. The unused rest of
    the array costs no memory, because its pages are never touched.
    """

    def __init__(self, samples: int, size: int, types: int, locations: Rows, strings: int) -> None:
        self.types = types
        self.locations = locations
        self.strings = strings
        self.value = np.empty((samples, types), np.int64)
        self.offsets = np.zeros(samples + 1, np.int64)
        self.stack = np.empty(size, np.int32)
        self.labels: list[tuple[IntArray | RowArray, ...]] = []

    def read(self, first: int, fields: Fields) -> None:
        """Add a window of samples; `first` is the index of its first sample in the profile."""
        last = first + len(fields.messages)
        self.value[first:last] = self._values(first, fields)
        ids, offsets = fields.many(1)
        rows = self.locations.of(ids)
        if len(rows) and rows.min() < 0:
            entry = int(np.argmin(rows))
            sample = int(np.searchsorted(offsets, entry, side="right")) - 1
            what = f" names location {ids[entry]}, which the profile does not hold"
            raise SampleError(first + sample, what)
        begin = int(self.offsets[first])
        self.stack[begin : begin + len(rows)] = rows
        np.add(offsets[1:], begin, out=self.offsets[first + 1 : last + 1])
        self._read_labels(first, fields)

    def samples(self) -> Samples:
        empty = (*(np.zeros(0, np.int32),) * 3, np.zeros(0, np.int64), np.zeros(0, np.int32))
        columns = [list(column) for column in zip(empty, *self.labels, strict=True)]
        self.labels.clear()
        labels = Labels(*map(_joined, columns))
        return Samples(self.value, self.offsets, self.stack[: self.offsets[-1]], labels)

    def _values(self, first: int, fields: Fields) -> Any:
        rows = fields.of_width(2, self.types)
        if rows is not None:
            return rows
        values, offsets = fields.many(2)
        counts = np.diff(offsets)
        if (counts != self.types).any():
            sample = int(np.argmax(counts != self.types))
            what = f" has {counts[sample]} values, the profile declares {self.types} sample types"
            raise SampleError(first + sample, what)
        return values.reshape(-1, self.types)

    def _read_labels(self, first: int, samples: Fields) -> None:
        messages, inner = samples.nested(3)
        if not len(messages):
            return
        owner = inner + np.int32(first)
        try:
            fields = scan(messages, LABEL_FIELDS)
        except WireError as error:
            raise SampleError(int(owner[error.message]), f": {error}") from None
        key, text, unit = (self._texts(fields.one(number), owner) for number in (1, 2, 4))
        self.labels.append((owner, key, text, fields.one(3), unit))

    def _texts(self, indices: IntArray, owner: RowArray) -> RowArray:
        """Check indices into the string table."""
        if indices.min() < 0 or indices.max() >= self.strings:
            first = int(np.argmax((indices < 0) | (indices >= self.strings)))
            what = f" names string {indices[first]}, the table has {self.strings}"
            raise SampleError(int(owner[first]), what)
        return indices.astype(np.int32)


def _joined(pieces: list[Any]) -> Any:
    """Concatenate a column's pieces; the list is emptied to free memory."""
    joined = np.concatenate(pieces)
    pieces.clear()
    return joined
