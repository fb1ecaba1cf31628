"""`gomem top`: what it prints, in which format, and how it refuses."""

import csv
import io
import json
from pathlib import Path

import pytest

from gomem.cli.main import run
from gomem.read import read_pprof

HEAP = (
    Path(__file__).parents[2]
    / "fixtures"
    / "captures"
    / "zeroing-go1.27.3"
    / "2-loaded"
    / "heap.pb.gz"
)


def printed(capsys, *options, path=HEAP):
    assert 0 == run(["top", str(path), *options])
    return capsys.readouterr().out


def test_json_has_the_fields_of_its_schema(capsys):
    result = json.loads(printed(capsys, "--format", "json", "--sample-type", "alloc_space"))

    profile = read_pprof(HEAP)
    top = profile.top("alloc_space")
    assert ("gomem.top/1", "alloc_space", "bytes") == (
        result["schema"],
        result["sample_type"],
        result["unit"],
    )
    assert profile.total("alloc_space") == result["total"]
    assert top["flat"].tolist() == [row["flat"] for row in result["top"]]
    assert {*("function", "flat", "flat_low", "flat_high", "cum", "cum_low", "cum_high")} == set(
        result["top"][0]
    )


def test_json_says_null_where_nothing_was_seen(capsys):
    rows = json.loads(printed(capsys, "--format", "json"))["top"]

    unseen = next(row for row in rows if row["flat"] == 0)
    assert (None, None) == (unseen["flat_low"], unseen["flat_high"])


def test_csv_has_a_line_a_row(capsys):
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "--format", "csv", "-n", "2"))))

    assert read_pprof(HEAP).top(n=2)["function"].tolist() == [row["function"] for row in rows]


def test_text_names_the_sample_type_the_total_and_the_largest_site_first(capsys):
    lines = printed(capsys).splitlines()

    assert "inuse_space: 166 MiB in all" == lines[0]
    assert lines[3].endswith("main.newTable")


def test_text_says_why_there_are_no_intervals(capsys):
    lines = printed(capsys, path=HEAP.with_name("goroutine.pb.gz")).splitlines()

    assert "no intervals: a goroutine profile is not sampled by allocated bytes" == lines[1]
    assert "interval" not in lines[3]


@pytest.mark.parametrize("granularity", ["files", "lines", "packages"])
def test_a_row_stands_for_what_the_granularity_says(capsys, granularity):
    rows = json.loads(printed(capsys, "--format", "json", "--granularity", granularity))["top"]

    names = read_pprof(HEAP).top(granularity=granularity)["function"].tolist()
    assert names == [row["function"] for row in rows]


def test_cum_orders_by_cum(capsys):
    rows = json.loads(printed(capsys, "--format", "json", "--cum"))["top"]

    assert sorted((row["cum"] for row in rows), reverse=True) == [row["cum"] for row in rows]


def test_an_unknown_sample_type_is_refused_with_those_there_are(capsys):
    assert 2 == run(["top", str(HEAP), "--sample-type", "cpu"])
    assert capsys.readouterr().err.endswith(
        "sample type 'cpu', the profile has "
        "alloc_objects, alloc_space, inuse_objects, inuse_space\n"
    )


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "is empty, wanted a pprof profile"),
        (b"not a profile\n", "byte 0: not a"),
        (HEAP.read_bytes()[:500], "byte 500: gzip stream ends early"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_2(capsys, tmp_path, data, error):
    path = tmp_path / "heap.pb.gz"
    path.write_bytes(data)

    assert 2 == run(["top", str(path)])
    shown = capsys.readouterr()
    assert ("", 1) == (shown.out, len(shown.err.splitlines()))
    assert f"heap.pb.gz: {error}" in shown.err


def test_an_output_is_not_overwritten_unasked(tmp_path):
    path = tmp_path / "top.json"
    path.write_text("mine")

    assert 2 == run(["top", str(HEAP), "-o", str(path)])
    assert "mine" == path.read_text()
    assert 0 == run(["top", str(HEAP), "--format", "json", "-o", str(path), "--force"])
    assert "gomem.top/1" == json.loads(path.read_text())["schema"]


def test_the_same_input_gives_the_same_bytes(capsys):
    assert printed(capsys, "--format", "json") == printed(capsys, "--format", "json")
