"""What a gctrace log tells beyond its summary, for JSON: one list of rows for each question."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gomem.units import is_unknown

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.collector_answers import CollectorAnswers


def collector_json(facts: CollectorAnswers | None) -> dict[str, Any] | None:
    """Lay the answers out in base units, null for what is unknown; None without a log."""
    if facts is None:
        return None
    return {
        "mutator_utilization_fraction": facts.utilization.mean_fraction,
        "mmu": _rows(facts.utilization.curve),
        "pauses": _rows(facts.pauses.quantiles),
        "triggers": _rows(facts.triggers.counts),
        "gogc": _rows(facts.triggers.gogc),
        "pacing": _rows(facts.pacing.summary),
        "live_heap": [{**asdict(one), "grown_bytes": one.grown_bytes} for one in facts.live],
        "phases": _rows(facts.phases),
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): None if is_unknown(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
