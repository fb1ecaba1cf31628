"""A moment's MemStats and smaps show two different states of the process.

The ledger subtracts numbers of both. If a collection ended between the readings, objects became
idle spans meanwhile, and idle spans were given back: what the ledger then shows as untouched or
unexplained is no memory at all, but the time between two commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_seconds

if TYPE_CHECKING:
    from gomem.causes.answers import Answers, MomentFacts


def find(answers: Answers) -> list[Finding]:
    """One finding for each moment whose two sides do not belong together, or may not.

    A warning where that is known; a note where time has passed and nobody knows.
    """
    findings = []
    for moment in answers.moments:
        doubtful = doubtful_parts(moment)
        if doubtful:
            findings.append(_finding(moment, doubtful, Severity.WARNING))
        elif moment.mappings is not None and _far_apart(moment, answers.thresholds.skew_seconds):
            findings.append(_finding(moment, doubtful, Severity.INFO))
    return findings


CAUSE = Cause(
    code="data-skew",
    mechanism="MemStats (or the metrics) and smaps were read at different states of the process. A "
    "collection between them turns objects into idle heap and gives idle heap back, so differences "
    "between the two files are not memory. RSS holds, and so do the parts that come from the "
    "kernel's file alone.",
    remedy="Read both files in one command, one right after the other: `gomem capture` does, or "
    "curl http://HOST:PORT/debug/vars > memstats.json; cat /proc/PID/smaps > smaps.",
    references=(),
    rule=find,
)


def doubtful_parts(moment: MomentFacts) -> list[str]:
    """The parts of the ledger that cannot be trusted."""
    if moment.ledger is None:
        return []
    parts = moment.ledger.parts
    return list(parts.loc[parts["confidence"] == "doubtful", "part"])


def _far_apart(moment: MomentFacts, least_seconds: float) -> bool:
    """Whether so much time lies between the readings that a collection may have run, uncounted."""
    skew = moment.skew
    return skew.collections is None and skew.seconds is not None and skew.seconds >= least_seconds


def _finding(moment: MomentFacts, doubtful: list[str], severity: Severity) -> Finding:
    return CAUSE.finding(
        severity,
        _title(moment, doubtful),
        moment=moment.name,
        evidence=_evidence(moment, doubtful),
        confidence="certain" if doubtful else "possible",
    )


def _title(moment: MomentFacts, doubtful: list[str]) -> str:
    skew = moment.skew
    apart = "" if skew.seconds is None else f" {format_seconds(skew.seconds)} apart,"
    if skew.crosses_a_collection:
        ran = "a collection" if skew.collections == 1 else f"{skew.collections} collections"
        return (
            f"MemStats and smaps were read{apart} with {ran} in between: do not trust the heap's "
            "parts"
        )
    if doubtful:
        return "MemStats and smaps contradict each other: do not trust the heap's parts"
    return f"MemStats and smaps were read{apart} and nothing says whether a collection ran between"


def _evidence(moment: MomentFacts, doubtful: list[str]) -> list[Evidence]:
    skew, evidence = moment.skew, []
    files = f"{moment.path('memstats')}, {moment.path('smaps')}"
    if skew.seconds is not None:
        evidence.append(Evidence(files, "seconds apart", round(skew.seconds, 6), "s"))
    if skew.collections is not None:
        evidence.append(Evidence(skew.source, "collections between", skew.collections, "count"))
    if moment.memstats is not None:
        held = int(moment.memstats["HeapSys"]) + int(moment.memstats["StackInuse"])
        evidence.append(Evidence(moment.path("memstats"), "HeapSys + StackInuse", held, "B"))
    if moment.mappings is not None and doubtful:
        arenas = moment.mappings[moment.mappings["kind"] == "go-heap"]
        used = arenas[arenas["perms"] != "---p"]
        size = int(used["Size"].sum())
        evidence.append(Evidence(moment.path("smaps"), "Size of go-heap", size, "B"))
    if doubtful:
        evidence.append(Evidence("ledger", "parts that cannot be trusted", ", ".join(doubtful), ""))
    return evidence
