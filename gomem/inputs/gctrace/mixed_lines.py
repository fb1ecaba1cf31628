"""Lines of a gctrace log mixed with other text: joined, prefixed, torn, broken, or foreign.

The runtime's text can begin anywhere in a line, because the program may have printed something
before it without a newline. A line that begins like the runtime's but cannot be parsed is broken,
and is passed on together with the loose pieces after it. All other text is the program's.
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

# Enough of a line to say that it is one, whatever follows.
OWN_LINE = re.compile(
    rb"gc [0-9]+ @[0-9]+\.[0-9]{3}s [0-9]+%"
    rb"|scav (?:[0-9]+ )?[0-9]+ KiB work"
    rb"|(?:forced )?scvg-?[0-9]*: (?:[0-9]+ [MK]B released|inuse: [0-9])"
    rb"|pacer: (?:assist ratio=|H_m_prev=|sweep done at heap|[0-9]+% CPU \()"
)
_OWN_WORDS = (b"gc ", b"scav ", b"scvg", b"pacer: ")  # one of them is in any such line
# What a line begins with, and of which event it then is; the collector's also ends words.
_BEGINNINGS = {
    b"gc ": "gc",
    b"scav ": "scav",
    b"scvg": "scvg",
    b"pacer: ": "pacer",
    b"scan: ": "scan",
    b"GC forced": "gc-forced",
}
_GAP = rb"\.\.|\xe2\x80\xa6|nip|mitted"
_FORCED = b"forced "  # may stand in front of scvg
_CERTAIN_BEGIN = re.compile(
    rb"gc [0-9]+ @[0-9]|scav [0-9]+(?: [0-9K]|\s)|(?:forced )?scvg-?[0-9]*: [0-9i]"
    rb"|pacer: (?:assist|H_m|sweep|[0-9]+%)"
)
# Pieces that no other program prints: left alone on a line, they are a torn line's.
_PIECE = re.compile(
    rb" ms clock, | ms cpu, | MB goal, | MB stacks, | MB globals, | KiB work| KiB total, "
    rb"| KiB now, |% util\b|assist ratio=|workers=[0-9]+\+|; swept [0-9]|pages/byte\b"
    rb"|% CPU \([0-9]| exp\.\) |cons/mark |H_m_prev=|u_a/u_g=| [MK]B released\n|, consumed: [0-9]"
)
# Other lines of the runtime in the same stream: counted, so that they are not the program's.
_OTHER = re.compile(
    rb"^(?:(?P<schedtrace>SCHED [0-9]+ms: )|(?P<inittrace>init \S+ @[0-9.]+ ms, )"
    rb"|(?P<checkfinalizers>checkfinalizers: queue: )"
    rb"|(?P<allocfreetrace>trace(?:alloc|free|gc)\()"
    rb"|(?P<too_old>[^\n]{0,80}?\bgc[0-9]+\([0-9]+\): [0-9]+\+)"
    rb"|(?P<template>[^\n]{0,40}gc # @#s #%: ))",
    re.MULTILINE,
)
_OTHER_BEGIN = rb"\n(?:SCHED |init |checkf|trace[a-z]+\()|gc[0-9]+\([0-9]+\): |gc # @#s"
# How the runtime goes on where a release adds to a line; a program's own text seldom does.
_UNKNOWN_TAIL = re.compile(rb" ?[(\[,]")
_NEWLINE = re.compile(rb"\r?\n")
_FORMS = {
    event: tuple(grammar for grammar in GRAMMARS if grammar.event == event)
    for event in _BEGINNINGS.values()
}
# Of each form the second literal, or its only one: where none of them is, there is no line.
_EARLY = {
    event: tuple({form.literals[:2][-1] for form in forms}) for event, forms in _FORMS.items()
}


def has_own_line(text: bytes) -> bool:
    """Whether there is any line of the collector's in a text, wrapped or among other output."""
    return any(word in text for word in _OWN_WORDS) and _is_in(text, OWN_LINE.pattern)


def _is_in(text: bytes, regex: bytes) -> bool:
    """Whether a pattern is anywhere in a text: RE2 looks through it ten times as fast as `re`."""
    ends = pa.py_buffer(np.array([0, len(text)], np.int64))
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(text)])
    return bool(pc.match_substring_regex(whole, regex)[0].as_py())


@dataclass(frozen=True)
class MixedLines:
    """The lines of a chunk that did not stand alone."""

    text: bytes  # they themselves, one after the other
    numbers: np.ndarray  # which line of the chunk each one is, from 0
    starts: np.ndarray  # where each begins in `text`, and the end of the last
    # For each the index after the last that follows without a gap in the chunk: a torn line does
    # not reach past a line of the runtime's that stands alone.
    runs: np.ndarray
    trailing_lines: int  # how many there are after the last line that stood alone

    @classmethod
    def of(cls, lines: pa.BinaryArray, alone: np.ndarray) -> MixedLines:
        """The lines that are not marked as standing alone."""
        numbers = np.flatnonzero(~alone)
        taken = lines.take(pa.array(numbers))
        if not len(numbers):
            return cls(b"", numbers, np.zeros(1, np.int64), numbers, 0)
        # As wide as Python's integers: a search for one would copy narrower ones each time.
        starts = np.frombuffer(taken.buffers()[1], np.int32)[: len(numbers) + 1].astype(np.int64)
        text = taken.buffers()[2].to_pybytes()[: starts[-1]]
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        ends = np.append(breaks, len(numbers))
        runs = ends[np.searchsorted(breaks, np.arange(len(numbers)), side="right")]
        last = np.flatnonzero(alone)
        trailing = len(alone) - (last[-1] + 1 if len(last) else 0)
        return cls(text, numbers, starts, runs, int(trailing))

    def line_at(self, position: int) -> int:
        """Index of the line at a position of `text`."""
        return int(np.searchsorted(self.starts, position, side="right")) - 1

    def window_end(self, line: int) -> int:
        """How far the pieces of a line that begins in a line may lie."""
        after = min(int(self.runs[line]), line + WINDOW_LINES)
        return min(int(self.starts[after]), int(self.starts[line]) + WINDOW_BYTES)


@dataclass
class _Beginnings:
    """Finds where lines may begin: where that is rare, far faster by `bytes.find` than by `re`."""

    text: bytes
    stop: int
    ahead: dict[bytes, int] = field(default_factory=lambda: dict.fromkeys(_BEGINNINGS, -1))

    def next(self, position: int) -> tuple[int, str, int] | None:
        """The first place from a position on, its event, and where to look on if it is none."""
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


_Reading = tuple[Grammar, tuple[bytes, ...], int]  # a line's form and numbers, and where it ends


def search(lines: MixedLines, before_line: int, readings: Readings) -> int:
    """Read what can be read of the lines that do not stand alone; none is begun from `before_line`.

    How many lines of the chunk are done with: `before_line`, or more where the last torn line
    reached further.
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
    """A pass over mixed lines, from the first to the last."""

    lines: MixedLines
    readings: Readings
    searched_to: int = 0  # up to here everything is read or noted
    # The last line noted as broken, as long as pieces may follow that belong to it.
    broken_line: int | None = None
    patience: Patience = field(default_factory=Patience)  # how long torn lines may still take

    def read_at(self, at: int, event: str, behind: int) -> int:
        """Read the line that may begin here; return where to look next."""
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
        """Note pieces of torn lines that were passed over, once for each torn line."""
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
        """Whole, else with other text inside it, else with other text glued to its end."""
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
        """Whether there is any piece at all."""
        return _is_in(self.lines.text, _PIECE.pattern)

    @cached_property
    def shapes(self) -> frozenset[bytes]:
        """How the program's own lines begin, as far as it is how many of them do."""
        # A torn line's pieces can make a line look like one of the program's; they are few.
        counts = Counter(
            shape(line)
            for line in self.lines.text.split(b"\n")
            if not _PIECE.search(line) and not line.startswith(tuple(_BEGINNINGS))
        )
        enough = counts.total() * FAMILIAR_FRACTION
        return frozenset(begin for begin, count in counts.items() if count >= enough)
