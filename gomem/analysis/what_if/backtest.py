"""How well does the earlier part of a log predict the later part?

Three tests use the log itself: the previous GC predicts each goal, the previous five GCs predict
each interval to the next, and a replay of the first half predicts the second half. The replay of
the whole log is compared with the log, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.collector.gogc import Goals as PrintedGoals
from gomem.analysis.collector.steps import ROUNDING_BYTES
from gomem.analysis.what_if.pacer import (
    SWEEP_DISTANCE_BYTES,
    Era,
    Goals,
    limit_goal,
    percent_goal,
    trigger,
)
from gomem.analysis.what_if.replay import Load, Setting, replay
from gomem.analysis.what_if.thresholds import MAX_REPLAY_ERROR
from gomem.analysis.what_if.watched import Watched, present_of
from gomem.inputs.schema import Column, build
from gomem.text import Share

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

EARLIER = 5  # collections whose rate predicts the next distance
UNTESTED = 0.10  # assumed error if nothing could be tested
FORETOLD = ("cycles_per_second", "gc_cpu_cores", "peak_heap_bytes")
LATE_BYTES = 64 << 10  # a goal is at least this far above the heap at the collection's start
GOALS = (
    Column("run", "int64", "", "Which process of the log."),
    Column("number", "int64", "", "Number of the GC in its run."),
    Column("goal_low_bytes", "float64", "B", "The least goal that the collection before makes."),
    Column("goal_high_bytes", "float64", "B", "The greatest."),
    Column("heap_goal_bytes", "Int64", "B", "The goal that is printed; to 1 MiB, rounded down."),
    Column("agrees", "bool", "", "Whether it can be the same, both sides' rounding granted."),
)


@dataclass(frozen=True)
class Backtest:
    """How well a log's later part was predicted; None where nothing could be tested.

    Attributes:
        cycles: Collections whose goal was predicted.
        goals_agree_fraction: Share of these collections whose goal is within the formula's bounds.
        goal_error_p95: 95th percentile of the relative error of predicted goals.
        interval_error_p50: Median relative error of the interval to the next collection.
        cycles_per_second_error: Relative error of a replay: of the second half predicted from
            the first, or of the whole log replayed, whichever is greater.
        gc_cpu_cores_error: The same error for GC CPU.
        peak_heap_bytes_error: The same error for the peak heap.
    """

    cycles: int = 0
    goals_agree_fraction: float | None = None
    goal_error_p95: float | None = None
    interval_error_p50: float | None = None
    cycles_per_second_error: float | None = None
    gc_cpu_cores_error: float | None = None
    peak_heap_bytes_error: float | None = None

    @property
    def replay_errors(self) -> dict[str, float]:
        """The errors of the replay, by what was predicted; empty if nothing could be tested."""
        errors = {
            "GCs per second": self.cycles_per_second_error,
            "GC CPU": self.gc_cpu_cores_error,
            "the highest heap": self.peak_heap_bytes_error,
        }
        return {name: error for name, error in errors.items() if error is not None}

    @property
    def error_words(self) -> str:
        """The errors of the replay: `3 % in GCs per second, 12 % in GC CPU`."""
        return ", ".join(f"{Share(error)} in {of}" for of, error in self.replay_errors.items())

    @property
    def fits(self) -> bool:
        """Whether the replay predicts its own log well enough to predict other settings."""
        return max(self.replay_errors.values(), default=0.0) <= MAX_REPLAY_ERROR

    def error_of(self, metric: str) -> float:
        """Return the relative error by which to widen the predicted range of a metric."""
        name = "peak_heap_bytes" if metric == "goal_bytes" else metric
        error = getattr(self, f"{name}_error")
        return UNTESTED if error is None else float(error)


@dataclass(frozen=True)
class Made:
    """The settings under which a log was recorded."""

    gogc: float  # GOGC, 1.0 for 100; infinite for off
    limit: float  # GOMEMLIMIT, bytes; infinite for none
    # bytes that the runtime has mapped besides objects and that count for the limit
    not_heap: float
    era: Era  # the release's pacer


def backtest(cycles: pd.DataFrame, made: Made) -> Backtest:
    """Compare predicted with printed collections of one run, in the analysed part of its log."""
    goals, agree = _goal_errors(cycles, made)
    intervals = _interval_errors(cycles, made)
    return Backtest(
        cycles=len(goals),
        goals_agree_fraction=agree,
        goal_error_p95=float(np.quantile(goals, 0.95)) if len(goals) else None,
        interval_error_p50=float(np.median(intervals)) if len(intervals) else None,
        **_replay_errors(cycles, made),
    )


def _goal_errors(cycles: pd.DataFrame, made: Made) -> tuple[np.ndarray, float | None]:
    """Return errors of goals set by GOGC; a limit's depend on memory that the log does not show."""
    if math.isfinite(made.limit) or math.isinf(made.gogc):
        return np.empty(0), None
    runs = dict.fromkeys(cycles["run"].unique().tolist(), made.gogc)
    checked = goal_check(cycles, runs, made.era)
    if checked.empty:
        return np.empty(0), None
    middle = (checked["goal_low_bytes"] + checked["goal_high_bytes"]) / 2
    seen = checked["heap_goal_bytes"].astype(float) + ROUNDING_BYTES / 2
    return (middle / seen - 1).abs().to_numpy(), float(checked["agrees"].mean())


def _interval_errors(cycles: pd.DataFrame, made: Made) -> np.ndarray:
    """Return errors of each distance to the next collection, predicted from the previous few."""
    load = Load.of(cycles, made.era)
    marked = cycles["heap_live_bytes"].to_numpy(float) + ROUNDING_BYTES / 2
    goals = Goals(
        marked,
        percent_goal(marked, load.scanned, made.gogc, made.era),
        limit_goal(marked, made.limit, made.not_heap, made.era),
    )
    starts = trigger(goals, load.runway, made.gogc, made.era)
    sums = load.knots_bytes[::2]
    errors = []
    for place in range(EARLIER, len(marked) - 1):
        first = place - EARLIER
        seconds = load.begin[place] - load.begin[first]
        rate = (sums[place] - sums[first]) / seconds if seconds > 0 else 0.0
        seen = load.begin[place + 1] - load.begin[place]
        if rate > 0 and seen > 0 and math.isfinite(starts[place]):
            room = max(float(starts[place] - marked[place]), 0.0)
            errors.append(abs((load.lasting[place] + room / rate) / seen - 1))
    return np.array(errors)


def _replay_errors(cycles: pd.DataFrame, made: Made) -> dict[str, float]:
    """Return the larger of two errors: second half from the first, and the whole from itself.

    The first is due to changes of the program; the second to the replay.
    """
    middle = len(cycles) // 2
    pairs = ((cycles.iloc[: middle + 1], cycles.iloc[middle:]), (cycles, cycles))
    every = [_errors(*pair, made) for pair in pairs]
    names = {name for errors in every for name in errors}
    return {name: max(errors.get(name, 0.0) for errors in every) for name in names}


def _errors(known: pd.DataFrame, later: pd.DataFrame, made: Made) -> dict[str, float]:
    """Compare the replay of some collections with others."""
    load = Load.of(known, made.era)
    seconds = float(later["at_seconds"].iloc[-1] - later["at_seconds"].iloc[0])
    if not (load.allocated_bytes > 0 and load.seconds > 0 and seconds > 0):
        return {}
    values = (made.gogc, made.limit, made.not_heap, 1.0, 1.0, 0.0)
    setting = Setting(*(np.array([value]) for value in values))
    foretold = replay(load, setting, made.era).iloc[0]
    seen = present_of(Watched(later, None, ()))
    shown = {name: getattr(seen, name) for name in FORETOLD}
    known = {name: value for name, value in shown.items() if value > 0}
    return {f"{name}_error": abs(float(foretold[name]) / size - 1) for name, size in known.items()}


def goal_check(cycles: pd.DataFrame, gogc: Mapping[int, float], era: Era) -> pd.DataFrame:
    """Compute each goal from the previous collection; see `GOALS`.

    Sizes are printed in whole MiB, rounded down, so the formula gives a range; a goal agrees if its
    printed MiB overlaps this range. Three things raise a goal: the minimum heap of 4 MiB x
    GOGC/100, room of 1 MiB during sweeping, and a late start. The result has a row per collection
    that has a predecessor, in a run with known GOGC (1.0 for 100). A goal set by a memory limit
    does not agree.
    """
    printed = PrintedGoals.of(cycles)
    live, goal, scanned = printed.live, printed.goal, printed.scanned
    percent = cycles["run"].map(dict(gogc)).to_numpy(float)
    known = np.isfinite(percent) & ~np.isnan(goal) & ~np.isnan(live)
    least = scanned
    if era == Era.LIMIT:  # 1.19 prints scannable stacks, but counts scanned ones
        least = np.nan_to_num(cycles["globals_bytes"].shift().to_numpy(float, na_value=np.nan))
    low = percent_goal(live, least, percent, era)
    high = percent_goal(live + ROUNDING_BYTES, scanned + 2 * ROUNDING_BYTES, percent, era)
    high = np.fmax(high, _moved(live, printed.start, low))
    with np.errstate(invalid="ignore"):
        agrees = (low < goal + ROUNDING_BYTES) & (high >= goal)
    columns = {
        "run": printed.run[known],
        "number": cycles["number"].to_numpy()[known],
        "goal_low_bytes": low[known],
        "goal_high_bytes": high[known],
        "heap_goal_bytes": goal[known].astype(np.int64),
        "agrees": agrees[known],
    }
    return build(columns, GOALS)


def _moved(live: np.ndarray, start: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return the goals after raising them: room for sweeping, and a late start."""
    swept = live + ROUNDING_BYTES + SWEEP_DISTANCE_BYTES
    late = start + ROUNDING_BYTES + LATE_BYTES
    return np.fmax(swept, np.where(late > low, late, 0.0))
