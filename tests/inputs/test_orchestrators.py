"""What orchestrators, daemons and dashboards print of memory: named, with the next step."""

import pytest

import gomem
from gomem.diagnosis.diagnosis import diagnose
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.number_series import exported_by_grafana
from gomem.text import Bytes, Text
from tests.builders import FIXTURES

MACHINE, FORMS = FIXTURES / "pasted" / "machine", FIXTURES / "pasted" / "forms"


def named(text, name="ticket.md"):
    """What a text looks like, which no reader takes, and the next step."""
    assert kind_of(text.encode(), name) is None
    seen = looks_like(text.encode(), name)
    assert seen.is_evidence
    return f"{seen.what}".replace("\u202f", " "), f"{seen.way_out}"


@pytest.mark.parametrize(
    ("form", "said", "command"),
    [
        ("systemd-cgtop.txt", "api.service has 2.9G, user.slice has 812.4M, system", "memory.stat"),
        ("nomad-alloc.txt", "uses 489 MiB of 512 MiB, 480 MiB of it RSS, 9.0 MiB cache", "capture"),
        ("nomad-alloc.txt", "killed for want of memory (OOM Killed)", "gomem capture PID"),
        ("evicted.txt", "api used 2.78 GiB with a request of 1Gi", "working set"),
        ("evicted.txt", "sidecar used 27 MiB with a request of 0", "a request is no limit"),
        ("killed-by-daemons.txt", "earlyoom ended api (PID 4411) at 2913 MiB RSS", "journalctl"),
        ("killed-by-daemons.txt", "OOM killer ended worker.service, whose cgroup had 1.4G", "PID"),
        ("killed-by-daemons.txt", "oomd ended /system.slice/cache.service: memory pr", "gomem"),
        ("grafana.csv", 'pod="api-0", container="api"} from 412876800 to 812876800', "/metrics"),
        ("grafana.csv", "of 5 rows", "metrics.prom"),
    ],
)
def test_a_form_is_named_with_what_it_says_and_what_to_collect(form, said, command):
    what, way_out = named((FORMS / form).read_text(), form)

    assert said in what
    assert command in way_out


def test_a_task_of_nomad_without_its_statistics_asks_for_them():
    text = (FORMS / "nomad-alloc.txt").read_text().partition("Memory Stats")[0]

    what, way_out = named(text)

    assert "it uses 489 MiB of 512 MiB" in what
    assert "alloc status -stats" in way_out


def test_crictl_counts_the_working_set_in_units_of_1000():
    read = gomem.read_processes(FORMS / "crictl-stats.txt").processes

    assert [1970000000, 27300000] == list(read["working_set_bytes"])
    assert ["api", "sidecar"] == list(read["name"])
    assert read["rss_bytes"].isna().all()
    assert {"crictl stats"} == set(read["tool"])


def test_crictl_without_names_has_the_containers():
    table = (FORMS / "crictl-stats.txt").read_text()
    for name in ("NAME", "api", "sidecar"):
        table = table.replace(f"{name:20}", "")

    assert ["6f1ba2f3c8d52", "9d0f0b1f6f8b0"] == list(
        gomem.read_processes(table.encode()).processes["name"]
    )


def test_a_container_of_crictl_is_a_working_set_in_the_verdict():
    verdict = diagnose(gomem.load(FORMS / "crictl-stats.txt")).verdict

    assert "The working set is 1.83 GiB (api, by crictl stats" in f"{verdict.headline}"
    assert verdict.next_step.startswith("If this is a Go program")


def test_vmstat_says_the_machines_free_memory_and_cache():
    text = (MACHINE / "vmstat.txt").read_text()
    first, *_, last = (line.split() for line in text.splitlines()[2:])

    what, way_out = named(text)

    sizes = [size.value for size in Text(looks_like(text.encode(), "").what).of(Bytes)]
    assert first[2:6] == last[2:6]  # so each is said once
    assert [int(size) << 10 for size in last[2:6]] == sizes
    assert "no swapping" in what
    assert "ps -eo" in way_out


def test_vmstat_says_swapping():
    row = " 1  0 312000 133644  61456 2957668    0  900    12    40  120  300  2  1 97  0  0\n"

    what, _ = named("".join((MACHINE / "vmstat.txt").read_text().splitlines(True)[:3]) + row)

    assert "swpd 0 B to 305 MiB" in what
    assert "swaps up to 900 KiB/s" in what


def test_time_v_says_the_peak_of_rss():
    text = (MACHINE / "time-v.txt").read_text()
    (line,) = (line for line in text.splitlines() if "Maximum resident" in line)
    seen = looks_like(text.encode(), "")

    assert [int(line.split()[-1]) << 10] == [size.value for size in Text(seen.what).of(Bytes)]
    assert "of RSS at most" in seen.what


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("  2982957056  maximum resident set size\n", "2982957056 of RSS at most, in bytes on mac"),
        (
            "  2982957056  maximum resident set size\n  1935360000  peak memory footprint\n",
            "2.78 GiB of RSS at most, a footprint of 1.8 GiB",
        ),
    ],
)
def test_time_l_counts_bytes_only_where_macos_shows(lines, said):
    assert said in named(f"       13.80 real        12.31 user         1.02 sys\n{lines}")[0]


def test_pressure_says_the_share_of_time():
    what, _ = named(
        "some avg10=31.20 avg60=20.11 avg300=9.12 total=812331231\n"
        "full avg10=12.20 avg60=8.11 avg300=3.12 total=212331231\n"
    )

    assert "some 31.20 % of the last 10 s, 9.12 % of 5 min; full 12.20 %" in what


def test_pressure_on_the_cpu_is_not_of_memory():
    stalls = "$ cat /proc/pressure/cpu\nsome avg10=31.20 avg60=20.11 avg300=9.12 total=812331231\n"

    assert "waited for memory" not in f"{looks_like(stalls.encode(), 'a.md').what}"


def test_numbers_of_a_loop_of_ps_are_rss_in_kib():
    what, way_out = named(
        "while true; do ps -o rss= -p 4411; sleep 60; done gives\n\n"
        "```\n412876\n512331\n500004\n```\n"
    )

    assert "3 numbers of ps -o rss=: RSS from 403 MiB to 488 MiB, at most 500 MiB" in what
    assert "smaps" in way_out


def test_a_table_over_time_that_names_no_memory_is_no_evidence():
    rows = '"Time","api-0"\n' + "2026-11-20 09:00:00,4\n" * 4

    seen = exported_by_grafana(rows.encode(), "")

    assert seen is not None
    assert not seen.is_evidence


PAGE = """\
# TYPE container_memory_working_set_bytes gauge
container_memory_working_set_bytes{container="api",namespace="prod",pod="api-0"} 2.913044e+09 17
container_memory_rss{container="api",namespace="prod",pod="api-0"} 1.972101e+09 17
container_memory_cache{container="api",namespace="prod",pod="api-0"} 9.40943e+08 17
container_spec_memory_limit_bytes{container="api",namespace="prod",pod="api-0"} 3.221225472e+09
container_memory_working_set_bytes{container="proxy",namespace="prod",pod="api-0"} 1.2e+07
"""
SUMMARY = """\
{"podRef": {"name": "api-0"}, "containers": [{"name": "api", "cpu": {"usageNanoCores": 9},
 "memory": {"usageBytes": 2999043000, "workingSetBytes": 2913044000, "rssBytes": 1972101000}}]}
"""


def test_a_page_of_cadvisor_says_what_a_container_has():
    what, _ = named(PAGE)

    assert "api-0/api has a working set of 2.71 GiB, 1.84 GiB of RSS, 897 MiB of page cache" in what
    assert "a limit of 3 GiB; api-0/proxy has a working set of 11 MiB" in what


def test_the_kubelets_summary_says_the_same():
    what, _ = named(SUMMARY, "summary.json")

    assert "api has a working set of 2.71 GiB, 1.84 GiB of RSS" in what


@pytest.mark.parametrize(
    "rows",
    [
        '{"BlockIO":"0B / 0B","ID":"a9","MemUsage":"1.5GiB / 2GiB","Name":"api","PIDs":"17"}\n',
        '[\n {\n  "id": "a9",\n  "name": "api",\n  "mem_usage": "1.5GiB / 2GiB"\n }\n]\n',
    ],
)
def test_rows_of_stats_as_json_are_containers(rows):
    (read,) = gomem.read_processes(rows.encode()).processes.itertuples()

    assert ("api", 3 << 29, 2 << 30) == (read.name, read.working_set_bytes, read.limit_bytes)


def test_a_table_of_powershell_has_working_set_and_commit():
    what, _ = named(
        "Handles  NPM(K)    PM(K)      WS(K)     CPU(s)     Id  SI ProcessName\n"
        "-------  ------    -----      -----     ------     --  -- -----------\n"
        "    312      21  2913044    1912044     812.31   4411   1 api\n"
        "     12       2    13044      12044       0.31    412   1 shell\n"
    )

    assert "api has a working set of 1.82 GiB, 2.78 GiB committed, shell has" in what


def test_tasklist_has_the_working_set():
    what, _ = named("api.exe                       4411 Console        1  2,913,044 K\n")

    assert "api.exe has a working set of 2.78 GiB" in what


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("awk '/^Rss/{s+=$2} END{print s}' /proc/41/smaps", "2.78 GiB of Rss"),
        ("grep Private_Dirty /proc/41/smaps | awk '{s+=$2} END{print s}'", "of Private_Dirty"),
    ],
)
def test_a_sum_over_smaps_is_of_the_field_that_the_command_names(command, said):
    what, way_out = named(f"$ {command}\n2913044\n")

    assert said in what
    assert "smaps > smaps" in way_out


def test_a_sum_of_several_fields_is_not_read():
    command = "grep -E '^Size|^Rss|^Pss' /proc/41/smaps | awk '{s+=$2} END{print s}'"

    seen = looks_like(f"$ {command}\n2913044\n".encode(), "")

    assert "a sum over smaps" not in f"{seen.what}"


def test_sums_below_a_table_of_smem_are_no_damage():
    read = gomem.read_processes(
        b"  PID User  Command            Swap   USS   PSS   RSS\n"
        b" 4411 api   /usr/bin/api -v    1.2M  2.7G  2.7G  2.8G\n"
        b"-----------------------------------------------------\n"
        b"    1 1                        1.2M  2.7G  2.7G  2.8G\n"
    )

    assert [4411] == list(read.processes["pid"])
    assert read.damage.empty


def test_sizes_of_status_below_a_line_with_code(tmp_path):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        "Usage by `cat /proc/4411/status | grep -i vm`:\n"
        "VmLck:\t       0 kB\nVmHWM:\t 2993044 kB\nVmRSS:\t 2913044 kB\nVmSwap:\t       0 kB\n\n"
    )

    capture = gomem.load(ticket)

    assert [2913044 << 10] == list(capture.status["VmRSS"])
    assert capture.damage.empty
