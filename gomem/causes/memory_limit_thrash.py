"""The live heap is so near the memory limit that the collector runs without a break.

GOMEMLIMIT (Go 1.19) lowers the heap goal, at worst to the live heap itself. Then every allocation
is one too many: collections follow one another, free next to nothing, and the limit is exceeded all
the same.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.analysis.collector.counters import LIMITER
from gomem.causes.cause import Cause
from gomem.causes.collecting import counted_cost, counted_evidence, every
from gomem.causes.finding import Evidence, Finding, Lack, Severity, what_is_known
from gomem.causes.memory_limit import limit_leaves_no_room
from gomem.units import format_bytes, format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.counters import CollectorCounters
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts

LIMIT = "limit"


def find(case: Case) -> list[Finding]:
    """One finding for the whole log, if collections that a limit drives cost much.

    Without a log the last goal that is known and the process's own counters say it; where nothing
    says whose goals they are, how little is allocated from one collection to the next.
    """
    log, limits = case.facts.collector, case.thresholds
    if log is None:
        return _by_room(case) or _by_counters(case)
    if not _cramped(log, limits) or not _enough(log, limits):
        return []
    return [_finding(log, limits)]


def _by_counters(case: Case) -> list[Finding]:
    counters, moment, limits = case.facts.counters, case.facts.limited_moment, case.thresholds
    if counters is None or counters.cpu_fraction is None or moment is None:
        return []
    goal = moment.limited_goal
    assert goal is not None  # or it would be no limited moment
    cpu, interval = counters.cpu_fraction, counters.interval_seconds
    least = limits.costly_marking_fraction(interval)
    no_room = limits.are_frequent(interval) and goal.room_fraction <= limits.limit_room_fraction
    if counters.cycles < limits.enough_cycles or (cpu < least and not no_room):
        return []
    return [
        CAUSE.finding(
            Severity.CRITICAL if cpu >= limits.critical_marking_fraction else Severity.WARNING,
            f"a memory limit drives the collections: {format_bytes(goal.live_bytes)} is live, the "
            f"goal is {format_bytes(goal.goal_bytes)}, GOMEMLIMIT is "
            f"{format_bytes(goal.limit_bytes)}, and {counted_cost(counters)}",
            moment=moment.name,
            size=goal.live_bytes,
            cpu_fraction=cpu,
            evidence=(
                Evidence(moment.path("metrics"), "/gc/gomemlimit:bytes", goal.limit_bytes, "B"),
                Evidence(moment.path("memstats"), "NextGC", goal.goal_bytes, "B"),
                Evidence(moment.path("metrics"), "/gc/heap/live:bytes", goal.live_bytes, "B"),
                *counted_evidence(counters),
            ),
            confidence="likely",
        )
    ]


def _by_room(case: Case) -> list[Finding]:
    """GOGC leaves so little only where somebody set it below 5.

    Where the runtime's limiter was on as well, which wakes when collecting takes half of the CPU,
    that is unlikely.
    """
    counters = case.facts.counters
    if counters is None or not limit_leaves_no_room(case):
        return []
    goal, live, cpu = counters.goal_bytes or 0, counters.live_bytes or 0.0, counters.cpu_fraction
    limited = counters.limiter_cycle is not None
    held = ", and the runtime's limiter held collecting to half of the CPU" if limited else ""
    cost = "" if cpu is None else f"; {counted_cost(counters)}"
    critical = (cpu or 0.0) >= case.thresholds.critical_marking_fraction
    return [
        CAUSE.finding(
            Severity.CRITICAL if critical else Severity.WARNING,
            f"goals leave the heap next to no room, as a memory limit does: "
            f"{format_bytes(goal - live)} is allocated from one collection to the next, beside "
            f"{format_bytes(live)} that is live{held}{cost}",
            size=round(live),
            cpu_fraction=cpu,
            evidence=(*_room_evidence(counters), *counted_evidence(counters)),
            confidence="likely" if limited else "possible",
        )
    ]


def _room_evidence(counters: CollectorCounters) -> tuple[Evidence, ...]:
    last = counters.last
    return what_is_known(
        (last.path, "NextGC, the lowest", counters.goal_bytes, "B"),
        (last.path, "TotalAlloc, last less first", counters.allocated_bytes, "B"),
        (last.metrics_path, LIMITER, counters.limiter_cycle, "count"),
    )


def lack(case: Case) -> Lack | None:
    """Collections that a limit drives, but too few of them, and too cheap in all."""
    log, limits = case.facts.collector, case.thresholds
    if log is None or not _cramped(log, limits) or _enough(log, limits):
        return None
    limited = log.triggers.of(LIMIT)
    cycles, cpu = int(limited["cycles"]), float(limited["marking_cpu_seconds"])
    return Lack(
        CAUSE.code,
        seen="a memory limit leaves the heap next to no room",
        had=f"in {format_count(cycles)} collections, which marked for {format_seconds(cpu)}",
        needed=f"{format_count(limits.enough_cycles)} such collections, or "
        f"{format_seconds(limits.enough_cpu_seconds)} of marking",
        next_step="Let the log run on under load: GODEBUG=gctrace=1.",
        evidence=(
            Evidence(log.path, "limit-driven cycles", cycles, "count"),
            Evidence(log.path, "marking_cpu_seconds", cpu, "s"),
        ),
    )


CAUSE = Cause(
    code="memory-limit-thrash",
    mechanism="With GOMEMLIMIT the goal is what the limit leaves after everything else Go has "
    "mapped, and never below the live heap. When the live heap comes near the limit, there is no "
    "room left to allocate in: one collection ends, and the next begins. Since Go 1.19 a limiter "
    "stops the collector at about half of the CPU, and then the limit is exceeded.",
    remedy="Raise GOMEMLIMIT (and the container's limit above it), or make the live heap smaller: "
    "take an inuse_space profile. A limit well above the live heap costs nothing: leave room for a "
    "collection's worth of allocation.",
    references=("golang.org/doc/gc-guide#Memory_limit", "golang/go#48409", "golang/go#58106"),
    bears_on=("collector", "limits"),
    rule=find,
    lack=lack,
    needed_moments=2,
)


def _cramped(log: CollectorFacts, limits: Thresholds) -> bool:
    """Whether collections that a limit drives cost much, or have no room and follow one another."""
    limited = log.triggers.of(LIMIT)
    cpu, interval = limited["marking_cpu_fraction"], limited["interval_p50_seconds"]
    if math.isnan(cpu):
        return False
    no_room = limited["room_p50_fraction"] <= limits.limit_room_fraction
    crammed = no_room and limits.are_frequent(interval)
    return bool(cpu >= limits.costly_marking_fraction(interval) or crammed)


def _enough(log: CollectorFacts, limits: Thresholds) -> bool:
    limited = log.triggers.of(LIMIT)
    return bool(
        limited["cycles"] >= limits.enough_cycles
        or limited["marking_cpu_seconds"] >= limits.enough_cpu_seconds
    )


def _finding(log: CollectorFacts, limits: Thresholds) -> Finding:
    limited = log.triggers.of(LIMIT)
    cycles = int(limited["cycles"])
    live, goal = int(limited["heap_live_p50_bytes"]), int(limited["heap_goal_p50_bytes"])
    cpu, interval = float(limited["marking_cpu_fraction"]), float(limited["interval_p50_seconds"])
    critical = cpu >= limits.critical_marking_fraction
    limit = log.memory_limit_bytes
    of_limit = "" if limit is None else f", GOMEMLIMIT is {format_bytes(limit)}"
    return CAUSE.finding(
        Severity.CRITICAL if critical else Severity.WARNING,
        f"a memory limit drives {format_count(cycles)} collections, one "
        f"{every(interval)}, and marking takes {format_fraction(cpu)} of the CPU: "
        f"{format_bytes(live)} is live, the goal is {format_bytes(goal)}{of_limit}",
        size=live,
        cpu_fraction=cpu,
        evidence=(
            Evidence(log.path, "limit-driven cycles", cycles, "count"),
            Evidence(log.path, "heap_live_p50_bytes", live, "B"),
            Evidence(log.path, "heap_goal_p50_bytes", goal, "B"),
            Evidence(log.path, "interval_p50_seconds", interval, "s"),
            Evidence(log.path, "marking_cpu_fraction", cpu, "fraction"),
            Evidence(log.path, "goals that no GOGC makes", log.triggers.beyond_any, "count"),
            Evidence(log.path, "GOGC known from", str(log.triggers.gogc["known_from"].iloc[0]), ""),
        ),
        confidence="certain" if log.triggers.gogc_is_known or limit is not None else "likely",
    )
