"""A number that no machine has is damage, or unknown: it fells no reader and becomes no other."""

import re
from functools import cache

import numpy as np
import pytest

from gomem.errors import FormatError
from gomem.inputs.cgroup.table import read_cgroup
from gomem.inputs.gctrace.unwrap import parse_stamp, parse_stamps
from gomem.inputs.kinds import KINDS, kind_of
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.metrics.table import read_metrics
from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.read import read_artefact
from gomem.inputs.smaps.table import read_smaps
from gomem.inputs.status.table import read_statm, read_status
from gomem.sources.artefact import open_source
from tests.builders import FIXTURES, memstats_json, smaps_entry, smaps_text

WILD = ("9" * 18, "9" * 20, "9" * 400, "9" * 4301, str(2**63 - 1), str(2**64 - 1), str(2**53 + 1))
PLACES = 2  # tried in each file, spread over it
NOT_SEARCHED = {"laboratory", "golden", "malformed"}  # archives, our own outputs, and damage


@cache
def examples():
    """The smallest fixture of each kind that is text."""
    found, named = {}, set()
    files = (path for path in FIXTURES.rglob("*") if path.is_file())
    for path in sorted(files, key=lambda path: (path.stat().st_size, path)):
        if path.name in named or NOT_SEARCHED.intersection(path.parts):
            continue  # hundreds have one name, and are of one kind
        named.add(path.name)
        source = open_source(path)
        kind = kind_of(source.data, source.name)
        if kind is not None:
            found.setdefault(kind.name, path)
        if len(found) == len(KINDS) or path.stat().st_size > 1 << 16:
            break
    return found


def outcome(kind, source):
    """The refusal of an artefact, or its frames."""
    try:
        read = read_artefact(kind, source)
    except FormatError as error:
        return str(error), []
    return "", [getattr(read, frame) for frame in kind.frames]


@pytest.mark.at_most(8)
@pytest.mark.parametrize("name", [kind.name for kind in KINDS if kind.name != "pprof"])
def test_no_number_fells_a_reader(name):
    """
    Whatever number stands in its place, the reader gives frames or says where it cannot.
    """
    path = examples()[name]
    whole = open_source(path).data
    numbers = list(re.finditer(rb"\d+", whole))

    for number in numbers[:: max(1, len(numbers) // PLACES)]:
        for wild in WILD:
            harmed = whole[: number.start()] + wild.encode() + whole[number.end() :]
            kind = kind_of(harmed, path.name)
            if kind is None:
                continue
            refusal, frames = outcome(kind, open_source(harmed, name=path.name))
            assert "unforeseen" not in refusal, f"byte {number.start()}: {refusal}"
            assert refusal or all(frame is not None for frame in frames)


def test_a_size_that_no_address_space_has_is_damage_and_the_other_fields_stay():
    text = smaps_text(smaps_entry(0x1000, 0x5000, rss_kib=8)).decode()

    smaps = read_smaps(
        re.sub("(Rss: +)8 kB", rf"\g<1>{'9' * 18} kB", text).encode() + text.encode()
    )

    assert ["line 4", "line 1"] == [one.where for one in smaps.damaged]
    assert [True, False] == list(smaps.mappings["Rss"].isna())
    assert [16384, 16384] == list(smaps.mappings["Size"])


def test_a_status_with_such_a_size_keeps_its_other_fields():
    read = read_status(
        b"Name:\tapi\nPid:\t7\nVmRSS:\t999999999999999999 kB\nVmHWM:\t4 kB\nThreads:\t3\n"
    )

    assert ["line 3"] == [one.where for one in read.damaged]
    assert "VmRSS is larger than any address space" in read.damaged[0].what
    assert read.status["VmRSS"].isna().all()
    assert [4096] == list(read.status["VmHWM"])


def test_a_statm_of_more_pages_than_there_are_is_refused():
    with pytest.raises(FormatError, match="more pages than any address space has"):
        read_statm(b"999999999999999999 1 1 1 0 1 0\n")


@pytest.mark.parametrize(
    ("digits", "what"), [(301, "is larger than any machine"), (4301, "is not a count")]
)
def test_a_count_of_too_many_digits_is_damage_and_the_other_fields_stay(digits, what):
    """
    Python reads no integer of 4 301 digits, and no float of 310.
    """
    dump = memstats_json(HeapAlloc=1234, HeapSys=4096, HeapInuse=4096)

    read = read_memstats(dump.replace(b"1234", b"9" * digits))

    assert [f"HeapAlloc {what}"] == [one.what for one in read.damaged]
    assert read.stats["HeapAlloc"].isna().all()
    assert [4096] == list(read.stats["HeapSys"])


def test_a_metric_of_too_many_digits_is_damage():
    read = read_metrics(
        b'{"/memory/classes/total:bytes": 9%s, "/gc/heap/live:bytes": 7}' % (b"9" * 4300)
    )

    assert ["/memory/classes/total:bytes is no number or histogram that can be"] == [
        one.what for one in read.damaged
    ]
    assert ["/gc/heap/live:bytes"] == list(read.values["name"])


def test_a_pressure_larger_than_the_kernel_counts_is_damage():
    text = b"some avg10=0.00 total=5\nfull avg10=0.00 total=99999999999999999999\n"

    read = read_cgroup(open_source(text, name="memory.pressure"))

    assert ["line 2"] == [one.where for one in read.damaged]
    assert [5] == list(read.cgroup["value"])


@pytest.mark.parametrize("stat", ["HeapAlloc = %s", "Stack = %s / 1"])
def test_a_heap_profile_in_text_with_such_a_number_keeps_its_samples(stat):
    record = b"1: 16 [1: 16] @ 0x1\n"
    tail = (stat % ("9" * 4301)).encode()
    text = b"heap profile: 1: 16 [1: 16] @ heap/1048576\n%s\n# runtime.MemStats\n# Alloc = 1\n"
    text += b"# TotalAlloc = 1\n# %s\n"

    assert 1 == len(read_pprof(text % (record, tail)).samples)


@pytest.mark.parametrize(
    "stamp",
    [
        "2286-11-20T17:46:40Z",
        "9999-12-31T23:59:59.999999999Z",
        "0001-01-01T00:00:00Z",
        "2286-11-20T17:46:40+02:00",
        "9999999999999999",
        "9" * 4301,
    ],
)
def test_a_stamp_that_64_bits_of_nanoseconds_do_not_hold_is_unknown(stamp):
    """
    NumPy wraps around: the year 2286 came out as 1701.
    """
    assert np.isnat(parse_stamp(stamp))
    assert [True, False] == list(np.isnat(parse_stamps([stamp, "2026-11-20T03:53:00Z"])))
