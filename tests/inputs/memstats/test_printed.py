"""MemStats printed with %+v and %#v: in a log, through a pointer, several, cut."""

import pandas as pd
import pytest

import gomem
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.memstats.parse import looks_like_memstats
from tests.builders import FIXTURES

PLAIN = (FIXTURES / "doors/go1.24.2/memstats-plus-v.txt").read_bytes().strip()


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        b"&" + PLAIN,
        b"2026/11/22 10:02:11 stats: " + PLAIN + b" (idle)\n2026/11/22 10:02:12 bye\n",
    ],
)
def test_a_dump_is_found_wherever_it_stands_in_its_line(text):
    read = gomem.read(text)

    assert () == read.damaged
    assert [10485584] == read.stats["HeapAlloc"].to_list()
    assert [46760] == read.stats["HeapObjects"].to_list()
    assert 61 == len(read.size_classes)


def test_a_dump_a_line_is_a_series():
    later = PLAIN.replace(b"HeapAlloc:10485584", b"HeapAlloc:10485999")

    read = gomem.read_memstats(PLAIN + b"\n" + later + b"\n")

    assert [10485584, 10485999] == read.stats["HeapAlloc"].to_list()
    assert ["line 1", "line 2"] == read.stats["place"].to_list()


def test_a_cut_dump_is_damage_and_keeps_what_is_whole():
    """
    `HeapSys:162` of `HeapSys:16252928` is no size.
    """
    cut = PLAIN[: PLAIN.index(b"HeapSys:") + 11]

    read = gomem.read_memstats(cut)

    assert pd.isna(read.stats["HeapSys"].iloc[0])
    assert 10485584 == read.stats["HeapAlloc"].iloc[0]
    assert ["ends within MemStats: it is cut, and fields are missing"] == [
        one.what for one in read.damaged
    ]


def test_a_log_of_the_collector_stays_one():
    log = PLAIN + (
        b"\ngc 1 @0.002s 8%: 0.036+0.98+0.030 ms clock, 0.073+0.22/0.21/0.58+0.061 ms cpu, "
        b"3->4->4 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
    )

    assert kind_of(log) is BY_NAME["gctrace"]


def test_what_is_printed_is_known_by_its_beginning():
    assert looks_like_memstats(b"{Alloc:9 TotalAlloc:99 Sys:999 HeapAlloc:9 NumGC:7}\n")
    assert not looks_like_memstats(b"{Name:api Port:80}\n")
