"""Huge pages make more memory resident than the program uses.

A transparent huge page is 2 MiB, all or nothing: where Go has touched 8 KiB of it, or given half
of it back, the kernel still counts all. Go 1.21.0 asked for them (MADV_HUGEPAGE, then
MADV_COLLAPSE in 1.21.1 to 1.21.3) and 1.21.4 stopped; with the kernel's setting `always` they come
unasked, and khugepaged can fill again what was given back. Mappings of the program's own and of C
can lie in them as well, where they are `always` or where somebody asked for them (MADV_HUGEPAGE,
`hg` in VmFlags). What of those was written no file says; so they are a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.evidence import known, release_evidence, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.releases import Fact
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts
    from gomem.releases import GoVersion


def find(case: Case) -> list[Finding]:
    """One finding for each moment whose huge pages hold more than Go counts there, or may do so."""
    return case.at_moments(_at)


CAUSE = Cause(
    code="huge-pages",
    mechanism="A huge page is 2 MiB and resident as a whole, even where Go has written little of "
    "it, or has given part of it back. With the kernel's setting `always`, khugepaged fills such "
    "pages up again (max_ptes_none). Up to Go 1.20 the runtime asked for huge pages where it used "
    "released memory again.",
    remedy="Look at /sys/kernel/mm/transparent_hugepage/enabled. With `always`, set "
    "khugepaged/max_ptes_none to 0, or choose `madvise`, or run with GODEBUG=disablethp=1 (Go "
    "1.21.6); then compare RSS, and latency too.",
    references=("golang/go#64332", "golang/go#61718", "golang/go#63334"),
    bears_on=("mappings",),
    rule=find,
    past="heap in huge pages took",
)
_FOREIGN = (
    "A huge page is 2 MiB and resident as a whole, even where the program has written little of "
    "it. These lie in memory that the program or a library has mapped, not in Go's heap. They come "
    "where the kernel's setting is `always`, or where somebody has asked for them: "
    "madvise(MADV_HUGEPAGE), `hg` in VmFlags. No file says how much of them was written."
)
_ASK_NO_MORE = (
    "Compare RSS with what the program keeps in these mappings. If it is far less, do not ask for "
    "huge pages there (MADV_NOHUGEPAGE), or lay the data out densely; with the setting `always`, "
    "choose `madvise` in /sys/kernel/mm/transparent_hugepage/enabled."
)


def huge_bytes(moment: MomentFacts, *kinds: str) -> int:
    """Bytes of mappings of these kinds that lie in transparent huge pages."""
    if moment.mappings is None:
        return 0
    mine = moment.mappings["kind"].isin(kinds)
    return int(moment.mappings.loc[mine, "AnonHugePages"].sum())


def excess_bytes(moment: MomentFacts) -> int:
    """Resident bytes of the arenas that no count of Go's covers, as far as huge pages hold them.

    0 where the two files are of different states: then a collection explains it as well.
    """
    if moment.ledger is None or moment.memstats is None or moment.skew.crosses_a_collection:
        return 0
    return min(moment.ledger.part("heap_unexplained"), huge_bytes(moment, "go-heap"))


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    limits, version, rss = case.thresholds, case.facts.go_version, moment.rss_bytes or 0
    excess, huge = excess_bytes(moment), huge_bytes(moment, "go-heap")
    foreign = huge_bytes(moment, "anonymous-other", "native-heap")  # no thread's stack
    whole = max(limits.huge_pages_whole_bytes, limits.huge_pages_whole_fraction * rss)
    if excess >= limits.notable(limits.huge_pages_bytes, rss):
        title = f"huge pages keep {format_bytes(excess)} of heap resident that Go does not use"
        return _of_heap(moment, title, excess, version, Severity.WARNING)
    if huge >= whole:
        title = f"{format_bytes(huge)} of heap lies in huge pages, which are resident as a whole"
        # A warning under the releases that ask for huge pages and were repaired for it.
        asked = version.certainly(Fact.HUGE_PAGES_ASKED)
        return _of_heap(moment, title, huge, version, Severity.WARNING if asked else Severity.INFO)
    return _of_others(moment, foreign) if foreign >= whole else None


def _of_rss(moment: MomentFacts, size: int) -> str:
    return f"{format_fraction(size / (moment.rss_bytes or 1))} of RSS"


def _of_others(moment: MomentFacts, size: int) -> Finding:
    huge = {"AnonHugePages beside the Go heap": size}
    return CAUSE.finding(
        Severity.INFO,
        f"{format_bytes(size)} that Go's runtime did not map lies in huge pages, which are "
        f"resident as a whole: {_of_rss(moment, size)}",
        moment=moment.name,
        size=size,
        evidence=(*known(moment.path("smaps"), "B", huge), *rss_evidence(moment)),
        mechanism=_FOREIGN,
        next_step=_ASK_NO_MORE,
        confidence="possible",
    )


def _of_heap(
    moment: MomentFacts, title: str, size: int, version: GoVersion, severity: Severity
) -> Finding:
    by_release = move_on = ""
    if version.certainly(Fact.HUGE_PAGES_ASKED):
        by_release = (
            f"{version} asks the kernel for huge pages in its heap (MADV_HUGEPAGE or "
            "MADV_COLLAPSE); Go 1.21.4 stopped that. "
        )
        move_on = "Move to Go 1.21.4 or later. "
    sizes = {
        "AnonHugePages of go-heap": huge_bytes(moment, "go-heap"),
        "Rss of go-heap beyond all that MemStats count": excess_bytes(moment),
    }
    smaps = known(moment.path("smaps"), "B", sizes)
    return CAUSE.finding(
        severity,
        f"{title}: {_of_rss(moment, size)}",
        moment=moment.name,
        size=size,
        evidence=(*smaps, *rss_evidence(moment), release_evidence(version)),
        mechanism=by_release + CAUSE.mechanism,
        next_step=move_on + CAUSE.remedy,
        confidence="likely" if severity is Severity.WARNING else "possible",
    )
