"""The tree of calls: every byte in one place, callers as wide as their calls, two in one."""

import numpy as np
import pytest

from gomem.analysis.profiles.call_tree import FRAMES, call_tree
from gomem.analysis.profiles.changes import profile_changes
from gomem.inputs.pprof.read import read_pprof
from tests.builders import FIXTURES, diagnosed
from tests.heap_profiles import bucket, heap, seen, stack

CAPTURES = FIXTURES / "captures"
HEAPS = sorted(CAPTURES.glob("*/*/heap.pb.gz"))
LOADED = CAPTURES / "alloc-pressure-before-go1.27.3" / "2-loaded" / "heap.pb.gz"
NAMES = ("main.leaf", "main.root", "main.other")


def by_name(tree):
    return tree.frames.set_index("name")


@pytest.mark.parametrize("path", HEAPS, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_all_frames_together_have_what_top_says(path):
    """
    Two ways, one number: what each function has of its own, whoever called it, and the total.
    """
    profile = read_pprof(path)

    tree = call_tree(profile, "alloc_space", least_width=0.0)

    flat = profile.top("alloc_space").set_index("function")["flat"]
    own = tree.frames.groupby("name")["own"].sum()
    assert flat[flat != 0].to_dict() == own[own != 0].to_dict()
    assert profile.total("alloc_space") == tree.frames["value"].iloc[0]


def test_a_caller_is_as_wide_as_its_calls_and_its_own():
    frames = call_tree(read_pprof(LOADED), "alloc_space").frames
    calls = frames[frames["parent"] >= 0].groupby("parent")

    below = calls["value"].sum().reindex(frames.index, fill_value=0.0)
    assert list(frames["value"]) == list(below + frames["own"] + frames["hidden"])
    callers = frames.iloc[frames.loc[1:, "parent"]]
    right = frames["start"] + frames["width"]
    assert (frames.loc[1:, "start"].to_numpy() >= callers["start"].to_numpy()).all()
    assert (right[1:].to_numpy() <= right[callers.index].to_numpy() + 1e-12).all()


def test_frames_side_by_side_do_not_overlap():
    frames = call_tree(read_pprof(LOADED), "alloc_space", least_width=0.0).frames

    for _, row in frames.groupby("depth"):
        ordered = row.sort_values("start")
        ends = (ordered["start"] + ordered["width"]).to_numpy()
        assert (ordered["start"].to_numpy()[1:] >= ends[:-1] - 1e-12).all()


def test_an_interval_is_that_of_top():
    """
    9 objects of 4 KiB and 9 of 8 KiB in one function, called by one other.
    """
    tree = by_name(call_tree(heap(seen(9, 4096), seen(9, 8192)), "inuse_space"))

    assert tree.loc["main.leaf", "low"] == tree.loc["main.root", "low"]
    assert tree.loc["main.leaf", "low"] < tree.loc["main.leaf", "value"]
    assert tree.loc["main.leaf", "value"] < tree.loc["main.leaf", "high"]


def test_what_is_too_narrow_is_counted_in_its_caller():
    """
    1 sighting beside 999: below a hundredth.
    """
    profile = heap(seen(999, 64), seen(1, 64, leaf=3), names=NAMES)

    tree = by_name(call_tree(profile, "inuse_space", least_width=0.01))

    assert "main.other" not in tree.index
    assert (
        tree.loc["all", "value"] - tree.loc["main.leaf", "value"] == tree.loc["main.root", "hidden"]
    )


@pytest.mark.parametrize(("others", "shown"), [(900, True), (1100, False)])
def test_a_frame_is_drawn_from_a_thousandth_of_the_whole_on(others, shown):
    profile = heap(seen(others, 64), seen(1, 64, leaf=3), names=NAMES)

    assert shown == ("main.other" in by_name(call_tree(profile, "inuse_space")).index)


def test_a_single_object_has_its_frames():
    tree = by_name(call_tree(heap(bucket(1, 100), rate=1), "inuse_objects"))

    assert [1, 1] == tree.loc[["main.root", "main.leaf"], "value"].tolist()


@pytest.mark.parametrize(("calls", "depth"), [(127, 127), (128, 128), (129, 128)])
def test_a_stack_is_as_deep_as_go_writes_one(calls, depth):
    deep = stack(*[1] * (calls - 1), 2)

    assert depth == call_tree(heap(deep), "inuse_space").frames["depth"].max()


def test_of_two_profiles_what_vanished_keeps_its_place():
    """
    10 sightings in main.leaf before, 30 in main.other after: together as wide as 40.
    """
    before = heap(seen(10, 64), names=NAMES)
    after = heap(seen(30, 64, leaf=3), names=NAMES)

    tree = by_name(call_tree(after, "inuse_space", before))

    assert [0.25, 0.75] == list(tree.loc[["main.leaf", "main.other"], "width"].round(9))
    assert [0.0, before.total("inuse_space")] == list(tree.loc["main.leaf", ["value", "before"]])
    assert tree.loc["main.leaf", "change_high"] < 0 < tree.loc["main.other", "change_low"]


def test_the_interval_of_a_frame_that_vanished_or_appeared_is_that_of_its_site():
    """
    Of what a profile does not show it may have as much as is not seen.
    """
    before, after = (heap(seen(10 + n, 64, leaf=n), names=NAMES) for n in (1, 3))

    frames = by_name(call_tree(after, "inuse_space", before))
    sites = profile_changes(before, after, "inuse_space").sites.set_index("function")

    for name in ("main.leaf", "main.other"):
        ends = frames.loc[name, ["change_low", "change_high"]].tolist()
        assert sites.loc[name, ["low", "high"]].tolist() == pytest.approx(ends)


def test_a_profile_against_itself_has_not_changed():
    frames = call_tree(read_pprof(LOADED), "alloc_space", read_pprof(LOADED)).frames

    assert [0.0] == list(frames["change"].unique())
    sampled = frames.dropna(subset=["change_low"])
    assert ((sampled["change_low"] <= 0) & (sampled["change_high"] >= 0)).all()


def test_an_empty_profile_is_one_frame():
    frames = call_tree(heap(), "inuse_space").frames

    assert [("all", 0.0)] == list(zip(frames["name"], frames["value"], strict=True))
    assert [column.name for column in FRAMES] == list(frames.columns)


def test_a_goroutine_profile_has_a_tree_and_no_intervals():
    profile = read_pprof(LOADED.with_name("goroutine.pb.gz"))

    tree = call_tree(profile)

    assert profile.total() == tree.frames["value"].iloc[0]
    assert np.isnan(tree.frames["low"]).all()
    assert "a goroutine profile is not sampled by allocated bytes" == tree.note


def test_a_profile_of_an_unknown_kind_has_no_name_in_the_note():
    diagnosis = diagnosed(CAPTURES / "healthy-go1.27.3")

    tree = diagnosis.facts.rss_tree(list(diagnosis.by_moment)[-1])

    assert "this profile is not sampled by allocated bytes" == tree.note
