"""What would another GOGC or GOMEMLIMIT do, and which fit a container with a given limit?

One log gives the allocation rate, the share of the heap that survives, and the cost of marking. The
load is replayed under each setting of a grid (`replay`), with the pacer's own formulas (`pacer`).
Each number has an interval, valid for a run as long as the log. The interval combines:

- the spread within the log: the load is cut into stretches, and their means give 95 % intervals for
  the allocation rate, the live heap and the cost of marking; the replay is repeated with each
  end of an interval;
- the starting point of the replay, which matters for a bursty load;
- for the peak heap, the distance between the log's p90 and its peak;
- the uncertainty about non-heap memory, if a limit includes it;
- the error of the back-test: the first half of the log predicts the second half, and the whole log
  predicts itself;
- the variation between two runs of one program: 8 % in collections per second, 10 % in CPU.

For a container, GOMEMLIMIT is the container's limit minus non-Go memory minus a margin. The runtime
keeps to it by collecting as often as necessary. GOMEMLIMIT is a safety net for a heap larger than
the one in the log. GOGC is chosen so that the logged load stays below GOMEMLIMIT: it is the largest
GOGC at which the upper bound of Go's total memory is below the limit.

Two sizes of the live heap show how much it can grow. At the smaller size, the goal from GOGC
reaches the goal from the limit; above that size, the limit sets the pace and collections become
more frequent. At the larger size, the live heap itself reaches the limit. Then there is no headroom
left, GC takes up to half of the CPU, and the heap exceeds the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.limits import LIMIT_STEPS
from gomem.analysis.scavenger.goals import RETAINED_PER_GOAL
from gomem.analysis.what_if.backtest import Backtest, Made, backtest
from gomem.analysis.what_if.grid import GRID, Beside, Grid, Known, MemoryNow, Spread
from gomem.analysis.what_if.pacer import Era, era_of, limit_goal
from gomem.analysis.what_if.replay import Load
from gomem.analysis.what_if.watched import OFF, Present, present_of, watched
from gomem.inputs.answer import Answer
from gomem.inputs.schema import build_rows, empty
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.analysis.collector.steps import Cycles
    from gomem.releases import GoVersion

GOGC_GRID = (50, 100, 200, 400, OFF)
MAX_CELLS = 200
NO_ALLOCATION = "the log shows no allocation between collections"
SAME_LOAD = (
    "assumes a fixed load; a CPU-bound program would use the CPU that it saves for more work"
)
SAME_MARKING = (
    "a GC takes as long and costs as much as in the log: that depends on the live heap, not on GOGC"
)
NO_GOGC = (
    "the log's heap goals fit no single GOGC (it changed, a memory limit set them, or there are "
    "too few), so today's setting is not in the grid and the back-test is without it"
)
MISFIT = (
    "the replay does not fit its own log, in which the load or the live heap changed: it is off by "
    "{}; log a longer run with a steady load"
)
NO_LIMIT = "Go before 1.19 has no memory limit"
MARGIN = 0.10  # Go's GC guide leaves 5 to 10 % for memory that the runtime does not know about
GOGC_TRIED = (25, 50, 75, 100, 150, 200, 300, 400, 600, 800)


@dataclass(frozen=True, repr=False)
class WhatIf(Answer):
    """The predicted effect of other settings."""

    present: Present  # what the log shows
    grid: pd.DataFrame  # a row per setting; see `GRID`
    backtest: Backtest  # how well the log's own later part was predicted
    assumptions: tuple[str, ...]  # the assumptions of the answer, in sentences
    refused: str | None = None  # why there is no answer; None if there is one
    advice: PodAdvice | None = None  # settings for the container, if its size is known

    def cell(self, gogc: int, memory_limit_bytes: float | None = None) -> pd.Series | None:
        """Return the row for a setting; None if the grid does not have it."""
        limits = self.grid["memory_limit_bytes"]
        no_limit = memory_limit_bytes is None
        same = limits.isna() if no_limit else limits.eq(memory_limit_bytes).fillna(value=False)
        rows = self.grid[(self.grid["gogc"] == gogc) & same]
        return None if rows.empty else rows.iloc[0]


@dataclass(frozen=True)
class Asked:
    """The requested settings."""

    gogc: Sequence[int] = GOGC_GRID  # in per cent; -1 is off
    # GOMEMLIMIT in bytes; None for no limit, and for a grid that suits the log.
    limits: Sequence[float] | None = None
    container_bytes: int | None = None  # the container's memory; None if unknown
    container_source: str = "--container"  # the source of the container's size
    steps: pd.DataFrame | None = None  # the arithmetic of its GOMEMLIMIT; see `LIMIT_STEPS`

    @property
    def advised_steps(self) -> pd.DataFrame | None:
        """The arithmetic of the recommended GOMEMLIMIT; None without a container."""
        if self.container_bytes is None or self.steps is not None:
            return self.steps
        return limit_steps(self.container_bytes, self.container_source)

    @property
    def advised_limit(self) -> int | None:
        """The recommended GOMEMLIMIT in bytes.

        None without a container, or if nothing is left for Go.
        """
        steps = self.advised_steps
        left = 0 if steps is None else int(steps["bytes"].sum())
        return left if left > 0 else None


def what_if(
    cycles: Cycles,
    version: GoVersion,
    *,
    gogc_fraction: float | None = None,
    memory_limit_bytes: float | None = None,
    memory: MemoryNow | None = None,
    asked: Asked | None = None,
) -> WhatIf:
    """Replay the load of a log under the requested settings.

    `gogc_fraction` (1.0 for 100) and `memory_limit_bytes` are the settings of the log: infinite if
    off or unset, None if unknown.
    """
    asked = asked or Asked()
    part = watched(cycles)
    era, of_era = era_of(version, part.cycles)
    present = present_of(part, gogc_fraction, memory_limit_bytes)
    load = None if part.refused is not None else Load.of(part.cycles, era)
    if load is None or not load.allocated_bytes > 0:
        refused = part.refused or NO_ALLOCATION
        return WhatIf(present, empty(GRID), Backtest(), part.notes, refused)
    beside = Beside.of(memory, load, era)
    tested = Backtest()
    if gogc_fraction is not None:
        limit = present.limit_bytes
        made = Made(gogc_fraction, limit, float(beside.of_limit(limit)), era)
        tested = backtest(part.cycles, made)
    if not tested.fits:
        return WhatIf(present, empty(GRID), tested, part.notes, MISFIT.format(tested.error_words))
    peaks = part.cycles["heap_at_mark_end_bytes"].to_numpy(float)
    known = Known(load, era, present, beside, tested, Spread.of(load, peaks))
    grid = Grid(known, settings_of(present, era, asked), asked.container_bytes).table
    no_gogc = NO_GOGC if present.gogc is None else ""
    no_limit = "" if era.knows_limit else NO_LIMIT
    assumed = (*part.notes, SAME_LOAD, SAME_MARKING, of_era, no_gogc, no_limit, beside.words)
    said = tuple(filter(None, assumed))
    return WhatIf(present, grid, tested, said, None, _advice(known, asked))


def _advice(known: Known, asked: Asked) -> PodAdvice | None:
    """Return the settings for the container; None if its size is unknown."""
    steps, limit = asked.advised_steps, asked.advised_limit
    if asked.container_bytes is None or steps is None:
        return None
    live = known.present.live_bytes or 0.0
    gogc, held, expected, decides, met = None, None, None, None, None
    if limit is not None:
        set_to = float(limit) if known.era.knows_limit else math.inf
        cells = [(percent, at) for at in (math.inf, set_to) for percent in GOGC_TRIED]
        grid = Grid(known, cells, asked.container_bytes).table
        beside = float(known.beside.of_limit(float(limit)))
        gogc = fitting_gogc(grid.head(len(GOGC_TRIED)), limit, beside)
        goal = limit_goal(np.zeros(1), limit, beside, max(known.era, Era.LIMIT))
        met = float(goal[0])
        if gogc is not None:
            expected = grid.iloc[len(GOGC_TRIED) + GOGC_TRIED.index(gogc)]
            alone = grid.iloc[GOGC_TRIED.index(gogc)]
            held = int(alone["retained_bytes_high"] + beside)
            scanned = float(np.median(known.load.scanned)) if known.era.counts_stacks else 0.0
            decides = max((met - scanned * gogc / 100) / (1 + gogc / 100), 0.0)
    return PodAdvice(
        container_bytes=asked.container_bytes,
        container_source=asked.container_source,
        gomemlimit_bytes=limit if known.era.knows_limit else None,
        gogc=gogc,
        steps=steps,
        held_bytes=held,
        live_bytes=live,
        limit_decides_bytes=decides,
        met_bytes=met,
        expected=expected,
    )


def settings_of(present: Present, era: Era, asked: Asked) -> list[tuple[int, float]]:
    """Return the settings of the grid: the requested settings, and those of the log."""
    limits = list(asked.limits) if asked.limits is not None else _usual_limits(present, asked)
    if not era.knows_limit:
        limits = [math.inf]
    gogc = sorted({*asked.gogc} - {OFF}) + [OFF] * (OFF in asked.gogc)
    cells = [(percent, limit) for limit in dict.fromkeys(limits) for percent in dict.fromkeys(gogc)]
    if present.gogc is not None and (present.gogc, present.limit_bytes) not in cells:
        cells.append((present.gogc, present.limit_bytes))
    return cells[:MAX_CELLS]


def _usual_limits(present: Present, asked: Asked) -> list[float]:
    """Return limits to try: none; the present one; the container's, or about the heap's size."""
    limits = [math.inf]
    if present.memory_limit_bytes is not None:
        limits.append(present.memory_limit_bytes)
    if asked.advised_limit is not None:
        limits.append(float(asked.advised_limit))
    elif present.peak_heap_bytes is not None:
        step = 16 * MIB
        limits.append(float(math.ceil(present.peak_heap_bytes * RETAINED_PER_GOAL / step) * step))
    return limits


@dataclass(frozen=True)
class PodAdvice:
    """A GOMEMLIMIT and a GOGC for a container.

    Attributes:
        container_bytes: The memory limit of the container.
        container_source: The source of that limit.
        gomemlimit_bytes: The GOMEMLIMIT, in whole MiB; None if nothing is left for Go.
        gogc: GOGC in per cent; None if no GOGC in the grid leaves room.
        steps: The arithmetic of GOMEMLIMIT, see `LIMIT_STEPS`; adds up to `gomemlimit_bytes`.
        held_bytes: Memory that Go would retain with these settings: upper end of the interval.
        live_bytes: The live heap today.
        limit_decides_bytes: The live heap above which the limit sets the goal, not GOGC.
        met_bytes: The live heap that would leave no headroom below the limit.
        expected: The row of the grid for these settings.
    """

    container_bytes: int
    container_source: str
    gomemlimit_bytes: int | None
    gogc: int | None
    steps: pd.DataFrame
    held_bytes: int | None
    live_bytes: float
    limit_decides_bytes: float | None
    met_bytes: float | None
    expected: pd.Series | None


def limit_steps(container_bytes: int, source: str) -> pd.DataFrame:
    """Return the arithmetic of GOMEMLIMIT if the container's other memory is unknown."""
    margin = -round(MARGIN * container_bytes)
    left = container_bytes + margin
    rounded = left // MIB * MIB - left
    rows = [
        ("limit", container_bytes, source),
        ("margin for what is not Go's", margin, "10 %, as no file here says how much that is"),
        ("rounding down to a whole MiB", rounded, ""),
    ]
    return build_rows(rows, LIMIT_STEPS)


def fitting_gogc(tried: pd.DataFrame, gomemlimit_bytes: int, beside_bytes: float) -> int | None:
    """Return the largest GOGC in a grid, in per cent, with which Go's memory fits a limit.

    None if no GOGC fits.
    """
    held = tried["retained_bytes_high"].astype(float) + beside_bytes
    fits = tried.loc[held <= gomemlimit_bytes, "gogc"]
    return None if fits.empty else int(fits.max())
