"""What was seen is had back from a profile, and its intervals hold the truth."""

import numpy as np
import pytest

from gomem.analysis.profiles.changes import profile_changes
from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.pprof.sites import top_sites
from gomem.statistics.sampling import Sampling
from tests.heap_profiles import MADE, bounds, heap, sampled_program, seen
from tests.pprof_messages import field, message, packed

RUNS = 200


@pytest.fixture(scope="module")
def sampled():
    """The heap profiles of so many runs of one program."""
    return [sampled_program(run) for run in range(RUNS)]


def test_of_a_whole_program_95_of_100_intervals_hold(sampled):
    """
    A program of known bytes at 40 sites, its profile written anew 200 times as Go writes it, read
    back, and every row of flat and cum held against the truth.
    """
    shown = inside = 0
    for profile in sampled:
        top = top_sites(profile, "inuse_space").top.set_index("function")
        flat = top[top["flat"] > 0]
        truth = MADE.reindex(flat.index)
        shown += len(flat) + 1
        inside += ((flat["flat_low"] <= truth) & (truth <= flat["flat_high"])).sum()
        root = top.loc["main.root"]
        inside += root["cum_low"] <= MADE.sum() <= root["cum_high"]

    assert 0.92 <= inside / shown <= 0.98


def test_of_differences_95_of_100_intervals_hold(sampled):
    """
    Two samplings of one program: nothing changed, so 0 is inside, and the row says `~`. With
    twice the bytes at one site, that change is inside.
    """
    shown = inside = held = 0
    for run, before in enumerate(sampled, start=RUNS):
        after = sampled_program(run, doubled="main.site30")
        changes = profile_changes(before, after, "inuse_space").sites.set_index("function")
        grown = changes.loc["main.site30"]
        held += grown["low"] <= MADE["main.site30"] <= grown["high"]
        same = changes.drop("main.site30")
        shown += len(same)
        inside += (same["state"] == "~").sum()

    assert 0.92 <= held / RUNS <= 0.985
    assert 0.92 <= inside / shown <= 1.0


def test_what_one_process_allocated_between_two_profiles_is_a_sample_of_its_own():
    """
    100 sightings before, 110 after: the 10 between have the interval of 10 sightings,
    although 110 - 100 of two processes would be noise.
    """
    before, after = heap(seen(100, 4096)), heap(seen(110, 4096))

    of_one = profile_changes(before, after, "alloc_space", one_process=True).sites.iloc[0]
    of_two = profile_changes(before, after, "alloc_space").sites.iloc[0]

    low, high = bounds(np.array([[10]]), [4096])
    assert pytest.approx([low[0], high[0]], rel=1e-4) == [of_one["low"], of_one["high"]]
    assert ["grew", "~"] == [of_one["state"], of_two["state"]]


@pytest.mark.parametrize("labelled", [True, False], ids=["label", "no label"])
@pytest.mark.parametrize("count", [1, 2, 7, 500])
@pytest.mark.parametrize("size", [16, 96, 4096, 327_680, 1 << 20, 1 << 25])
def test_what_was_seen_is_had_back(size, count, labelled):
    """
    Also without the label of the exact size, from two numbers that were cut to whole ones.
    """
    profile = heap(seen(count, size, labelled=labelled))

    sampling = sampling_of(profile, "inuse_objects")

    assert isinstance(sampling, Sampling)
    assert [count] == sampling.seen.tolist()


def test_a_size_of_0_is_none():
    """
    Then the two numbers alone say what was seen: one object of 320 KiB stands for 2.152 of them
    and 705,084 B.
    """
    of_size_0 = message(3, field(1, 4), field(3, 0))
    values = packed(2, 2, 705_084, 2, 705_084)
    profile = heap(message(2, packed(1, 1, 2), values, of_size_0))

    sampling = sampling_of(profile, "inuse_space")

    assert isinstance(sampling, Sampling)
    assert [327_680] == sampling.seen.tolist()
