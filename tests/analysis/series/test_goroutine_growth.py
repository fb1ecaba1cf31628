"""Where goroutines wait that came, by the program's own function, and what began them."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.series.goroutine_growth import (
    PARKING,
    descriptors_grown,
    goroutine_groups,
    goroutine_growth,
    is_of_descriptors,
    mixed_states,
    places_of,
    stacks_of,
    waiting_in,
    waiting_of,
)
from gomem.analysis.series.level import Level


def profile(*stacks: tuple[int, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {"goroutines": [n for n, _ in stacks], "function": "", "stack": [s for _, s in stacks]}
    )


def test_functions_of_gos_library_are_passed_over():
    waiting = waiting_of(
        [
            profile(
                (
                    7,
                    "runtime.gopark;internal/poll.runtime_pollWait;net.(*conn).Read;app.(*hub).read;app.serve",
                )
            )
        ]
    )

    assert ("app.(*hub).read", "app.serve") == (waiting.function, waiting.created_by)


def test_where_nothing_is_the_programs_own_the_runtimes_parking_is_passed_over():
    parked = "runtime.gopark;runtime.selectgo;net/http.(*persistConn).writeLoop;runtime.goexit"

    assert "net/http.(*persistConn).writeLoop" == waiting_of([profile((7, parked))]).function
    assert "runtime.gopark" == waiting_of([profile((7, "runtime.gopark;runtime.main"))]).function


def test_those_that_were_there_before_do_not_count():
    before = profile((500, "main.pool"), (1, "main.leak;main.start"))
    after = profile((510, "main.pool"), (90, "main.leak;main.start"))

    waiting = waiting_of([before, after])

    assert ("main.leak", 89, 90, 600) == (
        waiting.function, waiting.came, waiting.there, waiting.of_all,
    )  # fmt: skip


def test_all_functions_are_told_in_which_a_good_part_of_them_waits():
    """
    Of 100 that came, 60, 31 and 9.
    """
    after = profile((60, "lib.read"), (31, "main.show"), (9, "main.tick"))

    waiting = waiting_of([profile((1, "main.main")), after])

    assert (("lib.read", 0.6), ("main.show", 0.31)) == waiting.shares


def test_a_dump_says_who_started_them():
    dump = profile((9, "main.leak;main.run"), (4, "main.leak;main.run"), (80, "main.pool"))
    dump["created_by"] = ["main.serve", "main.retry", "main.open"]

    assert "main.serve" == waiting_of([profile((80, "main.pool")), dump]).started_by
    assert not waiting_of([profile((9, "main.leak;main.run"))]).started_by


def test_no_profile_says_nothing():
    assert waiting_of([]) is None
    assert waiting_of([profile()]) is None


def test_descriptors_are_those_that_surely_rise():
    growth = pd.DataFrame(
        {
            "stack": ["runtime.mstart;runtime.newproc1;runtime.malg", "main.f", "runtime.malg"],
            "shape": ["ramp", "ramp", "flat"],
            "slope_low": [1.0, 1.0, 1.0],
            "first": [0.0, 0.0, 0.0],
            "last": [400.0, 99.0, 50.0],
        }
    )

    assert 400 == descriptors_grown(growth)
    assert 0 == descriptors_grown(growth.iloc[:0])


def level(*values: float) -> Level:
    return Level("count", np.arange(float(len(values))), np.array(values, float))


@pytest.mark.parametrize(
    ("counts", "stacks", "grown"),
    [
        pytest.param((10, 20, 110), (1000, 9000), 8000, id="StackInuse"),
        pytest.param((10, 20, 110), (), 100 * 2048, id="by their number, 2 KiB each"),
        pytest.param((10, 20, 110), (9000, 9000), 100 * 2048, id="StackInuse did not grow"),
        pytest.param((10, 20, 110), (9000, 1000), 100 * 2048, id="StackInuse fell"),
        pytest.param((110, 20, 10), (), 0, id="fewer goroutines"),
        pytest.param((10,), (), 0, id="one count"),
        pytest.param((), (1000, 9000), 8000, id="no count"),
    ],
)
def test_stacks_grew_by_what_is_counted_or_by_the_smallest_that_goroutines_have(
    counts, stacks, grown
):
    assert grown == goroutine_growth(level(*counts), level(*stacks)).stacks_grown


def test_all_that_grows_with_goroutines_stands_together():
    found = goroutine_growth(
        level(10, 30), level(5, 9), profiles=[profile((7, "main.leak"))], descriptors_bytes=400.0
    )

    assert (20, 4, 400) == (found.count.grown, found.stacks.grown, found.descriptors_bytes)
    assert ("main.leak", 7) == (found.waiting.function, found.waiting.came)
    assert 0 == goroutine_growth(level(10), level()).descriptors_bytes
    assert goroutine_growth(level(10), level()).count is None
    assert goroutine_growth(level(10), level()).waiting is None


def test_of_one_profile_all_have_come():
    waiting = waiting_of([profile((60, "main.pool"), (40, "main.leak;main.start"))])

    assert ("main.pool", 60, 60, 100) == (
        waiting.function, waiting.came, waiting.there, waiting.of_all,
    )  # fmt: skip
    assert (("main.pool", 0.6), ("main.leak", 0.4)) == waiting.shares


def test_an_empty_profile_is_no_first_count():
    waiting = waiting_of([profile(), profile((60, "main.pool"))])

    assert (60, 60) == (waiting.came, waiting.there)


def test_profiles_between_the_first_and_the_last_do_not_count():
    counts = [profile((count, "main.pool")) for count in (10, 500, 30)]

    assert 20 == waiting_of(counts).came


@pytest.mark.parametrize("last", [10, 9])
def test_where_none_came_none_wait(last):
    assert waiting_of([profile((10, "main.pool")), profile((last, "main.pool"))]) is None


def test_those_that_left_are_not_taken_off_those_that_came():
    before = profile((500, "main.pool;main.start"), (10, "main.pool;main.retry"))
    after = profile((400, "main.pool;main.start"), (40, "main.pool;main.retry"))

    waiting = waiting_of([before, after])

    assert (30, 440, 440) == (waiting.came, waiting.there, waiting.of_all)
    assert (frozenset({"main.retry"}), "main.retry") == (waiting.begun, waiting.created_by)


def test_goroutines_of_one_place_are_added_whatever_began_them():
    """
    In main.read 35 and 30 wait; by what began them, the largest share is that of main.loop.
    """
    waiting = waiting_of(
        [profile((35, "main.read;main.a"), (30, "main.read;main.b"), (45, "main.loop"))]
    )

    assert ("main.read", "main.a", 65) == (waiting.function, waiting.created_by, waiting.came)
    assert frozenset({"main.a", "main.b", "main.loop"}) == waiting.begun


def test_a_tenth_of_those_that_came_is_told_and_less_is_not():
    """
    Of 100 that came 81 wait in one function, 10 in another and 9 in a third.
    """
    waiting = waiting_of(
        [profile((81, "main.a;main.x"), (10, "main.b;main.y"), (9, "main.c;main.z"))]
    )

    assert (("main.a", 0.81), ("main.b", 0.1)) == waiting.shares
    assert frozenset({"main.x", "main.y"}) == waiting.begun


def test_the_starter_is_that_of_most_goroutines_in_that_function():
    dump = profile((9, "main.leak"), (6, "main.leak"), (5, "main.leak"), (1, "main.pool"))
    dump["created_by"] = ["main.a", "main.b", "main.b", "main.c"]

    assert "main.b" == waiting_of([dump]).started_by


def test_a_dump_that_does_not_say_who_started_them_leaves_it_empty():
    dump = profile((9, "main.leak"))
    dump["created_by"] = pd.Series([None], dtype="str")

    assert "" == waiting_of([dump]).started_by


def dump(*rows: tuple) -> pd.DataFrame:
    """A dump of (goroutines, stack, state, wait_seconds, created_by)."""
    names = ["goroutines", "stack", "state", "wait_seconds", "created_by"]
    return pd.DataFrame(rows, columns=names)


def test_groups_of_a_dump_have_what_most_of_them_have_and_the_longest_wait():
    groups = goroutine_groups(
        dump(
            (1, "main.pool", "select", 60.0, "main.main"),
            (3, "runtime.gopark;main.read;main.a", "IO wait", 120.0, "main.x"),
            (4, "main.read;main.b", "select", 300.0, "main.y"),
            (2, "main.read;main.c", "IO wait", np.nan, "main.x"),
        )
    )

    assert [
        ("main.read", 9, 0.9, "IO wait", 300.0, "main.x", "main.read;main.b"),
        ("main.pool", 1, 0.1, "select", 60.0, "main.main", "main.pool"),
    ] == list(groups.itertuples(index=False, name=None))


def test_of_equal_groups_and_stacks_the_first_is_first():
    groups = goroutine_groups(profile((2, "main.b;main.x"), (4, "main.a"), (2, "main.b;main.y")))

    assert [("main.b", 4, "main.b;main.x"), ("main.a", 4, "main.a")] == list(
        groups[["function", "goroutines", "stack"]].itertuples(index=False, name=None)
    )


@pytest.mark.parametrize(("of_all", "share"), [(0, 1.0), (9, 1.0), (10, 1.0), (40, 0.25)])
def test_shares_are_of_all_goroutines_that_there_are(of_all, share):
    assert [share] == goroutine_groups(profile((10, "main.a")), of_all)["share"].tolist()


def test_a_profile_without_states_leaves_them_missing():
    (row,) = goroutine_groups(profile((10, "main.a"))).to_dict("records")

    assert all(pd.isna(row[name]) for name in ("state", "wait_seconds", "created_by"))


def states(*counts: int) -> dict[str, str]:
    """The states of goroutines in main.a, called s0, s1, …; main.b has a single one."""
    rows = [(count, "main.a", f"s{place}", 0.0, "") for place, count in enumerate(counts)]
    return mixed_states(dump(*rows, (5, "main.b", "select", 0.0, "")))


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        pytest.param((7,), None, id="one"),
        pytest.param((2, 9), "9 s1, 2 s0", id="two, the larger first"),
        pytest.param((2, 2), "2 s0, 2 s1", id="two as large, in order"),
        pytest.param((2, 9, 4), "9 s1, 4 s2, 2 s0", id="three"),
        pytest.param((2, 9, 4, 1), "9 s1, 4 s2, 2 s0, 1 more", id="four"),
        pytest.param((2, 9, 4, 1, 1), "9 s1, 4 s2, 2 s0, 2 more", id="five"),
    ],
)
def test_up_to_three_states_of_a_place_are_told(counts, told):
    assert ({} if told is None else {"main.a": told}) == states(*counts)


def test_without_states_none_are_mixed():
    assert {} == mixed_states(profile((7, "main.a"), (3, "main.a")))


@pytest.mark.parametrize("parking", PARKING)
def test_where_any_connection_waits_says_nothing_and_what_calls_it_does(parking):
    waits = f"runtime.gopark;{parking}Read"

    assert "net/http.(*conn).serve" == waiting_in(f"{waits};net/http.(*conn).serve")
    assert f"{parking}Write" == waiting_in(f"{waits};{parking}Write")


def test_of_a_cut_stack_the_outermost_function_that_tells_is_taken():
    cut = "runtime.gopark;net/http.(*persistConn).Read;bufio.(*Reader).fill;bufio.(*Reader).Peek"

    assert "net/http.(*persistConn).Read" == waiting_in(cut)


def test_the_runtimes_own_goroutines_are_named_by_their_innermost_function():
    assert "runtime.gopark" == waiting_in("runtime.gopark;runtime.bgsweep")


def test_without_stacks_the_functions_stand_for_them():
    rows = pd.DataFrame({"goroutines": [3, 4], "function": ["main.a", "runtime.gopark"]})

    assert ["main.a", "runtime.gopark"] == stacks_of(rows).tolist() == places_of(rows).tolist()


@pytest.mark.parametrize(
    ("stack", "is_of"),
    [
        ("runtime.malg", True),
        ("runtime.newproc1", True),
        ("runtime.systemstack;runtime.allgadd", True),
        ("runtime.malg2;main.runtime.malg", False),
        ("main.f", False),
    ],
)
def test_descriptors_are_made_or_listed_in_three_functions(stack, is_of):
    assert is_of is is_of_descriptors(stack)


def test_a_ramp_that_may_be_level_is_no_growth_of_descriptors():
    growth = pd.DataFrame(
        {
            "stack": ["runtime.malg"] * 3,
            "shape": ["ramp"] * 3,
            "slope_low": [0.0, 0.1, 1.0],
            "first": [0.0, 5.0, 10.0],
            "last": [400.0, 25.0, 50.0],
        }
    )

    assert 60 == descriptors_grown(growth)


def test_a_single_goroutine_that_came_is_told():
    waiting = waiting_of([profile((10, "main.pool")), profile((11, "main.pool"))])

    assert (1, 11, (("main.pool", 1.0),)) == (waiting.came, waiting.there, waiting.shares)
