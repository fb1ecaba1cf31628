"""The JSON of `gomem top`, held to its schema: sites, differences, and every view."""

import json

import jsonschema
import pytest

from gomem.cli.main import run
from gomem.views.json.schemas import schema_of
from gomem.views.json.schemas.top import VIEWS
from tests.builders import FIXTURES
from tests.views.json.schemas.closed import closed

BEFORE = FIXTURES / "captures" / "alloc-pressure-before-go1.27.3"
PROFILE = next(BEFORE.rglob("heap.pb.gz"))
OTHER = FIXTURES / "captures" / "cache-shrink-go1.16.15" / "1-filled" / "heap.pb.gz"
ESCAPES = FIXTURES / "escapes" / "alloc-pressure-before-go1.27.3.m2.txt"


@pytest.fixture
def top(capsys):
    def command(*arguments, profile=PROFILE):
        code = run(["top", str(profile), "--format", "json", *map(str, arguments)])
        printed = capsys.readouterr()
        assert 0 == code, printed.err
        return json.loads(printed.out)

    return command


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="sites"),
        pytest.param(["--granularity", "lines"], id="lines"),
        pytest.param(["--base", OTHER], id="base"),
        pytest.param(["--base", OTHER, "--normalize"], id="normalized"),
        pytest.param(["--tree"], id="tree"),
        pytest.param(["--peek", "main"], id="peek"),
        pytest.param(["--traces"], id="traces"),
        pytest.param(["--tags"], id="tags"),
        pytest.param(["--escapes", ESCAPES, "--sample-type", "alloc_space"], id="escapes"),
    ],
)
def test_every_view_fits_the_schema(top, arguments):
    found = top(*arguments)

    jsonschema.validate(found, closed(schema_of("top")))
    assert found["rows" if "view" in found else "top"]


def test_every_view_is_in_the_schema():
    from gomem.cli.top import _chosen

    none = {"tree": False, "peek": None, "traces": False, "tags": False, "escapes": None}
    given = {"tree": True, "peek": "x", "traces": True, "tags": True, "escapes": ["x"]}

    assert set(VIEWS) == {_chosen(**none | {name: given[name]}) for name in none}


def test_labels_that_are_texts_and_labels_that_are_numbers_both_fit(top):
    found = top("--tags", profile=FIXTURES / "profiles" / "made" / "heap3-a.pb.gz")

    jsonschema.validate(found, closed(schema_of("top")))
    assert {True, False} == {row["text"] is None for row in found["rows"]}
