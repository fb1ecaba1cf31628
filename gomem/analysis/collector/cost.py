"""How much does GC cost, and how fast does the program allocate?"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import (
    GC_CPU,
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
# of the time: the CPU of collections that are missing from the log is not counted
MOSTLY_GAPS = 0.5
# with GOGC=100, the heap of a starting program grows by at least this much each time
STEP_OF_GROWTH = 1.25
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
        GC_CPU,
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
    """Quantiles of a sample; None if the sample is empty.

    Each is the smallest value with that fraction of the sample at or below it.
    """

    n: int
    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None

    @classmethod
    def of(cls, sample: Tally) -> Quantiles:
        """Compute the quantiles of a sample."""
        low, middle, high = (sample.quantile(share) for share in (0.5, 0.9, 0.99))
        return cls(len(sample), low, middle, high, sample.max)


@dataclass(frozen=True)
class Rate:
    """A rate, with the bounds that follow from the rounding of sizes in the log."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class GcCost:
    """The cost of GC over a log."""

    cycles: int  # collections
    runs: int  # processes in the log
    forced: int  # collections that the program forced
    periodic: int  # collections of the two-minute timer
    seconds: float  # time from each run's first collection to its last, summed
    # STW time per collection, both pauses together, as in PauseNs; truncated to two digits.
    stw: Quantiles
    longest_stop_seconds: float | None  # the longest single pause
    interval: Quantiles  # time from the start of one collection to the start of the next
    available_cpu_seconds: float  # CPU that GOMAXPROCS allowed in `seconds`
    # CPU that collections took, without idle marking, of what GOMAXPROCS allowed in `seconds`. An
    # upper bound, because pauses count as printed: see `steps.STOP_CPU`. None if some collections
    # are missing from the log for most of the time.
    gc_cpu_fraction: float | None
    marking_cpu_fraction: float | None  # the part for marking: a lower bound
    # Collections other than those of a growing heap: those that found the heap larger by
    # `STEP_OF_GROWTH` than the last such one. A start-up has no others.
    steady_cycles: int
    steady_marking_cpu_seconds: float  # CPU of marking in these
    assist_fraction: float | None  # the part of marking done by assists of allocating goroutines
    allocation_rate: Rate  # bytes per second, over consecutive collections
    heap_live_first_bytes: int | None  # marked by the first collection; to 1 MiB
    heap_live_last_bytes: int | None  # marked by the last collection; to 1 MiB
    heap_peak_bytes: int | None  # the largest heap in any log line; to 1 MiB
    heap_goal_bytes: int | None  # goal of the last collection; None without one

    @property
    def values(self) -> dict[str, int | float | None]:
        """Every number by a name that ends in its unit: `stw_p99_seconds`."""
        return dict(_flat(asdict(self)))

    @property
    def table(self) -> pd.DataFrame:
        """The numbers as a row in base units; rows of several captures can be concatenated."""
        return build({name: [value] for name, value in self.values.items()}, COSTS)


def cost_of_collection(cycles: Cycles) -> GcCost:
    """Sum up the collections of a log; a value that needs more collections is None.

    The CPU fraction is computed from each collection's own CPU times. The log's percentage is not
    used: it is cumulative since the program's start, and a whole number. The time is from a run's
    first collection to its last, so the CPU of a run's last collection is left out.
    """
    so_far = CostSoFar()
    for piece, before in overlapping(cycles, COLUMNS):
        so_far.add(piece, before)
    return so_far.cost


def cpu_fractions(cycles: Cycles) -> dict[int, float]:
    """Return an upper bound of the GC's share of the available CPU, for each run of a log.

    A run is left out if its share is unknown: see `GcCost.gc_cpu_fraction`.
    """
    sums = pd.DataFrame()
    for piece, _ in overlapping(cycles, STEP_COLUMNS):
        steps = gc_steps(piece)
        sums = sums.add(_spent(steps).groupby(steps["run"]).sum(), fill_value=0.0)
    if sums.empty:
        return {}
    known = sums[_has_shares(sums)]
    shares = known["cpu_seconds"] / known["available"]
    return {int(run): float(share) for run, share in shares.items()}


def _spent(steps: pd.DataFrame) -> pd.DataFrame:
    """Return time and CPU of each step; spent CPU is missing if the available CPU is unknown."""
    available = available_seconds(steps)
    spent = {
        name: steps[name].where(available.notna())
        for name in ("cpu_seconds", "marking_cpu_seconds")
    }
    gaps = steps["seconds"].where(~steps["follows"])
    return pd.DataFrame(
        {"seconds": steps["seconds"], "available": available, "gaps": gaps, **spent}
    )


def _has_shares(sums: Any) -> Any:
    """Return whether sums of `_spent` give shares of CPU, for a log or for each of its runs."""
    return (sums["available"] > 0) & (sums["gaps"] <= MOSTLY_GAPS * sums["seconds"])


@dataclass
class Growth:
    """Counts the collections of a steady heap, which has not grown by another `STEP_OF_GROWTH`."""

    steady: int = 0
    marking: float = 0.0
    _run: int | None = None
    _peak: float = 0.0

    def add(self, cycles: pd.DataFrame) -> None:
        """Add the next collections."""
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
    """The bytes allocated between collections: the growth of the heap, plus what was freed.

    Each size in the log is rounded down to 1 MiB. So the bytes freed by one collection are known to
    ±1 MiB, and are not negative. Over consecutive collections, the growth adds up, so only the
    first and the last size matter.
    """

    seconds: float = 0.0
    grown: int = 0
    freed: int = 0
    least_freed: int = 0
    steps: int = 0
    rows: int = 0
    _last: int | None = None

    def add(self, steps: pd.DataFrame) -> None:
        """Add the next steps; the index is the number of the collection at a step's end."""
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
        """Bytes allocated per second, with bounds that follow from the rounding."""
        if not self.seconds > 0:
            return Rate(None, None, None)
        low = self.least_freed + self.grown - self.rows * ROUNDING_BYTES
        high = self.freed + self.grown + (self.steps + self.rows) * ROUNDING_BYTES
        value = self.freed + self.grown
        return Rate(*(max(bound, 0) / self.seconds for bound in (value, low, high)))


@dataclass
class CostSoFar:
    """Reads a log piece by piece; `cost` is the cost of the collections read so far."""

    _sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _runs: set[int] = field(default_factory=set)
    _stw: Tally = field(default_factory=Tally)
    _interval: Tally = field(default_factory=Tally)
    _allocated: Allocated = field(default_factory=Allocated)
    _growth: Growth = field(default_factory=Growth)
    _longest_stop: float | None = None
    _heaps: dict[str, int | None] = field(default_factory=dict)

    def add(self, piece: pd.DataFrame, before: int = 0) -> None:
        """Add a piece; `before` is 1 if its first collection was already in the previous piece."""
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
        for name, each in _spent(steps).items():
            self._sums[str(name)] += float(each.sum())
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
        """The cost of the collections read so far."""
        sums = self._sums
        marking = sums["assist"] + sums["background"]
        available = float(sums["available"])
        has_shares = _has_shares(sums)
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
    """Flatten an answer to names such as `stw_p99_seconds`."""
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
