"""Allocation sites of two sides: runs, lines that move, and what a request allocates."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gomem.analysis.profiles.changes import rename_of
from gomem.comparison.sites import RUNS_NOTE, SAMPLING_NOTE, UNPUBLISHED_NOTE, sites_compared
from tests.heap_profiles import heap, seen

SECOND = 10**9


def at(profile, seconds):
    return replace(profile, columns=replace(profile.columns, time_nanos=seconds * SECOND))


def run(*counts, seconds=10, size=4096):
    """A capture: a site has so many sampled objects at each moment, so far apart."""
    found = {
        f"{number}-moment": at(heap(seen(count, size)), 1 + number * seconds)
        for number, count in enumerate(counts, start=1)
    }
    return SimpleNamespace(by_moment={}, capture=SimpleNamespace(heap_profiles=found))


def site(frame, sample_type):
    return frame[frame["sample_type"] == sample_type].iloc[0]


def test_of_one_run_a_side_sampling_decides():
    compared = sites_compared([run(1000)], [run(1200)])

    row = site(compared.sites, "inuse_space")
    assert ("grew", 1, 1, True) == (*row[["state", "before_n", "after_n"]], row.isna()["p_value"])
    assert SAMPLING_NOTE in compared.notes


def test_of_several_runs_the_means_are_compared_and_their_spread_counts():
    """
    Sampling alone would tell 1000 from 1200; runs of one side that differ as much do not.
    """
    apart = sites_compared(
        [run(n) for n in (1000, 1010, 990, 1005)], [run(n) for n in (1200, 1210, 1190, 1205)]
    )
    mixed = sites_compared(
        [run(n) for n in (1000, 1400, 900, 1300)], [run(n) for n in (1200, 1500, 950, 1350)]
    )

    row = site(apart.sites, "inuse_space")
    assert ("grew", 4, pytest.approx(2 / 70)) == (*row[["state", "after_n"]], row["p_value"])
    row = site(mixed.sites, "inuse_space")
    assert ("~", True) == (row["state"], row["p_value"] > 0.05)
    assert row["low"] > 0  # beyond sampling
    assert RUNS_NOTE in apart.notes


def test_runs_narrow_the_interval_of_a_mean():
    """
    Four times the samples, half the error.
    """
    widths = []
    for n in (1, 4):
        row = site(sites_compared([run(1000)] * n, [run(1000)] * n).sites, "inuse_space")
        widths.append(row["high"] - row["low"])

    assert pytest.approx(2.0) == widths[0] / widths[1]


def test_a_site_that_one_run_lacks_counts_as_nothing_there():
    none = SimpleNamespace(
        by_moment={},
        capture=SimpleNamespace(heap_profiles={"1-moment": heap(seen(9, 64, leaf=2, root=2))}),
    )
    row = site(sites_compared([run(1000), none], [run(1000)] * 2).sites, "inuse_space")

    assert pytest.approx(0.5, rel=0.01) == row["before"] / row["after"]


@pytest.mark.parametrize(
    ("requests", "per", "units"), [(None, "second", 20), (500, "request", 500)]
)
def test_what_lies_between_the_moments_is_told_by_request_or_second(requests, per, units):
    """
    800 sampled objects were allocated meanwhile; those from before the load are not of it.
    """
    sides = [run(5000, 5800, seconds=20)], [run(100, 900, seconds=20)]

    compared = sites_compared(*sides, requests=([requests], [requests]))

    row = site(compared.rates, "alloc_space")
    assert (per, "~", "bytes") == (row["per"], row["state"], row["unit"])
    grown = heap(seen(5800, 4096)).total("alloc_space") - heap(seen(5000, 4096)).total(
        "alloc_space"
    )
    assert pytest.approx(grown / units) == row["before"]
    assert "shrank" == site(compared.sites, "alloc_space")["state"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(run(900), run(100, 900), id="one-moment"),
        pytest.param(run(100, 900, seconds=0), run(100, 900), id="no-time-between"),
    ],
)
def test_without_two_profiles_and_a_clock_there_are_no_rates(old, new):
    assert sites_compared([old], [new]).rates.empty


def collecting(capture, *counts):
    """The same, with so many collections until each moment."""
    readings = [
        SimpleNamespace(counter_reading=SimpleNamespace(count={"NumGC": count}.get))
        for count in counts
    ]
    moments = dict(zip(capture.capture.heap_profiles, readings, strict=True))
    return SimpleNamespace(by_moment=moments, capture=capture.capture)


def test_what_profiles_lag_behind_widens_a_rate():
    """
    Of ten GCs one is a tenth: far more than sampling leaves open of 40 000 objects.
    """
    sides = run(100, 40_100), run(100, 42_900)
    rows = [
        site(
            sites_compared(*([collecting(side, 3, 3 + count)] for side in sides)).rates,
            "alloc_space",
        )
        for count in (1000, 10)
    ]

    assert ["grew", "~"] == [row["state"] for row in rows]
    assert rows[0]["before"] == rows[1]["before"]
    for end in ("low", "high"):
        off = [abs(row[end] - row["change"]) for row in rows]
        lag = np.hypot(*(0.1 * rows[1][name] for name in ("before", "after")))
        assert pytest.approx(np.hypot(off[0], lag), rel=0.01) == off[1]


@pytest.mark.parametrize(("collections", "is_rate"), [(2, False), (3, True)])
def test_too_few_collections_publish_no_rate(collections, is_rate):
    sides = ([collecting(run(100, 900), 7, 7 + collections)] for _ in range(2))

    compared = sites_compared(*sides)

    assert is_rate == (not compared.rates.empty)
    assert is_rate != (UNPUBLISHED_NOTE in compared.notes)


def test_a_function_whose_lines_moved_is_the_same_site():
    before, after = heap(seen(900, 4096)), heap(seen(900, 4096))
    columns = after.columns
    lines = replace(columns.locations, line_number=columns.locations.line_number + 40)
    functions = replace(columns.functions, start_line=columns.functions.start_line + 40)
    after = replace(after, columns=replace(columns, locations=lines, functions=functions))
    sides = [
        [SimpleNamespace(by_moment={}, capture=SimpleNamespace(heap_profiles={"1": one}))]
        for one in (before, after)
    ]

    compared = sites_compared(*sides)
    frames = compared.change_trees["inuse_space"]().frames

    assert ["~"] == compared.sites.query("sample_type == 'inuse_space'")["state"].tolist()
    assert 1 == (frames["name"] == "main.leaf").sum()


def test_moments_called_by_the_time_have_rates_too():
    """
    No name is in another capture, of the same side or of the other.
    """

    def named(word):
        one = run(100, 900)
        profiles = one.capture.heap_profiles
        one.capture.heap_profiles = {f"{word}-{name}": p for name, p in profiles.items()}
        return one

    compared = sites_compared([named("a"), named("b")], [named("c"), named("d")])

    row = site(compared.rates, "alloc_space")
    assert ("second", 2, 2, "~") == tuple(row[["per", "before_n", "after_n", "state"]])
    assert row["before"] > 0


def test_a_rename_that_nobody_bears_is_said():
    compared = sites_compared([run(900)], [run(900)], [rename_of("main.leef=main.leaf")])

    assert (
        "rename main.leef=main.leaf: the before side has no function of that name" in compared.notes
    )
