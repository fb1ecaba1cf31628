"""How fast mappings are read: against psutil's parser, and as a process has more of them.

Run by hand, on a quiet machine:  pytest -o addopts= tests/benchmarks
"""

import re
import time
from statistics import median

import pytest

from gomem.inputs.smaps.table import read_smaps
from gomem.units import KIB
from tests.builders import FIXTURES

psutil_linux = pytest.importorskip("psutil._pslinux", reason="the peer reads Linux's /proc")

MAPPINGS = 20_000
RECORDED = FIXTURES / "injected/cgo-go1.27.3/4-large/smaps"
ENTRY = re.compile(rb"(?m)^([0-9a-f]+)-([0-9a-f]+) (.*\n(?:\w+:.*\n)+)")
LOWEST = 0x7E0000000000
ROUNDS = 21


class Peer(psutil_linux.Process):
    """psutil's reader of smaps, on a file at hand in place of /proc."""

    def __init__(self, data: bytes) -> None:
        self.pid, self._name, self._procfs_path = 1, None, "/proc"  # for its errors
        self._data = data.strip()  # as its own reader does

    def _read_smaps_file(self) -> bytes:
        return self._data


def many_mappings(count: int) -> bytes:
    """Recorded entries again and again, each at an address of its own."""
    recorded = ENTRY.findall(RECORDED.read_bytes())
    place, entries = LOWEST, []
    for number in range(count):
        start, end, rest = recorded[number % len(recorded)]
        size = int(end, 16) - int(start, 16)
        entries.append(b"%x-%x %s" % (place, place + size, rest))
        place += size + 4 * KIB
    return b"".join(entries)


def seconds_of(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def test_a_mapping_is_read_in_a_fifth_of_psutils_time(benchmark):
    """
    Both read the same bytes in turns; the middle round counts on either side.
    """
    smaps = many_mappings(MAPPINGS)
    peer = Peer(smaps)
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs.append(seconds_of(peer.memory_maps))
        ours.append(seconds_of(lambda: read_smaps(smaps)))
    mappings = read_smaps(smaps).mappings
    assert [one[3] for one in peer.memory_maps()] == list(mappings["Rss"])
    benchmark.extra_info["times_the_speed_of_psutil"] = median(theirs) / median(ours)
    benchmark.pedantic(read_smaps, args=(smaps,), rounds=1)

    assert 5 <= median(theirs) / median(ours)


def test_time_grows_with_the_mappings(benchmark):
    """
    At 4 and 16 times the number, a mapping takes no longer than half as much again.
    """
    each = {}
    for times in (1, 4, 16):
        smaps = many_mappings(times * 4000)
        each[times] = min(seconds_of(lambda data=smaps: read_smaps(data)) for _ in range(5)) / times
    benchmark.extra_info["seconds_each"] = each
    benchmark.pedantic(read_smaps, args=(smaps,), rounds=1)

    assert each[4] <= 1.5 * each[1]
    assert each[16] <= 1.5 * each[1]
