"""Memory rises suddenly far above its baseline and falls back: a spike, or recurring bursts.

The levels are inuse_space in heap profiles, the marked heap, HeapAlloc beyond its goal, and RSS
(`facts.excursions`). The rule reports a level that at least doubled, rose suddenly and fell back.
The program might be meant to work like this, so the finding is a note. It is a warning if the level
is rarely high and a score says that most similar cases were problems. The score uses the size of
the rise, its shape, its frequency, and the number of kinds of evidence.

A level that jumped and stayed is growth or loaded data, not a spike.

No level shows a spike between two profiles, but the runtime counts allocations from the program's
start. So the rule looks for an interval in which the program allocated far more than in the other
intervals, and more than the heap holds, and retained little of it. The profiles of that interval
show the sites. A profile lags by up to two collections, so the interval must stand out even from
the usual allocation over the longest time that the profile can cover. A spike in the first or the
last interval is a note: no file shows the usual level before the spike, or that the spike ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.profiles.allocation_spikes import TOO_FEW, Spike
from gomem.analysis.series.excursion import LOW
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import printed_bytes, read_from
from gomem.causes.commands import CAPTURE, sentences, top
from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.missing_call import of_garbage
from gomem.causes.scores import bounded_log, probability_of
from gomem.causes.sites import (
    SITES,
    allocating_sites,
    largest_sites,
    part_words,
    share_words,
    site_evidence,
    whole_evidence,
)
from gomem.facts.excursions import ALLOCATED, HEAP_ALLOC, MARKS, PROFILES, RSS, Sighting
from gomem.facts.told_beside import asks_for_gc
from gomem.text import Bytes, CaptureName, Count, Function, MomentName, Seconds, Text, text
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.series.excursion import Excursion
    from gomem.analysis.series.level import Level
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.profiles import ProfileFacts

CODE = "allocation-spike"
NAMES = {PROFILES: "inuse_space", MARKS: "the live heap", HEAP_ALLOC: "HeapAlloc", RSS: "RSS"}


def find(case: Case) -> list[Finding]:
    """Return one finding: from the level with the clearest evidence, else from an interval.

    If memory filled up at the same time and was dropped, the interval would name what allocates
    most in place of what filled up, so the level is reported, as a note.
    """
    seen, spike = _standing_out(case), case.facts.profiles.spike
    is_clear = bool(seen) and seen[0].source in (PROFILES, MARKS)
    if spike is not None and not is_clear and _stands_out(spike, case.thresholds):
        filled = [each for each in _returning(case) if each.source == PROFILES]
        return [_of_level(filled[0], case) if filled else _of_interval(spike, case)]
    return [_of_level(seen[0], case)] if seen and _matters(seen[0].excursion, case) else []


def _matters(excursion: Excursion, case: Case) -> bool:
    """Return whether bursts are rare, larger than a small program's work, or what a text asks."""
    limits = case.thresholds
    is_usual = excursion.times >= limits.spike_times and excursion.extra < limits.spike_usual_bytes
    return not is_usual or asks_for_gc(case.facts.capture)


def features(case: Case) -> dict[str, float] | None:
    """Return the inputs of the score; None if no level stands out."""
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
    """Return the evidence in which a level rose suddenly, far above its baseline, and fell back."""
    most = case.thresholds.spike_climb_fraction
    return [seen for seen in _returning(case) if seen.excursion.climb_fraction <= most]


def _returning(case: Case) -> list[Sighting]:
    """Return the evidence in which a level rose far above its baseline, and fell back."""
    limits = case.thresholds
    return [
        seen
        for seen in case.facts.excursions
        if (excursion := seen.excursion).extra >= limits.spike_bytes
        and excursion.highest >= limits.jump_ratio * max(excursion.base, seen.swing_bytes)
        and excursion.back_fraction >= limits.spike_back_fraction
        and not _is_usual(excursion, limits)
    ]


def _is_usual(excursion: Excursion, limits: Thresholds) -> bool:
    """Return whether the level is high in most readings and for most of the time."""
    high, away = excursion.high_fraction, excursion.away_fraction
    return min(high, away) > limits.spike_usual_fraction


def is_far_above_the_usual(spike: Spike, limits: Thresholds) -> bool:
    """Return whether an interval has far more allocation than the others, and these are enough."""
    return bool(
        spike.with_news >= limits.spike_rates
        and spike.allocated_bytes >= limits.spike_ratio * spike.usual_bytes
        and spike.beyond_lag_bytes >= limits.spike_bytes
        and (spike.allocated["state"] == "more").any()
    )


def why_no_spike(profiles: ProfileFacts, capture: str) -> Text:
    """Say why a capture shows no interval."""
    what = "no interval between two heap profiles stands out; name one with at="
    if profiles.spike is None:
        what = "needs two heap profiles with a time"
    return text("{}: {}", CaptureName(capture), what)


def _stands_out(spike: Spike, limits: Thresholds) -> bool:
    """Return whether a spike is far above the usual, mostly freed, and larger than the heap.

    The heap is compared with the excess over the usual allocation in all the time that the interval
    can cover; if the excess is larger, the heap exceeded its goal within the interval.
    """
    levels = spike.in_use.sites
    in_use = float(min(levels["before"].sum(), levels["after"].sum()))
    return (
        is_far_above_the_usual(spike, limits)
        and spike.beyond_lag_bytes >= in_use
        and spike.kept_bytes <= limits.spike_kept_fraction * spike.extra_bytes
    )


_REMEDY = (
    "See who allocates: {}. Limit the input of {} (io.LimitReader, http.MaxBytesReader), stream "
    "the input, or limit concurrent calls. If the program needs the peak, leave room for the peak "
    "in the memory limit."
)
_TAKE_PROFILES = text(
    "Take heap profiles to see which functions allocate: {}. Then diff two profiles by "
    "alloc_space, which includes memory that was freed.",
    CAPTURE,
)
_ALL_ALLOCATION = (
    "{} of alloc_space is from {}: {}. For the spike alone, diff a profile from before with one "
    "from after: {}."
)
_LEVEL = (
    "The highest reading is a lower bound for the peak: the heap can have been larger between "
    "readings. The heap goal rises with the spike, and the runtime releases memory slowly, so "
    "size the memory limit for the peak, not the average."
)
_NO_HELP = (
    "runtime.GC() would not lower this: each reading is what a GC left, and falls without a call."
)
_WITH_GARBAGE = (
    "RSS and HeapAlloc include garbage that no GC has found yet; under GOGC=100, garbage at most "
    "doubles HeapAlloc. The runtime releases memory slowly, so size the memory limit for the "
    "peak, not the average."
)
CAUSE = Cause(
    code=CODE,
    mechanism="Profiles count all allocations since the program started, including memory that "
    "was freed, so the difference of two profiles has every byte of a spike. Until the GC frees a "
    "spike, it takes memory and raises the next heap goal. The size is an upper bound: profiles "
    "do not say how much was in use at the same time.",
    remedy=text(_REMEDY, CAPTURE, "the largest site"),
    references=("io.LimitReader", "net/http.MaxBytesReader", "runtime.MemProfile"),
    bears_on=("moments", "allocations"),
    rule=find,
    needed_moments=3,
)


def _of_level(seen: Sighting, case: Case) -> Finding:
    excursion, limits = seen.excursion, case.thresholds
    sure = probability_of(CODE, features(case))
    is_rare = excursion.away_fraction < limits.spike_away_fraction
    is_exception = is_rare and excursion.times < limits.spike_times
    sites = largest_sites(seen.holders, limits)
    more: tuple[Evidence, ...] = ()
    if seen.profiles is not None:
        path = case.facts.profiles.path(seen.profiles[1])
        growth = f"{seen.held_in} growth"
        whole = whole_evidence(path, f"{growth}, all functions", sites)
        more = (*whole, *site_evidence(path, f"{growth} in {{}}", sites))
    return CAUSE.finding(
        Severity.WARNING if is_exception and sure >= limits.possible_probability else Severity.INFO,
        text("{}{}", _what(seen, case), _where(seen, sites, case)),
        moment=None if seen.source == MARKS else seen.last_moment,
        size=round(excursion.extra),
        evidence=(*_evidence(seen, case), *more),
        mechanism=_LEVEL if seen.source in (PROFILES, MARKS) else _WITH_GARBAGE,
        next_step=_next_step(seen, sites, case),
        confidence="possible",  # no file shows what is normal for the program
        sites=sites,
        missing_call=of_garbage(case, sites),
    )


def _next_step(seen: Sighting, sites: tuple[Site, ...], case: Case) -> Text:
    """Return the next step: look at the profiles around the peak, if there are any."""
    if not sites or seen.profiles is None:
        is_asked = seen.source == MARKS and asks_for_gc(case.facts.capture)
        return sentences(_NO_HELP if is_asked else "", _of_all_allocation(case))
    before, after = map(case.facts.profiles.path, seen.profiles)
    by_all = "--sample-type alloc_space --cum" if seen.held_in == ALLOCATED else "--cum"
    return text(_REMEDY, top(after, before, by_all), sites[0].words)


def _of_all_allocation(case: Case) -> Text:
    """Name the largest allocator in the profiles that there are; without any, ask for some."""
    paths, sites = list(case.facts.profiles.paths.values()), allocating_sites(case)
    if not paths or not sites:
        return _TAKE_PROFILES
    share = share_words(sites[0].share, case.thresholds)
    see = top(paths[-1], paths[0], "--sample-type alloc_space --cum")
    return text(_ALL_ALLOCATION, share.capitalize(), sites[0].words, see, CAPTURE)


def _heap_sys(seen: Sighting, case: Case) -> int | None:
    """Return the highest HeapSys if it rose far beyond the readings; None if it did not.

    HeapSys hardly ever falls. With GOGC=100, garbage alone doubles the live heap.
    """
    rows = [moment.memstats for moment in case.facts.of_last_process]
    sizes = [int(row["HeapSys"]) for row in rows if row is not None and pd.notna(row["HeapSys"])]
    most = max(sizes, default=0)
    rose = bool(sizes) and most - sizes[0] > case.thresholds.jump_ratio * seen.excursion.highest
    return most if rose and seen.source != RSS else None


def _name(seen: Sighting) -> str:
    """Name the level; an object that lived only between two profiles counts as in-use memory."""
    return "live objects" if _is_between(seen) else NAMES[seen.source]


def _as_read(seen: Sighting, case: Case) -> tuple[int, int]:
    """Return the usual level, or that before the only burst, and the highest reading.

    A log has whole MiB, rounded down.
    """
    excursion = seen.excursion
    before = float(seen.level.values[excursion.before])
    base = excursion.usual if excursion.times > 1 else before
    return _printed(base, seen, case), _printed(excursion.highest, seen, case)


def _printed(size: float, seen: Sighting, case: Case) -> int:
    """Return a reading as a log prints it."""
    marked = _marks(seen, case)
    if marked is None:
        return round(size)
    return printed_bytes(round(size), marked.error_at(int(np.abs(marked.values - size).argmin())))


def _marks(seen: Sighting, case: Case) -> Level | None:
    """Return what collections marked, if that is the level."""
    live = case.facts.live_heap
    return None if live is None or seen.source != MARKS else live.marked


def _is_between(seen: Sighting) -> bool:
    """Return whether the peak is an object that is in use in neither of two profiles."""
    return seen.source == PROFILES and seen.held_in == ALLOCATED


def _what(seen: Sighting, case: Case) -> Text:
    """Describe how the level moved: once, or repeatedly."""
    excursion, name = seen.excursion, _name(seen)
    low, high = map(Bytes, _as_read(seen, case))
    is_placed = seen.peak_moment and seen.source != MARKS  # marks have the log's own times
    at = text(" at {}", MomentName(seen.peak_moment)) if is_placed else Text()
    if excursion.times > 1:
        bursts = Count(excursion.times, "burst")
        end = "; the readings end in the last burst" if excursion.goes_on else " and fell back"
        return text("{}: {} rose to as much as {}{}{}", bursts, name, high, at, end)
    return text("Spike: {} rose from {} to {}{} and fell back", name, low, high, at)


def _where(seen: Sighting, sites: tuple[Site, ...], case: Case) -> Text:
    """Say who allocated most of the rise, or of all memory at that time; else what HeapSys says."""
    if not sites:
        most = _heap_sys(seen, case)
        return Text() if most is None else text("; HeapSys rose to {} and stays", Bytes(most))
    limits = case.thresholds
    words, share = sites[0].words, share_words(sites[0].share, limits)
    if seen.held_in == ALLOCATED:
        return text("; {} of the allocation at that time is from {}", share, words)
    return text("; {} of the rise is from {}", share, words)


def _evidence(seen: Sighting, case: Case) -> tuple[Evidence, ...]:
    """Return the level in numbers, and RSS at its highest reading."""
    excursion = seen.excursion
    name = f"{NAMES[PROFILES]} + largest new object" if _is_between(seen) else _name(seen)
    moment = case.facts.by_moment.get(seen.peak_moment)
    rss = () if moment is None else rss_evidence(moment)
    if seen.source == PROFILES:
        path = case.facts.profiles.path(seen.peak_moment)
    elif (marked := _marks(seen, case)) is not None or moment is None:
        path = read_from(seen.level if marked is None else marked, case)
    elif seen.source == RSS:
        path = rss[0].artefact if rss else moment.name
    else:
        path = moment.path("memstats")
    seconds = excursion.seconds if seen.is_timed else None
    is_telling = seen.is_timed and excursion.away_fraction <= case.thresholds.nearly_all_share
    away = excursion.away_fraction if is_telling else None
    base, highest = _as_read(seen, case)
    where = " outside bursts" if excursion.times > 1 else " before the burst"
    if excursion.times > 1 and excursion.spread_fraction > LOW:  # climbs, and no baseline
        where, base = ", lowest", _printed(float(seen.level.values.min()), seen, case)
    sizes = {f"{name}{where}": base, f"{name}, highest": highest}
    most = {"HeapSys, highest": _heap_sys(seen, case)}
    return (
        *known(path, "B", sizes),
        *known(path, "B", most),
        *known(path, "s", {"time watched": seconds}),
        *known(path, "count", {"bursts": excursion.times}),
        *known(path, "fraction", {"share of time in bursts, at most": away}),
        *(() if seen.source in (MARKS, RSS) else rss),
    )


def _of_interval(spike: Spike, case: Case) -> Finding:
    sites = spike.allocated[spike.allocated["state"] == "more"].head(SITES)
    function = str(sites.iloc[0]["function"])
    whose = Site(function, spike.caller or function)
    before, after = case.facts.profiles.path(spike.before), case.facts.profiles.path(spike.after)
    in_use = int(spike.in_use.sites.set_index("function")["after"].get(function, 0))
    # If `few`, nothing shows that it rose and fell.
    few = spike.is_at_end or spike.with_news <= TOO_FEW + 1
    share = min(1.0, float(sites.iloc[0]["extra_bytes"]) / spike.extra_bytes)
    allocated: dict[str, float | None] = {
        text("alloc_space of {}", Function(name)): int(size)
        for name, size in zip(sites["function"], sites["bytes"], strict=True)
    }
    return CAUSE.finding(
        Severity.INFO if few else Severity.WARNING,
        text(
            "Spike: {} allocated in {}, where {} is usual; {} from {}",
            Bytes(round(spike.allocated_bytes)),
            Seconds(spike.seconds),
            Bytes(round(spike.usual_bytes)),
            part_words(share, case.thresholds),
            whose.words,
        ),
        moment=spike.after,
        size=round(spike.extra_bytes),
        evidence=(
            *known(before, "s", {"time to the next profile": spike.seconds}),
            *known(after, "B", {"alloc_space since then": spike.allocated_bytes}),
            *known(after, "B", allocated),
            *known(after, "B", {text("inuse_space of {}", Function(function)): in_use}),
        ),
        next_step=text(_REMEDY, top(after, before, "--sample-type alloc_space --cum"), whose.words),
        confidence="possible" if few else "likely",
        sites=(whose,),
        missing_call=of_garbage(case, (whose,)),
    )
