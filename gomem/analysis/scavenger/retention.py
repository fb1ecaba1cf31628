"""How much heap does the runtime keep and release over time, and what is the scavenger's goal?

The result has one row per snapshot, on one clock: heap in use, heap kept for reuse (idle and not
released), released, released but still resident, RSS, and the goals from `goals`. The background
scavenger's goal is set when a collection ends. The goal depends on HeapInuse just before the end,
and on the heap goals before and after the collection. The log has both heap goals to 1 MiB.
MemStats has a heap goal exactly if there is a snapshot between two collections. Without log and
snapshot, the goal is that of a steady heap, in which HeapInuse peaks at NextGC plus at most the
free slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.scavenger.goals import limit_goal_bytes, paced_goal_bytes, steady_goal_bytes
from gomem.inputs.schema import Column, build
from gomem.releases import Fact, GoVersion
from gomem.text import MomentName, Words
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping


NO_GOAL = 1 << 60  # NextGC with GOGC=off is about 2^63
FIRST_PACED = 2  # collections before which the scavenger has no goal
MEAN_CUT_BYTES = MIB // 2  # the log rounds down to 1 MiB; the middle of the possible range
SIZES = ("HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "HeapSys", "Sys")
READINGS = (
    Column("moment", "str", "", "The moment, or the line of a log.", MomentName),
    Column(
        "seconds",
        "float64",
        "s",
        "Time since the first moment; missing if only the order is known.",
    ),
    *(Column(name, "Int64", "B", f"{name} of MemStats.") for name in SIZES),
    Column("NextGC", "UInt64", "B", "NextGC of MemStats."),
    Column("NumGC", "Int64", "count", "NumGC of MemStats."),
    Column("rss_bytes", "Int64", "B", "Resident."),
    Column("lazy_free_bytes", "Int64", "B", "Released with MADV_FREE and still in RSS."),
    Column("huge_excess_bytes", "Int64", "B", "Resident in huge pages beyond what Go counts."),
    Column("memory_limit_bytes", "Int64", "B", "GOMEMLIMIT; missing if unknown."),
    Column("is_stopped", "boolean", "", "Whether the process was stopped; missing if unknown."),
)
RETENTION = (
    *READINGS[:2],
    *(READINGS[place] for place in (2, 3, 5, 8, 9)),
    Column("idle_kept_bytes", "Int64", "B", "HeapIdle less HeapReleased: free, kept for reuse."),
    Column("idle_resident_bytes", "Int64", "B", "Idle heap in RSS, at most."),
    Column("retained_bytes", "Int64", "B", "HeapSys less HeapReleased: in use, and kept."),
    Column("mapped_bytes", "Int64", "B", "Sys less HeapReleased: all that the runtime holds."),
    *READINGS[10:],
    Column("utilisation_fraction", "float64", "fraction", "HeapInuse of what is retained."),
    Column("paced_goal_bytes", "Int64", "B", "Retained heap that pacing leaves; since 1.13."),
    Column(
        "paced_by", "str", "", "Source of that goal, see `PACED_BY`; missing without one.", Words
    ),
    Column("limit_goal_bytes", "Int64", "B", "Retained heap that 0.95 × GOMEMLIMIT leaves; 1.22+."),
    Column("limit_bytes", "Int64", "B", "Retained heap that GOMEMLIMIT leaves; since 1.19."),
    Column("goal_bytes", "Int64", "B", "The lowest of these, which is worked to."),
    Column("above_goal_bytes", "Int64", "B", "Retained beyond it; not below 0."),
    Column(
        "release_bytes_per_second", "float64", "B/s", "Rate of release since the moment before."
    ),
    Column(
        "seconds_to_goal",
        "float64",
        "s",
        "Time to the goal at that rate; missing where nothing is released.",
    ),
)
PACED_BY = {
    "collection": "HeapInuse at the last collection, and the heap's goals before and after it",
    "steady": "NextGC and the free slots, as for a steady heap: at most so much is in use then",
    "heap-goal": "NextGC, which is all that Go 1.13.0 and 1.13.1 look at",
}


@dataclass(frozen=True)
class LogCycle:
    """A collection in the log: the heap at the end of marking, and the goal that it ran towards."""

    mark_end_bytes: int | None
    goal_bytes: int | None


def log_cycles(cycles: pd.DataFrame | None) -> dict[int, LogCycle]:
    """Return collections by number; empty if two processes have the same number."""
    if cycles is None or cycles["number"].duplicated().any():
        return {}
    columns = cycles[["number", "heap_at_mark_end_bytes", "heap_goal_bytes"]]
    return {
        int(number): LogCycle(*(None if pd.isna(size) else int(size) for size in sizes))
        for number, *sizes in columns.itertuples(index=False)
    }


def retention(
    readings: pd.DataFrame, version: GoVersion, log: Mapping[int, LogCycle] | None = None
) -> pd.DataFrame:
    """Return how much heap each snapshot retains and has released, and the scavenger's goals.

    See `READINGS` and `RETENTION`. A release that might have the background scavenger is taken to
    have it. A snapshot without MemStats has only RSS and the process's state; the rest is missing.
    """
    rows = readings.reset_index(drop=True)
    kept = rows["HeapIdle"] - rows["HeapReleased"]
    retained = rows["HeapSys"] - rows["HeapReleased"]
    mapped = rows["Sys"] - rows["HeapReleased"]
    goals = _paced_goals(rows, version, log or {})
    by_limit = _by_limit(rows, version)
    lowest = pd.concat([goals["bytes"], *by_limit.values()], axis=1).min(axis=1).astype("Int64")
    above = (retained - lowest).clip(lower=0)
    rate = _rate(rows["HeapReleased"], retained, rows["seconds"])
    columns = {column.name: rows[column.name] for column in RETENTION if column.name in rows} | {
        "idle_kept_bytes": kept,
        "idle_resident_bytes": _resident(rows, kept, mapped),
        "retained_bytes": retained,
        "mapped_bytes": mapped,
        "utilisation_fraction": (rows["HeapInuse"] / retained.where(retained > 0)).astype(float),
        "paced_goal_bytes": goals["bytes"],
        "paced_by": goals["by"],
        "limit_goal_bytes": by_limit["limit_goal_bytes"],
        "limit_bytes": by_limit["limit_bytes"],
        "goal_bytes": lowest,
        "above_goal_bytes": above,
        "release_bytes_per_second": rate,
        "seconds_to_goal": (above.astype(float) / rate.where(rate > 0)).where(above > 0),
    }
    return build(columns, RETENTION)


def _resident(rows: pd.DataFrame, kept: pd.Series, mapped: pd.Series) -> pd.Series:
    """Return an upper bound of idle heap in RSS; all idle heap without RSS.

    Up to Go 1.12 a fresh arena is untouched idle heap, so the rest of Go's memory is taken to be
    resident first.
    """
    room = rows["rss_bytes"] - rows["lazy_free_bytes"].fillna(0) - (mapped - kept)
    return pd.concat([kept, room.clip(lower=0).fillna(kept)], axis=1).min(axis=1, skipna=False)


def _rate(released: pd.Series, retained: pd.Series, seconds: pd.Series) -> pd.Series:
    """Return bytes per second released since the previous reading, minus what was reused.

    It is the smaller of the rise in HeapReleased and the fall in retained heap, because from Go
    1.13 on a fresh arena counts as released.
    """
    columns = {"released": released.astype(float), "seconds": seconds}
    step = pd.DataFrame(columns | {"retained": retained.astype(float)}).dropna().diff()
    gone = pd.concat([step["released"], -step["retained"]], axis=1).min(axis=1, skipna=False)
    rate = gone.clip(lower=0) / step["seconds"].where(step["seconds"] > 0)
    return rate.astype(float).reindex(released.index)


def _by_limit(rows: pd.DataFrame, version: GoVersion) -> dict[str, pd.Series]:
    """Return what a memory limit leaves for retained heap, given the runtime's other memory."""
    limit = rows["memory_limit_bytes"]
    if not version.possibly(Fact.MEMORY_LIMIT):
        limit = limit.mask(limit.notna())
    beside = rows["Sys"] - rows["HeapSys"]
    goal = limit.map(limit_goal_bytes, na_action="ignore").astype("Int64")
    if not version.possibly(Fact.LIMIT_GOAL):
        goal = goal.mask(goal.notna())
    return {
        "limit_goal_bytes": (goal - beside).clip(lower=0),
        "limit_bytes": (limit - beside).clip(lower=0),
    }


def _paced_goals(
    rows: pd.DataFrame, version: GoVersion, log: Mapping[int, LogCycle]
) -> pd.DataFrame:
    """Return the goal of each row, and its source."""
    found: list[tuple[int | None, str | None]] = [(None, None)] * len(rows)
    if version.possibly(Fact.BACKGROUND_SCAVENGER):
        by_peak = version.possibly(Fact.GOAL_BY_PEAK)
        ends = _Collections.of(rows, log)
        numbers = rows["NumGC"].to_numpy(float, na_value=np.nan)
        nexts = rows["NextGC"].to_numpy(float, na_value=np.nan)
        slots = (rows["HeapInuse"] - rows["HeapAlloc"]).clip(lower=0).fillna(0).to_numpy(float)
        found = [
            _paced_goal(number, following, free, ends if by_peak else None)
            if not number < FIRST_PACED and 0 < following < NO_GOAL
            else (None, None)
            for number, following, free in zip(numbers, nexts, slots, strict=True)
        ]
    return pd.DataFrame(
        {
            "bytes": pd.Series([size for size, _ in found], rows.index, dtype="Int64"),
            "by": pd.Series([how for _, how in found], rows.index, dtype="str"),
        }
    )


def _paced_goal(
    number: float, following: float, slots: float, ends: _Collections | None
) -> tuple[int | None, str | None]:
    if ends is None:
        return steady_goal_bytes(following), "heap-goal"
    before = None if np.isnan(number) else ends.goal_before(int(number))
    peak = None if np.isnan(number) else ends.peak(int(number))
    if before is None or peak is None:
        return steady_goal_bytes(following + slots), "steady"
    return paced_goal_bytes(peak, following, before), "collection"


@dataclass(frozen=True)
class _Collections:
    """The data of readings and log for each collection."""

    goals: Mapping[int, float]  # NextGC in readings after each collection
    # HeapInuse of the last reading after each collection, before the next
    in_use: Mapping[int, int]
    slots: Mapping[int, int]  # minimum of free slots (HeapInuse - HeapAlloc) after each collection
    log: Mapping[int, LogCycle]  # the log's data for each collection

    @classmethod
    def of(cls, rows: pd.DataFrame, log: Mapping[int, LogCycle]) -> _Collections:
        known = rows.dropna(subset=["NumGC", "NextGC", "HeapInuse", "HeapAlloc"])
        by_number = known.assign(slots=known["HeapInuse"] - known["HeapAlloc"]).groupby("NumGC")
        goals = {int(n): float(size) for n, size in by_number["NextGC"].last().items()}
        return cls(
            {n: size for n, size in goals.items() if 0 < size < NO_GOAL},
            {int(n): int(size) for n, size in by_number["HeapInuse"].last().items()},
            {int(n): int(size) for n, size in by_number["slots"].min().items()},
            log,
        )

    def goal_before(self, number: int) -> float | None:
        """Return NextGC before a collection: the goal for which it was paced."""
        if number - 1 in self.goals:
            return self.goals[number - 1]
        cycle = self.log.get(number)
        if cycle is None or not cycle.goal_bytes or cycle.goal_bytes >= NO_GOAL:
            return None
        return float(cycle.goal_bytes + MEAN_CUT_BYTES)

    def peak(self, number: int) -> int | None:
        """Return HeapInuse at the end of a collection's marking.

        It is the log's heap at that time, plus the minimum of free slots in neighbouring readings:
        allocation fills slots before it takes new spans. Without a log, it is HeapInuse of the last
        reading before.
        """
        cycle, before = self.log.get(number), self.in_use.get(number - 1)
        if cycle is None or cycle.mark_end_bytes is None:
            return before
        near = [self.slots[n] for n in (number - 1, number) if n in self.slots]
        return cycle.mark_end_bytes + MEAN_CUT_BYTES + min(near, default=0)
