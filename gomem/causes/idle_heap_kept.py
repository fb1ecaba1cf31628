"""Heap that the program no longer uses and the runtime keeps, beyond what its pacing asks for.

From Go 1.13 on the runtime keeps free heap up to the scavenger's goal, about 1.1 × the heap goal,
or less under a GOMEMLIMIT, so that it need not ask the kernel again at once; that much is no
finding. What lies above it should go back within seconds of the second collection. Before 1.13
nothing has a goal: what lies above NextGC, up to which the heap is filled again, waits for its five
idle minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.scavenger import has_scavenger
from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.causes.answers import Answers, MomentFacts
    from gomem.releases import GoVersion


def find(answers: Answers) -> list[Finding]:
    """One finding for each moment whose idle heap is kept beyond the goal and resident."""
    limits = answers.thresholds
    return [
        _finding(moment, kept, answers.go_version)
        for moment in answers.moments
        if (kept := kept_bytes(moment)) >= limits.notable(limits.idle_heap_bytes, moment.rss_bytes)
    ]


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
    rule=find,
    past="idle heap that stayed resident was",
)


def kept_bytes(moment: MomentFacts) -> int:
    """Idle heap above the goal that is resident; 0 if that cannot be told.

    Up to Go 1.12 a fresh arena counts as idle though nothing in it was ever touched; so what the
    ledger shows as untouched is taken off.
    """
    if moment.heap is None or moment.ledger is None or pd.isna(moment.heap["excess_bytes"]):
        return 0
    resident_idle = moment.ledger.part("heap_idle") + moment.ledger.part("heap_untouched")
    return max(0, min(int(moment.heap["excess_bytes"]), resident_idle))


def _finding(moment: MomentFacts, kept: int, version: GoVersion) -> Finding:
    assert moment.heap is not None
    heap, memstats = moment.heap, moment.path("memstats")
    evidence = [
        Evidence(memstats, name, int(heap[name]), "B")
        for name in ("HeapIdle", "HeapReleased", "HeapInuse", "NextGC")
    ]
    evidence += moment.rss_evidence
    for name, field in _GOALS.items():
        if pd.notna(heap[name]):
            evidence.append(Evidence("scavenger", field, int(heap[name]), "B"))
    old = not has_scavenger(version)
    return CAUSE.finding(
        Severity.WARNING,
        f"{format_bytes(kept)} of heap is idle and still resident: the heap in use is "
        f"{format_bytes(int(heap['HeapInuse']))}, RSS is {format_bytes(moment.rss_bytes)}",
        moment=moment.name,
        size=kept,
        evidence=evidence,
        mechanism=_without_scavenger(version) if old else "",
        next_step=_MOVE_ON if old else "",
        confidence=_confidence(moment),
    )


_GOALS = {"goal_bytes": "goal", "limit_goal_bytes": "goal that GOMEMLIMIT sets"}


def _without_scavenger(version: GoVersion) -> str:
    return (
        f"{_KEPT}Up to NextGC the heap is filled again before the next collection; this is what "
        f"lies above that. {version} has no scavenger with a goal: it gives idle spans back only "
        "after they have lain idle for five minutes, or when the program calls debug.FreeOSMemory."
    )


def _confidence(moment: MomentFacts) -> str:
    """What is idle by MemStats may have gone back before smaps was read."""
    if moment.skew.crosses_a_collection:
        return "possible"
    return "certain" if moment.mappings is not None else "likely"


_MOVE_ON = (
    "Call debug.FreeOSMemory after the drop and compare, or move to Go 1.16 or later, whose "
    "scavenger does it in the background."
)
