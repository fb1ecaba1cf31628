"""Which process of a table a capture shows, and what the table says about it."""

import pandas as pd
import pytest

from gomem.analysis.memory.listed import Listed, listed_process
from gomem.inputs.processes.table import PROCESSES
from gomem.inputs.schema import build_rows
from gomem.units import KIB, MIB

ROW = dict.fromkeys((column.name for column in PROCESSES), None)
ROW |= {"reading": 0, "tool": "ps", "name": "api", "step_bytes": KIB, "killed_in": "", "line": 1}


def table(*rows: dict) -> pd.DataFrame:
    return build_rows((tuple((ROW | row).values()) for row in rows), PROCESSES)


def process(pid: int, name: str, mib: int | None, **more) -> dict:
    return {"pid": pid, "name": name, "rss_bytes": None if mib is None else mib * MIB, **more}


def container(name: str, mib: int, limit_mib: int | None = None) -> dict:
    limit = None if limit_mib is None else limit_mib * MIB
    used = {"working_set_bytes": mib * MIB, "limit_bytes": limit}
    return {"tool": "docker stats", "name": name, **used}


def killed(pid: int, name: str, mib: int | None, second: int | None = None, reading=0) -> dict:
    at = None if second is None else pd.Timestamp(second, unit="s", tz="UTC")
    more = {"killed_in": "cgroup", "printed_at": at, "reading": reading, "tool": "OOM killer"}
    return process(pid, name, mib, **more)


def test_the_largest_of_several_is_taken_and_said_to_be():
    found = listed_process(table(process(7, "api", 20), process(8, "db", 50), process(9, "sh", 1)))

    assert ("db", 8, 50 * MIB, 2, True) == (
        found.name, found.pid, found.rss_bytes, found.others, found.is_largest,
    )  # fmt: skip


def test_a_process_alone_is_not_the_largest_of_several():
    found = listed_process(table(process(7, "/usr/bin/api --port 80", 20)))

    assert ("api", 0, False, False) == (
        found.name, found.others, found.is_largest, found.shares_limit,
    )  # fmt: skip


def test_two_are_several():
    found = listed_process(table(process(7, "api", 20), process(8, "db", 10)))

    assert (7, 1, True) == (found.pid, found.others, found.is_largest)


@pytest.mark.parametrize(
    ("pid", "names", "expected"),
    [
        pytest.param(7, (), 7, id="by its number"),
        pytest.param(None, ("api",), 7, id="by its name"),
        pytest.param(9, ("api",), 9, id="the number before the name"),
        pytest.param(55, ("api",), 7, id="a number that is not listed"),
        pytest.param(55, ("web",), 8, id="neither is listed"),
    ],
)
def test_what_the_capture_names_comes_before_the_largest(pid, names, expected):
    rows = table(process(7, "/app/api", 20), process(8, "db", 50), process(9, "sh", 1))

    found = listed_process(rows, pid, names)

    assert (expected, expected == 8) == (found.pid, found.is_largest)


def test_a_table_without_the_number_that_a_table_of_its_tool_had_is_of_others():
    rows = table(process(8, "api", 50), process(9, "sh", 1))

    assert listed_process(rows, 7, ("api",), tool="ps") is None
    assert 9 == listed_process(rows, 9, ("api",), tool="ps").pid
    assert 8 == listed_process(rows, 7, ("api",), tool="top").pid
    assert 8 == listed_process(rows, 7, ("api",)).pid


def test_whoever_was_killed_is_told_though_the_number_is_of_another():
    rows = table(killed(8, "api", 50))

    assert 8 == listed_process(rows, 7, tool="OOM killer").pid


def test_a_table_of_two_tools_is_not_of_others():
    rows = table(process(8, "api", 50), process(9, "sh", 1, tool="top"))

    assert 8 == listed_process(rows, 7, tool="ps").pid


def test_only_the_last_reading_counts():
    rows = table(process(7, "api", 90), process(7, "api", 20, reading=1))

    assert (20 * MIB, 0) == (listed_process(rows).rss_bytes, listed_process(rows).others)


@pytest.mark.parametrize("rows", [(), (process(7, "api", None),), (process(7, "api", 0),)])
def test_without_a_size_there_is_no_process(rows):
    assert listed_process(table(*rows)) is None


def test_a_tool_that_lists_itself_is_not_meant():
    """
    ps alone in its table is all there is.
    """
    ps, api = process(9, "ps aux", 60), process(7, "api", 20)

    found = listed_process(table(ps, api))

    assert ("api", 1, True) == (found.name, found.others, found.is_largest)
    assert "ps" == listed_process(table(ps)).name


def test_the_killed_process_comes_first_and_is_not_the_largest_of_several():
    rows = table(process(7, "api", 90), killed(8, "worker", 20))

    found = listed_process(rows, 7, ("api",))

    assert ("worker", "cgroup", 1, False) == (
        found.name, found.killed_in, found.kills, found.is_largest,
    )  # fmt: skip


def test_kills_of_one_program_are_counted_with_their_time():
    """
    The largest of three is told; the two that are gone are no other processes, and sh is one.
    """
    rows = table(
        killed(5, "api", 40, 100),
        killed(6, "api", 50, 160),
        killed(7, "api", 45, 190),
        process(1, "sh", 1),
    )

    found = listed_process(rows)

    assert (6, 50 * MIB, 3, 90.0, 1) == (
        found.pid, found.rss_bytes, found.kills, found.kill_seconds, found.others,
    )  # fmt: skip
    assert (("api", 45 * MIB), ("api", 40 * MIB)) == found.also_killed


def test_a_kill_of_another_program_is_not_counted():
    rows = table(killed(5, "db", 40, 100), killed(7, "api", 45, 190))

    found = listed_process(rows)

    assert (7, 1, None, 0) == (found.pid, found.kills, found.kill_seconds, found.others)
    assert (("db", 40 * MIB),) == found.also_killed


@pytest.mark.parametrize(("names", "pid"), [((), 5), (("api",), 7)])
def test_of_several_killed_the_largest_is_told_or_the_one_of_the_capture(names, pid):
    rows = table(killed(5, "db", 90, 100), killed(6, "sh", 2, 150), killed(7, "api", 45, 190))

    found = listed_process(rows, names=names)

    assert pid == found.pid
    assert {"db", "sh", "api"} == {found.name, *(name for name, _ in found.also_killed)}


def test_a_cut_line_is_a_kill_without_a_size_and_without_a_time():
    rows = table(killed(5, "api", None), killed(6, "api", 40, 130), killed(7, "api", 45, 190))

    found = listed_process(rows)

    assert (3, None, 0) == (found.kills, found.kill_seconds, found.others)


def test_a_process_that_lives_has_no_kills():
    found = listed_process(table(process(7, "api", 20)))

    assert ("", 0, None) == (found.killed_in, found.kills, found.kill_seconds)


def test_a_process_that_is_listed_twice_is_no_other_process():
    rows = table(process(7, "api", 20), process(7, "api", 20), process(8, "sh", 1))

    assert 1 == listed_process(rows).others


@pytest.mark.parametrize(
    ("rows", "shares"),
    [
        pytest.param([container("a", 20, 64), container("b", 30, 64)], True, id="one limit"),
        pytest.param([container("a", 20, 64), container("b", 30, 65)], False, id="two limits"),
        pytest.param([container("a", 20, 64), container("b", 30)], False, id="one without"),
        pytest.param([container("b", 30, 64)], False, id="one container"),
        pytest.param([container("b", 30, 64)] * 2, False, id="one container, twice"),
        pytest.param(
            [process(7, "a", 20, limit_bytes=MIB), process(8, "b", 30, limit_bytes=MIB)], False,
            id="processes",
        ),
    ],
)  # fmt: skip
def test_containers_share_a_limit_if_all_of_several_have_it(rows, shares):
    found = listed_process(table(*rows))

    assert ("b", shares) == (found.name, found.shares_limit)


def test_a_container_has_a_working_set_and_no_rss():
    found = listed_process(table(container("web", 30, 64)))

    assert (None, None, 30 * MIB, 64 * MIB) == (
        found.pid, found.rss_bytes, found.working_set_bytes, found.limit_bytes,
    )  # fmt: skip


def test_all_that_a_row_says_is_told():
    parts = {"file_bytes": 3 * MIB, "shmem_bytes": 2 * MIB, "shared_bytes": 5 * MIB, "threads": 9}

    found = listed_process(table(process(7, "api", 20, **parts)))

    assert parts == {name: getattr(found, name) for name in parts}
    assert ("ps", KIB) == (found.tool, found.step_bytes)


def listed(rss: int | None, working_set: int | None, step: int) -> Listed:
    row = table({"rss_bytes": rss, "working_set_bytes": working_set, "step_bytes": step})
    return listed_process(row)


@pytest.mark.parametrize(
    ("rss", "working_set", "step", "is_coarse"),
    [
        pytest.param(5_000, None, 5, False, id="a thousandth"),
        pytest.param(5_000, None, 6, True, id="more"),
        pytest.param(None, 5_000, 5, False, id="a container, a thousandth"),
        pytest.param(None, 5_000, 6, True, id="a container, more"),
        pytest.param(6_000, 4_000, 5, False, id="RSS first"),
    ],
)
def test_three_digits_show_a_step_above_a_thousandth(rss, working_set, step, is_coarse):
    assert is_coarse == listed(rss, working_set, step).is_coarse


def test_two_kills_have_a_time_between_them():
    found = listed_process(table(killed(5, "api", 40, 100), killed(7, "api", 45, 190)))

    assert (2, 90.0, 0) == (found.kills, found.kill_seconds, found.others)
