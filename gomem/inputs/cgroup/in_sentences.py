"""A cgroup's fields in what a person wrote of them: `memory.current was 2048086016`.

Such numbers are named, not read: nothing says that they are of one time.
"""

from __future__ import annotations

import re

_FIELD = re.compile(
    rb"(?<![\w./-])(memory\.(?:current|usage_in_bytes)|active_file|inactive_file|file|cache|anon)"
    rb"[\"'`*]*(?: (?:was|is|of|at|shows|says))?[ :=\"'`*]{1,4}(0|\d{5,19})(?![\w.%,]*\w)"
)
USED = ("memory.current", "memory.usage_in_bytes")
ANONYMOUS = "anon"


def used_in_sentences(text: bytes) -> dict[str, int]:
    """Fields of a cgroup in bytes, the last of each name; empty where none says what it uses."""
    found = {name.decode("ascii"): int(size) for name, size in _FIELD.findall(text)}
    return found if any(name in found for name in USED) else {}


def page_cache_of(fields: dict[str, int]) -> tuple[int, tuple[str, ...]] | None:
    """How much of it is page cache, and by which fields; None where none says that."""
    for names in (("file",), ("cache",), ("active_file", "inactive_file")):
        known = tuple(name for name in names if name in fields)
        if known:
            return sum(fields[name] for name in known), known
    return None
