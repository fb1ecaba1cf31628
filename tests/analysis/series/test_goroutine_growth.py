"""Where goroutines wait that came, by the program's own function, and what began them."""

import pandas as pd

from gomem.analysis.series.goroutine_growth import descriptors_grown, waiting_of


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
