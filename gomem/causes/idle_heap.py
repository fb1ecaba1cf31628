"""Idle heap that the program does not need: idle-heap-kept, not headroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts


def main_idle_bytes(case: Case, moment: MomentFacts) -> int:
    """Return the idle heap if it makes up most of a snapshot's RSS; otherwise, or if unknown, 0."""
    limits, rss, idle = case.thresholds, moment.rss_bytes, moment.idle_heap_bytes
    if rss is None or moment.heap is None:
        return 0
    least = max(limits.idle_by_goal_fraction * rss, limits.notable(limits.idle_heap_bytes, rss))
    return 0 if idle < least else idle


def unused_idle_bytes(case: Case, moment: MomentFacts) -> int:
    """Return the idle heap if it is most of RSS and the program does not need it; else 0.

    The idle heap is not needed if the program allocated little, relative to its size, from the
    first snapshot to the last. Returns 0 if the program allocated more, or if unknown.
    """
    idle, totals = main_idle_bytes(case, moment), list(case.facts.total_allocs.values())
    if not totals[1:]:
        return 0
    was_needed = totals[-1] - totals[0] > case.thresholds.idle_unused_fraction * idle
    return 0 if was_needed else idle
