"""What is known of the collector: every question that a gctrace log answers, asked once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING

from gomem.analysis.collector.gc_cost import GcCost, cost_of_collection
from gomem.analysis.collector.heap_pacing import HeapPacing, heap_pacing
from gomem.analysis.collector.live_heap import LiveHeap, live_heaps
from gomem.analysis.collector.mutator_utilization import MutatorUtilization, mutator_utilization
from gomem.analysis.collector.pauses import GcPauses, gc_pauses
from gomem.analysis.collector.phases import gc_phases
from gomem.analysis.collector.scavenges import gc_scavenges
from gomem.analysis.collector.timeline import gc_timeline
from gomem.analysis.collector.triggers import GcTriggers, gc_triggers

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.gctrace.table import GcLog

TABLE_WINDOWS = 24  # of the timeline, where it is printed


@dataclass(frozen=True)
class CollectorAnswers:
    """The answers about one log, each computed when it is first read.

    Attributes:
        log: What was read.
        path: The log, as evidence names it.
        gogc_fraction: GOGC as runtime/metrics give it, 1.0 for 100; infinite where it is off, None
            where nothing says.
        memory_limit_bytes: GOMEMLIMIT likewise; infinite where there is none.
    """

    log: GcLog
    path: str
    gogc_fraction: float | None = None
    memory_limit_bytes: float | None = None

    @property
    def cycles(self) -> pd.DataFrame:
        """Its collections; see `gctrace.table.CYCLES`."""
        return self.log.cycles

    @cached_property
    def cost(self) -> GcCost:
        """What they cost."""
        return cost_of_collection(self.cycles)

    @cached_property
    def pauses(self) -> GcPauses:
        """Times and their quantiles."""
        return gc_pauses(self.cycles)

    @cached_property
    def utilization(self) -> MutatorUtilization:
        """What the program kept of its CPU."""
        return mutator_utilization(self.cycles)

    @cached_property
    def triggers(self) -> GcTriggers:
        """Why each collection ran."""
        return gc_triggers(self.cycles, self.gogc_fraction, self.memory_limit_bytes)

    @cached_property
    def pacing(self) -> HeapPacing:
        """Survival, overshoot, headroom."""
        return heap_pacing(self.cycles)

    @cached_property
    def live(self) -> tuple[LiveHeap, ...]:
        """The live heap of each run, and its slope."""
        return live_heaps(self.cycles)

    @cached_property
    def phases(self) -> pd.DataFrame:
        """Phases of each run."""
        return gc_phases(self.cycles)

    @cached_property
    def scavenges(self) -> pd.DataFrame:
        """The scavenger's lines on the collector's clock."""
        return gc_scavenges(self.cycles, self.log.scavenges)

    @cached_property
    def timeline(self) -> pd.DataFrame:
        """The log over time, in as many windows as a figure shows."""
        return gc_timeline(self.cycles)

    @cached_property
    def timeline_table(self) -> pd.DataFrame:
        """The same in as many as a page prints."""
        if len(self.cycles) < TABLE_WINDOWS:  # each has a window of its own, here as there
            return self.timeline
        return gc_timeline(self.cycles, TABLE_WINDOWS)

    @property
    def longest_run(self) -> LiveHeap | None:
        """The run that was watched longest."""
        return max(self.live, key=lambda one: one.seconds, default=None)

    @property
    def available_cpu_seconds(self) -> float:
        """CPU that GOMAXPROCS allowed from each run's first collection to its last."""
        return self.cost.available_cpu_seconds

    def marking_share_of(self, trigger: str) -> float | None:
        """CPU that marking took in collections of a trigger, of all that GOMAXPROCS allowed.

        None where no interval, or no such collection, tells it.
        """
        available = self.available_cpu_seconds
        spent = float(self.triggers.of(trigger)["marking_cpu_seconds"])
        return spent / available if available > 0 and not isnan(spent) else None
