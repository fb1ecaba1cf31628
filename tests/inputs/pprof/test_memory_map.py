"""The memory map behind a legacy heap profile: addresses without a function are of a file."""

import pytest

from gomem.inputs.pprof.memory_map import mapped_in
from gomem.inputs.pprof.read import read_pprof

RECORDS = b"""heap profile:      2:      3072 [     2:      3072] @ heap_v2/524288
     1:     1024 [     1:     1024] @ 0x00400abc 0x7f0000001234
     1:     2048 [     1:     2048] @ 0x00400abc 0x7f0000009234 0x10
"""
BY_TCMALLOC = b"""
MAPPED_LIBRARIES:
7f0000000000-7f0000002000 r-xp 00000000 08:01 12 /lib/libc-2.15.so
00400000-00500000 r-xp 00000000 08:01 13                         /home/server
00500000-00600000 rw-p 00100000 08:01 13                         /home/server
7f0000009000-7f000000a000 r-xp 00000000 08:01 14 /lib/libpthread-2.15.so
"""
BY_SERVERS = b"""--- Memory map: ---
\tsource=/home
  00400000-00480000: $source/server
  00480000-00500000: $source/server
  7f0000000000-7f0000002000: /lib/libc-2.15.so
  7f0000009000-7f000000a000: /lib/libpthread-2.15.so
"""


@pytest.mark.parametrize("tail", [BY_TCMALLOC, BY_SERVERS])
def test_addresses_are_called_by_their_file(tail):
    found = read_pprof(RECORDS + tail)

    top = found.top("inuse_space").set_index("function")
    assert {"[server]", "[libc-2.15.so]", "[libpthread-2.15.so]", "<unknown>"} == set(top.index)
    assert top.loc["[server]", "flat"] == top["flat"].sum()
    assert 0 < top.loc["[libc-2.15.so]", "cum"] < top.loc["[libpthread-2.15.so]", "cum"]
    assert "/home/server" == found.mappings["file"][0]


def test_only_executed_parts_count_and_neighbours_are_one():
    (server, *_), (brief, *_) = mapped_in(BY_TCMALLOC), mapped_in(BY_SERVERS)

    assert (0x400000, 0x500000, "/home/server") == (server.start, server.limit, server.file)
    assert (0x400000, 0x500000, "/home/server") == (brief.start, brief.limit, brief.file)


def test_without_a_map_nothing_has_a_file():
    found = read_pprof(RECORDS)

    assert ["<unknown>"] == found.top("inuse_space")["function"].tolist()
    assert found.mappings.empty
