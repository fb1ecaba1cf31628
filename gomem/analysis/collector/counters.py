"""What do a process's own counters say about its collections, when there is no log?

MemStats and runtime/metrics count from the process's start, so the difference of two readings
covers the time in between. LastGC uses the runtime's own clock; without it, as in a program's own
log, the times of the readings count. Since Go 1.20, the CPU of
collections is /cpu/classes/gc/total without idle marking, as a share of /cpu/classes/total. Before
that, GCCPUFraction is the same share, cumulative since the process's start. Since Go 1.19,
/gc/limiter/last-enabled gives the last collection at which the runtime limited GC to about half of
the CPU. A page of metrics has neither share, but the CPU of the whole process, which bounds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

import pandas as pd

from gomem.text import MomentName, text

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

GC_CPU = "/cpu/classes/gc/total:cpu-seconds"
IDLE_MARKING = "/cpu/classes/gc/mark/idle:cpu-seconds"
GC_CPU_WITHOUT_IDLE = f"GC CPU without idle marking ({GC_CPU} less mark/idle)"
STOPS = "/cpu/classes/gc/pause:cpu-seconds"  # CPU of pauses: the length of each times GOMAXPROCS
ALL_CPU = "/cpu/classes/total:cpu-seconds"
LIMITER = "/gc/limiter/last-enabled:gc-cycle"
PROCESS_CPU = "process_cpu_seconds_total"
_CLASSES = {GC_CPU, IDLE_MARKING, STOPS, ALL_CPU}
MIN_AT_GOAL = 3  # readings: two meet a collection by chance
AT_GOAL = 0.999  # of the goal: that of a limit is a little above what a GC left
_Shares = tuple[float | None, float | None]


@dataclass(frozen=True)
class CounterReading:
    """The counters of one snapshot."""

    memstats: pd.Series  # a row of the MemStats table, or of runtime/metrics in its place
    metrics: Mapping[str, float]  # runtime/metrics scalars by name
    path: str  # the artefact of `memstats`
    metrics_path: str  # the artefact of `metrics`
    moment: str  # the snapshot
    page: pd.Series | None = None  # MemStats from a Prometheus page, for what runtime/metrics lack
    page_path: str = ""  # the artefact of `page`
    cpu_seconds: float | None = None  # of the whole process; None if unknown
    taken: pd.Timestamp | None = None  # when; None if unknown

    @property
    def clock(self) -> pd.Timestamp | None:
        """The end of the last collection, else the time of the reading; None if unknown."""
        last = self.time("LastGC")
        return self.taken if last is None else last

    def count(self, name: str) -> int | None:
        """Return a counter; None if it is missing."""
        value = self._row(name).get(name)
        return None if value is None or pd.isna(value) else int(value)

    def time(self, name: str) -> pd.Timestamp | None:
        """Return a time; None if it is missing."""
        value = self._row(name).get(name)
        return None if value is None or pd.isna(value) else value

    def counted_until(self, later: CounterReading, name: str) -> int | None:
        """Return the rise of a counter until a later reading; None if either value is unknown."""
        before, after = self.count(name), later.count(name)
        return None if before is None or after is None or after < before else after - before

    def path_of(self, name: str) -> str:
        """Return the path of the artefact that has a counter."""
        return self.path if self._row(name) is self.memstats else self.page_path

    @property
    def is_collecting(self) -> bool:
        """Whether the heap had reached its goal, or nearly: a collection was due, or running."""
        size, goal = self.count("HeapAlloc"), self.count("NextGC")
        return size is not None and goal is not None and size >= AT_GOAL * goal

    def _row(self, name: str) -> pd.Series:
        return self.memstats if self.page is None or name in self.memstats else self.page


@dataclass(frozen=True)
class CollectorCounters:
    """The counters of the GC between two readings, or since the start of the process."""

    cycles: int  # collections
    forced: int | None  # collections forced by the program; not counted before Go 1.8
    # Between the last collections before both readings, else between these; None since the start.
    seconds: float | None
    paused_seconds: float | None  # STW time of these collections, if counted
    allocated_bytes: int | None  # the difference of TotalAlloc; None if it is not counted
    # The lowest NextGC of the readings, because the room is an average: a heap that grew had less
    # room while its goals were low. None if unknown.
    goal_bytes: int | None
    # The last of these collections, by number, at which the runtime's limiter held GC down to half
    # of the CPU; None if it did not, or if unknown.
    limiter_cycle: int | None
    cpu_fraction: float | None  # of what GOMAXPROCS allowed, without idle marking
    cpu_stopped_fraction: float | None  # the part of pauses in it, if from the same source
    cpu_field: str  # the field with the CPU fraction
    cpu_path: str  # its artefact
    cpu_since_start: bool  # whether the fraction is since the start, even if the counts are not
    last: CounterReading  # the last reading
    since_start: bool  # whether the counts are since the start
    # The earliest reading after which no collection ran until the last; None if that is the last
    # reading itself.
    none_since: CounterReading | None = None
    process_cpu_seconds: float | None = None  # CPU of the whole process; None if unknown
    # Whether the heap had reached its goal at each of several readings, so that a collection was
    # due or running. If only at the last ones, the counters are of those.
    is_always_collecting: bool = False
    least_heap_bytes: int | None = None  # the lowest HeapAlloc of the readings

    @property
    def busy_cpus(self) -> float | None:
        """The CPUs that the whole process used on average, GC included; None if unknown."""
        if not self.seconds or self.process_cpu_seconds is None:
            return None
        return self.process_cpu_seconds / self.seconds

    @property
    def interval_seconds(self) -> float | None:
        """The mean time between collections; None if unknown."""
        return None if self.seconds is None else self.seconds / self.cycles

    @property
    def stopped_fraction(self) -> float | None:
        """STW pauses as a share of the elapsed time; None if unknown."""
        if not self.seconds or self.paused_seconds is None:
            return None
        return min(1.0, self.paused_seconds / self.seconds)

    @property
    def marking_fraction(self) -> float:
        """The GC's share of the CPU without pauses, during which all CPUs count as used.

        The time to stop all goroutines, such as the wait for a thread that cannot be preempted, is
        not a cost of marking. If the pauses of the same period are unknown, nothing is subtracted.
        0 if the GC's share is unknown.
        """
        stopped = self.cpu_stopped_fraction
        if stopped is None and not self.cpu_since_start:
            stopped = self.stopped_fraction
        return max(0.0, (self.cpu_fraction or 0.0) - (stopped or 0.0))

    @property
    def least_marking_fraction(self) -> float | None:
        """A lower bound of `marking_fraction`, for a CPU share counted since the start.

        The pauses between the readings are then subtracted, although they are of another period.
        None if these pauses are unknown too.
        """
        if not self.cpu_since_start or self.cpu_stopped_fraction is not None:
            return self.marking_fraction
        if self.stopped_fraction is None:
            return None
        return max(0.0, self.marking_fraction - self.stopped_fraction)

    @property
    def live_bytes(self) -> float | None:
        """The live heap: the goal minus the mean allocation between collections.

        Forced collections start before the heap reaches the goal, so they are not counted; if their
        number is unknown, the live heap is at most the lowest HeapAlloc. None if unknown, for a
        single collection, and for counts since the start, when goals were different.
        """
        if self.since_start or self.allocated_bytes is None or self.goal_bytes is None:
            return None
        automatic = self.cycles - (self.forced or 0)
        if automatic < 2:
            return None
        live = max(0.0, self.goal_bytes - self.allocated_bytes / automatic)
        is_unsure = self.forced is None and self.least_heap_bytes is not None
        return min(live, float(self.least_heap_bytes or 0)) if is_unsure else live

    @property
    def room_fraction(self) -> float | None:
        """Room from live heap to goal, as a fraction of the live heap; None if unknown."""
        live = self.live_bytes
        if not live or self.goal_bytes is None:
            return None
        return (self.goal_bytes - live) / live

    @property
    def forced_fraction(self) -> float:
        """The share of forced GCs; 0 if forced GCs are not counted."""
        return (self.forced or 0) / self.cycles if self.cycles else 0.0


def collector_counters(readings: Sequence[CounterReading]) -> CollectorCounters | None:
    """Return the counters between the first and the last reading of a process, in time order.

    For a single reading, or if no collection ran in between, the counters are those since the
    start. Readings before a restart, which resets counters, are left out; and those without a time
    at the end, such as a page below a log. None if the last reading does not count collections.
    """
    counted = [
        (reading, cycles) for reading in readings if (cycles := reading.count("NumGC")) is not None
    ]
    timed = [place for place, (reading, _) in enumerate(counted) if reading.clock is not None]
    counted = counted[: timed[-1] + 1] if len(timed) > 1 else counted
    if not counted:
        return None
    last, cycles = counted[-1]
    run, before = [last], cycles
    for reading, number in reversed(counted[:-1]):
        if number > before:
            break
        run, before = [reading, *run], number
    if before < cycles:
        run = list(_at_the_goal(run) or run)
        return _counters(run, cycles - (run[0].count("NumGC") or 0), since_start=False)
    since = _counters([last], cycles, since_start=True)
    return replace(since, none_since=run[0] if len(run) > 1 else None)


def _at_the_goal(run: Sequence[CounterReading]) -> Sequence[CounterReading]:
    """Return the last readings at all of which the heap had reached its goal.

    Empty for few of them, and if they do not have most of the collections.
    """
    ends = list(takewhile(lambda reading: reading.is_collecting, reversed(run)))[::-1]
    if len(ends) < MIN_AT_GOAL:
        return []
    first, since, last = (reading.count("NumGC") or 0 for reading in (run[0], ends[0], run[-1]))
    return ends if last - since > since - first else []


def _counters(
    run: Sequence[CounterReading], cycles: int, *, since_start: bool
) -> CollectorCounters:
    """Return the counters from a run's first reading to its last, or since the start."""
    first, last = run[0], run[-1]

    def counted(name: str) -> int | None:
        return last.count(name) if since_start else first.counted_until(last, name)

    paused, before = counted("PauseTotalNs"), 0 if since_start else first.count("NumGC") or 0
    limited = last.metrics.get(LIMITER, 0)
    (fraction, stopped), field, path = _cpu_of(run)
    if by_start := fraction is None:
        (fraction, stopped), field, path = _cpu_since_start(last)
    return CollectorCounters(
        cycles=cycles,
        forced=counted("NumForcedGC"),
        seconds=None if since_start else _seconds_between(first, last),
        paused_seconds=None if paused is None else paused / 1e9,
        allocated_bytes=counted("TotalAlloc"),
        goal_bytes=min(
            (goal for reading in run if (goal := reading.count("NextGC"))), default=None
        ),
        limiter_cycle=int(limited) if limited > before else None,
        cpu_fraction=fraction,
        cpu_stopped_fraction=stopped,
        cpu_field=field,
        cpu_path=path,
        cpu_since_start=by_start,
        last=last,
        since_start=since_start,
        process_cpu_seconds=_process_cpu(first, last, since_start=since_start),
        is_always_collecting=len(run) > 1 and all(reading.is_collecting for reading in run),
        least_heap_bytes=min(
            (size for reading in run if (size := reading.count("HeapAlloc"))), default=None
        ),
    )


def _process_cpu(first: CounterReading, last: CounterReading, *, since_start: bool) -> float | None:
    """Return the CPU seconds of the whole process between two readings, or since the start."""
    before = 0.0 if since_start else first.cpu_seconds
    return None if before is None or last.cpu_seconds is None else last.cpu_seconds - before


def _seconds_between(first: CounterReading, last: CounterReading) -> float | None:
    """Return the time between the last collections before both readings, else between these."""
    ends = [reading.time("LastGC") for reading in (first, last)]
    before, after = (first.taken, last.taken) if None in ends else ends
    if before is None or after is None:
        return None
    seconds = (after - before).total_seconds()
    return float(seconds) if seconds > 0 else None


def gc_cpu_between(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Return the CPU seconds of GC between two readings of runtime/metrics, less idle marking."""
    if not (GC_CPU in before and GC_CPU in after):
        return None
    spent = [after.get(name, 0.0) - before.get(name, 0.0) for name in (GC_CPU, IDLE_MARKING)]
    return max(0.0, spent[0] - spent[1])


def _cpu_of(run: Sequence[CounterReading]) -> tuple[_Shares, str, str]:
    """Return GC's CPU shares between the first and last reading that have the CPU classes."""
    told = [reading for reading in run if {GC_CPU, ALL_CPU} <= reading.metrics.keys()]
    if len(told) < 2:
        return (None, None), "", ""
    before, after = told[0], told[-1]
    known = before.metrics.keys() & after.metrics.keys() & _CLASSES
    shares = _shares({name: after.metrics[name] - before.metrics[name] for name in known})
    field = text("{}, since {}", _field(known), MomentName(before.moment))
    if after is not run[-1]:
        field += text(", until {}", MomentName(after.moment))
    return shares, field, after.metrics_path


def _shares(spent: Mapping[str, float]) -> _Shares:
    """Return the share of GC in all CPU, and the part of pauses, by the CPU classes."""
    if not spent[ALL_CPU] > 0:
        return None, None
    seconds = spent[GC_CPU] - spent.get(IDLE_MARKING, 0.0), spent.get(STOPS)
    whole = spent[ALL_CPU]
    busy, stopped = (None if part is None else min(1.0, max(0.0, part / whole)) for part in seconds)
    return busy, stopped


def _field(known: Container[str]) -> str:
    """Name the GC's CPU: the metric's total includes idle marking, which is subtracted if known."""
    return GC_CPU_WITHOUT_IDLE if IDLE_MARKING in known else GC_CPU


def _cpu_since_start(last: CounterReading) -> tuple[_Shares, str, str]:
    told = last.memstats.get("GCCPUFraction")
    if told is not None and not pd.isna(told):
        return (float(told), None), "GCCPUFraction", last.path
    if {GC_CPU, ALL_CPU} <= last.metrics.keys():
        return _shares(last.metrics), f"{_field(last.metrics)}, since the start", last.metrics_path
    return (None, None), "", last.path
