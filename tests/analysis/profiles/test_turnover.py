"""What survives of what was allocated: shares that add up, with intervals that hold the truth."""

import numpy as np
import pytest

import gomem
from gomem.analysis.profiles.sizes import TURNOVER, site_turnover
from tests.builders import FIXTURES
from tests.heap_profiles import RATE, heap, scale, turned_over

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3" / "settled" / "heap.pb.gz"
RUNS = 200


@pytest.fixture(scope="module")
def spiky():
    return gomem.read_pprof(SPIKY)


def test_a_site_by_hand():
    """
    100 objects of 4 KiB seen, 25 of them in use: a quarter survives. Wilson's interval of 25 in
    100 is 17.5 to 34.3 %.
    """
    row = site_turnover(heap(turned_over(100, 25, 4096))).set_index("function").loc["main.leaf"]

    assert [0.25, 0.175, 0.343] == [
        round(row[name], 3) for name in ("survival_fraction", "survival_low", "survival_high")
    ]
    assert pytest.approx(100, abs=0.01) == row["sightings"]
    assert pytest.approx(4096, rel=1e-3) == row["mean_object_bytes"]
    assert row["churned_bytes"] == row["alloc_bytes"] - row["inuse_bytes"]
    assert pytest.approx(75 * 4096 * scale(4096), rel=1e-4) == row["churned_bytes"]


def test_sites_add_up_to_the_profile(spiky):
    """
    Nobody's bytes are lost: the sums are the totals, freed what is not in use.
    """
    turnover = site_turnover(spiky)

    assert spiky.total("alloc_space") == turnover["alloc_bytes"].sum()
    assert spiky.total("inuse_space") == turnover["inuse_bytes"].sum()
    assert list(turnover["churned_bytes"]) == sorted(turnover["churned_bytes"], reverse=True)


def test_a_cache_survives_and_a_server_churns(spiky):
    """
    The program keeps its audit records for good, and answers each request with a new buffer.
    """
    survival = site_turnover(spiky).set_index("function")["survival_fraction"]

    assert 1.0 == survival["main.newAuditRecord"]
    assert survival["main.serve"] < 0.05


def test_of_95_in_100_samplings_the_interval_holds_the_share():
    """
    Of 100 000 objects of 1 KiB a tenth survives; some 200 sightings are allocated, 20 in use.
    """
    truth, chance = 0.1, 1 / scale(1024)
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(RUNS):
        kept = rng.binomial(10_000, chance)
        freed = rng.binomial(90_000, chance)
        row = site_turnover(heap(turned_over(kept + freed, kept, 1024))).iloc[0]
        inside += row["survival_low"] <= truth <= row["survival_high"]

    assert 0.92 <= inside / RUNS <= 0.98


def test_what_is_not_sampled_has_no_interval():
    """
    A rate of 1 records every allocation: the share is exact, and no sightings are made up.
    """
    row = site_turnover(heap(turned_over(100, 25, 4096), rate=1)).iloc[0]

    assert row["survival_fraction"] == pytest.approx(0.25, rel=1e-3)
    assert row[["survival_low", "survival_high", "sightings"]].isna().all()


def test_an_empty_profile_has_the_columns():
    turnover = site_turnover(heap(rate=RATE))

    assert [column.name for column in TURNOVER] == list(turnover.columns)
    assert turnover.empty
