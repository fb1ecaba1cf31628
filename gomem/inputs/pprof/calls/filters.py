"""Filters a profile by the names of its frames, with the rules of `go tool pprof`.

A pattern is searched for in the function's name, its file's path and the mapped file's path
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
    """Return which texts contain a match of a pattern; raises ValueError if RE2 rejects it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        # An extra empty text: without any text, RE2 would not be called and could not reject the
        # pattern.
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
    """Keep samples whose stack matches `focus` and does not match `ignore`."""
    # In these, frames that match `hide`, or do not match `show`, are removed; samples without any
    # frame left are removed, too.
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
    """Remove the frames outside of the outermost match, and the samples without a match."""
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
    """Remove all frames inside of the innermost match."""
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
    innermost[sample[entries]] = entries  # the last write wins: the outermost entry
    return keep_entries(columns, np.arange(len(columns.stack)) >= innermost[sample])


def drop_uninteresting(columns: PprofColumns) -> PprofColumns:
    """Remove the frames that match the profile's own `drop_frames` and not its `keep_frames`.

    In each stack, the outermost such frame goes, with everything inside of it. Frames outside of
    the outermost kept frame stay, and so does a stack with no kept frame. Raises ValueError if RE2
    rejects one of the patterns.
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
    """Like `drop_uninteresting`, for merged profiles; rejected patterns were already reported."""
    try:
        return drop_uninteresting(columns)
    except ValueError:
        return columns


def without_inlined(columns: PprofColumns) -> PprofColumns:
    """Attribute inlined calls to the function that they were inlined into."""
    offsets = columns.locations.line_offsets
    return keep_lines(columns, _places(columns) == np.diff(offsets)[_owners(offsets)] - 1)


def keep_samples(columns: PprofColumns, kept: BoolArray) -> PprofColumns:
    """Return the profile with only the kept samples."""
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
    """Return the profile with only the kept locations of its stacks."""
    if kept.all():
        return columns
    offsets = offsets_of(kept)[columns.stack_offsets]
    return replace(columns, stack=columns.stack[kept], stack_offsets=offsets)


def keep_lines(columns: PprofColumns, kept: BoolArray) -> PprofColumns:
    """Return the profile with only the kept lines of its locations."""
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
    """Return for each run whether any of its flags is set."""
    before = np.concatenate(([0], np.cumsum(flags)))
    return before[offsets[1:]] > before[offsets[:-1]]


def _shown(
    columns: PprofColumns, hide: str | None, show: str | None
) -> tuple[BoolArray, BoolArray]:
    """Return which locations stay, and which lines."""
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
    """Return which lines have a function whose name or file matches."""
    files = [columns.strings[file] for file in columns.functions.file.tolist()]
    found = matches(function_names(columns), pattern) | matches(files, pattern)
    return np.append(found, False)[columns.locations.line_function]


def _mappings_matching(columns: PprofColumns, pattern: str) -> BoolArray:
    """Return which locations are in a mapped file whose path matches."""
    files = [columns.strings[file] for file in columns.mappings.file.tolist()]
    return np.append(matches(files, pattern), False)[columns.locations.mapping]


def _simple_names_matching(columns: PprofColumns, pattern: str) -> BoolArray:
    names = function_names(columns)
    found = matches([_simple_name(name) for name in names], pattern)
    found &= np.array([bool(name) for name in names], np.bool_)
    return np.append(found, False)[columns.locations.line_function]


def _simple_name(name: str) -> str:
    """Return a name up to its first bracket that is not part of a C++ name."""
    name = name.removeprefix(".")
    for bracket in _OPENING.finditer(name):
        if bracket[0] == "(":
            return name[: bracket.start()]
    return name


def _owners(offsets: IntArray) -> IntArray:
    """Return the run of each element."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _places(columns: PprofColumns) -> IntArray:
    """Return the position of each line in its location; 0 is the innermost call."""
    offsets = columns.locations.line_offsets
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def _last(places: IntArray, columns: PprofColumns) -> IntArray:
    """Return the largest position in each location; -1 if it has no line."""
    last = np.full(len(columns.locations.id), -1, np.int64)
    np.maximum.at(last, _owners(columns.locations.line_offsets), places)
    return last


def _outermost(columns: PprofColumns, flags: BoolArray) -> NDArray[Any]:
    """Return the outermost flagged entry of each stack; -1 if there is none."""
    outermost = np.full(len(columns.value), -1, np.int64)
    entries = np.flatnonzero(flags)
    outermost[_owners(columns.stack_offsets)[entries]] = entries
    return outermost
