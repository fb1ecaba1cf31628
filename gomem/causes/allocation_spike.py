"""Memory jumps for a moment, and the heap profile taken afterwards shows nothing.

As an expert would put it:

1. A burst that a profile happens to meet stands in it as a level: what is in use is several times
   the usual, and comes back. Who has more of it at the top than before is the site.
2. A burst between two profiles is garbage by the time of the later one. But allocations are
   counted from the start and never forgotten: the interval that holds far more than the others,
   and more than the heap itself, has it, with the sites. Its own rate is no part of the usual.
3. A profile lags by up to two collections, so an interval may hold what the earlier profiles did
   not show yet, above all the last one where the program forces a collection at its end. A spike
   stands out even from what is usual in all the time that the interval may show, and is gone
   again: what was allocated and stays is growth. Intervals without news (no collection ran) count
   as intervals; profiles taken at once make none. With two other rates the higher is the usual,
   and the finding a note.
4. What jumps once and has not come back is a step: the level, the function and the time are said,
   and that it may be what the program is meant to hold. It needs several profiles at the usual
   level before it, each with a content of its own (where collections are rare, a ramp looks like a
   step), and two after it. A level as usual as the old one is a phase of the program.
5. Where there are no profiles, HeapAlloc over the moments says the same, without a site. But
   garbage is in it: below twice the usual goal, what is held may go up and down as it always does,
   what is high more than once, and is not marked so, may be a saw-tooth, and what is high for
   several moments a wave of the load. Each is a note.
6. A burst that comes again and again, a job every few seconds, is the usual itself: no interval
   stands out where most hold one. Its level tells it: what is in use, or what collections marked,
   rises at once from its lows, more than once, and is low in between. Garbage is in neither. That
   is a fact, and may be what the program is for: a note, with how often, how high, and whose it is.
   So it is of what is high for half of the time, or may have been between two readings, even
   where the lows can be called the usual, and even if it came once: that is no exception.
7. A buffer that is gone before a profile meets it is counted all the same: a single object as large
   as all that is in use, in some intervals and not in most, was there in one piece. A note, too.
8. A log alone says as much by what its collections marked; whose it is, it does not say.
9. A profile shows what a collection met: at least so much was in use at once.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.profiles.allocation_spikes import TOO_FEW
from gomem.causes.cause import Cause
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.facts.moment import LIVE
from gomem.units import format_bytes, format_fraction, format_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.profiles.allocation_spikes import Spike
    from gomem.analysis.profiles.level_jumps import InUseBursts, InUseJump
    from gomem.analysis.series.bursts import Bursts
    from gomem.analysis.series.jumps import Jump
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts

SITES = 3  # named as evidence


def find(case: Case) -> list[Finding]:
    """One finding, of what stands out most clearly: a level, bursts, an interval, a step.

    But what is high again and again for half of the time is how the program works, and an interval
    that has one of several bursts is as usual as they are.
    """
    limits, profiles = case.thresholds, case.facts.profiles
    spike, bursts, jump = profiles.spike, profiles.bursts, profiles.jump
    if bursts is not None and not _come_again(bursts.levels, bursts.profiles, limits):
        bursts = None
    if jump is not None and not _jumps(jump, limits):
        jump = None
    if jump is not None and jump.levels.came_back and (bursts is None or _is_rare(bursts, limits)):
        return [_of_level(jump, case)]
    if bursts is not None:
        return [_of_bursts(bursts, case)]
    if spike is not None and _stands_out(spike, limits):
        sites = spike.allocated[spike.allocated["state"] == "more"].head(SITES)
        if len(sites):
            return [_of_interval(spike, sites, case)]
    if jump is not None and _is_step(jump, limits):
        return [_of_level(jump, case)]
    large = _of_large_object(case)
    return large or _of_moments(case) or _of_marks(case) or _of_log(case)


_REMEDY = (
    "Look at who calls {who} with input of unknown size: bound what it reads (io.LimitReader, "
    "http.MaxBytesReader), stream it, or bound how many do so at once. To see the callers: gomem "
    "top --base the earlier profile, --cum, by {by}."
)
_STAYS = (
    "Look at what {who} was given to load or to build at that time, and whether it is meant to "
    "stay: gomem top --base the earlier profile, by inuse_space. A later profile says whether it "
    "has gone."
)
_MEANT = (
    "If this is a job that is meant to be, its peak is what a limit must leave room for. If not, "
    "look at who calls {who}, and whether it can work on less at once (stream it, do one after "
    "another): gomem top --base a profile before, by inuse_space, --cum."
)
_AGAIN = (
    "What is in use at a burst was there all at once, each time, a buffer with its whole "
    "capacity; between two readings there may have been more. The heap goal follows it up, so "
    "that the heap fills to twice as much, and what the runtime took from the kernel for it goes "
    "back slowly: the process needs its peak, not its average."
)
_LEVEL = (
    "What a heap profile shows in use was all there at once, a buffer with its whole capacity; "
    "between two profiles there may have been more. The heap goal of the next cycle rises with it, "
    "and what the runtime took from the kernel for it goes back slowly, or not at all."
)
_ONE_PIECE = (
    "What is allocated is counted from the program's start, and of objects so large each one is "
    "sampled. An object is there as a whole from its allocation on, so at least so much more was "
    "in use than the profiles show, which lag and meet it by chance."
)
_HEAP_ALLOC = (
    "HeapAlloc has the garbage that no collection has found yet, too; but at a usual goal that "
    "never makes it more than twice as much."
)
_TAKE_PROFILES = (
    "Take heap profiles periodically (gomem capture --every, or /debug/pprof/heap each minute): "
    "the difference of two by alloc_space names who allocated, even where nothing of it is left."
)
CAUSE = Cause(
    code="allocation-spike",
    mechanism="Allocations are counted from the program's start, and profiles count those that "
    "have since become garbage too: the difference of two profiles holds every byte of a spike, "
    "even where the later one has nothing of it in use. Until the collector has found it to be "
    "garbage, the spike needs memory of its own, and the heap goal of the next cycle rises with "
    "it. How much of it there was at once, no profile says: not more than that.",
    remedy=_REMEDY.format(who="the site that allocated most", by="alloc_space"),
    references=("io.LimitReader", "net/http.MaxBytesReader", "runtime.MemProfile"),
    bears_on=("moments", "allocations"),
    rule=find,
    needed_moments=9,
)


def _stands_out(spike: Spike, limits: Thresholds) -> bool:
    """Far above the usual, and most of it gone again; and more than the heap holds.

    The last is asked of what is beyond the usual of all the time that the interval may show: then
    the heap goal was passed within it.
    """
    levels = spike.in_use.sites
    in_use = float(min(levels["before"].sum(), levels["after"].sum()))
    return (
        spike.intervals >= limits.spike_intervals
        and spike.with_news >= limits.spike_rates
        and spike.allocated_bytes >= limits.spike_ratio * spike.usual_bytes
        and spike.beyond_lag_bytes >= max(limits.spike_bytes, in_use)
        and spike.kept_bytes <= limits.spike_kept_fraction * spike.extra_bytes
    )


def _jumps(jump: InUseJump, limits: Thresholds) -> bool:
    """Whether what is in use jumps far above the usual level."""
    return jump.profiles > limits.spike_intervals and _is_far(jump.levels, limits)


def _is_far(levels: Jump, limits: Thresholds) -> bool:
    return levels.extra >= limits.spike_bytes and levels.highest >= limits.jump_ratio * levels.usual


def _is_rare(levels: Jump | Bursts | InUseBursts, limits: Thresholds) -> bool:
    """Whether what is high is an exception, however long it may have been so between readings."""
    return levels.high_fraction < limits.spike_high_fraction


def _is_step(jump: InUseJump, limits: Thresholds) -> bool:
    """Whether it has not come back, and cannot be a ramp of which few profiles tell."""
    return jump.contents_before >= limits.step_contents and jump.levels.high >= limits.step_profiles


def _of_interval(spike: Spike, sites: pd.DataFrame, case: Case) -> Finding:
    largest = sites.iloc[0]
    function = str(largest["function"])
    share = format_fraction(min(1.0, largest["extra_bytes"] / spike.extra_bytes))
    before, after = case.facts.profiles.path(spike.before), case.facts.profiles.path(spike.after)
    named = [
        Evidence(after, f"alloc_space of {site['function']}", int(site["bytes"]), "B")
        for _, site in sites.iterrows()
    ]
    levels = spike.in_use.sites.set_index("function")["after"]
    in_use = int(levels.get(function, 0))
    few = spike.with_news <= TOO_FEW + 1
    sure = "certain" if largest["low"] > 0 else "likely"
    return CAUSE.finding(
        Severity.INFO if few else Severity.WARNING,
        f"{format_bytes(spike.allocated_bytes)} was allocated within "
        f"{format_seconds(spike.seconds)}, where {format_bytes(spike.usual_bytes)} is usual; "
        f"{_who(function, spike.caller)} allocated {share} of the excess",
        moment=spike.after,
        size=round(spike.extra_bytes),
        evidence=(
            Evidence(before, "seconds before the next", spike.seconds, "s"),
            Evidence(after, "alloc_space since then", round(spike.allocated_bytes), "B"),
            *named,
            Evidence(after, f"inuse_space of {function}", in_use, "B"),
        ),
        next_step=_REMEDY.format(who=function, by="alloc_space"),
        confidence="possible" if few else sure,
    )


def _of_level(jump: InUseJump, case: Case) -> Finding:
    levels, back = jump.levels, jump.levels.came_back
    rare = not back or _is_rare(levels, case.thresholds)
    more = jump.sites.sites[jump.sites.sites["change"] > 0].head(SITES)
    largest = more.iloc[0]
    function = str(largest["function"])
    who = _who(function, jump.caller)
    before, after = case.facts.profiles.path(jump.before), case.facts.profiles.path(jump.after)
    since = "and fell back" if back else "and has stayed there"
    sure = "certain" if largest["state"] in {"new", "grew"} else "likely"
    return CAUSE.finding(
        Severity.WARNING if rare and back else Severity.INFO,
        f"what is in use jumped by at least {format_bytes(round(levels.extra))}, from "
        f"{format_bytes(levels.usual)} to {format_bytes(levels.highest)} within "
        f"{format_seconds(jump.seconds)}, "
        f"{format_seconds(jump.at_seconds)} after the first profile, {since}; {who} has "
        f"{format_bytes(float(largest['change']))} more",
        moment=jump.after if back else jump.last,
        size=round(levels.extra),
        evidence=(
            Evidence(before, "seconds before the next", jump.seconds, "s"),
            Evidence(after, "inuse_space", round(levels.highest), "B"),
            Evidence(after, "inuse_space, usual", round(levels.usual), "B"),
            *(
                Evidence(after, f"inuse_space of {one['function']}", int(one["after"]), "B")
                for _, one in more.iterrows()
            ),
        ),
        mechanism=_LEVEL,
        next_step=(_REMEDY if back else _STAYS).format(who=function, by="inuse_space"),
        confidence=sure if back and rare else "possible",
    )


def _of_large_object(case: Case) -> list[Finding]:
    """A single object that heap profiles count, and do not show in use."""
    limits = case.thresholds
    large = case.facts.profiles.large_objects(limits.spike_bytes)
    if large is None or large.of_intervals < limits.spike_intervals:
        return []
    highest = large.usual_bytes + large.object_bytes
    if highest < limits.jump_ratio * large.usual_bytes:
        return []
    if large.intervals > limits.spike_high_fraction * large.of_intervals:
        return []
    after, function = case.facts.profiles.path(large.after), large.function
    finding = CAUSE.finding(
        Severity.INFO,
        f"an object of {format_bytes(large.object_bytes)} is there in one piece now and then, in "
        f"{large.intervals} of {large.of_intervals} intervals between heap profiles, which show "
        f"{format_bytes(large.usual_bytes)} in use; {_who(function, large.caller)} allocates it",
        moment=large.after,
        size=large.object_bytes,
        evidence=(
            Evidence(after, f"size of an object of {function}", large.object_bytes, "B"),
            Evidence(after, "intervals with such an object", large.intervals, "count"),
            Evidence(after, "intervals in all", large.of_intervals, "count"),
            Evidence(after, "inuse_space, usual", round(large.usual_bytes), "B"),
        ),
        mechanism=_ONE_PIECE,
        next_step=_REMEDY.format(who=function, by="alloc_space"),
        confidence="likely",
    )
    return [finding]


def _of_moments(case: Case) -> list[Finding]:
    """By HeapAlloc, where it jumps over the usual and comes back."""
    limits, levels = case.thresholds, case.facts.heap_alloc_jump
    told = [one for one in case.facts.moments if one.memstats is not None]
    if levels is None or len(told) <= limits.spike_intervals or _is_rhythm(case):
        return []
    if not (levels.came_back and _is_far(levels, limits)):
        return []
    peak = told[levels.peak]
    marks, several = case.facts.marked_bursts, max(levels.times, levels.high) >= limits.burst_count
    marked = marks is not None and _is_rare(marks, limits)
    rare = _is_rare(levels, limits) and (marked or not several)
    rare = rare and levels.highest >= limits.jump_ratio * _usual_goal(told)
    finding = CAUSE.finding(
        Severity.WARNING if rare else Severity.INFO,
        f"HeapAlloc jumped from {format_bytes(levels.usual)}, which is usual, to "
        f"{format_bytes(levels.highest)}, and fell back",
        moment=peak.name,
        size=round(levels.extra),
        evidence=(
            Evidence(peak.path("memstats"), "HeapAlloc", round(levels.highest), "B"),
            Evidence(peak.path("memstats"), "HeapAlloc, usual", round(levels.usual), "B"),
        ),
        mechanism=_HEAP_ALLOC,
        next_step=_TAKE_PROFILES,
        confidence="likely" if rare else "possible",
    )
    return [finding]


def _usual_goal(told: Sequence[MomentFacts]) -> float:
    """The median of the goals that moments tell; 0 if none does."""
    goals = [one.memstats["NextGC"] for one in told if one.memstats is not None]
    known = [float(goal) for goal in goals if pd.notna(goal)]
    return median(known) if known else 0.0


def _is_rhythm(case: Case) -> bool:
    """Whether what collections mark is high again and again, and for long."""
    limits, marks = case.thresholds, case.facts.marked_bursts
    if marks is None or not _come_again(marks, len(case.facts.marking), limits):
        return False
    return not _is_rare(marks, limits)


def _come_again(levels: Bursts, readings: int, limits: Thresholds) -> bool:
    """Whether there are several, far above what is low between them."""
    return (
        readings > limits.spike_intervals
        and len(levels.each) >= limits.burst_count
        and levels.extra >= limits.spike_bytes
        and levels.highest >= limits.jump_ratio * levels.low
    )


def _of_bursts(bursts: InUseBursts, case: Case) -> Finding:
    """What is in use rises again and again."""
    levels = bursts.levels
    more = bursts.sites.sites[bursts.sites.sites["change"] > 0].head(SITES)
    function = str(more.iloc[0]["function"])
    who = _who(function, bursts.caller)
    before, after = case.facts.profiles.path(bursts.before), case.facts.profiles.path(bursts.after)
    return CAUSE.finding(
        Severity.INFO,
        f"what is in use comes in bursts: {len(levels.each)} seen in "
        f"{format_seconds(bursts.seconds)}, the highest by at least "
        f"{format_bytes(round(levels.extra))}, from {format_bytes(levels.low)} to "
        f"{format_bytes(levels.highest)}; {who} has "
        f"{format_bytes(float(more.iloc[0]['change']))} more then",
        moment=bursts.last,
        size=round(levels.extra),
        evidence=(
            Evidence(before, "inuse_space, usual low", round(levels.low), "B"),
            Evidence(after, "inuse_space", round(levels.highest), "B"),
            Evidence(after, "bursts", len(levels.each), "count"),
            *(
                Evidence(after, f"inuse_space of {one['function']}", int(one["after"]), "B")
                for _, one in more.iterrows()
            ),
        ),
        mechanism=_AGAIN,
        next_step=_MEANT.format(who=who),
        confidence="possible",
    )


def _of_marks(case: Case) -> list[Finding]:
    """What collections marked rises again and again."""
    told, levels = case.facts.marking, case.facts.marked_bursts
    if levels is None or not _come_again(levels, len(told), case.thresholds):
        return []
    top, last = told[levels.top.peak], told[levels.each[-1].last]
    evidence = (
        Evidence(told[levels.top.before].path("memstats"), "marked", round(levels.low), "B"),
        Evidence(top.path("memstats"), "marked", round(levels.highest), "B"),
        *rss_evidence(top),
    )
    counted = all(LIVE in one.metrics for one in told)  # else goals tell it, by GOGC
    what, watched = "what collections mark", f"{len(told)} moments"
    return [_of_marked(what, levels, watched, evidence, moment=last.name, counted=counted)]


def _of_log(case: Case) -> list[Finding]:
    """What collections marked by the log rises again and again."""
    log, limits = case.facts.collector, case.thresholds
    found = None if log is None else log.live_bursts
    if log is None or found is None or not _come_again(found.levels, found.cycles, limits):
        return []
    levels = found.levels
    evidence = (
        Evidence(log.path, "heap_live_bytes, usual low", round(levels.low), "B"),
        Evidence(log.path, "heap_live_bytes, highest", round(levels.highest), "B"),
        Evidence(log.path, "bursts", len(levels.each), "count"),
    )
    return [_of_marked("the live heap", levels, format_seconds(found.seconds), evidence)]


def _of_marked(
    what: str,
    levels: Bursts,
    watched: str,
    evidence: tuple[Evidence, ...],
    *,
    moment: str | None = None,
    counted: bool = True,
) -> Finding:
    """Bursts of what collections marked, which met no more; whose they are, nothing says."""
    size = round(levels.extra)
    least = f"the highest by at least {format_bytes(size)}, " if counted else ""
    return CAUSE.finding(
        Severity.INFO,
        f"{what} comes in bursts: {len(levels.each)} seen in {watched}, {least}from "
        f"{format_bytes(levels.low)} to {format_bytes(levels.highest)}"
        + ("" if counted else " at the most"),
        moment=moment,
        size=size,
        evidence=evidence,
        mechanism=_AGAIN,
        next_step=_TAKE_PROFILES,
        confidence="possible",
    )


def _who(function: str, caller: str) -> str:
    """A site, and the program's function for which it allocates."""
    return f"{function} for {caller}" if caller not in ("", function) else function
