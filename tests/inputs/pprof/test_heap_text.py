"""Heap profiles in text, against the protobuf that the same process wrote a moment later."""

import gzip
import json
import math
import re

import pandas as pd
import pytest

import gomem
from gomem.capture.load import load
from gomem.errors import FormatError
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.pprof.heap_text import parse_heap_text
from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.sampling import REST_IS_A_SUM, sampling_of
from gomem.text import Bytes
from tests.builders import FIXTURES

PROFILES = FIXTURES / "profiles"
TEXTS = sorted(PROFILES.glob("*/heap-*.txt"))
WITH_PROTOBUF = [path for path in TEXTS if path.with_suffix(".pb.gz").exists()]
NEWEST = PROFILES / "go1.27.3" / "heap-b.txt"

TEXT = b"""heap profile: 1: 4096 [3: 12288] @ heap/32768
1: 4096 [3: 12288] @ 0x101 0x201 0x301 0x301 0x401
#\t0x200\tmain.inner+0x1\t/app/main.go:5
#\t0x200\tmain.outer+0x1\t/app/main.go:7
#\t0x300\tmain.again+0x2\t/app/main.go:9
#\t0x300\tmain.again+0x2\t/app/main.go:9

0: 0 [2: 64] @ 0x101 0x501
#\t0x500\tmain.other+0x3\t/app/main.go:11


# runtime.MemStats
# HeapAlloc = 5000
# HeapSys = 9000
# Sys = 10000
# Stack = 300 / 400
# NumGC = 1
# MaxRSS = 123
"""


def parsed(data=TEXT):
    return parse_heap_text(data, source="heap.txt")


def names(path):
    return "/".join(path.parts[-2:])


def own_sites(profile, sample_type, granularity):
    """The sites of the program's own, type arguments as text has them: `[...]`."""
    top = profile.top(sample_type, granularity=granularity)
    top = top.set_axis(["function", *top.columns[1:]], axis="columns")
    top["function"] = [re.sub(r"\[go\..*\]", "[...]", name) for name in top["function"]]
    own = top[top["function"].str.startswith("main.")]
    return sorted(own[["function", "flat", "cum"]].itertuples(index=False, name=None))


@pytest.mark.at_most(9)
@pytest.mark.parametrize("granularity", ["functions", "lines"])
@pytest.mark.parametrize("path", WITH_PROTOBUF, ids=names)
def test_text_says_what_protobuf_says_once_its_samples_are_scaled(path, granularity):
    """
    The runtime scales what it writes as protobuf and not what it writes as text.
    """
    text, protobuf = read_pprof(path), read_pprof(path.with_suffix(".pb.gz"))

    for sample_type in ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space"):
        expected = own_sites(protobuf, sample_type, granularity)
        assert expected == own_sites(text, sample_type, granularity)
        assert protobuf.total(sample_type) == text.total(sample_type)
    assert () == text.damaged
    assert protobuf.period == text.period


def test_there_are_texts_of_releases_that_write_nothing_else():
    assert {"go1.5.4"} == {path.parent.name for path in set(TEXTS) - set(WITH_PROTOBUF)}


@pytest.mark.parametrize("path", TEXTS, ids=names)
def test_the_memstats_at_the_end_are_those_that_json_has(path):
    """
    Read a moment apart, without a collection in between.
    """
    json_name = path.name.replace("heap", "memstats").replace(".txt", ".json")
    expected = read_memstats(path.with_name(json_name)).stats.iloc[0]

    stats = read_memstats(path).stats.iloc[0]

    assert expected["NumGC"] == stats["NumGC"]
    assert pd.isna(stats["LastGC"]) or expected["LastGC"] == stats["LastGC"]
    assert stats["HeapSys"] == stats["HeapIdle"] + stats["HeapInuse"]
    for field in ("HeapSys", "StackSys", "MSpanSys", "MCacheSys", "BuckHashSys", "HeapAlloc"):
        assert expected[field] == pytest.approx(stats[field], rel=0.1, abs=1 << 17)


def test_the_pause_ring_is_read():
    profile = read_pprof(NEWEST)

    assert profile.memstats.stats["NumGC"].iloc[0] == len(profile.memstats.pauses)
    assert profile.memstats.pauses["pause_seconds"].between(1e-7, 1).all()


def test_a_release_does_not_print_all_fields():
    stats = read_memstats(PROFILES / "go1.5.4" / "heap-a.txt").stats.iloc[0]

    assert pd.isna(stats["GCSys"])
    assert 5 == stats["NumGC"]


def test_peak_rss_is_there_since_1_15():
    assert 234_729_472 == read_pprof(NEWEST).max_rss_bytes
    assert read_pprof(PROFILES / "go1.12.17" / "heap-b.txt").max_rss_bytes is None


def test_a_text_alone_is_a_capture_with_memstats_and_a_profile():
    capture = load(NEWEST)

    assert [222_245_112] == list(capture.memstats["HeapAlloc"])
    assert ["heap"] == list(capture.profiles["capture"])


def test_of_two_memstats_the_fuller_ones_count_and_no_more(tmp_path):
    (tmp_path / "heap.txt").write_bytes(TEXT)
    (tmp_path / "memstats.json").write_text(json.dumps({"HeapAlloc": 1, "HeapSys": 2, "Sys": 3}))

    assert [5000] == list(load(tmp_path).memstats["HeapAlloc"])


def test_samples_are_scaled_by_the_rate_of_which_the_header_prints_twice():
    """
    4096 bytes at a rate of 16384: 1 / (1 - exp(-1/4)) = 4.5208 objects for each; cut, not rounded.
    """
    text, _ = parsed()

    assert [13, 55551, 4, 18517] == text.columns.value[0].tolist()
    assert 16384 == text.columns.period


@pytest.mark.parametrize(
    ("record", "values"),
    [
        pytest.param(b"1: 1 [2: 2]", [1048577, 1048577, 524288, 524288], id="one byte"),
        pytest.param(b"0: 0 [1: 524288]", [1, 829411, 0, 0], id="none in use"),
        pytest.param(b"1: 0 [1: 0]", [0, 0, 0, 0], id="no bytes"),
    ],
)
def test_what_a_sample_stands_for_at_the_usual_rate(record, values):
    """
    1 / (1 - exp(-s / 524288)): of one byte 524288.5, and of as many bytes as the rate 1.58198.
    """
    text = b"heap profile: 1: 1 [1: 1] @ heap/1048576\n" + record + b" @ 0x10\n"

    assert values == parse_heap_text(text, source="heap.txt")[0].columns.value[0].tolist()


def test_every_sample_has_the_size_of_its_objects():
    text, _ = parsed()

    assert [4096, 32] == text.columns.labels.number.tolist()


def test_frames_of_the_runtime_are_left_out_and_inlined_ones_share_an_address():
    columns = parsed()[0].columns
    first = columns.stack[: columns.stack_offsets[1]]

    assert [0x200, 0x300, 0x300] == columns.locations.address[first].tolist()
    assert [2, 1, 1] == np_lengths(columns, first)


def np_lengths(columns, rows):
    offsets = columns.locations.line_offsets
    return [int(offsets[row + 1] - offsets[row]) for row in rows]


def test_addresses_without_names_stay():
    columns = parsed(b"heap profile: 1: 8 [1: 8] @ heap/2\n1: 8 [1: 8] @ 0x101 0x201\n")[0].columns

    assert [0x100, 0x200] == columns.locations.address[columns.stack].tolist()
    assert [8] == columns.value[:, 3].tolist()


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (b"1: 4096 [3: 122", "heap.txt: line 12"),
        (b"what is this", "heap.txt: line 12"),
        (b"99999999999999999999: 1 [1: 1] @ 0x1", "heap.txt: line 12"),
        (b"1: 1 [1: 1] @ 0x11111111111111111", "heap.txt: line 12"),
    ],
)
def test_a_line_that_cannot_be_read_is_damage_with_its_place(line, place):
    """
    The records around it are read all the same.
    """
    text, damage = parsed(TEXT.replace(b"\n\n\n#", b"\n\n\n" + line + b"\n#"))

    assert [(place, line.decode())] == [(one.place, one.text) for one in damage]
    assert 2 == len(text.columns.value)


@pytest.mark.parametrize("size", range(60, len(TEXT) - 20, 7))
def test_a_text_that_is_cut_is_damaged(size):
    """
    Whether it is cut in a record, between two, or in the MemStats, of which whole lines stay.
    """
    text, damage = parsed(TEXT[:size])
    whole = json.loads(parsed(TEXT)[0].memstats)
    kept = json.loads(text.memstats or b"{}")

    assert f"byte {size}" in [one.where for one in damage]
    assert TEXT[:size].count(b"# HeapAlloc = 5000\n") == ("HeapAlloc" in kept)
    assert {name: whole[name] for name, value in kept.items() if value is not None}.items() <= (
        kept.items()
    )


def test_a_text_without_memstats_has_none():
    with pytest.raises(FormatError, match="heap profile in text without MemStats at its end"):
        read_memstats(TEXT[:120])


@pytest.mark.parametrize(
    ("header", "rate"), [(b"heap/1024", 512), (b"heap_v2/1024", 1024), (b"heapprofile", 1)]
)
def test_the_rate_depends_on_who_wrote_it(header, rate):
    text, _ = parsed(b"heap profile: 1: 8 [1: 8] @ " + header + b"\n1: 8 [1: 8] @ 0x1\n")

    assert rate == text.columns.period


def test_a_hostile_count_does_not_become_another_number():
    """
    What scales beyond 64 bits is left out as damage; the other records stay.
    """
    huge = b"9" * 18
    line = huge + b": 1 [" + huge + b": 1] @ 0x1\n"

    text, damage = parsed(TEXT.replace(b"\n\n\n#", b"\n\n\n" + line + b"\n#"))

    assert 2 == len(text.columns.value)
    assert ["stands for more than 64 bits hold"] == [one.what for one in damage]


def test_a_header_alone_is_all_that_is_known_of_the_sizes(tmp_path):
    """
    4 objects of 1 MiB at a rate of 512 KiB: 1 / (1 - exp(-2)) = 1.1565 for each.
    """
    data = b"heap profile: 4: 4194304 [8: 8388608] @ heap/1048576\n\n" + TEXT[TEXT.index(b"# r") :]

    text, _ = parsed(data)
    (tmp_path / "heap.txt").write_bytes(data)
    said = gomem.diagnose(load(tmp_path)).verdict.sentence

    assert [[9, 9701573, 4, 4850786]] == text.columns.value.tolist()
    assert 0 == text.columns.stack.size
    assert "no sample in use" not in said
    assert 4850786 in [size.value for size in said.of(Bytes)]


def test_a_header_says_what_the_records_left_do_not():
    data = b"heap profile: 0: 0 [8: 8388608] @ heap/1048576\n0: 0 [0: 0] @ 0x10 0x20\n"

    values = parsed(data)[0].columns.value.tolist()

    assert [[0, 0, 0, 0], [9, 9701573, 0, 0]] == values


@pytest.mark.parametrize("around", ["{}", "It grows:\n\n```\n{}```\n"])
def test_a_record_without_the_header_is_read_at_the_default_rate(around, tmp_path):
    """
    It says what it is by its numbers and the line below; 1 / (1 - exp(-2)) = 1.1565 for each.
    """
    record = "4: 4194304 [4: 4194304] @ 0x201 0x301\n#\t0x200\tmain.inner+0x1\t/app/main.go:5\n"
    (tmp_path / "heap.txt").write_text(around.format(record))

    capture = load(tmp_path)
    profile = capture.heap_profiles["capture"]

    assert 4850786 == profile.total("inuse_space")
    assert ["main.inner"] == profile.top("inuse_space")["function"].tolist()[:1]
    assert any("without its header" in place.what for place in capture.damaged)


def test_a_frame_whose_file_is_cut_keeps_its_function():
    text = (
        b"heap profile: 1: 64 [1: 64] @ heap/2\n1: 64 [1: 64] @ 0x11 0x22\n"
        b"#\t0x11\tmain.fill+0x1\t/app/main.go:12\n#\t0x22\tmain.main+0x2\t/app/ma"
    )

    profile = read_pprof(text)

    assert {"main.fill", "main.main"} == set(profile.stacks["function"])
    assert "a frame whose file is cut; its function is read" in [
        one.what for one in profile.damaged
    ]


# Torn lines


def test_a_line_of_memstats_that_holds_no_number_is_damage_and_the_rest_is_read():
    whole = gzip.decompress((FIXTURES / "doors/go1.27.3/heap.txt.gz").read_bytes())
    torn = re.sub(rb"# HeapAlloc = (\d+)", rb"# HeapAlloc = x\1", whole)
    line = torn[: torn.index(b"# HeapAlloc = x")].count(b"\n") + 1

    read, intact = gomem.read_pprof(torn), gomem.read_pprof(whole)

    assert read.samples.equals(intact.samples)
    (damage,) = read.damaged
    assert (f"line {line}", "not a line of MemStats; wanted `# Name = number`") == (
        damage.where, damage.what,
    )  # fmt: skip
    assert read.memstats.stats["HeapAlloc"].isna().all()
    assert read.memstats.stats["HeapSys"].equals(intact.memstats.stats["HeapSys"])


def test_a_number_with_a_leading_zero_is_a_number():
    whole = gzip.decompress((FIXTURES / "doors/go1.27.3/heap.txt.gz").read_bytes())

    read = gomem.read_pprof(whole.replace(b"# Lookups = 0", b"# Lookups = 00"))

    assert () == read.damaged


@pytest.mark.parametrize("kind", ["heap", "goroutine"])
def test_two_addresses_that_have_grown_together_are_damage(kind):
    text = {
        "heap": b"heap profile: 1: 8 [1: 8] @ heap/1048576\n1: 8 [1: 8] @ 0x4010000x402000\n",
        "goroutine": b"goroutine profile: total 1\n1 @ 0x5490x61b323\n",
    }[kind]

    assert "line 2" in [damage.where for damage in gomem.read_pprof(text).damaged]


def test_what_an_excerpts_records_lack_of_its_header_has_no_stack():
    text = b"""heap profile: 3: 12288 [9: 40960] @ heap/2
1: 8192 [2: 16384] @ 0x401000
#\t0x400fff\tmain.load+0xf\t/home/b/load.go:7
"""
    read, damage = parse_heap_text(text, source="heap.txt")

    assert [[2, 16384, 1, 8192], [7, 24576, 2, 4096]] == read.columns.value.tolist()
    assert 0 == read.columns.stack_offsets[2] - read.columns.stack_offsets[1]
    assert ["1 of 3 live objects"] == [
        found[0] for fault in damage if (found := re.search(r"\d of \d live objects", fault.what))
    ]


RECORDS = b"""heap profile: 4952: 1465013616 [125854: 27406389752] @ heap/1048576
7: 117440512 [498: 8355053568] @ 0x41d43c 0x53291a 0x5325fa 0x52dcf0
1: 83009536 [1: 83009536] @ 0x41d43c 0x53291a 0x532193 0x532b7b
1: 78848000 [1: 78848000] @ 0x41d43c 0x53291a 0x532193 0x53246c
"""


def test_the_rest_of_an_excerpt_is_scaled_by_its_mean_size_as_the_records_are():
    text, _ = parsed(RECORDS)

    rest = 1465013616 - 117440512 - 83009536 - 78848000
    scale = 1 / -math.expm1(-rest / (4952 - 9) / (1 << 19))
    assert rest * scale == pytest.approx(text.columns.value[-1, 3], abs=1)
    assert 1465013616 == text.header_total


@pytest.mark.parametrize(
    "around", ["```\n{}```\n", "from http://a:80/debug/pprof/heap:\nhm\n----\n{}"]
)
def test_an_excerpts_size_is_at_least_its_headers_also_below_prose(around, tmp_path):
    (tmp_path / "ticket.md").write_text(around.format(RECORDS.decode()))

    found = gomem.diagnose(load(tmp_path / "ticket.md"))

    assert "at least" in found.verdict.headline
    assert 1465013616 == next(size.value for size in found.verdict.headline.of(Bytes))


EXCERPT = b"""heap profile: 2: 40960 [450: 4510656] @ heap/1048576
1: 32768 [1: 32768] @ 0x401000 0x402000
#\t0x400fff\tmain.load+0xf\t/home/b/load.go:7

1: 8192 [1: 8192] @ 0x401100 0x402000
#\t0x4010ff\tmain.keep+0xf\t/home/b/load.go:9
"""


def test_records_that_are_missing_are_not_called_anothers_writing(tmp_path):
    (tmp_path / "heap.txt").write_bytes(EXCERPT)
    capture = load(tmp_path / "heap.txt")
    (profile,) = capture.profiles["capture"].values()

    assert REST_IS_A_SUM == sampling_of(profile, "alloc_space")


def test_sampled_and_scaled_sizes_of_an_excerpt_are_told_together(tmp_path):
    (tmp_path / "heap.txt").write_bytes(EXCERPT)
    headline = f"{gomem.diagnose(load(tmp_path / 'heap.txt')).verdict.headline}"

    assert "at least 40 KiB of live objects (those sampled; scaled by the sampling rate" in headline


@pytest.mark.parametrize(("count", "fits"), [(20_000_000_000_000, False), (1, True)])
def test_a_record_that_would_not_fit_once_scaled_is_damage(count, fits):
    """
    Objects of 45 kB stand for twelve times their bytes at this rate, one of 9e17 for itself.
    """
    size = 900_000_000_000_000_000
    text = f"heap profile: 1: 8 [1: 8] @ heap/1048576\n{count}: {size} [1: 8] @ 0x1 0x2\n"

    heap, damage = parse_heap_text(text.encode(), source="heap.txt")

    told = "stands for more than 64 bits hold"
    assert fits == (told not in [fault.what for fault in damage])
    assert fits == (size in heap.columns.value[:, 3].tolist())
