"""Which GOGC goals allow, and on which they agree; sizes in MiB."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.collector.gogc import Goals, agreed_percents, allowed_percents
from gomem.units import MIB


def goals(*live_and_goal, start=0, scanned=0, limited=False):
    """Goals of one run, each of a live heap."""
    live, goal = np.array(live_and_goal, float).T * MIB
    alike = np.ones(len(live))
    return Goals(
        alike.astype(int), live, goal, start * MIB * alike, scanned * MIB * alike,
        np.full(len(live), limited),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("scanned", "limited", "low", "high"),
    [
        pytest.param(0, False, 99, 101, id="99 of 101, 101 of 100"),
        pytest.param(10, False, 90, 91, id="99 of 111, 101 of 110"),
        pytest.param(10, True, 88, 91, id="99 of 113, for stacks and globals are cut, too"),
    ],
)
def test_the_gogc_that_a_goal_allows(scanned, limited, low, high):
    """
    From 100 MiB to 200, either of which may be 1 MiB more.
    """
    found = goals((100, 200), scanned=scanned, limited=limited).percents()

    assert ([low], [high]) == tuple(end.tolist() for end in found)


def test_the_least_gogc_is_one_per_cent_and_a_goal_below_the_live_heap_allows_none():
    low, high = goals((100, 90), (100, 100)).percents()

    assert ([1, 1], [0, 1]) == (low.tolist(), high.tolist())


@pytest.mark.parametrize(
    ("live", "goal", "start", "tells"),
    [
        (8, 16, 14, True),
        (7, 16, 14, False),
        (8, 16, 15, False),
        (8, 8, 6, True),
    ],
)
def test_a_goal_tells_of_8_mib_live_begun_in_time(live, goal, start, tells):
    assert tells == goals((live, goal), start=start).telling[0]


@pytest.mark.parametrize(("live", "goal", "beyond"), [(100, 100, 1), (100, 101, 0), (200, 201, 1)])
def test_without_room_it_is_a_limits(live, goal, beyond):
    """
    Up to the live heap; and with 1 MiB more, up to 1 % above it.
    """
    assert beyond == goals((live, goal), limited=True).beyond_any[0]
    assert not goals((live, goal)).beyond_any[0]


def test_alike_goals_are_counted():
    rows = allowed_percents(goals((100, 200), (100, 200), (100, 150)))

    assert [[1, 49, 51, 1], [1, 99, 101, 2]] == rows.to_numpy().tolist()


def agreed(*rows):
    allowed = pd.DataFrame(rows, columns=["run", "low", "high", "goals"])
    return agreed_percents(allowed).loc[1]


def test_of_values_that_as_many_goals_allow_the_highest_counts_and_of_its_range_the_roundest():
    found = agreed((1, 49, 51, 3), (1, 99, 101, 3))

    assert (3, 6, 100) == (found["agreeing"], found["telling"], found["percent"])


@pytest.mark.parametrize(("count", "percent"), [(2, None), (3, 100)])
def test_two_goals_agree_by_chance(count, percent):
    found = agreed((1, 99, 101, count))["percent"]

    assert np.isnan(found) if percent is None else percent == found


@pytest.mark.parametrize(("others", "known"), [(3, True), (4, False)])
def test_half_of_the_goals_agree(others, known):
    """
    Three do; each of the others, all below, says something else.
    """
    below = [(1, low, low, 1) for low in range(10, 10 + others)]

    assert known == (not np.isnan(agreed((1, 99, 101, 3), *below)["percent"]))


@pytest.mark.parametrize(("above", "known"), [(2, True), (3, False)])
def test_three_goals_above_leave_it_unknown(above, known):
    higher = [(1, low, low, 1) for low in range(300, 300 + above)]

    assert known == (not np.isnan(agreed((1, 99, 101, 4), *higher)["percent"]))


def test_goals_that_allow_nothing_agree_on_nothing():
    found = agreed((1, 5, 4, 3))

    assert (0, 3) == (found["agreeing"], found["telling"])
    assert np.isnan(found["percent"])


def test_few_goals_that_nearly_agree_are_of_the_roundest_that_any_allows():
    """
    96 fits four of six, the others allow 99 to 101; with more goals the four would be a fifth.
    """
    few = agreed((1, 95, 96, 1), (1, 96, 98, 3), (1, 99, 101, 2))
    apart = agreed((1, 85, 96, 1), (1, 96, 98, 3), (1, 99, 101, 2))

    assert [100, 95, 101] == few[["percent", "least", "most"]].tolist()
    assert 96 == apart["percent"]


def test_many_goals_are_taken_at_their_word():
    assert 97 == agreed((1, 96, 98, 30), (1, 99, 101, 2))["percent"]
