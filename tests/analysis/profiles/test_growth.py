"""Growth over a series of profiles: slopes, shapes, leaks; levels and additions kept apart."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.profiles.growth import GROWTH, OTHERS, Series, growth, series_of
from tests.builders import FIXTURES, diagnosed
from tests.heap_profiles import heap, scale, turned_over

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
MOMENTS = 25
RUNS = 200


@pytest.fixture(scope="module")
def scraped():
    """The periodic heap profiles of the recording, by moment."""
    capture = diagnosed(SPIKY).capture
    return {moment: by_kind["heap"] for moment, by_kind in capture.profiles.items()}


def series(levels, *, variance=0.0, sample_type="inuse_space"):
    """A series of one profile a second, from the levels of each stack."""
    values = pd.DataFrame(
        [np.asarray(row, float) for row in levels.values()], index=pd.Index(levels, name="stack")
    )
    names = [f"{number:02}" for number in values.columns]
    values.columns = names
    seconds = np.arange(len(names), dtype=float)
    moments = pd.DataFrame({"moment": names, "seconds": seconds})
    return Series(sample_type, "bytes", moments, values, values * 0 + variance)


def only(levels, **options):
    """The one row of growth of a stack with these levels."""
    return growth(series({"main.main;main.leak": levels}, **options)).iloc[0]


def test_levels_of_all_stacks_are_the_total_of_each_profile(scraped):
    laid_out = series_of(scraped)

    totals = {moment: scraped[moment].total("inuse_space") for moment in laid_out.moments["moment"]}
    assert totals == laid_out.totals.to_dict()


def test_additions_are_what_the_last_profile_has_beyond_the_first(scraped):
    """
    alloc_* as differences: their sum over time is last less first, and none is a level.
    """
    laid_out = series_of(scraped, "alloc_space")

    first, *_, last = laid_out.moments["moment"]
    allocated = scraped[last].total("alloc_space") - scraped[first].total("alloc_space")
    assert allocated == laid_out.totals.sum()
    assert laid_out.values[first].isna().all()


def test_a_profile_that_repeats_its_predecessor_is_left_out(scraped):
    """
    `settled` was taken without a collection since `scrape-23`.
    """
    laid_out = series_of(scraped)

    assert "settled" in laid_out.repeated
    assert len(scraped) == len(laid_out.moments) + len(laid_out.repeated)


def test_a_restart_counts_from_its_start(scraped):
    """
    alloc_space fell: another process, which has allocated that much since it began.
    """
    early, late = scraped["scrape-00"], scraped["scrape-22"]
    before = replace(late.columns, time_nanos=early.columns.time_nanos - 10**9)

    laid_out = series_of({"a": replace(late, columns=before), "b": early}, "alloc_space")

    assert ("b",) == laid_out.restarts
    assert early.total("alloc_space") == laid_out.totals["b"]


def sighted(*counts, in_use):
    """Profiles a second apart, of so many sightings of 4 KiB allocated, and in use."""
    made = {}
    for second, (count, level) in enumerate(zip(counts, in_use or counts, strict=True), start=1):
        one = heap(turned_over(count, level, 4096))
        columns = replace(one.columns, time_nanos=second * 10**9)
        made[f"{second - 1:02}"] = replace(one, columns=columns)
    return made


def test_levels_have_the_variance_of_their_sightings():
    """
    Each stands for 128.5 objects of 4 KiB, and is made with a chance of 1 in 128.5: n of them vary
    by n (1 - 1 / 128.5).
    """
    levels = series_of(sighted(100, 300, 310, 320, in_use=[16, 25, 36, 49]))

    each = 4096 * scale(4096)
    assert [16, 25, 36, 49] == pytest.approx((levels.totals / each).tolist(), rel=1e-3)
    variance = levels.variance.sum() / each**2 / (1 - 1 / scale(4096))
    assert [16, 25, 36, 49] == pytest.approx(variance.tolist(), rel=1e-3)


def test_what_was_added_is_counted_from_the_moment_before_or_from_a_restart():
    """
    100, 300, 310 sightings; then 50 of another process, and 70.
    """
    added = series_of(sighted(100, 300, 310, 50, 70, in_use=[5, 6, 7, 8, 9]), "alloc_space")

    each = 4096 * scale(4096)
    variance = added.variance.sum() / each**2 / (1 - 1 / scale(4096))
    assert ("03",) == added.restarts
    assert np.isnan(added.totals.iloc[0])
    assert [200, 10, 50, 20] == pytest.approx((added.totals.iloc[1:] / each).tolist(), rel=1e-3)
    assert [200, 10, 50, 20] == pytest.approx(variance.iloc[1:].tolist(), rel=1e-3)


def test_of_countless_stacks_those_with_least_stand_together(monkeypatch, scraped):
    """
    No byte is lost: what has no name of its own is in one row.
    """
    monkeypatch.setattr("gomem.analysis.profiles.growth.MAX_NAMED", 3)

    laid_out = series_of(scraped)

    assert 4 == len(laid_out.values)
    assert OTHERS in laid_out.values.index
    totals = [scraped[moment].total("inuse_space") for moment in laid_out.moments["moment"]]
    assert totals == list(laid_out.totals)


def test_moments_that_are_one_have_no_growth():
    """
    Four profiles of one time: nothing goes on between them.
    """
    levels = series({"a": [1, 2, 3, 4]})
    at_once = replace(levels, moments=levels.moments.assign(seconds=0.0))

    assert growth(at_once).empty


def test_a_diagnosis_has_the_growth_of_its_moments(scraped):
    diagnosis = diagnosed(SPIKY)

    pd.testing.assert_frame_equal(growth(series_of(scraped)), diagnosis.growth)


def test_a_capture_of_few_moments_has_none():
    healthy = diagnosed(FIXTURES / "captures" / "healthy-go1.27.3")

    assert healthy.facts.profiles.heap_series is None
    assert [column.name for column in GROWTH] == list(healthy.growth.columns)


def test_additions_have_no_growth():
    with pytest.raises(ValueError, match="alloc_space only adds up"):
        growth(series({"a": [1, 2, 3, 4]}, sample_type="alloc_space"))


def test_the_slope_is_that_of_theil_and_sen():
    """
    Held against SciPy's, interval included, where nothing is sampled.
    """
    from scipy.stats import theilslopes  # takes a second to import

    levels = np.random.default_rng(3).normal(np.arange(MOMENTS) * 1000.0, 700.0) + 10_000

    found = only(levels)

    slope, _, low, high = theilslopes(levels, np.arange(MOMENTS))
    assert pytest.approx([slope, low, high]) == [
        found["slope"], found["slope_low"], found["slope_high"],
    ]  # fmt: skip


def test_few_sightings_make_a_slope_unsure():
    """
    20 000 after 20 seconds, by 5 sightings of 4000: those alone leave the true level between 35 %
    and 222 % of it, so no interval of the slope is narrower.
    """
    found = only(np.arange(21) * 1000, variance=4000 * 20_000)

    ratios = found[["slope_low", "slope_high"]].astype(float) / found["slope"]
    assert [0.35, 2.22] == list(ratios.round(2))


@pytest.mark.parametrize("levels", [np.arange(21) * 1000, 20_000 - np.arange(21) * 1000])
def test_the_interval_of_a_slope_is_the_same_in_a_larger_unit(levels):
    """
    A thousand a second in bytes is less than one in MiB; rising and falling.
    """
    slopes = ["slope", "slope_low", "slope_high"]
    in_bytes = only(levels, variance=4000 * 20_000)[slopes].astype(float)
    in_mib = only(levels / 2**20, variance=4000 * 20_000 / 2**40)[slopes].astype(float)

    assert in_bytes.tolist() == pytest.approx((in_mib * 2**20).tolist())


def test_of_95_in_100_sampled_leaks_the_interval_holds_the_slope():
    """
    A leak of 100 kB/s in objects of 1 kB, sampled as Go samples; 48 sightings after 25 seconds.
    """
    rate, size, each = 524_288, 1000, 100
    chance = 1 - np.exp(-size / rate)
    random = np.random.default_rng(11)
    inside = 0
    for _ in range(RUNS):
        seen = np.cumsum(random.binomial(each * 10, chance, MOMENTS))
        levels = seen * size / chance
        found = only(levels, variance=levels[-1] * size / chance)
        inside += found["slope_low"] <= each * 10 * size <= found["slope_high"]

    assert 0.92 <= inside / RUNS


@pytest.mark.parametrize(
    ("shape", "levels"),
    [
        ("flat", [100] * 24),
        ("flat", [100, 103, 98, 101] * 6),
        ("ramp", range(0, 240, 10)),
        ("ramp", [number * 10 + 3 * (number % 3) for number in range(24)]),
        ("step", [10] * 12 + [100] * 12),
        ("plateau", [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, *[100] * 12]),
        ("saw-tooth", [0, 25, 50, 75, 100, 5] * 4),
        ("saw-tooth", [0] * 10 + [100] + [0] * 13),
        ("decline", range(240, 0, -10)),
    ],
)
def test_shapes(shape, levels):
    assert shape == only(list(levels))["shape"]


def test_what_sampling_can_explain_is_flat():
    """
    A range of 2 standard deviations.
    """
    assert "flat" == only([0, 0, 2, 0, 2, 2, 0, 0] * 3, variance=1.0)["shape"]


def test_a_ramp_goes_on_and_a_plateau_does_not():
    """
    10 a second for 23 seconds, then 100 more: 1230. A plateau of 100 stays there.
    """
    ramp = growth(series({"a": range(0, 240, 10)}), horizon_seconds=100).iloc[0]
    plateau = growth(series({"a": [0, 50, *[100] * 22]}), horizon_seconds=100).iloc[0]

    assert [1230.0, 100.0] == [ramp["projected"], plateau["projected"]]


def test_stacks_of_one_leak_stand_under_one_representative():
    """
    Two stacks part in the frames below main.append and rise together; the third rises elsewhere.
    """
    ramp = np.arange(24.0)
    table = growth(
        series(
            {
                "main.main;main.serve;main.append;main.newRecord": 100 * ramp,
                "main.main;main.serve;main.append;main.newKey;fmt.Sprintf": 7 * ramp,
                "main.other;main.poll;main.cache;main.put;main.grow": 50 * ramp,
            }
        )
    ).set_index("function")

    assert [1, 1, 2] == list(table.loc[["main.newRecord", "fmt.Sprintf", "main.grow"], "leak"])
    leaders = table.index[table["representative"].fillna(value=False)]
    assert ["main.newRecord", "main.grow"] == list(leaders)


def test_the_leak_of_the_recording(scraped):
    """
    It appends 16 KiB every 10 ms at most: 1.64 MB/s. The batch is a saw-tooth, the cache, filled in
    the first seconds, a plateau; and nothing else is called a ramp.
    """
    table = growth(series_of(scraped)).set_index("function")

    leak = table.loc["main.newAuditRecord"]
    assert leak["slope_low"] <= 16_384 / 0.010
    assert 16_384 / 0.020 <= leak["slope_high"]
    assert ["main.newAuditRecord"] == list(table.index[table["shape"] == "ramp"])
    assert "saw-tooth" == table.loc["main.collectBatch", "shape"]
    assert "saw-tooth" == table.loc["io.ReadAll", "shape"]
    assert "plateau" == table.loc["main.warm", "shape"]


def test_without_growth_the_columns_are_the_same():
    few = growth(series({"a": [1, 2]}))

    assert [column.name for column in GROWTH] == list(few.columns)
    assert few.empty
