"""Display text: the meaning of the ledger's parts, the collector's phases and so on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.text import Part, Text, Words, joined
from gomem.units import minus

if TYPE_CHECKING:
    from collections.abc import Sequence


PARTS = {
    "heap_objects": "live objects, and dead objects not yet swept",
    "heap_slack": "free slots in spans that hold objects",
    "heap_idle": "spans without objects, kept for reuse",
    "stacks": "goroutine stacks and GC work buffers in the arenas",
    "heap_released_resident": "released with MADV_FREE, still in RSS",
    "heap_untouched": "reserved by Go, never touched, not in RSS",
    "heap_unexplained": "in RSS beyond what MemStats counts",
    "runtime_metadata": "span structures, GC bitmaps, page tables of the runtime",
    "binary": "the program's code, constants and globals",
    "libraries": "shared objects",
    "native_heap": "C's heap: brk and malloc arenas",
    "thread_stacks": "stacks of threads",
    "mapped_files": "files mapped by the program",
    "shared_memory": "shared memory, memfd",
    "kernel": "vdso and similar mappings",
    "anonymous_other": "not explained",
}
GROUPS = {
    "go_live": "what the last GC marked",
    "go_garbage": "live objects or garbage: the next GC decides",
    "go_objects": "live objects or garbage: no file says",
    "go_free": "idle spans, free slots, and released memory still in RSS",
    "go_stacks": "with GC work buffers",
    "go_heap": "objects, free heap and stacks together",
    "go_runtime": "span structures, GC bitmaps, page tables",
    "native": "malloc's heaps and large blocks, thread stacks, the program's own mappings",
    "files": "mapped files, shared memory, memfd",
    "program": "the executable, shared objects, vdso",
    "undivided": "collect smaps to break it down",
}
CLAIMED = "reserved by Go, not in RSS"
BOUNDS = "; without smaps, Go's sizes are upper bounds"
PHASES = {
    "start-up": "until the live heap first reaches half of its usual size",
    "steady": "allocation at about the usual rate",
    "burst": "allocation at least four times as fast as usual",
    "quiet": "allocation at most a quarter as fast as usual",
}
TRIGGERS = {
    "pacer": "the heap came near GOGC's goal",
    "limit": "the heap came near a memory limit's goal",
    "forced": "runtime.GC, debug.FreeOSMemory, a heap profile with gc=1",
    "periodic": "two minutes without a GC",
}
PACING = {
    "survival_fraction": (
        "survives",
        "live heap / heap at the start of the GC; above 1 if the live heap grows during marking",
    ),
    "overshoot_bytes": ("above the goal", "heap at the end of marking, above the goal"),
    "overshoot_fraction": ("above the goal, share", "the same, as a share of the goal"),
    "headroom_bytes": (
        "headroom",
        "next goal minus the live heap: room to allocate before the next GC",
    ),
    "headroom_fraction": (
        "headroom / live heap",
        "headroom as a share of the live heap: GOGC / 100 if only GOGC sets the goal",
    ),
}
TIMES = {
    "stopped": ("pause", "both STW phases of a GC together"),
    "first_stop": ("STW 1: sweep termination", "with the time it takes to stop every P"),
    "last_stop": ("STW 2: mark termination", ""),
    "marking": ("marking", "concurrent, beside the program"),
    "interval": (
        "interval",
        "from the start of one GC to the start of the next",
    ),
}


def part_name(part: str) -> str:
    """The display name of a part: the name with spaces."""
    if part == "heap_untouched":
        return "subtracted: heap not in RSS"
    return part.replace("_", " ")


def how_many(count: int, noun: str, many: str = "") -> str:
    """A count with its noun: `1 place`, `3 places`."""
    return f"{count} {noun if count == 1 else many or f'{noun}s'}"


def first_few(names: Sequence[str], at_most: int) -> Text:
    """The first few of a list of names, and how many more there are."""
    rest = len(names) - at_most
    return joined(", ", names[:at_most]) + (f" and {rest} more" if rest > 0 else "")


def minus_signs(sentence: str) -> Text:
    """Use minus signs before numbers; names keep their hyphens."""
    return Text(sentence).shown(_with_minus)


def _with_minus(part: Part) -> Part:
    is_words = type(part) is Words
    return Words(re.sub(r"(?<![^ (])-(?=[0-9])", minus("-"), part)) if is_words else part
