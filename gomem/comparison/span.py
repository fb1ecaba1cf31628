"""What a process did between two of its moments, by its own counters, and whether a log tells it.

A log may end long before the moments that are compared: a program's start allocates as nothing
does later. Counters of the moments themselves are of what the moments are of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.collector.counters import collector_counters, gc_cpu_between
from gomem.comparison.single_values import ALLOCATION_RATE, GC_CPU

if TYPE_CHECKING:
    from gomem.analysis.collector.counters import CollectorCounters, CounterReading
    from gomem.facts.moment import MomentFacts

COVERED = 0.9  # of the collections between two moments: a log that tells fewer is of something else
LEAST_CYCLES = 10  # whose clock stands in for the moments': it is off by one interval at most


@dataclass(frozen=True)
class Span:
    """What lies between the first and the last moment of a side that have a counterpart."""

    first: MomentFacts | None
    last: MomentFacts | None

    @property
    def began(self) -> int:
        """Collections until the first moment; 0 where there is only one, or a restart between."""
        return self._counted(self.first) if self._is_one_process else 0

    @property
    def ended(self) -> int:
        """Collections until the last moment."""
        return self._counted(self.last)

    @property
    def collections(self) -> int:
        """How many lie between the two moments, by the counters."""
        return max(0, self.ended - self.began) if self._is_one_process else 0

    @property
    def _is_one_process(self) -> bool:
        return self.first is not self.last and self._counted(self.first) <= self.ended

    @staticmethod
    def _counted(facts: MomentFacts | None) -> int:
        reading = None if facts is None else facts.counter_reading
        return (reading.count("NumGC") or 0) if reading is not None else 0

    def is_covered_by(self, last_number: int | None) -> bool:
        """Whether a log that ends with this collection tells nearly all of it."""
        cycles = self.ended - self.began
        if last_number is None or cycles <= 0:
            return True
        return min(last_number, self.ended) - self.began >= COVERED * cycles

    @property
    def seconds(self) -> float | None:
        """Between the two moments, by their own clock; None where there is one, or no clock."""
        if self.first is None or self.last is None or self.first is self.last:
            return None
        if self.first.time is None or self.last.time is None:
            return None
        return float((self.last.time - self.first.time).total_seconds())

    @property
    def rates(self) -> dict[str, float]:
        """Rates between the two moments, by the process's own counters."""
        readings = [one.counter_reading for one in (self.first, self.last) if one is not None]
        known = [one for one in readings if one is not None]
        between = collector_counters(known) if len(known) == 2 else None
        if between is None or between.since_start:
            return {}
        found: dict[str, float] = {}
        if between.cpu_fraction is not None and not between.cpu_since_start:
            found[GC_CPU] = between.cpu_fraction
        if between.allocated_bytes is not None and (seconds := self._time_of(between)):
            found[ALLOCATION_RATE] = between.allocated_bytes / seconds
        return found

    def per_request(self, requests: float) -> dict[str, float]:
        """What a request cost on average, by the counters of the two moments.

        Args:
            requests: How many there were between them.
        """
        if not self._is_one_process or not requests:
            return {}
        first, last = self._reading(self.first), self._reading(self.last)
        if first is None or last is None:
            return {}
        spent = {
            "alloc_bytes_per_request": _counted_between(first, last, "TotalAlloc"),
            "mallocs_per_request": _counted_between(first, last, "Mallocs"),
            "gc_cpu_seconds_per_request": gc_cpu_between(first.metrics, last.metrics),
        }
        return {name: value / requests for name, value in spent.items() if value is not None}

    @staticmethod
    def _reading(facts: MomentFacts | None) -> CounterReading | None:
        return None if facts is None else facts.counter_reading

    def _time_of(self, between: CollectorCounters) -> float | None:
        """By the moments' own clock; else by the collections', of which there must be enough."""
        if self.seconds is not None:
            return self.seconds
        return between.seconds if between.cycles >= LEAST_CYCLES else None


def _counted_between(first: CounterReading, last: CounterReading, name: str) -> int | None:
    before, after = first.count(name), last.count(name)
    return None if before is None or after is None or after < before else after - before
