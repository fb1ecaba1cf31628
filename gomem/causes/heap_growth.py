"""What the program holds keeps growing: the sign of a leak.

GOGC lets the heap swing between one collection and the next; what is held does not swing. If it
grows in a line, and still grows at the end, somebody keeps what is no longer needed, or the work
grows. As an expert would put it:

1. The evidence, best first: a series of heap profiles, which names the stack whose objects in use
   rise; the log, in which each collection prints what it marked; MemStats or runtime/metrics at
   several moments, HeapAlloc and what collections marked; and last the resident memory of the
   arenas, which cannot tell garbage and kept memory from what is held. One is enough. That another
   is too thin to tell (a log of few collections) says nothing against it; only a HeapAlloc that has
   filled and stays does, because it has all that is held.
2. It grows if the slope's whole interval lies above zero, the error of sampling included, over five
   moments at least, whatever reads it: four are in order by chance in one of twelve. So it does if
   all that is in use rises in each of five profiles, and one site has half of that. Where there
   are three or four, it is `possible` if each has more than the one before, in a line, what
   collections marked rises with it, and it at least doubles, by tens of MiB: chance is not in a
   line, and garbage is not marked. A log of so few collections is called thin. One of a start-up
   shows how the heap fills, in however many; and one that ends before the moments are half through
   is of the start, if they do not go on as it says. What was watched for a short time may go up and
   down with the work, unless the slope's interval lies between half of it and twice as much.
3. It has not stopped. What filled at the start and has stayed since is a working set; a step is no
   slope; what rises and falls by half of its range is a batch or a cache with eviction. Profiles
   that repeat each other are silence: it has stopped if what the slope would have added meanwhile
   must have brought a collection.
4. It matters: some MiB, and a tenth of what is held. What one stack gains and others lose is a
   change of phase: the sum must rise with it. And HeapAlloc, which has all that is held, or what
   collections marked must rise with it between the same moments: else the first profile lagged. How
   much it is, MemStats say best, without the garbage; profiles lag by two collections, so what they
   show is the least: all that rises in them, not the largest site's part alone.
5. It is named: who allocates what stays, and where that is Go's own library (`io.ReadAll`,
   `strings.(*Builder).grow`), the program's function that called it.
6. Where goroutines pile up, what they hold is theirs: that is `goroutine-leak`, and this a note. It
   is another's if a site that is not theirs rises over five profiles; fewer do not tell two leaks
   from one, whose goroutines are handed what somebody else allocates. That too is `possible`, no
   more: what goroutines refer to, no file says.
7. A mark is a reading, and moments between which no collection ran show the same one: it takes as
   many marks as moments. What rises in HeapAlloc, and by fewer, is thin: that is said.

A cache that fills during all of the capture looks the same, so a short watch is `possible`; a long
one, or two kinds of evidence that agree, is `likely`. What knows its own slope to less than half of
it agrees with nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.collector.live_heap import FEWEST_CYCLES
from gomem.analysis.profiles.growth import LEAST_MOMENTS
from gomem.analysis.series.trends import FEWEST, HALF, SURE_FROM, WELL_KNOWN, is_steady, shape_of
from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Lack, Severity
from gomem.causes.goroutines import goroutines_hold, goroutines_pile_up, goroutines_rise
from gomem.units import format_bytes, format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.live_heap import LiveHeap
    from gomem.analysis.memory.held_heap import HeldHeap
    from gomem.analysis.profiles.growth import GrowingSite, Series
    from gomem.analysis.series.trends import Trend
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds


def find(case: Case) -> list[Finding]:
    """One finding, from the best evidence that the heap grows."""
    held = case.facts.held_heap
    if held is not None and held.stopped:
        return []
    limits = case.thresholds
    rises = [_of_log(case), _of_moments(case)]
    seen = [one for one in rises if one is not None and _matters(one.grown, one.last, limits)]
    site = case.facts.profiles.growing_site
    if site is not None and not (_is_kept(site, case) and (seen or _is_leak(site, limits))):
        site = None
    if site is None:
        seen = [one for one in seen if _is_known(one, limits)]
        if not seen:
            return _resident(case)
    return [_finding(site, seen, case)]


def lack(case: Case) -> Lack | None:
    """What rises by enough in a log, over moments or in profiles alone, of too few collections."""
    return _lack_of_log(case) or _lack_of_moments(case) or _lack_of_profiles(case)


def _lack_of_profiles(case: Case) -> Lack | None:
    """Where nothing else says what is held, what is in use rises by much, and no site surely does.

    As most profiles repeat what an earlier one says, or as few objects are sampled.
    """
    series, limits = case.facts.profiles.heap_series, case.thresholds
    if series is None or case.facts.held_heap is not None or case.facts.collector is not None:
        return None
    totals, contents = series.totals, len(series.moments)
    first, last = float(totals.iloc[0]), float(totals.iloc[-1])
    if contents < FEWEST or not _is_large(last - first, first, limits):
        return None
    few = contents < LEAST_MOMENTS
    if not ((totals.diff().dropna() > 0).all() if few else _goes_on(series, case)):
        return None
    names = series.moments["moment"]
    paths = [case.facts.profiles.path(str(name)) for name in (names.iloc[0], names.iloc[-1])]
    profiles = contents + len(series.repeated)
    new = f"{format_count(contents)} of them say something new"
    return Lack(
        CAUSE.code,
        seen=f"what is in use rises from {format_bytes(first)} to {format_bytes(last)} over "
        f"{format_count(profiles)} heap profiles",
        had=f"{new}: the others repeat the collection before"
        if few
        else f"{new}, and no site surely rises in these",
        needed=format_count(LEAST_MOMENTS) if few else "more of them",
        next_step="Take heap profiles until more collections have run: a profile shows what the "
        "collection before the last found.",
        evidence=(
            Evidence(paths[0], "inuse_space", round(first), "B"),
            Evidence(paths[1], "inuse_space", round(last), "B"),
            Evidence(paths[1], "profiles with something new", contents, "count"),
        ),
    )


def _goes_on(series: Series, case: Case) -> bool:
    """Whether all that is in use rises to the end, and no rule has an answer to that."""
    seconds, totals = series.moments["seconds"].to_numpy(float), series.totals.to_numpy(float)
    since = np.array(series.since_seconds) if series.since_seconds else seconds
    if shape_of(seconds, totals, since_seconds=since) != "ramp" or find(case):
        return False
    until = seconds[-1] if series.until_seconds is None else series.until_seconds
    slope = (totals[-1] - totals[0]) / (seconds[-1] - seconds[0])
    return not _has_stopped(slope, until - seconds[-1], totals[-1], case)


def _lack_of_moments(case: Case) -> Lack | None:
    held, series, limits = case.facts.held_heap, case.facts.profiles.heap_series, case.thresholds
    seen = None if held is None else held.without_direction
    if held is None or seen is None or case.facts.collector is not None or goroutines_pile_up(case):
        return None
    if series is not None and len(series.moments) >= limits.growth_profiles:
        return None  # enough to name a site, and none of them rises
    if not _is_large(seen.grown, seen.first, limits):
        return None
    told = [one for one in case.facts.moments if one.memstats is not None]
    first, last = told[-seen.moments], told[-1]
    return Lack(
        CAUSE.code,
        seen=f"the heap in use rises from {format_bytes(seen.first)} to {format_bytes(seen.last)} "
        f"over {format_count(seen.moments)} moments",
        had=f"collections ran in {format_count(held.marks - 1)} of the "
        f"{format_count(seen.moments - 1)} intervals between them",
        needed=f"{format_count(SURE_FROM - 1)} such intervals, to tell what is held from garbage",
        next_step="Take MemStats again when more collections have run. " + _TAKE_TWO,
        evidence=(
            Evidence(first.path("memstats"), "HeapAlloc", int(seen.first), "B"),
            Evidence(last.path("memstats"), "HeapAlloc", int(seen.last), "B"),
            Evidence(last.path("memstats"), "collections in between", held.collections, "count"),
        ),
    )


def _lack_of_log(case: Case) -> Lack | None:
    log = case.facts.collector
    if case.facts.held_heap is not None or case.facts.profiles.heap_series is not None:
        return None
    live = None if log is None else log.longest_run
    if log is None or live is None or live.slope_bytes_per_second is not None or find(case):
        return None
    grown = live.last_bytes - live.first_bytes
    if live.cycles < FEWEST or not _is_large(grown, live.first_bytes, case.thresholds):
        return None
    return Lack(
        CAUSE.code,
        seen=f"collections marked {format_bytes(live.first_bytes)} at first and "
        f"{format_bytes(live.last_bytes)} at last",
        had=f"there are {format_count(live.cycles)} of them, without those that first filled the "
        "heap",
        needed=f"{format_count(FEWEST_CYCLES)} for a slope",
        next_step="Let the log run on under load: GODEBUG=gctrace=1. " + _TAKE_TWO,
        evidence=(
            Evidence(log.path, "heap_live_first_bytes", live.first_bytes, "B"),
            Evidence(log.path, "heap_live_last_bytes", live.last_bytes, "B"),
            Evidence(log.path, "cycles", live.cycles, "count"),
        ),
    )


_TAKE_TWO = (
    "Take two heap profiles some minutes apart and look at what grew between them: go tool pprof "
    "-diff_base, or gomem compare."
)
_LOOK_AT_LAST = (
    "Look at who holds the most in the last heap profile: gomem top. These profiles have too few "
    "collections between them to show which site grows: take two further apart."
)
_WATCH = " Watch for longer, too: a cache that fills looks the same."
_IN_PROFILES = (
    "A heap profile counts what a collection found in use. What rises in one profile after "
    "another, and has not levelled off, is kept by somebody. The slope is the median over all "
    "pairs of profiles, and its least includes the error of sampling. A profile is as old as the "
    "collection before the last, and the larger the heap, the rarer collections are: more may be "
    "kept by now than it shows, and it may grow faster."
)
_IN_MOMENTS = (
    "HeapAlloc counts what is in use and the garbage that no collection has found yet. The goal of "
    "the next cycle follows from what a collection marked: where both rise in a line, over several "
    "collections, it is not garbage. How much is held is what was marked, and of what was "
    "allocated since, the share that usually stays. The slope is the median over all pairs of "
    "moments."
)
_OF_GOROUTINES = (
    "The number of goroutines grows with it: what a goroutine refers to is kept as long as it "
    "waits. See goroutine-leak."
)
_RESIDENT = (
    "Nothing here says how much of the resident heap is in use: it may be garbage, or free memory "
    "that the runtime keeps. A heap that only reaches its goal grows, too, and then stops."
)
_TAKE_MEMSTATS = (
    "Take heap profiles (/debug/pprof/heap) or MemStats beside it, at five moments or more: they "
    "tell what is held from garbage, and name who allocates."
)
CAUSE = Cause(
    code="heap-growth",
    mechanism="Each collection prints what it marked: everything that is still reachable, whatever "
    "GOGC allows on top. The slope is the median of the slopes between all pairs of collections, "
    "from where the live heap first reached its own median; so neither the filling at the start "
    "nor a few odd collections can make it.",
    remedy=_TAKE_TWO + _WATCH,
    references=("golang.org/doc/gc-guide", "net/http/pprof"),
    bears_on=("growth", "allocations"),
    rule=find,
    lack=lack,
    needed_moments=3,
)


@dataclass(frozen=True)
class _Rise:
    """What is held, as one kind of evidence without names sees it rise.

    Attributes:
        what: How a title calls it.
        slope: In bytes a second; by moment where `seconds` is None.
        low: Lower end of its 95 % interval.
        high: Upper end of the same.
        grown: In bytes, over the time that was looked at.
        last: At its end.
        seconds: How long that is; None if only the order of the moments is known.
        moments: How many readings.
        moment: The last of them; None for a log.
        evidence: What proves it.
        mechanism: Why it proves it; empty for the cause's own words.
        by_few_marks: Whether fewer marks stand behind it than it takes moments to be sure.
    """

    what: str
    slope: float
    low: float
    high: float
    grown: float
    last: float
    seconds: float | None
    moments: int
    moment: str | None
    evidence: tuple[Evidence, ...]
    mechanism: str = ""
    by_few_marks: bool = False

    @property
    def words(self) -> str:
        """How fast, how much, in what time."""
        if self.seconds is None:
            return f"{format_bytes(self.grown)} over {self.moments} moments"
        return (
            f"{format_bytes(self.slope)}/s ({format_bytes(self.low)}/s to "
            f"{format_bytes(self.high)}/s): {format_bytes(self.grown)} in "
            f"{format_seconds(self.seconds)}"
        )


def _matters(grown: float, last: float, limits: Thresholds) -> bool:
    """Whether it is enough to matter."""
    return grown >= max(limits.growth_bytes, limits.growth_fraction * last)


def _is_known(rise: _Rise, limits: Thresholds) -> bool:
    """Whether its slope is known within half and twice as much, or it was watched for long."""
    known = is_steady(rise.slope, rise.low) and rise.slope >= HALF * rise.high
    return known or (rise.seconds or 0.0) >= limits.growth_sure_seconds


def _is_large(grown: float, first: float, limits: Thresholds) -> bool:
    """Whether it is enough to be said after few readings."""
    return grown >= limits.growth_few_bytes and first + grown >= limits.growth_few_ratio * first


def _is_leak(site: GrowingSite, limits: Thresholds) -> bool:
    """Whether it was seen often enough, or by few profiles rises steadily, and by much."""
    if site.contents >= limits.growth_profiles:
        return True
    return is_steady(site.slope, site.low) and _is_large(site.grown, site.first, limits)


def _is_kept(site: GrowingSite, case: Case) -> bool:
    """Whether it matters, shows in the sum, and still goes on."""
    limits = case.thresholds
    return (
        _matters(site.grown, site.in_use, limits)
        and not _only_lagged(site, case)
        and site.in_use_grown >= limits.growth_in_sum_fraction * site.grown
        and not _has_stopped(site.slope, site.silent_seconds, site.in_use, case)
    )


def _has_stopped(slope: float, silent_seconds: float, in_use: float, case: Case) -> bool:
    """Whether what a slope adds while profiles repeat must have brought a collection."""
    return slope * silent_seconds > (1 + case.facts.gogc_fraction) * in_use


def _only_lagged(site: GrowingSite, case: Case) -> bool:
    """Whether MemStats of the first and the last profile say that nothing more is held.

    HeapAlloc has garbage too, and marks are as old as the last collection: one of them rises.
    """
    grown = [one for one in _grown_since(site, case) if one is not None]
    least = case.thresholds.growth_in_sum_fraction * site.grown
    return len(grown) > 1 and max(grown) < least


def _grown_since(site: GrowingSite, case: Case) -> tuple[float | None, float | None]:
    """By how much HeapAlloc and marks grew between the first and the last profile."""
    by_name = {one.name: one for one in case.facts.moments if one.memstats is not None}
    before, after = by_name.get(site.since), by_name.get(site.moment)
    if before is None or before.memstats is None or after is None or after.memstats is None:
        return None, None
    allocated = float(after.memstats["HeapAlloc"]) - float(before.memstats["HeapAlloc"])
    first, last = (case.facts.marked_bytes(one) for one in (before, after))
    return allocated, last - first if first and last else None


def _of_log(case: Case) -> _Rise | None:
    """The run that was watched longest, if its live heap surely grows, and still does."""
    log = case.facts.collector
    live = None if log is None else log.longest_run
    if log is None or live is None or live.grown_bytes is None or not live.goes_on:
        return None
    if _is_of_the_start(live, case.facts.held_heap):
        return None
    assert live.slope_bytes_per_second is not None
    assert live.slope_low is not None
    assert live.slope_high is not None
    if live.slope_low <= 0 or live.seconds < case.thresholds.growth_log_seconds:
        return None
    slope = live.slope_bytes_per_second
    return _Rise(
        "the live heap",
        slope,
        live.slope_low,
        live.slope_high,
        live.grown_bytes,
        live.last_bytes,
        live.seconds,
        live.cycles,
        None,
        (
            Evidence(log.path, "heap_live_first_bytes", live.first_bytes, "B"),
            Evidence(log.path, "heap_live_last_bytes", live.last_bytes, "B"),
            Evidence(log.path, "live_slope_bytes_per_second", slope, "B/s"),
            Evidence(log.path, "live_slope_low_bytes_per_second", live.slope_low, "B/s"),
            Evidence(log.path, "live_slope_high_bytes_per_second", live.slope_high, "B/s"),
            Evidence(log.path, "cycles", live.cycles, "count"),
        ),
    )


def _is_of_the_start(live: LiveHeap, held: HeldHeap | None) -> bool:
    """Whether moments were watched for twice as long, and hold less than half of what it adds."""
    seconds = None if held is None else held.allocated.seconds
    if held is None or seconds is None or live.seconds >= HALF * seconds:
        return False
    grown = max(one.grown for one in (held.allocated, held.marked) if one is not None)
    return grown < HALF * (live.slope_bytes_per_second or 0.0) * seconds


def _of_moments(case: Case) -> _Rise | None:
    """HeapAlloc or the marks of the moments, if they grow, and still do."""
    held = case.facts.held_heap
    if held is None:
        return None
    few = held.may_be_rising
    if few is not None and not _is_large(few.grown, few.first, case.thresholds):
        few = None
    trend = held.rising or few
    if trend is None:
        return None
    told = [one for one in case.facts.moments if one.memstats is not None]
    first, last = told[-trend.moments], told[-1]
    field = "HeapAlloc" if trend is held.allocated else held.marked_field
    evidence = [
        Evidence(one.path("memstats"), field, int(value), "B")
        for one, value in ((first, trend.first), (last, trend.last))
    ]
    count = Evidence(last.path("memstats"), "collections in between", held.collections, "count")
    what = "the heap in use" if trend is held.allocated else "what collections mark"
    if trend is held.allocated and held.held is not None and held.held.low > 0:
        what, trend = "what the heap holds", held.held
    rise = _of_trend(what, trend, last.name, (*evidence, count), _IN_MOMENTS)
    return replace(rise, by_few_marks=held.marks < SURE_FROM)


def _of_trend(
    what: str, trend: Trend, moment: str, evidence: tuple[Evidence, ...], mechanism: str
) -> _Rise:
    return _Rise(
        what,
        trend.slope,
        trend.low,
        trend.high,
        trend.grown,
        trend.last,
        trend.seconds,
        trend.moments,
        moment,
        evidence,
        mechanism,
    )


def _finding(site: GrowingSite | None, rises: list[_Rise], case: Case) -> Finding:
    """The sites by the profiles; how fast by whatever knows that best."""
    best = _best(rises)
    if site is not None and best is not None and _is_better_known(site, best):
        best = None
    limits = case.thresholds
    sure = [one for one in rises if one.moments >= SURE_FROM and not one.by_few_marks]
    sees = site is not None and site.low > 0 and site.contents >= limits.growth_profiles
    by_site = (site,) if sees else ()
    seconds = [one.seconds for one in (*by_site, *sure) if one.seconds is not None]
    long = max(seconds, default=0.0) >= limits.growth_sure_seconds
    agree = len(by_site) + sum(is_steady(one.slope, one.low) for one in sure) > 1
    theirs = goroutines_hold(case, site)
    whose = theirs or not goroutines_rise(case)
    return CAUSE.finding(
        Severity.INFO if theirs else Severity.WARNING,
        _title(site, best, case),
        moment=site.moment if site is not None else best.moment if best is not None else None,
        size=round(best.grown if best is not None else _told_of(site, limits)),
        evidence=(
            *(item for one in rises for item in one.evidence),
            *(() if site is None else _of_site(site, case)),
        ),
        mechanism=_OF_GOROUTINES if theirs else _IN_PROFILES if best is None else best.mechanism,
        next_step=_next(site, case) + ("" if long else _WATCH),
        confidence="likely" if whose and (long or agree) else "possible",
    )


def _is_better_known(site: GrowingSite, best: _Rise) -> bool:
    """Whether the site's slope is; not where MemStats say how much it is, which profiles lag by.

    But a log that ends before the profiles are half through has not seen the rest.
    """
    if best.moment is not None and best.seconds is not None:
        return False
    if best.seconds is not None and best.seconds < HALF * site.seconds:
        return True
    return _doubt(best) > max(WELL_KNOWN, _doubt(site))


def _best(rises: list[_Rise]) -> _Rise | None:
    """Of those whose slope is well known, the one that watched longest; else the best known."""
    known = [one for one in rises if _doubt(one) <= WELL_KNOWN]
    if known:
        return max(known, key=lambda one: one.seconds or 0.0)
    return min(rises, key=_doubt, default=None)


def _doubt(rise: _Rise | GrowingSite) -> float:
    """How wide the interval is, against the slope; without times, nothing is known of it."""
    return float("inf") if rise.seconds is None else (rise.high - rise.low) / rise.slope


def _title(site: GrowingSite | None, best: _Rise | None, case: Case) -> str:
    if best is None:
        assert site is not None
        by = f"by at least {format_bytes(site.low)}/s: " if site.low > 0 else "by "
        text = (
            f"what {site.who} allocates is kept, and grows {by}"
            f"at least {format_bytes(site.grown)} in {format_seconds(site.seconds)}"
        )
        in_all = _told_of(site, case.thresholds)
        if in_all > site.grown:
            return f"{text}, of at least {format_bytes(in_all)} that came and stayed in all"
        return text
    text = f"{best.what} grows by {best.words}, to {format_bytes(best.last)}"
    if site is None:
        return text
    share = min(1.0, site.grown / max(site.in_use_grown, 1.0))
    return f"{text}; {site.who} allocates {format_fraction(share)} of what stays"


def _told_of(site: GrowingSite | None, limits: Thresholds) -> float:
    """What rises in all, where that is clearly more than what the site's part does."""
    assert site is not None
    more = site.grown_in_all - site.grown >= limits.growth_fraction * site.grown
    return site.grown_in_all if more else site.grown


def _of_site(site: GrowingSite, case: Case) -> tuple[Evidence, ...]:
    path = case.facts.profiles.path(site.moment)
    field = f"inuse_space of {site.function}"
    return (
        Evidence(path, f"{field}, in the first profile", round(site.first), "B"),
        Evidence(path, field, round(site.last), "B"),
        Evidence(path, "profiles", site.profiles, "count"),
    )


def _next(site: GrowingSite | None, case: Case) -> str:
    if site is None:
        return _LOOK_AT_LAST if len(case.facts.profiles.paths) > 1 else _TAKE_TWO
    return (
        f"Look at who keeps what {site.who} returns: go tool pprof -peek, or the section on growth "
        "in gomem report."
    )


def _resident(case: Case) -> list[Finding]:
    """A note, where nothing but the arenas' resident memory is known, and it rises."""
    if (
        any(one.memstats is not None for one in case.facts.moments)
        or case.facts.collector is not None
    ):
        return []
    trend = case.facts.resident_heap
    if case.facts.profiles.heap_series is not None or trend is None or not trend.rises:
        return []
    if not _matters(trend.grown, trend.last, case.thresholds):
        return []
    told = [one for one in case.facts.moments if one.arenas_rss_bytes is not None]
    evidence = tuple(
        Evidence(one.path("smaps"), "Rss of the Go heap", one.arenas_rss_bytes or 0, "B")
        for one in (told[0], told[-1])
    )
    rise = _of_trend("the resident Go heap", trend, told[-1].name, evidence, _RESIDENT)
    return [
        CAUSE.finding(
            Severity.INFO,
            f"{_title(None, rise, case)}; whether that is in use, no file says",
            moment=rise.moment,
            size=round(rise.grown),
            evidence=evidence,
            mechanism=_RESIDENT,
            next_step=_TAKE_MEMSTATS,
            confidence="possible",
        )
    ]
