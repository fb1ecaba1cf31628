"""The records of a heap dump other than objects: their fields, and how to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.heapdump.columns import MEMSTATS, PAUSES
from gomem.inputs.heapdump.window import numbers_at

if TYPE_CHECKING:
    from gomem.inputs.heapdump.columns import IntArray
    from gomem.inputs.heapdump.window import Window

NUMBER, TEXT, CONTENT, FIELDS, CALLS = range(5)  # the parts of a record
MAX_SHIFT = 63  # shift of the last seven bits of a number
EXPECTED_BYTES = 10  # maximum length of a number


class Cut(Exception):  # noqa: N818 - no error: the window has to grow
    """The window ends within a record; `wanted` is the number of bytes known to be needed."""

    def __init__(self, wanted: int = 0) -> None:
        self.wanted = wanted
        super().__init__()


class Corrupt(ValueError):  # noqa: N818 - what the dump is there
    """The bytes at the window's position are not a record; the message says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """A type of record."""

    name: str
    fields: tuple[tuple[str, int], ...]  # name and form of each field
    words: str  # its name in messages


def _numbers(*names: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, NUMBER) for name in names)


_FINALIZER = _numbers("object", "closure", "code", "function_type", "object_type")
_SEGMENT = (("address", NUMBER), ("content", CONTENT), ("fields", FIELDS))
RECORDS = {
    2: Record("other_roots", (("description", TEXT), ("target", NUMBER)), "other root"),
    3: Record(
        "types",
        (*_numbers("address", "size"), ("name", TEXT), ("indirect", NUMBER)),
        "type",
    ),
    4: Record(
        "goroutines",
        (
            *_numbers("address", "sp", "id", "creation_pc", "status", "is_system"),
            *_numbers("is_background", "waiting_since_ns"),
            ("wait_reason", TEXT),
            *_numbers("context", "thread", "defers", "panics"),
        ),
        "goroutine",
    ),
    5: Record(
        "frames",
        (
            *_numbers("sp", "depth", "child_sp"),
            ("content", CONTENT),
            *_numbers("entry", "pc", "continuation_pc"),
            ("function", TEXT),
            ("fields", FIELDS),
        ),
        "stack frame",
    ),
    6: Record(
        "machine",
        (
            *_numbers("big_endian", "pointer_bytes", "arena_start", "arena_end"),
            ("architecture", TEXT),
            ("go_version", TEXT),
            ("processors", NUMBER),
        ),
        "parameters",
    ),
    7: Record("finalizers", _FINALIZER, "finalizer"),
    8: Record("itabs", _numbers("address", "type"), "itab"),
    9: Record("threads", _numbers("address", "id", "os_id"), "thread"),
    10: Record(
        "memstats",
        _numbers(*MEMSTATS, *(f"PauseNs{number}" for number in range(PAUSES)), "NumGC"),
        "MemStats",
    ),
    11: Record("queued_finalizers", _FINALIZER, "queued finalizer"),
    12: Record("data", _SEGMENT, "data segment"),
    13: Record("bss", _SEGMENT, "bss segment"),
    14: Record(
        "defers", _numbers("address", "goroutine", "sp", "pc", "closure", "code", "next"), "defer"
    ),
    15: Record(
        "panics", _numbers("address", "goroutine", "type", "value", "defer", "next"), "panic"
    ),
    16: Record(
        "buckets",
        (*_numbers("bucket", "size"), ("calls", CALLS), *_numbers("allocations", "frees")),
        "memory profile",
    ),
    17: Record("samples", _numbers("address", "bucket"), "allocation sample"),
}
PLAIN = {
    tag: len(record.fields)
    for tag, record in RECORDS.items()
    if all(form == NUMBER for _, form in record.fields) and record.name != "memstats"
}
WORDS = {0: "end", 1: "object", **{tag: record.words for tag, record in RECORDS.items()}}


def number_at(window: Window, at: int) -> tuple[int, int]:
    """Return the number at a position and its end; raises Cut or Corrupt."""
    buffer, value, shift = window.buffer, 0, 0
    while at < window.size:
        byte = buffer[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        if shift > MAX_SHIFT:
            raise Corrupt("a number of more than 10 bytes")
    raise Cut


def read_record(window: Window, record: Record, max_bytes: int) -> tuple[list[Any], int]:
    """Return the values of the record after a tag, and its end.

    A content or a field list is returned as two positions in the window: first byte and end. Calls
    are a list of (function, file, line). Raises Cut or Corrupt.
    """
    _, at = number_at(window, window.at)
    values: list[Any] = []
    for name, form in record.fields:
        if form == NUMBER:
            value, at = number_at(window, at)
            values.append(value)
        elif form == FIELDS:
            stop = _fields_end(window, at)
            values.append((at, stop))
            at = stop + 1
        elif form == CALLS:
            calls, at = _calls(window, at, max_bytes)
            values.append(calls)
        else:
            start, at = _span(window, at, name, max_bytes)
            values.append((start, at) if form == CONTENT else _text(window, start, at))
    return values, at


def plain_records(window: Window, tag: int, most: int) -> tuple[IntArray, int]:
    """Return consecutive purely numeric records with the same tag, one row each, and their end."""
    # Only records that are complete in the window; `read_record` reports errors in the rest.
    width = PLAIN[tag] + 1
    stop = min(window.size, window.at + most * width * EXPECTED_BYTES)
    data = window.data[window.at : stop]
    ends = np.flatnonzero(data < 0x80)
    ends = ends[: len(ends) // width * width]
    begins = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    numbers, _ = numbers_at(window.data, window.words, begins + window.at)
    rows = numbers.view(np.int64).reshape(-1, width)
    others = np.flatnonzero(rows[:, 0] != tag)
    count = int(others[0]) if len(others) else len(rows)
    is_long = ends - begins >= EXPECTED_BYTES
    if is_long.any():
        count = min(count, int(np.argmax(is_long)) // width)
    end = window.at + (int(ends[count * width - 1]) + 1 if count else 0)
    return rows[:count, 1:], end


def _span(window: Window, at: int, name: str, max_bytes: int) -> tuple[int, int]:
    """Return first byte and end of a string or content that follows its length."""
    length, start = number_at(window, at)
    if length > max_bytes:
        raise Corrupt(f"a {name} of {length} bytes")
    if start + length > window.size:
        raise Cut(start + length - window.at)
    return start, start + length


def _text(window: Window, start: int, stop: int) -> str:
    return window.buffer[start:stop].decode("utf-8", "replace")


def _fields_end(window: Window, at: int) -> int:
    """Return the position of the zero that ends a field list."""
    buffer, size = window.buffer, window.size
    while at < size:
        if not buffer[at]:
            return at
        at += 1
        while at < size and buffer[at] >= 0x80:
            at += 1
        at += 1
    raise Cut


def _calls(window: Window, at: int, max_bytes: int) -> tuple[list[tuple[str, str, int]], int]:
    count, at = number_at(window, at)
    if count > max_bytes:
        raise Corrupt(f"a stack of {count} calls")
    calls = []
    for _ in range(count):
        start, at = _span(window, at, "function", max_bytes)
        function = _text(window, start, at)
        start, at = _span(window, at, "file", max_bytes)
        file = _text(window, start, at)
        line, at = number_at(window, at)
        calls.append((function, file, line))
    return calls, at
