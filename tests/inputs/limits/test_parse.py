"""/proc/PID/limits: columns of fixed width, names with blanks in them."""

import pytest

from gomem.errors import FormatError
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.limits.parse import parse_limits
from gomem.inputs.limits.table import read_limits
from tests.builders import FIXTURES

RECORDED = FIXTURES / "injected/contained-go1.27.3/2-filled/limits"


def test_a_recorded_file_is_rows():
    limits = read_limits(RECORDED).limits.set_index("limit")

    assert kind_of(RECORDED.read_bytes()) is BY_NAME["limits"]
    assert 16 == len(limits)
    assert 8388608 == limits.loc["Max stack size", "soft"]
    assert "bytes" == limits.loc["Max stack size", "unit"]


def test_line_ends_of_windows_and_cut_blanks_change_nothing():
    recorded = RECORDED.read_bytes()
    pasted = b"\r\n".join(line.rstrip() for line in recorded.splitlines())

    assert kind_of(pasted) is BY_NAME["limits"]
    assert parse_limits(recorded, source="") == parse_limits(pasted, source="")


def test_unlimited_is_unknown_and_not_a_number():
    limits = read_limits(RECORDED).limits.set_index("limit")

    assert limits["soft"].isna()["Max address space"]


def test_a_line_of_another_shape_is_damage():
    head = RECORDED.read_bytes().split(b"\n", 1)[0]

    limits, damage = parse_limits(head + b"\nMax pending sig\n", source="limits")

    assert [] == limits
    assert ["limits: line 2"] == [one.place for one in damage]


def test_a_header_alone_is_an_error():
    with pytest.raises(FormatError, match="no limit"):
        read_limits(RECORDED.read_bytes().split(b"\n", 1)[0])


@pytest.mark.parametrize(
    ("text", "number"), [(b"unlimited", None), (b"9223372036854775808", None),
                         (b"9223372036854775807", 2**63 - 1), (b"0", 0)]
)  # fmt: skip
def test_from_half_of_64_bits_on_nothing_is_limited(text, number):
    head = RECORDED.read_bytes().split(b"\n", 1)[0]
    line = b"Max stack size            8388608              " + text + b"            bytes     "

    ((limit,), damage) = parse_limits(head + b"\n" + line, source="limits")

    assert ([], "Max stack size", 8388608) == (damage, limit.name, limit.soft)
    assert (number, "bytes") == (limit.hard, limit.unit)


def test_damage_is_of_its_line_and_the_others_are_read():
    lines = RECORDED.read_bytes().splitlines()[:4]
    lines[2] = b"Max of something"

    limits, damage = parse_limits(b"\n".join(lines), source="limits")

    assert ["line 3"] == [one.where for one in damage]
    assert 2 == len(limits)
