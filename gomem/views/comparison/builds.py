"""Several builds against a baseline, as a document: small multiples, one table a layer, notes."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.comparison.sites import OF_RUNS, OF_SAMPLING
from gomem.views.comparison import tables
from gomem.views.comparison.document import (
    ALL_READ,
    KIND,
    NO_BENCHMARK,
    NO_LOAD,
    NO_LOG,
    NO_MEMORY,
    builds_title,
    verdict_of,
)
from gomem.views.comparison.words import (
    COLLECTOR,
    LAYERS,
    LOAD,
    MEMORY,
    NO_CLAIM,
    SAME,
    SEEN,
    level_name,
)
from gomem.views.damage import damage_section
from gomem.views.document import Document, Figure, Notes, Section
from gomem.views.figures.builds import plot_builds
from gomem.views.parts import Part, sections_of
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.views.document import Block

MOST_PANELS = 24  # more small figures than that are looked at by nobody
CAPTION = (
    "Medians with 95 % intervals, from zero; the dotted line is the baseline. "
    "Metrics that differ in some build{}."
)
EACH = "each build is compared with {} alone, not with the others"


def builds_document(compared: BuildComparison) -> Document:
    """Say everything once; home directories are left out."""
    document = Document(
        kind=KIND,
        title=builds_title(compared),
        facts=(("Builds", ", ".join(compared.comparisons)),),
        verdict=verdict_of(compared, compared.settings_words),
        sections=sections_of(SECTIONS, compared),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, Hidden())


def _budgets(compared: BuildComparison) -> Section | None:
    if compared.budgets.empty:
        return None
    return Section("budgets", "Budgets", tables.budget_blocks(compared.budgets))


def _outliers(compared: BuildComparison) -> Section | None:
    if compared.outliers.empty:
        return None
    return Section("outliers", "Unlike the others", (tables.outliers_table(compared.outliers),))


def _findings(compared: BuildComparison) -> Section | None:
    if compared.findings.empty:
        return None
    return Section("findings", "Findings", (tables.findings_table(compared.findings),))


def _what_differs(compared: BuildComparison) -> Section | None:
    moved = _moved(compared.metrics)
    return None if moved.empty else Section("moved", "What differs", (_figure(moved),), brief=False)


def _benchmarks(compared: BuildComparison) -> Section | None:
    metrics = compared.metrics
    rows = metrics[~metrics["layer"].isin(LAYERS)]
    return _layer("benchmarks", "Benchmarks", rows, "benchmark")


def _of_layer(layer: str, heading: str, compared: BuildComparison) -> Section | None:
    rows = compared.metrics[compared.metrics["layer"] == layer]
    return _layer(layer, heading, rows, layer)


def _notes(compared: BuildComparison) -> Section:
    of_no_sites = (note for note in compared.notes if note not in {OF_SAMPLING, OF_RUNS})
    notes = (EACH.format(compared.baseline), *of_no_sites)
    return Section("notes", "Notes", (Notes(notes),))


SECTIONS: tuple[Part[BuildComparison], ...] = (
    Part("budgets", _budgets, "No budget was set; see --fail-on"),
    Part("outliers", _outliers, "No build is unlike all others"),
    Part("findings", _findings, "No known cause of trouble fits any build"),
    Part("moved", _what_differs, "No metric differs from the baseline's"),
    Part("benchmarks", _benchmarks, NO_BENCHMARK),
    Part("memory", partial(_of_layer, MEMORY, "Memory"), NO_MEMORY),
    Part("collector", partial(_of_layer, COLLECTOR, "GC"), NO_LOG),
    Part("load", partial(_of_layer, LOAD, "Load test"), NO_LOAD),
    Part("notes", _notes, ""),
    Part("damage", lambda compared: damage_section(compared.damaged), ALL_READ),
)


def _layer(name: str, heading: str, rows: pd.DataFrame, label: str) -> Section | None:
    if rows.empty:
        return None
    noted = tables.row_notes(rows[rows["verdict"].notna()])
    blocks: tuple[Block, ...] = (tables.builds_table(rows, label), *noted, Notes((tables.LEGEND,)))
    return Section(name, heading, blocks)


def _moved(metrics: pd.DataFrame) -> pd.DataFrame:
    """All rows of the metrics of which some build's is not the baseline's."""
    keys = ["layer", "unit", "name"]
    differs = metrics["verdict"].notna() & ~metrics["verdict"].isin([NO_CLAIM, SAME])
    differs &= metrics["change"].fillna(1).abs() >= SEEN
    wanted = metrics.loc[differs, keys].drop_duplicates().head(MOST_PANELS)
    return metrics.merge(wanted, on=keys)


def _figure(moved: pd.DataFrame) -> Figure:
    names = {name: level_name(name) for name in moved["name"]}
    many = len(moved.groupby(["layer", "unit", "name"])) == MOST_PANELS
    caption = CAPTION.format(f", the first {MOST_PANELS}" if many else "")
    return Figure(caption, plot_builds, lambda: {"metrics": moved, "titles": names})
