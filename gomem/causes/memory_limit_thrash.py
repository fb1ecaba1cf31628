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
from gomem.causes.collector_answers import counted_cost, counted_evidence, every
from gomem.causes.finding import Evidence, Finding, Lack, Severity, what_is_known
from gomem.units import format_bytes, format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.counters import CollectorCounters
    from gomem.causes.answers import Answers
    from gomem.causes.collector_answers import CollectorAnswers
    from gomem.causes.thresholds import Thresholds

LIMIT = "limit"


def find(answers: Answers) -> list[Finding]:
    """One finding for the whole log, if collections that a limit drives cost much.

    Without a log the last goal that is known and the process's own counters say it; where nothing
    says whose goals they are, how little is allocated from one collection to the next.
    """
    facts, limits = answers.gc, answers.thresholds
    if facts is None:
        return _by_room(answers) or _by_counters(answers)
    if not _cramped(facts, limits) or not _enough(facts, limits):
        return []
    return [_finding(facts, limits)]


def _by_counters(answers: Answers) -> list[Finding]:
    counters, moment, limits = answers.counters, answers.limited_moment, answers.thresholds
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


def _by_room(answers: Answers) -> list[Finding]:
    """GOGC leaves so little only where somebody set it below 5.

    Where the runtime's limiter was on as well, which wakes when collecting takes half of the CPU,
    that is unlikely.
    """
    counters = answers.counters
    if counters is None or not answers.limit_leaves_no_room:
        return []
    goal, live, cpu = counters.goal_bytes or 0, counters.live_bytes or 0.0, counters.cpu_fraction
    limited = counters.limiter_cycle is not None
    held = ", and the runtime's limiter held collecting to half of the CPU" if limited else ""
    cost = "" if cpu is None else f"; {counted_cost(counters)}"
    critical = (cpu or 0.0) >= answers.thresholds.critical_marking_fraction
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


def lack(answers: Answers) -> Lack | None:
    """Collections that a limit drives, but too few of them, and too cheap in all."""
    facts, limits = answers.gc, answers.thresholds
    if facts is None or not _cramped(facts, limits) or _enough(facts, limits):
        return None
    limited = facts.triggers.of(LIMIT)
    cycles, cpu = int(limited["cycles"]), float(limited["marking_cpu_seconds"])
    return Lack(
        CAUSE.code,
        seen="a memory limit leaves the heap next to no room",
        had=f"in {format_count(cycles)} collections, which marked for {format_seconds(cpu)}",
        needed=f"{format_count(limits.enough_cycles)} such collections, or "
        f"{format_seconds(limits.enough_cpu_seconds)} of marking",
        next_step="Let the log run on under load: GODEBUG=gctrace=1.",
        evidence=(
            Evidence(facts.path, "limit-driven cycles", cycles, "count"),
            Evidence(facts.path, "marking_cpu_seconds", cpu, "s"),
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
)


def _cramped(facts: CollectorAnswers, limits: Thresholds) -> bool:
    """Whether collections that a limit drives cost much, or have no room and follow one another."""
    limited = facts.triggers.of(LIMIT)
    cpu, interval = limited["marking_cpu_fraction"], limited["interval_p50_seconds"]
    if math.isnan(cpu):
        return False
    no_room = limited["room_p50_fraction"] <= limits.limit_room_fraction
    crammed = no_room and limits.are_frequent(interval)
    return bool(cpu >= limits.costly_marking_fraction(interval) or crammed)


def _enough(facts: CollectorAnswers, limits: Thresholds) -> bool:
    limited = facts.triggers.of(LIMIT)
    return bool(
        limited["cycles"] >= limits.enough_cycles
        or limited["marking_cpu_seconds"] >= limits.enough_cpu_seconds
    )


def _finding(facts: CollectorAnswers, limits: Thresholds) -> Finding:
    limited = facts.triggers.of(LIMIT)
    cycles = int(limited["cycles"])
    live, goal = int(limited["heap_live_p50_bytes"]), int(limited["heap_goal_p50_bytes"])
    cpu, interval = float(limited["marking_cpu_fraction"]), float(limited["interval_p50_seconds"])
    critical = cpu >= limits.critical_marking_fraction
    limit = facts.memory_limit_bytes
    of_limit = "" if limit is None else f", GOMEMLIMIT is {format_bytes(limit)}"
    return CAUSE.finding(
        Severity.CRITICAL if critical else Severity.WARNING,
        f"a memory limit drives {format_count(cycles)} collections, one "
        f"{every(interval)}, and marking takes {format_fraction(cpu)} of the CPU: "
        f"{format_bytes(live)} is live, the goal is {format_bytes(goal)}{of_limit}",
        size=live,
        cpu_fraction=cpu,
        evidence=(
            Evidence(facts.path, "limit-driven cycles", cycles, "count"),
            Evidence(facts.path, "heap_live_p50_bytes", live, "B"),
            Evidence(facts.path, "heap_goal_p50_bytes", goal, "B"),
            Evidence(facts.path, "interval_p50_seconds", interval, "s"),
            Evidence(facts.path, "marking_cpu_fraction", cpu, "fraction"),
            Evidence(facts.path, "goals that no GOGC makes", facts.triggers.beyond_any, "count"),
            Evidence(
                facts.path, "GOGC known from", str(facts.triggers.gogc["known_from"].iloc[0]), ""
            ),
        ),
        confidence="certain" if facts.triggers.gogc_is_known or limit is not None else "likely",
    )
