"""What would happen under each of many settings? The load is replayed under all settings.

Each number has an interval, which combines all uncertainties, varied one at a time: see `what_if`.

How much memory other than heap objects counts towards a memory limit?
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import ROUNDING_BYTES
from gomem.analysis.scavenger.goals import RETAINED_PER_GOAL
from gomem.analysis.what_if.pacer import Era
from gomem.analysis.what_if.replay import Load, Setting, replay
from gomem.analysis.what_if.watched import OFF, Present
from gomem.inputs.schema import Column, build
from gomem.text import Bytes, Share, Words
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.what_if.backtest import Backtest

MAX_BYTES = float(1 << 62)
CYCLES_REPEAT = 0.08  # difference between two runs of one program, back to back
CPU_REPEATS = 0.10
LIMITER_FRACTION = 0.5  # of GOMAXPROCS: the CPU limiter of 1.19 allows no more for GC
MET = 0.5  # of the collections have no room, for live heap and limit to have met
MET_LOW = 1 / 3  # the log does not show what happens between two collections without room
OVERSHOOT = 0.1  # of the goal: beyond it, the pacer allows this much more
OFFSETS = (0.0, 0.25, 0.5, 0.75)
BOUND_BY = ("gogc", "limit", "live heap", "timer", "program")
UTILIZATION = "mutator_utilization_fraction"
MAX_STRETCHES = 10
# Student's t at 97.5 %, from one degree of freedom: loading SciPy for it takes half a second.
STUDENT = (12.706, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)
FULL_SPANS = 0.03  # of the heap at its peak, in free slots of spans
MAX_SLACK = 0.2  # of the heap; MemStats read right after sweeping show more


def _interval(name: str, dtype: str, unit: str, means: str) -> tuple[Column, ...]:
    return (
        Column(name, dtype, unit, means),
        Column(f"{name}_low", dtype, unit, "Lower end of its interval."),
        Column(f"{name}_high", dtype, unit, "Upper end of its interval."),
    )


GRID = (
    Column("gogc", "int64", "", "GOGC in per cent; -1 is off."),
    Column("memory_limit_bytes", "Int64", "B", "GOMEMLIMIT; missing for none."),
    Column("is_present", "bool", "", "Whether these are the settings that the log was made with."),
    Column("bound_by", "str", "", "What decides when the GC runs, one of `BOUND_BY`.", Words),
    *_interval("cycles_per_second", "float64", "Hz", "Collections a second."),
    *_interval("gc_cpu_cores", "float64", "ratio", "CPU of collecting, without idle marking."),
    *_interval(UTILIZATION, "float64", "fraction", "CPU left to the program, of all."),
    *_interval("goal_bytes", "Int64", "B", "The highest goal; missing if there is none."),
    *_interval("peak_heap_bytes", "Int64", "B", "The highest heap at the end of marking."),
    *_interval("retained_bytes", "Int64", "B", "Heap in use or kept: HeapSys less HeapReleased."),
    *_interval("rss_bytes", "Int64", "B", "RSS; missing where only a log is there."),
    Column("headroom_bytes", "Int64", "B", "What is left to the container at the upper end."),
)


METRICS = ("cycles_per_second", "gc_cpu_cores", "goal_bytes", "peak_heap_bytes")


@dataclass(frozen=True)
class Known:
    """What is known from a log and its capture; see `what_if`."""

    load: Load
    era: Era
    present: Present
    beside: Beside
    tested: Backtest
    spread: Spread


class Grid:
    """Settings, each replayed in several ways, and the results."""

    def __init__(
        self, known: Known, cells: Sequence[tuple[int, float]], container_bytes: int | None
    ) -> None:
        self._load, self._era, self._present = known.load, known.era, known.present
        self._beside, self._tested, self._spread = known.beside, known.tested, known.spread
        self._cells, self._container = cells, container_bytes
        self._ways: dict[str, pd.DataFrame] = {}
        self._replay()

    def _replay(self) -> None:
        """Replay each cell with the log's values, and with each uncertain value varied."""
        gogc = np.array([math.inf if gogc == OFF else gogc / 100 for gogc, _ in self._cells])
        limit = np.array([limit for _, limit in self._cells])
        ones, begin = np.ones(len(gogc)), np.zeros(len(gogc))
        rate, survival = min(self._spread.rate, 0.9), min(self._spread.survival, 0.9)
        likely = self._beside.of_limit(limit)
        ways = {f"offset {offset}": (ones, ones, likely, offset * ones) for offset in OFFSETS}
        ways |= {
            "rate low": (ones * (1 - rate), ones, likely, begin),
            "rate high": (ones * (1 + rate), ones, likely, begin),
            "survival low": (ones, ones * (1 - survival), likely, begin),
            "survival high": (ones, ones * (1 + survival), likely, begin),
            "beside low": (ones, ones, self._beside.of_limit(limit, 0), begin),
            "beside high": (ones, ones, self._beside.of_limit(limit, 2), begin),
        }
        columns = (np.concatenate(column) for column in zip(*ways.values(), strict=True))
        rates, survivals, not_heap, offsets = columns
        asked = np.tile(gogc, len(ways)), np.tile(limit, len(ways))
        setting = Setting(*asked, not_heap, rates, survivals, offsets)
        replayed = replay(self._load, setting, self._era)
        for number, name in enumerate(ways):
            rows = replayed.iloc[number * len(gogc) : (number + 1) * len(gogc)]
            self._ways[name] = rows.reset_index(drop=True)

    def _value(self, metric: str) -> np.ndarray:
        return np.mean([self._ways[f"offset {offset}"][metric] for offset in OFFSETS], axis=0)

    def _half(self, metric: str, value: np.ndarray) -> np.ndarray:
        """Return half the width of a metric's interval: all uncertainties, varied one at a time."""
        begun = np.array([self._ways[f"offset {offset}"][metric] for offset in OFFSETS])
        begun = np.where(np.isfinite(begun), begun, 0.0)  # without a goal in one, none in any
        value = np.where(np.isfinite(value), value, 0.0)
        beside = [self._ways[f"beside {end}"][metric] - begun[0] for end in ("low", "high")]
        parts = [
            (self._ways["rate high"][metric] - self._ways["rate low"][metric]) / 2,
            (self._ways["survival high"][metric] - self._ways["survival low"][metric]) / 2,
            np.abs(begun - value).max(axis=0),
            np.abs(beside).max(axis=0),
            value * self._tested.error_of(metric),
        ]
        if metric in ("cycles_per_second", "gc_cpu_cores"):
            parts.append(value * CYCLES_REPEAT)
        if metric == "gc_cpu_cores":
            parts += [value * CPU_REPEATS, value * self._spread.cost]
        if metric in ("goal_bytes", "peak_heap_bytes"):
            parts += [value * self._spread.peak, np.full(len(value), float(ROUNDING_BYTES))]
        whole = np.nan_to_num(np.array(parts, float), posinf=0.0, neginf=0.0)
        return np.sqrt(np.sum(np.square(whole), axis=0))

    @property
    def table(self) -> pd.DataFrame:
        """The results, a row per setting; see `GRID`."""
        present = self._present.gogc, self._present.limit_bytes
        columns: dict[str, object] = {
            "gogc": [gogc for gogc, _ in self._cells],
            "memory_limit_bytes": _whole(np.array([limit for _, limit in self._cells])),
            "is_present": [cell == present for cell in self._cells],
            "bound_by": self._bound(),
        }
        ends = {metric: self._ends(metric) for metric in METRICS}
        met = self._value("met_fraction") > MET
        ends["cycles_per_second"][0][met] *= MET_LOW
        self._limit_cpu(ends["gc_cpu_cores"], met)
        ends["peak_heap_bytes"][2][met] += self._floating()
        for metric, (low, value, high) in ends.items():
            wanted = _whole if metric.endswith("_bytes") else np.asarray
            columns |= _named(metric, *map(wanted, (value, low, high)))
        cores = ends["gc_cpu_cores"]
        left = [np.clip(1 - used / self._load.gomaxprocs, 0, 1) for used in cores]
        columns |= _named(UTILIZATION, left[1], left[2], left[0])
        columns |= self._memory(ends["peak_heap_bytes"], met)
        return build(columns, GRID)

    def _ends(self, metric: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        value = self._value(metric)
        half = self._half(metric, value)
        return np.maximum(value - half, 0.0), value, value + half

    def _floating(self) -> float:
        """Return the heap above the goal if collections run back to back.

        Objects allocated during a collection survive until the end of the next one, so this is the
        allocation during two collections.
        """
        load = self._load
        rate = load.allocated_bytes / load.seconds
        live = self._present.live_bytes or 0.0
        return OVERSHOOT * live + 2 * rate * float(np.median(load.lasting))

    def _limit_cpu(self, cores: tuple[np.ndarray, np.ndarray, np.ndarray], met: np.ndarray) -> None:
        """Bound the CPU if live heap and limit meet: at most the limiter's half."""
        low, value, high = cores
        low[met] *= MET_LOW
        most = LIMITER_FRACTION * self._load.gomaxprocs
        high[met] = most
        if self._era.knows_limit:
            for values in (low, value, high):
                np.minimum(values, most, out=values)

    def _memory(
        self, peak: tuple[np.ndarray, np.ndarray, np.ndarray], met: np.ndarray
    ) -> dict[str, object]:
        """Return retained heap, RSS and headroom in the container."""
        limit = np.array([limit for _, limit in self._cells])
        beside = self._beside.fixed[1]
        most = np.where(np.isfinite(limit) & ~met, np.maximum(limit - beside, peak[1]), np.inf)
        slack = 1 + FULL_SPANS
        low, value = peak[0], np.minimum(peak[1] * slack, most)
        high = np.maximum(np.minimum(RETAINED_PER_GOAL * peak[2] * slack, most), value)
        low = np.minimum(low, value)
        sizes = value, low, high
        columns = _named("retained_bytes", *map(_whole, sizes))
        other, container = self._beside.other_bytes, self._container
        nothing = np.full(len(limit), np.nan)
        rss = [nothing if other is None else np.maximum(size + other, 0) for size in sizes]
        columns |= _named("rss_bytes", *map(_whole, rss))
        above = rss[2] if other is not None else high + beside
        headroom = nothing if container is None else container - above
        return columns | {"headroom_bytes": _whole(headroom)}

    def _bound(self) -> list[str]:
        by = {"program": "forced", "live heap": "met", "limit": "limited", "timer": "periodic"}
        shares = [self._value(f"{metric}_fraction") > MET for metric in by.values()]
        return list(np.select(shares, list(by), "gogc"))


def _named(metric: str, value: object, low: object, high: object) -> dict[str, object]:
    return {metric: value, f"{metric}_low": low, f"{metric}_high": high}


def _whole(values: np.ndarray) -> pd.arrays.IntegerArray:
    """Return whole bytes; missing if unknown or infinite."""
    known = np.isfinite(values) & (np.abs(values) < MAX_BYTES)
    sizes = np.round(np.where(known, values, 0)).astype(np.int64)
    return pd.arrays.IntegerArray(sizes, ~known)


@dataclass(frozen=True)
class Spread:
    """Relative errors of a log's numbers: half the width of 95 % intervals."""

    rate: float  # of the allocation rate
    survival: float  # of the surviving memory
    cost: float  # of the CPU of a collection
    peak: float  # by how much the highest peak exceeds nine in ten of the others: chance

    @classmethod
    def of(cls, load: Load, peaks: np.ndarray) -> Spread:
        """Compute the errors from the means over stretches of the load.

        The errors are multiplied by √2, because another run varies, too.
        """
        highest = float(peaks.max())
        stretches = int(min(MAX_STRETCHES, max(2, len(load.begin) // 2)))
        edges = np.linspace(0, load.seconds * (1 - 1e-9), stretches + 1)
        rates = np.diff(load.allocated(edges)) / np.diff(edges)
        parts = np.array_split(np.arange(len(load.begin)), stretches)
        survived = np.array([load.survived[part].mean() for part in parts])
        cost = np.array([load.cpu_seconds[part].mean() for part in parts])
        rounding = ROUNDING_BYTES / 2 / max(float(survived.mean()), 1.0)
        return cls(
            _half_width(rates),
            math.hypot(_half_width(survived), rounding),
            _half_width(cost),
            1 - float(np.quantile(peaks, 0.9)) / highest if highest > 0 else 0.0,
        )


def _half_width(means: np.ndarray) -> float:
    mean = float(means.mean())
    if not mean > 0:
        return 0.0
    student = STUDENT[len(means) - 2]
    return student * float(means.std(ddof=1)) / math.sqrt(len(means)) * math.sqrt(2) / mean


@dataclass(frozen=True)
class MemoryNow:
    """Memory at a snapshot, other than heap objects."""

    retained_bytes: int  # HeapSys - HeapReleased
    beside_bytes: int  # memory that the runtime has mapped besides the heap: Sys - HeapSys
    growing_bytes: int  # the part that grows with the heap: MSpanSys and GCSys
    slack_bytes: int  # HeapInuse - HeapAlloc
    heap_sys_bytes: int  # HeapSys
    rss_bytes: int | None  # RSS; None if unknown


@dataclass(frozen=True)
class Beside:
    """Memory other than heap objects that counts towards a limit: an estimate with bounds."""

    # bytes that do not depend on the heap's size: low, likely, high
    fixed: tuple[float, float, float]
    share: tuple[float, float, float]  # as a fraction of the heap: low, likely, high
    other_bytes: float | None  # RSS besides retained heap; None if unknown
    words: str  # the source, in words

    @classmethod
    def of(cls, memory: MemoryNow | None, load: Load, era: Era) -> Beside:
        """Estimate from the MemStats of a snapshot, or else from typical values by release."""
        if memory is not None:
            heap = max(memory.heap_sys_bytes, 1)
            beside, rss = memory.beside_bytes, memory.rss_bytes
            rest, grows = beside - memory.growing_bytes, memory.growing_bytes / heap
            slack = max(2 * FULL_SPANS, min(memory.slack_bytes / heap, MAX_SLACK))
            return cls(
                (0.9 * rest, rest, 1.1 * rest),
                (0.9 * grows + 0.01, grows + FULL_SPANS, 1.1 * grows + slack),
                None if rss is None else float(rss - memory.retained_bytes),
                f"memory beside the heap stays as in the last MemStats: {Bytes(beside)}, goroutine "
                "stacks included",
            )
        stacks = float(np.median(load.scanned))
        # 1.19 and 1.20 map 4 MiB for the scavenger; up to 1.19 a bitmap takes 3.2 % of the arenas.
        scavenger = 4 * MIB if era in (Era.LIMIT, Era.LATEST_OF_FIVE) else 0
        bitmap = 0.03 if era <= Era.LIMIT else 0.0
        fixed = (2 * MIB + stacks, 5 * MIB + stacks + scavenger, 12 * MIB + stacks + scavenger)
        share = (0.01, 0.04 + bitmap, 0.10 + bitmap)
        words = (
            f"without MemStats, {Bytes(fixed[1])} and {Share(share[1])} of the heap are assumed "
            "for the runtime's own memory; RSS is left out"
        )
        return cls(fixed, share, None, words)

    def of_limit(self, limit: np.ndarray | float, which: int = 1) -> np.ndarray:
        """Return the bytes other than objects under a limit.

        `which` is 0 for the lower bound, 1 for the likely value, 2 for the upper bound.
        """
        held = np.where(np.isfinite(limit), limit, 0.0)
        heap = (held - self.fixed[which]) / (1 + self.share[which])
        return self.fixed[which] + self.share[which] * np.maximum(heap, 0.0)
