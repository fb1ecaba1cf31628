"""What collecting costs, in the words and the evidence of every cause that is about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.series.shapes import MOVES
from gomem.causes.finding import what_is_known
from gomem.units import format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.counters import CollectorCounters
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
    if counters.none_since is not None:
        return (
            f"collecting took {format_fraction(counters.cpu_fraction)} of the CPU from the start "
            f"to the last collection; none has run since {counters.none_since.moment}"
        )
    share = format_fraction(counters.cpu_fraction)
    cost = f"collecting takes {share} of the CPU"
    if counters.cpu_since_start:
        cost = f"collecting has taken {share} of the CPU since the start"
    interval = counters.interval_seconds
    return cost if interval is None else f"{cost}, a collection {every(interval)} on average"


def counted_evidence(counters: CollectorCounters) -> tuple[Evidence, ...]:
    """The counters that a finding without a log rests on."""
    last = counters.last
    since = "" if counters.since_start else ", between the first moment and the last"
    return what_is_known(
        (last.path, f"NumGC{since}", counters.cycles, "count"),
        (last.path, f"NumForcedGC{since}", counters.forced, "count"),
        (last.path_of("PauseTotalNs"), f"PauseTotalNs{since}", counters.paused_seconds, "s"),
        (last.path_of("LastGC"), "LastGC, last less first", counters.seconds, "s"),
        (counters.cpu_path, counters.cpu_field, counters.cpu_fraction, "fraction"),
    )


def marking_words(log: CollectorFacts, trigger: str) -> str:
    """CPU that marking took in collections of a trigger; with stops, where that is clearly more."""
    marking, most = log.marking_share_of(trigger), log.collecting_share_of(trigger)
    text = f"{format_fraction(marking)} of the CPU"
    if marking is None or most is None or most - marking <= MOVES * marking:
        return text
    return f"{text}, up to {format_fraction(most)} with stops"
