"""Memory that Go gave back with MADV_FREE and that the kernel has not taken yet.

From Go 1.12 to 1.15 the runtime released with MADV_FREE where the kernel has it (4.5): the pages
stay resident, and in every RSS, until the kernel is short of memory. smaps shows them as LazyFree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.causes.answers import Answers, MomentFacts
    from gomem.causes.thresholds import Thresholds


def find(answers: Answers) -> list[Finding]:
    """One finding for each moment with much LazyFree memory in the arenas."""
    limits = answers.thresholds
    return [_finding(moment) for moment in answers.moments if _much(moment, limits)]


CAUSE = Cause(
    code="released-but-resident",
    mechanism="The runtime released the memory with MADV_FREE (the default of Go 1.12 to 1.15). "
    "The kernel takes such pages only when it is short of memory; until then they stay in RSS, in "
    "Pss and in the cgroup's usage. A container's working set leaves them out, because they count "
    "as inactive file pages.",
    remedy="It is no leak. To see it in RSS, run with GODEBUG=madvdontneed=1, or move to Go 1.16 "
    "or later, where that is the default. Alert on RSS less LazyFree, or on the working set.",
    references=("golang/go#42330", "golang/go#33376", "madvise(2)"),
    rule=find,
    past="memory given back that still counted as resident was",
)


def _much(moment: MomentFacts, limits: Thresholds) -> bool:
    if moment.ledger is None or moment.rss_bytes is None:
        return False
    lazy_free = moment.ledger.part("heap_released_resident")
    return lazy_free >= limits.notable(limits.released_bytes, moment.rss_bytes)


def _finding(moment: MomentFacts) -> Finding:
    assert moment.ledger is not None
    assert moment.rss_bytes is not None
    lazy_free = moment.ledger.part("heap_released_resident")
    evidence = [
        Evidence(moment.path("smaps"), "LazyFree", lazy_free, "B"),
        Evidence(moment.path("smaps"), "Rss", moment.rss_bytes, "B"),
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
        evidence=evidence,
    )
