"""The program itself asks for its collections, over and over.

runtime.GC and debug.FreeOSMemory collect whether or not there is garbage, and whoever calls them
waits. A heap profile fetched with gc=1 does the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.causes.callers import called_by, caller_sites
from gomem.causes.cause import Cause
from gomem.causes.collecting import counted_evidence, marking_words
from gomem.causes.finding import Evidence, Finding, Lack, Severity
from gomem.units import format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts

FORCED = "forced"


def find(case: Case) -> list[Finding]:
    """One finding for the whole log, if many of its collections were forced, or they cost much.

    Without a log the process's own counters say it.
    """
    log, limits = case.facts.collector, case.thresholds
    if log is None:
        return _by_counters(case)
    if not (_many(log, limits) or _dear(log, limits)):
        return []
    return [_finding(case, log)]


def _by_counters(case: Case) -> list[Finding]:
    """What each of them costs is not counted, so all collections are taken for equally dear."""
    counters, limits = case.facts.counters, case.thresholds
    if counters is None or counters.forced is None:
        return []
    if counters.forced < max(limits.forced_cycles, limits.forced_fraction * counters.cycles):
        return []
    all_cpu = counters.cpu_fraction
    cpu = None if all_cpu is None else all_cpu * counters.forced_fraction
    since = counters.none_since
    take = "take" if since is None else "took"
    costs = "" if cpu is None else f": they {take} about {format_fraction(cpu)} of the CPU"
    over = "" if since is None else f", and none has run since {since.moment}"
    dear = cpu is not None and cpu >= limits.forced_marking_fraction and not over
    seconds = counters.seconds
    within = "" if seconds is None else f" within {format_seconds(seconds)}"
    finding = CAUSE.finding(
        Severity.WARNING if dear else Severity.INFO,
        f"the program forced {format_count(counters.forced)} of "
        f"{format_count(counters.cycles)} collections "
        f"({format_fraction(counters.forced_fraction)}){within}{costs}{over}",
        cpu_fraction=cpu,
        evidence=counted_evidence(counters),
        next_step=_next_step(case),
        sites=caller_sites(case.facts.callers.collecting, limits),
    )
    return [replace(finding, now=not over)]


def lack(case: Case) -> Lack | None:
    """Forced collections that cost much for as long as the log is, which is not long."""
    log, limits = case.facts.collector, case.thresholds
    if log is None or _many(log, limits) or _dear(log, limits):
        return None
    share = log.marking_share_of(FORCED)
    if share is None or share < limits.marking_fraction:
        return None
    cpu = float(log.triggers.of(FORCED)["marking_cpu_seconds"])
    forced = log.cost.forced
    return Lack(
        CAUSE.code,
        seen=f"forced collections take {format_fraction(share)} of the CPU",
        had=f"there are {format_count(forced)} of them, which marked for {format_seconds(cpu)}",
        needed=f"{format_count(limits.forced_cycles)} of them, or "
        f"{format_seconds(limits.enough_cpu_seconds)} of marking",
        next_step="Let the log run on: GODEBUG=gctrace=1.",
        evidence=(
            Evidence(log.path, "forced", forced, "count"),
            Evidence(log.path, "marking_cpu_seconds of forced", cpu, "s"),
        ),
    )


_INSTEAD = "To keep memory low, set GOMEMLIMIT or GOGC instead: they collect when it helps."
CAUSE = Cause(
    code="forced-gc",
    mechanism="runtime.GC, debug.FreeOSMemory, /debug/pprof/heap?gc=1 and goroutine-leak profiles "
    "collect at once, whether or not there is garbage, and the caller waits until the heap is "
    "swept. Up to Go 1.8 the world stands still all the while.",
    remedy="Take a CPU profile (/debug/pprof/profile): it shows who calls runtime.GC or "
    "debug.FreeOSMemory. Look also at whatever fetches profiles with gc=1. " + _INSTEAD,
    references=("runtime.GC", "runtime/debug.FreeOSMemory", "golang.org/doc/gc-guide"),
    bears_on=("collector",),
    rule=find,
    lack=lack,
    needed_moments=2,
)


def _many(log: CollectorFacts, limits: Thresholds) -> bool:
    cost = log.cost
    return cost.forced >= max(limits.forced_cycles, limits.forced_fraction * cost.cycles)


def _dear(log: CollectorFacts, limits: Thresholds) -> bool:
    """Whether they cost much, however few they are."""
    share = log.marking_share_of(FORCED)
    spent = float(log.triggers.of(FORCED)["marking_cpu_seconds"])
    enough = spent >= limits.enough_cpu_seconds
    return share is not None and enough and share >= limits.marking_fraction


def _next_step(case: Case) -> str:
    """Who forces them, as far as a profile shows it; else how to find out."""
    said = called_by(case.facts.callers.collecting)
    return said + _INSTEAD if said else ""


def _finding(case: Case, log: CollectorFacts) -> Finding:
    cost, limits = log.cost, case.thresholds
    forced = log.triggers.of(FORCED)
    marking = log.marking_share_of(FORCED)
    cpu, stopped = float(forced["gc_cpu_seconds"]), float(forced["stopped_seconds"])
    share = cost.forced / cost.cycles
    words = marking_words(log, FORCED)
    costs = "" if marking is None else f": marking for them takes {words}"
    dear = marking is not None and marking >= limits.forced_marking_fraction
    return CAUSE.finding(
        Severity.WARNING if dear else Severity.INFO,
        f"the program forced {format_count(cost.forced)} of {format_count(cost.cycles)} "
        f"collections ({format_fraction(share)}) in {format_seconds(cost.seconds)}{costs}",
        cpu_fraction=marking,
        evidence=(
            Evidence(log.path, "forced", cost.forced, "count"),
            Evidence(log.path, "cycles", cost.cycles, "count"),
            Evidence(log.path, "gc_cpu_seconds of forced", cpu, "s"),
            Evidence(log.path, "stopped_seconds of forced", stopped, "s"),
        ),
        next_step=_next_step(case),
        sites=caller_sites(case.facts.callers.collecting, limits),
    )
