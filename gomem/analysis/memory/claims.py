"""What does the runtime say is in its arenas and not given back, and which fields say so?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

_FIELDS = {
    "heap_objects": "HeapAlloc",
    "heap_slack": "HeapInuse - HeapAlloc",
    "heap_idle": "HeapIdle - HeapReleased",
    "stacks": "StackInuse",
}
_METADATA = "runtime_metadata"
RUNTIME_SIDES = {
    "memstats": {
        **{part: f"MemStats.{field}" for part, field in _FIELDS.items()},
        _METADATA: "MemStats: the other *Sys fields",
    },
    "metrics-page": {
        **{part: f"metrics-page {field}" for part, field in _FIELDS.items()},
        _METADATA: "metrics-page: the other *Sys fields",
    },
    "metrics": {
        "heap_objects": "/memory/classes/heap/objects:bytes",
        "heap_slack": "/memory/classes/heap/unused:bytes",
        "heap_idle": "/memory/classes/heap/free:bytes",
        "stacks": "/memory/classes/heap/stacks:bytes",
        _METADATA: "/memory/classes: metadata, profiling/buckets and other",
    },
}
_HEAP_FIELDS = ("HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "StackInuse")


def claims_of(
    memstats: pd.Series, work_buffers: int, sources: Mapping[str, str]
) -> list[tuple[str, int, str]]:
    """What the runtime says is in the arenas and not given back."""
    field = {name: int(memstats[name]) for name in _HEAP_FIELDS}
    sizes = {
        "heap_objects": field["HeapAlloc"],
        "heap_slack": field["HeapInuse"] - field["HeapAlloc"],
        "heap_idle": field["HeapIdle"] - field["HeapReleased"],
        "stacks": field["StackInuse"] + work_buffers,
    }
    more = {"stacks": " + GC work buffers"} if work_buffers else {}
    return [(part, size, sources[part] + more.get(part, "")) for part, size in sizes.items()]


def has_heap_fields(memstats: pd.Series) -> bool:
    """Whether a MemStats row has all that the ledger needs."""
    return bool(memstats[list(_HEAP_FIELDS)].notna().all())
