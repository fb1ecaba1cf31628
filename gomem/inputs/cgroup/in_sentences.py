"""Cgroup fields mentioned in prose or in a table: `memory.current was 2048086016`.

These numbers are only mentioned, not parsed, because they can be from different times.
"""

from __future__ import annotations

import re

from gomem.inputs.cgroup.parse import USED
from gomem.inputs.processes.row import rounded_size

_SAYS = rb"[\"'`*]*(?: (?:was|is|of|at|shows|says))?[ :=|\"'`*]{1,6}"
_FIELD = re.compile(
    rb"(?<![\w./-])(memory\.(?:current|usage_in_bytes)|(?:total_)?(?:(?:in)?active_file|cache)"
    rb"|file|anon)" + _SAYS + rb"(0|\d{5,19}|\d{1,9}(?:\.\d{1,3})? ?[KMG]i?B?)(?![\w.%,]*\w)"
)
_BOUND = re.compile(
    rb"(?<![\w./-])(memory\.(?:high|max|peak|(?:soft_)?limit_in_bytes|max_usage_in_bytes)"
    rb"|Memory(?:High|Max))" + _SAYS + rb"(\d{1,19}(?:\.\d{1,3})? ?(?:[KMG]i?B?)?)(?![\w.%,]*\w)"
)
# `oom_kill` of memory.events, in a sentence or a row of a table.
_EVENT = re.compile(
    rb"(?<![\w./-])(oom_kill|oom|max)\b[\"'`*]*(?: (?:in|of|from) [^|\n]{1,60}?)?"
    rb"(?: (?:was|is|at|shows|says))?[ :=|\"'`*]{1,6}(\d{1,3}(?:,\d{3})+|\d{1,15})(?![\w.%,]*\w)"
)
# How often version 1 reached its limit.
_FAILS = re.compile(
    rb"(?<![\w-])memory\.(failcnt)" + _SAYS + rb"(\d{1,3}(?:,\d{3})+|\d{1,15})(?![\w.%,]*\w)"
)
THROTTLED = frozenset({"memory.high", "MemoryHigh"})


def used_in_sentences(text: bytes) -> dict[str, int]:
    """Return cgroup fields in bytes, the last value of each; empty if no usage is among them."""
    found = _sizes(_FIELD, text)
    return found if any(name in found for name in USED) else {}


def events_in_sentences(text: bytes) -> dict[str, int]:
    """Return counts of memory.events, or of failcnt and oom_control, the last value of each.

    It is empty if none of these files is named.
    """
    has_events = b"memory.events" in text or b"memory.oom_control" in text
    found = [*_FAILS.findall(text), *(_EVENT.findall(text) if has_events else ())]
    return {name.decode("ascii"): int(count.replace(b",", b"")) for name, count in found}


def bounds_in_sentences(text: bytes) -> dict[str, int]:
    """Return the cgroup's limits and peaks in bytes, by the kernel's or systemd's name."""
    return _sizes(_BOUND, text)


def _sizes(pattern: re.Pattern[bytes], text: bytes) -> dict[str, int]:
    read = ((name.decode("ascii"), rounded_size(size)) for name, size in pattern.findall(text))
    return {name: size.bytes for name, size in read if size is not None}


def page_cache_of(fields: dict[str, int]) -> tuple[int, tuple[str, ...]] | None:
    """Return the page cache in bytes, and the fields that it is from; None if no field has it."""
    totals = (("total_cache",), ("total_active_file", "total_inactive_file"))
    for names in (("file",), *totals, ("cache",), ("active_file", "inactive_file")):
        known = tuple(name for name in names if name in fields)
        if known:
            return sum(fields[name] for name in known), known
    return None
