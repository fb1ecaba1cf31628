"""Few goroutines with large stacks: deep recursion, or large values on the stack.

A stack doubles when it is full (to 1 GiB at most) and is halved by a collection that finds less
than a quarter of it in use. Stacks lie in the arenas, and are in no heap profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.groups import STACKS
from gomem.analysis.series.shapes import HALF
from gomem.causes.cause import Cause
from gomem.causes.evidence import heap_evidence, known, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.causes.goroutines import goroutines_pile_up
from gomem.causes.sites import caller_sites
from gomem.text import Count, Function, Text, text
from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """One finding for each moment whose stacks are large, or are many and nobody counted them.

    Without a count it is a note, however much they take: as likely, it is a leak of goroutines.
    Where the stacks take a large part of RSS and none is large, that is a note, too: no heap
    profile shows it. Not where the goroutines pile up: then goroutine-leak says it. What comes and
    goes is a note as well, and possible: a burst of goroutines leaves its stacks until the next
    collection.
    """
    return case.at_moments(_at)


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


def _come_and_go(moments: Sequence[MomentFacts]) -> bool:
    """Whether stacks fell by half between two moments, and rose by as much again."""
    sizes = np.array([stack_bytes(one) for one in moments if one.memstats is not None], np.float64)
    return any(
        HALF * min(sizes[:place].max(), sizes[place + 1 :].max()) >= sizes[place]
        for place in range(1, len(sizes) - 1)
    )


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    limits, size, count = case.thresholds, stack_bytes(moment), moment.goroutine_count
    if size < limits.notable(limits.stack_bytes, moment.held_bytes):
        return None
    large_part = limits.large_rss_fraction * (moment.rss_bytes or 0)
    are_large = count is None or size >= limits.stack_each_bytes * count
    few = (count or 0) < limits.goroutine_count and not goroutines_pile_up(case)
    if not are_large and not (moment.rss_bytes and few and size >= large_part):
        return None
    lasting = not _come_and_go(case.facts.moments)
    is_grave = lasting and are_large and count is not None and size >= large_part
    deep = [one for one in case.facts.callers.recursing if one.depth >= limits.recursion_depth]
    title = Text(f"stacks take {format_bytes(size)}; nothing says how many goroutines there are")
    if count is not None:
        each, counted = format_bytes(size / max(1, count)), format_count(count)
        title = Text(f"{counted} goroutines have {format_bytes(size)} of stacks: {each} each")
    for one in deep[:1]:
        own, depth = Function(one.function), Count(one.depth)
        title += text("; {} stands in one of them {} times", own, depth)
    return CAUSE.finding(
        Severity.WARNING if is_grave else Severity.INFO,
        title,
        moment=moment.name,
        size=size,
        evidence=(
            *heap_evidence(moment, "StackInuse"),
            *rss_evidence(moment),
            *known(moment.goroutine_path, "count", {"goroutines": count}),
        ),
        mechanism=_UNCOUNTED if count is None else "",
        next_step=_COUNT_THEM if count is None else _BOUND_IT if deep else "",
        confidence="likely" if lasting and count is not None else "possible",
        sites=caller_sites(deep, limits, size),
    )
