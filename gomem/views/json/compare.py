"""A comparison as JSON, key by key; `schemas.compare` describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gomem.views.json.table import rows_json
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison

SCHEMA = "gomem.compare/1"
BUILDS_SCHEMA = "gomem.compare-builds/1"
SUMMARY = ("n", "median", "low", "high")
JUDGEMENT = (
    "difference",
    "change",
    "p_value",
    "p_adjusted",
    "better",
    "verdict",
    "equivalence",
    "p_no_worse",
    "note",
)


def compare_json(comparison: Comparison, *, before: str, after: str) -> dict[str, Any]:
    """Lay a comparison out for JSON: base units, and null for what is unknown.

    Args:
        comparison: The answer.
        before: What was compared, by name.
        after: With what, by name.
    """
    laid_out = {
        "schema": SCHEMA,
        "inputs": {"before": before, "after": after},
        "settings": rows_json(comparison.settings),
        "verdict": {
            "sentence": comparison.judgement.sentence,
            "verdict": comparison.judgement.verdict,
            "details": list(comparison.judgement.details),
        },
        "budgets": rows_json(comparison.budgets),
        "findings": rows_json(comparison.findings),
        "metrics": [_metric(row) for row in rows_json(comparison.metrics)],
        "geomeans": rows_json(comparison.geomeans),
        "moments": rows_json(comparison.moments),
        "windows": rows_json(comparison.windows),
        "ledger": rows_json(comparison.ledger),
        "groups": rows_json(comparison.groups),
        "sites": rows_json(comparison.sites),
        "site_rates": rows_json(comparison.site_rates),
        "notes": list(comparison.notes),
        "damage": [
            {"source": one.source, "where": one.where, "what": one.what}
            for one in comparison.damaged
        ],
    }
    return share(laid_out, Hidden())


def render_compare_json(comparison: Comparison, *, before: str, after: str) -> str:
    """The same as text, ending in a line break."""
    laid_out = compare_json(comparison, before=before, after=after)
    return json.dumps(laid_out, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def builds_json(compared: BuildComparison) -> dict[str, Any]:
    """Lay several builds out for JSON: one table, and the whole comparison of each."""
    laid_out = {
        "schema": BUILDS_SCHEMA,
        "inputs": {"baseline": compared.baseline, "builds": list(compared.comparisons)},
        "settings": rows_json(compared.settings),
        "verdict": {
            "sentence": compared.judgement.sentence,
            "verdict": compared.judgement.verdict,
            "details": list(compared.judgement.details),
        },
        "outliers": rows_json(compared.outliers),
        "metrics": rows_json(compared.metrics),
        "notes": list(compared.notes),
        "comparisons": [
            compare_json(one, before=compared.baseline, after=name)
            for name, one in compared.comparisons.items()
        ],
    }
    return share(laid_out, Hidden())


def render_builds_json(compared: BuildComparison) -> str:
    """The same as text, ending in a line break."""
    laid_out = builds_json(compared)
    return json.dumps(laid_out, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _metric(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": row["name"],
        "unit": row["unit"],
        "layer": row["layer"],
        **{side: {key: row[f"{side}_{key}"] for key in SUMMARY} for side in ("before", "after")},
        **{key: row[key] for key in JUDGEMENT},
    }
