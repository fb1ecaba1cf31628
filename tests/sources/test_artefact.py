"""One artefact read whole: what is compressed is undone, and damage has its place."""

import gzip
import io
import tracemalloc
import zipfile

import pyarrow as pa
import pytest

from gomem.sources.artefact import open_source
from gomem.sources.bounds import EXPANDED_BYTES, Bounds
from gomem.sources.decompress import STORED_CHUNK_BYTES, Tape
from gomem.sources.listing import list_capture
from gomem.sources.long import long_source, open_stream
from gomem.units import GIB, MIB, format_bytes

TEXT = b"heap profile: 1\n" * 4000


def test_gzip_is_undone_all_members_of_it():
    source = open_source(gzip.compress(TEXT) + gzip.compress(b"tail"))

    assert TEXT + b"tail" == source.data
    assert () == source.damage


def test_a_member_that_begins_at_the_end_of_what_was_read_is_undone(tmp_path):
    """
    A file is read in pieces, and a second member can begin with the last byte of one.
    """
    first = gzip.compress(bytes(STORED_CHUNK_BYTES), 0)
    pad = STORED_CHUNK_BYTES - len(first) % STORED_CHUNK_BYTES - 1
    named = b"\x1f\x8b\x08\x08" + first[4:10] + b"n" * (pad - 1) + b"\0" + first[10:]
    assert STORED_CHUNK_BYTES - 1 == len(named) % STORED_CHUNK_BYTES
    (tmp_path / "two.gz").write_bytes(named + gzip.compress(b"tail"))

    assert open_source(tmp_path / "two.gz").data.endswith(b"tail")
    assert b"".join(open_stream(tmp_path / "two.gz").pieces()).endswith(b"tail")


def test_a_member_without_content_is_whole():
    """
    bgzip ends its files with one.
    """
    source = open_source(gzip.compress(TEXT) + gzip.compress(b"") + gzip.compress(b"tail"))

    assert TEXT + b"tail" == source.data
    assert () == source.damage


@pytest.mark.parametrize("rest", [b"rubbish", b"\x1f"])
def test_what_follows_a_gzip_stream_is_not_its_own_and_is_damage(rest):
    source = open_source(gzip.compress(TEXT) + rest)

    assert TEXT == source.data
    assert [f"byte {len(gzip.compress(TEXT))}"] == [one.where for one in source.damage]


def test_zeros_behind_a_gzip_stream_are_a_tape_s():
    source = open_source(gzip.compress(TEXT) + bytes(512))

    assert TEXT == source.data
    assert () == source.damage


@pytest.mark.parametrize(("times", "undone"), [(1, True), (2, True), (3, False)])
def test_what_was_packed_twice_is_undone_and_no_more(times, undone):
    """
    `gzip -r` over profiles that are not called .gz.
    """
    stored = b"content"
    for _ in range(times):
        stored = gzip.compress(stored)

    assert undone == (b"content" == open_source(stored).data)


def test_zstd_is_undone():
    buffer = pa.BufferOutputStream()
    with pa.CompressedOutputStream(buffer, "zstd") as stream:
        stream.write(TEXT)

    assert TEXT == open_source(buffer.getvalue().to_pybytes()).data


def test_a_cut_zstd_gives_what_is_there_and_says_where_it_ends():
    content = b"".join(b"line %d\n" % number for number in range(300_000))
    stored = pa.compress(content, "zstd", asbytes=True)[:-1000]

    source = open_source(stored, name="app.log.zst")

    assert content.startswith(source.data)
    assert len(content) // 2 < len(source.data)
    assert [f"app.log.zst: byte {len(stored)}"] == [one.place for one in source.damage]
    told = f"zstd stream is cut or corrupt after {format_bytes(len(source.data))}: "
    assert source.damage[0].what.startswith(told)


def test_a_cut_gzip_gives_what_is_there_and_says_where_it_ends():
    stored = gzip.compress(TEXT)

    source = open_source(stored[:-30], name="heap.pb.gz")

    assert TEXT.startswith(source.data)
    assert [f"heap.pb.gz: byte {len(stored) - 30}"] == [one.place for one in source.damage]
    assert "ends early" in source.damage[0].what


def test_a_corrupt_gzip_is_damage():
    stored = bytearray(gzip.compress(TEXT))
    stored[20:30] = b"\xff" * 10

    assert "gzip stream is corrupt" in open_source(bytes(stored)).damage[0].what


def test_a_second_member_that_is_corrupt_or_cut_is_told_behind_the_first():
    first, second = gzip.compress(bytes(2048)), gzip.compress(TEXT)

    for stored in (first + second[:10] + b"\xff" * 40, first + second[:-30]):
        source = open_source(stored)
        assert f" after {format_bytes(len(source.data))}" in source.damage[0].what
        assert 2048 <= len(source.data)


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(gzip.compress(bytes(8 << 20)), id="gzip"),
        pytest.param(pa.compress(bytes(8 << 20), "zstd", asbytes=True), id="zstd"),
    ],
)
def test_a_bomb_stops_at_the_bound(stored):
    source = open_source(stored, name="bomb", bounds=Bounds(artefact_bytes=1 << 20))

    assert bytes(1 << 20) == source.data
    assert ["bomb: more than 1.00 MiB when decompressed; the rest is not read"] == [
        str(one) for one in source.damage
    ]


@pytest.mark.parametrize("more", [0, 1])
def test_what_is_read_plainly_stops_at_the_bound(more, tmp_path):
    """
    What is as large as the bound is whole; a byte more is cut off and told.
    """
    (tmp_path / "app.log").write_bytes(bytes(1000 + more))

    source = open_source(tmp_path / "app.log", name="app.log", bounds=Bounds(artefact_bytes=1000))

    assert bytes(1000) == source.data
    assert ["app.log: more than 1000 B; the rest is not read"] * more == [
        str(one) for one in source.damage
    ]


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda data: pa.compress(data, "zstd", asbytes=True), id="zstd"),
    ],
)
def test_what_decompresses_to_the_bound_is_whole_and_a_byte_more_is_told(stored, more):
    source = open_source(
        stored(bytes(5000 + more)), name="heap", bounds=Bounds(artefact_bytes=5000)
    )

    assert bytes(5000) == source.data
    assert ["heap: more than 4.88 KiB when decompressed; the rest is not read"] * more == [
        str(one) for one in source.damage
    ]


@pytest.mark.parametrize(("room", "read", "told"), [(1001, 2, 0), (1000, 1, 1), (999, 1, 1)])
def test_a_file_that_begins_where_the_captures_bound_is_reached_is_not_read(room, read, told):
    """
    1000 bytes, then one: the second is read if there is room for it, and told if not.
    """
    bounds = Bounds(capture_bytes=room)

    sources = [open_source(bytes(size), name=str(size), bounds=bounds) for size in (1000, 1)]

    assert read == sum(1 for source in sources if source.data)
    assert told == len(sources[1].damage)
    assert max(0, 1000 - room) == (1000 - len(sources[0].data))


def test_what_is_read_of_a_capture_without_more_ado():
    """
    2 GiB of a file and 4 of all, 100 000 files, 16 folders deep; of a stream 256 GiB.
    """
    bounds, stream = Bounds(), Bounds.of_a_stream()

    assert (2 * GIB, 4 * GIB, 100_000, 16) == (
        bounds.artefact_bytes, bounds.capture_bytes, bounds.files, bounds.depth,
    )  # fmt: skip
    assert 256 * GIB == stream.artefact_bytes == stream.left_bytes


@pytest.mark.parametrize("name", [None, "heap"])
def test_a_source_is_called_as_it_is_told_or_as_it_is_called(name, tmp_path):
    path = tmp_path / "x.pb"
    path.write_bytes(b"x")
    with path.open("rb") as file:
        names = [
            (open_source(readable, name=name).name, open_stream(readable, name=name).name)
            for readable in (path, file, io.BytesIO(b"x"), b"x")
        ]
        shown = [str(path), str(path), "<stream>", "<bytes>"]

    assert [(name or one, name or one) for one in shown] == names


@pytest.mark.parametrize(("limit", "undone"), [(9, True), (8, False)])
def test_what_was_packed_twice_is_undone_where_it_is_small(limit, undone, monkeypatch):
    inner = gzip.compress(b"content")
    monkeypatch.setattr("gomem.sources.artefact.PACKED_TWICE_BYTES", len(inner) - 9 + limit)

    assert (b"content" if undone else inner) == open_source(gzip.compress(inner)).data


@pytest.mark.parametrize(("less", "is_long"), [(0, True), (1, False)])
def test_a_file_of_64_mib_is_long(less, is_long, tmp_path):
    with (tmp_path / "app.log").open("wb") as file:
        file.truncate(64 * MIB - less)
    (entry,) = list_capture(tmp_path).entries

    assert is_long == (long_source(entry) is not None)


def test_a_tape_counts_what_was_read_and_takes_back_what_was_too_much():
    tape = Tape(io.BytesIO(b"abcdef"))

    assert (b"ab", 0) == (tape.peek(2), tape.position)
    assert (b"abc", 3) == (tape.read(3), tape.position)
    tape.take_back(b"c")
    assert (b"cde", 2) == (tape.peek(3), tape.position)
    assert (b"cdef", b"", 6) == (tape.read(9), tape.read(1), tape.position)
    assert b"" == tape.peek(1)
    assert not tape.closed
    tape.close()
    assert tape.closed


def as_zip(data):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("smaps", data)
    return stream.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, as_zip], ids=["gzip", "zip"])
def test_a_file_that_becomes_far_larger_than_text_does_is_read_in_part(tmp_path, pack):
    """
    A megabyte of gzip can be a gigabyte of zeros.
    """
    packed = pack(bytes(EXPANDED_BYTES + 10 * MIB))
    path = tmp_path / ("bomb.zip" if packed.startswith(b"PK") else "bomb.gz")
    path.write_bytes(packed)

    (source,) = (entry.open() for entry in list_capture(path).entries)

    assert EXPANDED_BYTES <= len(source.data) <= EXPANDED_BYTES + 2 * MIB
    (damage,) = source.damage
    assert "more than 64.0 MiB when decompressed" in damage.what


def test_what_compresses_well_is_read_whole(tmp_path):
    text = b"HeapAlloc: 123456789\n" * 100_000
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(text))

    source = open_source(tmp_path / "app.log.gz")

    assert (text, ()) == (source.data, source.damage)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_is_held_once_while_it_is_read(pack, tmp_path):
    """
    A join of what was read would hold it twice.
    """
    size = 32 << 20
    path = tmp_path / "log"
    path.write_bytes(pack(b"a line of a log, and another\n" * (size // 29)))

    tracemalloc.start()
    source = open_source(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size - 29 < len(source.data) <= size
    assert peak < 1.5 * size
