"""Every threshold from which a finding is reported, and its reason.

They are in one place because they are judgements, not facts. Batch jobs or microsecond trading need
other values. In Python: `gomem.diagnose(…, thresholds=gomem.Thresholds(pause_seconds=0.001))`. On
the command line: `gomem report … --threshold pause_seconds=0.001`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from gomem.errors import CaptureError
from gomem.text import Quoted, text
from gomem.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NAMED = 3  # names suggested for an unknown one


@dataclass(frozen=True)
class Thresholds:
    """Where the usual ends. A value that reaches its threshold is a finding, unless noted.

    Sizes are bytes, times seconds, shares fractions of 1.

    Attributes:
        notable_rss_fraction: Share of RSS worth a finding: below, no limit or bill depends on it.
            For every cause that has bytes, beside its own minimum.
        large_rss_fraction: Share of RSS that makes a note a warning: a quarter of the memory is
            missing from the heap profile.
        holding_fraction: What is left of both shares after a snapshot with the same finding: memory
            that stays while RSS grows by a quarter is not resolved.
        idle_heap_bytes: idle-heap-kept. Two of the 4 MiB steps in which a heap grows: a single step
            comes and goes by itself. The runtime's goal follows from the heap in use at the last
            collection, which no file has, and lies above 1.1 × NextGC by as much.
        idle_by_goal_fraction: idle-heap-kept. Share of RSS from which idle heap that a far goal
            keeps, GOMEMLIMIT's or GOGC's, is a note: without it RSS would be half.
        idle_unused_fraction: idle-heap-kept. Allocations from the first moment to the last, as a
            share of idle heap, up to which the program does not need that heap: it would last for
            ten such periods.
        released_bytes: released-but-resident. A single step of heap growth.
        untouched_bytes: untouched-now-resident. A handful of large buffers.
        untouched_resident_fraction: Share of the large pointer-bearing allocations that must be
            resident where the release is not known: one that zeroes leaves none of it untouched.
        untouched_same_heap_fraction: How far the heap in use may differ from the baseline's and
            still count as the same; it may reach this.
        native_bytes: native-memory. Less is malloc's first arenas and a few threads' stacks.
        native_blocks_fraction: native-memory. Share in large blocks that are most likely malloc's,
            from which the whole is at most likely.
        anonymous_bytes: anonymous-mapping. The runtime has a few structures more than MemStats
            count; they stay below.
        file_bytes: file-mapping. Every program maps a few MiB of its own files.
        huge_pages_bytes: huge-pages, beyond what Go uses: two huge pages, the edges of any heap.
        huge_pages_whole_bytes: huge-pages, with nothing to say what was touched: twice as much,
            because it proves less.
        huge_pages_whole_fraction: The same, as a share of RSS: from a quarter on it is worth asking
            which pages Go wrote and which came with them.
        fragmentation_bytes: heap-fragmentation. The spans of a small heap are never full.
        fragmentation_inuse_fraction: Share of the heap in use that is worth a note though it lies
            within the goal: only objects of the same size class can fill it.
        goroutine_count: goroutine-leak, of a single snapshot. A server has one or two goroutines
            for each connection, so thousands are usual.
        goroutine_bytes: Stacks that so many goroutines must hold to matter.
        goroutine_growth: More goroutines at the last moment than at the first, for the score to
            look at them: a hundred connections come and go in any service.
        uncounted_goroutines: New descriptors that matter where goroutines are not counted; and
            goroutines in the same place of a single dump that matter.
        goroutine_wait_seconds: How long they must have waited in a single dump: no request takes as
            long, and clients' timeouts end before.
        goroutine_waits: Since how many different minutes: the workers of a pool began at once.
        connection_pairs: Connections of HTTP clients that nothing uses, in a single dump: a
            Transport keeps a hundred at most, unless it is told to keep more.
        excerpt_goroutines: Goroutines in a dump of stacks, up to which it is an excerpt that shows
            an example, if main.main is not among them.
        huge_object_bytes: A single object that a program asked for as it ran out of memory, from
            which its length is to be checked first: usual buffers are smaller.
        huge_object_share: The same, as a share of the heap in use, if that is known: what is
            retained is more, otherwise.
        kept_live_share: Share of what Go has of the OS, up to which HeapAlloc is small beside it:
            then the question is what the runtime keeps, not what the program retains.
        kept_bytes: The least that Go has of the OS for that question: less is any program's own.
        leaked_share: Share of RSS that goroutines hold that can never run again, to be critical;
            as many as goroutine_count are, too.
        goroutine_growth_ratio: The same, as a multiple of the first; how they came says more.
        one_each_ratio: How far from one the objects that came for each goroutine that came can be,
            to be theirs: sampling and the lag of profiles are as large.
        goroutines_beside: More goroutines than at the first moment that are worth naming beside
            memory outside Go that grows with them.
        goroutine_change_ratio: In a comparison, how many times as many are not noise, however often
            they were counted.
        thread_growth: More threads at the last moment than at the first: a runtime makes a handful
            beside GOMAXPROCS, and a burst of system calls a dozen.
        thread_growth_ratio: The same, as a multiple of the first.
        finalizer_growth: More finalizers waiting at the last moment than at the first: a collection
            queues many at once, and all are run before the next.
        finalizer_seconds: How long a finalizer must have waited in the same place to be stuck,
            whatever else is known: dumps give full minutes.
        profiling_bytes: profiling-memory. The stacks of a usual program take 2 to 5 MiB.
        stack_bytes: stack-growth. A few thousand usual goroutines hold less.
        stack_each_bytes: Average stack that is large: 2 KiB, doubled five times.
        recursion_depth: stack-growth. How often a function of the program must be in a single stack
            to be its recursion: middleware and visitors nest a handful of times.
        limit_full_fraction: limit-risk. Share of the limit that cannot be reclaimed: one more step
            of heap growth, or one more request's buffers, and the kernel has no pages left to take.
        limit_near_fraction: limit-risk. Share of the limit that cannot be reclaimed, now or in the
            worst case, that is worth a note: container alerts are usually set there.
        small_victim_bytes: limit-risk. RSS of a process that the kernel ended, below which it is
            not what filled the machine: none that runs a Go service has so little memory.
        limit_soon_seconds: limit-risk. Growth that reaches the limit in less than this: an operator
            who reads the report today must know.
        heading_share: Share of the memory below which a note heads no page: nobody looks for it.
        limit_reach_times: limit-risk. How many times the observed growth can be left to the limit:
            a line does not reach an order of magnitude beyond its points.
        growth_bytes: heap-growth. Below, rounding to 1 MiB and chance matter.
        growth_fraction: The same, as a share of the live heap at the end.
        growth_few_bytes: Growth between the only two readings that is worth a `possible` finding:
            twice as much as otherwise, and four times the smallest heap goal.
        growth_few_ratio: The same, as a multiple of the first reading: below 2, GOGC can let the
            heap swing so far.
        growth_readings: Readings of the live heap: two show a difference, three a direction.
        growth_many_readings: Readings from which more of them add nothing.
        growth_likely_kinds: Kinds of evidence that must show it to be called likely: a single kind,
            such as the log of a job that keeps its work until it ends, does not show the end.
        linear_share: Share of a rise that must be a line rather than a fill that saturates, where
            only that is known.
        possible_probability: How often such a case must have been right to be called possible.
        likely_probability: The same, to be called likely.
        named_share: Share of the growth that a site needs to be named.
        most_share: Share from which a part is called most of it.
        nearly_all_share: Share from which it is called nearly all.
        growth_sure_seconds: Time after which growth is called likely, not possible: caches fill.
        spike_bytes: allocation-spike, beyond the usual: four times the smallest heap goal. Less
            is a start-up's, or a test's.
        spike_ratio: Multiple of the usual. With GOGC=100 the collector keeps up with twice as much.
        spike_kept_fraction: Share of what was allocated beyond the usual that can still be in use
            at the end of the interval: most of a spike is freed, most of growth stays.
        jump_ratio: allocation-spike, of a level: multiple of the usual. A heap in use that doubles
            within a cycle has passed the goal that GOGC=100 set for it.
        spike_climb_fraction: allocation-spike. How long most of a rise can take, as a share of the
            time between rises: a longer climb is a fill.
        spike_back_fraction: allocation-spike. How far the level must have fallen from its highest:
            what is retained is growth, or something loaded.
        spike_away_fraction: allocation-spike. Share of the time from which a level that is high, or
            can have been between two readings, is how the program works, and a note.
        spike_usual_fraction: allocation-spike. Share of the readings, and of the time, above which
            a level that is high is the usual one: the others are dips.
        spike_times: allocation-spike. Excursions from which they are how the program works, and a
            note; for the score, more add nothing.
        healthy_log_seconds: What a GC log must cover to call a process healthy: less is its
            start-up.
        spike_rates: Intervals with a rate: a spike and two others, of which the higher counts.
        enough_cycles: Collections required for a finding. A heap that doubles from 4 MiB to 4 TiB
            needs twenty, so a start-up alone never gets there.
        enough_cpu_seconds: CPU of the GC that is enough for a finding in however few collections:
            less is done before it is noticed.
        deciding_fraction: Share that decides: half. Of the marking, by trigger: gc-pressure is
            reported where at least so much is the pacer's; heap-headroom is not where more of the
            collections are a memory limit's, because then that room is a choice. Of the stops of a
            log: a program that cannot be stopped makes so many long.
        marking_fraction: Share of GOMAXPROCS for marking that is always a finding: a tenth of the
            machine. Of marking, because the log overstates what stops take.
        frequent_marking_fraction: Share that is possible where collections are frequent. The
            analysers of Java's logs have called less than 95 % for the program low for years.
        frequent_interval_seconds: Median interval that is frequent, this or less. Ten in a second:
            most requests then meet a marking phase, with its assists and its write barriers.
        critical_marking_fraction: Share at which the GC hardly rests: marking has a quarter of the
            Ps, so a GC that spends a quarter overall is always marking.
        small_room_fraction: Room above the live heap, as a part of it, of which to ask who made it
            so small: half of what GOGC=100 leaves.
        limit_room_fraction: Room that a memory limit leaves above the live heap, as a part of it;
            at this or less, frequent collections are a finding however cheap, and where no file
            says what makes the goals, a limit does: a GOGC below 5 is rare.
        forced_cycles: Collections forced by the program; a few come from tests and heap profiles.
        forced_fraction: The same, of all. Below a quarter the pacer still decides.
        forced_marking_fraction: Share of GOMAXPROCS for marking in forced collections that makes
            them a warning: below 1 % they hardly cost anything, and are a note.
        pause_seconds: A stop of the world that is long. Go 1.5 promised less than 10 ms; since 1.8
            stops take less than 1 ms, so 10 ms say that something is wrong.
        long_fraction: Share of collections that stopped that long: one in a hundred is a p99.
        long_cycles: How many at least: a busy kernel takes the CPU away once or twice.
        stopped_fraction: Share of the time in such stops that is a warning: of requests that come
            evenly, as many meet a stop, so from 1 % on it is in their p99.
        worst_pause_seconds: A single stop that is a finding by itself: users notice a tenth of a
            second. Where most stops are short it takes `long_cycles` of them to be a warning.
        headroom_goals: Goals it takes to speak of the usual room; two agree by chance.
        headroom_bytes: Room for garbage worth a note: below, no limit depends on it.
        headroom_fraction: The same, as a share of RSS where that is known.
        skew_seconds: data-skew. Time between MemStats and smaps in which a collection can have run
            uncounted; readings made by the same command take less.
        skew_bytes: data-skew. Difference in heap between the two readings, where no collection is
            known between them: two of the 4 MiB steps in which a heap grows, since a step comes at
            any time, and moves only itself into the wrong part.
        rss_disagreement: data-skew. Share of RSS by which another file of the kernel's differs from
            the sum of the mappings: files that are read one after the other differ by less.
        rise_ratio: Multiple of the first RSS, or of what was first in use, from which a rise is
            always reported, even without a known cause: people notice and report a fifth more.
        peak_ratio: Multiple of the current size from which an earlier moment is named as the peak:
            below a quarter more, the numbers read alike.
        given_back_fraction: Share of a finding's bytes by which RSS must have fallen for them to
            have been returned to the OS: most of them.
    """

    notable_rss_fraction: float = 0.10
    large_rss_fraction: float = 0.25
    holding_fraction: float = 0.8
    idle_heap_bytes: int = 8 * MIB
    idle_by_goal_fraction: float = 0.50
    idle_unused_fraction: float = 0.10
    released_bytes: int = 4 * MIB
    untouched_bytes: int = 8 * MIB
    untouched_resident_fraction: float = 0.90
    untouched_same_heap_fraction: float = 0.10
    native_bytes: int = 8 * MIB
    native_blocks_fraction: float = 0.10
    anonymous_bytes: int = 4 * MIB
    file_bytes: int = 4 * MIB
    huge_pages_bytes: int = 4 * MIB
    huge_pages_whole_bytes: int = 8 * MIB
    huge_pages_whole_fraction: float = 0.25
    fragmentation_bytes: int = 8 * MIB
    fragmentation_inuse_fraction: float = 0.25
    goroutine_count: int = 10_000
    goroutine_bytes: int = 8 * MIB
    goroutine_growth: int = 100
    uncounted_goroutines: int = 1_000
    goroutine_wait_seconds: float = 600.0
    goroutine_waits: int = 5
    connection_pairs: int = 300
    excerpt_goroutines: int = 2
    huge_object_bytes: int = 64 * MIB
    huge_object_share: float = 0.25
    kept_live_share: float = 0.25
    kept_bytes: int = 64 * MIB
    leaked_share: float = 0.25
    goroutine_growth_ratio: float = 1.5
    one_each_ratio: float = 1.4
    goroutines_beside: int = 20
    goroutine_change_ratio: float = 2.0
    thread_growth: int = 20
    thread_growth_ratio: float = 2.0
    finalizer_growth: int = 1_000
    finalizer_seconds: float = 60.0
    profiling_bytes: int = 16 * MIB
    stack_bytes: int = 8 * MIB
    stack_each_bytes: int = 64 * KIB
    recursion_depth: int = 10
    limit_full_fraction: float = 0.90
    limit_near_fraction: float = 0.80
    small_victim_bytes: int = 64 * MIB
    limit_soon_seconds: float = 24 * 3600.0
    heading_share: float = 0.01
    limit_reach_times: float = 10.0

    growth_bytes: int = 8 * MIB
    growth_fraction: float = 0.10
    growth_few_bytes: int = 16 * MIB
    growth_few_ratio: float = 2.0
    growth_readings: int = 3
    growth_many_readings: int = 10
    growth_likely_kinds: int = 2
    linear_share: float = 0.5
    possible_probability: float = 0.5
    likely_probability: float = 0.9
    named_share: float = 0.1
    most_share: float = 0.5
    nearly_all_share: float = 0.9
    growth_sure_seconds: float = 600.0
    spike_bytes: int = 16 * MIB
    spike_ratio: float = 3.0
    spike_kept_fraction: float = 0.5
    jump_ratio: float = 2.0
    spike_climb_fraction: float = 0.25
    spike_back_fraction: float = 0.5
    spike_away_fraction: float = 0.5
    spike_usual_fraction: float = 0.7
    spike_times: int = 3
    spike_rates: int = 3
    healthy_log_seconds: float = 1.0

    enough_cycles: int = 20
    enough_cpu_seconds: float = 1.0
    deciding_fraction: float = 0.5
    marking_fraction: float = 0.10
    frequent_marking_fraction: float = 0.05
    frequent_interval_seconds: float = 0.1
    critical_marking_fraction: float = 0.25
    small_room_fraction: float = 0.5
    limit_room_fraction: float = 0.05
    forced_cycles: int = 10
    forced_fraction: float = 0.25
    forced_marking_fraction: float = 0.01
    pause_seconds: float = 0.010
    long_fraction: float = 0.01
    long_cycles: int = 3
    stopped_fraction: float = 0.01
    worst_pause_seconds: float = 0.1
    headroom_goals: int = 3
    headroom_bytes: int = 64 * MIB
    headroom_fraction: float = 0.25

    skew_seconds: float = 1.0
    skew_bytes: int = 8 * MIB
    rss_disagreement: float = 0.1

    rise_ratio: float = 1.2
    peak_ratio: float = 1.25
    given_back_fraction: float = 0.5

    def notable(self, least_bytes: int, rss_bytes: int | None) -> float:
        """Return the bytes worth a finding: the cause's own minimum, or a share of RSS if larger.

        At least 1, so that 0 bytes are never a finding.

        Args:
            least_bytes: The cause's own threshold.
            rss_bytes: RSS of the snapshot; None if unknown.
        """
        return max(1, least_bytes, self.notable_rss_fraction * (rss_bytes or 0))

    def while_holding(self) -> Thresholds:
        """Return the thresholds after a snapshot with the same finding: smaller shares of RSS."""
        return replace(
            self,
            notable_rss_fraction=self.holding_fraction * self.notable_rss_fraction,
            large_rss_fraction=self.holding_fraction * self.large_rss_fraction,
        )

    def has_grown(self, before_bytes: int, after_bytes: int) -> bool:
        """Return whether a size rose by more than rounding, and by the minimum ratio.

        Args:
            before_bytes: The first size.
            after_bytes: The last size.
        """
        return after_bytes - before_bytes >= MIB and after_bytes >= self.rise_ratio * before_bytes

    def are_frequent(self, interval_seconds: float | None) -> bool:
        """Return whether collections at this interval are frequent; false if it is unknown."""
        return interval_seconds is not None and interval_seconds <= self.frequent_interval_seconds

    def costly_marking_fraction(self, interval_seconds: float | None) -> float:
        """Return the share of the CPU from which marking at this interval is expensive."""
        frequent = self.are_frequent(interval_seconds)
        return self.frequent_marking_fraction if frequent else self.marking_fraction

    @classmethod
    def of(cls, settings: Iterable[str]) -> Thresholds:
        """Return the default thresholds, with those that `NAME=VALUE` texts set, in base units.

        Raises:
            CaptureError: A text does not have this form, or names an unknown threshold.
        """
        return cls(**dict(map(_setting, settings)))


def _setting(setting: str) -> tuple[str, Any]:
    name, equals, value = setting.partition("=")
    usual = {field.name: field.default for field in fields(Thresholds)}
    if not equals or name not in usual:
        near = get_close_matches(name, usual) or [
            known for known in usual if name and name in known
        ]
        wanted = " or ".join(f"{known}={usual[known]}" for known in near[:MAX_NAMED])
        question = f"did you mean {wanted}? " if near else "wanted NAME=VALUE; "
        what = text("{} is not a threshold", Quoted(repr(name))) if equals else "not NAME=VALUE"
        said = "--threshold {}: {}; {}gomem explain thresholds lists all"
        raise CaptureError(text(said, Quoted(setting), what, question))
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not number >= 0:
        said = "--threshold {}: {} is not a number; wanted one from 0 on"
        raise CaptureError(text(said, Quoted(setting), Quoted(repr(value))))
    return name, number
