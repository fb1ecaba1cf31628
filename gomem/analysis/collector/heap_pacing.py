"""How much of the heap survives a GC, how far is it from the goal, and how much room is left?

The room between the live heap and the goal is what GOGC trades for fewer collections. Look at it
first when the heap seems twice too large.

Does the live heap grow, how fast, and is the growth more than chance and rounding?

A collection marks the heap that the program still retains, whatever GOGC allows on top. A leak
shows here first. The slope is the Theil–Sen estimate: the median of the slopes between all pairs of
points. A few outliers cannot move it.

A heap that fills at the start and then plateaus is not growing. So each run is analysed after its
warm-up, which ends where the live heap first reaches its median (`Level.slope`). The shape says
whether the heap still grows at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import (
    ROUNDING_ERROR,
    Cycles,
    overlapping,
    pieces_of,
    runs_of,
)
from gomem.analysis.series.level import MIN_FILLED, Level
from gomem.inputs.schema import Column, build
from gomem.statistics.quantiles import Tally
from gomem.text import Words

if TYPE_CHECKING:
    from gomem.analysis.collector.steps import Cycles, Run

PACING = (
    "survival_fraction", "overshoot_bytes", "overshoot_fraction", "headroom_bytes",
    "headroom_fraction",
)  # fmt: skip
NEXT = ("headroom_bytes", "headroom_fraction")  # computed from the next collection's goal
LIVE = "heap_live_bytes"
COLUMNS = (
    "run", "number", "at_seconds", "heap_at_start_bytes", "heap_at_mark_end_bytes",
    "heap_live_bytes", "heap_goal_bytes",
)  # fmt: skip
PACING_SUMMARY = (
    Column("what", "str", "", "One of `PACING`; its name ends in the unit.", Words),
    Column("n", "int64", "count", "GCs with a known value."),
    Column("p10", "float64", "", "10th percentile."),
    Column("p50", "float64", "", "Median."),
    Column("p90", "float64", "", "Nine in ten are at most this."),
    Column("max", "float64", "", "The largest."),
)
STEADY = 0.5  # of the median: within it, the heap has one size, with the variation of its load
MIN_GOALS = 3  # two agree by chance
QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
LIVE_HEAP = (
    Column("run", "int64", "", "Which process of the log."),
    Column("cycles", "int64", "count", "GCs considered."),
    Column("begin_seconds", "float64", "s", "When the first began, since the program's start."),
    Column("seconds", "float64", "s", "From the first of them to the last."),
    Column("first_bytes", "int64", "B", "Median of the first tenth of them; to 1 MiB."),
    Column("last_bytes", "int64", "B", "Median of the last tenth; to 1 MiB."),
    Column("slope_bytes_per_second", "float64", "B/s", "Theil and Sen's; missing of too few."),
    Column("slope_low", "float64", "B/s", "Lower end of its 95 % interval, rounding included."),
    Column("slope_high", "float64", "B/s", "Upper end of its 95 % interval, rounding included."),
    Column("grown_bytes", "float64", "B", "What the slope makes of the time looked at."),
    Column(
        "shape", "str", "", "How it moves, one of `shapes.SHAPES`; empty for too few GCs.", Words
    ),
    Column("goes_on", "boolean", "", "Whether it moves so to the end; missing of too few."),
)


@dataclass(frozen=True)
class UsualRoom:
    """Typical room between live heap and goal; NaN if unknown.

    The values are medians over the later half of each run, because a start-up has as many
    collections in a second as steady work in a minute. If the later half has too few goals, or its
    heap was not steady, the medians are over all collections.
    """

    live_bytes: float  # the live heap
    headroom_bytes: float  # the next goal minus the live heap
    headroom_fraction: float  # the same, as a fraction of the live heap
    # Whether the live heap had one size: the 10th and the 90th percentile differ by at most half of
    # the median. Otherwise it was still filling, or varied.
    is_steady: bool


@dataclass(frozen=True)
class HeapPacing:
    """The heap sizes of collections compared with their goals."""

    # A row per collection: `run`, `number` and the columns of `PACING`. Sizes are rounded down to 1
    # MiB, so each is known to ±1 MiB, and for a small heap the fractions mean little.
    cycles: pd.DataFrame
    summary: pd.DataFrame  # a row per column of `PACING`; see `PACING_SUMMARY`
    usual: UsualRoom  # the room above the live heap
    is_rounded: bool = False  # whether there are so many values that quantiles can be off by 0.05 %


def heap_pacing(cycles: Cycles) -> HeapPacing:
    """Compare heap sizes with goals.

    If the log is too long for memory, the result has no row per collection.
    """
    frame = _rows(next(pieces_of(cycles)).iloc[:0])
    tallies, live, middles = {what: Tally() for what in PACING}, Tally(), _middles(cycles)
    late = {what: Tally() for what in (LIVE, *NEXT)}
    for piece, before in overlapping(cycles, COLUMNS):
        rows = _rows(piece)
        live.add(_known(piece[LIVE].iloc[before:]))
        # Each value needs the next collection, and so is in the piece that has it.
        for what in PACING:
            own = slice(0, -1) if what in NEXT else slice(before, None)
            tallies[what].add(_known(rows[what].iloc[own]))
        _add_late(late, rows.assign(**{LIVE: piece[LIVE]}), piece, middles)
        frame = rows if isinstance(cycles, pd.DataFrame) else frame
    summary = pd.DataFrame([_summary(what, tally) for what, tally in tallies.items()])
    is_rounded = any(tally.is_rounded for tally in tallies.values())
    usual = _usual(*late.values())
    if len(late["headroom_bytes"]) < MIN_GOALS or not usual.is_steady:
        usual = _usual(live, *(tallies[what] for what in NEXT))
    return HeapPacing(frame, build(dict(summary), PACING_SUMMARY), usual, is_rounded)


def _middles(cycles: Cycles) -> pd.Series:
    """Return the middle of each run's time, by run."""
    ends = pd.concat(
        [
            piece.groupby("run")["at_seconds"].agg(["first", "last"])
            for piece in pieces_of(cycles, ["run", "at_seconds"])
        ]
    )
    runs = ends.groupby(level="run")
    return (runs["first"].first() + runs["last"].last()) / 2


def _add_late(
    late: dict[str, Tally], rows: pd.DataFrame, cycles: pd.DataFrame, middles: pd.Series
) -> None:
    """Add the values of later halves with a known next goal."""
    is_late = (cycles["at_seconds"] >= cycles["run"].map(middles)).fillna(False)
    own = rows[is_late.to_numpy(bool) & rows["headroom_bytes"].notna().to_numpy()]
    for what, tally in late.items():
        tally.add(_known(own[what]))


def _usual(live: Tally, headroom: Tally, fraction: Tally) -> UsualRoom:
    middle, room, share = (_quantile(tally, "p50") for tally in (live, headroom, fraction))
    spread = _quantile(live, "p90") - _quantile(live, "p10")
    return UsualRoom(middle, room, share, is_steady=spread <= STEADY * middle)


def _known(values: pd.Series) -> np.ndarray:
    return values.to_numpy(float, na_value=np.nan)


def _rows(cycles: pd.DataFrame) -> pd.DataFrame:
    live, goal = cycles["heap_live_bytes"], cycles["heap_goal_bytes"]
    overshoot = (cycles["heap_at_mark_end_bytes"] - goal).clip(lower=0)
    headroom = _next(cycles, "heap_goal_bytes") - live
    return cycles[["run", "number"]].assign(
        survival_fraction=_ratio(live, cycles["heap_at_start_bytes"]),
        overshoot_bytes=overshoot,
        overshoot_fraction=_ratio(overshoot, goal),
        headroom_bytes=headroom,
        headroom_fraction=_ratio(headroom, live),
    )


def _next(cycles: pd.DataFrame, column: str) -> pd.Series:
    """Return a column's value at the next collection, if no line is missing in between."""
    after = cycles.groupby("run", sort=False)[[column, "number"]].shift(-1)
    return after[column].where(cycles["number"].add(1).eq(after["number"]))


def _ratio(part: pd.Series, whole: pd.Series) -> pd.Series:
    """Return a ratio; missing if the denominator is below the log's resolution."""
    return (part / whole.where(whole > 0)).astype("Float64")


def _summary(what: str, sample: Tally) -> dict[str, object]:
    quantiles = {name: _quantile(sample, name) for name in QUANTILES}
    return {"what": what, "n": len(sample), **quantiles, "max": _number(sample.max)}


def _quantile(sample: Tally, name: str) -> float:
    return _number(sample.quantile(QUANTILES[name]))


def _number(value: float | None) -> float:
    """Convert to float; None becomes NaN."""
    return np.nan if value is None else value


@dataclass(frozen=True)
class LiveHeap:
    """The live heap of a run after its warm-up; see `LIVE_HEAP`."""

    run: int
    cycles: int
    begin_seconds: float
    seconds: float
    first_bytes: int
    last_bytes: int
    slope_bytes_per_second: float | None
    slope_low: float | None
    slope_high: float | None
    shape: str
    goes_on: bool | None

    @property
    def grown_bytes(self) -> float | None:
        """The growth over the observed time, at `slope_bytes_per_second`; None if unknown."""
        if self.slope_bytes_per_second is None:
            return None
        return self.slope_bytes_per_second * self.seconds


def live_heaps(cycles: Cycles) -> tuple[LiveHeap, ...]:
    """Return the growth of the live heap in each run of a log; `steps.grouped` reads a long log."""
    return tuple(map(_live_heap, runs_of(cycles)))


def _live_heap(run: Run) -> LiveHeap:
    # sizes are rounded down to 1 MiB
    level = Level("log", run.at, run.live, np.full(len(run.at), ROUNDING_ERROR))
    warm = level.warm
    tenth = max(1, len(warm) // 10)
    is_enough = np.unique(warm.seconds).size >= MIN_FILLED
    slope, low, high = level.slope if is_enough else (None, None, None)
    rise = warm.rise if is_enough else None
    return LiveHeap(
        run=run.run,
        cycles=int(run.cycles[level.warm_from :].sum()),
        begin_seconds=float(warm.seconds[0]),
        seconds=warm.span_seconds,
        first_bytes=int(np.median(warm.values[:tenth])),
        last_bytes=int(np.median(warm.values[-tenth:])),
        slope_bytes_per_second=slope,
        slope_low=low,
        slope_high=high,
        shape="" if rise is None else rise.shape,
        goes_on=None if rise is None else rise.goes_on,
    )
