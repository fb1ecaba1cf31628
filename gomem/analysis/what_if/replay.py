"""What would GC have done with the same load under other settings?

A log shows the load of the program: the bytes allocated over time, the surviving heap, and the
duration and cost of marking. This load hardly depends on GOGC, so it can be replayed. The heap
grows as in the log. A collection starts where `pacer` sets the trigger and takes as long as the
collections in the log around that time. The collection leaves the survivors of that time, plus what
is allocated during marking. The load starts again when it ends, so that rare collections are
counted over several passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import CONCURRENT, CPU_PARTS, ROUNDING_BYTES, STOPS
from gomem.analysis.what_if.pacer import (
    Era,
    Goals,
    Marking,
    limit_goal,
    percent_goal,
    runway,
    trigger,
)

PERIODIC_SECONDS = 120.0  # after this time without a collection, the runtime starts one
MIN_CYCLES = 8  # of a replay, however long they take
MAX_CYCLES = 4000  # of the analysed log
MAX_REPLAYED = 1000  # of a replay: four begin in different quarters of the load
WARM_UP = 2  # collections that still depend on where the replay began

Array = np.ndarray


@dataclass(frozen=True)
class Load:
    """The load of one run in a log, from the run's first collection on."""

    begin: Array  # start of each collection, in seconds since the first
    knots_seconds: Array  # times with a known total allocation
    knots_bytes: Array  # total allocation at these times
    survived: Array  # survivors of the heap present at each collection's start
    # What the program allocated while each marked: less than usual, if marking takes CPU that it
    # needs; it catches up afterwards.
    meanwhile: Array
    lasting: Array  # time of each from the first pause to the last
    cpu_seconds: Array  # CPU of each, without idle marking
    scanned: Array  # stacks and globals that each scanned
    runway: Array  # how far before the goal the pacer aimed to start after each
    forced: Array  # starts of forced collections
    gomaxprocs: float  # GOMAXPROCS

    @classmethod
    def of(cls, cycles: pd.DataFrame, era: Era) -> Load:
        """Extract the load from two or more collections of one run, whose numbers are known."""
        number = {
            name: cycles[name].to_numpy(float, na_value=np.nan)
            for name in ("at_seconds", "gomaxprocs", "cpu_assist_seconds", "cpu_idle_seconds")
        }
        start, end, live = (
            cycles[f"heap_{name}_bytes"].to_numpy(float)
            for name in ("at_start", "at_mark_end", "live")
        )
        begin = number["at_seconds"] - number["at_seconds"][0]
        parts = cycles[[*STOPS, *CONCURRENT]].sum(axis=1).to_numpy(float)
        lasting = np.minimum(parts, np.append(np.diff(begin), np.inf))
        meanwhile = np.maximum(end - start, 0.0)
        between = np.maximum(start[1:] - live[:-1], 0.0)
        follows = np.diff(cycles["number"].to_numpy(np.int64)) == 1
        knots_seconds, knots_bytes = _allocated(begin, lasting, meanwhile, between, follows)
        marking = Marking(
            cycles[list(CONCURRENT)].sum(axis=1).to_numpy(float),
            number["gomaxprocs"],
            np.nan_to_num(number["cpu_assist_seconds"]),
            np.nan_to_num(number["cpu_idle_seconds"]),
            meanwhile,
        )
        scanned = cycles[["stacks_bytes", "globals_bytes"]].astype(float).sum(axis=1)
        return cls(
            begin=begin,
            knots_seconds=knots_seconds,
            knots_bytes=knots_bytes,
            survived=np.maximum(live + ROUNDING_BYTES / 2 - meanwhile, 0.0),
            meanwhile=meanwhile,
            lasting=lasting,
            cpu_seconds=np.nan_to_num(cycles[list(CPU_PARTS)].sum(axis=1).to_numpy(float)),
            scanned=scanned.to_numpy(float),
            runway=runway(marking, era),
            forced=begin[cycles["forced"].to_numpy(bool)],
            gomaxprocs=float(np.nanmedian(number["gomaxprocs"])),
        )

    @property
    def seconds(self) -> float:
        """Seconds from the start of the first collection to the start of the last."""
        return float(self.knots_seconds[-1])

    @property
    def allocated_bytes(self) -> float:
        """Bytes allocated from the first collection to the last."""
        return float(self.knots_bytes[-1])

    def allocated(self, at: Array) -> Array:
        """Return the bytes allocated up to a time; the load repeats."""
        rounds = np.floor(at / self.seconds)
        within = np.interp(at - rounds * self.seconds, self.knots_seconds, self.knots_bytes)
        return rounds * self.allocated_bytes + within

    def when(self, allocated: Array) -> Array:
        """Return the time at which so many bytes are allocated; the inverse of `allocated`."""
        rounds = np.floor(allocated / self.allocated_bytes)
        within = allocated - rounds * self.allocated_bytes
        return rounds * self.seconds + np.interp(within, self.knots_bytes, self.knots_seconds)

    def nearest(self, at: Array) -> Array:
        """Return the index of the logged collection nearest to a time."""
        within = at % self.seconds
        after = np.searchsorted(self.begin, within).clip(1, len(self.begin) - 1)
        earlier = within - self.begin[after - 1] < self.begin[after] - within
        return after - earlier

    def survivors(self, at: Array) -> Array:
        """Return what would survive a collection that starts at a time."""
        return np.interp(at % self.seconds, self.begin, self.survived)

    def next_forced(self, at: Array) -> Array:
        """Return the time of the next forced collection; infinite if there is none."""
        if not len(self.forced):
            return np.full(np.shape(at), np.inf)
        rounds, within = np.floor(at / self.seconds), at % self.seconds
        place = np.searchsorted(self.forced, within, side="right")
        around = np.append(self.forced, self.forced[0] + self.seconds)
        return rounds * self.seconds + around[place]


def _allocated(
    begin: Array, lasting: Array, meanwhile: Array, between: Array, follows: Array
) -> tuple[Array, Array]:
    """Return the total allocation at the start and end of each collection, with times.

    If a line is missing between two, the mean rate of the others is used.
    """
    if not follows.all():
        step = np.diff(begin)
        known = (meanwhile[:-1] + between)[follows].sum() / max(step[follows].sum(), 1e-9)
        between = np.where(follows, between, np.maximum(known * step - meanwhile[:-1], 0.0))
    sums = np.concatenate([[0.0], np.cumsum(meanwhile[:-1] + between)])
    seconds = np.column_stack([begin[:-1], begin[:-1] + lasting[:-1]]).ravel()
    sizes = np.column_stack([sums[:-1], sums[:-1] + meanwhile[:-1]]).ravel()
    return np.append(seconds, begin[-1]), np.append(sizes, sums[-1])


@dataclass(frozen=True)
class Setting:
    """The parameters of several replays, one value per replay."""

    gogc: Array  # 1.0 for 100; infinite for off
    limit: Array  # GOMEMLIMIT, bytes; infinite for none
    not_heap: Array  # bytes that the runtime has mapped besides objects; see `pacer.limit_goal`
    rate: Array  # the allocation rate, relative to the log
    survival: Array  # the surviving memory, relative to the log
    offset: Array  # the starting point in the load, as a fraction of its length


REPLAYED = (
    "cycles_per_second", "gc_cpu_cores", "peak_heap_bytes", "goal_bytes", "limited_fraction",
    "met_fraction", "periodic_fraction", "forced_fraction",
)  # fmt: skip


def replay(load: Load, setting: Setting, era: Era) -> pd.DataFrame:
    """Replay the load under all settings at once; returns a row per setting.

    The columns are those of `REPLAYED`: `peak_heap_bytes` is the highest heap at the end of
    marking, `goal_bytes` the highest goal. The fractions are shares of the collections: those whose
    goal a limit set (`limited_fraction`), those without any room (`met_fraction`), those started by
    the two-minute timer (`periodic_fraction`), and those that the program forced
    (`forced_fraction`).
    """
    run = _Run(load, setting, era)
    while run.step():
        pass
    return run.result


class _Run:
    """Simultaneous replays, advanced by one collection per step."""

    def __init__(self, load: Load, setting: Setting, era: Era) -> None:
        self._load, self._setting, self._era = load, setting, era
        self._ended = setting.offset * load.seconds  # end of the last collection
        self._live = load.survivors(self._ended) * setting.survival
        self._allocated = load.allocated(self._ended) * setting.rate
        self._round = np.zeros(len(setting.gogc), int)
        self._done = np.zeros(len(setting.gogc), bool)
        self._counted = {name: np.zeros(len(setting.gogc)) for name in REPLAYED}
        self._first = np.full(len(setting.gogc), np.nan)
        self._last = self._first.copy()
        self._last_cpu = np.zeros(len(setting.gogc))

    def step(self) -> bool:
        """Advance each by one collection; returns False when all are long enough."""
        load, setting = self._load, self._setting
        place = load.nearest(self._ended)
        goals = Goals(
            self._live,
            percent_goal(self._live, load.scanned[place], setting.gogc, self._era),
            limit_goal(self._live, setting.limit, setting.not_heap, self._era),
        )
        at = trigger(goals, load.runway[place], setting.gogc, self._era)
        begins, timed, forced = self._next_start(np.maximum(at - self._live, 0.0))
        heap = self._live + np.maximum(self._sum(begins) - self._allocated, 0.0)
        place = load.nearest(begins)
        meanwhile = load.meanwhile[place] * setting.rate
        survived = np.minimum(load.survivors(begins) * setting.survival, heap)
        self._count(
            begins,
            {
                "gc_cpu_cores": load.cpu_seconds[place],
                "peak_heap_bytes": heap + meanwhile,
                "goal_bytes": goals.goal,
                "limited_fraction": goals.by_limit < goals.by_percent,
                "met_fraction": goals.goal <= self._live,
                "periodic_fraction": timed,
                "forced_fraction": forced,
            },
        )
        self._live, self._ended = survived + meanwhile, begins + load.lasting[place]
        self._allocated = self._sum(begins) + meanwhile
        counted = self._round - WARM_UP
        long_enough = (begins - self._first >= load.seconds) & (counted >= MIN_CYCLES)
        self._done |= long_enough | (counted >= MAX_REPLAYED)
        return not bool(self._done.all())

    def _sum(self, at: Array) -> Array:
        """Return what the program would have allocated up to a time without delays."""
        return self._load.allocated(at) * self._setting.rate

    def _next_start(self, room: Array) -> tuple[Array, Array, Array]:
        """Return the next start of each, and whether the timer or the program causes it."""
        latest = self._ended + PERIODIC_SECONDS
        finite = np.isfinite(room)
        wanted = (self._allocated + np.where(finite, room, 0)) / self._setting.rate
        begins = np.maximum(np.where(finite, self._load.when(wanted), np.inf), self._ended)
        asked = self._load.next_forced(self._ended)
        first = np.minimum(np.minimum(begins, latest), asked)
        forced = (asked == first) & (asked < begins)
        return first, (begins > latest) & ~forced, forced

    def _count(self, begins: Array, values: dict[str, Array]) -> None:
        counts = (self._round >= WARM_UP) & ~self._done
        self._first = np.where(self._round == WARM_UP, begins, self._first)
        for name, value in values.items():
            so_far = self._counted[name]
            if name in ("peak_heap_bytes", "goal_bytes"):
                kept = np.maximum(so_far, value)
            elif name == "gc_cpu_cores":  # the last step's CPU is beyond the time so far
                kept, self._last_cpu = so_far + self._last_cpu, np.where(counts, value, 0.0)
            else:
                kept = so_far + value
            self._counted[name] = np.where(counts, kept, so_far)
        self._last = np.where(self._done, self._last, begins)
        self._round += ~self._done

    @property
    def result(self) -> pd.DataFrame:
        """The results; see `replay`."""
        cycles = self._round - WARM_UP
        seconds = np.maximum(self._last - self._first, 1e-9)
        counted = self._counted
        return pd.DataFrame(
            {
                "cycles_per_second": (cycles - 1) / seconds,
                "gc_cpu_cores": counted["gc_cpu_cores"] / seconds,
                "peak_heap_bytes": counted["peak_heap_bytes"],
                "goal_bytes": counted["goal_bytes"],
                **{name: counted[name] / cycles for name in REPLAYED[4:]},
            }
        )
