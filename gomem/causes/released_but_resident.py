"""Memory that Go released with MADV_FREE and that the kernel has not reclaimed yet.

The pages stay resident, and count in every RSS, until the kernel is short of memory. smaps shows
them as LazyFree, whatever the release. Without smaps, a sign is RSS that stays as high as the heap
that was in use, although Go has released it since. MADV_FREE is the default from Go 1.12 to 1.15,
if the kernel has it (4.5). Since Go 1.16 only GODEBUG=madvdontneed=0 selects it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FREE
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import TAKE_SMAPS, sentences
from gomem.causes.evidence import heap_evidence, known, release_evidence, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.releases import Fact
from gomem.text import Bytes, Command, Count, Text, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot with much LazyFree memory in the arenas.

    The finding is a note if LazyFree is less than half of RSS: Go 1.12 to 1.15 always have some.
    """
    return case.at_moments(_at) or _by_counts(case)


_NO_LEAK = "Or alert on RSS minus LazyFree, or on the working set. This is not a leak."
_SETTING = Command("GODEBUG=madvdontneed=1")
_REMEDY = text(
    "Release as Go 1.16 and later do, so that RSS drops at once: {}. {}", _SETTING, _NO_LEAK
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


@dataclass(frozen=True)
class _Counted:
    """What MemStats and RSS say of a snapshot without LazyFree, in bytes."""

    moment: MomentFacts
    in_use: float
    released: float
    beyond: float  # anonymous memory in RSS beyond what Go has and has not released


def _by_counts(case: Case) -> list[Finding]:
    """Return a finding if RSS keeps what Go had in use before, and has released since."""
    limits, counted = case.thresholds, _counted(case)
    moments = [each.moment for each in counted]
    if any(moment.mappings is not None or "smaps_rollup" in moment.paths for moment in moments):
        return []  # either shows LazyFree
    if not counted[1:]:
        return []
    last, most = counted[-1], float(case.facts.capture.memstats["HeapInuse"].max())
    beyond = min(each.beyond for each in counted[-2:])
    freed = min(last.released, most - last.in_use)
    least = limits.notable(limits.released_bytes, last.moment.rss_bytes)
    if not max(least, limits.most_share * freed) <= beyond <= freed / limits.nearly_all_share:
        return []
    rss = last.moment.rss_bytes or 0
    is_most = beyond >= limits.idle_by_goal_fraction * rss
    return [
        CAUSE.finding(
            Severity.WARNING if is_most else Severity.INFO,
            text(
                "MADV_FREE: about {} of RSS is most likely heap that Go has released ({}); RSS did "
                "not fall with the heap",
                Bytes(round(beyond)),
                Bytes(round(last.released)),
            ),
            moment=last.moment.name,
            size=round(beyond),
            evidence=(
                *rss_evidence(last.moment),
                *known(
                    last.moment.path("memstats"),
                    "B",
                    {"HeapReleased": last.released, "HeapInuse": last.in_use},
                ),
                *known(str(Count(len(counted), "snapshot")), "B", {"HeapInuse, highest": most}),
                release_evidence(case.facts.go_version),
            ),
            next_step=sentences(text("See LazyFree: {}.", TAKE_SMAPS), _IF_IT_IS),
            confidence="possible",
        )
    ]


_IF_IT_IS = (
    "If it is there, Go 1.12 to 1.15, or GODEBUG=madvdontneed=0, released it with MADV_FREE. If "
    "not, C memory or mappings of the program have that size."
)


def _counted(case: Case) -> list[_Counted]:
    """Return the snapshots that have RSS, Sys and what of the heap is in use and released."""
    rows = case.facts.capture.memstats.groupby("moment", observed=True).last()
    found = []
    for moment in case.facts.of_last_process:
        if moment.rss_bytes is None or moment.ledger is None or moment.name not in rows.index:
            continue
        row = rows.loc[moment.name]
        in_use, released, sys = (row[name] for name in ("HeapInuse", "HeapReleased", "Sys"))
        if any(map(is_unknown, (in_use, released, sys))):
            continue
        files = moment.ledger.part("mapped_files") + moment.ledger.part("shared_memory")
        beyond = moment.rss_bytes - files - (float(sys) - float(released))
        found.append(_Counted(moment, float(in_use), float(released), beyond))
    return found
