"""File names: in natural order, and as text that can be written anywhere."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_SHARED = 3  # length of a common prefix that counts as a word
_PIECES = re.compile(r"([0-9]+)|([^0-9]+)")
_COMPRESSED = re.compile(r"(?i)(?<=.)\.(?:gz|zst)$")


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts `heap-9` before `heap-10`."""
    pieces = ((digits.lstrip("0"), text) for digits, text in _PIECES.findall(f"{name}\0"))
    return [(1, 0, text) if text else (0, len(number), number) for number, text in pieces]


def readable_name(name: str) -> str:
    """Return a file's name as text, with `�` for bytes that are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def uncompressed_name(name: str) -> str:
    """Remove the suffix of gzip or zstd from a file's name."""
    return _COMPRESSED.sub("", name)


def shared_name(paths: Sequence[str]) -> str:
    """Return a common name for several paths: their common prefix, their folder, or `3 files`.

    `heap-1.pb.gz` and `heap-2.pb.gz` give `heap`; `up/smaps` and `up/status` give `up`.
    """
    if len(paths) == 1:
        return paths[0]
    folders, names = zip(*(os.path.split(path) for path in paths), strict=True)
    folder = folders[0] if len(set(folders)) == 1 else ""
    if len(begin := _whole_words(names)) >= MIN_SHARED:
        return os.path.join(folder, begin)  # noqa: PTH118 - the folder stays as it was named
    return folder if PurePath(folder).name else f"{len(paths)} files"


def _whole_words(names: Sequence[str]) -> str:
    """The common prefix of names, without partial words or numbers."""
    begin = os.path.commonprefix(names)  # noqa: RUF071 - names are characters here, not folders
    for part in (str.isalpha, is_digits):
        goes_on = any(part(name[len(begin) : len(begin) + 1]) for name in names)
        while begin and goes_on and part(begin[-1]):
            begin = begin[:-1]
    return begin.strip(" -_.")
