"""MemStats under the names of telemetry libraries, which become `HeapAlloc: number`.

hashicorp/go-metrics   'vault.runtime.alloc_bytes': 556320128.000         (its sink in memory)
                       api.runtime.alloc_bytes:556320128|g                (statsd, DogStatsD)
                       {"Name": "vault.runtime.alloc_bytes", "Value": 5}  (/v1/agent/metrics)
rcrowley/go-metrics    gauge runtime.MemStats.HeapAlloc                   (its log: the value is
                         value:      18350080                              in the next line)
                       {"runtime.MemStats.HeapAlloc": {"value": 18350080}}
Elastic APM, Metricbeat golang.heap.allocations.idle: 115056640           (also in two columns)
Names with a field of MemStats at their end, such as `go.memstats.heap_alloc`, need no change.
"""

from __future__ import annotations

import re
from typing import Any

NAMES = {
    b"alloc_bytes": b"HeapAlloc",
    b"sys_bytes": b"Sys",
    b"malloc_count": b"Mallocs",
    b"free_count": b"Frees",
    b"heap_objects": b"HeapObjects",
    b"total_gc_runs": b"NumGC",
    b"total_gc_pause_ns": b"PauseTotalNs",
    b"num_goroutines": b"NumGoroutine",
}
ELASTIC_NAMES = {
    b"heap.allocations.active": b"HeapInuse",
    b"heap.allocations.allocated": b"HeapAlloc",
    b"heap.allocations.frees": b"Frees",
    b"heap.allocations.idle": b"HeapIdle",
    b"heap.allocations.mallocs": b"Mallocs",
    b"heap.allocations.objects": b"HeapObjects",
    b"heap.allocations.total": b"TotalAlloc",
    b"heap.gc.cpu_fraction": b"GCCPUFraction",
    b"heap.gc.next_gc_limit": b"NextGC",
    b"heap.gc.total_count": b"NumGC",
    b"heap.gc.total_pause.ns": b"PauseTotalNs",
    b"heap.system.obtained": b"HeapSys",
    b"heap.system.released": b"HeapReleased",
    b"heap.system.stack": b"StackSys",
    b"heap.system.total": b"Sys",
    b"goroutines": b"NumGoroutine",
}
_ELASTIC = re.compile(
    rb"[\"']?\bgolang\.("
    + b"|".join(map(re.escape, ELASTIC_NAMES))
    + rb")[\"']?(?:[ \t]*[:=]|[ \t])"
    rb"(?=[ \t]*\d)"
)
_ELASTIC_RSS = re.compile(
    rb"[\"']?\bsystem\.process\.memory\.rss\.bytes[\"']?(?:[ \t]*[:=]|[ \t])(?=[ \t]*\d)([ \t]*\d+)"
)
_NAMED = re.compile(
    rb"[\"']?\b(?:[\w-]{1,64}\.){1,9}runtime\.(" + b"|".join(NAMES) + rb")"
    rb"[\"']?[ \t]*[:=]([ \t]*\d{1,19})(?:\.0+)?(?![\d.])"
)
_LOGGED = re.compile(
    rb"^[^\n]*\bgauge runtime\.(MemStats\.\w+|NumGoroutine)\n[^\n]*?\bvalue:[ \t]*(\d+)",
    re.MULTILINE,
)
_STRUCT = "runtime.MemStats."


def with_plain_names(text: bytes) -> bytes:
    """Rewrite the names of telemetry libraries as those of MemStats; line numbers do not change."""
    if b"golang." in text:
        text = _ELASTIC.sub(lambda found: ELASTIC_NAMES[found[1]] + b":", text)
        text = _ELASTIC_RSS.sub(rb"RSS:\1 B", text)
    if b"runtime." not in text:
        return text
    text = _NAMED.sub(_as_field, text)
    return _LOGGED.sub(rb"\n\1: \2", text)


def fields_of_gauges(value: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of MemStats among the gauges in a decoded JSON object; else empty."""
    gauges = value.get("Gauges")
    rows = gauges if isinstance(gauges, list) else []
    named = {row.get("Name"): row.get("Value") for row in rows if isinstance(row, dict)}
    found = {
        field.decode(): number
        for name, number in named.items()
        for short, field in NAMES.items()
        if isinstance(name, str) and name.endswith(f".runtime.{short.decode()}")
    }
    found |= {
        name.removeprefix(_STRUCT): number["value"] if isinstance(number, dict) else number
        for name, number in value.items()
        if name.startswith(_STRUCT) and (not isinstance(number, dict) or "value" in number)
    }
    return {"Alloc": found["HeapAlloc"], **found} if "HeapAlloc" in found else {}


def _as_field(found: re.Match[bytes]) -> bytes:
    return NAMES[found[1]] + b":" + found[2]
