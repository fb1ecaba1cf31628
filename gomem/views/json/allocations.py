"""Why sites allocate, what they free, how large their objects are and what grows, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.text import File, MomentName, Quoted
from gomem.views.json.rows import rows_json

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis

MOST_ROWS = 10  # a moment
MOST_STACKS = 100


def reasons_json(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Allocation lines by moment, with the compiler's words; source files without homes."""
    return [
        {
            "moment": MomentName(moment),
            "lines": [
                row | {"file": File(row["file"]), "why": Quoted(row["why"])}
                for row in rows_json(reasons)
            ],
        }
        for moment, reasons in diagnosis.facts.profiles.reasons.items()
    ]


def turnover_json(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """What the sites of each moment allocated and freed, those that freed most."""
    found = {moment: diagnosis.facts.profiles.turnover(moment) for moment in diagnosis.sites}
    return _by_moment(found, "sites")


def object_sizes_json(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Objects in use of each moment by site and size, those with most bytes."""
    found = {moment: diagnosis.facts.profiles.object_sizes(moment) for moment in diagnosis.sites}
    return _by_moment(found, "sizes")


def growth_json(diagnosis: Diagnosis) -> dict[str, Any] | None:
    """What grows, over which profiles; null without a series of them."""
    series = diagnosis.facts.profiles.heap_series
    if series is None:
        return None
    return {
        "sample_type": series.sample_type,
        "unit": series.unit,
        "profiles": len(series.moments),
        "repeated": len(series.repeated),
        "seconds": float(series.moments["seconds"].iloc[-1]),
        "horizon_seconds": diagnosis.facts.profiles.growth_horizon_seconds,
        "stacks": rows_json(diagnosis.growth.head(MOST_STACKS)),
    }


def _by_moment(found: dict[str, pd.DataFrame], word: str) -> list[dict[str, Any]]:
    return [
        {"moment": MomentName(moment), word: rows_json(frame.head(MOST_ROWS))}
        for moment, frame in found.items()
        if len(frame)
    ]
