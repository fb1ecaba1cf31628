"""Large allocations that used to stay untouched and are now resident: the zeroing regression.

Go 1.24.0 to 1.24.5 zero large (> 32 KiB) pointer-bearing allocations even when the memory comes
fresh and zero from the kernel. So pages that the program never writes become resident. MemStats,
the heap profile and every runtime metric stay as they were; only RSS moves. One capture cannot
tell zeroed from written: the release, or a baseline capture, makes it the regression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.releases import GoRelease
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.causes.answers import Answers, MomentFacts
    from gomem.causes.thresholds import Thresholds
    from gomem.releases import GoVersion

FIRST_RELEASE = GoRelease(24, 0)
FIXED_RELEASE = GoRelease(24, 6)
SCANNABLE = "/gc/scan/heap:bytes"  # pointer-bearing part of the heap; since Go 1.21


def find(answers: Answers) -> list[Finding]:
    """By a baseline if there is one, else by the release; one finding a moment."""
    findings = []
    for moment in answers.moments:
        found = _against_baseline(moment, answers) or _by_release(moment, answers)
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
    rule=find,
)
_NAME_THE_RELEASE = (
    "Name the release with --go-version, or give a capture of the release before with --baseline: "
    "one capture cannot tell zeroed memory from written memory. "
)


def large_bytes(moment: MomentFacts) -> int | None:
    """Heap bytes in objects above the largest class of BySize (18 KiB); None without BySize."""
    if moment.memstats is None or moment.size_classes is None or moment.size_classes.empty:
        return None
    classes = moment.size_classes
    small = (classes["Size"] * (classes["Mallocs"] - classes["Frees"])).sum()
    return max(0, int(moment.memstats["HeapAlloc"]) - int(small))


def resident_share(moment: MomentFacts) -> float | None:
    """Resident part of what the runtime has in use in the arenas; None without both sides."""
    if moment.mappings is None or moment.ledger is None or moment.heap is None:
        return None
    claimed = _claimed(moment)
    return (claimed + moment.ledger.part("heap_untouched")) / claimed if claimed else None


def _claimed(moment: MomentFacts) -> int:
    assert moment.ledger is not None
    names = ("heap_objects", "heap_slack", "heap_idle", "stacks")
    return sum(moment.ledger.part(name) for name in names)


def _by_release(moment: MomentFacts, answers: Answers) -> Finding | None:
    """Large pointer-bearing allocations, fully resident, under a release that zeroes them."""
    limits, version = answers.thresholds, answers.go_version
    share, zeroed = resident_share(moment), _pointer_bearing(moment)
    if share is None or zeroed is None or moment.rss_bytes is None:
        return None
    if share < limits.untouched_resident_fraction:
        return None
    if zeroed < limits.notable(limits.untouched_bytes, moment.rss_bytes):
        return None
    if version.certainly(FIRST_RELEASE, FIXED_RELEASE):
        return _release_finding(moment, zeroed, share, version, Severity.WARNING)
    if version.possibly(FIRST_RELEASE, FIXED_RELEASE) and SCANNABLE in moment.metrics:
        return _release_finding(moment, zeroed, share, version, Severity.INFO)
    return None


def _pointer_bearing(moment: MomentFacts) -> int | None:
    """The most that can be large and hold pointers; without the metric, all that is large."""
    large = large_bytes(moment)
    scannable = moment.metrics.get(SCANNABLE)
    if large is None or scannable is None:
        return large
    return min(large, int(scannable))


def _release_finding(
    moment: MomentFacts, zeroed: int, share: float, version: GoVersion, severity: Severity
) -> Finding:
    known = severity is Severity.WARNING
    evidence = [
        *_evidence(moment, share),
        Evidence(moment.path("memstats"), "HeapAlloc in objects above BySize", zeroed, "B"),
        Evidence("Go release", version.evidence, str(version), ""),
    ]
    if SCANNABLE in moment.metrics:
        scannable = int(moment.metrics[SCANNABLE])
        evidence.append(Evidence(moment.path("metrics"), SCANNABLE, scannable, "B"))
    size = format_bytes(zeroed)
    return CAUSE.finding(
        severity,
        f"{size} of large allocations are resident, touched or not: {version} zeroes them"
        if known
        else f"{size} of large allocations are resident; Go 1.24.0 to 1.24.5 would zero them",
        moment=moment.name,
        size=zeroed,
        evidence=evidence,
        next_step="" if known else _NAME_THE_RELEASE + CAUSE.remedy,
        confidence="likely" if known else "possible",
    )


def _against_baseline(moment: MomentFacts, answers: Answers) -> Finding | None:
    """The same heap as in the baseline, much of it untouched there and resident here."""
    before, limits = answers.counterparts.get(moment.name), answers.thresholds
    if before is None or before.heap is None or moment.heap is None:
        return None
    share, share_before = resident_share(moment), resident_share(before)
    if share is None or share_before is None or share < limits.untouched_resident_fraction:
        return None
    if not _same_heap(moment, before, limits):
        return None
    assert moment.ledger is not None
    assert before.ledger is not None
    moved = moment.ledger.part("heap_untouched") - before.ledger.part("heap_untouched")
    if moved < limits.notable(limits.untouched_bytes, moment.rss_bytes):
        return None
    sure = answers.go_version.certainly(FIRST_RELEASE, FIXED_RELEASE)
    return CAUSE.finding(
        Severity.WARNING,
        f"{format_bytes(moved)} that the baseline mapped but never touched is now resident; the "
        f"heap is the same ({format_bytes(int(moment.heap['HeapInuse']))} in use)",
        moment=moment.name,
        size=moved,
        evidence=(*_evidence(moment, share), *_baseline_evidence(before, share_before)),
        confidence="certain" if sure else "likely",
    )


def _same_heap(moment: MomentFacts, before: MomentFacts, limits: Thresholds) -> bool:
    """Whether about as much heap is in use here as there."""
    assert moment.heap is not None
    assert before.heap is not None
    inuse, inuse_before = int(moment.heap["HeapInuse"]), int(before.heap["HeapInuse"])
    most = limits.untouched_same_heap_fraction * max(inuse, inuse_before)
    return abs(inuse - inuse_before) <= most


def _evidence(moment: MomentFacts, share: float) -> tuple[Evidence, ...]:
    assert moment.heap is not None
    smaps = moment.path("smaps")
    return (
        Evidence(smaps, "Rss", moment.rss_bytes or 0, "B"),
        Evidence(moment.path("memstats"), "HeapInuse", int(moment.heap["HeapInuse"]), "B"),
        Evidence(smaps, "resident share of the arenas", share, "fraction"),
    )


def _baseline_evidence(before: MomentFacts, share: float) -> tuple[Evidence, ...]:
    assert before.heap is not None
    memstats, smaps = before.path("memstats"), before.path("smaps")
    return (
        Evidence(f"baseline {smaps}", "Rss", before.rss_bytes or 0, "B"),
        Evidence(f"baseline {memstats}", "HeapInuse", int(before.heap["HeapInuse"]), "B"),
        Evidence("baseline", "resident share of the arenas", share, "fraction"),
    )
