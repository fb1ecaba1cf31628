"""The log in windows: nothing that matters is lost when collections share one."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.collector.timeline import gc_timeline
from gomem.facts.collector import TABLE_WINDOWS
from gomem.units import MIB
from tests.gc_logs import cycles_of, facts_of


def test_few_collections_have_a_window_each():
    """
    It begins with the collection and ends with the next one; 9 MiB are garbage in each second.
    """
    frame = gc_timeline(cycles_of({}, {}, {}))

    assert [1.0, 2.0, 3.0] == list(frame["begin_seconds"])
    assert [2.0, 3.0] == list(frame["end_seconds"][:2])
    assert [1, 1, 1] == list(frame["cycles"])
    assert [9 * MIB, 9 * MIB] == list(frame["allocation_rate_bytes_per_second"][:2])
    assert [0.0003, 0.0003] == pytest.approx(list(frame["assist_cores"][:2]))
    assert [0.0005, 0.0005] == pytest.approx(list(frame["gc_cpu_fraction"][:2]))  # 1 ms of 2 Ps


def test_a_share_of_cpu_is_of_the_ps_of_its_window():
    """
    1 ms in a second of one P, then of four.
    """
    frame = gc_timeline(cycles_of({"p": 1}, {"p": 4}, {}))

    assert [0.001, 0.00025] == pytest.approx(list(frame["gc_cpu_fraction"][:2]))


def test_of_the_last_collection_nobody_knows_what_followed():
    last = gc_timeline(cycles_of({}, {})).iloc[-1]

    assert pd.isna(last["assist_cores"])
    assert pd.isna(last["allocation_rate_bytes_per_second"])


def test_the_last_window_ends_with_the_last_collection():
    """
    It begins at 2 s, and stops and marks for 0.01 + 1 + 0.02 ms.
    """
    cycles = cycles_of({}, {})

    assert 2.00103 == pytest.approx(gc_timeline(cycles)["end_seconds"].iloc[-1], abs=1e-9)


def test_as_many_collections_as_windows_share_them():
    """
    From 1 s to 2.00103 in two equal halves.
    """
    frame = gc_timeline(cycles_of({}, {}), 2)

    assert [1.0, 1.500515] == pytest.approx(list(frame["begin_seconds"]))
    assert [1.500515, 2.00103] == pytest.approx(list(frame["end_seconds"]))


def test_a_long_log_has_as_many_windows_as_a_figure_has_room_for():
    assert [399, 400] == [len(gc_timeline(cycles_of(*[{}] * count))) for count in (399, 402)]


def test_two_starts_in_one_millisecond_leave_no_time_for_a_rate():
    frame = gc_timeline(cycles_of({"at": 1.0}, {"at": 1.0}, {"at": 3.0}))

    assert pd.isna(frame["assist_cores"].iloc[0])
    assert pd.isna(frame["allocation_rate_bytes_per_second"].iloc[0])
    assert 0.00015 == pytest.approx(frame["assist_cores"].iloc[1])


def test_runs_are_laid_end_to_end():
    """
    The first run ends with its last collection, at 2 s and 1.03 ms; there the second begins its 0.
    """
    lines = [{"number": 1, "at": 1.0}, {"number": 2, "at": 2.0}, {"number": 1, "at": 1.0}]

    frame = gc_timeline(cycles_of(*lines))

    assert [1.0, 2.0, 3.00103] == list(frame["begin_seconds"])
    assert [1, 1, 2] == list(frame["run"])


def test_a_window_without_a_collection_keeps_the_heap_of_the_last_one():
    lines = [{"at": at / 100} for at in range(20)] + [{"at": 9.0, "live": 5}]

    frame = gc_timeline(cycles_of(*lines), windows=10)

    assert [20, *[0] * 8, 1] == list(frame["cycles"])
    assert [10 * MIB] * 9 == list(frame["heap_live_low_bytes"][:9])
    assert frame["stopped_max_seconds"][1:9].isna().all()


def test_no_collection_has_no_window():
    assert gc_timeline(cycles_of()).empty


collections = st.lists(
    st.tuples(st.floats(0.001, 2.0), st.integers(1, 99), st.sampled_from([0.01, 0.5, 3, 40])),
    min_size=30,
    max_size=80,
)


@settings(max_examples=15, deadline=None)
@given(collections)
def test_sharing_windows_loses_no_peak_and_counts_nothing_twice(sample):
    """
    Whatever the windows: the same collections, stops and CPU in all, the same highest heap and
    longest stop, and the same bytes allocated.
    """
    at, lines = 0.0, []
    for gap, live, stop in sample:
        at += gap
        lines.append({"at": at, "live": live, "start": live + 9, "end": live + 9, "first": stop})
    cycles = cycles_of(*lines)

    few, own = gc_timeline(cycles, windows=7), gc_timeline(cycles)

    assert len(cycles) == few["cycles"].sum() == own["cycles"].sum()
    assert own["stopped_max_seconds"].max() == few["stopped_max_seconds"].max()
    assert own["stopped_seconds"].sum() == pytest.approx(few["stopped_seconds"].sum())
    assert own["heap_at_mark_end_high_bytes"].max() == few["heap_at_mark_end_high_bytes"].max()
    assert own["heap_live_low_bytes"].min() == few["heap_live_low_bytes"].min()
    assert allocated(own) == pytest.approx(allocated(few), rel=1e-6, abs=1)


def allocated(frame):
    lengths = frame["end_seconds"] - frame["begin_seconds"]
    return (frame["allocation_rate_bytes_per_second"] * lengths).sum()


@pytest.mark.parametrize("count", [TABLE_WINDOWS - 1, TABLE_WINDOWS, TABLE_WINDOWS + 1])
def test_what_is_printed_of_a_log_has_the_windows_that_were_asked_for(count):
    """
    On both sides of where figure and table begin to differ.
    """
    facts = facts_of(*[{}] * count)

    pd.testing.assert_frame_equal(gc_timeline(facts.cycles, TABLE_WINDOWS), facts.timeline_table)
    assert (count < TABLE_WINDOWS) == (facts.timeline is facts.timeline_table)
