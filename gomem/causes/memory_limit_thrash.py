"""The live heap is so near the memory limit that the collector runs without a break.

GOMEMLIMIT (Go 1.19) lowers the heap goal, at worst to the live heap itself. Then every allocation
is one too many: collections follow one another, free next to nothing, and the limit is exceeded all
the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.causes.answers import Answers
    from gomem.causes.collector_answers import CollectorAnswers
    from gomem.causes.thresholds import Thresholds

LIMIT = "limit"
KNOWN = "runtime/metrics"  # where GOGC is from, if it need not be inferred


def find(answers: Answers) -> list[Finding]:
    """One finding for the whole log, if collections that a limit drives cost much."""
    facts, limits = answers.gc, answers.thresholds
    if facts is None:
        return []
    steps = facts.steps_of(LIMIT)
    cpu = facts.marking_cpu_of(LIMIT)
    if len(steps) < limits.enough_cycles or cpu is None:
        return []
    frequent = float(steps["seconds"].median()) <= limits.frequent_interval_seconds
    least = limits.frequent_marking_fraction if frequent else limits.marking_fraction
    cramped = frequent and _room(facts) <= limits.limit_room_fraction
    return [_finding(facts, cpu, limits)] if cpu >= least or cramped else []


CAUSE = Cause(
    code="memory-limit-thrash",
    mechanism="With GOMEMLIMIT the goal is what the limit leaves after everything else Go has "
    "mapped, and never below the live heap. When the live heap comes near the limit, there is no "
    "room left to allocate in: one collection ends, and the next begins. Since Go 1.19 a limiter "
    "stops the collector at about half of the CPU, and then the limit is exceeded.",
    remedy="Raise GOMEMLIMIT (and the container's limit above it), or make the live heap smaller: "
    "take an inuse_space profile. A limit well above the live heap costs nothing: leave room for a "
    "collection's worth of allocation.",
    references=("golang.org/doc/gc-guide#Memory_limit", "golang/go#48409", "golang/go#57069"),
    rule=find,
)


def _room(facts: CollectorAnswers) -> float:
    """What a goal leaves above the live heap it was made from, as a part of it; the median."""
    pacing = facts.pacing.cycles["headroom_fraction"]
    return float(pacing.loc[facts.steps_of(LIMIT).index].astype(float).median())


def _finding(facts: CollectorAnswers, cpu: float, limits: Thresholds) -> Finding:
    steps = facts.steps_of(LIMIT)
    rows = facts.cycles.loc[steps.index]
    live = int(rows["heap_live_bytes"].dropna().median())
    goal = int(rows["heap_goal_bytes"].dropna().median())
    interval = float(steps["seconds"].median())
    critical = cpu >= limits.critical_marking_fraction
    gogc = facts.triggers.gogc["known_from"]
    return CAUSE.finding(
        Severity.CRITICAL if critical else Severity.WARNING,
        f"a memory limit drives {format_count(len(steps))} collections, one every "
        f"{format_seconds(interval)}, and marking takes {format_fraction(cpu)} of the CPU: "
        f"{format_bytes(live)} is live, the goal is {format_bytes(goal)}",
        size=live,
        evidence=(
            Evidence(facts.path, "limit-driven cycles", len(steps), "count"),
            Evidence(facts.path, "heap_live_p50_bytes", live, "B"),
            Evidence(facts.path, "heap_goal_p50_bytes", goal, "B"),
            Evidence(facts.path, "interval_p50_seconds", interval, "s"),
            Evidence(facts.path, "marking_cpu_fraction", cpu, "fraction"),
            Evidence(facts.path, "GOGC known from", str(gogc.iloc[0]), ""),
        ),
        confidence="certain" if set(gogc) == {KNOWN} else "likely",
    )
