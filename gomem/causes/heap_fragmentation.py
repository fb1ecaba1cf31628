"""Fragmentation: spans in use with few objects.

Go does not move objects. A span of 8 KiB stays in use as long as one object in the span is live,
and each span serves only its own size class. After a peak, scattered survivors keep whole spans in
use. The free slots between them count in HeapInuse but not in HeapAlloc.
"""

from __future__ import annotations

import math

from gomem.analysis.memory.groups import FREE
from gomem.analysis.memory.heap_slots import LEAST_GOAL_BYTES, slots_beyond
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import limit_decides, limit_may_decide
from gomem.causes.commands import TAKE_HEAP_PROFILE, top_of_last
from gomem.causes.evidence import heap_evidence, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.facts.moment import LIVE, MomentFacts
from gomem.text import Bytes, Text, text


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot with many free slots.

    Free slots beyond the heap goal are a warning. Where the goal says less, because a limit may set
    it or there is none, they are at most a note. A heap in use within its goal has just been swept.
    """
    return case.at_moments(_at)


_REMEDY = (
    "See which objects survive: {}. Allocate long-lived objects together, copy them after the "
    "peak, or keep them in one large slice. Nothing to do if the program will allocate as many "
    "objects of the same size class again: new objects reuse the free slots."
)
CAUSE = Cause(
    code="heap-fragmentation",
    mechanism="Go does not move objects: a span stays in use while a single object in the span is "
    "live, and the free slots of a span serve only objects of its size class. Scattered survivors "
    "of a peak keep their spans in use. Neither the scavenger nor debug.FreeOSMemory can release "
    "those spans.",
    remedy=text(_REMEDY, TAKE_HEAP_PROFILE),
    references=("runtime.MemStats: HeapInuse, HeapAlloc, NextGC",),
    bears_on=("scavenger", "allocations"),
    rule=find,
    claims=frozenset({FREE}),
    past="free slots",
)


def free_slots(moment: MomentFacts) -> int:
    """Return bytes of spans in use that hold no object; 0 if unknown."""
    in_use, allocated = moment.told("HeapInuse"), moment.told("HeapAlloc")
    if in_use is None or allocated is None or moment.skew.crosses_a_collection:
        return 0
    return in_use - allocated


def excess_slots(moment: MomentFacts, case: Case) -> int:
    """Return bytes of free slots that cannot be refilled before the next collection; 0 if unknown.

    Free slots alone are not fragmentation: right after a sweep, half of the heap can be free slots,
    and allocation fills them up to NextGC. HeapInuse beyond that goal is not needed even just
    before the next collection. GOMEMLIMIT counts free slots, which reduces a goal that GOMEMLIMIT
    sets; the rule then uses the goal that GOGC alone would set. Without NextGC the goal is at most
    what GOGC makes of HeapAlloc, which is never below what was live at the last GC.
    """
    goal: float | None = moment.told("NextGC")
    goal = _most_goal(moment, case) if goal is None else goal
    in_use, slots = moment.told("HeapInuse"), free_slots(moment)
    if not goal or not slots or in_use is None:
        return 0
    if moment.limited_goal is not None:
        goal = moment.limited_goal.by_gogc_bytes
    elif LIVE not in moment.metrics and (limit_decides(case) or limit_may_decide(case)):
        return 0
    return slots_beyond(in_use, in_use - slots, goal)


def _most_goal(moment: MomentFacts, case: Case) -> float | None:
    """Return the largest goal that the last GC can have set; None if GOGC or a field is unknown."""
    gogc, allocated = float(case.facts.settings.gogc.value), moment.told("HeapAlloc")
    if not 0 < gogc < math.inf or not allocated or not moment.told("NumGC"):
        return None
    stacks, rest = moment.told("StackInuse"), ("Sys", "HeapInuse", "HeapIdle")
    sys, *heap = map(moment.told, rest)
    known = [size for size in heap if size is not None]
    if stacks is None and (sys is None or len(known) < len(heap)):
        return None
    scanned = stacks if stacks is not None else max(0, (sys or 0) - sum(known))
    return max(LEAST_GOAL_BYTES * gogc, allocated + (allocated + scanned) * gogc)


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    limits, slots, excess = case.thresholds, free_slots(moment), excess_slots(moment, case)
    in_use, goal = moment.told("HeapInuse") or 0, moment.told("NextGC")
    least = limits.notable(limits.fragmentation_bytes, moment.held_bytes or in_use)
    if slots < least:
        return None
    is_beyond, what = excess >= least, "The heap is fragmented"
    if not is_beyond:
        # A sweep leaves such slots after each GC, if the whole heap in use fits into the goal.
        if goal is None or slots < limits.fragmentation_inuse_fraction * in_use or in_use <= goal:
            return None
        what = "The heap has free slots that new objects fill before the next GC"
    # A span in use is not always fully resident: the runtime does not touch a fresh span without
    # pointers, so unused slots in that span take no memory.
    arenas, resident = moment.arenas_rss_bytes, Text()
    if arenas is not None and arenas < slots:
        resident = text(", at most {} resident", Bytes(arenas))
    words = "{}: {} of HeapInuse ({}) is free slots{}"
    return CAUSE.finding(
        Severity.WARNING if is_beyond else Severity.INFO,
        text(words, what, Bytes(slots), Bytes(in_use), resident),
        moment=moment.name,
        size=excess if is_beyond else slots,
        evidence=(
            *heap_evidence(moment, "HeapInuse", "HeapAlloc", "NextGC"),
            *rss_evidence(moment),
        ),
        next_step=text(_REMEDY, top_of_last(case, "--sample-type inuse_objects")),
        confidence="likely" if is_beyond and goal else "possible",
    )
