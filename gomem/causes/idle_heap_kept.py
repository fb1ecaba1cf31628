"""Heap that the program no longer uses and the runtime keeps, beyond what its pacing asks for.

It must last to the end: after every drop, idle heap is on its way back for seconds, and what has
gone back since, or is in use again, was not kept. And it must be resident:
where no file says what is, it is only possible, as it may lie in swap or never have been touched.

From Go 1.13 on the runtime keeps free heap up to the scavenger's goal, about 1.1 × the heap goal,
or less under a GOMEMLIMIT, so that it need not ask the kernel again at once; that much is no
finding, and a note only where most of RSS is idle and the goal a far one: GOMEMLIMIT's, or one that
what is allocated from the first moment to the last does not come near to. What lies above it should
go back within seconds of the second collection. Before 1.13 nothing has a goal: what lies above
NextGC, up to which the heap is filled again, waits for its five idle minutes. Those releases map a
fresh arena (64 MiB from Go 1.11 on) as idle heap that is not given back, though nobody has touched
it; Go 1.13 and later count it as given back. So before 1.13 only what is resident can be kept: the
resident heap, in use and idle, beyond NextGC. How much of the heap is, mappings alone say: where
RSS is one number, C's memory may be what fills it, and a fresh arena's worth may be untouched. What
is kept without that is kept at least; what is kept only with it is a note.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.mappings.rows import ARENA
from gomem.analysis.memory.groups import FREE
from gomem.analysis.series.shapes import MOVES
from gomem.causes.cause import Cause
from gomem.causes.evidence import goal_evidence, heap_evidence, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.idle_heap import unused_idle_bytes
from gomem.causes.live_growth import grows
from gomem.facts.moment import GOMEMLIMIT, LIVE
from gomem.releases import Fact
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import LimitedGoal, MomentFacts
from gomem.releases import GoVersion

AT_LEAST, UP_TO = "at least ", "up to "


def find(case: Case) -> list[Finding]:
    """One finding for each moment whose idle heap is kept beyond the goal and resident.

    A note where a later moment no longer has it, or goes on giving it back: it was on its way, or
    is in use again. Not where the program has collected meanwhile, as debug.FreeOSMemory does.
    """
    limits, version = case.thresholds, case.facts.go_version
    divided = [one for one in case.facts.moments if one.heap is not None and one.ledger is not None]
    kept = [_Kept.of(one, version, limits) for one in divided]
    told = [one for one in divided if one.rss_bytes is not None] or divided
    findings = []
    for one, lasts in zip(kept, _lasting(kept), strict=True):
        if one.moment.rss_bytes is None and len(told) < len(divided):
            continue  # others say what is resident, too
        if one.surely:
            bound = AT_LEAST if one.most > one.least else ""
            findings.append(_finding(one.moment, one.least, lasts, version, bound))
        elif one.maybe:
            findings.append(_finding(one.moment, one.most, False, version, UP_TO))
    if grows(case):  # and will need it: what each copy of a growing slice leaves, say
        findings = [replace(finding, severity=Severity.INFO) for finding in findings]
    return findings or _kept_for_a_limit(told, limits) or _kept_unused(told, case)


@dataclass(frozen=True)
class _Kept:
    """What a moment keeps, at least and at most, and whether that is much."""

    moment: MomentFacts
    least: int
    most: int
    surely: bool
    maybe: bool

    @classmethod
    def of(cls, moment: MomentFacts, version: GoVersion, limits: Thresholds) -> _Kept:
        much = limits.notable(limits.idle_heap_bytes, moment.held_bytes)
        least, most = kept_bytes(moment, version)
        return cls(moment, least, most, least >= much, most >= much)

    @property
    def released(self) -> float:
        """HeapReleased; of a moment that divides the heap."""
        assert self.moment.heap is not None
        return float(self.moment.heap["HeapReleased"])


def _lasting(kept: list[_Kept]) -> list[bool]:
    """Whether much is kept from each moment to the last, or until the program collects itself.

    Not if at the last it is less than at the one before, as more has been given back.
    """
    lasting: list[bool] = []
    goes_on, after = not _goes_back(kept), None
    for one in reversed(kept):
        collected = after is not None and _collected_itself(one.moment, after.moment)
        goes_on, after = one.surely and (goes_on or collected), one
        lasting.append(goes_on)
    return lasting[::-1]


def _goes_back(kept: list[_Kept]) -> bool:
    """Whether at the last clearly less is kept than before, and more has been given back."""
    if not kept[:-1]:
        return False
    before, last = kept[-2:]
    return last.least <= (1 - MOVES) * before.least and before.released < last.released


def _kept_for_a_limit(told: list[MomentFacts], limits: Thresholds) -> list[Finding]:
    """A note for each moment that is mostly idle heap, because GOMEMLIMIT makes a far goal.

    With GOGC off, or far above what fits, the goal of a heap that shrank stays at the limit, and
    the scavenger keeps what lies below: by intention, and for as long as the process lives.
    """
    findings = []
    for one in told:
        goal, rss, idle = one.limited_goal, one.rss_bytes, one.idle_heap_bytes
        if goal is None or rss is None or idle < limits.idle_by_goal_fraction * rss:
            continue
        if idle >= limits.notable(limits.idle_heap_bytes, rss):
            findings.append(_for_a_limit(one, idle, goal))
    return findings


def _for_a_limit(moment: MomentFacts, idle: int, goal: LimitedGoal) -> Finding:
    return CAUSE.finding(
        Severity.INFO,
        f"{format_bytes(idle)} of heap is idle and kept on purpose: GOMEMLIMIT makes a heap goal "
        f"of {format_bytes(goal.goal_bytes)}, with {'' if goal.live_is_marked else 'at most '}"
        f"{format_bytes(goal.live_bytes)} live",
        moment=moment.name,
        size=idle,
        evidence=(
            Evidence(moment.path("memstats"), "HeapIdle less HeapReleased", idle, "B"),
            *goal_evidence(moment),
            _limit_evidence(moment, goal),
            Evidence(moment.path("metrics"), LIVE, goal.live_bytes, "B")
            if goal.live_is_marked
            else Evidence(moment.path("memstats"), "HeapAlloc", goal.live_bytes, "B"),
            *rss_evidence(moment),
        ),
        mechanism=f"{_KEPT}The scavenger leaves what lies below the heap goal, and where GOGC is "
        "off or large the goal is what GOMEMLIMIT leaves: a peak stays resident, and no collection "
        "comes to change it before the limit is near.",
        next_step="If others need the memory, set GOGC beside GOMEMLIMIT (100 is the default), or "
        "call debug.FreeOSMemory after the peak.",
        confidence=_confidence(moment),
    )


def _limit_evidence(moment: MomentFacts, goal: LimitedGoal) -> Evidence:
    """What says the limit: runtime/metrics, or the environment."""
    if goal.limit_is_in_force or moment.started is None:
        return Evidence(moment.path("metrics"), GOMEMLIMIT, goal.limit_bytes, "B")
    return Evidence(moment.started.source, "GOMEMLIMIT", goal.limit_bytes, "B")


def _kept_unused(told: list[MomentFacts], case: Case) -> list[Finding]:
    """A note for each moment that is mostly idle heap, which the program does not come to need.

    A peak is over, and the goal that it left, or that a large GOGC makes, stays until the next
    collection: who hardly allocates has one every two minutes, and may get the same goal again.
    """
    unused = ((one, unused_idle_bytes(case, one)) for one in told)
    return [_unused(one, idle, case) for one, idle in unused if idle]


def _unused(moment: MomentFacts, idle: int, case: Case) -> Finding:
    assert moment.goal is not None  # or nothing would be kept for it
    totals, bound = case.facts.total_allocs, UP_TO if moment.hides_untouched else ""
    first, *_, last = totals
    return CAUSE.finding(
        Severity.INFO,
        f"{bound}{format_bytes(idle)} of heap is idle and kept for the heap goal of "
        f"{format_bytes(moment.goal.size_bytes)}: over {len(totals)} moments the program allocated "
        f"{format_bytes(totals[last] - totals[first])}",
        moment=moment.name,
        size=idle,
        evidence=(
            *heap_evidence(moment, "HeapInuse", "HeapIdle", "HeapReleased"),
            *goal_evidence(moment),
            *(
                Evidence(one.path("memstats"), "TotalAlloc", totals[one.name], "B")
                for one in case.facts.moments
                if one.name in (first, last)
            ),
            *rss_evidence(moment),
        ),
        mechanism=f"{_KEPT}What lies below the heap goal stays for the next cycle, and this "
        "program hardly allocates: that may be long. The goal is GOGC per cent above what the last "
        "collection marked, and without work the runtime collects every two minutes.",
        next_step="Call debug.FreeOSMemory after the peak and compare, or lower GOGC, so that the "
        "goal shrinks with the next collection.",
        confidence=_confidence(moment),
    )


def _collected_itself(before: MomentFacts, after: MomentFacts) -> bool:
    """Whether the program called for a collection between two moments, as far as they count."""
    forced = [0 if one.memstats is None else one.memstats["NumForcedGC"] for one in (before, after)]
    return bool(pd.notna(forced).all() and forced[1] > forced[0])


_KEPT = "Freed spans stay mapped for reuse (HeapIdle - HeapReleased). "
CAUSE = Cause(
    code="idle-heap-kept",
    mechanism=_KEPT
    + "The runtime wants to keep about 1.1 × NextGC, or less if 0.95 × GOMEMLIMIT leaves less; "
    "this is what lies above that. Since Go 1.13 a background scavenger gives it back, using about "
    "1 % of a CPU, and not before the second collection after the drop. Seconds after a drop this "
    "is normal; if it lasts for minutes, the program does not collect (an idle program collects "
    "every two minutes), or its free pages are scattered. Before Go 1.13 it took five idle "
    "minutes.",
    remedy="Take another moment a minute later. If the idle heap is still there, call "
    "debug.FreeOSMemory after the drop and compare; or lower GOGC, or set GOMEMLIMIT (Go 1.19), so "
    "that the goal shrinks.",
    references=("golang/go#30333", "golang/go#16930", "runtime/debug.FreeOSMemory"),
    bears_on=("scavenger",),
    rule=find,
    claims=frozenset({FREE}),
    past="idle heap that stayed resident was",
)


def kept_bytes(moment: MomentFacts, version: GoVersion) -> tuple[int, int]:
    """Idle heap above the goal that is resident, at least and at most; 0 if that cannot be told.

    Where the release may be older than Go 1.13, idle heap that nobody has touched is what fills the
    room up to NextGC last, so all of it is taken off what lies above. How much that is, mappings
    alone say: else with Go 1.11 and 1.12 it is up to an arena.
    """
    if moment.heap is None or moment.ledger is None or pd.isna(moment.heap["excess_bytes"]):
        return 0, 0
    excess, untouched = int(moment.heap["excess_bytes"]), -moment.ledger.part("heap_untouched")
    if version.certainly(Fact.FRESH_IS_RELEASED):
        least = most = excess
    else:
        unseen = moment.mappings is None and version.possibly(Fact.FRESH_ARENAS_ARE_IDLE)
        least = excess - (max(untouched, ARENA) if unseen else untouched)
        most = least if moment.rss_bytes is None else excess - untouched
    resident = moment.idle_heap_bytes
    return max(0, min(least, resident)), max(0, min(most, resident))


def _finding(
    moment: MomentFacts, kept: int, lasting: bool, version: GoVersion, bound: str
) -> Finding:
    assert moment.heap is not None
    heap = moment.heap
    evidence = [
        *heap_evidence(moment, "HeapIdle", "HeapReleased", "HeapInuse", "NextGC"),
        *rss_evidence(moment),
    ]
    for name, field in _GOALS.items():
        if pd.notna(heap[name]):
            evidence.append(Evidence("scavenger", field, int(heap[name]), "B"))
    old = not version.possibly(Fact.BACKGROUND_SCAVENGER)
    return CAUSE.finding(
        Severity.WARNING if lasting else Severity.INFO,
        _title(moment, kept, int(heap["HeapInuse"]), bound),
        moment=moment.name,
        size=kept,
        evidence=evidence,
        mechanism=_without_scavenger(version) if old else "",
        next_step=_MOVE_ON if old else "",
        confidence="possible" if bound == UP_TO else _confidence(moment),
    )


def _title(moment: MomentFacts, kept: int, in_use: int, bound: str) -> str:
    assert moment.heap is not None
    has_goal = pd.notna(moment.heap["goal_bytes"])
    keeps = "what the scavenger keeps" if has_goal else "the heap goal"
    used = f"the heap in use is {format_bytes(in_use)}"
    if moment.rss_bytes is None:
        return (
            f"{format_bytes(kept)} of heap is idle beyond {keeps} and was not given back: "
            f"{used}, and no file says how much is resident"
        )
    if moment.hides_untouched:
        bound = bound or UP_TO
    return (
        f"{bound}{format_bytes(kept)} of heap is idle and still resident beyond {keeps}: "
        f"{used}, RSS is {format_bytes(moment.rss_bytes)}"
    )


_GOALS = {
    "goal_bytes": "heap that it keeps",
    "limit_goal_bytes": "heap that GOMEMLIMIT lets it keep",
}


def _without_scavenger(version: GoVersion) -> str:
    return (
        f"{_KEPT}Up to NextGC the heap is filled again before the next collection; this is what "
        f"lies above that. {version} has no scavenger with a goal: it gives idle spans back only "
        "after they have lain idle for five minutes, or when the program calls debug.FreeOSMemory."
    )


def _confidence(moment: MomentFacts) -> str:
    """What is idle by MemStats may have gone back before smaps was read."""
    if moment.skew.crosses_a_collection or moment.rss_bytes is None:
        return "possible"
    return "certain" if moment.mappings is not None else "likely"


_MOVE_ON = (
    "Call debug.FreeOSMemory after the drop and compare, or move to Go 1.16 or later, whose "
    "scavenger does it in the background."
)
