"""Memory that Go released with MADV_FREE and that the kernel has not reclaimed yet.

The pages stay resident, and count in every RSS, until the kernel is short of memory. smaps shows
them as LazyFree, whatever the release. MADV_FREE is the default from Go 1.12 to 1.15, if the kernel
has it (4.5). Since Go 1.16 only GODEBUG=madvdontneed=0 selects it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FREE
from gomem.causes.cause import Cause
from gomem.causes.evidence import heap_evidence, known, release_evidence, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.releases import Fact
from gomem.text import Bytes, Command, Text, text

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot with much LazyFree memory in the arenas.

    The finding is a note if LazyFree is less than half of RSS: Go 1.12 to 1.15 always have some.
    """
    return case.at_moments(_at)


_NO_LEAK = "Or alert on RSS minus LazyFree, or on the working set. This is not a leak."
_SETTING = Command("GODEBUG=madvdontneed=1")
_REMEDY = text(
    "Set the default of Go 1.16 and later, so that RSS drops at once: {}. {}", _SETTING, _NO_LEAK
)
CAUSE = Cause(
    code="released-but-resident",
    mechanism="The runtime released the memory with MADV_FREE, which is the default in Go 1.12 to "
    "1.15. Since Go 1.16 only GODEBUG=madvdontneed=0 selects it. The kernel reclaims such pages "
    "only when memory is short; until then the pages stay in RSS, Pss and the cgroup's usage. A "
    "container's working set excludes these pages: the kernel keeps them on its inactive_file "
    "list, although they are anonymous.",
    remedy=_REMEDY,
    references=("golang/go#42330", "golang/go#33376", "madvise(2)"),
    bears_on=("scavenger",),
    rule=find,
    claims=frozenset({FREE}),
    past="released memory that still counted toward RSS",
)
_DROP_THE_SETTING = (
    "Remove madvdontneed=0 from GODEBUG: the default since Go 1.16 makes RSS drop at once. "
    f"{_NO_LEAK}"
)


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    limits, version, rss = case.thresholds, case.facts.go_version, moment.rss_bytes
    if moment.ledger is None or rss is None:
        return None
    size = moment.ledger.part("heap_released_resident")
    if size < limits.notable(limits.released_bytes, rss):
        return None
    with_smaps, advice = moment.mappings is not None, Text()
    if version.certainly(Fact.MADV_FREE):
        advice = _REMEDY
    elif version.certainly(Fact.MADV_DONTNEED):
        advice = Text(_DROP_THE_SETTING)
    is_most = size >= limits.idle_by_goal_fraction * rss
    return CAUSE.finding(
        Severity.WARNING if is_most else Severity.INFO,
        text(
            "MADV_FREE: {} was released but still counts toward RSS; the process needs only {}",
            Bytes(size),
            Bytes(rss - size),
        ),
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
