"""Allocation sites: pprof's numbers, and intervals that hold the truth as often as they say."""

from pathlib import Path

import numpy as np
import pytest

from gomem.analysis.allocations import (
    SITES,
    Sampling,
    interval,
    sampling_of,
    top_sites,
)
from gomem.formats.pprof import parse_pprof
from gomem.read import read_pprof
from gomem.tables.pprof import Profile
from tests.pprof_messages import field, function, location, message, packed, strings

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
HEAPS = sorted([*CAPTURES.glob("*/*/heap.pb.gz"), *CAPTURES.glob("*/*/allocs.pb.gz")])
LOADED = CAPTURES / "zeroing-go1.27.3" / "2-loaded" / "heap.pb.gz"

RATE = 512 * 1024
TEXTS = (
    *("", "alloc_objects", "count", "alloc_space", "bytes"),
    *("inuse_objects", "inuse_space", "space", "main.leaf", "main.root"),
)
RUNS = 2_000


def scale(size, rate=RATE):
    return 1 / (1 - np.exp(-size / rate))


def bucket(objects, space, *, size=None):
    """A sample with the same numbers for alloc and inuse, of `main.leaf` called by `main.root`."""
    label = message(3, field(1, 4), field(3, size)) if size else b""
    values = packed(2, objects, space, objects, space)
    return message(2, packed(1, 1, 2), values, label)


def seen(count, size, *, labelled=True):
    """The bucket that Go writes when it has seen so many objects of a size."""
    objects, space = int(count * scale(size)), int(count * size * scale(size))
    return bucket(objects, space, size=size if labelled else None)


def heap(*buckets, rate=RATE, period_type=True):
    types = ((1, 2), (3, 4), (5, 2), (6, 4))
    head = b"".join(message(1, field(1, one), field(2, unit)) for one, unit in types)
    if period_type:
        head += message(11, field(1, 7), field(2, 4))
    code = location(1, 1) + location(2, 2) + function(1, 8, file=0) + function(2, 9, file=0)
    raw = head + field(12, rate) + b"".join(buckets) + code + strings(*TEXTS)
    return Profile("heap.pb", parse_pprof(raw, source="heap.pb")[0])


def row(sites, name="main.leaf"):
    return sites.top.set_index("function").loc[name]


@pytest.mark.parametrize("path", HEAPS, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_recorded_heap_profile_gives_its_counts_back(path):
    """
    From Go 1.9, whose label is no exact size, to 1.27: each number has its interval around it.
    """
    profile = read_pprof(path)

    for sample_type in profile.sample_type_names:
        sites = top_sites(profile, sample_type)
        shown = sites.top[sites.top["flat"] != 0]
        assert "" == sites.note
        assert (shown["flat_low"] <= shown["flat"]).all()
        assert (shown["flat"] <= shown["flat_high"]).all()
        assert (sites.top["cum_low"] <= sites.top["cum"]).all()


def test_the_numbers_are_those_of_top():
    profile = read_pprof(LOADED)

    sites = top_sites(profile, "alloc_space", 5, cum=True)

    expected = profile.top("alloc_space", cum=True, n=5)
    assert expected.to_dict("list") == sites.top[list(expected.columns)].to_dict("list")
    assert profile.total("alloc_space") == sites.total


def test_the_large_buffers_of_a_recording_are_known_almost_exactly():
    """
    20 buffers of 8 MiB, each seen with a probability of 1 - exp(-16): the program made 20.
    """
    largest = row(top_sites(read_pprof(LOADED), "inuse_space"), "main.newTable")

    made = 20 * 8 * 1024 * 1024
    assert largest["flat_low"] <= made <= largest["flat_high"]
    assert largest["flat_high"] - largest["flat_low"] < made / 1000


def test_an_interval_by_hand():
    """
    4 objects of 512 KiB seen at that rate: p = 1 - 1/e, so 4 / p = 6.328 stand in the profile.

    w = 1/p - 1 = 0.5820; z²w/2 = 1.1178; z sqrt(w 6.328 + (z w / 2)²) = 3.9233 around 7.4457:
    3.52 to 11.37, and 4 were seen.
    """
    estimate = 4 * scale(RATE)
    variance = estimate * (scale(RATE) - 1)

    low, high = interval(*(np.array([one]) for one in (estimate, variance, 4.0)))

    assert [4.0, 11.37] == [round(low[0], 2), round(high[0], 2)]


@pytest.mark.parametrize("size", [96, 4096, 300_000, 1 << 20])
@pytest.mark.parametrize("expected_seen", [3, 10, 100])
def test_the_truth_is_inside_in_95_of_100_samplings(size, expected_seen):
    """
    A known number of objects, sampled anew each time as Go's runtime samples them. Runs in which
    nothing was seen are left out: there is no row, hence no interval, that could hold the truth.
    """
    truth = round(expected_seen * scale(size))
    counts = np.random.default_rng(size + expected_seen).binomial(truth, 1 / scale(size), RUNS)
    counts = counts[counts > 0].astype(float)

    low, high = interval(
        counts * size * scale(size),
        counts * size**2 * scale(size) * (scale(size) - 1),
        counts * size,
    )

    inside = np.mean((low <= truth * size) & (truth * size <= high))
    assert 0.92 <= inside <= 0.98


def test_the_truth_is_inside_for_a_site_of_many_sizes():
    sizes = np.array([32.0, 1024.0, 65536.0, 1 << 20])
    truth = np.array([100_000, 8_000, 60, 5])
    random = np.random.default_rng(7)
    counts = random.binomial(truth, 1 / scale(sizes), (RUNS, 4)).astype(float)

    low, high = interval(
        (counts * sizes * scale(sizes)).sum(axis=1),
        (counts * sizes**2 * scale(sizes) * (scale(sizes) - 1)).sum(axis=1),
        (counts * sizes).sum(axis=1),
    )

    bytes_made = float((truth * sizes).sum())
    assert 0.92 <= np.mean((low <= bytes_made) & (bytes_made <= high)) <= 0.98


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


def test_a_label_that_is_only_a_quotient_is_seen_through():
    """
    Go 1.9 to 1.11 write scaled bytes by scaled objects, both cut: 1 MiB seen once is
    1 object of 1048576 × 1.1565 = 1212696 bytes.
    """
    objects, space = int(scale(1 << 20)), int((1 << 20) * scale(1 << 20))
    profile = heap(bucket(objects, space, size=space // objects))

    sampling = sampling_of(profile, "inuse_space")

    assert 1212696 == space // objects
    assert [1 << 20] == sampling.seen.tolist()


def test_the_interval_of_a_caller_covers_all_that_it_called():
    """
    Variances add up, so a sum is surer than its parts; flat of the caller was never seen.
    """
    sites = top_sites(heap(seen(9, 4096), seen(9, 8192)), "inuse_space")

    assert row(sites)["flat"] == row(sites, "main.root")["cum"]
    assert row(sites)["flat_low"] == row(sites, "main.root")["cum_low"]
    assert [True, True] == row(sites, "main.root")[["flat_low", "flat_high"]].isna().tolist()


def test_no_interval_begins_below_what_was_seen():
    """
    One object of 1 MiB was seen: it is there.
    """
    assert 1 << 20 == row(top_sites(heap(seen(1, 1 << 20))))["flat_low"]


@pytest.mark.parametrize(
    ("profile", "note"),
    [
        pytest.param(heap(bucket(3, 300), rate=1), "every allocation was recorded", id="rate 1"),
        pytest.param(
            heap(seen(1, 64), period_type=False), "does not say at which rate", id="no period type"
        ),
        pytest.param(
            heap(bucket(3, 300, size=100)), "1 of 1 samples are not what Go's", id="other producer"
        ),
        pytest.param(
            heap(bucket(-5462, -524336, size=96)), "the difference of two", id="delta profile"
        ),
    ],
)
def test_where_the_counts_are_lost_there_is_a_reason_and_no_interval(profile, note):
    sites = top_sites(profile, "inuse_space")

    bounds = ["flat_low", "flat_high", "cum_low", "cum_high"]
    assert note in sites.note
    assert sites.top[bounds].isna().all(axis=None)


def test_a_goroutine_profile_has_no_intervals():
    sites = top_sites(read_pprof(LOADED.with_name("goroutine.pb.gz")))

    assert "a goroutine profile is not sampled by allocated bytes" == sites.note


def test_the_sites_of_an_empty_profile_have_the_same_columns():
    sites = top_sites(heap())

    assert [(column.name, column.dtype) for column in SITES] == [
        (name, str(dtype)) for name, dtype in sites.top.dtypes.items()
    ]
    assert 0 == sites.total
