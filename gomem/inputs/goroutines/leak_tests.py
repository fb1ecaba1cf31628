"""Goroutine leaks as tests report them: go.uber.org/goleak, fortytw2/leaktest and similar.

goleak        [Goroutine 52 in state select, with main.run on top of the stack:
              followed by `goroutine 52 [select]:` until 1.2, and directly by the stack since
leaktest      leaktest.go:86: Leaked goroutine: goroutine 1 [chan receive]:
t.Errorf      indents what is behind its first line: by a tab more before Go 1.14, by blanks since
They are rewritten to the runtime's own header, not indented. Line numbers do not change.
Where the text ends in a header or in the line after it, the function that the header names is the
stack.
"""

from __future__ import annotations

import re

LEAK_TESTS = (
    ("goleak", b"found unexpected goroutines"),
    ("goleak", b" on top of the stack:"),
    ("leaktest", b"eaked goroutine: "),
)
_HEADER = re.compile(
    rb"^(?:[ \t\[]*Goroutine (\d{1,19}) in state ([^,\n]{1,60}(?:, [^,\n]{1,60}){0,2}?), with "
    rb"(?:([^\n]{1,400}) on top of the stack:|(?:(\S{1,400}) on\b)?[^\n]{0,400}(?=\n?\Z))"
    rb"|[^\n]{0,200}?\b[Ll]eaked goroutine: (?=goroutine \d)([^\n]{1,300}:))[ \t]*$"
    rb"((?:\n[ \t]*(?!goroutine \d)[^\n]*)?\s*\Z)?",
    re.MULTILINE,
)


_INDENTATION = re.compile(
    rb"^([ \t]+)(?=goroutine \d{1,19} [^\n\[]{0,200}\[[^\]\n]{1,200}\][^\n]{0,1000}:[ \t]*$)",
    re.MULTILINE,
)


def with_headers(data: bytes) -> bytes:
    """Return the text with the runtime's header for each goroutine that a test lists."""
    return _outdented(_with_headers(data))


def _outdented(data: bytes) -> bytes:
    """Remove the indentation of each goroutine's header from it and from the lines below it."""
    if _INDENTATION.search(data) is None:
        return data
    lines, indentation = data.split(b"\n"), b""
    for place, line in enumerate(lines):
        if header := _INDENTATION.match(line):
            indentation = header[1]
        elif line.strip() and not line.startswith(indentation):
            indentation = b""
        lines[place] = line.removeprefix(indentation)
    return b"\n".join(lines)


def _with_headers(data: bytes) -> bytes:
    if all(words not in data for words in (b" on top of the stack:", b"eaked goroutine: ")):
        return data
    return _HEADER.sub(_rewritten, data)


def test_that_lists(data: bytes) -> str:
    """Return the test package that lists the goroutines; empty if none does."""
    return next((name for name, words in LEAK_TESTS if words in data), "")


def _rewritten(found: re.Match[bytes]) -> bytes:
    number, state, top, top_of_cut, own_header, is_last = found.groups()
    if own_header:
        return own_header + (is_last or b"")
    follows = found.string[found.end() + 1 : found.end() + 80].lstrip(b" \t")
    if follows.startswith(b"goroutine " + number + b" ["):
        return b""
    frame = b"\n%b()" % (top or top_of_cut) if is_last is not None and (top or top_of_cut) else b""
    return b"goroutine %b [%b]:%b" % (number, state, frame)
