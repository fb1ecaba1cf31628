"""A comparison as sections of tables and words, for HTML and Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import gomem
from gomem.analysis.comparison.single_values import COLLECTOR, MEMORY
from gomem.units import format_bytes, is_unknown
from gomem.views.cells.before_after import plot_benchmarks, plot_sites
from gomem.views.comparison import tables
from gomem.views.comparison.text import LEGEND, format_relative
from gomem.views.comparison.words import (
    SAMPLE_TYPES,
    Pair,
    are_single,
    benchmarks_of,
    changed_sites,
    ledger_of,
    level_name,
    measured_and_levels,
    metrics_of,
    pair_of,
    rss_change,
    shareable,
    states_counted,
    verdicts_counted,
)
from gomem.views.document import Figure, Folded, Notes, Paragraph, Section
from gomem.views.report.flames import change_flames

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from gomem.analysis.comparison.before_after import Comparison
    from gomem.views.document import Block
    from gomem.views.figures.figure import Drawing

NOISE_SHOWN = 20  # sites within noise; the largest differences
ALLOCATED = "alloc_space"  # what the figure of sites shows
MINUS = "\u2212"
WORSE, BETTER, CHANGED = "worse", "better, none worse", "changed"
NOISE, NO_VERDICT = "nothing beyond noise", "no verdict"
FEW_NAMES = 5  # so many rows that share a note are named


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """A whole comparison, before anybody decides how it looks.

    Attributes:
        before: What was compared, by name.
        after: With what, by name.
        outcome: One of `WORSE`, `BETTER`, `CHANGED`, `NOISE` and `NO_VERDICT`.
        sentence: What it comes down to.
        beside: What else to know at once, in sentences.
        sections: Everything else, in order.
        made_by: Which gomem made it.
    """

    before: str
    after: str
    outcome: str
    sentence: str
    beside: tuple[str, ...]
    sections: tuple[Section, ...]
    made_by: str


def build_comparison_page(comparison: Comparison, *, before: str, after: str) -> ComparisonPage:
    """Say everything once; home directories are left out."""
    comparison = shareable(comparison)
    sections = (
        _benchmark_section(comparison),
        _memory_section(comparison),
        _collector_section(comparison),
        _sites_section(comparison),
        _notes_section(comparison),
        _damage_section(comparison),
    )
    outcome, sentence = _verdict(comparison)
    return ComparisonPage(
        before=before,
        after=after,
        outcome=outcome,
        sentence=sentence,
        beside=tuple(_beside(comparison)),
        sections=tuple(section for section in sections if section is not None),
        made_by=f"gomem {gomem.__version__}",
    )


def _verdict(comparison: Comparison) -> tuple[str, str]:
    measured, levels = measured_and_levels(comparison.metrics)
    if len(measured):
        return _outcome(set(measured["verdict"])), f"{verdicts_counted(measured)}."
    if len(levels):
        return NO_VERDICT, "One capture a side: differences, and no telling them from noise."
    return NO_VERDICT, "Nothing measured on either side."


def _outcome(verdicts: set[str]) -> str:
    """The worst of the verdicts. That nothing was told from noise does not mean that nothing is."""
    known = {"worse": WORSE, "better": BETTER, "changed": CHANGED}
    return next((word for verdict, word in known.items() if verdict in verdicts), NOISE)


def _beside(comparison: Comparison) -> list[str]:
    resident, lines = rss_change(comparison), []
    if resident is not None:
        change = "" if is_unknown(resident[1]) else f", {format_relative(resident[1])}"
        lines.append(f"{resident[0]}{change.replace('-', MINUS)}.")
    measured, levels = measured_and_levels(comparison.metrics)
    if len(measured) and len(levels):
        lines.append("Memory and collector are one capture a side: differences without a verdict.")
    if comparison.damaged:
        count = len(comparison.damaged)
        lines.append(f"{count} {'place' if count == 1 else 'places'} could not be read.")
    return lines


def _benchmark_section(comparison: Comparison) -> Section | None:
    benchmarks = benchmarks_of(comparison)
    if benchmarks.empty:
        return None
    blocks: list[Block] = []
    if _can_be_drawn(benchmarks):
        caption = "Medians with 95 % intervals, as multiples of the median before."
        draw = cast("Callable[[], Drawing]", partial(plot_benchmarks, comparison))
        blocks.append(Figure(caption, draw))
    for unit in benchmarks["unit"].unique():
        of_unit = benchmarks[benchmarks["unit"] == unit]
        means = comparison.geomeans[comparison.geomeans["unit"] == unit]
        blocks += [tables.measured_table(of_unit, unit, means), *_row_notes(of_unit)]
    return Section("benchmarks", "Benchmarks", (*blocks, Notes((LEGEND,))))


def _can_be_drawn(benchmarks: pd.DataFrame) -> bool:
    """Whether any row has a multiple of the median before."""
    both = benchmarks["after_median"].notna() & (benchmarks["before_median"].fillna(0) > 0)
    return bool(both.any())


def _memory_section(comparison: Comparison) -> Section | None:
    metrics, pair = metrics_of(comparison, MEMORY), pair_of(comparison, "of_metrics")
    if metrics.empty:
        return None
    blocks = _levels(metrics, f"memory at {pair}" if pair else "memory")
    known = comparison.moments[comparison.moments["change_bytes"].notna()]
    if len(known) > 1:
        blocks.append(tables.moments_table(known))
    if pair is not None:
        blocks.append(tables.ledger_table(ledger_of(comparison, pair), pair))
    blocks += [_folded_ledger(comparison, row) for row in known.to_dict("records")[:-1]]
    heading = f"Memory: {pair}" if pair else "Memory"
    return Section("memory", heading, tuple(blocks))


def _folded_ledger(comparison: Comparison, moment: dict[str, Any]) -> Folded:
    pair = Pair(moment["before"], moment["after"])
    sizes = [format_bytes(moment[f"{side}_rss_bytes"]) for side in ("before", "after")]
    summary = f"{pair}: RSS {sizes[0]} before, {sizes[1]} after"
    return Folded(summary, (tables.ledger_table(ledger_of(comparison, pair), pair),))


def _collector_section(comparison: Comparison) -> Section | None:
    metrics = metrics_of(comparison, COLLECTOR)
    if metrics.empty:
        return None
    return Section("collector", "The collector", tuple(_levels(metrics, "collector")))


def _levels(metrics: pd.DataFrame, label: str) -> list[Block]:
    if not are_single(metrics):
        return [tables.measured_table(metrics, label), *_row_notes(metrics)]
    unequal = metrics[metrics["difference"].fillna(1) != 0]
    return [tables.levels_table(metrics, label), *_row_notes(unequal)]


def _row_notes(metrics: pd.DataFrame) -> list[Block]:
    """Each note on the rows of a table once, with the rows that it is on."""
    lines = []
    for note, rows in metrics[metrics["note"] != ""].groupby("note", sort=False):
        names = ", ".join(map(level_name, rows["name"]))
        on = names if len(rows) <= FEW_NAMES else f"{len(rows)} rows"
        lines.append(note if len(rows) == len(metrics) else f"{on}: {note}")
    return [Notes(tuple(lines))] if lines else []


def _sites_section(comparison: Comparison) -> Section | None:
    sites, pair = comparison.sites, pair_of(comparison, "of_sites")
    if sites.empty:
        return None
    blocks: list[Block] = []
    if (sites["sample_type"] == ALLOCATED).any():
        caption = "Bytes allocated since the start, by the sites that changed most."
        draw = cast("Callable[[], Drawing]", partial(plot_sites, comparison))
        blocks.append(Figure(caption, draw))
    for name in SAMPLE_TYPES:
        if (sites["sample_type"] == name).any():
            blocks += _site_blocks(sites, name)
    if comparison.profiles is not None:
        blocks += change_flames(*comparison.profiles)
    return Section("allocations", f"Who allocates: {pair}", tuple(blocks))


def _site_blocks(sites: pd.DataFrame, sample_type: str) -> list[Block]:
    changed = changed_sites(sites, sample_type)
    words = f"{sample_type}: {states_counted(sites, sample_type)}"
    of_type = sites[sites["sample_type"] == sample_type]
    noise = of_type[of_type["state"] == "~"]
    blocks: list[Block] = [Paragraph(words if len(changed) else f"{words}: may all be noise")]
    if len(changed):
        blocks.append(tables.sites_table(changed, f"{sample_type}, sites that changed"))
    if len(noise):
        shown = noise.head(NOISE_SHOWN)
        table = tables.sites_table(shown, f"{sample_type}, within sampling noise")
        count = f"{len(noise)} within sampling noise"
        more = f", the largest {NOISE_SHOWN}" if len(noise) > NOISE_SHOWN else ""
        blocks.append(Folded(f"{sample_type}: {count}{more}", (table,)))
    return blocks


def _notes_section(comparison: Comparison) -> Section | None:
    notes = [note for note in dict.fromkeys(comparison.notes) if not is_unknown(note)]
    return Section("notes", "What to know", (Notes(tuple(notes)),)) if notes else None


def _damage_section(comparison: Comparison) -> Section | None:
    if not comparison.damaged:
        return None
    words = "What stands here is in none of the numbers above."
    return Section(
        "unread",
        "What could not be read",
        (Paragraph(words), tables.damage_table(comparison.damaged)),
    )
