"""What is known of the live heap, put together from the log, MemStats and heap profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import ROUNDING_BYTES, pieces_of
from gomem.analysis.memory.live_heap import InUse, LiveHeap, Marks, live_heap
from gomem.analysis.profiles.in_use_totals import total_bounds
from gomem.analysis.profiles.published import published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.collector.steps import Cycles
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

IN_USE = "inuse_space"
LIVE = "/gc/heap/live:bytes"
MAX_MARKS = 200_000  # of a long log every n-th: a level needs no more
COLUMNS = ("seconds", "LastGC", "NumGC", "NextGC", "HeapAlloc", "live_bytes", "stack_bytes")


def live_heap_of(
    moments: Sequence[MomentFacts],
    cycles: Cycles | None,
    profiles: Mapping[str, Profile],
    gogc: float | None,
    *,
    stacks_count: bool,
) -> LiveHeap | None:
    """The live heap over a capture; None where fewer than two readings say anything of it.

    Args:
        moments: In order.
        cycles: The log's collections; None without a log.
        profiles: Heap profiles of the last process, by moment.
        gogc: As a fraction, if a file says it.
        stacks_count: Whether stacks may raise goals, by the release.
    """
    marks = None if cycles is None else marks_of(cycles)
    return live_heap(_stats(moments, stacks_count), marks, in_use_of(profiles), gogc)


def _stats(moments: Sequence[MomentFacts], stacks_count: bool) -> pd.DataFrame:
    """A row a moment that has MemStats, as `live_heap` takes them."""
    rows = [
        (
            np.nan if moment.time is None else moment.time.timestamp(),
            _unix_seconds(moment.memstats.get("LastGC")),
            *(_number(moment.memstats.get(name)) for name in COLUMNS[2:5]),
            moment.metrics.get(LIVE, np.nan),
            _number(moment.memstats.get("StackInuse")) if stacks_count else 0.0,
        )
        for moment in moments
        if moment.memstats is not None
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=np.float64)


def _number(value: object) -> float:
    return np.nan if pd.isna(value) else float(str(value))


def _unix_seconds(value: object) -> float:
    """A time as seconds since 1970; NaN where it is not known."""
    if pd.isna(value):
        return np.nan
    return pd.Timestamp(value).timestamp() if not isinstance(value, float) else value


def marks_of(cycles: Cycles) -> Marks | None:
    """What the collections of the log's last process marked."""
    every = max(1, -(-len(cycles) // MAX_MARKS))
    names = ["run", "number", "at_seconds", "heap_live_bytes"]
    pieces = [piece[names].dropna().iloc[::every] for piece in pieces_of(cycles, names)]
    rows = pd.concat(pieces) if pieces else pd.DataFrame(columns=names)
    if rows.empty:
        return None
    rows = rows[rows["run"] == rows["run"].max()]
    seconds, live, numbers = (
        rows[name].to_numpy(np.float64) for name in ("at_seconds", "heap_live_bytes", "number")
    )
    return Marks(seconds, live, numbers, ROUNDING_BYTES / 2)


def in_use_of(profiles: Mapping[str, Profile]) -> list[InUse]:
    """What each profile that says something new has in use, on the wall clock."""
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
            InUse(begin + new.seconds, begin + new.until_seconds, total, error, new.moment)
        )
    return shown
