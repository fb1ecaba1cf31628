"""Collections between two readings are counted by the wall clock that MemStats gives the log."""

import pandas as pd
import pytest

from gomem.analysis.memory.skew import collection_ends, measure_skew
from tests.builders import CAPTURES, diagnosed

NOON = pd.Timestamp("2026-11-20T12:00:00Z")
PHASES = (
    "sweep_termination_seconds",
    "scan_seconds",
    "write_barrier_seconds",
    "mark_seconds",
    "mark_termination_seconds",
)


def log(*at_seconds: float) -> pd.DataFrame:
    """Collections that each took a quarter of a second of marking."""
    frame = pd.DataFrame({"number": range(1, len(at_seconds) + 1), "at_seconds": at_seconds})
    return frame.assign(**dict.fromkeys(PHASES, 0.0)).assign(mark_seconds=0.25)


def stats(number: int, last: pd.Timestamp) -> pd.DataFrame:
    return pd.DataFrame({"NumGC": pd.array([number], "Int64"), "LastGC": [last]})


def dump(number: int, last: pd.Timestamp = NOON) -> pd.Series:
    return stats(number, last).iloc[0]


def later(seconds: float) -> pd.Timestamp:
    return NOON + pd.Timedelta(seconds=seconds)


def test_one_collection_in_both_ties_the_log_to_the_clock():
    """
    The second one began at 5.0 and ended at noon; the third began 3 s after it.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0), stats(2, NOON))

    assert [later(-4), NOON, later(3)] == list(ends)


def test_collections_between_the_two_sides_are_counted():
    """
    MemStats were read after the second one, smaps 6 s later: the third and fourth lie between.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0, 9.0, 20.0), stats(2, NOON))

    skew = measure_skew(later(1), later(6), ends, dump(2))

    assert (5.0, 2) == (skew.seconds, skew.collections)
    assert skew.crosses_a_collection


def test_the_collections_after_smaps_are_counted_where_smaps_came_first():
    """
    MemStats know four; the third and fourth, at 3 s and 4 s, ended after smaps were read.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0, 9.0), stats(2, NOON))

    assert 2 == measure_skew(later(6), later(1), ends, dump(4, later(4))).collections


def test_last_gc_alone_tells_that_one_came_after_smaps():
    """
    Without any log: it ended a millisecond after smaps were read.
    """
    skew = measure_skew(later(6), later(1), None, dump(4, later(1.001)))

    assert skew.crosses_a_collection


def test_last_gc_alone_tells_that_none_came_after_smaps():
    assert 0 == measure_skew(later(6), later(1), None, dump(4, later(0.999))).collections


def test_a_collection_right_behind_memstats_is_known_by_its_number():
    """
    The clock cannot tell 1 ms; NumGC was 2, so the third came after the reading.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0), stats(2, NOON))

    assert 1 == measure_skew(later(2.999), later(6), ends, dump(2)).collections


def test_seconds_without_a_collection_are_no_harm():
    ends = collection_ends(log(1.0, 5.0, 30.0), stats(2, NOON))

    skew = measure_skew(later(1), later(6), ends, dump(2))

    assert 0 == skew.collections
    assert not skew.crosses_a_collection


def test_a_log_that_ends_before_smaps_does_not_say_that_there_was_none():
    ends = collection_ends(log(1.0, 5.0), stats(2, NOON))

    assert measure_skew(later(1), later(6), ends, dump(2)).collections is None


def test_a_collection_within_the_logs_own_error_of_smaps_may_be_on_either_side():
    """
    The log is exact to some milliseconds: 2 ms before the reading is no evidence.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0, 20.0), stats(2, NOON))

    assert measure_skew(later(1), later(3.002), ends, dump(2)).collections is None


def test_without_a_log_it_is_unknown_and_not_zero():
    assert measure_skew(NOON, later(6)).collections is None


def test_metrics_that_count_more_collections_than_memstats_tell_without_a_log():
    assert 3 == measure_skew(NOON, later(6), counts=(40, 43)).collections


def test_a_log_of_two_runs_ties_nothing():
    twice = pd.concat([log(1.0), log(1.0)])

    assert collection_ends(twice, stats(1, NOON)) is None


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_every_dump_of_a_fixture_gives_the_log_the_same_clock(path):
    """
    Two sources, one number: tied by the first dump, the log says when the last dump's collection
    ended; LastGC says it, too. A gctrace line is exact to 1 ms, and phases are cut to two digits.
    """
    capture = diagnosed(path).capture
    ends = collection_ends(capture.gc.cycles, capture.memstats)
    last = capture.memstats.iloc[-1]

    by_log = ends[last["NumGC"]]

    assert abs((by_log - last["LastGC"]).total_seconds()) < 0.005


@pytest.mark.parametrize(("after_it", "collections"), [(0.006, 1), (0.005, None), (-0.005, None)])
def test_a_collection_is_counted_from_five_milliseconds_on(after_it, collections):
    """
    The third ended 3 s after noon; smaps were read so long after it. The log ends there, too.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0), stats(2, NOON))

    assert collections == measure_skew(later(1), later(3 + after_it), ends, dump(2)).collections


@pytest.mark.parametrize(("before_it", "collections"), [(0.006, 0), (0.005, None)])
def test_a_collection_that_ends_right_after_smaps_says_that_there_was_none(before_it, collections):
    """
    Only where the log goes on beyond what its clock can tell.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0), stats(2, NOON))

    assert collections == measure_skew(later(1), later(3 - before_it), ends, dump(2)).collections


def test_one_that_nobody_can_place_leaves_it_unknown_though_the_log_goes_on():
    ends = collection_ends(log(1.0, 5.0, 8.0, 20.0), stats(2, NOON))

    assert measure_skew(later(1), later(2.997), ends, dump(2)).collections is None


def test_both_read_at_once_are_counted_as_memstats_first():
    ends = collection_ends(log(1.0, 5.0, 8.0), stats(2, NOON))

    skew = measure_skew(later(1), later(1), ends, dump(2))

    assert (0.0, 0) == (skew.seconds, skew.collections)


@pytest.mark.parametrize(
    ("memstats_time", "kernel_time"), [(None, later(6)), (later(1), None), (None, None)]
)
def test_without_a_time_on_both_sides_nothing_is_subtracted(memstats_time, kernel_time):
    ends = collection_ends(log(1.0, 5.0, 8.0), stats(2, NOON))

    skew = measure_skew(memstats_time, kernel_time, ends, dump(2))

    assert (None, None, "") == (skew.seconds, skew.collections, skew.source)


def test_counts_that_differ_need_no_time():
    skew = measure_skew(None, None, counts=(43, 40))

    assert (None, 3, "NumGC against runtime/metrics") == (
        skew.seconds,
        skew.collections,
        skew.source,
    )
    assert measure_skew(None, None, counts=(43, 43)).collections is None


def test_the_log_counts_before_the_two_counts_do():
    """
    Between MemStats and smaps, and not between MemStats and the metrics read before smaps.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0, 9.0, 20.0), stats(2, NOON))

    skew = measure_skew(later(1), later(6), ends, dump(2), counts=(2, 3))

    assert (2, "NumGC, LastGC and the gctrace log") == (skew.collections, skew.source)


def test_a_count_tells_of_one_that_the_log_cannot_place():
    ends = collection_ends(log(1.0, 5.0, 30.0), stats(2, NOON))

    assert 1 == measure_skew(later(1), later(6), ends, dump(2), counts=(2, 3)).collections


def test_a_dump_without_a_number_counts_nothing():
    ends = collection_ends(log(1.0, 5.0, 8.0), stats(2, NOON))
    unknown = dump(2).copy()
    unknown["NumGC"] = pd.NA

    assert measure_skew(later(1), later(6), ends, unknown).collections is None


@pytest.mark.parametrize(("number", "collections"), [(0, 0), (3, None)])
def test_smaps_first_and_no_last_collection(number, collections):
    """
    NumGC of 0 says that there was none; a number without its time says nothing.
    """
    skew = measure_skew(later(6), later(1), None, dump(number, pd.NaT))

    assert collections == skew.collections


def test_smaps_read_as_the_last_collection_ended_lie_behind_it():
    assert 0 == measure_skew(later(6), later(1), None, dump(4, later(1))).collections
    assert 1 == measure_skew(later(6), later(1), None, dump(4, later(1.000001))).collections


def test_collections_after_memstats_are_none_of_those_before_them():
    """
    Smaps at 1 s, MemStats at 3.5 s know the third, which ended at 3 s; the fourth came at 4 s.
    """
    ends = collection_ends(log(1.0, 5.0, 8.0, 9.0), stats(2, NOON))

    assert 1 == measure_skew(later(3.5), later(1), ends, dump(3, later(3))).collections


def test_by_the_log_alone_none_came_after_smaps_but_memstats_know_one():
    """
    The last one ended 2 ms after smaps: within the log's error, and exact by LastGC.
    """
    ends = collection_ends(log(1.0, 5.0), stats(2, NOON))

    assert 1 == measure_skew(later(6), later(-0.002), ends, dump(2)).collections


def test_a_dump_that_the_log_does_not_have_ties_nothing_and_the_next_one_does():
    frame = pd.concat([stats(9, later(90)), stats(2, NOON)])

    assert collection_ends(log(1.0, 5.0), stats(9, NOON)) is None
    assert [later(-4), NOON] == list(collection_ends(log(1.0, 5.0), frame))


def test_a_phase_that_the_log_does_not_have_takes_no_time():
    cycles = log(1.0, 5.0).assign(scan_seconds=float("nan"))

    assert [later(-4), NOON] == list(collection_ends(cycles, stats(2, NOON)))


def test_a_collection_ends_after_all_its_phases():
    cycles = log(1.0, 5.0)
    cycles.loc[0, list(PHASES)] = [0.1, 0.2, 0.3, 0.4, 0.5]

    assert [later(-4 + 1.5 - 0.25), NOON] == list(collection_ends(cycles, stats(2, NOON)))


def test_a_dump_before_smaps_without_a_log_says_nothing():
    assert measure_skew(later(1), later(6), None, dump(2)).collections is None


def test_both_read_at_once_without_a_log_say_nothing():
    """
    Not that there was none, which is known only where smaps came first.
    """
    assert measure_skew(later(1), later(1), None, dump(2)).collections is None


def test_a_collection_at_the_end_of_the_clocks_error_came_after_smaps():
    ends = collection_ends(log(1.0, 5.0, 8.0, 20.0), stats(2, NOON))

    assert 0 == measure_skew(later(1), later(2.995), ends, dump(2)).collections
    assert measure_skew(later(1), later(2.996), ends, dump(2)).collections is None
