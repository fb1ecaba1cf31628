"""profile.proto: what is read, what is refused with its place, and what is taken for a profile."""

import gzip
import json
import struct

import numpy as np
import pytest

from gomem.errors import FormatError
from gomem.inputs.pprof.parse import parse_pprof, starts_like_pprof
from gomem.inputs.pprof.protobuf.schema import STRING
from gomem.inputs.pprof.protobuf.wire import BYTES, walk
from tests.builders import FIXTURES
from tests.pprof_messages import (
    INUSE_SPACE,
    STRINGS,
    TWO_FUNCTIONS,
    TWO_LOCATIONS,
    field,
    function,
    location,
    message,
    packed,
    profile,
    sample,
    strings,
)

CAPTURES = FIXTURES / "captures"
PROFILES = sorted(CAPTURES.glob("*/*/*.pb.gz"))
SMALL = CAPTURES / "zeroing-go1.24.2" / "2-loaded" / "heap.pb.gz"


def read(data):
    return parse_pprof(data, source="heap.pb")


def refusal(data):
    with pytest.raises(FormatError) as caught:
        read(data)
    return str(caught.value)


def stacks(columns):
    rows = columns.locations.id[columns.stack]
    return [part.tolist() for part in np.split(rows, columns.stack_offsets[1:-1])]


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: str(path.relative_to(CAPTURES)))
def test_every_recorded_profile_is_read_without_damage(path):
    columns, damage = read(gzip.decompress(path.read_bytes()))

    assert [] == damage
    assert columns.stack_offsets[-1] == len(columns.stack)
    assert columns.time_nanos > 0


def test_a_profile_is_read():
    columns, damage = read(profile(sample(1, 2, value=100), sample(2, value=7)))

    assert [] == damage
    assert [[100], [7]] == columns.value.tolist()
    assert [[1, 2], [2]] == stacks(columns)
    assert ["main.leaf", "main.root"] == [columns.strings[name] for name in columns.functions.name]
    assert [10, 20] == columns.locations.line_number.tolist()


def test_the_order_of_the_messages_does_not_matter():
    """
    Samples may stand before or after what they name, and the string table first or last.
    """
    parts = [INUSE_SPACE, sample(1, 2, value=100), TWO_LOCATIONS, TWO_FUNCTIONS, strings(*STRINGS)]

    forwards, _ = read(b"".join(parts))
    backwards, _ = read(b"".join(reversed(parts)))

    assert stacks(forwards) == stacks(backwards)
    assert forwards.strings == backwards.strings


def test_unpacked_numbers_are_read_as_packed_ones():
    unpacked = message(2, field(1, 1), field(1, 2), field(2, 100))

    columns, _ = read(profile(unpacked))

    assert ([[100]], [[1, 2]]) == (columns.value.tolist(), stacks(columns))


def test_negative_values_are_read():
    columns, _ = read(profile(sample(1, value=-5)))

    assert [[-5]] == columns.value.tolist()


def test_ids_need_not_be_in_order_nor_small():
    locations = location(2**63, 77) + location(5, 9)

    columns, damage = read(
        profile(
            sample(5, 2**63, value=1),
            locations=locations,
            functions=function(9, 3) + function(77, 4),
        )
    )

    assert [] == damage
    assert [[1, 0]] == [columns.stack.tolist()]
    assert [1, 0] == columns.locations.line_function.tolist()


def test_inlined_calls_are_lines_of_one_location_innermost_first():
    columns, _ = read(profile(sample(1, value=1), locations=location(1, 1, 2)))

    assert [0, 2] == columns.locations.line_offsets.tolist()
    assert [0, 1] == columns.locations.line_function.tolist()


def test_labels_are_rows_of_their_sample():
    labels = message(3, field(1, 2), field(3, 48)) + message(3, field(1, 6), field(2, 3))
    labelled = message(2, packed(1, 1), packed(2, 100), labels)

    columns, _ = read(profile(sample(1, value=1), labelled))

    assert [1, 1] == columns.labels.sample.tolist()
    assert ["bytes", "space"] == [columns.strings[key] for key in columns.labels.key]
    assert [48, 0] == columns.labels.number.tolist()
    assert ["", "main.leaf"] == [columns.strings[text] for text in columns.labels.text]


def test_a_profile_without_samples_is_read():
    columns, _ = read(profile())

    assert (0, 1) == columns.value.shape


def test_a_stack_may_be_empty_and_its_sample_still_counts():
    columns, _ = read(profile(sample(value=3)))

    assert ([[3]], [0, 0]) == (columns.value.tolist(), columns.stack_offsets.tolist())


def test_strings_that_are_not_utf8_become_escapes():
    raw = profile() + message(6, b"main.\xff")

    columns, _ = read(raw)

    assert "main.\\xff" == columns.strings[-1]


def test_a_function_that_is_missing_is_damage_and_its_frame_stays():
    columns, damage = read(profile(sample(1, 2, value=1), functions=function(1, 3)))

    assert [-1] == columns.locations.line_function[1:].tolist()
    what = "1 without their function: location 2 names function 2, which the profile does not hold"
    assert [f"heap.pb: locations: {what}"] == [str(one) for one in damage]


def test_unknown_fields_are_passed_over():
    columns, damage = read(profile(sample(1, value=1)) + field(40, 1) + message(41, b"new"))

    assert ([], [[1]]) == (damage, columns.value.tolist())


@pytest.mark.parametrize(
    ("data", "error"),
    [
        pytest.param(b"", "heap.pb: is empty, wanted a pprof profile", id="empty"),
        pytest.param(strings(""), "declares no sample types", id="no sample types"),
        pytest.param(
            profile(message(2, packed(1, 1), packed(2, 5, 6))),
            "byte 6: sample 0 has 2 values, the profile declares 1 sample types",
            id="too many values",
        ),
        pytest.param(
            profile(sample(1, value=1), sample(9, value=1)),
            "byte 14: sample 1 names location 9, which the profile does not hold",
            id="unknown location",
        ),
        pytest.param(
            profile(functions=function(1, 99)),
            "function 0 names string 99, the table has 7",
            id="unknown string",
        ),
        pytest.param(
            profile(locations=location(3, 1) + location(3, 2)),
            "a second location with the id 3",
            id="id twice",
        ),
        pytest.param(
            profile(locations=location(1, 1) + location(3, 2) + location(3, 1)),
            "byte 26: a second location with the id 3",
            id="the last id twice",
        ),
        pytest.param(profile(locations=location(0, 1)), "location without an id", id="id 0"),
        pytest.param(
            profile(locations=location(1, 1) + location(0, 1)),
            "byte 16: location without an id",
            id="the last id 0",
        ),
        pytest.param(
            profile(message(2, b"\x12\x02\x05\x85")),
            "byte 6: sample 0: a number runs past the end of its message",
            id="number cut inside",
        ),
        pytest.param(
            profile(message(2, b"\x12\x0b" + b"\x80" * 10 + b"\x01")),
            "sample 0: a number of more than 10 bytes",
            id="number of 11 bytes",
        ),
        pytest.param(
            profile(field(2, 1)), "byte 6: field 2 has wire type 0", id="sample as a number"
        ),
        pytest.param(
            INUSE_SPACE + strings("first", "x", "y"), "does not begin with an empty", id="string 0"
        ),
        pytest.param(
            (profile() + field(9, 1)) * 2, "a second profile in one file", id="two profiles"
        ),
    ],
)
def test_what_is_not_a_whole_profile_is_refused_with_its_place(data, error):
    assert error in refusal(data)


def test_a_cut_profile_is_refused_wherever_it_is_cut():
    """
    A shorter table would be taken for a smaller heap.
    """
    whole = gzip.decompress(SMALL.read_bytes())

    for size in range(len(whole)):
        assert "heap.pb: " in refusal(whole[:size])


def test_a_profile_cut_in_a_message_says_at_which_byte_that_began():
    whole = profile(sample(1, 2, value=100))

    assert "heap.pb: byte 6: not a whole pprof profile: a field runs past the end of the file" in (
        refusal(whole[:10])
    )


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: str(path.relative_to(CAPTURES)))
def test_a_recorded_profile_is_taken_for_one(path):
    data = gzip.decompress(path.read_bytes())

    assert starts_like_pprof(data)


@pytest.mark.parametrize("many", [0, 100, 10_000])
def test_a_profile_may_have_its_strings_first(many):
    """
    So many that nothing else stands in what is looked at, or few.
    """
    data = gzip.decompress(SMALL.read_bytes())
    fields = [(number, data[place:stop]) for number, _, place, _, stop in walk(data)]
    further = [f"main.f{number}".encode() for number in range(many)]
    texts = [field for number, field in fields if number == STRING]
    texts += [bytes([STRING << 3 | BYTES, len(name)]) + name for name in further]
    others = [field for number, field in fields if number != STRING]

    assert starts_like_pprof(b"".join([*texts, *others]))
    assert not starts_like_pprof(b"".join([*texts[1:], *others]))


@pytest.mark.parametrize("size", [40, 100, 700])
def test_the_start_of_a_profile_is_known_though_the_rest_is_missing(size):
    start = gzip.decompress(SMALL.read_bytes())[:size]

    assert starts_like_pprof(start)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(bytes(4096), id="zeros"),
        pytest.param(b"\n\0\n\0\n\0\n\0" * 20, id="empty messages"),
        pytest.param(b"hhhhhhhhpppp" * 40, id="letters that are numbers"),
        pytest.param(bytes([0x08, 0x01]) * 40, id="numbers where messages stand"),
        pytest.param(b"\n" * 500, id="empty lines"),
        pytest.param(json.dumps({"HeapAlloc": 1}).encode(), id="json"),
        pytest.param(b"gc 1 @0.012s 2%: 0.015+0.34+0.002 ms clock\n" * 9, id="gctrace"),
        pytest.param(b"\x7fELF\x02\x01\x01" + bytes(57), id="executable"),
        pytest.param(struct.pack("<64Q", *range(1 << 40, (1 << 40) + 64)), id="binary"),
        pytest.param(b"PK\x03\x04" + bytes(60), id="zip"),
        pytest.param("\n".join("abc").encode("utf-16-le") * 30, id="utf-16"),
    ],
)
def test_what_is_no_profile_is_not_taken_for_one(data):
    assert not starts_like_pprof(data)


@pytest.mark.parametrize(
    "name", ["smaps", "smaps_rollup", "status", "memstats.json", "metrics.json"]
)
def test_the_other_artefacts_are_not_taken_for_profiles(name):
    for path in CAPTURES.glob(f"*/*/{name}"):
        assert not starts_like_pprof(path.read_bytes()), path


def test_random_bytes_are_not_taken_for_a_profile():
    random = np.random.default_rng(1)

    assert not any(starts_like_pprof(random.bytes(400)) for _ in range(5_000))


@pytest.mark.parametrize("number", [7, 8, 9, 10])
def test_each_flag_of_a_mapping_is_read_by_its_own_number(number):
    flags = ("has_functions", "has_filenames", "has_line_numbers", "has_inline_frames")
    mapping = message(3, field(1, 1), field(number, 1))

    columns, damage = read(profile(locations=mapping + TWO_LOCATIONS))

    assert [] == damage
    assert [number == 7 + place for place in range(4)] == [
        bool(getattr(columns.mappings, flag)[0]) for flag in flags
    ]


def test_a_start_that_is_cut_in_any_field_is_one_of_a_profile():
    whole = profile(sample(1, 2, value=5), sample(2, value=3))
    begun = [offset for _, _, offset, *_ in walk(whole)]

    for offset in begun[4:]:
        assert starts_like_pprof(whole[: offset + 2]), offset


def test_a_field_of_another_type_is_not_one_of_a_profile():
    assert starts_like_pprof(profile())
    assert not starts_like_pprof(field(1, 5) + profile())
    assert not starts_like_pprof(profile() + field(99, 5))
