"""The schema of a comparison's JSON, which `gomem.views.json.compare` makes."""

from __future__ import annotations

from dataclasses import replace

from gomem.analysis.memory.ledger import PARTS
from gomem.analysis.profiles.changes import STATES
from gomem.causes.finding import Severity
from gomem.comparison.budgets import BUDGETS
from gomem.comparison.budgets import STATES as BUDGET_STATES
from gomem.comparison.builds import BUILD_METRICS
from gomem.comparison.causes import COMPARED_CAUSES
from gomem.comparison.causes import STATES as FINDING_STATES
from gomem.comparison.direction import JUDGEMENTS
from gomem.comparison.moments import GROUPS as COMPARED_GROUPS
from gomem.comparison.moments import LEDGER, MOMENTS
from gomem.comparison.outliers import OUTLIERS
from gomem.comparison.samples import EQUIVALENCES, GEOMEANS, LAYERS, METRICS, VERDICTS
from gomem.comparison.settings import DIFFERING
from gomem.comparison.sites import PER, SITE_CHANGES, SITE_RATES
from gomem.comparison.windows import WINDOWS
from gomem.inputs.schema import DAMAGE, Column
from gomem.views.json.compare import BUILDS_SCHEMA, SCHEMA
from gomem.views.json.schemas.fields import (
    PROBABILITY,
    Schema,
    document,
    listed,
    record,
    rows,
    without,
    words,
    words_or_null,
    written_as,
)

MEANS = (
    "What became of each metric, allocation site and ledger part from before to after. Values are "
    "base units: bytes, seconds, fractions. Unknown is null. Fields may be added, never renamed."
)
INPUTS = (
    Column("before", "str", "", "What was compared, by name."),
    Column("after", "str", "", "With what, by name."),
)
VERDICT = (Column("sentence", "str", "", "What changed, by how much, and why."),)
BUILD = Column("build", "str", "", "The build that has them.")
LEVELS = tuple(str(one) for one in Severity)
BEFORE, AFTER = "before_", "after_"


def _summary(side: str) -> Schema:
    """A metric's columns of one side, as an object of its own."""
    mine = (column for column in METRICS if column.name.startswith(side))
    columns = (replace(column, name=column.name.removeprefix(side)) for column in mine)
    return record(columns, "What was measured on this side.")


def compare_schema() -> Schema:
    """JSON Schema of what `gomem compare --format json` writes of two sides."""
    return document(SCHEMA, _body())


def compare_builds_schema() -> Schema:
    """JSON Schema of what it writes of more than two."""
    body = record(
        (),
        "What became of each metric in each build, against one of them, the baseline.",
        schema=written_as(BUILDS_SCHEMA),
        inputs=record(
            (Column("baseline", "str", "", "What the others are compared with, by name."),),
            "What was compared.",
            builds=listed({"type": "string"}, "The others, by name."),
        ),
        settings=rows(
            (BUILD, *DIFFERING), "Settings of the runtime that differ from the baseline's."
        ),
        verdict=_verdict(),
        outliers=rows(OUTLIERS, "Builds that are unlike all others, the farthest first."),
        metrics=rows(
            BUILD_METRICS,
            "A row for each metric and build, the baseline's first.",
            layer=words(LAYERS),
            p_value=PROBABILITY,
            p_adjusted=PROBABILITY,
            better=words_or_null(("lower", "higher")),
            verdict=words_or_null(VERDICTS),
            equivalence=words_or_null(EQUIVALENCES),
            p_no_worse=PROBABILITY,
        ),
        notes=listed({"type": "string"}, "What to know before believing any of it."),
        comparisons=listed(_body(), "Each build's whole comparison with the baseline."),
    )
    return document(BUILDS_SCHEMA, body)


def _verdict() -> Schema:
    return record(
        VERDICT,
        "What it comes down to.",
        verdict=words(JUDGEMENTS)
        | {"description": "The same in a word; ? where it cannot be told."},
        details=listed({"type": "string"}, "What else to know at once, in sentences."),
    )


def _body() -> Schema:
    return record(
        (),
        MEANS,
        schema=written_as(SCHEMA),
        inputs=record(INPUTS, "What was compared."),
        settings=rows(DIFFERING, "Settings of the runtime that differ between the sides."),
        verdict=_verdict(),
        budgets=rows(
            BUDGETS,
            "The budgets that were set, and how each stands.",
            state=words(BUDGET_STATES),
            p_value=PROBABILITY,
        ),
        findings=rows(
            COMPARED_CAUSES,
            "Causes on either side.",
            state=words(FINDING_STATES),
            severity=words(LEVELS),
        ),
        metrics=rows(
            [column for column in METRICS if not column.name.startswith((BEFORE, AFTER))],
            "Those of memory and collector are one value a capture.",
            layer=words(LAYERS),
            before=_summary(BEFORE),
            after=_summary(AFTER),
            p_value=PROBABILITY,
            p_adjusted=PROBABILITY,
            better=words_or_null(("lower", "higher")),
            verdict=words(VERDICTS),
            equivalence=words_or_null(EQUIVALENCES),
            p_no_worse=PROBABILITY,
        ),
        geomeans=rows(
            GEOMEANS, "Of each unit that several benchmarks share.", metrics={"minimum": 2}
        ),
        moments=rows(MOMENTS, "Which moment was compared with which, the last one last."),
        windows=rows(
            WINDOWS,
            "How much of each side's life is compared: n, and the time covered.",
            side=words(("before", "after")),
        ),
        ledger=rows(LEDGER, "Parts of resident memory at these moments.", part=words(PARTS)),
        groups=rows(
            COMPARED_GROUPS,
            "Whose the resident memory is at these moments, as both sides tell it apart.",
        ),
        sites=rows(
            SITE_CHANGES,
            "Allocation sites, the largest change first.",
            state=words(STATES),
            p_value=PROBABILITY,
        ),
        site_rates=rows(
            SITE_RATES,
            "What each allocated between the moments, where both sides have two profiles.",
            state=words(STATES),
            per=words(PER),
            p_value=PROBABILITY,
        ),
        notes=listed({"type": "string"}, "What to know before believing any of it."),
        damage=rows(without(DAMAGE, "text"), "What of either side could not be read."),
    )
