"""The schemas that ship with the package, each checked once."""

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jsonschema


@cache
def schema_of(document: str) -> dict:
    """The schema of `report` or `compare`."""
    folder = resources.files("gomem") / "views" / "json" / "schemas"
    return json.loads((folder / f"gomem.{document}.schema.json").read_text())


@cache
def validator_of(document: str) -> "jsonschema.Draft202012Validator":
    """What holds a document against its schema, which has been held against the standard's own.

    `jsonschema.validate` would check the schema again each time; importing it takes two seconds,
    which only who validates has to spend.
    """
    import jsonschema

    schema = schema_of(document)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
