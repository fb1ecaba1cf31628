"""JSON Schemas of what commands write, each made from the data dictionary when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Module and function of each; `compare` on more than two sides writes a document of its own.
SCHEMAS = {
    "report": "report.report_schema",
    "compare": "compare.compare_schema",
    "compare-builds": "compare.compare_builds_schema",
    "top": "schemas.top.top_schema",
    "what-if": "what_if.what_if_schema",
}


def schema_of(document: str) -> dict[str, Any]:
    """The JSON Schema of a document, one of `SCHEMAS`."""
    module, _, made = SCHEMAS[document].rpartition(".")
    return getattr(import_module(f"gomem.views.json.{module}"), made)()
