"""What a gctrace log tells, in JSON: the report's `gc` and `collector`."""

from __future__ import annotations

from operator import itemgetter

from gomem.analysis.collector.cost import COSTS
from gomem.analysis.collector.heap_pacing import PACING, PACING_SUMMARY
from gomem.analysis.collector.live_heap import LIVE_HEAP
from gomem.analysis.collector.mmu import MMU
from gomem.analysis.collector.pauses import PAUSE_QUANTILES, TIMES
from gomem.analysis.collector.phases import PHASE_ROWS, PHASES
from gomem.analysis.collector.triggers import GOGC, TRIGGER_COUNTS, TRIGGERS
from gomem.views.json.schemas.fields import NUMBER, PROBABILITY, SIZE, words
from gomem.views.json.table import columns, frame, inner, plain

GC = inner(
    "gc", "What the collector cost; null throughout without a gctrace log.",
    *columns(COSTS, itemgetter, heap_live_first_bytes=SIZE, heap_live_last_bytes=SIZE,
             heap_peak_bytes=SIZE, heap_goal_bytes=SIZE),
    get="collection_cost",
)  # fmt: skip
COLLECTOR = inner(
    "collector", "What a gctrace log tells beyond its summary; null without one.",
    plain("mutator_utilization_fraction", "float64", "fraction",
          "CPU that the program kept over the whole log.", "utilization.mean_fraction",
          **PROBABILITY),
    frame("mmu", MMU, "Minimum mutator utilisation: the worst window of each length.",
          "utilization.curve", window_seconds=NUMBER, minimum_fraction=PROBABILITY),
    frame("pauses", PAUSE_QUANTILES,
          "Quantiles with their 95 % intervals; the quantile 1 is the longest.", "pauses.quantiles",
          what=words(TIMES), quantile=NUMBER | PROBABILITY),
    frame("triggers", TRIGGER_COUNTS, "Why collections ran.", "triggers.counts",
          trigger=words(TRIGGERS), fraction=PROBABILITY),
    frame("gogc", GOGC, "GOGC of each run, and how it is known.", "triggers.gogc"),
    frame("pacing", PACING_SUMMARY, "Survival, overshoot and headroom of collections.",
          "pacing.summary", what=words(PACING)),
    inner("live_heap", "Slope of the live heap in each run, once it had filled.",
          *columns(LIVE_HEAP), get="live", many=True),
    frame("phases", PHASE_ROWS, "Phases of each run, in order.", phase=words(PHASES)),
    nullable=True,
)  # fmt: skip
