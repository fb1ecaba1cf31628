"""A moment's MemStats and smaps show two different states of the process.

The ledger subtracts numbers of both. If a collection ended between the readings, objects became
idle spans meanwhile, and idle spans were given back: what the ledger then shows as untouched or
unexplained is no memory at all, but the time between two commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.capture.wanted import MEMSTATS, SMAPS
from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """One finding for each moment whose two sides do not belong together, or may not.

    A warning where that is known, and by how much the parts can be off matters; else a note, as
    where time has passed and nobody knows.
    """
    findings, limits = [], case.thresholds
    for moment in case.facts.moments:
        doubtful = doubtful_parts(moment)
        if doubtful:
            far = limits.notable(limits.skew_bytes, moment.rss_bytes)
            apart = abs(bytes_apart(moment))
            little = not moment.skew.crosses_a_collection and 0 < apart < far
            severity = Severity.INFO if little else Severity.WARNING
            findings.append(_finding(moment, doubtful, severity))
        elif moment.mappings is not None and _far_apart(moment, limits.skew_seconds):
            findings.append(_finding(moment, doubtful, Severity.INFO))
    return findings


CAUSE = Cause(
    code="data-skew",
    mechanism="MemStats (or the metrics) and smaps were read at different states of the process. A "
    "collection between them turns objects into idle heap and gives idle heap back, so differences "
    "between the two files are not memory. RSS holds, and so do the parts that come from the "
    "kernel's file alone.",
    remedy="Read both files in one command, one right after the other: `gomem capture` does, or "
    f"{MEMSTATS.command()}; {SMAPS.command()}.",
    references=(),
    rule=find,
)


def doubtful_parts(moment: MomentFacts) -> list[str]:
    """The parts of the ledger that cannot be trusted."""
    if moment.ledger is None:
        return []
    parts = moment.ledger.parts
    return list(parts.loc[parts["confidence"] == "doubtful", "part"])


def bytes_apart(moment: MomentFacts) -> int:
    """Heap that is mapped in smaps and not counted by MemStats; below 0 the other way round.

    GC work buffers lie in the arenas, uncounted: as much as they can be is taken off.
    """
    if moment.mappings is None or moment.memstats is None:
        return 0
    beyond = _mapped_bytes(moment) - _counted_bytes(moment)
    buffers = moment.memstats["GCSys"]
    return min(beyond, 0) or max(0, beyond - (0 if pd.isna(buffers) else int(buffers)))


def _counted_bytes(moment: MomentFacts) -> int:
    assert moment.memstats is not None
    return int(moment.memstats["HeapSys"]) + int(moment.memstats["StackInuse"])


def _mapped_bytes(moment: MomentFacts) -> int:
    assert moment.mappings is not None
    arenas = moment.mappings[moment.mappings["kind"] == "go-heap"]
    return int(arenas.loc[arenas["perms"] != "---p", "Size"].sum())


def _far_apart(moment: MomentFacts, least_seconds: float) -> bool:
    """Whether so much time lies between the readings that a collection may have run, uncounted."""
    skew = moment.skew
    return skew.collections is None and skew.seconds is not None and skew.seconds >= least_seconds


def _finding(moment: MomentFacts, doubtful: list[str], severity: Severity) -> Finding:
    return CAUSE.finding(
        severity,
        _title(moment, doubtful, severity),
        moment=moment.name,
        evidence=_evidence(moment, doubtful),
        confidence="certain" if doubtful else "possible",
    )


def _title(moment: MomentFacts, doubtful: list[str], severity: Severity) -> str:
    skew = moment.skew
    apart = "" if skew.seconds is None else f" {format_seconds(skew.seconds)} apart,"
    if skew.crosses_a_collection:
        ran = "a collection" if skew.collections == 1 else f"{skew.collections} collections"
        return (
            f"MemStats and smaps were read{apart} with {ran} in between: do not trust the heap's "
            "parts"
        )
    if severity == Severity.INFO and doubtful:
        grew = "grew" if bytes_apart(moment) > 0 else "differs"
        return (
            f"between reading MemStats and smaps the heap {grew} by "
            f"{format_bytes(abs(bytes_apart(moment)))}: its parts may be off by about as much"
        )
    if doubtful:
        by = f" by {format_bytes(abs(bytes_apart(moment)))}" if bytes_apart(moment) else ""
        return f"MemStats and smaps contradict each other{by}: do not trust the heap's parts"
    return f"MemStats and smaps were read{apart} and nothing says whether a collection ran between"


def _evidence(moment: MomentFacts, doubtful: list[str]) -> list[Evidence]:
    skew, evidence = moment.skew, []
    files = f"{moment.path('memstats')}, {moment.path('smaps')}"
    if skew.seconds is not None:
        evidence.append(Evidence(files, "seconds apart", round(skew.seconds, 6), "s"))
    if skew.collections is not None:
        evidence.append(Evidence(skew.source, "collections between", skew.collections, "count"))
    if moment.memstats is not None:
        held = _counted_bytes(moment)
        evidence.append(Evidence(moment.path("memstats"), "HeapSys + StackInuse", held, "B"))
    if moment.mappings is not None and doubtful:
        mapped = _mapped_bytes(moment)
        evidence.append(Evidence(moment.path("smaps"), "Size of go-heap", mapped, "B"))
    if doubtful:
        evidence.append(Evidence("ledger", "parts that cannot be trusted", ", ".join(doubtful), ""))
    return evidence
