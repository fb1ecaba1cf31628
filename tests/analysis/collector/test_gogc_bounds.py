"""GOGC between bounds: what goals, HeapAlloc, profiles and the allocation between them allow."""

import math

import pandas as pd
import pytest

from gomem.analysis.collector.gogc_bounds import GogcBounds, gogc_bounds
from gomem.units import MIB

NOTHING = math.nan
MEANT = {
    "LastGC": 0.0, "NumGC": 1, "NumForcedGC": 0, "NextGC": 140 * MIB, "HeapAlloc": 120 * MIB,
    "TotalAlloc": 0, "live_bytes": NOTHING, "in_use_bytes": NOTHING, "stack_bytes": 0,
}  # fmt: skip


def bounds(*rows, stacks_count=False, is_limited=False):
    stats = pd.DataFrame([MEANT | row for row in rows], columns=list(MEANT), dtype=float)
    found = gogc_bounds(stats, stacks_count=stacks_count, is_limited=is_limited)
    return round(found.low, 3), round(found.high, 3)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param({}, (0.167, 35), id="heap-alloc-from-below"),
        pytest.param({"in_use_bytes": 80 * MIB}, (0.167, 0.75), id="a-profile-from-above"),
        pytest.param({"live_bytes": 100 * MIB}, (0.4, 0.4), id="what-was-marked"),
        pytest.param({"HeapAlloc": 139 * MIB}, (0, 35), id="a-heap-that-is-swept"),
        pytest.param({"in_use_bytes": 130 * MIB}, (0.167, 35), id="a-profile-of-later"),
        pytest.param({"NextGC": 4 * MIB, "HeapAlloc": MIB}, (1, 1), id="the-smallest-goal"),
        pytest.param({"NextGC": 2**63 - 1}, (0, math.inf), id="no-goal"),
        pytest.param({"NextGC": NOTHING, "HeapAlloc": NOTHING}, (0, math.inf), id="nothing"),
        pytest.param({"in_use_bytes": 0}, (0.167, 35), id="an-empty-profile"),
    ],
)
def test_one_reading(row, expected):
    assert expected == bounds(row)


def test_stacks_and_globals_raise_goals_from_go_1_18_on():
    """
    120 MiB that are live, 19 MiB of stacks and 1 MiB of globals at 100 %: 260 MiB.
    """
    row = {"NextGC": 260 * MIB, "stack_bytes": 19 * MIB}

    assert 1.167 == bounds(row)[0]
    assert 1 == bounds(row, stacks_count=True)[0]


def test_a_limit_leaves_nothing_from_above():
    assert (0.167, math.inf) == bounds({"in_use_bytes": 80 * MIB}, is_limited=True)


def test_the_highest_and_the_lowest_of_several_count():
    first, second = {"HeapAlloc": 110 * MIB}, {"in_use_bytes": 95 * MIB}

    assert (0.273, 0.474) == bounds(first, second)


def allocating(cycles, mib, **last):
    return bounds({}, {"NumGC": 1 + cycles, "TotalAlloc": mib * MIB, "LastGC": 9.0} | last)


def test_what_is_allocated_between_collections_bounds_the_room():
    """
    Ten MiB a collection are at least half of the room: at most 20 of 140 MiB.
    """
    assert (0.167, 0.167) == allocating(11, 100)
    assert (0.167, 0.4) == allocating(11, 200)
    assert (0.167, 35) == allocating(11, 2000)  # of no goal that was seen
    assert (0.167, 35) == allocating(7, 60)
    assert (0.167, 35) == allocating(11, 100, NumForcedGC=9)
    assert (0.167, 35) == allocating(11, 100, LastGC=999.0)
    assert (0.167, 35) == allocating(11, 100, TotalAlloc=NOTHING)


def test_bounds_that_miss_by_little_are_one_interval_and_others_none():
    """
    Readings of two files lie some time apart; a GOGC that changed leaves bounds far apart.
    """
    near = {"HeapAlloc": 100 * MIB}, {"in_use_bytes": 102 * MIB}
    far = {"HeapAlloc": 70 * MIB}, {"in_use_bytes": 115 * MIB}

    assert (0.373, 0.4) == bounds(*near)
    assert bounds(*far)[0] > bounds(*far)[1]
    assert GogcBounds(*bounds(*far)).is_empty
    assert not GogcBounds(*bounds(*near)).is_empty


@pytest.mark.parametrize(
    ("low", "high", "likeliest"),
    [(0.15, 0.46, 0.2), (0.34, 0.49, 0.4), (2.9, 39, 3), (0.145, 0.148, 0.145), (9.6, math.inf, 10),
     (0.31, 0.53, 0.4), (0.47, 2, 0.5), (0.0, 0.034, 0.034)],
)  # fmt: skip
def test_the_likeliest_is_round_and_near_the_lower_bound(low, high, likeliest):
    assert likeliest == GogcBounds(low, high).likeliest


def test_a_gogc_lies_within_nearly():
    found = GogcBounds(0.4, 0.5)

    assert [False, True, True, False] == [found.has(one) for one in (0.36, 0.37, 0.515, 0.53)]
    assert GogcBounds().has(math.inf)
