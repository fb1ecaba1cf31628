"""Which function goroutines began with, by a stripped executable; and timers and cleanups by it."""

from functools import cache

import pandas as pd
import pytest

from gomem.analysis.retention.keepers import retention_of
from gomem.inputs.heapdump.table import read_heapdump
from gomem.inputs.symbols.table import read_symbols
from tests.heap_dumps import STARTED, started

KIB = 1 << 10
# Goroutines of each function, of which each holds 16 KiB.
GOROUTINES = {
    "main.serve": 3,
    "main.(*conn).serve": 2,
    "main.work": 1,
    "main.handle": 1,
    "main.each": 1,
    "main.idle": 1,
    "main.start.func1": 1,
}


@cache
def kept(release, *, executable=True):
    symbols = read_symbols(started(release, "exe")).symbols if executable else None
    return retention_of(read_heapdump(started(release)), symbols)


def keepers(retention, kind):
    """Count and bytes of the keepers of a kind that keep at least 4 KiB, by name."""
    rows = retention.keepers[
        (retention.keepers["kind"] == kind) & (retention.keepers["bytes"] >= 4 * KIB)
    ]
    names = rows["name"].str.replace(r"\[.*\]", "", regex=True)
    return dict(zip(names, zip(rows["count"], rows["bytes"], strict=True), strict=True))


@pytest.mark.parametrize("release", STARTED)
def test_goroutines_are_of_the_function_that_their_go_statement_names(release):
    """
    Whether it was inlined into what the compiler made of the statement or not, and however it is
    called: as a function, a method, by a variable, by an interface.
    """
    found = keepers(kept(release), "goroutine")

    assert {name: count for name, (count, _) in found.items()} == GOROUTINES
    for count, size in found.values():
        assert count * 16 * KIB <= size <= 1.1 * count * 16 * KIB


@pytest.mark.parametrize("release", STARTED)
def test_without_the_executable_they_are_of_what_the_compiler_made(release):
    found = keepers(kept(release, executable=False), "goroutine")

    assert "main.serve" not in found
    assert any(name.startswith("main.accept.") for name in found)


@pytest.mark.parametrize("release", STARTED)
def test_a_path_says_who_started_them_and_names_the_frame_of_what_was_inlined(release):
    retention = kept(release)
    paths = {name: retention.path(row) for row, name in enumerate(retention.keepers["name"])}

    assert ("main.idle", "started by main.start", "frame of main.idle") == paths["main.idle"][:3]
    assert "started by main.accept and main.start" == paths["main.serve"][1]
    assert "frame of main.work" == paths["main.work"][2]


@pytest.mark.parametrize("release", STARTED)
def test_timers_are_named_where_no_variable_is(release):
    found = keepers(kept(release), "other")

    assert 8 == found["timer main.expire.func1"][0]
    assert 8 * 4 * KIB <= found["timer main.expire.func1"][1] <= 9 * 4 * KIB
    assert "the Go runtime" in found
    assert not any(" in bss" in name for name in found)


@cache
def with_variables():
    """By the stripped executable and the symbols of a build that is not, whose data lie lower."""
    parts = [read_symbols(started("1.27.3", name)).symbols for name in ("exe", "nm.txt")]
    return retention_of(read_heapdump(started("1.27.3")), pd.concat(parts, ignore_index=True))


def test_a_timer_that_a_variable_holds_does_not_keep_the_others():
    """
    It points at the list of all timers, in a structure of the scheduler's.
    """
    count, size = keepers(with_variables(), "other")["timer main.expire.func1"]

    assert (8, True) == (count, 8 * 4 * KIB <= size <= 9 * 4 * KIB)


def test_variables_of_a_stripped_program_are_named_by_another_build_of_it():
    retention = with_variables()
    bytes_of = retention.keepers.set_index("name")["bytes"]

    # An array of 20 pointers has grown to 32; each object has 32 B.
    assert 20 * 32 + 32 * 8 == bytes_of["main.cleaned"]
    assert {"main.count", "os.Stdout"} <= set(bytes_of.index)


def test_a_cleanup_keeps_its_argument_up_to_go_1_25():
    retention = kept("1.24.13")
    count, size = keepers(retention, "cleanup")["main.unmap"]

    assert 20 == count == retention.cleanups
    assert 20 * 8 * KIB <= size <= 1.1 * 20 * 8 * KIB
    assert retention.unreachable_bytes < 20 * 8 * KIB


def test_since_go_1_26_cleanups_are_counted_and_their_arguments_hang_below_nothing():
    retention = kept("1.27.3")

    assert {} == keepers(retention, "cleanup")
    assert 20 == retention.cleanups
    assert 20 * 8 * KIB <= retention.unreachable_bytes


def test_without_names_of_functions_cleanups_are_not_counted():
    assert kept("1.27.3", executable=False).cleanups is None
    assert 0 == kept("1.18.10").cleanups
