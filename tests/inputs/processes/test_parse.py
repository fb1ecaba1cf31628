"""Tables of processes and containers, each beside another source for its numbers."""

import json
from datetime import datetime

import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.processes.parse import (
    DOCKER_STATS,
    OLD_DOCKER,
    looks_like_processes,
    parse_processes,
)
from gomem.inputs.processes.row import Rounded, rounded_size
from gomem.inputs.processes.table import read_processes
from tests.builders import FIXTURES

KERNEL = FIXTURES / "pasted/kernel"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
VM_RSS = int(gomem.read_status(KERNEL / "held.status").status["VmRSS"].iloc[0])


def rows(name):
    return read_processes(KERNEL / name).processes


@pytest.mark.parametrize("name", ["ps-aux.txt", "ps-o.txt", "ps-eo.txt", "top-b.txt", "top-m.txt"])
def test_each_form_has_the_rss_that_the_kernel_says(name):
    frame = rows(name)
    ours = frame[frame["pid"] == 4]

    assert kind_of((KERNEL / name).read_bytes()) is BY_NAME["processes"]
    assert (ours["step_bytes"] >= (ours["rss_bytes"] - VM_RSS).abs()).all()
    assert ours["working_set_bytes"].isna().all()


def test_a_header_that_comes_again_is_another_reading():
    assert [0, 1] == sorted(set(rows("top-b.txt")["reading"]))
    assert 2 == len(list(read_processes(KERNEL / "top-b.txt").dumps))


@pytest.mark.parametrize(
    "name",
    [
        "docker-stats.txt",
        "docker-stats-format.txt",
        "kubectl-top.txt",
        "kubectl-top-containers.txt",
    ],
)
def test_a_container_has_a_working_set_and_no_rss(name):
    """
    The sizes are those that the script answered the clients with.
    """
    frame = rows(name)

    assert frame["rss_bytes"].isna().all()
    assert [284 * MIB, 87 * MIB] == frame["working_set_bytes"].tolist()
    assert frame["name"].str.startswith(("api", "db")).all()
    if name.startswith("docker"):
        assert [512 * MIB, 256 * MIB] == frame["limit_bytes"].tolist()
    else:
        assert frame["limit_bytes"].isna().all()


@pytest.mark.parametrize("name", ["dmesg.txt", "dmesg-T.txt", "killed.txt"])
def test_the_oom_killers_lines_name_who_was_killed_and_its_rss(name):
    killed = rows(name).iloc[-1]

    assert "cgroup" == killed["killed_in"]
    assert "held" == killed["name"]
    assert killed["anon_bytes"] + killed["file_bytes"] == killed["rss_bytes"]


def test_the_task_table_counts_the_same_in_pages():
    table = rows("dmesg.txt")
    task, killed = table.iloc[0], table.iloc[-1]

    for name in ("pid", "rss_bytes", "anon_bytes", "file_bytes", "mapped_bytes"):
        assert task[name] == killed[name], name
    assert "" == task["killed_in"]


def test_the_cgroups_numbers_are_there_by_the_kernels_names():
    frame = read_processes(KERNEL / "dmesg.txt").cgroup
    of = dict(zip(frame["name"], frame["value"], strict=True))

    assert 64 * MIB == of["memory.max"] == of["memory.current"]
    assert 1 == of["oom_kill"]
    assert of["rss"] == of["total_rss"] > 60 * MIB


def test_a_time_is_known_where_a_line_has_the_year():
    assert rows("dmesg.txt")["printed_at"].isna().all()
    assert "2026-11-24" == str(rows("killed.txt")["printed_at"].iloc[0].date())


OLD_KILL = b"""Nov  7 12:00:01 web kernel: [4711.5] Task in /a killed as a result of limit of /a
[4711.6] memory: usage 524288kB, limit 524288kB, failcnt 7
[4711.7] Memory cgroup stats for /docker/ab: cache:32KB rss:524000KB rss_huge:0KB swap:0KB
[4711.8] [ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name
[4711.8] [  812]     0   812   300000   131000     400        0             0 api
[4711.8] [  990]     0   990      100       10       4        0             0 sh
[4711.9] Memory cgroup out of memory: Kill process 812 (api) score 999 or sacrifice child
[4711.9] Killed process 812 (api), UID 1000, total-vm:1200000kB, anon-rss:520000kB, file-rss:4000kB
"""


def test_the_form_of_older_kernels():
    read = read_processes(OLD_KILL)
    killed = read.processes.iloc[-1]
    of = dict(zip(read.cgroup["name"], read.cgroup["value"], strict=True))

    assert (524000 * KIB, "cgroup", 512 * MIB) == (
        killed["rss_bytes"], killed["killed_in"], killed["limit_bytes"]
    )  # fmt: skip
    assert 32 * KIB == of["cache"]
    assert [131000 * 4 * KIB, 40 * KIB] == read.processes["rss_bytes"].tolist()[:2]


def test_pages_are_as_large_as_the_killed_process_shows():
    large = OLD_KILL.replace(b"  131000 ", b"   32750 ")

    assert 524000 * KIB == read_processes(large).processes["rss_bytes"].iloc[0]
    assert 16 * KIB == read_processes(large).processes["step_bytes"].iloc[0]


def test_a_machine_that_ran_out_is_no_cgroup():
    text = b"Out of memory: Killed process 5 (api) total-vm:9kB, anon-rss:8kB, file-rss:0kB\n"
    read = read_processes(text)

    assert "machine" == read.processes["killed_in"].iloc[0]
    assert read.cgroup.empty


def test_rows_of_ps_aux_without_their_header():
    row = b"app  4242 12.3 45.6 1234567 98765 ?  Ssl  Nov24  12:34 /usr/bin/api --port 80\n"
    frame = read_processes(row).processes

    assert (4242, 98765 * KIB) == (frame["pid"].iloc[0], frame["rss_bytes"].iloc[0])
    assert "/usr/bin/api --port 80" == frame["name"].iloc[0]


def test_a_row_without_its_header_below_tables_is_a_reading_of_its_own():
    row = b"app  4242 12.3 45.6 1234567 98765 ?  Ssl  Nov24  12:34 /usr/bin/api --port 80\n"
    header = b"USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
    readings = read_processes(b"\n".join([header + row, header + row, row])).processes["reading"]

    assert [0, 1, 2] == readings.tolist()


def test_columns_of_numbers_need_no_command():
    frame = read_processes(b"  RSS    VSZ   PID\n912345 1823456  4567\n").processes

    assert (4567, 912345 * KIB) == (frame["pid"].iloc[0], frame["rss_bytes"].iloc[0])
    assert "" == frame["name"].iloc[0]


def test_a_pid_of_twenty_digits_is_damage():
    text = b"USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n"
    row = b"root %d 2.0 1.0 4123456 2123456 ? S 10:01 1:00 /app/server\n"

    read = read_processes(text + row % 1300 + row % (10**19))

    assert [1300] == read.processes["pid"].tolist()
    (damage,) = read.damaged
    assert "line 3" == damage.where


def test_a_cut_row_is_damage():
    read = read_processes(FIXTURES / "malformed/processes/cut-in-a-row.txt")

    assert 2 == len(read.processes)
    (damage,) = read.damaged
    assert "line 4" == damage.where


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: b"".join(b"> " + line + b"\n" for line in text.splitlines()),
        lambda text: b"It grows:\n\n```\n" + text + b"```\n",
        lambda text: b"It grows:\n\n" + text + b"\nand grows.\n",
        lambda text: b"$ cat x\n" + text + b"$ \n",
        lambda text: b"".join(b"    " + line + b"\n" for line in text.splitlines()),
        lambda text: text.replace(b" ", b"\xc2\xa0"),
    ],
    ids=["quoted", "fenced", "in prose", "a prompt", "indented", "blanks that do not break"],
)
@pytest.mark.parametrize(
    "name", sorted(path.name for path in KERNEL.glob("*.txt") if path.name[:4] != "free")
)
def test_what_is_pasted_is_read_as_it_was_printed(name, wrap):
    plain = (KERNEL / name).read_bytes()
    first = kind_of(plain).frames[0]
    printed, pasted = getattr(gomem.read(plain), first), gomem.read(wrap(plain))

    assert not pasted.damaged
    assert printed.drop(columns="line").equals(getattr(pasted, first).drop(columns="line"))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (b"46120", Rounded(46120 * KIB, KIB)),
        (b"76.7m", Rounded(767 * MIB // 10, MIB // 10)),
        (b"1.2g", Rounded(12 * GIB // 10, GIB // 10)),
        (b"330.4MiB", Rounded(3304 * MIB // 10, MIB // 10)),
        (b"922Mi", Rounded(922 * MIB, MIB)),
        (b"12.34MB", Rounded(12_340_000, 10_000)),
        (b"8.6 MiB", Rounded(86 * MIB // 10, MIB // 10)),
        (b"0B", Rounded(0, 1)),
        (b"12x", None),
        (b"", None),
        (b"9" * 30, None),
    ],
)
def test_a_size_and_its_last_digit(text, size):
    assert size == rounded_size(text, bare=KIB)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ((KERNEL / "free.txt").read_bytes(), "what free printed"),
        (b"  PID USER       VSZ STAT COMMAND\n    1 root      706m S    /app\n", "without RSS"),
        (
            b"NAME   CPU(cores)   CPU%   MEMORY(bytes)   MEMORY%\nn1  9m  1%  922Mi  9%\n",
            "top node",
        ),
    ],
)
def test_what_has_no_rss_is_refused_by_name(text, said):
    with pytest.raises(FormatError, match=said):
        gomem.read(text)


def test_json_is_not_taken_for_a_table():
    assert kind_of(json.dumps({"PID": 1, "RSS": 2, "COMMAND": "x"}).encode()) is None


@pytest.mark.parametrize("name", ["ps-aux.txt", "top-b.txt", "kubectl-top.txt"])
def test_rows_without_their_header_are_the_same(name):
    whole = parse_processes((KERNEL / name).read_bytes(), source=name)[0].rows
    first = [row for row in whole if row.reading == 0]
    lines = (KERNEL / name).read_bytes().split(b"\n")
    alone = b"\n".join(lines[row.line - 1] for row in first) + b"\n"

    read, damage = parse_processes(alone, source=name)

    assert looks_like_processes(alone)
    assert [] == damage
    assert [(row.name, row.rss, row.working_set) for row in first] == [
        (row.name, row.rss, row.working_set) for row in read.rows
    ]


def test_a_row_of_freebsds_top():
    """Made up after usr.bin/top/machine.c of FreeBSD 11."""
    row = b"56428 root          23  20    0   768M   733M uwait   1   2:58   0.03% rclone\n"

    (read,) = parse_processes(row, source="a")[0].rows

    assert (56428, 733 * MIB, 768 * MIB, "rclone") == (
        read.pid, read.rss.bytes, read.mapped_bytes, read.name
    )  # fmt: skip


def test_a_process_that_comes_again_is_another_reading():
    row = b" 1357 app       20   0 2752m %dm  15m S  4.0  1.3   0:04.91 api\n"

    read = parse_processes(b"".join(row % size for size in (106, 110, 114)), source="a")[0].rows

    assert [(0, 106 * MIB), (1, 110 * MIB), (2, 114 * MIB)] == [
        (one.reading, one.rss.bytes) for one in read
    ]
    assert {15 * MIB} == {one.shared_bytes for one in read}


def test_ps_without_a_process_number_has_rss():
    text = b"  RSS  SIZE    VSZ CMD\n75088 151684 885284 /usr/bin/api -v\n"

    (read,) = parse_processes(text, source="a")[0].rows

    assert (75088 * KIB, "/usr/bin/api -v", None) == (read.rss.bytes, read.name, read.pid)


def test_a_line_of_a_kill_that_is_cut_is_damage_and_a_kill():
    line = (KERNEL / "killed.txt").read_bytes()
    cut = line[: line.index(b" total-vm") + 3]

    table, damage = parse_processes(line + line + cut, source="a")

    assert [True, True, False] == [row.rss is not None for row in table.rows]
    assert {13052} == {row.pid for row in table.rows}
    assert 3 == table.cgroup["oom_kill"]
    assert [("line 3", "the line of a killed process is cut: its RSS is missing")] == [
        (fault.where, fault.what) for fault in damage
    ]


@pytest.mark.parametrize(
    ("head", "tool"),
    [
        (b"CONTAINER           CPU %               MEM USAGE / LIMIT     MEM %", OLD_DOCKER),
        (b"CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %   PIDS", DOCKER_STATS),
    ],
)
def test_an_old_docker_counts_all_page_cache(head, tool):
    """Its form is made up after api/client/stats.go of Docker 1.9."""
    name = b"api" if tool == OLD_DOCKER else b"f4a8 api"
    row = name + b"    0.00%   343.7 MB / 8.372 GB   4.11%\n"

    (read,) = parse_processes(head + b"\n" + row, source="a")[0].rows

    assert (tool, 343_700_000) == (read.tool, read.working_set.bytes)


def test_the_oldest_docker_counts_all_page_cache_in_units_of_1024():
    head = b"CONTAINER      CPU %     MEM USAGE/LIMIT      MEM %    NET I/O\n"
    row = b"shop           3.10%     512 MiB/1.5 GiB      33.33%   1.2 MiB/3 MiB\n"

    (read,) = parse_processes(head + row, source="a")[0].rows

    assert (OLD_DOCKER, 512 << 20) == (read.tool, read.working_set.bytes)


def test_a_last_row_that_is_cut_is_named_as_others_of_its_process():
    row = b"root  71  9.0  4.0 487988 %d ?  Ssl  21:27   0:04 /opt/bin/api --listen :80\n"
    text = row % 320880 + row % 329272 + row[: row.index(b"bin/")] % 345596

    read = parse_processes(text, source="a")[0].rows

    assert ["/opt/bin/api --listen :80"] * 3 == [process.name for process in read]
    assert 345596 * KIB == read[-1].rss.bytes


def test_a_kill_of_the_kernel_that_prints_the_user_before_the_name():
    line = b"Mar 12 13:08:43 host kernel: Killed process 7422, UID 0, (api) total-vm:167744kB, "

    (read,) = parse_processes(line + b"anon-rss:16986kB, file-rss:144kB\n", source="a")[0].rows

    assert (7422, "api", 17130 * KIB, "machine") == (
        read.pid, read.name, read.rss.bytes, read.killed_in
    )  # fmt: skip


def test_rows_of_ps_with_scheduling_classes_need_no_header():
    text = b" 35524  35524 TS       - Ssl  1346012 19784 api\n 36344  36344 TS  - S  0  0 kworker\n"

    first, _ = parse_processes(text, source="a")[0].rows

    assert (35524, 19784 * KIB, 1346012 * KIB, "api") == (
        first.pid, first.rss.bytes, first.mapped_bytes, first.name
    )  # fmt: skip


@pytest.mark.parametrize(
    "asks",
    [b"$ ps -eo rss,comm | grep api", b"ps axo rss,comm | sort -n", b"$ ps -eo 'rss,comm'"],
)
def test_the_command_names_the_columns_of_rows_without_a_header(asks):
    text = asks + b"\n116948 api\n"
    assert looks_like_processes(text)

    (read,) = parse_processes(text, source="a")[0].rows

    assert (116948 * KIB, "api", None, 0) == (read.rss.bytes, read.name, read.pid, read.reading)


def test_a_command_without_rss_names_none():
    assert not looks_like_processes(b"$ ps -eo pid,comm | grep api\n116948 api\n")


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("07:13:48", None),
        ("2026-11-26 07:13:48", None),
        ("2026-11-26T07:13:48Z", "2026-11-26T07:13:48Z"),
        ("2026-11-26T08:13:48+0100", "2026-11-26T07:13:48Z"),
        ("Thu Nov 26 07:13:48 UTC 2026", "2026-11-26T07:13:48Z"),
        ("Thu Nov 26 07:13:48 CET 2026", None),
        ("1795677228", "2026-11-26T07:13:48Z"),
        ("0001-01-01 00:00:00Z", None),  # no frame can hold it
        ("9999-12-31 00:00:00Z", None),
        ("Thu Nov 26 07:13:48 UTC 1200", None),
    ],
)
def test_a_time_between_the_listings_of_a_loop_is_no_damage(line, at):
    """
    As of `while :; do date; ps -o pid,rss,comm 7; sleep 30; done`.
    """
    listing = "  PID   RSS COMMAND\n    7 {} api\n"

    read = read_processes(f"{line}\n{listing.format(10)}{line}\n{listing.format(20)}".encode())

    assert [10 << 10, 20 << 10] == list(read.processes["rss_bytes"])
    assert [0, 1] == list(read.processes["reading"])
    assert () == read.damaged
    assert (at and datetime.fromisoformat(at)) == read.time


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            (
                b"  PID User     Command                         Swap      USS      PSS      RSS\n"
                b"23258 store    store serve /data --addr            0    58648    58649    58652\n"
            ),
            [("smem", "store serve /data --addr", 23258, 58652 * KIB)],
        ),
        (
            (
                b"Process 'api'\n  status             Running\n  pid                 21648\n"
                b"  memory kilobytes           14948028\n  memory kilobytes total     14948029\n\n"
                b"Process 'agent'\n  pid                 28995\n"
                b"  memory                     13.3% [2.1 GB]\n  memory total               14%\n"
            ),
            [
                ("monit", "api", 21648, 14948028 * KIB),
                ("monit", "agent", 28995, 21 * (1 << 30) // 10),
            ],
        ),
    ],
    ids=["smem", "monit"],
)
def test_rss_stands_where_the_tool_prints_it(text, rows):
    table, damage = parse_processes(text, source="t")

    assert rows == [(row.tool, row.name, row.pid, row.rss.bytes) for row in table.rows]
    assert not damage


def test_a_remark_behind_a_row_is_no_part_of_it():
    pods = (
        b"NAME      CPU(cores)   MEMORY(bytes)\n"
        b"api-1     2m           183Mi          //\n"
        b"api-2     1m           69Mi           <-- this one\n"
    )

    table, damage = parse_processes(pods, source="t")

    assert [183 << 20, 69 << 20] == [row.working_set.bytes for row in table.rows]
    assert not damage


@pytest.mark.parametrize("name", ["(resolved)", "(sd-pam)", "my app", "web (v2) x", "a)"])
@pytest.mark.parametrize("form", ["7 ({})", "7, UID 0, ({})", "7 ({}), UID 0,"])
def test_the_name_of_a_killed_process_can_have_parentheses_and_blanks(name, form):
    line = f"[1.0] Out of memory: Killed process {form.format(name)} total-vm:168424kB, "
    sizes = "anon-rss:4064kB, file-rss:3584kB, shmem-rss:0kB\n"

    table, damage = parse_processes((line + sizes).encode(), source="a")

    assert not damage
    assert [(name, 7, 7648 * KIB)] == [(row.name, row.pid, row.rss.bytes) for row in table.rows]


def test_a_sentence_on_a_process_is_no_block_of_monit():
    text = (
        b"the log says: Process 'api' exited\nProcess 'api' again\n    memory kilobytes  149480\n"
    )

    (read,) = gomem.read_processes(text).processes.itertuples()

    assert ("api", 149480 << 10) == (read.name, read.rss_bytes)
    assert kind_of(b"the log says: Process 'api' exited\n") is None


WRAPPED = (
    b"kernel: api invoked oom-killer\n"
    b"kernel: Out of memory: Killed process 77 (api)%b"
    b"total-vm:2000kB, anon-rss:1000%bkB,%bfile-rss:20kB, shmem-rss:4kB, UID:0\n"
    b"next: 1\n"
)


@pytest.mark.parametrize(
    "breaks",
    [(b"\n    ", b"", b" "), (b" ", b"", b"\n"), (b" ", b"\n", b" "), (b"\n", b"\n  ", b"\n ")],
    ids=["before the sizes", "between them", "within one", "everywhere"],
)
def test_a_line_of_a_kill_that_is_wrapped_is_whole(breaks):
    table, damage = parse_processes(WRAPPED % breaks, source="f")
    (row,) = table.rows

    assert [] == damage
    assert ("api", 77, 2, "machine") == (row.name, row.pid, row.line, row.killed_in)
    assert (1024 * KIB, 1000 * KIB, 20 * KIB, 4 * KIB) == (
        row.rss.bytes, row.anon_bytes, row.file_bytes, row.shmem_bytes,
    )  # fmt: skip


def test_two_kills_one_of_them_cut_are_not_joined():
    text = (
        b"Out of memory: Killed process 7 (a)\n"
        b"Out of memory: Killed process 8 (b) total-vm:9kB, anon-rss:5kB, file-rss:0kB\n"
    )
    table, damage = parse_processes(text, source="f")

    assert [None, 5 * KIB] == [row.rss and row.rss.bytes for row in table.rows]
    assert ["line 1"] == [place.where for place in damage]


def test_a_container_without_a_name_is_a_row_of_kubectl_top():
    text = (
        b"POD     NAME   CPU(cores)   MEMORY(bytes)\n"
        b"api-0          10m          27Mi\n"
        b"api-0   api    10m          25Mi\n"
    )
    table, damage = parse_processes(text, source="f")

    assert [] == damage
    assert [('api-0/""', 27 * KIB * KIB), ("api-0/api", 25 * KIB * KIB)] == [
        (row.name, row.working_set.bytes) for row in table.rows
    ]


FRENCH = b"""PID UTIL.     PR NI VIRT    RES    SHR   S %CPU  %MEM  TEMPS+    COM.
  4711 moi      20  0 2424676   1,8g 16436  R  49,7   5,7  63:24.39  daemon
  4712 moi      20  0 1,25g   812,5m 16436  S   0,3   2,5   3:24.39  other daemon
"""


def test_top_in_another_language_has_the_same_columns():
    table, damage = parse_processes(FRENCH, source="f")

    assert [] == damage
    assert [("daemon", 4711, "top"), ("other daemon", 4712, "top")] == [
        (row.name, row.pid, row.tool) for row in table.rows
    ]
    gib = KIB * KIB * KIB
    assert [gib * 18 // 10, KIB * KIB * 8125 // 10] == [row.rss.bytes for row in table.rows]
    assert [2424676 * KIB, gib * 125 // 100] == [row.mapped_bytes for row in table.rows]


def test_rows_of_top_in_another_language_need_no_header():
    table, _ = parse_processes(FRENCH.split(b"\n", 1)[1], source="f")

    assert [4711, 4712] == [row.pid for row in table.rows]
    assert KIB * KIB * 8125 // 10 == table.rows[1].rss.bytes


POD_METRICS = {
    "kind": "PodMetricsList",
    "apiVersion": "metrics.k8s.io/v1beta1",
    "metadata": {},
    "items": [
        {
            "metadata": {"name": "api-7c9", "namespace": "web", "labels": {"app": "api"}},
            "window": "15.1s",
            "containers": [
                {"name": "api", "usage": {"cpu": "12m", "memory": "40960Ki"}},
                {"usage": {"cpu": "0", "memory": "2Mi"}, "name": "proxy"},
            ],
        },
        {
            "metadata": {"name": "job-1"},
            "containers": [{"name": "job", "usage": {"cpu": "0", "memory": "1048576"}}],
        },
    ],
}


@pytest.mark.parametrize("indent", [None, 2])
def test_the_metrics_api_has_a_working_set_of_each_container(indent):
    data = json.dumps(POD_METRICS, indent=indent).encode()
    table, damage = parse_processes(data, source="f")

    assert [] == damage
    assert BY_NAME["processes"] is kind_of(data, "pods.json")
    assert [("api-7c9/api", 40), ("api-7c9/proxy", 2), ("job-1/job", 1)] == [
        (row.name, row.working_set.bytes // KIB**2) for row in table.rows
    ]


def test_metrics_of_nodes_are_no_containers():
    with pytest.raises(FormatError):
        parse_processes(
            b'{"kind": "NodeMetrics", "metadata": {"name": "n"}, "usage": {"memory": "2Mi"}}',
            source="f",
        )


OF_LINUX_6 = b"""[812.3] [    310]     0   310     9000      600      500       60        40    81920        0         -1000 udevd
[812.4] [    911]  1000   911   400000    70000    69000     1000         0   212992       12             0 api
"""  # noqa: E501


def test_rows_of_a_task_table_without_its_header_divide_rss_where_the_parts_add_up():
    table, damage = parse_processes(
        OF_LINUX_6 + b"[812.5] [    940]     0   940     21\n", source="f"
    )
    page = 4 * KIB

    assert [(500 * page, 60 * page, 40 * page), (69000 * page, 1000 * page, 0)] == [
        (row.anon_bytes, row.file_bytes, row.shmem_bytes) for row in table.rows
    ]
    assert ["line 3"] == [fault.where for fault in damage]
    other = OF_LINUX_6.replace(b" 69000 ", b" 68000 ")
    assert [None] == [row.anon_bytes for row in parse_processes(other, source="f")[0].rows[1:]]


def test_a_row_that_lost_its_pid_is_damage():
    """
    So that a text whose rows lost their beginning is not taken for the better one.
    """
    table, damage = parse_processes(
        OF_LINUX_6 + b"0   940   2100   30   30  0  0  4096  0  0 sh\n", source="f"
    )

    assert ([310, 911], ["line 3"]) == (
        [row.pid for row in table.rows], [fault.where for fault in damage]
    )  # fmt: skip


FULL = b"app       4242  4240  0 900000 123456   2 Nov24 ?        00:03:06 /usr/bin/api -port=80\n"


@pytest.mark.parametrize(
    "above", [b"", b"% ps -Fp $(pgrep api) | head -n1\n", b"$ ps -eF | grep api\n"]
)
def test_rows_of_ps_with_a_full_format_need_no_header(above):
    (row,) = read_processes(above + FULL).processes.to_dict("records")

    assert (4242, 123456 * KIB, "/usr/bin/api -port=80") == (
        row["pid"], row["rss_bytes"], row["name"]
    )  # fmt: skip


def test_a_header_of_docker_stats_that_lost_its_newline_loses_no_row():
    head = b"CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %   NET I/O   BLOCK I/O   PIDS"
    row = b"0a1b2c3d4e5%d   api-%d   0.66%%   %dMiB / 3GiB   0.41%%   1kB / 0B   2MB / 1MB   13\n"
    glued = head + row % (1, 1, 40) + row % (2, 2, 30)

    found = read_processes(glued).processes
    assert (["api-1", "api-2"], [40 * MIB, 30 * MIB]) == (
        found["name"].tolist(), found["working_set_bytes"].tolist()
    )  # fmt: skip
    assert [1, 2] == found["line"].tolist()


def test_a_cut_row_is_compared_with_what_is_there():
    rows = b"api-7c9-1   api   1m   70Mi\napi-7c9-1   side   1m   7Mi\napi-7c9-2\n"

    (damage,) = parse_processes(rows, source="f")[1]
    assert "rows above" in damage.what
    assert "header" not in damage.what


@pytest.mark.parametrize("dots", ["...", "[...]", "…"])
def test_dots_between_rows_are_no_damage(dots):
    row = "api-x2k9l      12m          420Mi"
    table = f"NAME     CPU(cores)   MEMORY(bytes)\n{dots}\n{row}\n{dots}\n"
    read = read_processes(table.encode())

    assert ["api-x2k9l"] == [*read.processes["name"]]
    assert () == read.damaged


def test_a_table_of_talosctl_has_sizes_with_a_blank():
    head = b"NODE      PID   STATE  THREADS  CPU-TIME  VIRTMEM  RESMEM  LABEL  COMMAND\n"
    rows = (
        b"10.0.0.7  1     S      9        48.11     6.0 GB   2.5 GB  none   /sbin/init\n"
        b"10.0.0.7  2210  S      14       17.02     1.2 GB   80 MB   none   /bin/agent --max 3 GB\n"
    )
    table, damage = parse_processes(head + rows, source="a")

    assert [2_500_000_000, 80_000_000] == [row.rss.bytes for row in table.rows]
    assert [6_000_000_000, 1_200_000_000] == [row.mapped_bytes for row in table.rows]
    assert [1, 2210] == [row.pid for row in table.rows]
    assert [] == damage


TOP_COLUMNS = b"PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND".split()
TOP_CELLS = b"4711 api 20 0 2475716 556728 70636 S 21.5 3.0 2:23.74 /srv/api serve".split(b" ", 11)


@pytest.mark.parametrize("lacking", [(), (b"NI",), (b"PR", b"NI")])
@pytest.mark.parametrize("has_head", [True, False])
def test_a_row_of_top_that_lacks_a_column_of_its_head_is_not_shifted(lacking, has_head):
    cells = dict(zip(TOP_COLUMNS, TOP_CELLS, strict=True))
    row = b" ".join(cell for name, cell in cells.items() if name not in lacking)
    head = b" ".join(TOP_COLUMNS) + b"\n"

    table, damage = parse_processes(has_head * head + row + b"\n", source="")

    (process,) = table.rows
    assert ([], 556728 * 1024, "/srv/api serve") == (damage, process.rss.bytes, process.name)
    assert (2475716 * 1024, 70636 * 1024) == (process.mapped_bytes, process.shared_bytes)


def test_a_row_of_top_whose_columns_are_unknown_is_not_read_by_its_head():
    row = b"4711 api 20 2475716 556728 S 21.5 3.0 2:23.74 /srv/api serve this way\n"
    table = b" ".join(TOP_COLUMNS) + b"\n" + b" ".join(TOP_CELLS) + b"\n" + row

    rows, damage = parse_processes(table, source="")

    assert [556728 * 1024] == [process.rss.bytes for process in rows.rows]
    assert ["line 3"] == [fault.where for fault in damage]


@pytest.mark.parametrize(
    ("head", "clocks", "of_day"),
    [
        pytest.param("time   ", ("11:49:14", "11:49:44"), ["11:49:14", "11:49:44"], id="a clock"),
        pytest.param("when   ", ("11:49:14", "11:49:44"), ["11:49:14", "11:49:44"], id="by a word"),
        pytest.param("TIME   ", ("00:00:14", "00:00:44"), ["", ""], id="CPU time, by ps"),
    ],
)
def test_a_column_before_those_of_ps_is_the_time_of_the_reading(head, clocks, of_day):
    rows = "".join(f"{clock} 28199 39456 birdcall\n" for clock in clocks)

    table, damage = parse_processes(f"{head} PID   RSS COMMAND\n{rows}".encode(), source="")

    assert ([], of_day) == (damage, [row.time_of_day for row in table.rows])
