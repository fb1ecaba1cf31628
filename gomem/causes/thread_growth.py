"""Threads that never end: each thread keeps its C stack and its kernel memory.

Go starts a thread when a goroutine could run but all other threads are in a system call or in C. Go
never ends a thread, unless the thread's goroutine returns while locked to the thread. So each C
function that never returns, and each goroutine that stays locked, costs a thread. pthread reserves
a thread's whole stack. The used part of it is resident, and Go does not count it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import NATIVE
from gomem.analysis.memory.totals import LOGGED
from gomem.analysis.series.goroutine_growth import places_of
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import threads_pile_up
from gomem.causes.commands import CAPTURE, TAKE_STACKS, sentences, stacks_in
from gomem.causes.evidence import known, rss_evidence, rss_path
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.goroutines import begun_words, occupy_threads, where_evidence
from gomem.causes.missing_call import of_threads
from gomem.causes.one_dump import only_dump, threads_occupied
from gomem.causes.sites import called_by, caller_sites
from gomem.facts.moment import THREADS, MomentFacts
from gomem.inputs.kinds import METRICS_PAGE
from gomem.text import Bytes, Count, Function, Seconds, Text, text

if TYPE_CHECKING:
    from gomem.analysis.series.level import Rise

CODE = "thread-growth"
STACKS = "thread_stacks"


def find(case: Case) -> list[Finding]:
    """Return one finding: the number of threads grows to the end, or one dump shows them occupied.

    A single dump shows no trend, so its finding is `possible`.
    """
    rise = case.facts.threads
    if rise is not None and threads_pile_up(case):
        return [_growing(rise, case)]
    there = threads_occupied(case)
    return [_occupied(there, case)] if there else []


def _growing(rise: Rise, case: Case) -> Finding:
    thresholds = case.thresholds
    counted = [m for m in case.facts.of_last_process if m.threads is not None]
    first, last = counted[0], counted[-1]
    callers, size = case.facts.callers.calling_c, _stack_bytes(last)
    watched = rise.seconds if all(moment.time is not None for moment in counted) else None
    during = Text() if watched is None else text(" in {}", Seconds(watched))
    held = text("; their C stacks take {}", Bytes(size)) if size else during
    sites = caller_sites(callers, thresholds, size or 0)
    in_c = _in_c(case, round(rise.last))
    who = Text()
    if in_c is not None and in_c.caller:
        many = text("{} goroutines", Count(in_c.there)) if not size else "as many goroutines"
        who = text("; {} are in C, in {}", many, Function(in_c.caller))
    elif sites:
        who = text("; most calls into C are from {}", Function(sites[0].own_function))
    shows = None if in_c is None else text("See these goroutines: {}.", stacks_in(in_c.path))
    is_likely = rise.readings >= thresholds.growth_readings
    return CAUSE.finding(
        Severity.WARNING,
        text(
            "Threads pile up: {} → {}{}{}",
            Count(round(rise.first)),
            Count(round(rise.last)),
            held,
            who,
        ),
        moment=last.name,
        size=size,
        evidence=(
            Evidence(_path(first), "Threads, first", round(rise.first), "count"),
            Evidence(_path(last), "Threads, last", round(rise.last), "count"),
            *known(_path(last), "s", {"time watched": watched}),
            *(() if in_c is None else known(in_c.path, "count", {_IN_C: in_c.there})),
            *rss_evidence(last),
            *_each_evidence(first, last),
        ),
        next_step=sentences(
            CAUSE.remedy if shows is None else text("{} {}", shows, _LIMIT_CALLS),
            called_by(callers, "C"),
        ),
        confidence="likely" if is_likely else "possible",
        sites=sites,
        missing_call=of_threads(case),
    )


@dataclass(frozen=True)
class _InC:
    """The goroutines of a dump that are in a system call or in C, and so occupy a thread each."""

    there: int
    path: str
    caller: str  # the function in which most of them are; empty if they are all over


def _in_c(case: Case, threads: int) -> _InC | None:
    """Return those of the last dump, if they explain most threads; else None."""
    dumps = [count for count in case.facts.goroutine_counts if count.frame is not None]
    frame = dumps[-1].frame if dumps else None
    if frame is None or frame.empty or "stack" not in frame:
        return None
    is_in_c = occupy_threads(frame)
    here = frame.loc[is_in_c, "goroutines"]
    most = case.thresholds.most_share
    if here.sum() <= most * threads:
        return None
    by_place = here.groupby(places_of(frame)[is_in_c]).sum()
    is_alone = by_place.max() > most * here.sum()
    return _InC(int(here.sum()), dumps[-1].path, str(by_place.idxmax()) if is_alone else "")


def _each_evidence(first: MomentFacts, last: MomentFacts) -> tuple[Evidence, ...]:
    """Return the growth of RSS for each new thread: at most that is its stack and kernel memory."""
    if not first.rss_bytes or not last.rss_bytes or not first.threads or not last.threads:
        return ()
    each = (last.rss_bytes - first.rss_bytes) / (last.threads - first.threads)
    size = max(0, round(each)) or None
    return known(rss_path(last), "B", {"growth of RSS for each new thread": size})


def _occupied(there: int, case: Case) -> Finding:
    """Return a finding by the goroutines of a dump that occupy a thread each."""
    dump, waiting = only_dump(case), case.facts.goroutines.waiting
    assert dump is not None
    assert waiting is not None
    moment = case.facts.by_moment.get(dump.moment)
    threads = None if moment is None else moment.threads
    size = None if moment is None else _stack_bytes(moment)
    function = waiting.function
    return CAUSE.finding(
        Severity.WARNING,
        text(
            "Threads pile up: {} of {} goroutines are in a system call or in C, in {}{}, and "
            "occupy a thread each",
            Count(there),
            Count(dump.goroutines),
            Function(function),
            begun_words(waiting),
        ),
        moment=dump.moment,
        size=size,
        evidence=(
            *where_evidence(case, dump.frame, dump.path),
            *(() if moment is None else known(_path(moment), "count", {"Threads": threads})),
            *(() if moment is None else rss_evidence(moment)),
        ),
        next_step=sentences(_SEE_GROWTH, _LIMIT_CALLS),
        confidence="possible",
        sites=(Site(function, function, share=there / dump.goroutines),),
        missing_call=of_threads(case),
    )


_IN_C = "goroutines in a system call or in C"
_LIMIT_CALLS = (
    "Limit the number of concurrent calls into C, give each call a timeout, and pair "
    "runtime.LockOSThread with UnlockOSThread."
)
_SEE_GROWTH = text("See whether the number of threads grows: {}.", CAPTURE)
CAUSE = Cause(
    code=CODE,
    mechanism="Go starts a thread when a goroutine could run but all other threads are in a "
    "system call or in C, and keeps the thread. Each C function that never returns, and each "
    "goroutine that stays locked to its thread, occupies a thread with its C stack and kernel "
    "memory. Go crashes at 10 000 threads (debug.SetMaxThreads).",
    remedy=text(
        f"Find the goroutines in a system call or locked to a thread: {{}}. {_LIMIT_CALLS}",
        TAKE_STACKS,
    ),
    references=("runtime.LockOSThread", "runtime/debug.SetMaxThreads", "golang/go#14592"),
    bears_on=("mappings", "moments"),
    rule=find,
    claims=frozenset({NATIVE}),
    needed_moments=2,
)


def _stack_bytes(moment: MomentFacts) -> int | None:
    """Return the resident bytes of the threads' C stacks; None without smaps."""
    if moment.ledger is None or moment.mappings is None:
        return None
    return moment.ledger.part(STACKS) or None


def _path(moment: MomentFacts) -> str:
    """Return the file that counts the threads."""
    counting = ("status", "processes", *(("metrics",) if THREADS in moment.metrics else ()))
    kinds = (*counting, METRICS_PAGE, LOGGED)
    return moment.path(next((kind for kind in kinds if kind in moment.paths), METRICS_PAGE))
