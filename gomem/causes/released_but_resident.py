"""Memory that Go gave back with MADV_FREE and that the kernel has not taken yet.

The pages stay resident, and in every RSS, until the kernel is short of memory; smaps shows them as
LazyFree, whatever the release. MADV_FREE is the default from Go 1.12 to 1.15, where the kernel has
it (4.5); since Go 1.16 only GODEBUG=madvdontneed=0 asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FREE
from gomem.causes.cause import Cause
from gomem.causes.evidence import heap_evidence, known, release_evidence, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.releases import Fact
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """One finding for each moment with much LazyFree memory in the arenas."""
    return case.at_moments(_at)


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
_NO_LEAK = (
    "It is no leak. To see it in RSS, {} Or alert on RSS less LazyFree, or on the working set."
)
_MOVE_ON = _NO_LEAK.format(
    "run with GODEBUG=madvdontneed=1, or move to Go 1.16 or later, where that is the default."
)
_DROP_THE_SETTING = _NO_LEAK.format(
    "drop madvdontneed=0 from GODEBUG in the environment: since Go 1.16 the default gives memory "
    "back at once."
)


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    limits, version, rss = case.thresholds, case.facts.go_version, moment.rss_bytes
    if moment.ledger is None or rss is None:
        return None
    size = moment.ledger.part("heap_released_resident")
    if size < limits.notable(limits.released_bytes, rss):
        return None
    with_smaps, advice = moment.mappings is not None, ""
    if version.certainly(Fact.MADV_FREE):
        advice = _MOVE_ON
    elif version.certainly(Fact.MADV_DONTNEED):
        advice = _DROP_THE_SETTING
    return CAUSE.finding(
        Severity.WARNING,
        f"{format_bytes(size)} was given back and still counts as resident: RSS is "
        f"{format_bytes(rss)}, but the process needs only {format_bytes(rss - size)}",
        moment=moment.name,
        size=size,
        evidence=(
            *known(moment.path("smaps" if with_smaps else "smaps_rollup"), "B", {"LazyFree": size}),
            *rss_evidence(moment),
            *heap_evidence(moment, "HeapReleased"),
            release_evidence(version),
        ),
        next_step=advice,
        confidence="certain" if with_smaps else "likely",
    )
