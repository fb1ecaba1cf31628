"""Titles of measured fields, for those of gomem's names that need one.

Names of the kernel and of MemStats stay, because people search for them.
"""

from __future__ import annotations

import re

from gomem.text import Text, Words

TITLES = {
    "seconds": "time covered by the log",
    "cycles": "GCs in the log",
    "forced": "forced GCs",
    "steady_cycles": "GCs without heap growth",
    "interval_p50_seconds": "GC interval p50",
    "stw_p50_seconds": "pause p50",
    "stw_p99_seconds": "pause p99",
    "longest_stop_seconds": "longest STW phase",
    "stopped_seconds": "total pause",
    "gc_cpu_fraction": "GC CPU",
    "gc_cpu_seconds": "GC CPU time",
    "marking_cpu_fraction": "marking CPU",
    "marking_cpu_seconds": "marking CPU time",
    "steady_marking_cpu_seconds": "marking CPU time of GCs without heap growth",
    "assist_fraction": "assist share of marking CPU",
    "allocation_rate_bytes_per_second": "allocation rate",
    "collections_per_second": "GCs per second",
    "heap_live_last_bytes": "live heap, last",
    "heap_peak_bytes": "largest heap",
    "heap_goal_bytes": "heap goal, last",
    "headroom_p50_bytes": "headroom up to the next goal, median",
    "heap_goal_p50_bytes": "heap goal, median",
    "heap_live_p50_bytes": "live heap, median",
    "slope, low": "slope, low end of the 95 % interval",
    "slope, high": "slope, high end of the 95 % interval",
    "time watched": "time from the first reading to the last",
    "limit_bytes": "memory limit",
    "current_bytes": "memory charged",
    "unreclaimable_bytes": "unreclaimable memory",
    "working_set_bytes": "working set",
    "worst_case_bytes": "worst case",
    "requests_per_second": "requests",
    **{
        f"latency_{name}_seconds": f"latency {name}"
        for name in ("mean", "p50", "p90", "p95", "p99")
    },
    "latency_max_seconds": "latency max",
    "error_fraction": "errors",
    "load_requests": "total requests",
    "load_seconds": "duration of the load",
    "alloc_bytes_per_request": "allocated per request",
    "mallocs_per_request": "objects per request",
    "gc_cpu_seconds_per_request": "GC CPU per request",
}
_WITH_UNIT = re.compile(r"\b[a-z0-9]+(?:_[a-z0-9]+)*_(?:bytes|seconds|fraction|cycles)\b")


def field_title(name: str) -> str:
    """A field's title, such as `GC CPU time of forced GCs`; the name itself without a title."""
    if (title := TITLES.get(name)) is not None:
        return title
    if isinstance(name, Text):  # its files and moments keep their types
        return Text(*(_in_words(part) if type(part) is Words else part for part in name.parts))
    return _in_words(name)


def _in_words(words: str) -> str:
    return _WITH_UNIT.sub(lambda field: TITLES.get(field[0], field[0]), words)
