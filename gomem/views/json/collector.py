"""What a gctrace log tells beyond its summary, for JSON: one list of rows for each question."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gomem.views.json.rows import rows_json

if TYPE_CHECKING:
    from gomem.facts.collector import CollectorFacts


def collector_json(facts: CollectorFacts | None) -> dict[str, Any] | None:
    """Lay the answers out in base units, null for what is unknown; None without a log."""
    if facts is None:
        return None
    return {
        "mutator_utilization_fraction": facts.utilization.mean_fraction,
        "mmu": rows_json(facts.utilization.curve),
        "pauses": rows_json(facts.pauses.quantiles),
        "triggers": rows_json(facts.triggers.counts),
        "gogc": rows_json(facts.triggers.gogc),
        "pacing": rows_json(facts.pacing.summary),
        "live_heap": [{**asdict(one), "grown_bytes": one.grown_bytes} for one in facts.live],
        "phases": rows_json(facts.phases),
    }
