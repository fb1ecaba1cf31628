"""The facts of one snapshot: everything that rules and views read about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.counters import PROCESS_CPU, CounterReading
from gomem.analysis.mappings.native import LargeBlocks, malloced_blocks
from gomem.analysis.memory.cgroup import (
    HARD_LIMITS,
    HIGH_LIMITS,
    CgroupUse,
    PageCache,
    cgroup_use,
    page_cache,
)
from gomem.analysis.memory.groups import MemoryGroups, memory_groups
from gomem.analysis.memory.limits import (
    AddressSpace,
    LimitAdvice,
    TimeToLimit,
    WorstCase,
    address_space_use,
    advise_gomemlimit,
    time_to_limit,
    worst_case_rss,
)
from gomem.analysis.memory.skew import Skew
from gomem.analysis.memory.totals import CGROUP_TOTALS, LISTED, LOGGED
from gomem.inputs.answer import Answer
from gomem.inputs.kinds import METRICS_PAGE
from gomem.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gomem.analysis.memory.ledger import Ledger
    from gomem.analysis.memory.listed import Listed
    from gomem.analysis.memory.logged import Logged
    from gomem.facts.settings import Environment

GOROUTINES = "/sched/goroutines:goroutines"
OPEN_FILES = "process_open_fds"
ON_PAGE = "go_goroutines"
THREADS, THREADS_ON_PAGE = "/sched/threads/total:threads", "go_threads"
_MEMSTATS = ("memstats", "heap_text", "metrics", LOGGED)  # kinds of files with MemStats
LIVE, GOAL = "/gc/heap/live:bytes", "/gc/heap/goal:bytes"
NO_GOAL = 1 << 60  # with GOGC=off and no limit, NextGC is about 2^63
GOGC = "/gc/gogc:percent"
GOMEMLIMIT = "/gc/gomemlimit:bytes"
GOMAXPROCS = "/sched/gomaxprocs:threads"
SHARED_ANONYMOUS = "/dev/zero"  # followed by ` (deleted)`, because no file was opened
NO_GOMEMLIMIT = 1 << 62  # math.MaxInt64, rounded as a float, means none


@dataclass(frozen=True)
class HeapGoal:
    """The current heap goal: the heap size at which the next collection should end."""

    size_bytes: int  # the goal
    path: str  # the file that has it
    field: str  # its name in the file: NextGC, /gc/heap/goal, or the log's


@dataclass(frozen=True)
class LimitedGoal:
    """A heap goal set by GOMEMLIMIT."""

    limit_bytes: int  # GOMEMLIMIT
    goal_bytes: int  # the goal
    live_bytes: int  # what the last collection marked; if unknown, HeapAlloc, an upper bound
    by_gogc_bytes: float  # a lower bound of the goal that GOGC alone would set; huge if GOGC is off
    live_is_marked: bool = True  # whether `live_bytes` is what was marked
    limit_is_in_force: bool = True  # whether the limit is from runtime/metrics, not the environment

    @property
    def room_fraction(self) -> float:
        """Room above the live heap, as a fraction of it."""
        return (self.goal_bytes - self.live_bytes) / self.live_bytes if self.live_bytes else 0.0


@dataclass(frozen=True, repr=False)
class MomentFacts(Answer):
    """The facts of one snapshot."""

    name: str  # the snapshot
    ledger: Ledger | None = None  # the breakdown of RSS; None without the files for it
    # A row of the MemStats table, or the equivalent from runtime/metrics.
    memstats: pd.Series | None = None
    heap: pd.Series | None = None  # a row of `analysis.memory.scavenger.heap_return`, in bytes
    mappings: pd.DataFrame | None = None  # classified mappings
    large_blocks: LargeBlocks | None = None  # blocks of all snapshots that might be malloc's
    size_classes: pd.DataFrame | None = None  # BySize of MemStats; empty without it
    metrics: Mapping[str, float] = field(default_factory=dict)  # runtime/metrics scalars by name
    paths: Mapping[str, str] = field(default_factory=dict)  # the artefact of each kind
    # The time and the number of collections between MemStats and the mappings.
    skew: Skew = field(default_factory=Skew)
    # Goroutines by stack, from a goroutine profile; see `capture.moment.GOROUTINES`.
    goroutines: pd.DataFrame | None = None
    goroutine_total: int | None = None  # their number; for an excerpt, more than it shows
    # The cgroup's numbers by name, in bytes; empty without them.
    cgroup: Mapping[str, int | None] = field(default_factory=dict)
    limits_from: str = ""  # another snapshot's file with the limits, if this one has none
    # Soft limits of the process by the kernel's name; None for no limit.
    limits: Mapping[str, int | None] = field(default_factory=dict)
    time: pd.Timestamp | None = None  # its time; None if unknown
    live_bytes: int | None = None  # what the last collection marked; None if unknown
    # A row of the MemStats table that lacks fields that a ledger needs; None with `memstats`.
    partial: pd.Series | None = None
    # The process's Prometheus metrics by name.
    scraped: Mapping[str, float] = field(default_factory=dict)
    # MemStats from a Prometheus page, if `memstats` comes from runtime/metrics.
    page: pd.Series | None = None
    # The number of threads, or of those that the runtime made, from a metrics page; None if
    # unknown.
    threads: int | None = None
    pid: int | None = None  # the PID in /proc/PID/status; None if unknown
    # The environment at the process's start; None if unknown.
    started: Environment | None = None
    # The process in ps, top, docker stats or the OOM killer's lines; None without any.
    listed: Listed | None = None
    logged: Logged | None = None  # memory data in the program's own log; None without such lines

    def __repr__(self) -> str:
        return f"<MomentFacts {self.name}: RSS {format_bytes(self.rss_bytes)}>"

    @property
    def any_memstats(self) -> pd.Series | None:
        """MemStats, even if it lacks fields that a ledger needs."""
        return self.partial if self.memstats is None else self.memstats

    def counted(self, name: str) -> int | None:
        """A number of MemStats that have what a ledger needs; None if unknown."""
        return _number(self.memstats, name)

    def told(self, name: str) -> int | None:
        """A number of MemStats, even of those that lack fields; None if unknown."""
        return _number(self.any_memstats, name)

    @cached_property
    def groups(self) -> MemoryGroups | None:
        """RSS by owner; None without a ledger."""
        if self.ledger is None:
            return None
        sizes, has_smaps = (self.rss_bytes, self.live_bytes), self.mappings is not None
        return memory_groups(self.ledger.parts, *sizes, has_smaps=has_smaps)

    @cached_property
    def is_malloced(self) -> pd.Series:
        """The mappings that are most likely malloc's large blocks; none without smaps."""
        if self.mappings is None:
            return pd.Series(dtype=bool)
        return malloced_blocks(self.mappings, self.large_blocks)

    @cached_property
    def is_shared_anonymous(self) -> pd.Series:
        """The mappings of shared memory without file or name; none without smaps.

        Made by mmap(MAP_SHARED | MAP_ANONYMOUS); the kernel shows them as /dev/zero.
        """
        if self.mappings is None:
            return pd.Series(dtype=bool)
        return self.mappings["path"].astype("str").str.startswith(SHARED_ANONYMOUS)

    @property
    def counter_reading(self) -> CounterReading | None:
        """The process's counters at the snapshot; None without any of MemStats."""
        if (stats := self.any_memstats) is None:
            return None
        page, cpu = (self.page, self.paths.get(METRICS_PAGE, "")), self.scraped.get(PROCESS_CPU)
        paths = self.path("memstats"), self.path("metrics")
        return CounterReading(stats, self.metrics, *paths, self.name, *page, cpu, self.time)

    @property
    def goroutine_count(self) -> int | None:
        """The number of goroutines: profile, runtime/metrics, or metrics page; None without any.

        The profile has precedence: since Go 1.26 the metric includes the runtime's own goroutines,
        which `runtime.NumGoroutine` and the profile exclude in every release.
        """
        if self.goroutine_total:
            return self.goroutine_total
        if self.goroutines is not None and len(self.goroutines):
            return int(self.goroutines["goroutines"].sum())
        measured = self.metrics.get(GOROUTINES, self.scraped.get(ON_PAGE))
        if measured is not None:
            return int(measured)
        return None if self.logged is None else self.logged.sizes.get("goroutines")

    @property
    def goroutine_path(self) -> str:
        """The artefact with the number of goroutines."""
        if self.goroutine_total or (self.goroutines is not None and len(self.goroutines)):
            return self.path("goroutine")
        if GOROUTINES in self.metrics:
            return self.path("metrics")
        on_page = ON_PAGE in self.scraped or self.logged is None
        return self.path(METRICS_PAGE if on_page else LOGGED)

    @property
    def open_files(self) -> int | None:
        """The number of open files, sockets among them, by a metrics page; None without one."""
        return int(self.scraped[OPEN_FILES]) if OPEN_FILES in self.scraped else None

    @property
    def rss_bytes(self) -> int | None:
        """RSS in bytes; None if unknown."""
        return None if self.ledger is None else self.ledger.rss_bytes

    @property
    def held_bytes(self) -> int | None:
        """RSS, or if unknown, the memory reserved by Go, in bytes; None if both are unknown."""
        if self.rss_bytes is not None or self.groups is None:
            return self.rss_bytes
        return sum(self.groups.claimed.values())

    @cached_property
    def worst_case(self) -> WorstCase | None:
        """RSS if everything mapped were resident; None without MemStats and mappings."""
        if self.ledger is None:
            return None
        return worst_case_rss(self.ledger.parts, self.rss_bytes, self.memstats)

    @cached_property
    def cgroup_use(self) -> CgroupUse | None:
        """The cgroup's use, its limit and its parts; None without the cgroup's files."""
        given_back = 0 if self.ledger is None else self.ledger.part("heap_released_resident")
        return cgroup_use(self.cgroup, given_back)

    @property
    def rss_is_listed(self) -> bool:
        """Whether RSS comes only from a table of processes."""
        return self.ledger is not None and self.ledger.rss_source.startswith(f"{LISTED} ")

    @property
    def rss_is_of_cgroup(self) -> bool:
        """Whether RSS is the sum over a cgroup's processes."""
        return self.ledger is not None and self.ledger.rss_source.startswith(CGROUP_TOTALS)

    @property
    def page_cache(self) -> PageCache | None:
        """The page cache within the cgroup's use; None without memory.stat."""
        return page_cache(self.cgroup)

    @property
    def is_mostly_page_cache(self) -> bool:
        """Whether the cgroup's page cache is larger than RSS."""
        return self.page_cache is not None and self.page_cache.bytes > (self.rss_bytes or 0)

    @cached_property
    def limit_advice(self) -> LimitAdvice | None:
        """A suggested GOMEMLIMIT for the cgroup's limit; None without a limit or without RSS."""
        use = self.cgroup_use
        if use is None or use.limit_bytes is None or self.ledger is None or self.rss_bytes is None:
            return None
        if self.memstats is None and self.mappings is None:  # Go's part of the memory is unknown
            return None
        return advise_gomemlimit(use.limit_bytes, self.ledger.parts, self.rss_bytes, use)

    @property
    def gomemlimit_bytes(self) -> int | None:
        """The current GOMEMLIMIT, or that at the start; None if unset or unknown."""
        started = math.inf if self.started is None else self.started.memory_limit
        limit = self.metrics.get(GOMEMLIMIT, started)
        return int(limit) if limit < NO_GOMEMLIMIT else None

    @cached_property
    def goal(self) -> HeapGoal | None:
        """The heap goal; None if there is none, or if unknown.

        With GOGC=off and no limit, NextGC is too large to be a goal.
        """
        size = self.counted("NextGC")
        if size is None or size >= NO_GOAL:
            return None
        path = self.path("memstats")
        return HeapGoal(size, path, GOAL if path == self.paths.get("metrics") else "NextGC")

    @cached_property
    def limited_goal(self) -> LimitedGoal | None:
        """The heap goal that GOMEMLIMIT sets; None if GOGC sets it.

        GOGC sets a goal from the live heap, or a higher one if stacks and globals count. A lower
        goal must come from the limit; so does every goal if GOGC is off.
        """
        limit, stats, goal = self.gomemlimit_bytes, self.memstats, self.goal
        started = math.nan if self.started is None else self.started.gogc
        gogc = self.metrics[GOGC] / 100 if GOGC in self.metrics else started
        if limit is None or stats is None or goal is None or math.isnan(gogc):
            return None
        is_marked = LIVE in self.metrics
        if not is_marked and math.isfinite(gogc):
            return None
        live = self.metrics[LIVE] if is_marked else stats["HeapAlloc"]
        by_gogc = live * (1 + gogc)
        in_force = GOMEMLIMIT in self.metrics
        made = LimitedGoal(limit, goal.size_bytes, int(live), by_gogc, is_marked, in_force)
        return made if goal.size_bytes < by_gogc else None

    @cached_property
    def address_space(self) -> AddressSpace | None:
        """The mapped address space and its limit; None without a limit."""
        return address_space_use(self.limits, self.mappings)

    @property
    def arenas_rss_bytes(self) -> int | None:
        """Resident bytes of the Go heap's mappings; None without smaps."""
        if self.mappings is None:
            return None
        return int(self.mappings.loc[self.mappings["kind"] == "go-heap", "Rss"].sum())

    @property
    def idle_heap_bytes(self) -> int:
        """Idle heap in RSS, without untouched memory; 0 without a ledger."""
        if self.ledger is None:
            return 0
        return self.ledger.part("heap_idle") + self.ledger.part("heap_untouched")

    @property
    def hides_untouched(self) -> bool:
        """Whether non-Go memory in RSS can hide that a part of the heap was never touched."""
        divided = self.ledger is not None and self.ledger.has("mapped_files")
        return self.mappings is None and not divided

    def path(self, kind: str) -> str:
        """Return the artefact of a kind, as evidence names it."""
        if kind == "memstats":
            row = self.memstats
            told = None if row is None else row.get("artefact")
            if told is not None:
                return str(told)
            kind = next((word for word in _MEMSTATS if word in self.paths), kind)
        elif kind == "smaps" and kind not in self.paths:
            kind = "pmap" if "pmap" in self.paths else kind
        return self.paths.get(kind, kind)


def _number(row: pd.Series | None, name: str) -> int | None:
    value = None if row is None else row.get(name)
    return None if value is None or pd.isna(value) else int(value)


def with_limits(facts: Sequence[MomentFacts]) -> list[MomentFacts]:
    """Add the cgroup's limits to each snapshot that has the cgroup's use.

    A limit is a setting: if only one snapshot has it, it applies to all.
    """
    said = {
        name: {known.cgroup[name] for known in facts if name in known.cgroup}
        for name in (*HARD_LIMITS, *HIGH_LIMITS)
    }
    limits = {name: next(iter(values)) for name, values in said.items() if len(values) == 1}
    # The files that state a limit, or that there is none.
    stating = [f.path("cgroup") for f in facts if not f.cgroup.keys().isdisjoint(HARD_LIMITS)]
    return [
        replace(
            known,
            cgroup={**limits, **known.cgroup},
            limits_from="" if known.path("cgroup") in stating else next(iter(stating), ""),
        )
        if known.cgroup
        else known
        for known in facts
    ]


def seconds_of(moments: Sequence[MomentFacts]) -> NDArray[np.float64] | None:
    """Return seconds since the first snapshot; None if a time is unknown, or out of order."""
    times = [moment.time for moment in moments if moment.time is not None]
    if not times or len(times) < len(moments):
        return None
    seconds = np.array([(time - times[0]).total_seconds() for time in times])
    return seconds if (np.diff(seconds) >= 0).all() else None


def growth_to_limit(moments: Sequence[MomentFacts], use: CgroupUse | None) -> TimeToLimit | None:
    """Return when unreclaimable memory reaches the limit, on a line through the snapshots.

    Only snapshots count whose memory.stat has both anonymous memory and page cache.
    """
    if use is None or use.limit_bytes is None:
        return None
    known = [
        (moment.time, float(moment.cgroup_use.unreclaimable_bytes))
        for moment in moments
        if moment.time and moment.cgroup_use is not None and moment.cgroup_use.is_counted
    ]
    if not known:
        return None
    times, sizes = (pd.Series(column) for column in zip(*known, strict=True))
    seconds = (times - times.iloc[0]).dt.total_seconds()
    return time_to_limit(seconds, sizes, use.limit_bytes)
