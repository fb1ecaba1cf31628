"""Few goroutines with large stacks: deep recursion, or large values on the stack.

A stack doubles when it is full (to 1 GiB at most) and is halved by a collection that finds less
than a quarter of it in use. Stacks lie in the arenas, and are in no heap profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.memory.groups import STACKS
from gomem.analysis.series.shapes import HALF
from gomem.causes.callers import caller_sites
from gomem.causes.cause import Cause
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.goroutines import goroutines_pile_up
from gomem.text import Count, Function, Text, text
from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.callers import Caller
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """One finding for each moment whose stacks are large, or are many and nobody counted them.

    Without a count it is a note, however much they take: as likely, it is a leak of goroutines.
    Where the stacks take a large part of RSS and none is large, that is a note, too: no heap
    profile shows it. Not where the goroutines pile up: then goroutine-leak says it. What comes and
    goes is a note as well: a burst of goroutines leaves its stacks until the next collection. And
    it is `possible` where the counts are at odds with the stacks, so were not of the same time.
    """
    limits, lasting = case.thresholds, not _come_and_go(case.facts.moments)
    much = [one for one in case.facts.moments if _much(one, limits)]
    whose = [(one, _whose_stacks(one, case.facts.moments)) for one in much]
    agree = _agree(whose)
    return [
        _finding(moment, goroutines, case, lasting=lasting, agree=agree)
        for moment, goroutines in whose
        if _are_large(moment, goroutines, limits) or _make_much_of_rss(moment, case)
    ]


def _agree(whose: Sequence[tuple[MomentFacts, int | None]]) -> bool:
    """Whether no moment shows half of another's goroutines, or fewer, each with twice the stack."""
    counted = [(stack_bytes(one), count) for one, count in whose if count]
    return not any(
        count <= HALF * most and least / most <= HALF * size / count
        for size, count in counted
        for least, most in counted
    )


CAUSE = Cause(
    code="stack-growth",
    mechanism="Deep recursion, or large values on the stack, make a stack double until it fits. It "
    "shrinks by half at each collection that finds less than a quarter of it in use. Stacks are in "
    "no heap profile; since Go 1.18 they raise the heap goal.",
    remedy="Take a goroutine profile (/debug/pprof/goroutine?debug=2) and look for deep stacks; "
    "bound the recursion, or keep large arrays off the stack.",
    references=("golang/go#44167", "runtime/debug.SetMaxStack"),
    bears_on=("moments",),
    rule=find,
    claims=frozenset({STACKS}),
    past="stacks took",
)
_UNCOUNTED = (
    "Either there are many stacks, or they are large: without a count of goroutines nobody can "
    "tell which. They are in no heap profile; since Go 1.18 they raise the heap goal."
)
_BOUND_IT = "Bound the recursion, or work through a list instead; keep large arrays off the stack."
_COUNT_THEM = (
    "Take a goroutine profile (/debug/pprof/goroutine?debug=1): it counts the goroutines and says "
    "where they wait."
)


def stack_bytes(moment: MomentFacts) -> int:
    """What goroutines' stacks take, by the runtime's count; 0 if it does not say."""
    return 0 if moment.memstats is None else int(moment.memstats["StackInuse"])


def _much(moment: MomentFacts, limits: Thresholds) -> bool:
    return stack_bytes(moment) >= limits.notable(limits.stack_bytes, moment.held_bytes)


def _whose_stacks(moment: MomentFacts, moments: Sequence[MomentFacts]) -> int | None:
    """How many goroutines the stacks are of; None if nobody counted.

    One that has ended leaves its stack until the next collection: so those are counted that any
    moment shows between the same two.
    """
    if moment.goroutine_count is None or moment.memstats is None:
        return moment.goroutine_count
    number = moment.memstats.get("NumGC")
    if pd.isna(number):
        return moment.goroutine_count
    return max(
        one.goroutine_count
        for one in moments
        if one.goroutine_count is not None
        and one.memstats is not None
        and one.memstats.get("NumGC") == number
    )


def _are_large(moment: MomentFacts, goroutines: int | None, limits: Thresholds) -> bool:
    """Whether the average stack is large; without a count, it may be."""
    return goroutines is None or stack_bytes(moment) >= limits.stack_each_bytes * goroutines


def _make_much_of_rss(moment: MomentFacts, case: Case) -> bool:
    """Whether stacks have a large share, of goroutines that neither pile up nor are very many."""
    limits, rss = case.thresholds, moment.rss_bytes
    if rss is None or goroutines_pile_up(case):
        return False
    few = (moment.goroutine_count or 0) < limits.goroutine_count
    return few and stack_bytes(moment) >= limits.large_rss_fraction * rss


def _come_and_go(moments: Sequence[MomentFacts]) -> bool:
    """Whether stacks fell by half between two moments, and rose by as much again."""
    sizes = np.array([stack_bytes(one) for one in moments if one.memstats is not None], np.float64)
    for place in range(1, len(sizes) - 1):
        if HALF * min(sizes[:place].max(), sizes[place + 1 :].max()) >= sizes[place]:
            return True
    return False


def _finding(
    moment: MomentFacts,
    goroutines: int | None,
    case: Case,
    *,
    lasting: bool,
    agree: bool,
) -> Finding:
    limits, size, count = case.thresholds, stack_bytes(moment), moment.goroutine_count
    deep = [one for one in case.facts.callers.recursing if one.depth >= limits.recursion_depth]
    evidence = [Evidence(moment.path("memstats"), "StackInuse", size, "B")]
    evidence += rss_evidence(moment)
    if count is not None:
        evidence.append(Evidence(moment.goroutine_path, "goroutines", count, "count"))
    counted = count is not None and _are_large(moment, goroutines, limits)
    large = lasting and counted and size >= limits.large_rss_fraction * (moment.rss_bytes or 0)
    return CAUSE.finding(
        Severity.WARNING if large else Severity.INFO,
        _title(size, goroutines, count or 0) + _recursion(deep[:1]),
        moment=moment.name,
        size=size,
        evidence=evidence,
        mechanism=_UNCOUNTED if count is None else "",
        next_step=_COUNT_THEM if count is None else _BOUND_IT if deep else "",
        confidence="likely" if agree and count is not None else "possible",
        sites=caller_sites(deep, limits, size),
    )


def _recursion(deepest: Sequence[Caller]) -> Text:
    """Who recurses, and how deep; empty if no file shows it."""
    return Text(
        *(
            text("; {} stands in one of them {} times", Function(one.function), Count(one.depth))
            for one in deepest
        )
    )


def _title(size: int, goroutines: int | None, now: int) -> str:
    if goroutines is None:
        return f"stacks take {format_bytes(size)}; nothing says how many goroutines there are"
    each = format_bytes(size / max(1, goroutines))
    told = f"{format_count(goroutines)} goroutines have {format_bytes(size)} of stacks: {each} each"
    ended = goroutines - now
    if not ended:
        return told
    return f"{told}; {format_count(ended)} of them have ended, and no collection has run since"
