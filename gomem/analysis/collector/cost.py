"""How much does GC cost, and how fast does the program allocate?"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import (
    MARKING,
    NANOSECOND_DIGITS,
    ROUNDING_BYTES,
    STEP_COLUMNS,
    STOPS,
    Cycles,
    available_seconds,
    gc_steps,
    overlapping,
)
from gomem.inputs.schema import Column, build
from gomem.statistics.quantiles import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = (*STEP_COLUMNS, *STOPS, "forced", "periodic", "heap_goal_bytes")
MOSTLY_GAPS = 0.5  # of the time: the CPU of collections that are not in the log is not in the share
STEP_OF_GROWTH = 1.25  # less than GOGC=100 lets the heap of a start-up grow each time
_STW = "Pause of a GC, both stops together:"
_INTERVAL = "From the start of one GC to the start of the next:"
COSTS = (
    Column("cycles", "Int64", "count", "Collections."),
    Column("runs", "Int64", "count", "Processes they belong to."),
    Column("forced", "Int64", "count", "GCs forced by the program."),
    Column("periodic", "Int64", "count", "GCs run because there was none for two minutes."),
    Column("seconds", "float64", "s", "From each run's first collection to its last, summed."),
    Column("stw_n", "Int64", "count", "GCs with known pauses."),
    Column("stw_p50_seconds", "float64", "s", f"{_STW} the median."),
    Column("stw_p90_seconds", "float64", "s", f"{_STW} nine in ten are at most this."),
    Column("stw_p99_seconds", "float64", "s", f"{_STW} 99 in 100 are at most this."),
    Column("stw_max_seconds", "float64", "s", f"{_STW} the longest."),
    Column("longest_stop_seconds", "float64", "s", "The longest single stop."),
    Column("interval_n", "Int64", "count", "GCs whose previous GC is in the log."),
    Column("interval_p50_seconds", "float64", "s", f"{_INTERVAL} the median."),
    Column("interval_p90_seconds", "float64", "s", f"{_INTERVAL} nine in ten are at most this."),
    Column("interval_p99_seconds", "float64", "s", f"{_INTERVAL} 99 in 100 are at most this."),
    Column("interval_max_seconds", "float64", "s", f"{_INTERVAL} the longest."),
    Column("available_cpu_seconds", "float64", "s", "CPU that GOMAXPROCS allowed meanwhile."),
    Column(
        "gc_cpu_fraction",
        "float64",
        "fraction",
        "GC's share of the available CPU over the log, at most.",
    ),
    Column("marking_cpu_fraction", "float64", "fraction", "CPU that marking took, at least."),
    Column("steady_cycles", "Int64", "count", "GCs that heap growth does not explain."),
    Column("steady_marking_cpu_seconds", "float64", "s", "CPU that marking took in them."),
    Column("assist_fraction", "float64", "fraction", "Of marking, what assists did."),
    Column("allocation_rate_bytes_per_second", "float64", "B/s", "What the program allocated."),
    Column("allocation_rate_low_bytes_per_second", "float64", "B/s", "The least it can be."),
    Column("allocation_rate_high_bytes_per_second", "float64", "B/s", "The most it can be."),
    Column("heap_live_first_bytes", "Int64", "B", "Marked by the first collection; to 1 MiB."),
    Column("heap_live_last_bytes", "Int64", "B", "Live heap of the last GC, to 1 MiB."),
    Column("heap_peak_bytes", "Int64", "B", "Largest heap that any line shows; to 1 MiB."),
    Column("heap_goal_bytes", "Int64", "B", "Heap goal of the last GC; missing if none."),
)


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of a sample, each one of its values: the smallest that so many do not exceed.

    All are None where the sample is empty.
    """

    n: int
    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None

    @classmethod
    def of(cls, sample: Tally) -> Quantiles:
        """Quantiles of a sample."""
        low, middle, high = (sample.quantile(share) for share in (0.5, 0.9, 0.99))
        return cls(len(sample), low, middle, high, sample.max)


@dataclass(frozen=True)
class Rate:
    """A rate with the bounds that the rounding of what it was made from leaves."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class GcCost:
    """What the collector cost over a log."""

    cycles: int  # collections
    runs: int  # processes they belong to
    forced: int  # of the collections, asked for by the program
    periodic: int  # of them, because there was none for two minutes
    seconds: float  # time from each run's first collection to its last, summed
    # Time that the world stood still for a collection, both stops together, as PauseNs counts it;
    # to two digits, cut.
    stw: Quantiles
    longest_stop_seconds: float | None  # the longest single stop
    interval: Quantiles  # time from the start of one collection to the start of the next
    available_cpu_seconds: float  # CPU that GOMAXPROCS allowed in `seconds`
    # CPU that collections took, idle marking left out, of all that GOMAXPROCS allowed in `seconds`.
    # With stops as they are printed, so at most this: see `steps.STOP_CPU`. None where most of the
    # time lies between collections of which some are not in the log.
    gc_cpu_fraction: float | None
    marking_cpu_fraction: float | None  # of it, what marking took: at least this
    # Collections but those that found the heap grown by `STEP_OF_GROWTH` since the last such one: a
    # start-up has no others.
    steady_cycles: int
    steady_marking_cpu_seconds: float  # CPU that marking took in them
    assist_fraction: float | None  # the part of marking that allocating goroutines had to do
    allocation_rate: Rate  # bytes a second, summed over the collections that follow one another
    heap_live_first_bytes: int | None  # marked by the first collection; to 1 MiB
    heap_live_last_bytes: int | None  # marked by the last one; to 1 MiB
    heap_peak_bytes: int | None  # largest heap that any log line shows; to 1 MiB
    heap_goal_bytes: int | None  # goal of the last collection; None if it had none

    @property
    def values(self) -> dict[str, int | float | None]:
        """Every number under a name of its own, with its unit: `stw_p99_seconds`."""
        return dict(_flat(asdict(self)))

    @property
    def table(self) -> pd.DataFrame:
        """The answer as one row of base units, to stack with those of other captures."""
        return build({name: [value] for name, value in self.values.items()}, COSTS)


def cost_of_collection(cycles: Cycles) -> GcCost:
    """Sum up the collections of a log; what too few of them leave open is None.

    The share of CPU comes from each collection's own CPU times, never from the log's percentage:
    that one is since the program's start and a whole number. It takes the time from a run's first
    collection to its last, and so leaves out the last one's own CPU.
    """
    so_far = CostSoFar()
    for piece, before in overlapping(cycles, COLUMNS):
        so_far.add(piece, before)
    return so_far.cost


@dataclass
class Growth:
    """Tells collections that found no heap grown by a step since the last that did."""

    steady: int = 0
    marking: float = 0.0
    _run: int | None = None
    _peak: float = 0.0

    def add(self, cycles: pd.DataFrame) -> None:
        """Take further collections."""
        if not len(cycles):
            return
        live = cycles["heap_live_bytes"].astype(float).clip(lower=ROUNDING_BYTES)
        run = cycles["run"]
        peaks = live.groupby(run, sort=False).cummax()
        goes_on = run.eq(self._run)
        peaks = peaks.where(~goes_on, np.maximum(peaks, self._peak))
        before = peaks.groupby(run, sort=False).shift(1)
        if goes_on.iloc[0]:
            before.iloc[0] = self._peak
        steady = _step(peaks).eq(_step(before))
        self.steady += int(steady.sum())
        self.marking += float(cycles.loc[steady, list(MARKING)].sum().sum())
        self._run = int(run.iloc[-1])
        self._peak = float(np.nanmax(peaks.where(run.eq(self._run)).fillna(0.0)))


def _step(peaks: pd.Series) -> pd.Series:
    with np.errstate(divide="ignore"):
        return np.floor(np.log(peaks) / math.log(STEP_OF_GROWTH))


@dataclass
class Allocated:
    """What was allocated from one start to the next: what the heap grew by, and what was freed.

    Each size is floored to 1 MiB. So what one collection freed is known to 1 MiB either way and is
    not negative; of collections that follow one another, growth adds up, so only the first and the
    last size count.
    """

    seconds: float = 0.0
    grown: int = 0
    freed: int = 0
    least_freed: int = 0
    steps: int = 0
    rows: int = 0
    _last: int | None = None

    def add(self, steps: pd.DataFrame) -> None:
        """Take further steps, each to a collection that follows, under its number in the log."""
        steps = steps.dropna(subset=["heap_grown_bytes", "heap_freed_bytes"])
        if not len(steps):
            return
        freed = steps["heap_freed_bytes"].to_numpy(np.int64)
        least = np.where(freed < 0, freed - ROUNDING_BYTES, np.maximum(freed - ROUNDING_BYTES, 0))
        first = steps.index[0] - 1 if self._last is None else self._last
        self.rows += int((np.diff(steps.index, prepend=first) != 1).sum()) + (self._last is None)
        self._last = int(steps.index[-1])
        self.seconds += float(steps["seconds"].sum())
        self.grown += int(steps["heap_grown_bytes"].sum())
        self.freed += int(freed.sum())
        self.least_freed += int(least.sum())
        self.steps += len(freed)

    @property
    def rate(self) -> Rate:
        """Bytes a second, and the bounds that rounding leaves."""
        if not self.seconds > 0:
            return Rate(None, None, None)
        low = self.least_freed + self.grown - self.rows * ROUNDING_BYTES
        high = self.freed + self.grown + (self.steps + self.rows) * ROUNDING_BYTES
        value = self.freed + self.grown
        return Rate(*(max(bound, 0) / self.seconds for bound in (value, low, high)))


@dataclass
class CostSoFar:
    """Takes a log piece by piece; `cost` is what its collections cost up to there."""

    _sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _runs: set[int] = field(default_factory=set)
    _stw: Tally = field(default_factory=Tally)
    _interval: Tally = field(default_factory=Tally)
    _allocated: Allocated = field(default_factory=Allocated)
    _growth: Growth = field(default_factory=Growth)
    _longest_stop: float | None = None
    _heaps: dict[str, int | None] = field(default_factory=dict)

    def add(self, piece: pd.DataFrame, before: int = 0) -> None:
        """Take further collections; `before` is 1 where the first is only what they follow."""
        self._add_steps(gc_steps(piece))
        cycles = piece.iloc[before:]
        self._runs |= set(pd.unique(cycles["run"]).tolist())
        self._sums["cycles"] += len(cycles)
        self._sums["forced"] += int(cycles["forced"].sum())
        self._sums["periodic"] += int(cycles["periodic"].sum())
        stops = cycles[list(STOPS)].to_numpy(float)
        self._stw.add(stops.sum(axis=1).round(NANOSECOND_DIGITS))
        if not np.isnan(stops).all():
            self._longest_stop = max(self._longest_stop or 0.0, float(np.nanmax(stops)))
        for name in ("assist", "background"):
            self._sums[name] += float(cycles[f"cpu_{name}_seconds"].sum())
        self._growth.add(cycles)
        self._add_heaps(cycles)

    def _add_steps(self, steps: pd.DataFrame) -> None:
        available = available_seconds(steps)
        self._sums["seconds"] += float(steps["seconds"].sum())
        self._sums["available"] += float(available.sum())
        self._sums["gaps"] += float(steps.loc[~steps["follows"], "seconds"].sum())
        for kind in ("cpu_seconds", "marking_cpu_seconds"):
            self._sums[kind] += float(steps[kind].where(available.notna()).sum())
        self._interval.add(steps.loc[steps["follows"], "seconds"].to_numpy(float))
        self._allocated.add(steps[steps["follows"]])

    def _add_heaps(self, cycles: pd.DataFrame) -> None:
        if not len(cycles):
            return
        self._heaps.setdefault("first", _at(cycles["heap_live_bytes"], 0))
        self._heaps["last"] = _at(cycles["heap_live_bytes"], -1)
        self._heaps["goal"] = _at(cycles["heap_goal_bytes"], -1)
        peak = cycles[["heap_at_start_bytes", "heap_at_mark_end_bytes"]].max().max()
        if not pd.isna(peak):
            self._heaps["peak"] = max(self._heaps.get("peak") or 0, int(peak))

    @property
    def cost(self) -> GcCost:
        """What the collections so far cost."""
        sums = self._sums
        marking = sums["assist"] + sums["background"]
        available = float(sums["available"])
        has_shares = available > 0 and sums["gaps"] <= MOSTLY_GAPS * sums["seconds"]
        return GcCost(
            cycles=int(sums["cycles"]),
            runs=len(self._runs),
            forced=int(sums["forced"]),
            periodic=int(sums["periodic"]),
            seconds=round(float(sums["seconds"]), NANOSECOND_DIGITS),
            stw=Quantiles.of(self._stw),
            longest_stop_seconds=self._longest_stop,
            interval=Quantiles.of(self._interval),
            available_cpu_seconds=available,
            gc_cpu_fraction=sums["cpu_seconds"] / available if has_shares else None,
            marking_cpu_fraction=sums["marking_cpu_seconds"] / available if has_shares else None,
            steady_cycles=self._growth.steady,
            steady_marking_cpu_seconds=self._growth.marking,
            assist_fraction=sums["assist"] / marking if marking > 0 else None,
            allocation_rate=self._allocated.rate,
            heap_live_first_bytes=self._heaps.get("first"),
            heap_live_last_bytes=self._heaps.get("last"),
            heap_peak_bytes=self._heaps.get("peak"),
            heap_goal_bytes=self._heaps.get("goal"),
        )


def _at(column: pd.Series, row: int) -> int | None:
    return None if pd.isna(column.iloc[row]) else int(column.iloc[row])


def _flat(answer: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Parts of an answer under names of their own: `stw_p99_seconds`."""
    units = {"stw": "_seconds", "interval": "_seconds", "allocation_rate": "_bytes_per_second"}
    cells: list[tuple[str, Any]] = []
    for name, value in answer.items():
        if not isinstance(value, dict):
            cells.append((name, value))
            continue
        for part, number in value.items():
            unit = "" if part == "n" else units[name]
            cells.append((name + unit if part == "value" else f"{name}_{part}{unit}", number))
    return cells
