"""What the heap keeps, what it gave back, and what of that is still resident."""

import pandas as pd
import pytest

from gomem.analysis.scavenger.scavenger import heap_return, heap_steps
from gomem.releases import known_version
from gomem.units import MIB
from tests.builders import FIXTURES, diagnosed, memstats_row

SHRUNK = FIXTURES / "captures"


def test_retained_is_what_was_not_given_back_and_excess_what_exceeds_the_goal():
    """
    10 in use and 54 idle of which 4 are released: 60 retained; the goal is 1.1 × 20 = 22.
    """
    row = memstats_row(
        HeapAlloc=10 * MIB,
        HeapInuse=10 * MIB,
        HeapIdle=54 * MIB,
        HeapReleased=4 * MIB,
        NextGC=20 * MIB,
        NumGC=2,
    )
    row["moment"] = "1"

    answer = heap_return(row.to_frame().T).iloc[0]

    assert 60 * MIB == answer["retained_bytes"]
    assert 22 * MIB == answer["goal_bytes"]
    assert 38 * MIB == answer["excess_bytes"]
    assert answer["lazy_free_bytes"] is pd.NA


def test_madv_free_shows_as_released_and_still_resident():
    heap = diagnosed(SHRUNK / "cache-shrink-go1.12.17").heap.set_index("moment")

    assert heap.loc["4-freed", "HeapReleased"] > 180 * MIB
    assert heap.loc["4-freed", "lazy_free_bytes"] > 160 * MIB
    assert 0 == heap.loc["3-collected", "lazy_free_bytes"]


def test_madv_dontneed_takes_it_out_of_the_arenas_at_once():
    heap = diagnosed(SHRUNK / "cache-shrink-go1.16.15").heap.set_index("moment")

    assert heap.loc["3-collected", "arena_rss_bytes"] > 160 * MIB
    assert heap.loc["4-freed", "arena_rss_bytes"] < 16 * MIB
    assert 0 == heap.loc["4-freed", "lazy_free_bytes"]


def test_a_step_is_what_changed_from_one_moment_to_the_next():
    """
    10 to 30 in use is 20 more; 8 to 4 given back is 4 less; from an unknown RSS there is no change.
    """
    heap = pd.DataFrame(
        {"moment": ["1", "2", "3"], "HeapInuse": [10, 30, 30], "HeapReleased": [8, 4, 4]}
    )

    steps = heap_steps(heap, {"1": None, "2": 50, "3": 45})

    assert [("1", "2"), ("2", "3")] == list(zip(steps["before"], steps["after"], strict=True))
    assert [20, 0] == steps["inuse_change_bytes"].tolist()
    assert [-4, 0] == steps["released_change_bytes"].tolist()
    assert [pd.NA, -5] == steps["rss_change_bytes"].tolist()


def test_one_moment_or_none_is_no_step():
    one = pd.DataFrame({"moment": ["1"], "HeapInuse": [10], "HeapReleased": [8]})

    assert 0 == len(heap_steps(one, {}))
    assert 0 == len(heap_steps(pd.DataFrame(), {}))


def goal(version, limit_mib=None, **memstats):
    """The scavenger's goal in MiB of a heap with 10 in use and 54 idle, and 6 beside it."""
    fields = {
        "HeapAlloc": 10,
        "HeapInuse": 10,
        "HeapIdle": 54,
        "HeapSys": 64,
        "Sys": 70,
        "NextGC": 20,
        **memstats,
    }
    row = memstats_row(NumGC=2, **{name: mib * MIB for name, mib in fields.items()})
    row["moment"] = "1"
    limits = {} if limit_mib is None else {"1": limit_mib * MIB}
    answer = heap_return(row.to_frame().T, None, known_version(version, "test"), limits).iloc[0]
    return tuple(None if pd.isna(answer[name]) else answer[name] / MIB
                 for name in ("goal_bytes", "excess_bytes"))  # fmt: skip


@pytest.mark.parametrize(
    ("version", "expected"), [("go1.12.17", (None, 44)), ("go1.13", (22, 42)), ("go1.27", (22, 42))]
)
def test_there_is_no_goal_before_the_background_scavenger(version, expected):
    """
    What exceeds NextGC there waits for its five idle minutes.
    """
    assert expected == goal(version)


@pytest.mark.parametrize(
    ("limit_mib", "expected"),
    [
        pytest.param(20, (13, 51), id="0.95 of it, less 6 beside the heap"),
        pytest.param(40, (22, 42), id="higher than the pacer's"),
        pytest.param(2, (0, 54), id="lower than what is beside the heap: no less than nothing"),
    ],
)
def test_the_lower_of_two_goals_counts(limit_mib, expected):
    assert expected == goal("go1.22", limit_mib)


@pytest.mark.parametrize(
    ("version", "expected"), [("go1.18.10", 22), ("go1.19", 14), ("go1.22", 13)]
)
def test_a_limit_is_one_since_go_1_19(version, expected):
    """
    In 1.19 to 1.21 the limit itself, less 6 beside the heap: their background goal is never met.
    """
    assert expected == goal(version, 20)[0]


def test_a_limit_alone_is_a_goal_too():
    """
    GOGC=off: NextGC is missing.
    """
    assert (13, 51) == goal("go1.22", 20, NextGC=1 << 40)
    assert (None, None) == goal("go1.22", NextGC=1 << 40)
