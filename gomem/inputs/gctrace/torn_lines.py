"""Repairs lines that other writers' text has interrupted.

The runtime writes a gctrace line in some forty write(2) calls. Its print lock excludes only the
runtime itself. So a program that logs to the same stream puts whole lines between two pieces:

    gc 12026/11/20 03:53:49 request 470 handled
     @0.003s 5%: 0.18+0.87+0.004 ms clock, …

If the last piece ends in a number, its end is ambiguous: is this collection 1, 12 or 12026? The
program's other lines decide: the remainder must begin as they do. If it does not, the line stays
torn.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from gomem.inputs.gctrace.grammar import KINDS, Field

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from gomem.inputs.gctrace.grammar import Grammar

WINDOW_LINES = 64
WINDOW_BYTES = 16384
SHAPE_BYTES = 10

_FIELD_AT = {kind: re.compile(regex) for kind, regex in KINDS.items()}
_LINE_ENDS = {b"\n": b"\r\n"}  # as Windows writes it
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
# A log can be made to be read slowly. Torn lines of real ones take up to 12 000 steps, and are some
# in a hundred; a million steps take about two seconds.
MAX_STEPS = 50_000
MAX_STEPS_OF_CHUNK = 10_000_000
_SOLUTIONS_KEPT = 16  # more readings of one line than this, and none of them is worth a thing

Cost = tuple[int, int]  # lines stepped over; of the texts stepped over, those of unfamiliar shape
Solution = tuple[int, tuple[bytes, ...]]  # where the line ends, and its numbers

_TOO_MUCH: Cost = (WINDOW_LINES, 0)


@dataclass(frozen=True, slots=True)
class Mended:
    """A line put together: its numbers as printed, where it ends, and what was stepped over."""

    numbers: tuple[bytes, ...]
    end: int
    cost: Cost


@dataclass
class Patience:
    """How many steps a chunk of a log is still worth: what is torn beyond stays torn."""

    steps: int = MAX_STEPS_OF_CHUNK


def shape(line: bytes) -> bytes:
    """How a line begins, whatever its digits are: what a program's own lines have in common."""
    return line[:SHAPE_BYTES].translate(_DIGITS_ALIKE)


def mend(
    window: tuple[bytes, int, int], grammar: Grammar, shapes: Container[bytes], patience: Patience
) -> Mended | None:
    """Read a line of a known form although whole lines of other text stand in it."""
    # The window is the log, where in it the line begins, and how far its pieces may lie; the shapes
    # say how the program's own lines begin, see `shape`; the steps it takes are taken off
    # `patience`. The reading has the fewest lines of other text; None if there is none, or no
    # single one.
    text, start, end = window
    place = start  # a cheap look before the search: all literals, one after the other
    for literal in grammar.literals:
        place = text.find(literal, place, end) + len(literal)
        if place < len(literal):
            return None
    starts, most = _line_starts(text, start, end), min(MAX_STEPS, patience.steps)
    search = _Search(text, end, (*grammar.parts, b"\n"), shapes, starts, most)
    cost, solutions = search.best(0, start)
    patience.steps -= min(search.steps, most)
    if search.steps > most or len({numbers for _, numbers in solutions}) != 1:
        return None
    stop, numbers = solutions[0]
    return Mended(numbers, stop, cost)


def _line_starts(text: bytes, start: int, end: int) -> list[int]:
    """Where later lines begin: behind a quote mark or blanks that stand before the first, too."""
    before = text.rfind(b"\n", max(0, start - WINDOW_BYTES), start) + 1
    prefix, starts = text[before:start], []
    while (newline := text.find(b"\n", start, end)) >= 0:
        start = newline + 1
        starts.append(start + len(prefix) if text.startswith(prefix, start, end) else start)
    return starts


@dataclass
class _Search:
    """The cheapest readings from a piece and a position on."""

    text: bytes
    end: int
    pieces: tuple[bytes | Field, ...]
    shapes: Container[bytes]
    line_starts: list[int]  # where the lines of the window begin, but for the first
    most_steps: int  # after so many it gives up
    known: dict[tuple[int, int], tuple[Cost, list[Solution]]] = field(default_factory=dict)
    lines_with: dict[bytes | Field, list[int]] = field(default_factory=dict)
    steps: int = 0  # places tried so far

    def best(self, piece: int, position: int) -> tuple[Cost, list[Solution]]:
        if piece == len(self.pieces):
            return (0, 0), [(position, ())]
        key = (piece, position)
        if key not in self.known:
            self.known[key] = self._search(piece, position)
        return self.known[key]

    def _search(self, piece: int, position: int) -> tuple[Cost, list[Solution]]:
        lowest = _TOO_MUCH
        found: list[Solution] = []
        for stepped_over, at in self._places(piece, position):
            self.steps += 1
            if (stepped_over, 0) > lowest or self.steps > self.most_steps:
                break
            unfamiliar = stepped_over and shape(self.text[position:at]) not in self.shapes
            for stop, number in self._matches(self.pieces[piece], at):
                (lines, texts), solutions = self.best(piece + 1, stop)
                cost = (lines + stepped_over, texts + unfamiliar)
                if cost < lowest:
                    lowest, found = cost, []
                if cost == lowest:
                    found += [(end, number + numbers) for end, numbers in solutions]
                    del found[_SOLUTIONS_KEPT:]
        return lowest, found

    def _places(self, piece: int, position: int) -> Iterator[tuple[int, int]]:
        """Where a piece can stand: here, or, unless it is the first, where a later line begins."""
        yield 0, position
        lines = self._lines_with(self.pieces[piece]) if piece else []
        here = bisect_right(self.line_starts, position)
        for line in islice(lines, bisect_left(lines, here), None):
            yield line - here + 1, self.line_starts[line]

    def _lines_with(self, piece: bytes | Field) -> list[int]:
        """The lines of the window that begin with a piece."""
        if piece not in self.lines_with:
            found = (next(self._matches(piece, at), None) for at in self.line_starts)
            self.lines_with[piece] = [line for line, match in enumerate(found) if match is not None]
        return self.lines_with[piece]

    def _matches(self, piece: bytes | Field, at: int) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        if isinstance(piece, bytes):
            written = (piece, _LINE_ENDS.get(piece, piece))
            found = (form for form in written if self.text.startswith(form, at, self.end))
            yield from ((at + len(form), ()) for form in islice(found, 1))
            return
        whole = _FIELD_AT[piece.kind].match(self.text, at, self.end)
        if whole is None:
            return
        for stop in range(whole.end(), at, -1):
            if _FIELD_AT[piece.kind].fullmatch(self.text, at, stop):
                yield stop, (self.text[at:stop],)
