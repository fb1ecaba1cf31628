"""Goroutines that pile up: each keeps its stack, and all that its stack refers to.

A goroutine starts with a stack of 2 KiB (8 KiB where the average is larger, since Go 1.19), which
lies in the arenas and counts as StackInuse. One that waits for ever is never collected. As an
expert would put it:

1. It is the growth that tells, not the number. Ten thousand that are there from the start and stay
   are a design: no leak, and nothing to say. So are those that came and have stayed since: that is
   said in the past, as a note.
2. The number grows if its slope surely lies above zero and it still rises at the end, over five
   moments; where there are three or four, if each has more than the one before. At least a
   thousand more, and twice as many as at first: load alone makes them come and go.
3. Where nobody counted them, their descriptors in the heap profiles (`runtime.malg`) and StackInuse
   grow with them, and nothing else makes these grow steadily.
4. A single moment, or two, has no direction: very many are a note, and what would decide is said.
5. What one holds is its stack, 2 KiB at least where nothing says how much, and the heap that its
   own functions allocate and that stays; where no other site rises, all of the heap that does, at
   the most: something else may keep a part of it. The size is of those that came, since of the
   first nobody knows whether they wait in vain; and it is the least where MemStats do not show
   both, for a heap profile lags, or do not show all moments that count them: what each holds is
   then of the moments that do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.series.goroutine_growth import SMALLEST_STACK
from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.goroutines import goroutines_grew, goroutines_heap_bytes, goroutines_pile_up
from gomem.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """One finding: they grow, or have grown, or are very many and nothing says more."""
    counted = [one for one in case.facts.moments if one.goroutine_count is not None]
    if goroutines_pile_up(case):
        several = case.facts.goroutines.count is not None  # one count has no direction
        return [_growing(counted, case) if several else _uncounted(case)]
    if goroutines_grew(case) and case.facts.goroutines.stopped:
        return [_has_grown(counted)]
    if 0 < len(counted) < case.thresholds.goroutine_growth_moments:
        return [_many(counted[-1])] if _may_grow(counted, case.thresholds) else []
    return []


CAUSE = Cause(
    code="goroutine-leak",
    mechanism="A goroutine that waits for a channel, a lock or the network that never answers is "
    "never collected. It keeps its stack (2 to 8 KiB and what it has grown to) and everything its "
    "stack refers to; since Go 1.18 stacks also raise the heap goal, so collections come later.",
    remedy="Take a goroutine profile (/debug/pprof/goroutine?debug=1) and look at the stack with "
    "most goroutines: who should have closed the channel, cancelled the context, or read the "
    "answer? From Go 1.27 on, the goroutineleak profile names those that can never run again.",
    references=("runtime/pprof: goroutine", "golang/go#44167", "golang/go#74609"),
    bears_on=("moments", "allocations"),
    rule=find,
    past="goroutines' stacks took",
    needed_moments=3,
)
HELD = "HeapAlloc without garbage, growth"
_DECIDE = (
    "Count them again some minutes later, two times at least (/debug/pprof/goroutine, or "
    "/sched/goroutines:goroutines): a number that stays is a design, one that only grows a leak."
)
_NOT_COUNTED = (
    "Nothing here counts the goroutines, but what goes with their number grows steadily: a "
    "descriptor each (runtime.malg in heap profiles: used again and never freed) and a stack."
)


def _may_grow(counted: list[MomentFacts], limits: Thresholds) -> bool:
    """Whether the last moment has very many, not as many before, and their stacks matter."""
    last = counted[-1]
    count = last.goroutine_count or 0
    if count < limits.goroutine_count or last.ledger is None:
        return False
    if len(counted) > 1 and count < limits.goroutine_growth_ratio * (
        counted[0].goroutine_count or 0
    ):
        return False
    return last.ledger.part("stacks") >= limits.notable(limits.goroutine_bytes, last.rss_bytes)


def _growing(counted: list[MomentFacts], case: Case) -> Finding:
    first, last = counted[0], counted[-1]
    found = case.facts.goroutines
    before, now = first.goroutine_count or 0, last.goroutine_count or 0
    shown = {"first moment": first, "the one before the last": counted[-2], "last moment": last}
    evidence = [
        Evidence(one.goroutine_path, f"goroutines, {which}", one.goroutine_count or 0, "count")
        for which, one in shown.items()
    ]
    seconds = None if found.count is None else found.count.seconds
    within = "" if seconds is None else f" in {format_seconds(seconds)}"
    return CAUSE.finding(
        Severity.WARNING,
        f"the number of goroutines only grows: from {format_count(before)} to "
        f"{format_count(now)}{within}{_where(case)}{_each(case)}",
        moment=last.name,
        size=round(_stacks_that_came(case) + goroutines_heap_bytes(case)) or None,
        evidence=(*evidence, *_beside(last), *_heap(case)),
        confidence="likely",
    )


def _uncounted(case: Case) -> Finding:
    """They grow, by what goes with their number."""
    found, stacks = case.facts.goroutines, case.facts.goroutines.stacks
    evidence, words, moment, size = [], [], None, 0
    if stacks is not None and stacks.rises:
        told = [one for one in case.facts.moments if one.memstats is not None]
        moment, size = told[-1].name, round(stacks.grown)
        words.append(f"stacks from {format_bytes(stacks.first)} to {format_bytes(stacks.last)}")
        evidence += [
            Evidence(one.path("memstats"), "StackInuse", int(level), "B")
            for one, level in ((told[0], stacks.first), (told[-1], stacks.last))
        ]
    if found.descriptors_bytes and case.facts.profiles.growing_site is not None:
        moment = moment or case.facts.profiles.growing_site.moment
        size += round(found.descriptors_bytes)
        words.append(f"their descriptors by {format_bytes(found.descriptors_bytes)}")
        evidence.append(
            Evidence(
                case.facts.profiles.path(case.facts.profiles.growing_site.moment),
                "inuse_space below runtime.newproc1, growth",
                round(found.descriptors_bytes),
                "B",
            )
        )
    return CAUSE.finding(
        Severity.WARNING,
        f"goroutines pile up, though nothing here counts them: {' and '.join(words)}",
        moment=moment,
        size=size,
        evidence=evidence,
        mechanism=f"{CAUSE.mechanism} {_NOT_COUNTED}",
        confidence="likely" if len(words) > 1 else "possible",
    )


def _has_grown(counted: list[MomentFacts]) -> Finding:
    """They came, and have stayed since."""
    first, last = counted[0], counted[-1]
    before, now = first.goroutine_count or 0, last.goroutine_count or 0
    size = _stack_bytes(last)
    least = "" if _counts_stacks(last) else f": at least {format_bytes(size)} of stacks"
    finding = CAUSE.finding(
        Severity.INFO,
        f"the number of goroutines grew from {format_count(before)} to {format_count(now)}, and "
        f"has stayed since{least}",
        moment=last.name,
        size=size,
        evidence=(
            Evidence(first.goroutine_path, "goroutines, first moment", before, "count"),
            Evidence(last.goroutine_path, "goroutines, last moment", now, "count"),
            *_beside(last),
        ),
        next_step=_DECIDE,
        confidence="possible",
    )
    return replace(finding, now=False)


def _many(moment: MomentFacts) -> Finding:
    count, size = moment.goroutine_count or 0, _stack_bytes(moment)
    return CAUSE.finding(
        Severity.INFO,
        f"{format_count(count)} goroutines hold {format_bytes(size)} of stacks; whether they grow, "
        "one moment cannot tell",
        moment=moment.name,
        size=size,
        evidence=(
            Evidence(moment.goroutine_path, "goroutines", count, "count"),
            *_beside(moment),
        ),
        next_step=_DECIDE,
        confidence="possible",
    )


def _counts_stacks(moment: MomentFacts) -> bool:
    """Whether the ledger says what they take."""
    return moment.ledger is not None and moment.ledger.has("stacks")


def _stack_bytes(moment: MomentFacts) -> int:
    """What stacks take; where no ledger says, what so many goroutines' take at least."""
    if moment.ledger is not None and _counts_stacks(moment):
        return moment.ledger.part("stacks")
    return (moment.goroutine_count or 0) * SMALLEST_STACK


def _stacks_that_came(case: Case) -> float:
    """By how much stacks grew; where nothing says, what as many take at least."""
    found = case.facts.goroutines
    assert found.count is not None
    if found.stacks is None or found.stacks.grown <= 0:
        return found.count.grown * SMALLEST_STACK
    unseen = found.count.grown - (found.counted_beside or 0.0)
    return found.stacks.grown + max(0.0, unseen) * SMALLEST_STACK


def _where(case: Case) -> str:
    """Where those wait that came, and what they began with."""
    found = case.facts.goroutines
    if not found.waiting:
        return ""
    begun = f", started in {found.created}" if found.created not in ("", found.waiting) else ""
    return f", waiting in {found.waiting}{begun}"


def _each(case: Case) -> str:
    """What those that came hold, and each of them, as far as that is known."""
    found, heap = case.facts.goroutines, goroutines_heap_bytes(case)
    assert found.count is not None
    each = found.stack_bytes_each
    parts = [f"{format_bytes(each or SMALLEST_STACK)} of stack"]
    by_moments = heap > found.heap_bytes
    seen = found.counted_beside if by_moments and found.counted_beside else found.count.grown
    all_seen = bool(each) and by_moments and seen == found.count.grown
    if heap:
        most = "up to " if by_moments else ""
        parts.append(f"{most}{format_bytes(heap / seen)} of heap")
    size = format_bytes(round(_stacks_that_came(case) + heap))
    bound = "up to" if all_seen else "at least"
    return f"; those that came hold {bound} {size}, each {' and '.join(parts)}"


def _heap(case: Case) -> list[Evidence]:
    """The heap that their own functions allocate, and that rises."""
    found, site = case.facts.goroutines, case.facts.profiles.growing_site
    if not found.heap_bytes or site is None:
        told = [one for one in case.facts.moments if one.memstats is not None]
        held = round(goroutines_heap_bytes(case))
        return [Evidence(told[-1].path("memstats"), HELD, held, "B")] if told and held else []
    field = f"inuse_space below {found.created}, growth"
    return [Evidence(case.facts.profiles.path(site.moment), field, round(found.heap_bytes), "B")]


def _waits(there: pd.DataFrame, path: str) -> list[Evidence]:
    """What most of them wait for, and for how long the first of them has, where a dump says."""
    told = there[there["state"].notna()] if "state" in there else there.iloc[:0]
    if told.empty:
        return []
    by_state = told.groupby("state")["goroutines"].sum()
    waits = [Evidence(path, f"in state {by_state.idxmax()}", int(by_state.max()), "count")]
    longest = told["wait_seconds"].max()
    if longest > 0:
        waits.append(Evidence(path, "longest wait, at least", float(longest), "s"))
    return waits


def _beside(moment: MomentFacts) -> list[Evidence]:
    """Their stacks, and where most of them wait, if a goroutine profile says."""
    evidence = []
    if moment.memstats is not None:
        stacks = int(moment.memstats["StackInuse"])
        evidence.append(Evidence(moment.path("memstats"), "StackInuse", stacks, "B"))
    frame = moment.goroutines
    if frame is not None and len(frame):
        by_function = frame.groupby("function")["goroutines"].sum()
        function, there = by_function.idxmax(), int(by_function.max())
        field = f"goroutines in {function or 'the runtime'}"
        evidence.append(Evidence(moment.path("goroutine"), field, there, "count"))
        evidence += _waits(frame[frame["function"] == function], moment.path("goroutine"))
    return evidence
