"""What collecting costs, in the words and the evidence of every cause that is about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.series.shapes import MOVES
from gomem.causes.evidence import known
from gomem.causes.finding import Lack
from gomem.units import format_count, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.counters import CollectorCounters
    from gomem.causes.case import Case
    from gomem.causes.finding import Evidence
    from gomem.facts.collector import CollectorFacts

CLOCK_SECONDS = 0.001  # the log tells the start of a collection to so much


def every(interval_seconds: float | None) -> str:
    """How often collections come, as the end of "a collection …": its clock is no finer."""
    if interval_seconds is not None and interval_seconds < CLOCK_SECONDS:
        return f"every {format_seconds(CLOCK_SECONDS)} or less"
    return f"every {format_seconds(interval_seconds)}"


def counted_cost(counters: CollectorCounters) -> str:
    """What collecting costs by the process's own counters, as a clause."""
    share = format_fraction(counters.cpu_fraction)
    if counters.none_since is not None:
        return (
            f"collecting took {share} of the CPU from the start to the last collection; none has "
            f"run since {counters.none_since.moment}"
        )
    cost = f"collecting takes {share} of the CPU"
    if counters.cpu_since_start:
        cost = f"collecting has taken {share} of the CPU since the start"
    interval = counters.interval_seconds
    return cost if interval is None else f"{cost}, a collection {every(interval)} on average"


def counted_evidence(counters: CollectorCounters) -> tuple[Evidence, ...]:
    """The counters that a finding without a log rests on."""
    last = counters.last
    since = "" if counters.since_start else ", between the first moment and the last"
    cycles = {f"NumGC{since}": counters.cycles, f"NumForcedGC{since}": counters.forced}
    paused = {f"PauseTotalNs{since}": counters.paused_seconds}
    return (
        *known(last.path, "count", cycles),
        *known(last.path_of("PauseTotalNs"), "s", paused),
        *known(last.path_of("LastGC"), "s", {"LastGC, last less first": counters.seconds}),
        *known(counters.cpu_path, "fraction", {counters.cpu_field: counters.cpu_fraction}),
    )


def marking_words(log: CollectorFacts, trigger: str) -> str:
    """CPU that marking took in collections of a trigger; with stops, where that is clearly more."""
    marking, most = log.marking_share_of(trigger), log.collecting_share_of(trigger)
    text = f"{format_fraction(marking)} of the CPU"
    if marking is None or most is None or most - marking <= MOVES * marking:
        return text
    return f"{text}, up to {format_fraction(most)} with stops"


def too_few_collections(
    case: Case,
    code: str,
    seen: str,
    had: str,
    evidence: tuple[Evidence, ...],
    *,
    least: int | None = None,
) -> Lack:
    """That a log has too few collections of a cause, and too cheap ones in all; see `Lack`."""
    limits = case.thresholds
    needed = f"{format_count(least or limits.enough_cycles)} such collections"
    enough = f"{format_seconds(limits.enough_cpu_seconds)} of marking"
    on = "Let the log run on under load: GODEBUG=gctrace=1."
    return Lack(code, seen, had, f"{needed}, or {enough}", on, evidence)
