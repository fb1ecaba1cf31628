"""The schema of who allocates: the report's `allocations` to `growth`."""

from __future__ import annotations

from gomem.analysis.profiles.growth import GROWTH as STACKS
from gomem.analysis.profiles.reasons import REASONS as LINES
from gomem.analysis.profiles.sizes import OBJECTS
from gomem.analysis.profiles.turnover import TURNOVER as CHURN
from gomem.analysis.series.trends import SHAPES
from gomem.capture.moment import MOMENT
from gomem.inputs.pprof.sites import SITES
from gomem.inputs.schema import Column
from gomem.views.json.schemas.fields import NUMBER, PROBABILITY, or_null, record, rows

SAMPLE_TYPE = Column("sample_type", "str", "", "Which of the profile's values: inuse_space.")
UNIT = Column("unit", "str", "", "Its unit, as the profile declares it: bytes or count.")
TOTAL = Column("total", "int64", "", "The whole profile's, in the unit.")
NOTE = Column("note", "str", "", "Why there are no intervals; empty where there are.")
OF_SERIES = (
    SAMPLE_TYPE,
    UNIT,
    Column("profiles", "int64", "count", "Profiles that are new."),
    Column("repeated", "int64", "count", "Profiles left out: they repeat the one before."),
    Column("seconds", "float64", "s", "From the first profile to the last."),
    Column("horizon_seconds", "float64", "s", "How far beyond the last one is projected."),
)
SLOPES = ("first", "last", "slope", "slope_low", "slope_high")

ALLOCATIONS = rows(
    (MOMENT, SAMPLE_TYPE, UNIT, TOTAL, NOTE),
    "Who has most, by moment and sample type.",
    top=rows(SITES, "Those with most flat first."),
)
REASONS = rows(
    (MOMENT,),
    "Why lines allocate, of alloc_space, as the compiler's escape analysis tells; empty without.",
    lines=rows(LINES, "Those that allocate most first."),
)
TURNOVER = rows(
    (MOMENT,),
    "What sites allocated and freed; those that freed most.",
    sites=rows(
        CHURN,
        "Those that freed most first.",
        mean_object_bytes=NUMBER,
        survival_fraction=NUMBER | PROBABILITY,
    ),
)
OBJECT_SIZES = rows(
    (MOMENT,),
    "Objects in use by site and size; those with most bytes.",
    sizes=rows(OBJECTS, "Those with most bytes first."),
)
GROWTH = or_null(
    record(
        OF_SERIES,
        profiles={"minimum": 1},
        seconds=NUMBER,
        horizon_seconds=NUMBER,
        stacks=rows(
            STACKS,
            "Those that grow fastest first.",
            shape={"enum": list(SHAPES)},
            **dict.fromkeys(SLOPES, NUMBER),
        ),
    ),
    "What grows over the moments' heap profiles; null without a series of them.",
)
