"""Goroutine counts in a text: `NumGoroutine: 12`, `go routines: 12`, the page /debug/pprof/.

A script prints `14:31:25 goroutine profile: total 148`; in a profile, a record would follow.

That page of net/http/pprof, as text or HTML, has a row for each profile: its count, then its name.
Only the count of goroutines is useful by itself.
"""

from __future__ import annotations

import re

import numpy as np

from gomem.inputs.unwrap import PlainText, plain_characters, plain_texts

HEAD_BYTES = 1 << 20
MIN_COUNTS = 3  # counts that a program prints over time; fewer can be from prose
GOROUTINES = re.compile(
    rb"(?<![A-Za-z0-9])(?:(?:num(?:ber)?[ _-]?(?:of[ _-])?go[ _-]?routines?"
    rb"|go[ _-]?routines?(?:[ _-]?(?:num|number|count))?)"
    rb"[\"'`*]*[ \t]*(?:=>|->|[=:]{1,2}|\.{3,40})[ \t]*[\"'`*]*"
    rb"|num[ _-]?goroutines?[ \t]+(?=\d+[ \t]*(?:\n|\Z)))(\d{1,9})(?![\w.%])",
    re.IGNORECASE,
)  # fmt: skip
# The first line of /debug/pprof/goroutine?debug=1, behind the time at which a script took it.
_TOTAL = re.compile(
    rb"[ \t>\[]*(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d?:\d\d:\d\d[^\s\]]{0,16}\]?:?[ \t]+"
    rb"(?:[A-Z]{1,4}[ \t]+)?goroutine profile: total (\d{1,9})[ \t\r]*"
)
_INDEXED = re.compile(
    rb"\s*+(?:<tr>)?\s*+(?:<td[^>]*>)?(\d{1,9})(?:</td>)?\s*+(?:<td>)?\s*+(?:<a href=[^>]*>)?"
    rb"(allocs|block|goroutine|heap|mutex|threadcreate)\b[^\n]*"
)
MIN_INDEXED = 3  # rows of the page


def goroutine_counts(data: bytes) -> list[tuple[int, int]]:
    """Return line number and count of each goroutine count in a text."""
    if b"outine" not in data:
        return []
    if of_page := _on_page(data):
        return of_page
    lines = plain_characters(data).split(b"\n")
    found = (
        (number, GOROUTINES.search(line) or _TOTAL.fullmatch(line))
        for number, line in enumerate(lines, start=1)
    )
    return [(number, int(count[1])) for number, count in found if count is not None]


def _on_page(data: bytes) -> list[tuple[int, int]]:
    """Return the goroutine counts on pages /debug/pprof/; empty if the text is not such a page."""
    if not all(name in data for name in (b"threadcreate", b"heap")):
        return []
    for text in (PlainText(data), *plain_texts(data)):
        lines = enumerate(text.data.split(b"\n"), start=1)
        rows = ((number, _INDEXED.fullmatch(line)) for number, line in lines)
        known = [(number, row[2], int(row[1])) for number, row in rows if row is not None]
        if len({name for _, name, _ in known}) >= MIN_INDEXED:
            counts = [(number, count) for number, name, count in known if name == b"goroutine"]
            return [(int(text.lines(np.array([number]))[0]), count) for number, count in counts]
    return []


def has_goroutine_counts(data: bytes) -> bool:
    """Whether a program printed the counts: there are several, or they are from /debug/pprof/."""
    head = data[:HEAD_BYTES]
    counts = goroutine_counts(head)
    return len(counts) >= MIN_COUNTS or (bool(counts) and bool(_on_page(head)))
