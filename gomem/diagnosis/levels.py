"""The levels of a capture: the value of each of `QUANTITIES` at each snapshot."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from gomem.analysis.fleet.quantities import QUANTITIES
from gomem.statistics.quantiles import carries
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

# Ledger parts that make up each quantity of the kernel's mappings.
KERNEL_PARTS = {
    "native": ("native_heap", "anonymous_other"),
    "thread_stacks": ("thread_stacks",),
    "mapped_files": ("mapped_files",),
    "shared_memory": ("shared_memory",),
    "runtime_metadata": ("runtime_metadata",),
}
# Parts of the Go heap that need both smaps and MemStats: without MemStats the second would be all
# of it.
BOTH_SIDES = {
    "heap_released_resident": ("heap_released_resident",),
    "heap_unexplained": ("heap_unexplained",),
}
IN_USE = "inuse_space"
LIVE = {"live_heap", "heap_objects"}  # preferred to the in-use value of a profile
P99 = 0.99


def level_rows(diagnosis: Diagnosis) -> list[tuple[Any, ...]]:
    """Return a row per quantity: name, unit, n, first, last, min, median, max."""
    counts = [float(count.goroutines) for count in diagnosis.facts.goroutine_counts]
    values: dict[str, list[float]] = {"goroutines": counts} if counts else {}
    for moment in diagnosis.moments:
        for name, value in _of_moment(moment):
            if not is_unknown(value):
                values.setdefault(name, []).append(float(value))
    if not values.keys() & LIVE:
        profiles = diagnosis.facts.profiles.in_order.values()
        values[IN_USE] = [float(profile.total(IN_USE)) for profile in profiles]
    rates = dict(_rates(diagnosis))
    rows: list[tuple[Any, ...]] = []
    for quantity in QUANTITIES:
        name, unit = quantity.name, quantity.unit
        if known := values.get(name):
            ends = known[0], known[-1], min(known), float(median(known)), max(known)
            rows.append((name, unit, len(known), *ends))
        elif name in rates:
            value, n = rates[name]
            rows.append((name, unit, n, *[value] * 5))
    return rows


def _of_moment(moment: MomentFacts) -> Iterator[tuple[str, Any]]:
    yield "threads", moment.threads
    yield "open_fds", moment.open_files
    yield "live_heap", moment.live_bytes
    yield "rss_bytes", moment.rss_bytes
    stats = moment.memstats
    if stats is not None:
        yield "heap_objects", stats.get("HeapAlloc")
        yield "heap_slack", _difference(stats, "HeapInuse", "HeapAlloc")
        yield "heap_idle", _difference(stats, "HeapIdle", "HeapReleased")
        yield "stacks", stats.get("StackInuse")
    if moment.ledger is not None and moment.mappings is not None:
        ledger = moment.ledger
        known = set(ledger.parts["part"])
        told = KERNEL_PARTS if stats is None else KERNEL_PARTS | BOTH_SIDES
        for name, parts in told.items():
            if name == "native" or known.intersection(parts):
                yield name, sum(ledger.part(part) for part in parts)
    use = moment.cgroup_use
    if use is not None and use.limit_bytes and use.current_bytes is not None:
        yield "of_limit_fraction", use.current_bytes / use.limit_bytes


def _difference(stats: pd.Series, whole: str, part: str) -> Any:
    sizes = stats.get(whole), stats.get(part)
    return None if any(map(is_unknown, sizes)) else sizes[0] - sizes[1]


def _rates(diagnosis: Diagnosis) -> Iterator[tuple[str, tuple[float, int]]]:
    """Rates and the number of collections behind each, from counters, else from the log."""
    cost = diagnosis.collection_cost
    stops = int(cost["stw_n"] or 0) if not is_unknown(cost["stw_n"]) else 0
    if carries(stops, P99):
        yield "stw_p99_seconds", (float(cost["stw_p99_seconds"] or 0), stops)
    counters = diagnosis.facts.counters
    cycles, seconds = (cost["cycles"], cost["seconds"]) if counters is None else (None, None)
    share, allocated = cost["gc_cpu_fraction"], cost["allocation_rate_bytes_per_second"]
    if counters is not None:
        cycles, seconds = counters.cycles, counters.seconds
        share = share if counters.cpu_fraction is None else counters.cpu_fraction
        if counters.allocated_bytes is not None and seconds:
            allocated = counters.allocated_bytes / seconds
    if is_unknown(cycles) or cycles is None:
        return
    n = int(cycles)
    if not is_unknown(share):
        yield "gc_cpu_fraction", (float(share or 0), n)
    if not is_unknown(allocated):
        yield "allocation_rate_bytes_per_second", (float(allocated or 0), n)
    if seconds and not is_unknown(seconds):
        yield "collections_per_second", (n / float(seconds), n)
