"""The report's section about the collector: figures, what they show in numbers, and the costs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gomem.views.document import Block, Figure, Folded, Notes, Paragraph, Section
from gomem.views.figures.gc_activity import gc_activity_table, plot_gc_activity
from gomem.views.figures.gc_timeline import gc_timeline_table, plot_gc_timeline
from gomem.views.figures.mmu import mmu_table, plot_mmu
from gomem.views.figures.pauses import gc_histogram_table, gc_times_table, plot_gc_pauses
from gomem.views.figures.scavenges import gc_scavenges_table, plot_gc_scavenges
from gomem.views.report.collector_tables import (
    growth_words,
    live_heap_table,
    pacing_table,
    phases_table,
    triggers_notes,
    triggers_table,
)
from gomem.views.report.tables import gc_costs_table

if TYPE_CHECKING:
    from gomem.causes.collector_answers import GcFacts

NUMBERS = "The numbers of this figure"


def gc_section(facts: GcFacts) -> Section:
    """Everything that the log tells; without a collection, that there is none."""
    if facts.cycles.empty:
        nothing = Paragraph("The log has no collection.")
        return Section("collector", "The collector", (nothing,))
    blocks = (
        *_over_time(facts),
        gc_times_table(facts.pauses),
        gc_costs_table(facts.summary),
        *_why(facts),
        *_distributions(facts),
        *_activity(facts),
        *_given_back(facts),
    )
    return Section("collector", "The collector", blocks)


def _over_time(facts: GcFacts) -> tuple[Block, ...]:
    caption = (
        "Heap over time: dark is live, light what was allocated since; the dashed line is the "
        "goal. Below, how long each collection stopped the world."
    )
    shared = len(facts.cycles) > len(facts.timeline)
    if shared:
        caption += (
            " Collections that share a column: median of live heap, goal and stops; highest heap, "
            "longest stop."
        )
    return (
        Figure(caption, partial(plot_gc_timeline, facts.timeline)),
        Folded(NUMBERS, (gc_timeline_table(facts.timeline_table),)),
    )


def _why(facts: GcFacts) -> tuple[Block, ...]:
    growth = growth_words(facts.longest_run)
    return (
        triggers_table(facts.triggers),
        Notes(triggers_notes(facts.triggers)),
        phases_table(facts.phases),
        live_heap_table(facts.live),
        *((Notes((growth,)),) if growth else ()),
        Folded("Survival, overshoot, headroom", (pacing_table(facts.pacing),)),
    )


def _distributions(facts: GcFacts) -> tuple[Block, ...]:
    notes = facts.utilization.notes
    return (
        Figure(
            "How many collections stopped the world how long, and how far apart they began.",
            partial(plot_gc_pauses, facts.pauses),
        ),
        Folded(NUMBERS, (gc_histogram_table(facts.pauses),)),
        Figure(
            "Minimum mutator utilisation: the share of the CPU that the program keeps in the "
            "worst window of each length, stops and marking counted. A stop counts from its "
            "request, so the program keeps at least this.",
            partial(plot_mmu, facts.utilization),
        ),
        Folded(NUMBERS, (mmu_table(facts.utilization),)),
        *((Notes(notes),) if notes else ()),
    )


def _activity(facts: GcFacts) -> tuple[Block, ...]:
    return (
        Figure(
            "CPU that collecting took, by who did the work, and what the program allocated. Stops "
            "count from their request, all Ps; idle Ps had nothing else to do.",
            partial(plot_gc_activity, facts.timeline),
        ),
        Folded(NUMBERS, (gc_activity_table(facts.timeline_table),)),
    )


def _given_back(facts: GcFacts) -> tuple[Block, ...]:
    """The scavenger's lines, if the log has any that a collection places."""
    if facts.scavenges["log_seconds"].isna().all():
        return ()
    end = float(facts.timeline["end_seconds"].iloc[-1])
    return (
        Figure(
            "Memory given back to the kernel. A line's time is that of the collection before it.",
            partial(plot_gc_scavenges, facts.scavenges, end),
        ),
        Folded(NUMBERS, (gc_scavenges_table(facts.scavenges),)),
    )
