"""JSON Schemas of the commands' output, each built from the data dictionary on request."""

from __future__ import annotations

from importlib import import_module
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Module and name of each; `compare` with more than two sides writes another document.
SCHEMAS = {
    "report": "report.REPORT",
    "compare": "compare.COMPARE",
    "compare-builds": "compare.COMPARE_BUILDS",
    "top": "schemas.top.TOP",
    "what-if": "what_if.WHAT_IF",
    "retain": "retain.RETAIN",
    "fleet": "fleet.FLEET",
    "matrix": "fleet.MATRIX",
}


def schema_of(document: str) -> dict[str, Any]:
    """Return the JSON Schema of a document in `SCHEMAS`; its title is the `schema` key."""
    module, _, name = SCHEMAS[document].rpartition(".")
    schema = getattr(import_module(f"gomem.views.json.{module}"), name).schema
    whole = schema if "properties" in schema else schema["oneOf"][0]
    return {"$schema": DIALECT, "title": whole["properties"]["schema"]["const"]} | schema
