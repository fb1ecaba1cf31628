"""The live heap, from the log, MemStats and heap profiles, and how much heap it needs.

It needs itself, and garbage until the next collection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import ROUNDING_ERROR, Cycles, pieces_of
from gomem.analysis.memory.live_heap import (
    MIN_MARKS,
    PROFILES,
    InUse,
    LiveHeap,
    Marks,
    live_heap,
)
from gomem.analysis.profiles.published import published, total_bounds
from gomem.facts.profiles import that_count
from gomem.releases import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.collector.heap_pacing import LiveHeap as LoggedLiveHeap
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

IN_USE = "inuse_space"
LIVE = "/gc/heap/live:bytes"
MAX_MARKS = 200_000  # for a long log, every n-th: a level needs no more
COUNTS = ("NumGC", "NumForcedGC", "NextGC", "HeapAlloc", "TotalAlloc")
COLUMNS = ("seconds", "LastGC", *COUNTS, "stack_bytes", "live_bytes", "in_use_bytes")


def live_heap_of(facts: CaptureFacts) -> LiveHeap | None:
    """Return the live heap over time; None for fewer than two readings."""
    marks = None if facts.cycles is None else marks_of(facts.cycles)
    stats, gogc = stats_of(facts.of_last_process, {}), facts.settings.gogc
    if not facts.go_version.possibly(Fact.STACKS_COUNT):
        stats["stack_bytes"] = 0.0
    in_use = in_use_of(facts.profiles.of_last_process)
    bounds = (gogc.low, gogc.high) if gogc.is_inferred else None
    earlier = None if len(stats) or in_use else _run_before_a_short_one(facts, marks)
    if earlier is not None and facts.cycles is not None:
        marks = marks_of(facts.cycles, earlier)
    found = live_heap(stats, marks, in_use, float(gogc.value), bounds)
    return None if found is None else replace(found, earlier_run=earlier)


def live_heap_by_run(facts: CaptureFacts) -> tuple[LoggedLiveHeap, ...]:
    """Return the live heap in each run of the log.

    The slope of the capture's own process is that of `live_heap_of`, which also has the marks that
    snapshots show, if it has those of the log: a report has one slope.
    """
    log, live = facts.collector, facts.live_heap
    if log is None:
        return ()
    if live is None or live.level.source == PROFILES or live.rises_between_bursts:
        return log.live
    number = log.runs[-1].number if live.earlier_run is None else live.earlier_run
    slope, low, high = live.level.slope
    return tuple(
        replace(run, slope_bytes_per_second=slope, slope_low=low, slope_high=high)
        if run.run == number and run.slope_low is not None and len(live.level) > run.cycles
        else run
        for run in log.live
    )


def _run_before_a_short_one(facts: CaptureFacts, marks: Marks | None) -> int | None:
    """The longest run of a log whose last run has just begun, as after a kill; else None."""
    if facts.collector is None or marks is None or len(marks.seconds) >= MIN_MARKS:
        return None
    longest = max(facts.collector.runs, key=lambda run: run.cycles, default=None)
    return None if longest is None or longest.cycles < MIN_MARKS else longest.number


def stats_of(moments: Sequence[MomentFacts], profiles: Mapping[str, Profile]) -> pd.DataFrame:
    """Return a row for each snapshot with any of MemStats, in order; missing where unknown.

    `seconds` is the time of reading and `LastGC` the end of the last collection, both since 1970.
    `stack_bytes` is StackInuse, `live_bytes` is /gc/heap/live of the same collection, and
    `in_use_bytes` is the lower limit of the memory in use by the snapshot's heap profile.
    """
    rows = [
        (
            np.nan if moment.time is None else moment.time.timestamp(),
            _unix_seconds(stats.get("LastGC")),
            *(_number(stats.get(name)) for name in (*COUNTS, "StackInuse")),
            _live(moment),
            _in_use(profiles.get(moment.name)),
        )
        for moment in moments
        if (stats := moment.any_memstats) is not None
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=np.float64)


def _live(moment: MomentFacts) -> float:
    """Return the marked heap, from runtime/metrics that count the same collections as MemStats."""
    return _number(moment.live_bytes) if LIVE in moment.metrics else np.nan


def _in_use(profile: Profile | None) -> float:
    """Return the lower sampling limit of the memory in use by a heap profile."""
    if profile is None or IN_USE not in profile.sample_type_names:
        return np.nan
    bounds = total_bounds(profile)
    return float(profile.total(IN_USE)) if bounds is None else bounds[0]


def _number(value: object) -> float:
    return np.nan if pd.isna(value) else float(str(value))


def _unix_seconds(value: object) -> float:
    """Return a time as seconds since 1970; NaN if unknown."""
    if pd.isna(value):
        return np.nan
    return pd.Timestamp(value).timestamp() if not isinstance(value, float) else value


def marks_of(cycles: Cycles, run: int | None = None) -> Marks | None:
    """Return what the collections of a run in the log marked, by default of the last."""
    every = max(1, -(-len(cycles) // MAX_MARKS))
    names = ["run", "number", "at_seconds", "heap_live_bytes"]
    pieces = [piece[names].dropna().iloc[::every] for piece in pieces_of(cycles, names)]
    rows = pd.concat(pieces) if pieces else pd.DataFrame(columns=names)
    if rows.empty:
        return None
    rows = rows[rows["run"] == (rows["run"].max() if run is None else run)]
    seconds, live, numbers = (
        rows[name].to_numpy(np.float64) for name in ("at_seconds", "heap_live_bytes", "number")
    )
    return Marks(seconds, live, numbers, ROUNDING_ERROR)


def in_use_of(profiles: Mapping[str, Profile]) -> list[InUse]:
    """Return the memory in use by each profile with new data, on the wall clock."""
    usable = {
        moment: profile
        for moment, profile in profiles.items()
        if IN_USE in profile.sample_type_names and profile.columns.time_nanos
    }
    if not usable:
        return []
    begin = min(profile.columns.time_nanos for profile in usable.values()) / 1e9
    shown = []
    for new in published(usable).news:
        bounds = total_bounds(new.profile)
        error = 0.0 if bounds is None else (bounds[1] - bounds[0]) / 2
        total = float(new.profile.total(IN_USE))
        shown.append(
            InUse(
                seconds=begin + new.seconds,
                until_seconds=begin + new.until_seconds,
                in_use_bytes=total,
                error_bytes=error,
                moment=new.moment,
                until_moment=new.until_moment,
            )
        )
    return shown


@dataclass(frozen=True)
class HeapNeed:
    """The live heap, and the heap at which the next collection starts.

    Attributes:
        live_bytes: What the last GC of the log left, or the live objects of the last heap profile.
        most_bytes: The heap goal, in the log, or of the profile's upper sampling limit by GOGC.
        is_of_log: Whether a GC log has both.
    """

    live_bytes: int
    most_bytes: float
    is_of_log: bool


def heap_needs_of(facts: CaptureFacts, moment: str = "") -> list[HeapNeed]:
    """Return what the log and the heap profile of a snapshot, else the last, say; empty if none."""
    needs = _need_of_log(facts), _need_of_profile(facts, moment)
    return [need for need in needs if need is not None]


def _need_of_log(facts: CaptureFacts) -> HeapNeed | None:
    log = facts.collector
    live = None if log is None else log.cost.heap_live_last_bytes
    if log is None or live is None:
        return None
    return HeapNeed(live, max(live, log.cost.heap_goal_bytes or 0), is_of_log=True)


def _need_of_profile(facts: CaptureFacts, moment: str) -> HeapNeed | None:
    usable = that_count(IN_USE, facts.profiles.by_moment)
    if not usable or math.isinf(float(facts.settings.gogc.value)):
        return None  # with GOGC=off garbage is not bounded
    profile = usable.get(moment) or [*usable.values()][-1]
    total, bounds = profile.total(IN_USE), total_bounds(profile)
    most = float(total if bounds is None else bounds[1])
    return HeapNeed(int(total), most * (1 + float(facts.settings.gogc.value)), is_of_log=False)
