"""Much of the heap is room for garbage, and that is what GOGC asked for.

With GOGC=100 the heap grows to twice the live heap before it is collected. So half of it is garbage
or empty most of the time: no leak, but memory that can be traded for CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.answers import Answers
    from gomem.causes.collector_answers import CollectorAnswers

LIMIT = "limit"


def find(answers: Answers) -> list[Finding]:
    """One note for the whole log, if the room between live heap and goal is large."""
    facts, limits = answers.gc, answers.thresholds
    if facts is None:
        return []
    if facts.triggers.of(LIMIT)["cycles"] > limits.deciding_fraction * facts.cost.cycles:
        return []  # the room is what GOMEMLIMIT leaves: somebody has chosen it
    room = facts.pacing.summary.set_index("what").loc["headroom_bytes"]
    if room["n"] < limits.headroom_goals or room["p50"] < limits.headroom_bytes:
        return []
    headroom = int(room["p50"])
    rss = answers.largest_rss_bytes
    if rss is not None and headroom < limits.headroom_fraction * rss:
        return []
    return [_finding(facts, headroom, rss)]


CAUSE = Cause(
    code="heap-headroom",
    mechanism="GOGC sets how far the heap may grow over what was live before the next collection: "
    "100, the default, doubles it. What lies between is free, or is garbage that waits to be "
    "collected.",
    remedy="If memory costs more than CPU, lower GOGC: half of it gives half of this room, and "
    "twice as many collections. If a limit must hold, set GOMEMLIMIT and leave GOGC alone.",
    references=("golang.org/doc/gc-guide#GOGC", "runtime/debug.SetGCPercent"),
    rule=find,
)


def _finding(facts: CollectorAnswers, headroom: int, rss: int | None) -> Finding:
    live = int(facts.cycles["heap_live_bytes"].dropna().median())
    gogc = facts.pacing.cycles["headroom_fraction"].dropna().median()
    of_rss = "" if rss is None else f", {format_fraction(headroom / rss)} of RSS"
    return CAUSE.finding(
        Severity.INFO,
        f"{format_bytes(headroom)} of the heap is room for garbage{of_rss}: with "
        f"{format_bytes(live)} live, each goal leaves that much above it",
        size=headroom,
        evidence=(
            Evidence(facts.path, "headroom_p50_bytes", headroom, "B"),
            Evidence(facts.path, "heap_live_p50_bytes", live, "B"),
            Evidence(facts.path, "goal over live heap, less 1", float(gogc), "ratio"),
        ),
    )
