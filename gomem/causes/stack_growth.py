"""Few goroutines with large stacks: deep recursion, or large values on the stack.

A stack doubles when it is full (to 1 GiB at most) and is halved by a collection that finds less
than a quarter of it in use. Stacks lie in the arenas, and are in no heap profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from gomem.causes.answers import Answers, MomentFacts
    from gomem.causes.thresholds import Thresholds


def find(answers: Answers) -> list[Finding]:
    """One finding for each moment whose stacks are large, or are many and nobody counted them.

    Without a count it is a note, however much they take: as likely, it is a leak of goroutines.
    Where the stacks take a large part of RSS and none is large, that is a note, too: no heap
    profile shows it. Not where the goroutines pile up: then goroutine-leak says it.
    """
    limits = answers.thresholds
    return [
        _finding(moment, limits)
        for moment in answers.moments
        if _much(moment, limits)
        and (_each_is_large(moment, limits) or _make_much_of_rss(moment, answers))
    ]


CAUSE = Cause(
    code="stack-growth",
    mechanism="Deep recursion, or large values on the stack, make a stack double until it fits. It "
    "shrinks by half at each collection that finds less than a quarter of it in use. Stacks are in "
    "no heap profile; since Go 1.18 they raise the heap goal.",
    remedy="Take a goroutine profile (/debug/pprof/goroutine?debug=2) and look for deep stacks; "
    "bound the recursion, or keep large arrays off the stack.",
    references=("golang/go#44167", "runtime/debug.SetMaxStack"),
    rule=find,
    past="stacks took",
)
_UNCOUNTED = (
    "Either there are many stacks, or they are large: without a count of goroutines nobody can "
    "tell which. They are in no heap profile; since Go 1.18 they raise the heap goal."
)
_COUNT_THEM = (
    "Take a goroutine profile (/debug/pprof/goroutine?debug=1): it counts the goroutines and says "
    "where they wait."
)


def stack_bytes(moment: MomentFacts) -> int:
    """What goroutines' stacks take, by the runtime's count; 0 if it does not say."""
    return 0 if moment.memstats is None else int(moment.memstats["StackInuse"])


def _much(moment: MomentFacts, limits: Thresholds) -> bool:
    return stack_bytes(moment) >= limits.notable(limits.stack_bytes, moment.rss_bytes)


def _each_is_large(moment: MomentFacts, limits: Thresholds) -> bool:
    """Whether the average stack is large; without a count, it may be."""
    count = moment.goroutine_count
    return count is None or stack_bytes(moment) >= limits.stack_each_bytes * count


def _make_much_of_rss(moment: MomentFacts, answers: Answers) -> bool:
    """Whether stacks have a large share, of goroutines that neither pile up nor are very many."""
    limits, rss = answers.thresholds, moment.rss_bytes
    if rss is None or answers.goroutines_pile_up or answers.goroutines_grew:
        return False
    few = (moment.goroutine_count or 0) < limits.goroutine_count
    return few and stack_bytes(moment) >= limits.large_rss_fraction * rss


def _finding(moment: MomentFacts, limits: Thresholds) -> Finding:
    size, count = stack_bytes(moment), moment.goroutine_count
    evidence = [Evidence(moment.path("memstats"), "StackInuse", size, "B")]
    evidence += moment.rss_evidence
    if count is not None:
        evidence.append(Evidence(moment.goroutine_path, "goroutines", count, "count"))
    counted = count is not None and _each_is_large(moment, limits)
    large = counted and size >= limits.large_rss_fraction * (moment.rss_bytes or 0)
    return CAUSE.finding(
        Severity.WARNING if large else Severity.INFO,
        _title(size, count),
        moment=moment.name,
        size=size,
        evidence=evidence,
        mechanism=_UNCOUNTED if count is None else "",
        next_step=_COUNT_THEM if count is None else "",
        confidence="possible" if count is None else "likely",
    )


def _title(size: int, count: int | None) -> str:
    if count is None:
        return f"stacks take {format_bytes(size)}; nothing says how many goroutines there are"
    each = format_bytes(size / max(1, count))
    return f"{format_count(count)} goroutines have {format_bytes(size)} of stacks: {each} each"
