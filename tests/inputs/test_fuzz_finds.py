"""Files of fixtures/malformed that fuzzing found: what is intact is read, what is not is damage."""

import json

import pytest

from gomem.errors import FormatError
from gomem.inputs.escapes.parse import parse_escapes
from gomem.inputs.heapdump.parse import parse_heapdump
from gomem.inputs.memstats.parse import parse_memstats, parse_memstats_in_words
from gomem.inputs.pprof.read import read_folded, read_pprof
from gomem.inputs.smaps.table import read_smaps
from gomem.sources.artefact import open_source
from gomem.sources.listing import list_capture
from tests.builders import FIXTURES
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
