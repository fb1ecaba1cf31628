"""GODEBUG=gctrace=1 logs: GC lines, mixed with the program's other stderr output.

Printed by    the runtime; `grammar` has every line of every release.
Described in  the runtime's extern.go, under "gctrace", "scavtrace" and "gcpacertrace".
Quirks        Sizes are whole MiB, rounded down, though the log says MB.
              Durations are truncated to two significant digits, never rounded.
              The percentage is cumulative since the program's start, not per cycle.
              Other stderr output can precede, separate or interrupt the lines.
              A goal of 2^40 MB or more means no goal (GOGC=off).
              The runtime prints `GC forced` after two minutes without a collection. The line of the
              forced collection follows and does not say that it was forced.

Intact lines are parsed in bulk. A line's format is the line with its numbers replaced by a marker,
and the numbers of all lines of one format are parsed as one CSV. If that fails because a field is
not a number, a regular expression first selects the lines that match the format. The rest, a few
per cent of a badly interleaved log, is searched line by line.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from gomem.inputs.gctrace.columns import GcTraceColumns, LogSoFar, Readings, lay_out
from gomem.inputs.gctrace.excerpts import take_excerpts
from gomem.inputs.gctrace.grammar import GRAMMARS, INTEGER_KINDS, Grammar
from gomem.inputs.gctrace.line_forms import mark_numbers
from gomem.inputs.gctrace.mixed_lines import MixedLines, search
from gomem.inputs.gctrace.torn_lines import WINDOW_BYTES, WINDOW_LINES
from gomem.inputs.gctrace.unwrap import Unwrapped, Unwrapper

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gomem.errors import Damage

CHUNK_BYTES = 1 << 22  # many windows; bounds the memory and keeps offsets in 32 bits
# longer lines are cut, so that a log without newlines is not held in memory
MAX_LINE_BYTES = 1 << 26
PART_LINES = 1 << 13
NEWLINE = 10
ARROW, ARROW_IN_HTML = b"->", b"-&gt;"

_FORMS = tuple(grammar for grammar in GRAMMARS if grammar.is_columnar)
_KEYS = pa.array(
    [form.marked + ending for form in _FORMS for ending in (b"\n", b"\r\n")], pa.binary()
)


def parse_pieces(
    pieces: Iterable[bytes], *, source: str
) -> Iterator[tuple[GcTraceColumns, list[Damage]]]:
    """Parse a log that comes in pieces, cut anywhere; yield columns and damage at least once."""
    # State (torn lines, runs, numbers) is carried from piece to piece, so the result is that of the
    # whole log. Only a few pieces are in memory.
    so_far = LogSoFar(source)
    unwrapper = Unwrapper(source)
    held = Unwrapped()
    for piece, last in _whole_lines(pieces):
        # A search for one letter is faster than for the five of HTML's arrow, `-&gt;`.
        readable = piece.replace(ARROW_IN_HTML, ARROW) if b"&" in piece else piece
        ahead = held.followed_by(unwrapper.unwrap(readable))
        end = len(ahead.text) if last else ahead.text.rfind(b"\n") + 1
        if len(ahead.text) - end > MAX_LINE_BYTES:
            end = len(ahead.text)
            unwrapper.end_line()
        readings = Readings()
        done = _read_chunk(ahead.text[:end], readings, last) if end else 0
        columns, damage = lay_out(readings, ahead, so_far)
        held = ahead.after(readings.lines_done, done)
        if last:
            pa.default_memory_pool().release_unused()
        yield columns, [*ahead.damage, *damage]


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield the pieces cut at newlines, and whether each is the last; at least one."""
    held = b""
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if len(held) * (not end) + len(piece) - end > MAX_LINE_BYTES:
            end = len(piece)
        if end:
            yield b"".join((held, memoryview(piece)[:end])), False
            held = b""
        held += piece[end:]
    yield held, True


def _read_chunk(chunk: bytes, readings: Readings, last: bool) -> int:
    """Parse lines; return how many bytes are done."""
    # The lines after the last intact one can contain the beginning of a torn line. So they are
    # parsed again together with the next chunk, except at the end of the log.
    size = len(chunk)
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    lines = _lines(chunk)
    offsets = _offsets(lines)
    forms, doubtful = _forms_of(chunk, offsets)
    alone = np.zeros(len(lines), bool)
    parts = [  # lines of one form, divided among threads
        (_FORMS[form], part)
        for form in np.flatnonzero(np.bincount(forms + 1, minlength=1)[1:])
        for which in (np.flatnonzero(forms == form),)
        for part in np.array_split(which, len(which) // PART_LINES + 1)
    ]
    # Nearly all of the work is Arrow's, which releases the GIL; more threads than processors only
    # take memory.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        each = pool.map if len(lines) > PART_LINES else map  # threads cost more than a few lines
        read = each(lambda part: _read_form(part[0], lines, part[1], doubtful), parts)
        for (form, _), (which, columns) in zip(parts, read, strict=True):
            alone[which] = True
            readings.add(form, which, columns)
    mixed = MixedLines.of(lines, alone)
    in_window = len(lines) - int(np.searchsorted(offsets, offsets[-1] - WINDOW_BYTES))
    kept = 0 if last else max(0, min(mixed.trailing_lines, WINDOW_LINES, in_window))
    done = search(mixed, len(lines) - kept, readings)
    take_excerpts(readings, int(np.diff(offsets).max(initial=0)))
    readings.lines_done = done
    return min(int(offsets[done]), size)


def _lines(text: bytes) -> pa.BinaryArray:
    """Return the lines of a text, with their newlines, without copying."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == NEWLINE) + 1
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.BinaryArray.from_buffers(pa.binary(), len(ends), buffers)


def _forms_of(chunk: bytes, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each line's form, by its marked text (-1 if none), and lines with long numbers."""
    # Lines with numbers that may not fit are returned separately, as line numbers from 0.
    marked, long_at = mark_numbers(chunk)
    keys = pc.index_in(_lines(marked), value_set=_KEYS).fill_null(-2).to_numpy()
    return keys >> 1, np.searchsorted(offsets, long_at, side="right") - 1


def _read_form(
    form: Grammar, lines: pa.BinaryArray, which: np.ndarray, doubtful: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the lines that have exactly this form, and their numbers."""
    text = lines.take(pa.array(which))
    has_doubtful = doubtful.size and np.isin(doubtful, which).any()
    if not form.is_only_counted and not has_doubtful:
        try:
            return which, _numbers_of(form, text)
        except pa.ArrowInvalid:
            pass  # a number has a second point: the regular expression finds the line
    fits = pc.match_substring_regex(text, form.line_regex)
    which = which[fits.to_numpy(zero_copy_only=False)]
    if form.is_only_counted or not len(which):
        return which, [np.empty(0)] * len(form.fields)
    return which, _numbers_of(form, text.filter(fits))


def _numbers_of(form: Grammar, text: pa.BinaryArray) -> list[np.ndarray]:
    """Return the numbers of lines of one form, one array per column."""
    names = [str(number) for number in range(len(form.csv_columns))]
    types = {
        name: pa.int64() if field.kind in INTEGER_KINDS else pa.float64()
        for name, field in zip(names, form.csv_columns, strict=True)
        if field is not None
    }
    # the lines were just copied by take(), so they begin at their buffer's start
    offsets = _offsets(text)
    numbers = form.to_csv(text.buffers()[2].to_pybytes()[offsets[0] : offsets[-1]])
    table = csv.read_csv(
        pa.BufferReader(numbers),
        csv.ReadOptions(column_names=names, use_threads=False, block_size=len(numbers) + 1),
        csv.ParseOptions(quote_char=False),
        csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
    )
    return [column.to_numpy() for column in table.columns]


def _offsets(lines: pa.BinaryArray) -> np.ndarray:
    return np.frombuffer(lines.buffers()[1], np.int32)[lines.offset : lines.offset + len(lines) + 1]
