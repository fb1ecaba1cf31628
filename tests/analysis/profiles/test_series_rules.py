"""Intervals, what is usual, and growth: each rule on made-up profiles of known sightings."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.profiles import growth as growth_module
from gomem.analysis.profiles.allocation_spikes import find_spike, intervals_of
from gomem.analysis.profiles.growth import (
    Series,
    _shared_callers,
    growth,
)
from gomem.analysis.profiles.published import published, since_restart
from tests.heap_profiles import heap, turned_over

EACH = 526_338.67  # bytes that one sighting of 4 KiB stands for
SECOND = 10**9


def taken(at, allocated, in_use=10, **about):
    """A heap profile of so many sightings, so many seconds after the first; or without a time."""
    one = heap(turned_over(allocated, in_use, 4096), **about)
    nanos = 0 if at is None else round((1 + at) * SECOND)
    return replace(one, columns=replace(one.columns, time_nanos=nanos))


def profiles(*allocated, seconds=None, in_use=None):
    times = range(len(allocated)) if seconds is None else seconds
    levels = [10] * len(allocated) if in_use is None else in_use
    return {
        f"{n:02}": taken(at, count, level)
        for n, (at, count, level) in enumerate(zip(times, allocated, levels, strict=True))
    }


# ---- intervals


def test_an_interval_by_hand():
    """
    30 sightings in two seconds, of which the earlier profile, as old as one interval before, may
    have lagged by one more; 20 in use at its end.
    """
    rows = intervals_of(profiles(10, 20, 50, seconds=[0, 2, 4], in_use=[10, 10, 20]))

    (first, second) = rows.itertuples(index=False)
    assert ("00", "01", 2.0) == first[:3]
    assert ("01", "02", 2.0) == second[:3]
    assert (30 * EACH, 15 * EACH, 20 * EACH) == pytest.approx(second[4:], rel=1e-5)
    assert second.seconds_at_most >= second.seconds


def test_a_profile_may_lag_by_two_collections():
    """
    One a second: the third interval may show what was allocated since two profiles before it.
    """
    rows = intervals_of(profiles(10, 20, 30, 40, 50))

    assert [3.0, 3.0, 3.0, 3.0] == list(rows["seconds_at_most"])


def test_where_the_count_falls_there_is_no_interval():
    rows = intervals_of(profiles(10, 20, 5, 15))

    assert [("00", "01"), ("02", "03")] == list(zip(rows["before"], rows["after"], strict=True))


def test_an_interval_in_which_nothing_was_allocated_is_one():
    """
    Something was freed, so the profile is new.
    """
    rows = intervals_of(profiles(10, 10, 20, in_use=[10, 5, 5]))

    assert [0.0, 10 * EACH] == pytest.approx(list(rows["allocated_bytes"]), rel=1e-5)


def test_profiles_without_a_time_make_none():
    assert intervals_of({"a": taken(None, 10), "b": taken(1, 20)}).empty
    assert ["b"] == list(
        intervals_of({"a": taken(0, 10), "x": taken(None, 15), "b": taken(1, 20)})["after"]
    )


# ---- the interval that stands out


def usual(*allocated, at=None):
    """What is usual in a second, in sightings."""
    return find_spike(profiles(*allocated), at).usual_bytes / EACH


def test_what_is_usual_is_told_by_the_other_intervals():
    """
    None; the only one; the higher of two; the median of three.
    """
    assert np.isnan(usual(0, 100))
    assert pytest.approx(10, rel=1e-4) == usual(0, 10, 110)
    assert pytest.approx(20, rel=1e-4) == usual(0, 10, 30, 130)
    assert pytest.approx(20, rel=1e-4) == usual(0, 10, 30, 60, 160)


def test_the_first_of_equal_intervals_stands_out():
    assert "02" == find_spike(profiles(0, 10, 110, 120, 220, 230)).after


def test_a_rate_is_told_apart_from_a_size():
    """
    300 sightings in 30 seconds are as many as usual; 50 in one are not.
    """
    counts, seconds = (0, 10, 20, 320, 370, 380), (0, 1, 2, 32, 33, 34)

    spike = find_spike(profiles(*counts, seconds=seconds), "04")

    assert ("03", "04", 1.0) == (spike.before, spike.after, spike.seconds)
    assert (40, 10) == pytest.approx((spike.extra_bytes / EACH, spike.usual_bytes / EACH), rel=1e-4)


@pytest.mark.parametrize(
    ("after_seconds", "named"), [(0.5, "01"), (1.0, "01"), (1.1, "02"), (9.0, "03")]
)
def test_a_time_means_the_first_profile_from_then_on(after_seconds, named):
    """
    At the very time counts; behind the last there is only the last.
    """
    made = profiles(0, 10, 20, 30)
    at = made["00"].time + pd.Timedelta(seconds=after_seconds)

    assert named == find_spike(made, at).after
    assert "02" == find_spike(made, "02").after


def test_what_a_site_allocated_beyond_its_usual():
    """
    500 sightings where 10 are usual; and a quiet site has as much as ever, by the noise.
    """
    row = find_spike(profiles(0, 10, 20, 520, 530)).allocated.iloc[0]

    assert (500, 10, 490) == pytest.approx(
        tuple(row[["bytes", "usual_bytes", "extra_bytes"]] / EACH), rel=1e-4
    )
    assert row["low"] < row["extra_bytes"] < row["high"]
    assert "more" == row["state"]
    quiet = find_spike(profiles(0, 100, 200, 300, 310), "04").allocated.iloc[0]
    assert ("less", -90) == (quiet["state"], round(quiet["extra_bytes"] / EACH))
    steady = find_spike(profiles(0, 100, 200, 300, 400)).allocated.iloc[0]
    assert "~" == steady["state"]


def test_what_is_kept_of_a_spike_is_a_difference_of_levels():
    spike = find_spike(profiles(0, 10, 20, 520, 530, in_use=[5, 5, 5, 25, 5]))

    assert pytest.approx(20, rel=1e-4) == spike.kept_bytes / EACH
    assert (4, 4) == (spike.intervals, spike.with_news)


def test_beyond_the_usual_of_the_time_that_an_interval_may_show():
    """
    500 sightings where 10 a second are usual; they may be of three seconds.
    """
    spike = find_spike(profiles(0, 10, 20, 520, 530))

    assert (490, 470) == pytest.approx(
        (spike.extra_bytes / EACH, spike.beyond_lag_bytes / EACH), rel=1e-4
    )


def test_one_profile_has_no_spike():
    assert find_spike(profiles(10)) is None


# ---- what is new


def test_what_repeats_and_what_is_at_once():
    """
    The second repeats the first; another follows the third after a tenth of the usual time.
    """
    found = published(profiles(10, 10, 20, 30, 40, seconds=[0, 1, 2, 2.09, 3.09]))

    assert (("01",), ("02",)) == (found.repeated, found.at_once)
    assert ["00", "03", "04"] == [one.moment for one in found.news]
    assert (0.0, 1.0) == (found.news[0].seconds, found.news[0].until_seconds)
    assert 3 == found.intervals


def test_a_tenth_of_the_usual_time_is_an_interval():
    assert () == published(profiles(10, 20, 30, 40, seconds=[0, 1, 2, 2.1])).at_once


def test_of_two_profiles_neither_is_at_once():
    assert () == published(profiles(10, 20, seconds=[0, 0.001])).at_once


def test_without_profiles_nothing_is_new():
    assert ((), 0) == (published({}).news, published({}).intervals)
    assert ((), 0) == (published({"a": taken(None, 10)}).news, published({}).intervals)


def test_a_profile_is_as_old_as_two_collections_at_most():
    """
    Of the first two, as far back as is usual; of the third, until the first was last seen.
    """
    news = published(profiles(10, 10, 20, 30, seconds=[0, 1, 2, 4])).news

    assert [-4.0, -2.0, 1.0] == [one.since_seconds for one in news]


def test_another_process_begins_where_the_count_falls():
    """
    What has no time is left out, and an equal count is the same process.
    """
    made = {**profiles(10, 20, 5, 5, 15), "x": taken(None, 99)}

    assert ["02", "03", "04"] == list(since_restart(made))


# ---- growth


def series(levels, *, seconds=None, variance=0.0, **about):
    values = pd.DataFrame([np.asarray(row, float) for row in levels.values()], index=list(levels))
    names = [f"{n:02}" for n in values.columns]
    values.columns = names
    times = np.arange(len(names), dtype=float) if seconds is None else np.array(seconds, float)
    moments = pd.DataFrame({"moment": names, "seconds": times})
    return Series("inuse_space", "bytes", moments, values, values * 0 + variance, **about)


@pytest.mark.parametrize(("moments", "rows"), [(3, 0), (4, 1)])
def test_growth_takes_four_moments(moments, rows):
    assert rows == len(growth(series({"a": np.arange(moments) * 10.0})))


def test_four_profiles_of_three_times_are_three_moments():
    assert growth(series({"a": [0, 10, 20, 30]}, seconds=[0, 1, 1, 2])).empty


def test_a_stack_that_has_nothing_is_left_out():
    assert ["a"] == list(growth(series({"a": [1, 2, 3, 4], "b": [0, 0, 0, 0]}))["stack"])


def test_of_many_stacks_those_that_move_most_are_told(monkeypatch):
    monkeypatch.setattr(growth_module, "MAX_STACKS", 2)
    levels = {name: np.arange(4) * step for name, step in (("a", 1.0), ("b", 30.0), ("c", 20.0))}

    assert ["b", "c"] == list(growth(series(levels))["stack"])


def test_of_many_moments_some_are_taken_evenly_the_first_and_the_last_among_them(monkeypatch):
    monkeypatch.setattr(growth_module, "MAX_MOMENTS", 5)
    row = growth(series({"a": np.arange(101) * 10.0})).iloc[0]

    assert (0.0, 1000.0, 10.0) == (row["first"], row["last"], row["slope"])


def test_a_ramp_is_projected_from_its_line():
    """
    10 a second from 5 on; the last reading is 30 below the line.
    """
    levels = 5 + np.arange(24) * 10.0
    levels[-1] -= 30
    row = growth(series({"a": levels}), horizon_seconds=3600).iloc[0]

    assert 235.0 + 36_000 == pytest.approx(row["projected"])
    assert row["projected_low"] <= row["projected"] <= row["projected_high"]


@pytest.mark.parametrize(
    ("step", "projected"),
    [
        pytest.param(1, 230 + 10 * 3 * 23, id="three times the 23 s that were watched"),
        pytest.param(60, 230 * 60 + 10 * 3600, id="an hour of three times 23 min"),
    ],
)
def test_a_ramp_is_projected_a_few_times_as_far_as_it_was_watched(step, projected):
    seconds = np.arange(24) * step
    row = growth(series({"a": 10.0 * seconds}, seconds=seconds)).iloc[0]

    assert projected == pytest.approx(row["projected"])


def test_what_goes_up_and_down_is_projected_at_its_height():
    """
    Of a saw-tooth the highest, of anything else that is no ramp the last; without an interval.
    """
    tooth = growth(series({"a": [0, 100, 0, 100, 10, 90]})).iloc[0]
    decline = growth(series({"a": [90, 80, 60, 40, 20, 10]})).iloc[0]

    assert (100.0, 10.0) == (tooth["projected"], decline["projected"])
    assert pd.isna(tooth["projected_low"])
    assert pd.isna(decline["projected_high"])


def test_the_lower_end_of_a_projection_is_not_below_nothing():
    """
    The lower end of the slope is 5 a second down.
    """
    row = growth(series({"a": [40, 10, 30, 50, 70, 90]}), horizon_seconds=3600).iloc[0]

    assert ("ramp", -5.0, 0.0) == (row["shape"], row["slope_low"], row["projected_low"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("m;a;x", "m;a;y", True),
        ("m;a;x", "m;b;y", False),
        ("m;a;b;c;d;x", "m;a;b;e;f;y", True),
        ("m;a;b;c;d;x", "m;a;e;f;g;y", False),
        ("m;a", "m;a;b;c", True),
        ("m", "m;a", False),
    ],
)
def test_stacks_of_one_leak_share_their_callers(one, other, same):
    """
    Two at least, and all but the three innermost.
    """
    assert same == _shared_callers(one.split(";"), other.split(";"))
    assert same == _shared_callers(other.split(";"), one.split(";"))


def test_stacks_that_do_not_rise_together_are_two_leaks():
    line = np.arange(24.0)
    table = growth(series({"m;a;x": 100 * line, "m;a;y": line**8}))

    assert {1, 2} == set(table["leak"].dropna())
