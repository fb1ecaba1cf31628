"""Which instance is unlike the others, in what, and what that costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.fleet.outliers import outliers
from gomem.analysis.fleet.population import current
from gomem.units import MIB
from tests.analysis.fleet.fleets import findings, level, levels, setting, settings, sites


def found(rows, *, told=(), finds=(), places=()):
    return outliers(
        current(levels(*rows)), settings(*told), findings(*finds), sites(*places)
    ).to_dict("records")


def many(name, values, **more):
    return [level(f"pod-{n}", name, value, **more) for n, value in enumerate(values)]


def test_a_count_that_is_one_everywhere_else_needs_no_second_measurement():
    """
    Spread of the ones is 0, and its floor the root of 1: (4201 - 1) / 1.
    """
    (row,) = found(
        many("goroutines", [1, 1, 4201, 1]),
        finds=[("pod-2", "goroutine-leak")],
        places=[("pod-2", "goroutine", "main.wait", 4200), ("pod-1", "goroutine", "main.main", 1)],
    )

    assert ("pod-2", "count", "goroutines", 4201.0, 1.0, 4200.0) == (
        row["instance"], row["what"], row["part"], row["value"], row["median"], row["z"]
    )  # fmt: skip
    assert ("goroutine-leak", True, "main.wait") == (row["code"], row["confirmed"], row["site"])


def test_the_part_that_costs_most_names_it_and_the_sum_does_not():
    rows = many("heap_idle", [2 * MIB] * 5 + [62 * MIB])
    rows += many("heap_slack", [1 * MIB] * 5 + [15 * MIB])
    rows += many("rss_bytes", [30 * MIB] * 5 + [104 * MIB])

    (row,) = found(rows)

    assert ("pod-5", "part", "heap_idle", "idle-heap-kept") == (
        row["instance"], row["what"], row["part"], row["code"]
    )  # fmt: skip
    assert 60 * MIB == row["cost_bytes"]
    assert "rss_bytes heap_slack" == row["also"]
    assert not row["confirmed"]


def test_where_no_file_says_which_part_it_is_the_whole():
    (row,) = found(many("rss_bytes", [30 * MIB] * 5 + [104 * MIB]))

    assert ("total", "rss_bytes", 74 * MIB) == (row["what"], row["part"], row["cost_bytes"])


def test_what_leaked_goroutines_bring_along_is_their_cost():
    rows = many("goroutines", [10] * 5 + [5000])
    rows += many("stacks", [1 * MIB] * 5 + [21 * MIB])
    rows += many("live_heap", [20 * MIB] * 5 + [60 * MIB])
    rows += many("heap_objects", [30 * MIB] * 5 + [90 * MIB])

    (row,) = found(rows)

    assert "goroutines" == row["part"]
    assert 60 * MIB == row["cost_bytes"]


def test_a_rate_comes_with_the_setting_that_makes_it():
    rows = many("gc_cpu_fraction", [0.01] * 5 + [0.24])
    told = [setting(f"pod-{n}", "GOGC", "100" if n < 5 else "4") for n in range(6)]

    (row,) = found(rows, told=told)

    assert ("rate", "gc_cpu_fraction", "gc-pressure") == (row["what"], row["part"], row["code"])
    assert pytest.approx(0.23) == row["cost_cpu_fraction"]
    assert "GOGC 4, not 100" == row["settings"]


def test_a_rate_of_few_collections_says_nothing():
    assert [] == found(many("gc_cpu_fraction", [0.01] * 5 + [0.24], n=19))


def test_a_setting_alone_is_a_row_without_a_distance():
    told = [setting(f"pod-{n}", "GOGC", "400" if n == 2 else "100") for n in range(5)]

    (row,) = found(many("goroutines", [5] * 5), told=told)

    assert ("pod-2", "setting", "GOGC", 400.0, 100.0) == (
        row["instance"], row["what"], row["part"], row["value"], row["median"]
    )  # fmt: skip
    assert np.isnan(row["z"])


def test_a_setting_that_is_assumed_or_shared_by_some_is_none():
    assumed = [setting(f"pod-{n}", "GOGC", "400" if n == 2 else "100", "assumed") for n in range(5)]
    shared = [setting(f"pod-{n}", "GOGC", "400" if n < 2 else "100") for n in range(5)]

    assert [] == found(many("goroutines", [5] * 5), told=assumed)
    assert [] == found(many("goroutines", [5] * 5), told=shared)


def test_three_are_no_population():
    assert [] == found(many("goroutines", [1, 1, 4201]))


def test_a_second_kind_is_no_outlier():
    """
    Two of six with a large cache are a third of them.
    """
    assert [] == found(many("live_heap", [20 * MIB] * 4 + [200 * MIB] * 2))


def test_loads_that_differ_by_factors_are_compared_as_multiples():
    """
    2, 4, 8, … 64 MiB: 128 is the next of them, and 4 GiB is not.
    """
    spread = [2 * MIB * 2**n for n in range(6)] * 3

    assert [] == found(many("live_heap", [*spread, 128 * MIB]))
    assert 1 == len(found(many("live_heap", [20 * MIB] * 18 + [4096 * MIB])))


def test_a_release_that_needs_more_makes_none_of_its_instances_an_outlier():
    rows = [level(f"old-{n}", "live_heap", 20 * MIB) for n in range(10)]
    rows += [level(f"new-{n}", "live_heap", 60 * MIB, build="v2") for n in range(8)]
    rows += [level("odd", "live_heap", 200 * MIB, build="v2")]

    assert ["odd"] == [row["instance"] for row in found(rows)]


def test_each_service_is_a_population_of_its_own():
    rows = many("live_heap", [20 * MIB] * 8)
    rows += [level("cache", "live_heap", 900 * MIB, service="cache")]

    assert [] == found(rows)


def test_the_last_capture_that_tells_it_counts():
    rows = many("goroutines", [1] * 5)
    rows += [level("odd", "goroutines", 9000, hours=1), level("odd", "goroutines", 1, hours=2)]

    assert [] == found(rows)
    rows += [level("odd", "goroutines", 9000, hours=3), level("odd", "threads", 5, hours=4)]
    assert ["odd"] == [row["instance"] for row in found(rows)]


@given(
    st.lists(st.floats(20 * MIB, 30 * MIB), min_size=4, max_size=40),
    st.lists(st.integers(5, 40), min_size=4, max_size=40),
)
def test_instances_within_half_of_each_other_are_alike(sizes, counts):
    assert [] == found(many("live_heap", sizes) + many("goroutines", counts))
