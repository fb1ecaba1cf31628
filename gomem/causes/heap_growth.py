"""The live heap keeps growing: a leak, or a cache that is still filling.

Between collections the heap rises and falls; the live heap does not. The live heap over time is
read from the GC log, heap goals or profiles (`analysis.memory.live_heap`).
If the live heap has grown enough to matter, a score estimates the probability that the growth is
real. The score uses the linearity of the rise, whether the live heap stays below HeapAlloc, the
share of the capture that the rise covers, its duration, and the number of kinds of evidence. The
finding names the program's own functions with more in-use memory in the last profile than in the
first.

A short series is not enough, because a cache that is still filling looks the same; the finding is
then only `possible`, and says how long to keep capturing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import ROUNDING_BYTES, ROUNDING_ERROR
from gomem.analysis.memory.groups import LIVE
from gomem.analysis.memory.live_heap import PROFILES
from gomem.analysis.profiles.sizes import LARGEST as LARGEST_CLASS
from gomem.analysis.series.level import LATE
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import (
    GROWTH,
    finalizers_hold_up,
    grows,
    has_stopped,
    is_brief,
    matters,
    printed_bytes,
    probability,
    read_from,
)
from gomem.causes.commands import CAPTURE, sentences, since_baseline, top, with_files
from gomem.causes.evidence import known, rise_evidence, watched_evidence
from gomem.causes.finding import Evidence, Finding, Lack, Severity, Site
from gomem.causes.goroutines import goroutines_hold, goroutines_pile_up, grown_elsewhere
from gomem.causes.grown_in_one_file import (
    KEEPS,
    NAME_IT,
    NO_TREND,
    SEE_CALLERS,
    WATCH,
    WORK,
    of_arenas,
    of_delta,
    of_printed,
    of_rss,
    of_site,
)
from gomem.causes.missing_call import kept_words, of_a_site, of_goroutines
from gomem.causes.multiplying_series import of_series
from gomem.causes.of_library import library_of
from gomem.causes.sites import (
    aging_words,
    called_by,
    growing_sites,
    holding_sites,
    share_words,
    site_evidence,
    whole_evidence,
)
from gomem.facts.told_beside import ended_well
from gomem.text import Bytes, Count, Function, Rate, Seconds, Text, text

if TYPE_CHECKING:
    from gomem.analysis.memory.live_heap import LiveHeap
    from gomem.analysis.retention.described import Keeper
    from gomem.analysis.series.level import Level, Rise


def find(case: Case) -> list[Finding]:
    """Return one finding, if the live heap grows to the end, or with the series of a metric."""
    found = _by_level(case)
    return found if any(finding.sites for finding in found) else of_series(case, CAUSE) or found


def _by_level(case: Case) -> list[Finding]:
    live, thresholds = case.facts.live_heap, case.thresholds
    if live is None:
        ways = (of_delta, of_rss, of_printed, of_arenas)
        return next(filter(None, (way(case, CAUSE) for way in ways)), [])
    if live.rise is None or is_brief(live, live.rise, case) or has_stopped(case):
        return []
    if not grows(case):
        is_of_profiles = live.level.source == PROFILES and matters(live.rise, thresholds)
        found = of_rss(case, CAUSE) if is_of_profiles else []
        return found or of_site(case, CAUSE)
    sure = probability(case)
    is_likely = (
        sure >= thresholds.likely_probability
        and len(live.agreeing) >= thresholds.growth_likely_kinds
        and live.rise.readings > thresholds.growth_readings  # a direction, and one to confirm it
        and not goroutines_pile_up(case)  # who might hold it
        and not _is_bounded(live.level)
    )
    return [_finding(live, live.rise, case, confidence="likely" if is_likely else "possible")]


def lack(case: Case) -> Lack | None:
    """Return a `Lack` if the rise is large, but there are too few readings to show a direction."""
    live, thresholds = case.facts.live_heap, case.thresholds
    rise = None if live is None else live.rise
    if live is None or rise is None or rise.readings >= thresholds.growth_readings or grows(case):
        return None
    if has_stopped(case):
        return None
    is_large = rise.grown >= thresholds.growth_few_bytes
    if not is_large or rise.ratio < thresholds.growth_few_ratio:
        return None
    return Lack(
        GROWTH,
        seen=text(
            "the live heap rose from {} to {}", Bytes(round(rise.first)), Bytes(round(rise.last))
        ),
        had=Text(Count(rise.readings, "reading")),
        needed=Text(Count(thresholds.growth_readings)),
        next_step=WATCH,
        evidence=tuple(_evidence(live, rise, case)),
    )


SEEN_IN = {"log": "gctrace log", "marks": "live heap at each snapshot", "profiles": "heap profiles"}
_ONE_MORE = "Take more heap profiles: {}. Then see which functions have grown since the first: {}."
CAUSE = Cause(
    code=GROWTH,
    mechanism="A collection marks what is reachable; GOGC only decides how much garbage can "
    "accumulate on top of the live heap. So the marked (live) heap is what the program still "
    "references. If it keeps growing, the program never drops the references, or a cache is still "
    "filling.",
    remedy=NAME_IT,
    references=("golang.org/doc/gc-guide", "net/http/pprof"),
    bears_on=("growth", "allocations"),
    rule=find,
    claims=frozenset({LIVE}),
    lack=lack,
    needed_moments=3,
)


def _finding(live: LiveHeap, rise: Rise, case: Case, *, confidence: str) -> Finding:
    sites, grown = holding_sites(case), growing_sites(case)
    holds = goroutines_hold(case, grown)
    elsewhere = grown_elsewhere(case, grown) if holds else ()
    sites, theirs = elsewhere or sites, holds and not elsewhere
    missing = of_goroutines(case) if theirs else of_a_site(case, sites)
    kept = "" if theirs or missing else kept_words(case, sites)
    ended = ended_well(case.facts.capture)
    is_explained = theirs or finalizers_hold_up(case) or bool(ended)
    return CAUSE.finding(
        Severity.INFO if is_explained else Severity.WARNING,
        _elsewhere_title(elsewhere)
        if elsewhere
        else _title(live, rise, sites, case, has_ended=bool(ended)),
        moment=next((moment.name for moment in reversed(case.facts.moments)), None)
        or next(reversed([*case.facts.profiles.paths]), None),
        size=round(sum(site.change for site in elsewhere) or live.grown_to_the_end),
        evidence=(
            *_evidence(live, rise, case),
            *_site_evidence(sites, case),
            *_keeper_evidence(sites, case),
            *(Evidence(path, "the program's work", "done", "") for path in filter(None, [ended])),
        ),
        mechanism=_GOROUTINE_MECHANISM
        if theirs
        else sentences(_mechanism(live, sites, case), _ELSEWHERE if elsewhere else ""),
        next_step=sentences(
            kept, _INPUT_HALVED if ended else _next_step(rise, case, () if missing else sites)
        ),
        confidence=confidence,
        sites=sites,
        missing_call=missing,
    )


_GOROUTINE_MECHANISM = (
    "Waiting goroutines hold everything they refer to. That is most likely the growth seen here; "
    "goroutine-leak counts it too."
)
_ELSEWHERE = (
    "Goroutines pile up too, but these functions and their callers are of packages that none of "
    "the waiting stacks has: this part is a second cause."
)
_LAG = (
    " A heap profile shows the heap at an earlier GC, so the rate is rough, and usually an "
    "underestimate: the true rate can be up to three times as high."
)


def _mechanism(live: LiveHeap, sites: tuple[Site, ...], case: Case) -> Text:
    readings = 0 if live.rise is None else live.rise.readings
    step = f" {NO_TREND}" if readings < case.thresholds.growth_readings else ""
    rough = _LAG if live.level.source == PROFILES else ""
    words = (CAUSE.mechanism, step, rough, _slowing(live.rise), _burst(live), _unseen(live))
    said = text("{}{}{}{}{}{}", *words)
    is_theirs = finalizers_hold_up(case)
    return sentences(said, aging_words(case, sites), "" if is_theirs else _part_words(sites))


_A_PART = (
    "{} allocates {} at a time. A substring or subslice keeps all of it alive: if only a part is "
    "needed, copy it with strings.Clone or bytes.Clone."
)


def _part_words(sites: tuple[Site, ...]) -> Text:
    """Say that a part of a large object retains all of it; empty for small ones, or a library's."""
    is_own = bool(sites) and sites[0].function == sites[0].own_function
    size = sites[0].object_bytes if is_own else None
    if size is None or size <= LARGEST_CLASS:
        return Text()
    return text(_A_PART, Function(sites[0].own_function), Bytes(size))


def _slowing(rise: Rise | None) -> Text:
    """Say that the growth slows down, with its rate in the first and last third of the time."""
    if rise is None or not rise.slows:
        return Text()
    said = " It slows down, as a cache does while it fills: {} in the first third, {} in the last."
    third = rise.seconds * LATE
    rates = (share * rise.grown / third for share in (rise.early_share, rise.late_share))
    return text(said, *(Rate(rate) for rate in rates))


def _unseen(live: LiveHeap) -> Text:
    """Say how long before the end the last reading is, if readings are closer than that."""
    level = live.level
    if level.watched is None or live.burst_at_end is not None:
        return Text()
    late = level.watched[1] - float(level.seconds[-1])
    said = " That reading is of a GC {} before the capture ended; what came since is unknown."
    is_far = late > level.span_seconds / max(1, len(level) - 1)
    return text(said, Seconds(late)) if is_far else Text()


def _burst(live: LiveHeap) -> Text:
    """Say that the last reading falls in a burst; empty if it does not."""
    last = live.burst_at_end
    said = " The last reading, {}, falls in a burst and is not counted."
    return Text() if last is None else text(said, Bytes(round(last)))


BETWEEN_BURSTS = "live heap outside bursts"


def _title(
    live: LiveHeap, rise: Rise, sites: tuple[Site, ...], case: Case, *, has_ended: bool
) -> Text:
    is_step = rise.readings < case.thresholds.growth_readings  # as far as anything shows
    what = "Leak, filling cache or burst" if is_step else KEEPS
    is_about = live.level.source == PROFILES or _is_bounded(live.level)
    grows = text(
        "{}: {}{}the live heap {} by {} and {} {}{}",
        WORK if has_ended else what,
        "" if live.earlier_run is None else f"in run {live.earlier_run} of the log, ",
        "outside bursts " if live.rises_between_bursts else "",
        "grew" if has_ended else "grows",
        text("about {}", Rate(rise.rate, rise.low, rise.high)) if is_about else _rate(rise, case),
        "reached" if has_ended else "has reached",
        _reached(live, rise, case),
        "" if live.burst_at_end is None else " before the last burst",
    )
    keeper = _keeper(sites, case)
    if keeper is not None:
        grows = text("{}; held by {}", grows, Function(keeper.name))
    if not sites:
        return grows
    library, whose, part = library_of(case, sites), sites[0].words, sites[0].share
    if library is not None and library.says_more:
        whose, part = library.words, library.share
    share = share_words(part, case.thresholds)
    is_growth = case.facts.profiles.growth_holders is not None
    what = "the growth" if is_growth else "inuse_space"
    return text("{}; {} of {} is from {}", grows, share, what, whose)


def _elsewhere_title(sites: tuple[Site, ...]) -> Text:
    """Say what grew beside the goroutines that pile up."""
    grown = Bytes(round(sum(site.change for site in sites)))
    words = "{}: {} more live heap from {}{}, beside the goroutines that pile up"
    more = text(" and {} more", Count(len(sites) - 1, "function")) if sites[1:] else ""
    return text(words, KEEPS, grown, sites[0].words, more)


def _rate(rise: Rise, case: Case) -> Text:
    """The rate; the least or the most that it can be, if its bounds are far apart."""
    if rise.low <= 0:
        return text("up to {}", Rate(rise.high, rise.low, rise.high))
    if rise.low < case.thresholds.most_share * rise.high:
        return text("at least {}", Rate(rise.low, rise.low, rise.high))
    return text("{}", Rate(rise.rate, rise.low, rise.high))


def _is_bounded(level: Level) -> bool:
    """Whether readings are the middle of wide bounds; profiles have errors of sampling."""
    return level.source != PROFILES and level.is_rough


def _reached(live: LiveHeap, rise: Rise, case: Case) -> Text:
    """The last level; of a rough one, both ends."""
    size, error = rise.last if live.rises_between_bursts else rise.reached, live.level.error_at(-1)
    if _is_bounded(live.level):
        return text("{} to {}", Bytes(round(size - error)), Bytes(round(size + error)))
    return text("{}", Bytes(_printed(size, -1, live, case)))


def _printed(size: float, at: int, live: LiveHeap, case: Case) -> int:
    """A reading as the log prints it; the last as the ledger has it, if both are of one GC."""
    moments = case.facts.moments
    marked = moments[-1].live_bytes if moments else None
    if at == -1 and marked is not None and abs(marked - size) < ROUNDING_BYTES:
        return marked
    return printed_bytes(size, live.level.error_at(at))


def _evidence(live: LiveHeap, rise: Rise, case: Case) -> list[Evidence]:
    path = read_from(live.level, case)
    slopes = {"slope": rise.rate}
    has_spread = rise.low < rise.high and rise.readings - 1 > 1  # intervals
    if has_spread and live.level.source != PROFILES:  # their lag is more, and unknown
        low, high = ("lower bound", "upper bound") if _is_bounded(live.level) else ("low", "high")
        slopes |= {f"slope, {low}": rise.low, f"slope, {high}": rise.high}
    return [
        *_levels(path, live, rise, case),
        *known(path, "B", {"live heap in the burst at the end": live.burst_at_end}),
        *known(path, "B/s", slopes),
        *watched_evidence(path, rise),
        *known(path, "count", {"readings": rise.readings}),
        Evidence(
            path,
            "source of the growth",
            "; ".join(SEEN_IN[kind] for kind in sorted(live.agreeing)),
            "",
        ),
    ]


_FIRST_OF_LOG = "live heap, first GC of the log"
_INPUT_HALVED = (
    "Run it again with half of the input: if the live heap at the end is half as large, it is the "
    "work that it keeps. Then hold less of it at a time."
)


def _levels(path: str, live: LiveHeap, rise: Rise, case: Case) -> tuple[Evidence, ...]:
    """Return the first and last level; between bursts, without the last reading."""
    sizes = (rise.first, 0), (rise.last, -1), (rise.reached, -1)
    first, last, reached = (_printed(size, at, live, case) for size, at in sizes)
    rise = replace(rise, first=first, last=last, reached=reached)
    if live.rises_between_bursts:
        return rise_evidence([path], BETWEEN_BURSTS, rise, has_last=False)
    what = "live heap"
    if _is_bounded(live.level):
        what = "midpoint of the live heap's bounds"
    rows = rise_evidence([path], what, rise)
    if live.level.error_at(0) != ROUNDING_ERROR or rise.are_medians:
        return rows
    return (replace(rows[0], field=_FIRST_OF_LOG), *rows[1:])


def _site_evidence(sites: tuple[Site, ...], case: Case) -> tuple[Evidence, ...]:
    profiles = case.facts.profiles
    path = profiles.path(profiles.grown_moment or "")
    if profiles.growth_holders is None:
        return site_evidence(path, "inuse_space of {}", sites)
    whole = whole_evidence(path, "inuse_space growth, all functions", sites)
    return (*whole, *site_evidence(path, "inuse_space growth in {}", sites))


def _keeper(sites: tuple[Site, ...], case: Case) -> Keeper | None:
    """Return what keeps the growing memory alive, from a heap dump."""
    kept = case.facts.kept
    named = {name for site in sites for name in (site.function, site.own_function)}
    return None if kept is None else kept.growing(named)


def _keeper_evidence(sites: tuple[Site, ...], case: Case) -> list[Evidence]:
    kept, keeper = case.facts.kept, _keeper(sites, case)
    if kept is None or keeper is None:
        return []
    return [Evidence(kept.dump, text("held by {}", Function(keeper.name)), keeper.bytes, "B")]


def _next_step(rise: Rise, case: Case, sites: tuple[Site, ...]) -> Text:
    profiles = [*case.facts.profiles.by_moment.values()]
    printed = bool(profiles) and profiles[-1].printed is not None
    # A printed table can only be compared with another one.
    paths = [each.source for each in profiles if (each.printed is not None) == printed]
    if not paths or (printed and not paths[1:]):
        return NAME_IT
    compared = top(paths[-1], paths[0]) if paths[1:] else since_baseline(case)
    if compared is None:
        return text(_ONE_MORE, CAPTURE, with_files("gomem top LAST --base {} --cum", *paths))
    is_short = rise.seconds < case.thresholds.growth_sure_seconds
    library = library_of(case, sites)
    who_calls = called_by(library.callers) if library is not None else ""
    return sentences(who_calls, text(SEE_CALLERS, compared), WATCH if is_short else "")
