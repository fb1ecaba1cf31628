"""Several builds against a baseline, as a document: small multiples, one table a layer, notes."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.comparison.sites import OF_RUNS, OF_SAMPLING
from gomem.views.comparison import document as sides
from gomem.views.comparison import tables, words
from gomem.views.damage import damage_section
from gomem.views.document import Document, Figure, Notes, Part, Section, sections_of
from gomem.views.figures.builds import plot_builds
from gomem.views.share import Hidden, share
from gomem.views.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable

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
        kind=sides.KIND,
        title=sides.builds_title(compared),
        facts=(("Builds", ", ".join(compared.comparisons)),),
        verdict=sides.verdict_of(compared, compared.settings_words),
        sections=sections_of(SECTIONS, compared),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, Hidden())


def _of_frame(
    name: str, heading: str, blocks: Callable[[Any], tuple[Block, ...]], compared: BuildComparison
) -> Section | None:
    """A section of a frame of the comparison; None where that is empty."""
    frame = getattr(compared, name)
    return None if frame.empty else Section(name, heading, blocks(frame))


def _outliers(rows: pd.DataFrame) -> tuple[Block, ...]:
    return (table("Unlike the others", tables.OUTLIERS, rows),)


def _findings(rows: pd.DataFrame) -> tuple[Block, ...]:
    return (tables.findings_table(rows),)


def _what_differs(compared: BuildComparison) -> Section | None:
    """All rows of the metrics of which some build's is not the baseline's."""
    metrics, keys = compared.metrics, ["layer", "unit", "name"]
    differs = metrics["verdict"].notna() & ~metrics["verdict"].isin([words.NO_CLAIM, words.SAME])
    differs &= metrics["change"].fillna(1).abs() >= words.SEEN
    wanted = metrics.loc[differs, keys].drop_duplicates().head(MOST_PANELS)
    if wanted.empty:
        return None
    moved = metrics.merge(wanted, on=keys)
    names = {name: words.level_name(name) for name in moved["name"]}
    caption = CAPTION.format(f", the first {MOST_PANELS}" if len(wanted) == MOST_PANELS else "")
    figure = Figure(caption, plot_builds, lambda: {"metrics": moved, "titles": names})
    return Section("moved", "What differs", (figure,), brief=False)


def _of_layer(layer: str, heading: str, compared: BuildComparison) -> Section | None:
    """The metrics of a layer; without one, of the benchmarks."""
    rows = words.metrics_of(compared, layer)
    if rows.empty:
        return None
    noted = tables.row_notes(rows[rows["verdict"].notna()])
    builds = tables.builds_table(rows, layer or "benchmark")
    return Section(layer or "benchmarks", heading, (builds, *noted, Notes((tables.LEGEND,))))


def _notes(compared: BuildComparison) -> Section:
    of_no_sites = (note for note in compared.notes if note not in {OF_SAMPLING, OF_RUNS})
    notes = (EACH.format(compared.baseline), *of_no_sites)
    return Section("notes", "Notes", (Notes(notes),))


SECTIONS: tuple[Part[BuildComparison], ...] = (
    Part("budgets", partial(_of_frame, "budgets", "Budgets", tables.budget_blocks),
         "No budget was set; see --fail-on"),
    Part("outliers", partial(_of_frame, "outliers", "Unlike the others", _outliers),
         "No build is unlike all others"),
    Part("findings", partial(_of_frame, "findings", "Findings", _findings),
         "No known cause of trouble fits any build"),
    Part("moved", _what_differs, "No metric differs from the baseline's"),
    Part("benchmarks", partial(_of_layer, "", "Benchmarks"), sides.NO_BENCHMARK),
    Part("memory", partial(_of_layer, words.MEMORY, "Memory"), sides.NO_MEMORY),
    Part("collector", partial(_of_layer, words.COLLECTOR, "GC"), sides.NO_LOG),
    Part("load", partial(_of_layer, words.LOAD, "Load test"), sides.NO_LOAD),
    Part("notes", _notes, ""),
    Part("damage", lambda compared: damage_section(compared.damaged), sides.ALL_READ),
)  # fmt: skip
