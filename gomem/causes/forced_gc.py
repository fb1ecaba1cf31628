"""The program itself asks for its collections, over and over.

runtime.GC and debug.FreeOSMemory collect whether or not there is garbage, and whoever calls them
waits. A heap profile fetched with gc=1 does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.causes.answers import Situation
    from gomem.causes.collector_answers import GcFacts

CODE = "forced-gc"


def find(situation: Situation) -> list[Finding]:
    """One finding for the whole log, if many of its collections were forced."""
    facts, limits = situation.gc, situation.gc_thresholds
    if facts is None:
        return []
    summary = facts.summary
    enough = summary.forced >= limits.forced_cycles
    if not enough or summary.forced < limits.forced_fraction * summary.cycles:
        return []
    return [_finding(facts)]


def _finding(facts: GcFacts) -> Finding:
    summary = facts.summary
    forced = facts.triggers.counts.set_index("trigger").loc["forced"]
    cpu = float(forced["gc_cpu_seconds"])
    share = summary.forced / summary.cycles
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        title=(
            f"the program forced {format_count(summary.forced)} of {format_count(summary.cycles)} "
            f"collections ({format_fraction(share)}), in {format_seconds(summary.seconds)}"
        ),
        moment=None,
        bytes=None,
        evidence=(
            Evidence(facts.path, "forced", summary.forced, "count"),
            Evidence(facts.path, "cycles", summary.cycles, "count"),
            Evidence(facts.path, "gc_cpu_seconds of forced", cpu, "s"),
            Evidence(
                facts.path, "stopped_seconds of forced", float(forced["stopped_seconds"]), "s"
            ),
        ),
        mechanism=(
            "runtime.GC, debug.FreeOSMemory, /debug/pprof/heap?gc=1 and goroutine-leak profiles "
            "collect at once, whether or not there is garbage, and the caller waits until it is "
            "swept. Up to Go 1.8 the world stands still all the while."
        ),
        next_step=(
            "Search the program and its libraries for runtime.GC and debug.FreeOSMemory, and what "
            "fetches its profiles for gc=1. To keep memory low, set GOMEMLIMIT or GOGC instead: "
            "they collect when it is of use."
        ),
        references=("runtime.GC", "runtime/debug.FreeOSMemory", "golang.org/doc/gc-guide"),
    )
