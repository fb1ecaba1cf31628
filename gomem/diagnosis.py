"""A capture, asked every question once: what report, JSON, notebooks and comparisons share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.allocations import AllocationSites, top_sites
from gomem.analysis.gc_cost import GcSummary, summarize_gc
from gomem.analysis.mappings import ClassifiedMappings, classify_mappings
from gomem.analysis.rss_vs_heap import Ledger, has_heap_fields, reconcile_rss
from gomem.analysis.scavenger import heap_return
from gomem.capture import Capture, load
from gomem.causes import (
    data_damaged,
    data_missing,
    idle_heap_kept,
    released_but_resident,
    untouched_now_resident,
)
from gomem.causes.situation import MomentFacts, Situation
from gomem.tables.metrics import memstats_of_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from gomem.causes.finding import Finding

CAUSES = (
    untouched_now_resident,
    released_but_resident,
    idle_heap_kept,
    data_damaged,
    data_missing,
)
TOP_SITES = 20
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
    """

    capture: Capture
    moments: tuple[MomentFacts, ...]
    gc: GcSummary | None
    sites: Mapping[str, Mapping[str, AllocationSites]]
    findings: tuple[Finding, ...]
    baseline: Diagnosis | None = field(default=None)

    @property
    def ledgers(self) -> dict[str, Ledger]:
        """Ledger by moment, in order; moments without one are left out."""
        return {facts.name: facts.ledger for facts in self.moments if facts.ledger is not None}

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """All ledgers: `moment`, `part`, `bytes`, `claimed_bytes`, `source`."""
        return _by_moment({name: ledger.parts for name, ledger in self.ledgers.items()}, LEDGER)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """Mappings by kind: `moment`, `kind`, `vmas`, `size_bytes`, `rss_bytes`."""
        frames = {
            facts.name: ClassifiedMappings(facts.mappings, ()).kinds()
            for facts in self.moments
            if facts.mappings is not None
        }
        return _by_moment(frames, ("kind", "vmas", "size_bytes", "rss_bytes"))

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


LEDGER = ("part", "bytes", "claimed_bytes", "source")


def diagnose(
    capture: Capture | str | PathLike[str], baseline: Capture | str | PathLike[str] | None = None
) -> Diagnosis:
    """Ask a capture every question once.

    Args:
        capture: A capture, or a path to load one from.
        baseline: A capture to hold it against, such as one of the release before.

    Raises:
        CaptureError: A path holds nothing that gomem can read.
    """
    capture = capture if isinstance(capture, Capture) else load(capture)
    against = None if baseline is None else diagnose(baseline)
    moments = _facts(capture)
    situation = Situation(
        moments,
        capture.go_version,
        capture.damaged,
        capture.unrecognised,
        None if against is None else Situation(against.moments, against.capture.go_version),
    )
    findings = [finding for cause in CAUSES for finding in cause.find(situation)]
    return Diagnosis(
        capture=capture,
        moments=moments,
        gc=None if capture.gc is None else summarize_gc(capture.gc.cycles),
        sites=_sites(capture),
        findings=tuple(sorted(findings, key=lambda finding: finding.order)),
        baseline=against,
    )


def _facts(capture: Capture) -> tuple[MomentFacts, ...]:
    names = [name for name in capture.moments["moment"] if _has_memory(capture, name)]
    return tuple(_moment_facts(capture, name) for name in names)


def _has_memory(capture: Capture, moment: str) -> bool:
    frames = (capture.memstats, capture.metrics, capture.smaps, capture.rollups, capture.status)
    return any((frame["moment"] == moment).any() for frame in frames)


def _moment_facts(capture: Capture, moment: str) -> MomentFacts:
    memstats = _memstats(capture, moment)
    classified = _classified(capture, moment, memstats)
    classes = _of_moment(capture.size_classes, moment)
    return MomentFacts(
        name=moment,
        ledger=_ledger(capture, moment, classified, memstats),
        memstats=memstats,
        heap=_heap(moment, memstats, classified),
        mappings=None if classified is None else classified.mappings,
        size_classes=classes[classes["dump"] == classes["dump"].max()],
        metrics=_last_metrics(capture, moment),
        paths=_paths(capture, moment),
    )


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
    for frame in (_of_moment(capture.memstats, moment), _metrics_row(capture, moment)):
        if len(frame) and has_heap_fields(frame.iloc[-1]):
            return frame.iloc[-1]
    return None


def _metrics_row(capture: Capture, moment: str) -> pd.DataFrame:
    values = _of_moment(capture.metrics, moment)
    return memstats_of_metrics(values) if len(values) else values


def _ledger(
    capture: Capture,
    moment: str,
    classified: ClassifiedMappings | None,
    memstats: pd.Series | None,
) -> Ledger | None:
    status = _of_moment(capture.status, moment)
    rollup = _of_moment(capture.rollups, moment)
    if classified is None and memstats is None and status.empty and rollup.empty:
        return None
    return reconcile_rss(
        classified,
        memstats,
        status.iloc[-1] if len(status) else None,
        _last(rollup["Rss"]),
        skew_seconds(capture, moment),
    )


def _last(sizes: pd.Series) -> int | None:
    """The last size of a column, if there is one and it is known."""
    return None if sizes.empty or pd.isna(sizes.iloc[-1]) else int(sizes.iloc[-1])


def skew_seconds(capture: Capture, moment: str) -> float | None:
    """How far the MemStats and the smaps of a moment lie apart, if their times are known."""
    rows = capture.artefacts[capture.artefacts["moment"] == moment]
    kernel = rows[rows["kind"].isin(["smaps", "smaps_rollup", "status"])]
    runtime = rows[rows["kind"].isin(["memstats", "metrics"])]
    times = [frame["time"].dropna() for frame in (kernel, runtime)]
    if any(part.empty for part in times):
        return None
    return abs((times[0].iloc[0] - times[1].iloc[0]).total_seconds())


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
    rows = capture.artefacts[capture.artefacts["moment"] == moment]
    return dict(zip(rows["kind"][::-1], rows["path"][::-1], strict=True))


def _sites(capture: Capture) -> dict[str, dict[str, AllocationSites]]:
    """Top sites of each moment's heap profile, or of its allocs profile, which holds the same."""
    sites: dict[str, dict[str, AllocationSites]] = {}
    for moment, profiles in capture.profiles.items():
        profile = profiles.get("heap") or profiles.get("allocs")
        if profile is not None:
            known = [name for name in SAMPLE_TYPES if name in profile.sample_type_names]
            sites[moment] = {name: top_sites(profile, name, TOP_SITES) for name in known}
    return sites


def _of_moment(frame: pd.DataFrame, moment: str) -> pd.DataFrame:
    return frame[frame["moment"] == moment]


def _by_moment(frames: Mapping[str, pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame(columns=["moment", *columns])
    return pd.concat(
        [frame.assign(moment=name)[["moment", *columns]] for name, frame in frames.items()],
        ignore_index=True,
    )
