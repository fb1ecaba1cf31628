"""What the program holds keeps growing: the sign of a leak, seen in what each collection marked.

GOGC lets the heap swing between one collection and the next; the live heap does not swing. If it
still grows after it has filled, somebody keeps what is no longer needed, or the work grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.live_heap import LiveHeap
    from gomem.causes.situation import Situation
    from gomem.causes.thresholds import GcThresholds

CODE = "heap-growth"


def find(situation: Situation) -> list[Finding]:
    """One finding for the run that was watched longest, if its live heap grows."""
    facts, limits = situation.gc, situation.gc_thresholds
    if facts is None or facts.longest_run is None:
        return []
    live = facts.longest_run
    enough = int((facts.cycles["run"] == live.run).sum()) >= limits.enough_cycles
    return [_finding(live, facts.path, limits)] if enough and _grows(live, limits) else []


def _grows(live: LiveHeap, limits: GcThresholds) -> bool:
    """Whether it surely grows, and enough to matter."""
    if live.slope_low is None or live.slope_low <= 0 or live.grown_bytes is None:
        return False
    least = max(limits.growth_bytes, limits.growth_fraction * live.last_bytes)
    return live.grown_bytes >= least


def _finding(live: LiveHeap, path: str, limits: GcThresholds) -> Finding:
    assert live.grown_bytes is not None
    assert live.slope_bytes_per_second is not None
    assert live.slope_low is not None
    assert live.slope_high is not None
    sure = live.seconds >= limits.growth_sure_seconds
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        title=(
            f"the live heap grows by {format_bytes(live.slope_bytes_per_second)}/s "
            f"({format_bytes(live.slope_low)}/s to {format_bytes(live.slope_high)}/s): "
            f"{format_bytes(live.grown_bytes)} in {format_seconds(live.seconds)}, "
            f"to {format_bytes(live.last_bytes)}"
        ),
        moment=None,
        bytes=int(live.grown_bytes),
        evidence=(
            Evidence(path, "heap_live_first_bytes", live.first_bytes),
            Evidence(path, "heap_live_last_bytes", live.last_bytes),
            Evidence(path, "live_slope_bytes_per_second", live.slope_bytes_per_second),
            Evidence(path, "live_slope_low_bytes_per_second", live.slope_low),
            Evidence(path, "live_slope_high_bytes_per_second", live.slope_high),
            Evidence(path, "cycles", live.cycles),
        ),
        mechanism=(
            "Each collection prints what it marked: everything that is still reachable, whatever "
            "GOGC allows on top. The slope is the median of the slopes between all pairs of "
            "collections, from where the live heap first reached its own median; so the filling at "
            "the start and a few odd collections do not make it."
        ),
        next_step=(
            "Take two heap profiles some minutes apart and look at what grew between them: go tool "
            "pprof -diff_base, or gomem compare. "
            + ("" if sure else "Watch for longer, too: a cache that fills looks the same.")
        ).rstrip(),
        references=("golang.org/doc/gc-guide", "net/http/pprof"),
        confidence="likely" if sure else "possible",
    )
