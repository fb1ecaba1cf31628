r"""Removes Markdown from lines of evidence: links, bold words, inline code, table bars.

Links        [(*T).Put](https://…)     only its text; some pages link each function
Bold, code   **Alloc** = `5 MiB`       without the marks
Bullets      - HeapAlloc: 5 MiB        without the bullet
Tags         <pre>Name: api</pre>      without the tags before and after a line's text
Escapes      main.\_Cfunc\_malloc      without the backslash
Tables       | PID | RSS | COMMAND |   cells separated by spaces; the rule below the header is empty
             | function | flat | … |   a function in the first cell moves after its numbers
Line numbers do not change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LINK = re.compile(
    rb"!?\[((?:[^\[\]\n]|\[[^\[\]\n]*\]){1,400})\]\(https?://[^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
)
_BOLD = re.compile(rb"(\*\*|__)(?=\S)([^\n]{1,200}?)(?<=\S)\1")
_BOLD_CELL = re.compile(rb"(?<!\S)\*\*(?=\S)([^\n]{1,200}?)(?<=\S)\*\*(?!\S)")
_CODE = re.compile(rb"(?<!`)`++([^`\n]++)`++")
BULLET = re.compile(rb"^\s*(?:[-*+]|\d{1,2}\.) (?=\S)")
_PRE = re.compile(rb"^\s*(?:<(?:pre|code)>){1,2}|(?:</(?:pre|code|details|p)>){1,4}\s*$")
_ESCAPE = re.compile(rb"\\([\\`*_{}\[\]<>()#+.!|~-])")
# A line that begins or ends a block, in Markdown, Jira or a forum.
FENCE = re.compile(
    rb"\s*(?:`{3,}|~{3,})[^`]*|\s*\{(?:code|noformat)(?::[^{}\n]{0,200})?\}\s*|\s*\[/?code\]\s*"
)
_ROW = re.compile(rb"\s*\|.*\|\s*")
RULE = re.compile(rb"\s*+\|?+(?:\s*+:?-++:?\s*+\|)++(?:\s*+:?-++:?\s*+)?")
_IS_NUMBER = re.compile(rb"-?\d[\d.,]*\s?(?:%|[A-Za-z]{0,4})|flat|flat%|sum%|cum|cum%")
BETWEEN_CELLS = b"   "
LEAST_NUMBERS = 4  # numbers in a row whose first cell is a function's name
_EMPHASIS = re.compile(rb"</?(?:b|strong|i|em|u|mark|code|kbd)>", re.IGNORECASE)


def outside_fences(lines: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are in no fence, with their places from 0."""
    is_inside = False
    for place, line in enumerate(lines):
        if FENCE.fullmatch(line) is not None:
            is_inside = not is_inside
        elif not is_inside:
            yield place, line


def without_links(data: bytes) -> bytes:
    """Replace each link by its text."""
    return _LINK.sub(rb"\1", data) if b"](http" in data else data


def without_bold_cells(data: bytes) -> bytes:
    """Remove the bold marks around words."""
    return _BOLD_CELL.sub(rb"\1", data) if b"**" in data else data


def without_tags(line: bytes) -> bytes:
    """Remove the HTML tags that only set words apart, as in `<b>32.4g</b>`."""
    return _EMPHASIS.sub(b"", line) if b"</" in line else line


def without_open_bold(lines: list[bytes]) -> list[bytes]:
    """Remove the marks of bold text that spans several lines."""
    texts, begun = list(lines), None
    for place, line in enumerate(lines):
        if line.count(b"**") != 1:
            continue
        if line.startswith(b"**") and line != b"**":
            begun = place
        elif begun is not None and line.endswith(b"**"):
            texts[begun], texts[place] = lines[begun][2:], line[:-2]
            begun = None
    return texts


def without_markup(line: bytes) -> bytes:
    """Return a line without Markdown."""
    if RULE.fullmatch(line):
        return b""
    if _ROW.fullmatch(line):
        return BETWEEN_CELLS.join(_in_order(cells_of_row(line)))
    return _plain(BULLET.sub(b"", line))


def _plain(text: bytes) -> bytes:
    text = _PRE.sub(b"", text) if b">" in text else text
    return _ESCAPE.sub(rb"\1", _CODE.sub(rb"\1", _BOLD.sub(rb"\2", text)))


def _cells(row: bytes) -> list[bytes]:
    bare = row.strip().removeprefix(b"|").removesuffix(b"|")
    return [cell.strip() for cell in bare.split(b"|")]


def cells_of_row(row: bytes) -> list[bytes]:
    """Return the cells of a row of a table, without Markdown."""
    return [_plain(cell) for cell in _cells(row)]


def _in_order(cells: list[bytes]) -> list[bytes]:
    """Return the cells with the name last, if it is first and only numbers follow it."""
    first, *others = cells
    are_numbers = all(map(_IS_NUMBER.fullmatch, others))
    is_moved = are_numbers and len(others) > LEAST_NUMBERS and not _IS_NUMBER.fullmatch(first)
    return [*others, first] if is_moved else cells
