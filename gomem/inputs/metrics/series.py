"""Which Prometheus metric has the most series, and which of its labels multiplies them?

A client keeps each series in memory forever, so a label with IDs, addresses or paths makes its
memory grow. All buckets of a histogram count as one series.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from gomem.units import KIB

MIN_SERIES = 1000  # of a metric
# In a client's memory: a histogram with dozens of buckets and labels as long as a path has less.
MOST_BYTES_OF_SERIES = 8 * KIB
_NAMED = re.compile(rb"^([A-Za-z_:][\w:]*+)\{", re.MULTILINE)
_LABEL = re.compile(rb'([A-Za-z_]\w{0,200})="((?:[^"\\\n]|\\.)*+)"')
_PART = re.compile(r"_(?:bucket|sum)$")
_OWN = frozenset({b"le", b"quantile"})


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """The metric with the most series on a page."""

    name: str
    count: int
    label: str  # with the most values
    values: int


def largest_series(data: bytes) -> MetricSeries | None:
    """Return the metric with the most series; None if no metric has many."""
    counts = Counter(_NAMED.findall(data))
    kept = {name: n for name, n in counts.items() if not _PART.search(name.decode())}
    if not kept or max(kept.values()) < MIN_SERIES:
        return None
    name = max(kept, key=lambda each: kept[each])
    values = defaultdict[bytes, set[int]](set)
    begun = re.compile(rb"^" + re.escape(name) + rb"\{([^\n]*)", re.MULTILINE)
    for line in begun.finditer(data):
        for label, value in _LABEL.findall(line[1]):
            if label not in _OWN:
                values[label].add(hash(value))  # values can be long
    if not values:
        return None
    label = max(values, key=lambda each: len(values[each]))
    said = name.decode().removesuffix("_count")
    return MetricSeries(said, kept[name], label.decode(), len(values[label]))
