"""How goroutines grow, where they wait, and what goes with their number."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.series.goroutine_growth import goroutine_growth, is_of_descriptors
from gomem.analysis.series.trends import trend_of


def grown(*counts, **about):
    return goroutine_growth(np.array(counts, float), **about)


def profile(**by_function):
    return pd.DataFrame(
        {
            "goroutines": list(by_function.values()),
            "function": list(by_function),
            "stack": [f"runtime.gopark;{function};main.serve" for function in by_function],
        }
    )


@pytest.mark.parametrize(
    ("counts", "rises"),
    [
        pytest.param([1, 2, 3], True, id="each more than the one before"),
        pytest.param([1, 3, 3], False, id="as many once"),
        pytest.param([1, 2, 3, 4, 5], True, id="a sure slope"),
        pytest.param([1, 3, 5, 5, 5], False, id="stopped"),
        pytest.param([1, 3, 2, 4, 6, 8], True, id="over many, not each"),
        pytest.param([5], False, id="one moment"),
        pytest.param([], False, id="none"),
    ],
)
def test_what_rises(counts, rises):
    assert rises == grown(*counts).rises


def test_what_stopped_stopped_after_it_rose():
    assert grown(1, 3, 5, 5, 5).stopped
    assert not grown(1, 5, 5, 5).stopped
    assert not grown(5, 5, 5, 5, 5).stopped


def test_where_those_wait_that_came():
    """
    Many wait in main.park at both moments; those that came wait in main.leak.
    """
    found = grown(1010, 1500, profiles=[profile(park=1000, leak=10), profile(park=1001, leak=499)])

    assert ("leak", "main.serve") == (found.waiting, found.created)
    assert ("", "") == (grown(1, 2).waiting, grown(1, 2).created)


def test_one_profile_tells_where_most_wait_and_none_that_nobody_waits():
    alone = grown(1, 2, profiles=[profile(park=7, leak=9)])
    bare = pd.DataFrame({"goroutines": [3], "function": ["main.a"]})

    assert ("leak", "main.serve") == (alone.waiting, alone.created)
    assert ("main.a", "") == (
        grown(1, 2, profiles=[bare]).waiting,
        grown(1, 2, profiles=[bare]).created,
    )
    assert ("", "") == (grown(1, 2, profiles=[profile()]).waiting, "")


def test_a_tenth_of_those_that_came_is_no_small_part():
    """
    100 more: 80 began with main.decode, 10 with main.stream, 9 with main.serve; of main.watch there
    is one more, and of main.old there are fewer.
    """
    rows = {"decode": (2, 82), "stream": (5, 15), "serve": (1, 10), "watch": (0, 1), "old": (90, 9)}
    before, after = (
        pd.DataFrame(
            {
                "goroutines": [counts[place] for counts in rows.values()],
                "function": "main.wait",
                "stack": [f"main.wait;main.{name}" for name in rows],
            }
        )
        for place in (0, 1)
    )

    found = grown(98, 117, profiles=[before, after])

    assert "main.decode" == found.created
    assert {"main.decode", "main.stream"} == found.begun


@pytest.mark.parametrize(
    ("counts", "rises"), [([1, 2, 3, 4], True), ([10, 11, 12, 13, 12], False), ([4, 3, 2], False)]
)
def test_of_few_moments_each_has_more_than_the_one_before(counts, rises):
    assert rises == grown(*counts).rises


def test_stacks_that_fell_are_none_each():
    fell = trend_of(np.array([4196.0, 2148, 100]))

    assert 0.0 == grown(1, 2, 3, stacks=fell, counted_beside=2).stack_bytes_each


def test_descriptors_count_where_they_surely_rise():
    """
    A ramp of 50 bytes counts; a step, a slope that may be 0, and another's allocation do not.
    """
    made = "runtime.systemstack;runtime.newproc1;runtime.malg"
    growth = pd.DataFrame(
        [(made, 10.0, 60.0, 1.0, "ramp"), (made, 0.0, 70.0, 1.0, "step"),
         (made, 0.0, 80.0, 0.0, "ramp"), ("main.a", 0.0, 90.0, 1.0, "ramp")],
        columns=["stack", "first", "last", "slope_low", "shape"],
    )  # fmt: skip

    found = grown(1, 2, 3, growth=growth)

    assert (50.0, 0.0) == (found.descriptors_bytes, found.heap_bytes)
    assert 0.0 == grown(1, 2, 3, growth=growth.iloc[:0]).descriptors_bytes


def test_the_stack_of_each():
    stacks = trend_of(np.array([100.0, 2148, 4196]))

    assert 2048.0 == grown(1, 2, 3, stacks=stacks, counted_beside=2).stack_bytes_each
    assert grown(1, 2, 3).stack_bytes_each is None
    assert 4096.0 == grown(1, 2, 3, stacks=stacks, counted_beside=1).stack_bytes_each
    assert grown(1, 2, 3, stacks=stacks).stack_bytes_each is None
    assert grown(3, 3, 3, stacks=stacks, counted_beside=0).stack_bytes_each is None


def test_the_heap_of_their_own_functions_counts_where_it_surely_rises():
    stacks = ["main.serve;main.read", "main.serve;io.ReadAll", "main.serve;x", "main.other;y"]
    growth = pd.DataFrame(
        {
            "stack": stacks,
            "function": ["main.read", "io.ReadAll", "x", "y"],
            "first": [0.0, 0, 0, 0],
            "last": [100.0, 20, 7, 7],
            "slope_low": [1.0, 1.0, 0.0, 1.0],
            "shape": ["ramp", "ramp", "ramp", "ramp"],
        }
    )

    found = grown(1, 2, 3, profiles=[profile(leak=3)], growth=growth)

    assert 120.0 == found.heap_bytes
    assert 0.0 == found.descriptors_bytes


def test_descriptors_are_the_runtimes():
    assert is_of_descriptors("runtime.systemstack;runtime.newproc1;runtime.malg")
    assert not is_of_descriptors("main.main;runtime.mallocgc")
