"""Memory that Go gave back with MADV_FREE and that the kernel has not taken yet.

The pages stay resident, and in every RSS, until the kernel is short of memory; smaps shows them as
LazyFree, whatever the release. MADV_FREE is the default from Go 1.12 to 1.15, where the kernel has
it (4.5); since Go 1.16 only GODEBUG=madvdontneed=0 asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FREE
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


def find(case: Case) -> list[Finding]:
    """One finding for each moment with much LazyFree memory in the arenas."""
    limits = case.thresholds
    version = case.facts.go_version
    return [_finding(moment, version) for moment in case.facts.moments if _much(moment, limits)]


CAUSE = Cause(
    code="released-but-resident",
    mechanism="The runtime released the memory with MADV_FREE: the default of Go 1.12 to 1.15, and "
    "what GODEBUG=madvdontneed=0 asks for since Go 1.16. The kernel takes such pages only when it "
    "is short of memory; until then they stay in RSS, in Pss and in the cgroup's usage. A "
    "container's working set leaves them out, because they count as inactive file pages.",
    remedy="It is no leak. To see it in RSS, run with GODEBUG=madvdontneed=1, which is the default "
    "since Go 1.16. Alert on RSS less LazyFree, or on the working set.",
    references=("golang/go#42330", "golang/go#33376", "madvise(2)"),
    bears_on=("scavenger",),
    rule=find,
    claims=frozenset({FREE}),
    past="memory given back that still counted as resident was",
)


_NO_LEAK = "It is no leak. "
_WATCH = "Or alert on RSS less LazyFree, or on the working set."
_MOVE_ON = (
    f"{_NO_LEAK}To see it in RSS, run with GODEBUG=madvdontneed=1, or move to Go 1.16 or later, "
    f"where that is the default. {_WATCH}"
)
_DROP_THE_SETTING = (
    f"{_NO_LEAK}To see it in RSS, drop madvdontneed=0 from GODEBUG in the environment: since Go "
    f"1.16 the default gives memory back at once. {_WATCH}"
)


def _advice(version: GoVersion) -> str:
    """By the release; the cause's own where that is not known."""
    if version.certainly(Fact.MADV_FREE):
        return _MOVE_ON
    return _DROP_THE_SETTING if version.certainly(Fact.MADV_DONTNEED) else ""


def _much(moment: MomentFacts, limits: Thresholds) -> bool:
    if moment.ledger is None or moment.rss_bytes is None:
        return False
    lazy_free = moment.ledger.part("heap_released_resident")
    return lazy_free >= limits.notable(limits.released_bytes, moment.rss_bytes)


def _finding(moment: MomentFacts, version: GoVersion) -> Finding:
    assert moment.ledger is not None
    assert moment.rss_bytes is not None
    lazy_free = moment.ledger.part("heap_released_resident")
    kind = "smaps" if moment.mappings is not None else "smaps_rollup"
    evidence = [
        Evidence(moment.path(kind), "LazyFree", lazy_free, "B"),
        *rss_evidence(moment),
    ]
    if moment.heap is not None:
        released = int(moment.heap["HeapReleased"])
        evidence.append(Evidence(moment.path("memstats"), "HeapReleased", released, "B"))
    needed = moment.rss_bytes - lazy_free
    return CAUSE.finding(
        Severity.WARNING,
        f"{format_bytes(lazy_free)} was given back and still counts as resident: RSS is "
        f"{format_bytes(moment.rss_bytes)}, but the process needs only {format_bytes(needed)}",
        moment=moment.name,
        size=lazy_free,
        evidence=(*evidence, Evidence("Go release", version.evidence, str(version), "")),
        next_step=_advice(version),
        confidence="certain" if moment.mappings is not None else "likely",
    )
