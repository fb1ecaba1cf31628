"""Few goroutines with large stacks: deep recursion, or large values on the stack.

A stack doubles when full, to 1 GiB at most. A collection halves a stack of which less than a
quarter is in use. Stacks lie in the arenas, and no heap profile shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.memory.groups import STACKS
from gomem.analysis.series.shapes import comes_and_goes
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import TAKE_GOROUTINES, TAKE_STACKS, sentences, with_files
from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.goroutines import BOUND_IT, END_THEM, deep_recursion, goroutines_pile_up
from gomem.causes.sites import caller_sites
from gomem.facts.callers import FRAMES_BEFORE, GO_WITH_128_FRAMES, Caller
from gomem.facts.goroutines import STACKS_IN_USE
from gomem.inputs.pprof.calls.names import can_be_mended, own_function
from gomem.text import Bytes, Count, Function, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.series.goroutine_growth import Waiting
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot in which stacks take much memory.

    If the number of goroutines is unknown, the finding is a note: a goroutine leak would look the
    same. The finding is also a note if stacks are a large part of RSS but each stack is small: no
    heap profile shows this. Stacks that come and go are a note with the confidence possible: a
    burst of goroutines leaves its stacks until the next collection. If goroutines pile up, there is
    no finding here: goroutine-leak reports that.
    """
    return case.at_moments(_at)


CAUSE = Cause(
    code="stack-growth",
    mechanism="Deep recursion and large values on the stack make the stack double until they fit. "
    "The GC halves a stack when less than a quarter is in use. No heap profile shows "
    "stacks; since Go 1.18 stacks raise the heap goal.",
    remedy=text(
        "Find the deep stacks: {}. Bound the recursion, or keep large arrays off the stack.",
        TAKE_STACKS,
    ),
    references=("golang/go#44167", "runtime/debug.SetMaxStack"),
    bears_on=("moments",),
    rule=find,
    claims=frozenset({STACKS}),
    past="stacks",
)
_UNCOUNTED = (
    "The stacks are many or large; only the number of goroutines could show which. No heap "
    "profile shows stacks; since Go 1.18 stacks raise the heap goal."
)
_COUNT_THEM = text("Count the goroutines, and see where they wait: {}.", TAKE_GOROUTINES)


def stack_bytes(moment: MomentFacts, case: Case) -> int:
    """Return bytes of goroutine stacks by the runtime's count; 0 if unknown.

    Without MemStats the size is estimated as the arenas' RSS minus all allocated bytes, but only if
    the stack of a goroutine shows recursion.
    """
    counted = moment.told(STACKS_IN_USE)
    if counted is not None:
        return counted
    heap, arenas = case.facts.profiles.heap_at_most.get(moment.name), moment.arenas_rss_bytes
    if heap is None or arenas is None or not deep_recursion(case):
        return 0
    return max(0, int(arenas - heap))


def _most_since_gc(moment: MomentFacts, case: Case) -> int | None:
    """Return the most goroutines counted since the last GC, or just before; None if not counted.

    Stacks of goroutines that ended are in use until a GC finds them.
    """
    at = None if moment.any_memstats is None else moment.any_memstats.get("LastGC")
    if pd.isna(at) or moment.time is None or moment.goroutine_count is None:
        return moment.goroutine_count
    counted = [
        (other.time, other.goroutine_count)
        for other in case.facts.of_last_process
        if other.goroutine_count is not None and other.time is not None
    ]
    before = [row for row in counted if row[0] < at]
    since = [row for row in counted if at <= row[0] <= moment.time]
    return max((count for _, count in (*before[-1:], *since)), default=moment.goroutine_count)


def _knows_last_gc(moment: MomentFacts) -> bool:
    """Return whether MemStats say when the last GC was, as all do that are not cut."""
    return moment.any_memstats is None or pd.notna(moment.any_memstats.get("LastGC"))


def _next_step(deep: Sequence[Caller], *, is_counted: bool) -> Text:
    """Return how to count goroutines, or where the recursion is; else the step of the cause."""
    if not is_counted:
        return _COUNT_THEM
    if not deep:
        return Text()
    shows = text("Look at the deep stacks: {}.", with_files("gomem top {} --traces", deep[0].path))
    return sentences(shows, BOUND_IT)


def _beyond_profiles(moment: MomentFacts, case: Case) -> tuple[Evidence, ...]:
    """Return the RSS of the arenas, and an upper bound of their objects and free spans."""
    heap = case.facts.profiles.heap_at_most[moment.name]
    profile = case.facts.profiles.path(moment.name)
    return (
        *known(moment.path("smaps"), "B", {"Rss of the Go heap": moment.arenas_rss_bytes}),
        *known(profile, "B", {"heap, upper bound from alloc_space": round(heap)}),
    )


def _count_beside(moment: MomentFacts, case: Case) -> int | None:
    """Return the most goroutines in the nearest snapshots that count them; None without any.

    A dump that is a snapshot of its own, without sizes, is as near as any.
    """
    counts = {count.moment: count.goroutines for count in case.facts.goroutine_counts}
    names = [other.name for other in case.facts.moments]
    place = names.index(moment.name)
    sides = (reversed(names[:place]), names[place + 1 :])
    beside = [next((counts[name] for name in side if name in counts), None) for side in sides]
    alone = [count for name, count in counts.items() if name not in names]
    return max((count for count in (*beside, *alone) if count is not None), default=None)


def _alike(moment: MomentFacts, case: Case) -> tuple[str, int]:
    """Return the own function and the number of goroutines with the most frequent stack.

    The function is empty if they are not why stacks grow. They are if most goroutines have this
    stack, and stacks grow to the end, or the number of goroutines does, as far as the frames of the
    snapshot show this.
    """
    growth, frame = case.facts.goroutines, moment.goroutines
    rises = [rise for rise in (growth.count, growth.stacks) if rise is not None]
    least = case.thresholds.goroutine_growth_ratio
    if not any(rise.ratio >= least and rise.goes_on for rise in rises):
        return "", 0
    if frame is None or frame.empty or "stack" not in frame or not moment.goroutine_count:
        return "", 0
    by_stack = frame.groupby("stack")["goroutines"].sum()
    stack, there = str(by_stack.idxmax()), int(by_stack.max())
    is_most = there > case.thresholds.most_share * moment.goroutine_count
    return own_function(stack.split(";")) if is_most else "", there


def _waiting(moment: MomentFacts, case: Case) -> Waiting | None:
    """Return where the goroutines are, if most are in one of the program's functions; else None."""
    waiting, last = case.facts.goroutines.waiting, case.facts.goroutine_counts[-1:]
    if waiting is None or not can_be_mended(waiting.function) or last[0].moment != moment.name:
        return None
    is_most = waiting.there > case.thresholds.most_share * (moment.goroutine_count or 0)
    return waiting if is_most else None


def _where_words(waiting: Waiting | None, count: int) -> Text:
    """Say how many of the goroutines are in one of the program's functions; empty if unknown."""
    if waiting is None:
        return Text()
    there = "all" if waiting.there >= count else Count(waiting.there)
    many = text("{} of them ", there) if count > 1 else ""
    return text(", {}in {}", many, Function(waiting.function))


def _sites(moment: MomentFacts, case: Case, deep: Sequence[Caller], size: int) -> tuple[Site, ...]:
    """Return the functions that recurse, else the one in which most goroutines are."""
    waiting = None if deep else _waiting(moment, case)
    if waiting is None:
        return caller_sites(deep, case.thresholds, size)
    share = min(1.0, waiting.there / (moment.goroutine_count or 1))
    return (Site(waiting.function, waiting.function, high=share * size, share=share),)


def _recursion(deep: Sequence[Caller], case: Case) -> tuple[Evidence, ...]:
    """Return how often the deepest function occurs in one stack, at least."""
    words = "calls of {} in one stack, at least{}"
    return tuple(
        Evidence(by.path, text(words, Function(by.function), _cut(case)), by.depth, "count")
        for by in deep[:1]
    )


def _cut(case: Case) -> Text:
    """Say that profiles cut deeper stacks; empty if the release does not, or if unknown."""
    high, frames = case.facts.go_version.high, 0  # the most of a stack in the last profile or dump
    for count in case.facts.goroutine_counts:
        if count.frame is not None and "stack" in count.frame:
            frames = int(count.frame["stack"].astype(str).str.count(";").max()) + 1
    if high is None or high >= GO_WITH_128_FRAMES or frames < FRAMES_BEFORE:
        return Text()
    return text(" (before Go 1.23, profiles cut a stack at {} frames)", Count(FRAMES_BEFORE))


def _title(
    moment: MomentFacts,
    case: Case,
    size: int,
    deep: Sequence[Caller],
    alike: tuple[str, int],
    *,
    count: int | None,
) -> Text:
    """Name what takes the stacks: alike goroutines, else deep recursion, else their `count`."""
    takes = Text(Bytes(size))
    each, (function, there) = Bytes(size / max(1, count or 0)), alike
    if function:
        words = "{} wait in {} with about {} of stack each, and their number grows; stacks take {}"
        return text(words, Count(there, "goroutine"), Function(function), each, takes)
    if moment.told(STACKS_IN_USE) is None:
        takes = text("at least {}", takes)
    if deep:
        return text(
            "Deep recursion in {}: at least {} calls in one stack{}; stacks take {}",
            Function(deep[0].function),
            Count(deep[0].depth),
            _cut(case),
            takes,
        )
    if count is not None:
        many = Count(count, "goroutine")
        most = "" if _knows_last_gc(moment) else "at most "
        mean = " on average" if count > 1 else ""
        words = "Goroutine stacks take {}: {} with {}{}{}{}"
        where = _where_words(_waiting(moment, case), count)
        return text(words, takes, many, most, each, mean, where)
    of_it = " of this snapshot" if case.facts.goroutine_counts else ""
    return text("Goroutine stacks take {}; no file{} counts the goroutines", takes, of_it)


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    limits, size, count = case.thresholds, stack_bytes(moment, case), moment.goroutine_count
    if size < limits.notable(limits.stack_bytes, moment.held_bytes):
        return None
    if count is None and case.facts.goroutine_counts and goroutines_pile_up(case):
        return None
    large_part = limits.large_rss_fraction * (moment.held_bytes or 0)
    most = _most_since_gc(moment, case)
    about = _count_beside(moment, case) if count is None else count
    many = about if most is None else most
    are_large = many is None or size >= limits.stack_each_bytes * many
    are_few = (about or 0) < limits.goroutine_count and not goroutines_pile_up(case)
    if not are_large and not (moment.rss_bytes and are_few and size >= large_part):
        return None
    counted = [each for each in case.facts.moments if each.told(STACKS_IN_USE) is not None]
    stacks = np.array([each.told(STACKS_IN_USE) for each in counted], float)
    is_lasting = not comes_and_goes(stacks) and not case.facts.goroutines.comes_and_goes
    is_watched = len(counted) >= limits.growth_readings  # fewer show no direction
    is_grave = is_lasting and are_large and about is not None and size >= large_part
    deep = deep_recursion(case)
    alike = _alike(moment, case)
    return CAUSE.finding(
        Severity.WARNING if is_grave else Severity.INFO,
        _title(moment, case, size, deep, alike, count=most),
        moment=moment.name,
        size=size,
        evidence=(
            *known(moment.path("memstats"), "B", {STACKS_IN_USE: moment.told(STACKS_IN_USE)}),
            *(_beyond_profiles(moment, case) if moment.told(STACKS_IN_USE) is None else ()),
            *rss_evidence(moment),
            *known(moment.goroutine_path, "count", {"goroutines": count}),
            *_recursion(deep, case),
        ),
        mechanism=_UNCOUNTED if about is None else "",
        next_step=sentences(
            END_THEM if alike[0] else "",
            _next_step(deep, is_counted=about is not None),
        ),
        confidence="likely" if is_lasting and about is not None and is_watched else "possible",
        sites=_sites(moment, case, deep, size),
    )
