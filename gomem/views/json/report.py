"""The report as JSON, with its schema."""

from __future__ import annotations

import math
from importlib.metadata import version
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from gomem.analysis.memory.containers import CONTAINERS
from gomem.analysis.series.goroutine_growth import GOROUTINE_GROUPS
from gomem.analysis.series.level import LEVEL_QUANTILES
from gomem.capture.capture import ARTEFACTS, Capture
from gomem.causes import CAUSES
from gomem.causes.finding import CONFIDENCES, Evidence, Finding, MissingCall, Severity, Site
from gomem.diagnosis.verdict import Verdict
from gomem.facts.settings import KNOWN_BY, Setting
from gomem.inputs.environ.parse import GODEBUG, GOGC
from gomem.inputs.kinds import BY_NAME
from gomem.inputs.schema import DAMAGE, UNITS, rows_of
from gomem.text import CaptureName, File, Function, MomentName, Quoted
from gomem.units import is_unknown
from gomem.views.json.account import ACCOUNT
from gomem.views.json.allocations import ALLOCATIONS, GROWTH, OBJECT_SIZES, REASONS, TURNOVER
from gomem.views.json.collector import COLLECTOR, GC, SCAVENGER
from gomem.views.json.memory import CHANGES, LEDGER, LIMITS, MAPPINGS
from gomem.views.json.retain import KEPT
from gomem.views.json.table import (
    SIZE,
    TEXT_OR_NULL,
    Key,
    Shape,
    columns,
    frame,
    inner,
    listed,
    moment,
    of_class,
    or_none,
    plain,
    shape,
    texts,
    without,
    words,
    words_or_null,
    written,
    written_as,
)
from gomem.views.json.what_if import WHAT_IF
from gomem.views.names import hidden, typed, typed_paths, typed_value
from gomem.views.share import share

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.releases import GoVersion

SCHEMA = "gomem.report/1"
CODES = [cause.code for cause in CAUSES]
SEVERITIES = [str(severity) for severity in sorted(Severity, reverse=True)]


class Told(NamedTuple):
    """A finding or a verdict, with the diagnosis whose moments it names."""

    answer: Any
    diagnosis: Diagnosis

    @property
    def evidence(self) -> list[Told]:
        """The evidence of a finding."""
        return [Told(evidence, self.diagnosis) for evidence in self.answer.evidence]

    @property
    def value(self) -> Any:
        """The value of evidence: text with moment names marked, numbers unchanged."""
        value = self.answer.value
        return typed_value(value, self.diagnosis) if isinstance(value, str) else value


def _sentence(kind: type, name: str) -> Key:
    """A key for a sentence of a finding or a verdict, described by its class."""
    (own,) = of_class(kind, name)
    return Key(name, own.shape, lambda told: typed(getattr(told.answer, name), told.diagnosis))


def _artefacts(name: str, means: str, get: Callable[[Any], tuple[Capture, str]]) -> Key:
    """Files of a moment, or of the whole capture."""

    def files(answer: Any) -> pd.DataFrame:
        capture, of = get(answer)
        rows = capture.artefacts[capture.artefacts["moment"] == of].drop(columns="moment")
        looks = [capture.looks.get(path, "") for path in rows["path"]]  # `rows` drops their type
        return rows.assign(looks_like=pd.Series(looks, rows.index, dtype=object))

    return frame(
        name, without(ARTEFACTS, "moment"), means, files,
        cells={"kind": _or_null, "time": _time, "time_source": _or_null,
               "looks_like": _or_null},
        kind=words_or_null(BY_NAME) | {"description": "Kind, by content; null if unknown."},
        bytes=SIZE, time_source=TEXT_OR_NULL, looks_like=TEXT_OR_NULL,
    )  # fmt: skip


def _or_null(text: str) -> str | None:
    return text or None


def _time(time: Any) -> str | None:
    return None if is_unknown(time) else time.isoformat()


def _release(end: str) -> Callable[[GoVersion], str | None]:
    """Return a function for the oldest or the newest possible release."""
    return lambda known: None if (release := getattr(known, end)) is None else str(release)


def _function(name: str) -> Callable[[Site], Function]:
    return lambda site: Function(getattr(site, name))


def _whole(end: str) -> Callable[[Site], int | None]:
    """Return a function for an end of a site's interval in whole bytes; null if unknown."""
    return lambda site: None if math.isnan(size := getattr(site, end)) else round(size)


def _value(setting: Setting) -> str:
    """The setting as its variable would be set; GODEBUG's value is the user's own text."""
    return Quoted(setting.text) if setting.name == GODEBUG else setting.text


def _end(name: str) -> Callable[[Setting], float | None]:
    """Return a function for an end of a setting's interval."""

    def end(setting: Setting) -> float | None:
        value = float(getattr(setting, name))
        if not math.isfinite(value):
            return None
        return round(100 * value, 1) if setting.name == GOGC else value

    return end


def _moments(capture: Capture) -> list[dict[str, Any]]:
    return [row | {"capture": capture} for row in rows_of(capture.moments)]


CAPTURE = (
    plain("name", "str", "", "Name of the capture in reports.",
          lambda diagnosis: CaptureName(diagnosis.capture.name)),
    plain("go_version", "str", "", "The Go release; null unless known exactly.",
          "go_version.text", **TEXT_OR_NULL),
    inner(
        "go_version_range", "The possible Go releases.",
        *(
            plain(end, "str", "", f"The {word} possible release; null if unknown.",
                  _release(end), **TEXT_OR_NULL)
            for end, word in (("low", "oldest"), ("high", "newest"))
        ),
        get="go_version",
    ),
    plain("go_version_evidence", "str", "", "Source of the release, or of its bounds.",
          "go_version.evidence"),
    inner(
        "moments", "Snapshots, in order.",
        moment("name", "Name of the snapshot.", itemgetter("moment")),
        plain("time", "datetime64[ns, UTC]", "", "The earliest time of its files.",
              lambda row: _time(row["time"])),
        _artefacts("artefacts", "Files of the snapshot.", itemgetter("capture", "moment")),
        get=lambda facts: _moments(facts.capture), many=True,
    ),
    _artefacts("artefacts", "Files of the whole capture, and unreadable files.",
               lambda facts: (facts.capture, "")),
    inner(
        "settings", "Settings of the runtime, with their sources.",
        plain("name", "str", "", "GOGC, GOMEMLIMIT, GOMAXPROCS or GODEBUG."),
        plain("value", "str", "", "Value as in the environment: 40, off, 512MiB, none.", _value),
        *(
            plain(
                end, "float64", "", f"The {word} possible value, in percent for GOGC, in bytes "
                "for a limit; null if unbounded.", _end(end),
            )
            for end, word in (("low", "least"), ("high", "most"))
        ),
        plain("known_by", "str", "", "Source of the value, or of its bounds.", **words(KNOWN_BY)),
        plain("source", "str", "", "The file; null without a file.",
              lambda setting: File(setting.source) if setting.source else None, **TEXT_OR_NULL),
        get="settings.known", many=True,
    ),
)  # fmt: skip
VERDICT = inner(
    "verdict",
    "The verdict: where the memory is, what changed, what holds the memory, and what to do.",
    _sentence(Verdict, "sentence"),
    *of_class(Verdict, "code", "answer.", code=words_or_null(CODES)),
    plain("severity", "str", "",
          "Severity now; null if nothing is wrong.",
          lambda told: None if told.answer.severity is None else str(told.answer.severity),
          **words_or_null(SEVERITIES)),
    moment("moment", "Snapshot that the verdict describes; null if no snapshot has memory data.",
           "answer.moment", nullable=True),
    *of_class(Verdict, "rss_bytes", "answer.", rss_bytes=SIZE),
    texts("whose", "Sentences on what retains the Go heap, and on its bounds.",
          lambda told: [typed(sentence, told.diagnosis) for sentence in told.answer.whose]),
    _sentence(Verdict, "next_step"),
    *of_class(Verdict, "further", "answer."),
    get=lambda diagnosis: Told(diagnosis.verdict, diagnosis),
)  # fmt: skip
MISSING_CALL = inner(
    "missing_call", "The call that is most likely missing; null if unknown.",
    *of_class(MissingCall, "call why"),
    plain("releases", "str", "", "Go releases for which this holds, if the release of the capture "
          "can be another; null otherwise.", lambda call: call.releases or None, **TEXT_OR_NULL),
    inner(
        "where", "Where the call is missing, or what waits for it; null if no file shows it.",
        plain("function", "str", "", "The program's own function.", _function("function")),
        plain("file", "str", "", "File of its call; null if unknown.",
              lambda call: File(call.file) if call.file else None, **TEXT_OR_NULL),
        *of_class(MissingCall, "line is_elsewhere", line=SIZE),
        nullable=True, get=lambda call: call if call.function else None,
    ),
    *of_class(MissingCall, "reference"),
    nullable=True, get="answer.missing_call",
)  # fmt: skip
FINDINGS = inner(
    "findings",
    "Findings, one per known cause that applies, ranked by their present cost.",
    *of_class(Finding, "code", "answer.", code=words(CODES)),
    plain("severity", "str", "", "Severity.", lambda told: str(told.answer.severity),
          **words(SEVERITIES)),
    *of_class(Finding, "confidence", "answer.", confidence=words(CONFIDENCES)),
    moment("moment", "Last snapshot with the finding; null for the whole capture.",
           "answer.moment", nullable=True),
    texts("moments", "All snapshots with the finding; empty for the whole capture.",
          lambda told: map(MomentName, told.answer.moments)),
    *of_class(Finding, "now over bytes cpu_fraction", "answer."),
    _sentence(Finding, "title"),
    inner(
        "evidence", "The numbers behind the finding.",
        plain("artefact", "str", "", "File with the number, or the files it was computed from.",
              lambda told: typed_paths(told.answer.artefact)),
        *of_class(Evidence, "field", "answer."),
        plain("value", "str", "", "Value, in the unit.", type=["integer", "number", "string"]),
        *of_class(Evidence, "unit", "answer.", unit=words(sorted(UNITS))), many=True,
    ),
    inner(
        "sites", "Places in the program to change.",
        *(
            plain(name, "str", "", means, _function(name))
            for name, means in (
                ("function", "Function that allocated most of it, or in which goroutines wait."),
                ("own_function", "The program's own function behind it."),
            )
        ),
        plain("file", "str", "", "File of its call; null if unknown.",
              lambda site: File(site.file) if site.file else None, **TEXT_OR_NULL),
        *of_class(Site, "line", line=SIZE),
        *(
            plain(end, "Int64", "B", means, _whole(end), **SIZE)
            for end, means in (
                ("low", "Minimum growth."), ("high", "Maximum growth.")
            )
        ),
        get="answer.sites", many=True,
    ),
    MISSING_CALL,
    *of_class(Finding, "mechanism", "answer."),
    _sentence(Finding, "next_step"),
    texts("references", "Issues and documents.", "answer.references"),
    get=lambda diagnosis: [Told(finding, diagnosis) for finding in diagnosis.findings], many=True,
)  # fmt: skip
REPORT = shape(
    "Where the memory of one Go process went. Values are base units: bytes, seconds, fractions. "
    "Unknown is null. Fields may be added, never renamed.",
    written_as(SCHEMA),
    plain("gomem_version", "str", "", "Version of gomem that wrote the document.",
          lambda _: version("gomem")),
    VERDICT,
    inner("capture", "The capture.", *CAPTURE, get="facts"),
    inner("baseline", "The baseline capture; null without a baseline.", *CAPTURE, nullable=True,
          get=lambda diagnosis: diagnosis.baseline and diagnosis.baseline.facts),
    ACCOUNT, LEDGER, MAPPINGS, CHANGES,
    frame("levels", LEVEL_QUANTILES,
          "Quantiles of RSS and heap sizes; empty for fewer than 20 snapshots.",
          "facts.level_quantiles"),
    LIMITS, SCAVENGER, GC, COLLECTOR,
    Key("what_if", or_none(WHAT_IF, "Estimates for other settings; null without a gctrace log."),
        attrgetter("what_if")),
    frame("goroutines", GOROUTINE_GROUPS,
          "Goroutines by where they wait, at the last snapshot with stacks; empty without stacks.",
          "facts.goroutine_groups", state=TEXT_OR_NULL,
          created_by=TEXT_OR_NULL),
    frame("containers", CONTAINERS, "Working sets of the containers in pasted tables.",
          "facts.container_sizes"),
    inner("retention", "Keepers of the heap, by the last heap dump; null without a heap dump.",
          moment("moment", "The snapshot of the dump."), *KEPT, get="facts.kept", nullable=True),
    ALLOCATIONS, REASONS, TURNOVER, OBJECT_SIZES, GROWTH, FINDINGS,
    Key("checked",
        Shape(listed(words(CODES), "Codes of all causes that were checked."), lambda _: CODES),
        lambda diagnosis: diagnosis),
    inner("damage", "Parts that could not be read.", *columns(DAMAGE), get="capture.damaged",
          many=True),
)  # fmt: skip


def report_json(diagnosis: Diagnosis, *, redact: bool = False) -> dict[str, Any]:
    """Convert a diagnosis to JSON: base units, and null if unknown."""
    return share(REPORT.json(diagnosis), hidden(diagnosis, redact=redact))


def render_json_report(diagnosis: Diagnosis, *, redact: bool = False) -> str:
    """Write the JSON as text, with a final newline."""
    return written(report_json(diagnosis, redact=redact))
