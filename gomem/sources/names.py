"""Names of files: in the order in which people count, and as text that can be written anywhere."""

from __future__ import annotations

import re

_PIECES = re.compile(r"([0-9]+)|([^0-9]+)")
_COMPRESSED = re.compile(r"(?i)(?<=.)\.(?:gz|zst)$")


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key in which `heap-9` comes before `heap-10`."""
    pieces = ((digits.lstrip("0"), text) for digits, text in _PIECES.findall(f"{name}\0"))
    return [(1, 0, text) if text else (0, len(number), number) for number, text in pieces]


def readable_name(name: str) -> str:
    """A name as the file system gave it, with `\ufffd` for bytes that are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def uncompressed_name(name: str) -> str:
    """What a file was called before gzip or zstd put its ending behind the name."""
    return _COMPRESSED.sub("", name)
