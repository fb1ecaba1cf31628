"""Allocation sites of two sampled profiles."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.profiles.changes import (
    SITES,
    compare_site_runs,
    compare_sites,
    is_exact,
    profile_changes,
    unseen_high,
    unseen_in,
)
from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.table import Profile
from tests.heap_profiles import heap, seen
from tests.pprof_messages import field, message, packed, strings


def sites(**flat_low_high):
    """Sites by name: flat value and interval."""
    rows = [(name, *values) for name, values in flat_low_high.items()]
    return pd.DataFrame(rows, columns=["function", "flat", "flat_low", "flat_high"])


def states(changes):
    return dict(zip(changes["function"], changes["state"], strict=True))


def test_the_interval_of_a_change_by_hand():
    """
    100 [90, 113] becomes 200 [196, 205]: down by the root of 4^2 + 13^2, up by that of 5^2 + 10^2.
    """
    row = compare_sites(sites(fill=(100, 90, 113)), sites(fill=(200, 196, 205))).iloc[0]

    assert (100, 200, 100) == (row["before"], row["after"], row["change"])
    assert (100 - (4**2 + 13**2) ** 0.5, 100 + (5**2 + 10**2) ** 0.5) == pytest.approx(
        (row["low"], row["high"])
    )


def test_the_interval_of_a_change_of_means_by_hand():
    """
    Two runs a side. 90 and 110, each by 6 and 8 up and 8 and 6 down, are 100 [95, 105]: half of the
    root of 6^2 + 8^2. 300 [295, 305] likewise; so the change is 200, by the root of 5^2 + 5^2.
    """
    before = [sites(fill=(90, 82, 96)), sites(fill=(110, 104, 118))]
    after = [sites(fill=(290, 282, 296)), sites(fill=(310, 304, 318))]

    row = compare_site_runs(before, after, [0.0, 0.0], [0.0, 0.0]).iloc[0]

    assert (100, 300, 200) == (row["before"], row["after"], row["change"])
    assert (200 - 50**0.5, 200 + 50**0.5) == pytest.approx((row["low"], row["high"]))


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        pytest.param((100, 90, 110), (200, 190, 210), "grew", id="grew"),
        pytest.param((200, 190, 210), (100, 90, 110), "shrank", id="shrank"),
        pytest.param((100, 50, 150), (120, 70, 170), "~", id="within-noise"),
        pytest.param((0, 0, 5), (100, 90, 110), "grew", id="shown-with-nothing"),
    ],
)
def test_a_site_changed_if_its_interval_leaves_zero_out(before, after, state):
    assert {"fill": state} == states(compare_sites(sites(fill=before), sites(fill=after)))


def test_a_site_of_one_side_is_new_or_gone():
    before, after = sites(old=(100, 90, 110)), sites(new=(100, 90, 110))

    assert {"old": "gone", "new": "new"} == states(compare_sites(before, after))


def test_a_site_that_sampling_may_have_missed_is_neither_new_nor_gone():
    """
    One sample of 512 KiB means little where a site that is not shown may still have 1.9 MiB.
    """
    before, after = sites(old=(524288, 13274, 2921103)), sites(new=(524288, 13274, 2921103))

    changes = compare_sites(before, after, before_unseen_high=1934000, after_unseen_high=1934000)

    assert {"old": "~", "new": "~"} == states(changes)


def test_what_sampling_may_miss_is_the_rate_times_the_logarithm():
    """
    Of bytes so many, nothing is sampled with probability exp(-bytes / rate): at 2.5 % that is
    3.689 times the rate, and as many objects as that makes.
    """
    sizes = pd.Series({"small": 16.0, "large": 1 << 20, "unknown": None, "empty": 0.0})

    assert pytest.approx(3.688879 * 524288) == unseen_high(524288)
    assert pytest.approx([120877.2, 1.844440], rel=1e-6) == list(unseen_high(524288, sizes)[:2])
    assert unseen_high(524288, sizes)[["unknown", "empty"]].isna().all()
    assert pd.isna(unseen_high(None))


def test_what_may_be_unseen_can_differ_from_site_to_site():
    """
    Without a bound there is no claim.
    """
    after = sites(a=(100, 90, 110), b=(100, 90, 110), c=(100, 90, 110))
    unseen = pd.Series({"a": 5.0, "b": 500.0})

    changes = compare_sites(sites(), after, before_unseen_high=unseen)

    assert {"a": "new", "b": "~", "c": "~"} == states(changes)


def test_an_unknown_interval_claims_nothing():
    row = compare_sites(sites(fill=(1, None, None)), sites(fill=(900, 890, 910))).iloc[0]

    assert (899, "~") == (row["change"], row["state"])
    assert {pd.NA} == {row["low"], row["high"]}


def test_the_largest_change_comes_first():
    before = sites(a=(1, 1, 1), b=(100, 100, 100), c=(1, 1, 1))
    after = sites(a=(2, 2, 2), b=(10, 10, 10), c=(2, 2, 2))

    assert ["b", "a", "c"] == compare_sites(before, after)["function"].tolist()


def test_a_function_that_stands_twice_is_the_callers_mistake():
    twice = pd.concat([sites(fill=(1, 1, 1))] * 2)

    with pytest.raises(ValueError, match="function 'fill' stands in one profile twice"):
        compare_sites(twice, sites())


@pytest.mark.parametrize("side", [sites(), sites(fill=(1, 1, 1))], ids=["empty", "full"])
def test_columns_and_types_do_not_depend_on_the_profiles(side):
    dtypes = compare_sites(side, side).dtypes

    assert {column.name: column.dtype for column in SITES} == dtypes.astype(str).to_dict()


values = st.lists(st.integers(0, 10**12), min_size=3, max_size=3).map(sorted)
profiles = st.dictionaries(st.sampled_from("abcdef"), values).map(
    lambda found: sites(**{name: (flat, low, high) for name, (low, flat, high) in found.items()})
)


@given(profiles, profiles)
def test_there_and_back_changes_sign(before, after):
    """
    The changes add up to the change of the totals, and reversed they are the same, negated.
    """
    there = compare_sites(before, after).set_index("function")
    back = compare_sites(after, before).set_index("function").reindex(there.index)

    assert after["flat"].sum() - before["flat"].sum() == there["change"].sum()
    pd.testing.assert_series_equal(there["change"], -back["change"])
    pd.testing.assert_series_equal(there["low"], -back["high"], check_names=False)


@given(profiles)
def test_compared_with_itself_no_site_has_changed(profile):
    assert {"~"} >= set(compare_sites(profile, profile)["state"])


def test_a_site_that_cannot_be_missed_is_new_as_soon_as_its_interval_leaves_zero_out():
    """
    From 0.5 to 2 is more than nothing, where nothing may be unseen.
    """
    assert {"fill": "new"} == states(compare_sites(sites(), sites(fill=(1, 0.5, 2))))
    assert {"fill": "gone"} == states(compare_sites(sites(fill=(1, 0.5, 2)), sites()))


def test_a_change_whose_interval_ends_at_zero_may_be_none():
    after = compare_sites(sites(), sites(fill=(1, 1, 1)), before_unseen_high=1.0)
    before = compare_sites(sites(fill=(1, 1, 1)), sites(), after_unseen_high=1.0)

    assert (0.0, "~") == (after["low"][0], after["state"][0])
    assert (0.0, "~") == (before["high"][0], before["state"][0])


NAMES = ("main.leaf", "main.root", "main.other", "main.third")


def test_what_one_process_allocated_more_is_new_where_there_was_nothing():
    """
    Its counts only grow: sightings that came are more, however few.
    """
    before = heap(seen(9, 64), seen(5, 64, leaf=4), names=NAMES)
    after = heap(seen(10, 64), seen(1, 64, leaf=3), seen(5, 64, leaf=4), names=NAMES)

    found = profile_changes(before, after, "alloc_space", one_process=True)

    wanted = {"main.leaf": "grew", "main.other": "new", "main.third": "~"}
    assert wanted == states(found.sites)
    still = found.sites.set_index("function").loc["main.third"]
    assert (0.0, pytest.approx(unseen_high(524288))) == (still["low"], still["high"])


def test_from_an_exact_profile_to_a_sampled_one_the_change_has_no_interval():
    found = profile_changes(heap(seen(9, 64), rate=1), heap(seen(99, 64)), "alloc_space",
                            one_process=True)  # fmt: skip

    row = found.sites.iloc[0]
    assert row["change"] == row["low"] == row["high"]


def test_only_a_rate_of_one_records_every_allocation():
    assert [True, False, False] == [
        is_exact(one) for one in (heap(rate=1), heap(rate=2), heap(rate=1, period_type=False))
    ]


def counts_alone():
    """A profile that counts objects and not their bytes."""
    raw = message(1, field(1, 1), field(2, 2)) + message(2, packed(1), packed(2, 7))
    raw += message(11, field(1, 3), field(2, 4)) + field(12, 524288)
    text = strings("", "alloc_objects", "count", "space", "bytes")
    return Profile("counts.pb", parse_pprof(raw + text, source="counts.pb")[0])


def test_what_may_be_unseen_of_objects_needs_their_sizes():
    """
    3.689 times the rate in bytes, which is 8 objects of 64 KiB: 29.5 of them.
    """
    sampled = heap(seen(40, 65536))

    assert pytest.approx(3.688879 * 524288) == unseen_in(sampled, sampled, "alloc_space")
    of_objects = unseen_in(sampled, sampled, "alloc_objects")
    assert pytest.approx(29.5, rel=0.01) == of_objects["main.leaf"]
    assert pd.isna(unseen_in(sampled, counts_alone(), "alloc_objects"))
    assert 0.0 == unseen_in(heap(rate=1), sampled, "alloc_objects")
