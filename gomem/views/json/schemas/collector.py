"""The schema of what a gctrace log tells: the report's `gc` and `collector`."""

from __future__ import annotations

from gomem.analysis.collector.cost import COSTS
from gomem.analysis.collector.heap_pacing import PACING, PACING_SUMMARY
from gomem.analysis.collector.live_heap import LIVE_HEAP
from gomem.analysis.collector.mmu import MMU
from gomem.analysis.collector.pauses import PAUSE_QUANTILES, TIMES
from gomem.analysis.collector.phases import PHASE_ROWS, PHASES
from gomem.analysis.collector.triggers import GOGC, TRIGGER_COUNTS, TRIGGERS
from gomem.inputs.schema import Column
from gomem.views.json.schemas.fields import NUMBER, PROBABILITY, SIZE, or_null, record, rows, words

UTILIZATION = (
    Column(
        "mutator_utilization_fraction",
        "float64",
        "fraction",
        "CPU that the program kept over the whole log.",
    ),
)

GC = record(
    COSTS,
    "What the collector cost; null throughout without a gctrace log.",
    heap_live_first_bytes=SIZE,
    heap_live_last_bytes=SIZE,
    heap_peak_bytes=SIZE,
    heap_goal_bytes=SIZE,
)
COLLECTOR = or_null(
    record(
        UTILIZATION,
        mutator_utilization_fraction=PROBABILITY,
        mmu=rows(
            MMU,
            "Minimum mutator utilisation: the worst window of each length.",
            window_seconds=NUMBER,
            minimum_fraction=PROBABILITY,
        ),
        pauses=rows(
            PAUSE_QUANTILES,
            "Quantiles with their 95 % intervals; the quantile 1 is the longest.",
            what=words(TIMES),
            quantile=NUMBER | PROBABILITY,
        ),
        triggers=rows(
            TRIGGER_COUNTS,
            "Why collections ran.",
            trigger=words(TRIGGERS),
            fraction=PROBABILITY,
        ),
        gogc=rows(GOGC, "GOGC of each run, and how it is known."),
        pacing=rows(
            PACING_SUMMARY, "Survival, overshoot and headroom of collections.", what=words(PACING)
        ),
        live_heap=rows(LIVE_HEAP, "Slope of the live heap in each run, once it had filled."),
        phases=rows(PHASE_ROWS, "Phases of each run, in order.", phase=words(PHASES)),
    ),
    "What a gctrace log tells beyond its summary; null without one.",
)
