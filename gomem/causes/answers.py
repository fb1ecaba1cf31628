"""What the causes look at: the answers about a capture, moment by moment."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.counters import (
    CollectorCounters,
    CounterReading,
    collector_counters,
)
from gomem.analysis.collector.remembered_pauses import RememberedPauses, remembered_pauses
from gomem.analysis.mappings.native import LargeBlocks, malloced_blocks
from gomem.analysis.memory.groups import MemoryGroups, memory_groups
from gomem.analysis.memory.held_heap import GOGC_BY_DEFAULT, HeldHeap, held_heap
from gomem.analysis.memory.limits import (
    AddressSpace,
    CgroupUse,
    LimitAdvice,
    WorstCase,
    address_space_use,
    advise_gomemlimit,
    cgroup_use,
    worst_case_rss,
)
from gomem.analysis.memory.skew import Skew
from gomem.analysis.profiles.growth import GrowingSite, growing_site
from gomem.analysis.series.bursts import Bursts, find_bursts
from gomem.analysis.series.goroutine_growth import (
    GoroutineGrowth,
    begins,
    goroutine_growth,
    is_of_descriptors,
)
from gomem.analysis.series.jumps import Jump, find_jump
from gomem.analysis.series.trends import HALF, MOVES, Trend, above_the_lowest, trend_of
from gomem.causes.finding import Evidence, Severity
from gomem.causes.thresholds import Thresholds
from gomem.inputs.kinds import METRICS_PAGE
from gomem.releases import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gomem.analysis.memory.ledger import Ledger
    from gomem.analysis.memory.limits import TimeToLimit
    from gomem.analysis.profiles.allocation_spikes import Spike
    from gomem.analysis.profiles.growth import Series
    from gomem.analysis.profiles.in_use_totals import InUseTotals
    from gomem.analysis.profiles.large_objects import LargeObjects
    from gomem.analysis.profiles.level_jumps import InUseBursts, InUseJump
    from gomem.causes.collector_answers import CollectorAnswers
    from gomem.causes.finding import Lack
    from gomem.errors import Damage
    from gomem.inputs.pprof.sites import AllocationSites
    from gomem.releases import GoVersion

GOROUTINES = "/sched/goroutines:goroutines"
ON_PAGE = "go_goroutines"
_MEMSTATS = ("memstats", "heap_text", "metrics")  # kinds that MemStats are read from
LIVE = "/gc/heap/live:bytes"
GOGC = "/gc/gogc:percent"
GOMEMLIMIT = "/gc/gomemlimit:bytes"
SHARED_ANONYMOUS = "/dev/zero"  # ` (deleted)` behind it, as nobody ever opened it
DESCRIPTOR_BYTES = 384  # of a goroutine: 376 to 440 by release, in the size class above
NO_GOMEMLIMIT = 1 << 62  # math.MaxInt64, rounded as a float, stands for none


def gomemlimit_of(metrics: Mapping[str, float]) -> int | None:
    """The GOMEMLIMIT that runtime/metrics show; None if none is set, or nothing says."""
    set_to = metrics.get(GOMEMLIMIT, float(NO_GOMEMLIMIT))
    return int(set_to) if set_to < NO_GOMEMLIMIT else None


@dataclass(frozen=True)
class LimitedGoal:
    """A heap goal that GOMEMLIMIT makes.

    Attributes:
        limit_bytes: GOMEMLIMIT.
        goal_bytes: The goal.
        live_bytes: What the last collection marked.
        by_gogc_bytes: The goal that GOGC alone would make, at least; huge where it is off.
    """

    limit_bytes: int
    goal_bytes: int
    live_bytes: int
    by_gogc_bytes: float

    @property
    def room_fraction(self) -> float:
        """Room above the live heap, as a part of it."""
        return (self.goal_bytes - self.live_bytes) / self.live_bytes if self.live_bytes else 0.0


@dataclass(frozen=True)
class MomentFacts:
    """What is known about one moment.

    Attributes:
        name: The moment.
        ledger: Where its resident bytes are; None if no artefact says.
        memstats: A row of the MemStats table, or of runtime/metrics in its place.
        heap: A row of `analysis.memory.scavenger.heap_return`, in bytes.
        mappings: Classified mappings.
        large_blocks: Those of all moments that may be malloc's.
        size_classes: BySize of MemStats; empty if it is not there.
        metrics: runtime/metrics scalars by name.
        paths: The artefact of each kind.
        skew: How far MemStats and the mappings lie apart, in time and in collections.
        goroutines: Goroutines by stack, from a goroutine profile; see `capture.moment.GOROUTINES`.
        cgroup: The cgroup's numbers by name, in bytes; empty without them.
        limits: Soft limits of the process by the kernel's name; None for no limit.
        time: When it was, if that is known.
        live_bytes: What the last collection before it marked; None if nothing says.
        scraped: What a page of Prometheus metrics says of the process, by the page's names.
        page: A row of MemStats of such a page, where `memstats` is of runtime/metrics.
    """

    name: str
    ledger: Ledger | None = None
    memstats: pd.Series | None = None
    heap: pd.Series | None = None
    mappings: pd.DataFrame | None = None
    large_blocks: LargeBlocks | None = None
    size_classes: pd.DataFrame | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    skew: Skew = field(default_factory=Skew)
    goroutines: pd.DataFrame | None = None
    cgroup: Mapping[str, int | None] = field(default_factory=dict)
    limits: Mapping[str, int | None] = field(default_factory=dict)
    time: pd.Timestamp | None = None
    live_bytes: int | None = None
    scraped: Mapping[str, float] = field(default_factory=dict)
    page: pd.Series | None = None

    @cached_property
    def groups(self) -> MemoryGroups | None:
        """Whose the resident memory is; None without a ledger."""
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
            return int(self.goroutines["goroutines"].sum())
        if GOROUTINES in self.metrics:
            return int(self.metrics[GOROUTINES])
        return int(self.scraped[ON_PAGE]) if ON_PAGE in self.scraped else None

    @property
    def goroutine_path(self) -> str:
        """The artefact that says how many there are."""
        if self.goroutines is not None and len(self.goroutines):
            return self.path("goroutine")
        return self.path("metrics" if GOROUTINES in self.metrics else METRICS_PAGE)

    @property
    def rss_bytes(self) -> int | None:
        """Resident bytes, if they are known."""
        return None if self.ledger is None else self.ledger.rss_bytes

    @property
    def held_bytes(self) -> int | None:
        """Resident bytes, or where no file says, what Go claims; None if neither is known."""
        if self.rss_bytes is not None or self.groups is None:
            return self.rss_bytes
        return sum(self.groups.claimed.values())

    @property
    def rss_evidence(self) -> tuple[Evidence, ...]:
        """RSS, with the artefact and the field that say so; none where it is unknown."""
        if self.ledger is None or self.ledger.rss_bytes is None:
            return ()
        kind, _, field_name = self.ledger.rss_source.partition(" ")
        return (Evidence(self.path(kind), field_name, self.ledger.rss_bytes, "B"),)

    def heap_evidence(self, *fields: str) -> tuple[Evidence, ...]:
        """Sizes of MemStats by their names; none for one that is unknown."""
        heap, path = self.heap, self.path("memstats")
        if heap is None:
            return ()
        known = (name for name in fields if pd.notna(heap[name]))
        return tuple(Evidence(path, name, int(heap[name]), "B") for name in known)

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

    @cached_property
    def limit_advice(self) -> LimitAdvice | None:
        """A GOMEMLIMIT for the cgroup's limit; None without a limit, or without RSS."""
        use = self.cgroup_use
        if use is None or use.limit_bytes is None or self.ledger is None or self.rss_bytes is None:
            return None
        return advise_gomemlimit(use.limit_bytes, self.ledger.parts, self.rss_bytes, use)

    @property
    def gomemlimit_bytes(self) -> int | None:
        """The GOMEMLIMIT that is set; None if none is, or nothing says."""
        return gomemlimit_of(self.metrics)

    @property
    def limited_goal(self) -> LimitedGoal | None:
        """The heap goal that GOMEMLIMIT makes; None where GOGC makes it.

        A goal is GOGC over what was live, and more where stacks and globals count. One below that
        can only be the limit's.
        """
        limit, live = self.gomemlimit_bytes, self.metrics.get(LIVE)
        goal = None if self.memstats is None else self.memstats["NextGC"]
        if limit is None or live is None or goal is None or pd.isna(goal):
            return None
        if GOGC not in self.metrics:
            return None
        by_gogc = live * (1 + self.metrics[GOGC] / 100)
        return LimitedGoal(limit, int(goal), int(live), by_gogc) if goal < by_gogc else None

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

    def marked_bytes(self, gogc_fraction: float, gogc_of_stacks: float = 0.0) -> float | None:
        """What the last collection marked: by runtime/metrics, else by the goal that it set.

        None before the first collection, and where nothing says.
        """
        if LIVE in self.metrics:
            return self.metrics[LIVE] or None
        goal = self.goal_bytes(gogc_of_stacks)
        return None if math.isnan(goal) else max(0.0, goal) / (1 + gogc_fraction) or None

    def goal_bytes(self, gogc_of_stacks: float) -> float:
        """NextGC without what stacks add to it, as a fraction of all of them; NaN if unknown."""
        if self.memstats is None:
            return math.nan
        wanted = self.memstats.reindex(["NextGC", "StackInuse"])
        goal, stacks = wanted.astype("Float64").to_numpy(float, na_value=math.nan)
        return goal - gogc_of_stacks * stacks if gogc_of_stacks and stacks > 0 else goal

    @property
    def idle_heap_bytes(self) -> int:
        """Idle heap that is resident: without what nobody has touched; 0 without a ledger."""
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
            kind = next((one for one in _MEMSTATS if one in self.paths), kind)
        return self.paths.get(kind, kind)


@dataclass(frozen=True)
class Answers:
    """What is known about a capture.

    Attributes:
        moments: In order.
        go_version: The release, as far as known.
        damage: What could not be read.
        baseline: The capture it is compared with, if there is one.
        gc: What is known about the collector, if there is a log.
        thresholds: Where a finding begins.
        alloc_space: Who allocated most bytes since the start, by moment, where a profile says so.
        spike: The interval between two profiles that stands out most, if there are any.
        heap_paths: The heap profile of each moment that has one.
        jump: The highest jump of what is in use from its usual level, if there is one.
        bursts: The bursts of what is in use, if there are any.
        large_objects: The largest single object that was allocated between two heap profiles.
        in_use: How much is in use by heap profiles, if there are any.
        heap_series: What each stack has in use over the heap profiles, if there are enough.
        growth: How each of those stacks grows; see `analysis.profiles.growth.GROWTH`.
        limit_growth: When the last moment's limit is reached, as far as that can be told.
        lacks: What rules needed and had not.
        counterparts: The baseline's moment that each moment is compared with, by name.
        pauses: Stops of the world that MemStats remember, if no log tells them; see
            `gomem.inputs.memstats.table.PAUSES`.
    """

    moments: tuple[MomentFacts, ...]
    go_version: GoVersion
    damage: tuple[Damage, ...] = ()
    baseline: Answers | None = None
    gc: CollectorAnswers | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    alloc_space: Mapping[str, AllocationSites] = field(default_factory=dict)
    spike: Spike | None = None
    heap_paths: Mapping[str, str] = field(default_factory=dict)
    jump: InUseJump | None = None
    bursts: InUseBursts | None = None
    large_objects: LargeObjects | None = None
    in_use: InUseTotals | None = None
    heap_series: Series | None = None
    growth: pd.DataFrame | None = None
    limit_growth: TimeToLimit | None = None
    counterparts: Mapping[str, MomentFacts] = field(default_factory=dict)
    lacks: tuple[Lack, ...] = ()
    pauses: pd.DataFrame | None = None

    def lacking(self, lacks: tuple[Lack, ...]) -> Answers:
        """The same with what rules lack; what was worked out is not worked out again."""
        lacking = replace(self, lacks=lacks)
        known = {name: value for name, value in vars(self).items() if name not in vars(lacking)}
        vars(lacking).update(known)
        return lacking

    @property
    def largest_rss_bytes(self) -> int | None:
        """The largest RSS of any moment, if one is known."""
        known = [one.rss_bytes for one in self.moments if one.rss_bytes is not None]
        return max(known, default=None)

    def profile_path(self, moment: str) -> str:
        """The heap profile of a moment, as evidence names it."""
        return self.heap_paths.get(moment, moment)

    @property
    def gogc_fraction(self) -> float:
        """GOGC as runtime/metrics give it, 1.0 for 100; by default if they do not say."""
        known = {one.metrics[GOGC] / 100 for one in self.moments if GOGC in one.metrics}
        return known.pop() if len(known) == 1 else GOGC_BY_DEFAULT

    @property
    def _gogc_of_stacks(self) -> float:
        """By how much of all stacks a goal is raised: from Go 1.19 on by a small part, unknown."""
        whole = self.go_version.certainly(Fact.ALL_STACKS_COUNT)
        return self.gogc_fraction if whole else 0.0

    @property
    def log_ends_early(self) -> bool:
        """Whether the last moment counts clearly more collections than the log has."""
        logged, counted = None if self.gc is None else self.gc.last_number, self._last_number
        return logged is not None and counted is not None and logged < (1 - MOVES) * counted

    @cached_property
    def remembered_pauses(self) -> RememberedPauses | None:
        """The stops of the collections that the counters tell of; None if none is remembered."""
        counters, last = self.counters, self._last_number
        if self.pauses is None or counters is None or last is None:
            return None
        return remembered_pauses(self.pauses, last, counters.cycles, counters.seconds)

    @property
    def _last_number(self) -> int | None:
        """The number of the last collection that the counters know; None where none counts them."""
        return None if self.counters is None else self.counters.last.count("NumGC")

    @cached_property
    def counters(self) -> CollectorCounters | None:
        """What the process's own counters say of its collections; None where none counts them."""
        readings = [one.counter_reading for one in self.moments]
        return collector_counters([one for one in readings if one is not None])

    @property
    def limited_moment(self) -> MomentFacts | None:
        """The last moment that says who makes its goal, if GOMEMLIMIT does; None where GOGC does.

        A setting seldom changes: where a later moment does not say it, it is what it was.
        """
        told = [one for one in self.moments if one.memstats is not None and LIVE in one.metrics]
        return told[-1] if told and told[-1].limited_goal is not None else None

    @property
    def limit_decides(self) -> bool:
        """Whether a memory limit made most goals by the log, or without one that of a moment."""
        if self.gc is None:
            return any(one.limited_goal is not None for one in self.moments)
        limited = self.gc.triggers.of("limit")["cycles"]
        return bool(limited > self.thresholds.deciding_fraction * self.gc.cost.cycles)

    @cached_property
    def limit_may_decide(self) -> bool:
        """Whether goals leave so little room that a limit may make them, and no file says who."""
        small = self.thresholds.small_room_fraction
        if self.gc is not None:
            usual = self.gc.pacing.usual.headroom_fraction
            return self.gc.limit_is_possible and usual < small
        room = None if self.counters is None else self.counters.room_fraction
        return room is not None and room < small and self._limit_is_possible

    @property
    def _limit_is_possible(self) -> bool:
        """Whether the release knows GOMEMLIMIT, and no moment says what it is."""
        told = any(GOMEMLIMIT in one.metrics for one in self.moments)
        return not told and self.go_version.possibly(Fact.MEMORY_LIMIT)

    @property
    def limit_leaves_no_room(self) -> bool:
        """Whether next to nothing is allocated between collections, which cost much or are many.

        By the counters alone, where a limit may decide: a GOGC of less than 5 would do the same.
        """
        counters, limits = self.counters, self.thresholds
        if self.gc is not None or counters is None or not self.limit_may_decide:
            return False
        assert counters.room_fraction is not None  # or it might not decide
        if counters.cycles < limits.enough_cycles:
            return False
        many = limits.are_frequent(counters.interval_seconds)
        marking = counters.least_marking_fraction  # without the stops, which no limit makes
        dear = (
            counters.marking_fraction if marking is None else marking
        ) >= limits.marking_fraction
        cost = many or dear or counters.limiter_cycle is not None
        return cost and counters.room_fraction <= limits.limit_room_fraction

    @cached_property
    def held_heap(self) -> HeldHeap | None:
        """What the heap holds over the moments; None if fewer than two say.

        Where goroutines came and have stayed since, over the moments since: what rose with their
        number is theirs.
        """
        told = [(one, one.memstats) for one in self._settled if one.memstats is not None]
        if len(told) < 2:
            return None
        live = np.array([one.metrics.get(LIVE, np.nan) for one, _ in told], np.float64)
        stats = pd.DataFrame([row for _, row in told])
        stats["NextGC"] = [one.goal_bytes(self._gogc_of_stacks) for one, _ in told]
        return held_heap(
            stats,
            _seconds([one for one, _ in told]),
            live,
            self.gogc_fraction,
        )

    @property
    def _settled(self) -> Sequence[MomentFacts]:
        """The moments from when the number of goroutines stays; all, if it has not grown so."""
        counted = [one for one in self.moments if one.goroutine_count is not None]
        count = self.goroutines.count if len(counted) > 1 else None
        if count is None or not (self.goroutines.stopped and self._goroutines_multiplied):
            return self.moments
        few = count.last - MOVES * count.grown
        below = [one for one in counted if (one.goroutine_count or 0) < few]
        return self.moments[self.moments.index(below[-1]) + 1 :]

    @property
    def held_grown_bytes(self) -> float:
        """By how much more the heap holds at the last moment, if that rises; else 0."""
        held = self.held_heap
        trend = None if held is None else held.rising or held.may_be_rising
        if held is None or trend is None:
            return 0.0
        if trend is held.allocated and held.held is not None and held.held.low > 0:
            trend = held.held
        return max(0.0, trend.grown)

    def in_use_at_most(self, moment: MomentFacts) -> float | None:
        """What heap profiles have in use at most; None where they may lag by much.

        The last until then must count half of what was allocated: that of a program that turns
        sampling off, or on late, does not. Where the heap grows, all of them lag.
        """
        found, held = self.in_use, self.held_heap
        if found is None or moment.memstats is None:
            return None
        names = [one.name for one in self.moments]
        until = names[: names.index(moment.name) + 1]
        counted = [found.allocated[name] for name in until if name in found.allocated]
        total = moment.memstats["TotalAlloc"]
        if not counted or pd.isna(total) or counted[-1] < HALF * total:
            return None
        grows = held is not None and (held.rising or held.may_be_rising) is not None
        return None if grows or self.growing_site is not None else found.at_most

    @property
    def goroutines_heap_bytes(self) -> float:
        """What those goroutines hold of the heap that came, as far as that is known.

        Where profiles do not surely name a site that rises and is not theirs, all that rises is.
        """
        found, site = self.goroutines, self.growing_site
        if site is not None and not self.goroutines_hold(site):
            return found.heap_bytes
        return max(found.heap_bytes, self.held_grown_bytes)

    @cached_property
    def total_allocs(self) -> dict[str, int]:
        """What the process had allocated in all, by moment; empty if another one began."""
        told = {
            one.name: one.memstats["TotalAlloc"] for one in self.moments if one.memstats is not None
        }
        known = {name: int(total) for name, total in told.items() if pd.notna(total)}
        return known if list(known.values()) == sorted(known.values()) else {}

    def unused_idle_bytes(self, moment: MomentFacts) -> int:
        """Idle heap that makes most of a moment's RSS and that the program does not come to need.

        What was allocated from the first moment to the last is little against it; 0 where it is
        more, or where nothing says.
        """
        limits, rss, idle = self.thresholds, moment.rss_bytes, moment.idle_heap_bytes
        totals = list(self.total_allocs.values())
        if rss is None or moment.heap is None or len(totals) < 2:
            return 0
        needed = totals[-1] - totals[0] > limits.idle_unused_fraction * idle
        least = max(limits.idle_by_goal_fraction * rss, limits.notable(limits.idle_heap_bytes, rss))
        return 0 if needed or idle < least else idle

    @property
    def limit_growth_is_bounded(self) -> bool:
        """Whether what grows towards the last moment's limit is garbage, which a goal bounds."""
        growth = self.limit_growth
        return growth is not None and not self.may_grow_on(growth.seen_bytes)

    def may_grow_on(self, grown_bytes: float) -> bool:
        """Whether what grew by so much may do so without end: not garbage, which a goal bounds."""
        held = self.held_heap
        if held is None or held.rising or held.may_be_rising or self.goroutines_pile_up:
            return True
        claimed = [sum(one.groups.claimed.values()) for one in self.moments if one.groups]
        return not claimed or claimed[-1] - claimed[0] < HALF * grown_bytes

    @cached_property
    def resident_heap(self) -> Trend | None:
        """How the arenas' resident memory moves over the moments; None if fewer than two say."""
        told = [one for one in self.moments if one.arenas_rss_bytes is not None]
        levels = np.array([one.arenas_rss_bytes for one in told], np.float64)
        return trend_of(levels, _seconds(told))

    def outside_go(
        self,
        size_of: Callable[[MomentFacts], int],
        least_bytes: int,
        told: Sequence[MomentFacts] | None = None,
    ) -> list[tuple[MomentFacts, Severity]]:
        """The moments with much memory that is not Go's, each with how severe that is.

        A warning is a large part of RSS that has grown since an earlier moment and has not levelled
        off; the rest are notes.

        Args:
            size_of: The resident bytes of it at a moment that says so.
            least_bytes: The cause's own threshold, of the size and of the growth.
            told: The moments that say so; those with mappings if None.
        """
        limits, found = self.thresholds, []
        told = [one for one in self.moments if one.mappings is not None] if told is None else told
        sizes = [size_of(one) for one in told]
        trend = trend_of(np.array(sizes, np.float64), _seconds(told))
        levelled = trend is not None and trend.levels_off
        for moment, size, grown in zip(told, sizes, above_the_lowest(sizes), strict=True):
            least = limits.notable(least_bytes, moment.rss_bytes)
            if size >= least:
                large = size >= limits.large_rss_fraction * (moment.rss_bytes or 0)
                warns = large and grown >= least and not levelled
                found.append((moment, Severity.WARNING if warns else Severity.INFO))
        return found

    @cached_property
    def heap_alloc_jump(self) -> Jump | None:
        """The highest jump of HeapAlloc over its usual level; None if there is none."""
        told = [(one, one.memstats) for one in self.moments if one.memstats is not None]
        levels = np.array([row["HeapAlloc"] for _, row in told], np.float64)
        return find_jump(levels, _seconds([one for one, _ in told]))

    @cached_property
    def marking(self) -> tuple[MomentFacts, ...]:
        """The moments that say what collections marked, or the goal that follows from it."""
        return tuple(one for one in self.moments if self.marked_bytes(one))

    def marked_bytes(self, moment: MomentFacts) -> float:
        """What the last collection before a moment marked; 0 where nothing says."""
        return moment.marked_bytes(self.gogc_fraction, self._gogc_of_stacks) or 0.0

    @cached_property
    def marked_bursts(self) -> Bursts | None:
        """Bursts of what collections marked; None if there are none.

        Where GOGC is not known, the size may be wrong, but not the way it goes.
        """
        marks = [self.marked_bytes(one) for one in self.marking]
        return find_bursts(np.array(marks, np.float64), _seconds(self.marking))

    @cached_property
    def growing_site(self) -> GrowingSite | None:
        """Who allocates most of what surely rises in the heap profiles; None if nothing does."""
        if self.heap_series is None or self.growth is None:
            return None
        return growing_site(self.heap_series, self.growth)

    @cached_property
    def goroutines(self) -> GoroutineGrowth:
        """How the number of goroutines moves over the moments, and what goes with it."""
        counted = [one for one in self.moments if one.goroutine_count is not None]
        several = len(counted) > 1
        told = counted if several else self.moments
        stacked = [one for one in told if one.memstats is not None]
        stacks = [one.memstats["StackInuse"] for one in stacked if one.memstats is not None]
        beside = [one.goroutine_count or 0 for one in stacked]
        profiles = [one.goroutines for one in self.moments if one.goroutines is not None]
        return goroutine_growth(
            np.array([one.goroutine_count for one in counted], np.float64),
            _seconds(counted),
            stacks=trend_of(np.array(stacks, np.float64), _seconds(stacked)),
            counted_beside=beside[-1] - beside[0] if several and beside else None,
            profiles=[one for one in profiles if len(one)],
            growth=self.growth,
        )

    @cached_property
    def goroutines_pile_up(self) -> bool:
        """Whether the number of goroutines grows by enough to matter."""
        limits, found = self.thresholds, self.goroutines
        if found.count is not None:
            return found.rises and self.goroutines_grew
        stacks = found.stacks
        if stacks is not None and stacks.rises and stacks.grown >= limits.goroutine_bytes:
            return stacks.last >= limits.goroutine_growth_ratio * stacks.first
        return found.descriptors_bytes >= limits.goroutine_growth * DESCRIPTOR_BYTES

    @property
    def goroutines_rise(self) -> bool:
        """Whether they pile up, or rise by as many, if not to a multiple of what there were."""
        count, least = self.goroutines.count, self.thresholds.goroutine_growth
        many = count is not None and self.goroutines.rises and count.grown >= least
        return self.goroutines_pile_up or many

    @property
    def goroutines_grew(self) -> bool:
        """Whether enough more are counted at the last moment than at the first."""
        limits, count = self.thresholds, self.goroutines.count
        return (
            count is not None
            and count.moments >= limits.goroutine_growth_moments
            and count.grown >= limits.goroutine_growth
            and self._goroutines_multiplied
        )

    @property
    def _goroutines_multiplied(self) -> bool:
        """Whether a multiple is counted at the last moment, however few those are."""
        count = self.goroutines.count
        return (
            count is not None and count.last >= self.thresholds.goroutine_growth_ratio * count.first
        )

    def goroutines_hold(self, site: GrowingSite | None) -> bool:
        """Whether what rises in the heap is what goroutines hold that pile up.

        Args:
            site: Who allocates it; None if that is not known. By fewer profiles than it takes to be
                sure, it may as well allocate what the goroutines refer to.
        """
        if site is None or site.contents < self.thresholds.growth_profiles:
            return self.goroutines_pile_up
        if not self.goroutines_pile_up:
            return False
        return is_of_descriptors(site.stack) or begins(site.stack, self.goroutines.begun)


def _seconds(moments: Sequence[MomentFacts]) -> NDArray[np.float64] | None:
    """When they were, since the first; None if a time is not known, or they are in no order."""
    times = [one.time for one in moments]
    known = [one for one in times if one is not None]
    if not known or len(known) < len(times):
        return None
    seconds = np.array([(one - known[0]).total_seconds() for one in known])
    return seconds if (np.diff(seconds) >= 0).all() else None
