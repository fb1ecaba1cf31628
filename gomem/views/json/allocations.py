"""Allocation sites in JSON: the report's keys from `allocations` to `growth`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gomem.analysis.profiles.growth import GROWTH as STACKS
from gomem.analysis.profiles.reasons import REASONS as LINES
from gomem.analysis.profiles.sizes import OBJECTS
from gomem.analysis.profiles.sizes import TURNOVER as CHURN
from gomem.analysis.series.shapes import SHAPES
from gomem.capture.moment import MOMENT
from gomem.inputs.pprof.sites import SITES, AllocationSites
from gomem.inputs.schema import Column
from gomem.text import Words
from gomem.views.json.table import NUMBER, PROBABILITY, columns, frame, inner, moment, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis

MAX_ROWS = 10  # per moment
MAX_STACKS = 100
SAMPLE_TYPE = Column(
    "sample_type", "str", "", "Sample type of the profile, such as inuse_space.", Words
)
UNIT = Column("unit", "str", "", "Its unit, as the profile declares it: bytes or count.", Words)
TOTAL = Column("total", "int64", "", "Total of the profile, in the unit.")
NOTE = Column("note", "str", "", "Why there are no intervals; empty with intervals.", Words)
SLOPES: dict[str, Any] = dict.fromkeys(
    ("first", "last", "slope", "slope_low", "slope_high"), NUMBER
)


class OfMoment(NamedTuple):
    """An answer for one moment."""

    moment: str
    told: pd.DataFrame


class SitesOfMoment(NamedTuple):
    """The largest sites of a sample type at a moment."""

    moment: str
    told: AllocationSites


def _sites(diagnosis: Diagnosis) -> list[SitesOfMoment]:
    return [
        SitesOfMoment(moment, sites)
        for moment, by_type in diagnosis.sites.items()
        for sites in by_type.values()
    ]


def _reasons(diagnosis: Diagnosis) -> list[OfMoment]:
    return [OfMoment(*reason) for reason in diagnosis.facts.profiles.reasons.items()]


def _found(question: str) -> Callable[[Diagnosis], list[OfMoment]]:
    """Return a function that lists the answers about each moment's profile, if there are any."""

    def answers(diagnosis: Diagnosis) -> list[OfMoment]:
        ask = getattr(diagnosis.facts.profiles, question)
        each = (OfMoment(moment, ask(moment).head(MAX_ROWS)) for moment in diagnosis.sites)
        return [answer for answer in each if len(answer.told)]

    return answers


AT = moment("moment", MOMENT.means)
ALLOCATIONS = inner(
    "allocations", "Largest sites, by snapshot and sample type.",
    AT, *columns((SAMPLE_TYPE, UNIT, TOTAL), at="told."),
    frame("top", SITES, "Sites, the largest flat value first.", "told.top"),
    *columns((NOTE,), at="told."), get=_sites, many=True,
)  # fmt: skip
REASONS = inner(
    "reasons",
    "Why lines allocate, by the compiler's escape analysis, for alloc_space; empty without "
    "escape analysis.",
    AT,
    frame("lines", LINES, "Lines, the largest first.", "told"),
    get=_reasons, many=True,
)  # fmt: skip
TURNOVER = inner(
    "turnover", "Allocated and freed bytes of the sites that freed most.",
    AT,
    frame("sites", CHURN, "Sites, the most freed bytes first.", "told", mean_object_bytes=NUMBER,
          survival_fraction=NUMBER | PROBABILITY),
    get=_found("turnover"), many=True,
)  # fmt: skip
OBJECT_SIZES = inner(
    "object_sizes", "Objects in use by site and size, for the largest.",
    AT, frame("sizes", OBJECTS, "Sizes, the most bytes first.", "told"),
    get=_found("object_sizes"), many=True,
)  # fmt: skip
GROWTH = inner(
    "growth", "Growth over the heap profiles of the snapshots; null without a series.",
    *columns((SAMPLE_TYPE, UNIT), at="facts.profiles.heap_series."),
    plain("profiles", "int64", "count", "Profiles with new data.",
          lambda diagnosis: len(diagnosis.facts.profiles.heap_series.moments), minimum=1),
    plain("repeated", "int64", "count",
          "Profiles left out because they repeat the previous profile.",
          lambda diagnosis: len(diagnosis.facts.profiles.heap_series.repeated)),
    plain("seconds", "float64", "s", "Time from the first profile to the last.",
          lambda diagnosis: float(diagnosis.facts.profiles.heap_series.moments["seconds"].iloc[-1]),
          **NUMBER),
    plain("horizon_seconds", "float64", "s", "Projected time after the last profile.",
          "facts.profiles.growth_horizon_seconds", **NUMBER),
    frame("stacks", STACKS, "Stacks, the fastest growing first.",
          lambda diagnosis: diagnosis.growth.head(MAX_STACKS), shape={"enum": list(SHAPES)},
          **SLOPES),
    get=lambda diagnosis: None if diagnosis.facts.profiles.heap_series is None else diagnosis,
    nullable=True,
)  # fmt: skip
