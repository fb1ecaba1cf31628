"""Idle heap that the runtime does not return to the OS, beyond what its pacing requires.

A warning requires that the idle heap lasts to the end of the capture. The runtime needs seconds to
release idle heap after the heap shrinks, so idle heap that is later released or reused is a note,
reported as resolved. The idle heap must also be resident. If no file shows this, the confidence is
*possible*, because idle heap can be swapped out or untouched.

Since Go 1.13 the runtime keeps free heap for reuse, up to the scavenger's goal (formula in
`analysis.scavenger.goals`), or less under GOMEMLIMIT. This is normal. After the process's second
GC, idle heap over the goal is released within seconds. Exception: the rule reports a note if most
of RSS is idle heap that the goal keeps, and nothing lowers that goal: GOMEMLIMIT sets the goal; the
program allocates too little between the first and the last snapshot to reach the goal; or GOGC is
off without a limit, so that no GC runs.

Before Go 1.13 there is no goal. The heap can grow to NextGC, and idle heap beyond that is released
after five minutes. MemStats before Go 1.13 count a fresh arena (64 MiB since Go 1.11) as idle and
not released, although it was never touched. MemStats since Go 1.13 count a fresh arena as released.
So before 1.13 the rule counts only the resident heap, in use and idle, beyond NextGC. This needs
smaps: total RSS includes C memory, and HeapIdle includes untouched arenas.
"""

from __future__ import annotations

import math

import pandas as pd

from gomem.analysis.mappings.rows import ARENA
from gomem.analysis.memory.groups import FREE
from gomem.analysis.scavenger.goals import BY_PEAK
from gomem.analysis.scavenger.sentences import BY
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import grows, main_idle_bytes, unused_idle_bytes
from gomem.causes.evidence import goal_evidence, heap_evidence, known, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.facts.moment import GOMEMLIMIT, LIVE, LimitedGoal, MomentFacts
from gomem.releases import Fact, GoVersion
from gomem.text import Bytes, Command, Text, text


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot with resident idle heap beyond the goal.

    The finding is only a note in four cases: a later snapshot no longer has the excess, because it
    was released or reused (unless the program forced a collection in between, as debug.FreeOSMemory
    does); most of the excess was in use at the previous snapshot, so it might not stay; the live
    heap grows and will need the memory; or less than half of the memory is idle.
    """
    limits, version, findings = case.thresholds, case.facts.go_version, []
    divided = [
        moment
        for moment in case.facts.moments
        if moment.heap is not None and moment.ledger is not None
    ]
    lasts, after = not grows(case), None
    if divided[1:]:
        before, last = divided[-2:]
        kept = kept_bytes(last, version)
        lasts &= not _has_just_dropped(before, last, limits.most_share * kept)
        lasts &= kept > limits.most_share * kept_bytes(before, version)  # else it is being released
    for moment in reversed(divided):
        kept = kept_bytes(moment, version)
        is_much = kept >= limits.notable(limits.idle_heap_bytes, moment.held_bytes)
        collected = after is not None and _collected_itself(moment, after) and not grows(case)
        lasts, after = is_much and (lasts or collected), moment
        if is_much:
            whole = moment.held_bytes or 0
            is_most = moment.idle_heap_bytes >= limits.idle_by_goal_fraction * whole
            findings.append(_finding(moment, kept, lasts and is_most, version))
    return (
        findings[::-1]
        or case.at_moments(_for_a_limit)
        or case.at_moments(_unused)
        or case.at_moments(_without_goal)
    )


def _has_just_dropped(before: MomentFacts, last: MomentFacts, most: float) -> bool:
    """Return whether most of the idle heap at the last snapshot was in use one snapshot earlier."""
    assert before.heap is not None
    assert last.heap is not None
    dropped = before.heap["HeapInuse"] - last.heap["HeapInuse"]
    return bool(pd.notna(dropped) and dropped >= most)


def _collected_itself(before: MomentFacts, after: MomentFacts) -> bool:
    """Return whether the program forced a collection between two snapshots, if counted."""
    forced = [
        0 if moment.memstats is None else moment.memstats["NumForcedGC"]
        for moment in (before, after)
    ]
    return bool(pd.notna(forced).all() and forced[1] > forced[0])


_KEPT = "Go keeps free spans (HeapIdle - HeapReleased) for reuse before it releases them. "
_REMEDY = text(
    "See whether the idle heap stays: {}. If so, call debug.FreeOSMemory once the heap has shrunk.",
    Command("gomem capture PID -o DIR --every 30s --for 2m"),
)
CAUSE = Cause(
    code="idle-heap-kept",
    mechanism=_KEPT
    + f"The runtime retains heap up to the scavenger's goal: {BY_PEAK}. A memory limit can set a "
    "lower goal: 0.95 × GOMEMLIMIT minus all memory outside the heap. This finding counts only "
    "idle heap above the goal. Since Go 1.13 a background scavenger releases this excess, from "
    "the second GC on, using about 1 % of a CPU. Excess idle heap is normal for a few seconds "
    "after the heap shrinks. Excess that lasts for minutes means that GCs are rare, or that the "
    "free pages are scattered.",
    remedy=_REMEDY,
    references=("golang/go#30333", "golang/go#16930", "runtime/debug.FreeOSMemory"),
    bears_on=("scavenger",),
    rule=find,
    claims=frozenset({FREE}),
    past="excess idle heap",
)


def _is_unseen(moment: MomentFacts, version: GoVersion) -> bool:
    """Return whether idle heap can include an untouched arena, and no mappings show how much."""
    fresh = version.possibly(Fact.FRESH_ARENAS_ARE_IDLE)
    return fresh and moment.mappings is None and not version.certainly(Fact.FRESH_IS_RELEASED)


def kept_bytes(moment: MomentFacts, version: GoVersion) -> int:
    """Return a lower bound of resident idle heap above the goal; 0 if unknown.

    If the release can be older than Go 1.13, untouched idle heap fills the room up to NextGC last,
    so all of it is subtracted from the excess. Only mappings show the size of untouched idle heap.
    Without mappings, it is up to one arena with Go 1.11 and 1.12.
    """
    if moment.heap is None or moment.ledger is None or pd.isna(moment.heap["excess_bytes"]):
        return 0
    kept = int(moment.heap["excess_bytes"])
    if not version.certainly(Fact.FRESH_IS_RELEASED):
        untouched = -moment.ledger.part("heap_untouched")
        kept -= max(untouched, ARENA) if _is_unseen(moment, version) else untouched
    return max(0, min(kept, moment.idle_heap_bytes, _room(moment)))


def _room(moment: MomentFacts) -> int:
    """Return how much idle heap can be resident, by the total that the container uses."""
    used = None if moment.listed is None else moment.listed.working_set_bytes
    if moment.rss_bytes is not None or used is None or moment.held_bytes is None:
        return moment.idle_heap_bytes
    return max(0, used - (moment.held_bytes - moment.idle_heap_bytes))


def _finding(moment: MomentFacts, kept: int, lasts: bool, version: GoVersion) -> Finding:
    assert moment.heap is not None
    heap, is_old = moment.heap, not version.possibly(Fact.BACKGROUND_SCAVENGER)
    unseen = ARENA if _is_unseen(moment, version) else None
    is_least = unseen is not None and kept < moment.idle_heap_bytes
    bound = "At least " if is_least else _up_to(moment)
    beyond = "NextGC" if is_old else "the scavenger's goal"
    words = "{}{} of idle heap above {} has not been returned to the OS"
    title = text(words, bound, Bytes(kept), beyond)
    if moment.rss_bytes is None:
        words = words + "; no file says how much is resident"
        title = text(words, "", Bytes(kept), beyond)
    return CAUSE.finding(
        Severity.WARNING if lasts else Severity.INFO,
        title,
        moment=moment.name,
        size=kept,
        evidence=(
            *heap_evidence(moment, "HeapIdle", "HeapReleased", "HeapInuse", "NextGC"),
            *rss_evidence(moment),
            *known("scavenger", "B", _goals(heap)),
            *known("scavenger", "B", {"arena that can be untouched, not counted": unseen}),
        ),
        mechanism=_WITHOUT_SCAVENGER.format(version.words) if is_old else "",
        next_step=_MOVE_ON if is_old else _REMEDY,
        confidence=_confidence(moment),
    )


def _goals(heap: pd.Series) -> dict[str, float | None]:
    """Return the scavenger's goals, by its formula and by GOMEMLIMIT; one if they are equal."""
    goal, by_limit = heap["goal_bytes"], heap["limit_goal_bytes"]
    named = {"goal under GOMEMLIMIT": by_limit}
    if pd.notna(goal) and not (pd.notna(by_limit) and by_limit == goal):
        named = {f"goal, {BY[heap['paced_by']]}": goal} | named
    return {field: int(size) for field, size in named.items() if pd.notna(size)}


def _up_to(moment: MomentFacts) -> str:
    return "Up to " if moment.hides_untouched else ""


def _confidence(moment: MomentFacts) -> str:
    """Return the confidence: idle heap in MemStats might be released before smaps is read."""
    if moment.skew.crosses_a_collection or moment.rss_bytes is None:
        return "possible"
    return "certain" if moment.mappings is not None else "likely"


def _for_a_limit(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a note if RSS is mostly idle heap because GOMEMLIMIT sets a high goal.

    With GOGC off or very large, the goal of a heap that shrank stays at the limit, and the
    scavenger keeps everything below it: by design, and as long as the process runs.
    """
    idle, goal = main_idle_bytes(case, moment), moment.limited_goal
    if not idle or goal is None:
        return None
    at_most = "" if goal.live_is_marked else "at most "
    live = known(moment.path("metrics"), "B", {LIVE: goal.live_bytes})
    if not goal.live_is_marked:
        live = known(moment.path("memstats"), "B", {"HeapAlloc": goal.live_bytes})
    return CAUSE.finding(
        Severity.INFO,
        text(
            "{} of idle heap is kept for the heap goal of {} that GOMEMLIMIT sets; {}{} is live",
            Bytes(idle),
            Bytes(goal.goal_bytes),
            at_most,
            Bytes(goal.live_bytes),
        ),
        moment=moment.name,
        size=idle,
        evidence=(
            *known(moment.path("memstats"), "B", {"HeapIdle - HeapReleased": idle}),
            *goal_evidence(moment),
            *_limit_evidence(moment, goal),
            *live,
            *rss_evidence(moment),
        ),
        mechanism=f"{_KEPT}The scavenger does not release memory below the heap goal. With GOGC "
        "off or very large, GOMEMLIMIT sets that goal. So memory from a peak stays resident, "
        "whatever GCs run, until the heap is near the limit.",
        next_step=text(
            "Nothing to do unless other processes need the memory. If they do, set {} in addition "
            "to GOMEMLIMIT, or call debug.FreeOSMemory after the peak.",
            Command("GOGC=100"),
        ),
        confidence=_confidence(moment),
    )


def _limit_evidence(moment: MomentFacts, goal: LimitedGoal) -> tuple[Evidence, ...]:
    """Return the source of the limit: runtime/metrics, or the environment."""
    if goal.limit_is_in_force or moment.started is None:
        return known(moment.path("metrics"), "B", {GOMEMLIMIT: goal.limit_bytes})
    return known(moment.started.source, "B", {"GOMEMLIMIT": goal.limit_bytes})


def _unused(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a note if RSS is mostly idle heap that the program does not need.

    A past peak or a large GOGC set the goal, which stays until the next collection. A program that
    hardly allocates has a collection every two minutes, which can set the same goal again.
    """
    idle, totals = unused_idle_bytes(case, moment), case.facts.total_allocs
    if not idle:
        return None
    first, *_, last = totals
    allocated = (
        evidence
        for moment in case.facts.moments
        if moment.name in (first, last)
        for evidence in known(moment.path("memstats"), "B", {"TotalAlloc": totals[moment.name]})
    )
    return CAUSE.finding(
        Severity.INFO,
        text(
            "{}{} of idle heap is kept{}; the program allocates only {}",
            _up_to(moment),
            Bytes(idle),
            _for_a_goal(moment),
            Bytes(totals[last] - totals[first]),
        ),
        moment=moment.name,
        size=idle,
        evidence=(
            *heap_evidence(moment, "HeapInuse", "HeapIdle", "HeapReleased"),
            *goal_evidence(moment),
            *allocated,
            *rss_evidence(moment),
        ),
        mechanism=f"{_KEPT}Memory up to the heap goal is kept until the next cycle. The goal is "
        "GOGC percent above the live heap of the last collection. This program hardly allocates, "
        "so its next collection can be up to two minutes away.",
        next_step=text(
            "Lower the goal: {}. Or call debug.FreeOSMemory after the peak, and compare RSS.",
            Command("GOGC=50"),
        ),
        confidence=_confidence(moment),
    )


def _without_goal(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a note if RSS is mostly idle heap, with GOGC off and no limit."""
    idle, gogc = main_idle_bytes(case, moment), case.facts.settings.gogc
    if not idle or moment.goal is not None or gogc.value != math.inf:
        return None
    return CAUSE.finding(
        Severity.INFO,
        text("{}{} of idle heap is kept: GOGC is off", _up_to(moment), Bytes(idle)),
        moment=moment.name,
        size=idle,
        evidence=(
            *heap_evidence(moment, "HeapInuse", "HeapIdle", "HeapReleased"),
            Evidence(gogc.source, "GOGC", gogc.text, ""),
            *rss_evidence(moment),
        ),
        mechanism=f"{_KEPT}The scavenger's goal follows from the heap at the last GC, and only a "
        "GC changes it. With GOGC off and no GOMEMLIMIT no GC runs unless the program calls "
        "runtime.GC, so memory from a peak stays resident.",
        next_step=text(
            "Set {} in addition to GOGC=off, or call debug.FreeOSMemory after the peak, and "
            "compare RSS.",
            Command("GOMEMLIMIT"),
        ),
        confidence=_confidence(moment),
    )


def _for_a_goal(moment: MomentFacts) -> Text:
    """Name the heap goal; empty with GOGC=off and no limit, when no heap can reach the goal."""
    goal = moment.goal
    return Text() if goal is None else text(" for a heap goal of {}", Bytes(goal.size_bytes))


_WITHOUT_SCAVENGER = (
    f"{_KEPT}The heap can grow to NextGC before the next GC; this finding counts only idle "
    "heap beyond NextGC. {} has no background scavenger: the runtime releases a span that has been "
    "idle for five minutes, or when the program calls debug.FreeOSMemory."
)
_MOVE_ON = (
    "Move to Go 1.16 or later, which releases idle heap in the background. Or call "
    "debug.FreeOSMemory after the heap has shrunk, and compare RSS."
)
