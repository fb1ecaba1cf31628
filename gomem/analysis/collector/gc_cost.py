"""What does the collector cost, and how fast does the program allocate?"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import (
    MARKING,
    NANOSECOND_DIGITS,
    ROUNDING_BYTES,
    STOPS,
    available_seconds,
    gc_steps,
)
from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    from collections.abc import Mapping

STEP_OF_GROWTH = 1.25  # less than GOGC=100 lets the heap of a start-up grow each time
_STW = "How long the world stood still for a collection, both stops together:"
_INTERVAL = "From the start of one collection to the start of the next:"
COSTS = (
    Column("cycles", "Int64", "count", "Collections."),
    Column("runs", "Int64", "count", "Processes they belong to."),
    Column("forced", "Int64", "count", "Of the collections, asked for by the program."),
    Column("periodic", "Int64", "count", "Of them, because there was none for two minutes."),
    Column("seconds", "float64", "s", "From each run's first collection to its last, summed."),
    Column("stw_n", "Int64", "count", "Collections whose stops are known."),
    Column("stw_p50_seconds", "float64", "s", f"{_STW} the median."),
    Column("stw_p90_seconds", "float64", "s", f"{_STW} nine in ten are at most this."),
    Column("stw_p99_seconds", "float64", "s", f"{_STW} 99 in 100 are at most this."),
    Column("stw_max_seconds", "float64", "s", f"{_STW} the longest."),
    Column("longest_stop_seconds", "float64", "s", "The longest single stop."),
    Column("interval_n", "Int64", "count", "Collections that follow one whose line is there."),
    Column("interval_p50_seconds", "float64", "s", f"{_INTERVAL} the median."),
    Column("interval_p90_seconds", "float64", "s", f"{_INTERVAL} nine in ten are at most this."),
    Column("interval_p99_seconds", "float64", "s", f"{_INTERVAL} 99 in 100 are at most this."),
    Column("interval_max_seconds", "float64", "s", f"{_INTERVAL} the longest."),
    Column("available_cpu_seconds", "float64", "s", "CPU that GOMAXPROCS allowed meanwhile."),
    Column("gc_cpu_fraction", "float64", "fraction", "CPU that collections took, at most."),
    Column("marking_cpu_fraction", "float64", "fraction", "CPU that marking took, at least."),
    Column("steady_cycles", "Int64", "count", "Collections that no growth of the heap explains."),
    Column("steady_marking_cpu_seconds", "float64", "s", "CPU that marking took in them."),
    Column("assist_fraction", "float64", "fraction", "Of marking, what assists did."),
    Column("allocation_rate_bytes_per_second", "float64", "B/s", "What the program allocated."),
    Column("allocation_rate_low_bytes_per_second", "float64", "B/s", "The least it can be."),
    Column("allocation_rate_high_bytes_per_second", "float64", "B/s", "The most it can be."),
    Column("heap_live_first_bytes", "Int64", "B", "Marked by the first collection; to 1 MiB."),
    Column("heap_live_last_bytes", "Int64", "B", "Marked by the last one; to 1 MiB."),
    Column("heap_peak_bytes", "Int64", "B", "Largest heap that any line shows; to 1 MiB."),
    Column("heap_goal_bytes", "Int64", "B", "Goal of the last collection; missing if none."),
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
    def of(cls, sample: np.ndarray) -> Quantiles:
        """Quantiles of the known values of a sample."""
        sample = sample[~np.isnan(sample)]
        if not len(sample):
            return cls(0, None, None, None, None)
        low, middle, high = np.quantile(sample, (0.5, 0.9, 0.99), method="inverted_cdf")
        return cls(len(sample), float(low), float(middle), float(high), float(sample.max()))


@dataclass(frozen=True)
class Rate:
    """A rate with the bounds that the rounding of what it was made from leaves."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class GcCost:
    """What the collector cost over a log.

    Attributes:
        cycles: Collections.
        runs: Processes they belong to.
        forced: Of the collections, asked for by the program.
        periodic: Of them, because there was none for two minutes.
        seconds: Time from each run's first collection to its last, summed.
        stw: Time that the world stood still for a collection, both stops together, as PauseNs
            counts it; to two digits, cut.
        longest_stop_seconds: The longest single stop.
        interval: Time from the start of one collection to the start of the next.
        available_cpu_seconds: CPU that GOMAXPROCS allowed in `seconds`.
        gc_cpu_fraction: CPU that collections took, idle marking left out, of all that GOMAXPROCS
            allowed in `seconds`. With stops as they are printed, so at most this: see
            `steps.STOP_CPU`.
        marking_cpu_fraction: Of it, what marking took: at least this.
        steady_cycles: Collections but those that found the heap grown by `STEP_OF_GROWTH` since
            the last such one: a start-up has no others.
        steady_marking_cpu_seconds: CPU that marking took in them.
        assist_fraction: The part of marking that allocating goroutines had to do.
        allocation_rate: Bytes a second, summed over the collections that follow one another.
        heap_live_first_bytes: Marked by the first collection; to 1 MiB.
        heap_live_last_bytes: Marked by the last one; to 1 MiB.
        heap_peak_bytes: Largest heap that any log line shows; to 1 MiB.
        heap_goal_bytes: Goal of the last collection; None if it had none.
    """

    cycles: int
    runs: int
    forced: int
    periodic: int
    seconds: float
    stw: Quantiles
    longest_stop_seconds: float | None
    interval: Quantiles
    available_cpu_seconds: float
    gc_cpu_fraction: float | None
    marking_cpu_fraction: float | None
    steady_cycles: int
    steady_marking_cpu_seconds: float
    assist_fraction: float | None
    allocation_rate: Rate
    heap_live_first_bytes: int | None
    heap_live_last_bytes: int | None
    heap_peak_bytes: int | None
    heap_goal_bytes: int | None

    @property
    def values(self) -> dict[str, int | float | None]:
        """Every number under a name of its own, with its unit: `stw_p99_seconds`."""
        return dict(_flat(asdict(self)))

    @property
    def table(self) -> pd.DataFrame:
        """The answer as one row of base units, to stack with those of other captures."""
        return build({name: [value] for name, value in self.values.items()}, COSTS)


def cost_of_collection(cycles: pd.DataFrame) -> GcCost:
    """Sum up the collections of a log.

    The share of CPU comes from each collection's own CPU times, never from the log's percentage:
    that one is since the program's start and a whole number. It takes the time from a run's first
    collection to its last, and so leaves out the last one's own CPU.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them.

    Returns:
        The costs. What too few collections leave open is None.
    """
    steps = gc_steps(cycles)
    stops = cycles[list(STOPS)].to_numpy(float)
    heaps = cycles[["heap_at_start_bytes", "heap_at_mark_end_bytes"]].max().max()
    steady = _steady(cycles)
    return GcCost(
        cycles=len(cycles),
        runs=int(cycles["run"].nunique()),
        forced=int(cycles["forced"].sum()),
        periodic=int(cycles["periodic"].sum()),
        seconds=round(float(steps["seconds"].sum()), NANOSECOND_DIGITS),
        stw=Quantiles.of(stops.sum(axis=1).round(NANOSECOND_DIGITS)),
        longest_stop_seconds=float(np.nanmax(stops)) if len(cycles) else None,
        interval=Quantiles.of(steps.loc[steps["follows"], "seconds"].to_numpy(float)),
        available_cpu_seconds=float(available_seconds(steps).sum()),
        gc_cpu_fraction=_cpu_fraction(steps, "cpu_seconds"),
        marking_cpu_fraction=_cpu_fraction(steps, "marking_cpu_seconds"),
        steady_cycles=int(steady.sum()),
        steady_marking_cpu_seconds=float(cycles.loc[steady, list(MARKING)].sum().sum()),
        assist_fraction=_assist_fraction(cycles),
        allocation_rate=_allocation_rate(steps[steps["follows"]]),
        heap_live_first_bytes=_at(cycles["heap_live_bytes"], 0),
        heap_live_last_bytes=_at(cycles["heap_live_bytes"], -1),
        heap_peak_bytes=None if pd.isna(heaps) else int(heaps),
        heap_goal_bytes=_at(cycles["heap_goal_bytes"], -1),
    )


def _steady(cycles: pd.DataFrame) -> pd.Series:
    """Which collections found no heap that had grown by a step since the last that did."""
    live = cycles["heap_live_bytes"].astype(float).clip(lower=ROUNDING_BYTES)
    peaks = live.groupby(cycles["run"], sort=False).cummax()
    steps = np.floor(np.log(peaks) / math.log(STEP_OF_GROWTH))
    before = steps.groupby(cycles["run"], sort=False).shift(1)
    return steps.eq(before)


def _cpu_fraction(steps: pd.DataFrame, kind: str) -> float | None:
    available = available_seconds(steps)
    spent = float(steps[kind].where(available.notna()).sum())
    return spent / float(available.sum()) if available.sum() > 0 else None


def _assist_fraction(cycles: pd.DataFrame) -> float | None:
    assist = float(cycles["cpu_assist_seconds"].sum())
    marking = assist + float(cycles["cpu_background_seconds"].sum())
    return assist / marking if marking > 0 else None


def _allocation_rate(steps: pd.DataFrame) -> Rate:
    """Allocated from one start to the next: what the heap grew by, and what was freed between.

    Each size is floored to 1 MiB. So what one collection freed is known to 1 MiB either way and is
    not negative; what the heap grew by adds up over collections that follow one another, so that
    only the first and the last size of such a row count.
    """
    steps = steps.dropna(subset=["heap_grown_bytes", "heap_freed_bytes"])
    seconds = float(steps["seconds"].sum())
    if not seconds > 0:
        return Rate(None, None, None)
    freed = steps["heap_freed_bytes"].to_numpy(np.int64)
    grown = int(steps["heap_grown_bytes"].sum())
    rows = int((np.diff(steps.index) != 1).sum()) + 1
    least = np.where(freed < 0, freed - ROUNDING_BYTES, np.maximum(freed - ROUNDING_BYTES, 0))
    low = int(least.sum()) + grown - rows * ROUNDING_BYTES
    high = int(freed.sum()) + len(freed) * ROUNDING_BYTES + grown + rows * ROUNDING_BYTES
    value = int(freed.sum()) + grown
    return Rate(max(value, 0) / seconds, max(low, 0) / seconds, high / seconds)


def _at(column: pd.Series, row: int) -> int | None:
    if not len(column) or pd.isna(column.iloc[row]):
        return None
    return int(column.iloc[row])


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
