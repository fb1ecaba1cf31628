"""Heap that the program no longer uses and the runtime keeps, beyond what its pacing asks for.

It must last to the end: after every drop, idle heap is on its way back for seconds, and what has
gone back since, or is in use again, was not kept. And it must be resident: where no file says what
is, it is only possible, as it may lie in swap or never have been touched.

From Go 1.13 on the runtime keeps free heap up to the scavenger's goal, about 1.1 × the heap goal,
or less under a GOMEMLIMIT, so that it need not ask the kernel again at once; that much is no
finding, and a note only where most of RSS is idle and the goal a far one: GOMEMLIMIT's, or one that
what is allocated from the first moment to the last does not come near to. What lies above it should
go back within seconds of the second collection. Before 1.13 nothing has a goal: what lies above
NextGC, up to which the heap is filled again, waits for its five idle minutes. Those releases map a
fresh arena (64 MiB from Go 1.11 on) as idle heap that is not given back, though nobody has touched
it; Go 1.13 and later count it as given back. So before 1.13 only what is resident can be kept: the
resident heap, in use and idle, beyond NextGC. How much of the heap is, mappings alone say: where
RSS is one number, C's memory may be what fills it, and a fresh arena's worth may be untouched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.mappings.rows import ARENA
from gomem.analysis.memory.groups import FREE
from gomem.causes.cause import Cause
from gomem.causes.evidence import goal_evidence, heap_evidence, known, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.causes.idle_heap import unused_idle_bytes
from gomem.causes.live_growth import grows
from gomem.facts.moment import GOMEMLIMIT, LIVE
from gomem.releases import Fact
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.finding import Evidence
    from gomem.facts.moment import LimitedGoal, MomentFacts
    from gomem.releases import GoVersion


def find(case: Case) -> list[Finding]:
    """One finding for each moment whose idle heap is kept beyond the goal and resident.

    A note where a later moment no longer has it: it was on its way, or is in use again; and where
    most of it was in use a moment before, for then nothing says that it stays. Not where
    the program has collected meanwhile, as debug.FreeOSMemory does. And a note where the live heap
    grows, and will need it: what each copy of a growing slice leaves, say.
    """
    limits, version, findings = case.thresholds, case.facts.go_version, []
    divided = [one for one in case.facts.moments if one.heap is not None and one.ledger is not None]
    lasts, after = not grows(case), None
    if divided[1:]:
        before, last = divided[-2:]
        lasts &= not _has_just_dropped(before, last, limits.most_share * kept_bytes(last, version))
    for moment in reversed(divided):
        kept = kept_bytes(moment, version)
        is_much = kept >= limits.notable(limits.idle_heap_bytes, moment.held_bytes)
        collected = after is not None and _collected_itself(moment, after) and not grows(case)
        lasts, after = is_much and (lasts or collected), moment
        if is_much:
            findings.append(_finding(moment, kept, lasts, version))
    return findings[::-1] or case.at_moments(_for_a_limit) or case.at_moments(_unused)


def _has_just_dropped(before: MomentFacts, last: MomentFacts, most: float) -> bool:
    """Whether most of what is idle at the last moment was in use one moment before."""
    assert before.heap is not None
    assert last.heap is not None
    dropped = before.heap["HeapInuse"] - last.heap["HeapInuse"]
    return bool(pd.notna(dropped) and dropped >= most)


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


def _is_unseen(moment: MomentFacts, version: GoVersion) -> bool:
    """Whether a fresh arena may be among idle heap, and no mappings say how much is untouched."""
    fresh = version.possibly(Fact.FRESH_ARENAS_ARE_IDLE)
    return fresh and moment.mappings is None and not version.certainly(Fact.FRESH_IS_RELEASED)


def kept_bytes(moment: MomentFacts, version: GoVersion) -> int:
    """Idle heap above the goal that is resident, at least; 0 if that cannot be told.

    Where the release may be older than Go 1.13, idle heap that nobody has touched is what fills the
    room up to NextGC last, so all of it is taken off what lies above. How much that is, mappings
    alone say: else with Go 1.11 and 1.12 it is up to an arena.
    """
    if moment.heap is None or moment.ledger is None or pd.isna(moment.heap["excess_bytes"]):
        return 0
    kept = int(moment.heap["excess_bytes"])
    if not version.certainly(Fact.FRESH_IS_RELEASED):
        untouched = -moment.ledger.part("heap_untouched")
        kept -= max(untouched, ARENA) if _is_unseen(moment, version) else untouched
    return max(0, min(kept, moment.idle_heap_bytes))


def _finding(moment: MomentFacts, kept: int, lasts: bool, version: GoVersion) -> Finding:
    assert moment.heap is not None
    heap, old = moment.heap, not version.possibly(Fact.BACKGROUND_SCAVENGER)
    keeps = "what the scavenger keeps" if pd.notna(heap["goal_bytes"]) else "the heap goal"
    goals: dict[str, float | None] = {
        field: int(heap[name]) for name, field in _GOALS.items() if pd.notna(heap[name])
    }
    title = (
        f"of heap is idle and still resident beyond {keeps}: the heap in use is "
        f"{format_bytes(int(heap['HeapInuse']))}, RSS is {format_bytes(moment.rss_bytes)}"
    )
    is_least = _is_unseen(moment, version) and kept < moment.idle_heap_bytes
    bound = "at least " if is_least else _up_to(moment)
    if moment.rss_bytes is None:
        bound, title = (
            "",
            (
                f"of heap is idle beyond {keeps} and was not given back: the heap in use is "
                f"{format_bytes(int(heap['HeapInuse']))}, and no file says how much is resident"
            ),
        )
    return CAUSE.finding(
        Severity.WARNING if lasts else Severity.INFO,
        f"{bound}{format_bytes(kept)} {title}",
        moment=moment.name,
        size=kept,
        evidence=(
            *heap_evidence(moment, "HeapIdle", "HeapReleased", "HeapInuse", "NextGC"),
            *rss_evidence(moment),
            *known("scavenger", "B", goals),
        ),
        mechanism=_WITHOUT_SCAVENGER.format(version) if old else "",
        next_step=_MOVE_ON if old else "",
        confidence=_confidence(moment),
    )


_GOALS = {
    "goal_bytes": "heap that it keeps when steady",
    "limit_goal_bytes": "heap that GOMEMLIMIT lets it keep",
}


def _up_to(moment: MomentFacts) -> str:
    return "up to " if moment.hides_untouched else ""


def _confidence(moment: MomentFacts) -> str:
    """What is idle by MemStats may have gone back before smaps was read."""
    if moment.skew.crosses_a_collection or moment.rss_bytes is None:
        return "possible"
    return "certain" if moment.mappings is not None else "likely"


def _for_a_limit(moment: MomentFacts, case: Case) -> Finding | None:
    """A note, where it is mostly idle heap because GOMEMLIMIT makes a far goal.

    With GOGC off, or far above what fits, the goal of a heap that shrank stays at the limit, and
    the scavenger keeps what lies below: by intention, and for as long as the process lives.
    """
    limits, goal, rss = case.thresholds, moment.limited_goal, moment.rss_bytes
    idle = moment.idle_heap_bytes
    if goal is None or rss is None or moment.heap is None:
        return None
    if idle < max(limits.idle_by_goal_fraction * rss, limits.notable(limits.idle_heap_bytes, rss)):
        return None
    at_most = "" if goal.live_is_marked else "at most "
    live = known(moment.path("metrics"), "B", {LIVE: goal.live_bytes})
    if not goal.live_is_marked:
        live = known(moment.path("memstats"), "B", {"HeapAlloc": goal.live_bytes})
    return CAUSE.finding(
        Severity.INFO,
        f"{format_bytes(idle)} of heap is idle and kept on purpose: GOMEMLIMIT makes a heap goal "
        f"of {format_bytes(goal.goal_bytes)}, with {at_most}{format_bytes(goal.live_bytes)} live",
        moment=moment.name,
        size=idle,
        evidence=(
            *known(moment.path("memstats"), "B", {"HeapIdle less HeapReleased": idle}),
            *goal_evidence(moment),
            *_limit_evidence(moment, goal),
            *live,
            *rss_evidence(moment),
        ),
        mechanism=f"{_KEPT}The scavenger leaves what lies below the heap goal, and where GOGC is "
        "off or large the goal is what GOMEMLIMIT leaves: a peak stays resident, and no collection "
        "comes to change it before the limit is near.",
        next_step="If others need the memory, set GOGC beside GOMEMLIMIT (100 is the default), or "
        "call debug.FreeOSMemory after the peak.",
        confidence=_confidence(moment),
    )


def _limit_evidence(moment: MomentFacts, goal: LimitedGoal) -> tuple[Evidence, ...]:
    """What says the limit: runtime/metrics, or the environment."""
    if goal.limit_is_in_force or moment.started is None:
        return known(moment.path("metrics"), "B", {GOMEMLIMIT: goal.limit_bytes})
    return known(moment.started.source, "B", {"GOMEMLIMIT": goal.limit_bytes})


def _unused(moment: MomentFacts, case: Case) -> Finding | None:
    """A note, where it is mostly idle heap, which the program does not come to need.

    A peak is over, and the goal that it left, or that a large GOGC makes, stays until the next
    collection: who hardly allocates has one every two minutes, and may get the same goal again.
    """
    idle, totals = unused_idle_bytes(case, moment), case.facts.total_allocs
    if not idle or moment.goal is None:
        return None
    first, *_, last = totals
    allocated = (
        evidence
        for one in case.facts.moments
        if one.name in (first, last)
        for evidence in known(one.path("memstats"), "B", {"TotalAlloc": totals[one.name]})
    )
    return CAUSE.finding(
        Severity.INFO,
        f"{_up_to(moment)}{format_bytes(idle)} of heap is idle and kept for the heap goal of "
        f"{format_bytes(moment.goal.size_bytes)}: over {len(totals)} moments the program allocated "
        f"{format_bytes(totals[last] - totals[first])}",
        moment=moment.name,
        size=idle,
        evidence=(
            *heap_evidence(moment, "HeapInuse", "HeapIdle", "HeapReleased"),
            *goal_evidence(moment),
            *allocated,
            *rss_evidence(moment),
        ),
        mechanism=f"{_KEPT}What lies below the heap goal stays for the next cycle, and this "
        "program hardly allocates: that may be long. The goal is GOGC per cent above what the last "
        "collection marked, and without work the runtime collects every two minutes.",
        next_step="Call debug.FreeOSMemory after the peak and compare, or lower GOGC, so that the "
        "goal shrinks with the next collection.",
        confidence=_confidence(moment),
    )


_WITHOUT_SCAVENGER = (
    f"{_KEPT}Up to NextGC the heap is filled again before the next collection; this is what lies "
    "above that. {} has no scavenger with a goal: it gives idle spans back only after they have "
    "lain idle for five minutes, or when the program calls debug.FreeOSMemory."
)
_MOVE_ON = (
    "Call debug.FreeOSMemory after the drop and compare, or move to Go 1.16 or later, whose "
    "scavenger does it in the background."
)
