"""The world stands still longer than the collector needs.

Both stops of a collection take a few steps on every P. Since Go 1.8 that is far below a
millisecond; what takes longer waits for something: a goroutine that cannot be stopped, or a CPU.

What it costs is time. Of requests that come evenly, the share that meets a long stop is the share
of the time that long stops take: from a hundredth on the p99 shows it, and it is a warning, if it
is the program's. A program that cannot be stopped delays most stops. A kernel with more to run than
CPUs delays some, by some tens of milliseconds, while the others are as short as ever; it delays
requests as much without any collection. So where most stops are short, long ones are a note, unless
several take a tenth of a second, which users notice: once or twice any kernel does. Of few
collections nobody knows what most are like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import STOPS
from gomem.causes.cause import Cause
from gomem.causes.collector_answers import counted_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.answers import Answers
    from gomem.causes.collector_answers import CollectorAnswers
    from gomem.causes.thresholds import Thresholds


def find(answers: Answers) -> list[Finding]:
    """One finding for the whole log, if stops are long again and again, or one is very long.

    Without a log the process's own counters say how long they are on average.
    """
    facts, limits = answers.gc, answers.thresholds
    if facts is None:
        return _by_counters(answers)
    if facts.longest_stop is None:
        return []
    stopped = facts.pauses.stopped
    long = stopped.at_least(limits.pause_seconds)
    often = long >= max(limits.long_cycles, limits.long_fraction * len(stopped))
    if not often and not stopped.at_least(limits.worst_pause_seconds):
        return []
    return [_finding(facts, facts.longest_stop, long, limits)]


def _by_counters(answers: Answers) -> list[Finding]:
    """A mean that is long needs long stops; but whether it is most of them, it says not.

    So it is a note, unless the mean is what users notice, and never more than possible: of the
    same stops a log may say that one alone was long.
    """
    counters, limits = answers.counters, answers.thresholds
    if counters is None or counters.paused_seconds is None or not counters.cycles:
        return []
    each, share = counters.paused_seconds / counters.cycles, counters.stopped_fraction
    if each < limits.pause_seconds or counters.cycles < limits.long_cycles:
        return []
    dear = each >= limits.worst_pause_seconds
    in_all = "" if share is None else f"; stops took {format_fraction(share)} of the time"
    return [
        CAUSE.finding(
            Severity.WARNING if dear else Severity.INFO,
            f"{format_count(counters.cycles)} collections stopped the world for "
            f"{format_seconds(each)} on average{in_all}",
            cpu_fraction=share,
            evidence=counted_evidence(counters),
            confidence="possible",
        )
    ]


def stopped_fraction(facts: CollectorAnswers, bound_seconds: float) -> float | None:
    """Share of the time watched in stops of a length or more; None where no time was watched."""
    watched = facts.cost.seconds
    if watched is None or not watched > 0:
        return None
    return min(1.0, facts.pauses.stopped.sum_at_least(bound_seconds) / watched)


_AT_FIRST = (
    " The longest stop is the first one, sweep termination. Its time counts from the request to "
    "stop: until every P has stopped, the others wait. Before Go 1.14 a loop without a call could "
    "not be stopped at all; since then the usual reason is a P that the kernel does not "
    "schedule."
)
_AT_LAST = (
    " The longest stop is the last one, mark termination, in which little is left to do. What "
    "makes it long is usually a CPU that is not there: throttling, or more Ps than CPUs."
)
_IN_STOPS = "share of the time in long stops"
_SOME = (
    " Most stops of this log are short, so it is not the program that cannot be stopped: some "
    "waited for a CPU, as everything else then did."
)
_FORCED = " This collection was forced, and up to Go 1.8 such a collection marks in a stop."
CAUSE = Cause(
    code="long-pauses",
    mechanism="Both stops of a collection take a few steps on every P: since Go 1.8 that is far "
    "below a millisecond. What takes longer waits for a goroutine that cannot be stopped, or for a "
    "CPU.",
    remedy="Check whether the container is throttled (cgroup cpu.stat: nr_throttled) or has fewer "
    "CPUs than GOMAXPROCS, and what else runs on the machine. If that is not it, record an "
    "execution trace across such a stop, and see which P was waited for.",
    references=("golang.org/doc/gc-guide#Latency", "golang/go#10958", "runtime/trace"),
    rule=find,
)


def _p99(facts: CollectorAnswers) -> tuple[Evidence, ...]:
    """The p99 of the stops, where there are enough of them to have one."""
    stops = facts.pauses.quantiles.query("what == 'stopped'").set_index("quantile").loc[0.99]
    if not stops["is_carried"]:
        return ()
    return (Evidence(facts.path, "stw_p99_seconds", float(stops["seconds"]), "s"),)


def _finding(facts: CollectorAnswers, worst: pd.Series, long: int, limits: Thresholds) -> Finding:
    bound, share = limits.pause_seconds, stopped_fraction(facts, limits.pause_seconds)
    first, last = (float(worst[name]) for name in STOPS)
    stopped = facts.pauses.stopped
    longest = stopped.max or 0.0
    enough = len(stopped) >= limits.enough_cycles
    usual = enough and long >= limits.deciding_fraction * len(stopped)
    often = usual and (share or 0.0) >= limits.stopped_fraction
    grave = stopped.at_least(limits.worst_pause_seconds)
    dear = often or (grave > 0 if usual else grave >= limits.long_cycles)
    in_all = "" if share is None else f"; such stops took {format_fraction(share)} of the time"
    return CAUSE.finding(
        Severity.WARNING if dear else Severity.INFO,
        f"{format_count(long)} of {format_count(len(stopped))} collections stopped the world for "
        f"{format_seconds(bound)} or more, the longest for {format_seconds(longest)}{in_all}",
        cpu_fraction=share,
        evidence=(
            *(() if share is None else (Evidence(facts.path, _IN_STOPS, share, "fraction"),)),
            *_p99(facts),
            Evidence(facts.path, "stw_max_seconds", longest, "s"),
            Evidence(facts.path, "longest: cycle", int(worst["number"]), ""),
            Evidence(facts.path, "longest: line", int(worst["line"]), ""),
            Evidence(facts.path, "longest: sweep_termination_seconds", first, "s"),
            Evidence(facts.path, "longest: mark_termination_seconds", last, "s"),
        ),
        mechanism=(
            CAUSE.mechanism
            + (_AT_FIRST if first >= last else _AT_LAST)
            + (_FORCED if worst["forced"] else "")
            + ("" if usual or not enough else _SOME)
        ),
        confidence="likely" if usual else "possible",
    )
