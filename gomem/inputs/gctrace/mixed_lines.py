"""Lines of a gctrace log mixed with other text: joined, prefixed, torn, broken, or foreign.

The runtime's text can begin anywhere in a line, because the program may have printed something
before it without a newline. A line that begins like the runtime's but cannot be parsed is broken,
and is reported together with the loose pieces after it. All other text is the program's.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gomem.inputs.gctrace.columns import Broken
from gomem.inputs.gctrace.excerpts import GAP_LINE, TEMPLATE
from gomem.inputs.gctrace.grammar import GRAMMARS, Grammar
from gomem.inputs.gctrace.torn_lines import WINDOW_BYTES, WINDOW_LINES, Patience, mend, shape

if TYPE_CHECKING:
    from gomem.inputs.gctrace.columns import Readings

FAMILIAR_FRACTION = 0.05

# Enough of a line to recognise it, whatever follows.
OWN_LINE = re.compile(
    rb"gc [0-9]+ @[0-9]+\.[0-9]{3}s [0-9]+%"
    rb"|scav (?:[0-9]+ )?[0-9]+ KiB work"
    rb"|(?:forced )?scvg-?[0-9]*: (?:[0-9]+ [MK]B released|inuse: [0-9])"
    rb"|pacer: (?:assist ratio=|H_m_prev=|sweep done at heap|[0-9]+% CPU \()"
)
_OWN_WORDS = (b"gc ", b"scav ", b"scvg", b"pacer: ")  # every such line contains one of them
# How a line begins, and its event; words can end in `gc `, too.
_BEGINNINGS = {
    b"gc ": "gc",
    b"scav ": "scav",
    b"scvg": "scvg",
    b"pacer: ": "pacer",
    b"scan: ": "scan",
    b"GC forced": "gc-forced",
}
_GAP = rb"\.\.|\xe2\x80\xa6|nip|mitted"
_FORCED = b"forced "  # can precede scvg
_CERTAIN_BEGIN = re.compile(
    rb"gc [0-9]+ @[0-9]|scav [0-9]+(?: [0-9K]|\s)|(?:forced )?scvg-?[0-9]*: [0-9i]"
    rb"|pacer: (?:assist|H_m|sweep|[0-9]+%)"
)
# Pieces that no other program prints: alone on a line, they belong to a torn line.
_PIECE = re.compile(
    rb" ms clock, | ms cpu, | MB goal, | MB stacks, | MB globals, | KiB work| KiB total, "
    rb"| KiB now, |% util\b|assist ratio=|workers=[0-9]+\+|; swept [0-9]|pages/byte\b"
    rb"|% CPU \([0-9]| exp\.\) |cons/mark |H_m_prev=|u_a/u_g=| [MK]B released\n|, consumed: [0-9]"
)
# Other lines of the runtime in the same stream: counted, so that they are not taken for the
# program's.
_OTHER = re.compile(
    rb"^(?:(?P<schedtrace>SCHED [0-9]+ms: )|(?P<inittrace>init \S+ @[0-9.]+ ms, )"
    rb"|(?P<checkfinalizers>checkfinalizers: queue: )"
    rb"|(?P<allocfreetrace>trace(?:alloc|free|gc)\()"
    rb"|(?P<too_old>[^\n]{0,80}?\bgc[0-9]+\([0-9]+\): [0-9]+\+)"
    rb"|(?P<template>[^\n]{0,40}gc # @#s #%: ))",
    re.MULTILINE,
)
_OTHER_BEGIN = rb"\n(?:SCHED |init |checkf|trace[a-z]+\()|gc[0-9]+\([0-9]+\): |gc # @#s"
# How the runtime continues where a release extends a line; a program's own text seldom does.
_UNKNOWN_TAIL = re.compile(rb" ?[(\[,]")
_NEWLINE = re.compile(rb"[`*_]{0,3}\r?\n")  # Markdown ends what it decorates
_FORMS = {
    event: tuple(grammar for grammar in GRAMMARS if grammar.event == event)
    for event in _BEGINNINGS.values()
}
# The second literal of each form, or its only one: without any of them there is no line.
_EARLY = {
    event: tuple({form.literals[:2][-1] for form in forms}) for event, forms in _FORMS.items()
}


def has_own_line(text: bytes) -> bool:
    """Whether a text contains a GC, scavenger or pacer line, wrapped or among other output."""
    return any(word in text for word in _OWN_WORDS) and _is_in(text, OWN_LINE.pattern)


def _is_in(text: bytes, regex: bytes) -> bool:
    """Whether a text contains a pattern: RE2 searches ten times as fast as `re`."""
    ends = pa.py_buffer(np.array([0, len(text)], np.int64))
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(text)])
    return bool(pc.match_substring_regex(whole, regex)[0].as_py())


@dataclass(frozen=True)
class MixedLines:
    """Lines of a chunk other than intact runtime lines, which are parsed in bulk."""

    text: bytes  # the lines, concatenated
    numbers: np.ndarray  # each line's number in the chunk, from 0
    starts: np.ndarray  # each line's start in `text`, and the end of the last
    # For each line, the index after the last one that follows it without a gap in the chunk: a torn
    # line does not extend past an intact line of the runtime.
    runs: np.ndarray
    trailing_lines: int  # number of lines after the last intact one

    @classmethod
    def of(cls, lines: pa.BinaryArray, alone: np.ndarray) -> MixedLines:
        """Select the lines that are not intact."""
        numbers = np.flatnonzero(~alone)
        taken = lines.take(pa.array(numbers))
        if not len(numbers):
            return cls(b"", numbers, np.zeros(1, np.int64), numbers, 0)
        # The dtype of Python's integers: a search would copy narrower ones each time.
        starts = np.frombuffer(taken.buffers()[1], np.int32)[: len(numbers) + 1].astype(np.int64)
        text = taken.buffers()[2].to_pybytes()[: starts[-1]]
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        ends = np.append(breaks, len(numbers))
        runs = ends[np.searchsorted(breaks, np.arange(len(numbers)), side="right")]
        last = np.flatnonzero(alone)
        trailing = len(alone) - (last[-1] + 1 if len(last) else 0)
        return cls(text, numbers, starts, runs, int(trailing))

    def line_at(self, position: int) -> int:
        """Return the index of the line at a position of `text`."""
        return int(np.searchsorted(self.starts, position, side="right")) - 1

    def window_end(self, line: int) -> int:
        """Return how far a torn line that begins in `line` can extend."""
        after = min(int(self.runs[line]), line + WINDOW_LINES)
        return min(int(self.starts[after]), int(self.starts[line]) + WINDOW_BYTES)


@dataclass
class _Beginnings:
    """Finds where lines can begin; if that is rare, `bytes.find` is far faster than `re`."""

    text: bytes
    stop: int
    ahead: dict[bytes, int] = field(default_factory=lambda: dict.fromkeys(_BEGINNINGS, -1))

    def next(self, position: int) -> tuple[int, str, int] | None:
        """Return the next possible start, its event, and where to continue if it is not a line."""
        for beginning, at in self.ahead.items():
            if at < position:
                found = self.text.find(beginning, position, self.stop)
                self.ahead[beginning] = found if found >= 0 else self.stop
        beginning, at = min(self.ahead.items(), key=lambda pair: pair[1])
        if at >= self.stop:
            return None
        end = at + len(beginning)
        if beginning == b"scvg" and self.text[max(position, at - len(_FORCED)) : at] == _FORCED:
            at -= len(_FORCED)
        return at, _BEGINNINGS[beginning], end


_Reading = tuple[Grammar, tuple[bytes, ...], int]  # a line's form, its numbers, and its end


def search(lines: MixedLines, before_line: int, readings: Readings) -> int:
    """Parse the lines that are not intact, up to `before_line`, where no line may begin any more.

    Returns the number of lines of the chunk that are done: `before_line`, or more if the last torn
    line extends further.
    """
    stop = int(lines.starts[np.searchsorted(lines.numbers, before_line)])
    searched = _Search(lines, readings)
    beginnings = _Beginnings(lines.text, stop)
    position = 0
    while (begin := beginnings.next(position)) is not None:
        position = searched.read_at(*begin)
    searched.note_loose_pieces(stop)
    position = max(position, stop)
    if _is_in(b"\n" + lines.text, _OTHER_BEGIN):
        for match in _OTHER.finditer(lines.text, 0, position):
            readings.others[str(match.lastgroup)] += 1
    if _is_in(lines.text, _GAP):
        for match in GAP_LINE.finditer(lines.text, 0, position):
            readings.gaps.append(int(lines.numbers[lines.line_at(match.start())]))
    if position > stop:
        return int(lines.numbers[lines.line_at(position - 1)]) + 1
    return before_line


@dataclass
class _Search:
    """One pass over mixed lines."""

    lines: MixedLines
    readings: Readings
    searched_to: int = 0  # everything before is parsed or noted
    # The last line noted as broken, while pieces that belong to it can still follow.
    broken_line: int | None = None
    patience: Patience = field(default_factory=Patience)  # steps left for torn lines

    def read_at(self, at: int, event: str, behind: int) -> int:
        """Parse the line that may begin here; return where to continue."""
        lines = self.lines
        line = lines.line_at(at)
        end = lines.window_end(line)
        reading = None
        if any(lines.text.find(literal, at, end) >= 0 for literal in _EARLY[event]):
            reading = self._read(_FORMS[event], at, end)
        if reading is not None:
            self.note_loose_pieces(at)
            grammar, numbers, self.searched_to = reading
            self.broken_line = None
            self.readings.add_one(grammar, int(lines.numbers[line]), numbers)
            return self.searched_to
        if _CERTAIN_BEGIN.match(lines.text, at):
            self.note_loose_pieces(int(lines.starts[line]))
            self._break(line, at)
            self.searched_to = int(lines.starts[line + 1])
        return behind

    def note_loose_pieces(self, stop: int) -> None:
        """Note skipped pieces of torn lines, once for each torn line."""
        if not self.has_pieces:
            return
        for match in _PIECE.finditer(self.lines.text, self.searched_to, stop):
            line = self.lines.line_at(match.start())
            if TEMPLATE.search(self.lines.text, int(self.lines.starts[line]), match.end()):
                continue
            if self.broken_line is None or line >= min(
                self.lines.runs[self.broken_line], self.broken_line + WINDOW_LINES
            ):
                self._break(line, int(self.lines.starts[line]))
            else:
                self.readings.broken[-1].has_loose_pieces = True
        self.searched_to = max(self.searched_to, stop)

    def _break(self, line: int, start: int) -> None:
        end = int(self.lines.starts[line + 1])
        text = self.lines.text[start:end].rstrip(b"\r\n")
        length = end - int(self.lines.starts[line])
        self.readings.broken.append(Broken(int(self.lines.numbers[line]), text, length))
        self.broken_line = line

    def _read(self, forms: tuple[Grammar, ...], at: int, end: int) -> _Reading | None:
        """Parse a whole line, else one torn by other text, else one with text glued to its end."""
        text = self.lines.text
        whole = [(form, form.pattern.match(text, at, end)) for form in forms]
        matched = [(form, match) for form, match in whole if match is not None]
        for form, match in matched:
            newline = _NEWLINE.match(text, match.end())
            if newline is not None:
                return form, match.groups(), newline.end()
        lines = ((form, mend((text, at, end), form, self.shapes, self.patience)) for form in forms)
        mended = [(form, line) for form, line in lines if line is not None]
        if mended:
            mended.sort(key=lambda pair: pair[1].cost)
            if len(mended) > 1 and mended[0][1].cost == mended[1][1].cost:
                return None
            form, best = mended[0]
            return form, best.numbers, best.end
        for form, match in reversed(matched):
            if isinstance(form.parts[-1], bytes) and not _UNKNOWN_TAIL.match(text, match.end()):
                return form, match.groups(), match.end()
        return None

    @cached_property
    def has_pieces(self) -> bool:
        """Whether there are any pieces."""
        return _is_in(self.lines.text, _PIECE.pattern)

    @cached_property
    def shapes(self) -> frozenset[bytes]:
        """Frequent beginnings of the program's own lines."""
        # Pieces of torn lines can look like lines of the program, but they are rare.
        counts = Counter(
            shape(line)
            for line in self.lines.text.split(b"\n")
            if not _PIECE.search(line) and not line.startswith(tuple(_BEGINNINGS))
        )
        enough = counts.total() * FAMILIAR_FRACTION
        return frozenset(begin for begin, count in counts.items() if count >= enough)
