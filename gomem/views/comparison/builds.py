"""Several builds against a baseline, as a document: small multiples, one table a layer, notes."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.comparison.sites import OF_RUNS, OF_SAMPLING
from gomem.views.comparison import tables
from gomem.views.comparison.document import KIND, verdict_of
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
from gomem.views.share import Hidden, share
from gomem.views.words import how_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.views.document import Block

MOST_PANELS = 24  # more small figures than that are looked at by nobody
HEADINGS = {MEMORY: "Memory", COLLECTOR: "The collector", LOAD: "The load"}
CAPTION = (
    "Medians with 95 % intervals, from zero; the dotted line is the baseline. "
    "Metrics that differ in some build{}."
)
EACH = "each build is compared with {} alone, not with the others"


def builds_document(compared: BuildComparison) -> Document:
    """Say everything once; home directories are left out."""
    document = Document(
        kind=KIND,
        title=f"{how_many(len(compared.comparisons), 'build')} against {compared.baseline}",
        facts=(("Baseline", compared.baseline), ("Builds", ", ".join(compared.comparisons))),
        verdict=verdict_of(compared),
        sections=tuple(builds_sections(compared)),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, Hidden())


def builds_sections(compared: BuildComparison) -> Iterator[Section]:
    """All but the verdict, each where there is something to say."""
    if len(compared.budgets):
        yield Section("budgets", "Budgets", tables.budget_blocks(compared.budgets))
    if len(compared.findings):
        yield Section("findings", "Known causes", (tables.build_findings_table(compared.findings),))
    metrics = compared.metrics
    if len(moved := _moved(metrics)):
        yield Section("moved", "What differs", (_figure(moved),), brief=False)
    benchmarks = metrics[~metrics["layer"].isin(LAYERS)]
    if len(benchmarks):
        yield _layer("benchmarks", "Benchmarks", benchmarks, "benchmark")
    for layer, heading in HEADINGS.items():
        if len(rows := metrics[metrics["layer"] == layer]):
            yield _layer(layer, heading, rows, layer)
    of_all = (
        note for note in compared.notes if note not in {OF_SAMPLING, OF_RUNS}
    )  # no sites stand here
    notes = (EACH.format(compared.baseline), *of_all)
    yield Section("notes", "What to know", (Notes(notes),))
    if unread := damage_section(compared.damaged):
        yield unread


def _layer(name: str, heading: str, rows: pd.DataFrame, label: str) -> Section:
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
