"""Validators of the JSON Schemas, each made once."""

from functools import cache
from typing import TYPE_CHECKING

from gomem.views.json.schemas import schema_of
from tests.views.json.schemas.closed import closed

if TYPE_CHECKING:
    import jsonschema


@cache
def validator_of(name: str) -> "jsonschema.Draft202012Validator":
    """A validator of `report` or `compare`, which takes no field that the schema does not list."""
    import jsonschema  # two seconds, which only who validates has to spend

    return jsonschema.Draft202012Validator(closed(schema_of(name)))
