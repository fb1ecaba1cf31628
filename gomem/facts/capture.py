"""The facts of a capture, each computed once, on first use.

Rules, the diagnosis, views and comparisons read these facts. No fact depends on a threshold or on a
baseline, so diagnoses with different thresholds share them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.collector import triggers
from gomem.analysis.collector.counters import CollectorCounters, collector_counters
from gomem.analysis.collector.pauses import RememberedPauses, remembered_pauses
from gomem.analysis.mappings.kinds import address_regions
from gomem.analysis.memory.groups import side_by_side
from gomem.analysis.profiles.lifetimes import OWN, Lifetimes
from gomem.analysis.retention.keepers import NotWhole
from gomem.analysis.scavenger.scavenger import HEAP_RETURN, heap_steps
from gomem.analysis.series.goroutine_growth import (
    GOROUTINE_GROUPS,
    goroutine_groups,
    mixed_states,
)
from gomem.analysis.series.level import Level
from gomem.analysis.series.shapes import MOVES
from gomem.analysis.what_if.what_if import Asked, WhatIf
from gomem.facts.account import account_of_capture, account_of_rss
from gomem.facts.callers import Callers
from gomem.facts.collector import CollectorFacts
from gomem.facts.excursions import sightings_of
from gomem.facts.frames import (
    container_sizes,
    containers_of_capture,
    kinds_frame,
    ledger_frame,
    levels_frame,
    quantiles_frame,
    smaps_frame,
)
from gomem.facts.goroutines import (
    counts_of_goroutines,
    growth_of_goroutines,
    leaked_goroutines,
    level_of,
    rise_of_finalizers,
    rise_of_open_files,
    rise_of_threads,
    running_finalizer,
    starts_of_goroutines,
)
from gomem.facts.keepers import Held, Kept, held_of, kept_of
from gomem.facts.live_heap import live_heap_of
from gomem.facts.moment import LIVE, MomentFacts, growth_to_limit, seconds_of
from gomem.facts.one_process import of_last_process
from gomem.facts.profiles import ProfileFacts, lifetimes_of
from gomem.facts.retention import scavenger_of
from gomem.facts.rss_profile import rss_profile, rss_tree
from gomem.facts.settings import ENVIRONMENT, METRICS, settings_of, stated_settings
from gomem.facts.sides import facts_of_moments
from gomem.facts.told_beside import kill_described
from gomem.facts.what_if import what_if_of
from gomem.inputs.schema import build_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gomem.analysis.collector.steps import Cycles
    from gomem.analysis.memory.ledger import Ledger
    from gomem.analysis.memory.limits import TimeToLimit
    from gomem.capture.capture import Capture
    from gomem.errors import Damage
    from gomem.facts.goroutines import GoroutineCount
    from gomem.releases import GoVersion

MIN_COUNTED_SHARE = 0.5  # of the allocated bytes: below, a heap profile does not cover everything
MIN_LINEAR_SHARE = 0.5  # of a rise: if more of it is steady, every heap profile lags behind
SAID_BY = {METRICS: triggers.METRICS, ENVIRONMENT: triggers.ENVIRONMENT}


@dataclass(frozen=True, eq=False)
class CaptureFacts:
    """The facts of a capture."""

    capture: Capture  # what was read

    @property
    def go_version(self) -> GoVersion:
        """The Go release, or the range of possible releases."""
        return self.capture.go_version

    @property
    def damage(self) -> tuple[Damage, ...]:
        """The parts that could not be read."""
        return self.capture.damaged

    # By snapshot

    ledger = cached_property(ledger_frame)
    kinds = cached_property(kinds_frame)
    smaps = cached_property(smaps_frame)
    levels = cached_property(levels_frame)
    level_quantiles = cached_property(quantiles_frame)
    scavenger = cached_property(scavenger_of)
    rss_profile = rss_profile
    rss_tree = rss_tree

    containers = cached_property(containers_of_capture)
    container_sizes = cached_property(container_sizes)

    @cached_property
    def kept(self) -> Kept | None:
        """What keeps the heap alive, by the last whole heap dump; None without one."""
        try:
            return kept_of(self.capture)
        except NotWhole:
            return None

    @cached_property
    def held(self) -> Held | None:
        """Which root holds what, by the last profile of references; None without one."""
        return held_of(self.capture)

    @cached_property
    def moments(self) -> tuple[MomentFacts, ...]:
        """The facts of each snapshot with memory data, in order."""
        return facts_of_moments(self.capture)

    @cached_property
    def of_last_process(self) -> tuple[MomentFacts, ...]:
        """The snapshots since the process last changed, so that changes are within one."""
        return tuple(of_last_process(self.moments, self.capture.heap_profiles))

    @property
    def of_earlier_processes(self) -> tuple[MomentFacts, ...]:
        """The snapshots of earlier processes."""
        last = {moment.name for moment in self.of_last_process}
        return tuple(moment for moment in self.moments if moment.name not in last)

    @cached_property
    def by_moment(self) -> Mapping[str, MomentFacts]:
        """The facts of snapshots, by name."""
        return {moment.name: moment for moment in self.moments}

    @cached_property
    def ledgers(self) -> dict[str, Ledger]:
        """Ledgers by snapshot, in order; snapshots without one are left out."""
        return {moment.name: moment.ledger for moment in self.moments if moment.ledger is not None}

    @cached_property
    def groups_side_by_side(self) -> pd.DataFrame:
        """RSS by owner at each snapshot with a ledger; see `memory.groups.side_by_side`."""
        return side_by_side([moment.groups for moment in self.moments if moment.groups is not None])

    @cached_property
    def heap(self) -> pd.DataFrame:
        """Heap retained, released and resident: see `analysis.memory.scavenger.heap_return`."""
        names = [column.name for column in HEAP_RETURN]
        rows = [
            [*map(moment.heap.get, names)] for moment in self.moments if moment.heap is not None
        ]
        return build_rows(rows, HEAP_RETURN)

    @cached_property
    def heap_steps(self) -> pd.DataFrame:
        """Changes from each snapshot to the next; see `analysis.memory.scavenger.heap_steps`."""
        return heap_steps(self.heap, {moment.name: moment.rss_bytes for moment in self.moments})

    @property
    def largest_rss_bytes(self) -> int | None:
        """The largest RSS of any snapshot; None if unknown."""
        sizes = (moment.rss_bytes for moment in self.moments if moment.rss_bytes is not None)
        return max(sizes, default=None)

    @cached_property
    def limit_growth(self) -> TimeToLimit | None:
        """The time until the last snapshot's limit is reached; None if unknown."""
        moments = self.of_last_process
        return growth_to_limit(moments, moments[-1].cgroup_use if moments else None)

    def regions(self, moment: str) -> pd.DataFrame:
        """Return the regions of a snapshot's address space; see `analysis.mappings.kinds.REGIONS`.

        Raises:
            KeyError: The snapshot has no smaps.
        """
        mappings = self.by_moment[moment].mappings
        if mappings is None:
            raise KeyError(moment)
        return address_regions(mappings)

    # Allocation

    @cached_property
    def profiles(self) -> ProfileFacts:
        """The facts of the heap profiles."""
        return ProfileFacts(self.capture)

    @cached_property
    def lifetimes(self) -> Lifetimes | None:
        """Object lifetimes by allocating function; None for fewer than two profiles."""
        return lifetimes_of(self, "functions")

    @cached_property
    def own_lifetimes(self) -> Lifetimes | None:
        """Object lifetimes by the program's own functions."""
        return lifetimes_of(self, OWN)

    @cached_property
    def callers(self) -> Callers:
        """The callers of the collector, C and mmap, and recursion, as far as profiles show them."""
        return Callers(self.capture)

    # The collector and its settings

    settings_stated = cached_property(stated_settings)
    settings = cached_property(settings_of)
    kill_described = cached_property(kill_described)

    @cached_property
    def collector(self) -> CollectorFacts | None:
        """The facts of the log; settings are from runtime/metrics, if all snapshots agree."""
        if self.capture.gc is None:
            return None
        gogc, limit = self.settings_stated.gogc, self.settings_stated.memory_limit
        return CollectorFacts(
            self.capture.gc,
            ", ".join(self.capture.of_kind("gctrace")) or "gctrace",
            float(gogc.value) if gogc is not None and gogc.is_constant else None,
            float(limit.value) if limit is not None and limit.is_constant else None,
            SAID_BY.get("" if gogc is None else gogc.known_by, SAID_BY[METRICS]),
        )

    @property
    def cycles(self) -> Cycles | None:
        """The log's collections; None without a log."""
        return None if self.collector is None else self.collector.cycles

    @cached_property
    def what_if(self) -> WhatIf | None:
        """The effect of the usual alternative values of GOGC and GOMEMLIMIT; None without a log."""
        return self.what_if_set(Asked())

    def what_if_set(self, asked: Asked) -> WhatIf | None:
        """Return the effect of settings that a user chooses, and of a container's size."""
        return what_if_of(self, asked)

    @property
    def limit_is_possible(self) -> bool:
        """Whether the release has GOMEMLIMIT, and no snapshot has its value."""
        return self.settings_stated.memory_limit is None

    @cached_property
    def has_limited_goal(self) -> bool:
        """Whether GOMEMLIMIT sets the heap goal of any snapshot."""
        return any(moment.limited_goal is not None for moment in self.moments)

    @property
    def limited_moment(self) -> MomentFacts | None:
        """The last snapshot with a known source of its goal, if that is GOMEMLIMIT; None for GOGC.

        A setting seldom changes, so if later snapshots lack this, it is assumed unchanged.
        """
        saying = [moment for moment in self.with_memstats if LIVE in moment.metrics]
        return saying[-1] if saying and saying[-1].limited_goal is not None else None

    @cached_property
    def counters(self) -> CollectorCounters | None:
        """The process's own GC counters; None if no file has them."""
        readings = [moment.counter_reading for moment in self.of_last_process]
        return collector_counters([reading for reading in readings if reading is not None])

    @property
    def _last_number(self) -> int | None:
        """The number of the last collection that the counters include; None without counters."""
        return None if self.counters is None else self.counters.last.count("NumGC")

    @property
    def log_ends_early(self) -> bool:
        """Whether the last snapshot counts clearly more collections than the log has."""
        logged = None if self.collector is None else self.collector.last_number
        counted = self._last_number
        return logged is not None and counted is not None and logged < (1 - MOVES) * counted

    @cached_property
    def pauses(self) -> pd.DataFrame | None:
        """Pauses from MemStats; None if there is a log."""
        return self.capture.pauses if self.collector is None else None

    @cached_property
    def remembered_pauses(self) -> RememberedPauses | None:
        """The pauses of the counted collections; None if MemStats has none of them."""
        counters, last = self.counters, self._last_number
        if self.pauses is None or counters is None or last is None:
            return None
        return remembered_pauses(self.pauses, last, counters.cycles, counters.seconds)

    # Levels over time

    excursions = cached_property(sightings_of)
    account = cached_property(account_of_capture)
    account_of_rss = cached_property(account_of_rss)
    live_heap = cached_property(live_heap_of)
    goroutine_counts = cached_property(counts_of_goroutines)
    goroutines = cached_property(growth_of_goroutines)
    goroutine_starts = cached_property(starts_of_goroutines)
    leaked_goroutines = cached_property(leaked_goroutines)
    threads = cached_property(rise_of_threads)
    open_files = cached_property(rise_of_open_files)
    finalizing = cached_property(running_finalizer)
    finalizer_queue = cached_property(rise_of_finalizers)

    @property
    def with_memstats(self) -> list[MomentFacts]:
        """The snapshots with MemStats."""
        return [moment for moment in self.moments if moment.memstats is not None]

    @property
    def memstats_path(self) -> str:
        """The last file with MemStats; empty without any."""
        return next((known.path("memstats") for known in reversed(self.with_memstats)), "")

    @cached_property
    def total_allocs(self) -> dict[str, int]:
        """TotalAlloc by snapshot; empty if the process was replaced."""
        totals = {moment.name: moment.counted("TotalAlloc") for moment in self.moments}
        known = {name: total for name, total in totals.items() if total is not None}
        return known if list(known.values()) == sorted(known.values()) else {}

    @cached_property
    def rss_level(self) -> Level:
        """RSS over time, by position if a time is unknown."""
        known = [m for m in self.of_last_process if m.rss_bytes is not None]
        return level_of("rss", [(moment.time, float(moment.rss_bytes or 0)) for moment in known])

    @cached_property
    def arenas_level(self) -> Level | None:
        """Resident bytes of the arenas over time; None if other files have the memory in use."""
        if self.with_memstats or self.collector is not None or self.profiles.by_moment:
            return None
        mapped = [m for m in self.of_last_process if m.arenas_rss_bytes is not None]
        seconds = seconds_of(mapped)
        if seconds is None:
            return None
        sizes = np.array([moment.arenas_rss_bytes for moment in mapped], float)
        return Level("smaps", seconds, sizes)

    @property
    def goroutines_are_timed(self) -> bool:
        """Whether each snapshot that counts goroutines has a time."""
        return all(count.time is not None for count in self.goroutine_counts)

    @cached_property
    def goroutine_groups(self) -> pd.DataFrame:
        """Goroutines by waiting place, at the last snapshot with stacks; see `GOROUTINE_GROUPS`."""
        shown = self._last_shown
        if shown is None or shown.frame is None:
            return build_rows([], GOROUTINE_GROUPS)
        return goroutine_groups(shown.frame, shown.goroutines)

    @cached_property
    def goroutine_states(self) -> dict[str, str]:
        """For each group with goroutines in several states, the states with their counts."""
        shown = self._last_shown
        return {} if shown is None or shown.frame is None else mixed_states(shown.frame)

    @property
    def _last_shown(self) -> GoroutineCount | None:
        """The last goroutine count that includes stacks; None without one."""
        shown = [count for count in self.goroutine_counts if count.frame is not None]
        return shown[-1] if shown else None

    def in_use_at_most(self, moment: MomentFacts) -> float | None:
        """Return an upper bound of the memory in use by heap profiles; None if they can lag.

        The last profile up to the snapshot must cover half of the allocated bytes, which it does
        not if the program turns sampling off, or turns it on late. If the heap grows, all profiles
        lag.
        """
        totals = self.profiles.in_use
        allocated = moment.counted("TotalAlloc")
        if totals is None or allocated is None:
            return None
        names = [known.name for known in self.moments]
        until = names[: names.index(moment.name) + 1]
        counted = [totals.allocated[name] for name in until if name in totals.allocated]
        if not counted or counted[-1] < MIN_COUNTED_SHARE * allocated:
            return None
        rise = None if self.live_heap is None else self.live_heap.rise
        grows = rise is not None and rise.grown > 0 and rise.linear_share >= MIN_LINEAR_SHARE
        return None if grows else totals.at_most
