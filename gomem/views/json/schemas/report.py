"""The schema of the report's JSON, which `gomem.views.json.report` makes."""

from __future__ import annotations

from gomem.analysis.series.level_quantiles import LEVEL_QUANTILES
from gomem.capture.capture import ARTEFACTS
from gomem.causes import CAUSES
from gomem.causes.finding import CONFIDENCES, Severity
from gomem.inputs.kinds import BY_NAME
from gomem.inputs.schema import DAMAGE, UNITS, Column
from gomem.views.json.report import SCHEMA
from gomem.views.json.schemas.account import ACCOUNT
from gomem.views.json.schemas.allocations import (
    ALLOCATIONS,
    GROWTH,
    OBJECT_SIZES,
    REASONS,
    TURNOVER,
)
from gomem.views.json.schemas.collector import COLLECTOR, GC
from gomem.views.json.schemas.fields import (
    SIZE,
    TEXT_OR_NULL,
    Schema,
    document,
    listed,
    or_null,
    record,
    rows,
    without,
    words,
    words_or_null,
    written_as,
)
from gomem.views.json.schemas.memory import CHANGES, LEDGER, LIMITS, MAPPINGS
from gomem.views.json.schemas.scavenger import SCAVENGER
from gomem.views.json.schemas.what_if import what_if_body

MEANS = (
    "Where the memory of one Go process went. Values are base units: bytes, seconds, fractions. "
    "Unknown is null. Fields may be added, never renamed."
)
CODES = [cause.code for cause in CAUSES]
VERSION = Column("gomem_version", "str", "", "Which gomem wrote it.")
OF_CAPTURE = (
    Column("name", "str", "", "What reports call it."),
    Column("go_version", "str", "", "The release, if it is known exactly."),
    Column("go_version_evidence", "str", "", "How the release is known, or what narrows it."),
)
RELEASES = (
    Column("low", "str", "", "The oldest release that it can be; null if nothing says."),
    Column("high", "str", "", "The newest release that it can be; null if nothing says."),
)
OF_MOMENT = (
    Column("name", "str", "", "What the moment is called."),
    Column("time", "datetime64[ns, UTC]", "", "The earliest of its artefacts' times."),
)
FINDING = (
    Column("code", "str", "", "The cause's fixed name."),
    Column("severity", "str", "", "How much it matters."),
    Column("confidence", "str", "", "How sure it is."),
    Column("moment", "str", "", "The last at which it holds; null if it is of the whole capture."),
    Column("now", "bool", "", "Whether it holds at the last moment, as its files show."),
    Column("over", "bool", "", "Whether a later moment shows that it no longer holds."),
    Column("bytes", "Int64", "B", "Memory it explains; null if it is not about memory."),
    Column(
        "cpu_fraction",
        "float64",
        "fraction",
        "Share of the process's CPU that it costs; null if it is not about CPU.",
    ),
    Column("title", "str", "", "Plain words with the number in it."),
    Column("mechanism", "str", "", "Why this happens."),
    Column("next_step", "str", "", "What to do."),
)
VERDICT_FIELDS = (
    Column("sentence", "str", "", "The verdict, in one sentence or two."),
    Column("code", "str", "", "The finding that it names; null if it names none."),
    Column("severity", "str", "", "How much it matters now."),
    Column("moment", "str", "", "The moment it is about; null if none says anything of memory."),
    Column("rss_bytes", "Int64", "B", "Resident at that moment; null if no file says."),
    Column("next_step", "str", "", "What to do next."),
    Column("further", "str", "", "Further findings and damage, counted; empty if there are none."),
)
SITES = (
    Column("function", "str", "", "Who called the allocator, or where goroutines wait."),
    Column("own_function", "str", "", "The program's own function that had it do so."),
    Column("file", "str", "", "Where its call stands; null if no file says."),
    Column("line", "Int64", "", "The line of it."),
    Column("low", "Int64", "B", "By how much it grew, at least."),
    Column("high", "Int64", "B", "The same at most."),
)
EVIDENCE = (
    Column("artefact", "str", "", "The file it stands in, or what it was worked out from."),
    Column("field", "str", "", "What it is, in the artefact's own spelling where it has one."),
    Column("unit", "str", "", "Of the value; empty for words and names."),
)


def _artefacts(means: str) -> Schema:
    return rows(
        without(ARTEFACTS, "moment"),
        means,
        kind=words_or_null(BY_NAME) | {"description": "Found from the content; null if of none."},
        bytes=SIZE,
        time_source=TEXT_OR_NULL,
        looks_like=TEXT_OR_NULL,
    )


CAPTURE = record(
    OF_CAPTURE,
    "What was read.",
    go_version=TEXT_OR_NULL,
    go_version_range=record(
        RELEASES, "Which releases it can be.", low=TEXT_OR_NULL, high=TEXT_OR_NULL
    ),
    moments=rows(OF_MOMENT, "In order.", artefacts=_artefacts("Those of the moment.")),
    artefacts=_artefacts("Those of the whole capture, and those that could not be read."),
)
VERDICT = record(
    VERDICT_FIELDS,
    "What it comes down to: where the memory is, what moved it there, whose it is, what to do.",
    code=words_or_null(CODES),
    severity=words_or_null(str(one) for one in sorted(Severity, reverse=True))
    | {"description": "How much it matters now; null where nothing is out of the ordinary."},
    moment=TEXT_OR_NULL,
    rss_bytes=SIZE,
    whose=listed({"type": "string"}, "Who holds the Go heap, and what bounds it; sentences."),
)
FINDINGS = rows(
    FINDING,
    "Known causes that were found, one finding a cause, ranked by what they cost now.",
    code=words(CODES),
    severity=words(str(one) for one in sorted(Severity, reverse=True)),
    confidence=words(CONFIDENCES),
    moment=TEXT_OR_NULL,
    moments=listed({"type": "string"}, "All at which it holds; empty if of the whole capture."),
    evidence=rows(
        EVIDENCE,
        "What proves it.",
        value={"type": ["integer", "number", "string"], "description": "In the unit."},
        unit=words(sorted(UNITS)),
    ),
    sites=rows(
        SITES,
        "Where in the program something can be mended.",
        file=TEXT_OR_NULL,
        line=SIZE,
        low=SIZE,
        high=SIZE,
    ),
    references=listed({"type": "string"}, "Issues and documents."),
)


def report_schema() -> Schema:
    """JSON Schema of what `gomem report --format json` writes."""
    body = record(
        (VERSION,),
        MEANS,
        schema=written_as(SCHEMA),
        verdict=VERDICT,
        capture=CAPTURE,
        baseline=or_null(CAPTURE, "The capture it was compared with, if any."),
        account=ACCOUNT,
        ledger=LEDGER,
        mappings=MAPPINGS,
        changes=CHANGES,
        levels=rows(LEVEL_QUANTILES, "How high RSS and the heap lie; none of under 20 moments."),
        limits=LIMITS,
        scavenger=SCAVENGER,
        gc=GC,
        collector=COLLECTOR,
        what_if=or_null(what_if_body(), "What other settings would do; null without a log."),
        allocations=ALLOCATIONS,
        reasons=REASONS,
        turnover=TURNOVER,
        object_sizes=OBJECT_SIZES,
        growth=GROWTH,
        findings=FINDINGS,
        checked=listed(words(CODES), "Codes of all causes that were looked for."),
        damage=rows(DAMAGE, "What could not be read."),
    )
    return document(SCHEMA, body)
