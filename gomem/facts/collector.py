"""The facts of a gctrace log, each computed once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from gomem.analysis.collector.constant_goals import CONSTANT
from gomem.analysis.collector.cost import cost_of_collection, cpu_fractions
from gomem.analysis.collector.heap_pacing import LiveHeap, heap_pacing, live_heaps
from gomem.analysis.collector.mmu import missing_cycles, mutator_utilization
from gomem.analysis.collector.pauses import gc_pauses
from gomem.analysis.collector.phases import gc_phases
from gomem.analysis.collector.steps import (
    CONCURRENT,
    ROUNDING_BYTES,
    STOPS,
    group_size,
    overlapping,
    pieces_of,
    stopped_seconds,
)
from gomem.analysis.collector.timeline import gc_scavenges, gc_timeline
from gomem.analysis.collector.triggers import METRICS, GcTriggers, gc_triggers
from gomem.statistics.quantiles import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.analysis.collector.steps import Cycles
    from gomem.inputs.gctrace.table import GcLog

_Answer = TypeVar("_Answer")
TABLE_WINDOWS = 24  # windows of the printed timeline


def _answer(question: Callable[[Cycles], _Answer]) -> cached_property[_Answer]:
    """Make a cached property of a function of the collections."""
    answer = cached_property(lambda facts: question(facts.cycles))
    answer.__doc__ = question.__doc__
    return answer


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """One process of a log; sizes are None if no line has them."""

    number: int
    cycles: int  # how many collections
    first_number: int  # of its first collection in the log
    first_bytes: int | None  # its first live heap
    last_bytes: int | None  # its last live heap
    most_marked_bytes: int | None  # its largest heap at the end of marking
    highest_goal_bytes: int | None
    most_stacks_bytes: int | None

    @property
    def largest_bytes(self) -> int:
        """Its largest heap or goal; 0 if unknown."""
        return max(self.most_marked_bytes or 0, self.highest_goal_bytes or 0)


@dataclass(frozen=True, slots=True)
class SinceStart:
    """The whole run of a process up to a line of its log, by that line's own fields."""

    cycles: int  # collections
    seconds: float  # its age
    cpu_fraction: float  # the GC's share of what GOMAXPROCS allowed, cut to a whole per cent
    cpu_seconds: float  # the same in seconds

    @property
    def interval_seconds(self) -> float | None:
        """The mean time between collections; None if unknown."""
        return self.seconds / self.cycles if self.cycles else None


SINCE_START = ["number", "at_seconds", "gc_cpu_since_start_fraction", "gomaxprocs"]
# The fields of `LoggedRun` by the column of the collections, and how they sum up.
RUN_FIELDS = {
    "cycles": ("run", "size"),
    "first_number": ("number", "first"),
    "first_bytes": ("heap_live_bytes", "first"),
    "last_bytes": ("heap_live_bytes", "last"),
    "most_marked_bytes": ("heap_at_mark_end_bytes", "max"),
    "highest_goal_bytes": ("heap_goal_bytes", "max"),
    "most_stacks_bytes": ("stacks_bytes", "max"),
}
RUN_COLUMNS = list(dict.fromkeys(column for column, _ in RUN_FIELDS.values()))


@dataclass(frozen=True)
class CollectorFacts:
    """The facts of one log, each computed on first use."""

    log: GcLog  # the parsed log
    path: str  # the log, as evidence names it
    # GOGC as a file states it, 1.0 for 100; infinite if off, None if unknown or not constant.
    gogc_fraction: float | None = None
    memory_limit_bytes: float | None = None  # GOMEMLIMIT, also from a file; infinite if none
    gogc_source: str = METRICS  # where GOGC comes from; see `triggers.STATED`

    @property
    def cycles(self) -> Cycles:
        """The collections; see `gctrace.table.CYCLES`."""
        return self.log.cycles

    @cached_property
    def log_seconds(self) -> tuple[float, float] | None:
        """Start times of the first and last GC, in process time; None for several runs."""
        runs, ends = set(), []
        for piece in pieces_of(self.cycles, ["run", "at_seconds"]):
            if not len(piece):
                continue
            runs |= set(piece["run"])
            ends += [float(piece["at_seconds"].iloc[0]), float(piece["at_seconds"].iloc[-1])]
        return (ends[0], ends[-1]) if len(runs) == 1 else None

    cost = _answer(cost_of_collection)
    cpu_fractions = _answer(cpu_fractions)
    pauses = _answer(gc_pauses)
    utilization = _answer(mutator_utilization)
    pacing = _answer(heap_pacing)
    live = _answer(live_heaps)
    phases = _answer(gc_phases)
    timeline = _answer(gc_timeline)

    @cached_property
    def missing(self) -> int:
        """Collections whose lines are missing in the middle of a run."""
        pieces = overlapping(self.cycles, ["run", "number"])
        return sum(missing_cycles(piece) for piece, _ in pieces)

    @cached_property
    def since_start(self) -> SinceStart | None:
        """What the last line says of the whole run; None if it does not say everything."""
        last = None
        for piece in pieces_of(self.cycles, SINCE_START):
            last = piece.iloc[-1] if len(piece) else last
        if last is None or last[SINCE_START].isna().any():
            return None
        number, seconds, share, cpus = (float(last[name]) for name in SINCE_START)
        return SinceStart(int(number), seconds, share, share * seconds * cpus)

    @cached_property
    def limit_looks_the_same(self) -> bool:
        """Whether the room above the live heap stays, and the line of the first GC is missing.

        Then a memory limit can have set the goals from which GOGC is inferred. GOGC's room follows
        the live heap, and before the first GC it is small.
        """
        room = self.pacing.summary.set_index("what").loc["headroom_bytes"]
        most = CONSTANT * room["p50"] + 2 * ROUNDING_BYTES
        stays = room["p90"] - room["p10"] <= most
        is_open = self.memory_limit_bytes is None and self._prints_stacks
        return bool(stays) and is_open and self.runs[-1].first_number > 1

    @cached_property
    def triggers(self) -> GcTriggers:
        """Why each collection ran."""
        return gc_triggers(
            self.cycles, self.gogc_fraction, self.memory_limit_bytes, self.gogc_source
        )

    @cached_property
    def limit_is_possible(self) -> bool:
        """Whether a memory limit could have set goals: no file has GOGC or rules out a limit."""
        if self.memory_limit_bytes is not None and math.isinf(self.memory_limit_bytes):
            return False
        if not self.triggers.gogc["gogc_fraction"].isna().any():
            return False
        return self._prints_stacks

    @cached_property
    def _prints_stacks(self) -> bool:
        """Whether lines have stacks, as in the releases that have a memory limit."""
        stacks = pieces_of(self.cycles, ["stacks_bytes"])
        return any(piece["stacks_bytes"].notna().any() for piece in stacks)

    @cached_property
    def scavenges(self) -> pd.DataFrame:
        """The scavenger's lines on the collector's clock."""
        if not len(self.log.scavenges):
            return gc_scavenges(next(pieces_of(self.cycles)).iloc[:0], self.log.scavenges)
        return gc_scavenges(self._places, self.log.scavenges)

    @property
    def _places(self) -> pd.DataFrame:
        """The columns that place collections on the clock."""
        names = ["run", "number", "at_seconds", *STOPS, *CONCURRENT]
        return pd.concat(list(pieces_of(self.cycles, names)))

    @cached_property
    def last_number(self) -> int | None:
        """The number of the last collection; None if the log is empty."""
        last = None
        for piece in pieces_of(self.cycles, ["number"]):
            last = int(piece["number"].iloc[-1]) if len(piece) else last
        return last

    def pauses_after(self, seconds: float) -> Tally:
        """Return the STW times of the collections that began so long after a process's start."""
        stops = Tally()
        for piece in pieces_of(self.cycles, ["at_seconds", *STOPS]):
            late = piece[piece["at_seconds"] >= seconds]
            stops.add(stopped_seconds(late).to_numpy(float))
        return stops

    @cached_property
    def longest_stop(self) -> pd.Series | None:
        """The GC with the longest pause; None if no pause is known."""
        worst, at = -1.0, None
        for piece in pieces_of(self.cycles, STOPS):
            stopped = stopped_seconds(piece).dropna()
            if len(stopped) and stopped.max() > worst:
                worst, at = float(stopped.max()), stopped.idxmax()
        if at is None:
            return None
        cycles = self.cycles
        return cycles.loc[at] if isinstance(cycles, pd.DataFrame) else cycles.row(int(at))

    @cached_property
    def timeline_table(self) -> pd.DataFrame:
        """The timeline in as many windows as a page prints."""
        if len(self.cycles) < TABLE_WINDOWS:  # a window per collection
            return self.timeline
        return gc_timeline(self.cycles, TABLE_WINDOWS)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is approximate for a log too long for memory."""
        if isinstance(self.cycles, pd.DataFrame):
            return ()
        size = group_size(self.cycles)
        of_groups = "phases and the growth of the live heap are computed from groups of"
        rounded = "quantiles of survival, overshoot and headroom can be off by 0.05 %"
        return (
            *((f"{of_groups} {size} collections",) if size > 1 else ()),
            *((rounded,) if self.pacing.is_rounded else ()),
        )

    @property
    def longest_run(self) -> LiveHeap | None:
        """The run with the longest observed time."""
        return max(self.live, key=lambda run: run.seconds, default=None)

    @cached_property
    def runs(self) -> tuple[LoggedRun, ...]:
        """The processes of the log, in order."""
        pieces = pieces_of(self.cycles, RUN_COLUMNS)
        parts = [piece.groupby("run").agg(**RUN_FIELDS) for piece in pieces]
        again = {name: "sum" if how == "size" else how for name, (_, how) in RUN_FIELDS.items()}
        runs = pd.concat(parts).groupby(level="run").agg(again) if parts else pd.DataFrame()
        return tuple(LoggedRun(*map(_whole, row)) for row in runs.itertuples())

    @property
    def costliest_run(self) -> tuple[int, float] | None:
        """The position, from 1, and share of CPU of the run in which GC took the most of it.

        None for a single run, and if no share is known.
        """
        if self.cost.runs < 2:
            return None
        shares = self.cpu_fractions
        if not shares:
            return None
        run = max(shares, key=lambda number: shares[number])
        return [known.number for known in self.runs].index(run) + 1, shares[run]

    @property
    def last_run(self) -> LiveHeap | None:
        """The live heap of the log's last process; None if unknown."""
        last = self.runs[-1].number if self.runs else None
        return next((live for live in self.live if live.run == last), None)

    def marking_share_of(self, trigger: str) -> float | None:
        """Return the CPU of marking in collections with a trigger, as a fraction of GOMAXPROCS.

        None without an interval between collections, or without a collection with this trigger.
        """
        return self._share(trigger, "marking_cpu_seconds")

    def collecting_share_of(self, trigger: str) -> float | None:
        """Return an upper bound of the CPU of collections with a trigger, including STW pauses.

        The last collection of a log has no time of its own, so its CPU can be too much: all of them
        together take no more than `gc_cpu_fraction`.
        """
        share, of_all = self._share(trigger, "gc_cpu_seconds"), self.cost.gc_cpu_fraction
        return share if share is None or of_all is None else min(share, of_all)

    def _share(self, trigger: str, what: str) -> float | None:
        available, spent = self.cost.available_cpu_seconds, float(self.triggers.of(trigger)[what])
        return spent / available if available > 0 and not isnan(spent) else None


def _whole(value: Any) -> Any:
    return None if pd.isna(value) else int(value)
