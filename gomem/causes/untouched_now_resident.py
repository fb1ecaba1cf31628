"""Large allocations that used to stay untouched are now resident: the zeroing regression.

Go 1.24.0 to 1.24.5 zero large (> 32 KiB) pointer-bearing allocations even if the memory comes fresh
and zeroed from the kernel. So pages that the program never writes become resident. MemStats, the
heap profile and every runtime metric stay the same; only RSS changes. No file shows which memory
was only zeroed. A baseline proves the regression; from the Go release alone the
finding is only *possible*.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from gomem.analysis.mappings.large_allocations import LargeAllocations, large_allocations
from gomem.analysis.memory.ledger import HEAP_PARTS
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import sentences
from gomem.causes.evidence import COMPUTED, heap_evidence, known, release_evidence, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.releases import Fact
from gomem.text import Bytes, Command, Share, text

if TYPE_CHECKING:
    from gomem.facts.moment import MomentFacts

_RESERVED = "reserved Go heap, not yet touched"
SCANNABLE = "/gc/scan/heap:bytes"  # the pointer-containing part of the heap; since Go 1.21


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot: by the baseline if the heap is equal, else by the release.

    There is no finding for a release that does not zero, whatever has become resident.
    """
    return case.at_moments(_at) if case.facts.go_version.possibly(Fact.ZEROES_LARGE) else []


_UPGRADE = Command("go get toolchain@go1.24.6")
CAUSE = Cause(
    code="untouched-now-resident",
    mechanism="Go 1.24.0 to 1.24.5 zero every large (> 32 KiB) allocation with pointers, even when "
    "the kernel has just supplied zero pages. So pages that the program never writes become "
    "resident. No runtime counter changes: residency changed, not allocation.",
    remedy=text(
        "Upgrade to Go 1.24.6 or 1.25, which fix the regression, and compare RSS: {}. If RSS is "
        "still high, the program really writes this memory: allocate less.",
        _UPGRADE,
    ),
    references=("golang/go#72991", "golang/go#73800", "fixed in Go 1.24.6 and 1.25"),
    bears_on=("changes", "mappings"),
    rule=find,
    past="large allocations, written or not",
)
_COMPARE = text(
    "Build without the regression, capture that build under the same load, and compare with "
    "--baseline: {}. If less memory is resident, stay on that build. If not, the program writes "
    "this memory: allocate less.",
    Command("GOTOOLCHAIN=go1.24.6 go build"),
)
_NAME_THE_RELEASE = (
    "Name the release with --go-version: only Go 1.24.0 to 1.24.5 zero memory like this."
)


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    before = case.counterparts.get(moment.name)
    if before is not None and _is_comparable(moment, before, case):
        return _against_baseline(moment, before, case)
    return _by_release(moment, case)


def _untouched(moment: MomentFacts) -> int:
    return 0 if moment.ledger is None else -moment.ledger.part("heap_untouched")


# By the release: never more than possible


def large_of(moment: MomentFacts) -> LargeAllocations | None:
    """Return the snapshot's large objects; None without smaps, MemStats or BySize."""
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


def _by_release(moment: MomentFacts, case: Case) -> Finding | None:
    """Return large pointer-bearing allocations that are resident because the release zeroes."""
    limits, version, large = case.thresholds, case.facts.go_version, large_of(moment)
    if large is None or moment.rss_bytes is None or moment.skew.crosses_a_collection:
        return None
    size, is_known = large.resident_bytes, version.certainly(Fact.ZEROES_LARGE)
    if size < limits.notable(limits.untouched_bytes, moment.rss_bytes):
        return None
    # A release that zeroes leaves none of it untouched. Without the size of pointer memory, large
    # resident objects prove nothing: any program with big buffers has them.
    is_touched = size >= limits.untouched_resident_fraction * large.pointer_bytes
    if not is_known and not (is_touched and SCANNABLE in moment.metrics):
        return None
    words = "{} zeroes large allocations: they take {}{} of RSS ({}), written or not"
    in_large = {"objects over 32 KiB (HeapAlloc - BySize)": large.large_bytes}
    return CAUSE.finding(
        Severity.INFO,
        text(
            words if is_known else words.replace("zeroes", "would zero"),
            version.words if is_known else "Go 1.24.0 to 1.24.5",
            "" if large.is_exact else "up to ",
            Bytes(size),
            Share(size / moment.rss_bytes),
        ),
        moment=moment.name,
        size=size,
        evidence=(
            *rss_evidence(moment),
            *known(moment.path("memstats"), "B", in_large),
            *known(COMPUTED, "B", {_RESERVED: _untouched(moment)}),
            release_evidence(version),
            *known(moment.path("metrics"), "B", {SCANNABLE: moment.metrics.get(SCANNABLE)}),
        ),
        next_step=_COMPARE if is_known else sentences(_COMPARE, _NAME_THE_RELEASE),
        confidence="possible",
    )


# By the baseline: the moved bytes are the proof


def _is_comparable(moment: MomentFacts, before: MomentFacts, case: Case) -> bool:
    """Return whether the baseline's snapshot shows the state without zeroing.

    The heaps must be about equal, the counts of both sides must match their resident memory, and
    the release of the baseline must not zero.
    """
    if case.baseline is not None and case.baseline.go_version.certainly(Fact.ZEROES_LARGE):
        return False
    for side in (moment, before):
        if side.ledger is None or side.rss_bytes is None or side.skew.crosses_a_collection:
            return False
    if moment.heap is None or before.heap is None:
        return False
    here, there = int(moment.heap["HeapInuse"]), int(before.heap["HeapInuse"])
    return abs(here - there) <= case.thresholds.untouched_same_heap_fraction * max(here, there)


def _against_baseline(moment: MomentFacts, before: MomentFacts, case: Case) -> Finding | None:
    """Return a finding if untouched bytes fell by as much as resident bytes rose."""
    limits, version = case.thresholds, case.facts.go_version
    blamed = version.certainly(Fact.ZEROES_LARGE)
    with_smaps = moment.mappings is not None and before.mappings is not None
    risen = _resident(moment, with_smaps) - _resident(before, with_smaps)
    moved = min(_untouched(before) - _untouched(moment), risen)
    if moved < limits.notable(limits.untouched_bytes, moment.rss_bytes):
        return None
    if not (with_smaps or blamed):
        return None  # the rise could be outside Go
    assert moment.heap is not None
    why = text("{} zeroes large allocations: ", version.words) if blamed else ""
    old = None if case.baseline is None else case.baseline.go_version
    under = "in the baseline"
    if old is not None and old.exact is not None:
        under = f"under {old.words}"
    return CAUSE.finding(
        Severity.WARNING,
        text(
            "{}{} that was only reserved {} is now in RSS; the heap is {} in both captures",
            why,
            Bytes(moved),
            under,
            Bytes(int(moment.heap["HeapInuse"])),
        ),
        moment=moment.name,
        size=moved,
        evidence=(
            *_sides(before, moment, with_smaps),
            release_evidence(version),
        ),
        next_step="" if blamed else sentences(CAUSE.remedy, _NAME_THE_RELEASE),
        confidence="certain" if blamed and with_smaps else "likely",
    )


def _resident(moment: MomentFacts, with_smaps: bool) -> int:
    """Return resident bytes of the arenas; without smaps, of the process."""
    assert moment.ledger is not None
    return sum(map(moment.ledger.part, HEAP_PARTS)) if with_smaps else moment.rss_bytes or 0


def _sides(before: MomentFacts, moment: MomentFacts, with_smaps: bool) -> list[Evidence]:
    """Return the evidence of both snapshots, each number beside that of the baseline."""
    sides = _side(before, "baseline, ", with_smaps), _side(moment, "", with_smaps)
    return [row for pair in zip_longest(*sides) for row in pair if row is not None]


def _side(moment: MomentFacts, whose: str, with_smaps: bool) -> list[Evidence]:
    resident = rss_evidence(moment)
    if with_smaps:
        resident = known(moment.path("smaps"), "B", {"Rss of go-heap": _resident(moment, True)})
    untouched = known(COMPUTED, "B", {_RESERVED: _untouched(moment)})
    rows = (*resident, *untouched, *heap_evidence(moment, "HeapInuse"))
    return [replace(row, artefact=f"{whose}{row.artefact}") for row in rows]
