"""A rise in memory that cannot be Go's, although no file breaks the memory down.

The memory is RSS, or a container's working set, which also counts active page cache and kernel
memory. Any of these bounds what Go can have of it:

Sys             All that Go ever took from the OS, whenever in the capture it was read.
heap profiles   All memory ever allocated. Goroutine stacks are not included, and can be as large.
a GC log        The largest heap ever, if the log begins with the process. A log without the
                beginning can miss a larger heap; then RSS must still rise at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FILES
from gomem.analysis.series.level import LATE
from gomem.causes.evidence import known, rise_evidence, rss_evidence, rss_path
from gomem.causes.finding import Evidence
from gomem.causes.goroutines import deep_recursion, goroutines_pile_up
from gomem.facts.goroutines import level_of
from gomem.facts.told_beside import has_no_cgo
from gomem.text import Bytes, Rate, Text, text

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Account
    from gomem.causes.cause import Case
    from gomem.facts.moment import MomentFacts

RSS, WORKING_SET = "RSS", "working set"
_WORDS = {
    RSS: ("C or mmap", "RSS"),
    WORKING_SET: ("C, mmap or page cache", "the working set"),
}
_BEYOND_PROFILE = (
    "Memory outside Go ({}) grows: at least {} of the {} rise in RSS is not Go objects"
)
_BEYOND_LOG = (
    "Memory outside Go's heap ({}) grows: about {} of the {} rise in RSS is "
    "more than the log's largest heap, {}"
)


@dataclass(frozen=True)
class Beyond:
    """The part of a rise that Go cannot have."""

    title: Text
    moment: str  # the last with the size that rises
    bytes: int
    evidence: tuple[Evidence, ...]


def beyond_go(case: Case) -> Beyond | None:
    """Return the part of the rise of RSS, or else of a working set, that Go cannot have."""
    account = case.facts.account_of_rss
    if account is None:
        return _beyond_sys(case, WORKING_SET)
    return (_beyond_sys(case, RSS) if _sys_bounds_go(case) else None) or _beyond_heap(case, account)


def kinds_outside(kinds: str, case: Case) -> str:
    """Return what memory outside Go can be: not C's, if the program has no cgo."""
    without_c = kinds.removeprefix("C or ").removeprefix("C, ")
    return without_c if has_no_cgo(case.facts.capture) else kinds


def _sys_bounds_go(case: Case) -> bool:
    """Return whether the highest Sys bounds what Go has at the end of RSS, too.

    Sys never falls, so a reading bounds what Go had before it, and a level series most likely what
    it had soon after.
    """
    moments = case.facts.of_last_process
    resident = [moment for moment in moments if _size(moment, RSS) is not None]
    telling = [(m.time, float(size)) for m in moments if (size := m.told("Sys")) is not None]
    if not resident or not telling:
        return False
    until, first, last = telling[-1][0], resident[0].time, resident[-1].time
    if resident[-1].told("Sys") is not None or (until and last and until >= last):
        return True
    rise = level_of("", telling).rise
    if rise is None or rise.shape != "flat" or rise.readings < case.thresholds.growth_readings:
        return False
    is_early = until and first and last and until < last - LATE * (last - first)
    return not is_early


def _beyond_sys(case: Case, what: str) -> Beyond | None:
    """Return how much more the size of one process or container rose than Go ever reserved."""
    limits, moments = case.thresholds, case.facts.of_last_process
    used = [(moment, size) for moment in moments if (size := _size(moment, what)) is not None]
    reserved = [(size, moment) for moment in moments if (size := moment.told("Sys")) is not None]
    names = {moment.listed.name for moment, _ in used if moment.listed is not None}
    if len(names) > 1 or not reserved:
        return None
    rise = level_of("", [(moment.time, float(size)) for moment, size in used]).rise
    if rise is None or not rise.goes_on:
        return None
    last, _ = used[-1]
    most, at = max(reserved, key=lambda each: each[0])
    beyond = round(rise.grown) - most
    is_step = rise.readings < limits.growth_readings
    least = limits.growth_few_bytes if is_step else limits.native_bytes
    if beyond < limits.notable(least, round(rise.reached)):
        return None
    if is_step and rise.ratio < limits.growth_few_ratio:
        return None
    is_timed = all(moment.time is not None for moment, _ in used)
    grows = text(" by {}", Rate(rise.rate, rise.low, rise.high)) if is_timed else Text()
    words = (
        "Memory outside Go ({}) grows{}: {} reached {}, and Go never reserved more than {} (Sys)"
    )
    kinds, whole = kinds_outside(_WORDS[what][0], case), _WORDS[what][1]
    paths = [rss_path(m) if what == RSS else m.path("processes") for m, _ in used]
    return Beyond(
        text(words, kinds, grows, whole, Bytes(round(rise.reached)), Bytes(most)),
        last.name,
        beyond,
        (
            *rise_evidence(paths, what, rise),
            Evidence(at.path("memstats"), "Sys, highest", most, "B"),
        ),
    )


def _beyond_heap(case: Case, account: Account) -> Beyond | None:
    """Return how much more RSS rose than files and the heap; None if stacks can have it."""
    profiles, limits = case.facts.profiles, case.thresholds
    last = case.facts.by_moment[account.last.moment]
    if last.memstats is not None or goroutines_pile_up(case) or deep_recursion(case):
        return None
    least = limits.notable(limits.native_bytes, account.last.total_bytes)
    grown, heap = (
        account.change_bytes - _mapped_files(account),
        profiles.heap_at_most.get(last.name),
    )
    if heap is None:
        return _beyond_log(case, account, grown, least)
    if grown - heap < least:
        return None
    kinds = kinds_outside(_WORDS[RSS][0], case)
    title = text(_BEYOND_PROFILE, kinds, Bytes(round(grown - heap)), Bytes(account.change_bytes))
    cited = {"heap, upper bound from alloc_space": round(heap)}
    evidence = known(profiles.paths.get(last.name, profiles.last_path), "B", cited)
    return _of_rss(case, account, title, round(grown - heap), evidence)


def _beyond_log(case: Case, account: Account, grown: float, least: float) -> Beyond | None:
    facts, limits, change = case.facts, case.thresholds, account.change_bytes
    log, rise = facts.collector, facts.rss_level.rise
    if log is None or not log.runs or facts.by_moment[account.last.moment].any_memstats is not None:
        return None
    run = log.runs[-1]
    is_bound = run.first_number == 1 or (rise is not None and rise.goes_on)
    beyond = grown - limits.rise_ratio * (run.largest_bytes + (run.most_stacks_bytes or 0))
    if not run.largest_bytes or not is_bound or beyond < max(least, limits.most_share * change):
        return None
    kinds = kinds_outside(_WORDS[WORKING_SET][0], case)
    title = text(_BEYOND_LOG, kinds, Bytes(round(beyond)), Bytes(change), Bytes(run.largest_bytes))
    evidence = known(log.path, "B", {"largest heap or goal": run.largest_bytes})
    return _of_rss(case, account, title, round(beyond), evidence)


def _of_rss(
    case: Case, account: Account, title: Text, size: int, evidence: tuple[Evidence, ...]
) -> Beyond:
    first, last = (case.facts.by_moment[end.moment] for end in (account.first, account.last))
    return Beyond(title, last.name, size, (*rss_evidence(first), *rss_evidence(last), *evidence))


def _mapped_files(account: Account) -> float:
    """Return an upper bound of the growth of files in RSS; 0 if unknown."""
    grown = account.last.certain.parts[FILES].high - account.first.certain.parts[FILES].low
    is_known = account.last.certain.parts[FILES].high < account.last.total_bytes
    return max(0.0, grown) if is_known else 0.0


def _size(moment: MomentFacts, what: str) -> int | None:
    if what == RSS:
        return moment.rss_bytes
    return None if moment.listed is None else moment.listed.working_set_bytes
