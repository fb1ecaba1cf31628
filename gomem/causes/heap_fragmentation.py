"""Spans that hold few objects: memory in use that holds nothing.

Go does not move objects. A span of 8 KiB stays in use while one object in it lives, and serves
its own size class only. After a peak, survivors that lie scattered hold whole spans; the free
slots between them count as HeapInuse and not as HeapAlloc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import FREE
from gomem.causes.cause import Cause
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.memory_limit import limit_decides, limit_may_decide
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts

LIVE = "/gc/heap/live:bytes"


def find(case: Case) -> list[Finding]:
    """One finding for each moment with many free slots.

    A warning for those that no headroom explains. The others are a note at most: allocation of
    their size class would fill them.
    """
    limits, findings = case.thresholds, []
    for moment in case.facts.moments:
        least = limits.notable(limits.fragmentation_bytes, moment.held_bytes)
        excess, slots = excess_slots(moment, case), free_slots(moment)
        if excess >= least:
            findings.append(_finding(moment, excess, Severity.WARNING))
        elif slots >= least and moment.memstats is not None:
            share = slots / int(moment.memstats["HeapInuse"])
            if share >= limits.fragmentation_inuse_fraction:
                findings.append(_finding(moment, slots, Severity.INFO))
    return findings


CAUSE = Cause(
    code="heap-fragmentation",
    mechanism="Go does not move objects: a span stays in use while a single object in it lives, "
    "and its free slots serve only objects of that size class. Survivors of a peak that lie "
    "scattered hold their spans; the scavenger cannot give those back, and neither can "
    "FreeOSMemory.",
    remedy="Look for long-lived objects that are allocated amid short-lived ones of the same size "
    "(a heap profile's inuse_objects). Allocate them together, copy the survivors after the peak, "
    "or keep them in one large slice. New objects of that size fill the slots again.",
    references=("runtime.MemStats: HeapInuse, HeapAlloc, NextGC",),
    bears_on=("scavenger", "allocations"),
    rule=find,
    claims=frozenset({FREE}),
    past="free slots in the heap in use took",
)


def free_slots(moment: MomentFacts) -> int:
    """Bytes of spans in use that hold no object; 0 where it cannot be told."""
    if moment.memstats is None or moment.skew.crosses_a_collection:
        return 0
    return int(moment.memstats["HeapInuse"]) - int(moment.memstats["HeapAlloc"])


def excess_slots(moment: MomentFacts, case: Case) -> int:
    """Bytes of free slots in spans beyond what the pacer lets the heap fill.

    Free slots alone are no fragmentation: right after a sweep half of the heap may be free slots,
    and allocation fills them up to NextGC. What HeapInuse holds beyond that goal is not needed
    even just before the next collection. But a goal that GOMEMLIMIT makes has the free slots taken
    off already, for the limit counts them: there it is the goal that GOGC alone would make. 0 where
    it cannot be told.
    """
    if moment.memstats is None or moment.skew.crosses_a_collection:
        return 0
    if pd.isna(moment.memstats["NextGC"]) or int(moment.memstats["NextGC"]) == 0:
        return 0
    goal, limited = float(moment.memstats["NextGC"]), moment.limited_goal
    if limited is not None:
        goal = limited.by_gogc_bytes
    elif (limit_decides(case) or limit_may_decide(case)) and LIVE not in moment.metrics:
        return 0
    filled = max(int(moment.memstats["HeapAlloc"]), goal)
    return int(max(0.0, float(moment.memstats["HeapInuse"]) - filled))


def _finding(moment: MomentFacts, size: int, severity: Severity) -> Finding:
    assert moment.memstats is not None
    memstats, path = moment.memstats, moment.path("memstats")
    evidence = [
        Evidence(path, name, int(memstats[name]), "B")
        for name in ("HeapInuse", "HeapAlloc", "NextGC")
        if pd.notna(memstats[name])
    ]
    evidence += _sparsest_class(moment)
    evidence += rss_evidence(moment)
    return CAUSE.finding(
        severity,
        _title(moment, size),
        moment=moment.name,
        size=size,
        evidence=evidence,
        confidence="likely" if severity is Severity.WARNING else "possible",
    )


def _title(moment: MomentFacts, size: int) -> str:
    """All free slots, how many lie beyond the goal, and what bounds how many are resident.

    A span in use need not be resident whole: the runtime touches nothing of a fresh span without
    pointers, so slots in it that were never written take no memory.
    """
    assert moment.memstats is not None
    slots, arenas = free_slots(moment), moment.arenas_rss_bytes
    share = format_fraction(slots / int(moment.memstats["HeapInuse"]))
    beyond = f", {format_bytes(size)} of it beyond the heap goal" if size < slots else ""
    few = arenas is not None and arenas < slots
    resident = f"; at most {format_bytes(arenas)} of that is resident" if few else ""
    return (
        f"{format_bytes(slots)} of the heap in use is free slots{beyond}: {share} of its bytes "
        f"hold nothing{resident}"
    )


def _sparsest_class(moment: MomentFacts) -> list[Evidence]:
    """The size class of which most bytes were freed: there the free slots most likely are."""
    classes = moment.size_classes
    if classes is None or classes.empty:
        return []
    freed = classes["Size"] * classes["Frees"]
    if not freed.max():
        return []
    row = classes.loc[freed.idxmax()]
    live = int(row["Mallocs"] - row["Frees"])
    field = f"BySize {int(row['Size'])}: live of {int(row['Mallocs'])} objects"
    return [Evidence(moment.path("memstats"), field, live, "count")]
