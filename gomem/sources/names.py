"""Names of files: in the order in which people count, and as text that can be written anywhere."""

from __future__ import annotations

import re

_COMPRESSED = re.compile(r"(?i)(?<=.)\.(?:gz|zst)$")


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key in which `heap-9` comes before `heap-10`."""
    key: list[tuple[int, int, str]] = []
    digits = text = ""
    for character in f"{name}\0":
        if character.isascii() and character.isdigit():
            if text:
                key.append((1, 0, text))
                text = ""
            digits += character
        else:
            if digits:
                number = digits.lstrip("0")
                key.append((0, len(number), number))
                digits = ""
            text += character
    key.append((1, 0, text))
    return key


def readable_name(name: str) -> str:
    """A name as the file system gave it, with `\ufffd` for bytes that are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def uncompressed_name(name: str) -> str:
    """What a file was called before gzip or zstd put its ending behind the name."""
    return _COMPRESSED.sub("", name)
