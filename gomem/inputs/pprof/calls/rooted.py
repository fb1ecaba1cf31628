"""Puts a profile's stacks below artificial frames that name parts of a larger whole.

For example, a frame such as `live heap` is added outside of the outermost function of each stack.
Readers of the profile treat it like any other function.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gomem.inputs.pprof.calls.filters import keep_samples
from gomem.inputs.pprof.columns import (
    NO_TYPE,
    Functions,
    Labels,
    Locations,
    Mappings,
    PprofColumns,
    matrix,
    offsets_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gomem.inputs.pprof.columns import IntArray, ValueType

NO_PLACE = -1  # the mapping of a frame outside of mapped files


class Frame(NamedTuple):
    """An artificial frame that represents a part of the whole."""

    name: str
    file: str = ""  # the file that it represents, if any


Path = tuple[Frame, ...]  # the outermost frame first


def named(
    sample_types: tuple[ValueType, ...], rows: Sequence[tuple[Path, tuple[int, ...]]]
) -> PprofColumns:
    """Build a profile of artificial frames only; a row has frames and a value per sample type."""
    frames = list(dict.fromkeys(frame for path, _ in rows for frame in path))
    number = {frame: row for row, frame in enumerate(frames)}
    nothing = PprofColumns(
        sample_types, matrix([], len(sample_types)), offsets_of([]), np.zeros(0, np.int32),
        Labels.of(), Locations.of([]), Functions.of([]), Mappings.of(), [""],
    )  # fmt: skip
    whole = _with_frames(nothing, frames)
    return replace(
        whole,
        value=matrix([value for _, value in rows], len(sample_types)),
        stack=np.array([number[frame] for path, _ in rows for frame in reversed(path)], np.int32),
        stack_offsets=offsets_of([len(path) for path, _ in rows]),
    )


def rooted(
    columns: PprofColumns, sample_types: tuple[ValueType, ...], value: IntArray, path: Path
) -> PprofColumns:
    """Put a profile's stacks below a path of frames, with new values, a row per sample.

    Samples with value 0 are dropped, and so are labels, period and time.
    """
    kept = np.flatnonzero(value.any(axis=1))
    part = keep_samples(columns, np.isin(np.arange(len(value)), kept))
    first = len(part.locations.id)
    frames = np.arange(first, first + len(path), dtype=np.int32)[::-1]
    ends = part.stack_offsets[1:]
    return replace(
        _with_frames(part, path),
        sample_types=sample_types,
        value=value[kept],
        stack=np.insert(part.stack, np.repeat(ends, len(path)), np.tile(frames, len(ends))),
        stack_offsets=part.stack_offsets + len(path) * np.arange(len(part.stack_offsets)),
        labels=Labels.of(),
        time_nanos=0, duration_nanos=0, period_type=NO_TYPE, period=0, default_sample_type="",
        comments=(), doc_url="", drop_frames="", keep_frames="",
    )  # fmt: skip


def _with_frames(columns: PprofColumns, frames: Sequence[Frame]) -> PprofColumns:
    """Append a function and a location for each frame, in order."""
    # The system name is empty, so pprof shows the names unchanged.
    strings = [*columns.strings, "", *(text for frame in frames for text in frame)]
    none, function = len(columns.strings), len(columns.functions.id)
    rows = range(len(frames))
    functions = Functions.of([(none + 2 * n + 1, none, none + 2 * n + 2, 0) for n in rows])
    locations = Locations.of([(NO_PLACE, 0, False, [(function + n, 0, 0)]) for n in rows])
    lines = columns.locations.line_offsets
    line_offsets = np.append(lines, lines[-1] + locations.line_offsets[1:])
    return replace(
        columns,
        strings=strings,
        functions=_joined(columns.functions, functions),
        locations=_joined(columns.locations, locations, line_offsets=line_offsets),
    )


def _joined(table: Any, more: Any, **kept: Any) -> Any:
    """Concatenate two tables of the same type, with ids from 1."""
    columns = {
        field.name: np.concatenate([getattr(table, field.name), getattr(more, field.name)])
        for field in fields(table)
        if field.name not in kept
    }
    columns["id"] = np.arange(1, len(columns["id"]) + 1)
    return type(table)(**columns, **kept)


def without_unused(columns: PprofColumns) -> PprofColumns:
    """Remove the locations, functions, mappings and strings that no sample uses."""
    places, locations = _used(columns.stack), columns.locations
    lines = np.diff(locations.line_offsets)
    is_kept = np.repeat(np.isin(np.arange(len(lines)), places), lines)
    functions = _used(locations.line_function[is_kept])
    mappings = _used(locations.mapping[places])
    return _without_unused_strings(
        replace(
            columns,
            stack=_renumbered(columns.stack, places),
            locations=Locations(
                np.arange(1, len(places) + 1),
                _renumbered(locations.mapping[places], mappings),
                locations.address[places],
                locations.folded[places],
                offsets_of(lines[places]),
                _renumbered(locations.line_function[is_kept], functions),
                locations.line_number[is_kept],
                locations.line_column[is_kept],
            ),
            functions=_rows(columns.functions, functions),
            mappings=_rows(columns.mappings, mappings),
        )
    )


def with_program(columns: PprofColumns, path: str) -> PprofColumns:
    """Add a mapped file if there is none, because readers take the first one for the program."""
    if len(columns.mappings.id):
        return columns
    symbolised = (True, True, True, True)
    program = Mappings.of([(0, 0, 0, len(columns.strings), 0, *symbolised)])
    return replace(columns, strings=[*columns.strings, path], mappings=program)


# The fields of each table that are strings.
_TEXTS = {"functions": ("name", "system_name", "file"), "mappings": ("file", "build_id"),
          "labels": ("key", "text", "unit")}  # fmt: skip


def _without_unused_strings(columns: PprofColumns) -> PprofColumns:
    said = [
        getattr(getattr(columns, table), name) for table, names in _TEXTS.items() for name in names
    ]
    texts = _used(np.concatenate([[0], *said]))
    tables = {
        table: replace(
            getattr(columns, table),
            **{name: _renumbered(getattr(getattr(columns, table), name), texts) for name in names},
        )
        for table, names in _TEXTS.items()
    }
    return replace(columns, strings=[columns.strings[place] for place in texts.tolist()], **tables)


def _rows(table: Any, rows: IntArray) -> Any:
    """Return some rows of a table, with ids from 1."""
    columns = {field.name: getattr(table, field.name)[rows] for field in fields(table)}
    return type(table)(**columns | {"id": np.arange(1, len(rows) + 1)})


def _used(rows: NDArray[Any]) -> IntArray:
    """Return the rows that are referred to, each once, in order; negative values mean none."""
    distinct = np.unique(rows)
    return distinct[distinct >= 0].astype(np.int64)


def _renumbered(rows: NDArray[Any], used: IntArray) -> NDArray[np.int32]:
    """Replace row numbers by positions among the used rows."""
    return np.where(rows < 0, rows, np.searchsorted(used, rows)).astype(np.int32)
