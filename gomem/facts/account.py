"""The account of a capture: the ledger of each snapshot, as readings that add up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.memory.account import Account, account_of, account_of_live_heap
from gomem.analysis.memory.bounds import Interval
from gomem.analysis.memory.groups import (
    FREE,
    GROUP_OF_PART,
    RUNTIME,
    STACKS,
)  # fmt: skip
from gomem.analysis.memory.ledger import HEAP_PARTS
from gomem.analysis.memory.live_heap import DEFAULT_GOGC
from gomem.analysis.memory.readings import OBJECTS, Reading
from gomem.analysis.memory.totals import LOGGED
from gomem.facts.live_heap import in_use_of, marks_of
from gomem.inputs.schema import rows_of
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.analysis.collector.steps import Cycles
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

RESERVED_FOR = {
    "heap_objects": OBJECTS,
    "heap_slack": FREE,
    "heap_idle": FREE,
    "stacks": STACKS,
    "runtime_metadata": RUNTIME,
}
MAX_SHOWN = 60  # collections of a log that an account shows, evenly spaced
DOUBTFUL = "doubtful"  # the ledger's word for parts that come from two states
PROGRAM_KINDS = ("binary", "library")


def account_of_capture(facts: CaptureFacts) -> Account | None:
    """Return what RSS consists of at each snapshot, and what changed.

    If no snapshot has RSS or reserved memory, the account has the memory in use by heap profiles,
    or else the marks of the log's collections. Returns None if no file has a size of the process.
    """
    moments = facts.of_last_process
    begin = next((moment.time for moment in moments if moment.time is not None), None)
    whole = account_of(_readings(facts, moments, begin))
    return whole or _of_profiles(facts.profiles.of_last_process) or _of_log(facts.cycles)


def account_of_rss(facts: CaptureFacts) -> Account | None:
    """Return the account of the snapshots with RSS, even if more have only reserved memory."""
    moments = [moment for moment in facts.of_last_process if moment.rss_bytes is not None]
    begin = next((moment.time for moment in moments if moment.time is not None), None)
    return account_of(_readings(facts, moments, begin))


def _readings(
    facts: CaptureFacts, moments: Sequence[MomentFacts], begin: pd.Timestamp | None
) -> list[Reading]:
    """Return the snapshots of one process as readings.

    Sys never falls, so where it is not told, that of the next snapshot bounds what Go has. So does
    all that was ever allocated, unless a raised GOGC lets profiles lack more of it.
    """
    readings, most = [], None
    is_raised = facts.settings.gogc.low > DEFAULT_GOGC
    heaps = {} if is_raised else facts.profiles.heap_at_most
    for moment in reversed(moments):
        reading, told = reading_of(moment, begin), moment.told("Sys")
        most = most if told is None else told
        heap = heaps.get(moment.name)
        if not reading.reserved:
            reading = replace(reading, sys_bytes=most, heap_at_most=heap)
        readings.append(reading)
    return readings[::-1]


def _of_profiles(profiles: Mapping[str, Profile]) -> Account | None:
    """Return the account of memory in use by heap profiles; None without two different ones."""
    shown = in_use_of(profiles)
    if not shown[1:]:
        return None
    return account_of_live_heap(
        "in_use",
        [reading.moment for reading in shown],
        [reading.seconds - shown[0].seconds for reading in shown],
        [Interval.exactly(reading.in_use_bytes).around(reading.error_bytes) for reading in shown],
    )


def _of_log(cycles: Cycles | None) -> Account | None:
    """Return the account of what a log's collections marked; None for fewer than two."""
    marks = None if cycles is None else marks_of(cycles)
    if marks is None or not marks.numbers[1:].size:
        return None
    last = len(marks.numbers) - 1
    chosen = sorted({round(last * place / MAX_SHOWN) for place in range(MAX_SHOWN + 1)})
    error = marks.error_bytes
    return account_of_live_heap(
        "live",
        [f"GC {marks.numbers[place]:.0f}" for place in chosen],
        [float(marks.seconds[place]) for place in chosen],
        [Interval(size, size + 2 * error) for size in marks.live_bytes[chosen].tolist()],
    )


def reading_of(
    moment: MomentFacts, begin: pd.Timestamp | None = None, *, even_least: bool = False
) -> Reading:
    """Return a snapshot's memory as a reading; seconds are since the first snapshot's time.

    If mappings are missing, RSS is unknown, unless a lower bound is enough (`even_least`).
    """
    seconds = None
    if begin is not None and moment.time is not None:
        seconds = (moment.time - begin).total_seconds()
    if moment.ledger is None or (moment.ledger.is_least and not even_least):
        return Reading(moment.name, seconds)
    rows = rows_of(moment.ledger.parts)
    sizes = {row["part"]: int(row["bytes"]) for row in rows}
    reserved: dict[str, int] = {}
    for row in rows:
        group = RESERVED_FOR.get(row["part"])
        if group is not None and not is_unknown(row["claimed_bytes"]):
            reserved[group] = reserved.get(group, 0) + int(row["claimed_bytes"])
    is_divided = OBJECTS in reserved  # divided by the runtime's own counts, not by smaps alone
    mapped = None if moment.mappings is not None else sizes.get("mapped_files")
    shared = sizes.get("shared_memory", 0)
    is_logged = moment.ledger.rss_source.startswith(LOGGED)
    return Reading(
        moment.name,
        seconds,
        moment.rss_bytes,
        resident=None if moment.mappings is None else _resident(sizes),
        reserved=reserved if is_divided else {},
        live_bytes=moment.live_bytes,
        is_one_state=not any(row["confidence"] == DOUBTFUL for row in rows),
        lazy_free_bytes=sizes.get("heap_released_resident"),
        file_bytes=_shared_by_top(moment) if mapped is None else mapped + shared,
        shared_bytes=shared,
        program_data_bytes=_program_data(moment.mappings),
        native_bytes=sizes.get("native_heap") if is_logged else None,
        sys_bytes=moment.told("Sys") if moment.memstats is None else None,
        is_runtime_all_else=is_logged and STACKS not in reserved,
    )


def _shared_by_top(moment: MomentFacts) -> int | None:
    """Return top's SHR, the resident pages of files and shared memory, if RSS is top's, too."""
    listed = moment.listed if moment.rss_is_listed and moment.mappings is None else None
    return None if listed is None else listed.shared_bytes


def _resident(sizes: dict[str, int]) -> dict[str, int]:
    """Return the resident bytes of the arenas, and of each group outside them."""
    resident = {"heap": 0}
    for part, size in sizes.items():
        group = "heap" if part in HEAP_PARTS else GROUP_OF_PART[part]
        resident[group] = resident.get(group, 0) + size
    return resident


def _program_data(mappings: pd.DataFrame | None) -> int | None:
    """Return the anonymous pages of the program and its libraries (data and bss); pmap has none."""
    if mappings is None or mappings["Anonymous"].isna().all():
        return None
    rows = mappings[mappings["kind"].isin(PROGRAM_KINDS)]
    return int(rows["Anonymous"].fillna(0).sum())
