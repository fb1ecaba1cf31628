"""Much of the heap is headroom for garbage, as set by GOGC.

With GOGC=100 the heap grows to twice the live heap before the next GC. So up to half of the heap is
garbage or free. This headroom is not a leak, but memory that can be traded for CPU. Headroom is why
RSS is twice the size in a heap profile, which shows only the live heap. A log shows the headroom of
each goal, unless the log ends long before the snapshots. A snapshot shows the resident memory
beyond /gc/heap/live:bytes (Go 1.21), or else beyond the largest inuse_space of the heap profiles.
Headroom that stays idle because the program does not need it belongs to idle-heap-kept.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import FREE, GARBAGE
from gomem.analysis.memory.heap_slots import slots_beyond
from gomem.analysis.memory.live_heap import DEFAULT_GOGC
from gomem.analysis.scavenger.goals import RETAINED_PER_GOAL
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import limit_decides, limit_exists, limit_looks_the_same, unused_idle_bytes
from gomem.causes.collecting import at_gogc, costly_marking, scaled_gogc
from gomem.causes.commands import sentences, with_files
from gomem.causes.evidence import (
    COMPUTED,
    heap_evidence,
    known,
    of_rss,
    rise_evidence,
    rss_evidence,
)
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.facts.goroutines import level_of
from gomem.facts.moment import LIVE, MomentFacts
from gomem.facts.settings import sets_limit
from gomem.releases import Fact
from gomem.text import Bytes, Command, Rate, Share, Text, text

if TYPE_CHECKING:
    from gomem.analysis.memory.ledger import Ledger

IN_THE_HEAP = ("heap_objects", "heap_slack", "heap_idle", "heap_untouched")


def find(case: Case) -> list[Finding]:
    """Return one note by the log, or a note per snapshot, if the headroom is large."""
    if (without_gc := _without_gc(case)) is not None:
        return [without_gc]
    by_log = _by_log(case)
    if by_log is not None and not case.facts.log_ends_early:
        return [by_log]
    found = case.at_moments(_at)
    return found if found or by_log is None else [replace(by_log, confidence="possible")]


_HALVE = "Halve GOGC ({}) for half the headroom and about twice as many GCs: {}."
_EITHER = (
    "If GOGC sets the heap goal (GOGC would be {}), halve GOGC for half the headroom and about "
    "twice as many GCs: {}. If GOMEMLIMIT sets it, lower GOMEMLIMIT instead."
)
_LIMIT = "If a limit must hold, set GOMEMLIMIT and leave GOGC alone."
_DEAR = "Leave it: with less headroom the GC would take more than the {} of the CPU that it takes."
_NOTHING = Text()
_WHAT_IF = "See what a lower GOGC would cost in CPU: {}."
CAUSE = Cause(
    code="heap-headroom",
    mechanism="GOGC sets how far the heap can grow beyond the live heap before the next "
    "collection: at 100, the default, to twice the live heap. The headroom above the live heap is "
    "free memory, or objects allocated since the last GC, mostly garbage.",
    remedy=sentences(text(_HALVE, *scaled_gogc(None, 0.5)), _LIMIT),
    references=("golang.org/doc/gc-guide#GOGC", "runtime/debug.SetGCPercent"),
    bears_on=("what-if",),
    rule=find,
    claims=frozenset({GARBAGE, FREE}),
    past="GC headroom",
)


def _without_gc(case: Case) -> Finding | None:
    """Return a warning if the GC is off, no memory limit is set, and the heap grew meanwhile."""
    facts, gogc = case.facts, case.facts.settings.gogc
    is_limited = sets_limit(facts.settings.memory_limit)
    known = [moment for moment in facts.of_last_process if moment.told("HeapAlloc") is not None]
    if gogc.value != math.inf or is_limited or not known:
        return None
    last, cycles = known[-1], known[-1].told("NumGC")
    rise = level_of("", [(m.time, float(m.told("HeapAlloc") or 0)) for m in known]).rise
    if rise is None or cycles is None or cycles != known[0].told("NumGC"):
        return None
    # Of a process without any, nothing on the heap was ever collected.
    kept = round(rise.grown if cycles else rise.reached)
    is_growth = rise.grown >= case.thresholds.headroom_fraction * rise.reached
    if not (is_growth and _is_much(kept, last.rss_bytes or 0, case)):
        return None
    is_timed = all(moment.time is not None for moment in known)
    rate = Rate(rise.rate, rise.low, rise.high)
    grows = text("grows by {} and has reached", rate) if is_timed else "has grown to"
    return CAUSE.finding(
        Severity.WARNING,
        text("The GC is off (GOGC=off): the heap {} {}", grows, Bytes(round(rise.reached))),
        moment=last.name,
        size=kept,
        evidence=(
            *rise_evidence([m.path("memstats") for m in known], "HeapAlloc", rise),
            Evidence(last.path("memstats"), "NumGC, first and last", cycles, "count"),
            *rss_evidence(last),
        ),
        mechanism=_OFF,
        next_step=text(_SET_A_LIMIT, Command("GOGC=off GOMEMLIMIT=SIZE")),
        confidence="certain" if gogc.is_stated else "likely",
    )


_OFF = (
    "With GOGC=off and without GOMEMLIMIT nothing starts a collection, so everything allocated "
    "stays, live or garbage, until the process ends or the memory is used up."
)
_SET_A_LIMIT = (
    "Unset GOGC, or keep it off with a limit, at which collections start: {}. A short-lived "
    "program that fits into memory needs neither."
)


def _remedy(case: Case, first: Text = _NOTHING) -> Text:
    """Advise half the GOGC, unless a limit that no file states can have set the goals instead.

    Where the GC is expensive, less headroom would make it more so.
    """
    gogc, marking = case.facts.settings.gogc, costly_marking(case)
    if marking is not None:
        return text(_DEAR, Share(marking))
    now, halved = scaled_gogc(gogc, 0.5)
    if limit_looks_the_same(case, gogc):
        return sentences(first, text(_EITHER, now.removeprefix("now "), halved))
    return sentences(first, text(_HALVE, now, halved), _LIMIT if limit_exists(case) else "")


def _by_log(case: Case) -> Finding | None:
    """Return a note if the room between live heap and goal is large at most collections.

    None if a memory limit sets the goals: then GOMEMLIMIT was chosen to leave that room. The room
    that the default leaves explains why RSS is high; without RSS there is nothing to explain.
    """
    log, limits, rss = case.facts.collector, case.thresholds, case.facts.largest_rss_bytes
    if log is None or limit_decides(case):
        return None
    goals = log.pacing.summary.set_index("what").loc["headroom_bytes", "n"]
    usual = log.pacing.usual
    least = max(limits.headroom_bytes, limits.headroom_fraction * (rss or 0))
    # A GOGC that is stated gives the room; of one that is not, goals must agree.
    needed = 1 if case.facts.settings.gogc.is_stated else limits.headroom_goals
    if goals < needed or not usual.headroom_bytes >= least:
        return None
    if rss is None and usual.headroom_fraction <= limits.rise_ratio * DEFAULT_GOGC:
        return None  # as in any program, and no size that it would explain
    live, room = int(usual.live_bytes), int(usual.headroom_bytes)
    # Goals are not sizes: the heap need not have been at its goal when RSS was read.
    size = of_rss(room, rss) if rss is not None and live + room <= rss else Text(Bytes(room))
    sizes = {"headroom_p50_bytes": room, "heap_live_p50_bytes": live}
    return CAUSE.finding(
        Severity.INFO,
        text(_ON_TOP_OF_MEDIAN, at_gogc(case.facts), size, Bytes(live)),
        size=room,
        evidence=(
            *known(log.path, "B", sizes),
            *known(log.path, "fraction", {"headroom / live heap": usual.headroom_fraction}),
        ),
        next_step=_remedy(case, text(_WHAT_IF, with_files("gomem what-if {}", log.path))),
        confidence="certain" if usual.is_steady else "likely",
    )


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a note by the room above the live heap (or heap profiles); else by idle heap."""
    profiles = case.facts.profiles
    if moment.rss_bytes is None or unused_idle_bytes(case, moment):
        return None
    if LIVE in moment.metrics:
        live = int(moment.metrics[LIVE])
        cited = known(moment.path("metrics"), "B", {LIVE: live})
        is_sure = moment.mappings is not None
        return _above(moment, live, _ON_TOP_OF_LIVE, cited, case, is_sure=is_sure)
    if case.facts.collector is not None:
        return None
    found, in_use = None, case.facts.in_use_at_most(moment)
    if in_use is not None and profiles.in_use is not None:
        path = profiles.path(profiles.in_use.moment)
        cited = known(path, "B", {"inuse_space, at most": in_use})
        found = _above(moment, in_use, _ON_TOP_OF_PROFILES, cited, case, is_sure=False)
    return found or _of_idle(moment, case) or _of_raised_gogc(moment, case)


def _of_raised_gogc(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a note by the heap in use, if HeapAlloc far below goals shows a raised GOGC."""
    gogc, next_gc, heap = case.facts.settings.gogc, moment.told("NextGC"), moment.heap
    if next_gc is None or heap is None or moment.ledger is None or moment.rss_bytes is None:
        return None
    if not gogc.is_inferred or not DEFAULT_GOGC < gogc.low < math.inf:
        return None
    live = round(next_gc / (1 + gogc.low))
    room = min(_within_goal(moment, moment.ledger), int(heap["HeapInuse"])) - live
    if not _is_much(room, moment.rss_bytes, case):
        return None
    title = text(_ON_TOP_OF_GOAL, of_rss(room, moment.rss_bytes), Bytes(live))
    cited = known(gogc.source, "%", {"GOGC, at least": round(100 * gogc.low)})
    return _finding(moment, room, title, cited, case, is_sure=False)


def _is_much(size: int, rss: int, case: Case) -> bool:
    limits = case.thresholds
    return size >= max(1, limits.headroom_bytes, limits.headroom_fraction * rss)


def _goal_bytes(moment: MomentFacts) -> int | None:
    """Return what the scavenger keeps, or the heap goal; None if unknown or set by a limit."""
    heap = moment.heap
    if heap is None or moment.ledger is None or moment.skew.crosses_a_collection:
        return None
    goal, by_limit = heap["goal_bytes"], heap["limit_goal_bytes"]
    if pd.isna(goal):
        goal = heap["NextGC"]
    elif pd.notna(by_limit) and by_limit <= goal:
        return None  # a goal set by GOMEMLIMIT was chosen
    return None if pd.isna(goal) else int(goal)


_ON_TOP_OF_MEDIAN = "GC headroom{}: {} on top of a median live heap of {}"
_ON_TOP_OF_LIVE = (
    "GC headroom: {} on top of {} of live heap; a heap profile shows only the live heap"
)
_ON_TOP_OF_GOAL = (
    "GC headroom: at least {} on top of at most {} of live heap, by HeapAlloc and goals"
)
_ON_TOP_OF_PROFILES = "GC headroom: at least {} on top of at most {} in use by heap profiles"


def _above(
    moment: MomentFacts, live: float, words: str, cited: tuple[Evidence, ...], case: Case, *,
    is_sure: bool,
) -> Finding | None:  # fmt: skip
    """Return a note if much resident memory is above the live heap, up to the goal.

    Idle memory above the scavenger's goal belongs to idle-heap-kept.
    """
    goal, ledger, rss = _goal_bytes(moment), moment.ledger, moment.rss_bytes
    if goal is None or ledger is None or rss is None or moment.heap is None:
        return None
    counted = min(_within_goal(moment, ledger), max(goal, int(moment.heap["HeapInuse"])))
    room = max(0, min(counted, _most_kept(moment) or counted) - int(live))
    if not _is_much(room, rss, case):
        return None
    up_to_goal = known(COMPUTED, "B", {"resident heap up to the goal": counted})
    cited += (*heap_evidence(moment, "HeapAlloc"), *up_to_goal)
    title = text(words, of_rss(room, rss), Bytes(round(live)))
    return _finding(moment, room, title, cited, case, is_sure=is_sure)


def _most_kept(moment: MomentFacts) -> int | None:
    """Return what is kept for the next GC; what Go retains beyond it, GOGC does not own."""
    next_gc = moment.told("NextGC")
    return None if next_gc is None else round(RETAINED_PER_GOAL * next_gc)


def _within_goal(moment: MomentFacts, ledger: Ledger) -> int:
    """Return the resident heap, without free slots beyond the heap goal.

    Those are fragmentation: the slots are not there because of GOGC.
    """
    assert moment.heap is not None
    objects, slack = ledger.part("heap_objects"), ledger.part("heap_slack")
    goal = moment.heap["NextGC"]
    beyond = 0 if pd.isna(goal) else slots_beyond(objects + slack, objects, int(goal))
    return sum(map(ledger.part, IN_THE_HEAP)) - beyond


def _of_idle(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a note if much resident memory is idle heap within the goal."""
    goal, heap, rss = _goal_bytes(moment), moment.heap, moment.rss_bytes
    has_goal = case.facts.go_version.possibly(Fact.BACKGROUND_SCAVENGER)
    if goal is None or heap is None or rss is None or not has_goal or pd.isna(heap["goal_bytes"]):
        return None
    goal = min(goal, _most_kept(moment) or goal)
    idle = max(0, min(moment.idle_heap_bytes, goal - int(heap["HeapInuse"])))
    if not _is_much(idle, rss, case):
        return None
    assert moment.goal is not None  # without a goal, nothing is kept for it
    title = text(
        "GC headroom: {} {} of idle heap is kept for a heap goal of {}",
        "up to" if moment.hides_untouched else "at least",
        of_rss(idle, rss),
        Bytes(moment.goal.size_bytes),
    )
    return _finding(moment, idle, title, (), case, is_sure=False)


def _finding(
    moment: MomentFacts,
    size: int,
    title: Text,
    cited: tuple[Evidence, ...],
    case: Case,
    *,
    is_sure: bool,
) -> Finding:
    sizes = heap_evidence(moment, "HeapInuse", "HeapIdle", "HeapReleased", "NextGC")
    return CAUSE.finding(
        Severity.INFO,
        title,
        moment=moment.name,
        size=size,
        evidence=(*cited, *sizes, *rss_evidence(moment)),
        next_step=_remedy(case),
        confidence="certain" if is_sure else "likely",
    )
