"""What stands between the listings of a loop is no damage to them; a torn row is."""

import pytest

import gomem
from gomem.inputs.processes.beside import Beside

HEAD = "  PID   RSS COMMAND\n"
DF = (
    "Filesystem     1M-blocks  Used Available Use% Mounted on\n"
    "tmpfs              24106    {}     24079   1% /dev/shm\n"
)
FREE = (
    "              total        used        free      shared  buff/cache   available\n"
    "Mem:          24106        1043       20873          27        2189       22789\n"
    "Swap:             0           0           0\n"
)


def listings(between):
    text = "".join(f"{between}{HEAD} 6217 {12_976 + n} /bin/spool\n" for n in range(3))
    return gomem.read_processes(text.encode())


@pytest.mark.parametrize(
    "between",
    [
        "--- 07:44:25\n",
        "=== 2026-11-27 07:37:29\n",
        "### ps\n",
        "----------\n",
        DF.format(54),
        "54\t/dev/shm/spool23\n216\n",
        " 07:44:25 up 3 days,  2:11,  1 user,  load average: 0.10, 0.20, 0.30\n",
        "total 108\n-rw-r--r-- 1 root root 262144 Nov 27 07:44 up-1.part\n",
        FREE,
        "--- queue\nqueue is 7 long\n",
    ],
)
def test_what_another_command_printed_is_no_damage(between):
    table = listings(between)

    assert [12_976, 12_977, 12_978] == [size >> 10 for size in table.processes["rss_bytes"]]
    assert () == table.damaged


def test_a_remark_below_the_rows_is_no_damage_but_a_torn_row_of_a_commented_table_is():
    text = f"{HEAD} 6217 12976 /bin/spool\n# rolled out 2.14.0 here\n{HEAD} 6217 13 /bin/spool\n"
    commented = "# PID RSS COMMAND\n# 6217 12976 /bin/spool\n# 6217 12\n"

    assert () == gomem.read_processes(text.encode()).damaged
    assert 1 == len(gomem.read_processes(commented.encode()).damaged)


@pytest.mark.parametrize("between", ["", "--- 07:44:25\n"])
def test_a_torn_row_is_damage(between):
    table = gomem.read_processes(
        f"{HEAD} 6217 12976 /bin/spool\n{between} 6217 12\n{HEAD} 6217 13 /bin/spool\n".encode()
    )

    assert [f"line {3 + between.count('-') // 3}"] == [damage.where for damage in table.damaged]


def test_a_row_ends_what_another_command_printed():
    beside = Beside()

    assert beside.has(b"--- queue")
    assert beside.has(b"queue is 7 long")
    beside.begin()
    assert not beside.has(b"queue is 7 long")


PROSE = "This is far above the goal\nmuch\n\u5185\u5b58\u66f2\u7ebf (MB)\n90 | *\nDay1 Day8\n"
TABLES = (
    "USER PID VSZ RSS TTY STAT START TIME COMMAND\nspool 62 223456 55678 ? Sl 11:00 0:02 spool\n",
    "NAME CPU(cores) MEMORY(bytes)\nspool-1 7m 91Mi\n",
    "CONTAINER CPU % MEM USAGE / LIMIT\nspool-1 7.2% 91.5MiB / 128MiB\n",
)


@pytest.mark.parametrize("table", TABLES)
def test_prose_directly_below_the_rows_is_no_damage(table):
    read = gomem.read_processes((table + PROSE).encode())

    assert (1, ()) == (len(read.processes), read.damaged)


@pytest.mark.parametrize("table", TABLES)
def test_a_row_that_lost_its_end_is_damage(table):
    row = table.split("\n")[1].replace("spool", "other")
    torn = row[: row.index(" ", row.index(" ") + 1)]

    assert 1 == len(gomem.read_processes(f"{table}{torn}\nand more\n".encode()).damaged)
