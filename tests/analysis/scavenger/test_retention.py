"""What is kept and given back, and the goals that it is held against."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.scavenger.retention import RETENTION, LogCycle, retention
from gomem.releases import GoVersion, known_version
from gomem.units import MIB
from tests.analysis.scavenger.readings_of_heap import nothing, reading, readings

NEW = known_version("go1.27.3", "by hand")
OLD = known_version("go1.12.17", "by hand")
SIZES = st.integers(0, 1000)


def mib(value):
    return None if pd.isna(value) else value / MIB


def last(frame, column):
    return mib(frame[column].iloc[-1])


def test_the_heap_by_hand():
    """
    30 MiB in use, 10 idle and kept, 60 given back: 40 retained, three quarters of it in use.
    """
    frame = retention(readings(reading(0, 30, 10, 60, rss_bytes=50)), NEW)

    assert (10, 40, 44) == tuple(
        last(frame, name) for name in ("idle_kept_bytes", "retained_bytes", "mapped_bytes")
    )
    assert 0.75 == frame["utilisation_fraction"].iloc[0]
    assert [column.name for column in RETENTION] == list(frame)


def test_the_goal_is_from_the_collection_before():
    """
    Before collection 6, 100 MiB were in use and the goal was 200; behind it the goal is 50: a
    quarter of what was in use stays, and a tenth of that.
    """
    frame = retention(
        readings(
            reading(0, 100, NumGC=5, NextGC=200),
            reading(1, 20, 80, NumGC=6, NextGC=50),
        ),
        NEW,
    )

    assert 27.5 == last(frame, "paced_goal_bytes") == last(frame, "goal_bytes")
    assert 72.5 == last(frame, "above_goal_bytes")
    assert "collection" == frame["paced_by"].iloc[1]


def test_the_log_says_what_readings_miss():
    """
    Three collections between two readings: the log has the heap when marking ended (90 MiB) and the
    goal (180), each cut to 1 MiB; 4 MiB of free slots lie beside it.
    """
    rows = readings(
        reading(0, 100, NumGC=5, NextGC=200),
        reading(1, 20, 80, NumGC=8, NextGC=45, HeapAlloc=16),
    )
    frame = retention(rows, NEW, {8: LogCycle(90 * MIB, 180 * MIB)})

    assert last(frame, "goal_bytes") == pytest.approx(1.1 * 94.5 * 45 / 180.5, abs=0.01)
    # Without the log nothing says, and the goal is a steady heap's: of NextGC and free slots.
    assert last(retention(rows, NEW), "goal_bytes") == pytest.approx(1.1 * (45 + 4))
    assert "steady" == retention(rows, NEW)["paced_by"].iloc[1]


@pytest.mark.parametrize("cycle", [LogCycle(None, 180 * MIB), LogCycle(90 * MIB, None)])
def test_a_damaged_line_of_the_log_tells_no_goal(cycle):
    rows = readings(reading(1, 20, 80, NumGC=8, NextGC=45))

    assert "steady" == retention(rows, NEW, {8: cycle})["paced_by"].iloc[0]


@pytest.mark.parametrize(("collections", "has_goal"), [(0, False), (1, False), (2, True)])
def test_there_is_no_goal_before_the_second_collection(collections, has_goal):
    frame = retention(readings(reading(0, 30, 10, NumGC=collections)), NEW)

    assert has_goal == frame["goal_bytes"].notna().iloc[0]


def test_where_collections_are_not_counted_the_goal_is_a_steady_heaps():
    frame = retention(readings(reading(0, 30, 10, NumGC=None)), NEW)

    assert last(frame, "goal_bytes") == pytest.approx(66)
    assert "steady" == frame["paced_by"].iloc[0]


@pytest.mark.parametrize(
    ("version", "has_goal"), [("go1.12.17", False), ("go1.13", True), ("go1.27.3", True)]
)
def test_there_is_no_goal_before_1_13(version, has_goal):
    frame = retention(readings(reading(0, 30, 10)), known_version(version, ""))

    assert has_goal == frame["goal_bytes"].notna().iloc[0]


def test_1_13_0_works_to_the_heap_goal_alone():
    rows = readings(reading(0, 100, NextGC=200), reading(1, 20, 80, NumGC=6, NextGC=50))

    by_goal = retention(rows, known_version("go1.13.1", ""))
    by_peak = retention(rows, known_version("go1.13.2", ""))

    assert last(by_goal, "goal_bytes") == pytest.approx(55)
    assert "heap-goal" == by_goal["paced_by"].iloc[1]
    assert last(by_peak, "goal_bytes") == pytest.approx(27.5)


def test_with_gogc_off_there_is_no_goal():
    off = readings(reading(0, 30, 10, NextGC=(1 << 60) / MIB))
    nearly = readings(reading(0, 30, 10, NextGC=((1 << 60) - MIB) / MIB))

    assert retention(off, NEW)["goal_bytes"].isna().all()
    assert retention(nearly, NEW)["goal_bytes"].notna().all()


@pytest.mark.parametrize(
    ("version", "background", "at_once"),
    [
        ("go1.18.10", None, None),
        ("go1.19", None, 60),
        ("go1.21.13", None, 60),
        ("go1.22", 0.95 * 64 - 4, 60),
    ],
)
def test_a_limit_counts_all_that_the_runtime_maps(version, background, at_once):
    """
    Of 64 MiB it takes 4 beside the heap; its background goal is mended in 1.22.
    """
    frame = retention(
        readings(reading(0, 50, 8, memory_limit_bytes=64)), known_version(version, "")
    )

    assert last(frame, "limit_goal_bytes") == pytest.approx(background)
    assert at_once == last(frame, "limit_bytes")


def test_the_lowest_goal_is_worked_to():
    frame = retention(readings(reading(0, 50, 8, memory_limit_bytes=64)), NEW)

    assert last(frame, "goal_bytes") == last(frame, "limit_goal_bytes")
    roomy = retention(readings(reading(0, 50, 8, memory_limit_bytes=640)), NEW)
    assert last(roomy, "goal_bytes") == last(roomy, "paced_goal_bytes")


def test_the_rate_is_what_went_back_since():
    """
    12 MiB in 2 s, and 24 MiB lie above the goal of 11: 4 s. What was taken again is no rate.
    """
    frame = retention(
        readings(
            reading(0, 10, 37, 0, NextGC=10),
            reading(2, 10, 25, 12, NextGC=10),
            reading(3, 20, 17, 10, NextGC=10),
        ),
        NEW,
    )

    rates = frame["release_bytes_per_second"]
    assert pd.isna(rates.iloc[0])
    assert [6 * MIB, 0.0] == list(rates.iloc[1:])
    assert frame["seconds_to_goal"].iloc[1] == pytest.approx(4.0, abs=0.01)
    assert pd.isna(frame["seconds_to_goal"].iloc[2])


def test_a_fresh_arena_is_not_given_back():
    """
    Go 1.13 maps 64 MiB that count as given back; 10 MiB that became stacks are no heap.
    """
    frame = retention(
        readings(reading(0, 10), reading(1, 10, 0, 64), reading(2, 10, 0, 64, HeapSys=64)), NEW
    )

    assert [0.0, 0.0] == frame["release_bytes_per_second"].iloc[1:].tolist()


def test_without_a_clock_there_is_no_rate():
    rows = [one | {"seconds": None} for one in (reading(0, 10, 37, 0), reading(1, 10, 25, 12))]
    frame = retention(readings(*rows), NEW)

    assert frame["release_bytes_per_second"].isna().all()
    assert frame["retained_bytes"].notna().all()


def test_idle_heap_that_nobody_touched_is_not_resident():
    """
    Go 1.12 maps an arena of 64 MiB: idle, not given back, and in no RSS.
    """
    fresh = retention(readings(reading(0, 3, 61, rss_bytes=5)), OLD)
    touched = retention(readings(reading(0, 3, 61, rss_bytes=70)), OLD)
    unsaid = retention(readings(reading(0, 3, 61)), OLD)

    assert 0 == last(fresh, "idle_resident_bytes")
    assert 61 == last(touched, "idle_resident_bytes") == last(unsaid, "idle_resident_bytes")


def test_what_was_given_back_and_is_resident_is_not_idle():
    frame = retention(readings(reading(0, 3, 61, 40, rss_bytes=50, lazy_free_bytes=40)), OLD)

    assert 50 - 40 - 7 == last(frame, "idle_resident_bytes")


def test_a_moment_without_memstats_has_the_rest_missing():
    frame = retention(readings(reading(0, 30), nothing(1, rss_bytes=5 * MIB)), NEW)

    assert 5 == last(frame, "rss_bytes")
    known = ["moment", "seconds", "rss_bytes"]
    assert frame.drop(columns=known).iloc[1].isna().all()


def test_an_unknown_release_is_taken_to_have_the_scavenger():
    assert retention(readings(reading(0, 30, 10)), GoVersion())["goal_bytes"].notna().all()


@given(SIZES, SIZES, SIZES, st.one_of(st.none(), SIZES))
def test_in_use_and_idle_make_what_is_retained(in_use, idle, released, rss):
    frame = retention(readings(reading(0, in_use, idle, released, rss_bytes=rss)), NEW)

    assert in_use + idle == last(frame, "retained_bytes")
    assert 0 <= last(frame, "idle_resident_bytes") <= idle
    row = frame.iloc[0]
    if pd.notna(row["goal_bytes"]):
        above = max(0, row["retained_bytes"] - row["goal_bytes"])
        assert above == row["above_goal_bytes"]


def test_a_limit_below_what_is_beside_the_heap_leaves_it_nothing():
    """
    4 MiB are beside it.
    """
    frame = retention(readings(reading(0, 50, 8, memory_limit_bytes=3)), NEW)

    assert (0, 0, 0, 58) == tuple(
        last(frame, name)
        for name in ("limit_goal_bytes", "limit_bytes", "goal_bytes", "above_goal_bytes")
    )
