"""Which files can show a cause: with half of a capture's files, many a cause cannot be seen.

The table was written from what each cause is, not from what gomem finds: a leak of goroutines needs
a count or a profile of goroutines, a mapping needs smaps, growth needs two readings.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gomem.diagnosis.diagnosis import Diagnosis

STATS = ("memstats", "metrics", "heap_text")  # each with MemStats' fields
RSS = ("status", "statm", "smaps", "smaps_rollup")
COSTS = ({"log": 1}, {"stats": 2})  # of the GC
# Ways to see a cause; each way needs all of its readings.
SHOWN_BY: Mapping[str, tuple[Mapping[str, int], ...]] = {
    "allocation-spike": ({"heap": 3}, {"stats": 3}, {"rss": 3}, {"log": 1}),
    "anonymous-mapping": ({"smaps": 1},),
    "file-mapping": ({"smaps": 1}, {"status": 2}),
    "finalizer-backlog": ({"goroutines": 1, "heap": 1}, {"goroutines": 1, "stats": 1}),
    "forced-gc": COSTS,
    "gc-pressure": COSTS,
    "goroutine-leak": ({"goroutines": 1},),
    "heap-fragmentation": ({"stats": 1},),
    "heap-headroom": ({"log": 1}, {"stats": 1}),
    "heap-growth": ({"heap": 2}, {"stats": 2}, {"log": 1}),
    "huge-pages": ({"smaps": 1},),
    "idle-heap-kept": ({"stats": 1},),
    "limit-risk": ({"limit": 1, "rss": 1}, {"limit": 1, "stats": 1}),
    "long-pauses": COSTS,
    "memory-limit-thrash": ({"log": 1}, {"stats": 2, "limit": 1}),
    "native-memory": ({"smaps": 1},),
    "released-but-resident": ({"smaps": 1, "stats": 1},),
    "stack-growth": ({"stats": 1}, {"goroutines": 1}),
    "thread-growth": ({"status": 2}, {"smaps": 2}),
    "untouched-now-resident": ({"smaps": 1, "stats": 1},),
}


def readings_of(diagnosis: Diagnosis) -> Counter[str]:
    """Return how many readings of each sort a capture has."""
    facts = diagnosis.facts
    found = Counter(kind for moment in diagnosis.moments for kind in moment.paths)
    found["heap"] = len(diagnosis.capture.heap_profiles)
    found["goroutines"] = len(facts.goroutine_counts)
    found["log"] = int(facts.collector is not None)
    use = [moment.cgroup_use for moment in diagnosis.moments]
    limits = [facts.settings.memory_limit, *(one and one.limit_bytes for one in use)]
    found["limit"] = int(any(limit is not None for limit in limits))
    for sort, kinds in (("stats", STATS), ("rss", RSS)):
        found[sort] = sum(
            any(kind in moment.paths for kind in kinds) for moment in diagnosis.moments
        )
    return found


def are_shown(codes: Iterable[str], readings: Mapping[str, int]) -> bool:
    """Return whether a capture's readings can show every one of these causes."""
    return all(
        any(
            all(readings.get(sort, 0) >= count for sort, count in way.items())
            for way in SHOWN_BY[code]
        )
        for code in codes
    )
