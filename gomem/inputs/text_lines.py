"""The lines of a text, numbered as every editor and Go itself number them: by newlines alone."""

from __future__ import annotations


class LineNumbers:
    """The lines, from 1, of positions in a text that ascend: each newline is counted once."""

    def __init__(self, data: bytes) -> None:
        """Begin at the first line."""
        self._data = data
        self._line, self._counted = 1, 0

    def at(self, place: int) -> int:
        """Return the line of a position, which is not before the last one."""
        self._line += self._data.count(b"\n", self._counted, place)
        self._counted = place
        return self._line


def decoded(data: bytes) -> str:
    """Return a piece of a text; bytes that are not UTF-8 become U+FFFD."""
    return data.decode("utf-8", "replace")


def lines_of(data: bytes) -> list[str]:
    """Lines without their ends; bytes that are not UTF-8 become escapes.

    `str.splitlines` also ends a line at a form feed, which Go's own sources have, and at U+2028.
    """
    text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n")
