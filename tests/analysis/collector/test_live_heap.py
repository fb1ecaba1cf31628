"""The slope of the live heap: by hand, in random walks, and where a heap only fills."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.collector.heap_pacing import live_heaps
from gomem.units import MIB
from tests.gc_logs import cycles_of


def live_of(*sizes, **usual):
    (answer,) = live_heaps(cycles_of(*({"live": int(size)} for size in sizes), **usual))
    return answer


def test_a_leak_of_two_mib_a_second():
    """
    One collection a second, 2 MiB more each time: the slope is 2 MiB/s exactly, and rounding
    leaves half a MiB at either end of the 19 s from where the heap first reached its median.
    """
    answer = live_of(*range(10, 90, 2))

    assert (20, 19.0) == (answer.cycles, answer.seconds)
    assert 2 * MIB == pytest.approx(answer.slope_bytes_per_second)
    assert 2 * MIB - np.hypot(0.5, 0.5) * MIB / 19 == pytest.approx(answer.slope_low)
    assert 2 * MIB + np.hypot(0.5, 0.5) * MIB / 19 == pytest.approx(answer.slope_high)
    assert 38 * MIB == pytest.approx(answer.grown_bytes)
    assert "ramp" == answer.shape


def test_a_heap_that_filled_and_stays_does_not_grow():
    """
    Ten collections of filling, thirty of staying: only these are looked at.
    """
    answer = live_of(*range(5, 105, 10), *[100] * 30)

    assert 0 == answer.slope_bytes_per_second
    assert answer.slope_low < 0 < answer.slope_high


def test_a_few_odd_collections_do_not_move_the_slope():
    """
    Theil and Sen's slope stands as long as fewer than three in ten points are odd.
    """
    sizes = [50] * 40
    sizes[20:25] = [500] * 5

    assert 0 == live_of(*sizes).slope_bytes_per_second


def test_too_few_collections_have_no_slope():
    assert None is live_of(10, 11, 12, 13).slope_bytes_per_second
    assert None is live_of(10, 11, 12, 13).grown_bytes


@pytest.mark.parametrize("count", [59, 60, 61, 90, 121])
def test_medians_of_neighbours_keep_the_slope_of_a_line(count):
    """
    Sixty of them at most, however many collections there are; the heap is above its median from
    the first one on.
    """
    answer = live_of(*[1000] * count)

    assert (count, 0.0) == (answer.cycles, answer.slope_bytes_per_second)


@pytest.mark.parametrize(("count", "slope"), [(8, 0), (7, None)])
def test_eight_collections_have_a_slope(count, slope):
    assert slope == live_of(*[10] * count).slope_bytes_per_second


def test_first_and_last_are_medians_of_a_tenth():
    """
    Of 30 collections the first three and the last three, each with an odd one.
    """
    answer = live_of(60, 90, 61, *[50] * 24, 80, 20, 79)

    assert (30, 61 * MIB, 79 * MIB) == (answer.cycles, answer.first_bytes, answer.last_bytes)


def test_each_run_has_its_own_slope():
    """
    A restart takes the heap back; that is no shrinking.
    """
    lines = [{"live": 10 + number, "number": number} for number in (*range(1, 31), *range(1, 21))]
    lines = [line | {"at": float(line["number"])} for line in lines]

    assert [1, 2] == [answer.run for answer in live_heaps(cycles_of(*lines))]
    assert [MIB, MIB] == pytest.approx(
        [answer.slope_bytes_per_second for answer in live_heaps(cycles_of(*lines))]
    )


def test_no_collection_no_answer():
    assert () == live_heaps(cycles_of())


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 5), st.integers(20, 120), st.integers(0, 2**32 - 1))
def test_the_interval_holds_the_slope_of_a_line_with_noise(slope, n, seed):
    """
    A line in MiB/s, floored to MiB as the runtime does, with noise of a few MiB: the interval
    must hold the slope; 95 of 100 do, so a margin of one interval's width is granted here.
    """
    noise = np.random.default_rng(seed).normal(0, 2, n)
    answer = live_of(*np.floor(40 + slope * np.arange(n) + noise).clip(min=0))

    if answer.slope_low is not None:
        width = answer.slope_high - answer.slope_low
        assert answer.slope_low - width <= slope * MIB <= answer.slope_high + width


def test_a_leak_under_a_heap_that_swings_goes_on():
    """
    Four MiB more each second; every other collection meets 60 MiB of requests, too, or none does.
    A heap that swings alone, or has come back at the end, does not go on.
    """
    leak = np.arange(10, 170, 4)
    swing = np.tile([0, 60], 20)

    over_the_leak, alone = live_of(*(leak + swing)), live_of(*(50 + swing))

    assert ("saw-tooth", True) == (over_the_leak.shape, over_the_leak.goes_on)
    assert over_the_leak.slope_low > 0
    assert not alone.goes_on
    assert not live_of(*leak[:-3], 10, 10, 10).goes_on
    assert live_of(10, 11, 12, 13).goes_on is None
