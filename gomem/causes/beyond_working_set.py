"""A container's working set that grows, beside a Go runtime that does not: memory outside Go.

The working set has RSS, page cache in use and kernel memory. Of all that, Go's heap and runtime are
at most Sys. What the working set has grown by beyond that is not Go's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.evidence import rise_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.facts.goroutines import level_of
from gomem.text import Bytes, Rate, Text, text

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.cause import Cause
    from gomem.facts.moment import MomentFacts


def beyond_working_set(case: Case, cause: Cause, next_step: Text) -> list[Finding]:
    """Return a finding if one container's working set grows by more than Go ever reserved."""
    limits, moments = case.thresholds, case.facts.of_last_process
    used = [moment for moment in moments if _working_set(moment) is not None]
    reserved = [(size, moment) for moment in moments if (size := _reserved(moment)) is not None]
    names = {moment.listed.name for moment in used if moment.listed is not None}
    if len(names) != 1 or not reserved or len(used) < limits.growth_readings:
        return []
    rise = level_of("", [(moment.time, float(_working_set(moment) or 0)) for moment in used]).rise
    if rise is None or not rise.goes_on:
        return []
    last = used[-1]
    most, at = max(reserved, key=lambda each: each[0])
    beyond = round(rise.grown) - most
    if beyond < limits.notable(limits.native_bytes, round(rise.reached)):
        return []
    is_timed = all(moment.time is not None for moment in used)
    grows = text(" by {}", Rate(rise.rate, rise.low, rise.high)) if is_timed else Text()
    words = (
        "Memory outside Go (C, mmap or page cache) grows{}: the working set reached {}, and Go "
        "never reserved more than {} (Sys)"
    )
    path = last.path("processes")
    return [
        cause.finding(
            Severity.WARNING,
            text(words, grows, Bytes(round(rise.reached)), Bytes(most)),
            moment=last.name,
            size=beyond,
            evidence=(
                *rise_evidence(path, "working set", rise),
                Evidence(at.path("memstats"), "Sys, highest", most, "B"),
            ),
            next_step=next_step,
            confidence="possible",
        )
    ]


def _working_set(moment: MomentFacts) -> int | None:
    return None if moment.listed is None else moment.listed.working_set_bytes


def _reserved(moment: MomentFacts) -> int | None:
    stats = moment.any_memstats
    size = None if stats is None else stats.get("Sys")
    return None if size is None or pd.isna(size) else int(size)
