"""Which numbers describe an instance, so that it can be compared with the others?

Each number has one meaning, whatever files a capture has. So parts of the runtime's memory come
only from MemStats, and parts that the kernel counts only from smaps. Without smaps, the rest of RSS
is not taken as a part. The in-use memory of a heap profile, which is sampled, is used only if the
live heap is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

What = Literal["part", "count", "rate", "setting", "total"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number that describes an instance."""

    name: str  # as in the column `name` of levels
    unit: str  # a base unit
    what: What  # a part of RSS, a count, or a rate; totals of parts explain nothing themselves
    words: str  # what sentences call it
    codes: tuple[str, ...] = ()  # the causes that it can indicate, the likeliest first


QUANTITIES = (
    Quantity("rss_bytes", "B", "total", "RSS"),
    Quantity("goroutines", "count", "count", "goroutines", ("goroutine-leak",)),
    Quantity("threads", "count", "count", "threads", ("thread-growth",)),
    Quantity("open_fds", "count", "count", "open file descriptors"),
    Quantity("live_heap", "B", "part", "live heap", ("heap-growth",)),
    Quantity("inuse_space", "B", "part", "live objects", ("heap-growth",)),
    Quantity("heap_objects", "B", "part", "heap objects and garbage", ("heap-growth",)),
    Quantity("heap_slack", "B", "part", "free slots in the heap in use", ("heap-fragmentation",)),
    Quantity("heap_idle", "B", "part", "idle heap", ("idle-heap-kept",)),
    Quantity("stacks", "B", "part", "goroutine stacks", ("stack-growth",)),
    Quantity("runtime_metadata", "B", "part", "Go runtime structures"),
    Quantity("heap_released_resident", "B", "part", "released memory still in RSS",
             ("released-but-resident",)),
    Quantity("heap_unexplained", "B", "part", "touched heap that holds nothing",
             ("untouched-now-resident",)),
    Quantity("native", "B", "part", "C and other native memory",
             ("native-memory", "anonymous-mapping")),
    Quantity("thread_stacks", "B", "part", "thread stacks", ("thread-growth",)),
    Quantity("mapped_files", "B", "part", "mapped files", ("file-mapping",)),
    Quantity("shared_memory", "B", "part", "shared memory", ("file-mapping",)),
    Quantity("gc_cpu_fraction", "fraction", "rate", "CPU in the GC",
             ("gc-pressure", "memory-limit-thrash", "forced-gc")),
    Quantity("allocation_rate_bytes_per_second", "B/s", "rate", "allocation rate",
             ("gc-pressure",)),
    Quantity("collections_per_second", "Hz", "rate", "GCs per second",
             ("gc-pressure",)),
    Quantity("stw_p99_seconds", "s", "rate", "p99 pause", ("long-pauses",)),
    Quantity("of_limit_fraction", "fraction", "total", "share of the memory limit",
             ("limit-risk",)),
)  # fmt: skip
BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}
