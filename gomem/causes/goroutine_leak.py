"""Goroutines that pile up: each keeps its stack, and all that its stack refers to.

A goroutine starts with a stack of 2 KiB (8 KiB where the average is larger, since Go 1.19), which
lies in the arenas and counts as StackInuse. One that waits for ever is never collected.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import MIB, format_bytes, format_count

if TYPE_CHECKING:
    from gomem.causes.answers import MomentFacts, Situation

CODE = "goroutine-leak"
# A server of today has one or two goroutines for a connection: thousands are daily bread.
MANY = 10_000
LEAST_BYTES = 8 * MIB
NOTABLE_SHARE = 0.10  # below a tenth of RSS nobody's limit or bill turns on it
# A quarter of RSS in stacks is more than any mix of work and waiting explains by itself.
LARGE_SHARE = 0.25
LEAST_GROWTH = 1_000  # from the first moment to the last, when each has more than the one before
LEAST_RATIO = 2.0
LEAST_MOMENTS = 3  # two moments show a difference, three a direction


def find(situation: Situation) -> list[Finding]:
    """Growth from moment to moment, else the moments in which there are very many."""
    counted = [one for one in situation.moments if one.goroutine_count is not None]
    if _only_grows(counted):
        return [_growing(counted)]
    return [_many(moment) for moment in counted if _weighs(moment)]


def _only_grows(counted: list[MomentFacts]) -> bool:
    counts = [one.goroutine_count or 0 for one in counted]
    rises = all(later > earlier for earlier, later in pairwise(counts))
    return (
        len(counts) >= LEAST_MOMENTS
        and rises
        and counts[-1] - counts[0] >= LEAST_GROWTH
        and counts[-1] >= LEAST_RATIO * counts[0]
    )


def _weighs(moment: MomentFacts) -> bool:
    if (moment.goroutine_count or 0) < MANY or moment.ledger is None:
        return False
    at_least = max(LEAST_BYTES, NOTABLE_SHARE * (moment.rss_bytes or 0))
    return moment.ledger.part("stacks") >= at_least


def _growing(counted: list[MomentFacts]) -> Finding:
    first, last = counted[0], counted[-1]
    before, now = first.goroutine_count or 0, last.goroutine_count or 0
    evidence = [
        Evidence(one.goroutine_path, f"goroutines, {which}", one.goroutine_count or 0, "count")
        for one, which in zip((first, counted[-2], last), _WHICH, strict=True)
    ]
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        title=f"goroutines only grow: from {format_count(before)} to {format_count(now)}",
        moment=last.name,
        bytes=_stack_bytes(last),
        evidence=(*evidence, *_beside(last)),
        mechanism=_MECHANISM,
        next_step=_NEXT_STEP,
        references=_REFERENCES,
        confidence="likely",
    )


def _many(moment: MomentFacts) -> Finding:
    count, size = moment.goroutine_count or 0, _stack_bytes(moment) or 0
    large = size >= LARGE_SHARE * (moment.rss_bytes or 0)
    return Finding(
        code=CODE,
        severity=Severity.WARNING if large else Severity.INFO,
        title=f"{format_count(count)} goroutines hold {format_bytes(size)} of stacks",
        moment=moment.name,
        bytes=size,
        evidence=(Evidence(moment.goroutine_path, "goroutines", count, "count"), *_beside(moment)),
        mechanism=_MECHANISM,
        next_step=_NEXT_STEP,
        references=_REFERENCES,
        confidence="possible",
    )


def _stack_bytes(moment: MomentFacts) -> int | None:
    return None if moment.ledger is None else moment.ledger.part("stacks")


def _beside(moment: MomentFacts) -> list[Evidence]:
    """Their stacks, and where most of them wait, if a goroutine profile says."""
    evidence = []
    if moment.memstats is not None:
        stacks = int(moment.memstats["StackInuse"])
        evidence.append(Evidence(moment.path("memstats"), "StackInuse", stacks, "B"))
    frame = moment.goroutines
    if frame is not None and len(frame):
        by_function = frame.groupby("function")["goroutines"].sum()
        place = str(by_function.idxmax())
        field = f"goroutines in {place or 'the runtime'}"
        evidence.append(Evidence(moment.path("goroutine"), field, int(by_function.max()), "count"))
    return evidence


_WHICH = ("first moment", "the one before the last", "last moment")
_MECHANISM = (
    "A goroutine that waits for a channel, a lock or the network that never answers is never "
    "collected. It keeps its stack (2 to 8 KiB and what it has grown to) and everything its stack "
    "refers to; since Go 1.18 stacks also raise the heap goal, so collections come later."
)
_NEXT_STEP = (
    "Take a goroutine profile (/debug/pprof/goroutine?debug=1) and look at the stack with most "
    "goroutines: who was to close the channel, cancel the context, or read the answer? From Go "
    "1.27 the goroutineleak profile names those that can never run again."
)
_REFERENCES = ("runtime/pprof: goroutine", "golang/go#44167", "golang/go#74609")
