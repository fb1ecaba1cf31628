"""The program itself asks for its collections, over and over.

runtime.GC and debug.FreeOSMemory collect whether or not there is garbage, and whoever calls them
waits. A heap profile fetched with gc=1 does the same. Without a log the process's own counters say
how many they are; what each costs is not counted, so all collections are taken for equally dear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.collecting import counted_evidence, marking_words, too_few_collections
from gomem.causes.evidence import known
from gomem.causes.finding import Finding, Lack, Severity
from gomem.causes.sites import called_by, caller_sites
from gomem.units import format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.finding import Evidence
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts

FORCED = "forced"


def find(case: Case) -> list[Finding]:
    """One finding of the whole capture, if many collections were forced, or they cost much."""
    log, counters, limits = case.facts.collector, case.facts.counters, case.thresholds
    if log is not None:
        return [_by_log(case, log)] if _is_much(log, limits) else []
    if counters is None or counters.forced is None:
        return []
    if not _are_many(counters.forced, counters.cycles, limits):
        return []
    cpu, since = counters.cpu_fraction, counters.none_since
    cpu = None if cpu is None else cpu * counters.forced_fraction
    over = "" if since is None else f", and none has run since {since.moment}"
    take = "took" if over else "take"
    costs = "" if cpu is None else f": they {take} about {format_fraction(cpu)} of the CPU"
    seconds = counters.seconds
    within = "" if seconds is None else f" within {format_seconds(seconds)}"
    words = f"{_words(counters.forced, counters.cycles)}{within}{costs}{over}"
    return [_finding(case, words, cpu, counted_evidence(counters), over=bool(over))]


def lack(case: Case) -> Lack | None:
    """Forced collections that cost much for as long as the log is, which is not long."""
    log, limits = case.facts.collector, case.thresholds
    share = None if log is None else log.marking_share_of(FORCED)
    if log is None or share is None or _is_much(log, limits) or share < limits.marking_fraction:
        return None
    forced, cpu = log.cost.forced, float(log.triggers.of(FORCED)["marking_cpu_seconds"])
    return too_few_collections(
        case,
        CAUSE.code,
        f"forced collections take {format_fraction(share)} of the CPU",
        f"there are {format_count(forced)} of them, which marked for {format_seconds(cpu)}",
        (
            *known(log.path, "count", {"forced": forced}),
            *known(log.path, "s", {"marking_cpu_seconds of forced": cpu}),
        ),
        least=case.thresholds.forced_cycles,
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


def _are_many(forced: int, cycles: int, limits: Thresholds) -> bool:
    return forced >= max(limits.forced_cycles, limits.forced_fraction * cycles)


def _is_much(log: CollectorFacts, limits: Thresholds) -> bool:
    """Whether they are many, or cost much, however few they are."""
    share = log.marking_share_of(FORCED)
    spent = float(log.triggers.of(FORCED)["marking_cpu_seconds"])
    dear = spent >= limits.enough_cpu_seconds and (share or 0.0) >= limits.marking_fraction
    return dear or _are_many(log.cost.forced, log.cost.cycles, limits)


def _by_log(case: Case, log: CollectorFacts) -> Finding:
    cost, forced, marking = log.cost, log.triggers.of(FORCED), log.marking_share_of(FORCED)
    costs = "" if marking is None else f": marking for them takes {marking_words(log, FORCED)}"
    seconds = ("gc_cpu_seconds", "stopped_seconds")
    evidence = (
        *known(log.path, "count", {"forced": cost.forced, "cycles": cost.cycles}),
        *known(log.path, "s", {f"{name} of forced": float(forced[name]) for name in seconds}),
    )
    words = f"{_words(cost.forced, cost.cycles)} in {format_seconds(cost.seconds)}{costs}"
    return _finding(case, words, marking, evidence)


def _words(forced: int, cycles: int) -> str:
    return (
        f"the program forced {format_count(forced)} of {format_count(cycles)} collections "
        f"({format_fraction(forced / cycles)})"
    )


def _finding(
    case: Case,
    title: str,
    cpu_fraction: float | None,
    evidence: tuple[Evidence, ...],
    *,
    over: bool = False,
) -> Finding:
    callers, limits = case.facts.callers.collecting, case.thresholds
    is_dear = (cpu_fraction or 0.0) >= limits.forced_marking_fraction and not over
    said = called_by(callers)
    return CAUSE.finding(
        Severity.WARNING if is_dear else Severity.INFO,
        title,
        cpu_fraction=cpu_fraction,
        evidence=evidence,
        next_step=said + _INSTEAD if said else "",
        sites=caller_sites(callers, limits),
        now=not over,
    )
