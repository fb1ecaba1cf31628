"""Stop-the-world pauses are longer than GC needs.

Both STW phases of a collection do little work on every P. Since Go 1.8 they take far less than a
millisecond. A longer pause waits for a goroutine that cannot be preempted, or for a CPU.

With evenly spaced requests, the share of requests that meet a long pause equals the share of time
in long pauses. From 1 % on, the p99 of requests shows the pauses, and the finding is a warning if
the program causes them. A program that cannot be preempted delays most pauses. A kernel with more
runnable threads than CPUs delays some pauses by tens of milliseconds while the others stay short. A
busy kernel delays requests just as much without GC. So if most pauses are short, long pauses are a
note. Several pauses of a tenth of a second, which users notice, are a warning; any kernel causes
one or two of those. With few collections, the typical pause is unknown. Pauses of the start alone
are none of a log that goes on: a program starts with all its Ps at work, and serves nobody yet.

Without a log, MemStats has the last 256 pauses. Without those, the counters give the mean, and the
finding is a note.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import STOPS
from gomem.causes.cause import Case, Cause
from gomem.causes.collecting import counted_evidence
from gomem.causes.evidence import known
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.releases import Fact
from gomem.text import Command, Count, Seconds, Share, Text, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.thresholds import Thresholds
    from gomem.facts.collector import CollectorFacts
    from gomem.statistics.quantiles import Tally


def find(case: Case) -> list[Finding]:
    """Return one finding for the capture: several long pauses, or a single very long pause."""
    log, counters, limits = case.facts.collector, case.facts.counters, case.thresholds
    remembered = case.facts.remembered_pauses
    if log is not None:
        stops = _Stops(log.pauses.stopped, log.cost.seconds, limits)
        worst = log.longest_stop
        if worst is None or not stops.are_long or _are_of_the_start(log, limits):
            return []
        rescans = case.facts.go_version.possibly(Fact.STACKS_RESCANNED)
        return [_by_log(log, worst, stops, rescans=rescans)]
    if remembered is None or counters is None:
        return _by_counters(case)
    path, stops = counters.last.path, _Stops(remembered.stopped, remembered.seconds, limits)
    if not stops.are_long:
        return []
    evidence = (
        *known(path, "fraction", {_IN_STOPS: stops.share}),
        *known(path, "s", {"longest PauseNs": stops.stopped.max}),
        *known(path, "", {"GC number of the longest PauseNs": remembered.longest_number}),
        *counted_evidence(case, counters),
    )
    return [_finding(stops, evidence, cycles=counters.cycles)]


@dataclass(frozen=True)
class _Stops:
    """The STW pause of each collection, compared with the thresholds.

    Attributes:
        stopped: The pauses, in seconds.
        watched_seconds: The observed time; None if unknown.
        limits: The thresholds.
    """

    stopped: Tally
    watched_seconds: float | None
    limits: Thresholds

    @property
    def long(self) -> int:
        """The number of long pauses."""
        return self.stopped.at_least(self.limits.pause_seconds)

    @property
    def grave(self) -> int:
        """The number of pauses long enough for users to notice."""
        return self.stopped.at_least(self.limits.worst_pause_seconds)

    @property
    def are_long(self) -> bool:
        """Whether several pauses are long, or any is very long."""
        least = max(self.limits.long_cycles, self.limits.long_fraction * len(self.stopped))
        return self.long >= least or self.grave > 0

    @property
    def share(self) -> float | None:
        """Long pauses as a share of the observed time; None without observed time."""
        if self.watched_seconds is None or not self.watched_seconds > 0:
            return None
        stopped = self.stopped.sum_at_least(self.limits.pause_seconds)
        return min(1.0, stopped / self.watched_seconds)

    @property
    def are_enough(self) -> bool:
        """Whether there are enough pauses to know what is typical."""
        return len(self.stopped) >= self.limits.enough_cycles

    @property
    def are_usual(self) -> bool:
        """Whether most pauses are long."""
        most = self.limits.deciding_fraction * len(self.stopped)
        return self.are_enough and self.long >= most

    @property
    def are_noticed(self) -> bool:
        """Whether the program cannot be preempted, or users notice the pauses."""
        if self.are_usual:
            return self.grave > 0 or (self.share or 0.0) >= self.limits.stopped_fraction
        return self.grave >= self.limits.long_cycles


def _are_of_the_start(log: CollectorFacts, limits: Thresholds) -> bool:
    """Return whether pauses are long only while the program starts, in a log that goes on."""
    late = log.pauses_after(limits.healthy_log_seconds)
    return len(late) > 0 and not _Stops(late, None, limits).are_long


_AT_FIRST = (
    " The longest STW phase here was sweep termination, which lasts until the last P has stopped. "
    "Before Go 1.14 a loop without a call could not be preempted; since Go 1.14 the usual reason "
    "is that the kernel does not run the thread of a P."
)
_AT_LAST = (
    " The longest STW phase here was mark termination, which has little to do. The usual reason is "
    "that no CPU was free: throttling, or more Ps than CPUs."
)
_AT_LAST_OR_RESCAN = (
    " The longest STW phase here was mark termination. Before Go 1.8 mark termination scans every "
    "stack again, so it takes longer the more goroutines there are. Since Go 1.8 it has little to "
    "do, and the usual reason is that no CPU was free: throttling, or more Ps than CPUs."
)
_IN_STOPS = "share of the time in long pauses"
_SOME = (
    " Most pauses are short, so preemption works. In the long pauses the runtime most likely "
    "waited for a CPU, as any thread does on a busy machine."
)
_FORCED = (
    " This collection was forced, and up to Go 1.8 a forced collection marks while the world is "
    "stopped."
)
CAUSE = Cause(
    code="long-pauses",
    mechanism="Each GC stops the world twice, for well under a millisecond since Go 1.8. During a "
    "longer pause, the runtime waits for a goroutine that cannot be preempted, or for a CPU.",
    remedy=text(
        "See whether the container is throttled: {}. Also check whether the container has fewer "
        "CPUs than GOMAXPROCS, and what else runs on the machine. If none of these explains the "
        "pauses, record an execution trace of a long pause and see which P stops last.",
        Command("grep -s throttled /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat"),
    ),
    references=("golang.org/doc/gc-guide#Latency", "golang/go#10958", "runtime/trace"),
    bears_on=("collector",),
    rule=find,
    needed_moments=2,
)


def _by_log(log: CollectorFacts, worst: pd.Series, stops: _Stops, *, rescans: bool) -> Finding:
    first, last = (float(worst[name]) for name in STOPS)
    p99 = log.pauses.quantiles.query("what == 'stopped'").set_index("quantile").loc[0.99]
    lengths = {
        "stw_p99_seconds": float(p99["seconds"]) if p99["is_carried"] else None,
        "longest pause": stops.stopped.max or 0.0,
    }
    steps = {
        "sweep termination of that GC": first,
        "mark termination of that GC": last,
    }
    evidence = (
        *known(log.path, "fraction", {_IN_STOPS: stops.share}),
        *known(log.path, "s", lengths),
        *known(log.path, "", {"longest STW phase, GC number": int(worst["number"])}),
        *known(log.path, "", {"longest STW phase, line of the log": int(worst["line"])}),
        *known(log.path, "s", steps),
    )
    last_words = _AT_LAST_OR_RESCAN if rescans else _AT_LAST
    where = _AT_FIRST if first >= last else last_words
    return _finding(stops, evidence, where + (_FORCED if worst["forced"] else ""))


def _finding(
    stops: _Stops, evidence: tuple[Evidence, ...], why: str = "", cycles: int = 0
) -> Finding:
    """Return the finding of these pauses, which can be of fewer collections than `cycles`."""
    known_of = len(stops.stopped)
    of_all = text(" whose pause is known ({} in all)", Count(cycles)) * (cycles > known_of)
    share, some = stops.share, "" if stops.are_usual or not stops.are_enough else _SOME
    return CAUSE.finding(
        Severity.WARNING if stops.are_noticed else Severity.INFO,
        text(
            "Long GC pauses: up to {}, in {} of {}{}",
            Seconds(stops.stopped.max or 0.0),
            Count(stops.long),
            Count(known_of, "collection"),
            of_all,
        ),
        cpu_fraction=share,
        evidence=evidence,
        mechanism=CAUSE.mechanism + why + some,
        confidence="likely" if stops.are_usual else "possible",  # by the program or the kernel
    )


def _by_counters(case: Case) -> list[Finding]:
    """Return a finding by the counters: a long mean proves long pauses, but not that most are long.

    So the finding is a note, unless users notice the mean, and its confidence is possible: a log
    could show that a single pause was long.
    """
    counters, limits = case.facts.counters, case.thresholds
    if counters is None or counters.paused_seconds is None or not counters.cycles:
        return []
    each, share = counters.paused_seconds / counters.cycles, counters.stopped_fraction
    if each < limits.pause_seconds or counters.cycles < limits.long_cycles:
        return []
    in_all = Text() if share is None else text(", {} of the time", Share(share))
    return [
        CAUSE.finding(
            Severity.WARNING if each >= limits.worst_pause_seconds else Severity.INFO,
            text(
                "Long GC pauses: {} on average over {}{}",
                Seconds(each),
                Count(counters.cycles, "collection"),
                in_all,
            ),
            cpu_fraction=share,
            evidence=counted_evidence(case, counters),
            confidence="possible",
        )
    ]
