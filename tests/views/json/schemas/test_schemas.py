"""The schemas that ship: valid, telling, and missing nothing that is written."""

import copy
import json

import jsonschema
import pytest

from gomem.inputs.schema import UNITS
from gomem.views.json.report import render_json_report
from gomem.views.json.schemas import SCHEMAS, schema_of
from gomem.views.json.table import UNIT
from tests.builders import diagnosed
from tests.views.json.schemas.closed import closed
from tests.views.ledgers import SHRUNK

MADE = pytest.mark.parametrize("document", SCHEMAS)


def properties(schema, path=""):
    """Every property of a schema with where it is, those inside of others, too."""
    if isinstance(schema, list):
        for one in schema:
            yield from properties(one, path)
    elif isinstance(schema, dict):
        for name, one in schema.get("properties", {}).items():
            yield f"{path}/{name}", one
            yield from properties(one, f"{path}/{name}")
        for key in ("items", "oneOf", "anyOf"):
            yield from properties(schema.get(key), path)


@MADE
def test_it_is_json_schema(document):
    jsonschema.Draft202012Validator.check_schema(schema_of(document))


@MADE
def test_every_number_has_a_sentence_and_a_known_unit(document):
    for path, one in properties(schema_of(document)):
        kinds = one.get("type", [])
        if {"integer", "number"} & set([kinds] if isinstance(kinds, str) else kinds):
            assert one.get("description", "").endswith("."), path
            assert one.get(UNIT, "") in UNITS, path


@MADE
def test_it_is_the_same_every_time(document):
    assert json.dumps(schema_of(document)) == json.dumps(schema_of(document))


def test_the_unit_of_evidence_is_one_of_the_dictionarys():
    evidence = schema_of("report")["properties"]["findings"]["items"]["properties"]["evidence"]

    assert UNITS == set(evidence["items"]["properties"]["unit"]["enum"])


@pytest.mark.parametrize(
    "path",
    ["limits", "ledger.items.next_file", "findings.items.evidence.items.unit", "gc.cycles"],
)
def test_a_field_that_is_not_in_the_schema_is_noticed(path):
    report = json.loads(render_json_report(diagnosed(SHRUNK)))
    schema = copy.deepcopy(closed(schema_of("report")))
    jsonschema.validate(report, schema)

    *outer, field = path.split(".")
    inner = schema
    for step in outer:
        inner = inner["items"] if step == "items" else inner["properties"][step]
    del inner["properties"][field]

    with pytest.raises(jsonschema.ValidationError, match=field):
        jsonschema.validate(report, schema)
