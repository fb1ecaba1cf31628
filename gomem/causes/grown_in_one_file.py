"""Growth of the live heap that a file shows without several readings of the live heap.

A delta profile (`heap?seconds=30`), or a difference that pprof printed, is itself a growth. RSS
over time with one heap profile shows that memory grows, and who holds the heap. The arenas in smaps
alone show only that the heap grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.live_heap import PROFILES
from gomem.analysis.profiles.own_code import holders
from gomem.analysis.series.level import Level
from gomem.causes.checks import matters
from gomem.causes.commands import CAPTURE, sentences, top
from gomem.causes.evidence import all_of, known, rise_evidence, watched_evidence
from gomem.causes.finding import Finding, Severity
from gomem.causes.memory_rise import ends_of, measured, memory_evidence, memory_rise, path_of
from gomem.causes.missing_call import kept_words, of_a_site, of_growth
from gomem.causes.sites import (
    holding_sites,
    largest_sites,
    printed_sites,
    share_words,
    site_evidence,
)
from gomem.facts.profiles import IN_USE, that_count
from gomem.facts.told_beside import ended_well
from gomem.inputs.pprof.about import is_delta
from gomem.text import Bytes, Command, Rate, Seconds, Text, text

if TYPE_CHECKING:
    from gomem.analysis.series.level import Rise
    from gomem.causes.cause import Case, Cause
    from gomem.causes.finding import Site
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

KEEPS = "Leak or cache still filling"
WORK = "Work that a program has done, or a leak"
SEE_CALLERS = "See which callers cause the growth: {}."
WATCH = text(
    "Capture for longer, because a filling cache looks like a leak until it is full: {}.", CAPTURE
)
NAME_IT = text(
    "Take heap profiles to see which functions grow: {}. Then compare the last profile with the "
    "first: {}.",
    CAPTURE,
    Command("gomem top LAST --base FIRST --cum"),
)


@dataclass(frozen=True)
class _More:
    """What is more in use in one profile than in an earlier one."""

    grown: int
    path: str
    sites: tuple[Site, ...]
    since: Text  # from when
    mechanism: str
    moment: str | None = None
    seconds: float | None = None
    part: str = "the growth"  # that the sites are of
    # Beside a difference: what rises too, RSS or a working set, so that little growth is a note.
    beside: str = ""
    rise: Rise | None = None


def of_delta(case: Case, cause: Cause) -> list[Finding]:
    """Return a finding if the last heap profile is a delta, and much more was in use at its end."""
    profiles = case.facts.profiles
    deltas = [(name, profile) for name, profile in profiles.by_moment.items() if is_delta(profile)]
    if not deltas:
        return []
    moment, profile = deltas[-1]
    grown, seconds = _net(profile), profile.columns.duration_nanos / 1e9
    since = text("after {} ({})", Seconds(seconds), Rate(grown / seconds))
    sites, path = holding_sites(case), profile.source
    return _found(case, cause, _More(grown, path, sites, since, _DELTA, moment, seconds))


def of_printed(case: Case, cause: Cause) -> list[Finding]:
    """Return a finding if pprof printed a difference, or two tables, that have much more in use."""
    profiles, sites = case.facts.profiles, printed_sites(case)
    difference = profiles.printed_difference
    since = Text("in the second profile than in the first")
    if difference is not None:
        more = _More(_net(difference), difference.source, sites, since, _DIFFERENCE)
        what, rise = memory_rise(case)
        if rise is None or not matters(rise, case.thresholds):
            return _found(case, cause, more)
        rose = text("{}; {} rose from {} to {}", since, what, *ends_of(rise))
        return _found(case, cause, replace(more, since=rose, beside=what, rise=rise))
    tables = [
        (moment, profile)
        for moment, profile in that_count(IN_USE, profiles.by_moment).items()
        if profile.printed is not None
    ]
    if not tables[1:]:
        return []
    (_, before), (moment, after) = tables[0], tables[-1]
    first, last = before.total(IN_USE), after.total(IN_USE)
    if last < case.thresholds.growth_few_ratio * first:
        return []
    since = text("in the last table than in the first ({})", Bytes(first))
    more = _More(last - first, after.source, sites, since, _TABLES, moment, part=IN_USE)
    return _found(case, cause, more)


def _net(profile: Profile) -> int:
    """What a difference has more, less what it has less: a total would count both as a rise."""
    return int(profile.values(IN_USE).sum())


def _found(case: Case, cause: Cause, more: _More) -> list[Finding]:
    """Return the finding, if it is enough."""
    limits, is_large = case.thresholds, more.grown >= case.thresholds.growth_few_bytes
    if not is_large and (more.rise is None or more.grown < limits.growth_site_bytes):
        return []
    who, what = Text(), IN_USE if more.part == IN_USE else f"{IN_USE} growth"
    if more.sites:
        share = share_words(more.sites[0].share, case.thresholds)
        who = text("; {} of {} is from {}", share, more.part, more.sites[0].words)
    grows = "Leak, filling cache or burst: {} more in use {}{}"
    missing = of_a_site(case, more.sites)
    return [
        cause.finding(
            Severity.WARNING if is_large else Severity.INFO,
            text(grows, Bytes(more.grown), more.since, who),
            moment=more.moment,
            size=more.grown,
            evidence=(
                *known(more.path, "B", {"inuse_space, growth": more.grown}),
                *known(more.path, "s", {"time covered": more.seconds}),
                *(memory_evidence(more.beside, more.rise, case) if more.rise is not None else ()),
                *site_evidence(more.path, what + " in {}", more.sites),
            ),
            mechanism=more.mechanism,
            next_step=sentences("" if missing else kept_words(case, more.sites), NAME_IT),
            confidence="possible",
            sites=more.sites,
            missing_call=missing,
        )
    ]


NO_TREND = "Two readings cannot show a trend: a burst looks the same."
_SITES = (
    "The total hides who grows: what is constant, such as a full cache, can be most of it. "
    f"{NO_TREND} A heap profile shows the heap at an earlier GC."
)
_DELTA = (
    "A profile with a duration is the difference of two heap profiles: what was in use at its end, "
    f"less what was in use at its beginning. {NO_TREND} The total in use is unknown."
)
_DIFFERENCE = (
    "The table is a difference of two heap profiles: what was in use in the second, less what was "
    f"in use in the first. {NO_TREND} The table does not say how far apart they were taken."
)
_TABLES = f"Each table is what one heap profile has in use. {NO_TREND}"


def of_site(case: Case, cause: Cause) -> list[Finding]:
    """Return a finding if, by heap profiles alone, functions hold many times what they held.

    A constant cache can hide such growth in the total, or the whole heap can be small. Beside
    marked heaps, the total decides. Growth that is small, or could be by its sampling error, is a
    note, unless the stacks show what the library does not free.
    """
    facts, thresholds = case.facts, case.thresholds
    live, rows, sites = facts.live_heap, facts.profiles.growth_holders, _many_times_more(case)
    if live is None or rows is None or not sites:
        return []
    grown = round(sum(site.change for site in sites))
    if grown < thresholds.growth_site_bytes:
        return []
    missing, path = of_growth(case, sites), facts.profiles.last_path
    is_sure = sum(site.low for site in sites) >= thresholds.growth_bytes or missing is not None
    missing = missing or of_a_site(case, sites)
    held = float(rows.loc[rows["own_function"] == sites[0].own_function, "before"].iloc[0])
    sizes = Bytes(round(held + sites[0].change)), Bytes(round(held))
    seconds = live.level.span_seconds
    holds = "Leak, filling cache or burst: {} holds {} of live heap, up from {} {} earlier"
    return [
        cause.finding(
            Severity.WARNING if is_sure else Severity.INFO,
            text(holds, sites[0].words, *sizes, Seconds(seconds)),
            moment=facts.profiles.grown_moment,
            size=grown,
            evidence=(
                *known(path, "s", {"time covered": seconds}),
                *site_evidence(path, "inuse_space growth in {}", sites),
            ),
            mechanism=_SITES,
            next_step=sentences(
                "" if missing else kept_words(case, sites),
                text(SEE_CALLERS, top(path, next(iter(facts.profiles.paths.values())))),
                WATCH,
            ),
            confidence="possible",
            sites=sites,
            missing_call=missing,
        )
    ]


def _many_times_more(case: Case) -> tuple[Site, ...]:
    """Return the functions with most of the growth, by heap profiles alone; empty if unsure."""
    live, rows, thresholds = (
        case.facts.live_heap,
        case.facts.profiles.growth_holders,
        case.thresholds,
    )
    if live is None or rows is None or live.level.source != PROFILES:
        return ()
    if live.level.span_seconds < thresholds.growth_watch_seconds:
        return ()
    times = thresholds.growth_few_ratio
    is_more = ((rows["low"] > 0) & (rows["after"] >= times * rows["before"])).fillna(False)
    many_times = {*rows.loc[is_more, "own_function"]}
    sites = tuple(
        site for site in largest_sites(rows, thresholds) if site.own_function in many_times
    )
    sites = _rising_to_the_end(sites, case) if sites else ()
    return sites if sum(site.share for site in sites) >= thresholds.most_share else ()


def _rising_to_the_end(sites: tuple[Site, ...], case: Case) -> tuple[Site, ...]:
    """Return the sites that rise to the last profile; two profiles show no shape."""
    news = case.facts.profiles.of_in_use.news
    most = case.thresholds.growth_many_readings
    chosen = [news[place] for place in sorted({*np.linspace(0, len(news) - 1, most, dtype=int)})]
    seconds = np.array([new.seconds for new in chosen])
    rows = [holders(new.profile).set_index("own_function")["after"] for new in chosen]
    is_step = len(chosen) < case.thresholds.growth_readings

    def rises(site: Site) -> bool:
        held = np.array([float(row.get(site.own_function, 0.0)) for row in rows])
        rise = Level(PROFILES, seconds, held).rise
        return rise is not None and (is_step or rise.goes_on)

    return tuple(filter(rises, sites))


def of_rss(case: Case, cause: Cause) -> list[Finding]:
    """Return a finding if RSS, or a working set, rises steadily, and profiles name who holds it.

    Of the recorded processes whose RSS rises like this, nine of ten leak, in Go or in C. So the
    program's own function must hold most of the profile, and the profile a part of the growth.
    """
    facts, thresholds = case.facts, case.thresholds
    what, rise = memory_rise(case)
    difference = None if facts.profiles.paths else facts.profiles.printed_difference
    has_profiles = bool(facts.profiles.paths) or difference is not None
    sites = (holding_sites(case) or printed_sites(case)) if has_profiles else ()
    if rise is None or not sites or sites[0].share < thresholds.most_share:
        return []
    is_slowing = not rise.goes_on
    is_steady = rise.readings >= thresholds.growth_readings and (
        not is_slowing or _still_rises(rise, thresholds)
    )
    if not is_steady or not matters(rise, thresholds) or rise.ratio < thresholds.growth_few_ratio:
        return []
    with_rss = measured(case)
    last, in_use = with_rss[-1], sites[0].change / sites[0].share
    most = _most_of_go(with_rss[0], last)
    is_of_go = most is None or most >= thresholds.most_share * rise.grown
    if not is_of_go or in_use < thresholds.named_share * rise.grown:
        return []
    is_timed = all(moment.time is not None for moment in facts.moments)
    read = [path_of(moment) for moment in with_rss]
    is_growth = facts.profiles.growth_holders is not None or difference is not None
    paths, has_ended = list(facts.profiles.paths.values()), bool(ended_well(facts.capture))
    missing = of_a_site(case, sites)
    if is_slowing:
        grows = text("from {} to {}, slowing", *ends_of(rise))
    elif is_timed:
        grows = text(
            "by {} and has reached {}", Rate(rise.rate, rise.low, rise.high), ends_of(rise)[1]
        )
    else:
        grows = text("from {} to {}", *ends_of(rise))
    return [
        cause.finding(
            Severity.INFO if has_ended or is_slowing else Severity.WARNING,
            text(
                "{}: {} grows {}; {} of {} is from {}",
                WORK if has_ended else KEEPS,
                what,
                grows,
                share_words(sites[0].share, thresholds),
                "the growth" if is_growth else "inuse_space",
                sites[0].words,
            ),
            size=round(min(in_use, rise.grown)),
            evidence=(
                *memory_evidence(what, rise, case),
                *(watched_evidence(all_of(read), rise) if is_timed else ()),
                *site_evidence(
                    facts.profiles.last_path if difference is None else difference.source,
                    "inuse_space growth in {}" if difference is not None else "inuse_space of {}",
                    sites,
                ),
            ),
            mechanism=_BOTH_RISE if paths[1:] or difference is not None else _RSS_ONLY,
            next_step=sentences(
                "" if missing else kept_words(case, sites),
                text(SEE_CALLERS, top(paths[-1], paths[0])) if paths[1:] else NAME_IT,
            ),
            confidence="possible",
            sites=sites,
            missing_call=missing,
        )
    ]


def _still_rises(rise: Rise, thresholds: Thresholds) -> bool:
    """Return whether a rise that slows was not over: its last third had a part of it worth naming.

    A cache that fills looks like this, and so does a leak under a load that falls.
    """
    return rise.shape == "ramp" and rise.late_share >= thresholds.named_share


def _most_of_go(first: MomentFacts, last: MomentFacts) -> int | None:
    """Return how much of the growth of RSS can be Go's heap; None if no file limits it."""
    if last.arenas_rss_bytes is not None:
        return last.arenas_rss_bytes
    before, after = _anonymous(first), _anonymous(last)
    return None if before is None or after is None else after - before


def _anonymous(moment: MomentFacts) -> int | None:
    """Return RSS without files and shared memory; None if those are unknown."""
    ledger = moment.ledger
    if ledger is None or ledger.rss_bytes is None or not ledger.has("mapped_files"):
        return None
    return ledger.rss_bytes - ledger.part("mapped_files") - ledger.part("shared_memory")


_RSS_ONLY = (
    "RSS rises steadily to the end, and a heap profile shows who holds Go's heap. A profile is of "
    "an earlier GC and leaves garbage out, so it shows less than RSS. Only a second profile shows "
    "that the live heap grows."
)

_BOTH_RISE = (
    "RSS rises steadily to the end, and so does the memory in use in the heap profiles. Each is of "
    "an earlier GC and leaves garbage out, so it shows less than RSS."
)


def of_arenas(case: Case, cause: Cause) -> list[Finding]:
    """Return a note if only the resident memory of the arenas is known, and it rises."""
    level = case.facts.arenas_level
    rise = None if level is None else level.rise
    thresholds = case.thresholds
    if rise is None or not matters(rise, thresholds) or rise.readings < thresholds.growth_readings:
        return []
    if rise.linear_share < thresholds.linear_share:
        return []
    mapped = [m for m in case.facts.of_last_process if m.arenas_rss_bytes is not None]
    paths = [moment.path("smaps") for moment in mapped]
    return [
        cause.finding(
            Severity.INFO,
            text(
                "The resident Go heap grows by {} and has reached {}; no file says how much is "
                "live",
                Rate(rise.rate, rise.low, rise.high),
                Bytes(round(rise.reached)),
            ),
            moment=case.facts.moments[-1].name,
            size=round(rise.grown),
            evidence=rise_evidence(paths, "Rss of the Go heap", rise),
            next_step=_TAKE_MEMSTATS,
            confidence="possible",
        )
    ]


_TAKE_MEMSTATS = text(
    "Add MemStats and heap profiles, which separate live heap from idle heap and show which "
    "functions allocate: {}.",
    CAPTURE,
)
