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
    assert verdict.next_step.startswith("If it is a Go program")


def test_vmstat_says_the_machines_free_memory_and_cache():
    text = (MACHINE / "vmstat.txt").read_text()
    first, *_, last = (line.split() for line in text.splitlines()[2:])

    what, way_out = named(text)

    sizes = [size.value for size in Text(looks_like(text.encode(), "").what).of(Bytes)]
    assert [int(row[place]) << 10 for place in (2, 3, 4, 5) for row in (first, last)] == sizes
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
