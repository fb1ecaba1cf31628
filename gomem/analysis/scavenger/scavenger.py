"""How much heap is idle, how much is returned to the OS, and how much is kept needlessly?

The runtime keeps free heap for reuse. Since Go 1.13 a background scavenger works while `retained =
HeapInuse + (HeapIdle - HeapReleased)` exceeds its goal. The goal is 1.1 × HeapInuse at the last GC
× NextGC / previous NextGC, which settles near 1.1 × NextGC. Since 1.19 the scavenger also works
while memory that is mapped and not released exceeds 0.95 × GOMEMLIMIT, so the lower of the two
goals applies. (In 1.19 to 1.21 a bug makes the scavenger miss that goal, golang/go#62449; in these
releases, allocation releases memory instead, once the limit itself is reached.) Before 1.13 there
is no goal, and spans are released after five idle minutes. Memory released with MADV_FREE counts as
resident until the kernel needs it. MADV_FREE is the default from 1.12 to 1.15; in later releases,
GODEBUG=madvdontneed=0 selects it. Source: the runtime's mgcscavenge.go.

For a series of snapshots, `scavenger` has the full answer. The answer compares kept and released
memory with the release's goals, and says why no more was released between snapshots, how much
debug.FreeOSMemory would release, what such a call in the log cost, and how much CPU the scavenger
used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import CPU_PARTS, stopped_seconds
from gomem.analysis.scavenger.goals import Goal, goals_of, steady_goal_bytes
from gomem.analysis.scavenger.retention import READINGS, RETENTION, log_cycles, retention
from gomem.analysis.scavenger.verdicts import episodes, verdicts
from gomem.inputs.answer import Answer
from gomem.inputs.schema import Column, build, build_rows, rows_of
from gomem.releases import GoVersion
from gomem.text import MomentName

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS = ["HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "NextGC"]
HEAP_RETURN = (
    Column("moment", "str", "", "The moment.", MomentName),
    *(Column(name, "Int64", "B", "MemStats.") for name in FIELDS),
    Column("idle_kept_bytes", "Int64", "B", "Idle heap that Go keeps."),
    Column("retained_bytes", "Int64", "B", "Idle heap that Go keeps, plus heap in use."),
    Column(
        "limit_goal_bytes", "Int64", "B", "Retained heap that GOMEMLIMIT lets the scavenger leave."
    ),
    Column(
        "goal_bytes", "Int64", "B", "Retained heap at which the scavenger stops; since Go 1.13."
    ),
    Column(
        "excess_bytes",
        "Int64",
        "B",
        "Retained heap beyond the goal; without a goal, beyond NextGC.",
    ),
    Column("lazy_free_bytes", "Int64", "B", "LazyFree of the arenas; missing without mappings."),
    Column("arena_rss_bytes", "Int64", "B", "Resident in the arenas; missing without mappings."),
    next(column for column in RETENTION if column.name == "paced_by"),
)


def heap_return(
    memstats: pd.DataFrame,
    mappings: pd.DataFrame | None = None,
    version: GoVersion | None = None,
    memory_limits: Mapping[str, int | None] | None = None,
    cycles: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the heap that each snapshot keeps, has released, and has in RSS; see `HEAP_RETURN`.

    The last MemStats row of a snapshot counts. Assumes Go 1.13 or later, unless the release is
    known to be older. `memory_limits` has GOMEMLIMIT in bytes by snapshot, where known; `cycles`
    are from the log. The goals are those of `retention`.
    """
    rows = memstats.drop_duplicates("moment", keep="last").set_index("moment")
    table = rows[FIELDS].astype("Int64")
    table["idle_kept_bytes"] = table["HeapIdle"] - table["HeapReleased"]
    table["retained_bytes"] = table["HeapInuse"] + table["idle_kept_bytes"]
    readings = _readings(rows, memory_limits or {})
    goals = retention(readings, version or GoVersion(), log_cycles(cycles)).set_index("moment")
    table["limit_goal_bytes"] = goals[["limit_goal_bytes", "limit_bytes"]].min(axis=1)
    table["goal_bytes"] = goals["goal_bytes"]
    table["excess_bytes"] = _excess(table)
    table["lazy_free_bytes"] = _of_arenas(mappings, "LazyFree", table.index)
    table["arena_rss_bytes"] = _of_arenas(mappings, "Rss", table.index)
    return table.astype("Int64").assign(paced_by=goals["paced_by"]).reset_index()


def _readings(rows: pd.DataFrame, memory_limits: Mapping[str, int | None]) -> pd.DataFrame:
    """Return MemStats by snapshot as `retention` needs them, with known limits."""
    names = [column.name for column in READINGS]
    limits = [memory_limits.get(name) for name in rows.index]
    known = rows.assign(memory_limit_bytes=pd.Series(limits, rows.index, dtype="Int64"))
    return build(dict(known.reset_index().reindex(columns=names)), READINGS)


def _excess(table: pd.DataFrame) -> pd.Series:
    used_again = table["goal_bytes"].fillna(table["NextGC"])
    wanted = pd.concat([used_again, table["HeapInuse"]], axis=1).max(axis=1, skipna=False)
    return (table["retained_bytes"] - wanted).clip(lower=0)


def _of_arenas(mappings: pd.DataFrame | None, field: str, moments: pd.Index) -> pd.Series:
    if mappings is None or mappings.empty:
        return pd.Series(pd.NA, index=moments, dtype="Int64")
    arenas = mappings[mappings["kind"] == "go-heap"]
    return arenas.groupby("moment")[field].sum(min_count=1).reindex(moments)


HEAP_STEPS = (
    Column("before", "str", "", "The moment before.", MomentName),
    Column("after", "str", "", "The moment after it.", MomentName),
    Column("inuse_change_bytes", "Int64", "B", "HeapInuse after less before."),
    Column("released_change_bytes", "Int64", "B", "HeapReleased after less before."),
    Column("rss_change_bytes", "Int64", "B", "RSS after less before; missing where either is."),
)


def heap_steps(heap: pd.DataFrame, rss_bytes: Mapping[str, int | None]) -> pd.DataFrame:
    """Return how heap in use, released heap and RSS changed from each snapshot to the next.

    A row per snapshot of `heap_return` except the first; see `HEAP_STEPS`.
    """
    heap = heap.reindex(columns=["moment", "HeapInuse", "HeapReleased"])  # even without snapshots
    rss = pd.Series([rss_bytes.get(name) for name in heap["moment"]], heap.index, dtype="Int64")
    steps = {
        "before": heap["moment"].shift(),
        "after": heap["moment"],
        "inuse_change_bytes": heap["HeapInuse"].astype("Int64").diff(),
        "released_change_bytes": heap["HeapReleased"].astype("Int64").diff(),
        "rss_change_bytes": rss.diff(),
    }
    later = {name: column.iloc[1:].reset_index(drop=True) for name, column in steps.items()}
    return build(later, HEAP_STEPS)


FREED = (
    Column("run", "int64", "", "Which process of the log."),
    Column("number", "Int64", "", "The collection that it forced; missing if its line is not."),
    Column("released_bytes", "Int64", "B", "What went back; to 1 KiB since 1.14, to 1 MiB before."),
    Column("stopped_seconds", "float64", "s", "Pause of that GC."),
    Column("mark_seconds", "float64", "s", "How long it marked, the world running."),
    Column("cpu_seconds", "float64", "s", "CPU that it took, idle marking left out."),
)
CPU_CLASSES = {
    "background_seconds": "/cpu/classes/scavenge/background:cpu-seconds",
    "assist_seconds": "/cpu/classes/scavenge/assist:cpu-seconds",
    "available_seconds": "/cpu/classes/total:cpu-seconds",
}


@dataclass(frozen=True)
class ScavengerCpu:
    """CPU time of the scavenger between the first and the last snapshot, by `/cpu/classes`.

    Attributes:
        background_seconds: CPU time of the background scavenger.
        assist_seconds: CPU time of goroutines that release memory as they allocate.
        available_seconds: GOMAXPROCS times the elapsed time.
    """

    background_seconds: float
    assist_seconds: float
    available_seconds: float

    @property
    def fraction(self) -> float | None:
        """The scavenger's share of the available CPU; None if no time passed."""
        if self.available_seconds <= 0:
            return None
        return (self.background_seconds + self.assist_seconds) / self.available_seconds


@dataclass(frozen=True, repr=False)
class Scavenger(Answer):
    """What is returned to the OS, when, how fast, and why no more."""

    goals: tuple[Goal, ...]  # the rules of all releases, and which this one has
    retention: pd.DataFrame  # a row per snapshot; see `retention.RETENTION`
    intervals: pd.DataFrame  # why no more was released between snapshots; see `INTERVALS`
    episodes: pd.DataFrame  # consecutive intervals with one verdict, merged; see `EPISODES`
    # The scavenger's lines with `seconds`, the time of the preceding collection on the clock of
    # `retention`; see `gomem.inputs.gctrace.table.SCAVENGES`. None without any.
    lines: pd.DataFrame | None
    freed: pd.DataFrame  # the log's calls of debug.FreeOSMemory; see `FREED`
    # what a call would certainly release at the last snapshot: idle heap
    would_free_bytes: int | None
    # upper bound: all retained heap, if the call's GC finds no live object
    may_free_bytes: int | None
    lazy_free_bytes: int | None  # by how much GODEBUG=madvdontneed=1 would lower RSS then
    cpu: ScavengerCpu | None  # if runtime/metrics have it at two snapshots; since Go 1.20

    @property
    def in_use_bytes(self) -> int | None:
        """HeapInuse at the last snapshot; retained minus idle can differ by rounding."""
        known = self.retention.dropna(subset=["retained_bytes", "HeapInuse"])
        return None if known.empty else int(known["HeapInuse"].iloc[-1])

    def goal_bytes(self, goal: Goal) -> int | None:
        """Return a rule's goal at the last snapshot; None if a number that it needs is missing.

        One such number can be NextGC before the last collection.
        """
        known = self.retention[self.retention["retained_bytes"].notna()]
        if known.empty:
            return None
        last = known.iloc[-1]
        if goal.name == "paced-by-goal" and pd.notna(last["NextGC"]):
            return steady_goal_bytes(float(last["NextGC"]))
        if goal.name == "paced" and last["paced_by"] != "collection":
            return None
        value = last.get(_GOALS.get(goal.name, ""))
        return None if pd.isna(value) else int(value)


_GOALS = {  # columns of `retention`
    "paced": "paced_goal_bytes",
    "paced-by-goal": "paced_goal_bytes",
    "limit-background": "limit_goal_bytes",
    "limit-allocation": "limit_bytes",
}


def scavenger(
    readings: pd.DataFrame,
    version: GoVersion,
    cycles: pd.DataFrame | None = None,
    scavenges: pd.DataFrame | None = None,
    cpu: pd.DataFrame | None = None,
    *,
    has_no_limit: bool = False,
) -> Scavenger:
    """Analyse the scavenger over snapshots in order; see `retention.READINGS`.

    `scavenges` are the scavenger's lines, with `seconds` on the clock of the readings. `cpu` has
    the metrics of `CPU_CLASSES` by snapshot, where known. `has_no_limit` says that GOMEMLIMIT is
    known to be unset.
    """
    rows = retention(readings, version, log_cycles(cycles))
    intervals = verdicts(rows, version)
    known = rows.dropna(subset=["retained_bytes"])
    last = known.iloc[-1] if len(known) else None
    limits = readings["memory_limit_bytes"].dropna()
    no_limit = math.inf if has_no_limit else None
    lazy = readings["lazy_free_bytes"].dropna()
    counted = readings.get("NumGC", pd.Series(dtype="Int64")).dropna()
    collected = int(counted.iloc[-1]) if len(counted) else None
    return Scavenger(
        goals_of(version, int(limits.iloc[-1]) if len(limits) else no_limit, collected),
        rows,
        intervals,
        episodes(intervals, rows),
        scavenges,
        _freed(cycles, scavenges),
        None if last is None else int(last["idle_kept_bytes"]),
        None if last is None else int(last["retained_bytes"]),
        int(lazy.iloc[-1]) if len(lazy) else None,
        _cpu(cpu),
    )


def _freed(cycles: pd.DataFrame | None, scavenges: pd.DataFrame | None) -> pd.DataFrame:
    """Return the log's lines of FreeOSMemory, each with the collection that it forced."""
    if scavenges is None or cycles is None:
        return build_rows((), FREED)
    at_once = scavenges["released_bytes"].fillna(scavenges["released_eager_bytes"])
    calls = scavenges.assign(released_bytes=at_once)
    calls = calls[calls["forced"] & calls["released_bytes"].notna()]
    rows = []
    for call in rows_of(calls):
        near = _forced_by(cycles[cycles["forced"] & (cycles["run"] == call["run"])], call)
        costs = (stopped_seconds(near), near["mark_seconds"], near[list(CPU_PARTS)].sum(axis=1))
        told = [None if near.empty else float(cost.iloc[0]) for cost in costs]
        number = None if near.empty else int(near["number"].iloc[0])
        rows.append((call["run"], number, call["released_bytes"], *told))
    return build_rows(rows, FREED)


def _forced_by(forced: pd.DataFrame, call: dict[str, Any]) -> pd.DataFrame:
    """Return the forced collection whose line is nearest to a call's; None if two are equally near.

    Its line can be before or after the call's, because two threads print them.
    """
    last = call["line"] + (1 if call["event"] == "scvg" else 0)  # it has two lines
    away = pd.concat([call["line"] - forced["line"], forced["line"] - last], axis=1).max(axis=1)
    nearest = forced[away == away.min()]
    return nearest if len(nearest) == 1 else forced.iloc[:0]


def _cpu(readings: pd.DataFrame | None) -> ScavengerCpu | None:
    """Return the CPU from the first reading to the last; None if the process was replaced."""
    if readings is None:
        return None
    known = readings.reindex(columns=list(CPU_CLASSES.values())).dropna()
    if len(known) < 2:
        return None
    spent = (known.iloc[-1] - known.iloc[0]).to_numpy(float)
    if np.any(spent < 0):
        return None
    return ScavengerCpu(**dict(zip(CPU_CLASSES, map(float, spent), strict=True)))
