"""The heap of a capture in which no GC ran: neither its live heap nor a heap profile is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.commands import TAKE_AFTER_GC
from gomem.text import Bytes, Count, MomentName, Text, text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

LEVELS = ("HeapInuse", "HeapAlloc")  # the first that both ends have
AFTER_A_GC = text("See what is live, after a GC: {}.", TAKE_AFTER_GC)


def risen_without_gc(diagnosis: Diagnosis) -> Text:
    """Say that the heap rose and no GC ran since the first snapshot; empty if one did.

    All of the rise can be garbage, or all of it live: nothing has looked. A log of the GC would
    have the live heap of its own.
    """
    ends = _ends(diagnosis)
    if ends is None or diagnosis.collector is not None:
        return Text()
    (first, before), (last, after) = ends
    name = next((name for name in LEVELS if _has(before, name) and _has(after, name)), None)
    if name is None or not diagnosis.thresholds.has_grown(int(before[name]), int(after[name])):
        return Text()
    words = (
        "No GC ran from {} to {} ({} at both), and {} rose from {} to {}: how much of the rise is "
        "live is unknown.{}"
    )
    profiles = diagnosis.capture.heap_profiles
    lag = " A heap profile shows the heap at the last GC, so it does not show the rise."
    names, sizes = (first.name, last.name), (int(before[name]), int(after[name]))
    count = text("NumGC {}", Count(int(after["NumGC"])))
    ends_words = map(MomentName, names)
    return text(words, *ends_words, count, name, *map(Bytes, sizes), lag if profiles else "")


def _ends(
    diagnosis: Diagnosis,
) -> tuple[tuple[MomentFacts, pd.Series], tuple[MomentFacts, pd.Series]] | None:
    """The first and last MemStats of the process; None if a GC ran between them, or one is all."""
    known = [
        (moment, moment.memstats)
        for moment in diagnosis.case.facts.of_last_process
        if moment.memstats is not None and _has(moment.memstats, "NumGC")
    ]
    if len(known) < 2 or known[0][1]["NumGC"] != known[-1][1]["NumGC"]:
        return None
    return known[0], known[-1]


def _has(stats: pd.Series, name: str) -> bool:
    return name in stats and pd.notna(stats[name])
