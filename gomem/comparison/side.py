"""One side of a comparison: its captures, and the data between the compared snapshots.

A log can end long before these snapshots, and a program allocates differently during start-up. So
rates come from the counters of the snapshots if both sides have them. A log is not compared if it
covers less than half of the time between the snapshots, or none of the collections.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from gomem.analysis.collector.counters import ALL_CPU, CounterReading, gc_cpu_between
from gomem.comparison.single_values import (
    ALLOCATION_RATE,
    COLLECTION_RATE,
    GC_CPU,
    REQUESTS,
    load_values,
)
from gomem.text import MomentName, text
from gomem.units import format_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gomem.analysis.memory.account import Snapshot
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts

BEFORE, AFTER = "before", "after"
SIDES = (BEFORE, AFTER)
COVERED = 0.9  # of the collections between two moments; a log with fewer is from another period
MIN_LOG_SHARE = 0.5  # of the time between two moments
MIN_CYCLES = 10  # needed to use the log's clock for the moments; it is off by at most one interval
MIN_RUNS = 2  # per side; with one run each, order cannot be chosen
IN_TURNS = "the runs of the two sides were interleaved"
APART = (
    "all runs of {first} were taken before those of {second}, so a drift of the machine or the "
    "load counts as a change; interleave the runs of the two sides"
)


@dataclass(frozen=True)
class Side:
    """The runs of one side."""

    word: str  # `before` or `after`
    captures: Sequence[Diagnosis]  # one per run
    first: str  # the first moment with a counterpart on the other side; empty if none
    last: str  # the last such moment; levels are taken here
    asked_requests: int | None = None  # requests per run, if no load test has the number

    @cached_property
    def spans(self) -> list[Span]:
        """The span between the two moments, for each run."""
        return [_span(capture, self.first, self.last) for capture in self.captures]

    @cached_property
    def requests(self) -> list[float | None]:
        """Requests that each run served between the moments; None if unknown."""
        return [load_of(capture).get(REQUESTS, self.asked_requests) for capture in self.captures]

    @cached_property
    def middle(self) -> tuple[Diagnosis, MomentFacts] | None:
        """The run with the median RSS, and its moment; of two, the smaller."""
        found = [(capture, facts_at(capture, self.last)) for capture in self.captures]
        runs = [(capture, facts) for capture, facts in found if facts is not None]
        known = sorted(
            (run for run in runs if run[1].rss_bytes), key=lambda run: run[1].rss_bytes or 0
        )
        return known[(len(known) - 1) // 2] if known else next(iter(runs), None)

    def middle_at(self, moment: str) -> MomentFacts | None:
        """The facts of a moment of the median run, because its parts add up and medians do not."""
        return None if self.middle is None else facts_at(self.middle[0], moment)

    def snapshot_at(self, moment: str) -> Snapshot | None:
        """The account of RSS at a moment in the median run."""
        facts = self.middle_at(moment)
        if self.middle is None or facts is None:
            return None
        account = self.middle[0].facts.account
        return account.of(facts.name) if account and account.quantity == "rss" else None

    def facts_at(self, moment: str) -> list[MomentFacts]:
        """The facts of a moment for each run that has any; see the function `facts_at`."""
        found = (facts_at(capture, moment) for capture in self.captures)
        return [facts for facts in found if facts is not None]


def facts_at(diagnosis: Diagnosis, moment: str) -> MomentFacts | None:
    """The facts of a moment; of the last comparable moment if none has this name."""
    known = comparable(diagnosis)
    named = [facts for facts in known if facts.name == moment]
    chosen = named or known[-1:]
    return chosen[0] if chosen else None


def comparable(diagnosis: Diagnosis) -> list[MomentFacts]:
    """The moments with a ledger; all if none has one, such as those of goroutine dumps alone."""
    every = list(diagnosis.moments)
    return [facts for facts in every if facts.ledger is not None] or every


def load_of(diagnosis: Diagnosis) -> dict[str, float]:
    """The results of the load test; empty if there are several, as none is the whole load."""
    tests = list(diagnosis.capture.loads.values())
    if len(tests) != 1 or len(tests[0].runs) != 1:
        return {}
    return load_values(tests[0].runs, tests[0].latencies)


def median_bytes(values: Iterable[int | None]) -> int | None:
    """The median of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def _span(diagnosis: Diagnosis, first: str, last: str) -> Span:
    """The span between two moments; between the run's first and last if it lacks one of them."""
    known = comparable(diagnosis)
    if known and last not in [facts.name for facts in known]:
        return Span(known[0], known[-1])
    return Span(facts_at(diagnosis, first), facts_at(diagnosis, last))


@dataclass(frozen=True)
class Span:
    """The time between the first and the last moment with a counterpart, in one run."""

    first: MomentFacts | None
    last: MomentFacts | None

    @property
    def began(self) -> int:
        """Collections until the first moment; 0 if there is only one, or a restart between them."""
        return (self._counts[0] or 0) if self._is_one_process else 0

    @property
    def ended(self) -> int:
        """Collections until the last moment."""
        return self._counts[1] or 0

    @property
    def collections(self) -> int:
        """Collections between the two moments, by the counters."""
        return max(0, self.ended - self.began) if self._is_one_process else 0

    @property
    def _is_one_process(self) -> bool:
        return self.first is not self.last and (self._counts[0] or 0) <= self.ended

    @property
    def _readings(self) -> list[CounterReading | None]:
        """The counters of the two moments."""
        return [
            None if facts is None else facts.counter_reading for facts in (self.first, self.last)
        ]

    @property
    def _counts(self) -> list[int | None]:
        """The collection counts at the two moments."""
        return [None if reading is None else reading.count("NumGC") for reading in self._readings]

    def not_covered_by(self, log: CollectorFacts | None) -> str:
        """Why a log does not cover the span; empty if it does or there is no log."""
        if log is None or log.last_number is None:
            return ""
        if not self._is_covered_by(log.last_number):
            name = MomentName("" if self.last is None else self.last.name)
            counts = str(log.last_number), str(self.ended)
            return text("it ends at GC {} of the {} until {}", *counts, name)
        lasting = None if log.log_seconds is None else log.log_seconds[1] - log.log_seconds[0]
        if self._is_one_process and None not in self._counts and not self.collections:
            return "no GC ran between the snapshots"
        if lasting is None or self.seconds is None or lasting >= MIN_LOG_SHARE * self.seconds:
            return ""
        between = format_seconds(self.seconds)
        return f"it covers {format_seconds(lasting)} of the {between} between the snapshots"

    def _is_covered_by(self, last_number: int) -> bool:
        """Whether a log that ends with this collection covers nearly all of the span."""
        cycles = self.ended - self.began
        return cycles <= 0 or min(last_number, self.ended) - self.began >= COVERED * cycles

    @property
    def seconds(self) -> float | None:
        """Seconds between the two moments, by their clock; None for one moment, or no clock."""
        if self.first is None or self.last is None or self.first is self.last:
            return None
        if self.first.time is None or self.last.time is None:
            return None
        return float((self.last.time - self.first.time).total_seconds())

    @property
    def rates(self) -> dict[str, float]:
        """Rates between the two moments, from the process's counters; see `RATES`."""
        first, last = self._readings
        if first is None or last is None or not self._is_one_process:
            return {}
        found: dict[str, float] = {}
        if (share := _gc_cpu_share(first.metrics, last.metrics)) is not None:
            found[GC_CPU] = share
        seconds = self._time_between(first, last)
        for name, counter in ((ALLOCATION_RATE, "TotalAlloc"), (COLLECTION_RATE, "NumGC")):
            counted = first.counted_until(last, counter)
            if counted is not None and seconds:
                found[name] = counted / seconds
        return found

    def per_request(self, requests: float) -> dict[str, float]:
        """The average cost per request, from the counters at the two moments."""
        first, last = self._readings
        if first is None or last is None or not self._is_one_process or not requests:
            return {}
        spent = {
            "alloc_bytes_per_request": first.counted_until(last, "TotalAlloc"),
            "mallocs_per_request": first.counted_until(last, "Mallocs"),
            "gc_cpu_seconds_per_request": gc_cpu_between(first.metrics, last.metrics),
        }
        return {name: value / requests for name, value in spent.items() if value is not None}

    def _time_between(self, first: CounterReading, last: CounterReading) -> float | None:
        """By the moments' clock; else by that of the collections, if there are enough."""
        if self.seconds is not None:
            return self.seconds
        ends = first.time("LastGC"), last.time("LastGC")
        if self.collections < MIN_CYCLES or ends[0] is None or ends[1] is None:
            return None
        return float((ends[1] - ends[0]).total_seconds())


def _gc_cpu_share(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """The share of the CPU time of GOMAXPROCS used by collections, without idle marking."""
    spent = gc_cpu_between(before, after)
    allowed = after.get(ALL_CPU, 0.0) - before.get(ALL_CPU, 0.0)
    return None if spent is None or not allowed > 0 else min(1.0, spent / allowed)


def order_note(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> str:
    """A note on the order of the runs; empty if a run has no time, or there are few runs.

    The load of a machine drifts. If all runs of one side come before all of the other, drift cannot
    be separated from the change under test. Runs alternate if the side changes at least half as
    often as possible.
    """
    if min(len(before), len(after)) < MIN_RUNS:
        return ""
    runs = [(_began(run), side) for side, runs in enumerate((before, after)) for run in runs]
    if any(time is None for time, _ in runs):
        return ""
    sides = [side for _, side in sorted(runs)]
    changes = sum(earlier != later for earlier, later in pairwise(sides))
    if changes == 1:
        names = ("before", "after")
        return APART.format(first=names[sides[0]], second=names[1 - sides[0]])
    most = 2 * min(len(before), len(after)) - (len(before) == len(after))
    return IN_TURNS if changes >= most / 2 else ""


def _began(diagnosis: Diagnosis) -> Any:
    """The wall-clock time of the first moment."""
    times = diagnosis.capture.moments["time"].dropna()
    return None if times.empty else times.min()
