"""Mean lifetimes: against programs that know them, and by hand."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.analysis.profiles.lifetimes import OWN, Lifetimes, lifetimes
from gomem.statistics.sampling import UNSEEN_SIGHTINGS
from tests.builders import FIXTURES
from tests.heap_profiles import RATE, heap, turned_over

FOLDER = FIXTURES / "lifetimes"
TRUTH = json.loads((FOLDER / "truth.json").read_text())
KEPT = {"main.cache", "main.leak"}  # never dropped
SECOND = 10**9


@pytest.fixture(scope="module", params=sorted(TRUTH))
def recorded(request):
    """A recording, and the true mean lifetime of each of its sites that end."""
    diagnosis = gomem.diagnose(FOLDER / f"{request.param}.tar.gz")
    sites = TRUTH[request.param].items()
    true = {name: row["lived_seconds"] / row["dropped"] for name, row in sites if row["dropped"]}
    return diagnosis.facts, pd.Series(true)


def holds(sites, true):
    """How many of the intervals hold the truth."""
    rows = sites.set_index("function").loc[true.index]
    low, high = (
        rows[end].to_numpy(float, na_value=missing)
        for end, missing in (("lifetime_low", 0.0), ("lifetime_high", math.inf))
    )
    return int(((low <= true) & (true <= high)).sum())


def test_intervals_hold_the_true_mean_lifetime(recorded):
    facts, true = recorded

    assert 11 == len(true)
    assert holds(facts.lifetimes.sites, true) == len(true)


@pytest.mark.parametrize("places", [(0, -1), (2, 5, 8), (0, 4, 9, 13)])
def test_a_few_profiles_without_a_log_tell_less_and_nothing_wrong(recorded, places):
    facts, true = recorded
    everything = [*facts.profiles.of_last_process.items()]

    found = lifetimes(dict(everything[place] for place in places))

    assert len(places) == found.profiles
    assert holds(found.sites, true) >= 0.95 * len(true)


def test_intervals_are_narrow_enough_to_part_classes(recorded):
    """
    A second is not a millisecond: the site with most in use has an interval of less than a decade.
    """
    facts, true = recorded
    row = facts.lifetimes.sites.set_index("function").loc["main.fixed1s"]

    assert row["lifetime_high"] / row["lifetime_low"] < 4
    assert row["lifetime_seconds"] == pytest.approx(true["main.fixed1s"], rel=0.5)


def test_what_is_never_dropped_lives_for_ever(recorded):
    facts, _ = recorded
    sites = facts.lifetimes.sites.set_index("function")

    assert {"kept"} == set(sites.loc[sorted(KEPT), "life"])
    assert sites.loc[sorted(KEPT), "lifetime_high"].isna().all()
    assert "main.leak" in set(facts.lifetimes.aging["function"])
    assert not KEPT & set(facts.lifetimes.pooling["function"])


def test_pools_pay_where_much_is_allocated_and_dropped(recorded):
    facts, true = recorded
    pooling = set(facts.lifetimes.pooling["function"])

    assert {"main.fixed1s", "main.random50ms", "main.fixed5ms"} <= pooling
    assert pooling <= set(true.index)


def of(allocated, in_use, at_seconds, size=64):
    """A profile of one site, of so many objects that were sampled."""
    profile = heap(turned_over(allocated, in_use, size))
    return replace(profile, columns=replace(profile.columns, time_nanos=round(at_seconds * SECOND)))


def only_site(*profiles, **known):
    found = lifetimes({f"{n}": profile for n, profile in enumerate(profiles)}, **known)
    return found.sites.iloc[0]


def test_little_by_hand():
    """
    400 objects in use of 10 000 allocated in 50 s, that is 200 a second: 2 s each.
    """
    row = only_site(of(500, 400, 1), of(10_500, 400, 51), collection_seconds=0.1)

    assert row["lifetime_seconds"] == pytest.approx(2.0, rel=1e-3)
    assert row["lifetime_low"] < 2.0 < row["lifetime_high"]
    assert row["freed_fraction"] == pytest.approx(1.0)
    assert "medium-lived" == row["life"]


def test_an_age_grows_as_the_watch_does():
    """
    All is kept: twice the watch, twice the age, and no upper end.
    """
    profiles = [of(100 * n, 100 * n, 10 * n) for n in range(1, 6)]
    short, long = only_site(*profiles[:3]), only_site(*profiles)

    assert long["lifetime_seconds"] > 1.2 * short["lifetime_seconds"]
    assert pd.isna(short["lifetime_high"])
    assert pd.isna(long["lifetime_high"])
    assert 0.0 == long["freed_fraction"]
    assert long["freed_high"] == pytest.approx(UNSEEN_SIGHTINGS / 400, rel=0.01)


def test_profiles_of_other_objects_narrow_and_those_of_the_same_do_not():
    """
    9 objects in use each time; if their number scatters as that of new ones does, they are new.
    """
    same = only_site(*(of(1000 * n, 9, 10 * n) for n in range(1, 8)), marking_seconds=0)
    counts = (9, 13, 6, 9, 12, 5, 9)
    scattering = (of(1000 * n, count, 10 * n) for n, count in enumerate(counts, start=1))
    other = only_site(*scattering, marking_seconds=0)

    assert same["lifetime_seconds"] == pytest.approx(other["lifetime_seconds"], rel=0.01)
    widths = [row["lifetime_high"] / row["lifetime_low"] for row in (same, other)]
    assert widths[1] < 0.7 * widths[0]


def test_marking_lowers_the_lower_end_alone():
    profiles = of(500, 400, 1), of(10_500, 400, 51)
    quick, slow = (
        only_site(*profiles, collection_seconds=0.1, marking_seconds=marking)
        for marking in (0.0, 0.5)
    )

    assert slow["lifetime_low"] == pytest.approx(quick["lifetime_low"] - 0.5)
    assert slow["lifetime_high"] == quick["lifetime_high"]


def test_a_lag_of_the_profiles_widens():
    profiles = of(500, 400, 1), of(10_500, 400, 51)
    near, far = (only_site(*profiles, collection_seconds=gap, marking_seconds=0) for gap in (0, 5))

    assert far["lifetime_low"] == pytest.approx(near["lifetime_low"] * 0.8)
    assert far["lifetime_high"] == pytest.approx(near["lifetime_high"] * 1.2)


def test_every_allocation_recorded_is_sampled_without_error():
    """
    What is left are chance arrivals: 400 objects, 10 % either way.
    """
    profiles = []
    for profile in (of(500, 400, 1), of(10_500, 400, 51)):
        value = np.array([[500, 32_000, 400, 25_600]])
        value = value if not profiles else np.array([[10_500, 672_000, 400, 25_600]])
        columns = replace(profile.columns, value=value.astype(np.int64), period=1)
        profiles.append(replace(profile, columns=columns))
    row = only_site(*profiles, collection_seconds=0, marking_seconds=0)

    assert row["alloc_low"] == row["alloc_bytes_per_second"] == row["alloc_high"]
    assert row["lifetime_low"] == pytest.approx(1.8, abs=0.05)
    assert row["lifetime_high"] == pytest.approx(2.2, abs=0.05)


def test_one_profile_or_one_without_news_tells_nothing():
    assert lifetimes({"a": of(500, 400, 1)}) is None
    assert lifetimes({"a": of(500, 400, 1), "b": of(500, 400, 9)}) is None
    assert lifetimes({}) is None


def test_by_own_function_what_a_library_allocates_is_its_callers():
    profiles = {
        f"{n}": replace(
            heap(turned_over(100 * n, 10, 64), names=("bytes.growSlice", "main.root")),
        )
        for n in (1, 2)
    }
    profiles = {
        name: replace(p, columns=replace(p.columns, time_nanos=int(name) * 10 * SECOND))
        for name, p in profiles.items()
    }

    assert ["main.root"] == list(lifetimes(profiles, OWN).sites["function"])
    assert ["bytes.growSlice"] == list(lifetimes(profiles).sites["function"])
    assert RATE == profiles["1"].period


def test_no_pool_is_advised_for_a_site_whose_memory_stays():
    """Both drop objects within seconds, but of one the memory in use grew: a part of it stays."""
    rows = {"life": ["medium-lived"] * 2, "alloc_fraction": [0.5] * 2, "freed_high": [1.1, 0.6]}
    sites = pd.DataFrame({"function": ["main.render", "main.place"], **rows})

    lives = Lifetimes(sites, "1", "2", 2, 6.0, 0.0, 0.0)

    assert ["main.render"] == lives.pooling["function"].tolist()
