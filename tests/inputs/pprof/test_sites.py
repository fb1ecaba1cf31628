"""Allocation sites: pprof's numbers, and intervals that hold the truth as often as they say."""

import pytest

from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.pprof.sites import SITES, top_sites
from gomem.inputs.schema import columns
from tests.builders import FIXTURES
from tests.heap_profiles import bucket, heap, scale, seen

CAPTURES = FIXTURES / "captures"
HEAPS = sorted([*CAPTURES.glob("*/*/heap.pb.gz"), *CAPTURES.glob("*/*/allocs.pb.gz")])
LOADED = CAPTURES / "zeroing-go1.27.3" / "2-loaded" / "heap.pb.gz"


def row(sites, name="main.leaf"):
    return sites.top.set_index("function").loc[name]


@pytest.mark.at_most(20)
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


def test_the_numbers_of_top_have_the_unit_of_what_is_counted():
    profile = read_pprof(LOADED)

    for sample_type, unit in {"alloc_space": "B", "alloc_objects": "count"}.items():
        units = columns(profile.top(sample_type)).set_index("column")["unit"]
        assert {unit} == set(units[["flat", "flat_low", "flat_high", "cum", "cum_low"]])


def test_a_difference_has_no_intervals_even_where_everything_grew():
    """
    What was seen in each of the two is lost in what is left.
    """
    once = heap(seen(1, 1 << 20))
    twice = heap(seen(2, 1 << 20))

    grown = twice.diff(once)

    assert 0 < grown.top("inuse_space")["flat"].iloc[0]
    assert grown.top("inuse_space")[["flat_low", "cum_high"]].isna().all(axis=None)
    assert "difference of two" in top_sites(grown, "inuse_space").note
    assert 0 < once.top("inuse_space")["flat_low"].iloc[0]


def test_the_large_buffers_of_a_recording_are_known_almost_exactly():
    """
    20 buffers of 8 MiB, each seen with a probability of 1 - exp(-16): the program made 20.
    """
    largest = row(top_sites(read_pprof(LOADED), "inuse_space"), "main.newTable")

    made = 20 * 8 * 1024 * 1024
    assert largest["flat_low"] <= made <= largest["flat_high"]
    assert largest["flat_high"] - largest["flat_low"] < made / 1000


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
        pytest.param(heap(bucket(3, 300), rate=0), "does not state its sampling rate", id="rate 0"),
        pytest.param(heap(bucket(3, 300), rate=1), "every allocation was recorded", id="rate 1"),
        pytest.param(
            heap(seen(1, 64), period_type=False),
            "does not state its sampling rate",
            id="no period type",
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


@pytest.mark.parametrize("name", ["heap.pb.gz", "goroutine.pb.gz"])
def test_rows_say_what_the_frame_says(name):
    """
    The frame's `<NA>` is None, and its numbers are plain ones.
    """
    sites = top_sites(read_pprof(LOADED.with_name(name)))

    rows = list(sites.rows())

    frame = sites.top.astype(object).where(sites.top.notna(), None)
    assert frame.to_dict("records") == rows
    assert [column.name for column in SITES] == list(sites.column_names) == list(rows[0])
