"""One side of a comparison: its captures, and the data between the compared snapshots.

A log can end long before these snapshots, and a program's start-up allocates unlike the rest. So
rates come from the counters of the snapshots if both sides have them. A log is not compared if it
covers less than half of the time between the snapshots, or none of the collections.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from gomem.analysis.collector.counters import ALL_CPU, gc_cpu_between
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

    from gomem.analysis.collector.counters import CounterReading
    from gomem.analysis.memory.account import Snapshot
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts

BEFORE, AFTER = "before", "after"
SIDES = (BEFORE, AFTER)
COVERED = 0.9  # of the collections between two moments: a log that tells fewer is of something else
MIN_LOG_SHARE = 0.5  # of the time between them
MIN_CYCLES = 10  # whose clock stands in for the moments': it is off by one interval at most
MIN_RUNS = 2  # a side: one after one has no order to choose
IN_TURNS = "the runs of the two sides were interleaved"
APART = (
    "all runs of {first} were taken before those of {second}: a drift in between, such as of the "
    "machine or the load, counts as a change here; interleave the runs of the two sides"
)


@dataclass(frozen=True)
class Side:
    """The runs of one side."""

    word: str  # `before` or `after`
    captures: Sequence[Diagnosis]  # a run each
    first: str  # the first moment that has a counterpart on the other side; empty without one
    last: str  # the last, which levels are of
    asked_requests: int | None = None  # how many each run answered, where no load test says so

    @cached_property
    def spans(self) -> list[Span]:
        """What lies between the two moments, of each run."""
        return [_span(capture, self.first, self.last) for capture in self.captures]

    @cached_property
    def requests(self) -> list[float | None]:
        """How many requests each run answered between them; None where nobody says."""
        return [load_of(capture).get(REQUESTS, self.asked_requests) for capture in self.captures]

    @cached_property
    def middle(self) -> tuple[Diagnosis, MomentFacts] | None:
        """The run whose RSS is in the middle, and its moment; of two such runs, the smaller one."""
        found = [(capture, facts_at(capture, self.last)) for capture in self.captures]
        runs = [(capture, facts) for capture, facts in found if facts is not None]
        known = sorted(
            (run for run in runs if run[1].rss_bytes), key=lambda run: run[1].rss_bytes or 0
        )
        return known[(len(known) - 1) // 2] if known else next(iter(runs), None)

    def middle_at(self, moment: str) -> MomentFacts | None:
        """What is known of a moment of the run in the middle: its parts add up, medians do not."""
        return None if self.middle is None else facts_at(self.middle[0], moment)

    def snapshot_at(self, moment: str) -> Snapshot | None:
        """What the account of the run in the middle says of RSS at a moment."""
        facts = self.middle_at(moment)
        if self.middle is None or facts is None:
            return None
        account = self.middle[0].facts.account
        return account.of(facts.name) if account and account.quantity == "rss" else None

    def facts_at(self, moment: str) -> list[MomentFacts]:
        """What is known of a moment, of each run that has a ledger; of its last without that."""
        found = (facts_at(capture, moment) for capture in self.captures)
        return [facts for facts in found if facts is not None]


def facts_at(diagnosis: Diagnosis, moment: str) -> MomentFacts | None:
    """What is known of a moment; of the last one if there is none of this name."""
    known = [facts for facts in diagnosis.moments if facts.ledger is not None]
    named = [facts for facts in known if facts.name == moment]
    chosen = named or known[-1:]
    return chosen[0] if chosen else None


def load_of(diagnosis: Diagnosis) -> dict[str, float]:
    """What the load test says; of several nothing, as none of them is the whole load."""
    tests = list(diagnosis.capture.loads.values())
    if len(tests) != 1 or len(tests[0].runs) != 1:
        return {}
    return load_values(tests[0].runs, tests[0].latencies)


def median_bytes(values: Iterable[int | None]) -> int | None:
    """The median of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def _span(diagnosis: Diagnosis, first: str, last: str) -> Span:
    """What lies between two moments; between its own first and last if it has none so called."""
    known = [facts for facts in diagnosis.moments if facts.ledger is not None]
    if known and last not in [facts.name for facts in known]:
        return Span(known[0], known[-1])
    return Span(facts_at(diagnosis, first), facts_at(diagnosis, last))


@dataclass(frozen=True)
class Span:
    """What lies between the first and the last moment of a side that have a counterpart."""

    first: MomentFacts | None
    last: MomentFacts | None

    @property
    def began(self) -> int:
        """Collections until the first moment; 0 where there is only one, or a restart between."""
        return (self._counts[0] or 0) if self._is_one_process else 0

    @property
    def ended(self) -> int:
        """Collections until the last moment."""
        return self._counts[1] or 0

    @property
    def collections(self) -> int:
        """How many lie between the two moments, by the counters."""
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
        """How many collections they count."""
        return [None if reading is None else reading.count("NumGC") for reading in self._readings]

    def not_covered_by(self, log: CollectorFacts | None) -> str:
        """Why a log does not tell what lies between the moments; empty if it does, or of none."""
        if log is None or log.last_number is None:
            return ""
        if not self._is_covered_by(log.last_number):
            name = MomentName("" if self.last is None else self.last.name)
            counts = str(log.last_number), str(self.ended)
            return text("ends at GC {} of the {} until {}", *counts, name)
        lasting = None if log.log_seconds is None else log.log_seconds[1] - log.log_seconds[0]
        if self._is_one_process and None not in self._counts and not self.collections:
            return "does not cover the time between the snapshots, in which no GC ran"
        if lasting is None or self.seconds is None or lasting >= MIN_LOG_SHARE * self.seconds:
            return ""
        between = format_seconds(self.seconds)
        return f"covers {format_seconds(lasting)} of the {between} between the snapshots"

    def _is_covered_by(self, last_number: int) -> bool:
        """Whether a log that ends with this collection tells nearly all of them."""
        cycles = self.ended - self.began
        return cycles <= 0 or min(last_number, self.ended) - self.began >= COVERED * cycles

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
        """What each of so many requests cost on average, by the counters of the two moments."""
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
        """By the moments' own clock; else by the collections', of which there must be enough."""
        if self.seconds is not None:
            return self.seconds
        ends = first.time("LastGC"), last.time("LastGC")
        if self.collections < MIN_CYCLES or ends[0] is None or ends[1] is None:
            return None
        return float((ends[1] - ends[0]).total_seconds())


def _gc_cpu_share(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Of the CPU that GOMAXPROCS allowed in between, what collections took without idle marking."""
    spent = gc_cpu_between(before, after)
    allowed = after.get(ALL_CPU, 0.0) - before.get(ALL_CPU, 0.0)
    return None if spent is None or not allowed > 0 else min(1.0, spent / allowed)


def order_note(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> str:
    """A sentence on the order of the runs; empty where a run has no time, or they are few.

    A machine and its load drift: what drifted between all runs of one side and all of the other
    cannot be told from the change that was made. In turns means that the side changes at least half
    as often as it can from run to run.
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
    """When its first moment was, by a clock of its own."""
    times = diagnosis.capture.moments["time"].dropna()
    return None if times.empty else times.min()
