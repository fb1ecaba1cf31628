"""Finalizers or cleanups run too slowly, or not at all: their objects cannot be freed.

An object with a finalizer is freed two collections after its finalizer has run. Until then the
object retains everything it refers to. One goroutine runs all finalizers in sequence. If a
finalizer blocks, or if finalizers are queued faster than they run, the queue grows, and so does the
live heap. Since Go 1.25, cleanups (`runtime.AddCleanup`, Go 1.24) run in separate goroutines.

A snapshot of a healthy process hardly ever shows a running finalizer. Since Go 1.26,
runtime/metrics counts queued and executed finalizers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import LIVE
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import finalizers_hold_up, grows, queue_grows
from gomem.causes.commands import TAKE_STACKS, stacks_in
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.missing_call import of_finalizer
from gomem.causes.sites import growing_sites
from gomem.text import Bytes, Count, Function, Seconds, Text, joined, text

if TYPE_CHECKING:
    from gomem.facts.goroutines import Finalizing

CODE = "finalizer-backlog"


def find(case: Case) -> list[Finding]:
    """Return one finding: the counted queue grows, or a finalizer blocks it.

    Without anything that grows, one that waits is a note: it might be for a moment.
    """
    running, held, moments = case.facts.finalizing, _held_bytes(case), case.facts.moments
    holds_up = finalizers_hold_up(case)
    if not holds_up and (running is None or not running.is_blocked):
        return []
    seen_at = "" if running is None else running.counts.moment
    return [
        CAUSE.finding(
            Severity.WARNING if holds_up else Severity.INFO,
            _title(case, running, held),
            moment=moments[-1].name if moments else seen_at,
            size=held,
            evidence=_evidence(case, running),
            next_step=_next_step(running),
            confidence=_confidence(case, running),
            sites=_sites(case, running, held),
            missing_call=of_finalizer(case),
        )
    ]


_REMEDY = (
    "See where the finalizer waits: {}. Close explicitly (defer x.Close()), keep the finalizer as "
    "a safety net, and let the finalizer start a goroutine for slow work. From Go 1.26 on, watch "
    "the backlog: /gc/finalizers/queued:finalizers minus /gc/finalizers/executed:finalizers."
)
CAUSE = Cause(
    code=CODE,
    mechanism="An object with a finalizer stays, with everything that it refers to, until the "
    "finalizer has run and a later collection frees the object. A single goroutine runs all "
    "finalizers in turn, so a slow or blocked finalizer holds up all others.",
    remedy=text(_REMEDY, TAKE_STACKS),
    references=("runtime.SetFinalizer", "runtime.AddCleanup", "runtime/metrics"),
    bears_on=("growth", "moments"),
    rule=find,
    claims=frozenset({LIVE}),
)


def _held_bytes(case: Case) -> int | None:
    """Return the growth of the live heap, an upper bound; None if the live heap does not grow."""
    live = case.facts.live_heap
    return round(live.rise.grown) if live is not None and live.rise and grows(case) else None


def _confidence(case: Case, running: Finalizing | None) -> str:
    if queue_grows(case):
        return "certain"
    if running is None:
        return "possible"
    holds_memory = running.is_blocked and grows(case)
    return "likely" if holds_memory or len(running.moments) > 1 else "possible"


def _next_step(running: Finalizing | None) -> Text:
    """Return the next step: the stack that the capture has, or without one, how to take one."""
    if running is None:
        return Text(CAUSE.remedy)
    return text(_REMEDY, stacks_in(running.counts.path))


def _title(case: Case, running: Finalizing | None, held: int | None) -> Text:
    queue, pieces = case.facts.finalizer_queue, []
    if queue is not None and queue_grows(case):
        waiting = text("{} → {} waiting", Count(round(queue.first)), Count(round(queue.last)))
        behind = "" if running is None else text(" behind {}", _called(running))
        pieces.append(waiting + behind)
    elif running is not None:
        pieces.append(text("{} {}", _called(running), _when(running)))
    if held:
        pieces.append(text("the live heap grew by {}", Bytes(held)))
    is_blocked = running is not None and running.is_blocked
    what = "are blocked" if is_blocked else "cannot keep up"
    return text("Finalizers or cleanups {}: {}", what, joined("; ", pieces))


def _called(running: Finalizing) -> Text:
    """Name the function that the runtime calls, and the own function that it has called since."""
    if running.finalizer in ("", running.function):
        return Text(Function(running.function))
    return text("{} (in {})", Function(running.finalizer), Function(running.function))


def _when(running: Finalizing) -> Text:
    if running.is_blocked:
        if not running.wait_seconds:
            return text("is blocked ({})", running.state)
        words = "has been blocked ({}) for at least {}"
        return text(words, running.state, Seconds(running.wait_seconds))
    if running.wait_seconds:
        return text("has waited for at least {}", Seconds(running.wait_seconds))
    if running.looked == 1:
        return text("was running in the only stack dump")
    so_many, of_all = Count(len(running.moments)), Count(running.looked, "stack dump")
    return text("was running in {} of {}", so_many, of_all)


def _sites(case: Case, running: Finalizing | None, held: int | None) -> tuple[Site, ...]:
    """Return the finalizer, and the functions that allocate the objects in its queue."""
    own = () if running is None else (Site(running.function, running.function, high=held or 0.0),)
    return (*own, *growing_sites(case)) if held else own


def _evidence(case: Case, running: Finalizing | None) -> list[Evidence]:
    rows = []
    if running is not None:
        path, did = running.counts.path, "was blocked" if running.is_blocked else "ran"
        field = text("stack dumps in which {} {}", Function(running.finalizer), did)
        seen = text("{} of {}", Count(len(running.moments)), Count(running.looked))
        rows.append(Evidence(path, field, seen, ""))
        if running.state:
            rows.append(Evidence(path, "state of its goroutine", running.state, ""))
    queue = case.facts.finalizer_queue
    if queue is not None:
        path = case.facts.moments[-1].path("metrics")
        rows.append(Evidence(path, "finalizers and cleanups waiting", round(queue.last), "count"))
    return rows
