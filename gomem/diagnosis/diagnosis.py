"""A capture, asked every question once: what report, JSON, notebooks and comparisons share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.mappings import ClassifiedMappings, classify_mappings
from gomem.analysis.memory.rss_vs_heap import Ledger, has_heap_fields, reconcile_rss
from gomem.analysis.memory.scavenger import heap_return
from gomem.analysis.memory.skew import TOTAL_CYCLES, Skew, collection_ends, measure_skew
from gomem.analysis.profiles.allocation_spikes import Spike, find_spike
from gomem.analysis.profiles.allocations import AllocationSites, top_sites
from gomem.analysis.profiles.growth import GROWTH, LEAST_MOMENTS, Series, growth, series_of
from gomem.analysis.profiles.object_sizes import OBJECTS, object_sizes
from gomem.analysis.profiles.site_reasons import site_reasons
from gomem.analysis.profiles.site_turnover import TURNOVER, site_turnover
from gomem.capture.capture import Capture, load
from gomem.causes import (
    allocation_spike,
    anonymous_mapping,
    data_damaged,
    data_missing,
    data_skew,
    file_mapping,
    forced_gc,
    gc_pressure,
    goroutine_leak,
    heap_fragmentation,
    heap_growth,
    heap_headroom,
    huge_pages,
    idle_heap_kept,
    limit_risk,
    long_pauses,
    memory_limit_thrash,
    native_memory,
    released_but_resident,
    stack_growth,
    untouched_now_resident,
)
from gomem.causes.answers import MomentFacts, Situation
from gomem.causes.collector_answers import GcFacts, gc_facts
from gomem.causes.thresholds import GcThresholds
from gomem.inputs.metrics.table import memstats_of_metrics
from gomem.inputs.schema import empty

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from gomem.analysis.collector.gc_cost import GcSummary
    from gomem.causes.finding import Finding
    from gomem.inputs.pprof.table import Profile

CAUSES = (
    untouched_now_resident,
    released_but_resident,
    idle_heap_kept,
    heap_growth,
    allocation_spike,
    gc_pressure,
    memory_limit_thrash,
    forced_gc,
    long_pauses,
    heap_headroom,
    native_memory,
    anonymous_mapping,
    file_mapping,
    huge_pages,
    heap_fragmentation,
    goroutine_leak,
    stack_growth,
    limit_risk,
    data_skew,
    data_damaged,
    data_missing,
)
TOP_SITES = 20
ALLOCATED, IN_USE = "alloc_space", "inuse_space"
GOGC = "/gc/gogc:percent"
SAMPLE_TYPES = ("inuse_space", "alloc_space", "inuse_objects", "alloc_objects")


@dataclass(frozen=True)
class Diagnosis:
    """The answers about one capture.

    Attributes:
        capture: What was read.
        moments: What is known of each moment, as the causes see it.
        gc: What the collector cost, if there is a log of it.
        sites: Allocation sites by moment and sample type, with their 95 % intervals.
        findings: Known causes, the most severe and largest first.
        baseline: The capture it was held against.
        collector: Everything else that its log tells; None without one.
        heap_series: What each stack has in use over the heap profiles; None of less than four.
        growth: How each of those stacks grows, with its projection for an hour: rows as in
            `analysis.growth.GROWTH`. For another horizon, ask `analysis.growth.growth`.
    """

    capture: Capture
    moments: tuple[MomentFacts, ...]
    gc: GcSummary | None
    sites: Mapping[str, Mapping[str, AllocationSites]]
    findings: tuple[Finding, ...]
    baseline: Diagnosis | None = field(default=None)
    collector: GcFacts | None = field(default=None)
    heap_series: Series | None = field(default=None)
    growth: pd.DataFrame = field(default_factory=partial(empty, GROWTH))

    @property
    def ledgers(self) -> dict[str, Ledger]:
        """Ledger by moment, in order; moments without one are left out."""
        return {facts.name: facts.ledger for facts in self.moments if facts.ledger is not None}

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """All ledgers: `moment`, `part`, `bytes`, `claimed_bytes`, `source`, `confidence`."""
        return _by_moment({name: ledger.parts for name, ledger in self.ledgers.items()}, LEDGER)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """Mappings by kind and moment; see `ClassifiedMappings.kinds`."""
        frames = {
            facts.name: ClassifiedMappings(facts.mappings, ()).kinds()
            for facts in self.moments
            if facts.mappings is not None
        }
        return _by_moment(frames, KINDS)

    @cached_property
    def reasons(self) -> dict[str, pd.DataFrame]:
        """Why the largest lines allocate, by moment; see `analysis.site_reasons.REASONS`.

        Of alloc_space, as the compiler explains it; empty without its escape analysis.
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

    def turnover(self, moment: str) -> pd.DataFrame:
        """What of all that was allocated is in use; see `analysis.site_turnover.TURNOVER`."""
        profile = self.capture.heap_profiles.get(moment)
        if profile is None or not _counts(profile, "alloc") or not _counts(profile, "inuse"):
            return empty(TURNOVER)
        return site_turnover(profile)

    def object_sizes(self, moment: str) -> pd.DataFrame:
        """What is in use by site and size of object; see `analysis.object_sizes.OBJECTS`."""
        profile = self.capture.heap_profiles.get(moment)
        if profile is None or not _counts(profile, "inuse"):
            return empty(OBJECTS)
        return object_sizes(profile)

    def spike(self, at: str | pd.Timestamp | None = None) -> Spike | None:
        """Who allocated in one interval between two profiles; see `find_spike`.

        Args:
            at: A moment's name, or a time; None for the interval that stands out most.

        Raises:
            KeyError: There is no heap profile of such a moment.
        """
        return find_spike(self.capture.heap_profiles, at)

    @cached_property
    def heap(self) -> pd.DataFrame:
        """Heap kept, given back and still resident: see `analysis.scavenger.heap_return`."""
        rows = [facts.heap for facts in self.moments if facts.heap is not None]
        return pd.DataFrame(rows).reset_index(drop=True)

    def _repr_html_(self) -> str:
        titles = pd.DataFrame(
            {
                "severity": [str(finding.severity) for finding in self.findings],
                "moment": [finding.moment or "" for finding in self.findings],
                "finding": [finding.title for finding in self.findings],
            }
        )
        return titles.to_html(escape=True, index=False)


KINDS = (
    "kind", "vmas", "size_bytes", "rss_bytes", "pss_bytes", "shared_bytes", "swap_bytes",
)  # fmt: skip
LEDGER = ("part", "bytes", "claimed_bytes", "source", "confidence")


def diagnose(
    capture: Capture | str | PathLike[str],
    baseline: Capture | str | PathLike[str] | None = None,
    *,
    gc_thresholds: GcThresholds | None = None,
) -> Diagnosis:
    """Ask a capture every question once.

    Args:
        capture: A capture, or a path to load one from.
        baseline: A capture to hold it against, such as one of the release before.
        gc_thresholds: From where on costs of the collector are findings, if not as usual.

    Raises:
        CaptureError: A path holds nothing that gomem can read.
    """
    capture = capture if isinstance(capture, Capture) else load(capture)
    against = None if baseline is None else diagnose(baseline)
    moments = _facts(capture)
    sites = _sites(capture)
    collector = _collector(capture, moments)
    series = _heap_series(capture)
    growing = empty(GROWTH) if series is None else growth(series)
    situation = Situation(
        moments,
        capture.go_version,
        capture.damaged,
        capture.unrecognised,
        None if against is None else Situation(against.moments, against.capture.go_version),
        gc=collector,
        gc_thresholds=gc_thresholds or GcThresholds(),
        alloc_space={name: by[ALLOCATED] for name, by in sites.items() if ALLOCATED in by},
        spike=find_spike(capture.heap_profiles),
        heap_series=series,
        growth=growing,
    )
    findings = [finding for cause in CAUSES for finding in cause.find(situation)]
    return Diagnosis(
        capture=capture,
        moments=moments,
        gc=None if collector is None else collector.summary,
        sites=sites,
        findings=tuple(sorted(findings, key=lambda finding: finding.order)),
        baseline=against,
        collector=collector,
        heap_series=series,
        growth=growing,
    )


def _collector(capture: Capture, moments: tuple[MomentFacts, ...]) -> GcFacts | None:
    """What the log tells; GOGC from runtime/metrics, if every moment has the same."""
    if capture.gc is None:
        return None
    logs = capture.artefacts.loc[capture.artefacts["kind"] == "gctrace", "path"]
    values = {facts.metrics[GOGC] for facts in moments if GOGC in facts.metrics}
    known = values.pop() / 100 if len(values) == 1 else None
    return gc_facts(capture.gc, ", ".join(logs) or "gctrace", known)


def _facts(capture: Capture) -> tuple[MomentFacts, ...]:
    names = [name for name in capture.moments["moment"] if _has_memory(capture, name)]
    return tuple(_moment_facts(capture, name) for name in names)


def _has_memory(capture: Capture, moment: str) -> bool:
    runtime = [capture.memstats, capture.metrics]
    frames = [*runtime, capture.smaps, capture.rollups, capture.status, capture.cgroup]
    return any((frame["moment"] == moment).any() for frame in frames)


def _moment_facts(capture: Capture, moment: str) -> MomentFacts:
    memstats = _memstats(capture, moment)
    classified = _classified(capture, moment, memstats)
    classes = _of_moment(capture.size_classes, moment)
    skew = _skew(capture, moment)
    return MomentFacts(
        name=moment,
        ledger=_ledger(capture, moment, classified, memstats, skew),
        memstats=memstats,
        heap=_heap(moment, memstats, classified),
        mappings=None if classified is None else classified.mappings,
        size_classes=classes[classes["dump"] == classes["dump"].max()],
        metrics=_last_metrics(capture, moment),
        paths=_paths(capture, moment),
        skew=skew,
        goroutines=_of_moment(capture.goroutines, moment),
        cgroup=_cgroup(capture, moment),
        time=_moment_time(capture, moment),
    )


def _moment_time(capture: Capture, moment: str) -> pd.Timestamp | None:
    times = _of_moment(capture.moments, moment)["time"].dropna()
    return None if times.empty else times.iloc[0]


def _cgroup(capture: Capture, moment: str) -> dict[str, int | None]:
    """Numbers of the moment's cgroup files by name; None for no limit."""
    rows = _of_moment(capture.cgroup, moment)
    values = [None if pd.isna(value) else int(value) for value in rows["value"]]
    return dict(zip(rows["name"], values, strict=True))


def _classified(
    capture: Capture, moment: str, memstats: pd.Series | None
) -> ClassifiedMappings | None:
    """The mappings by kind; None for maps, which have no Rss, and for a damaged smaps.

    Of a damaged smaps the sums are too small, and a report that is quietly short is worse than a
    coarser one.
    """
    mappings = _of_moment(capture.smaps, moment)
    damaged = {damage.source for damage in capture.damaged}
    if mappings.empty or mappings["Rss"].isna().all() or damaged & set(mappings["artefact"]):
        return None
    return classify_mappings(mappings, memstats)


def _memstats(capture: Capture, moment: str) -> pd.Series | None:
    """MemStats of the moment, its last dump; or what runtime/metrics say in its place."""
    dumped = _heap_row(_of_moment(capture.memstats, moment))
    return _heap_row(_metrics_row(capture, moment)) if dumped is None else dumped


def _heap_row(stats: pd.DataFrame) -> pd.Series | None:
    """The last row, if it has all that the ledger needs."""
    return stats.iloc[-1] if len(stats) and has_heap_fields(stats.iloc[-1]) else None


def _metrics_row(capture: Capture, moment: str) -> pd.DataFrame:
    values = _of_moment(capture.metrics, moment)
    return memstats_of_metrics(values) if len(values) else values


def _ledger(
    capture: Capture,
    moment: str,
    classified: ClassifiedMappings | None,
    memstats: pd.Series | None,
    skew: Skew,
) -> Ledger | None:
    status = _of_moment(capture.status, moment)
    rollup = _of_moment(capture.rollups, moment)
    group = _cgroup(capture, moment)
    if classified is None and memstats is None and status.empty and rollup.empty and not group:
        return None
    return reconcile_rss(
        classified,
        memstats,
        status.iloc[-1] if len(status) else None,
        _last(rollup["Rss"]),
        skew.seconds,
        collections_between=skew.collections,
        rollup=rollup.iloc[-1] if len(rollup) else None,
        cgroup=group,
    )


def _last(sizes: pd.Series) -> int | None:
    """The last size of a column, if there is one and it is known."""
    return None if sizes.empty or pd.isna(sizes.iloc[-1]) else int(sizes.iloc[-1])


def skew_seconds(capture: Capture, moment: str) -> float | None:
    """How far the MemStats and the smaps of a moment lie apart, if their times are known."""
    runtime, kernel = _times_of_sides(capture, moment)
    return None if runtime is None or kernel is None else abs((kernel - runtime).total_seconds())


def _times_of_sides(
    capture: Capture, moment: str
) -> tuple[pd.Timestamp | None, pd.Timestamp | None]:
    """When MemStats were read (or metrics in their place), and when smaps (or status)."""
    sides = (("memstats", "metrics"), ("smaps", "smaps_rollup", "status"))
    runtime, kernel = (_time_of(capture, moment, kinds) for kinds in sides)
    return runtime, kernel


def _time_of(capture: Capture, moment: str, kinds: tuple[str, ...]) -> pd.Timestamp | None:
    """When the first of these kinds that has a time was read."""
    rows = capture.artefacts.loc[capture.artefacts["moment"] == moment, ["kind", "time"]]
    read = list(zip(rows["kind"], rows["time"], strict=True))
    times = (time for wanted in kinds for kind, time in read if kind == wanted)
    return next((time for time in times if not pd.isna(time)), None)


def _skew(capture: Capture, moment: str) -> Skew:
    """The time between the two sides, and the collections in it as far as they can be counted."""
    runtime, kernel = _times_of_sides(capture, moment)
    ends = None if capture.gc is None else collection_ends(capture.gc.cycles, capture.memstats)
    dumps = _of_moment(capture.memstats, moment)
    stats = None if dumps.empty else dumps.iloc[-1]
    counts = _collections_counted_twice(capture, moment)
    return measure_skew(runtime, kernel, ends, stats, counts)


def _collections_counted_twice(capture: Capture, moment: str) -> tuple[int, int] | None:
    """NumGC by MemStats and by runtime/metrics, where metrics were read on the way to smaps."""
    stats = _of_moment(capture.memstats, moment)
    total = _last_metrics(capture, moment).get(TOTAL_CYCLES)
    times = [_time_of(capture, moment, (kind,)) for kind in ("memstats", "metrics", "smaps")]
    first, between, last = times
    if stats.empty or pd.isna(stats["NumGC"].iloc[-1]) or total is None:
        return None
    if first is None or between is None or last is None or not first <= between <= last:
        return None
    return int(stats["NumGC"].iloc[-1]), int(total)


def _heap(
    moment: str, memstats: pd.Series | None, classified: ClassifiedMappings | None
) -> pd.Series | None:
    if memstats is None:
        return None
    row = memstats.to_frame().T.assign(moment=moment)
    mappings = None if classified is None else classified.mappings.assign(moment=moment)
    return heap_return(row, mappings).iloc[0]


def _last_metrics(capture: Capture, moment: str) -> dict[str, float]:
    values = _of_moment(capture.metrics, moment)
    last = values[values["reading"] == values["reading"].max()]
    return dict(zip(last["name"], last["value"], strict=True))


def _paths(capture: Capture, moment: str) -> dict[str, str]:
    """The first file of each kind, and of each kind of profile: `heap`, `goroutine`."""
    rows = capture.artefacts[capture.artefacts["moment"] == moment]
    profiles = capture.profiles.get(moment, {})
    return dict(zip(rows["kind"][::-1], rows["path"][::-1], strict=True)) | {
        kind: profile.source for kind, profile in profiles.items()
    }


def _sites(capture: Capture) -> dict[str, dict[str, AllocationSites]]:
    """Top sites of each moment's heap profile, or of its allocs profile, which holds the same."""
    sites: dict[str, dict[str, AllocationSites]] = {}
    for moment, profile in capture.heap_profiles.items():
        known = [name for name in SAMPLE_TYPES if name in profile.sample_type_names]
        sites[moment] = {name: top_sites(profile, name, TOP_SITES) for name in known}
    return sites


def _heap_series(capture: Capture) -> Series | None:
    """What each stack has in use over the moments; None of too few profiles with a time."""
    profiles = {
        moment: profile
        for moment, profile in capture.heap_profiles.items()
        if profile.time is not None and IN_USE in profile.sample_type_names
    }
    return series_of(profiles, IN_USE) if len(profiles) >= LEAST_MOMENTS else None


def _counts(profile: Profile, word: str) -> bool:
    """Whether it has both objects and bytes of what was allocated, or is in use."""
    return {f"{word}_objects", f"{word}_space"} <= set(profile.sample_type_names)


def _of_moment(frame: pd.DataFrame, moment: str) -> pd.DataFrame:
    return frame[frame["moment"] == moment]


def _by_moment(frames: Mapping[str, pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame(columns=["moment", *columns])
    return pd.concat(
        [frame.assign(moment=name)[["moment", *columns]] for name, frame in frames.items()],
        ignore_index=True,
    )
