"""How much heap does the scavenger let Go retain, by release?

The goals come from the runtime's `gcPaceScavenger` (mgcscavenge.go). The runtime computes the goals
when a collection ends, and keeps them until the next collection ends. The runtime compares a goal
with `retained = HeapSys - HeapReleased` or, for the memory limit, with `mappedReady = Sys -
HeapReleased`:

| releases | goal |
|---|---|
| to 1.12 | none: every 2.5 minutes, spans that were idle for five minutes are released |
| 1.13.0, 1.13.1 | 1.1 × NextGC |
| 1.13.2 on | 1.1 × (HeapInuse at the last GC) × (NextGC / previous NextGC) |
| 1.19 to 1.21 | and 95 × GOMEMLIMIT: by a bug (golang/go#62449), so never reached |
| 1.22 on | and 0.95 × GOMEMLIMIT |

Since 1.19, an allocation that would push mappedReady above GOMEMLIMIT first releases memory.
HeapInuse at the last GC is its value at the end of marking, before sweeping: the peak of the cycle.
So a steady heap settles near 1.1 × NextGC.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from typing import Literal

from gomem.releases import Fact, GoVersion

EXTRA_PART = 10  # 1/10 more than needed: the runtime's retainExtraPercent
RETAINED_PER_GOAL = 1 + 1 / EXTRA_PART
MAPPED_PER_LIMIT = 0.95  # the runtime's reduceExtraPercent
BY_PEAK = "1.1 × (HeapInuse at the last GC) × (NextGC / previous NextGC)"
PAGE_BYTES = 4096
FIRST_PACED_CYCLE = 2  # before it, there is no goal of an earlier collection
Applies = Literal["yes", "not yet", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A rule for the release of heap.

    Attributes:
        name: `five-minutes`, `paced-by-goal`, `paced`, `limit-background` or `limit-allocation`.
        formula: How the goal is computed, as text.
        applies: Whether the Go release has the rule; for a limit, also whether it is set. `not yet`
            if the rule needs a second GC, which has not run.
        note: What else to know about the rule.
    """

    name: str
    formula: str
    applies: Applies
    note: str = ""


def paced_goal_bytes(
    peak_inuse_bytes: float, goal_bytes: float, last_goal_bytes: float, page: int = PAGE_BYTES
) -> int:
    """Return the retained heap at which the background scavenger stops, from Go 1.13.2 on.

    The goal is computed from HeapInuse at the end of marking (before sweeping), NextGC after the
    collection, NextGC before the collection (which must be positive), and the kernel's page size.
    """
    kept = int(peak_inuse_bytes * (goal_bytes / last_goal_bytes))
    kept += kept // EXTRA_PART
    return -(-kept // page) * page


def steady_goal_bytes(goal_bytes: float) -> int:
    """Return the goal for a steady heap, whose HeapInuse peaks at NextGC."""
    return round(goal_bytes * RETAINED_PER_GOAL)


def limit_goal_bytes(memory_limit_bytes: float) -> int:
    """Return the mapped memory (Sys - HeapReleased) at which the background scavenger stops."""
    return round(memory_limit_bytes * MAPPED_PER_LIMIT)


def goals_of(
    version: GoVersion, memory_limit_bytes: float | None, cycles: int | None = None
) -> tuple[Goal, ...]:
    """Return the rules of all releases; each says whether this release has the rule.

    `memory_limit_bytes` is infinite if GOMEMLIMIT is unset, and None if unknown. `cycles` is NumGC
    at the end; None if unknown.
    """
    old = _applies(version, Fact.IDLE_SPANS_AGE)
    by_next_gc = _applies(version, Fact.GOAL_BY_NEXT_GC)
    by_peak = _applies(version, Fact.GOAL_BY_PEAK)
    if by_peak == "yes" and cycles is not None and cycles < FIRST_PACED_CYCLE:
        by_peak = "not yet"
    in_time = _applies(version, Fact.LIMIT_GOAL)
    at_once = _applies(version, Fact.MEMORY_LIMIT)
    if memory_limit_bytes is None:
        in_time, at_once = (_not_known(answer) for answer in (in_time, at_once))
    elif isinf(memory_limit_bytes):
        in_time = at_once = "no"
    missed = Fact.LIMIT_GOAL_MISSED
    return (
        Goal(
            "five-minutes", "release spans that are idle for 300 s, checking every 150 s", old,
            "There is no target size. Reusing a span restarts its 300 s.",
        ),
        Goal("paced-by-goal", "release down to 1.1 × NextGC", by_next_gc),
        Goal(
            "paced",
            f"release down to {BY_PEAK}",
            by_peak, "About 1.1 × NextGC in a steady state. There is no goal before the second GC.",
        ),
        Goal(
            "limit-background", "release until Sys - HeapReleased is 0.95 × GOMEMLIMIT", in_time,
            missed.sentence if version.possibly(missed) else "",
        ),
        Goal(
            "limit-allocation", "keep Sys - HeapReleased at or below GOMEMLIMIT", at_once,
            "An allocation that would exceed it releases memory first.",
        ),
    )  # fmt: skip


def _applies(version: GoVersion, fact: Fact) -> Applies:
    if not version.possibly(fact):
        return "no"
    return "yes" if version.certainly(fact) else "unknown"


def _not_known(applies: Applies) -> Applies:
    return "no" if applies == "no" else "unknown"
