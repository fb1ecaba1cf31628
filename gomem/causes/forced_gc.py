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
    from gomem.causes.answers import Answers
    from gomem.causes.collector_answers import CollectorAnswers


def find(answers: Answers) -> list[Finding]:
    """One finding for the whole log, if many of its collections were forced."""
    facts, limits = answers.gc, answers.thresholds
    if facts is None:
        return []
    cost = facts.cost
    least = max(limits.forced_cycles, limits.forced_fraction * cost.cycles)
    return [_finding(facts)] if cost.forced >= least else []


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


def _finding(facts: CollectorAnswers) -> Finding:
    cost = facts.cost
    forced = facts.triggers.counts.set_index("trigger").loc["forced"]
    cpu, stopped = float(forced["gc_cpu_seconds"]), float(forced["stopped_seconds"])
    share = cost.forced / cost.cycles
    return CAUSE.finding(
        Severity.WARNING,
        f"the program forced {format_count(cost.forced)} of {format_count(cost.cycles)} "
        f"collections ({format_fraction(share)}), in {format_seconds(cost.seconds)}",
        evidence=(
            Evidence(facts.path, "forced", cost.forced, "count"),
            Evidence(facts.path, "cycles", cost.cycles, "count"),
            Evidence(facts.path, "gc_cpu_seconds of forced", cpu, "s"),
            Evidence(facts.path, "stopped_seconds of forced", stopped, "s"),
        ),
    )
