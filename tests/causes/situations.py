"""Situations of one moment, laid out in a few words."""

from dataclasses import replace
from functools import cache

import pandas as pd

from gomem.analysis.mappings.kinds import classify_mappings
from gomem.analysis.memory.ledger import Ledger, reconcile_rss
from gomem.analysis.memory.skew import Skew
from gomem.analysis.scavenger.scavenger import heap_return
from gomem.causes.cause import Case
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.limits import growth_to_limit
from gomem.facts.moment import MomentFacts
from gomem.releases import GoVersion
from gomem.units import MIB
from tests.builders import case_of, mappings, memstats_row, smaps_entry

HEAP = 0xC000000000
ARENA = 64 * MIB
RESIDENT = {"heap_mib": 8, "huge_mib": 0, "lazy_mib": 0}
HIGH = 0x7F0000000000
STACK = smaps_entry(0x7FFC00000000, 0x7FFC00021000, "rw-p", "[stack]", rss_kib=16)
PROGRAM = smaps_entry(0x400000, 0x500000, "r-xp", "/app/api", rss_kib=1024)


def facts(*entries: str, name: str = "1", skew: Skew | None = None, **about) -> MomentFacts:
    """A moment with 64 MiB of arenas, of which `heap_mib` are resident, and other mappings.

    Args:
        entries: Further mappings.
        name: The moment.
        skew: Between its two sides.
        about: `heap_mib`, `huge_mib` and `lazy_mib` of the arena, fields of MemStats in MiB, and
            whatever else `MomentFacts` has.
    """
    resident = [about.pop(name, usual) for name, usual in RESIDENT.items()]
    fields = {key: about.pop(key) for key in list(about) if key[0].isupper()}
    skew = skew or Skew()
    row, heap, mapped, ledger = _sides(entries, tuple(resident), tuple(fields.items()), skew)
    return MomentFacts(
        name,
        ledger=replace(ledger, parts=ledger.parts.copy()),
        memstats=row.copy(),
        heap=heap.copy(),
        mappings=mapped.copy(),
        paths={"smaps": f"{name}/smaps", "memstats": f"{name}/memstats.json"},
        skew=skew,
        **about,
    )


@cache
def _sides(
    entries: tuple[str, ...],
    resident: tuple[int, int, int],
    fields: tuple[tuple[str, int], ...],
    skew: Skew,
) -> tuple[pd.Series, pd.Series, pd.DataFrame, Ledger]:
    """MemStats, what goes back, mappings and the ledger: made once, and copied."""
    heap_mib, huge_mib, lazy_mib = resident
    sizes = {key: size * MIB for key, size in fields}
    row = memstats_row(**{"HeapSys": ARENA, "NumGC": 2, **sizes})
    heap = smaps_entry(HEAP, HEAP + ARENA, rss_kib=heap_mib * 1024, lazy_free_kib=lazy_mib * 1024)
    heap = heap.replace("LazyFree:", f"AnonHugePages: {huge_mib * 1024} kB\nLazyFree:")
    classified = classify_mappings(mappings(PROGRAM, heap, *entries, STACK), row)
    ledger = reconcile_rss(
        classified, row, skew_seconds=skew.seconds, collections_between=skew.collections
    )
    back = heap_return(row.to_frame().T.assign(moment="")).iloc[0]
    return row, back, classified.mappings, ledger


def answers(
    *moments: MomentFacts,
    version: GoVersion | None = None,
    baseline: MomentFacts | None = None,
    **thresholds: float,
) -> Case:
    """These moments, each against the same one of a baseline if there is one.

    Args:
        moments: In order.
        version: The release, if it is known.
        baseline: The moment of another capture.
        thresholds: Those that are not as usual.
    """
    return case_of(
        moments,
        version or GoVersion(),
        thresholds=Thresholds(**thresholds),
        limit_growth=growth_to_limit(moments, moments[-1].cgroup_use),
        counterparts={one.name: baseline for one in moments} if baseline is not None else {},
    )


def goroutines(count: int, function: str = "main.wait") -> pd.DataFrame:
    """A goroutine profile in which all stand at one place."""
    return pd.DataFrame({"goroutines": [count], "function": [function]})
