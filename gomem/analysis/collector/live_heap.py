"""Does the live heap grow, how fast, and is that more than chance and rounding?

What a collection marked is the heap that the program still holds, whatever GOGC allows on top: a
leak shows here before it shows anywhere else. The slope is Theil and Sen's, the median of the
slopes between all pairs of points, which a few odd collections cannot move.

A heap that fills at the start and then stays is not growing. So each run is looked at from where
its live heap first reached its own median: of a heap that only filled, the filling is gone; of one
that grows all the time, half is left. Its shape says whether it still grows at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.collector.steps import ROUNDING_BYTES, filled_runs
from gomem.analysis.series.level import Level
from gomem.inputs.schema import Column

if TYPE_CHECKING:
    from gomem.analysis.collector.steps import Cycles, FilledRun

FEWEST_CYCLES = 8  # with fewer, the interval says nothing

LIVE_HEAP = (
    Column("run", "int64", "", "Which process of the log."),
    Column("cycles", "int64", "count", "Collections looked at."),
    Column("begin_seconds", "float64", "s", "When the first began, since the program's start."),
    Column("seconds", "float64", "s", "From the first of them to the last."),
    Column("first_bytes", "int64", "B", "Median of the first tenth of them; to 1 MiB."),
    Column("last_bytes", "int64", "B", "Median of the last tenth; to 1 MiB."),
    Column("slope_bytes_per_second", "float64", "B/s", "Theil and Sen's; missing of too few."),
    Column("slope_low", "float64", "B/s", "Lower end of its 95 % interval, rounding included."),
    Column("slope_high", "float64", "B/s", "Upper end of its 95 % interval, rounding included."),
    Column("grown_bytes", "float64", "B", "What the slope makes of the time looked at."),
    Column("shape", "str", "", "How it moves; one of `shapes.SHAPES`; empty of too few."),
    Column("goes_on", "boolean", "", "Whether it moves so to the end; missing of too few."),
)


@dataclass(frozen=True)
class LiveHeap:
    """The live heap of one run, from where it first reached its median; see `LIVE_HEAP`."""

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
        """What the slope makes of the time that was looked at."""
        if self.slope_bytes_per_second is None:
            return None
        return self.slope_bytes_per_second * self.seconds


def live_heaps(cycles: Cycles) -> tuple[LiveHeap, ...]:
    """The growth of the live heap in each run of a log; a long one in groups (`steps.grouped`)."""
    return tuple(map(_live_heap, filled_runs(cycles)))


def _live_heap(run: FilledRun) -> LiveHeap:
    live, at = run.live, run.at
    tenth = max(1, len(live) // 10)
    rise = None
    if len(np.unique(at)) >= FEWEST_CYCLES:  # each size is floored to 1 MiB
        rise = Level("log", at, live, np.full(len(at), ROUNDING_BYTES / 2)).rise
    return LiveHeap(
        run=run.run,
        cycles=run.cycles,
        begin_seconds=float(at[0]),
        seconds=float(at[-1] - at[0]),
        first_bytes=int(np.median(live[:tenth])),
        last_bytes=int(np.median(live[-tenth:])),
        slope_bytes_per_second=None if rise is None else rise.slope,
        slope_low=None if rise is None else rise.low,
        slope_high=None if rise is None else rise.high,
        shape="" if rise is None else rise.shape,
        goes_on=None if rise is None else rise.goes_on,
    )
