"""Why did each collection run: the pacer, the program, the two-minute timer, or a memory limit?

The log says of a collection that the program forced it, and of the periodic one that it is coming.
It never says that a memory limit (Go 1.19) made the goal. A limit is named only where nothing else
can have made it:

- the goal is one that no GOGC makes: see `gogc.Goals.beyond_any`;
- GOGC is known from runtime/metrics, and the goal is lower than it sets;
- most goals agree on a GOGC, and several others are lower than it sets and agree on no other: a
  program that changes its GOGC leaves goals that agree.

Where a limit is proven, goals that leave hardly any room are its too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from gomem.analysis.collector.gogc import (
    ENOUGH_GOALS,
    Goals,
    agreed_percents,
    allowed_percents,
)
from gomem.analysis.collector.steps import (
    CPU_PARTS,
    ROUNDING_BYTES,
    available_seconds,
    gc_steps,
    stopped_seconds,
)
from gomem.inputs.schema import Column, build
from gomem.units import MIB

TRIGGERS = ("pacer", "limit", "forced", "periodic")
_THEIRS = "Of their steps, each to the next collection:"
TRIGGER_COUNTS = (
    Column("trigger", "str", "", "Why they ran; one of `TRIGGERS`."),
    Column("cycles", "int64", "count", "Collections."),
    Column("fraction", "float64", "fraction", "Of all; missing without a collection."),
    Column("gc_cpu_seconds", "float64", "s", "CPU that they took."),
    Column("stopped_seconds", "float64", "s", "How long the world stood still for them."),
    Column("marking_cpu_seconds", "float64", "s", f"{_THEIRS} CPU that marking took."),
    Column("marking_cpu_fraction", "float64", "fraction", f"{_THEIRS} the same, of GOMAXPROCS."),
    Column("interval_p50_seconds", "float64", "s", f"{_THEIRS} the median length."),
    Column("heap_live_p50_bytes", "float64", "B", "Median of what they marked; to 1 MiB."),
    Column("heap_goal_p50_bytes", "float64", "B", "Median of their goals; to 1 MiB."),
    Column("room_p50_fraction", "float64", "ratio", "Median of their goals' room above the live."),
)
GOGC = (
    Column("run", "int64", "", "Which process of the log."),
    Column("gogc_fraction", "float64", "ratio", "1.0 is GOGC=100; missing if off or not known."),
    Column("known_from", "str", "", "How it is known."),
)
METRICS, NOTHING = "runtime/metrics", "nothing here"
FIRST_GOAL_BYTES = 4 * MIB  # at GOGC=100, of a heap that was never marked
TOLERANCE = 0.01  # of the goal: the room that stacks take is not counted on
CRAMPED_PERCENT = 5  # nobody sets a GOGC below; so where there is a limit, it made such a goal
ONE_GOGC_FRACTION = 0.9  # of the lower goals: if so many agree, GOGC was changed


@dataclass(frozen=True)
class GcTriggers:
    """Why collections ran.

    Attributes:
        cycles: A row per collection: `run`, `number`, `trigger`.
        counts: A row per trigger, in the order of `TRIGGERS`; see `TRIGGER_COUNTS`.
        gogc: A row per run; see `GOGC`.
        beyond_any: How many of the goals no GOGC makes.
    """

    cycles: pd.DataFrame
    counts: pd.DataFrame
    gogc: pd.DataFrame
    beyond_any: int

    def of(self, trigger: str) -> pd.Series:
        """The row of `counts` of one trigger."""
        return self.counts.set_index("trigger").loc[trigger]

    @property
    def gogc_is_known(self) -> bool:
        """Whether GOGC need not be inferred."""
        return bool(len(self.gogc)) and bool(self.gogc["known_from"].eq(METRICS).all())


def gc_triggers(
    cycles: pd.DataFrame,
    gogc_fraction: float | None = None,
    memory_limit_bytes: float | None = None,
) -> GcTriggers:
    """Say why each collection ran.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them.
        gogc_fraction: GOGC as runtime/metrics give it, 1.0 for 100; infinite where it is off.
        memory_limit_bytes: GOMEMLIMIT likewise; infinite where there is none, or where the release
            knows none.
    """
    goals = Goals.of(cycles)
    runs = pd.Index(pd.unique(cycles["run"]))
    gogc = _gogc(goals, runs, gogc_fraction)
    limited = np.zeros(len(cycles), bool)
    if memory_limit_bytes is None or math.isfinite(memory_limit_bytes):
        limited = _limited(goals, gogc, set_to=memory_limit_bytes)
    trigger = np.select(
        [cycles["forced"].to_numpy(bool), cycles["periodic"].to_numpy(bool), limited],
        ["forced", "periodic", "limit"],
        "pacer",
    )
    named = cycles[["run", "number"]].assign(trigger=pd.Series(trigger, cycles.index, dtype="str"))
    counts = _counts(cycles, goals, named["trigger"])
    return GcTriggers(named, counts, _table(gogc), int(goals.beyond_any.sum()))


def _gogc(goals: Goals, runs: pd.Index, known: float | None) -> pd.DataFrame:
    """GOGC of each run, NaN where it is not known, and how it is known."""
    if known is not None:
        return pd.DataFrame({"gogc_fraction": known, "known_from": METRICS}, index=runs)
    agreed = agreed_percents(allowed_percents(goals)).reindex(runs)
    agreeing, telling = (agreed[name].fillna(0).astype(int) for name in ("agreeing", "telling"))
    words = [f"{one} of {all_} goals" for one, all_ in zip(agreeing, telling, strict=True)]
    inferred = agreed["percent"].notna().to_numpy()
    known_from = np.where(inferred, np.array(words, dtype=object), NOTHING)
    return pd.DataFrame(
        {"gogc_fraction": agreed["percent"].astype(float) / 100, "known_from": known_from},
        index=runs,
    )


def _limited(goals: Goals, gogc: pd.DataFrame, *, set_to: float | None) -> np.ndarray:
    """Whether a memory limit made each goal, as far as that is proven."""
    proven = goals.beyond_any
    lower = _below(goals, pd.Series(goals.run).map(gogc["gogc_fraction"]).to_numpy(float))
    if len(gogc) and not gogc["known_from"].eq(METRICS).all():
        lower &= np.isin(goals.run, _limited_runs(goals, lower & ~proven))
    proven |= lower
    count = pd.Series(proven).groupby(goals.run).sum()
    sure = count.index[(count >= ENOUGH_GOALS) | (set_to is not None)]
    cramped = (goals.percents()[1] < CRAMPED_PERCENT) & goals.may_be_limited
    return proven | (cramped & np.isin(goals.run, sure))


def _below(goals: Goals, gogc: np.ndarray) -> np.ndarray:
    """Whether a goal is lower than GOGC alone would set; printed sizes are at most 1 MiB short."""
    with np.errstate(invalid="ignore"):
        least = np.maximum(goals.live * (1 + gogc), FIRST_GOAL_BYTES * gogc)
        return goals.may_be_limited & ((goals.goal + ROUNDING_BYTES) * (1 + TOLERANCE) < least)


def _limited_runs(goals: Goals, lower: np.ndarray) -> pd.Index:
    """Runs in which several goals are lower than the inferred GOGC sets, and not by another."""
    count = pd.Series(lower).groupby(goals.run).sum()
    other = agreed_percents(allowed_percents(goals, lower))
    changed = other["agreeing"] >= ONE_GOGC_FRACTION * other["telling"]
    changed = changed.reindex(count.index, fill_value=False)
    return count.index[(count >= ENOUGH_GOALS) & ~changed]


def _counts(cycles: pd.DataFrame, goals: Goals, trigger: pd.Series) -> pd.DataFrame:
    steps = gc_steps(cycles)
    frame = pd.DataFrame(
        {
            "trigger": trigger,
            "gc_cpu_seconds": cycles[list(CPU_PARTS)].sum(axis=1, min_count=1),
            "stopped_seconds": stopped_seconds(cycles),
            "marking_cpu_seconds": steps["marking_cpu_seconds"],
            "available": available_seconds(steps),
            "interval": steps["seconds"],
            "heap_live": cycles["heap_live_bytes"].astype(float),
            "heap_goal": cycles["heap_goal_bytes"].astype(float),
            "room": (goals.goal - goals.live) / np.where(goals.live > 0, goals.live, np.nan),
        }
    )
    by_trigger = frame.groupby("trigger", sort=False)
    sums = ["gc_cpu_seconds", "stopped_seconds", "marking_cpu_seconds", "available"]
    counts = pd.DataFrame({"cycles": by_trigger.size()}).reindex(list(TRIGGERS), fill_value=0)
    counts = counts.join(by_trigger[sums].sum(min_count=1))
    counts[sums] = counts[sums].mask(counts["cycles"] == 0, 0.0)  # without any, it is no unknown
    medians = by_trigger[["interval", "heap_live", "heap_goal", "room"]].median()
    available = counts.pop("available")
    counts["marking_cpu_fraction"] = counts["marking_cpu_seconds"] / available.where(available > 0)
    names = {
        "interval": "interval_p50_seconds",
        "heap_live": "heap_live_p50_bytes",
        "heap_goal": "heap_goal_p50_bytes",
        "room": "room_p50_fraction",
    }
    counts = counts.join(medians.rename(columns=names))
    counts["fraction"] = counts["cycles"] / len(cycles) if len(cycles) else np.nan
    return build(dict(counts.rename_axis("trigger").reset_index()), TRIGGER_COUNTS)


def _table(gogc: pd.DataFrame) -> pd.DataFrame:
    """Without infinity: GOGC=off has no number."""
    fraction = gogc["gogc_fraction"].astype(float)
    finite = fraction.where(np.isfinite(fraction))
    return build(dict(gogc.assign(gogc_fraction=finite).rename_axis("run").reset_index()), GOGC)
