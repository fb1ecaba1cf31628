"""Long artefacts, read piece by piece: the same content and the same damage as read whole."""

import gzip
import io
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import gomem
from gomem.errors import CaptureError
from gomem.sources import long
from gomem.sources.artefact import open_source
from gomem.sources.bounds import Bounds
from gomem.sources.long import LongSource, long_source, open_stream
from tests.gc_logs import GCLOGS

CONTENT = b"".join(b"line %d\n" % number for number in range(300_000))
ZSTD = pa.compress(CONTENT, "zstd", asbytes=True)
CORRUPT = bytearray(gzip.compress(CONTENT))
CORRUPT[100_000:100_100] = bytes(100)


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(CONTENT, id="plain"),
        pytest.param(b"", id="empty"),
        pytest.param(gzip.compress(CONTENT), id="gzip"),
        pytest.param(gzip.compress(CONTENT) + gzip.compress(b"more"), id="gzip-of-two-members"),
        pytest.param(gzip.compress(CONTENT) + b"rubbish", id="gzip-and-rubbish"),
        pytest.param(gzip.compress(CONTENT)[:-20], id="gzip-cut"),
        pytest.param(bytes(CORRUPT), id="gzip-corrupt"),
        pytest.param(ZSTD, id="zstd"),
        pytest.param(ZSTD + ZSTD, id="zstd-of-two-frames"),
        pytest.param(ZSTD[:-20], id="zstd-cut"),
    ],
)
def test_pieces_are_the_whole_and_so_is_their_damage(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(long, "PIECE_BYTES", 1 << 20)
    path = tmp_path / "app.log"
    path.write_bytes(stored)
    whole = open_source(path)

    stream = open_stream(path)
    pieces = list(stream.pieces())

    assert whole.data == b"".join(pieces)
    assert [one.where for one in whole.damage] == [one.where for one in stream.damage]
    assert [one.what for one in whole.damage] == [one.what for one in stream.damage]
    assert max(map(len, pieces)) <= 2 << 20


@pytest.mark.parametrize("readable", [CONTENT, io.BytesIO(CONTENT), bytearray(CONTENT)])
def test_bytes_and_files_are_read_like_paths(readable):
    assert CONTENT == b"".join(open_stream(readable).pieces())


def test_of_a_long_file_so_much_is_read_as_is_asked_for(tmp_path):
    """
    Or, where nobody asks, as is left of its capture.
    """
    path = tmp_path / "app.log"
    path.write_bytes(CONTENT[:5000])
    source = LongSource("app.log", b"", b"", path=path, bounds=Bounds(artefact_bytes=2000))

    read = [
        sum(map(len, open_stream(source, bounds=bounds).pieces()))
        for bounds in (None, Bounds(artefact_bytes=1000), Bounds())
    ]

    assert [2000, 1000, 5000] == read


def test_what_lies_in_an_archive_is_not_long():
    assert long_source(SimpleNamespace(path=None)) is None


def test_what_passes_the_limit_is_damage():
    stream = open_stream(CONTENT, name="app.log", bounds=Bounds(artefact_bytes=1000))

    assert CONTENT[:1000] == b"".join(stream.pieces())
    assert ["app.log: more than 1000 B; the rest is not read"] == [
        str(one) for one in stream.damage
    ]


def test_what_a_disk_cannot_read_is_damage_with_its_place():
    class Broken(io.BytesIO):
        def read(self, _):
            if self.tell() >= 2000:
                raise OSError(5, "Input/output error")
            return super().read(2000)

    stream = open_stream(Broken(CONTENT), name="app.log")

    assert CONTENT[:2000] == b"".join(stream.pieces())
    assert ["app.log: byte 2000: cannot be read: Input/output error"] == [
        str(one) for one in stream.damage
    ]


def test_progress_ends_with_all_of_it(monkeypatch):
    monkeypatch.setattr(long, "PIECE_BYTES", 1 << 20)
    seen = []

    list(open_stream(CONTENT).pieces(lambda done, total: seen.append((done, total))))

    assert (len(CONTENT), len(CONTENT)) == seen[-1]
    assert sorted(seen) == seen
    assert 3 <= len(seen)


def test_progress_of_a_stream_has_no_end_to_tell():
    seen = []

    list(open_stream(io.BytesIO(CONTENT)).pieces(lambda *step: seen.append(step)))

    assert [(len(CONTENT), None), (0, None)] == seen


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "is a folder, wanted one artefact"), ("none", "no such file or folder")],
)
def test_what_cannot_be_opened_says_why(name, message, tmp_path):
    with pytest.raises(CaptureError, match=message):
        open_stream(tmp_path / name)


def test_a_long_log_of_a_capture_is_read_like_a_short_one(tmp_path, monkeypatch):
    """
    It is never held whole, and its size and digest are those of the file.
    """
    (tmp_path / "gctrace.log").write_bytes((GCLOGS / "all-go1.27.3.log").read_bytes() * 40)
    short = gomem.load(tmp_path)
    seen = []
    monkeypatch.setattr(long, "LONG_FROM_BYTES", 1)
    monkeypatch.setattr(long, "PIECE_BYTES", 1 << 20)
    monkeypatch.setattr("gomem.sources.listing.Entry.open", None)

    from_pieces = gomem.load(tmp_path, progress=lambda *step: seen.append(step))

    assert_frame_equal(short.gc.cycles, from_pieces.gc.cycles.whole())
    assert_frame_equal(short.artefacts, from_pieces.artefacts)
    assert ("gctrace.log", 1, 1) == seen[0]
    assert ("gctrace.log (MiB)", 1, 1) == seen[-1]


def test_a_long_file_of_another_kind_is_read_whole(tmp_path, monkeypatch):
    smaps = (GCLOGS.parent / "captures/zeroing-go1.24.2/2-loaded/smaps").read_bytes()
    (tmp_path / "smaps").write_bytes(smaps)
    monkeypatch.setattr(long, "LONG_FROM_BYTES", 1)

    assert smaps.count(b"VmFlags") == len(gomem.load(tmp_path).smaps)
