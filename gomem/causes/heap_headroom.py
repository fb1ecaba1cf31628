"""Much of the heap is room for garbage, and that is what GOGC asked for.

With GOGC=100 the heap grows to twice the live heap before it is collected. So half of it is garbage
or empty most of the time: no leak, but memory that can be traded for CPU. It is why RSS is twice
what a heap profile shows, which has what was live at the last collections alone. A log says how
much room each goal leaves, unless it ends long before the moments do; one moment, how much is
resident beyond /gc/heap/live:bytes (Go 1.21), or, where nothing says that, beyond what the heap
profiles have in use at most. Room that lies idle while nothing comes to need it is
idle-heap-kept's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import FREE, GARBAGE
from gomem.causes.cause import Cause
from gomem.causes.evidence import heap_evidence, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.idle_heap import unused_idle_bytes
from gomem.causes.memory_limit import limit_decides
from gomem.facts.moment import LIVE
from gomem.releases import Fact
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.analysis.collector.heap_pacing import UsualRoom
    from gomem.causes.case import Case
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts
    from gomem.releases import GoVersion

IN_THE_HEAP = ("heap_objects", "heap_slack", "heap_idle", "heap_untouched")


def find(case: Case) -> list[Finding]:
    """One note for the whole log, or for each moment that counts what is live; if it is large."""
    by_log = _of_log(case)
    if by_log is not None and not case.facts.log_ends_early:
        return [by_log]
    used = (moment for moment in case.facts.moments if not unused_idle_bytes(case, moment))
    found = [one for moment in used if (one := _of_moment(moment, case)) is not None]
    return found if found or by_log is None else [replace(by_log, confidence="possible")]


def _of_log(case: Case) -> Finding | None:
    """If the room between live heap and goal is large at most collections."""
    log, limits = case.facts.collector, case.thresholds
    if log is None:
        return None
    if limit_decides(case):
        return None  # the room is what GOMEMLIMIT leaves: somebody has chosen it
    goals = log.pacing.summary.set_index("what").loc["headroom_bytes", "n"]
    room = log.pacing.usual.headroom_bytes
    if goals < limits.headroom_goals or not room >= limits.headroom_bytes:
        return None
    rss = case.facts.largest_rss_bytes
    if rss is not None and room < limits.headroom_fraction * rss:
        return None
    return _finding(log, log.pacing.usual, rss)


CAUSE = Cause(
    code="heap-headroom",
    mechanism="GOGC sets how far the heap may grow over what was live before the next collection: "
    "100, the default, doubles it. What lies between is free, or was allocated since, and the "
    "next collection tells what of that is garbage.",
    remedy="If memory costs more than CPU, lower GOGC: half of it gives half of this room, and "
    "twice as many collections. If a limit must hold, set GOMEMLIMIT and leave GOGC alone.",
    references=("golang.org/doc/gc-guide#GOGC", "runtime/debug.SetGCPercent"),
    bears_on=("what-if",),
    rule=find,
    claims=frozenset({GARBAGE, FREE}),
    past="room above the live heap took",
)


def _finding(log: CollectorFacts, room: UsualRoom, rss: int | None) -> Finding:
    live, headroom = int(room.live_bytes), int(room.headroom_bytes)
    of_rss = "" if rss is None else f", {format_fraction(headroom / rss)} of RSS"
    return CAUSE.finding(
        Severity.INFO,
        f"{format_bytes(headroom)} of the heap is room for garbage{of_rss}: with "
        f"{format_bytes(live)} live, each goal leaves that much above it",
        size=headroom,
        evidence=(
            Evidence(log.path, "headroom_p50_bytes", headroom, "B"),
            Evidence(log.path, "heap_live_p50_bytes", live, "B"),
            Evidence(log.path, "goal over live heap, less 1", room.headroom_fraction, "ratio"),
        ),
        confidence="certain" if room.is_steady else "likely",
    )


def room_bytes(moment: MomentFacts, live_bytes: float) -> int:
    """Resident heap beyond what is live, as far as the goal asks for it; 0 if it is not known.

    What lies above the scavenger's goal is idle-heap-kept's, and a goal that GOMEMLIMIT sets is
    somebody's choice.
    """
    heap, ledger = moment.heap, moment.ledger
    if heap is None or ledger is None or moment.skew.crosses_a_collection:
        return 0
    goal = heap["goal_bytes"] if pd.notna(heap["goal_bytes"]) else heap["NextGC"]
    if pd.isna(goal) or _by_limit(heap):
        return 0
    resident = sum(map(ledger.part, IN_THE_HEAP))
    return max(0, min(resident, int(goal)) - int(live_bytes))


def _by_limit(heap: pd.Series) -> bool:
    limit_goal = heap["limit_goal_bytes"]
    return bool(pd.notna(limit_goal) and limit_goal <= heap["goal_bytes"])


def _of_moment(moment: MomentFacts, case: Case) -> Finding | None:
    """If much of what is resident is above what is live; or, if nobody knows that, is idle."""
    if LIVE not in moment.metrics:
        return _of_profiles(moment, case) or _of_idle(moment, case)
    live = int(moment.metrics[LIVE])
    room, rss = room_bytes(moment, live), moment.rss_bytes
    if rss is None or not _is_much(room, rss, case):
        return None
    assert moment.heap is not None
    since = min(room, max(0, int(moment.heap["HeapAlloc"]) - live))
    return CAUSE.finding(
        Severity.INFO,
        f"{format_bytes(room)} ({format_fraction(room / rss)} of RSS) is room above the "
        f"{format_bytes(live)} that are live: {format_bytes(since)} allocated since the "
        f"last collection, {format_bytes(room - since)} free; a heap profile shows the live part "
        "alone",
        moment=moment.name,
        size=room,
        evidence=(
            Evidence(moment.path("metrics"), LIVE, live, "B"),
            *heap_evidence(moment, "HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "NextGC"),
            *rss_evidence(moment),
        ),
        confidence="certain" if moment.mappings is not None else "likely",
    )


def _is_much(room: int, rss: int, case: Case) -> bool:
    limits = case.thresholds
    return room >= max(1, limits.headroom_bytes, limits.headroom_fraction * rss)


def _of_profiles(moment: MomentFacts, case: Case) -> Finding | None:
    """If much of what is resident is above what heap profiles have in use; without a log."""
    rss = moment.rss_bytes
    in_use = None if case.facts.collector is not None else case.facts.in_use_at_most(moment)
    if rss is None or in_use is None or case.facts.profiles.in_use is None:
        return None
    profile = case.facts.profiles.path(case.facts.profiles.in_use.moment)
    room = room_bytes(moment, in_use)
    if not _is_much(room, rss, case):
        return None
    assert moment.heap is not None
    since = min(room, max(0, int(moment.heap["HeapAlloc"]) - int(in_use)))
    return CAUSE.finding(
        Severity.INFO,
        f"at least {format_bytes(room)} ({format_fraction(room / rss)} of RSS) is room above the "
        f"{format_bytes(in_use)} that heap profiles have in use at most: {format_bytes(since)} "
        f"garbage or new, {format_bytes(room - since)} free",
        moment=moment.name,
        size=room,
        evidence=(
            Evidence(profile, "inuse_space, at most", round(in_use), "B"),
            *heap_evidence(moment, "HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "NextGC"),
            *rss_evidence(moment),
        ),
        confidence="likely",
    )


def idle_room_bytes(moment: MomentFacts, version: GoVersion) -> int:
    """Resident idle heap below the scavenger's goal, where GOGC sets that; 0 if it is not known."""
    heap = moment.heap
    has_goal = version.possibly(Fact.BACKGROUND_SCAVENGER)
    if heap is None or moment.skew.crosses_a_collection or not has_goal:
        return 0
    if pd.isna(heap["goal_bytes"]) or _by_limit(heap):
        return 0
    return max(0, min(moment.idle_heap_bytes, int(heap["goal_bytes"]) - int(heap["HeapInuse"])))


def _of_idle(moment: MomentFacts, case: Case) -> Finding | None:
    """If much of what is resident is idle, and the goal keeps it; a log would say what is live."""
    rss = moment.rss_bytes
    if rss is None or case.facts.collector is not None:
        return None
    idle = idle_room_bytes(moment, case.facts.go_version)
    if not _is_much(idle, rss, case):
        return None
    assert moment.heap is not None
    assert moment.goal is not None  # or nothing would be kept for it
    heap = moment.heap
    share = f"{format_bytes(idle)} ({format_fraction(idle / rss)} of RSS)"
    return CAUSE.finding(
        Severity.INFO,
        f"{'up to' if moment.hides_untouched else 'at least'} {share} is room: idle heap, kept for "
        f"the heap goal of {format_bytes(moment.goal.size_bytes)}; "
        f"{format_bytes(heap['HeapInuse'])} is in use",
        moment=moment.name,
        size=idle,
        evidence=(
            *heap_evidence(moment, "HeapInuse", "HeapIdle", "HeapReleased", "NextGC"),
            *rss_evidence(moment),
        ),
        confidence="likely",
    )
