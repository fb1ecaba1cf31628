"""A fleet, and a matrix of builds, in JSON."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gomem.analysis.fleet.builds import BUILDS
from gomem.analysis.fleet.drift import DRIFT
from gomem.analysis.fleet.frames import FAILED
from gomem.analysis.fleet.instances import INSTANCES
from gomem.analysis.fleet.limits import NEAR, RSS_QUANTILES
from gomem.analysis.fleet.outliers import OUTLIERS
from gomem.analysis.fleet.population import DISTRIBUTIONS
from gomem.fleets.verdict import Verdict, outlier_sentence
from gomem.inputs.schema import Column, rows_of
from gomem.numbered import Build
from gomem.units import is_unknown
from gomem.views.json.table import (
    SIZE,
    TEXT_OR_NULL,
    Getter,
    Key,
    frame,
    inner,
    of_class,
    plain,
    shape,
    texts,
    without,
    words,
    written,
    written_as,
)
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    from gomem.fleets.fleet import Fleet
    from gomem.fleets.matrix import Matrix

SCHEMA = "gomem.fleet/1"
MATRIX_SCHEMA = "gomem.matrix/1"
SHOWN = Hidden()  # hides only home directories
WHATS = ("part", "count", "rate", "setting", "total")
# columns of an outlier that come first
FIRST = ("instance", "what", "part", "value", "median", "z", "code")
_OUTLIER = {column.name: column for column in OUTLIERS}


def _outliers(fleet: Fleet) -> list[dict[str, Any]]:
    return [row | {"sentence": outlier_sentence(row)} for row in rows_of(fleet.outliers)]


def _cell(name: str) -> Getter:
    """A row's value; null if unknown or empty."""

    def cell(row: dict[str, Any]) -> Any:
        value = row[name]
        return None if is_unknown(value) or value == "" else value

    return cell


def _plain(column: Column) -> Key:
    narrowed = TEXT_OR_NULL if column.dtype in {"str", "object"} else {}
    if column.name == "what":
        narrowed = words(WHATS)
    return plain(
        column.name, column.dtype, column.unit, column.means, _cell(column.name), **narrowed
    )


FLEET = shape(
    "Many captures, and the instances that are unlike the others. Values are base units: bytes, "
    "seconds, fractions. Unknown is null. Fields may be added, never renamed.",
    written_as(SCHEMA),
    plain("instances", "int64", "count", "Number of instances, read or not.", "verdict.instances",
          **SIZE),
    inner(
        "verdict", "The verdict.",
        *of_class(Verdict, "sentence alike compared"),
        texts("details", "Further sentences of the verdict."),
        *of_class(Verdict, "next_step"),
    ),
    inner(
        "outliers", "Instances that are unlike the others, the costliest first.",
        *(_plain(_OUTLIER[name]) for name in FIRST),
        plain("sentence", "str", "", "The same in a sentence.", itemgetter("sentence")),
        *(_plain(column) for column in OUTLIERS if column.name not in FIRST),
        get=_outliers, many=True,
    ),
    plain("captures", "int64", "count", "Captures that were read.",
          lambda fleet: len(fleet.captures)),
    frame("failed", without(FAILED, "time", "key"), "Captures that could not be read.",
          lambda fleet: fleet.failed.drop(columns=["time", "key"])),
    frame("distributions", DISTRIBUTIONS, "Each quantity over the instances of a service."),
    frame("builds", BUILDS, "Each quantity build by build.", verdict=TEXT_OR_NULL),
    frame("drift", DRIFT, "Quantities that rise over the captures of an instance."),
    frame("near_limit", NEAR, "Instances near their memory limit."),
    frame("rss", RSS_QUANTILES, "RSS over all captures of a service."),
    frame("by_instance", without(INSTANCES, "path"), "Each instance as of its last capture.",
          lambda fleet: fleet.instances.drop(columns="path"), build=TEXT_OR_NULL,
          code=TEXT_OR_NULL, unlike=TEXT_OR_NULL),
)  # fmt: skip
MATRIX = shape(
    "The same program in several builds: what each build needs, and which build changes it. "
    "Values are base units. Unknown is null. Fields may be added, never renamed.",
    written_as(MATRIX_SCHEMA),
    inner("verdict", "The verdict.",
          plain("sentence", "str", "",
                "The first build that differs, and the build that changes back.", "sentence"),
          get=lambda matrix: matrix),
    texts("builds", "Builds in order.", lambda matrix: map(Build, matrix.builds)),
    frame("rows", BUILDS, "A row per build and quantity, compared with the previous build.",
          "compared", verdict=TEXT_OR_NULL),
    frame("differing", BUILDS, "The rows of builds that differ from the previous build.",
          "differing"),
    frame("failed", without(FAILED, "time", "key"), "Captures that could not be read.",
          lambda matrix: matrix.failed.drop(columns=["time", "key"])),
)  # fmt: skip


def render_fleet_json(fleet: Fleet, hidden: Hidden = SHOWN) -> str:
    """Write a fleet as text, with a final newline."""
    return written(share(FLEET.json(fleet), hidden))


def render_matrix_json(matrix: Matrix, hidden: Hidden = SHOWN) -> str:
    """Write a matrix as text, with a final newline."""
    return written(share(MATRIX.json(matrix), hidden))
