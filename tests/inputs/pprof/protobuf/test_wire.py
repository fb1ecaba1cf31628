"""Fields of many protobuf messages at once: any order, packed or not, unknown ones passed over."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.inputs.pprof.protobuf.messages import Messages
from gomem.inputs.pprof.protobuf.scan import MIN_AT_ONCE, ROUNDS, scan
from gomem.inputs.pprof.protobuf.wire import BYTES, VARINT, WireError, field_at, walk
from tests.pprof_messages import field, message, packed

WANTED = {1: (VARINT,), 2: (VARINT, BYTES), 3: (BYTES,)}
WORDS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
MANY = MIN_AT_ONCE + 1  # one more than are read one by one


def lists_of(values, offsets):
    return [values[start:stop].tolist() for start, stop in pairwise(offsets)]


@given(st.lists(st.tuples(WORDS, st.lists(WORDS), st.booleans()), max_size=2 * MANY))
def test_fields_are_read_back_however_they_are_laid_out(rows):
    """
    One number and one list a message, the list packed or not, before the number or after it.
    """
    parts = []
    for one, many, is_packed in rows:
        listed = packed(2, *many) if is_packed else b"".join(field(2, value) for value in many)
        parts.append(field(1, one) + listed if len(many) % 2 else listed + field(1, one))

    fields = scan(Messages.join(parts), WANTED)

    assert [one for one, *_ in rows] == fields.one(1).tolist()
    assert [many for _, many, _ in rows] == lists_of(*fields.many(2))


@pytest.mark.parametrize("count", [1, MANY])
def test_packed_and_unpacked_numbers_of_one_field_keep_their_order(count):
    part = packed(2, 1, 300) + field(2, 2) + packed(2) + packed(2, 70_000)

    values = scan(Messages.join([part] * count), WANTED).many(2)

    assert [[1, 300, 2, 70_000]] * count == lists_of(*values)


@pytest.mark.parametrize("count", [1, MANY])
def test_the_last_of_two_numbers_counts(count):
    fields = scan(Messages.join([field(1, 5) + field(1, 7)] * count), WANTED)

    assert [7] * count == fields.one(1).tolist()


def test_numbers_are_found_in_however_many_rounds_they_come():
    """
    More fields a message than there are rounds whose records are kept apart.
    """
    values = list(range(ROUNDS + 5))
    part = field(1, 5) + b"".join(field(2, value) for value in values) + field(1, 7)

    fields = scan(Messages.join([part] * MANY), WANTED)

    assert [7] * MANY == fields.one(1).tolist()
    assert [values] * MANY == lists_of(*fields.many(2))


@pytest.mark.parametrize("count", [1, MANY])
def test_unknown_fields_of_every_wire_type_are_passed_over(count):
    unknown = field(9, 1) + message(500, b"abc") + b"\x51" + bytes(8) + b"\x55" + bytes(4)
    fields = scan(Messages.join([unknown + field(1, 5)] * count), WANTED)

    assert [5] * count == fields.one(1).tolist()


def test_a_fixed_field_need_not_read_as_a_number():
    """
    Eight marked bytes and more of them after it are no number that is too long.
    """
    unknown = b"\x51" + b"\xff" * 8
    messages = [unknown + message(500, b"\xff" * 4) + field(1, 5), field(1, 6)] * MANY

    assert [5, 6] * MANY == scan(Messages.join(messages), WANTED).one(1).tolist()


@pytest.mark.parametrize("count", [1, MANY])
def test_a_message_without_a_field_has_0_and_no_items(count):
    fields = scan(Messages.join([b""] * count), WANTED)

    assert [0] * count == fields.one(1).tolist()
    assert [[]] * count == lists_of(*fields.many(2))


@pytest.mark.parametrize("count", [1, MANY])
def test_nested_messages_know_the_message_they_are_in(count):
    part = message(3, field(1, 8)) + message(3, field(1, 9))

    inner, owner = scan(Messages.join([part] * count), WANTED).nested(3)

    assert [8, 9] * count == scan(inner, WANTED).one(1).tolist()
    assert [one for one in range(count) for _ in range(2)] == owner.tolist()


@pytest.mark.parametrize("count", [1, MANY])
@pytest.mark.parametrize(
    ("broken", "offset", "what"),
    [
        pytest.param(b"\x08\x05\x08", 2, "past the end", id="no number after its tag"),
        pytest.param(b"\x08\x05\x08\x85", 2, "past the end", id="a number cut short"),
        pytest.param(b"\x08\x05\x12\x05ab", 2, "field runs past the end", id="content cut short"),
        pytest.param(b"\x12" + b"\xff" * 9 + b"\x01", 0, "field runs past", id="huge length"),
        pytest.param(b"\x08" + b"\x80" * 10 + b"\x01", 0, "more than 10 bytes", id="long number"),
        pytest.param(b"\x08\x05\x0a\x00", 2, "wire type 2", id="another wire type"),
        pytest.param(b"\x08\x05\x0b", 2, "wire type 3", id="a group"),
        pytest.param(b"\x08\x05\x00\x00", 2, "field 0", id="field 0"),
        pytest.param(b"\x51" + bytes(7), 0, "past the end", id="eight bytes cut short"),
    ],
)
def test_a_broken_message_is_an_error_with_its_number_and_place(count, broken, offset, what):
    with pytest.raises(WireError, match=what) as caught:
        scan(Messages.join([field(1, 5)] * count + [broken]), WANTED)

    assert (count, offset) == (caught.value.message, caught.value.offset)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=MANY, max_size=2 * MANY))
def test_as_many_numbers_in_each_message_make_a_table(rows):
    """
    It has what the general way reads.
    """
    fields = scan(Messages.join([packed(2, *row) for row in rows]), WANTED)

    table = fields.of_width(2, 3)

    assert table is not None
    assert [list(row) for row in rows] == table.tolist() == lists_of(*fields.many(2))


@pytest.mark.parametrize("made", [packed, field])
def test_a_field_has_its_own_numbers_and_not_those_of_another(made):
    wanted = dict.fromkeys(range(1, 9), (VARINT, BYTES))
    part = b"".join(made(number, 10 * number) for number in wanted)

    fields = scan(Messages.join([part] * MANY), wanted)

    for number in wanted:
        rows = [[10 * number]] * MANY
        assert rows == fields.of_width(number, 1).tolist() == lists_of(*fields.many(number))


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(packed(2, 1), id="too few"),
        pytest.param(packed(2, 1, 2, 3), id="too many"),
        pytest.param(packed(2, 300), id="too few, of as many bytes"),
        pytest.param(field(1, 5), id="none"),
        pytest.param(packed(2, 1) + packed(2, 2), id="in two runs"),
        pytest.param(field(2, 1) + field(2, 2), id="not packed"),
        pytest.param(b"\x12\x02\x01\x85", id="cut within a number"),
        pytest.param(message(2, b"\x01" + b"\x80" * 10 + b"\x01"), id="a number too long"),
    ],
)
def test_messages_of_which_one_is_laid_out_otherwise_make_no_table(odd):
    for messages in ([packed(2, 1, 2)] * MANY + [odd], [odd] + [packed(2, 1, 2)] * MANY):
        fields = scan(Messages.join(messages), WANTED)

        assert fields.of_width(2, 2) is None


def test_a_packed_run_that_ends_within_a_number_names_its_message():
    fields = scan(Messages.join([packed(2, 1)] * MANY + [b"\x12\x02\x01\x85"]), WANTED)

    with pytest.raises(WireError, match="past the end") as caught:
        fields.many(2)

    assert MANY == caught.value.message


def test_one_message_with_very_many_fields_is_read():
    """
    A stack of 100 000 unpacked locations does not take 100 000 array rounds.
    """
    fields = scan(Messages.join([field(2, 7) * 100_000, field(2, 8)]), WANTED)

    values, offsets = fields.many(2)

    assert [0, 100_000, 100_001] == offsets.tolist()
    assert [7, 8] == np.unique(values).tolist()


def test_walking_a_message_gives_each_field_with_its_place():
    assert [(1, 0, 0, 1, 2), (3, 2, 2, 4, 7)] == list(walk(field(1, 5) + message(3, b"abc")))


@pytest.mark.parametrize("cut", [b"\x80", b"\x08\x80", b"\x0a\x02a", b"\x09" + b"1" * 7])
def test_a_field_that_is_cut_has_no_end(cut):
    """
    In its tag, its number, its bytes, its eight bytes; whatever lies behind the limit.
    """
    for raw in (cut, cut + bytes([1])):
        _, _, stop, after = field_at(raw, 0, len(cut))
        assert (-1, -1) == (stop, after)
