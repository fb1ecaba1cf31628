"""Edges of what profiles tell over time and in trees, each by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.profiles import call_tree
from gomem.analysis.profiles import published as publications
from gomem.analysis.profiles.allocation_spikes import intervals_of
from gomem.analysis.profiles.growth import Series, series_of
from gomem.analysis.profiles.published import published
from gomem.analysis.profiles.reasons import site_reasons
from tests.heap_profiles import bucket, heap, seen, stack, turned_over

SECOND = 10**9
NAMES = ("main.leaf", "main.root", "main.a", "main.b", "main.c", "main.d")


def taken(at, profile):
    return replace(profile, columns=replace(profile.columns, time_nanos=round((1 + at) * SECOND)))


def over_time(*levels, seconds=None, allocated=None):
    """Profiles a second apart, with so many sightings of 4 KiB in use."""
    times = range(len(levels)) if seconds is None else seconds
    counts = [1000] * len(levels) if allocated is None else allocated
    return {
        f"{n:02}": taken(at, heap(turned_over(count, level, 4096)))
        for n, (at, count, level) in enumerate(zip(times, counts, levels, strict=True))
    }


@pytest.mark.parametrize(
    ("types", "counts"),
    [
        (("alloc_space", "inuse_space"), True),
        (("alloc_space", "inuse_space", "alloc_objects"), True),
        (("alloc_space",), False),
        (("inuse_space", "inuse_objects"), False),
    ],
)
def test_intervals_are_of_profiles_that_count_both(monkeypatch, types, counts):
    monkeypatch.setattr(publications, "published", list)

    kept = publications.counting({"a": SimpleNamespace(sample_type_names=types)})

    assert (["a"] if counts else []) == kept


def test_two_profiles_of_one_time_have_no_rate():
    assert intervals_of(over_time(10, 20, seconds=[0, 0], allocated=[100, 900])).empty


def test_of_one_profile_nobody_knows_how_far_it_lags():
    (one,) = published(over_time(10)).news

    assert (0.0, 0.0, 0.0) == (one.seconds, one.until_seconds, one.since_seconds)


def test_a_series_begins_with_its_first_profile():
    assert [0.0, 1.0, 3.0] == series_of(over_time(10, 20, 30, seconds=[5, 6, 8])).moments[
        "seconds"
    ].tolist()


def lines_of(count):
    buckets = [seen(9 + number, 64, leaf=number) for number in range(1, count + 1)]
    return heap(*buckets, names=NAMES)


@pytest.mark.parametrize(("asked", "lines"), [(None, 5), (1, 1), (3, 3)])
def test_as_many_lines_have_reasons_as_are_asked_for(asked, lines):
    nothing = pd.DataFrame({name: [] for name in ("package", "file", "line", "kind", "subject",
                                                  "reason")})  # fmt: skip

    assert lines == len(site_reasons(lines_of(5), nothing, "alloc_space", asked))


# Who grows


def leaks(*rows):
    """Leaks by their first level, last level and lower end of the slope; one stack each."""
    table = pd.DataFrame(rows, columns=["first", "last", "slope_low"])
    names = [f"main.site{number}" for number in range(len(rows))]
    return table.assign(
        stack=names, function=names, slope=1.0, slope_high=2.0, leak=range(1, len(rows) + 1),
        representative=pd.array([True] * len(rows), "boolean"),
    )  # fmt: skip


def of_total(first, last):
    moments = pd.DataFrame({"moment": ["a", "b"], "seconds": [0.0, 9.0]})
    values = pd.DataFrame({"a": [float(first)], "b": [float(last)]})
    return Series("inuse_space", "bytes", moments, values, values * 0)


def in_each(*totals):
    """Profiles of so much in use, nine seconds apart."""
    names = [str(n) for n in range(len(totals))]
    moments = pd.DataFrame({"moment": names, "seconds": [9.0 * n for n in range(len(totals))]})
    values = pd.DataFrame({name: [float(one)] for name, one in zip(names, totals, strict=True)})
    return Series("inuse_space", "bytes", moments, values, values * 0)


# Trees


def test_a_stack_of_one_function_is_a_frame():
    frames = call_tree.call_tree(heap(stack(1)), "inuse_space").frames

    assert ["all", "main.leaf"] == frames["name"].tolist()
    assert [0, 1] == frames["depth"].tolist()


def test_what_has_nothing_is_no_frame():
    frames = call_tree.call_tree(
        heap(seen(9, 64), bucket(0, 0, leaf=3), names=NAMES), "inuse_space"
    ).frames

    assert "main.a" not in set(frames["name"])


@pytest.mark.parametrize(("most", "kept"), [(7, 5), (6, 4), (5, 1), (3, 1), (2, 0)])
def test_of_too_many_frames_narrow_ones_go_first(monkeypatch, most, kept):
    """
    All, their caller, and five of 10, 15, 20, 25 and 30 %. The least width is a seventh, and then
    twice as much each time: 28.6 % and 57 %.
    """
    monkeypatch.setattr(call_tree, "MAX_FRAMES", most)
    sizes = (10, 15, 20, 25, 30)
    places = (1, 3, 4, 5, 6)
    buckets = [bucket(1, size * 1000, leaf=n) for n, size in zip(places, sizes, strict=True)]

    frames = call_tree.call_tree(heap(*buckets, rate=1, names=NAMES), "inuse_space").frames

    assert kept == (frames["depth"] == 2).sum()
    below = frames[frames["name"] == "main.root"].iloc[0]
    assert sum(sizes[: 5 - kept]) * 1000 == below["hidden"]


def test_callers_stand_before_their_calls_and_widths_are_shares():
    tree = call_tree.call_tree(
        heap(bucket(1, 3000), bucket(1, 1000, leaf=3), rate=1, names=NAMES), "inuse_space"
    ).frames.set_index("name")

    assert [1.0, 1.0, 0.75, 0.25] == tree.loc[
        ["all", "main.root", "main.leaf", "main.a"], "width"
    ].tolist()
    assert [-1, 0, 1, 1] == tree.loc[["all", "main.root", "main.leaf", "main.a"], "parent"].tolist()
    assert [0.0, 0.75] == tree.loc[["main.leaf", "main.a"], "start"].tolist()
    assert [0, 0, 3000, 1000] == tree.loc[
        ["all", "main.root", "main.leaf", "main.a"], "own"
    ].tolist()


def test_a_change_of_what_is_counted_exactly_has_no_interval():
    """
    Without a sampling the ends are unknown, and nothing is said of what was not seen.
    """
    before, after = (heap(bucket(1, size), rate=1) for size in (1000, 3000))

    tree = call_tree.call_tree(after, "inuse_space", before)
    row = tree.frames.iloc[0]

    assert (3000, 1000, 2000) == tuple(row[["value", "before", "change"]])
    assert tree.is_difference
    assert np.isnan(row["change_low"])
    assert np.isnan(row["change_high"])
