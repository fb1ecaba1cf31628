"""Are the goals in a log those that the pacer's formula makes of the collection before?

A size is printed in whole MiB, rounded down. So what a goal is made of is known to 1 MiB each, and
the formula gives a range; a goal agrees if its own MiB overlaps it. Three things move a goal up:
the least heap of 4 MiB x GOGC/100, room of 1 MiB while the heap is swept, and a late start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.collector.steps import ROUNDING_BYTES
from gomem.analysis.what_if.pacer import SWEEP_DISTANCE_BYTES, Era, percent_goal
from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

LATE_BYTES = 64 << 10  # a goal is at least so far above where the collection started
GOALS = (
    Column("run", "int64", "", "Which process of the log."),
    Column("number", "int64", "", "Which collection of it."),
    Column("goal_low_bytes", "float64", "B", "The least goal that the collection before makes."),
    Column("goal_high_bytes", "float64", "B", "The greatest."),
    Column("heap_goal_bytes", "Int64", "B", "The goal that is printed; to 1 MiB, rounded down."),
    Column("agrees", "bool", "", "Whether it can be the same, both sides' rounding granted."),
)


def goal_check(cycles: pd.DataFrame, gogc: Mapping[int, float], era: Era) -> pd.DataFrame:
    """Work out each goal from the collection before it; see `GOALS`.

    A row per collection that follows another of a run whose GOGC (1.0 for 100) is known. Goals that
    a memory limit made are among them, and do not agree.
    """
    sizes = {
        name: cycles[f"{name}_bytes"].to_numpy(float, na_value=np.nan)
        for name in ("heap_live", "heap_goal", "heap_at_start", "stacks", "globals")
    }
    run, number = cycles["run"].to_numpy(), cycles["number"].to_numpy()
    percent = cycles["run"].map(dict(gogc)).to_numpy(float)
    follows = np.zeros(len(run), bool)
    follows[1:] = (run[1:] == run[:-1]) & (number[1:] == number[:-1] + 1)
    known = follows & np.isfinite(percent) & ~np.isnan(sizes["heap_goal"])
    live, stacks, global_ = (_before(sizes[name]) for name in ("heap_live", "stacks", "globals"))
    known &= ~np.isnan(live)
    stacks, global_ = np.nan_to_num(stacks), np.nan_to_num(global_)
    # 1.19 prints what stacks could be scanned, and counts what was.
    least = global_ + (0.0 if era == Era.LIMIT else stacks)
    most = stacks + global_ + 2 * ROUNDING_BYTES
    low = percent_goal(live, least, percent, era)
    high = percent_goal(live + ROUNDING_BYTES, most, percent, era)
    high = np.fmax(high, _moved(live, sizes["heap_at_start"], low))
    goal = sizes["heap_goal"]
    with np.errstate(invalid="ignore"):
        agrees = (low < goal + ROUNDING_BYTES) & (high >= goal)
    columns = {
        "run": run[known],
        "number": number[known],
        "goal_low_bytes": low[known],
        "goal_high_bytes": high[known],
        "heap_goal_bytes": goal[known].astype(np.int64),
        "agrees": agrees[known],
    }
    return build(columns, GOALS)


def _moved(live: np.ndarray, start: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Where a goal may have been moved to: room to sweep in, and a start beyond it."""
    swept = live + ROUNDING_BYTES + SWEEP_DISTANCE_BYTES
    late = start + ROUNDING_BYTES + LATE_BYTES
    return np.fmax(swept, np.where(late > low, late, 0.0))


def _before(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[np.nan], values[:-1]])[: len(values)]
