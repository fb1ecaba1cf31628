"""The interval that stands out, and who allocated in it: differences of alloc_*, not levels."""

import pandas as pd
import pytest

from gomem.analysis.profiles.allocation_spikes import find_spike, intervals_of
from tests.builders import FIXTURES, diagnosed

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
BOMB = 48 << 20  # what one upload unpacks to; three at a time


@pytest.fixture(scope="module")
def capture():
    return diagnosed(SPIKY).capture


@pytest.fixture(scope="module")
def scraped(capture):
    return {moment: by_kind["heap"] for moment, by_kind in capture.profiles.items()}


def test_the_intervals_have_all_that_was_allocated(scraped):
    """
    No byte is lost or counted twice: they sum to last less first.
    """
    intervals = intervals_of(scraped)

    first, last = intervals["before"].iloc[0], intervals["after"].iloc[-1]
    allocated = scraped[last].total("alloc_space") - scraped[first].total("alloc_space")
    assert allocated == intervals["allocated_bytes"].sum()


def test_what_the_profiles_add_is_what_memstats_add(capture, scraped):
    """
    Two sources, one number: TotalAlloc counts every byte, the profiles one in 524 288. A profile is
    renewed by collections, so it runs behind by what was allocated since: a few per cent.
    """
    intervals = intervals_of(scraped)
    total = capture.memstats.set_index("moment")["TotalAlloc"]

    last = intervals["after"].iloc[-1]
    counted = total[last] - total["scrape-00"]
    assert pytest.approx(float(counted), rel=0.15) == intervals["allocated_bytes"].sum()


def test_the_spike_is_what_was_unpacked(scraped):
    """
    Three attackers at once, each with 48 MiB for the body alone, in use no longer when the profile
    was taken: the level says 0, the difference tells.
    """
    spike = find_spike(scraped)

    largest = spike.allocated.iloc[0]
    assert ("io.ReadAll", "more") == (largest["function"], largest["state"])
    assert 3 * BOMB <= largest["bytes"]
    assert 0.9 <= largest["extra_bytes"] / spike.extra_bytes
    in_use = spike.in_use.sites.set_index("function")
    assert 0 == in_use.loc["io.ReadAll", "after"]


def test_a_difference_is_not_a_level(scraped):
    """
    What is in use at the later moment has its whole level in `after`, and the sites that were
    allocating steadily are not extra.
    """
    spike = find_spike(scraped)

    later = scraped[spike.after]
    assert later.total("inuse_space") == spike.in_use.sites["after"].sum()
    steady = spike.allocated.set_index("function").loc["main.collectBatch"]
    assert "~" == steady["state"]


def test_a_time_means_the_first_profile_from_then_on(scraped):
    """
    A profile cannot have what was allocated after it was taken.
    """
    time = scraped["scrape-09"].time + pd.Timedelta(seconds=0.1)

    assert "scrape-10" == find_spike(scraped, time).after
    assert "scrape-10" == find_spike(scraped, "scrape-10").after


def test_a_diagnosis_is_asked_for_a_moment(scraped):
    """
    Of a moment its own interval; without one that which stands out.
    """
    diagnosis = diagnosed(SPIKY)

    quiet, highest = diagnosis.spike("scrape-02"), diagnosis.spike()

    assert ("scrape-02", find_spike(scraped).after) == (quiet.after, highest.after)
    assert quiet.extra_bytes < highest.extra_bytes


def test_one_profile_has_no_spike(scraped):
    assert find_spike({"only": scraped["scrape-05"]}) is None
