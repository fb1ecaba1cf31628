"""What Go's numbers are called on a page of Prometheus metrics: the one table of these names.

client_golang   `go_memstats_alloc_bytes` is a field of MemStats. On request it has all of
                runtime/metrics: `go_` and the runtime's name, with `_` for what Prometheus does
                not allow, and `_total` behind what only grows.
go-metrics      Consul, Vault and Nomad write `<service>_runtime_alloc_bytes`, with a host's name in
                the middle if so configured, in the 24 binary digits of a float32.
Processes       `process_…` is what the kernel says, read by the client from /proc/self.

What a table lacks here is no number of Go's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

# MemStats' fields by their name on the page, and what the page's number is multiplied by.
_CLIENT = """
alloc_bytes=Alloc alloc_bytes_total=TotalAlloc sys_bytes=Sys lookups_total=Lookups
mallocs_total=Mallocs frees_total=Frees heap_alloc_bytes=HeapAlloc heap_sys_bytes=HeapSys
heap_idle_bytes=HeapIdle heap_inuse_bytes=HeapInuse heap_released_bytes=HeapReleased
heap_objects=HeapObjects stack_inuse_bytes=StackInuse stack_sys_bytes=StackSys
mspan_inuse_bytes=MSpanInuse mspan_sys_bytes=MSpanSys mcache_inuse_bytes=MCacheInuse
mcache_sys_bytes=MCacheSys buck_hash_sys_bytes=BuckHashSys gc_sys_bytes=GCSys
other_sys_bytes=OtherSys next_gc_bytes=NextGC last_gc_time_seconds=LastGC
gc_cpu_fraction=GCCPUFraction
"""
_GO_METRICS = """
alloc_bytes=HeapAlloc sys_bytes=Sys malloc_count=Mallocs free_count=Frees
heap_objects=HeapObjects total_gc_pause_ns=PauseTotalNs total_gc_runs=NumGC
"""
NANOSECONDS = 1e9
_PAUSES = {"go_gc_duration_seconds_sum": "PauseTotalNs", "go_gc_duration_seconds_count": "NumGC"}
IN_SECONDS = frozenset({"go_memstats_last_gc_time_seconds", "go_gc_duration_seconds_sum"})

# runtime/metrics, by their first release up to Go 1.27; those that only grow, and histograms.
_GAUGES = """
/gc/gogc:percent /gc/gomemlimit:bytes /gc/heap/goal:bytes /gc/heap/live:bytes
/gc/heap/objects:objects /gc/limiter/last-enabled:gc-cycle /gc/scan/globals:bytes
/gc/scan/heap:bytes /gc/scan/stack:bytes /gc/scan/total:bytes /gc/stack/starting-size:bytes
/memory/classes/heap/free:bytes /memory/classes/heap/objects:bytes
/memory/classes/heap/released:bytes /memory/classes/heap/stacks:bytes
/memory/classes/heap/unused:bytes /memory/classes/metadata/mcache/free:bytes
/memory/classes/metadata/mcache/inuse:bytes /memory/classes/metadata/mspan/free:bytes
/memory/classes/metadata/mspan/inuse:bytes /memory/classes/metadata/other:bytes
/memory/classes/os-stacks:bytes /memory/classes/other:bytes
/memory/classes/profiling/buckets:bytes /memory/classes/total:bytes /sched/gomaxprocs:threads
/sched/goroutines:goroutines /sched/goroutines/not-in-go:goroutines
/sched/goroutines/runnable:goroutines /sched/goroutines/running:goroutines
/sched/goroutines/waiting:goroutines /sched/threads/total:threads
"""
_COUNTERS = """
/cgo/go-to-c-calls:calls /cpu/classes/gc/mark/assist:cpu-seconds
/cpu/classes/gc/mark/dedicated:cpu-seconds /cpu/classes/gc/mark/idle:cpu-seconds
/cpu/classes/gc/pause:cpu-seconds /cpu/classes/gc/total:cpu-seconds /cpu/classes/idle:cpu-seconds
/cpu/classes/scavenge/assist:cpu-seconds /cpu/classes/scavenge/background:cpu-seconds
/cpu/classes/scavenge/total:cpu-seconds /cpu/classes/total:cpu-seconds
/cpu/classes/user:cpu-seconds /gc/cleanups/executed:cleanups /gc/cleanups/queued:cleanups
/gc/cycles/automatic:gc-cycles /gc/cycles/forced:gc-cycles /gc/cycles/total:gc-cycles
/gc/finalizers/executed:finalizers /gc/finalizers/queued:finalizers /gc/heap/allocs:bytes
/gc/heap/allocs:objects /gc/heap/frees:bytes /gc/heap/frees:objects
/gc/heap/tiny/allocs:objects /sched/goroutines-created:goroutines
/sync/mutex/wait/total:seconds
"""
_HISTOGRAMS = """
/gc/heap/allocs-by-size:bytes /gc/heap/frees-by-size:bytes /gc/pauses:seconds
/sched/latencies:seconds /sched/pauses/stopping/gc:seconds /sched/pauses/stopping/other:seconds
/sched/pauses/total/gc:seconds /sched/pauses/total/other:seconds
"""

# What a page says of the process beside that; columns of the frame `process`.
PROCESS_NAMES = (
    *("go_goroutines", "go_threads", "process_resident_memory_bytes"),
    *("process_virtual_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds"),
    *("process_open_fds", "process_max_fds"),
)
GO_INFO = "go_info"
PAUSE_QUANTILES = "go_gc_duration_seconds"
RUNTIME_PREFIX = "runtime_"  # of go-metrics' names
# Names that only Go's processes have; a page with none of them is not of one.
MARKS = (
    b"go_memstats_", b"go_info", b"go_goroutines", b"go_memory_classes_", b"go_gc_",
    b"_runtime_alloc_bytes", b"_runtime_num_goroutines",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name on the page stands for."""

    of: str  # `memstats`, `runtime`, `histogram`, `process`, `release` or `quantiles`
    name: str  # the field of MemStats, the name in runtime/metrics, or the name itself
    scale: float = 1.0  # what the page's number is multiplied by


def prometheus_name(metric: str) -> str:
    """What client_golang calls a metric of the runtime (`/gc/heap/live:bytes`) that is a gauge."""
    path, _, unit = metric.partition(":")
    return f"go{re.sub('[/-]', '_', path)}_{unit.replace('-', '_')}"


@cache
def meanings() -> dict[str, Meaning]:
    """Every name that a page can have of Go, without a prefix, and what it stands for."""
    client, go_metrics = (
        dict(pair.split("=") for pair in table.split()) for table in (_CLIENT, _GO_METRICS)
    )
    fields = {f"go_memstats_{name}": field for name, field in client.items()} | _PAUSES
    found = {
        name: Meaning("memstats", field, NANOSECONDS if name in IN_SECONDS else 1.0)
        for name, field in fields.items()
    }
    of_go_metrics = {f"{RUNTIME_PREFIX}{name}": field for name, field in go_metrics.items()}
    found |= {name: Meaning("memstats", field) for name, field in of_go_metrics.items()}
    found[f"{RUNTIME_PREFIX}num_goroutines"] = Meaning("process", "go_goroutines")
    kinds = (("runtime", _GAUGES, ""), ("runtime", _COUNTERS, "_total"))
    for kind, names, ending in (*kinds, ("histogram", _HISTOGRAMS, "_bucket")):
        found |= {f"{prometheus_name(one)}{ending}": Meaning(kind, one) for one in names.split()}
    found |= {name: Meaning("process", name) for name in PROCESS_NAMES}
    found[GO_INFO] = Meaning("release", GO_INFO)
    found[PAUSE_QUANTILES] = Meaning("quantiles", PAUSE_QUANTILES)
    return found


_STARTS = ("go_", "process_", RUNTIME_PREFIX)


def meaning_of(name: str) -> tuple[str, Meaning] | None:
    """The prefix before a name of Go's (go-metrics' always have one), and its meaning; or None."""
    table = meanings()
    if name in table and not name.startswith(RUNTIME_PREFIX):
        return "", table[name]
    for start in _STARTS:
        place = name.find(f"_{start}") + 1
        if place and name[place:] in table:
            return name[:place], table[name[place:]]
    return None
