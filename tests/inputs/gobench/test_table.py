"""Benchmark results as frames."""

import pandas as pd
import pytest

from gomem.inputs.gobench.table import CONFIG, RESULTS, UNIT_NOTES, matched_samples, read_bench

BENCH = b"""\
goos: linux
pkg: example.com/app
Unit hits/op better=higher assume=exact
BenchmarkHandle-8 1000 12.5 ns/op 3 hits/op
BenchmarkHandle-8 1000 13.5 ns/op 3 hits/op
"""


def bench(*lines):
    return read_bench("\n".join(lines).encode())


def test_a_row_is_a_result_in_one_unit():
    read = read_bench(BENCH)

    assert [
        ("Handle", 8, "example.com/app", "sec/op", 1.25e-8, "ns/op", 12.5, 1000, 0, 4),
        ("Handle", 8, "example.com/app", "hits/op", 3.0, "hits/op", 3.0, 1000, 0, 4),
        ("Handle", 8, "example.com/app", "sec/op", 1.35e-8, "ns/op", 13.5, 1000, 0, 5),
        ("Handle", 8, "example.com/app", "hits/op", 3.0, "hits/op", 3.0, 1000, 0, 5),
    ] == [pytest.approx(row) for row in read.results.itertuples(index=False, name=None)]


@pytest.mark.parametrize(
    ("frame", "schema"), [("results", RESULTS), ("config", CONFIG), ("units", UNIT_NOTES)]
)
@pytest.mark.parametrize("data", [BENCH, b"BenchmarkHandle 1 5 ns/op"], ids=["full", "bare"])
def test_types_do_not_depend_on_what_the_file_has(frame, schema, data):
    """
    A file without package, suffix, configuration or Unit line has the columns and types of a full
    one.
    """
    dtypes = getattr(read_bench(data), frame).dtypes

    assert {column.name: column.dtype for column in schema} == dtypes.astype(str).to_dict()


def test_what_is_not_printed_is_missing():
    results = bench("BenchmarkHandle 1 5 ns/op").results

    assert [True] == results["procs"].isna().tolist()
    assert [True] == results["package"].isna().tolist()


def test_configurations_and_unit_lines_are_rows():
    read = read_bench(BENCH)

    assert [(0, "goos", "linux"), (0, "pkg", "example.com/app")] == list(
        read.config.itertuples(index=False, name=None)
    )
    assert [("hits/op", "better", "higher", 3), ("hits/op", "assume", "exact", 3)] == list(
        read.units.itertuples(index=False, name=None)
    )


def test_damage_is_a_frame_too():
    read = bench("BenchmarkHandle-8 1000 12.5", "BenchmarkHandle-8 1000 12.5 ns/op")

    assert [("<bytes>", "line 1", "the last measurement has no unit")] == list(
        read.damage[["source", "where", "what"]].itertuples(index=False, name=None)
    )


def test_a_notebook_shows_names_escaped():
    shown = bench("Benchmark<b>-8 1000 12.5 ns/op")._repr_html_()

    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        pytest.param(
            ["BenchmarkA-8 1 5 ns/op"], ["BenchmarkA-8 1 5 ns/op"], {"A-8"}, id="as-printed"
        ),
        pytest.param(
            ["BenchmarkA-8 1 5 ns/op"], ["BenchmarkA-4 1 5 ns/op"], {"A"}, id="one-value-a-side"
        ),
        pytest.param(
            ["BenchmarkA 1 5 ns/op", "BenchmarkA-2 1 5 ns/op"],
            ["BenchmarkA 1 5 ns/op"],
            {"A", "A-2"},
            id="cpu=1,2",
        ),
        pytest.param(
            ["pkg: a", "BenchmarkA 1 5 ns/op", "pkg: b", "BenchmarkA 1 5 ns/op"],
            ["pkg: a", "BenchmarkA 1 5 ns/op"],
            {"a.A", "b.A"},
            id="two-packages",
        ),
        pytest.param(
            ["pkg: a", "BenchmarkA 1 5 ns/op"],
            ["pkg: b", "BenchmarkA 1 5 ns/op"],
            {"A"},
            id="a-package-that-moved",
        ),
        pytest.param(
            ["note: before", "BenchmarkA 1 5 ns/op", "note: after", "BenchmarkA 1 5 ns/op"],
            ["note: before", "BenchmarkA 1 5 ns/op"],
            {"A [note: before]", "A [note: after]"},
            id="two-notes",
        ),
        pytest.param(
            ["BenchmarkA 1 5 ns/op", "gc: off", "BenchmarkA 1 5 ns/op"],
            ["BenchmarkA 1 5 ns/op"],
            {"A", "A [gc: off]"},
            id="a-setting-that-comes-late",
        ),
        pytest.param(
            ["note: before", "BenchmarkA 1 5 ns/op"],
            ["note: after", "BenchmarkA 1 5 ns/op"],
            {"A"},
            id="a-note-a-side",
        ),
        pytest.param(
            [
                "note: x",
                "name: y",
                "BenchmarkA 1 5 ns/op",
                "note:",
                "name: z",
                "BenchmarkA 1 5 B/op",
            ],
            ["BenchmarkB 1 5 ns/op"],
            {"A [note: x] [name: y]", "A [name: z]", "B"},
            id="two-settings",
        ),
    ],
)
def test_names_carry_what_tells_them_apart(before, after, names):
    """
    GOMAXPROCS and package are part of a name where a side has several, and not where the sides
    merely differ.
    """
    old, new = matched_samples(bench(*before), bench(*after))

    assert names == set(old["name"]) | set(new["name"])


def test_unit_lines_of_either_file_hold_for_both():
    plain, said = bench("BenchmarkA 1 5 hits/op"), read_bench(BENCH)

    samples, _ = matched_samples(plain, said)

    expected = pd.DataFrame(
        {
            "name": pd.Series(["A"], dtype="str"),
            "unit": pd.Series(["hits/op"], dtype="str"),
            "value": [5.0],
            "better": pd.Series(["higher"], dtype="str"),
            "exact": [True],
        }
    )
    pd.testing.assert_frame_equal(expected, samples)


def test_results_under_different_notes_are_not_pooled_in_a_notebook():
    """
    One median over both would be of nothing that ran.
    """
    noted = bench(
        "note: before", "BenchmarkA 1 5 ns/op", "name: x", "note: after", "BenchmarkA 1 9 ns/op"
    )

    shown = noted._repr_html_()

    assert ("note", "name") == noted.told_apart
    assert 1 == shown.count("<td>A note:before</td>")
    assert 1 == shown.count("<td>A note:after name:x</td>")
