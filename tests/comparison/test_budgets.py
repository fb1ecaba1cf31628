"""How much worse may it get: each budget is met, broken, or not to be told."""

import pytest

from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.budgets import budget_of, summed_up, within_budgets
from gomem.comparison.samples import compare_samples
from gomem.errors import CaptureError
from gomem.inputs.gobench.table import read_bench
from gomem.statistics.rank_tests import beyond_chance
from tests.builders import samples_frame

MIB = 1 << 20
HUNDRED = [98, 99, 100, 101, 102, 103]


def stands(text, before, after, name="RSS", unit="B", better="lower"):
    """How one budget stands on one level; the values are in MiB."""
    sides = (
        samples_frame(name, unit, [one * MIB for one in values], layer="memory", better=better)
        for values in (before, after)
    )
    compared = within_budgets(compare_samples(*sides), [budget_of(*text.split("="))])
    return compared.budgets.iloc[0]


def benches(units, before, after):
    sides = []
    for scale in (before, after):
        lines = [
            f"Benchmark{name}-2 1 {value * scale} {unit}\n"
            for name, unit in units
            for value in HUNDRED
        ]
        sides.append(read_bench("".join(lines).encode()))
    return compare_bench(*sides)


@pytest.mark.parametrize(
    ("budget", "grown", "state"),
    [
        pytest.param("rss=+10%", 1.0, "met", id="the-same"),
        pytest.param("rss=+10%", 1.09, "met", id="just-within"),
        pytest.param("rss=+10%", 1.2, "broken", id="beyond"),
        pytest.param("rss=+10%", 1.11, "?", id="beyond-perhaps-by-noise"),
        pytest.param("rss=+5MiB", 1.04, "met", id="bytes-within"),
        pytest.param("rss=+5MiB", 1.2, "broken", id="bytes-beyond"),
        pytest.param("rss=+0", 0.9, "met", id="less"),
        pytest.param("rss=+0", 1.1, "broken", id="more-than-nothing"),
        pytest.param("rss=-10%", 0.8, "met", id="a-fall-is-wanted-and-came"),
        pytest.param("rss=-10%", 1.0, "broken", id="a-fall-is-wanted"),
        pytest.param("RSS=10%", 1.2, "broken", id="its-own-name-and-no-sign"),
    ],
)
def test_a_budget_is_the_worst_change_allowed(budget, grown, state):
    assert state == stands(budget, HUNDRED, [one * grown for one in HUNDRED])["state"]


def test_of_what_should_be_high_a_budget_bounds_the_fall():
    rate = {"name": "requests_per_second", "unit": "count/s", "better": "higher"}

    assert "met" == stands("requests_per_second=-5%", HUNDRED, HUNDRED, **rate)["state"]
    slow = [one * 0.8 for one in HUNDRED]
    assert "broken" == stands("requests_per_second=-5%", HUNDRED, slow, **rate)["state"]
    fast = [one * 1.5 for one in HUNDRED]
    assert "met" == stands("requests_per_second=-5%", HUNDRED, fast, **rate)["state"]


@pytest.mark.parametrize(
    ("after", "state"),
    [
        pytest.param(100.0, "met", id="the-same"),
        pytest.param(101.9, "met", id="no-change-that-counts"),
        pytest.param(105.0, "?", id="within-but-a-heap-swings"),
        pytest.param(150.0, "?", id="beyond-but-a-heap-swings"),
        pytest.param(221.0, "broken", id="beyond-twice-what-is-allowed"),
        pytest.param(219.0, "?", id="not-quite-twice"),
        pytest.param(49.0, "met", id="far-less"),
        pytest.param(51.0, "?", id="less-but-a-heap-swings"),
    ],
)
def test_of_one_value_a_side_only_what_is_beyond_a_heaps_swing_is_told(after, state):
    found = stands("rss=+10%", [100], [after])

    assert state == found["state"]
    assert ("use 4 or more" if state == "?" else "by one value per side") in found["note"]


def test_what_may_be_noise_says_how_many_runs_would_tell():
    """
    Of 16 pairs 10 lie above, 0.625: by Noether's formula it takes 2.8² / (6 · 0.125²) = 83.6 runs
    a side to find that in 80 of 100 cases.
    """
    noisy = stands("rss=+0", [100, 110, 120, 130], [115, 125, 105, 135])
    assert "?" == noisy["state"]
    assert (
        "exceeded, but the excess might be noise; about 84 runs per side would decide"
        == noisy["note"]
    )


def test_points_are_of_fractions_alone():
    sides = (
        samples_frame("gc_cpu_fraction", "fraction", values, layer="collector", better="lower")
        for values in ([0.05, 0.051, 0.052, 0.053], [0.08, 0.081, 0.082, 0.083])
    )
    compared = compare_samples(*sides)

    states = [
        within_budgets(compared, [budget_of("gc_cpu", size)]).budgets["state"][0]
        for size in ("+2pp", "+4pp", "+100%")
    ]
    assert ["broken", "met", "met"] == states
    with pytest.raises(CaptureError, match=r"budget gc_cpu=\+5MiB: MiB, of fraction; wanted %, pp"):
        within_budgets(compared, [budget_of("gc_cpu", "+5MiB")])


@pytest.mark.parametrize("metric", ["ns/op", "sec/op", "A-2:sec/op"])
def test_a_budget_on_a_unit_is_one_on_each_benchmark(metric):
    compared = benches([("A", "ns/op"), ("B", "ns/op"), ("A", "allocs/op")], 1, 1.5)

    budgets = within_budgets(compared, [budget_of(metric, "+10%")]).budgets

    assert (["A-2"] if ":" in metric else ["A-2", "B-2"]) == budgets["name"].tolist()
    assert {"broken"} == set(budgets["state"])


def test_counts_that_do_not_vary_need_no_test():
    sides = (read_bench(b"BenchmarkA-2 1 %d allocs/op\n" % count * 2) for count in (5, 6))

    compared = compare_bench(*sides)

    assert "broken" == within_budgets(compared, [budget_of("allocs/op", "+0")]).budgets["state"][0]
    assert "met" == within_budgets(compared, [budget_of("allocs/op", "+1")]).budgets["state"][0]


@pytest.mark.parametrize(("claimed", "beyond"), [(2, False), (3, True)])
def test_of_many_comparisons_as_many_as_chance_makes_are_none(claimed, beyond):
    """
    Of 20 unchanged ones, at most 2 come out on one side in 95 of 100 tables.
    """
    assert beyond is beyond_chance([0.021] * claimed + [1.0] * (20 - claimed), claimed)
    assert beyond_chance([0.001, *[1.0] * 19], 1)


def test_a_metric_that_is_not_there_is_an_error_that_names_those_that_are():
    compared = benches([("A", "ns/op"), ("A", "allocs/op")], 1, 1)

    with pytest.raises(CaptureError, match="there are sec/op, allocs/op; did you mean allocs/op"):
        within_budgets(compared, [budget_of("alocs/op", "+0")])


@pytest.mark.parametrize("size", ["", "ten", "+", "+1e5", "+10 %%", "nan", "+inf", "--1"])
def test_what_is_no_size_is_an_error_with_an_example(size):
    with pytest.raises(CaptureError, match=r"not a size; wanted one such as \+10%"):
        budget_of("rss", size)


def test_all_budgets_in_a_sentence():
    one = stands("rss=+10%", HUNDRED, [2 * value for value in HUNDRED]).to_frame().T

    assert "Budget: 1 broken (RSS +100 % where +10% is allowed)." == summed_up(one)
    assert "" == summed_up(one.iloc[:0])
