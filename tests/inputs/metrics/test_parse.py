"""runtime/metrics as flat JSON."""

import json
import math

import pytest

from gomem.errors import FormatError
from gomem.inputs.metrics.parse import parse_metrics


def test_scalars_and_histograms_come_apart():
    text = {
        "/gc/heap/live:bytes": 42441544,
        "/gc/pauses:seconds": {"counts": [1, 2], "buckets": ["-Inf", 0.5, "+Inf"]},
    }

    (reading,), damage = parse_metrics(json.dumps(text).encode(), source="metrics.json")

    assert [] == damage
    assert {"/gc/heap/live:bytes": 42441544.0} == reading.scalars
    assert {"/gc/pauses:seconds": ([-math.inf, 0.5, math.inf], [1, 2])} == reading.histograms


def test_no_limit_is_infinite():
    text = {"/gc/gomemlimit:bytes": 9223372036854775807, "/gc/gogc:percent": 100}

    (reading,), _ = parse_metrics(json.dumps(text).encode(), source="m")

    assert math.inf == reading.scalars["/gc/gomemlimit:bytes"]
    assert 100.0 == reading.scalars["/gc/gogc:percent"]


def test_a_value_of_neither_kind_is_damage():
    text = {"/gc/heap/live:bytes": "big", "/gc/heap/goal:bytes": 1}

    _, damage = parse_metrics(json.dumps(text).encode(), source="m.json")

    assert ["/gc/heap/live:bytes is neither a number nor a histogram"] == [d.what for d in damage]


def test_json_without_metrics_is_an_error_that_names_what_was_found():
    with pytest.raises(FormatError, match="found the keys a"):
        parse_metrics(b'{"a": 1}', source="m.json")
