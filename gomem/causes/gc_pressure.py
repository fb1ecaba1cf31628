"""The program allocates so fast that collecting costs it a good part of its CPU, or of its latency.

Nothing leaks, and memory is flat. But every collection marks the whole live heap, turns write
barriers on and makes whoever allocates help; many a second, and requests wait for it.

Without a log it is what the process counts between the moments. GCCPUFraction and the classes of
CPU are worked out at the end of a collection, since the start: where no collection ran between the
moments they still say what filling the heap cost, and that is over. One moment alone cannot tell:
there it is possible.

Goals that leave little room are GOGC's or a memory limit's. Where the log tells of neither, it is
possible, no more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.collecting import counted_cost, counted_evidence, every, marking_words
from gomem.causes.finding import Evidence, Finding, Lack, Severity
from gomem.causes.growing_sites import allocating_sites, share_words
from gomem.causes.memory_limit import limit_leaves_no_room, limit_may_decide
from gomem.text import Function, Share, Text, text
from gomem.units import format_bytes, format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.cost import GcCost
    from gomem.analysis.collector.counters import CollectorCounters
    from gomem.causes.case import Case
    from gomem.causes.finding import Site
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts

PACER = "pacer"


def find(case: Case) -> list[Finding]:
    """One finding for the whole log, if the pacer's collections cost much.

    Without a log the process's own counters say it.
    """
    log, limits = case.facts.collector, case.thresholds
    if log is None:
        return _by_counters(case)
    if not _pressed(log, limits) or not _enough(log, limits):
        return []
    return [_finding(case, log)]


def _by_counters(case: Case) -> list[Finding]:
    """Where others than the pacer decide, forced-gc or memory-limit-thrash says more.

    What is costly is marking: what stops took, long-pauses says.
    """
    counters, limits = case.facts.counters, case.thresholds
    if counters is None or counters.cpu_fraction is None:
        return _by_cpu_profile(case)
    if case.facts.limited_moment is not None:
        return []
    if limit_leaves_no_room(case):
        return []
    paced = 1 - counters.forced_fraction
    marking = counters.marking_fraction * paced
    least = limits.costly_marking_fraction(counters.interval_seconds)
    if (
        paced < limits.deciding_fraction
        or marking < least
        or counters.cycles < limits.enough_cycles
    ):
        return []
    sites = allocating_sites(case)
    over = counters.none_since is not None
    finding = CAUSE.finding(
        Severity.INFO if over or _is_theirs(counters, least / paced) else Severity.WARNING,
        counted_cost(counters),
        cpu_fraction=counters.cpu_fraction * paced,
        evidence=(*counted_evidence(counters), *_site_evidence(sites, case)),
        next_step=_next_step(
            sites, _small_room(counters.room_fraction) if limit_may_decide(case) else _MORE_ROOM
        ),
        sites=sites,
        confidence="likely" if over or _is_told(case, counters, least / paced) else "possible",
    )
    return [replace(finding, now=not over)]


def _by_cpu_profile(case: Case) -> list[Finding]:
    """What a CPU profile shows, where nothing counts collections: of the CPU that was used."""
    taken, limits = case.facts.callers.collector_cpu, case.thresholds
    if taken is None or taken.used_seconds < limits.enough_cpu_seconds:
        return []
    if taken.fraction < limits.critical_marking_fraction:
        return []
    sites = allocating_sites(case)
    most = text("; {} allocates most", sites[0].words) if sites else Text()
    return [
        CAUSE.finding(
            Severity.WARNING,
            text("The GC takes {} of the CPU that the program uses{}", Share(taken.fraction), most),
            evidence=(
                Evidence(taken.path, "share of the collector", taken.fraction, "fraction"),
                Evidence(taken.path, "CPU used", taken.used_seconds, "s"),
                *_site_evidence(sites, case),
            ),
            next_step=_next_step(sites, _MORE_ROOM),
            sites=sites,
            confidence="possible",  # whether somebody forces collections, no profile says
        )
    ]


def _is_told(case: Case, counters: CollectorCounters, least: float) -> bool:
    """Whether it is of the time between the moments, and marking by the pacer's goals.

    A share since the start has stops in it, too: those between the moments say whether it could be
    theirs. Where nobody counts those that were forced, all may be.
    """
    marking = counters.least_marking_fraction
    sure = marking is not None and marking >= least and counters.forced is not None
    return sure and not counters.since_start and not limit_may_decide(case)


def _is_theirs(counters: CollectorCounters, least: float) -> bool:
    """Whether it may be the stops' alone, as those between the moments take as much of the time."""
    marking = counters.least_marking_fraction
    return marking is not None and marking < least


def lack(case: Case) -> Lack | None:
    """Collections that cost much, but too few of them, and too little in all."""
    log, limits = case.facts.collector, case.thresholds
    if log is None or not _pressed(log, limits) or _enough(log, limits):
        return None
    cost = log.cost
    return Lack(
        CAUSE.code,
        seen=f"marking takes {format_fraction(log.marking_share_of(PACER))} of the CPU",
        had=f"in {format_count(cost.cycles)} collections, {_steady(cost)}",
        needed=f"{format_count(limits.enough_cycles)} such collections, or "
        f"{format_seconds(limits.enough_cpu_seconds)} of marking",
        next_step="Let the log run on under load: GODEBUG=gctrace=1.",
        evidence=(
            Evidence(log.path, "cycles", cost.cycles, "count"),
            Evidence(log.path, "steady_cycles", cost.steady_cycles, "count"),
            Evidence(log.path, "steady_marking_cpu_seconds", cost.steady_marking_cpu_seconds, "s"),
        ),
    )


def _steady(cost: GcCost) -> str:
    if not cost.steady_cycles:
        return "all of a heap that was still filling"
    return (
        f"of which {format_count(cost.steady_cycles)} are no start-up's and marked for "
        f"{format_seconds(cost.steady_marking_cpu_seconds)}"
    )


_REMEDY = (
    "{} (reuse buffers, sync.Pool, sizes known beforehand). Or give the collector more room: {}."
)
_MORE_ROOM = "GOGC=200, with GOMEMLIMIT as a bound"
_TAKE_A_PROFILE = "Take an allocs profile to see who allocates, and allocate less there"
CAUSE = Cause(
    code="gc-pressure",
    mechanism="A collection starts whenever the heap has grown by GOGC per cent over what was "
    "live. How often that is depends on the rate of allocation and on that room, not on how much "
    "memory is in use. Each one marks everything that is live, with a quarter of the Ps; where "
    "that is too slow, goroutines that allocate must mark first (assists), and their requests take "
    "longer.",
    remedy=_REMEDY.format(_TAKE_A_PROFILE, _MORE_ROOM),
    references=("golang.org/doc/gc-guide", "runtime/debug.SetGCPercent", "sync.Pool"),
    bears_on=("collector",),
    rule=find,
    lack=lack,
    needed_moments=2,
)


def _pressed(log: CollectorFacts, limits: Thresholds) -> bool:
    """Where others than the pacer decide, forced-gc or memory-limit-thrash says more."""
    cpu, interval = log.marking_share_of(PACER), log.cost.interval.p50
    if cpu is None or interval is None:
        return False
    marked = log.triggers.counts["marking_cpu_seconds"].sum()
    paced = float(log.triggers.of(PACER)["marking_cpu_seconds"])
    if paced < limits.deciding_fraction * marked:
        return False
    return cpu >= limits.costly_marking_fraction(interval)


def _enough(log: CollectorFacts, limits: Thresholds) -> bool:
    """Whether so much was seen, beyond a start-up, by number or by what it cost."""
    cost = log.cost
    return (
        cost.steady_cycles >= limits.enough_cycles
        or cost.steady_marking_cpu_seconds >= limits.enough_cpu_seconds
    )


def _finding(case: Case, log: CollectorFacts) -> Finding:
    cost, sites = log.cost, allocating_sites(case)
    rate = cost.allocation_rate.value
    allocates = "" if rate is None else f": the program allocates {format_bytes(rate)}/s"
    many = cost.steady_cycles >= case.thresholds.enough_cycles
    return CAUSE.finding(
        Severity.WARNING,
        Text(
            f"marking takes {marking_words(log, PACER)}, a collection "
            f"{every(cost.interval.p50)}{allocates}",
            *(
                text(", {} in {}", share_words(site.share, case.thresholds), site.words)
                for site in sites[:1]
                if allocates
            ),
        ),
        cpu_fraction=log.marking_share_of(PACER),
        evidence=(*_log_evidence(log), *_site_evidence(sites, case)),
        next_step=_next_step(sites, _room(log, case.thresholds)),
        sites=sites,
        confidence=("possible" if limit_may_decide(case) else "certain" if many else "likely"),
    )


def _log_evidence(log: CollectorFacts) -> tuple[Evidence, ...]:
    values = log.cost.values
    units = {
        "cycles": "count",
        "seconds": "s",
        "interval_p50_seconds": "s",
        "marking_cpu_fraction": "fraction",
        "gc_cpu_fraction": "fraction",
        "assist_fraction": "fraction",
        "allocation_rate_bytes_per_second": "B/s",
        "heap_goal_bytes": "B",
    }
    return tuple(
        Evidence(log.path, name, value, unit)
        for name, unit in units.items()
        if (value := values[name]) is not None
    )


def _site_evidence(sites: tuple[Site, ...], case: Case) -> tuple[Evidence, ...]:
    path = next(reversed([*case.facts.profiles.paths.values()]), "heap profile")
    return tuple(
        Evidence(path, text("alloc_space {}", Function(site.own_function)), round(site.change), "B")
        for site in sites
    )


def _next_step(sites: tuple[Site, ...], room: str) -> Text:
    """Who allocates most, as far as a profile shows it, and how the collector gets more room."""
    less = text("Allocate less in {}, which allocates most", sites[0].words) if sites else ""
    return text(_REMEDY, less or _TAKE_A_PROFILE, room)


def _room(log: CollectorFacts, limits: Thresholds) -> str:
    """How the collector gets more room: by GOGC, or by finding out what leaves so little."""
    usual = log.pacing.usual
    share, room = usual.headroom_fraction, usual.headroom_bytes
    if share < limits.small_room_fraction:
        return _small_room(share)
    more = f": about {format_bytes(room)} more heap halves the collections" if room > 0 else ""
    return _MORE_ROOM + more


def _small_room(share: float | None) -> str:
    return (
        f"goals leave {format_fraction(share)} above the live heap, so see whether GOGC is set "
        "that low, or a GOMEMLIMIT holds them down"
    )
