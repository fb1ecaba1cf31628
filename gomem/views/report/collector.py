"""The report's section about the collector: figures, what they show in numbers, and the costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.units import format_fraction, format_seconds, is_unknown
from gomem.views.document import Block, Figure, Folded, Notes, Paragraph, Section
from gomem.views.figures.gc_activity import plot_gc_activity
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.figures.mmu import plot_mmu
from gomem.views.figures.pauses import plot_gc_pauses
from gomem.views.figures.scavenges import plot_gc_scavenges
from gomem.views.report.collector_figures import (
    activity_table,
    histogram_table,
    mmu_table,
    scavenges_table,
    timeline_table,
)
from gomem.views.report.collector_tables import (
    costs_table,
    growth_words,
    live_heap_table,
    pacing_table,
    phases_table,
    times_table,
    triggers_notes,
    triggers_table,
)
from gomem.views.words import how_many

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.collector import CollectorFacts

NUMBERS = "The numbers of this figure"


def collector_section(diagnosis: Diagnosis) -> Section | None:
    """Everything that a log tells; None without one."""
    facts = diagnosis.collector
    if facts is None:
        return None
    if facts.cycles.empty:
        nothing = Paragraph("The log has no collection.")
        blocks = (nothing, *_notes(facts))
        return Section("collector", "The collector", blocks, gist="the log has no collection")
    blocks = (
        *_notes(facts),
        *_over_time(facts),
        times_table(facts.pauses),
        costs_table(facts.cost),
        *_why(facts),
        *_distributions(facts),
        *_activity(facts),
        *_given_back(facts),
    )
    return Section("collector", "The collector", blocks, gist=_gist(facts))


def _gist(facts: CollectorFacts) -> str:
    """How many collections, what they cost, and the longest stop, as far as the log says."""
    cost = facts.cost.values
    said = [how_many(int(cost["cycles"] or 0), "collection")]
    if not is_unknown(cost["gc_cpu_fraction"]):
        said.append(f"{format_fraction(cost['gc_cpu_fraction'])} of the CPU")
    if not is_unknown(cost["longest_stop_seconds"]):
        said.append(f"longest stop {format_seconds(cost['longest_stop_seconds'])}")
    return ", ".join(said)


def _notes(facts: CollectorFacts) -> tuple[Block, ...]:
    """What the log holds besides that is no damage, and what is not told of each collection."""
    notes = (*facts.log.notes, *facts.notes)
    return (Notes(notes),) if notes else ()


def _over_time(facts: CollectorFacts) -> tuple[Block, ...]:
    caption = (
        "Heap over time: dark is live, light what was allocated since; the dashed line is the "
        "goal. Below, how long each collection stopped the world."
    )
    shared = len(facts.cycles) > len(facts.timeline)
    if shared:
        caption += (
            " Where collections share a column, it shows the median of live heap, goal and stops, "
            "the highest heap and the longest stop."
        )
    return (
        Figure(caption, plot_gc_timeline, lambda: {"timeline": facts.timeline}),
        Folded(NUMBERS, (timeline_table(facts.timeline_table),)),
    )


def _why(facts: CollectorFacts) -> tuple[Block, ...]:
    growth = growth_words(facts.longest_run)
    return (
        triggers_table(facts.triggers),
        Notes(triggers_notes(facts.triggers)),
        phases_table(facts.phases),
        live_heap_table(facts.live),
        *((Notes((growth,)),) if growth else ()),
        Folded("Survival, overshoot, headroom", (pacing_table(facts.pacing),)),
    )


def _distributions(facts: CollectorFacts) -> tuple[Block, ...]:
    notes = facts.utilization.notes
    return (
        Figure(
            "How many collections stopped the world for how long, and how far apart they began.",
            plot_gc_pauses,
            lambda: {"pauses": facts.pauses},
        ),
        Folded(NUMBERS, (histogram_table(facts.pauses),)),
        Figure(
            "Minimum mutator utilisation: the share of the CPU that the program keeps in the "
            "worst window of each length, stops and marking counted. A stop counts from its "
            "request, so the program keeps at least this.",
            plot_mmu,
            lambda: {"utilization": facts.utilization},
        ),
        Folded(NUMBERS, (mmu_table(facts.utilization),)),
        *((Notes(notes),) if notes else ()),
    )


def _activity(facts: CollectorFacts) -> tuple[Block, ...]:
    return (
        Figure(
            "CPU that collecting took, by who did the work, and what the program allocated. "
            "Stops count from their request, on all Ps; idle Ps had nothing else to do.",
            plot_gc_activity,
            lambda: {"timeline": facts.timeline},
        ),
        Folded(NUMBERS, (activity_table(facts.timeline_table),)),
    )


def _given_back(facts: CollectorFacts) -> tuple[Block, ...]:
    """The scavenger's lines, if the log has any that a collection can place in time."""
    if facts.scavenges["log_seconds"].isna().all():
        return ()
    end = float(facts.timeline["end_seconds"].iloc[-1])
    return (
        Figure(
            "Memory given back to the kernel. A line's time is that of the collection before it.",
            plot_gc_scavenges,
            lambda: {"scavenges": facts.scavenges, "end_seconds": end},
        ),
        Folded(NUMBERS, (scavenges_table(facts.scavenges),)),
    )
