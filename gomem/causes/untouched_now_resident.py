"""Large allocations that used to stay untouched and are now resident: the zeroing regression.

Go 1.24.0 to 1.24.5 zero large (> 32 KiB) pointer-bearing allocations even when the memory comes
fresh and zero from the kernel. So pages that the program never writes become resident. MemStats,
the heap profile and every runtime metric stay as they were; only RSS moves. One capture cannot
tell zeroed from written: the release, or a baseline capture, makes it the regression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.releases import GoRelease
from gomem.units import MIB, format_bytes

if TYPE_CHECKING:
    from gomem.causes.answers import MomentFacts, Situation
    from gomem.releases import GoVersion

CODE = "untouched-now-resident"
FIRST_RELEASE = GoRelease(24, 0)
FIXED_RELEASE = GoRelease(24, 6)
LEAST_SHARE_OF_RSS = 0.10  # below a tenth of RSS nobody's limit or bill turns on it
LEAST_BYTES = 8 * MIB
RESIDENT_SHARE = 0.90  # of what the arenas should hold; an untouched large buffer shows below it
SAME_HEAP = 0.10  # how far the heaps of two captures may differ and still be the same
SCANNABLE = "/gc/scan/heap:bytes"  # pointer-bearing part of the heap; since Go 1.21

REFERENCES = ("golang/go#72991", "golang/go#73800", "fixed in Go 1.24.6 and 1.25")
MECHANISM = (
    "Go 1.24.0 to 1.24.5 zero every large (> 32 KiB) allocation with pointers by hand, even when "
    "the kernel has just handed it over as zero pages. Pages that the program never writes so "
    "become resident. Nothing the runtime counts changes: residency changed, not allocation."
)
NEXT_STEP = (
    "Move to Go 1.24.6, 1.25 or later and compare RSS. If it stays, the program does write this "
    "memory: then allocate less. The worst case of RSS is what the runtime has mapped."
)


def find(situation: Situation) -> list[Finding]:
    """By a baseline if there is one, else by the release; one finding per moment."""
    findings = []
    for moment in situation.moments:
        found = _against_baseline(moment, situation) or _by_release(moment, situation.go_version)
        if found is not None:
            findings.append(found)
    return findings


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


def _by_release(moment: MomentFacts, version: GoVersion) -> Finding | None:
    """Large pointer-bearing allocations, fully resident, under a release that zeroes them."""
    share = resident_share(moment)
    zeroed = _pointer_bearing(moment)
    if share is None or zeroed is None or moment.rss_bytes is None or share < RESIDENT_SHARE:
        return None
    if zeroed < max(LEAST_BYTES, LEAST_SHARE_OF_RSS * moment.rss_bytes):
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
    return Finding(
        code=CODE,
        severity=severity,
        title=(
            f"{size} of large allocations are resident, touched or not: {version} zeroes them"
            if known
            else f"{size} of large allocations are resident; Go 1.24.0 to 1.24.5 would zero them"
        ),
        moment=moment.name,
        bytes=zeroed,
        evidence=tuple(evidence),
        mechanism=MECHANISM,
        next_step=NEXT_STEP
        if known
        else "Name the release with --go-version, or give a capture of the release before with "
        "--baseline: one capture cannot tell zeroed memory from written memory. " + NEXT_STEP,
        references=REFERENCES,
        confidence="likely" if known else "possible",
    )


def _against_baseline(moment: MomentFacts, situation: Situation) -> Finding | None:
    """The same heap as in the baseline, much of it untouched there and resident here."""
    before = _counterpart(moment, situation.baseline)
    if before is None or before.heap is None or moment.heap is None:
        return None
    share, share_before = resident_share(moment), resident_share(before)
    if share is None or share_before is None or share < RESIDENT_SHARE:
        return None
    inuse, inuse_before = int(moment.heap["HeapInuse"]), int(before.heap["HeapInuse"])
    if abs(inuse - inuse_before) > SAME_HEAP * max(inuse, inuse_before):
        return None
    assert moment.ledger is not None
    assert before.ledger is not None
    moved = moment.ledger.part("heap_untouched") - before.ledger.part("heap_untouched")
    if moved < max(LEAST_BYTES, LEAST_SHARE_OF_RSS * (moment.rss_bytes or 0)):
        return None
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        title=(
            f"{format_bytes(moved)} that the baseline mapped and never touched are now resident; "
            f"the heap is the same ({format_bytes(inuse)} in use)"
        ),
        moment=moment.name,
        bytes=moved,
        evidence=(
            *_evidence(moment, share),
            Evidence(f"baseline {before.path('smaps')}", "Rss", before.rss_bytes or 0, "B"),
            Evidence(f"baseline {before.path('memstats')}", "HeapInuse", inuse_before, "B"),
            Evidence("baseline", "resident share of the arenas", share_before, "fraction"),
        ),
        mechanism=MECHANISM,
        next_step=NEXT_STEP,
        references=REFERENCES,
        confidence="certain"
        if situation.go_version.certainly(FIRST_RELEASE, FIXED_RELEASE)
        else "likely",
    )


def _counterpart(moment: MomentFacts, baseline: Situation | None) -> MomentFacts | None:
    """The baseline's moment of the same name, or its last."""
    if baseline is None or not baseline.moments:
        return None
    same = [other for other in baseline.moments if other.name == moment.name]
    return same[0] if same else baseline.moments[-1]


def _evidence(moment: MomentFacts, share: float) -> tuple[Evidence, ...]:
    assert moment.heap is not None
    return (
        Evidence(moment.path("smaps"), "Rss", moment.rss_bytes or 0, "B"),
        Evidence(moment.path("memstats"), "HeapInuse", int(moment.heap["HeapInuse"]), "B"),
        Evidence(moment.path("smaps"), "resident share of the arenas", share, "fraction"),
    )
