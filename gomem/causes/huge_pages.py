"""Huge pages make more memory resident than the program uses.

A transparent huge page is 2 MiB, all or nothing. If Go touches 8 KiB of a huge page, or releases
half of the page, the kernel still counts the whole page. Go 1.21.0 asked for huge pages
(MADV_HUGEPAGE; MADV_COLLAPSE in 1.21.1 to 1.21.3), and 1.21.4 stopped. With the kernel setting
`always` the kernel uses them unasked, and khugepaged can make released pages resident again.
Mappings of the program and of C can also be in huge pages, with `always` or if a library requests
them (MADV_HUGEPAGE, `hg` in VmFlags). No file shows how much of those pages was written, so the
finding is only a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Case, Cause
from gomem.causes.commands import sentences
from gomem.causes.evidence import known, release_evidence, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.releases import Fact, GoVersion
from gomem.text import Bytes, Command, Share, Words, text

if TYPE_CHECKING:
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot whose huge pages hold, or might hold, more than Go counts."""
    return case.at_moments(_at)


_SETTING = Command("cat /sys/kernel/mm/transparent_hugepage/enabled")
CAUSE = Cause(
    code="huge-pages",
    mechanism="A huge page is 2 MiB and resident as a whole, even where Go uses only a part. With "
    "the kernel's setting `always`, khugepaged can make released pages resident again "
    "(max_ptes_none). Up to Go 1.20 the runtime asked for huge pages when it reused released "
    "memory.",
    remedy=text(
        "See the kernel's setting: {}. If the setting is `always`, either switch to `madvise`, set "
        "khugepaged/max_ptes_none to 0, or run with GODEBUG=disablethp=1 (Go 1.21.6 or later). "
        "Then compare RSS and latency.",
        _SETTING,
    ),
    references=("golang/go#64332", "golang/go#61718", "golang/go#63334"),
    bears_on=("mappings",),
    rule=find,
    past="memory in huge pages",
)
_HUGE_PAGES = r"\bhg\b"
_ASKED = Words("`hg` in VmFlags: the program or a library asked for them, madvise(MADV_HUGEPAGE)")
_NOT_ASKED = Words("VmFlags have no `hg`, so the kernel's setting is `always`")
_UNKNOWN = Words(
    "Either the kernel's setting is `always`, or a library asks for huge pages: "
    "madvise(MADV_HUGEPAGE), `hg` in VmFlags"
)
_FOREIGN = (
    "A huge page is 2 MiB and resident as a whole, even where little is written. These huge pages "
    "are in memory that the program or a library has mapped, not in the Go heap. {}. No file says "
    "how much of each page was written."
)
_ASK_NO_MORE = text(
    "See the kernel's setting: {}. If the program stores far less in these mappings than is "
    "resident, call madvise(MADV_NOHUGEPAGE) on the mappings, or switch from `always` to "
    "`madvise`.",
    _SETTING,
)
_NO_LONGER_ASK = (
    "If the program stores far less in these mappings than is resident, do not call "
    "madvise(MADV_HUGEPAGE) on them."
)


OUTSIDE = ("anonymous-other", "native-heap")  # without thread stacks


def _why_huge(moment: MomentFacts, most: float) -> Words:
    """Who asked for the huge pages outside the Go heap, by the flags of most of these bytes."""
    assert moment.mappings is not None
    outside = moment.mappings[moment.mappings["kind"].isin(OUTSIDE)]
    huge, flags = outside["AnonHugePages"].fillna(0), outside["VmFlags"].astype("str")
    if huge[flags == ""].sum() > most * huge.sum():
        return _UNKNOWN
    asked = huge[flags.str.contains(_HUGE_PAGES)].sum()
    return _ASKED if asked > most * huge.sum() else _NOT_ASKED


def huge_bytes(moment: MomentFacts, *kinds: str) -> int:
    """Return bytes of mappings of these kinds that are in transparent huge pages."""
    if moment.mappings is None:
        return 0
    mine = moment.mappings["kind"].isin(kinds)
    return int(moment.mappings.loc[mine, "AnonHugePages"].sum())


def excess_bytes(moment: MomentFacts) -> int:
    """Return resident bytes of the arenas beyond Go's counts, as far as huge pages hold them.

    0 if MemStats and smaps show different states: then a collection could also explain the excess.
    """
    if moment.ledger is None or moment.memstats is None or moment.skew.crosses_a_collection:
        return 0
    return min(moment.ledger.part("heap_unexplained"), huge_bytes(moment, "go-heap"))


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    limits, version, rss = case.thresholds, case.facts.go_version, moment.rss_bytes or 0
    excess, huge = excess_bytes(moment), huge_bytes(moment, "go-heap")
    foreign = huge_bytes(moment, *OUTSIDE)
    whole = max(limits.huge_pages_whole_bytes, limits.huge_pages_whole_fraction * rss)
    if excess >= limits.notable(limits.huge_pages_bytes, rss):
        title = "Huge pages keep {} of unused heap resident ({} of RSS)"
        return _of_heap(moment, title, excess, version, Severity.WARNING)
    if huge >= whole:
        title = "Huge pages back {} of the heap ({} of RSS); no file says how much of it Go uses"
        # A warning for releases that request huge pages, which later releases fixed.
        asked = version.certainly(Fact.HUGE_PAGES_ASKED)
        return _of_heap(moment, title, huge, version, Severity.WARNING if asked else Severity.INFO)
    return _of_others(moment, foreign, limits.most_share) if foreign >= whole else None


def _share(moment: MomentFacts, size: int) -> Share:
    return Share(size / (moment.rss_bytes or 1))


def _of_others(moment: MomentFacts, size: int, most: float) -> Finding:
    huge = {"AnonHugePages outside the Go heap": size}
    how = _why_huge(moment, most)
    return CAUSE.finding(
        Severity.INFO,
        text(
            "Huge pages back {} outside the Go heap ({} of RSS); no file says how much of it "
            "is used",
            Bytes(size),
            _share(moment, size),
        ),
        moment=moment.name,
        size=size,
        evidence=(*known(moment.path("smaps"), "B", huge), *rss_evidence(moment)),
        mechanism=text(_FOREIGN, how),
        next_step=_NO_LONGER_ASK if how is _ASKED else _ASK_NO_MORE,
        confidence="possible",
    )


def _of_heap(
    moment: MomentFacts, title: str, size: int, version: GoVersion, severity: Severity
) -> Finding:
    by_release = move_on = ""
    if version.certainly(Fact.HUGE_PAGES_ASKED):
        by_release = (
            f"{version.words} asks the kernel for huge pages in its heap (MADV_HUGEPAGE or "
            "MADV_COLLAPSE); Go 1.21.4 stopped that. "
        )
        move_on = "Move to Go 1.21.4 or later."
    sizes = {
        "AnonHugePages of go-heap": huge_bytes(moment, "go-heap"),
        "Rss of go-heap beyond MemStats": excess_bytes(moment),
    }
    smaps = known(moment.path("smaps"), "B", sizes)
    return CAUSE.finding(
        severity,
        text(title, Bytes(size), _share(moment, size)),
        moment=moment.name,
        size=size,
        evidence=(*smaps, *rss_evidence(moment), release_evidence(version)),
        mechanism=by_release + CAUSE.mechanism,
        next_step=sentences(move_on, CAUSE.remedy),
        confidence="likely" if severity is Severity.WARNING else "possible",
    )
