"""An object of Beats that spans several lines, as jq prints it, or an HTTP endpoint with `?pretty`.

    "memstats": {
      "memory_alloc": 21569008,
      "rss": 115658752
    }

It is the same as in a line of their log, so it is written as one; other lines keep their number.
"""

from __future__ import annotations

import re

_OBJECT = re.compile(
    rb"\"memstats\"[ \t]*:[ \t]*\{[^{}]{0,2000}\"memory_alloc\"[^{}]{0,2000}\}"
    rb"(?:\s{0,40},\s{0,40}\"runtime\"\s{0,4}:\s{0,4}\{\s{0,40}\"goroutines\"\s{0,4}:\s{0,4}\d{1,18})?"
)
_BLANK = re.compile(rb"\s+")


def folded(data: bytes) -> bytes:
    """Return a text with each such object in one line."""
    if b'"memory_alloc"' not in data:
        return data
    return _OBJECT.sub(_in_one_line, data)


def _in_one_line(found: re.Match[bytes]) -> bytes:
    breaks = found[0].count(b"\n")
    return b"{" + _BLANK.sub(b"", found[0]) + b"\n" * breaks if breaks else found[0]
