"""What changed from moment to moment and against the baseline, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.text import MomentName
from gomem.views.json.rows import rows_json

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.changes import Change


def changes_json(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """From each moment to the next, and from the baseline, if there is one, first."""
    against = diagnosis.change_against_baseline
    steps = [_change(one, of_baseline=False) for one in diagnosis.changes]
    return steps if against is None else [_change(against, of_baseline=True), *steps]


def _change(change: Change, *, of_baseline: bool) -> dict[str, Any]:
    mappings = change.mappings
    return {
        "before": MomentName(change.before),
        "after": MomentName(change.after),
        "before_is_baseline": of_baseline,
        "rss_change_bytes": change.ledger.rss_change_bytes,
        "verdict": change.ledger.verdict,
        "sentence": change.ledger.sentence,
        "parts": rows_json(change.ledger.parts),
        "mappings": []
        if mappings is None
        else rows_json(mappings.loc[mappings["change_bytes"] != 0].drop(columns="path")),
    }
