"""The facts of a capture's heap profiles: allocation sites, and retained memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.collector.steps import pieces_of
from gomem.analysis.profiles.allocation_spikes import Spike, find_spike
from gomem.analysis.profiles.call_tree import CallTree, call_tree
from gomem.analysis.profiles.growth import (
    GROWTH,
    MIN_MOMENTS,
    Series,
    growth,
    horizon_seconds_of,
    series_of,
)
from gomem.analysis.profiles.lifetimes import Lifetimes, lifetimes
from gomem.analysis.profiles.own_code import holders
from gomem.analysis.profiles.published import (
    InUseTotals,
    Publications,
    heap_at_most,
    in_use_totals,
    published,
    since_restart,
)
from gomem.analysis.profiles.reasons import site_reasons
from gomem.analysis.profiles.sizes import OBJECTS, TURNOVER, object_sizes, site_turnover
from gomem.inputs.pprof.sites import AllocationSites, top_sites
from gomem.inputs.schema import empty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
    from gomem.inputs.pprof.table import Profile

TOP_SITES = 20
ALLOCATED, IN_USE = "alloc_space", "inuse_space"
MAX_SWING = 2.0  # with GOGC=100, the heap varies by no more between two collections
UNTYPED = "bytes"  # a kind of profile, see `Profile.kind`
UNSAID = "space"  # the sample type of such a profile
SAMPLE_TYPES = ("inuse_space", "alloc_space", "inuse_objects", "alloc_objects")


class _Sites(Mapping[str, "Mapping[str, AllocationSites]"]):
    """The sites of each snapshot, computed on first use: a page shows a few of many."""

    def __init__(self, profiles: Mapping[str, Profile]) -> None:
        self._profiles = profiles
        self._known: dict[str, Mapping[str, AllocationSites]] = {}

    def __getitem__(self, moment: str) -> Mapping[str, AllocationSites]:
        if moment not in self._known:
            profile = self._profiles[moment]
            self._known[moment] = {
                name: top_sites(profile, name, TOP_SITES)
                for name in SAMPLE_TYPES
                if name in profile.sample_type_names
            }
        return self._known[moment]

    def __iter__(self) -> Iterator[str]:
        return iter(self._profiles)

    def __len__(self) -> int:
        return len(self._profiles)


@dataclass(frozen=True, eq=False)
class ProfileFacts:
    """The facts of a capture's heap profiles, each computed on first use."""

    capture: Capture  # what was read

    @cached_property
    def by_moment(self) -> Mapping[str, Profile]:
        """Heap profiles by snapshot; an allocs profile has the same data."""
        return self.capture.heap_profiles

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The file of each heap profile, by snapshot."""
        return {moment: profile.source for moment, profile in self.by_moment.items()}

    def path(self, moment: str) -> str:
        """Return the file of a snapshot's heap profile, as evidence names it."""
        return self.paths.get(moment, moment)

    @property
    def last_path(self) -> str:
        """The file of the last heap profile; empty without any."""
        return next(reversed([*self.paths.values()]), "")

    @cached_property
    def hides_most_in_use(self) -> bool:
        """Whether most in-use bytes of the last heap profile are on samples without a stack."""
        usable = [*that_count(IN_USE, self._profiles).values()]
        if not usable:
            return False
        hidden = usable[-1].values(IN_USE)[usable[-1].columns.lacks_stack].sum()
        return bool(2 * hidden > usable[-1].total(IN_USE))

    @cached_property
    def of_last_process(self) -> Mapping[str, Profile]:
        """The profiles with a time, of the last process only, without printed tables."""
        return since_restart(self._profiles)

    @cached_property
    def in_order(self) -> Mapping[str, Profile]:
        """The last process's profiles by time, or in snapshot order if no profile has a time."""
        return since_restart(self._profiles, by_moment=True)

    @cached_property
    def of_in_use(self) -> Publications:
        """The new data in the profiles of the last process with a time that count memory in use."""
        return published(that_count(IN_USE, self.of_last_process))

    @property
    def _profiles(self) -> Mapping[str, Profile]:
        """The complete profiles: a printed table omits rows, so a missing site proves nothing."""
        return {
            name: profile for name, profile in self.by_moment.items() if profile.printed is None
        }

    @property
    def _in_use_in_order(self) -> list[Profile]:
        return [*that_count(IN_USE, self.in_order).values()]

    @cached_property
    def printed_difference(self) -> Profile | None:
        """The last difference of in-use memory that pprof printed, with its whole; else None."""
        printed = [
            profile
            for profiles in self.capture.profiles.values()
            for profile in profiles.values()
            if profile.is_difference and profile.printed is not None
        ]
        usable = (profile for profile in reversed(printed) if IN_USE in profile.sample_type_names)
        return next(usable, None)

    # Allocation

    @cached_property
    def sites(self) -> Mapping[str, Mapping[str, AllocationSites]]:
        """Allocation sites by snapshot and sample type, with their 95 % intervals."""
        return _Sites(self.by_moment)

    @cached_property
    def untyped_sites(self) -> dict[str, tuple[AllocationSites, ...]]:
        """Allocation sites of tables that do not say whether bytes are in use or allocated.

        Tables from the same paste that do say so come last.
        """
        return {
            moment: tuple(
                top_sites(profile, name, TOP_SITES)
                for name in (UNSAID, *SAMPLE_TYPES)
                if name in profile.sample_type_names
            )
            for moment, profiles in self.capture.profiles.items()
            for profile in profiles.values()
            if profile.kind == UNTYPED
        }

    @cached_property
    def reasons(self) -> dict[str, pd.DataFrame]:
        """Why the lines that allocate most do so, by snapshot; see `profiles.reasons.REASONS`.

        The lines are ranked by alloc_space; the reasons come from the compiler's escape analysis.
        Empty without it.
        """
        verdicts = [analysis.on_the_heap for analysis in self.capture.escapes.values()]
        if not verdicts:
            return {}
        escaping = pd.concat(verdicts, ignore_index=True)
        return {
            moment: site_reasons(profile, escaping, ALLOCATED, TOP_SITES)
            for moment, profile in self.by_moment.items()
            if ALLOCATED in profile.sample_type_names
        }

    def turnover(self, moment: str) -> pd.DataFrame:
        """The part of all allocated memory that is still in use; see `site_turnover.TURNOVER`."""
        profile = self.by_moment.get(moment)
        if profile is None or not _counts(profile, "alloc") or not _counts(profile, "inuse"):
            return empty(TURNOVER)
        return site_turnover(profile)

    def object_sizes(self, moment: str) -> pd.DataFrame:
        """Memory in use by site and object size; see `object_sizes.OBJECTS`."""
        profile = self.by_moment.get(moment)
        if profile is None or not _counts(profile, "inuse"):
            return empty(OBJECTS)
        return object_sizes(profile)

    def call_tree(
        self, moment: str, sample_type: str, base: Profile | None = None
    ) -> CallTree | None:
        """Return the call tree of a sample type; None without such values.

        With a base profile, the tree has the differences.
        """
        profile = self.by_moment.get(moment)
        if profile is None or not profile.has_stacks or not has_samples(profile, sample_type):
            return None
        return call_tree(profile, sample_type, base)

    # Memory in use over time

    @cached_property
    def heap_series(self) -> Series | None:
        """The memory in use by each stack over the heap profiles; None if too few have a time."""
        profiles = that_count(IN_USE, self.of_last_process)
        return series_of(profiles, IN_USE) if len(profiles) >= MIN_MOMENTS else None

    @cached_property
    def growth(self) -> pd.DataFrame:
        """The growth of each stack over the profiles, with its projection; see `growth.GROWTH`."""
        return empty(GROWTH) if self.heap_series is None else growth(self.heap_series)

    @property
    def growth_horizon_seconds(self) -> float | None:
        """How far ahead the projection reaches; None without a series."""
        return None if self.heap_series is None else horizon_seconds_of(self.heap_series)

    @cached_property
    def grown_moment(self) -> str | None:
        """The snapshot whose profile shows the growth since the first; None without profiles.

        It is the last one, or after a burst, the lowest of the last third.
        """
        totals = {
            moment: profile.total(IN_USE)
            for moment, profile in that_count(IN_USE, self.in_order).items()
        }
        if not totals:
            return None
        late = list(totals)[-max(1, len(totals) // 3) :]
        lowest = min(late, key=lambda moment: totals[moment])
        is_burst = totals[late[-1]] > MAX_SWING * totals[lowest]
        return lowest if is_burst else late[-1]

    @cached_property
    def growth_holders(self) -> pd.DataFrame | None:
        """The program's own functions with more in use at `grown_moment` than in the first profile.

        See `profiles.own_code.HOLDERS`; None for fewer than two profiles.
        """
        usable = self._in_use_in_order
        if self.grown_moment is None or len(usable) < 2:
            return None
        late = self.in_order[self.grown_moment]
        return self.change_holders if late is usable[-1] else holders(late, usable[0])

    @cached_property
    def change_holders(self) -> pd.DataFrame | None:
        """What the program's functions gained from first to last profile, bursts included."""
        usable = self._in_use_in_order
        return holders(usable[-1], usable[0]) if len(usable) > 1 else None

    @cached_property
    def in_use_holders(self) -> pd.DataFrame | None:
        """The program's functions by memory in use in the last profile; None without profiles.

        See `profiles.own_code.HOLDERS`.
        """
        usable = self._in_use_in_order
        return holders(usable[-1]) if usable else None

    @cached_property
    def allocation_holders(self) -> pd.DataFrame | None:
        """The program's own functions by memory allocated between the first profile and the last.

        For a single profile, since the start; see `profiles.own_code.HOLDERS`. None without
        profiles.
        """
        usable = [*that_count(ALLOCATED, self.in_order).values()]
        if not usable:
            return None
        return holders(usable[-1], usable[0] if usable[1:] else None, ALLOCATED)

    @cached_property
    def heap_at_most(self) -> Mapping[str, float]:
        """An upper bound of the heap at each snapshot; see `published.heap_at_most`.

        Allocated bytes are cumulative, so a profile's bound also holds at earlier snapshots. Those
        without a profile are before the next that has one.
        """
        profiles, most, known = self.in_order, math.inf, dict[str, float]()
        for moment in reversed([*self.capture.by_moment]):
            counted = heap_at_most(profiles[moment]) if moment in profiles else None
            most = most if counted is None else min(most, counted)
            known[moment] = most
        return {moment: size for moment, size in known.items() if math.isfinite(size)}

    @cached_property
    def in_use(self) -> InUseTotals | None:
        """Total memory in use over the profiles; None without any."""
        return in_use_totals(self.of_last_process)

    @cached_property
    def spike(self) -> Spike | None:
        """The interval between two profiles that stands out most; None without any."""
        return find_spike(self.of_last_process)

    def spike_at(self, at: str | pd.Timestamp | None = None) -> Spike | None:
        """Return who allocated between two profiles, by default where it stands out most.

        The interval is chosen by a snapshot or a time; see `find_spike`. Raises KeyError for a
        snapshot without a profile.
        """
        return find_spike(self._profiles, at)


def that_count(sample_type: str, profiles: Mapping[str, Profile]) -> dict[str, Profile]:
    """Return the profiles that have a sample type, by snapshot."""
    return {
        moment: profile
        for moment, profile in profiles.items()
        if sample_type in profile.sample_type_names
    }


def _counts(profile: Profile, word: str) -> bool:
    """Return whether a profile has both objects and bytes, allocated or in use."""
    counted = {f"{word}_objects", f"{word}_space"} <= set(profile.sample_type_names)
    return counted and profile.printed is None


def has_samples(profile: Profile, sample_type: str) -> bool:
    """Return whether a profile has non-zero values of a sample type."""
    return sample_type in profile.sample_type_names and profile.total(sample_type) != 0


def lifetimes_of(facts: CaptureFacts, granularity: str) -> Lifetimes | None:
    """Return mean lifetimes by site over the last process's profiles; None for fewer than two."""
    profiles, log = facts.profiles.of_last_process, facts.collector
    if len(profiles) < 2:
        return None
    if log is None:
        counters = facts.counters
        between = None if counters is None else counters.interval_seconds
        return lifetimes(profiles, granularity, collection_seconds=between)
    pieces = pieces_of(log.cycles, ["mark_seconds"])
    marking = [float(piece["mark_seconds"].max()) for piece in pieces if len(piece)]
    return lifetimes(
        profiles,
        granularity,
        collection_seconds=log.cost.interval.max,
        marking_seconds=max(marking, default=None),
    )
