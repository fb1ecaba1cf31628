"""Every threshold above which a finding is reported, and its reason.

They are in one place because they are judgements, not facts. A batch job or a low-latency trading
system needs other values. In Python:
`gomem.diagnose(…, thresholds=gomem.Thresholds(pause_seconds=0.001))`. On the command line:
`gomem report … --threshold pause_seconds=0.001`.
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
    """The values from which gomem reports a finding, unless noted otherwise.

    Sizes are bytes, times seconds, shares fractions of 1.

    Attributes:
        notable_rss_fraction: Minimum size of a finding, as a share of RSS, for every cause that has
            bytes, in addition to the cause's own minimum: no limit or bill depends on less.
        large_rss_fraction: Share of RSS from which a note becomes a warning: a quarter of the
            memory is missing from the heap profile.
        holding_fraction: Factor on both shares after a snapshot with the same finding: memory that
            stays while RSS grows by a quarter is not resolved.
        idle_heap_bytes: idle-heap-kept. Minimum excess: two of the 4 MiB steps in which a heap
            grows, because a single step comes and goes. The runtime's goal depends on the heap in
            use at the last collection, which no file has, and can be above 1.1 × NextGC by as much.
        idle_by_goal_fraction: idle-heap-kept. Share of RSS from which idle heap is a note if a high
            goal of GOMEMLIMIT or GOGC keeps it: without the idle heap, RSS would be half.
        idle_unused_fraction: idle-heap-kept. The program does not need the idle heap if it
            allocates at most this share of that heap from the first snapshot to the last: the idle
            heap would last for ten such periods.
        released_bytes: released-but-resident. Minimum size: a single step of heap growth.
        untouched_bytes: untouched-now-resident. Minimum size: some large buffers.
        untouched_resident_fraction: Share of the large pointer-bearing allocations that must be
            resident if the release is unknown: a release that zeroes leaves nothing untouched.
        untouched_same_heap_fraction: Largest difference from the baseline's heap in use that still
            counts as the same heap.
        native_bytes: native-memory. Minimum size: malloc's arenas of a few threads take less.
        native_blocks_fraction: native-memory. If large blocks, which are only most likely malloc's,
            take this share, the confidence is at most likely.
        anonymous_bytes: anonymous-mapping. Minimum size: the few runtime structures that MemStats
            does not count take less.
        file_bytes: file-mapping. Minimum size: every program maps a few MiB of its own files.
        same_mappings: file-mapping. Mappings of the same part of a file: a few can be of use.
        deleted_files: file-mapping. Deleted files: a database has a few until its readers end.
        huge_pages_bytes: huge-pages. Minimum excess over Go's: two huge pages, at a heap's edges.
        huge_pages_whole_bytes: huge-pages. Minimum size if no file shows the excess: twice as much.
        huge_pages_whole_fraction: The same minimum as a share of RSS.
        fragmentation_bytes: heap-fragmentation. Minimum size: spans of a small heap are never full.
        fragmentation_inuse_fraction: Share of the heap in use from which free slots are a note if
            the goal is unknown or lower: only objects of the same size class can fill them.
        goroutine_count: goroutine-leak. Goroutines that are very many in a single snapshot: a
            server has one or two per connection, so thousands are normal.
        goroutine_bytes: Minimum stack size of so many goroutines.
        goroutine_growth: Minimum growth of the number of goroutines, from the first snapshot to the
            last, for the score: in any service, a hundred connections come and go.
        uncounted_goroutines: Minimum number of new descriptors if no file counts goroutines; also
            the minimum number of goroutines at the same place in a single dump.
        goroutine_wait_seconds: Minimum wait of goroutines in a single dump: no request takes as
            long, and clients time out earlier.
        goroutine_waits: Minimum number of different wait times, in minutes: the workers of a pool
            start at once.
        connection_pairs: Minimum number of unused HTTP client connections in a single dump: a
            Transport keeps at most a hundred by default.
        excerpt_goroutines: A dump with at most so many goroutines, and without main.main, is an
            excerpt that shows an example.
        huge_object_bytes: Minimum size of a single object at a crash for lack of memory, from which
            the report first asks for the object's length: usual buffers are smaller.
        huge_object_share: The same minimum as a share of the heap in use, if known: below it, what
            the program retains matters more.
        kept_live_share: Maximum HeapAlloc as a share of Sys, for the report to ask what the runtime
            keeps instead of what the program retains.
        kept_bytes: Minimum Sys for that question: any program has less.
        larger_listed_ratio: limit-risk. Multiple of the RSS of a process that the OOM killer
            killed, from which a larger process in its table is named.
        leaked_share: Goroutines that can never run again are critical if they hold this share of
            RSS, or if there are at least goroutine_count of them.
        goroutine_growth_ratio: Minimum growth of the number of goroutines as a multiple of the
            first number; the shape of the growth says more.
        one_each_ratio: Largest ratio between new objects and new goroutines at which the objects
            still count as one per goroutine: sampling and the lag of profiles cause as much.
        goroutines_beside: Minimum growth of the number of goroutines to be named together with
            growing memory outside Go.
        goroutine_change_ratio: Ratio from which a change of the number of goroutines is not noise
            in a comparison, even with one count per side.
        thread_growth: Minimum growth of the number of threads: a runtime starts a handful in
            addition to GOMAXPROCS, and a burst of system calls a dozen.
        thread_growth_ratio: The same growth as a multiple of the first number.
        many_threads: A number of threads worth a sentence: GOMAXPROCS and a handful are usual.
        finalizer_growth: Minimum growth of the number of waiting finalizers: a collection queues
            many at once, and all run before the next collection.
        finalizer_seconds: Wait from which a finalizer is stuck: dumps give whole minutes.
        profiling_bytes: profiling-memory. Minimum size: usual stacks take 2 to 5 MiB.
        profiler_cpu_fraction: profiling-memory. Share of the CPU used: by default it is below 1 %.
        stack_bytes: stack-growth. Minimum size: a few thousand normal goroutines hold less.
        stack_each_bytes: Average stack size that is large: 2 KiB, doubled five times.
        recursion_depth: stack-growth. Frames of one function in a single stack that count as
            recursion: middleware and visitors nest a handful of times.
        limit_full_fraction: limit-risk. Unreclaimable share of the limit that is critical: after
            one more step of heap growth, or the buffers of one more request, the kernel has no
            pages left to reclaim.
        limit_near_fraction: limit-risk. Unreclaimable share of the limit, now or in the worst case,
            that is a note: container alerts are usually set there.
        small_victim_bytes: limit-risk. A killed process with less RSS did not fill the machine: no
            Go service has so little memory.
        limit_soon_seconds: limit-risk. Growth that reaches the limit within this time is urgent.
        heading_share: A note about a smaller share of the memory is not a headline.
        limit_reach_times: limit-risk. Largest multiple of the growth that may remain to the limit.
        emptied_objects_share: emptied-map. Share of the most objects to which they must fall.
        emptied_bytes: Minimum heap that stays.
        emptied_heap_share: The same as a share of HeapAlloc then: small entries leave about this.
        growth_bytes: heap-growth. Minimum growth: below, rounding to 1 MiB and chance matter.
        growth_fraction: Minimum growth as a share of the live heap at the end.
        growth_few_bytes: Minimum growth between two readings: four times the smallest heap goal.
        growth_few_ratio: The same as a multiple of the first reading: GOGC can double the heap.
        growth_site_bytes: Minimum growth of a site by profiles alone: about eight samples.
        growth_watch_seconds: Minimum time of a growth: in less, work in progress looks the same.
        growth_readings: Required readings: two show a difference, three a direction.
        growth_many_readings: Readings from which more add nothing.
        growth_stopped_share: Part of what a steady rise of the live heap would have added to RSS
            since, below which a step between two profiles is over.
        growth_likely_kinds: Kinds of evidence that growth needs to be called likely.
        linear_share: Share of a rise that must be a line, not a fill, if only its shape is known.
        possible_probability: Minimum probability of a finding that is called possible.
        likely_probability: Minimum probability of a finding that is called likely.
        named_share: Minimum share of the growth for a site to be named.
        most_share: Share from which a part is called most.
        nearly_all_share: Share from which a part is called nearly all.
        waiters_per_holder: Minimum number of goroutines that wait for a lock, for each goroutine
            that might hold it. With fewer, they are at work, not stuck.
        growth_sure_seconds: Time after which growth is called likely, not possible: caches fill.
        spike_bytes: allocation-spike. Minimum excess over the usual level: four times the smallest
            heap goal. A start-up or a test has less.
        spike_ratio: Minimum multiple of the usual allocation: the GC keeps up with twice as much.
        spike_kept_fraction: Largest share of the excess allocation that can still be in use at the
            end of the interval: most of a spike is freed, most of growth stays.
        jump_ratio: allocation-spike. Minimum multiple of the level outside bursts. A heap in use
            that doubles within a cycle has exceeded the goal that GOGC=100 set.
        spike_climb_fraction: allocation-spike. Largest share of the time between rises that most of
            a rise can take: a longer climb is a fill.
        spike_back_fraction: allocation-spike. Share of the rise by which the level must have fallen
            back: what stays is growth, or loaded data.
        spike_away_fraction: allocation-spike. A level that is, or could be, high for at least this
            share of the time is how the program works, and a note.
        spike_usual_fraction: allocation-spike. A level that is high in more than this share of the
            readings, and of the time, is the usual level: the other readings are dips.
        spike_times: allocation-spike. Bursts from which they are how the program works: a note.
        spike_usual_bytes: allocation-spike. Minimum excess of such bursts: smaller ones are the
            work of any program.
        healthy_log_seconds: Time that a GC log must cover for "healthy": less is start-up, and long
            pauses in it alone are no finding.
        spike_rates: Required intervals with a rate: a spike and two others; the higher one counts.
        enough_cycles: Collections required for a finding. A heap that doubles from 4 MiB to 4 TiB
            needs twenty, so start-up alone never gets there.
        enough_cpu_seconds: GC CPU that is enough for a finding, however few collections took it.
        deciding_fraction: Share that decides: half. gc-pressure is reported if the pacer triggers
            at least this share of the marking. heap-headroom is not reported if a memory limit
            triggers more of the collections: then the headroom is a choice. A program that cannot
            be preempted makes this share of the pauses in a log long.
        marking_fraction: Share of GOMAXPROCS for marking that is always a finding: a tenth of the
            machine. Pauses are excluded, because the log overstates their cost.
        frequent_marking_fraction: The same share if collections are frequent, or a file states a
            low GOGC; the finding is possible. Analysers of Java's GC logs have long called less
            than 95 % for the program low.
        frequent_interval_seconds: Median interval up to which collections are frequent. With ten
            per second, most requests meet a marking phase, with its assists and write barriers.
        critical_marking_fraction: Share at which the GC hardly rests: marking has a quarter of Ps.
        small_room_fraction: Headroom, as a share of the live heap, below which the report asks what
            made it so small, and a GOGC that is low: half of what GOGC=100 leaves.
        limit_room_fraction: Headroom under a memory limit, as a share of the live heap. At this or
            less, frequent collections are a finding, however cheap. If no file says what sets the
            goals, so little headroom means a limit: a GOGC below 5 is rare.
        forced_cycles: Minimum number of forced collections; heap profiles force a few.
        forced_fraction: Minimum share of forced collections; below, the pacer still decides.
        forced_marking_fraction: Share of GOMAXPROCS for marking in forced collections that is a
            warning: below 3 % they cost little, and are a note.
        pause_seconds: Minimum length of a long pause. Go 1.5 promised less than 10 ms; since Go 1.8
            pauses take less than 1 ms, so 10 ms show that something is wrong.
        long_fraction: Minimum share of collections with a long pause: one in a hundred is a p99.
        long_cycles: Minimum number of long pauses: a busy kernel takes the CPU away once or twice.
        stopped_fraction: Share of the time in long pauses that is a warning: an equal share of
            evenly spaced requests meets a pause, so from 1 % on the p99 of requests shows pauses.
        worst_pause_seconds: A single pause of this length is a finding: users notice a tenth of a
            second. If most pauses are short, a warning requires `long_cycles` such pauses.
        headroom_goals: Goals required to know the usual headroom; two goals agree by chance.
        headroom_bytes: Minimum headroom for a note: no limit depends on less.
        headroom_fraction: The same minimum as a share of RSS, if RSS is known.
        skew_seconds: data-skew. Time between MemStats and smaps in which an uncounted collection
            can have run; readings by the same command take less.
        skew_bytes: data-skew. Difference in heap between the two readings if no collection is known
            between them: two of the 4 MiB steps in which a heap grows, because a step comes at any
            time and puts only itself into the wrong part.
        rss_disagreement: data-skew. Share of RSS by which another kernel file differs from the sum
            of the mappings: files read one after the other differ by less.
        rise_ratio: Ratio of the last to the first RSS, or memory in use, from which a rise is
            always reported, even without a known cause: people notice a rise by a fifth.
        live_change_ratio: Ratio of two runs' live heaps from which they did different work.
        same_work_ratio: Ratio of two runs' TotalAlloc up to which they allocated as much.
        other_pace_ratio: Ratio of their GC counts from which the pace of the GC differs.
        peak_ratio: Ratio to the current size from which an earlier snapshot is named as the peak:
            below a quarter more, the numbers look alike.
        given_back_fraction: Share of a finding's bytes by which RSS must have fallen for the memory
            to count as returned to the OS: most of it.
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
    same_mappings: int = 100
    deleted_files: int = 10
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
    larger_listed_ratio: float = 4.0
    leaked_share: float = 0.25
    goroutine_growth_ratio: float = 1.5
    one_each_ratio: float = 1.4
    goroutines_beside: int = 20
    goroutine_change_ratio: float = 2.0
    thread_growth: int = 20
    thread_growth_ratio: float = 2.0
    many_threads: int = 200
    finalizer_growth: int = 1_000
    finalizer_seconds: float = 60.0
    profiling_bytes: int = 16 * MIB
    profiler_cpu_fraction: float = 0.10
    stack_bytes: int = 8 * MIB
    stack_each_bytes: int = 64 * KIB
    recursion_depth: int = 10
    limit_full_fraction: float = 0.90
    limit_near_fraction: float = 0.80
    small_victim_bytes: int = 64 * MIB
    limit_soon_seconds: float = 24 * 3600.0
    heading_share: float = 0.01
    limit_reach_times: float = 10.0

    emptied_objects_share: float = 0.1
    emptied_bytes: int = 16 * MIB
    emptied_heap_share: float = 0.25
    growth_bytes: int = 8 * MIB
    growth_fraction: float = 0.10
    growth_few_bytes: int = 16 * MIB
    growth_few_ratio: float = 2.0
    growth_site_bytes: int = 4 * MIB
    growth_watch_seconds: float = 4.0
    growth_readings: int = 3
    growth_many_readings: int = 10
    growth_stopped_share: float = 0.25
    growth_likely_kinds: int = 2
    linear_share: float = 0.5
    possible_probability: float = 0.5
    likely_probability: float = 0.9
    named_share: float = 0.1
    most_share: float = 0.5
    nearly_all_share: float = 0.9
    waiters_per_holder: int = 10
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
    spike_usual_bytes: int = 32 * MIB
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
    forced_marking_fraction: float = 0.03
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
    live_change_ratio: float = 1.5
    same_work_ratio: float = 1.05
    other_pace_ratio: float = 1.5
    peak_ratio: float = 1.25
    given_back_fraction: float = 0.5

    def notable(self, least_bytes: int, rss_bytes: int | None) -> float:
        """Return the bytes worth a finding: the cause's own minimum, or a share of RSS if larger.

        At least 1, so that 0 bytes are never a finding.
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
        """Return whether a size rose by more than rounding, and by the minimum ratio."""
        return after_bytes - before_bytes >= MIB and after_bytes >= self.rise_ratio * before_bytes

    def are_frequent(self, interval_seconds: float | None) -> bool:
        """Return whether collections at this interval are frequent; false if it is unknown."""
        return interval_seconds is not None and interval_seconds <= self.frequent_interval_seconds

    def costly_marking_fraction(self, seconds: float | None, *, is_low: bool = False) -> float:
        """Return the share from which marking at an interval, or by a low GOGC, is expensive."""
        frequent = is_low or self.are_frequent(seconds)
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
        said = "--threshold {}: {} is not a number; wanted a number from 0 on"
        raise CaptureError(text(said, Quoted(setting), Quoted(repr(value))))
    return name, number
