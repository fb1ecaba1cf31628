"""The program forces its own collections, again and again.

runtime.GC and debug.FreeOSMemory collect even without garbage, and the caller waits. So does a heap
profile fetched with gc=1. Without a log, the process's counters give the number of forced
collections but not their cost, so gomem assumes that all collections cost the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.causes.cause import Case, Cause
from gomem.causes.checks import limit_exists
from gomem.causes.collecting import (
    costly_cpu_profile,
    counted_evidence,
    cpu_profile_evidence,
    too_few_collections,
)
from gomem.causes.commands import TAKE_CPU_PROFILE, sentences, top
from gomem.causes.evidence import known
from gomem.causes.finding import Evidence, Finding, Lack, Severity
from gomem.causes.sites import called_by, caller_sites
from gomem.text import Count, Function, MomentName, MostShare, Share, Text, text

if TYPE_CHECKING:
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts

FORCED = "forced"
_PEEK = "--peek 'runtime.GC$|FreeOSMemory$'"


def find(case: Case) -> list[Finding]:
    """Return one finding for the capture, if forced collections are many or expensive."""
    log, counters, limits = case.facts.collector, case.facts.counters, case.thresholds
    if log is not None:
        return [_by_log(case, log)] if _is_much(log, limits) else []
    if counters is None or counters.forced is None:
        return _by_cpu_profile(case)
    if not _are_many(counters.forced, counters.cycles, limits):
        return []
    cpu, since = counters.cpu_fraction, counters.none_since
    cpu = None if cpu is None else cpu * counters.forced_fraction
    over = Text() if since is None else text("; none since {}", MomentName(since.moment))
    share = Share(cpu)
    about = "" if f"{share}".startswith("<") else "about "
    costs = Text() if cpu is None else text(", {}{} of the CPU", about, share)
    words = _forced(counters.forced, counters.cycles) + costs + over
    return [_finding(case, words, cpu, counted_evidence(case, counters), is_over=bool(over))]


def _by_cpu_profile(case: Case) -> list[Finding]:
    """Return a finding by a CPU profile alone: the program forces expensive collections."""
    taken, callers = costly_cpu_profile(case), case.facts.callers.collecting
    if taken is None or not callers or taken.path != callers[0].path:
        return []
    title = text("; the GC takes {} of the CPU in the profile", Share(taken.fraction))
    found = _finding(case, title, taken.fraction, cpu_profile_evidence(taken))
    return [replace(found, confidence="possible", cpu_fraction=None)]  # of used CPU


def lack(case: Case) -> Lack | None:
    """Return a `Lack` if forced collections are expensive, but the log is too short."""
    log, limits = case.facts.collector, case.thresholds
    share = None if log is None else log.marking_share_of(FORCED)
    if log is None or share is None or _is_much(log, limits) or share < limits.marking_fraction:
        return None
    forced, cpu = log.cost.forced, float(log.triggers.of(FORCED)["marking_cpu_seconds"])
    return too_few_collections(
        case,
        CAUSE.code,
        text("forced collections take {} of the CPU", Share(share)),
        (forced, "forced GC"),
        (
            *known(log.path, "count", {"forced": forced}),
            *known(log.path, "s", {"marking_cpu_seconds of forced GCs": cpu}),
        ),
        least=case.thresholds.forced_cycles,
    )


_SEE = (
    "See who calls runtime.GC or debug.FreeOSMemory: {}. Also look for scrapers that fetch "
    "profiles with gc=1. {}"
)
_INSTEAD = (
    "Remove the call. To keep memory low, set {}GOGC instead: then the GC runs only when "
    "there is garbage to free."
)
_LIMIT_OR = "GOMEMLIMIT or "
CAUSE = Cause(
    code="forced-gc",
    mechanism="runtime.GC, debug.FreeOSMemory, /debug/pprof/heap?gc=1 and goroutine-leak profiles "
    "start a collection at once, whether or not there is garbage, and the caller waits until the "
    "heap is swept.",
    remedy=text(_SEE, TAKE_CPU_PROFILE, _INSTEAD.format(_LIMIT_OR)),
    references=("runtime.GC", "runtime/debug.FreeOSMemory", "golang.org/doc/gc-guide"),
    bears_on=("collector",),
    rule=find,
    lack=lack,
    needed_moments=2,
)


def _are_many(forced: int, cycles: int, limits: Thresholds) -> bool:
    return forced >= max(limits.forced_cycles, limits.forced_fraction * cycles)


def _is_much(log: CollectorFacts, limits: Thresholds) -> bool:
    """Return whether forced collections are frequent, or expensive in total."""
    share = log.marking_share_of(FORCED)
    spent = float(log.triggers.of(FORCED)["marking_cpu_seconds"])
    is_dear = spent >= limits.enough_cpu_seconds and (share or 0.0) >= limits.marking_fraction
    return is_dear or _are_many(log.cost.forced, log.cost.cycles, limits)


def _by_log(case: Case, log: CollectorFacts) -> Finding:
    cost, forced, marking = log.cost, log.triggers.of(FORCED), log.marking_share_of(FORCED)
    costs = Text() if marking is None else text(", {}", _at_most(log))
    seconds = ("gc_cpu_seconds", "stopped_seconds")
    evidence = (
        *known(log.path, "count", {"forced": cost.forced, "cycles": cost.cycles}),
        *known(log.path, "s", {f"{name} of forced GCs": float(forced[name]) for name in seconds}),
        *known(log.path, "s", {"seconds": cost.seconds}),
    )
    return _finding(case, _forced(cost.forced, cost.cycles) + costs, marking, evidence)


def _at_most(log: CollectorFacts) -> Text:
    """Return the CPU of forced collections: marking, and pauses if known."""
    share = MostShare(log.collecting_share_of(FORCED) or log.marking_share_of(FORCED))
    return text("{}{} of the CPU", "" if share.startswith("<") else "at most ", share)


def _instead(case: Case) -> str:
    return _INSTEAD.format(_LIMIT_OR if limit_exists(case) else "")


def _forced(forced: int, cycles: int) -> Text:
    return text(": {} of {}", Count(forced), Count(cycles, "collection"))


def _finding(
    case: Case,
    title: Text,
    cpu_fraction: float | None,
    evidence: tuple[Evidence, ...],
    *,
    is_over: bool = False,
) -> Finding:
    callers, limits = case.facts.callers.collecting, case.thresholds
    is_dear = (cpu_fraction or 0.0) >= limits.forced_marking_fraction and not is_over
    calls = Text("The program calls runtime.GC()")
    step: str = ""
    if callers:
        first = callers[0]
        calls = text("{} calls {}()", Function(first.function), Function(first.called))
        shows = text("See the callers: {}.", top(first.path, options=_PEEK))
        step = sentences(shows, called_by(callers), _instead(case))
    return CAUSE.finding(
        Severity.WARNING if is_dear else Severity.INFO,
        calls + title,
        cpu_fraction=cpu_fraction,
        evidence=evidence,
        next_step=step or text(_SEE, TAKE_CPU_PROFILE, _instead(case)),
        sites=caller_sites(callers, limits),
        now=not is_over,
    )
