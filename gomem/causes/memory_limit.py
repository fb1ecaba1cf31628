"""A check shared by several causes: does a memory limit set the heap goals?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.releases import Fact

if TYPE_CHECKING:
    from gomem.causes.case import Case


def limit_decides(case: Case) -> bool:
    """Return whether a memory limit set most goals in the log, or else the goal of a snapshot."""
    log = case.facts.collector
    if log is None:
        return case.facts.has_limited_goal
    limited = log.triggers.of("limit")["cycles"]
    return bool(limited > case.thresholds.deciding_fraction * log.cost.cycles)


def limit_exists(case: Case) -> bool:
    """Return whether the release can have GOMEMLIMIT; if not, no advice mentions GOMEMLIMIT."""
    return case.facts.go_version.possibly(Fact.MEMORY_LIMIT)


def limit_may_decide(case: Case) -> bool:
    """Return whether goals leave so little room that an unknown memory limit could set them."""
    log, counters = case.facts.collector, case.facts.counters
    small = case.thresholds.small_room_fraction
    if log is not None:
        return log.limit_is_possible and log.pacing.usual.headroom_fraction < small
    room = None if counters is None else counters.room_fraction
    return room is not None and room < small and case.facts.limit_is_possible


def limit_leaves_no_room(case: Case) -> bool:
    """Return whether the program allocates little between costly or frequent collections.

    This uses only the counters, and only if a limit is possible: a GOGC below 5 would look the
    same.
    """
    counters, limits = case.facts.counters, case.thresholds
    if case.facts.collector is not None or counters is None or not limit_may_decide(case):
        return False
    assert counters.room_fraction is not None  # known, because the limit could decide
    if counters.cycles < limits.enough_cycles:
        return False
    many = limits.are_frequent(counters.interval_seconds)
    marking = counters.least_marking_fraction  # without pauses, which a limit does not cause
    is_dear = (counters.marking_fraction if marking is None else marking) >= limits.marking_fraction
    cost = many or is_dear or counters.limiter_cycle is not None
    return cost and counters.room_fraction <= limits.limit_room_fraction
