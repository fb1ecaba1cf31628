"""The report's GC section: figures, their numbers as tables, and the costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.facts.live_heap import live_heap_by_run
from gomem.text import Text
from gomem.units import format_fraction, format_seconds, is_unknown
from gomem.views.document import Block, Folded, Notes, Paragraph, Section
from gomem.views.figures.gc_activity import plot_gc_activity
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.figures.mmu import plot_mmu
from gomem.views.figures.pauses import plot_gc_pauses
from gomem.views.figures.scavenges import plot_gc_scavenges
from gomem.views.report import collector_tables as tables
from gomem.views.report.shown import with_numbers
from gomem.views.tables import table
from gomem.views.words import how_many

if TYPE_CHECKING:
    from gomem.analysis.collector.heap_pacing import LiveHeap
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.collector import CollectorFacts

OVER_TIME = (
    "The heap over time. The lower band is the live heap, the upper band was allocated since the "
    "last GC, and the dashed line is the heap goal. The chart below has the pause of each GC."
)
SHARED = (
    " A column with several GCs shows the median live heap, goal and pause, the highest heap and "
    "the longest pause."
)
PAUSES = "Left: GC pauses by length. Right: intervals between GCs."
MMU = (
    "Minimum mutator utilisation: the share of the CPU that the program keeps in the worst window "
    "of each length. GC pauses and marking count as lost. A pause is timed from the stop request, "
    "so the real share can be higher."
)
ACTIVITY = (
    "GC CPU by type of worker, and the allocation rate. Pauses count on all Ps, from the stop "
    "request. Idle marking ran on Ps that had no other work."
)
SCAVENGES = (
    "Memory returned to the OS. A scavtrace line has no time; it is placed at the GC before it."
)


def opens_with_log(diagnosis: Diagnosis) -> bool:
    """Whether the page opens with the log's heap over time, because nothing else has memory."""
    is_alone = diagnosis.owners is None and diagnosis.sites_first is None
    return is_alone and diagnosis.collector is not None and not diagnosis.collector.cycles.empty


def over_time_caption(facts: CollectorFacts) -> str:
    """The caption of the heap over time."""
    return OVER_TIME + SHARED * (len(facts.cycles) > len(facts.timeline))


def collector_section(diagnosis: Diagnosis) -> Section | None:
    """Everything from a log; None without one."""
    facts = diagnosis.collector
    if facts is None:
        return None
    # Other text in the log is not damage; missing fields are noted.
    notes = _notes((*facts.log.notes, *facts.notes))
    if facts.cycles.empty:
        gist = "the log has no GC" if not facts.log.old_lines else "no GC that gomem reads"
        blocks = (Paragraph(Text(gist).sentence()), *notes)
        return Section("collector", "GC", blocks, gist=gist)
    is_opened = opens_with_log(diagnosis)
    live = live_heap_by_run(diagnosis.facts)
    blocks = (*notes, *_over_time(facts, live, is_opened=is_opened), *_figures(facts))
    return Section("collector", "GC", blocks, gist=_gist(facts))


def _gist(facts: CollectorFacts) -> str:
    """The number of collections, their cost, and the longest STW phase, if known."""
    cost = facts.cost.values
    said = [how_many(int(cost["cycles"] or 0), "GC")]
    if not is_unknown(cost["gc_cpu_fraction"]):
        said.append(f"{format_fraction(cost['gc_cpu_fraction'])} of the CPU")
    if not is_unknown(cost["longest_stop_seconds"]):
        said.append(f"longest STW phase {format_seconds(cost['longest_stop_seconds'])}")
    return ", ".join(said)


def _notes(lines: tuple[str, ...]) -> tuple[Block, ...]:
    return (Notes(lines),) if lines else ()


def _over_time(
    facts: CollectorFacts, live: tuple[LiveHeap, ...], *, is_opened: bool
) -> tuple[Block, ...]:
    """The heap, unless the page opens with it; times, costs, and why GCs ran."""
    below = tables.timeline_table(facts.timeline_table)
    drawn: tuple[Block, ...] = with_numbers(
        over_time_caption(facts), plot_gc_timeline, lambda: {"timeline": facts.timeline}, below
    )
    if is_opened:
        drawn = (Folded("Heap over time, in numbers", (below,)),)
    longest = max(live, key=lambda run: run.seconds, default=None)
    growth = tables.growth_words(longest, len(live))
    pacing = table("GC pacing", tables.PACED, facts.pacing.summary)
    return (
        *drawn,
        tables.times_table(facts.pauses),
        tables.costs_table(facts.cost),
        table("Why GCs ran", tables.WHY, facts.triggers.counts),
        Notes(tables.triggers_notes(facts.triggers)),
        tables.phases_table(facts.phases),
        *([tables.live_heap_table(live)] if any(run.cycles > 2 for run in live) else []),
        *_notes((growth,) if growth else ()),
        Folded("GC pacing: survival, overshoot and headroom", (pacing,)),
    )


def _figures(facts: CollectorFacts) -> tuple[Block, ...]:
    """Distributions and CPU; scavenger lines, if a collection gives any of them a time."""
    pauses, utilization, scavenges = facts.pauses, facts.utilization, facts.scavenges
    activity = tables.activity_table(facts.timeline_table)
    blocks = (
        *with_numbers(
            PAUSES, plot_gc_pauses, lambda: {"pauses": pauses}, tables.histogram_table(pauses)
        ),
        *with_numbers(
            MMU, plot_mmu, lambda: {"utilization": utilization}, tables.mmu_table(utilization)
        ),
        *_notes(utilization.notes),
        *with_numbers(ACTIVITY, plot_gc_activity, lambda: {"timeline": facts.timeline}, activity),
    )
    if scavenges["log_seconds"].isna().all():
        return blocks
    end = float(facts.timeline["end_seconds"].iloc[-1])
    numbers = {"scavenges": scavenges, "end_seconds": end}
    below = tables.scavenges_table(scavenges)
    return (*blocks, *with_numbers(SCAVENGES, plot_gc_scavenges, lambda: numbers, below))
