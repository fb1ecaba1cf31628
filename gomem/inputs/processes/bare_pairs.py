"""Rows of `ps -o rss=,vsz= -p PID` that a loop prints: two numbers, without a time or a header.

Printed by    while sleep 8; do ps -o rss=,vsz= -p PID; done >> rss.txt
              32388 1604004
Quirks        Only a heading, a command above the rows or the file's name says what they are: one of
              them has the word rss. ps counts in KiB, so whole pages are multiples of 4. VSZ is the
              larger one in each row. The rows are in the order of time, at unknown times.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.errors import Damage, excerpt
from gomem.inputs.processes.in_a_loop import LEAST_RESERVED, MIN_ROWS, PAGE_KIB, PS
from gomem.inputs.processes.row import ProcessRow, Rounded
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_HEADING = 4  # lines above the rows
_PAIR = re.compile(rb"[ \t>]*(\d{1,12})[ \t,;]+(\d{1,12})[ \t\r]*")
_NAMES_RSS = re.compile(r"(?i)(?<![a-z])(?:vm)?rss(?![a-z])")


def looks_like_pairs(data: bytes, name: str) -> bool:
    """Whether a text begins with such rows, below a heading at most."""
    return bool(_rows(data, name))


def parse_pairs(data: bytes, name: str) -> tuple[tuple[ProcessRow, ...], list[Damage]]:
    """Return the rows, and what is below them; no rows if the text is something else."""
    rows = _rows(data, name)
    if not rows:
        return (), []
    below = enumerate(data.split(b"\n")[rows[-1].line :], start=rows[-1].line + 1)
    number, other = next(((at, line) for at, line in below if line.strip()), (0, b""))
    what = (
        "the text from here on is not read: not a row of RSS and VSZ; save it as a file of its own"
    )
    return rows, [Damage(name, f"line {number}", what, excerpt(other))] if number else []


def _rows(data: bytes, name: str) -> tuple[ProcessRow, ...]:
    heading: list[bytes] = []
    found: list[tuple[int, tuple[int, int]]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        pair = _PAIR.fullmatch(line)
        if pair is not None:
            found.append((number, (int(pair[1]), int(pair[2]))))
        elif found and line.strip():
            break
        elif line.strip():
            heading.append(line)
            if len(heading) > MAX_HEADING:
                return ()
    said = b"\n".join(heading).decode("utf-8", "replace")
    if len(found) < MIN_ROWS or not (
        _NAMES_RSS.search(said) or _NAMES_RSS.search(PurePosixPath(name).name)
    ):
        return ()
    rss = _resident([pair for _, pair in found])
    return (
        ()
        if rss is None
        else tuple(
            ProcessRow(
                PS,
                "",
                rss=Rounded(pair[rss] * KIB, KIB),
                mapped_bytes=pair[1 - rss] * KIB,
                reading=reading,
                line=number,
            )
            for reading, (number, pair) in enumerate(found)
        )
    )


def _resident(sizes: Sequence[tuple[int, int]]) -> int | None:
    """Which of the two sizes is RSS; None if they are not RSS and VSZ in KiB.

    A process that has just begun has reserved little.
    """
    if any(size % PAGE_KIB for pair in sizes for size in pair):
        return None
    for rss in (0, 1):
        is_less = all(pair[rss] < pair[1 - rss] for pair in sizes)
        if is_less and sum(pair[1 - rss] >= LEAST_RESERVED for pair in sizes) * 2 > len(sizes):
            return rss
    return None
