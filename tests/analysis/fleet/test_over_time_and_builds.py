"""Drift over captures, builds side by side, limits, distributions."""

import numpy as np
import pytest

from gomem.analysis.fleet.builds import by_build, differing
from gomem.analysis.fleet.drift import drift
from gomem.analysis.fleet.limits import near_limit, rss_quantiles, with_limit
from gomem.analysis.fleet.population import current, distributions
from gomem.releases import build_order
from gomem.units import MIB
from tests.analysis.fleet.fleets import level, levels

HOURS = range(10)


def test_a_drift_has_its_slope_with_an_interval():
    """
    10 MiB an hour over nine hours, beside one that stays.
    """
    rows = [level("pod-1", "live_heap", (20 + 10 * h) * MIB, hours=h) for h in HOURS]
    rows += [level("pod-2", "live_heap", (20 + h % 2) * MIB, hours=h) for h in HOURS]

    (row,) = drift(levels(*rows)).to_dict("records")

    assert ("pod-1", "live_heap", 10, 9 * 3600.0) == (
        row["instance"], row["name"], row["captures"], row["seconds"]
    )  # fmt: skip
    assert pytest.approx(10 * MIB / 3600) == row["slope_per_second"]
    assert row["slope_low"] <= row["slope_per_second"] <= row["slope_high"]


def test_few_captures_or_none_with_a_time_are_no_drift():
    few = [level("pod-1", "live_heap", (20 + 90 * h) * MIB, hours=h) for h in range(5)]
    untimed = [level("pod-1", "live_heap", (20 + 90 * h) * MIB, hours=None) for h in HOURS]

    assert drift(levels(*few)).empty
    assert drift(levels(*untimed)).empty


def test_builds_are_in_the_order_of_releases_and_numbers():
    assert ["go1.9.7", "go1.23.4", "go1.24.2"] == build_order(["go1.24.2", "go1.9.7", "go1.23.4"])
    assert ["v9", "v10"] == build_order(["v10", "v9"])


def test_the_first_build_that_differs_and_the_one_that_changes_back():
    """
    Six instances each: a p of 2/924 a step, and Holm's correction over both.
    """
    rows = []
    for build, size in (("go1.23.4", 60), ("go1.24.2", 90), ("go1.24.6", 60), ("go1.25", 60)):
        rows += [
            level(f"{build}-{n}", "rss_bytes", (size + n) * MIB, build=build) for n in range(6)
        ]

    compared = by_build(current(levels(*rows)))
    found = differing(compared)

    assert ["go1.24.2", "go1.24.6"] == list(found["build"])
    assert pytest.approx(30 / 62.5) == found["change"].iloc[0]
    assert pytest.approx(3 * 2 / 924) == found["p_adjusted"].iloc[0]
    first = compared.iloc[0]
    assert (62.5 * MIB, 60 * MIB, 65 * MIB) == (first["median"], first["low"], first["high"])
    assert np.isnan(first["change"])


def test_one_run_a_build_shows_only_what_is_far_apart():
    rows = [
        level(build, "rss_bytes", size * MIB, build=build)
        for build, size in (("go1.23.4", 9), ("go1.24.2", 170), ("go1.24.6", 150))
    ]

    assert [None, "differs", "?"] == [
        verdict if isinstance(verdict, str) else None
        for verdict in by_build(current(levels(*rows)))["verdict"]
    ]


def test_rates_of_few_collections_are_of_no_build():
    rows = [level(b, "gc_cpu_fraction", f, build=b, n=6) for b, f in (("a", 0.1), ("b", 0.4))]

    assert by_build(current(levels(*rows))).empty


def test_an_order_that_is_given_is_kept():
    rows = [level(b, "goroutines", 5, build=b) for b in ("gogc-50", "gogc-100", "off")]

    compared = by_build(current(levels(*rows)), ["off", "gogc-100", "gogc-50"])

    assert ["off", "gogc-100", "gogc-50"] == list(compared["build"])


def test_near_a_limit_is_a_share_of_those_that_tell_one():
    values = current(
        levels(
            level("pod-1", "of_limit_fraction", 0.95), level("pod-2", "of_limit_fraction", 0.5),
            level("pod-3", "goroutines", 5),
        )
    )  # fmt: skip

    assert ["pod-1"] == list(near_limit(values)["instance"])
    assert 2 == with_limit(values)


def test_a_distribution_is_of_instances_and_knows_no_p99_of_few():
    values = current(levels(*[level(f"p{n}", "goroutines", n) for n in range(1, 6)]))

    (row,) = distributions(values).to_dict("records")

    assert (5, 1.0, 3.0, 5.0) == (row["instances"], row["least"], row["p50"], row["most"])
    assert np.isnan(row["p99"])


def test_rss_is_over_all_captures():
    rows = [level("p", "rss_bytes", n * MIB, hours=n) for n in range(1, 101)]

    (row,) = rss_quantiles(levels(*rows)).to_dict("records")

    assert (100, 50.5 * MIB, 99 * MIB, 100 * MIB) == (
        row["captures"], row["p50_bytes"], row["p99_bytes"], row["max_bytes"]
    )  # fmt: skip
