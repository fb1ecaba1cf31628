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
from gomem.causes.evidence import known
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
    return case.at_moments(_at)


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


def bytes_apart(moment: MomentFacts) -> int:
    """Heap that is mapped in smaps and not counted by MemStats; below 0 the other way round.

    GC work buffers lie in the arenas, uncounted: as much as they can be is taken off.
    """
    mapped, counted = _mapped_bytes(moment), _counted_bytes(moment)
    if mapped is None or counted is None or moment.memstats is None:
        return 0
    buffers = moment.memstats["GCSys"]
    beyond = mapped - counted
    return min(beyond, 0) or max(0, beyond - (0 if pd.isna(buffers) else int(buffers)))


def _counted_bytes(moment: MomentFacts) -> int | None:
    if moment.memstats is None:
        return None
    return int(moment.memstats["HeapSys"]) + int(moment.memstats["StackInuse"])


def _mapped_bytes(moment: MomentFacts) -> int | None:
    if moment.mappings is None:
        return None
    arenas = moment.mappings[moment.mappings["kind"] == "go-heap"]
    return int(arenas.loc[arenas["perms"] != "---p", "Size"].sum())


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    ledger, skew, limits = moment.ledger, moment.skew, case.thresholds
    doubtful: list[str] = []
    if ledger is not None:
        doubtful = list(ledger.parts.loc[ledger.parts["confidence"] == "doubtful", "part"])
    seconds = skew.seconds if skew.collections is None and moment.mappings is not None else None
    if not doubtful and (seconds is None or seconds < limits.skew_seconds):
        return None
    apart = bytes_apart(moment)
    little = 0 < abs(apart) < limits.notable(limits.skew_bytes, moment.rss_bytes)
    is_little = not doubtful or (little and not skew.crosses_a_collection)
    mapped = _mapped_bytes(moment) if doubtful else None
    return CAUSE.finding(
        Severity.INFO if is_little else Severity.WARNING,
        _title(moment, apart, doubtful=bool(doubtful), is_little=is_little),
        moment=moment.name,
        evidence=(
            *known(
                f"{moment.path('memstats')}, {moment.path('smaps')}",
                "s",
                {"seconds apart": None if skew.seconds is None else round(skew.seconds, 6)},
            ),
            *known(skew.source, "count", {"collections between": skew.collections}),
            *known(moment.path("memstats"), "B", {"HeapSys + StackInuse": _counted_bytes(moment)}),
            *known(moment.path("smaps"), "B", {"Size of go-heap": mapped}),
            *(
                Evidence("ledger", "parts that cannot be trusted", parts, "")
                for parts in filter(None, [", ".join(doubtful)])
            ),
        ),
        confidence="certain" if doubtful else "possible",
    )


def _title(moment: MomentFacts, apart: int, *, doubtful: bool, is_little: bool) -> str:
    skew, off = moment.skew, format_bytes(abs(apart))
    read = "" if skew.seconds is None else f" {format_seconds(skew.seconds)} apart,"
    if skew.crosses_a_collection:
        ran = "a collection" if skew.collections == 1 else f"{skew.collections} collections"
        return (
            f"MemStats and smaps were read{read} with {ran} in between: do not trust the heap's "
            "parts"
        )
    if not doubtful:
        return (
            f"MemStats and smaps were read{read} and nothing says whether a collection ran between"
        )
    if is_little:
        return (
            f"between reading MemStats and smaps the heap {'grew' if apart > 0 else 'differs'} by "
            f"{off}: its parts may be off by about as much"
        )
    by = f" by {off}" if apart else ""
    return f"MemStats and smaps contradict each other{by}: do not trust the heap's parts"
