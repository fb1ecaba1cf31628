"""Single numbers that sum up a capture."""

import pytest

from gomem.analysis.collector.cost import cost_of_collection
from gomem.comparison.single_values import COLLECTOR_METRICS, COLUMNS, levels_of
from gomem.inputs.gctrace.table import read_gctrace
from tests.builders import FIXTURES, memstats_row


def test_what_is_unknown_is_no_level():
    """
    A missing number is not 0: it is not there.
    """
    levels = levels_of(
        None, memstats_row(HeapAlloc=5, Mallocs=0), None, {"cycles": 3, "seconds": None}
    )

    found = dict(zip(levels["name"], levels["value"], strict=True))
    assert {"RSS", "goroutines", "seconds"}.isdisjoint(found)
    assert (5, 3) == (found["HeapAlloc"], found["cycles"])


@pytest.mark.parametrize(
    ("name", "count", "least"),
    [
        ("stw_p50_seconds", "stw_n", 6),
        ("interval_p50_seconds", "interval_n", 6),
        ("stw_p99_seconds", "stw_n", 100),
    ],
)
def test_a_quantile_is_a_level_from_as_many_values_as_carry_it_on(name, count, least):
    def told(n):
        return list(levels_of(None, None, None, {name: 0.1, count: n})["name"])

    assert [[], [name]] == [told(least - 1), told(least)]


@pytest.mark.parametrize(("cycles", "is_told"), [(19, False), (20, True)])
def test_assists_of_a_start_ups_few_collections_are_no_level(cycles, is_told):
    collector = {"assist_fraction": 0.1, "cycles": cycles}

    assert is_told == ("assist_fraction" in list(levels_of(None, None, None, collector)["name"]))


def test_every_difference_matters_but_a_small_one_of_the_collectors_share():
    collector = {"gc_cpu_fraction": 0.1, "stw_p50_seconds": 0.1, "stw_n": 6}

    levels = levels_of(1, None, 1, collector).set_index("name")["least"]

    assert 0.01 == levels.pop("gc_cpu_fraction")
    assert {"RSS": 0.0, "goroutines": 0.0, "stw_p50_seconds": 0.0} == levels.to_dict()


def test_nothing_known_gives_a_frame_without_rows():
    assert list(COLUMNS) == list(levels_of(None, None, None, None).columns)
    assert 0 == len(levels_of(None, None, None, None))


@pytest.mark.parametrize(
    ("name", "unit", "better"),
    [
        ("RSS", "B", "lower"),
        ("NumGC", "count", "neither"),
        ("interval_p50_seconds", "s", "higher"),
        ("allocation_rate_bytes_per_second", "B/s", "lower"),
    ],
)
def test_a_level_has_its_unit_and_its_better_way(name, unit, better):
    """
    Bytes for each second are speed in a benchmark and a cost here.
    """
    collector = {key: 1 for key, _, _ in COLLECTOR_METRICS} | {"stw_n": 100, "interval_n": 6}
    levels = levels_of(1, memstats_row(NumGC=1), 1, collector).set_index("name")

    assert (unit, better) == tuple(levels.loc[name, ["unit", "better"]])


@pytest.mark.parametrize(("n", "known"), [(5, False), (6, True)])
def test_a_median_of_fewer_than_six_is_none(n, known):
    values = {"interval_p50_seconds": 1.0, "interval_n": n, "stw_p50_seconds": 1.0, "stw_n": n}

    names = set(levels_of(None, None, None, values)["name"])

    assert ({"interval_p50_seconds", "stw_p50_seconds"} if known else set()) == names


def test_every_level_of_the_collector_is_a_number_of_its_summary():
    log = read_gctrace(FIXTURES / "captures/healthy-go1.27.3/gctrace.log")

    assert {name for name, _, _ in COLLECTOR_METRICS} <= set(cost_of_collection(log.cycles).values)
