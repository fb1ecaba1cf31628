"""The facts of one snapshot: everything that rules and views read about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.counters import CounterReading
from gomem.analysis.mappings.native import LargeBlocks, malloced_blocks
from gomem.analysis.memory.cgroup import CgroupUse, PageCache, cgroup_use, page_cache
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
from gomem.analysis.memory.totals import LISTED, LOGGED
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
ON_PAGE = "go_goroutines"
THREADS, THREADS_ON_PAGE = "/sched/threads/total:threads", "go_threads"
_MEMSTATS = ("memstats", "heap_text", "metrics", LOGGED)  # kinds that MemStats are read from
LIVE, GOAL = "/gc/heap/live:bytes", "/gc/heap/goal:bytes"
NO_GOAL = 1 << 60  # NextGC with GOGC=off and no limit is about 2^63
GOGC = "/gc/gogc:percent"
GOMEMLIMIT = "/gc/gomemlimit:bytes"
GOMAXPROCS = "/sched/gomaxprocs:threads"
SHARED_ANONYMOUS = "/dev/zero"  # ` (deleted)` behind it, as nobody ever opened it
NO_GOMEMLIMIT = 1 << 62  # math.MaxInt64, rounded as a float, stands for none


@dataclass(frozen=True)
class HeapGoal:
    """The heap goal in force: the size at which the next collection is to end."""

    size_bytes: int  # the goal
    path: str  # the file that says it
    field: str  # its name there: NextGC, /gc/heap/goal, or the log's


@dataclass(frozen=True)
class LimitedGoal:
    """A heap goal that GOMEMLIMIT makes."""

    limit_bytes: int  # GOMEMLIMIT
    goal_bytes: int  # the goal
    live_bytes: int  # what the last collection marked, or at most HeapAlloc
    by_gogc_bytes: float  # the goal that GOGC alone would make, at least; huge where it is off
    live_is_marked: bool = True  # whether that is what was marked
    limit_is_in_force: bool = True  # whether runtime/metrics say the limit, and not the environment

    @property
    def room_fraction(self) -> float:
        """Room above the live heap, as a part of it."""
        return (self.goal_bytes - self.live_bytes) / self.live_bytes if self.live_bytes else 0.0


@dataclass(frozen=True, repr=False)
class MomentFacts(Answer):
    """The facts of one moment."""

    name: str  # the moment
    ledger: Ledger | None = None  # where its resident bytes are; None if no artefact says
    # A row of the MemStats table, or of runtime/metrics in its place.
    memstats: pd.Series | None = None
    heap: pd.Series | None = None  # A row of `analysis.memory.scavenger.heap_return`, in bytes
    mappings: pd.DataFrame | None = None  # classified mappings
    large_blocks: LargeBlocks | None = None  # those of all moments that may be malloc's
    size_classes: pd.DataFrame | None = None  # BySize of MemStats; empty if it is not there
    metrics: Mapping[str, float] = field(default_factory=dict)  # runtime/metrics scalars by name
    paths: Mapping[str, str] = field(default_factory=dict)  # the artefact of each kind
    # How far MemStats and the mappings lie apart, in time and in collections.
    skew: Skew = field(default_factory=Skew)
    # Goroutines by stack, from a goroutine profile; see `capture.moment.GOROUTINES`.
    goroutines: pd.DataFrame | None = None
    goroutine_total: int | None = None  # how many there are; more than those of an excerpt
    # The cgroup's numbers by name, in bytes; empty without them.
    cgroup: Mapping[str, int | None] = field(default_factory=dict)
    limits_from: str = ""  # the file of another moment that says its limits, if none here does
    # Soft limits of the process by the kernel's name; None for no limit.
    limits: Mapping[str, int | None] = field(default_factory=dict)
    time: pd.Timestamp | None = None  # when it was, if that is known
    live_bytes: int | None = None  # what the last collection before it marked; None if nothing says
    # What a page of Prometheus metrics says of the process, by the page's names.
    scraped: Mapping[str, float] = field(default_factory=dict)
    # A row of MemStats of such a page, where `memstats` is of runtime/metrics.
    page: pd.Series | None = None
    # How many threads the process has, or a page says that its runtime made; None if nothing
    # says.
    threads: int | None = None
    pid: int | None = None  # the process, by /proc/PID/status; None if nothing says
    # The environment that the process was started with; None if nothing says.
    started: Environment | None = None
    # What ps, top, docker stats or the OOM killer say of it; None without any.
    listed: Listed | None = None
    logged: Logged | None = None  # what its own log says; None without such lines

    def __repr__(self) -> str:
        return f"<MomentFacts {self.name}: RSS {format_bytes(self.rss_bytes)}>"

    @cached_property
    def groups(self) -> MemoryGroups | None:
        """RSS by owner; None without a ledger."""
        if self.ledger is None:
            return None
        return memory_groups(self.ledger.parts, self.rss_bytes, self.live_bytes)

    @cached_property
    def is_malloced(self) -> pd.Series:
        """Which of its mappings are most likely large blocks of malloc's; none without smaps."""
        if self.mappings is None:
            return pd.Series(dtype=bool)
        return malloced_blocks(self.mappings, self.large_blocks)

    @cached_property
    def is_shared_anonymous(self) -> pd.Series:
        """Which of its mappings are shared memory of no file and no name; none without smaps.

        mmap(MAP_SHARED | MAP_ANONYMOUS), which the kernel shows as /dev/zero.
        """
        if self.mappings is None:
            return pd.Series(dtype=bool)
        return self.mappings["path"].astype("str").str.startswith(SHARED_ANONYMOUS)

    @property
    def counter_reading(self) -> CounterReading | None:
        """What the process counted until then; None without MemStats."""
        if self.memstats is None:
            return None
        paths = self.path("memstats"), self.path("metrics")
        page = self.page, self.paths.get(METRICS_PAGE, "")
        return CounterReading(self.memstats, self.metrics, *paths, self.name, *page)

    @property
    def goroutine_count(self) -> int | None:
        """How many there are, by a profile, by runtime/metrics, by a page; None without either.

        The profile stands first: since Go 1.26 the metric counts the runtime's own goroutines too,
        which `runtime.NumGoroutine` and the profile leave out on every release.
        """
        if self.goroutines is not None and len(self.goroutines):
            return self.goroutine_total or int(self.goroutines["goroutines"].sum())
        if GOROUTINES in self.metrics:
            return int(self.metrics[GOROUTINES])
        if ON_PAGE in self.scraped:
            return int(self.scraped[ON_PAGE])
        return None if self.logged is None else self.logged.sizes.get("goroutines")

    @property
    def goroutine_path(self) -> str:
        """The artefact that says how many there are."""
        if self.goroutines is not None and len(self.goroutines):
            return self.path("goroutine")
        if GOROUTINES in self.metrics:
            return self.path("metrics")
        on_page = ON_PAGE in self.scraped or self.logged is None
        return self.path(METRICS_PAGE if on_page else LOGGED)

    @property
    def rss_bytes(self) -> int | None:
        """RSS in bytes; None if unknown."""
        return None if self.ledger is None else self.ledger.rss_bytes

    @property
    def held_bytes(self) -> int | None:
        """RSS, or without it the memory reserved by Go, in bytes; None if both are unknown."""
        if self.rss_bytes is not None or self.groups is None:
            return self.rss_bytes
        return sum(self.groups.claimed.values())

    @cached_property
    def worst_case(self) -> WorstCase | None:
        """What RSS would be if all that is mapped were resident; None without both sides."""
        if self.ledger is None:
            return None
        return worst_case_rss(self.ledger.parts, self.rss_bytes, self.memstats)

    @cached_property
    def cgroup_use(self) -> CgroupUse | None:
        """How full the cgroup is, and of what; None without its files."""
        given_back = 0 if self.ledger is None else self.ledger.part("heap_released_resident")
        return cgroup_use(self.cgroup, given_back)

    @property
    def rss_is_listed(self) -> bool:
        """Whether only a table of processes says RSS."""
        return self.ledger is not None and self.ledger.rss_source.startswith(f"{LISTED} ")

    @property
    def page_cache(self) -> PageCache | None:
        """The page cache in what the cgroup uses; None without its memory.stat."""
        return page_cache(self.cgroup)

    @property
    def is_mostly_page_cache(self) -> bool:
        """Whether more of the cgroup is page cache than is resident."""
        return self.page_cache is not None and self.page_cache.bytes > (self.rss_bytes or 0)

    @cached_property
    def limit_advice(self) -> LimitAdvice | None:
        """A GOMEMLIMIT for the cgroup's limit; None without a limit, or without RSS."""
        use = self.cgroup_use
        if use is None or use.limit_bytes is None or self.ledger is None or self.rss_bytes is None:
            return None
        if self.memstats is None and self.mappings is None:  # nothing says what is Go's
            return None
        return advise_gomemlimit(use.limit_bytes, self.ledger.parts, self.rss_bytes, use)

    @property
    def gomemlimit_bytes(self) -> int | None:
        """The GOMEMLIMIT in force, else that at the start; None if none is set, or nothing says."""
        started = math.inf if self.started is None else self.started.memory_limit
        limit = self.metrics.get(GOMEMLIMIT, started)
        return int(limit) if limit < NO_GOMEMLIMIT else None

    @property
    def goal(self) -> HeapGoal | None:
        """The heap goal, the one that a page names; None where there is none, or nothing says.

        With GOGC=off and no limit it is a number that no heap reaches, which is no goal.
        """
        stats = self.memstats
        size = None if stats is None else stats.get("NextGC")
        if size is None or pd.isna(size) or size >= NO_GOAL:
            return None
        path = self.path("memstats")
        field = GOAL if path == self.paths.get("metrics") else "NextGC"
        return HeapGoal(int(size), path, field)

    @property
    def limited_goal(self) -> LimitedGoal | None:
        """The heap goal that GOMEMLIMIT makes; None where GOGC makes it.

        A goal is GOGC over what was live, and more where stacks and globals count. One below that
        can only be the limit's; so is every one where GOGC is off, whatever was live.
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
        """What is mapped against the limit on address space; None if there is no limit."""
        return address_space_use(self.limits, self.mappings)

    @property
    def arenas_rss_bytes(self) -> int | None:
        """Resident bytes of the Go heap's mappings; None without smaps."""
        if self.mappings is None:
            return None
        return int(self.mappings.loc[self.mappings["kind"] == "go-heap", "Rss"].sum())

    @property
    def idle_heap_bytes(self) -> int:
        """Idle heap in RSS, without what was never touched; 0 without a ledger."""
        if self.ledger is None:
            return 0
        return self.ledger.part("heap_idle") + self.ledger.part("heap_untouched")

    @property
    def hides_untouched(self) -> bool:
        """Whether memory that is not Go's may stand in RSS for heap that was never touched."""
        divided = self.ledger is not None and self.ledger.has("mapped_files")
        return self.mappings is None and not divided

    def path(self, kind: str) -> str:
        """The artefact of a kind, as evidence names it."""
        if kind == "memstats":
            row = self.memstats
            told = None if row is None else row.get("artefact")
            if told is not None:
                return str(told)
            kind = next((word for word in _MEMSTATS if word in self.paths), kind)
        elif kind == "smaps" and kind not in self.paths:
            kind = "pmap" if "pmap" in self.paths else kind
        return self.paths.get(kind, kind)


def seconds_of(moments: Sequence[MomentFacts]) -> NDArray[np.float64] | None:
    """When they were, since the first; None if a time is not known, or they are in no order."""
    times = [moment.time for moment in moments if moment.time is not None]
    if not times or len(times) < len(moments):
        return None
    seconds = np.array([(time - times[0]).total_seconds() for time in times])
    return seconds if (np.diff(seconds) >= 0).all() else None


def growth_to_limit(moments: Sequence[MomentFacts], use: CgroupUse | None) -> TimeToLimit | None:
    """When unreclaimable memory reaches the limit, along a line through the moments."""
    if use is None or use.limit_bytes is None:
        return None
    known = [
        (moment.time, float(moment.cgroup_use.unreclaimable_bytes))
        for moment in moments
        if moment.cgroup_use is not None and moment.time is not None
    ]
    if not known:
        return None
    times, sizes = (pd.Series(column) for column in zip(*known, strict=True))
    seconds = (times - times.iloc[0]).dt.total_seconds()
    return time_to_limit(seconds, sizes, use.limit_bytes)
