"""The rows of `top`, with flat and cum values as `go tool pprof` counts them.

A *frame* is one call in a stack; a location has several if calls were inlined. Frames that the
granularity does not separate are one *node*. A node's flat value is the sum of the samples whose
innermost frame belongs to it. Its cum value is the sum of the samples with the node anywhere in
their stack, each counted once, even in recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gomem.errors import did_you_mean
from gomem.inputs.pprof.calls.names import (
    NO_PACKAGE,
    clean_path,
    module_of,
    package_of,
    printable_name,
    shown_name,
)
from gomem.inputs.pprof.columns import offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.inputs.pprof.columns import PprofColumns

IntArray = NDArray[np.int64]

GRANULARITIES = ("functions", "filefunctions", "files", "lines", "addresses", "packages", "modules")
# Column name of a row at each granularity.
ROW_NAMES = {
    "functions": "function", "filefunctions": "function", "files": "file", "lines": "line",
    "addresses": "address", "packages": "package", "modules": "module",
}  # fmt: skip
OWN = ("packages", "modules")  # granularities that pprof does not have
EXACT_FLOAT = 1 << 53  # integers up to here are exact as float64, and so are their sums
CHUNK_FRAMES = 1 << 18  # sorted at a time, to stay in the CPU's cache


@dataclass(frozen=True)
class Nodes:
    """The nodes of a profile at one granularity."""

    columns: PprofColumns  # the profile
    granularity: str  # one of `GRANULARITIES`
    node_of_frame: NDArray[np.int32]  # the node of each frame of each location
    # Location i has the frames `frame_offsets[i]` to `frame_offsets[i + 1]`, innermost first; at
    # least one.
    frame_offsets: IntArray
    # The key of each node: name, file, line, column, address, binary, start line; texts are indices
    # into `texts`.
    keys: IntArray
    texts: list[str]  # the names and paths

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def names(self) -> list[str]:
        """The name of each node, as pprof prints it."""
        if self.granularity in OWN:
            return [self.texts[row[0]] for row in self.keys.tolist()]
        texts = self.texts
        if self.keys[:, 0].all() and not self.keys[:, 1:5].any():  # only names
            return [texts[name] for name in self.keys[:, 0].tolist()]
        return [
            printable_name(address, texts[name], texts[file], line, column, texts[binary])
            for name, file, line, column, address, binary, _ in self.keys.tolist()
        ]

    def flat(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Sum the weights of the samples whose innermost frame belongs to each node."""
        starts = self.columns.stack_offsets
        samples = np.flatnonzero(starts[1:] > starts[:-1])
        leaf = self._innermost.take(self.columns.stack.take(starts.take(samples)))
        return _sum_by(leaf, weights.take(samples), len(self))

    def cum(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Sum the weights of the samples with each node in their stack; integer sums are exact."""
        return self.cum_of_each([weights])[0]

    def cum_of_each(self, weights: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Compute `cum` for several weights at once; nodes are assigned to samples only once."""
        totals = [np.zeros(len(self), each.dtype) for each in weights]
        for first, last in self.runs():
            sample, node = self._pairs(first, last)
            for index, each in enumerate(weights):
                totals[index] += _sum_by(node, each[first:last].take(sample), len(self))
        return totals

    @cached_property
    def _innermost(self) -> NDArray[np.int32]:
        """The node of each location's innermost frame."""
        return self.node_of_frame[self.frame_offsets[:-1]]

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield runs of samples with about `CHUNK_FRAMES` frames, at least one sample each."""
        offsets = self.columns.stack_offsets
        first, samples = 0, len(offsets) - 1
        while first < samples:
            full = int(np.searchsorted(offsets, offsets[first] + CHUNK_FRAMES, side="right")) - 1
            last = min(max(full, first + 1), samples)
            yield first, last
            first = last

    def _pairs(self, first: int, last: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the distinct pairs of node and sample in a run; samples count from `first`."""
        offsets = self.columns.stack_offsets[first : last + 1]
        stack = self.columns.stack[offsets[0] : offsets[-1]]
        bits = max(len(self) - 1, 1).bit_length()
        dtype = np.int32 if (last - first) << bits < 1 << 31 else np.int64
        base = np.arange(last - first, dtype=np.int64) << bits
        sample: NDArray[Any] = np.repeat(base.astype(dtype), np.diff(offsets))
        pairs = [sample | self._innermost.take(stack)]
        if self._most_frames > 1:
            pairs += self._outer_pairs(sample, stack)
        pair = np.sort(np.concatenate(pairs) if len(pairs) > 1 else pairs[0])
        if len(pair):
            once = np.empty(len(pair), np.bool_)
            once[0] = True
            np.not_equal(pair[1:], pair[:-1], out=once[1:])
            if not once.all():
                pair = pair[once]
        return pair >> bits, pair & dtype((1 << bits) - 1)

    @cached_property
    def _most_frames(self) -> int:
        counts = np.diff(self.frame_offsets)
        return int(counts.max()) if len(counts) else 0

    def _outer_pairs(self, sample: NDArray[Any], stack: NDArray[np.int32]) -> list[NDArray[Any]]:
        """Return the pairs for frames other than a location's innermost."""
        pairs = []
        left = np.diff(self.frame_offsets).take(stack)
        for outer in range(1, self._most_frames):
            deeper = (left > outer).nonzero()[0]
            stack, sample, left = (each.take(deeper) for each in (stack, sample, left))
            frame = self.frame_offsets.take(stack) + outer
            pairs.append(sample | self.node_of_frame.take(frame))
        return pairs


def nodes_of(columns: PprofColumns, granularity: str = "functions") -> Nodes:
    """Find a profile's nodes; raises ValueError if the granularity is unknown."""
    if granularity not in GRANULARITIES:
        wanted = f"{', '.join(GRANULARITIES)}{did_you_mean(granularity, GRANULARITIES)}"
        raise ValueError(f"granularity {granularity!r}, wanted one of {wanted}")
    line, location, offsets = _frames(columns)
    texts = _Texts()
    keys = _FrameKeys(columns, texts, line, location).of(granularity)
    node_keys, node_of_frame = _distinct(keys)
    return Nodes(columns, granularity, node_of_frame, offsets, node_keys, texts.list)


def _frames(columns: PprofColumns) -> tuple[IntArray, IntArray, IntArray]:
    """Return each frame's line (-1 in a location without lines) and location, and the offsets."""
    counts = np.diff(columns.locations.line_offsets)
    offsets = offsets_of(np.maximum(counts, 1))
    location = np.repeat(np.arange(len(counts)), np.maximum(counts, 1))
    line = np.full(offsets[-1], -1, np.int64)
    line[counts[location] > 0] = np.arange(len(columns.locations.line_function))
    return line, location, offsets


class _Texts:
    """Distinct texts, numbered from 0; the empty text is 0."""

    def __init__(self) -> None:
        self.list = [""]
        self._numbers = {"": 0}

    def numbers(self, texts: list[str]) -> IntArray:
        numbers = self._numbers
        fresh = [text for text in dict.fromkeys(texts) if text not in numbers]
        numbers.update(zip(fresh, range(len(self.list), len(self.list) + len(fresh)), strict=True))
        self.list += fresh
        return np.fromiter(map(numbers.__getitem__, texts), np.int64, len(texts))


@dataclass(frozen=True)
class _FrameKeys:
    """The keys of frames, by granularity; see `Nodes.keys` for the order."""

    columns: PprofColumns
    texts: _Texts
    line: IntArray
    location: IntArray

    def of(self, granularity: str) -> IntArray:
        names = np.zeros(len(self.line), np.int64)
        if granularity in OWN:
            none, functions = self.texts.numbers([NO_PACKAGE]), function_names(self.columns)
            owners = map(package_of, functions)
            if granularity == "modules":
                owners = map(module_of, functions, function_files(self.columns))
            names = np.where(self._function >= 0, self._of_function(list(owners)), none)
        elif granularity != "files":
            names = self._of_function(function_names(self.columns))
        files = lines = columns = addresses = np.zeros(len(self.line), np.int64)
        if granularity in ("filefunctions", "files", "lines", "addresses"):
            files = self._of_function(function_files(self.columns))
        if granularity in ("lines", "addresses"):
            lines = self._of_line(self.columns.locations.line_number)
        if granularity == "addresses":
            columns = self._of_line(self.columns.locations.line_column)
            addresses = self.columns.locations.address.view(np.int64)[self.location]
        # pprof distinguishes nameless frames by binary and start line of the function. At the
        # granularity of files all frames are nameless, so a file has a row per function.
        nameless = (names == 0) & (granularity not in OWN)
        binaries = np.where(nameless, self._binaries()[self.location], 0)
        start_lines = np.append(self.columns.functions.start_line, 0)[self._function]
        starts = np.where(nameless, start_lines, 0)
        return np.stack([names, files, lines, columns, addresses, binaries, starts], axis=1)

    def _of_line(self, numbers: IntArray) -> IntArray:
        """Return a number of each frame's line; 0 for a frame without a function."""
        return np.where(self._function >= 0, np.append(numbers, 0)[self.line], 0)

    def _of_function(self, texts: list[str]) -> IntArray:
        """Return a text per frame, such as its function's name, as an index; 0 if unknown."""
        return np.append(self.texts.numbers(texts), 0)[self._function]

    @property
    def _function(self) -> IntArray:
        functions = np.append(self.columns.locations.line_function, -1)
        return functions[self.line].astype(np.int64)

    def _binaries(self) -> IntArray:
        """Return the index of each location's mapped file, as a text."""
        strings = self.columns.strings
        files = self.texts.numbers([strings[file] for file in self.columns.mappings.file])
        return np.append(files, 0)[self.columns.locations.mapping]


@dataclass(frozen=True)
class Top:
    """Nodes that are not 0, as columns, in pprof's order."""

    node: IntArray  # the row's node
    function: list[str]  # the node's name, as pprof prints it
    flat: IntArray  # sum of samples with the node innermost, in the profile's unit
    cum: IntArray  # sum of samples with the node in their stack, each counted once


def top_of(
    nodes: Nodes, flat: IntArray, cum: IntArray, *, by_cum: bool = False, n: int | None = None
) -> Top:
    """Return the n largest nodes by flat or by cum; all if n is None."""
    node = _in_order(nodes, flat, cum, by_cum=by_cum)[:n]
    return Top(node, [nodes.names[row] for row in node.tolist()], flat[node], cum[node])


def _in_order(nodes: Nodes, flat: IntArray, cum: IntArray, *, by_cum: bool) -> IntArray:
    """Return the nodes that are not 0, by magnitude, then name, then the other magnitude."""
    there = np.flatnonzero((flat != 0) | (cum != 0))
    names = np.array(nodes.names, dtype=object)[there]
    rank = np.unique(names, return_inverse=True)[1] if len(there) else there
    first, second = (cum, flat) if by_cum else (flat, cum)
    return there[np.lexsort((-np.abs(second[there]), rank, -np.abs(first[there])))]


def function_names(columns: PprofColumns) -> list[str]:
    """Return the functions' names as pprof shows them."""
    strings, functions = columns.strings, columns.functions
    names = zip(functions.name.tolist(), functions.system_name.tolist(), strict=True)
    return [shown_name(strings[name], strings[system_name]) for name, system_name in names]


def function_files(columns: PprofColumns) -> list[str]:
    """Return the functions' files as pprof shows them."""
    return [clean_path(columns.strings[file]) for file in columns.functions.file.tolist()]


def _distinct(keys: IntArray) -> tuple[IntArray, NDArray[np.int32]]:
    """Return the distinct rows, and for each row the index of its distinct row."""
    varying = np.flatnonzero((keys != keys[:1]).any(axis=0))
    if not len(keys) or not len(varying):
        return keys[:1], np.zeros(len(keys), np.int32)
    order = np.lexsort(keys.T[varying])
    ordered = keys[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = (ordered[1:, varying] != ordered[:-1, varying]).any(axis=1)
    inverse = np.empty(len(keys), np.int32)
    inverse[order] = np.cumsum(first) - 1
    return ordered[first], inverse


def _sum_by(node: NDArray[Any], weights: NDArray[Any], count: int) -> NDArray[Any]:
    """Sum weights by node; integer sums are exact, and wrap at 64 bits as in Go."""
    if weights.dtype == np.float64 or float(np.abs(weights, dtype=np.float64).sum()) < EXACT_FLOAT:
        return np.bincount(node, weights, count).astype(weights.dtype)
    total = np.zeros(count, weights.dtype)
    np.add.at(total, node, weights)
    return total
