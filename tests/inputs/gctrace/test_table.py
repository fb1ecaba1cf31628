"""GC logs as frames: types for every kind of log, and the same numbers as MemStats'."""

import numpy as np
import pandas as pd
import pytest

from gomem.errors import FormatError
from gomem.inputs.gctrace.table import CYCLES, PACER, SCAVENGES, packed_log, read_gctrace
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.schema import UNITS
from gomem.units import MIB
from tests.builders import FIXTURES

CAPTURES = FIXTURES / "captures"
LOGS = sorted(CAPTURES.glob("*/gctrace.log"))
CYCLE = (
    b"gc %d @0.0%d0s 4%%: 0.027+4.2+0.058 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, "
    b"14->20->19 MB, 16 MB goal, 2 P\n"
)
WITHOUT_TIME = [b"", b"hello\n", CYCLE % (1, 1), b"scvg-1: 190 MB released\n"]


def last_memstats(log):
    moments = sorted(log.parent.glob("*/memstats.json"))
    return read_memstats(moments[-1])


def resolution_seconds(duration):
    """What the runtime cuts off: it prints two digits, and no less than 1 µs."""
    milliseconds = duration * 1000
    if milliseconds < 0.1:
        return 1e-6
    return 10.0 ** (np.floor(np.log10(milliseconds)) - 1) / 1000 if milliseconds < 10 else 1e-3


@pytest.mark.parametrize("log", WITHOUT_TIME, ids=["empty", "other", "cycle", "scavenge"])
@pytest.mark.parametrize(
    ("name", "schema"), [("cycles", CYCLES), ("scavenges", SCAVENGES), ("pacer", PACER)]
)
def test_every_frame_has_its_columns_and_types_whatever_the_log_holds(log, name, schema):
    frame = getattr(read_gctrace(log), name)

    assert {column.name: column.dtype for column in schema} == frame.dtypes.astype(str).to_dict()


@pytest.mark.parametrize("column", [*CYCLES, *SCAVENGES, *PACER], ids=lambda column: column.name)
def test_every_column_has_a_known_unit_and_a_sentence(column):
    assert column.unit in UNITS
    assert column.means.endswith(".")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_a_recorded_log_is_read_whole(log):
    assert () == read_gctrace(log).damaged


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_there_are_as_many_collections_as_memstats_counts(log):
    stats = last_memstats(log).stats.iloc[-1]
    cycles = read_gctrace(log).cycles

    assert stats["NumGC"] == len(cycles)
    assert stats["NumForcedGC"] == cycles["forced"].sum()


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_stops_are_memstats_pauses_as_far_as_they_are_printed(log):
    """
    PauseNs is what is printed and at most what was cut off it, to 1 µs. In a few collections the
    system takes the CPU away between the two clocks' readings: nine in ten must agree.
    """
    pauses = last_memstats(log).pauses.set_index("number")["pause_seconds"]
    cycles = read_gctrace(log).cycles.set_index("number").loc[pauses.index]
    first, second = cycles["sweep_termination_seconds"], cycles["mark_termination_seconds"]
    cut = first.map(resolution_seconds) + second.map(resolution_seconds)

    above = pauses - first - second
    agree = above.between(-1e-6, cut + 1e-6)

    assert agree.mean() >= 0.9


def test_scavenges_are_placed_after_the_collection_before_them():
    log = read_gctrace(
        b"scvg0: 0 MB released\n" + CYCLE % (7, 1) + b"scvg-1: 190 MB released\n" + CYCLE % (1, 1)
    )

    assert [None, 7] == log.scavenges["after_cycle"].astype(object).where(
        log.scavenges["after_cycle"].notna(), None
    ).to_list()
    assert [1, 1] == log.scavenges["run"].to_list()


def test_joined_logs_keep_their_runs_apart():
    one = read_gctrace(CYCLE % (1, 1) + CYCLE % (1, 1))
    other = read_gctrace(CYCLE % (1, 1) + b"scvg-1: 190 MB released\n")

    joined = one.joined([other])

    assert [1, 2, 3] == joined.cycles["run"].to_list()
    assert [3] == joined.scavenges["run"].to_list()
    assert [190 * MIB] == joined.scavenges["released_bytes"].to_list()


def test_joined_packed_logs_keep_their_runs_apart():
    whole = read_gctrace(b"scvg0: 0 MB released\n" + CYCLE % (1, 1) + b"scvg0: 1 MB released\n")
    packed = packed_log([whole])

    joined = packed.joined([packed, packed])

    assert [1, 2, 3] == joined.cycles["run"].to_list()
    assert [1, 1, 2, 2, 3, 3] == joined.scavenges["run"].to_list()


NEWER = (CYCLE % (1, 1)).replace(b"goal,", b"goal, 0 MB stacks, 0 MB globals,")
SCAV = b"scav 1 KiB work (bg), 0 KiB work (eager), 1 KiB now, 1% util\n"


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param([b"hello\n"], "go1.6 to go1.17", id="one that says nothing"),
        pytest.param([b"forced scvg: 1 MB released\n"], "go1.13 to go1.13", id="a narrower one"),
        pytest.param([b"scvg0: 1 MB released\n"], "go1.6 to go1.12", id="an older one"),
        pytest.param([SCAV], "unknown", id="a newer one"),
    ],
)
def test_joined_logs_are_of_the_releases_that_fit_all(others, expected):
    joined = read_gctrace(CYCLE % (1, 1)).joined([read_gctrace(log) for log in others])

    assert expected == str(joined.go_version_range)


def test_joined_logs_of_a_form_that_is_still_printed_have_no_last_release():
    joined = read_gctrace(NEWER).joined([read_gctrace(b"hello\n")])

    assert "go1.18 or later" == str(joined.go_version_range)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (CYCLE % (1, 1), "go1.6 to go1.17"),
        (CYCLE % (1, 1) + b"forced scvg: 1 MB released\n", "go1.13 to go1.13"),
        (NEWER, "go1.18 or later"),
        (b"hello\n", "unknown"),
    ],
)
def test_the_forms_narrow_the_release(log, expected):
    assert expected == str(read_gctrace(log).go_version_range)


def test_forms_of_several_releases_say_nothing():
    log = read_gctrace(
        CYCLE % (1, 1) + b"scav 1 KiB work (bg), 0 KiB work (eager), 1 KiB now, 1% util\n"
    )

    assert "unknown" == str(log.go_version_range)


def test_wall_times_are_utc():
    log = read_gctrace(b"2026-11-20T03:53:49.5Z stderr F " + CYCLE % (1, 1))

    assert [pd.Timestamp("2026-11-20T03:53:49.5Z")] == log.cycles["time"].to_list()


def test_html_names_what_is_in_the_log():
    html = read_gctrace(CYCLE % (1, 1))._repr_html_()

    assert "1 collections" in html
    assert "go1.6 to go1.17" in html


def test_a_file_of_another_kind_is_no_empty_log():
    """
    A log of a program that did not collect is one; a heap profile is not.
    """
    with pytest.raises(FormatError, match="a pprof profile, wanted a gctrace log"):
        read_gctrace(FIXTURES / "captures/zeroing-go1.24.2/2-loaded/heap.pb.gz")
    assert 0 == len(read_gctrace(b"listening on :8080\n").cycles)
