"""A capture and every answer about it: what report, JSON, notebooks and comparisons share.

Nothing is computed before somebody reads it, and nothing is computed twice: every answer is kept
once it has been read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.collector.cost import COSTS
from gomem.analysis.mappings.kinds import BY_KIND, ClassifiedMappings
from gomem.analysis.mappings.regions import address_regions
from gomem.analysis.memory.groups import side_by_side
from gomem.analysis.memory.ledger import LEDGER_PARTS, PARTS
from gomem.analysis.profiles.allocation_spikes import Spike, find_spike
from gomem.analysis.profiles.call_tree import CallTree, call_tree
from gomem.analysis.profiles.growth import (
    GROWTH,
    HORIZON_SECONDS,
    LEAST_MOMENTS,
    Series,
    growth,
    series_of,
)
from gomem.analysis.profiles.in_use_totals import in_use_totals
from gomem.analysis.profiles.large_objects import find_large_objects
from gomem.analysis.profiles.level_jumps import in_use_bursts, in_use_jump
from gomem.analysis.profiles.published import of_last_process
from gomem.analysis.profiles.reasons import site_reasons
from gomem.analysis.profiles.sizes import OBJECTS, object_sizes
from gomem.analysis.profiles.turnover import TURNOVER, site_turnover
from gomem.analysis.scavenger.scavenger import heap_steps
from gomem.analysis.series.level_quantiles import LEAST_MOMENTS as LEAST_LEVELS
from gomem.analysis.series.level_quantiles import LEVEL_QUANTILES, level_quantiles
from gomem.analysis.what_if.what_if import Asked, WhatIf
from gomem.capture.capture import Capture
from gomem.capture.load import load
from gomem.capture.moment import MOMENT
from gomem.causes import CAUSES
from gomem.causes.answers import GOMEMLIMIT, NO_GOMEMLIMIT, Answers, MomentFacts
from gomem.causes.collector_answers import CollectorAnswers
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.changes import (
    Change,
    change_between,
    change_over_all,
    changes_over_time,
)
from gomem.diagnosis.findings import Findings, Scale, one_a_cause
from gomem.diagnosis.limits import Limits, growth_to_limit, limits_of
from gomem.diagnosis.moment_facts import facts_of_moments
from gomem.diagnosis.pairing import counterpart_of, counterparts
from gomem.diagnosis.retention import scavenger_of
from gomem.diagnosis.verdict import Verdict, telling_moment, verdict_of
from gomem.diagnosis.what_if import what_if_of
from gomem.errors import CaptureError
from gomem.inputs.pprof.sites import AllocationSites, top_sites
from gomem.inputs.schema import Column, Dictionary, dictionary_of, empty
from gomem.releases import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from gomem.analysis.memory.ledger import Ledger
    from gomem.analysis.scavenger.scavenger import Scavenger
    from gomem.inputs.pprof.table import Profile

TOP_SITES = 20
OF_SITES = frozenset({"heap-growth", "allocation-spike"})  # findings that name who allocates
ALLOCATED, IN_USE = "alloc_space", "inuse_space"
GOGC = "/gc/gogc:percent"
PART_LEVELS = dictionary_of(
    (
        Column("rss_bytes", "Int64", "B", "Resident memory, which the ledger adds up to."),
        *(
            Column(part, "Int64", "B", f"This part of the ledger; see `gomem explain {part}`.")
            for part in PARTS
        ),
    )
)
SAMPLE_TYPES = ("inuse_space", "alloc_space", "inuse_objects", "alloc_objects")


@dataclass(frozen=True)
class Diagnosis:
    """The answers about one capture.

    Attributes:
        capture: What was read.
        baseline: The answers about the capture it is compared with, if there is one.
        thresholds: Where a finding begins.
    """

    capture: Capture
    baseline: Diagnosis | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)

    def held_against(self, baseline: Diagnosis) -> Diagnosis:
        """The same capture against a baseline; what no baseline changes is not computed again."""
        against = replace(self, baseline=baseline)
        for name in ("moments", "collector", "what_if", "sites", "heap_series", "growth"):
            against.__dict__[name] = getattr(self, name)
        return against

    # Moment by moment

    @cached_property
    def moments(self) -> tuple[MomentFacts, ...]:
        """What is known about each moment that says anything about memory, in order."""
        return facts_of_moments(self.capture)

    @cached_property
    def by_moment(self) -> Mapping[str, MomentFacts]:
        """The same by the moments' names."""
        return {facts.name: facts for facts in self.moments}

    @cached_property
    def ledgers(self) -> dict[str, Ledger]:
        """Ledger by moment, in order; moments without one are left out."""
        return {facts.name: facts.ledger for facts in self.moments if facts.ledger is not None}

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """All ledgers: `moment`, then the columns of `LEDGER_PARTS`."""
        parts = {name: ledger.parts for name, ledger in self.ledgers.items()}
        return _by_moment(parts, LEDGER_PARTS)

    @cached_property
    def groups_side_by_side(self) -> pd.DataFrame:
        """Whose the memory is at each moment with a ledger; see `memory.groups.side_by_side`."""
        return side_by_side([one.groups for one in self.moments if one.groups is not None])

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """Mappings by kind: `moment`, then the columns of `BY_KIND`."""
        frames = {
            facts.name: ClassifiedMappings(facts.mappings, ()).kinds()
            for facts in self.moments
            if facts.mappings is not None
        }
        return _by_moment(frames, BY_KIND)

    @cached_property
    def smaps(self) -> pd.DataFrame:
        """The mappings of all moments with `kind`, and `rule`, by which it was told.

        As `Capture.smaps`; a mapping that holds two kinds is two rows, and of `maps`, which say
        nothing of residence, no kind is told.
        """
        frames = [one.mappings for one in self.moments if one.mappings is not None]
        if not frames:
            return self.capture.smaps.iloc[:0].assign(kind="", rule="")
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """One wide row a moment, by time where that is known: all that it counts, side by side.

        `moment`, `rss_bytes`, the parts of its ledger, then the columns of `Capture.levels`.
        """
        told = [
            {"moment": name, "rss_bytes": ledger.rss_bytes}
            | dict(zip(ledger.parts["part"], ledger.parts["bytes"].tolist(), strict=True))
            for name, ledger in self.ledgers.items()
        ]
        wide = self.capture.levels
        if not told:
            return wide
        parts = pd.DataFrame(told).set_index("moment").reindex(wide["moment"]).astype("Int64")
        named = pd.concat([parts.reset_index(), wide.drop(columns="moment").reset_index()], axis=1)
        named.attrs["columns"] = Dictionary(wide.attrs["columns"] | PART_LEVELS)
        return named.set_index("time")

    @cached_property
    def level_quantiles(self) -> pd.DataFrame:
        """How high RSS and the heap lie; see `analysis.level_quantiles.LEVEL_QUANTILES`."""
        if len(self.moments) < LEAST_LEVELS:
            return empty(LEVEL_QUANTILES)
        told = [
            {"rss_bytes": one.rss_bytes}
            | ({} if one.memstats is None else dict(one.memstats[["HeapAlloc", "HeapInuse"]]))
            for one in self.moments
        ]
        return level_quantiles(pd.DataFrame(told))

    @cached_property
    def heap(self) -> pd.DataFrame:
        """Heap kept, given back and still resident: see `analysis.memory.scavenger.heap_return`."""
        rows = [facts.heap for facts in self.moments if facts.heap is not None]
        return pd.DataFrame(rows).reset_index(drop=True)

    @cached_property
    def heap_steps(self) -> pd.DataFrame:
        """What changed from each moment to the next; see `analysis.memory.scavenger.heap_steps`."""
        return heap_steps(self.heap, {facts.name: facts.rss_bytes for facts in self.moments})

    @cached_property
    def scavenger(self) -> Scavenger | None:
        """What goes back to the kernel, and why not more; None where nothing says.

        See `analysis.memory.scavenger.Scavenger`.
        """
        return scavenger_of(self.capture, self.moments)

    @cached_property
    def shown_first(self) -> str | None:
        """The moment to look at first, which the verdict speaks of; see `telling_moment`."""
        facts = telling_moment(self)
        return None if facts is None else facts.name

    @cached_property
    def sites_first(self) -> str | None:
        """The moment whose sites to look at first; None without a heap profile.

        That of the first finding that names a site; else the one that is shown first, if it has a
        profile; else the last.
        """
        told = (one.moment for one in self.findings if one.code in OF_SITES)
        wanted = [*told, self.shown_first, *reversed(self.sites)]
        return next((name for name in wanted if name in self.sites), None)

    def regions(self, moment: str) -> pd.DataFrame:
        """The regions of a moment's address space; see `analysis.memory.address_space.REGIONS`.

        Raises:
            KeyError: The moment has no smaps.
        """
        mappings = self.by_moment[moment].mappings
        if mappings is None:
            raise KeyError(moment)
        return address_regions(mappings)

    # What changed, and how much worse it can get

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """From each moment with a ledger to the next."""
        return changes_over_time(self.moments)

    @cached_property
    def change_over_all(self) -> Change | None:
        """From the first moment with a ledger to the last, if there are three or more."""
        return change_over_all(self.moments)

    @cached_property
    def change_against_baseline(self) -> Change | None:
        """From the baseline to the capture: the last pair of matching moments."""
        if self.baseline is None:
            return None
        pairs = counterparts(list(self.baseline.ledgers), list(self.ledgers))
        if not pairs:
            return None
        before, after = pairs[-1]
        return change_between(
            self.baseline.by_moment[before], self.by_moment[after], same_process=False
        )

    def baseline_ledger(self, moment: str) -> Ledger | None:
        """The baseline's ledger that a moment's is compared with; None if there is none."""
        if self.baseline is None:
            return None
        name = self.baseline_moment(moment)
        return None if name is None else self.baseline.ledgers[name]

    def baseline_moment(self, moment: str) -> str | None:
        """The baseline's moment whose ledger a moment's is compared with; None if there is none."""
        if self.baseline is None:
            return None
        return counterpart_of(moment, list(self.baseline.ledgers), list(self.ledgers))

    def baseline_profile(self, moment: str) -> Profile | None:
        """The baseline's heap profile that a moment's is compared with; None if there is none."""
        if self.baseline is None:
            return None
        old = self.baseline.capture.heap_profiles
        name = counterpart_of(moment, list(old), list(self.capture.heap_profiles))
        return None if name is None else old[name]

    @cached_property
    def limits(self) -> Limits | None:
        """How far the last moment is from its limits; None if nothing says."""
        return limits_of(self.moments, bounded=self.answers.limit_growth_is_bounded)

    # The collector

    @cached_property
    def collector(self) -> CollectorAnswers | None:
        """What the log says; settings are from runtime/metrics, if every moment has the same."""
        if self.capture.gc is None:
            return None
        gogc, limit = self._same_everywhere(GOGC), self._same_everywhere(GOMEMLIMIT)
        knows_none = not self.capture.go_version.possibly(Fact.MEMORY_LIMIT)
        if knows_none or (limit is not None and limit >= NO_GOMEMLIMIT):
            limit = math.inf
        return CollectorAnswers(
            self.capture.gc,
            ", ".join(self.capture.of_kind("gctrace")) or "gctrace",
            None if gogc is None else gogc / 100,
            limit,
        )

    @cached_property
    def what_if(self) -> WhatIf | None:
        """What other GOGC and GOMEMLIMIT would do, for the usual ones; None without a log."""
        return self.what_if_set(Asked())

    def what_if_set(self, asked: Asked) -> WhatIf | None:
        """The same for settings of one's own; None without a log.

        Args:
            asked: GOGC and GOMEMLIMIT to look at, and the container's size.
        """
        if self.collector is None:
            return None
        return what_if_of(self.collector, self.capture.go_version, self.moments, asked)

    def _same_everywhere(self, metric: str) -> float | None:
        """A setting that every moment which has it agrees on."""
        values = {facts.metrics[metric] for facts in self.moments if metric in facts.metrics}
        return float(values.pop()) if len(values) == 1 else None

    def cycles(self) -> pd.DataFrame:
        """A row a collection; see `gctrace.table.CYCLES`.

        Raises:
            CaptureError: There is no log, or one too long to lie in memory; `gomem.iter_gctrace`
                reads that in pieces.
        """
        cycles = self.logged.cycles
        if not isinstance(cycles, pd.DataFrame):
            raise CaptureError("the log is too long for one frame; see gomem.iter_gctrace")
        return cycles

    def timeline(self) -> pd.DataFrame:
        """The log over time in windows; see `analysis.collector.timeline.TIMELINE`.

        Raises:
            CaptureError: There is no log, or no collection in it.
        """
        return self.logged.timeline_table

    @property
    def logged(self) -> CollectorAnswers:
        """What a log with collections in it says.

        Raises:
            CaptureError: There is none.
        """
        name = self.capture.file_name
        if self.collector is None:
            raise CaptureError(f"{name} has no gctrace log; run it with GODEBUG=gctrace=1")
        if not len(self.collector.cycles):
            raise CaptureError(f"{name}: the log has no collection")
        return self.collector

    @property
    def collection_cost(self) -> dict[str, int | float | None]:
        """The numbers of its cost by their names in `COSTS`; None throughout without a log."""
        unknown: dict[str, int | float | None] = {column.name: None for column in COSTS}
        return unknown if self.collector is None else unknown | self.collector.cost.values

    # Who allocates

    @cached_property
    def sites(self) -> dict[str, dict[str, AllocationSites]]:
        """Allocation sites by moment and sample type, with their 95 % intervals.

        They come from each moment's heap profile, or its allocs profile, which holds the same.
        """
        return {
            moment: {
                name: top_sites(profile, name, TOP_SITES)
                for name in SAMPLE_TYPES
                if name in profile.sample_type_names
            }
            for moment, profile in self.capture.heap_profiles.items()
        }

    @cached_property
    def reasons(self) -> dict[str, pd.DataFrame]:
        """Why the largest lines allocate, by moment; see `site_reasons.REASONS`.

        The lines are by alloc_space, the reasons are the compiler's; empty without its escape
        analysis.
        """
        verdicts = [one.on_the_heap for one in self.capture.escapes.values()]
        if not verdicts:
            return {}
        told = pd.concat(verdicts, ignore_index=True)
        return {
            moment: site_reasons(profile, told, ALLOCATED, TOP_SITES)
            for moment, profile in self.capture.heap_profiles.items()
            if ALLOCATED in profile.sample_type_names
        }

    def line_reasons(self) -> pd.DataFrame:
        """The same of the moment whose sites to look at first, or of the last that has them.

        Raises:
            CaptureError: There is no escape analysis, or no heap profile.
        """
        for moment in (self.sites_first, *reversed(self.reasons)):
            if moment is not None and moment in self.reasons:
                return self.reasons[moment]
        raise CaptureError(
            f"{self.capture.file_name}: nothing says why lines allocate; put what "
            "go build -gcflags=-m=2 prints into the capture, beside a heap profile"
        )

    def turnover(self, moment: str) -> pd.DataFrame:
        """How much of all that was allocated is still in use; see `site_turnover.TURNOVER`."""
        profile = self.capture.heap_profiles.get(moment)
        if profile is None or not _counts(profile, "alloc") or not _counts(profile, "inuse"):
            return empty(TURNOVER)
        return site_turnover(profile)

    def object_sizes(self, moment: str) -> pd.DataFrame:
        """What is in use by site and size of object; see `object_sizes.OBJECTS`."""
        profile = self.capture.heap_profiles.get(moment)
        if profile is None or not _counts(profile, "inuse"):
            return empty(OBJECTS)
        return object_sizes(profile)

    def call_tree(self, moment: str, sample_type: str) -> CallTree | None:
        """Who calls whom, and how much of a value is below each call; None without such a value."""
        profile = self.capture.heap_profiles.get(moment)
        if profile is None or not has_samples(profile, sample_type):
            return None
        return call_tree(profile, sample_type)

    def change_tree(self, moment: str, sample_type: str) -> CallTree | None:
        """The same for a moment compared with the baseline; None if a side has no such value."""
        profile, base = self.capture.heap_profiles.get(moment), self.baseline_profile(moment)
        if profile is None or base is None:
            return None
        if not (has_samples(profile, sample_type) and has_samples(base, sample_type)):
            return None
        return call_tree(profile, sample_type, base)

    def spike(self, at: str | pd.Timestamp | None = None) -> Spike | None:
        """Who allocated in one interval between two profiles; see `find_spike`.

        Args:
            at: A moment's name, or a time; None for the interval that stands out most.

        Raises:
            KeyError: There is no heap profile of such a moment.
        """
        return find_spike(self.capture.heap_profiles, at)

    def spike_sites(self, at: str | pd.Timestamp | None = None) -> pd.DataFrame:
        """Who allocated in one interval between two profiles; see `allocation_spikes.EXTRA`.

        Args:
            at: As for `spike`.

        Raises:
            CaptureError: There are no two profiles that say when they were taken.
        """
        found = self.spike(at)
        if found is None:
            name = self.capture.file_name
            raise CaptureError(f"{name}: wanted two heap profiles that have a time")
        return found.allocated

    @cached_property
    def heap_series(self) -> Series | None:
        """What each stack has in use over the heap profiles; None if too few have a time."""
        profiles = {
            moment: profile
            for moment, profile in self._profiles_of_last_process.items()
            if IN_USE in profile.sample_type_names
        }
        return series_of(profiles, IN_USE) if len(profiles) >= LEAST_MOMENTS else None

    @cached_property
    def _profiles_of_last_process(self) -> dict[str, Profile]:
        """The heap profiles with a time, without those of a process before a restart."""
        return of_last_process(self.capture.heap_profiles)

    @cached_property
    def growth(self) -> pd.DataFrame:
        """How each of those stacks grows, with its projection for an hour; see `growth.GROWTH`.

        For another horizon, ask `analysis.profiles.growth.growth`.
        """
        return empty(GROWTH) if self.heap_series is None else growth(self.heap_series)

    @property
    def growth_horizon_seconds(self) -> float:
        """How far ahead the projection of `growth` looks."""
        return HORIZON_SECONDS

    # What it comes down to

    @cached_property
    def findings(self) -> Findings:
        """Known causes, one finding a cause, ranked by what they cost the process now.

        `findings.frame` has a row each.
        """
        lacks = [cause.lack(self.answers) for cause in CAUSES if cause.lack is not None]
        answers = self.answers.lacking(tuple(lack for lack in lacks if lack is not None))
        found = (finding for cause in CAUSES for finding in cause.rule(answers))
        return one_a_cause(found, self.scale)

    @cached_property
    def verdict(self) -> Verdict:
        """What it comes down to, in a sentence or two."""
        return verdict_of(self)

    @cached_property
    def scale(self) -> Scale:
        """What findings are ranked and dated by."""
        rss = {one.name: one.rss_bytes for one in self.moments if one.rss_bytes is not None}
        return Scale(
            {moment.name: moment.paths for moment in self.capture.by_moment.values()},
            rss,
            next(reversed(rss.values()), None) or self._whole_without_rss,
            self.thresholds.large_rss_fraction,
        )

    @property
    def _whole_without_rss(self) -> float | None:
        """How large the process is, where no file gives RSS: by its limit, MemStats or profiles."""
        for one in reversed(self.moments):
            if one.cgroup_use is not None and one.cgroup_use.limit_bytes is not None:
                return float(one.cgroup_use.limit_bytes)
            if one.ledger is not None:
                return float(one.ledger.heap_claimed_bytes) or None
        if self.heap_series is not None:
            return float(self.heap_series.totals.iloc[-1]) or None
        if self.collector is not None and self.collector.longest_run is not None:
            return float(self.collector.longest_run.last_bytes) or None
        return None

    @cached_property
    def answers(self) -> Answers:
        """The answers that rules look at."""
        last = self.moments[-1].cgroup_use if self.moments else None
        return Answers(
            self.moments,
            self.capture.go_version,
            self.capture.damaged,
            None if self.baseline is None else self.baseline.answers,
            gc=self.collector,
            thresholds=self.thresholds,
            alloc_space={name: by[ALLOCATED] for name, by in self.sites.items() if ALLOCATED in by},
            spike=find_spike(self._profiles_of_last_process),
            jump=in_use_jump(self._profiles_of_last_process),
            bursts=in_use_bursts(self._profiles_of_last_process),
            large_objects=find_large_objects(
                self._profiles_of_last_process, self.thresholds.spike_bytes
            ),
            in_use=in_use_totals(self._profiles_of_last_process),
            heap_paths={name: one.source for name, one in self.capture.heap_profiles.items()},
            heap_series=self.heap_series,
            growth=self.growth,
            limit_growth=growth_to_limit(self.moments, last),
            counterparts=self._counterparts,
            pauses=self.capture.pauses if self.collector is None else None,
        )

    @property
    def _counterparts(self) -> dict[str, MomentFacts]:
        if self.baseline is None:
            return {}
        old = self.baseline.by_moment
        return {new: old[name] for name, new in counterparts(list(old), list(self.by_moment))}

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict.sentence)}</p>{self.findings._repr_html_()}"

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.capture.name}: {len(self.findings)} findings>"


def diagnose(
    capture: Capture | str | PathLike[str],
    baseline: Capture | str | PathLike[str] | None = None,
    *,
    thresholds: Thresholds | None = None,
) -> Diagnosis:
    """Diagnose a capture; each answer is computed when it is first read.

    Args:
        capture: A capture, or a path to load one from.
        baseline: A capture to compare it with, such as one under the previous release.
        thresholds: Where a finding begins, if not at the usual values.

    Raises:
        CaptureError: A path holds nothing that gomem can read.
    """
    limits = thresholds or Thresholds()
    against = None if baseline is None else Diagnosis(_loaded(baseline), thresholds=limits)
    return Diagnosis(_loaded(capture), against, limits)


def _loaded(capture: Capture | str | PathLike[str]) -> Capture:
    return capture if isinstance(capture, Capture) else load(capture)


def _counts(profile: Profile, word: str) -> bool:
    """Whether it has both objects and bytes of what was allocated, or of what is in use."""
    return {f"{word}_objects", f"{word}_space"} <= set(profile.sample_type_names)


def has_samples(profile: Profile, sample_type: str) -> bool:
    """Whether it has values other than 0 of a sample type."""
    return sample_type in profile.sample_type_names and profile.total(sample_type) != 0


def _by_moment(frames: Mapping[str, pd.DataFrame], columns: tuple[Column, ...]) -> pd.DataFrame:
    """Frames on top of each other, with the moment of each."""
    names = ["moment", *(column.name for column in columns)]
    if not frames:
        return empty((MOMENT, *columns))
    return pd.concat(
        [frame.assign(moment=name)[names] for name, frame in frames.items()], ignore_index=True
    )
