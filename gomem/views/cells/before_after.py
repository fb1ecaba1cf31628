"""Before against after in a notebook: benchmarks, the collector, memory, allocation sites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.units import format_relative
from gomem.views.cells.rss_vs_heap import ledgers_table
from gomem.views.comparison import tables
from gomem.views.comparison.words import (
    ALLOCATED,
    COLLECTOR,
    NO_CLAIM,
    benchmarks_of,
    metrics_of,
    sites_of,
)
from gomem.views.document import Notes
from gomem.views.figures.benchmarks import have_multiples
from gomem.views.figures.benchmarks import plot_benchmarks as draw_benchmarks
from gomem.views.figures.ledger_over_moments import plot_timeline
from gomem.views.figures.site_changes import plot_site_changes
from gomem.views.measurements import format_value
from gomem.views.writers.notebook_cells import NOTHING, Shown, sentences

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.comparison.before_after import Comparison
    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.figures.figure import Drawing

SITES_SHOWN = 10
NO_BENCHMARKS = "Neither capture has a benchmark to compare the two sides by."
NO_LOGS = "Neither capture has a gctrace log; run the program with GODEBUG=gctrace=1."
NO_LEDGERS = "No file on either side says where memory is: there is no smaps, status or MemStats."
NO_PROFILES = "There are no two heap profiles to compare."


def plot_benchmarks(comparison: Comparison, *, name: str = "benchmarks") -> Drawing | Shown:
    """Draw medians with their 95 % intervals, each as a multiple of the median before.

    Rows whose median before is 0 have no multiple; they are in the table alone.

    Args:
        comparison: The answer to draw.
        name: Unique on its page.
    """
    metrics = benchmarks_of(comparison)
    if not have_multiples(metrics).any():
        return sentences(NO_BENCHMARKS)
    return draw_benchmarks(metrics, name=name)


def benchmarks_table(comparison: Comparison) -> Shown:
    """Medians with their intervals, the change, and whether it can be told from noise."""
    return Shown(tables.benchmark_blocks(comparison))


def benchmark_sentences(comparison: Comparison) -> Shown:
    """How many rows changed, which changed most, and what to know before trusting it."""
    metrics = benchmarks_of(comparison)
    notes = [f"{note[0].upper()}{note[1:]}." for note in comparison.notes]
    if metrics.empty:
        return sentences(*notes)
    counts = metrics.loc[metrics["verdict"] != NO_CLAIM, "verdict"].value_counts()
    found = ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "none"
    return sentences(
        f"Of {len(metrics)} rows, these differ by more than noise: {found}.",
        _largest(comparison),
        *notes,
    )


def _largest(comparison: Comparison) -> str:
    row = comparison.largest_claim
    if row is None:
        return ""
    before, after = (format_value(row[f"{side}_median"], row["unit"]) for side in tables.SIDES)
    change = format_relative(row["change"])
    return (
        f"The largest change: {row['name']} in {row['unit']}, from {before} to {after} ({change})."
    )


def gc_table(comparison: Comparison) -> Shown:
    """What the collector cost on both sides."""
    metrics = metrics_of(comparison, COLLECTOR)
    if metrics.empty:
        return sentences(NO_LOGS)
    return Shown(tables.level_blocks(metrics, "the collector, from the gctrace logs"))


def plot_memory(before: Diagnosis, after: Diagnosis, *, name: str = "memory") -> Drawing | Shown:
    """Draw the ledgers of both sides, each at its moment with the largest RSS."""
    ledgers = _fullest(before, after)
    if not ledgers:
        return sentences(NO_LEDGERS)
    return replace(plot_timeline(ledgers, name=name), title="Resident memory before and after")


def memory_table(before: Diagnosis, after: Diagnosis) -> Shown:
    """The same ledgers, part by part."""
    ledgers = _fullest(before, after)
    if not ledgers:
        return NOTHING
    return ledgers_table(ledgers, "Each side at its moment with the largest RSS.")


def _fullest(before: Diagnosis, after: Diagnosis) -> dict[str, Ledger]:
    """One ledger per side; a side on which nothing says where memory is is left out."""
    fullest = {}
    for side, diagnosis in (("before", before), ("after", after)):
        ledgers = diagnosis.ledgers
        if ledgers:
            moment = max(ledgers, key=lambda one: ledgers[one].rss_bytes or 0)
            fullest[f"{side}, {moment}"] = ledgers[moment]
    return fullest


def plot_sites(comparison: Comparison, *, name: str = "sites") -> Drawing | Shown:
    """Draw how much the sites that changed most have allocated since the start, on both sides.

    Args:
        comparison: The answer to draw.
        name: Unique on its page.
    """
    sites = sites_of(comparison, ALLOCATED)
    return plot_site_changes(sites, name=name) if len(sites) else sentences(NO_PROFILES)


def sites_table(comparison: Comparison) -> Shown:
    """The same sites with the interval of their change."""
    sites = sites_of(comparison, ALLOCATED)
    if sites.empty:
        return NOTHING
    caption = "Bytes allocated since the start, by function, the largest change first"
    table = tables.sites_table(sites.head(SITES_SHOWN), caption)
    return Shown((table, *_rest(sites)))


def _rest(sites: pd.DataFrame) -> tuple[Notes, ...]:
    more = len(sites) - SITES_SHOWN
    return (Notes((f"{more} more changed less",)),) if more > 0 else ()
