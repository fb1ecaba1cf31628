"""Goroutines that pile up: each keeps its stack, and all that its stack refers to.

A goroutine starts with a stack of 2 KiB (8 KiB where the average is larger, since Go 1.19), which
lies in the arenas and counts as StackInuse. One that waits for ever is never collected.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from gomem.causes.answers import Answers, MomentFacts
    from gomem.causes.thresholds import Thresholds


def find(answers: Answers) -> list[Finding]:
    """One finding if they grow from moment to moment, else one for each moment with very many."""
    limits = answers.thresholds
    counted = [one for one in answers.moments if one.goroutine_count is not None]
    if _only_grow(counted, limits):
        return [_growing(counted)]
    large = limits.large_rss_fraction
    return [_many(moment, large) for moment in counted if _weigh(moment, limits)]


CAUSE = Cause(
    code="goroutine-leak",
    mechanism="A goroutine that waits for a channel, a lock or the network that never answers is "
    "never collected. It keeps its stack (2 to 8 KiB and what it has grown to) and everything its "
    "stack refers to; since Go 1.18 stacks also raise the heap goal, so collections come later.",
    remedy="Take a goroutine profile (/debug/pprof/goroutine?debug=1) and look at the stack with "
    "most goroutines: who should have closed the channel, cancelled the context, or read the "
    "answer? From Go 1.27 on, the goroutineleak profile names those that can never run again.",
    references=("runtime/pprof: goroutine", "golang/go#44167", "golang/go#74609"),
    rule=find,
    past="goroutines' stacks took",
)


def _only_grow(counted: list[MomentFacts], limits: Thresholds) -> bool:
    counts = [one.goroutine_count or 0 for one in counted]
    rises = all(later > earlier for earlier, later in pairwise(counts))
    return (
        len(counts) >= limits.goroutine_growth_moments
        and rises
        and counts[-1] - counts[0] >= limits.goroutine_growth
        and counts[-1] >= limits.goroutine_growth_ratio * counts[0]
    )


def _weigh(moment: MomentFacts, limits: Thresholds) -> bool:
    """Whether there are many, and their stacks matter."""
    if (moment.goroutine_count or 0) < limits.goroutine_count or moment.ledger is None:
        return False
    least = limits.notable(limits.goroutine_bytes, moment.rss_bytes)
    return moment.ledger.part("stacks") >= least


def _growing(counted: list[MomentFacts]) -> Finding:
    first, last = counted[0], counted[-1]
    before, now = first.goroutine_count or 0, last.goroutine_count or 0
    shown = {"first moment": first, "the one before the last": counted[-2], "last moment": last}
    evidence = [
        Evidence(one.goroutine_path, f"goroutines, {which}", one.goroutine_count or 0, "count")
        for which, one in shown.items()
    ]
    return CAUSE.finding(
        Severity.WARNING,
        f"the number of goroutines only grows: from {format_count(before)} to {format_count(now)}",
        moment=last.name,
        size=_stack_bytes(last),
        evidence=(*evidence, *_beside(last)),
        confidence="likely",
    )


def _many(moment: MomentFacts, large_fraction: float) -> Finding:
    count, size = moment.goroutine_count or 0, _stack_bytes(moment) or 0
    large = size >= large_fraction * (moment.rss_bytes or 0)
    return CAUSE.finding(
        Severity.WARNING if large else Severity.INFO,
        f"{format_count(count)} goroutines hold {format_bytes(size)} of stacks",
        moment=moment.name,
        size=size,
        evidence=(
            Evidence(moment.goroutine_path, "goroutines", count, "count"),
            *_beside(moment),
        ),
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
        field = f"goroutines in {by_function.idxmax() or 'the runtime'}"
        there = int(by_function.max())
        evidence.append(Evidence(moment.path("goroutine"), field, there, "count"))
    return evidence
