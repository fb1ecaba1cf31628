"""A comparison of two sides, or of several builds, as JSON with its schema."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gomem.analysis.memory.ledger import PARTS
from gomem.analysis.profiles.changes import STATES
from gomem.causes.finding import Severity
from gomem.comparison.budgets import BUDGETS
from gomem.comparison.budgets import STATES as BUDGET_STATES
from gomem.comparison.builds import BUILD_METRICS, BuildComparison
from gomem.comparison.causes import COMPARED_CAUSES
from gomem.comparison.causes import STATES as FINDING_STATES
from gomem.comparison.direction import JUDGEMENTS
from gomem.comparison.moments import GROUPS, LEDGER, MOMENTS
from gomem.comparison.outliers import OUTLIERS
from gomem.comparison.samples import GEOMEANS, LAYERS, METRICS, VERDICTS, Comparison
from gomem.comparison.settings import DIFFERING
from gomem.comparison.sites import PER, SITE_CHANGES, SITE_RATES
from gomem.comparison.steps import STEPS
from gomem.comparison.windows import WINDOWS
from gomem.inputs.schema import DAMAGE, Column
from gomem.numbered import Build
from gomem.statistics.rank_tests import EQUIVALENCES
from gomem.views.json.table import (
    PROBABILITY,
    Key,
    Shape,
    columns,
    frame,
    inner,
    listed,
    plain,
    record,
    rows_json,
    shape,
    texts,
    without,
    words,
    words_or_null,
    written,
    written_as,
)
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    import pandas as pd


SCHEMA = "gomem.compare/1"
BUILDS_SCHEMA = "gomem.compare-builds/1"
SIDES = ("before", "after")
SHOWN = Hidden()  # hides only home directories
BUILD = Column("build", "str", "", "The build.", Build)
_JUDGED: dict[str, Any] = {
    "layer": words(LAYERS),
    "p_value": PROBABILITY,
    "p_adjusted": PROBABILITY,
    "better": words_or_null(("lower", "higher")),
    "equivalence": words_or_null(EQUIVALENCES),
    "p_no_worse": PROBABILITY,
}
_CHANGED: dict[str, Any] = {"state": words(STATES), "p_value": PROBABILITY}


class Named(NamedTuple):
    """A comparison, with the names of its sides."""

    compared: Comparison
    before: str
    after: str


def _side(side: str) -> tuple[Column, ...]:
    """A metric's columns of one side, under their names in the side's object."""
    mine = (column for column in METRICS if column.name.startswith(f"{side}_"))
    return tuple(replace(column, name=column.name.removeprefix(f"{side}_")) for column in mine)


def _metrics(named: Named) -> pd.DataFrame:
    """The metrics, with the values of each side as an object."""
    metrics = named.compared.metrics
    told = metrics[[name for name in metrics if not name.startswith(("before_", "after_"))]]
    for place, side in enumerate(SIDES, start=3):
        own = {f"{side}_{column.name}": column.name for column in _side(side)}
        summed = rows_json(metrics[[*own]].rename(columns=own))
        told = told.assign(**{side: summed})
        told.insert(place, side, told.pop(side))
    return told


_SIDES: dict[str, Any] = {side: record(_side(side), "Measurements of this side.") for side in SIDES}
_MEASURED = Key(
    "metrics",
    frame(
        "metrics",
        [column for column in METRICS if not column.name.startswith(("before_", "after_"))],
        "Metrics; memory and collector metrics have one value per capture.",
        verdict=words(VERDICTS),
        **_SIDES,
        **_JUDGED,
    ).shape,
    _metrics,
)
_VERDICT = inner(
    "verdict", "The verdict.",
    plain("sentence", "str", "", "What changed, by how much, and why, in a sentence."),
    plain("verdict", "str", "", "The verdict in a word; ? if undecided.",
          **words(JUDGEMENTS)),
    texts("details", "Further sentences of the verdict."),
    get="compared.judgement",
)  # fmt: skip
_NOTES = texts("notes", "Caveats.", "compared.notes")
COMPARE = shape(
    "How each metric, allocation site and ledger part changed from before to after. Values are "
    "base units: bytes, seconds, fractions. Unknown is null. Fields may be added, never renamed.",
    written_as(SCHEMA),
    inner("inputs", "What was compared.", plain("before", "str", "", "What was compared, by name."),
          plain("after", "str", "", "Name of the side after."), get=lambda named: named),
    frame("settings", DIFFERING, "Settings of the runtime that differ between the sides.",
          "compared.settings"),
    _VERDICT,
    frame("budgets", BUDGETS, "The budgets, with the state of each.", "compared.budgets",
          state=words(BUDGET_STATES), p_value=PROBABILITY),
    frame("findings", COMPARED_CAUSES, "Causes on either side.", "compared.findings",
          state=words(FINDING_STATES), severity=words(map(str, Severity))),
    _MEASURED,
    frame("geomeans", GEOMEANS, "Geometric means, for each unit that several benchmarks share.",
          "compared.geomeans",
          metrics={"minimum": 2}),
    frame("moments", MOMENTS, "Pairs of compared snapshots; the last pair is last.",
          "compared.moments"),
    frame("windows", WINDOWS, "Compared part of each side: number of runs, and the time covered.",
          "compared.windows", side=words(SIDES)),
    frame("ledger", LEDGER, "Parts of RSS at these snapshots.", "compared.ledger",
          part=words(PARTS)),
    frame("groups", GROUPS, "RSS by owner at these snapshots, by both accounts.",
          "compared.groups"),
    frame("sites", SITE_CHANGES, "Allocation sites, the largest change first.", "compared.sites",
          **_CHANGED),
    frame("site_rates", SITE_RATES,
          "Allocation of each site between the snapshots, if both sides have two profiles.",
          "compared.site_rates", per=words(PER), **_CHANGED),
    _NOTES,
    inner("damage", "Parts of either side that could not be read.", *columns(without(DAMAGE,
                                                                                     "text")),
          get="compared.damaged", many=True),
)  # fmt: skip


class Several(NamedTuple):
    """Several builds."""

    compared: BuildComparison

    @property
    def each(self) -> list[Named]:
        """Each build's whole comparison with the baseline."""
        compared = self.compared
        return [
            Named(comparison, Build(compared.baseline), Build(name))
            for name, comparison in compared.comparisons.items()
        ]


COMPARE_BUILDS = shape(
    "How each metric of each build compares with the baseline build.",
    written_as(BUILDS_SCHEMA),
    inner("inputs", "What was compared.",
          plain("baseline", "str", "", "Name of the baseline build.",
                lambda compared: Build(compared.baseline)),
          texts("builds", "Names of the other builds.",
                lambda compared: map(Build, compared.comparisons)), get="compared"),
    frame("settings", (BUILD, *DIFFERING),
          "Settings of the runtime that differ from the baseline's.", "compared.settings"),
    _VERDICT,
    frame("outliers", OUTLIERS, "Builds that differ from all others, the farthest first.",
          "compared.outliers"),
    frame("steps", STEPS,
          "Each build against the previous build, in the given order.", "compared.steps"),
    frame("metrics", BUILD_METRICS, "A row for each metric and build, the baseline's first.",
          "compared.metrics", verdict=words_or_null(VERDICTS), **_JUDGED),
    _NOTES,
    Key(
        "comparisons",
        Shape(lambda: listed(COMPARE.schema, "Each build's whole comparison with the baseline."),
              lambda each: [*map(COMPARE.json, each)]),
        lambda several: several.each,
    ),
)  # fmt: skip


def compare_json(
    comparison: Comparison, *, before: str, after: str, hidden: Hidden = SHOWN
) -> dict[str, Any]:
    """Convert a comparison to JSON: base units, null if unknown.

    `before` and `after` name the sides.
    """
    return share(COMPARE.json(Named(comparison, before, after)), hidden)


def render_compare_json(
    comparison: Comparison, *, before: str, after: str, hidden: Hidden = SHOWN
) -> str:
    """Write the JSON as text, with a final newline."""
    return written(compare_json(comparison, before=before, after=after, hidden=hidden))


def render_builds_json(compared: BuildComparison, *, hidden: Hidden = SHOWN) -> str:
    """Write several builds as text: one table, and each build's whole comparison."""
    return written(share(COMPARE_BUILDS.json(Several(compared)), hidden))
