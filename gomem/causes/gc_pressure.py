"""The program allocates so fast that GC takes much of its CPU, or adds to its latency.

There is no leak, and memory is flat. But every collection marks the whole live heap, enables write
barriers, and makes allocating goroutines assist. With many collections per second, requests wait.

Without a log, the rule uses the process's counters at the snapshots. GCCPUFraction and the CPU
classes are cumulative and updated at the end of a collection. If no collection ran between the
snapshots, these counters still show the cost of filling the heap; the finding is then resolved. The
confidence is only `possible` for a single snapshot, or if neither log nor metrics separate a small
GOGC from a memory limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.live_heap import DEFAULT_GOGC
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import limit_exists, limit_leaves_no_room, limit_may_decide
from gomem.causes.collecting import (
    at_gogc,
    costly_cpu_profile,
    counted_cost,
    counted_evidence,
    counted_pace,
    cpu_profile_evidence,
    every,
    is_enough_since_start,
    is_set_low,
    marking_words,
    scaled_gogc,
    too_few_collections,
)
from gomem.causes.commands import TAKE_ALLOCS, sentences, top_of_last
from gomem.causes.evidence import known
from gomem.causes.finding import Evidence, Finding, Lack, Severity, Site
from gomem.causes.missing_call import of_garbage
from gomem.causes.sites import allocating_sites, part_words, pooling_words, site_evidence
from gomem.text import Bytes, Share, Text, text

if TYPE_CHECKING:
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.settings import Setting

PACER = "pacer"


def find(case: Case) -> list[Finding]:
    """Return one finding for the capture, if collections started by the pacer are expensive."""
    log, limits = case.facts.collector, case.thresholds
    if log is None:
        return _by_counters(case)
    pressed = _is_pressed(log, case) and _is_enough(log, limits)
    return [_by_log(case, log)] if pressed else []


def lack(case: Case) -> Lack | None:
    """Return a `Lack` if collections are expensive, but too few and in total too cheap."""
    log, limits = case.facts.collector, case.thresholds
    if log is None or not _is_pressed(log, case) or _is_enough(log, limits):
        return None
    cost = log.cost
    steady, cpu = cost.steady_cycles, cost.steady_marking_cpu_seconds
    return too_few_collections(
        case,
        CAUSE.code,
        text("marking takes {} of the CPU", Share(log.marking_share_of(PACER))),
        (steady, "GC without heap growth"),
        (
            *known(log.path, "count", {"cycles": cost.cycles, "steady_cycles": steady}),
            *known(log.path, "s", {"steady_marking_cpu_seconds": cpu}),
        ),
    )


_REMEDY = "See who allocates: {}. {}: reuse buffers, use a sync.Pool, preallocate."
_ALLOCATED = "--sample-type alloc_space --cum"
_LESS = "Allocate less at the top sites"


def _more_room(
    gogc: Setting | None = None, room_bytes: float = 0.0, *, with_limit: bool = True
) -> Text:
    """Advise twice the GOGC: doubling the room halves the number of collections."""
    now, doubled = scaled_gogc(gogc, 2)
    costs = text(" and {} more heap", Bytes(room_bytes)) if room_bytes > 0 else ""
    bound = ". If the heap must stay below a size, set GOMEMLIMIT too" if with_limit else ""
    words = "Or double GOGC ({}) for about half as many GCs{}: {}{}."
    return text(words, now, costs, doubled, bound)


CAUSE = Cause(
    code="gc-pressure",
    mechanism="A collection starts when the heap has grown by GOGC percent over the live heap. "
    "How often that happens depends on the allocation rate and on that headroom. Each collection "
    "marks the whole live heap with a quarter of the Ps; if marking is too slow, allocating "
    "goroutines must help (assists), and requests take longer.",
    remedy=sentences(text(_REMEDY, TAKE_ALLOCS, _LESS), _more_room()),
    references=("golang.org/doc/gc-guide", "runtime/debug.SetGCPercent", "sync.Pool"),
    bears_on=("collector",),
    rule=find,
    lack=lack,
    needed_moments=2,
)


def _is_pressed(log: CollectorFacts, case: Case) -> bool:
    """Return whether the pacer starts most GCs; else another finding says more."""
    limits = case.thresholds
    cpu, interval = log.marking_share_of(PACER), log.cost.interval.p50
    marked = log.triggers.counts["marking_cpu_seconds"].sum()
    paced = float(log.triggers.of(PACER)["marking_cpu_seconds"])
    if cpu is None or interval is None or paced < limits.deciding_fraction * marked:
        return False
    return cpu >= limits.costly_marking_fraction(interval, is_low=is_set_low(case.facts, limits))


def _is_enough(log: CollectorFacts, limits: Thresholds) -> bool:
    """Return whether enough collections were observed after start-up, by number or by cost.

    Of a log in which the pacer starts most of them, the last line alone can say so.
    """
    cost = log.cost
    is_dear = cost.steady_marking_cpu_seconds >= limits.enough_cpu_seconds
    is_seen = cost.steady_cycles >= limits.enough_cycles or is_dear
    return is_seen or is_enough_since_start(log, limits)


def _by_log(case: Case, log: CollectorFacts) -> Finding:
    cost, sites, marking = log.cost, allocating_sites(case), log.marking_share_of(PACER)
    often = every(cost.interval.p50)
    share, set_to = marking_words(log, PACER), at_gogc(case.facts)
    title = text("The GC takes {}{}, with a cycle {}{}", share, set_to, often, _mostly(sites, case))
    has_enough = cost.steady_cycles >= case.thresholds.enough_cycles
    is_unsure = limit_may_decide(case) or not _is_dear(marking, case)
    room, headroom = _room(log, case)
    evidence = (
        row
        for name, unit in _CITED.items()
        for row in known(log.path, unit, {name: cost.values[name]})
    )
    return CAUSE.finding(
        Severity.WARNING,
        title,
        cpu_fraction=marking,
        evidence=(*evidence, *headroom, *_site_evidence(sites, case)),
        next_step=_next_step(sites, room, case, cost.heap_live_last_bytes),
        sites=sites,
        missing_call=of_garbage(case, sites),
        confidence="possible" if is_unsure else "certain" if has_enough else "likely",
    )


def _is_dear(marking: float | None, case: Case) -> bool:
    """Return whether marking is expensive by itself, not only frequent."""
    return (marking or 0.0) >= case.thresholds.marking_fraction


_CITED = {
    "cycles": "count",
    "seconds": "s",
    "interval_p50_seconds": "s",
    "marking_cpu_fraction": "fraction",
    "gc_cpu_fraction": "fraction",
    "assist_fraction": "fraction",
    "allocation_rate_bytes_per_second": "B/s",
    "heap_goal_bytes": "B",
}


def _by_counters(case: Case) -> list[Finding]:
    """Return a finding by the counters if marking is expensive; long-pauses reports STW pauses."""
    counters, limits = case.facts.counters, case.thresholds
    if counters is None or counters.cpu_fraction is None:
        return _by_cpu_profile(case)
    if case.facts.limited_moment is not None:
        return []
    paced = 1 - counters.forced_fraction
    is_low = is_set_low(case.facts, limits)
    least = limits.costly_marking_fraction(counters.interval_seconds, is_low=is_low)
    is_dear = counters.marking_fraction * paced >= least
    is_paced = paced >= limits.deciding_fraction and not limit_leaves_no_room(case)
    if not (is_paced and is_dear and counters.cycles >= limits.enough_cycles):
        return []
    sites, is_over = allocating_sites(case), counters.none_since is not None
    cost = counted_cost(case, counters)
    # A share since the start includes pauses, which could explain it entirely.
    marking = counters.least_marking_fraction
    by_stops = marking is not None and marking * paced < least
    room = _small_room(counters.room_fraction, case) if limit_may_decide(case) else _room_for(case)
    is_past = counters.since_start or counters.forced is None  # else all could be forced
    is_unsure = is_past or marking is None or by_stops or limit_may_decide(case)
    is_unsure = is_unsure or not _is_dear(counters.marking_fraction * paced, case)
    return [
        CAUSE.finding(
            Severity.INFO if is_over or by_stops else Severity.WARNING,
            cost.capitalised() + counted_pace(counters) + _mostly(sites, case),
            cpu_fraction=counters.cpu_fraction * paced,
            evidence=(*counted_evidence(case, counters), *_site_evidence(sites, case)),
            next_step=_next_step(sites, room, case, counters.live_bytes),
            sites=sites,
            missing_call=of_garbage(case, sites),
            confidence="likely" if is_over or not is_unsure else "possible",
            now=not is_over,
        )
    ]


def _by_cpu_profile(case: Case) -> list[Finding]:
    """Return a finding by a CPU profile, if no file counts collections: a share of the CPU used."""
    taken, forcing = costly_cpu_profile(case), case.facts.callers.collecting
    if taken is None or any(caller.path == taken.path for caller in forcing):
        return []  # reported by forced-gc
    sites = allocating_sites(case)
    most = _mostly(sites, case)
    return [
        CAUSE.finding(
            Severity.WARNING,
            text("The GC takes {} of the CPU in the profile{}", Share(taken.fraction), most),
            evidence=(
                *cpu_profile_evidence(taken),
                *_site_evidence(sites, case),
            ),
            next_step=_next_step(sites, _room_for(case), case),
            sites=sites,
            missing_call=of_garbage(case, sites),
            confidence="possible",  # a profile does not count collections
        )
    ]


def _site_evidence(sites: tuple[Site, ...], case: Case) -> tuple[Evidence, ...]:
    since = " since the first profile" if len(case.facts.profiles.paths) > 1 else ""
    field = f"alloc_space{since}: {{}}, with library calls"
    return site_evidence(case.facts.profiles.last_path, field, sites)


def _mostly(sites: tuple[Site, ...], case: Case) -> Text:
    """Say who allocates most, as the end of a title; empty without a profile that shows this."""
    if not sites:
        return Text()
    part = part_words(sites[0].share, case.thresholds)
    return text("; {} of the allocation is from {}", part, sites[0].words)


def _next_step(
    sites: tuple[Site, ...], room: Text, case: Case, live_bytes: float | None = None
) -> Text:
    """Return the next step: see who allocates most, by a profile, and give the GC more room.

    If GOGC is well below the default, the default comes first: it needs no change of the program.
    """
    shows = top_of_last(case, _ALLOCATED) if sites else TAKE_ALLOCS
    less = text("Allocate less in {}", sites[0].words) if sites else _LESS
    default = _default_gogc(case, live_bytes)
    step = text(_REMEDY, shows, less)
    return sentences(default, step, "" if default else room, pooling_words(case, sites))


def _default_gogc(case: Case, live_bytes: float | None) -> Text:
    """Advise the default GOGC and say its cost, if GOGC is known or inferred to be well below it.

    An inferred GOGC counts only if its upper bound is below the default too.
    """
    gogc = case.facts.settings.gogc
    if gogc is None or isinstance(gogc.value, str) or not (gogc.is_stated or gogc.is_inferred):
        return Text()
    most = DEFAULT_GOGC * case.thresholds.small_room_fraction
    at_most = max(gogc.value, gogc.high) if gogc.is_inferred else gogc.value
    if not at_most <= most:
        return Text()
    goal = 2 * (live_bytes or 0.0)
    costs = text("; the heap goal becomes about {}", Bytes(round(goal)))
    now, command = scaled_gogc(gogc, DEFAULT_GOGC / gogc.value)
    return text("Set GOGC back to the default ({}{}): {}.", now, costs if goal else "", command)


def _room(log: CollectorFacts, case: Case) -> tuple[Text, tuple[Evidence, ...]]:
    """Return how to give GC more room, and the present room that the advice multiplies.

    The advice is a larger GOGC. If goals leave little room, the advice is to find out why, and has
    no number.
    """
    usual = log.pacing.usual
    share, room = usual.headroom_fraction, usual.headroom_bytes
    if share < case.thresholds.small_room_fraction:
        return _small_room(share, case), ()
    cited = {"headroom_p50_bytes": room} if room > 0 else {}
    return _room_for(case, room), known(log.path, "B", cited)


def _room_for(case: Case, room_bytes: float = 0.0) -> Text:
    return _more_room(case.facts.settings.gogc, room_bytes, with_limit=limit_exists(case))


def _small_room(share: float | None, case: Case) -> Text:
    by_limit = ", and for a GOMEMLIMIT that lowers the goal" if limit_exists(case) else ""
    words = "The heap goal is only {} above the live heap: check for a low GOGC{}."
    return text(words, Share(share), by_limit)
