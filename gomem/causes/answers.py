"""What the causes look at: the answers about a capture, moment by moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gomem.analysis.memory.skew import Skew
from gomem.causes.thresholds import GcThresholds

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.analysis.profiles.allocation_spikes import Spike
    from gomem.analysis.profiles.allocations import AllocationSites
    from gomem.analysis.profiles.growth import Series
    from gomem.causes.collector_answers import GcFacts
    from gomem.errors import Damage
    from gomem.releases import GoVersion

GOROUTINES = "/sched/goroutines:goroutines"


@dataclass(frozen=True)
class MomentFacts:
    """What is known of one moment.

    Attributes:
        name: The moment.
        ledger: Where its resident bytes are; None if no artefact says.
        memstats: A row of the MemStats table, or of runtime/metrics in its place.
        heap: A row of `analysis.scavenger.heap_return`, in bytes.
        mappings: Classified mappings.
        size_classes: BySize of MemStats; empty if it is not there.
        metrics: runtime/metrics scalars by name.
        paths: The artefact of each kind.
        skew: How far MemStats and the mappings lie apart, in time and in collections.
        goroutines: Goroutines by stack, from a goroutine profile; see `capture.GOROUTINES`.
        cgroup: The cgroup's numbers by name, in bytes; empty without them.
        time: When it was, if that is known.
    """

    name: str
    ledger: Ledger | None = None
    memstats: pd.Series | None = None
    heap: pd.Series | None = None
    mappings: pd.DataFrame | None = None
    size_classes: pd.DataFrame | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    skew: Skew = field(default_factory=Skew)
    goroutines: pd.DataFrame | None = None
    cgroup: Mapping[str, int | None] = field(default_factory=dict)
    time: pd.Timestamp | None = None

    @property
    def goroutine_count(self) -> int | None:
        """How many there are, by runtime/metrics or by a goroutine profile; None without both."""
        if GOROUTINES in self.metrics:
            return int(self.metrics[GOROUTINES])
        if self.goroutines is None or self.goroutines.empty:
            return None
        return int(self.goroutines["goroutines"].sum())

    @property
    def goroutine_path(self) -> str:
        """The artefact that says how many there are."""
        return self.path("metrics" if GOROUTINES in self.metrics else "goroutine")

    @property
    def rss_bytes(self) -> int | None:
        """Resident bytes, if they are known."""
        return None if self.ledger is None else self.ledger.rss_bytes

    def path(self, kind: str) -> str:
        """The artefact of a kind, as evidence names it."""
        if kind == "memstats" and kind not in self.paths:
            kind = "metrics"
        return self.paths.get(kind, kind)


@dataclass(frozen=True)
class Situation:
    """What is known of a capture.

    Attributes:
        moments: In order.
        go_version: The release, as far as known.
        damage: What could not be read.
        unrecognised: Of its sources, the files that are of no kind gomem knows.
        baseline: The capture to hold it against, if there is one.
        gc: What is known of the collector, if there is a log of it.
        gc_thresholds: From where on its costs are findings.
        alloc_space: Who allocated most bytes since the start, by moment, where a profile says so.
        spike: The interval between two profiles that stands out most, if there are any.
        heap_series: What each stack has in use over the heap profiles, if there are enough.
        growth: How each of those stacks grows; see `analysis.growth.GROWTH`.
    """

    moments: tuple[MomentFacts, ...]
    go_version: GoVersion
    damage: tuple[Damage, ...] = ()
    unrecognised: frozenset[str] = frozenset()
    baseline: Situation | None = None
    gc: GcFacts | None = None
    gc_thresholds: GcThresholds = field(default_factory=GcThresholds)
    alloc_space: Mapping[str, AllocationSites] = field(default_factory=dict)
    spike: Spike | None = None
    heap_series: Series | None = None
    growth: pd.DataFrame | None = None

    @property
    def largest_rss_bytes(self) -> int | None:
        """The largest RSS of any moment, if one is known."""
        known = [one.rss_bytes for one in self.moments if one.rss_bytes is not None]
        return max(known, default=None)
