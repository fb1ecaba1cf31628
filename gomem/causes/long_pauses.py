"""The world stands still longer than the collector needs.

Both stops of a collection take a few steps on every P. Since Go 1.8 that is far below a
millisecond; what takes longer waits for something: a goroutine that cannot be stopped, or a CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import STOPS, stopped_seconds
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_count, format_seconds

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.answers import Situation
    from gomem.causes.collector_answers import GcFacts
    from gomem.causes.thresholds import GcThresholds

CODE = "long-pauses"


def find(situation: Situation) -> list[Finding]:
    """One finding for the whole log, if stops are long often, or one is very long."""
    facts, limits = situation.gc, situation.gc_thresholds
    if facts is None or facts.cycles.empty:
        return []
    stopped = stopped_seconds(facts.cycles)
    long = int((stopped >= limits.pause_seconds).sum())
    often = long >= max(limits.long_cycles, limits.long_fraction * len(stopped))
    if not often and not bool((stopped >= limits.worst_pause_seconds).any()):
        return []
    return [_finding(facts, stopped, long, limits)]


def _finding(facts: GcFacts, stopped: pd.Series, long: int, limits: GcThresholds) -> Finding:
    worst = facts.cycles.loc[stopped.idxmax()]
    first, last = (worst[name] for name in STOPS)
    longest = float(stopped.max())
    bound = format_seconds(limits.pause_seconds)
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        title=(
            f"{format_count(long)} of {format_count(len(stopped))} collections stopped the world "
            f"for {bound} or more, the longest for {format_seconds(longest)}"
        ),
        moment=None,
        bytes=None,
        evidence=(
            Evidence(facts.path, "stw_p99_seconds", facts.summary.stw.p99 or 0.0, "s"),
            Evidence(facts.path, "stw_max_seconds", longest, "s"),
            Evidence(facts.path, "longest: cycle", int(worst["number"]), ""),
            Evidence(facts.path, "longest: line", int(worst["line"]), ""),
            Evidence(facts.path, "longest: sweep_termination_seconds", float(first), "s"),
            Evidence(facts.path, "longest: mark_termination_seconds", float(last), "s"),
        ),
        mechanism=_mechanism(bool(first >= last), bool(worst["forced"])),
        next_step=(
            "Look whether the container is throttled (cgroup cpu.stat: nr_throttled) or has fewer "
            "CPUs than GOMAXPROCS. If not, record an execution trace across such a stop, and see "
            "which P was waited for."
        ),
        references=("golang.org/doc/gc-guide#Latency", "golang/go#10958", "runtime/trace"),
        confidence="likely",
    )


def _mechanism(at_first: bool, forced: bool) -> str:
    if at_first:
        words = (
            "The longest stop is the first one, sweep termination. Its time counts from the "
            "request to stop: until every P has stopped, the others wait. Before Go 1.14 a loop "
            "without a call could not be stopped at all; since then a P that is not scheduled by "
            "the kernel is the usual reason."
        )
    else:
        words = (
            "The longest stop is the last one, mark termination, in which little is left to do. "
            "What makes it long is as a rule a CPU that is not there: throttling, or more Ps than "
            "CPUs."
        )
    if forced:
        words += " This collection was forced, and up to Go 1.8 such a one marks in a stop."
    return words
