"""The gctrace log, and memory returned to the OS, in JSON."""

from __future__ import annotations

from operator import itemgetter

from gomem.analysis.collector.cost import COSTS
from gomem.analysis.collector.heap_pacing import LIVE_HEAP, PACING, PACING_SUMMARY
from gomem.analysis.collector.mmu import MMU
from gomem.analysis.collector.pauses import PAUSE_QUANTILES, TIMES
from gomem.analysis.collector.phases import PHASE_ROWS, PHASES
from gomem.analysis.collector.triggers import GOGC, TRIGGER_COUNTS, TRIGGERS
from gomem.analysis.scavenger.goals import Goal
from gomem.analysis.scavenger.retention import PACED_BY, RETENTION
from gomem.analysis.scavenger.scavenger import FREED, ScavengerCpu
from gomem.analysis.scavenger.verdicts import EPISODES, INTERVALS, VERDICTS
from gomem.views.json.table import (
    NUMBER,
    PROBABILITY,
    SIZE,
    columns,
    frame,
    inner,
    of_class,
    plain,
    words,
    words_or_null,
)

GC = inner(
    "gc", "Cost of the GC; all null without a gctrace log.",
    *columns(COSTS, itemgetter, heap_live_first_bytes=SIZE, heap_live_last_bytes=SIZE,
             heap_peak_bytes=SIZE, heap_goal_bytes=SIZE),
    get="collection_cost",
)  # fmt: skip
COLLECTOR = inner(
    "collector", "Details of a gctrace log; null without one.",
    plain("mutator_utilization_fraction", "float64", "fraction",
          "The program's share of CPU over the whole log.", "utilization.mean_fraction",
          **PROBABILITY),
    frame("mmu", MMU, "Minimum mutator utilisation: the worst window of each length.",
          "utilization.curve", window_seconds=NUMBER, minimum_fraction=PROBABILITY),
    frame("pauses", PAUSE_QUANTILES,
          "Quantiles with their 95 % intervals; the quantile 1 is the longest.", "pauses.quantiles",
          what=words(TIMES), quantile=NUMBER | PROBABILITY),
    frame("triggers", TRIGGER_COUNTS, "Triggers of the GCs.", "triggers.counts",
          trigger=words(TRIGGERS), fraction=PROBABILITY),
    frame("gogc", GOGC, "GOGC of each run, and its source.", "triggers.gogc"),
    frame("pacing", PACING_SUMMARY, "Survival, overshoot and headroom of GCs.",
          "pacing.summary", what=words(PACING)),
    inner("live_heap", "Slope of the live heap in each run, after warm-up.",
          *columns(LIVE_HEAP), get="live", many=True),
    frame("phases", PHASE_ROWS, "Phases of each run, in order.", phase=words(PHASES)),
    nullable=True,
)  # fmt: skip
SCAVENGER = inner(
    "scavenger", "Memory returned to the OS, and why not more; null if unknown.",
    inner("goals", "Rules for returning heap to the OS, of all Go releases.",
          *of_class(Goal, "name formula applies note",
                    applies=words(("yes", "not yet", "no", "unknown"))),
          many=True),
    frame("moments", RETENTION, "Snapshots, in order.", "retention",
          paced_by=words_or_null(PACED_BY)),
    frame("intervals", INTERVALS, "Intervals from each snapshot to the next.",
          code=words(VERDICTS)),
    frame("episodes", EPISODES, "Consecutive intervals with the same verdict.",
          code=words(VERDICTS)),
    frame("freed", FREED, "Calls to debug.FreeOSMemory in the log."),
    plain("would_free_bytes", "Int64", "B",
          "Idle heap: debug.FreeOSMemory would release at least this.", **SIZE),
    plain("may_free_bytes", "Int64", "B",
          "Retained heap: debug.FreeOSMemory would release at most this.", **SIZE),
    plain("lazy_free_bytes", "Int64", "B", "Reduction of RSS under madvdontneed=1.", **SIZE),
    inner("cpu",
          "CPU of the scavenger between the first and the last snapshot; null before Go 1.20.",
          *of_class(ScavengerCpu, "background_seconds assist_seconds available_seconds"),
          plain("cpu_fraction", "float64", "fraction",
                "Share of the available CPU that the scavenger used.", "fraction"),
          nullable=True),
    nullable=True,
)  # fmt: skip
