"""Profiles that are harmed, or made to do harm: refused with their place, or read within bounds."""

import gzip
import tracemalloc

import numpy as np
import pytest

from gomem.errors import FormatError
from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.protobuf import samples as pprof_samples
from gomem.inputs.pprof.protobuf import top_level as pprof_top
from gomem.inputs.pprof.read import read_pprof
from gomem.sources.artefact import open_source
from gomem.sources.bounds import Bounds
from tests.builders import FIXTURES
from tests.pprof_messages import field, message, number, packed, profile, sample, strings

SMALL = FIXTURES / "profiles" / "go1.24.2" / "block-b.pb.gz"


def outcome(data):
    """The columns and damage of a profile, or its refusal."""
    try:
        return parse_pprof(data, source="heap.pb")
    except FormatError as error:
        return str(error)


def refusal(data):
    said = outcome(data)
    assert isinstance(said, str)
    return said


@pytest.mark.parametrize("seed", range(4))
def test_a_profile_with_a_flipped_bit_is_refused_or_still_fits_together(seed):
    """
    Every row that a table names is there, whatever number a bit was part of.
    """
    random = np.random.default_rng(seed)
    whole = gzip.decompress(SMALL.read_bytes())
    read = 0

    for _ in range(150):
        harmed = bytearray(whole)
        harmed[random.integers(len(whole))] ^= 1 << random.integers(8)
        said = outcome(bytes(harmed))
        if isinstance(said, str):
            assert said.startswith("heap.pb: "), said
            continue
        read += 1
        columns, _ = said
        locations, count = columns.locations, len(columns.strings)
        assert columns.value.shape == (len(columns.stack_offsets) - 1, len(columns.sample_types))
        assert (np.diff(columns.stack_offsets) >= 0).all()
        assert ((columns.stack >= 0) & (columns.stack < len(locations.id))).all()
        assert (locations.line_function < len(columns.functions.id)).all()
        assert ((columns.functions.name >= 0) & (columns.functions.name < count)).all()
        assert ((columns.labels.key >= 0) & (columns.labels.key < count)).all()

    assert 0 < read < 150


def test_a_flipped_bit_in_a_compressed_profile_never_gives_another_table():
    """
    Past gzip's own header, every bit of which its checksum does not know.
    """
    packed_up = gzip.compress(gzip.decompress(SMALL.read_bytes()), mtime=0)
    whole = read_pprof(packed_up).samples
    random = np.random.default_rng(1)

    for place in random.integers(10, len(packed_up), 150).tolist():
        harmed = bytearray(packed_up)
        harmed[place] ^= 1 << random.integers(8)
        try:
            read = read_pprof(bytes(harmed))
        except FormatError:
            continue
        assert len(read.damage)
        assert whole.equals(read.samples)


def test_a_stack_of_a_hundred_thousand_frames_is_read_packed_and_unpacked():
    ids = [1, 2] * 50_000
    unpacked = message(2, b"".join(field(1, one) for one in ids), packed(2, 7))

    columns, damage = outcome(profile(sample(*ids, value=5), unpacked))

    assert [] == damage
    assert [0, 100_000, 200_000] == columns.stack_offsets.tolist()
    assert [0, 1] * 100_000 == columns.stack.tolist()


def test_a_message_longer_than_a_window_is_read():
    """
    Its numbers take two bytes each, so that a window ends within one.
    """
    ids = [300] * 700_000

    said = refusal(profile(message(2, packed(1, *ids), packed(2, 5))))

    assert "sample 0 names location 300" in said


def test_a_gzip_bomb_stops_at_the_bound():
    """
    What is decompressed is bounded, and so is what is kept while it is.
    """
    bomb = gzip.compress(bytes(40 << 20), 1)
    read_pprof(SMALL)  # imports count for nothing

    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="when decompressed; the rest is not read"):
            read_pprof(open_source(bomb, bounds=Bounds(artefact_bytes=4 << 20)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 16 << 20


def test_a_string_table_of_one_refuses_what_names_another():
    said = refusal(message(1, field(1, 1), field(2, 2)) + strings(""))

    assert "sample type 0 names string 1, the table has 1" in said


def test_a_profile_of_too_many_messages_is_refused(monkeypatch):
    """
    They are counted before any memory is taken for them, those that are not plain as well.
    """
    monkeypatch.setattr(pprof_top, "FIELDS_LIMIT", 3000)
    monkeypatch.setattr(pprof_top, "BLOCK", 100)
    unknown = field(500, 1)

    said = refusal(profile() + (b"\x2a\x00" * 500 + unknown) * 8)

    assert "more than 3000 messages" in said


@pytest.mark.parametrize(
    ("field_in_it", "said"),
    [
        pytest.param(b"\x31\x7f", "a field runs past the end of the file", id="cut"),
        pytest.param(b"\x00\x00", "field 0 of wire type 0", id="field 0"),
    ],
)
def test_a_profile_long_enough_for_too_many_is_refused_where_it_breaks(
    field_in_it, said, monkeypatch
):
    monkeypatch.setattr(pprof_top, "FIELDS_LIMIT", 40)
    whole = profile()

    assert f"byte {len(whole)}: not a whole pprof profile: {said}" in refusal(whole + field_in_it)


def test_too_many_messages_come_before_one_that_no_profile_has(monkeypatch):
    """
    A sample type as a number: what it would be refused for is not looked for in so many.
    """
    monkeypatch.setattr(pprof_top, "FIELDS_LIMIT", 40)

    assert "more than 40 messages" in refusal(field(1, 1) + b"\x2a\x00" * 50)


def test_long_strings_and_unknown_fields_between_messages_are_walked_over():
    """
    Tags and lengths of one, two and three bytes.
    """
    unknown = message(500, b"abc") + field(77, 1 << 40) + b"\x81\x02" + bytes(8)
    text = "x" * 20_000

    columns, damage = outcome(profile(unknown, sample(1, value=3)) + unknown + strings(text))

    assert ([], [[3]], text) == (damage, columns.value.tolist(), columns.strings[-1])


def test_samples_are_read_across_windows(monkeypatch):
    """
    More of them than are decoded at a time.
    """
    monkeypatch.setattr(pprof_samples, "CHUNK_BYTES", 1000)

    columns, _ = outcome(profile(*(sample(1, value=one) for one in range(2000))))

    assert list(range(2000)) == columns.value[:, 0].tolist()


@pytest.mark.parametrize("newer", [b"", message(41, b"new")], ids=["alone", "after a newer field"])
def test_a_location_of_four_bytes_is_refused_with_its_place(newer):
    """
    protobuf passes over a known field of another wire type as if it were of a newer schema.
    """
    data = profile() + newer

    said = refusal(data + b"\x25" + bytes(4))

    assert f"byte {len(data)}: field 4 has wire type 5, which no profile has there" in said


def test_a_sample_type_of_another_wire_type_is_refused_with_its_place():
    said = refusal(profile(sample_types=message(1, message(1, b"a"), field(2, 2))))

    assert "byte 0: sample type 0: field 1 has wire type 2, wanted another" in said


def test_a_group_which_protobuf_skips_is_refused_with_its_place():
    group = number(14 << 3 | 3) + number(14 << 3 | 4)

    assert f"byte {len(profile())}: not a whole" in refusal(profile() + group)


def test_a_sample_type_of_a_newer_schema_is_read():
    columns, _ = outcome(profile(sample_types=message(1, field(1, 1), field(9, 7), field(2, 2))))

    assert [("inuse_space", "bytes")] == [(one.type, one.unit) for one in columns.sample_types]


def test_a_string_with_a_zero_in_it_stays_one():
    columns, _ = outcome(profile() + strings("main.\0", "main.last"))

    assert ["main.\0", "main.last"] == columns.strings[-2:]


@pytest.mark.parametrize("comments", [packed(13, 1, 3), field(13, 1) + field(13, 3)])
def test_comments_are_read_packed_or_not(comments):
    columns, _ = outcome(profile() + comments)

    assert ("inuse_space", "main.leaf") == columns.comments


def test_a_comment_that_is_cut_is_refused_with_its_place():
    data = profile() + message(13, b"\x01\x85")

    assert f"byte {len(data) - 2}: comment: a number runs past" in refusal(data)


def test_a_sample_that_names_a_label_that_is_not_there_is_refused_with_its_place():
    labelled = message(2, packed(1, 1), packed(2, 5), message(3, number(1 << 3) + number(99)))

    assert "byte 6: sample 0 names string 99, the table has 7" in refusal(profile(labelled))
