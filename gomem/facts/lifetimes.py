"""How long do a capture's objects live, according to its heap profiles and its GC log?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import pieces_of
from gomem.analysis.profiles.lifetimes import Lifetimes, lifetimes

if TYPE_CHECKING:
    from gomem.facts.capture import CaptureFacts


def lifetimes_of(facts: CaptureFacts, granularity: str) -> Lifetimes | None:
    """Return mean lifetimes by site over the last process's profiles; None for fewer than two."""
    profiles, log = facts.profiles.of_last_process, facts.collector
    if len(profiles) < 2:
        return None
    if log is None:
        counters = facts.counters
        between = None if counters is None else counters.interval_seconds
        return lifetimes(profiles, granularity, collection_seconds=between)
    pieces = pieces_of(log.cycles, ["mark_seconds"])
    marking = [float(piece["mark_seconds"].max()) for piece in pieces if len(piece)]
    return lifetimes(
        profiles,
        granularity,
        collection_seconds=log.cost.interval.max,
        marking_seconds=max(marking, default=None),
    )
