"""runtime/metrics as flat JSON."""

import json
import math

import pytest

from gomem.errors import FormatError
from gomem.inputs.metrics.page import is_page, looks_like_page
from gomem.inputs.metrics.parse import is_metrics, looks_like_readings, parse_metrics
from gomem.inputs.metrics.table import memstats_of_metrics, read_metrics


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

    assert ["/gc/heap/live:bytes is no number or histogram that can be"] == [d.what for d in damage]


@pytest.mark.parametrize(
    "value",
    [
        -5,
        1e300,
        {"counts": [1, 2], "buckets": [0, 2, 1]},
        {"counts": [-1, 2], "buckets": [0, 1, 2]},
    ],
)
def test_a_number_or_a_histogram_that_cannot_be_is_damage(value):
    text = {"/sched/gomaxprocs:threads": value, "/gc/heap/goal:bytes": 1}

    (reading,), damage = parse_metrics(json.dumps(text).encode(), source="m.json")

    assert {"/gc/heap/goal:bytes": 1} == reading.scalars
    assert {} == reading.histograms
    assert ["/sched/gomaxprocs:threads is no number or histogram that can be"] == [
        d.what for d in damage
    ]


def test_json_without_metrics_is_an_error_that_names_what_was_found():
    with pytest.raises(FormatError, match="found the keys a"):
        parse_metrics(b'{"a": 1}', source="m.json")


def test_a_cut_reading_is_an_error_with_its_place():
    with pytest.raises(FormatError, match=r"m\.json: line 1: cannot be read as JSON"):
        parse_metrics(b'{"/gc/heap/live:bytes": 42', source="m.json")


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ({"/gc/gogc:percent": 1}, True),
        ({"/gc/gogc:percent": 1, "a": 2}, False),
        ({"/gc/gogc:percent": 1, "/gc/heap/goal:bytes": 1, "a": 2}, True),
        ({}, False),
        ([], False),
    ],
    ids=str,
)
def test_most_of_a_readings_keys_are_names_of_metrics(value, is_one):
    assert is_one == is_metrics(value)


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b'{"/gc/gogc:percent": 100}', True),
        (b'{"port": 80}', False),
        (b'{"/memory/classes/heap/free:bytes": 1', True),
        (b'{"/gc/gogc:percent": 1', False),
    ],
)
def test_of_a_cut_text_the_names_of_memory_tell(data, looks):
    assert looks == looks_like_readings(data)


PAUSES = "/gc/pauses:seconds"


@pytest.mark.parametrize(
    ("item", "known"),
    [
        ({"Counts": [1], "Buckets": [0, 1]}, True),
        ({"counts": [], "buckets": [0]}, True),
        ({"counts": [0, 2**63 - 1], "buckets": [0, 1, 2]}, True),
        ({"counts": [1, 2], "buckets": [0, 1]}, False),
        ({"counts": [-1], "buckets": [0, 1]}, False),
        ({"counts": [2**63], "buckets": [0, 1]}, False),
        ({"counts": [1.0], "buckets": [0, 1]}, False),
        ({"counts": [1], "buckets": [0, "far"]}, False),
        ({"counts": [1], "buckets": [0, None]}, False),
        ({"counts": 1, "buckets": [0, 1]}, False),
        ({"counts": [1], "buckets": 1}, False),
        ({"buckets": [0, 1]}, False),
        (True, False),
        ("1", False),
    ],
    ids=str,
)
def test_what_can_be_a_histogram(item, known):
    (reading,), damage = parse_metrics(json.dumps({PAUSES: item}).encode(), source="m")

    assert known == (PAUSES in reading.histograms)
    assert known == (not damage)


def test_what_has_no_value_is_unknown_and_no_damage():
    text = b'{"/gc/gogc:percent": null, "/gc/heap/goal:bytes": 1, "x": "y"}'

    (reading,), damage = parse_metrics(text, source="m")

    assert ({"/gc/heap/goal:bytes": 1.0}, []) == (reading.scalars, damage)


def test_memstats_fields_are_sums_of_metrics_and_unknown_where_one_is_missing():
    """
    The runtime's own identities: HeapSys is objects, unused, free and released.
    """
    parts = {"objects": 1, "unused": 20, "free": 300, "released": 4000}
    text = {f"/memory/classes/heap/{part}:bytes": value for part, value in parts.items()}
    text |= {"/memory/classes/heap/stacks:bytes": 7, "/gc/heap/goal:bytes": 2**60 - 128}

    stats = memstats_of_metrics(read_metrics(json.dumps(text).encode()).values).iloc[0]

    assert (1, 21, 4300, 4000, 4321, 7) == tuple(
        stats[["HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "HeapSys", "StackInuse"]]
    )
    assert stats[["StackSys", "Sys", "NumGC"]].isna().all()
    assert 2**60 - 128 == stats["NextGC"]


def test_a_goal_that_is_none_is_unknown():
    text = b'{"/gc/heap/goal:bytes": 1152921504606846976, "/memory/classes/total:bytes": 1}'

    stats = memstats_of_metrics(read_metrics(text).values)

    assert stats["NextGC"].isna().all()
    assert [1] == stats["Sys"].to_list()


@pytest.mark.parametrize(("further", "known"), [(0, True), (1, False)])
def test_of_a_cut_text_the_first_64_kib_tell(further, known):
    name = b'"/memory/classes/'
    text = b'{"' + b"x" * ((64 << 10) - 2 - len(name) + further)

    assert known == looks_like_readings(text + name)


def test_damage_is_of_the_line_of_its_reading():
    text = b'{"/gc/gogc:percent": 1}\n{"/gc/gogc:percent": "2"}'

    readings, damage = parse_metrics(text, source="m")

    assert (2, ["line 2"]) == (len(readings), [one.where for one in damage])
    assert "'2'" == damage[0].text


@pytest.mark.parametrize(
    ("data", "is_one"),
    [
        (b"# HELP go_goroutines Goroutines.\nno sample\nnor this\n", True),
        (b"go_goroutines 7\n", True),
        (b"go_goroutines 7\nno sample at all\n", False),
        (b"go_goroutines 7\nno sample at all\ngo_threads 8\n", True),
        (b"# a comment\n\ngo_goroutines 7\nRss:   968 kB\n", False),
        (b"go_goroutines 7\ncut off in the mid", True),
        (b"", False),
    ],
)
def test_a_page_begins_with_its_comments_or_is_mostly_samples(data, is_one):
    """
    More than half of the whole lines; the last one may be cut.
    """
    assert is_one == is_page(data)


def test_a_page_says_something_of_go():
    assert looks_like_page(b"go_goroutines 7\n")
    assert not looks_like_page(b"python_threads 7\n")
