"""The names that exporters give to Go metrics in the format of Prometheus.

client_golang   `go_memstats_alloc_bytes` is a field of MemStats. If enabled, all of runtime/metrics
                follow: `go_` and the runtime's name, with `_` for characters that Prometheus does
                not allow, and `_total` after counters.
go-metrics      Consul, Vault and Nomad write `<service>_runtime_alloc_bytes`, optionally with a
                host name in the middle, as a float32 with 24 significant bits.
OpenCensus      `<prefix>process_heap_alloc` is a field of MemStats.
OpenTelemetry   `process_runtime_go_mem_heap_alloc_bytes`, its collector `process_runtime_…`.
Processes       `process_…` comes from the kernel; the client reads it from /proc/self.

`names.toml` is the only list of these names. Other names are not read as Go's.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from gomem.sources.packaged import text_beside

NANOSECONDS = 1e9
IN_SECONDS = frozenset({"go_memstats_last_gc_time_seconds", "go_gc_duration_seconds_sum"})
GO_INFO = "go_info"
PAUSE_QUANTILES = "go_gc_duration_seconds"
RUNTIME_PREFIX = "runtime_"  # in names of go-metrics
# What names of each table in `names.toml` begin with, behind a prefix of the program's own.
EXPORTERS = {
    "client_golang": "go_memstats_",
    "go_metrics": RUNTIME_PREFIX,
    "opencensus": "process_",
    "opentelemetry": "process_runtime_go_",
    "collector": "process_runtime_",
}
# Names that only Go processes have; a page without any of them is not from a Go process.
MARKS = (
    b"go_memstats_", b"go_info", b"go_goroutines", b"go_memory_classes_", b"go_gc_", b"go_sched_",
    b"go_cpu_classes_", b"_runtime_alloc_bytes", b"_runtime_num_goroutines",
    b"process_heap_alloc", b"process_memory_alloc", b"process_cpu_goroutines", b"runtime_go_mem_",
    b"process_runtime_go_goroutines", b"process_runtime_total_sys_memory_bytes",
)  # fmt: skip
# Words in names that are likely Go's, by an exporter that is not known.
LIKELY = re.compile(r"(?:^|_)go_|goroutine|heap_?(?:alloc|idle|inuse|objects)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a name on the page."""

    of: str  # `memstats`, `runtime`, `histogram`, `process`, `release` or `quantiles`
    name: str  # the field of MemStats, the name in runtime/metrics, or the name itself
    scale: float = 1.0  # factor for the number on the page


def prometheus_name(metric: str) -> str:
    """Return client_golang's name of a runtime metric (`/gc/heap/live:bytes`) that is a gauge."""
    path, _, unit = metric.partition(":")
    return f"go{re.sub('[/-]', '_', path)}_{unit.replace('-', '_')}"


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(text_beside("gomem.inputs", "metrics", "names.toml"))


@cache
def meanings() -> dict[str, Meaning]:
    """Return every Go name that a page can have, without a prefix, and its meaning."""
    table = _tables()
    of_exporters = (
        (f"{start}{n}", f) for by, start in EXPORTERS.items() for n, f in table[by].items()
    )
    found = {
        name: Meaning("memstats", field, NANOSECONDS if name in IN_SECONDS else 1.0)
        for name, field in (*of_exporters, *table["summary"].items())
    }
    found |= {name: Meaning("process", of) for name, of in table["process_by"].items()}
    kinds = (("runtime", "gauges", ""), ("runtime", "counters", "_total"))
    for kind, names, ending in (*kinds, ("histogram", "histograms", "_bucket")):
        metrics = table[names].split()
        found |= {f"{prometheus_name(name)}{ending}": Meaning(kind, name) for name in metrics}
    # Programs that write the page themselves often omit `_total`.
    bare = ((prometheus_name(name), name) for name in table["counters"].split())
    found |= {name: Meaning("runtime", metric) for name, metric in bare if name not in found}
    found |= {name: Meaning("process", name) for name in table["process"].split()}
    found[GO_INFO] = Meaning("release", GO_INFO)
    found[PAUSE_QUANTILES] = Meaning("quantiles", PAUSE_QUANTILES)
    return found


_STARTS = ("go_", "process_runtime_", "process_", RUNTIME_PREFIX)


@cache
def fields_written_with(name: str) -> frozenset[str]:
    """Return the fields that the exporter of a name, without a prefix, writes; empty if unknown."""
    table = _tables()
    found = (
        frozenset(table[by].values())
        for by, start in EXPORTERS.items()
        if name.removeprefix(start) in table[by]
    )
    return next(found, frozenset())


def meaning_of(name: str) -> tuple[str, Meaning] | None:
    """Return the prefix of a Go name (go-metrics always has one) and its meaning; else None."""
    table = meanings()
    if name in table and not name.startswith(RUNTIME_PREFIX):
        return "", table[name]
    for start in _STARTS:
        place = name.find(f"_{start}") + 1
        if place and name[place:] in table:
            return name[:place], table[name[place:]]
    return None
