"""Much of the heap is room for garbage, and that is what GOGC asked for.

With GOGC=100 the heap grows to twice the live heap before it is collected. So half of it is garbage
or empty most of the time: no leak, but memory that can be traded for CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.answers import Situation
    from gomem.causes.collector_answers import GcFacts

CODE = "heap-headroom"


def find(situation: Situation) -> list[Finding]:
    """One note for the whole log, if the room between live heap and goal is large."""
    facts, limits = situation.gc, situation.gc_thresholds
    if facts is None or facts.summary.cycles < limits.enough_cycles:
        return []
    if len(facts.steps_of("limit")) > facts.summary.cycles / 2:
        return []  # the room is what GOMEMLIMIT leaves: somebody has chosen it
    room = facts.pacing.cycles["headroom_bytes"].dropna()
    if room.empty or float(room.median()) < limits.headroom_bytes:
        return []
    headroom = int(room.median())
    rss = situation.largest_rss_bytes
    if rss is not None and headroom < limits.headroom_fraction * rss:
        return []
    return [_finding(facts, headroom, rss)]


def _finding(facts: GcFacts, headroom: int, rss: int | None) -> Finding:
    live = int(facts.cycles["heap_live_bytes"].dropna().median())
    gogc = facts.pacing.cycles["headroom_fraction"].dropna().median()
    of_rss = "" if rss is None else f", {format_fraction(headroom / rss)} of RSS"
    return Finding(
        code=CODE,
        severity=Severity.INFO,
        title=(
            f"{format_bytes(headroom)} of the heap is room for garbage{of_rss}: "
            f"{format_bytes(live)} are live, and each goal leaves that much above them"
        ),
        moment=None,
        bytes=headroom,
        evidence=(
            Evidence(facts.path, "headroom_p50_bytes", headroom, "B"),
            Evidence(facts.path, "heap_live_p50_bytes", live, "B"),
            Evidence(facts.path, "goal over live heap, less 1", float(gogc), "ratio"),
        ),
        mechanism=(
            "GOGC sets how far the heap may grow over what was live before the next collection: "
            "100, the default, doubles it. What lies between is garbage that waits, or free."
        ),
        next_step=(
            "If memory is dearer than CPU, lower GOGC: at half of it, half of this room, and twice "
            "as many collections. If a limit must hold, set GOMEMLIMIT and leave GOGC."
        ),
        references=("golang.org/doc/gc-guide#GOGC", "runtime/debug.SetGCPercent"),
    )
