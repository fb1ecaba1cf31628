"""What a process did between two of its moments, by its own counters, and whether a log tells it.

A log may end long before the moments that are compared: a program's start allocates as nothing
does later. Counters of the moments themselves are of what the moments are of. So rates are taken
from them wherever both sides have them, and a log that covers less than half of the time between
the moments, or none of the collections, is not compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.collector.counters import ALL_CPU, gc_cpu_between
from gomem.comparison.single_values import ALLOCATION_RATE, COLLECTION_RATE, GC_CPU
from gomem.units import format_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.collector.counters import CounterReading
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts

COVERED = 0.9  # of the collections between two moments: a log that tells fewer is of something else
MIN_LOG_SHARE = 0.5  # of the time between them
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

    def not_covered_by(self, log: CollectorFacts | None) -> str:
        """Why a log does not tell what lies between the moments; empty if it does, or of none."""
        if log is None or log.last_number is None:
            return ""
        if not self._is_covered_by(log.last_number):
            name = "" if self.last is None else self.last.name
            return f"ends at collection {log.last_number}, of the {self.ended} until {name}"
        lasting = None if log.log_seconds is None else log.log_seconds[1] - log.log_seconds[0]
        if self._has_two_counts and not self.collections:
            return "has none of the time between the moments, in which no collection ran"
        if lasting is None or self.seconds is None or lasting >= MIN_LOG_SHARE * self.seconds:
            return ""
        between = format_seconds(self.seconds)
        return f"covers {format_seconds(lasting)}, of the {between} between the moments"

    def _is_covered_by(self, last_number: int) -> bool:
        """Whether a log that ends with this collection tells nearly all of them."""
        cycles = self.ended - self.began
        return cycles <= 0 or min(last_number, self.ended) - self.began >= COVERED * cycles

    @property
    def _has_two_counts(self) -> bool:
        readings = self._reading(self.first), self._reading(self.last)
        counts = [None if one is None else one.count("NumGC") for one in readings]
        return self._is_one_process and None not in counts

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
        """Rates between the two moments, by the process's own counters; see `RATES`."""
        first, last = self._reading(self.first), self._reading(self.last)
        if first is None or last is None or not self._is_one_process:
            return {}
        found: dict[str, float] = {}
        if (share := _gc_cpu_share(first.metrics, last.metrics)) is not None:
            found[GC_CPU] = share
        seconds = self._time_between(first, last)
        for name, counter in ((ALLOCATION_RATE, "TotalAlloc"), (COLLECTION_RATE, "NumGC")):
            counted = _counted_between(first, last, counter)
            if counted is not None and seconds:
                found[name] = counted / seconds
        return found

    def per_request(self, requests: float) -> dict[str, float]:
        """What each of so many requests cost on average, by the counters of the two moments."""
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

    def _time_between(self, first: CounterReading, last: CounterReading) -> float | None:
        """By the moments' own clock; else by the collections', of which there must be enough."""
        if self.seconds is not None:
            return self.seconds
        ends = first.time("LastGC"), last.time("LastGC")
        if self.collections < LEAST_CYCLES or ends[0] is None or ends[1] is None:
            return None
        return float((ends[1] - ends[0]).total_seconds())


def _gc_cpu_share(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Of the CPU that GOMAXPROCS allowed in between, what collections took without idle marking."""
    spent = gc_cpu_between(before, after)
    allowed = after.get(ALL_CPU, 0.0) - before.get(ALL_CPU, 0.0)
    return None if spent is None or not allowed > 0 else min(1.0, spent / allowed)


def _counted_between(first: CounterReading, last: CounterReading, name: str) -> int | None:
    before, after = first.count(name), last.count(name)
    return None if before is None or after is None or after < before else after - before
