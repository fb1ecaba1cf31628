"""The names of MemStats fields in texts: as Go spells them, in snake case, or in words."""

from __future__ import annotations

import re
from functools import lru_cache

from gomem.inputs.memstats.grouped import SIZES

COUNTS = (
    "HeapObjects", "Lookups", "Mallocs", "Frees", "LastGC", "PauseTotalNs", "NumForcedGC", "NumGC",
    "GCCPUFraction",
)  # fmt: skip
PAIRS = ("Stack", "MSpan", "MCache")  # `Stack = in use / from the OS`
ON_PAGES = {  # the names on memory pages of gopls and similar tools
    "Total allocated bytes": "TotalAlloc",
    "Allocated bytes": "HeapAlloc",
    "Heap system bytes": "HeapSys",
    "System bytes": "Sys",
    "Malloc calls": "Mallocs",
    "Idle heap bytes": "HeapIdle",
    "Stack in use bytes": "StackInuse",
    "In use bytes": "HeapInuse",
    "Released to system bytes": "HeapReleased",
    "Heap object count": "HeapObjects",
    "Stack from system bytes": "StackSys",
    "Bucket hash bytes": "BuckHashSys",
    "GC metadata bytes": "GCSys",
    "Off heap bytes": "OtherSys",
    "Total allocated": "TotalAlloc",  # in tables with dots between name and number
    "Heap allocated": "HeapAlloc",
    "HeapRelease": "HeapReleased",  # a common misspelling
}


def _spelled(name: str) -> str:
    """Match a field as Go spells it, in snake case, or in words."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", name.replace("Inuse", "InUse"))
    return r"[ ._-]?".join(words)


def squeezed(name: str) -> str:
    """Normalise a name, however it is written."""
    return re.sub(r"[ ._-]", "", name).lower()


FIELDS = {squeezed(name): name for name in (*SIZES, *COUNTS, *PAIRS)}
FIELDS |= {squeezed(words): name for words, name in ON_PAGES.items()}
# An expression of all names, for a search that ignores case.
NAMES = "|".join((*ON_PAGES, *map(_spelled, (*SIZES, *COUNTS)), *PAIRS))
# What telemetry libraries put before a field's name, and what a column adds behind it.
_BEFORE = re.compile(r"^(?:.*\.|(?:go_|runtime_|mem_?stats_|mem_|memory_)+)", re.IGNORECASE)
_LABELS = re.compile(r"\{[^{}]*\}$")
_BEHIND = re.compile(r"(?:_?bytes|_?[KMGT]i?B)$|[ _]?[(\[][^)\]]*[)\]]$", re.IGNORECASE)


@lru_cache(maxsize=1024)
def field_of(column: str) -> str | None:
    """Return the field that a column's name means; None if it means none."""
    return _field(plain_name(column))


def plain_name(column: str) -> str:
    """Return a column's name without what a telemetry library puts before a field's."""
    name = _LABELS.sub("", column.strip())
    short = _BEFORE.sub("", name)
    return short if _field(name) is None and _field(short) else name


def _field(name: str) -> str | None:
    return FIELDS.get(squeezed(_BEHIND.sub("", name)))
