"""The program itself asks for its collections, over and over.

runtime.GC and debug.FreeOSMemory collect whether or not there is garbage, and whoever calls them
waits. A heap profile fetched with gc=1 does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.causes.answers import Situation
    from gomem.causes.collector_answers import GcFacts


def find(situation: Situation) -> list[Finding]:
    """One finding for the whole log, if many of its collections were forced."""
    facts, limits = situation.gc, situation.thresholds
    if facts is None:
        return []
    summary = facts.summary
    least = max(limits.forced_cycles, limits.forced_fraction * summary.cycles)
    return [_finding(facts)] if summary.forced >= least else []


CAUSE = Cause(
    code="forced-gc",
    mechanism="runtime.GC, debug.FreeOSMemory, /debug/pprof/heap?gc=1 and goroutine-leak profiles "
    "collect at once, whether or not there is garbage, and the caller waits until the heap is "
    "swept. Up to Go 1.8 the world stands still all the while.",
    remedy="Search the program and its libraries for runtime.GC and debug.FreeOSMemory, and "
    "whatever fetches its profiles for gc=1. To keep memory low, set GOMEMLIMIT or GOGC instead: "
    "they collect when it helps.",
    references=("runtime.GC", "runtime/debug.FreeOSMemory", "golang.org/doc/gc-guide"),
    rule=find,
)


def _finding(facts: GcFacts) -> Finding:
    summary = facts.summary
    forced = facts.triggers.counts.set_index("trigger").loc["forced"]
    cpu, stopped = float(forced["gc_cpu_seconds"]), float(forced["stopped_seconds"])
    share = summary.forced / summary.cycles
    return CAUSE.finding(
        Severity.WARNING,
        f"the program forced {format_count(summary.forced)} of {format_count(summary.cycles)} "
        f"collections ({format_fraction(share)}), in {format_seconds(summary.seconds)}",
        evidence=(
            Evidence(facts.path, "forced", summary.forced, "count"),
            Evidence(facts.path, "cycles", summary.cycles, "count"),
            Evidence(facts.path, "gc_cpu_seconds of forced", cpu, "s"),
            Evidence(facts.path, "stopped_seconds of forced", stopped, "s"),
        ),
    )
