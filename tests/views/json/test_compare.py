"""A comparison as JSON, held to its schema."""

import json
from functools import cache

import pandas as pd
import pytest

from gomem.analysis.profiles.changes import compare_sites
from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.comparison import compare_diagnoses
from gomem.comparison.samples import Comparison, compare_samples
from gomem.inputs.gobench.table import read_bench
from gomem.views.json.compare import compare_json, render_compare_json
from tests.builders import FIXTURES, diagnosed
from tests.views.json.validators import validator_of

PAIR = [FIXTURES / "captures" / f"cache-shrink-go{release}" for release in ("1.12.17", "1.16.15")]
NOTHING = pd.DataFrame({"name": [], "unit": [], "value": []})
BENCH = b"BenchmarkA-2 1 5 ns/op 0 B/op\nBenchmarkB-2 1 5 ns/op 0 B/op\nBenchmarkC-2 1\n"


def everything():
    """A comparison with a row in every part."""
    flat = pd.DataFrame({"function": ["f"], "flat": [9], "flat_low": [1], "flat_high": [20]})
    sites = compare_sites(flat, flat.assign(flat_high=None))
    ledger = pd.DataFrame(
        {
            "before_moment": ["1-start"],
            "after_moment": ["start"],
            "part": ["stacks"],
            "before": pd.array([None], dtype="Int64"),
            "after": pd.array([512], dtype="Int64"),
            "change": pd.array([512], dtype="Int64"),
        }
    )
    bench = compare_bench(read_bench(BENCH), read_bench(BENCH))
    return Comparison(
        bench.metrics,
        bench.geomeans,
        ledger=ledger,
        sites=sites.assign(
            sample_type="inuse_space", unit="bytes", before_n=1, after_n=1, p_value=None, note=""
        ),
        notes=("mind the gap",),
        damaged=bench.damaged,
    )


@cache
def captures_compared():
    return compare_diagnoses(*map(diagnosed, PAIR))


@pytest.mark.parametrize(
    "comparison",
    [
        pytest.param(everything, id="everything"),
        pytest.param(lambda: compare_samples(NOTHING, NOTHING), id="nothing"),
        pytest.param(captures_compared, id="captures"),
    ],
)
def test_every_comparison_fits_the_schema(comparison):
    text = render_compare_json(comparison(), before="a", after="b")

    validator_of("compare").validate(json.loads(text))


def test_a_metric_holds_both_sides_and_the_verdict():
    before = pd.DataFrame({"name": "A-2", "unit": "sec/op", "value": [1.0, 2, 3, 4, 5, 6]})

    laid_out = compare_json(
        compare_samples(before, before.assign(value=before["value"] + 6)), before="a", after="b"
    )

    assert {"before": "a", "after": "b"} == laid_out["inputs"]
    assert [
        {
            "name": "A-2",
            "unit": "sec/op",
            "layer": "",
            "before": {"n": 6, "median": 3.5, "low": 1.0, "high": 6.0},
            "after": {"n": 6, "median": 9.5, "low": 7.0, "high": 12.0},
            "difference": 6.0,
            "change": 6 / 3.5,
            "p_value": pytest.approx(2 / 924),
            "p_adjusted": pytest.approx(2 / 924),
            "better": "lower",
            "verdict": "worse",
            "equivalence": None,
            "p_no_worse": None,
            "note": "",
        }
    ] == laid_out["metrics"]


def test_what_is_unknown_is_null_and_what_was_not_read_is_listed():
    laid_out = json.loads(render_compare_json(everything(), before="a", after="b"))

    assert {"n": 1, "median": 0.0, "low": None, "high": None} == laid_out["metrics"][2]["before"]
    assert [None, 512] == [laid_out["ledger"][0][side] for side in ("before", "after")]
    assert None is laid_out["sites"][0]["high"]
    assert ["mind the gap"] == laid_out["notes"]
    what = "no measurement behind the iteration count"
    assert [{"source": "<bytes>", "where": "line 3", "what": what}] * 2 == laid_out["damage"]


def test_the_same_comparison_gives_the_same_bytes():
    first, second = (render_compare_json(everything(), before="a", after="b") for _ in range(2))

    assert first == second


def test_the_moments_that_were_with_baseline_each_other_are_listed():
    laid_out = compare_json(captures_compared(), before="a", after="b")

    assert {
        "before": "4-freed",
        "after": "4-freed",
        "before_rss_bytes": 187932 * 1024,
        "after_rss_bytes": 23084 * 1024,
        "change_bytes": (23084 - 187932) * 1024,
        "of_metrics": True,
        "of_sites": True,
    } == laid_out["moments"][-1]
