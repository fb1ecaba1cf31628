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
_LINE_ENDS = {b"\n": b"\r\n"}  # on Windows
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
# A log can be crafted to be slow to parse. Torn lines of real logs take up to 12 000 steps, and are
# about one line in a hundred; a million steps take about two seconds.
MAX_STEPS = 50_000
MAX_STEPS_OF_CHUNK = 10_000_000
_SOLUTIONS_KEPT = 16  # a line with more solutions is ambiguous anyway

Cost = tuple[int, int]  # skipped lines; skipped texts of unfamiliar shape
Solution = tuple[int, tuple[bytes, ...]]  # where the line ends, and its numbers

_TOO_MUCH: Cost = (WINDOW_LINES, 0)


@dataclass(frozen=True, slots=True)
class Mended:
    """A reassembled line: its numbers as printed, its end, and the cost of the skipped text."""

    numbers: tuple[bytes, ...]
    end: int
    cost: Cost


@dataclass
class Patience:
    """The steps left for a chunk of a log; torn lines beyond them stay torn."""

    steps: int = MAX_STEPS_OF_CHUNK


def shape(line: bytes) -> bytes:
    """Return the beginning of a line with all digits alike, to compare a program's own lines."""
    return line[:SHAPE_BYTES].translate(_DIGITS_ALIKE)


def mend(
    window: tuple[bytes, int, int], grammar: Grammar, shapes: Container[bytes], patience: Patience
) -> Mended | None:
    """Parse a line of a known form although whole lines of other text interrupt it."""
    # `window` is the log, the start of the line in it, and how far its pieces can reach. `shapes`
    # are the beginnings of the program's own lines, see `shape`. The steps taken are subtracted
    # from `patience`. Returns the solution that skips the fewest lines; None if there is none, or
    # more than one.
    text, start, end = window
    place = start  # a cheap check before the search: all literals in order
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
    """Return where later lines begin, after the quote mark or spaces before the first line."""
    before = text.rfind(b"\n", max(0, start - WINDOW_BYTES), start) + 1
    prefix, starts = text[before:start], []
    while (newline := text.find(b"\n", start, end)) >= 0:
        start = newline + 1
        starts.append(start + len(prefix) if text.startswith(prefix, start, end) else start)
    return starts


@dataclass
class _Search:
    """Searches for the cheapest solutions, from a given piece and position on."""

    text: bytes
    end: int
    pieces: tuple[bytes | Field, ...]
    shapes: Container[bytes]
    line_starts: list[int]  # starts of the lines of the window, except the first
    most_steps: int  # the limit at which the search gives up
    known: dict[tuple[int, int], tuple[Cost, list[Solution]]] = field(default_factory=dict)
    lines_with: dict[bytes | Field, list[int]] = field(default_factory=dict)
    steps: int = 0  # positions tried so far

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
        """Yield where a piece can be: here, or (except for the first) where a later line begins."""
        yield 0, position
        lines = self._lines_with(self.pieces[piece]) if piece else []
        here = bisect_right(self.line_starts, position)
        for line in islice(lines, bisect_left(lines, here), None):
            yield line - here + 1, self.line_starts[line]

    def _lines_with(self, piece: bytes | Field) -> list[int]:
        """Return the lines of the window that begin with a piece."""
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
