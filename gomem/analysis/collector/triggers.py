"""Why did each collection run: the pacer, the program, the two-minute timer, or a memory limit?

The log says of a collection that the program forced it, and of the periodic one that it is coming.
It never says that a memory limit (Go 1.19) made the goal. But GOGC can be known, and with it the
least goal that it alone would set: live heap x (1 + GOGC), and 4 MiB x GOGC. A goal below that is a
limit's.

GOGC is known from runtime/metrics; or from the run's first goal, of a heap that has not been marked
yet: the same 4 MiB x GOGC, or that of stacks and globals where these are larger. Of a log that
begins later it is known only as the room that most goals leave; a program that never had more room
than its limit left then looks like one with a small GOGC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import CPU_PARTS, ROUNDING_BYTES, stopped_seconds
from gomem.inputs.schema import Column, build
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

TRIGGERS = ("pacer", "limit", "forced", "periodic")
TRIGGER_COUNTS = (
    Column("trigger", "str", "", "Why they ran; one of `TRIGGERS`."),
    Column("cycles", "int64", "count", "Collections."),
    Column("fraction", "float64", "fraction", "Of all; missing without a collection."),
    Column("gc_cpu_seconds", "float64", "s", "CPU that they took."),
    Column("stopped_seconds", "float64", "s", "How long the world stood still for them."),
)
GOGC = (
    Column("run", "int64", "", "Which process of the log."),
    Column("gogc_fraction", "float64", "ratio", "1.0 is GOGC=100; missing if off or not known."),
    Column("known_from", "str", "", "How it is known."),
)
FIRST_GOAL_BYTES = 4 * MIB  # at GOGC=100, of a heap that was never marked
TOLERANCE = 0.01  # of the goal: the room that stacks take is not counted on
LOWEST_GOGC = 0.05  # nobody sets less; goals that leave less room are taken for a limit's
USUAL_ROOM = 0.9  # quantile of the room that goals leave, where GOGC is not known
ENOUGH_LIVE_BYTES = 8 * MIB  # below, 1 MiB of rounding is more than an eighth of the room


@dataclass(frozen=True)
class GcTriggers:
    """Why collections ran.

    Attributes:
        cycles: A row per collection: `run`, `number`, `trigger`.
        counts: A row per trigger, in the order of `TRIGGERS`; see `TRIGGER_COUNTS`.
        gogc: A row per run; see `GOGC`.
    """

    cycles: pd.DataFrame
    counts: pd.DataFrame
    gogc: pd.DataFrame


def gc_triggers(cycles: pd.DataFrame, gogc_fraction: float | None = None) -> GcTriggers:
    """Say why each collection ran.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them.
        gogc_fraction: GOGC as runtime/metrics give it, 1.0 for 100; infinite where it is off.

    Returns:
        The triggers. A program that lowers its GOGC while it runs looks like one with a limit.
    """
    room = _room(cycles)
    usual = room.groupby(cycles["run"].reindex(room.index)).quantile(USUAL_ROOM)
    firsts = cycles.drop_duplicates("run").to_dict("records")
    rows = [{"run": row["run"], **_gogc(row, usual, gogc_fraction)} for row in firsts]
    gogc = pd.DataFrame(rows, columns=["run", "gogc_fraction", "known_from"])
    by_run = gogc.set_index("run")["gogc_fraction"]
    limited = _below_gogc(cycles, cycles["run"].map(by_run).to_numpy(float))
    trigger = np.select(
        [cycles["forced"].to_numpy(bool), cycles["periodic"].to_numpy(bool), limited],
        ["forced", "periodic", "limit"],
        "pacer",
    )
    named = cycles[["run", "number"]].assign(trigger=pd.Series(trigger, cycles.index, dtype="str"))
    return GcTriggers(named, _counts(cycles, named["trigger"]), _without_infinity(gogc))


def _gogc(
    first: Mapping[Hashable, Any], room: pd.Series, known: float | None
) -> dict[Hashable, object]:
    """GOGC of one run, or the least that it can be, and how that is known."""
    if known is not None:
        return {"gogc_fraction": known, "known_from": "runtime/metrics"}
    if first["number"] == 1 and _paced(first):
        beside = int(first["stacks_bytes"]) + int(first["globals_bytes"])
        return {
            "gogc_fraction": int(first["heap_goal_bytes"]) / max(FIRST_GOAL_BYTES, beside),
            "known_from": "the goal of the first collection",
        }
    if first["run"] not in room.index:
        return {"gogc_fraction": np.nan, "known_from": "nothing here"}
    usual = max(float(room[first["run"]]), LOWEST_GOGC)
    return {"gogc_fraction": usual, "known_from": "the room that most goals leave"}


def _paced(first: Mapping[Hashable, Any]) -> bool:
    """Whether a first collection began below its goal: one that began late had it raised.

    Releases that print no stacks (1.17 and older) have another first goal, and no limit.
    """
    start, goal = first["heap_at_start_bytes"], first["heap_goal_bytes"]
    sizes = (start, goal, first["stacks_bytes"], first["globals_bytes"])
    return not any(pd.isna(size) for size in sizes) and bool(start < goal)


def _room(cycles: pd.DataFrame) -> pd.Series:
    """What each goal left above the live heap that it was made from, as a part of it."""
    live = _live_before(cycles)
    scanned = live + cycles["stacks_bytes"].fillna(0) + cycles["globals_bytes"].fillna(0)
    room = (cycles["heap_goal_bytes"] - live) / scanned.where(live >= ENOUGH_LIVE_BYTES)
    return room.dropna().astype(float)


def _live_before(cycles: pd.DataFrame) -> pd.Series:
    """What the collection before marked: its own goal was made from it."""
    before = cycles.groupby("run", sort=False)[["heap_live_bytes", "number"]].shift(1)
    follows = before["number"].add(1).eq(cycles["number"])
    return before["heap_live_bytes"].where(follows)


def _below_gogc(cycles: pd.DataFrame, gogc: np.ndarray) -> np.ndarray:
    """Whether a goal is lower than GOGC alone would set; printed sizes are at most 1 MiB short.

    Releases that print no stacks are 1.17 or older, and know no limit.
    """
    live = _live_before(cycles).to_numpy(float, na_value=np.nan)
    goal = cycles["heap_goal_bytes"].to_numpy(float, na_value=np.nan)
    knows_limit = cycles["stacks_bytes"].notna().to_numpy(bool)
    with np.errstate(invalid="ignore"):
        least = np.maximum(live * (1 + gogc), FIRST_GOAL_BYTES * gogc)
        return knows_limit & ((goal + ROUNDING_BYTES) * (1 + TOLERANCE) < least)


def _counts(cycles: pd.DataFrame, trigger: pd.Series) -> pd.DataFrame:
    costs = pd.DataFrame(
        {
            "trigger": trigger,
            "gc_cpu_seconds": cycles[list(CPU_PARTS)].sum(axis=1),
            "stopped_seconds": stopped_seconds(cycles),
        }
    ).groupby("trigger", sort=False)
    counts = pd.DataFrame({"cycles": costs.size()}).join(costs.sum())
    counts = counts.reindex(list(TRIGGERS)).fillna(0.0)
    fraction = counts["cycles"] / len(cycles) if len(cycles) else np.nan
    counts.insert(1, "fraction", fraction)
    return build(dict(counts.rename_axis("trigger").reset_index()), TRIGGER_COUNTS)


def _without_infinity(gogc: pd.DataFrame) -> pd.DataFrame:
    fraction = gogc["gogc_fraction"].astype(float)
    finite = fraction.where(np.isfinite(fraction))
    return build(dict(gogc.assign(gogc_fraction=finite)), GOGC)
