"""Schemas as tests hold outputs to them: a field that is not in the schema is an error."""

from typing import Any


def closed(schema: Any) -> Any:
    """The schema with every object closed; what ships is open, as fields may be added."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {name: closed(one) for name, one in schema.items()}
    if schema.get("type") == "object":
        inside["additionalProperties"] = False
    return inside
