"""Checks shared by several causes: what grows, what sets the heap goal, which heap is unused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import ROUNDING_ERROR
from gomem.analysis.memory.live_heap import DEFAULT_GOGC, LOG, MARKS, PROFILES
from gomem.analysis.series.level import LATE, Level, Rise
from gomem.causes.scores import bounded_log, probability_of
from gomem.releases import Fact
from gomem.text import Count
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.memory.live_heap import LiveHeap
    from gomem.causes.cause import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts
    from gomem.facts.settings import Setting

GROWTH = "heap-growth"


def growth_features(case: Case) -> dict[str, float] | None:
    """Return the inputs of the score; None if the live heap has not risen by enough."""
    live, thresholds = case.facts.live_heap, case.thresholds
    rise = None if live is None else live.rise
    if live is None or rise is None or not matters(rise, thresholds):
        return None
    if rise.readings < thresholds.growth_readings and not _is_large(rise, thresholds):
        return None
    return {
        "linear_share": rise.linear_share,
        "beyond_ceiling": rise.beyond_ceiling,
        "coverage": bounded_log(rise.coverage),
        "seconds": bounded_log(rise.seconds),
        "readings": bounded_log(min(rise.readings, thresholds.growth_many_readings)),
        "kinds": float(len(live.agreeing)),
    }


def _is_large(rise: Rise, thresholds: Thresholds) -> bool:
    """Return whether a rise is large enough to count with only two readings."""
    is_many_times = rise.last >= thresholds.growth_few_ratio * rise.first
    return is_many_times and rise.grown >= thresholds.growth_few_bytes


def matters(rise: Rise | None, thresholds: Thresholds) -> bool:
    """Return whether a level has risen by enough for the score, and by more than its error."""
    if rise is None or rise.slope <= 0:  # a single step: most pairs of readings do not rise
        return False
    least = max(thresholds.growth_bytes, thresholds.growth_fraction * rise.last, rise.error)
    return rise.grown >= least


def is_brief(live: LiveHeap, rise: Rise, case: Case) -> bool:
    """Return whether a rise was watched for so few seconds that work in progress looks the same."""
    is_timed = live.level.source != MARKS or any(m.time for m in case.facts.moments)
    return is_timed and rise.seconds < case.thresholds.growth_watch_seconds


def has_stopped(case: Case) -> bool:
    """Return whether many readings of RSS show that the rise between a few profiles is over.

    Two profiles show a step: it can have taken place at any time between them. If RSS rose by far
    less than a steady rise would have added to it since, or fell, the step is over.
    """
    live, thresholds, level = case.facts.live_heap, case.thresholds, case.facts.rss_level
    rise = None if live is None else live.rise
    if rise is None or rise.readings >= thresholds.growth_readings:
        return False
    if any(moment.time is None for moment in case.facts.of_last_process if moment.rss_bytes):
        return False
    since = level.since_start
    is_watched = since.span_seconds >= thresholds.most_share * rise.seconds
    if since.rise is None or len(since) < thresholds.growth_many_readings or not is_watched:
        return False
    late = since.rise.late_share * max(0.0, since.rise.grown)
    return late < thresholds.growth_stopped_share * rise.rate * LATE * since.span_seconds


def printed_bytes(size: float, error: float) -> int:
    """Return a reading as the GC log prints it, in whole MiB rounded down; others as they are.

    `error` is the reading's: half of what the log rounds to, if it is of the log.
    """
    return round(size) // MIB * MIB if error == ROUNDING_ERROR else round(size)


def read_from(level: Level, case: Case) -> str:
    """Return the source of the live heap: the log, or the number of profiles or snapshots."""
    log, snapshots = case.facts.collector, len(case.facts.moments)
    if level.source == PROFILES:
        return str(Count(len(case.facts.profiles.paths), "heap profile"))
    if level.source == LOG and log is not None:
        return log.path
    counted = str(Count(snapshots, "snapshot"))
    return counted if log is None or len(level) <= snapshots else f"{counted}, {log.path}"


def probability(case: Case) -> float:
    """Return the probability that the live heap grows; 0 if the rise is too small to score."""
    return probability_of(GROWTH, growth_features(case))


def grows(case: Case) -> bool:
    """Return whether the live heap grows to the end, with at least `possible` confidence."""
    return probability(case) >= case.thresholds.possible_probability


def threads_pile_up(case: Case) -> bool:
    """Return whether the number of threads grows linearly to the end, by enough to matter."""
    rise, thresholds = case.facts.threads, case.thresholds
    if rise is None or rise.grown < thresholds.thread_growth:
        return False
    return rise.ratio >= thresholds.thread_growth_ratio and rise.goes_on


def finalizers_hold_up(case: Case) -> bool:
    """Return whether finalizers are too slow: the queue grows, or one finalizer is stuck."""
    running = case.facts.finalizing
    if running is None:
        return queue_grows(case)
    is_stuck = (running.wait_seconds or 0) >= case.thresholds.finalizer_seconds
    return is_stuck or grows(case) or queue_grows(case)


def queue_grows(case: Case) -> bool:
    """Return whether the number of queued finalizers in runtime/metrics rises to the end."""
    queue, thresholds = case.facts.finalizer_queue, case.thresholds
    return queue is not None and queue.grown >= thresholds.finalizer_growth and queue.goes_on


# Does a memory limit set the heap goals?


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
    is_open = case.facts.limit_is_possible or limit_reached(case) is not None
    return room is not None and room < small and is_open


def limit_reached(case: Case) -> float | None:
    """Return the GOMEMLIMIT that a file states and Go's memory has reached; None if it has not.

    Without a log, and by the last counters.
    """
    limit, counters = case.facts.settings.memory_limit, case.facts.counters
    if limit is None or counters is None or case.facts.collector is not None:
        return None
    whole, released = counters.last.count("Sys"), counters.last.count("HeapReleased")
    if whole is None or released is None or whole - released < float(limit.value):
        return None
    return float(limit.value)


def limit_looks_the_same(case: Case, gogc: Setting) -> bool:
    """Return whether goals from which a high GOGC is inferred can be those of a memory limit.

    Snapshots do not have the live heap of each goal, so they cannot decide.
    """
    log = case.facts.collector
    if not gogc.is_inferred or float(gogc.value) <= DEFAULT_GOGC:
        return False
    return case.facts.limit_is_possible and (log is None or log.limit_looks_the_same)


def limit_leaves_no_room(case: Case) -> bool:
    """Return whether the program allocates little between costly or frequent collections.

    This uses only the counters, and only if a limit is possible: a GOGC below 5 would look the
    same. At a limit that Go's memory has reached, a collection that is always due is enough.
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
    # Of a process that hardly uses the CPU, the GC cannot take much.
    used = counters.busy_cpus
    is_busy = counters.cpu_fraction is None and (used is None or used >= limits.marking_fraction)
    cost = many or is_dear or counters.limiter_cycle is not None
    is_busy = is_busy or limit_reached(case) is not None
    cost = cost or (is_busy and counters.is_always_collecting)
    return cost and counters.room_fraction <= limits.limit_room_fraction


# Idle heap that the program does not need: idle-heap-kept, not headroom


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
