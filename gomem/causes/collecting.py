"""The cost of GC, in words and evidence shared by several causes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.analysis.collector.counters import LIMITER, PROCESS_CPU, CollectorCounters
from gomem.analysis.memory.live_heap import DEFAULT_GOGC
from gomem.causes.commands import TAKE_GC_LOG
from gomem.causes.evidence import known
from gomem.causes.finding import Evidence, Lack
from gomem.facts.settings import ASSUMED, Setting, text_of
from gomem.inputs.environ.parse import GOGC
from gomem.text import Command, Count, MomentName, Seconds, Share, Text, joined, text

if TYPE_CHECKING:
    from gomem.causes.cause import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.callers import RuntimeCpu
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.collector import CollectorFacts

MIN_GCS = 3  # for a direction of the heap
CLOCK_SECONDS = 0.001  # the resolution of the log's clock


def costly_cpu_profile(case: Case) -> RuntimeCpu | None:
    """Return the GC's share of a CPU profile; None if small, or of too little CPU time."""
    taken, limits = case.facts.callers.collector_cpu, case.thresholds
    if taken is None or taken.used_seconds < limits.enough_cpu_seconds:
        return None
    return taken if taken.fraction >= limits.critical_marking_fraction else None


def cpu_profile_evidence(taken: RuntimeCpu, part: str = "the GC") -> tuple[Evidence, ...]:
    """Return the numbers of a part of the runtime in a CPU profile as evidence."""
    return (
        *known(taken.path, "fraction", {f"share of {part}": taken.fraction}),
        *known(taken.path, "s", {"CPU used": taken.used_seconds}),
    )


def is_set_low(facts: CaptureFacts, limits: Thresholds) -> bool:
    """Whether GOGC is well below the default: it alone makes collections frequent.

    A file states it, or the goals of a log show it, to the upper end of what they allow. A memory
    limit sets the same goals only over a live heap that stays.
    """
    gogc, log = facts.settings.gogc, facts.collector
    most = DEFAULT_GOGC * limits.small_room_fraction
    if isinstance(gogc.value, str) or not (gogc.is_stated or gogc.is_inferred):
        return False
    if gogc.is_inferred and (log is None or log.limit_looks_the_same):
        return False
    return max(gogc.value, gogc.high if gogc.is_inferred else 0.0) <= most


def costly_marking(case: Case) -> float | None:
    """Return the share of the CPU that marking takes; None if that is not expensive, or unknown."""
    log, counters, limits = case.facts.collector, case.facts.counters, case.thresholds
    if log is not None:
        share, seconds = log.cost.marking_cpu_fraction, log.cost.interval.p50
    elif counters is not None:
        share, seconds = counters.marking_fraction, counters.interval_seconds
    else:
        return None
    least = limits.costly_marking_fraction(seconds, is_low=is_set_low(case.facts, limits))
    return None if share is None or share < least else share


def collector_is_busy(facts: CaptureFacts, limits: Thresholds) -> bool:
    """Whether the GC takes most of the CPU that the process uses, or a low GOGC keeps it running.

    Of all that GOMAXPROCS allows it can still be little.
    """
    taken, log = facts.callers.collector_cpu, facts.collector
    if taken is not None and taken.used_seconds >= limits.enough_cpu_seconds:
        return taken.fraction >= limits.deciding_fraction
    if log is None or not is_set_low(facts, limits):
        return False
    marking = log.cost.marking_cpu_fraction or 0.0
    return limits.are_frequent(log.cost.interval.p50) or marking >= limits.forced_marking_fraction


def is_enough_since_start(log: CollectorFacts, limits: Thresholds) -> bool:
    """Whether a log's last line alone says that GC was expensive, over many collections.

    Each line has the GC's share of the CPU since the start, so a few lines can be of a long run.
    """
    run = log.since_start
    if run is None or run.cycles < limits.enough_cycles:
        return False
    least = limits.costly_marking_fraction(run.interval_seconds)
    return run.cpu_fraction >= least and run.cpu_seconds >= limits.enough_cpu_seconds


def costlier_since_start(log: CollectorFacts, limits: Thresholds) -> float | None:
    """Return the GC's share of the CPU since the start, if expensive and far above the lines' own.

    Then GC was expensive before the first line.
    """
    run, own = log.since_start, log.cost.gc_cpu_fraction or 0.0
    if run is None or not is_enough_since_start(log, limits):
        return None
    return run.cpu_fraction if own < limits.deciding_fraction * run.cpu_fraction else None


def costs_at_a_pace(log: CollectorFacts, limits: Thresholds) -> bool:
    """Return whether GCs are frequent and take a part of the CPU that fewer of them would not."""
    taken = log.cost.gc_cpu_fraction or 0.0
    frequent = limits.are_frequent(log.cost.interval.p50)
    return frequent and taken >= limits.frequent_marking_fraction


def grew_at_each(log: CollectorFacts) -> bool:
    """Return whether a log has only a process's first GCs, each of a heap that grew."""
    few = log.cost.steady_cycles or log.cost.cycles < MIN_GCS
    return not few and not log.missing and log.runs[0].first_number == 1


def since_start_evidence(log: CollectorFacts) -> tuple[Evidence, ...]:
    """Return what a log's last line says of the whole run."""
    run = log.since_start
    if run is None:
        return ()
    return (
        *known(log.path, "count", {"GCs since the start": run.cycles}),
        *known(log.path, "s", {"process age at the last GC": run.seconds}),
        *known(log.path, "fraction", {"GC CPU since the start": run.cpu_fraction}),
    )


def cost_is_open(facts: CaptureFacts, limits: Thresholds) -> bool:
    """Whether collections are frequent, and no file says what they cost, nor that it is little.

    The CPU that the whole process uses is the most that they can have cost.
    """
    counters = facts.counters
    if facts.collector is not None or counters is None or counters.cpu_fraction is not None:
        return False
    used = counters.busy_cpus
    is_idle = used is not None and used < limits.frequent_marking_fraction
    return limits.are_frequent(counters.interval_seconds) and not is_idle


def scaled_gogc(gogc: Setting | None, factor: float) -> tuple[Text, Command]:
    """Return the present GOGC in words, and the command that sets `factor` times as much.

    Without a known GOGC, or with GOGC off, both are based on the default.
    """
    value = math.inf if gogc is None or gogc.known_by == ASSUMED else gogc.value
    if gogc is None or isinstance(value, str) or math.isinf(value):
        now, value = text("{} by default", text_of(GOGC, DEFAULT_GOGC)), DEFAULT_GOGC
    else:
        now = text("now {}{}", "about " if gogc.is_inferred else "", gogc.text)
    return now, Command(f"{GOGC}={text_of(GOGC, factor * value)}")


def at_gogc(facts: CaptureFacts) -> Text:
    """Return the GOGC that a file states, as a part of a title; empty if it is the default.

    That which goals show to be lower, too.
    """
    gogc = facts.settings.gogc
    if gogc.is_inferred and gogc.high < DEFAULT_GOGC:
        return text(" at about {}={}", GOGC, gogc.text)
    is_default = not gogc.is_stated or gogc.value in (DEFAULT_GOGC, math.inf)
    return Text() if is_default else text(" at {}={}", GOGC, gogc.text)


def every(interval_seconds: float | None) -> Text:
    """Return the interval between collections, as the end of "with a cycle …".

    Times of a log are in whole milliseconds: of 1 ms, nearly 2 can have passed.
    """
    if interval_seconds is not None and interval_seconds <= CLOCK_SECONDS:
        ticks = 1 + (interval_seconds >= CLOCK_SECONDS)
        return text("every {} or less", Seconds(ticks * CLOCK_SECONDS))
    return text("every {}", Seconds(interval_seconds))


def counted_cost(case: Case, counters: CollectorCounters) -> Text:
    """Return the cost of GC, as a clause: by a CPU profile, else by the process's own counters.

    Counters take the GC's share of all CPUs that the program may use; a profile, of the CPU used.
    """
    taken, share = costly_cpu_profile(case), Share(counters.cpu_fraction)
    if taken is not None and counters.none_since is None:
        return text("the GC takes {} of the CPU that the program uses", Share(taken.fraction))
    if counters.none_since is not None:
        since = MomentName(counters.none_since.moment)
        return text(
            "the GC took {} of the CPU until its last cycle; no cycle since {}", share, since
        )
    if counters.cpu_since_start:
        return text("the GC has taken {} of the CPU since the start", share)
    return text("the GC takes {} of the CPU", share)


def used_cpu(counters: CollectorCounters) -> Text:
    """Return the pace of the GC beside the CPU of the whole process, if its own is unknown."""
    cpus, interval = counters.busy_cpus, counters.interval_seconds
    cycle = Text() if interval is None else text("; a GC {} on average", every(interval))
    used = Text() if cpus is None else text("; the process uses {} of a CPU", Share(cpus))
    return joined("", (cycle, used))


def counted_pace(counters: CollectorCounters) -> Text:
    """Return the interval between counted collections, to follow their cost; empty if unknown."""
    interval = counters.interval_seconds
    if interval is None or counters.none_since is not None:
        return Text()
    return text(", with a cycle {} on average", every(interval))


def counted_evidence(case: Case, counters: CollectorCounters) -> tuple[Evidence, ...]:
    """Return the counters that support a finding without a log, and the CPU profile."""
    last, taken = counters.last, costly_cpu_profile(case)
    since = "" if counters.since_start else ", from the first snapshot to the last"
    end = "reading" if last.time("LastGC") is None else "LastGC"
    seconds = {f"from the first {end} to the last": counters.seconds}
    cycles = {f"NumGC{since}": counters.cycles, f"NumForcedGC{since}": counters.forced}
    paused = {f"PauseTotalNs{since}": counters.paused_seconds}
    return (
        *known(last.path, "count", cycles),
        *known(last.path_of("PauseTotalNs"), "s", paused),
        *known(last.path_of("LastGC"), "s", seconds),
        *known(counters.cpu_path, "fraction", {counters.cpu_field: counters.cpu_fraction}),
        *known(
            last.page_path or last.path,
            "s",
            {f"{PROCESS_CPU}{since}": counters.process_cpu_seconds},
        ),
        *limiter_evidence(counters),
        *(() if taken is None else cpu_profile_evidence(taken)),
    )


def limiter_evidence(counters: CollectorCounters | None) -> tuple[Evidence, ...]:
    """Return the last cycle at which the runtime limited the GC's CPU; empty if it did not."""
    if counters is None:
        return ()
    field = f"last GC with the GC CPU limiter (50 %) active ({LIMITER})"
    return known(counters.last.metrics_path, "count", {field: counters.limiter_cycle})


def marking_words(log: CollectorFacts, trigger: str) -> Text:
    """Return the CPU of collections with a trigger: marking, and at most with STW pauses."""
    marking, most = log.marking_share_of(trigger), log.collecting_share_of(trigger)
    least = Share(marking)
    if most is None or Share(most) == least:
        return text("{} of the CPU", least)
    return text("{} of the CPU ({} for marking)", Share(most), least)


def too_few_collections(
    case: Case,
    code: str,
    seen: Text,
    collections: tuple[int, str],
    evidence: tuple[Evidence, ...],
    *,
    least: int | None = None,
) -> Lack:
    """Return a `Lack`: too few collections with a trigger in a log, in total too cheap.

    `collections` has their number and their noun: `(3, "forced GC")`.
    """
    limits, (count, noun) = case.thresholds, collections
    nouns = noun, noun.replace("GC", "GCs")
    needed = least or limits.enough_cycles
    step = text(
        "Record a longer log under load, with at least {} or with {} of marking: {}.",
        Count(needed, *nouns),
        Seconds(limits.enough_cpu_seconds),
        TAKE_GC_LOG,
    )
    return Lack(code, seen, Text(Count(count, *nouns)), Text(Count(needed)), step, evidence)
