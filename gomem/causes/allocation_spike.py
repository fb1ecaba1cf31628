"""Memory rises at once far above its base and comes back: a spike, or bursts that come again.

A level left its base (`facts.excursions`): what heap profiles have in use, what collections marked,
HeapAlloc beyond its goal, RSS. That it was at least twice as high, went up at once and came back is
a fact, and may be what the program is for: a note. It is a warning where it is an exception, not
what happens again and again or for half of the time, and a score says that such a case was a
trouble more often than not: by how much it rose, how, how often, and how many kinds of evidence saw
it.

What jumped and has stayed is growth, or something loaded: no spike.

A spike between two profiles stands in no level. But allocations are counted from the program's
start and never forgotten: the interval that has far more than the others, and more than the heap
itself, of which little is kept, has it with its sites. A profile lags by up to two collections, so
it must stand out even from what is usual in all the time that the interval may show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.allocation_spikes import TOO_FEW
from gomem.causes.cause import Cause
from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Finding, Severity, Site
from gomem.causes.scores import bounded_log, scores
from gomem.causes.sites import SITES, largest_sites, share_words, site_evidence
from gomem.facts.excursions import HEAP_ALLOC, MARKS, PROFILES, RSS
from gomem.text import Bytes, Count, Function, MomentName, Seconds, Share, Text, text
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.profiles.allocation_spikes import Spike
    from gomem.causes.case import Case
    from gomem.causes.finding import Evidence
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.excursions import Sighting
    from gomem.facts.profiles import ProfileFacts

CODE = "allocation-spike"
NAMES = {PROFILES: "the heap in use", MARKS: "the live heap", HEAP_ALLOC: "HeapAlloc", RSS: "RSS"}


def find(case: Case) -> list[Finding]:
    """One finding: of the clearest evidence of a level, else of an interval."""
    seen, spike = _standing_out(case), case.facts.profiles.spike
    is_clear = bool(seen) and seen[0].source in (PROFILES, MARKS)
    if spike is not None and not is_clear and _stands_out(spike, case.thresholds):
        return [_of_interval(spike, case)]
    return [_of_level(seen[0], case)] if seen else []


def features(case: Case) -> dict[str, float] | None:
    """What the score looks at; None where no level stands out."""
    seen = _standing_out(case)
    if not seen:
        return None
    excursion = seen[0].excursion
    return {
        "extra": bounded_log(excursion.extra / MIB),
        "climb_fraction": excursion.climb_fraction,
        "spread_fraction": excursion.spread_fraction,
        "times": bounded_log(min(excursion.times, case.thresholds.spike_times)),
        "kinds": float(len(seen)),
        "in_profiles": float(seen[0].source == PROFILES),
    }


def _standing_out(case: Case) -> list[Sighting]:
    """The evidence in which a level rose at once, far above its base, and came back."""
    limits = case.thresholds
    return [
        seen
        for seen in case.facts.excursions
        if (excursion := seen.excursion).extra >= limits.spike_bytes
        and excursion.highest >= limits.jump_ratio * max(excursion.base, seen.swing_bytes)
        and excursion.climb_fraction <= limits.spike_climb_fraction
        and excursion.back_fraction >= limits.spike_back_fraction
    ]


def is_far_above_the_usual(spike: Spike, limits: Thresholds) -> bool:
    """Whether far more was allocated than in the other intervals, of which there are enough."""
    return bool(
        spike.with_news >= limits.spike_rates
        and spike.allocated_bytes >= limits.spike_ratio * spike.usual_bytes
        and spike.beyond_lag_bytes >= limits.spike_bytes
        and (spike.allocated["state"] == "more").any()
    )


def why_no_spike(profiles: ProfileFacts, capture: str) -> str:
    """What a capture lacks where no interval is shown."""
    if profiles.spike is None:
        return f"{capture}: wanted two heap profiles that have a time"
    return f"{capture}: no interval between two heap profiles stands out; name one with at="


def _stands_out(spike: Spike, limits: Thresholds) -> bool:
    """Far above the usual, and most of it gone again; and more than the heap holds.

    The last is asked of what is beyond the usual of all the time that the interval may show: then
    the heap goal was passed within it.
    """
    levels = spike.in_use.sites
    in_use = float(min(levels["before"].sum(), levels["after"].sum()))
    return (
        is_far_above_the_usual(spike, limits)
        and spike.beyond_lag_bytes >= in_use
        and spike.kept_bytes <= limits.spike_kept_fraction * spike.extra_bytes
    )


_REMEDY = (
    "Look at who calls {} with input of unknown size: bound what it reads (io.LimitReader, "
    "http.MaxBytesReader), stream it, or bound how many do so at once. If this is a job that is "
    "meant to be, its peak is what a limit must leave room for."
)
_TAKE_PROFILES = (
    "Take heap profiles periodically (gomem capture --every, or /debug/pprof/heap each minute): "
    "the difference of two by alloc_space names who allocated, even where nothing of it is left."
)
_LEVEL = (
    "What heap profiles show in use, and what collections mark, was there all at once; between two "
    "readings there may have been more. The heap goal follows it up, and what the runtime took "
    "from the kernel for it goes back slowly: the process needs its peak, not its average."
)
_WITH_GARBAGE = (
    "RSS and HeapAlloc have garbage that no collection has found yet, too; at a usual goal that "
    "makes them no more than twice as much. What the runtime took from the kernel for a spike goes "
    "back slowly: the process needs its peak, not its average."
)
CAUSE = Cause(
    code=CODE,
    mechanism="Allocations are counted from the program's start, and profiles count those that "
    "have since become garbage too: the difference of two profiles holds every byte of a spike, "
    "even where the later one has nothing of it in use. Until the collector has found it to be "
    "garbage, the spike needs memory of its own, and the heap goal of the next cycle rises with "
    "it. How much of it there was at once, no profile says: not more than that.",
    remedy=_REMEDY.format("the site that allocated most"),
    references=("io.LimitReader", "net/http.MaxBytesReader", "runtime.MemProfile"),
    bears_on=("moments", "allocations"),
    rule=find,
    needed_moments=3,
)


def _of_level(seen: Sighting, case: Case) -> Finding:
    excursion, limits = seen.excursion, case.thresholds
    sure = scores()[CODE].probability(features(case) or {})
    is_rare = excursion.away_fraction < limits.spike_away_fraction
    is_exception = is_rare and excursion.times < limits.spike_times
    sites = largest_sites(seen.holders, limits)
    more: tuple[Evidence, ...] = ()
    if seen.profiles is not None:
        path = case.facts.profiles.path(seen.profiles[1])
        more = site_evidence(path, "more in {}", sites)
    return CAUSE.finding(
        Severity.WARNING if is_exception and sure >= limits.possible_probability else Severity.INFO,
        text("{}{}", _what(seen), _whose(seen, sites, limits)),
        moment=None if seen.source == MARKS else seen.last_moment,
        size=round(excursion.extra),
        evidence=(*_evidence(seen, case), *more),
        mechanism=_LEVEL if seen.source in (PROFILES, MARKS) else _WITH_GARBAGE,
        next_step=text(_REMEDY, sites[0].words) if sites else _TAKE_PROFILES,
        confidence="possible",  # what a program is for, no file says, however clear the level is
        sites=sites,
    )


def _what(seen: Sighting) -> Text:
    """How the level moved: once, or again and again."""
    excursion, name = seen.excursion, NAMES[seen.source]
    low, high = Bytes(round(excursion.base)), Bytes(round(excursion.highest))
    if excursion.times > 1:
        bursts = text("{} in {}", Count(excursion.times, "burst"), Seconds(excursion.seconds))
        return text("{}: {} rises from {} to {} and falls back", bursts, name, low, high)
    at = text(" at {}", MomentName(seen.peak_moment)) if seen.peak_moment else Text()
    return text("Spike: {} rose from {} to {}{} and fell back", name, low, high, at)


def _whose(seen: Sighting, sites: tuple[Site, ...], limits: Thresholds) -> Text:
    """Who has it: of what is in use, or of all that was allocated meanwhile."""
    if not sites:
        return Text()
    words, share = sites[0].words, sites[0].share
    if seen.source == PROFILES:
        return text("; {} was allocated by {}", share_words(share, limits), words)
    return text("; {} made {} of what was allocated meanwhile", words, Share(share))


def _evidence(seen: Sighting, case: Case) -> tuple[Evidence, ...]:
    """The level in numbers, and RSS at its highest reading."""
    excursion, name = seen.excursion, NAMES[seen.source]
    moment = case.facts.by_moment.get(seen.peak_moment)
    rss = () if moment is None else rss_evidence(moment)
    if seen.source == PROFILES:
        path = case.facts.profiles.path(seen.peak_moment)
    elif seen.level.source == "log" or moment is None:
        path = "gctrace" if case.facts.collector is None else case.facts.collector.path
    elif seen.source == RSS:
        path = rss[0].artefact if rss else moment.name
    else:
        path = moment.path("memstats")
    sizes = {f"{name}, base": excursion.base, f"{name}, highest": excursion.highest}
    return (
        *known(path, "B", sizes),
        *known(path, "count", {"times that it left its base": excursion.times}),
        *known(path, "", {"share of the time away from it, at most": excursion.away_fraction}),
        *(() if seen.source in (MARKS, RSS) else rss),
    )


def _of_interval(spike: Spike, case: Case) -> Finding:
    sites = spike.allocated[spike.allocated["state"] == "more"].head(SITES)
    function = str(sites.iloc[0]["function"])
    whose = Site(function, spike.caller or function)
    before, after = case.facts.profiles.path(spike.before), case.facts.profiles.path(spike.after)
    in_use = int(spike.in_use.sites.set_index("function")["after"].get(function, 0))
    is_start = spike.before == next(iter(case.facts.profiles.in_order), None)
    few = is_start or spike.with_news <= TOO_FEW + 1  # what was usual before, nothing says
    allocated: dict[str, float | None] = {
        text("alloc_space of {}", Function(name)): int(size)
        for name, size in zip(sites["function"], sites["bytes"], strict=True)
    }
    return CAUSE.finding(
        Severity.INFO if few else Severity.WARNING,
        text(
            "Spike: {} was allocated in {}, where {} is usual; {} of the excess by {}",
            Bytes(round(spike.allocated_bytes)),
            Seconds(spike.seconds),
            Bytes(round(spike.usual_bytes)),
            Share(min(1.0, float(sites.iloc[0]["extra_bytes"]) / spike.extra_bytes)),
            whose.words,
        ),
        moment=spike.after,
        size=round(spike.extra_bytes),
        evidence=(
            *known(before, "s", {"seconds before the next": spike.seconds}),
            *known(after, "B", {"alloc_space since then": spike.allocated_bytes}),
            *known(after, "B", allocated),
            *known(after, "B", {text("inuse_space of {}", Function(function)): in_use}),
        ),
        next_step=text(_REMEDY, whose.words),
        confidence="possible" if few else "likely",
        sites=(whose,),
    )
