"""Blocks of a person's text: lines between blank lines, each of which can be a paste of its own.

Many people paste without fences: a sentence, a blank line, what one command printed, a blank line,
what the next one printed. Blocks next to each other belong together if they are of one kind, or if
files of the first kind have parts like the second. A line above a block, such as "and the heap:",
has no kind; between two blocks of a kind that a file has once, it begins another reading.
The items of a list without a kind are separate blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from gomem.inputs.kinds import CAPTURE_SCOPE, kind_of
from gomem.inputs.markdown import BULLET

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.inputs.kinds import Kind

# Kinds whose files have blocks that alone would be of another kind.
HAS_BLOCKS_OF = {
    "heap_text": frozenset({"memstats", "runtime_lines"}),
    "goroutines": frozenset({"memstats", "runtime_lines", "gctrace"}),
    "count_text": frozenset({"goroutines"}),
    "memstats": frozenset({"runtime_lines", "gctrace"}),
    "runtime_lines": frozenset({"memstats", "gctrace"}),
}
DUMP, GOROUTINE = "goroutines", b"goroutine "  # thousands of blocks that begin alike
# Kinds of which a text has one file between two lines of another kind.
READ_ONCE = frozenset({"metrics", "smaps", "smaps_rollup", "status", "pmap", "heap_text"})


@dataclass(frozen=True, slots=True)
class Block:
    """Lines from `start` to before `stop`, their kind, and the place of a line alone above."""

    start: int
    stop: int
    kind: Kind
    caption: int | None = None
    is_item: bool = False  # whether it is one of several in a list


def blocks_of(lines: Sequence[bytes], start: int, stop: int) -> list[Block]:
    """Return the artefacts in lines of a text by its blank lines; those of no kind are left out."""
    found: list[Block] = []
    is_apart, caption = False, None  # by lines of no kind
    for begin, end in _between_blank_lines(lines, start, stop):
        is_next = bool(found) and found[-1].kind.name == DUMP and lines[begin].startswith(GOROUTINE)
        kind = found[-1].kind if is_next else kind_of(b"\n".join(lines[begin:end]) + b"\n")
        if kind is None:
            found += _items(lines, begin, end)
            is_apart, caption = True, begin if end == begin + 1 else None
            continue
        if found and _is_one(found[-1].kind, kind, is_apart=is_apart):
            found[-1] = Block(found[-1].start, end, found[-1].kind)
        else:
            found.append(Block(begin, end, kind, caption))
        is_apart, caption = False, None
    return found


def _items(lines: Sequence[bytes], start: int, stop: int) -> Iterator[Block]:
    """The lines of a list that are artefacts."""
    if stop - start > 1 and all(BULLET.match(line) for line in lines[start:stop]):
        for place in range(start, stop):
            if (kind := kind_of(lines[place] + b"\n")) is not None:
                yield Block(place, place + 1, kind, is_item=True)


def _between_blank_lines(
    lines: Sequence[bytes], start: int, stop: int
) -> Iterator[tuple[int, int]]:
    for is_filled, group in groupby(range(start, stop), lambda place: bool(lines[place].strip())):
        places = list(group)
        if is_filled:
            yield places[0], places[-1] + 1


def _is_one(before: Kind, after: Kind, *, is_apart: bool) -> bool:
    if before is after:
        return not (is_apart and after.name in READ_ONCE)
    return after.name in HAS_BLOCKS_OF.get(before.name, ())


def begins_with_a_log(lines: Sequence[bytes]) -> bool:
    """Whether the first block is of a log or of benchmarks, which a person did not put together."""
    first = next(_between_blank_lines(lines, 0, len(lines)), None)
    kind = None if first is None else kind_of(b"\n".join(lines[first[0] : first[1]]) + b"\n")
    return kind is not None and kind.scope == CAPTURE_SCOPE
