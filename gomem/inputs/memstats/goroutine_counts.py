"""How many goroutines there are, as programs print it: `NumGoroutine: 12`, `goroutines=12`."""

from __future__ import annotations

import re

from gomem.inputs.unwrap import plain_characters

HEAD_BYTES = 1 << 20
MIN_COUNTS = 3  # that a program prints of itself over time; fewer can be anybody's words
GOROUTINES = re.compile(
    rb"(?<![A-Za-z0-9])(?:num(?:ber)?[ _-]?(?:of[ _-])?goroutines?"
    rb"|goroutines?(?:[ _-]?(?:num|number|count))?)"
    rb"[\"'`*]*[ \t]*(?:=>|->|[=:]{1,2})[ \t]*[\"'`*]*(\d{1,9})(?![\w.%])",
    re.IGNORECASE,
)  # fmt: skip


def goroutine_counts(data: bytes) -> list[tuple[int, int]]:
    """Line and number, where a program's lines say how many goroutines there are."""
    lines = enumerate(plain_characters(data).split(b"\n"), start=1) if b"oroutine" in data else ()
    found = ((number, GOROUTINES.search(line)) for number, line in lines)
    return [(number, int(count[1])) for number, count in found if count is not None]


def has_goroutine_counts(data: bytes) -> bool:
    """Whether so many lines say how many goroutines there are that they are a program's."""
    return len(goroutine_counts(data[:HEAD_BYTES])) >= MIN_COUNTS
