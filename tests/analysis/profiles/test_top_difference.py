"""Differences as pprof counts them, each with its interval, and `~` where it may be noise."""

import pytest

from gomem.analysis.profiles.changes import profile_changes
from gomem.analysis.profiles.top_difference import DIFFERENCES, NORMALIZED, top_difference
from gomem.statistics.sampling import UNSEEN_SIGHTINGS
from tests.heap_profiles import RATE, heap, seen

NAMES = ("main.gone", "main.root", "main.new", "main.same", "main.more")


@pytest.fixture(scope="module")
def profiles():
    """After and before: one site gone, one new, one with 10 sightings for 9, one with 900."""
    before = heap(seen(100, 64), seen(9, 64, leaf=4), seen(100, 64, leaf=5), names=NAMES)
    after = heap(seen(100, 64, leaf=3), seen(10, 64, leaf=4), seen(900, 64, leaf=5), names=NAMES)
    return after, before


def rows(after, before, **options):
    difference = top_difference(after.diff(before), after, before, "inuse_space", **options)
    return difference.top.set_index("function")


def test_a_change_is_noise_if_its_interval_holds_zero(profiles):
    top = rows(*profiles)

    states = {"main.gone": "gone", "main.new": "new", "main.same": "~", "main.more": "grew"}
    assert states == top["flat_state"].drop("main.root").to_dict()
    noise = (top["flat_low"] <= 0) & (top["flat_high"] >= 0)
    assert list(top.index[noise & (top["flat"] != 0)]) == ["main.same"]


def test_the_caller_of_all_has_the_change_of_all(profiles):
    """
    209 sightings before, 1010 after; its own value is 0 on both sides.
    """
    after, before = profiles
    root = rows(*profiles).loc["main.root"]

    assert after.total("inuse_space") - before.total("inuse_space") == root["cum"]
    assert root["cum_low"] <= root["cum"] <= root["cum_high"]
    assert "grew" == root["cum_state"]


def test_flat_and_interval_are_those_of_the_changes(profiles):
    """
    Two ways to one answer: pprof's subtraction, and each side's sites with their intervals.
    """
    after, before = profiles
    changes = profile_changes(before, after, "inuse_space").sites.set_index("function")

    top = rows(*profiles).drop("main.root")

    assert list(changes.loc[top.index, "change"]) == list(top["flat"])
    assert (top["flat_low"] <= changes.loc[top.index, "low"]).all()
    assert (top["flat_high"] >= changes.loc[top.index, "high"]).all()


def test_what_is_not_shown_may_be_there_unseen(profiles):
    """
    `main.new` had nothing that was seen: up to 3.69 times the rate is not excluded.
    """
    row = rows(*profiles).loc["main.new"]

    assert row["flat_low"] <= row["flat"] - UNSEEN_SIGHTINGS * RATE


def test_a_scaled_side_has_no_intervals(profiles):
    after, before = profiles
    difference = after.diff(before, normalize=True)

    answer = top_difference(difference, after, before, "inuse_space", normalized=True)

    assert NORMALIZED == answer.note
    assert answer.top[["flat_low", "cum_high", "flat_state"]].isna().all(axis=None)


def test_the_columns_are_the_same_without_rows():
    empty = heap()

    top = top_difference(empty.diff(empty), empty, empty).top

    assert [column.name for column in DIFFERENCES] == list(top.columns)
