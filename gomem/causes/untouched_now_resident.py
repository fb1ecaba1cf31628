"""Large allocations that used to stay untouched and are now resident: the zeroing regression.

Go 1.24.0 to 1.24.5 zero large (> 32 KiB) pointer-bearing allocations even when the memory comes
fresh and zero from the kernel. So pages that the program never writes become resident. MemStats,
the heap profile and every runtime metric stay as they were; only RSS moves. No file tells zeroed
memory from written memory: a baseline proves the regression, the release alone makes it possible.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.mappings.large_allocations import LargeAllocations, large_allocations
from gomem.analysis.memory.ledger import HEAP_PARTS
from gomem.causes.cause import Cause
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.releases import Fact
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts
    from gomem.releases import GoVersion

SCANNABLE = "/gc/scan/heap:bytes"  # pointer-bearing part of the heap; since Go 1.21


def find(case: Case) -> list[Finding]:
    """By the baseline where that is the same heap, else by the release; one finding a moment.

    Nothing under a release that does not zero, whatever has become resident.
    """
    if not case.facts.go_version.possibly(Fact.ZEROES_LARGE):
        return []
    findings = []
    for moment in case.facts.moments:
        before = _comparable(moment, case)
        if before is not None:
            found = _against_baseline(moment, before, case)
        else:
            found = _by_release(moment, case)
        if found is not None:
            findings.append(found)
    return findings


CAUSE = Cause(
    code="untouched-now-resident",
    mechanism="Go 1.24.0 to 1.24.5 zero every large (> 32 KiB) allocation with pointers by hand, "
    "even when the kernel has just handed it over as zero pages. So pages that the program never "
    "writes become resident. Nothing the runtime counts changes: residency changed, not "
    "allocation.",
    remedy="Move to Go 1.24.6, 1.25 or later and compare RSS. If it stays, the program does write "
    "this memory: then allocate less. The worst case of RSS is what the runtime has mapped.",
    references=("golang/go#72991", "golang/go#73800", "fixed in Go 1.24.6 and 1.25"),
    bears_on=("changes", "mappings"),
    rule=find,
    past="large allocations, whether the program wrote to them or not, took",
)
_COMPARE = (
    "Build the same program with go1.24.6 (or with go1.23), put it under the same load, capture "
    "it, and give that capture with --baseline. If less is resident there, it is the release: stay "
    "on that build. If not, the program writes this memory: then allocate less."
)
_NAME_THE_RELEASE = "Name the release with --go-version: only Go 1.24.0 to 1.24.5 do this. "


def large_of(moment: MomentFacts) -> LargeAllocations | None:
    """The moment's large objects; None without smaps, MemStats or BySize."""
    if moment.mappings is None or moment.ledger is None or moment.memstats is None:
        return None
    if moment.size_classes is None:
        return None
    scannable = moment.metrics.get(SCANNABLE)
    return large_allocations(
        int(moment.memstats["HeapAlloc"]),
        moment.size_classes,
        None if scannable is None else int(scannable),
        _untouched(moment),
    )


def _untouched(moment: MomentFacts) -> int:
    assert moment.ledger is not None
    return -moment.ledger.part("heap_untouched")


# By the release: possible, never more


def _by_release(moment: MomentFacts, case: Case) -> Finding | None:
    """Large pointer-bearing allocations that are resident, under a release that touches them."""
    limits, version = case.thresholds, case.facts.go_version
    large = large_of(moment)
    if large is None or moment.rss_bytes is None or moment.skew.crosses_a_collection:
        return None
    if large.resident_bytes < limits.notable(limits.untouched_bytes, moment.rss_bytes):
        return None
    if not version.certainly(Fact.ZEROES_LARGE):
        # A release that zeroes leaves none of it untouched; and without the count of pointers
        # large and resident is what any program with big buffers shows.
        share = large.resident_bytes / large.pointer_bytes
        if SCANNABLE not in moment.metrics or share < limits.untouched_resident_fraction:
            return None
    return _release_finding(moment, large, version)


def _release_finding(moment: MomentFacts, large: LargeAllocations, version: GoVersion) -> Finding:
    known = version.certainly(Fact.ZEROES_LARGE)
    memstats = moment.path("memstats")
    evidence = [
        *rss_evidence(moment),
        Evidence(memstats, "HeapAlloc in objects above BySize", large.large_bytes, "B"),
        Evidence("ledger", "claimed and never touched", _untouched(moment), "B"),
        Evidence("Go release", version.evidence, str(version), ""),
    ]
    if SCANNABLE in moment.metrics:
        scannable = int(moment.metrics[SCANNABLE])
        evidence.append(Evidence(moment.path("metrics"), SCANNABLE, scannable, "B"))
    size = f"{format_bytes(large.resident_bytes)} of {format_bytes(moment.rss_bytes)} resident"
    if not large.is_exact:
        size = f"up to {size}"
    release = f"{version} touches" if known else "Go 1.24.0 to 1.24.5 would touch"
    return CAUSE.finding(
        Severity.INFO,
        f"{size} are large pointer-bearing allocations; {release} all such memory itself, "
        "written or not: compare with a build with go1.24.6 (--baseline)",
        moment=moment.name,
        size=large.resident_bytes,
        evidence=evidence,
        next_step=_COMPARE if known else _NAME_THE_RELEASE + _COMPARE,
        confidence="possible",
    )


# By the baseline: the moved bytes are the proof


def _comparable(moment: MomentFacts, case: Case) -> MomentFacts | None:
    """The baseline's moment, if it shows what this one would be under a release without zeroing.

    That takes the same heap, counts on both sides that belong to what was resident, and a baseline
    that does not zero as well.
    """
    before = case.counterparts.get(moment.name)
    if before is None or not _measured(before) or not _measured(moment):
        return None
    baseline = case.baseline
    if baseline is not None and baseline.go_version.certainly(Fact.ZEROES_LARGE):
        return None
    return before if _same_heap(moment, before, case.thresholds) else None


def _measured(moment: MomentFacts) -> bool:
    known = moment.ledger is not None and moment.heap is not None and moment.rss_bytes is not None
    return known and not moment.skew.crosses_a_collection


def _same_heap(moment: MomentFacts, before: MomentFacts, limits: Thresholds) -> bool:
    """Whether about as much heap is in use here as there."""
    assert moment.heap is not None
    assert before.heap is not None
    inuse, inuse_before = int(moment.heap["HeapInuse"]), int(before.heap["HeapInuse"])
    most = limits.untouched_same_heap_fraction * max(inuse, inuse_before)
    return abs(inuse - inuse_before) <= most


def _against_baseline(moment: MomentFacts, before: MomentFacts, case: Case) -> Finding | None:
    """As many untouched bytes fewer as resident bytes more."""
    limits, version = case.thresholds, case.facts.go_version
    blamed = version.certainly(Fact.ZEROES_LARGE)
    with_smaps = moment.mappings is not None and before.mappings is not None
    if not (with_smaps or blamed):
        return None  # what rose need not be Go's, and nothing points at it
    moved = min(
        _untouched(before) - _untouched(moment),
        _resident(moment, with_smaps) - _resident(before, with_smaps),
    )
    if moved < limits.notable(limits.untouched_bytes, moment.rss_bytes):
        return None
    assert moment.heap is not None
    why = f": {version} zeroes large allocations with pointers" if blamed else ""
    return CAUSE.finding(
        Severity.WARNING,
        f"{format_bytes(moved)} that the baseline mapped but never touched is resident here, and "
        f"the heap is the same ({format_bytes(int(moment.heap['HeapInuse']))} in use){why}",
        moment=moment.name,
        size=moved,
        evidence=(
            *_side(moment, "", with_smaps),
            *_side(before, "baseline ", with_smaps),
            Evidence("Go release", version.evidence, str(version), ""),
        ),
        next_step="" if blamed else _NAME_THE_RELEASE + CAUSE.remedy,
        confidence="certain" if blamed and with_smaps else "likely",
    )


def _resident(moment: MomentFacts, with_smaps: bool) -> int:
    """Resident bytes of the arenas; without smaps, of the process."""
    assert moment.ledger is not None
    return sum(map(moment.ledger.part, HEAP_PARTS)) if with_smaps else moment.rss_bytes or 0


def _side(moment: MomentFacts, whose: str, with_smaps: bool) -> tuple[Evidence, ...]:
    assert moment.heap is not None
    inuse = int(moment.heap["HeapInuse"])
    resident = rss_evidence(moment)
    if with_smaps:
        resident = (Evidence(moment.path("smaps"), "Rss of go-heap", _resident(moment, True), "B"),)
    return (
        *(replace(one, artefact=f"{whose}{one.artefact}") for one in resident),
        Evidence(f"{whose}ledger", "claimed and never touched", _untouched(moment), "B"),
        Evidence(f"{whose}{moment.path('memstats')}", "HeapInuse", inuse, "B"),
    )
