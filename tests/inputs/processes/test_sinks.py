"""Gauges of a task's memory are named with their values, as are numbers of ps without headings."""

import pytest

from gomem.inputs.looks_like import looks_like

STATSD = (
    "'nomad.client.allocs.memory.allocated.web.front.0b1c.api.host': 134217728.000\n"
    "'nomad.client.allocs.memory.rss.web.front.0b1c.api.host': 1048576.000\n"
    "'nomad.client.allocs.memory.usage.web.front.0b1c.api.host': 7340032.000\n"
)
PAGE = 'nomad_client_allocs_memory_usage{task_group="web",task="api"} 1.5e+10\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STATSD, "web.front.0b1c.api.host: rss 1 MiB, usage 7 MiB, allocated 128 MiB"),
        (STATSD.replace("'", ""), "rss 1 MiB, usage 7 MiB, allocated 128 MiB"),
        ("nomad.client.allocs.memory.rss.web:2097152|g\n", "of web: rss 2 MiB"),
        (PAGE, "usage 14 GiB"),
    ],
)
def test_gauges_are_named_with_their_values(text, said):
    seen = looks_like(text.encode(), "sink.txt")

    assert "gauges of a container's memory" in f"{seen.what}"
    assert said in f"{seen.what}"
    assert seen.is_evidence


def test_a_gauge_of_a_process_is_of_no_container():
    seen = looks_like(b"system.process.memory.rss.bytes: 4194304\n", "sink.txt")

    assert "gauges of a process's memory, from a metrics sink: rss 4 MiB" in f"{seen.what}"


def test_a_sink_without_memory_is_none():
    seen = looks_like(b"'nomad.client.uptime.host': 12.0\n", "")

    assert "gauges" not in f"{seen.what}"


LOOP = (
    "It is from `while true; do ps -C api -o {}; sleep 1; done`:\n"
    "  71  1.5 700024\n  71  9.5 812024\n"
)


@pytest.mark.parametrize(
    ("columns", "said", "step"),
    [
        (
            "pid=,%mem=,vsz= ",
            "VSZ from 684 MiB to 793 MiB, which is address space",
            "RSS is missing",
        ),
        ("pid=,pmem=,rss=", "RSS from 684 MiB to 793 MiB", "gomem capture PID"),
    ],
)
def test_the_command_names_the_columns_of_ps(columns, said, step):
    seen = looks_like(LOOP.format(columns).encode(), "loop.txt")

    assert said in f"{seen.what}"
    assert "%MEM from 2 % to 10 %" in f"{seen.what}"
    assert f"{seen.way_out}".startswith(step)


def test_numbers_of_an_unknown_command_have_no_columns():
    assert "ps -o" not in f"{looks_like(LOOP.format('pid,vsz').encode(), '').what}"
