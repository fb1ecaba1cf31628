"""`gomem schema`: what the JSON of each command holds."""

import json

import jsonschema
import pytest

from gomem.cli.main import run


@pytest.mark.parametrize("document", ["report", "compare", "top", "what-if"])
def test_it_prints_json_schema(capsys, document):
    assert 0 == run(["schema", document])

    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert f"gomem.{document}/1" == schema["title"]


def test_a_document_without_one_is_named_with_those_that_have_one(capsys):
    assert 2 == run(["schema", "table"])

    told = capsys.readouterr().err
    assert "table" in told
    for document in ("report", "compare", "top"):
        assert document in told
