"""Which runs of a log have a heap goal that stays while the live heap changes?

GOGC sets a goal in proportion to the live heap, so a goal that stays over live heaps that differ is
not GOGC's: a memory limit set it, with GOGC off or high. The first collection says most. Nothing is
marked before it, so GOGC would set 4 MiB × GOGC/100, and a limit sets the goal of all others. (The
runtime raises the goal of a collection that starts late, so that one says nothing.)
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from gomem.analysis.collector.gogc import GOAL_COLUMNS, MIN_GOALS, NEARLY, Goals
from gomem.analysis.collector.steps import ROUNDING_BYTES, Cycles, overlapping
from gomem.units import MIB

FIRST_GOAL_BYTES = 4 * MIB  # at GOGC=100, for a heap that was never marked
USUAL_PERCENT = 100  # a first goal tells a limit from a GOGC above this: few set one
CONSTANT = 0.05  # of a goal: other memory under the limit changes a little
_ENDS = {
    "goals": ("goal", "size"),
    "lowest": ("goal", "min"),
    "highest": ("goal", "max"),
    "most_low": ("low", "max"),  # the GOGC that the goal above the smallest live heap needs
    "least_high": ("high", "min"),  # the GOGC that the goal above the largest live heap allows
}
_SUMS = {"goals": "sum", "lowest": "min", "highest": "max", "most_low": "max", "least_high": "min"}


def runs_with_constant_goal(cycles: Cycles) -> frozenset[int]:
    """Return the runs whose goals a memory limit must have set, because they stay."""
    later, first = [], []
    for piece, before in overlapping(cycles, GOAL_COLUMNS):
        frame = _ranges(piece, Goals.of(piece)).iloc[before:]
        first.append(frame[frame["number"] == 1])
        later.append(frame[frame["number"] > 1].groupby("run").agg(**_ENDS))
    if not later:
        return frozenset()
    runs = pd.concat(later).groupby(level="run").agg(_SUMS)
    starts = pd.concat(first).drop_duplicates("run").set_index("run").reindex(runs.index)
    limit = (1 + CONSTANT) * runs["lowest"] + ROUNDING_BYTES
    stays = (runs["goals"] >= MIN_GOALS) & (runs["highest"] <= limit)
    is_same = starts["goal"].between(runs["highest"] / (1 + CONSTANT), limit)
    is_same &= runs["most_low"] > USUAL_PERCENT
    low = runs["most_low"].where(~is_same, np.fmax(runs["most_low"], starts["low"]))
    differs = low > (1 + NEARLY) * runs["least_high"]
    return frozenset(runs.index[stays & differs])


def _ranges(piece: pd.DataFrame, goals: Goals) -> pd.DataFrame:
    """Return each goal that a limit can have set, and the GOGC that it needs and allows."""
    is_first = (piece["number"].to_numpy() == 1) & (goals.start + ROUNDING_BYTES < goals.goal)
    low, high = goals.percents()
    of_first = 100 * goals.goal / FIRST_GOAL_BYTES
    low = np.where(is_first, of_first, np.where(goals.telling, low, np.nan))
    high = np.where(is_first | ~goals.telling, np.nan, high)
    frame = piece[["run", "number"]].assign(goal=goals.goal, low=low, high=high)
    return frame[goals.may_be_limited & ~np.isnan(goals.goal)]
