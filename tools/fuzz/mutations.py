"""Changes of an input that its format knows: a line, a number, a JSON value, a protobuf field."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tools.fuzz.target import Mutation

MAX_BYTES = 1 << 13  # of an input: what is longer only takes longer
NUMBERS = (0, 1, 2, 127, 128, 255, 256, 1023, 4095, 2**16, 2**31 - 1, 2**31, 2**32, 2**53 + 1,
           2**62, 2**63 - 1, 2**63, 2**64 - 1)  # fmt: skip
JUNK = (
    b"", b" ", b"\t", b"\0", b"\r", b"hello", b"2026-11-26 INFO listening on :8080", b"> ", b"```",
    b"...", b"\xff\xfe", b"\xe2\x80\xa6", b"\xc2\xa0", b"\xef\xbb\xbf", b"\x1b[31mred\x1b[0m",
    b"{}", b"[", b'{"log":"x\\n","stream":"stderr"}', b"-", b"<b>", b"&gt;", b"0x", b"%!d(MISSING)",
)  # fmt: skip
DIGITS = re.compile(rb"\d+")
VALUES = (None, True, -1, 0, 1.5, 2**53 + 1, 2**63, 2**64 - 1, "", "1", [], {}, [[]], 1e308)
VARINT_BYTES = 10


def text(data: bytes, random: Random) -> bytes:
    """A change of a text's lines, of a number in it, or of a few of its bytes."""
    change = random.choice((_line, _line, _digits, _digits, _joined, data_bytes))
    return change(data, random)[:MAX_BYTES]


def json_text(data: bytes, random: Random) -> bytes:
    """Another value somewhere in a JSON text; of what is none, a change as of any text."""
    if random.random() < 0.3:
        return text(data, random)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return text(data, random)
    changed = json_bytes(_value(value, random))
    return changed[:MAX_BYTES]


def protobuf(data: bytes, random: Random) -> bytes:
    """A field of a message taken away, doubled, moved or changed, with lengths that hold."""
    fields = fields_of(data)
    if fields is None or not fields or random.random() < 0.1:
        return data_bytes(data, random)
    _change_field(fields, random)
    return b"".join(field_bytes(*field) for field in fields)[:MAX_BYTES]


def data_bytes(data: bytes, random: Random) -> bytes:
    """A few bytes changed, cut out, put in or doubled."""
    at = random.randrange(len(data) + 1)
    end = min(len(data), at + random.choice((0, 1, 1, 2, 4, 8, 64)))
    kind = random.randrange(5)
    if kind == 0:
        return data[:at] + data[end:]
    if kind == 1:
        return data[:at] + random.choice(JUNK) + data[at:]
    if kind == 2:
        return data[:end] + data[at:end] * random.randrange(1, 4) + data[end:]
    if kind == 3:
        return data[:at] if random.random() < 0.3 else data[:at] + random.randbytes(end - at)
    width = random.choice((1, 2, 4, 8))
    number = random.choice(NUMBERS) & ((1 << 8 * width) - 1)
    return data[:at] + number.to_bytes(width, random.choice(("little", "big"))) + data[at + width :]


def varints(data: bytes, random: Random) -> bytes:
    """Another varint in the place of one, or a change as of any bytes."""
    if not data or random.random() < 0.3:
        return data_bytes(data, random)[:MAX_BYTES]
    at = random.randrange(len(data))
    _, end = _varint_at(data, at) or (0, at + 1)
    return (data[:at] + varint(random.choice(NUMBERS)) + data[end:])[:MAX_BYTES]


def spliced(mutate: Mutation, seeds: Sequence[bytes]) -> Mutation:
    """A mutation that now and then puts part of a seed into an input."""

    def changed(data: bytes, random: Random) -> bytes:
        if random.random() > 0.05:
            return mutate(data, random)
        other = random.choice(seeds).splitlines(keepends=True) or [b""]
        begin = random.randrange(len(other))
        lines = data.splitlines(keepends=True)
        at = random.randrange(len(lines) + 1)
        lines[at:at] = other[begin : begin + random.choice((1, 2, 8))]
        return b"".join(lines)[:MAX_BYTES]

    return changed


def _line(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    kind = random.randrange(7)
    if kind == 0:
        del lines[at : at + random.choice((1, 1, 3))]
    elif kind == 1:
        lines.insert(random.randrange(len(lines) + 1), lines[at])
    elif kind == 2:
        lines.insert(at, random.choice(JUNK) + b"\n")
    elif kind == 3:
        lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
    elif kind == 4:
        other = random.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 5:
        lines[at] = random.choice(JUNK) + lines[at]
    else:
        cut = random.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:cut] + random.choice(JUNK) + lines[at][cut:]
    return b"".join(lines)


def _joined(data: bytes, random: Random) -> bytes:
    """Line ends of another system, indentation, quote marks, or a line end that is lost."""
    kind = random.randrange(4)
    if kind == 0:
        return data.replace(b"\n", b"\r\n")
    mark = random.choice((b" ", b"\t", b"> ", b"    ", b"* "))
    if kind == 1:
        return b"".join(mark + line for line in data.splitlines(keepends=True))
    places = [match.start() for match in re.finditer(rb"\n", data)]
    if kind == 2 and places:
        at = random.choice(places)
        return data[:at] + data[at + 1 :]
    return data.rstrip(b"\n")


def _digits(data: bytes, random: Random) -> bytes:
    found = list(DIGITS.finditer(data))
    if not found:
        return _line(data, random)
    number = random.choice(found)
    value = random.choice(
        (
            str(random.choice(NUMBERS)),
            str(random.randrange(10 ** random.randrange(1, 9))),
            random.choice(("", "-1", "1.5", "9" * 20, "9" * 400, "1e9", "NaN", "0x1f", "+5", "٣")),
        )
    )
    return data[: number.start()] + value.encode() + data[number.end() :]


def _value(value: Any, random: Random) -> Any:
    """The same with one value in it replaced, taken away or doubled."""
    if not isinstance(value, (dict, list)) or not value or random.random() < 0.05:
        if type(value) is int and random.random() < 0.5:
            return random.choice((value + 1, value - 1, -value, value * 2, float(value)))
        return random.choice((*VALUES, random.choice(NUMBERS)))
    key: Any = random.choice(list(value) if isinstance(value, dict) else range(len(value)))
    changed = value.copy()
    kind = random.randrange(6)
    if kind == 0:
        del changed[key]
    elif kind == 1 and isinstance(changed, list):
        changed.insert(key, changed[key])
    elif kind == 1:
        changed[f"{key}{random.choice(('', '2', ' '))}"] = random.choice(VALUES)
    else:
        changed[key] = _value(changed[key], random)
    return changed


Field = tuple[int, int, Any]  # number, wire type, and a number or bytes


def fields_of(message: bytes) -> list[Field] | None:
    """The fields of a protobuf message; None if it is none."""
    fields: list[Field] = []
    at = 0
    while at < len(message):
        tag = _varint_at(message, at)
        if tag is None or not tag[0] >> 3:
            return None
        number, kind, at = tag[0] >> 3, tag[0] & 7, tag[1]
        if kind in {1, 5}:
            width = 8 if kind == 1 else 4
            value, at = message[at : at + width], at + width
        elif kind in {0, 2}:
            found = _varint_at(message, at)
            if found is None:
                return None
            value, at = found
            if kind == 2:
                value, at = message[at : at + value], at + value
        else:
            return None
        if at > len(message):
            return None
        fields.append((number, kind, value))
    return fields


def field_bytes(number: int, kind: int, value: Any) -> bytes:
    """A field as it is written."""
    tag = varint(number << 3 | kind)
    if kind == 0:
        return tag + varint(value)
    return tag + (varint(len(value)) if kind == 2 else b"") + value


def _change_field(fields: list[Field], random: Random) -> None:
    at = random.randrange(len(fields))
    number, kind, value = fields[at]
    action = random.randrange(8)
    if action == 0:
        del fields[at]
    elif action == 1:
        fields.insert(random.randrange(len(fields) + 1), fields[at])
    elif action == 2:
        fields.append(fields.pop(at))
    elif action == 3:
        fields[at] = (random.choice((number + 1, 1, 2, 3, 4, 5, 6, 13, 99)), kind, value)
    elif kind == 0:
        fields[at] = (number, kind, random.choice((random.choice(NUMBERS), value + 1, value ^ 1)))
    else:
        fields[at] = (number, kind, _content(value, random) if kind == 2 else value)


def _content(value: bytes, random: Random) -> bytes:
    """Bytes of a field changed: as a message, as packed numbers, or as they are."""
    inner = fields_of(value)
    if inner and random.random() < 0.7:
        _change_field(inner, random)
        return b"".join(field_bytes(*field) for field in inner)
    return random.choice((varints, data_bytes))(value, random)


def varint(number: int) -> bytes:
    """A number, seven bits a byte, the lowest first."""
    number &= 2**64 - 1
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def _varint_at(data: bytes, at: int) -> tuple[int, int] | None:
    value = 0
    for place in range(VARINT_BYTES):
        if at + place >= len(data):
            return None
        byte = data[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & (2**64 - 1), at + place + 1
    return None


def json_bytes(value: Any) -> bytes:
    """A value as a program dumps it, without blanks."""
    return json.dumps(value, separators=(",", ":")).encode()
