"""The records of heap dumps, from their bytes to columns."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.errors import FormatError
from gomem.inputs.heapdump import objects as reading
from gomem.inputs.heapdump.parse import looks_like_heapdump, parse_heapdump
from gomem.inputs.heapdump.table import read_heapdump
from tests import heap_dumps as made
from tests.heap_dumps import ARENA, RELEASES, an_object, dump, path_of

WORD = st.one_of(st.integers(0, 3), st.integers(ARENA, ARENA + 999), st.integers(0, 2**64 - 1))


def parse(content, piece=None):
    piece = piece or len(content)
    pieces = (content[at : at + piece] for at in range(0, len(content), piece))
    # Windows as small as the pieces, so that records of every kind cross from one to the next.
    return parse_heapdump(pieces, source="heap.dump", window_bytes=piece)


@st.composite
def some_objects(draw):
    """Objects of any content, also such that looks like an object's beginning."""
    found, address = [], ARENA
    for _ in range(draw(st.integers(0, 40))):
        words = draw(st.lists(WORD, max_size=6))
        named = sorted(draw(st.sets(st.integers(0, max(len(words) - 1, 0)))) if words else [])
        found.append((address, words, [8 * place for place in named]))
        address += draw(st.sampled_from([8, 16, 1 << 20, 1 << 44]))
    return found


@settings(max_examples=30)
@given(some_objects(), st.integers(1, 200))
def test_what_is_written_comes_back_however_it_comes_in_pieces(listed, piece):
    content = dump(*(an_object(address, words, at=at) for address, words, at in listed))

    columns, damage = parse(content, piece)

    assert [] == damage
    assert [address for address, _, _ in listed] == columns.objects.address.tolist()
    assert [8 * len(words) for _, words, _ in listed] == columns.objects.size.tolist()
    pointers = [
        (row, offset, words[offset // 8])
        for row, (_, words, at) in enumerate(listed)
        for offset in at
        if words[offset // 8]
    ]
    found = columns.objects
    read = zip(found.source.tolist(), found.offset.tolist(), found.target.tolist(), strict=True)
    assert pointers == list(read)


def test_content_that_looks_like_objects_is_not_taken_for_them(monkeypatch):
    """
    A heap can hold another heap's dump. Chains begin inside it, and none of them counts.
    """
    monkeypatch.setattr(reading, "MIN_CHAIN_BYTES", 64)
    inner = b"".join(an_object(ARENA + 64 * n, [ARENA], at=[0]) for n in range(2000))
    words = [int.from_bytes(inner[at : at + 8], "little") for at in range(0, len(inner), 8)]
    around = [an_object(ARENA + 16 * n, [n, ARENA], at=[8]) for n in range(300)]
    content = dump(*around[:150], an_object(ARENA + 0x8000, words), *around[150:])

    columns, damage = parse(content)

    assert [] == damage
    assert 301 == len(columns.objects.address)
    assert {8, 16} | {8 * len(words)} == {0 + size for size in columns.objects.size} | {8}
    assert 300 == len(columns.objects.source)


def test_an_object_of_many_pointers_and_a_first_offset_of_zero():
    words = [ARENA] * 5000
    content = dump(an_object(ARENA, words, at=range(0, 40000, 8)), an_object(ARENA + 40960, [1]))

    columns, damage = parse(content, 777)

    assert [] == damage
    assert list(range(0, 40000, 8)) == columns.objects.offset.tolist()
    assert [40000, 8] == columns.objects.size.tolist()


@pytest.mark.parametrize("release", RELEASES)
def test_recorded_dumps_are_read_whole_and_hold_what_memstats_counts(release):
    """
    Up to Go 1.21 objects and bytes are MemStats' own; later, slots behind a span's last object are
    taken for objects, at most 1.4 % of the bytes.
    """
    read = made.recorded(release)
    stats, size = read.stats.iloc[0], int(read.objects["size"].sum())

    assert () == read.damaged
    assert read.is_whole
    assert f"go{release}" == read.go_version
    if release == "1.18.10":
        assert (stats["HeapAlloc"], stats["HeapObjects"]) == (size, len(read.objects))
    else:
        assert stats["HeapAlloc"] <= size <= 1.014 * stats["HeapAlloc"]
        assert stats["HeapObjects"] <= len(read.objects)


@pytest.mark.parametrize("release", RELEASES)
def test_every_pointer_of_a_recorded_object_lies_inside_it(release):
    read = made.recorded(release)
    size = read.objects["size"].to_numpy()[read.pointers["object"]]

    assert (read.pointers["offset"] >= 0).all()
    assert (read.pointers["offset"] + 8 <= size).all()
    # Most point at objects: the rest at variables and texts of the program, at stacks, or nowhere.
    assert 0.8 < read.pointers["target"].notna().mean()


def cut(content, at):
    return parse(content[:at])


def test_a_dump_that_is_cut_keeps_what_was_read_and_says_where():
    first, second = an_object(ARENA, [1, 2]), an_object(ARENA + 16, [3, 4])
    content = dump(first, second)
    ends = len(content) - 1 - len(second)

    for at in range(ends + 1, len(content) - 1):
        columns, damage = cut(content, at)

        assert [ARENA] == columns.objects.address.tolist()
        assert [f"heap.dump: byte {ends}"] == [str(fault.place) for fault in damage]
        assert "ends early, inside a record of type object" in damage[0].what
        assert not columns.is_whole


def test_a_dump_without_its_end_is_damage_though_every_record_is_whole():
    columns, damage = parse(dump(an_object(ARENA, [1]), end=False))

    assert 1 == len(columns.objects.address)
    assert ["the dump ends early, without its end record"] == [
        fault.what.partition(";")[0] for fault in damage
    ]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        pytest.param(made.numbers(42, 1), "a record of unknown type 42", id="unknown-type"),
        pytest.param(b"\x01" + b"\xff" * 11, "a number of more than 10 bytes", id="long-number"),
        pytest.param(made.numbers(1, ARENA, 1 << 60), f"an object of {1 << 60} bytes", id="object"),
        pytest.param(made.numbers(2, 1 << 60), f"a description of {1 << 60} bytes", id="text"),
        pytest.param(made.numbers(16, 1, 1, 1 << 60), f"a stack of {1 << 60} calls", id="calls"),
    ],
)
def test_what_is_no_record_is_damage_with_its_place(record, said):
    before = dump(an_object(ARENA, [1, 2]), end=False)

    columns, damage = parse(before + record + bytes(100))

    assert [f"byte {len(before)}"] == [fault.where for fault in damage]
    assert damage[0].what.startswith(said)
    assert 1 == len(columns.objects.address)


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param(made.numbers(9, 8, 0), id="unknown-kind"),
        pytest.param(made.numbers(1, 800, 0), id="outside"),
        pytest.param(made.numbers(1, 8, 1, 0), id="kind-without-offset"),
    ],
)
def test_a_list_of_fields_that_names_no_pointers_is_damage_of_one_object(listed):
    """
    The object stays, and so do those around it.
    """
    wrong = made.numbers(1, ARENA + 64) + made.memory([ARENA, ARENA]) + listed
    content = dump(an_object(ARENA, [ARENA], at=[0]), wrong, an_object(ARENA + 8, [ARENA], at=[0]))

    columns, damage = parse(content)

    assert ["an object's list of fields names no pointers; they are not read"] == [
        fault.what for fault in damage
    ]
    assert 3 == len(columns.objects.address)
    assert [0, 2] == columns.objects.source.tolist()


@settings(max_examples=60)
@given(st.data())
def test_any_bytes_give_damage_or_a_format_error_and_nothing_else(data):
    content = bytearray(
        dump(
            an_object(ARENA, [ARENA + 16, 7], at=[0]),
            an_object(ARENA + 16, [0, ARENA], at=[8]),
            made.goroutine(1),
            made.frame(ARENA + 0x9000, [ARENA, 5], "main.main", at=[0]),
            made.segment(12, made.DATA, [ARENA], at=[0]),
            made.finalizer(ARENA, ARENA + 16),
            made.memstats(),
            made.bucket(1, 16, "main.fill"),
            made.sample(ARENA, 1),
        )
    )
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    piece = data.draw(st.sampled_from([1, 50, 5000]))

    if content.startswith(made.HEADER):
        columns, _ = parse(bytes(content), piece)
        assert len(columns.objects.address) == len(columns.objects.size)
    else:
        with pytest.raises(FormatError, match="not a heap dump"):
            parse(bytes(content), piece)


def test_a_file_that_does_not_begin_as_one_is_refused():
    with pytest.raises(FormatError, match=r"byte 0: not a heap dump; wanted what runtime/debug"):
        parse(b"go1.4 heap dump\n")
    assert not looks_like_heapdump(b"go1.4 heap dump\n")


def test_a_32_bit_dump_and_a_big_endian_one():
    def of(big_endian, width):
        order = "big" if big_endian else "little"
        head = made.numbers(6, int(big_endian), width, 0x1000, 0x2000)
        machine = head + made.text("any") + made.text("go1.24") + made.numbers(1)
        content = b"".join(word.to_bytes(width, order) for word in (7, 0x1230))
        listed = made.varint(len(content)) + content + made.fields(width)
        return made.HEADER + machine + made.numbers(1, 0x1000) + listed + b"\0"

    for big_endian, width in ((False, 4), (True, 4), (True, 8)):
        columns, damage = parse(of(big_endian, width))

        assert [] == damage
        assert [0x1230] == columns.objects.target.tolist()
        assert [width] == columns.objects.offset.tolist()


@pytest.mark.parametrize("release", made.STARTED)
def test_the_same_heap_in_the_other_byte_order_is_read_the_same(release):
    """
    Objects, roots and closures of a recorded dump, as s390x or ppc64 would have written it.
    """
    little = read_heapdump(made.started(release))

    big = read_heapdump(made.in_big_endian(gzip.decompress(made.started(release).read_bytes())))

    assert () == big.damaged
    assert len(big.pointers) > 300
    for name in ("objects", "pointers", "roots", "frames", "goroutines", "types"):
        pd.testing.assert_frame_equal(getattr(little, name), getattr(big, name))


def test_of_a_big_endian_heap_the_same_is_retained():
    words = [ARENA + 64, 7, ARENA + 128]
    content = dump(
        an_object(ARENA, words, at=[0, 16]),
        an_object(ARENA + 64, [made.TEXT]),
        an_object(ARENA + 128, [0, 0]),
        made.goroutine(1),
        made.frame(ARENA + 0x9000, [ARENA, 1], "main.main", at=[0]),
        made.segment(12, made.DATA, [ARENA + 64], at=[0]),
    )

    big, damage = parse(made.in_big_endian(content))

    assert [] == damage
    assert big.machine.big_endian
    assert [ARENA + 64, ARENA + 128] == big.objects.target.tolist()
    assert ARENA in big.frame_slots.target.tolist()
    assert ARENA + 64 in big.segment_slots.target.tolist()


def test_only_pointers_and_names_are_kept_of_what_a_program_held():
    """
    A password on the heap, on a stack or in a variable is nowhere in what was read.
    """
    secret = int.from_bytes(b"pa55word", "little")
    content = dump(
        an_object(ARENA, [secret, ARENA], at=[8]),
        made.goroutine(1),
        made.frame(ARENA + 0x9000, [secret], "main.main"),
        made.segment(12, made.DATA, [secret]),
    )

    columns, _ = parse(content)

    objects = columns.objects
    arrays = [objects.address, objects.size, objects.first_word, objects.offset, objects.target]
    arrays += [columns.frame_slots.target, columns.segment_slots.target]
    assert not any((array.view(np.uint64) == np.uint64(secret)).any() for array in arrays)
    assert "pa55word" not in repr(columns.lists)


@pytest.mark.parametrize("release", RELEASES)
def test_no_text_of_a_recorded_heap_is_in_its_frames(release):
    """
    The program's keys, which are strings on the heap, are in the dump and in none of its frames.
    """
    read = made.recorded(release)
    assert b"key-00007" in gzip.decompress(path_of(release).read_bytes())

    frames = ("objects", "pointers", "roots", "frames", "goroutines", "types", "buckets", "calls")
    shown = "".join(getattr(read, name).to_csv() for name in frames)

    assert "key-" not in shown
    assert read.objects["code"].dropna().between(made.TEXT, made.DATA + (8 << 20)).all()


def test_a_gzip_stream_that_is_cut_is_said_beside_what_the_dump_lacks(tmp_path):
    packed = path_of("1.24.13").read_bytes()
    file = tmp_path / "heap.dump.gz"
    file.write_bytes(packed[: len(packed) // 2])

    read = read_heapdump(file)

    assert len(read.objects) > 100
    assert ["gzip stream ends early", "the dump ends early, in"] == [
        fault.what[: len("gzip stream ends early") + (n > 0)]
        for n, fault in enumerate(read.damaged)
    ]
