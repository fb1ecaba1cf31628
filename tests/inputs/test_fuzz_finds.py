"""Files of fixtures/malformed that fuzzing found: what is intact is read, what is not is damage."""

import json

import pytest

from gomem.errors import FormatError
from gomem.inputs.escapes.parse import parse_escapes
from gomem.inputs.heapdump.parse import parse_heapdump
from gomem.inputs.memstats.parse import parse_memstats, parse_memstats_in_words
from gomem.inputs.number_series import exported_by_grafana
from gomem.inputs.pprof.count_text import parse_count_text
from gomem.inputs.pprof.heap_text import parse_heap_text
from gomem.inputs.pprof.read import read_folded, read_pprof
from gomem.inputs.runtime_lines.parse import looks_like_runtime_lines
from gomem.inputs.smaps.parse import kind_of_mappings
from gomem.inputs.smaps.table import read_smaps
from gomem.inputs.status.parse import looks_like_status, parse_status
from gomem.sources.artefact import open_source
from gomem.sources.listing import list_capture
from tests.builders import FIXTURES, smaps_entry
from tests.pprof_messages import INUSE_SPACE, field, function, location, message, number
from tests.pprof_messages import profile as profile_of

MALFORMED = FIXTURES / "malformed"
MANY = 64  # messages: enough to be read many at once


def test_a_file_without_a_name_takes_no_archive_with_it():
    listing = list_capture(MALFORMED / "archives/a-file-without-a-name.zip")

    assert ["1-start/statm"] == [entry.name for entry in listing.entries]
    assert 7 == len(listing.entries[0].open().data.split())
    assert ["names a place outside the capture; left out"] == [one.what for one in listing.damage]


def test_what_follows_a_gzip_stream_is_damage():
    """
    The second stream lost its first byte, and so its three lines.
    """
    path = MALFORMED / "compressed/second-stream-without-its-beginning.log.gz"

    source = open_source(path)

    assert 3 == source.data.count(b"\n")
    (damage,) = source.damage
    assert "what follows the gzip stream is not of it, and is not read" == damage.what
    assert path.read_bytes()[int(damage.where.removeprefix("byte ")) :].startswith(b"\x8b\x08")


@pytest.mark.parametrize("filling", [b"", b"\0" * 512, b"\n", b"\r\n"])
def test_what_tapes_and_editors_fill_up_with_is_no_loss(filling):
    path = MALFORMED / "compressed/second-stream-without-its-beginning.log.gz"
    whole = path.read_bytes()
    stream = whole[: int(open_source(path).damage[0].where.removeprefix("byte "))]

    assert () == open_source(stream + filling).damage


def test_a_form_feed_ends_no_line():
    """
    Go's own sources have some, and an editor counts lines by newlines.
    """
    folded = read_folded(MALFORMED / "folded/form-feed-in-a-name.txt")

    assert ["line 3"] == [one.where for one in folded.damaged]
    assert [120, 7] == folded.samples["samples"].tolist()
    assert "main.pa\x0cge" in folded.functions["name"].tolist()


def test_a_verdict_whose_file_is_lost_is_damage():
    verdicts, damage = parse_escapes(
        (MALFORMED / "escapes/file-that-is-lost.txt").read_bytes(), source="m.txt"
    )

    assert ["line 2"] == [one.where for one in damage]
    assert ["handler.go", "handler.go"] == [verdict.file for verdict in verdicts]


@pytest.mark.parametrize("name", ["offset-that-is-none", "inode-of-too-many-digits"])
def test_a_row_of_pmap_whose_file_is_none_is_damage(name):
    whole = read_smaps(FIXTURES / "pasted/kernel/pmap-X.txt").mappings

    broken = read_smaps(MALFORMED / f"pmap/{name}.txt")

    assert "line 4" == broken.damaged[0].where
    others = whole["start"] != 0x4D3000
    assert whole["start"][others].tolist() == broken.mappings["start"].tolist()
    assert whole["Rss"][others].sum() == broken.mappings["Rss"].sum()


def test_a_row_of_pmap_that_ends_at_the_last_address_is_damage():
    table = b"Address Kbytes Mode Mapping\nfffffffffffff000 4 rw-p a\n0000000000400000 4 rw-p b\n"

    broken = read_smaps(table)

    assert "line 2" == broken.damaged[0].where
    assert [0x400000] == broken.mappings["start"].tolist()


def test_a_tag_of_64_bits_is_no_tag():
    with pytest.raises(FormatError, match="location 0: field 1152921504606846976, which is higher"):
        read_pprof(MALFORMED / "pprof/location-with-a-tag-of-64-bits.pb")


@pytest.mark.parametrize("high", [1 << 32, 1 << 63, (1 << 64) - 8])
def test_a_tag_of_64_bits_is_no_tag_among_many_messages(high):
    """
    Many messages are read at once, in another way than a few.
    """
    places = [location(number_, 1) for number_ in range(1, MANY)]
    torn = message(4, field(1, MANY), number(high), number(1))

    with pytest.raises(FormatError, match=f"location {MANY - 1}: field {high >> 3}, which is"):
        read_pprof(
            profile_of(
                sample_types=INUSE_SPACE,
                locations=b"".join([*places, torn]),
                functions=function(1, 3),
            )
        )


def test_a_header_with_a_broken_address_swallows_no_other_mapping():
    """
    Its address is below the others' and it ends above them, as of a heap that has grown over them.
    """
    broken = read_smaps(MALFORMED / "smaps/address-lost-digits.smaps")

    assert 7 == len(broken.mappings)
    (damage,) = broken.damaged
    assert "the addresses span 805310464 kB, and Size says 4096 kB" in damage.what
    assert "line 101" == damage.where


def test_damage_of_a_heap_dump_has_the_order_of_the_file_in_windows_of_any_size():
    data = (MALFORMED / "heapdump/damage-in-two-windows.dump").read_bytes()
    windows = (16, 64, len(data))

    each = [
        parse_heapdump([data[at : at + size] for at in range(0, len(data), size)],
                       source="dump", window_bytes=size)[1]
        for size in windows
    ]  # fmt: skip

    assert 3 * [["byte 175", "byte 186", "byte 194"]] == [
        [damage.where for damage in found] for found in each
    ]


def test_a_printed_memstats_within_a_key_of_a_json_one_does_not_replace_it():
    printed = "{Alloc:9 TotalAlloc:99 Sys:999 NumGC:7}"
    fields = {"Alloc": 1, "TotalAlloc": 2, "Sys": 8, "HeapAlloc": 1, "HeapSys": 4, "NumGC": 3}

    dumps, _ = parse_memstats(json.dumps(fields | {printed: 0}).encode(), source="m.json")

    assert [(1, 8, 3)] == [
        tuple(int(dumps.counters[name][0]) for name in ("Alloc", "Sys", "NumGC"))
    ]


def test_a_pair_of_fields_whose_first_is_no_whole_number_is_not_read():
    text = b"# HeapAlloc = 1000000\n# HeapSys = 2000000\n# MSpan = 1.5 / 32640\n# NumGC = 3\n"

    dumps, _ = parse_memstats_in_words(text, source="heap.txt")

    assert 1_000_000 == int(dumps.counters["HeapAlloc"][0])
    assert dumps.counters["MSpanInuse"].mask.all()


def test_a_header_without_its_line_end_is_damage_and_its_field_counts():
    """
    The name of the mapping would else be `[rollup]Rss: 23336 kB`, and there would be no RSS.
    """
    path = MALFORMED / "smaps/header-without-its-line-end.smaps_rollup"

    broken = read_smaps(path)

    assert "smaps_rollup" == kind_of_mappings(path.read_bytes())
    assert ["[rollup]"] == broken.mappings["path"].tolist()
    assert [23336 << 10] == broken.mappings["Rss"].tolist()
    assert ["line 1"] == [damage.where for damage in broken.damaged]


def test_a_headers_lost_line_end_among_whole_mappings_loses_none():
    whole = smaps_entry(0x1000, 0x5000, rss_kib=8) + smaps_entry(0x5000, 0x9000, rss_kib=4)
    at = whole.index("\n", whole.index("5000-9000"))
    torn = whole[:at] + whole[at + 1 :]

    broken = read_smaps(torn.encode())

    assert [8192, 4096] == broken.mappings["Rss"].tolist()
    assert 1 == len(broken.damaged)


def test_line_ends_made_for_windows_twice_are_line_ends():
    mapping = smaps_entry(0x1000, 0x5000, rss_kib=8, path="/app/server").encode()

    read = read_smaps(mapping.replace(b"\n", b"\r\r\n"))

    assert ["/app/server"] == read.mappings["path"].tolist()
    assert read.damaged == ()


def test_a_torn_second_line_of_a_status_is_damage():
    data = (MALFORMED / "status/second-line-torn.status").read_bytes()

    status, damage = parse_status(data, source="status")

    assert looks_like_status(data)
    assert {"VmRSS": 92672 << 10} == status.sizes
    assert ["line 2"] == [fault.where for fault in damage]


@pytest.mark.parametrize("torn", [b"V", b"Vm", b"VmSw\n", b"Rss", b"VmSwap 9 kB"])
def test_a_second_line_of_a_status_can_be_torn_anywhere(torn):
    assert looks_like_status(b"VmRSS:\t 92672 kB\n" + torn)


def test_a_line_of_a_status_with_a_colon_can_be_foreign():
    """
    The kernel has a tab behind each colon, and so a field that is new to gomem is none.
    """
    data = b"VmHWM:\t 9 kB\nVmRSS:\t 9 kB\nNew_field:\tx y\n\nUmask: 0x22\nhello: there\n"

    _, damage = parse_status(data, source="status")

    assert [("line 6", "hello: there")] == [(fault.where, fault.text) for fault in damage]


def test_the_last_record_is_scaled_where_the_headers_sum_is_too_large_to_be_scaled():
    data = (MALFORMED / "pprof/sum-of-54-bits.heap.txt").read_bytes()

    heap, _ = parse_heap_text(data, source="heap.txt")

    *_, last, rest = heap.columns.value.tolist()
    assert [16, 16901] == last[:2]
    assert 9007199254740993 - 2424832 - 1024 == rest[1]


def test_addresses_below_a_record_that_make_it_none_are_lines_of_their_own():
    data = (MALFORMED / "pprof/address-between-records.goroutine.txt").read_bytes()

    counted, damage = parse_count_text(data, source="goroutine.txt")

    assert [7, 1] == counted.columns.value[:, 0].tolist()
    assert ["line 4", "line 7"] == [fault.where for fault in damage]


def test_a_carriage_return_within_a_line_is_no_fault_of_a_table():
    data = (MALFORMED / "runtime_lines/carriage-return-in-a-head.log").read_bytes()

    assert not looks_like_runtime_lines(data)


def test_a_carriage_return_within_a_row_of_grafanas_is_a_blank():
    rows = b"".join(b"2026-01-01 12:00:0%d,%d\r \n" % (n, n) for n in range(4))

    found = exported_by_grafana(b'"Time",heap\rbytes\n' + rows, "")

    assert found is not None
    assert "heap bytes from 0 to 3" in f"{found.what}"
