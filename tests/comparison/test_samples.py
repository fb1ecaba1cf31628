"""Two samples, compared without claiming a difference that is not there."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.comparison.benchmarks import compare_bench, geometric_means
from gomem.comparison.samples import (
    CHANGED,
    METRICS,
    compare_samples,
)
from gomem.comparison.single_values import better_by_unit
from gomem.inputs.gobench.table import read_bench
from gomem.statistics.rank_tests import NO_WORSE, NOT_SHOWN, equivalence
from tests.benchmark_runs import IDLE_AFTER, IDLE_BEFORE, REQUEST_AFTER, REQUEST_BEFORE

ONE_VALUE = "one value per side cannot tell small changes from noise; use at least 4 per side"

finite = st.floats(-1e6, 1e6, allow_nan=False)


def samples(values, *, name="handle", unit="sec/op", **more):
    """Measurements as a frame."""
    return pd.DataFrame({"name": name, "unit": unit, "value": values, **more})


def only_row(before, after):
    return compare_samples(before, after).metrics.iloc[0]


def test_a_row_holds_the_difference_and_what_it_rests_on():
    row = only_row(samples(REQUEST_BEFORE), samples(REQUEST_AFTER))

    assert (10, 10) == (row["before_n"], row["after_n"])
    assert 13.93 - 196.2 == pytest.approx(row["difference"])
    assert 13.93 / 196.2 - 1 == pytest.approx(row["change"])
    assert "better" == row["verdict"]
    assert "" == row["note"]


@pytest.mark.parametrize(
    ("unit", "rising", "falling"),
    [
        ("sec/op", "worse", "better"),
        ("B/op", "worse", "better"),
        ("allocs/op", "worse", "better"),
        ("B", "worse", "better"),
        ("p99-sec", "worse", "better"),
        ("B/s", "better", "worse"),
        ("ops/s", "better", "worse"),
        ("hits/op", "changed", "changed"),
        ("allocs/s", "changed", "changed"),
    ],
)
def test_the_unit_says_which_way_is_better(unit, rising, falling):
    low, high = samples(range(1, 9), unit=unit), samples(range(11, 19), unit=unit)

    assert rising == only_row(low, high)["verdict"]
    assert falling == only_row(high, low)["verdict"]


@pytest.mark.parametrize(
    ("better", "verdict"), [("higher", "better"), ("lower", "worse"), ("neither", "changed")]
)
def test_what_is_said_of_a_metric_goes_before_its_unit(better, verdict):
    before, after = samples(range(8), better=better), samples(range(10, 18), better=better)

    assert verdict == only_row(before, after)["verdict"]


def test_what_may_be_noise_is_no_claim():
    row = only_row(samples(IDLE_BEFORE), samples(IDLE_AFTER))

    assert "~" == row["verdict"]
    assert "" == row["note"]


@given(st.lists(finite, min_size=1, max_size=12))
def test_compared_with_itself_nothing_has_changed(values):
    row = only_row(samples(values), samples(values))

    assert ("~" if len(values) >= 4 else "?") == row["verdict"]
    assert 0 == row["difference"] == row["change"]


def crowded():
    """A p of 0.021, and the same among eleven samples that did not change."""
    before, after = samples([1, 2, 3, 4, 5, 6, 7, 8]), samples([4.5, 6.5, 7.5, 9, 10, 11, 12, 5.5])
    crowd = [samples(IDLE_BEFORE, name=f"idle {number}") for number in range(11)]
    crowd_after = [samples(IDLE_AFTER, name=f"idle {number}") for number in range(11)]
    return (before, after), (pd.concat([before, *crowd]), pd.concat([after, *crowd_after]))


def test_the_verdict_does_not_depend_on_what_else_is_in_the_file():
    """
    That noise gives one as small among twelve one time in five stands beside it.
    """
    sides_alone, sides_among = crowded()

    alone, among = only_row(*sides_alone), only_row(*sides_among)

    assert (0.021, "worse") == (round(alone["p_value"], 3), alone["verdict"])
    assert (alone["p_value"], "worse") == (among["p_value"], among["verdict"])
    assert 12 * alone["p_value"] == pytest.approx(among["p_adjusted"])
    assert "p < 0.05 by itself, but not significant among 12 comparisons (Holm)" == among["note"]


def test_how_many_changes_chance_alone_makes_is_said_from_twenty_comparisons_on():
    names = [f"n {number}" for number in range(20)]
    old = pd.concat([samples(range(8), name=name) for name in names])
    new = pd.concat([samples(range(8), name=name) for name in names[1:]])
    changed = pd.concat([samples(range(10, 18), name=names[0]), new])

    (note,) = compare_samples(old, changed).notes
    assert note == (
        "with unchanged code, about 1 of 20 comparisons would have p < 0.05 by chance; here 1 "
        "have it, and 1 still do after Holm correction"
    )
    fewer = old["name"] != names[-1]
    assert () == compare_samples(old[fewer], changed[changed["name"] != names[-1]]).notes
    assert () == compare_samples(old, old).notes


def test_values_that_no_test_was_made_of_do_not_count_among_the_comparisons():
    """
    One value a side has no p, so it takes none of the 5 % away from what has one.
    """
    old = pd.concat([samples(REQUEST_BEFORE), samples([1.0], name="RSS", unit="B")])
    new = pd.concat([samples(REQUEST_AFTER), samples([2.0], name="RSS", unit="B")])

    handle, rss = compare_samples(old, new).metrics.to_dict("records")

    assert handle["p_value"] == handle["p_adjusted"]
    assert ("?", ONE_VALUE) == (rss["verdict"], rss["note"])


def test_one_name_in_two_layers_is_two_metrics():
    old = samples([1.0, 2.0], name="RSS", unit="B", layer=["benchmark", "memory"])

    metrics = compare_samples(old, old).metrics

    assert [("benchmark", 1.0), ("memory", 2.0)] == list(
        zip(metrics["layer"], metrics["before_median"], strict=True)
    )


def test_metrics_that_never_vary_do_not_dilute_the_others():
    """
    Where all values are equal the test could not have spoken: no comparison to correct for.
    """
    still = [samples([0] * 10, name=f"still {number}", unit="B/op") for number in range(100)]
    before, after = samples(REQUEST_BEFORE), samples(REQUEST_AFTER)

    metrics = compare_samples(pd.concat([before, *still]), pd.concat([after, *still])).metrics

    assert metrics["p_value"][0] == metrics["p_adjusted"][0]
    assert {1.0} == set(metrics["p_value"][1:]) == set(metrics["p_adjusted"][1:])


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        pytest.param(
            [100],
            [900],
            ONE_VALUE,
            id="one",
        ),
        pytest.param(
            [1, 2, 3],
            [11, 12, 13],
            ONE_VALUE.replace("one value", "too few values"),
            id="three",
        ),
        pytest.param(
            [1, 2, 3, 4],
            [11, 12, 13, 14],
            "no 95 % interval of the median: it needs at least 6 values per side",
            id="four",
        ),
        pytest.param([1, 2], [], "only on the before side", id="nothing-after"),
        pytest.param([], [1, 2], "only on the after side", id="nothing-before"),
    ],
)
def test_a_note_says_what_is_too_few_and_what_would_be_enough(before, after, note):
    assert note == only_row(samples(before), samples(after))["note"]


def test_one_value_a_side_shows_the_difference_and_claims_nothing():
    row = only_row(samples([500], unit="B"), samples([200], unit="B"))

    assert (-300, -0.6, "?") == (row["difference"], row["change"], row["verdict"])
    assert {pd.NA} == {row["p_value"], row["p_adjusted"], row["before_low"], row["after_high"]}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [([500], [200], "better"), ([200] * 3, [500] * 3, "worse"), ([200], [200], "~")],
)
def test_an_exact_value_needs_no_second_measurement(before, after, verdict):
    row = only_row(samples(before, unit="B", exact=True), samples(after, unit="B", exact=True))

    assert verdict == row["verdict"]
    assert pd.NA is row["p_value"]


@pytest.mark.parametrize(("before", "after"), [([3, 4], [3, 3]), ([3, 3], [3, 4])])
def test_a_value_that_varies_on_one_side_is_not_exact(before, after):
    row = only_row(samples(before, exact=True), samples(after, exact=True))

    assert "declared exact, but the values vary" in row["note"]


def test_two_values_are_enough_to_count_among_the_comparisons():
    """
    One a side; beside another metric, either p is doubled.
    """
    before = pd.concat([samples([3, 3, 3, 3]), samples([1, 2, 3, 4], name="other")])
    after = pd.concat([samples([4, 4, 4, 4]), samples([11, 12, 13, 14], name="other")])

    metrics = compare_samples(before, after).metrics

    assert [2 / 70, 2 / 70] == pytest.approx(metrics["p_value"].tolist())
    assert [4 / 70, 4 / 70] == pytest.approx(metrics["p_adjusted"].tolist())


def test_no_layer_and_an_empty_one_are_the_same():
    assert 1 == len(compare_samples(samples([1.0]), samples([2.0], layer="")).metrics)


def test_an_exact_value_needs_no_interval_either():
    notes = only_row(samples([3, 3, 3, 3], exact=True), samples([4, 4, 4, 4], exact=True))["note"]

    assert "" == notes


def test_a_value_that_varies_is_not_exact_whatever_is_said():
    row = only_row(samples([1, 2, 3], exact=True), samples([5, 6, 7], exact=True))

    assert "?" == row["verdict"]
    assert row["note"].startswith(
        "declared exact, but the values vary, so they are compared as a sample"
    )


def test_from_zero_there_is_a_difference_but_no_relative_change():
    row = only_row(samples([0] * 6), samples([5] * 6))

    assert (5, "worse") == (row["difference"], row["verdict"])
    assert pd.NA is row["change"]


def test_a_missing_value_does_not_count():
    row = only_row(samples([1.0, None, 3.0]), samples([None]))

    assert (2, 2.0, 0) == (row["before_n"], row["before_median"], row["after_n"])
    assert pd.NA is row["after_median"]


def test_rows_come_unit_by_unit_in_the_order_of_the_input():
    pairs = list(product(["b", "a"], ["sec/op", "B/op"]))
    frame = pd.concat([samples([1], name=name, unit=unit) for name, unit in pairs])

    metrics = compare_samples(frame, frame).metrics

    expected = [("b", "sec/op"), ("a", "sec/op"), ("b", "B/op"), ("a", "B/op")]
    assert expected == list(zip(metrics["name"], metrics["unit"], strict=True))


def test_names_on_one_side_are_noted():
    both = samples([1], name="both")

    before = pd.concat([both, samples([1], name="old")])
    after = pd.concat([both, samples([1], name="new")])

    assert ("only before: old", "only after: new") == compare_samples(before, after).notes


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 10], ids=["none", "one", "ten"])
def test_columns_and_types_do_not_depend_on_the_values(values):
    metrics = compare_samples(samples(values), samples(values)).metrics

    assert {c.name: c.dtype for c in METRICS} == metrics.dtypes.astype(str).to_dict()


@pytest.mark.parametrize("unit", ["hits/op", "fraction", "count", "op", ""])
def test_of_an_unknown_unit_neither_way_is_better(unit):
    assert None is better_by_unit(unit)


def test_a_geometric_mean_sums_up_a_unit():
    """
    Medians 2 and 8 become 1 and 1: means 4 and 1; the ratios 1/2 and 1/8 have the mean 1/4.
    """
    before = pd.concat([samples([2], name="a"), samples([8], name="b")])
    after = pd.concat([samples([1], name="a"), samples([1], name="b")])

    means = geometric_means(compare_samples(before, after).metrics)

    assert [("sec/op", 2, 4.0, 1.0, -0.75)] == [
        pytest.approx(row) for row in means.itertuples(index=False, name=None)
    ]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [((0, 2), (0, 1), 2**-0.5 - 1), ((0, 2), (1, 1), None), ((1, 2), (0, 1), None)],
)
def test_a_zero_has_no_geometric_mean_but_staying_zero_is_no_change(before, after, change):
    old, new = (
        pd.concat([samples([value], name=name) for name, value in zip("ab", side, strict=True)])
        for side in (before, after)
    )

    row = geometric_means(compare_samples(old, new).metrics).iloc[0]

    assert row["before"] is pd.NA or row["after"] is pd.NA
    assert (change is None and row["change"] is pd.NA) or change == pytest.approx(row["change"])


def bench(*lines):
    return read_bench("\n".join(lines).encode())


def runs(values, unit="ns/op"):
    return [f"BenchmarkHandle-2 1000 {value} {unit}" for value in values]


def test_two_benchmark_files_are_compared_in_base_units():
    row = compare_bench(bench(*runs(REQUEST_BEFORE)), bench(*runs(REQUEST_AFTER))).metrics.iloc[0]

    assert ("Handle-2", "sec/op", "better") == (row["name"], row["unit"], row["verdict"])
    assert (196.2e-9, 13.93e-9) == pytest.approx((row["before_median"], row["after_median"]))


def test_of_a_unit_of_which_the_files_say_two_things_the_first_is_used():
    before, after = "Unit ns/op better=lower", "Unit ns/op better=higher"

    compared = compare_bench(bench(before, *runs([1])), bench(after, *runs([1])))

    assert "better of sec/op is given as higher, lower; the first is used" in compared.notes


def test_a_difference_in_time_comes_with_the_other_cause_it_may_have():
    slower = compare_bench(bench(*runs(REQUEST_AFTER)), bench(*runs(REQUEST_BEFORE)))
    same = compare_bench(bench(*runs(IDLE_BEFORE)), bench(*runs(IDLE_AFTER)))

    assert slower.notes[-1].startswith("timings also depend on the load of the machine")
    assert () == same.notes


def test_regressions_are_the_rows_that_are_worse():
    compared = compare_bench(bench(*runs(REQUEST_AFTER)), bench(*runs(REQUEST_BEFORE)))

    assert ["Handle-2"] == compared.regressions["name"].tolist()


def test_damage_of_both_sides_goes_on():
    damaged = bench("BenchmarkCut-2 1000 12.5", *runs([1]))

    assert 2 == len(compare_bench(damaged, damaged).damaged)


def test_a_notebook_shows_the_verdicts_with_names_escaped():
    evil = samples([1.0, 2.0, 3.0, 4.0], name="<script>")

    html = compare_samples(evil, evil)._repr_html_()

    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<td>~</td>" in html


def test_a_change_beyond_noise_that_is_too_small_to_matter_is_the_same():
    """
    1000 objects and 1001: p is as small as it gets. At the threshold it counts.
    """
    before, after, at_edge = (samples([n] * 6, unit="allocs/op") for n in (1000, 1001, 1005))

    slight, edge = (compare_samples(before, one).metrics.iloc[0] for one in (after, at_edge))
    asked = compare_samples(before, after, least_change=0.001).metrics.iloc[0]
    missed = compare_samples(before, after, least_change=0.0011).metrics.iloc[0]

    assert ("same", True) == (slight["verdict"], slight["p_value"] < 0.05)
    assert slight["note"].startswith("the change is beyond noise, but too small to matter")
    assert ["worse", "worse", "same"] == [one["verdict"] for one in (edge, asked, missed)]


@pytest.mark.parametrize(("after", "verdict"), [(0.0125, "same"), (0.025, "worse")])
def test_a_difference_can_be_too_small_in_its_unit(after, verdict):
    """
    The collector's share of the CPU rises by half, of next to nothing.
    """
    before, after = (samples([n] * 6, unit="fraction", better="lower") for n in (0.005, after))

    row = compare_samples(before.assign(least=0.01), after.assign(least=0.01)).metrics.iloc[0]

    assert verdict == row["verdict"]


@pytest.mark.parametrize(
    ("before", "after", "better", "shown"),
    [
        pytest.param([100, 101, 102, 103], [100, 101, 102, 103], "lower", "equivalent", id="same"),
        pytest.param([100, 101, 102, 103], [70, 71, 72, 73], "lower", "no worse", id="better"),
        pytest.param([100, 101, 102, 103], [130, 131, 132, 133], "lower", "?", id="worse"),
        pytest.param([100, 101, 102, 103], [130, 131, 132, 133], "higher", "no worse", id="faster"),
        pytest.param([100, 101, 102, 103], [130, 131, 132, 133], None, "?", id="of-no-direction"),
        pytest.param([100, 150, 200, 250], [100, 150, 200, 250], "lower", "?", id="too-noisy"),
        pytest.param([100], [100], "lower", "?", id="too-few"),
        pytest.param([5, 5], [5, 5], "lower", "equivalent", id="exact"),
        pytest.param([100, 100], [110, 110], "lower", "equivalent", id="exact-at-the-margin"),
        pytest.param([100, 100], [111, 111], "lower", "?", id="exact-beyond-it"),
        pytest.param([0, 0, 0], [0, 0, 0], None, "equivalent", id="zeros"),
    ],
)
def test_no_worse_is_shown_and_not_taken_for_granted(before, after, better, shown):
    """
    Within 10 %. Four values a side that lie wholly apart have a one-sided p of 1/70.
    """
    assert shown == equivalence(np.array(before, float), np.array(after, float), 0.1, better)[0]


@pytest.mark.parametrize(("odd", "shown"), [(92, NO_WORSE), (100.5, NOT_SHOWN)])
def test_no_worse_may_be_wrong_in_one_of_twenty(odd, shown):
    """
    Of six values that come in any order, three wholly below the others come in one of 20: 5 %.
    """
    before, after = np.array([100.0, 101, 102]), np.array([90, 91, odd])

    assert shown == equivalence(before, after, 0.0, "lower")[0]


def test_what_differs_with_equal_medians_has_no_direction():
    (row,) = compare_samples(
        samples([0] * 5 + [10] * 6), samples([10] * 6 + [20] * 5)
    ).metrics.to_dict("records")

    assert row["p_value"] < 0.05
    assert CHANGED == row["verdict"]


def test_the_p_of_no_worse_is_one_sided():
    before, after = np.array([100.0, 101, 102, 103]), np.array([70.0, 71, 72, 73])

    assert pytest.approx(1 / 70) == equivalence(before, after, 0.1, "lower")[1]
    assert pytest.approx(1.0) == equivalence(before, after + 60, 0.1, "lower")[1]


def test_a_margin_gives_each_row_its_word_and_no_margin_none():
    sides = samples([100, 101, 102, 103]), samples([100, 101, 102, 103])

    assert ["equivalent"] == compare_samples(*sides, margin=0.1).metrics["equivalence"].tolist()
    assert [True] == compare_samples(*sides).metrics["equivalence"].isna().tolist()


def test_equivalence_of_what_differs_by_the_margin_is_seldom_claimed():
    """
    At the margin itself, one in twenty is the most that may be called no worse.
    """
    rng = np.random.default_rng(11)
    claims = 0
    for _ in range(400):
        before, after = rng.normal(100, 5, 8), rng.normal(110, 5, 8)
        claims += equivalence(before, after, 0.1, "lower")[0] != "?"

    assert claims <= 31  # of 400 at 5 %, 97.5 times of 100
