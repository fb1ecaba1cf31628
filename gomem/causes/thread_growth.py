"""Threads that never end: each thread keeps its C stack and its kernel memory.

Go starts a thread when a goroutine could run but all other threads are in a system call or in C. Go
never ends a thread, unless the thread's goroutine returns while locked to the thread. So each C
function that never returns, and each goroutine that stays locked, costs a thread. pthread reserves
a thread's whole stack. The used part of it is resident, and Go does not count it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import NATIVE
from gomem.causes.cause import Cause
from gomem.causes.commands import TAKE_STACKS, sentences
from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.missing_call import of_threads
from gomem.causes.piling_up import threads_pile_up
from gomem.causes.sites import called_by, caller_sites
from gomem.facts.moment import THREADS
from gomem.inputs.kinds import METRICS_PAGE
from gomem.text import Bytes, Count, Function, Seconds, Text, text

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts

CODE = "thread-growth"
STACKS = "thread_stacks"


def find(case: Case) -> list[Finding]:
    """Return one finding, if the number of threads grows to the end."""
    rise, thresholds = case.facts.threads, case.thresholds
    if rise is None or not threads_pile_up(case):
        return []
    counted = [m for m in case.facts.of_last_process if m.threads is not None]
    first, last = counted[0], counted[-1]
    callers, size = case.facts.callers.calling_c, _stack_bytes(last)
    watched = rise.seconds if _are_timed(counted) else None
    during = Text() if watched is None else text(" in {}", Seconds(watched))
    held = text("; their C stacks take {}", Bytes(size)) if size else during
    sites = caller_sites(callers, thresholds, size or 0)
    who = (
        text("; most calls into C are from {}", Function(sites[0].own_function))
        if sites
        else Text()
    )
    is_likely = rise.readings >= thresholds.growth_readings
    return [
        CAUSE.finding(
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
                *rss_evidence(last),
            ),
            next_step=sentences(CAUSE.remedy, called_by(callers, "C")),
            confidence="likely" if is_likely else "possible",
            sites=sites,
            missing_call=of_threads(case),
        )
    ]


CAUSE = Cause(
    code=CODE,
    mechanism="Go starts a thread when a goroutine could run but all other threads are in a "
    "system call or in C, and keeps the thread. Each C function that never returns, and each "
    "goroutine that stays locked to its thread, occupies a thread with its C stack and kernel "
    "memory. Go crashes at 10 000 threads (debug.SetMaxThreads).",
    remedy=text(
        "Find the goroutines in a system call or locked to a thread: {}. Limit the number of "
        "concurrent calls into C, give each call a timeout, and pair runtime.LockOSThread with "
        "UnlockOSThread.",
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
    if "status" in moment.paths:
        return moment.path("status")
    return moment.path("metrics" if THREADS in moment.metrics else METRICS_PAGE)


def _are_timed(moments: list[MomentFacts]) -> bool:
    return all(moment.time is not None for moment in moments)
