"""Lines of smaps_rollup without its head, as grep prints them: `grep -E 'Rss|Anonymous|LazyFree'`.

Rss:              102388 kB
Anonymous:         95660 kB
LazyFree:              0 kB

Fields that grep left out are unknown. Lines that repeat are from smaps, one set for each mapping,
and lines with `Size` are from a single mapping: neither is read as a rollup.
"""

from __future__ import annotations

import re

from gomem.inputs.smaps.parse import ROLLUP_PATH, SIZE_FIELDS

MAX_BYTES = 4096
MIN_FIELDS = 2
HEAD = f"0-0 ---p 00000000 00:00 0 {ROLLUP_PATH}\n".encode()
_FIELD = re.compile(rb"[ \t]*(\w+):[ \t]+\d{1,15} kB[ \t\r]*")
_MAPPING_FIELDS = frozenset({b"Size", b"KernelPageSize", b"MMUPageSize"})


def is_rollup_excerpt(data: bytes) -> bool:
    """Whether a text is some fields of one smaps_rollup, Rss among them, and nothing else."""
    if len(data) > MAX_BYTES or b"Rss:" not in data:
        return False
    lines = [line for line in data.split(b"\n") if line.strip()]
    names = [field[1] for line in lines if (field := _FIELD.fullmatch(line)) is not None]
    known = SIZE_FIELDS - _MAPPING_FIELDS
    is_once = len(lines) == len(names) == len(set(names)) >= MIN_FIELDS
    return is_once and b"Rss" in names and known.issuperset(names)
