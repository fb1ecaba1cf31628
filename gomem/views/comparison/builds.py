"""A document comparing builds with a baseline: small multiples, a table per layer, notes."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.charts.look import BLUE
from gomem.comparison.budgets import MET
from gomem.comparison.single_values import RSS
from gomem.comparison.sites import RUNS_NOTE, SAMPLING_NOTE
from gomem.inputs.schema import rows_of
from gomem.numbered import Build, Metric
from gomem.text import Bytes, Text, joined, text
from gomem.units import is_unknown
from gomem.views.comparison import document as sides
from gomem.views.comparison import tables, words
from gomem.views.comparison.opening import bars_between
from gomem.views.document import (
    Bar,
    Bars,
    Document,
    Figure,
    Notes,
    Part,
    Piece,
    Section,
    sections_of,
)
from gomem.views.figures.builds import plot_builds
from gomem.views.fleet.document import BUILDS, BUILDS_LEGEND
from gomem.views.share import Hidden, share
from gomem.views.tables import table
from gomem.views.titles import field_title
from gomem.views.words import first_few, how_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.views.document import Block

MAX_BARS = 12  # builds with a bar each
NAMED = 4  # metrics named in a gist
MAX_PANELS = 24  # more panels than this nobody looks at
CAPTION = (
    "The metrics that differ in some build{}. Each bar is a median with its 95 % interval, from "
    "zero; the dotted line is the baseline."
)
EACH = "each build is compared only with {}"


def builds_document(compared: BuildComparison, *, hidden: Hidden = sides.SHOWN) -> Document:
    """Build the document; `hidden` says what to leave out, see `share`."""
    document = Document(
        kind=sides.KIND,
        title=sides.builds_title(compared),
        facts=(("Builds", _names(compared.comparisons)),),
        verdict=sides.verdict_of(compared, compared.settings_words),
        sections=sections_of(SECTIONS, compared),
        opening=_opening(compared),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, hidden)


def _names(builds: Iterable[str]) -> Text:
    """The builds' names, without duplicates."""
    return joined(", ", map(Build, dict.fromkeys(builds)))


def _of_frame(
    name: str, heading: str, blocks: Callable[[Any], tuple[Block, ...]], compared: BuildComparison
) -> Section | None:
    """Return a section about a frame of the comparison; None if the frame is empty."""
    frame = getattr(compared, name)
    if frame.empty:
        return None
    gist = _names(frame["build"])
    return Section(name, heading, blocks(frame), gist=gist)


def _budgets(compared: BuildComparison) -> Section | None:
    budgets = compared.budgets
    if budgets.empty:
        return None
    counts = budgets["state"].value_counts()
    gist = ", ".join(f"{count} {state}" for state, count in counts.items())
    blocks = tables.budget_blocks(budgets)
    return Section("budgets", "Budgets", blocks, gist=gist, opened=set(counts.index) != {MET})


def _opening(compared: BuildComparison) -> tuple[Block, ...]:
    """A bar per build with common parts, the baseline first; else each build's RSS or changes."""
    named = [(compared.baseline, None), *compared.comparisons.items()]
    each = [(Build(name), comparison) for name, comparison in named]
    bars = bars_between(each) if len(each) <= MAX_BARS else ()
    rows = compared.metrics[compared.metrics["name"] == RSS]
    if bars or rows.empty:
        return bars
    longest = float(rows["median"].max()) or 1.0
    known = [row for row in rows_of(rows) if not is_unknown(row["median"])][:MAX_BARS]
    return (
        Bars(
            "RSS by build",
            tuple(
                Bar(
                    Build(row["build"]),
                    Bytes(row["median"]),
                    (Piece(row["median"] / longest, BLUE),),
                )
                for row in known
            ),
        ),
    )


def _outliers(rows: pd.DataFrame) -> tuple[Block, ...]:
    return (table("Unlike the others", tables.OUTLIERS, rows),)


def _steps(compared: BuildComparison) -> Section | None:
    """Where a quantity first differs: rows that differ from the previous build."""
    found = compared.differing_steps
    if found.empty:
        return None
    shown = table("Changes from the previous build", BUILDS, found)
    blocks = (Notes((compared.steps_words,)), shown, Notes((BUILDS_LEGEND,)))
    heading = "Each build against the previous build, in the given order"
    return Section("steps", heading, blocks, gist=_names(found["build"]))


def _findings(rows: pd.DataFrame) -> tuple[Block, ...]:
    return (tables.findings_table(rows),)


def _what_differs(compared: BuildComparison) -> Section | None:
    """All rows of the metrics in which some build differs from the baseline."""
    metrics, keys = compared.metrics, ["layer", "unit", "name"]
    differs = metrics["verdict"].notna() & ~metrics["verdict"].isin([words.NO_CLAIM, words.SAME])
    differs &= metrics["change"].fillna(1).abs() >= words.SEEN
    wanted = metrics.loc[differs, keys].drop_duplicates().head(MAX_PANELS)
    if wanted.empty:
        return None
    moved = metrics.merge(wanted, on=keys)
    names = {Metric(name): field_title(Metric(name)) for name in moved["name"]}
    caption = CAPTION.format(f", the first {MAX_PANELS}" if len(wanted) == MAX_PANELS else "")
    figure = Figure(caption, plot_builds, lambda: {"metrics": moved, "titles": names})
    gist = first_few([field_title(Metric(name)) for name in wanted["name"]], NAMED)
    return Section("moved", "What differs", (figure,), brief=False, gist=gist, opened=True)


def _of_layer(layer: str, heading: str, compared: BuildComparison) -> Section | None:
    """The metrics of a layer; for an empty layer, the benchmarks."""
    rows = words.metrics_of(compared, layer)
    if rows.empty:
        return None
    noted = tables.row_notes(rows[rows["verdict"].notna()])
    builds = tables.builds_table(rows, layer or "benchmark")
    gist = how_many(len(rows[rows["verdict"].isna()]), "metric")
    blocks: tuple[Block, ...] = (builds, *noted, tables.legend(rows))
    return Section(layer or "benchmarks", heading, blocks, gist=gist)


def _notes(compared: BuildComparison) -> Section:
    of_no_sites = (note for note in compared.notes if note not in {SAMPLING_NOTE, RUNS_NOTE})
    notes = (text(EACH, Build(compared.baseline)), *of_no_sites)
    return Section("notes", "Notes", (Notes(notes),), gist=how_many(len(notes), "note"))


SECTIONS: tuple[Part[BuildComparison], ...] = (
    Part("budgets", _budgets, "No budget was set; see --fail-on"),
    Part("outliers", partial(_of_frame, "outliers", "Unlike the others", _outliers),
         "No build differs from all others"),
    Part("steps", _steps, "No build differs from the previous build"),
    Part("findings", partial(_of_frame, "findings", "Findings", _findings),
         "No known cause fits any build"),
    Part("moved", _what_differs, "No metric differs from the baseline's"),
    Part("benchmarks", partial(_of_layer, "", "Benchmarks"), sides.NO_BENCHMARK),
    Part("memory", partial(_of_layer, words.MEMORY, "Memory"), sides.NO_MEMORY),
    Part("collector", partial(_of_layer, words.COLLECTOR, "GC"), sides.NO_LOG),
    Part("load", partial(_of_layer, words.LOAD, "Load test"), sides.NO_LOAD),
    Part("notes", _notes, ""),
    Part("damage", sides.unread_section, sides.ALL_READ),
)  # fmt: skip
