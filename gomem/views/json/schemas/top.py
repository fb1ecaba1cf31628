"""The JSON schema of `gomem top`: its list of sites, and its other views."""

from __future__ import annotations

from gomem.analysis.profiles.changes import STATES
from gomem.analysis.profiles.reasons import REASONS
from gomem.analysis.profiles.top_difference import DIFFERENCES
from gomem.inputs.pprof.frames import TAGS, TRACES, TREE
from gomem.inputs.pprof.sites import SITES
from gomem.views.json.allocations import NOTE, SAMPLE_TYPE, TOTAL, UNIT
from gomem.views.json.table import (
    TEXT_OR_NULL,
    Shape,
    only,
    record,
    rows,
    words,
    words_or_null,
    written_as,
)
from gomem.views.profile.top import JSON_FIELDS, LIFETIME, SCHEMA
from gomem.views.profile.top import STATES as STATE_FIELDS

MEANS = (
    "The largest rows of a profile. Values are in the profile's own unit, which `unit` names. "
    "Unknown is null. Fields may be added, never renamed."
)
RELATIONS = words(("caller", "self", "callee"))
VIEWS = {
    "tree": rows(TREE, "Each row between its callers and callees.", relation=RELATIONS),
    "peek": rows(TREE, "Each requested row between its callers and callees.", relation=RELATIONS),
    "traces": rows(TRACES, "Every stack, the innermost frame first."),
    "tags": rows(TAGS, "Total of the samples of each label.", text=TEXT_OR_NULL, unit=TEXT_OR_NULL),
    "escapes": rows(REASONS, "Why lines allocate, by the compiler."),
}


_WRITTEN_AS = written_as(SCHEMA).shape.schema
_SITE_ROWS = rows(only(SITES, JSON_FIELDS), "Rows as pprof names and orders them.")
_DIFFERENCE_ROWS = rows(
    only(DIFFERENCES, (*JSON_FIELDS, *STATE_FIELDS, *LIFETIME)),
    "Rows minus those of the base.",
    **dict.fromkeys(STATE_FIELDS, words_or_null(STATES)),
)  # fmt: skip
_SITES = record(
    (SAMPLE_TYPE, UNIT, TOTAL, NOTE), schema=_WRITTEN_AS,
    top={"anyOf": [_SITE_ROWS, _DIFFERENCE_ROWS], "description": "Rows, the largest first."},
)  # fmt: skip
_VIEWS = [
    record(
        (SAMPLE_TYPE, UNIT), schema=_WRITTEN_AS,
        view={"const": view, "description": "Which view of the profile."}, rows=shown,
    )
    for view, shown in VIEWS.items()
]  # fmt: skip
TOP = Shape({"description": MEANS, "oneOf": [_SITES, *_VIEWS]}, dict)
