"""The live heap is so close to the memory limit that GC runs without a break.

GOMEMLIMIT (Go 1.19) lowers the heap goal, at worst to the live heap itself. Then every allocation
exceeds the goal. Collections run back to back and free next to nothing, and memory exceeds the
limit anyway. Without a log, the last known goal and the process's own counters show this. If no
file says what sets the goals, the small amount allocated between collections shows the limit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.analysis.collector.triggers import NOTHING
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import limit_leaves_no_room, limit_reached
from gomem.causes.collecting import (
    counted_cost,
    counted_evidence,
    counted_pace,
    is_enough_since_start,
    limiter_evidence,
    since_start_evidence,
    too_few_collections,
    used_cpu,
)
from gomem.causes.commands import TAKE_HEAP_PROFILE, sentences, top_of_last
from gomem.causes.evidence import known
from gomem.causes.finding import Evidence, Finding, Lack, Severity
from gomem.facts.moment import GOMEMLIMIT, LIVE
from gomem.facts.settings import ASSUMED, ENVIRONMENT
from gomem.text import Bytes, File, Share, Text, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts

LIMIT = "limit"


def find(case: Case) -> list[Finding]:
    """Return one finding for the capture, if collections driven by a limit are expensive."""
    log, limits = case.facts.collector, case.thresholds
    if log is None:
        return _by_counters(case) or _by_room(case)
    limited = log.triggers.of(LIMIT)
    cramped = _is_cramped(limited, limits) and _is_enough(log, limits)
    return [_by_log(case, log)] if cramped else []


def lack(case: Case) -> Lack | None:
    """Return a `Lack` if a limit drives collections, but too few, and too cheap in total."""
    log, limits = case.facts.collector, case.thresholds
    limited = {} if log is None else log.triggers.of(LIMIT)
    if log is None or not _is_cramped(limited, limits) or _is_enough(log, limits):
        return None
    cycles, cpu = int(limited["cycles"]), float(limited["marking_cpu_seconds"])
    return too_few_collections(
        case,
        CAUSE.code,
        Text("a memory limit leaves the heap hardly any headroom"),
        (cycles, "limit-driven GC"),
        (
            *known(log.path, "count", {"limit-driven GCs": cycles}),
            *known(log.path, "s", {"marking_cpu_seconds": cpu}),
        ),
    )


_REMEDY = (
    "See what is live: {}. Reduce the live heap, or raise GOMEMLIMIT, but keep it below the "
    "container's limit."
)
_FROM = (
    "From about {} on, GOGC{} sets the heap goal in place of the limit, and the heap can grow to "
    "{} between GCs."
)
CAUSE = Cause(
    code="memory-limit-thrash",
    mechanism="Under GOMEMLIMIT the heap goal is the limit minus all other memory that Go has "
    "mapped, but never below the live heap. Near the limit there is no headroom: when a collection "
    "ends, the next begins. The runtime caps the GC at about half of the CPU; beyond that, memory "
    "grows past GOMEMLIMIT.",
    remedy=text(_REMEDY, TAKE_HEAP_PROFILE),
    references=("golang.org/doc/gc-guide#Memory_limit", "golang/go#48409", "golang/go#58106"),
    bears_on=("collector", "limits"),
    rule=find,
    lack=lack,
    needed_moments=2,
)


def _next_step(case: Case, limit: float | None, goal: float, by_gogc: float) -> Text:
    """Return the next step, with the limit at which GOGC sets the goal, if that is known."""
    step = text(_REMEDY, top_of_last(case))
    if limit is None or not goal < by_gogc < math.inf:
        return step
    gogc = case.facts.settings.gogc
    how = text(" ({} by default)", gogc.text) if gogc.known_by == ASSUMED else ""
    sizes = Bytes(round(by_gogc + max(0.0, limit - goal))), how, Bytes(round(by_gogc))
    return sentences(step, text(_FROM, *sizes))


def _is_cramped(limited: Mapping[str, float], limits: Thresholds) -> bool:
    """Return whether limit-driven collections are expensive, or frequent without headroom.

    NaN, if there are no such collections, counts as neither.
    """
    interval = limited["interval_p50_seconds"]
    is_dear = limited["marking_cpu_fraction"] >= limits.costly_marking_fraction(interval)
    return bool(is_dear or _has_no_room(limited["room_p50_fraction"], interval, limits))


def _has_no_room(room_fraction: float, interval: float | None, limits: Thresholds) -> bool:
    return limits.are_frequent(interval) and room_fraction <= limits.limit_room_fraction


def _is_enough(log: CollectorFacts, limits: Thresholds) -> bool:
    return _is_seen(log.triggers.of(LIMIT), limits) or is_enough_since_start(log, limits)


def _is_seen(limited: Mapping[str, float], limits: Thresholds) -> bool:
    """Return whether the lines of the log alone are enough, by number or by cost."""
    is_dear = limited["marking_cpu_seconds"] >= limits.enough_cpu_seconds
    return bool(is_dear or limited["cycles"] >= limits.enough_cycles)


def _by_log(case: Case, log: CollectorFacts) -> Finding:
    limited, limit = log.triggers.of(LIMIT), log.memory_limit_bytes
    cycles = int(limited["cycles"])
    live, goal = int(limited["heap_live_p50_bytes"]), int(limited["heap_goal_p50_bytes"])
    cpu, interval = float(limited["marking_cpu_fraction"]), float(limited["interval_p50_seconds"])
    live_is, beyond = Bytes(live), log.triggers.beyond_any
    if limit is None:
        title = text(
            "A memory limit is too tight: {} live under a goal of {}", live_is, Bytes(goal)
        )
        if live >= goal:
            title = text("A memory limit is too tight: the live heap, {}, is at its goal", live_is)
    else:
        title = text("GOMEMLIMIT is too tight: {} live under a limit of {}", live_is, Bytes(limit))
        if _claimed_bytes(case) > limit:
            title = text("{}, and Go retains more than the limit", title)
    sizes = {"heap_live_p50_bytes": live, "heap_goal_p50_bytes": goal}
    is_known = log.triggers.gogc_is_known or limit is not None
    is_sure = is_known and _is_seen(limited, case.thresholds)
    return CAUSE.finding(
        _severity(case, cpu),
        text("{}; marking takes {} of the CPU", title, Share(cpu)),
        size=live,
        cpu_fraction=cpu,
        evidence=(
            *known(log.path, "count", {"limit-driven GCs": cycles}),
            *known(log.path, "B", sizes),
            *known(log.path, "s", {"interval_p50_seconds": interval}),
            *known(log.path, "fraction", {"marking_cpu_fraction of limit-driven GCs": cpu}),
            *known(log.path, "count", {_UNEXPLAINED: beyond} if beyond != cycles else {}),
            Evidence(log.path, "source of GOGC", _source_of_gogc(case, log), ""),
            *since_start_evidence(log),
            *limiter_evidence(case.facts.counters),
        ),
        next_step=_next_step(case, limit, goal, _by_gogc(case, live)),
        confidence="certain" if is_sure else "likely",
    )


_UNEXPLAINED = "GCs with a goal that no GOGC can set"


def _by_gogc(case: Case, live: float) -> float:
    """Return the goal that GOGC alone would set, by default to twice the live heap."""
    gogc = case.facts.settings.gogc.value
    return math.nan if isinstance(gogc, str) else live * (1 + gogc)


def _source_of_gogc(case: Case, log: CollectorFacts) -> str:
    """Return where GOGC is known from; an environment that does not set it leaves the default."""
    gogc = case.facts.settings.gogc
    if gogc.known_by == ENVIRONMENT and not gogc.is_set:
        return text("the default: not set in {}", File(gogc.source))
    source = str(log.triggers.gogc["known_from"].iloc[0])
    return f"unknown ({source})" if source == NOTHING else source


def _claimed_bytes(case: Case) -> int:
    """Return memory reserved by Go and not released at the last snapshot; 0 if unknown."""
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
    title = text(
        "GOMEMLIMIT is too tight: {} live under a limit of {}; {}",
        Bytes(goal.live_bytes),
        Bytes(goal.limit_bytes),
        counted_cost(case, counters),
    )
    evidence = (
        *known(moment.path("metrics"), "B", {GOMEMLIMIT: goal.limit_bytes}),
        *known(moment.path("memstats"), "B", {"NextGC": goal.goal_bytes}),
        *known(moment.path("metrics"), "B", {LIVE: goal.live_bytes}),
        *counted_evidence(case, counters),
    )
    return [
        CAUSE.finding(
            _severity(case, counters.cpu_fraction),
            title,
            moment=moment.name,
            size=goal.live_bytes,
            cpu_fraction=counters.cpu_fraction,
            evidence=evidence,
            next_step=_next_step(case, goal.limit_bytes, goal.goal_bytes, goal.by_gogc_bytes),
            confidence="likely",
        )
    ]


_AT_THE_GOAL = "HeapAlloc beside NextGC", "at or above it at every snapshot"


def _by_room(case: Case) -> list[Finding]:
    """Return a finding by the small room alone, which a GOGC below 5 would also leave.

    A GOGC below 5 is unlikely if the runtime's limiter was on, which starts when GC takes half of
    the CPU. If nothing counts the GC's CPU, each snapshot must have met a collection.
    """
    counters = case.facts.counters
    if counters is None or not limit_leaves_no_room(case):
        return []
    goal, live, cpu = counters.goal_bytes or 0, counters.live_bytes or 0.0, counters.cpu_fraction
    is_limited, last = counters.limiter_cycle is not None, counters.last
    pace, reached = counted_pace(counters), limit_reached(case)
    cost = used_cpu(counters) if cpu is None else text("; {}{}", counted_cost(case, counters), pace)
    words = (
        "The heap has hardly any headroom, as a memory limit leaves it: the goal is {} above {} of "
        "live heap{}"
    )
    title = text(words, Bytes(max(0, round(goal - live))), Bytes(round(live)), cost)
    if reached is not None:
        words = (
            "GOMEMLIMIT is too tight: {} live under a limit of {}, which Go's memory has reached{}"
        )
        title = text(words, Bytes(round(live)), Bytes(round(reached)), cost)
    sizes = {
        "lowest NextGC": counters.goal_bytes,
        "TotalAlloc, from the first snapshot to the last": counters.allocated_bytes,
    }
    evidence = (
        *known(last.path, "B", sizes),
        *counted_evidence(case, counters),
        *(Evidence(last.path, *_AT_THE_GOAL, "") for _ in [0] if counters.is_always_collecting),
    )
    return [
        CAUSE.finding(
            _severity(case, cpu),
            title,
            size=round(live),
            cpu_fraction=cpu,
            evidence=evidence,
            next_step=_next_step(case, reached, goal, _by_gogc(case, live)),
            confidence="likely" if is_limited or reached is not None else "possible",
        )
    ]


def _severity(case: Case, cpu_fraction: float | None) -> Severity:
    is_critical = (cpu_fraction or 0.0) >= case.thresholds.critical_marking_fraction
    return Severity.CRITICAL if is_critical else Severity.WARNING
