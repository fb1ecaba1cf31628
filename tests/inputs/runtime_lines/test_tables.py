"""Tables over time in the other forms that scripts and people write."""

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.processes.table import read_processes
from gomem.inputs.runtime_lines.table import read_runtime_lines
from gomem.units import KIB, MIB

SIZES = (32 * MIB, 53 * MIB, 74 * MIB)
CLOCKS = ("04:37:10", "04:37:13", "04:37:16")
DATE = "2026-11-27"


def _table(head, row):
    return "\n".join([*head, *(row(c, s) for c, s in zip(CLOCKS, SIZES, strict=True))]) + "\n"


FORMS = {
    "blanks": _table(
        ["date time rss_kb vsz_kb threads"], lambda c, s: f"{DATE} {c}  {s // KIB} 1527472   5"
    ),
    "behind a comment mark": _table(
        ["# date time rss_kb threads"], lambda c, s: f"{DATE} {c} {s // KIB} 5"
    ),
    "below a comment": _table(
        ["# every 3 s, by hand", "# time rss_kb"], lambda c, s: f"{DATE}T{c} {s // KIB}"
    ),
    "a time of two words in a column": _table(
        ["time rss_mb"], lambda c, s: f"{DATE} {c} {s // MIB}"
    ),
    "a unit in parentheses": _table(
        ["time    RSS (KiB)  args"], lambda c, s: f"{DATE}T{c}Z {s // KIB} /usr/bin/api -v 3"
    ),
    "units in the cells": _table(
        ["time rss threads"], lambda c, s: f"{DATE}T{c}Z {s // MIB} MiB 5"
    ),
    "CSV with the date apart": _table(
        ["date,time,rss_kb"], lambda c, s: f"{DATE},{c},{s // KIB}"
    ),
    "CSV in quotation marks": _table(
        ['"date";"time";"rss_kb"'], lambda c, s: f'"{DATE}";"{c}";"{s // KIB}"'
    ),
    "Markdown": _table(
        ["The pod grows:", "", "| time | RSS (MiB) | remark |", "|---|---:|---|"],
        lambda c, s: f"| {DATE} {c} | {s // MIB} | ok |",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_read_in_each_form(form):
    data = FORMS[form].encode()

    readings = read_runtime_lines(data).readings

    assert "runtime_lines" == kind_of(data, "x").name
    assert list(SIZES) == list(readings["rss_bytes"])
    assert [f"{DATE} {c}+00:00" for c in CLOCKS] == [str(at) for at in readings["logged_at"]]


def test_times_without_seconds_are_times():
    rows = "time,rss_mb\n2026-11-22 00:15,270\n2026-11-22 00:30,271\n"

    readings = read_runtime_lines(rows.encode()).readings

    assert ["00:15", "00:30"] == [f"{at:%H:%M}" for at in readings["logged_at"]]


def test_a_time_of_day_gets_the_date_of_other_files():
    table = read_runtime_lines(b"time rss_kb\n07:44:43 7904\n07:44:45 12280\n")

    assert [("07:44:43"), ("07:44:45")] == [dump.time_of_day for dump in table.dumps]
    assert table.readings["logged_at"].isna().all()


def test_fields_of_memstats_are_in_bytes():
    head = "| time | RssAnon | Sys | HeapAlloc |\n|---|---|---|---|\n"
    rows = "".join(f"| 10:0{n} | 9 MiB | {12 * MIB} | {n * MIB} |\n" for n in (2, 3))

    found = gomem.read((head + rows).encode())

    assert [2 * MIB, 3 * MIB] == list(found.stats["HeapAlloc"])
    assert [12 * MIB, 12 * MIB] == list(found.stats["Sys"])


@pytest.mark.parametrize(
    "table",
    [
        "date time rss\n2026-11-27 07:37:29 8484\n2026-11-27 07:37:32 16692\n",
        "date,time,rss\n2026-11-27,07:37:29,8484\n2026-11-27,07:37:32,16692\n",
        "time HeapAlloc goroutines\n07:37:29 34 7\n07:37:32 39 7\n",
    ],
)
def test_a_size_without_a_unit_is_named_and_not_read(table):
    assert kind_of(table.encode(), "x") is None

    seen = looks_like(table.encode(), "x")

    assert seen.is_evidence
    assert "without a unit" in seen.what


def test_rows_without_names_are_named_and_not_read():
    rows = "".join(f"2026-11-27 07:37:{n} {n * 300} 1527472 5\n" for n in (29, 32, 35))

    seen = looks_like(rows.encode(), "rss-api.txt")

    assert kind_of(rows.encode(), "rss-api.txt") is None
    assert "no line names" in seen.what
    assert seen.is_evidence


ROW = "7756 {rss} 1529132 /usr/bin/api --port 80"


@pytest.mark.parametrize("stamp", ["07:44:{n}  ", "2026-11-27 07:44:{n} ", ""])
def test_rows_of_ps_behind_a_time_need_no_names(stamp):
    rows = [stamp.format(n=n) + ROW.format(rss=n * 400) for n in (43, 45, 47)]
    data = ("\n".join(rows) + "\n").encode()

    found = read_processes(data).processes

    assert "processes" == kind_of(data, "ps-loop").name
    assert [n * 400 * KIB for n in (43, 45, 47)] == list(found["rss_bytes"])
    assert {1529132 * KIB} == set(found["mapped_bytes"])
    assert {7756} == set(found["pid"])


@pytest.mark.parametrize(
    "stamp", ["2026-11-27T07:44:{n}+00:00", "Fri Nov 27 07:44:{n} UTC 2026", "07:44:{n}"]
)
def test_rows_of_ps_below_a_time_are_its_readings(stamp, tmp_path):
    """
    etime can stand before the command, and ps prints its header alone once the process has ended.
    """
    rows = [f"{stamp.format(n=n)}\n7756 {n * 400} 1529132   01:{n} bin/api\n" for n in (43, 45, 47)]
    end = stamp.format(n=49) + "\n  PID   RSS    VSZ     ELAPSED COMMAND\n"
    (tmp_path / "ps.txt").write_text("".join(rows) + end)

    rise = gomem.diagnose(gomem.load(tmp_path)).facts.rss_level.rise

    assert (43 * 400 * KIB, 47 * 400 * KIB, 4.0) == (rise.first, rise.last, rise.seconds)


@pytest.mark.parametrize(
    "row",
    [
        "07:44:{n} 7756 1{n}03 1529132 /usr/bin/api",  # no whole pages
        "07:44:{n} 77{n} 1{n}00 1529132 /usr/bin/api",  # not one process
        "07:44:{n} 7756 1{n}00 /usr/bin/api",  # a single size
        "07:44:{n} 7756 1{n}00 2000 /usr/bin/api",  # no address space of Go's
    ],
)
def test_columns_that_are_not_certain_are_not_read(row):
    data = "".join(row.format(n=n) + "\n" for n in (43, 45, 47)).encode()

    assert kind_of(data, "x") is None
