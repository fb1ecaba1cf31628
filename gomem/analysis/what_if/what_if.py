"""What would happen if GOGC or GOMEMLIMIT were different?

From one log: how fast the program allocates, how much of its heap survives, what marking costs. The
load is replayed under each setting of a grid (`replay`), with the pacer's own formulas (`pacer`).
Each number has an interval, for a run as long as the log. It is made of

- the log's own spread: the load is cut into stretches, and their means give 95 % intervals for the
  rate of allocation, the live heap and the cost of marking; the replay is repeated with each;
- where in the load the replay begins, which matters where it comes in bursts;
- of the highest heap, by how much the log's own stands above nine in ten of its collections;
- what is not known of the memory beside the heap, where a limit counts it;
- the error of the back-test: the log's first half foretells its second, the whole log itself;
- by how much two runs of one program differ anyway: 8 % in collections a second, 10 % in CPU.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import CPU_PARTS, ROUNDING_BYTES, Cycles
from gomem.analysis.scavenger.goals import RETAINED_PER_GOAL
from gomem.analysis.what_if.advice import GOGC_TRIED, PodAdvice, fitting_gogc, limit_steps
from gomem.analysis.what_if.backtest import Backtest, Made, backtest
from gomem.analysis.what_if.pacer import Era, limit_goal
from gomem.analysis.what_if.replay import Load, Setting, replay
from gomem.analysis.what_if.watched import Watched, watched
from gomem.inputs.schema import Column, build, empty
from gomem.units import MIB, format_bytes, format_fraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.releases import GoVersion

OFF = -1  # GOGC=off, in tables and JSON
GOGC_GRID = (50, 100, 200, 400, OFF)
MOST_CELLS = 200
MOST_BYTES = float(1 << 62)
MOST_STRETCHES = 10
# Student's t at 97.5 %, from one degree of freedom: loading SciPy for it takes half a second.
STUDENT = (12.706, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)
CYCLES_REPEAT = 0.08  # two runs of one program, back to back, differ by so much
CPU_REPEATS = 0.10
LIMITER_FRACTION = 0.5  # of GOMAXPROCS: the CPU limiter of 1.19 lets collecting take no more
MET = 0.5  # of the collections without room, for live heap and limit to have met
MET_LOW = 1 / 3  # what lies between two collections without room is not in the log
OVERSHOOT = 0.1  # of the goal: past it, the pacer aims at so much more
FULL_SPANS = 0.03  # of the heap at its highest, in free slots of spans
MOST_SLACK = 0.2  # of the heap; MemStats read between sweeping and filling up show more
OFFSETS = (0.0, 0.25, 0.5, 0.75)
NO_ALLOCATION = "the log shows no allocation between collections"
BOUND_BY = ("gogc", "limit", "live heap", "timer", "program")


ASSUMED = (
    (
        "the program does the same at the same times, whatever the collector costs: one that is "
        "not waiting for requests would do more with the CPU that it gets back"
    ),
    (
        "marking takes as long, and costs as much, as in the log: that depends on what lives, not "
        "on GOGC"
    ),
)


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
    Column("bound_by", "str", "", "What decides when collections come; one of `BOUND_BY`."),
    *_interval("cycles_per_second", "float64", "Hz", "Collections a second."),
    *_interval("gc_cpu_cores", "float64", "ratio", "CPU of collecting, without idle marking."),
    *_interval(
        "mutator_utilization_fraction", "float64", "fraction", "CPU left to the program, of all."
    ),
    *_interval("goal_bytes", "Int64", "B", "The highest goal; missing if there is none."),
    *_interval("peak_heap_bytes", "Int64", "B", "The highest heap at the end of marking."),
    *_interval("retained_bytes", "Int64", "B", "Heap in use or kept: HeapSys less HeapReleased."),
    *_interval("rss_bytes", "Int64", "B", "RSS; missing where only a log is there."),
    Column("headroom_bytes", "Int64", "B", "What is left to the container at the upper end."),
)
METRICS = ("cycles_per_second", "gc_cpu_cores", "goal_bytes", "peak_heap_bytes")


@dataclass(frozen=True)
class MemoryNow:
    """What a moment of the capture says of the memory beside the heap.

    Attributes:
        retained_bytes: HeapSys less HeapReleased.
        beside_bytes: What the runtime has mapped beside the heap: Sys less HeapSys.
        growing_bytes: Of it, what grows with the heap: MSpanSys and GCSys.
        slack_bytes: HeapInuse less HeapAlloc.
        heap_sys_bytes: HeapSys.
        rss_bytes: RSS; None if it is not known.
    """

    retained_bytes: int
    beside_bytes: int
    growing_bytes: int
    slack_bytes: int
    heap_sys_bytes: int
    rss_bytes: int | None


@dataclass(frozen=True)
class Present:
    """What the log shows; None where it does not tell.

    Attributes:
        gogc: In per cent; -1 is off.
        memory_limit_bytes: GOMEMLIMIT; infinite for none.
        live_bytes: Median of what collections marked.
        allocation_bytes_per_second: What the program allocates.
        mark_cpu_seconds_per_cycle: CPU of a collection, without idle marking.
        cycles_per_second: Collections a second.
        gc_cpu_cores: Their CPU a second.
        peak_heap_bytes: The highest heap at the end of marking.
        gomaxprocs: GOMAXPROCS.
        seconds: The time that was looked at.
        cycles: The collections in it.
    """

    gogc: int | None
    memory_limit_bytes: float | None
    live_bytes: float | None = None
    allocation_bytes_per_second: float | None = None
    mark_cpu_seconds_per_cycle: float | None = None
    cycles_per_second: float | None = None
    gc_cpu_cores: float | None = None
    peak_heap_bytes: float | None = None
    gomaxprocs: float | None = None
    seconds: float | None = None
    cycles: int = 0

    @property
    def limit_bytes(self) -> float:
        """GOMEMLIMIT, taken for none where nothing says."""
        return math.inf if self.memory_limit_bytes is None else self.memory_limit_bytes


@dataclass(frozen=True)
class WhatIf:
    """What other settings would do.

    Attributes:
        present: What the log shows.
        grid: A row per setting; see `GRID`.
        backtest: How well the same is foretold on the log itself.
        assumptions: What the answer rests on, in sentences.
        refused: Why there is none; None where there is.
        advice: What to set for the container; None where its size is not known.
    """

    present: Present
    grid: pd.DataFrame
    backtest: Backtest
    assumptions: tuple[str, ...]
    refused: str | None = None
    advice: PodAdvice | None = None

    def cell(self, gogc: int, memory_limit_bytes: float | None = None) -> pd.Series | None:
        """The row of a setting; None where the grid has it not."""
        limits = self.grid["memory_limit_bytes"]
        no_limit = memory_limit_bytes is None
        same = limits.isna() if no_limit else limits.eq(memory_limit_bytes).fillna(value=False)
        rows = self.grid[(self.grid["gogc"] == gogc) & same]
        return None if rows.empty else rows.iloc[0]


@dataclass(frozen=True)
class Asked:
    """Which settings to look at.

    Attributes:
        gogc: In per cent; -1 is off.
        limits: GOMEMLIMIT in bytes; None for none, and for a grid that suits the log.
        container_bytes: What the container may use; None if that is not known.
        container_source: What says so.
        steps: How a GOMEMLIMIT for it is worked out, see `pod_advice.STEPS`; None where only its
            size is known.
    """

    gogc: Sequence[int] = GOGC_GRID
    limits: Sequence[float] | None = None
    container_bytes: int | None = None
    container_source: str = "--container"
    steps: pd.DataFrame | None = None

    @property
    def advised_steps(self) -> pd.DataFrame | None:
        """The arithmetic; None without a container."""
        if self.container_bytes is None or self.steps is not None:
            return self.steps
        return limit_steps(self.container_bytes, self.container_source)

    @property
    def advised_limit(self) -> int | None:
        """The GOMEMLIMIT that it comes to; None if nothing is left, or without a container."""
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
    """Replay the load of a log under other settings.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them.
        version: The release, as far as it is known.
        gogc_fraction: GOGC that the log was made with, 1.0 for 100; infinite for off, None if it
            is not known.
        memory_limit_bytes: GOMEMLIMIT likewise; infinite for none.
        memory: What is known of the memory beside the heap.
        asked: Which settings to look at.
    """
    asked = asked or Asked()
    part = watched(cycles)
    era, of_era = era_of(version, part.cycles)
    present = _present(part, gogc_fraction, memory_limit_bytes)
    if part.refused is not None:
        return WhatIf(present, empty(GRID), Backtest(), part.notes, part.refused)
    load = Load.of(part.cycles, era)
    if not load.allocated_bytes > 0:
        return WhatIf(present, empty(GRID), Backtest(), part.notes, NO_ALLOCATION)
    beside = Beside.of(memory, load, era)
    tested = Backtest()
    if gogc_fraction is not None:
        limit = present.limit_bytes
        made = Made(gogc_fraction, limit, float(beside.of_limit(limit)), era)
        tested = backtest(part.cycles, made)
    peaks = part.cycles["heap_at_mark_end_bytes"].to_numpy(float)
    known = _Known(load, era, present, beside, tested, Spread.of(load, peaks))
    grid = _Grid(known, settings_of(present, era, asked), asked.container_bytes).table
    said = (*part.notes, *_assumptions(of_era, present, era), beside.words)
    return WhatIf(present, grid, tested, said, None, _advice(known, asked))


def era_of(version: GoVersion, cycles: pd.DataFrame) -> tuple[Era, str]:
    """The pacer of a release, and a sentence where that is an assumption."""
    low, high = version.low, version.high
    eras = [Era.of(one.minor) for one in (low, high) if one is not None]
    if len(eras) == 2 and eras[0] == eras[1]:
        return eras[0], ""
    if len(eras) == 1 and low is not None and Era.of(low.minor) == max(Era):
        return eras[0], ""
    prints_stacks = bool(len(cycles)) and bool(cycles["stacks_bytes"].notna().any())
    if prints_stacks:
        return Era.HEADROOM, "the release is not known: the pacer of Go 1.21 and later is assumed"
    return Era.RATIO_BOUNDED, "the release is not known: the pacer of Go 1.14 to 1.17 is assumed"


def _present(part: Watched, gogc: float | None, limit: float | None) -> Present:
    percent = None if gogc is None else OFF if math.isinf(gogc) else round(100 * gogc)
    if part.cycles.empty:
        return Present(percent, limit)
    rows = part.cycles
    cpu = rows[list(CPU_PARTS)].sum(axis=1).to_numpy(float)
    span = float(rows["at_seconds"].iloc[-1] - rows["at_seconds"].iloc[0])
    start, end, live = (
        rows[f"heap_{one}_bytes"].to_numpy(float) for one in ("at_start", "at_mark_end", "live")
    )
    allocated = np.maximum(end - start, 0)[:-1].sum() + np.maximum(start[1:] - live[:-1], 0).sum()
    return Present(
        percent,
        limit,
        live_bytes=float(np.median(live)) + ROUNDING_BYTES / 2,
        allocation_bytes_per_second=float(allocated / span) if span > 0 else None,
        mark_cpu_seconds_per_cycle=float(cpu.mean()),
        cycles_per_second=(len(rows) - 1) / span if span > 0 else None,
        gc_cpu_cores=float(cpu[:-1].sum() / span) if span > 0 else None,
        peak_heap_bytes=float(end.max()) + ROUNDING_BYTES / 2,
        gomaxprocs=float(rows["gomaxprocs"].median()),
        seconds=span,
        cycles=len(rows),
    )


@dataclass(frozen=True)
class Beside:
    """Memory beside the heap's objects that a limit counts: an estimate with its bounds.

    Attributes:
        fixed: Bytes whatever the heap's size: least, likely, most.
        share: Of the heap: least, likely, most.
        other_bytes: RSS beside the heap that is kept; None if it is not known.
        words: How it is known.
    """

    fixed: tuple[float, float, float]
    share: tuple[float, float, float]
    other_bytes: float | None
    words: str

    @classmethod
    def of(cls, memory: MemoryNow | None, load: Load, era: Era) -> Beside:
        """From a moment's MemStats where there are some, else what releases usually need."""
        if memory is not None:
            heap = max(memory.heap_sys_bytes, 1)
            beside, rss = memory.beside_bytes, memory.rss_bytes
            rest, grows = beside - memory.growing_bytes, memory.growing_bytes / heap
            slack = max(2 * FULL_SPANS, min(memory.slack_bytes / heap, MOST_SLACK))
            return cls(
                (0.9 * rest, rest, 1.1 * rest),
                (0.9 * grows + 0.01, grows + FULL_SPANS, 1.1 * grows + slack),
                None if rss is None else float(rss - memory.retained_bytes),
                "memory beside the heap stays as it was when MemStats were last read: "
                f"{format_bytes(beside)} of the runtime's own, goroutine stacks among them",
            )
        stacks = float(np.median(load.scanned))
        # 1.19 and 1.20 map 4 MiB for the scavenger; to 1.19 a bitmap takes 3.2 % of the arenas.
        scavenger = 4 * MIB if era in (Era.LIMIT, Era.LATEST_OF_FIVE) else 0
        bitmap = 0.03 if era <= Era.LIMIT else 0.0
        fixed = (2 * MIB + stacks, 5 * MIB + stacks + scavenger, 12 * MIB + stacks + scavenger)
        share = (0.01, 0.04 + bitmap, 0.10 + bitmap)
        return cls(
            fixed,
            share,
            None,
            "no MemStats say what the runtime has mapped beside the heap: "
            f"{format_bytes(fixed[1])} and {format_fraction(share[1])} of the heap are assumed; "
            "RSS is not given",
        )

    def of_limit(self, limit: np.ndarray | float, which: int = 1) -> np.ndarray:
        """Under a limit, of which the heap has the rest; bytes. 0, 1, 2: least, likely, most."""
        held = np.where(np.isfinite(limit), limit, 0.0)
        heap = (held - self.fixed[which]) / (1 + self.share[which])
        return self.fixed[which] + self.share[which] * np.maximum(heap, 0.0)


@dataclass(frozen=True)
class Spread:
    """How far the log's own numbers may be off, as shares of them: half of a 95 % interval.

    Attributes:
        rate: Of the rate of allocation.
        survival: Of what survives a collection.
        cost: Of the CPU of a collection.
        peak: By how much the highest heap stands above nine in ten of the others: chance.
    """

    rate: float
    survival: float
    cost: float
    peak: float

    @classmethod
    def of(cls, load: Load, peaks: np.ndarray) -> Spread:
        """By the means of stretches of the load; for a further run, so times the root of two."""
        highest = float(peaks.max())
        stretches = int(min(MOST_STRETCHES, max(2, len(load.begin) // 2)))
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
class _Known:
    """What a log and its capture say; see `what_if`."""

    load: Load
    era: Era
    present: Present
    beside: Beside
    tested: Backtest
    spread: Spread


class _Grid:
    """Settings that are looked at, each replayed in several ways, and what comes of it."""

    def __init__(
        self, known: _Known, cells: Sequence[tuple[int, float]], container_bytes: int | None
    ) -> None:
        self._load, self._era, self._present = known.load, known.era, known.present
        self._beside, self._tested, self._spread = known.beside, known.tested, known.spread
        self._cells, self._container = cells, container_bytes
        self._ways: dict[str, pd.DataFrame] = {}
        self._replay()

    def _replay(self) -> None:
        """Each cell as the log has it, and with each thing that may be otherwise."""
        gogc = np.array([math.inf if one == OFF else one / 100 for one, _ in self._cells])
        limit = np.array([one for _, one in self._cells])
        one, begin = np.ones(len(gogc)), np.zeros(len(gogc))
        rate, survival = min(self._spread.rate, 0.9), min(self._spread.survival, 0.9)
        likely = self._beside.of_limit(limit)
        ways = {f"offset {offset}": (one, one, likely, offset * one) for offset in OFFSETS}
        ways |= {
            "rate low": (one * (1 - rate), one, likely, begin),
            "rate high": (one * (1 + rate), one, likely, begin),
            "survival low": (one, one * (1 - survival), likely, begin),
            "survival high": (one, one * (1 + survival), likely, begin),
            "beside low": (one, one, self._beside.of_limit(limit, 0), begin),
            "beside high": (one, one, self._beside.of_limit(limit, 2), begin),
        }
        columns = [np.concatenate(column) for column in zip(*ways.values(), strict=True)]
        rates, survivals, not_heap, offsets = columns
        setting = Setting(
            gogc=np.tile(gogc, len(ways)),
            limit=np.tile(limit, len(ways)),
            not_heap=not_heap,
            rate=rates,
            survival=survivals,
            offset=offsets,
        )
        replayed = replay(self._load, setting, self._era)
        for number, name in enumerate(ways):
            rows = replayed.iloc[number * len(gogc) : (number + 1) * len(gogc)]
            self._ways[name] = rows.reset_index(drop=True)

    def _value(self, metric: str) -> np.ndarray:
        return np.mean([self._ways[f"offset {one}"][metric] for one in OFFSETS], axis=0)

    def _half(self, metric: str, value: np.ndarray) -> np.ndarray:
        """Half of a number's interval: what may be otherwise, one thing at a time, together."""
        begun = np.array([self._ways[f"offset {one}"][metric] for one in OFFSETS])
        begun = np.where(np.isfinite(begun), begun, 0.0)  # no goal is no goal, however it began
        value = np.where(np.isfinite(value), value, 0.0)
        parts = [
            (self._ways["rate high"][metric] - self._ways["rate low"][metric]) / 2,
            (self._ways["survival high"][metric] - self._ways["survival low"][metric]) / 2,
            np.abs(begun - value).max(axis=0),
            np.max(
                [np.abs(self._ways[f"beside {one}"][metric] - begun[0]) for one in ("low", "high")],
                axis=0,
            ),
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
        """See `GRID`."""
        columns: dict[str, object] = {
            "gogc": [gogc for gogc, _ in self._cells],
            "memory_limit_bytes": _whole(np.array([limit for _, limit in self._cells])),
            "is_present": [self._is_present(*one) for one in self._cells],
            "bound_by": self._bound(),
        }
        ends = {metric: self._ends(metric) for metric in METRICS}
        met = self._value("met_fraction") > MET
        ends["cycles_per_second"][0][met] *= MET_LOW
        self._limit_cpu(ends["gc_cpu_cores"], met)
        ends["peak_heap_bytes"][2][met] += self._floating()
        for metric, (low, value, high) in ends.items():
            wanted = _whole if metric.endswith("_bytes") else np.asarray
            columns |= {
                metric: wanted(value),
                f"{metric}_low": wanted(low),
                f"{metric}_high": wanted(high),
            }
        cores = ends["gc_cpu_cores"]
        left = [np.clip(1 - one / self._load.gomaxprocs, 0, 1) for one in cores]
        columns |= dict(
            zip(_names("mutator_utilization_fraction"), (left[1], left[2], left[0]), strict=True)
        )
        columns |= self._memory(ends["peak_heap_bytes"], met)
        return build(columns, GRID)

    def _ends(self, metric: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        value = self._value(metric)
        half = self._half(metric, value)
        return np.maximum(value - half, 0.0), value, value + half

    def _floating(self) -> float:
        """What stands above the goal where collections follow one another without a break.

        Garbage that one marks floats through the next: all that two of them allocate.
        """
        load = self._load
        rate = load.allocated_bytes / load.seconds
        live = self._present.live_bytes or 0.0
        return OVERSHOOT * live + 2 * rate * float(np.median(load.lasting))

    def _limit_cpu(self, cores: tuple[np.ndarray, np.ndarray, np.ndarray], met: np.ndarray) -> None:
        """Where live heap and limit meet: up to the limiter's half of the CPU, and never more."""
        low, value, high = cores
        low[met] *= MET_LOW
        most = LIMITER_FRACTION * self._load.gomaxprocs
        high[met] = most
        if self._era.knows_limit:
            for one in (low, value, high):
                np.minimum(one, most, out=one)

    def _memory(
        self, peak: tuple[np.ndarray, np.ndarray, np.ndarray], met: np.ndarray
    ) -> dict[str, object]:
        """Retained heap, RSS and what is left to the container."""
        limit = np.array([one for _, one in self._cells])
        beside = self._beside.fixed[1]
        most = np.where(np.isfinite(limit) & ~met, np.maximum(limit - beside, peak[1]), np.inf)
        slack = 1 + FULL_SPANS
        low, value = peak[0], np.minimum(peak[1] * slack, most)
        high = np.maximum(np.minimum(RETAINED_PER_GOAL * peak[2] * slack, most), value)
        low = np.minimum(low, value)
        columns: dict[str, object] = dict(
            zip(_names("retained_bytes"), map(_whole, (value, low, high)), strict=True)
        )
        other, container = self._beside.other_bytes, self._container
        nothing = np.full(len(limit), np.nan)
        rss = [
            nothing if other is None else np.maximum(one + other, 0) for one in (value, low, high)
        ]
        columns |= dict(zip(_names("rss_bytes"), map(_whole, rss), strict=True))
        above = rss[2] if other is not None else high + beside
        headroom = nothing if container is None else container - above
        return columns | {"headroom_bytes": _whole(headroom)}

    def _bound(self) -> list[str]:
        by = {"program": "forced", "live heap": "met", "limit": "limited", "timer": "periodic"}
        shares = [self._value(f"{one}_fraction") > MET for one in by.values()]
        return list(np.select(shares, list(by), "gogc"))

    def _is_present(self, gogc: int, limit: float) -> bool:
        return gogc == self._present.gogc and limit == self._present.limit_bytes


def _advice(known: _Known, asked: Asked) -> PodAdvice | None:
    """What to set for the container; None where its size is not known."""
    steps, limit = asked.advised_steps, asked.advised_limit
    if asked.container_bytes is None or steps is None:
        return None
    live = known.present.live_bytes or 0.0
    gogc, held, expected, decides, met = None, None, None, None, None
    if limit is not None:
        set_to = float(limit) if known.era.knows_limit else math.inf
        cells = [(one, at) for at in (math.inf, set_to) for one in GOGC_TRIED]
        grid = _Grid(known, cells, asked.container_bytes).table
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
    """The grid's settings: what was asked for, and what the log was made with."""
    limits = list(asked.limits) if asked.limits is not None else _usual_limits(present, asked)
    if not era.knows_limit:
        limits = [math.inf]
    gogc = sorted({*asked.gogc} - {OFF}) + [OFF] * (OFF in asked.gogc)
    cells = [(one, limit) for limit in dict.fromkeys(limits) for one in dict.fromkeys(gogc)]
    if present.gogc is not None and (present.gogc, present.limit_bytes) not in cells:
        cells.append((present.gogc, present.limit_bytes))
    return cells[:MOST_CELLS]


def _usual_limits(present: Present, asked: Asked) -> list[float]:
    """No limit; today's; the one that suits the container, or about what the heap takes today."""
    limits = [math.inf]
    if present.memory_limit_bytes is not None:
        limits.append(present.memory_limit_bytes)
    if asked.advised_limit is not None:
        limits.append(float(asked.advised_limit))
    elif present.peak_heap_bytes is not None:
        step = 16 * MIB
        limits.append(float(math.ceil(present.peak_heap_bytes * RETAINED_PER_GOAL / step) * step))
    return limits


def _names(metric: str) -> tuple[str, str, str]:
    return metric, f"{metric}_low", f"{metric}_high"


def _whole(values: np.ndarray) -> pd.arrays.IntegerArray:
    """Bytes, missing where there are none or no end to them."""
    known = np.isfinite(values) & (np.abs(values) < MOST_BYTES)
    sizes = np.round(np.where(known, values, 0)).astype(np.int64)
    return pd.arrays.IntegerArray(sizes, ~known)


def _assumptions(of_era: str, present: Present, era: Era) -> tuple[str, ...]:
    said = list(ASSUMED)
    if of_era:
        said.append(of_era)
    if present.gogc is None:
        said.append(
            "the log's goals agree on no GOGC: it changed on the way, a memory limit made them, or "
            "too few tell; what the program does is known all the same, but today's point is not "
            "in the grid, and the back-test is without it"
        )
    if not era.knows_limit:
        said.append("before Go 1.19 there is no memory limit")
    return tuple(said)
