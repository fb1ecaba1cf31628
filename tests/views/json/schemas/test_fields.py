"""What a column of the data dictionary becomes in JSON Schema."""

import jsonschema
import pytest

from gomem.inputs.schema import Column
from gomem.views.json.table import (
    only,
    or_null,
    record,
    rows,
    value,
    without,
    words_or_null,
)

COLUMNS = (
    Column("path", "str", "", "The file's name."),
    Column("rss_bytes", "Int64", "B", "Resident."),
)


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("str", "string"),
        ("bool", "boolean"),
        ("boolean", ["boolean", "null"]),
        ("int64", "integer"),
        ("Int64", ["integer", "null"]),
        ("UInt64", ["integer", "null"]),
        ("float64", ["number", "null"]),
        ("Float64", ["number", "null"]),
    ],
)
def test_what_can_be_missing_can_be_null(dtype, wanted):
    assert wanted == value(Column("x", dtype, "", "It."))["type"]


def test_a_unit_and_a_sentence_go_along():
    assert {"type": "integer", "description": "Some.", "x-unit": "s"} == value(
        Column("x", "int64", "s", "Some.")
    )


def test_a_count_is_never_below_0():
    assert 0 == value(Column("x", "int64", "count", "Some."))["minimum"]


def test_a_time_is_one():
    time = value(Column("x", "datetime64[ns, UTC]", "", "When."))

    assert (["string", "null"], "date-time") == (time["type"], time["format"])


def test_every_field_is_required():
    assert ["path", "rss_bytes", "more"] == record(COLUMNS, more={})["required"]


def test_a_field_of_a_columns_name_narrows_it():
    narrowed = record(COLUMNS, rss_bytes={"minimum": 0})["properties"]["rss_bytes"]

    assert {"type": ["integer", "null"], "minimum": 0} == {
        key: narrowed[key] for key in ("type", "minimum")
    }
    assert "Resident." == narrowed["description"]


def test_rows_are_a_list_of_records():
    assert {"type": "array", "items": record(COLUMNS)} == rows(COLUMNS)


def test_columns_can_be_left_out_or_chosen():
    assert COLUMNS[:1] == without(COLUMNS, "rss_bytes")
    assert COLUMNS[::-1] == only(COLUMNS, ["rss_bytes", "path"])


@pytest.mark.parametrize(
    ("schema", "other"),
    [
        pytest.param(words_or_null(["a", "b"]), "c", id="words"),
        pytest.param(or_null(record(COLUMNS), "It."), {}, id="record"),
    ],
)
def test_null_is_one_of_them_and_others_are_not(schema, other):
    jsonschema.validate(None, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(other, schema)
