"""MemStats and smaps of a moment are of two states of the process.

The ledger subtracts numbers of both. If a collection ended between the readings, objects became
idle spans meanwhile, and idle spans were given back: what the ledger then shows as untouched or
unexplained is no memory at all, but the time between two commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_seconds

if TYPE_CHECKING:
    from gomem.causes.answers import MomentFacts, Situation

CODE = "data-skew"


def find(situation: Situation) -> list[Finding]:
    """One finding per moment whose two sides do not belong together, or may not."""
    return [finding for moment in situation.moments if (finding := _finding(moment)) is not None]


def doubtful_parts(moment: MomentFacts) -> list[str]:
    """The parts of the ledger that cannot be trusted."""
    if moment.ledger is None:
        return []
    parts = moment.ledger.parts
    return list(parts.loc[parts["confidence"] == "doubtful", "part"])


def _finding(moment: MomentFacts) -> Finding | None:
    """A warning where it is known to be so; a note where seconds passed and nobody knows."""
    doubtful = doubtful_parts(moment)
    unknown = moment.skew.is_long and moment.skew.collections is None
    if not doubtful and not (unknown and moment.mappings is not None):
        return None
    return Finding(
        code=CODE,
        severity=Severity.WARNING if doubtful else Severity.INFO,
        title=_title(moment, doubtful),
        moment=moment.name,
        bytes=None,
        evidence=tuple(_evidence(moment, doubtful)),
        mechanism=(
            "MemStats (or the metrics) and smaps were read at different states of the process. "
            "A collection between them turns objects into idle heap and gives idle heap back, so "
            "differences between the two files are not memory. RSS, and the parts that the "
            "kernel's file alone gives, hold."
        ),
        next_step=(
            "Read both files in one command, right after one another: `gomem capture` does, or "
            "curl http://HOST:PORT/debug/vars > memstats.json; cat /proc/PID/smaps > smaps."
        ),
        confidence="certain" if doubtful else "possible",
    )


def _title(moment: MomentFacts, doubtful: list[str]) -> str:
    skew = moment.skew
    apart = "" if skew.seconds is None else f" {format_seconds(skew.seconds)}"
    if skew.crosses_a_collection:
        ran = "a collection" if skew.collections == 1 else f"{skew.collections} collections"
        return (
            f"MemStats and smaps lie{apart} apart with {ran} between: do not trust the heap's parts"
        )
    if doubtful:
        return "MemStats and smaps contradict each other: do not trust the heap's parts"
    return f"MemStats and smaps lie{apart} apart; whether a collection ran between, nothing says"


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
