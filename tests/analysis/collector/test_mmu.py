"""What the program keeps: a case computed by hand, and brute force over random collections."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.collector.cost import cost_of_collection
from gomem.analysis.collector.mmu import (
    WINDOWS_SECONDS,
    lost_time,
    mutator_utilization,
)
from tests.builders import CAPTURES
from tests.gc_logs import captured, log_of, packed_cycles

TICK = 0.001  # of the random logs, so that brute force can try every window


def cycles_of(*changes):
    """Collections that take 10 ms of both Ps, half of them stopped."""
    return log_of(*changes, first=2, mark=5, last=3, assist=2, background=3, idle=5).cycles


def minimum(cycles, seconds):
    return mutator_utilization(cycles, (seconds,)).curve["minimum_fraction"].iloc[0]


def test_a_hand_computed_log():
    """
    Starts at 100 and 120 ms. Each takes 2 ms stopped, 5 ms marking at 5 ms of CPU of 2 Ps, so
    half, and 3 ms stopped: 7.5 ms lost of 10. In 3 ms the worst window is the last stop: 0 left.
    In 10 ms a whole collection: 2.5 of 10. In 30 ms both: 15 of 30. From 0 to 130 ms: 115 of 130.
    """
    cycles = cycles_of({"at": 0.1}, {"at": 0.12})

    assert 0.0 == pytest.approx(minimum(cycles, 0.003))
    assert 0.25 == pytest.approx(minimum(cycles, 0.01))
    assert 0.5 == pytest.approx(minimum(cycles, 0.03))
    assert 115 / 130 == pytest.approx(mutator_utilization(cycles).mean_fraction)


def test_the_worst_window_is_named():
    """
    The second collection stops for 8 ms from 0.2 s on; nothing else is as bad.
    """
    curve = mutator_utilization(cycles_of({"at": 0.1}, {"at": 0.2, "first": 8}), (0.008,)).curve

    assert [(0.008, 0.0, 1, 0.2)] == [tuple(row) for row in curve.itertuples(index=False)]


@pytest.mark.parametrize("worse", [0, 1])
def test_the_worst_window_is_that_of_any_run(worse):
    """
    One of two processes stops for 8 ms, the other for 3 at most.
    """
    lines = [{"at": 0.1, "number": 1}, {"at": 0.1, "number": 1}]
    lines[worse] |= {"first": 8}

    (row,) = mutator_utilization(cycles_of(*lines), (0.008,)).curve.to_dict("records")

    assert (0.0, worse + 1, 0.1) == (row["minimum_fraction"], row["run"], row["at_seconds"])


def test_a_window_longer_than_the_log_is_unknown():
    assert np.isnan(minimum(cycles_of({"at": 0.1}), 1.0))


def test_a_log_that_begins_late_knows_nothing_of_the_time_before():
    """
    Its first line is number 7: the record begins there, with the collection.
    """
    late = cycles_of({"at": 0.1, "number": 7}, {"at": 0.12, "number": 8})

    assert 15 / 30 == pytest.approx(mutator_utilization(late).mean_fraction)


def test_two_runs_are_two_clocks():
    """
    A window does not reach from one process into the next: each run is shorter than 200 ms.
    """
    cycles = cycles_of({"at": 0.1}, {"at": 0.12}, {"at": 0.1, "number": 1})

    assert np.isnan(minimum(cycles, 0.2))
    assert 0.25 == pytest.approx(minimum(cycles, 0.01))


def test_a_collection_printed_inside_the_one_before_begins_at_its_end():
    """
    Starts are cut to 1 ms. Laid one after another, the two take 20 ms, of which 5 are kept.
    """
    cycles = cycles_of({"at": 0.1}, {"at": 0.109})

    assert 0.25 == pytest.approx(minimum(cycles, 0.02))


def test_a_longer_one_inside_the_one_before_begins_at_its_end():
    """
    The first lasts from 100 to 110 ms; the second, of 20 ms, is printed at 109.
    """
    lost = lost_time(cycles_of({"at": 0.1}, {"at": 0.109, "mark": 15}))

    assert [0.1, 0.11] == pytest.approx([lost.knots[0], lost.knots[4]])
    assert 0.13 == pytest.approx(lost.end)


def test_the_worst_window_may_end_where_a_stop_ends():
    """
    Of 4 ms the last stop takes 3, and marking half of the one before.
    """
    assert 0.125 == pytest.approx(minimum(cycles_of({"at": 0.1}), 0.004))


def test_in_pieces_a_stop_is_lost_once():
    """
    The first of three, of 300 ms, is the last of its piece.
    """
    whole = cycles_of({"last": 300}, {}, {})

    cut = packed_cycles(whole, 1)

    assert mutator_utilization(whole).mean_fraction == pytest.approx(
        mutator_utilization(cut).mean_fraction
    )


def test_missing_collections_are_told():
    cycles = cycles_of({"at": 0.1}, {"at": 0.2, "number": 4})

    assert "2 GCs are missing" in mutator_utilization(cycles).notes[0]


def test_a_harmed_log_without_ps_is_taken_for_one_p():
    """
    2 ms stopped, 5 ms marking at 5 ms of CPU, 3 ms stopped: all of it.
    """
    cycles = cycles_of({"at": 0.1}).assign(gomaxprocs=0)

    assert 0.0 == pytest.approx(minimum(cycles, 0.01))


def test_no_collection_is_no_answer():
    answer = mutator_utilization(cycles_of())

    assert None is answer.mean_fraction
    assert answer.curve["minimum_fraction"].isna().all()
    assert list(WINDOWS_SECONDS) == list(answer.curve["window_seconds"])


collections = st.lists(
    st.tuples(*[st.integers(0, 6)] * 4, st.integers(0, 20), st.integers(0, 20)),
    min_size=1,
    max_size=6,
)


def random_cycles(sample):
    """Collections of whole milliseconds that do not overlap, on 2 Ps."""
    rows, clock = [], 0
    for gap, first, mark, last, assist, background in sample:
        clock += gap
        times = {"first": first, "mark": mark, "last": last}
        work = {"assist": assist, "background": background, "idle": 9}
        rows.append({"at": clock * TICK, **times, **work})
        clock += first + mark + last
    return cycles_of(*rows)


def kept_by_tick(sample):
    """Part that the program keeps of each millisecond, written down one by one."""
    kept = []
    for gap, first, mark, last, assist, background in sample:
        kept += [1.0] * gap + [0.0] * first
        kept += [1 - min(1.0, (assist + background) / (2 * mark))] * mark if mark else []
        kept += [0.0] * last
    return kept


@settings(max_examples=60, deadline=None)
@given(collections, st.integers(1, 40))
def test_the_curve_agrees_with_brute_force(sample, ticks):
    """
    Every loss begins and ends on a tick, so some worst window does: try every one of them.
    """
    kept = kept_by_tick(sample)
    windows = [sum(kept[i : i + ticks]) / ticks for i in range(len(kept) - ticks + 1)]

    found = minimum(random_cycles(sample), ticks * TICK)

    assert (min(windows) == pytest.approx(found, abs=1e-6)) if windows else np.isnan(found)


@settings(max_examples=30, deadline=None)
@given(collections)
def test_utilisation_agrees_with_brute_force(sample):
    kept = kept_by_tick(sample)

    mean = mutator_utilization(random_cycles(sample)).mean_fraction

    assert (sum(kept) / len(kept) == pytest.approx(mean, abs=1e-6)) if kept else mean is None


@settings(max_examples=20, deadline=None)
@given(collections)
def test_no_window_is_worse_than_the_worst_and_twice_the_window_is_no_worse(sample):
    """
    A window of twice the length is two windows, each at least as good as the worst.
    """
    one = mutator_utilization(random_cycles(sample), (0.004, 0.008)).curve["minimum_fraction"]

    assert one.isna().iloc[1] or one.iloc[0] <= one.iloc[1] + 1e-9


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_what_is_lost_is_the_cpu_of_the_summary(path):
    """
    Two ways to one number: the time lost, times the Ps, is the CPU that the log prints.
    Digits: each is cut to two, so a sum of printed parts agrees with a product of them to a tenth.
    """
    cycles = captured(path).cycles
    cpu = cost_of_collection(pd.concat([cycles, cycles.tail(1).assign(number=10**6)]))

    lost = lost_time(cycles)

    seconds = float(cycles["at_seconds"].iloc[-1] - cycles["at_seconds"].iloc[0])
    assert cpu.gc_cpu_fraction * seconds == pytest.approx(float(lost.lost[-1]), rel=0.1)
