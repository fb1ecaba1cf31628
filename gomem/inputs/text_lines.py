"""The lines of a text, numbered as every editor and Go itself number them: by newlines alone."""

from __future__ import annotations


def lines_of(data: bytes) -> list[str]:
    """Lines without their ends; bytes that are not UTF-8 become escapes.

    `str.splitlines` also ends a line at a form feed, which Go's own sources have, and at U+2028.
    """
    text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n")
