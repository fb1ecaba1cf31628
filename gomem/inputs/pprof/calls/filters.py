"""Selects parts of a profile by the names of its frames, with the rules of `go tool pprof`.

A pattern is searched in a function's name, in its file's path and in the path of the mapped file
(`prune_from` and `drop_frames` search only function names). Patterns use RE2, as in Go, so a
pattern from an untrusted profile takes only linear time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.calls.nodes import function_names
from gomem.inputs.pprof.columns import offsets_of
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gomem.inputs.pprof.columns import IntArray, PprofColumns

    BoolArray = NDArray[np.bool_]

_OPENING = re.compile(r"\(anonymous namespace\)|operator\(\)|\(")


def matches(texts: Sequence[str], pattern: str) -> BoolArray:
    """In which texts a pattern is found; ValueError where RE2 refuses it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        # One text more: of no texts at all, RE2 is not asked and refuses nothing.
        found = pc.match_substring_regex(pa.array([*texts, ""], pa.string()), pattern)
    except pa.ArrowInvalid as error:
        reason = str(error).partition(": ")[2] or str(error)
        said = text("pattern {}: {}", Quoted(repr(pattern)), Quoted(reason))
        raise ValueError(said) from error
    return found.to_numpy(zero_copy_only=False).astype(np.bool_)[:-1]


def by_name(
    columns: PprofColumns,
    *,
    focus: str | None = None,
    ignore: str | None = None,
    hide: str | None = None,
    show: str | None = None,
) -> PprofColumns:
    """Keep samples in whose stack `focus` is found and `ignore` is not."""
    # Of their frames, those in which `hide` is found and those in which `show` is not are left out;
    # samples that lose all frames go, too.
    if focus is None and ignore is None and hide is None and show is None:
        return columns
    ignored = _locations_matching(columns, ignore, default=False)
    focused = _locations_matching(columns, focus, default=True) & ~ignored
    offsets, stack = columns.stack_offsets, columns.stack
    kept = any_of(focused[stack], offsets) & ~any_of(ignored[stack], offsets)
    shown, lines = _shown(columns, hide, show)
    columns = keep_samples(keep_lines(columns, lines), kept)
    if shown.all():
        return columns
    columns = keep_entries(columns, shown[columns.stack])
    return keep_samples(columns, np.diff(columns.stack_offsets) > 0)


def show_from(columns: PprofColumns, pattern: str) -> PprofColumns:
    """Leave out the frames outside of the outermost with a pattern, and samples without one."""
    of_mapping = _mappings_matching(columns, pattern)
    place = _places(columns)
    last = _last(np.where(_lines_matching(columns, pattern), place, -1), columns)
    cut = ~of_mapping & (last >= 0)
    owner = _owners(columns.locations.line_offsets)
    columns = keep_lines(columns, ~cut[owner] | (place <= last[owner]))
    found = of_mapping | (last >= 0)
    outermost = _outermost(columns, found[columns.stack])
    sample = _owners(columns.stack_offsets)
    kept = np.arange(len(columns.stack)) <= outermost[sample]
    return keep_samples(keep_entries(columns, kept), outermost >= 0)


def prune_from(columns: PprofColumns, pattern: str) -> PprofColumns:
    """Leave out all frames inside of the innermost one in which a pattern is found."""
    found = _simple_names_matching(columns, pattern)
    place, owner = _places(columns), _owners(columns.locations.line_offsets)
    lines = len(found)
    first = np.full(len(columns.locations.id), lines, np.int64)
    np.minimum.at(first, owner[found], place[found])
    matched = first < lines
    columns = keep_lines(columns, ~matched[owner] | (place >= first[owner]))
    innermost = np.full(len(columns.value), -1, np.int64)
    entries = np.flatnonzero(matched[columns.stack])[::-1]
    sample = _owners(columns.stack_offsets)
    innermost[sample[entries]] = entries  # the last one written is the first of the stack
    return keep_entries(columns, np.arange(len(columns.stack)) >= innermost[sample])


def drop_uninteresting(columns: PprofColumns) -> PprofColumns:
    """Leave out the frames that the profile itself asks to leave out: its `drop_frames`.

    The outermost such frame and all inside of it go, but not before a frame that stays: a stack
    of nothing else is kept whole. ValueError where RE2 refuses a pattern of the profile.
    """
    if not columns.drop_frames:
        return columns
    dropped = _simple_names_matching(columns, f"^({columns.drop_frames})$")
    if columns.keep_frames:
        dropped &= ~_simple_names_matching(columns, f"^({columns.keep_frames})$")
    place, owner = _places(columns), _owners(columns.locations.line_offsets)
    last = _last(np.where(dropped, place, -1), columns)
    flagged = last >= 0
    whole = flagged & (last == np.diff(columns.locations.line_offsets) - 1)
    columns = keep_lines(columns, ~flagged[owner] | whole[owner] | (place > last[owner]))
    stack, sample = columns.stack, _owners(columns.stack_offsets)
    outermost_kept = _outermost(columns, ~flagged[stack])
    entry = np.arange(len(stack))
    cut = _outermost(columns, flagged[stack] & (entry < outermost_kept[sample]))
    first = np.where(cut >= 0, cut + whole[stack[cut]], cut) if len(stack) else cut
    return keep_entries(columns, entry >= first[sample])


def without_dropped(columns: PprofColumns) -> PprofColumns:
    """The same of profiles that were put together, whose patterns have been read before."""
    try:
        return drop_uninteresting(columns)
    except ValueError:
        return columns


def without_inlined(columns: PprofColumns) -> PprofColumns:
    """Count inlined calls to the function that they were inlined into."""
    offsets = columns.locations.line_offsets
    return keep_lines(columns, _places(columns) == np.diff(offsets)[_owners(offsets)] - 1)


def keep_samples(columns: PprofColumns, kept: BoolArray) -> PprofColumns:
    """A profile of some of the samples."""
    if kept.all():
        return columns
    counts = np.diff(columns.stack_offsets)
    labels = columns.labels
    of_kept = kept[labels.sample]
    number = (np.cumsum(kept) - 1).astype(np.int32)
    of_labels: tuple[Any, ...] = (labels.key, labels.text, labels.number, labels.unit)
    return replace(
        columns,
        value=columns.value[kept],
        stack=columns.stack[np.repeat(kept, counts)],
        stack_offsets=offsets_of(counts[kept]),
        labels=type(labels)(
            number[labels.sample[of_kept]], *(column[of_kept] for column in of_labels)
        ),
    )


def keep_entries(columns: PprofColumns, kept: BoolArray) -> PprofColumns:
    """A profile with some of the locations of each stack."""
    if kept.all():
        return columns
    offsets = offsets_of(kept)[columns.stack_offsets]
    return replace(columns, stack=columns.stack[kept], stack_offsets=offsets)


def keep_lines(columns: PprofColumns, kept: BoolArray) -> PprofColumns:
    """A profile with some of the lines of each location."""
    if kept.all():
        return columns
    locations = columns.locations
    left = replace(
        locations,
        line_offsets=offsets_of(kept)[locations.line_offsets],
        line_function=locations.line_function[kept],
        line_number=locations.line_number[kept],
        line_column=locations.line_column[kept],
    )
    return replace(columns, locations=left)


def any_of(flags: BoolArray, offsets: IntArray) -> BoolArray:
    """Whether any flag of each run is set."""
    before = np.concatenate(([0], np.cumsum(flags)))
    return before[offsets[1:]] > before[offsets[:-1]]


def _shown(
    columns: PprofColumns, hide: str | None, show: str | None
) -> tuple[BoolArray, BoolArray]:
    """Which locations stay, and which lines."""
    offsets = columns.locations.line_offsets
    owner = _owners(offsets)
    lines = np.ones(len(owner), np.bool_)
    hidden = np.zeros(len(offsets) - 1, np.bool_)
    if hide is not None:
        whole = _mappings_matching(columns, hide)
        matched = _locations_matching(columns, hide, default=False)
        lines &= ~_lines_matching(columns, hide) & ~whole[owner]
        hidden |= matched & ~any_of(lines, offsets)
    if show is not None:
        whole = _mappings_matching(columns, show)
        nameless = columns.locations.line_function < 0
        lines &= _lines_matching(columns, show) | nameless | whole[owner]
        hidden |= ~any_of(lines, offsets)
    return ~hidden, lines


def _locations_matching(columns: PprofColumns, pattern: str | None, *, default: bool) -> BoolArray:
    offsets = columns.locations.line_offsets
    if pattern is None:
        return np.full(len(offsets) - 1, default)
    return any_of(_lines_matching(columns, pattern), offsets) | _mappings_matching(columns, pattern)


def _lines_matching(columns: PprofColumns, pattern: str) -> BoolArray:
    """Lines whose function's name or file has the pattern; those without a function have not."""
    files = [columns.strings[file] for file in columns.functions.file.tolist()]
    found = matches(function_names(columns), pattern) | matches(files, pattern)
    return np.append(found, False)[columns.locations.line_function]


def _mappings_matching(columns: PprofColumns, pattern: str) -> BoolArray:
    """Locations in whose mapped file's path the pattern is."""
    files = [columns.strings[file] for file in columns.mappings.file.tolist()]
    return np.append(matches(files, pattern), False)[columns.locations.mapping]


def _simple_names_matching(columns: PprofColumns, pattern: str) -> BoolArray:
    names = function_names(columns)
    found = matches([_simple_name(name) for name in names], pattern)
    found &= np.array([bool(name) for name in names], np.bool_)
    return np.append(found, False)[columns.locations.line_function]


def _simple_name(name: str) -> str:
    """A name up to its first bracket, but for those that belong to a C++ name."""
    name = name.removeprefix(".")
    for bracket in _OPENING.finditer(name):
        if bracket[0] == "(":
            return name[: bracket.start()]
    return name


def _owners(offsets: IntArray) -> IntArray:
    """Which run each element is in."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _places(columns: PprofColumns) -> IntArray:
    """The place of each line in its location, the innermost call being 0."""
    offsets = columns.locations.line_offsets
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def _last(places: IntArray, columns: PprofColumns) -> IntArray:
    """The largest of each location's, -1 if it has none."""
    last = np.full(len(columns.locations.id), -1, np.int64)
    np.maximum.at(last, _owners(columns.locations.line_offsets), places)
    return last


def _outermost(columns: PprofColumns, flags: BoolArray) -> NDArray[Any]:
    """The outermost flagged entry of each stack, -1 if there is none."""
    outermost = np.full(len(columns.value), -1, np.int64)
    entries = np.flatnonzero(flags)
    outermost[_owners(columns.stack_offsets)[entries]] = entries
    return outermost
