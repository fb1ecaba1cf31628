"""RSS, or a container's working set, that grows beside a Go runtime that does not: not Go's memory.

Of RSS, Go's heap and runtime are at most Sys, all that Go ever took from the OS. What RSS has grown
by beyond the highest Sys is not Go's, whenever in the same capture each of them was read. A working
set has page cache in use and kernel memory besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.series.level import LATE
from gomem.causes.evidence import rise_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.facts.goroutines import level_of
from gomem.text import Bytes, Rate, Text, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.causes.case import Case
    from gomem.causes.cause import Cause
    from gomem.facts.moment import MomentFacts


def beyond_sys(case: Case, cause: Cause, next_step: Text) -> list[Finding]:
    """Return a finding if the RSS of one process grows by more than Go ever reserved.

    Sys never falls, so a reading bounds what Go had before it, and a level series most likely what
    it had after. Readings that end while RSS still grows are followed by an unknown Sys.
    """
    moments = case.facts.of_last_process
    sizes = [(m.time, float(size)) for m in moments if (size := _reserved(m)) is not None]
    rise = level_of("", sizes).rise
    if rise is None or rise.shape != "flat" or rise.readings < case.thresholds.growth_readings:
        return []
    until = sizes[-1][0]
    times = [m.time for m in moments if _rss(m) is not None and m.time is not None]
    if until is not None and times and until < times[-1] - LATE * (times[-1] - times[0]):
        return []
    return _beyond(case, cause, next_step, _rss, "RSS")


def beyond_working_set(case: Case, cause: Cause, next_step: Text) -> list[Finding]:
    """Return a finding if one container's working set grows by more than Go ever reserved."""
    return _beyond(case, cause, next_step, _working_set, "working set")


def _beyond(
    case: Case,
    cause: Cause,
    next_step: Text,
    size_of: Callable[[MomentFacts], int | None],
    what: str,
) -> list[Finding]:
    limits, moments = case.thresholds, case.facts.of_last_process
    used = [(moment, size) for moment in moments if (size := size_of(moment)) is not None]
    reserved = [(size, moment) for moment in moments if (size := _reserved(moment)) is not None]
    names = {moment.listed.name for moment, _ in used if moment.listed is not None}
    if len(names) != 1 or not reserved or len(used) < limits.growth_readings:
        return []
    rise = level_of("", [(moment.time, float(size)) for moment, size in used]).rise
    if rise is None or not rise.goes_on:
        return []
    last, _ = used[-1]
    most, at = max(reserved, key=lambda each: each[0])
    beyond = round(rise.grown) - most
    if beyond < limits.notable(limits.native_bytes, round(rise.reached)):
        return []
    is_timed = all(moment.time is not None for moment, _ in used)
    grows = text(" by {}", Rate(rise.rate, rise.low, rise.high)) if is_timed else Text()
    words = (
        "Memory outside Go ({}) grows{}: {} reached {}, and Go never reserved more than {} (Sys)"
    )
    kinds, whole = _WORDS[what]
    path = last.path("processes")
    return [
        cause.finding(
            Severity.WARNING,
            text(words, kinds, grows, whole, Bytes(round(rise.reached)), Bytes(most)),
            moment=last.name,
            size=beyond,
            evidence=(
                *rise_evidence(path, what, rise),
                Evidence(at.path("memstats"), "Sys, highest", most, "B"),
            ),
            next_step=next_step,
            confidence="possible",
        )
    ]


_WORDS = {
    "RSS": ("C or mmap", "RSS"),
    "working set": ("C, mmap or page cache", "the working set"),
}


def _rss(moment: MomentFacts) -> int | None:
    return None if moment.listed is None else moment.listed.rss_bytes


def _working_set(moment: MomentFacts) -> int | None:
    return None if moment.listed is None else moment.listed.working_set_bytes


def _reserved(moment: MomentFacts) -> int | None:
    stats = moment.any_memstats
    size = None if stats is None else stats.get("Sys")
    return None if size is None or pd.isna(size) else int(size)
