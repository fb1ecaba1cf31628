"""The live heap is so near the memory limit that the collector runs without a break.

GOMEMLIMIT (Go 1.19) lowers the heap goal, at worst to the live heap itself. Then every allocation
is one too many: collections follow one another, free next to nothing, and the limit is exceeded all
the same. Without a log the last goal that is known and the process's own counters say it; where
nothing says whose goals they are, how little is allocated from one collection to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.collector.counters import LIMITER
from gomem.causes.cause import Cause
from gomem.causes.collecting import counted_cost, counted_evidence, every, too_few_collections
from gomem.causes.evidence import known
from gomem.causes.finding import Evidence, Finding, Lack, Severity
from gomem.causes.memory_limit import limit_leaves_no_room
from gomem.facts.moment import GOMEMLIMIT, LIVE
from gomem.units import format_bytes, format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts

LIMIT = "limit"


def find(case: Case) -> list[Finding]:
    """One finding of the whole capture, if collections that a limit drives cost much."""
    log, limits = case.facts.collector, case.thresholds
    if log is None:
        return _by_room(case) or _by_counters(case)
    limited = log.triggers.of(LIMIT)
    cramped = _is_cramped(limited, limits) and _is_enough(limited, limits)
    return [_by_log(case, log)] if cramped else []


def lack(case: Case) -> Lack | None:
    """Collections that a limit drives, but too few of them, and too cheap in all."""
    log, limits = case.facts.collector, case.thresholds
    limited = {} if log is None else log.triggers.of(LIMIT)
    if log is None or not _is_cramped(limited, limits) or _is_enough(limited, limits):
        return None
    cycles, cpu = int(limited["cycles"]), float(limited["marking_cpu_seconds"])
    return too_few_collections(
        case,
        CAUSE.code,
        "a memory limit leaves the heap next to no room",
        f"in {format_count(cycles)} collections, which marked for {format_seconds(cpu)}",
        (
            *known(log.path, "count", {"limit-driven cycles": cycles}),
            *known(log.path, "s", {"marking_cpu_seconds": cpu}),
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


def _is_cramped(limited: Mapping[str, float], limits: Thresholds) -> bool:
    """Whether collections that a limit drives cost much, or have no room and follow one another.

    NaN, where there are none, is neither.
    """
    interval = limited["interval_p50_seconds"]
    is_dear = limited["marking_cpu_fraction"] >= limits.costly_marking_fraction(interval)
    return bool(is_dear or _has_no_room(limited["room_p50_fraction"], interval, limits))


def _has_no_room(room_fraction: float, interval: float | None, limits: Thresholds) -> bool:
    return limits.are_frequent(interval) and room_fraction <= limits.limit_room_fraction


def _is_enough(limited: Mapping[str, float], limits: Thresholds) -> bool:
    is_dear = limited["marking_cpu_seconds"] >= limits.enough_cpu_seconds
    return bool(is_dear or limited["cycles"] >= limits.enough_cycles)


def _by_log(case: Case, log: CollectorFacts) -> Finding:
    limited, limit = log.triggers.of(LIMIT), log.memory_limit_bytes
    cycles = int(limited["cycles"])
    live, goal = int(limited["heap_live_p50_bytes"]), int(limited["heap_goal_p50_bytes"])
    cpu, interval = float(limited["marking_cpu_fraction"]), float(limited["interval_p50_seconds"])
    of_limit = "" if limit is None else f", GOMEMLIMIT is {format_bytes(limit)}"
    if limit is not None and (claimed := _claimed_bytes(case)) > limit:
        of_limit += f", which the {format_bytes(claimed)} that Go claims exceeds"
    sizes = {"heap_live_p50_bytes": live, "heap_goal_p50_bytes": goal}
    return CAUSE.finding(
        _severity(case, cpu),
        f"a memory limit drives {format_count(cycles)} collections, one "
        f"{every(interval)}, and marking takes {format_fraction(cpu)} of the CPU: "
        f"{format_bytes(live)} is live, the goal is {format_bytes(goal)}{of_limit}",
        size=live,
        cpu_fraction=cpu,
        evidence=(
            *known(log.path, "count", {"limit-driven cycles": cycles}),
            *known(log.path, "B", sizes),
            *known(log.path, "s", {"interval_p50_seconds": interval}),
            *known(log.path, "fraction", {"marking_cpu_fraction": cpu}),
            *known(log.path, "count", {"goals that no GOGC makes": log.triggers.beyond_any}),
            Evidence(log.path, "GOGC known from", str(log.triggers.gogc["known_from"].iloc[0]), ""),
        ),
        confidence="certain" if log.triggers.gogc_is_known or limit is not None else "likely",
    )


def _claimed_bytes(case: Case) -> int:
    """What Go has taken and not given back at the last moment; 0 where nothing says."""
    groups = case.facts.moments[-1].groups if case.facts.moments else None
    return 0 if groups is None else sum(groups.claimed.values())


def _by_counters(case: Case) -> list[Finding]:
    counters, moment, limits = case.facts.counters, case.facts.limited_moment, case.thresholds
    goal = None if moment is None else moment.limited_goal
    if counters is None or counters.cpu_fraction is None or moment is None or goal is None:
        return []
    interval = counters.interval_seconds
    is_dear = counters.cpu_fraction >= limits.costly_marking_fraction(interval)
    no_room = _has_no_room(goal.room_fraction, interval, limits)
    if counters.cycles < limits.enough_cycles or not (is_dear or no_room):
        return []
    title = (
        f"a memory limit drives the collections: {format_bytes(goal.live_bytes)} is live, the "
        f"goal is {format_bytes(goal.goal_bytes)}, GOMEMLIMIT is "
        f"{format_bytes(goal.limit_bytes)}, and {counted_cost(counters)}"
    )
    evidence = (
        *known(moment.path("metrics"), "B", {GOMEMLIMIT: goal.limit_bytes}),
        *known(moment.path("memstats"), "B", {"NextGC": goal.goal_bytes}),
        *known(moment.path("metrics"), "B", {LIVE: goal.live_bytes}),
        *counted_evidence(counters),
    )
    return [
        CAUSE.finding(
            _severity(case, counters.cpu_fraction),
            title,
            moment=moment.name,
            size=goal.live_bytes,
            cpu_fraction=counters.cpu_fraction,
            evidence=evidence,
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
    limited, last = counters.limiter_cycle is not None, counters.last
    held = ", and the runtime's limiter held collecting to half of the CPU" if limited else ""
    cost = "" if cpu is None else f"; {counted_cost(counters)}"
    title = (
        "goals leave the heap next to no room, as a memory limit does: "
        f"{format_bytes(goal - live)} is allocated from one collection to the next, beside "
        f"{format_bytes(live)} that is live{held}{cost}"
    )
    sizes = {
        "NextGC, the lowest": counters.goal_bytes,
        "TotalAlloc, last less first": counters.allocated_bytes,
    }
    evidence = (
        *known(last.path, "B", sizes),
        *known(last.metrics_path, "count", {LIMITER: counters.limiter_cycle}),
        *counted_evidence(counters),
    )
    return [
        CAUSE.finding(
            _severity(case, cpu),
            title,
            size=round(live),
            cpu_fraction=cpu,
            evidence=evidence,
            confidence="likely" if limited else "possible",
        )
    ]


def _severity(case: Case, cpu_fraction: float | None) -> Severity:
    is_critical = (cpu_fraction or 0.0) >= case.thresholds.critical_marking_fraction
    return Severity.CRITICAL if is_critical else Severity.WARNING
