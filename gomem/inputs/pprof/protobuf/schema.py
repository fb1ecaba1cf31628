"""profile.proto's fields, as tables shared by the reader, the writer and the recogniser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from gomem.inputs.message_classes import message_classes
from gomem.inputs.pprof.protobuf.wire import BYTES, VARINT

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 1, 2, 3, 4, 5, 6
TIME_NANOS, PERIOD_TYPE, COMMENT = 9, 11, 13

ONE = (VARINT,)
MANY = (VARINT, BYTES)
INNER = (BYTES,)

# Field numbers of profile.proto, with the wire types that each may have.
PROFILE = {
    "sample_type": (SAMPLE_TYPE, INNER),
    "sample": (SAMPLE, INNER),
    "mapping": (MAPPING, INNER),
    "location": (LOCATION, INNER),
    "function": (FUNCTION, INNER),
    "string_table": (STRING, INNER),
    "drop_frames": (7, ONE),
    "keep_frames": (8, ONE),
    "time_nanos": (TIME_NANOS, ONE),
    "duration_nanos": (10, ONE),
    "period_type": (PERIOD_TYPE, INNER),
    "period": (12, ONE),
    "comment": (COMMENT, MANY),
    "default_sample_type": (14, ONE),
    "doc_url": (15, ONE),
}
VALUE_TYPE_FIELDS = {1: ONE, 2: ONE}
SAMPLE_FIELDS = {1: MANY, 2: MANY, 3: INNER}
LABEL_FIELDS = {1: ONE, 2: ONE, 3: ONE, 4: ONE}
MAPPING_FIELDS = dict.fromkeys(range(1, 11), ONE)
LOCATION_FIELDS = {1: ONE, 2: ONE, 3: ONE, 4: INNER, 5: ONE}
LINE_FIELDS = {1: ONE, 2: ONE, 3: ONE}
FUNCTION_FIELDS = {1: ONE, 2: ONE, 3: ONE, 4: ONE, 5: ONE}

MESSAGE_FIELDS: Mapping[int, Mapping[int, tuple[int, ...]]] = {
    SAMPLE_TYPE: VALUE_TYPE_FIELDS,
    SAMPLE: SAMPLE_FIELDS,
    MAPPING: MAPPING_FIELDS,
    LOCATION: LOCATION_FIELDS,
    FUNCTION: FUNCTION_FIELDS,
    PERIOD_TYPE: VALUE_TYPE_FIELDS,
}
WORDS = {number: name.replace("_", " ") for name, (number, _) in PROFILE.items()}
TOP_TYPES = dict(PROFILE.values())
NAMES = {number: name for name, (number, _) in PROFILE.items()}


# Profile's messages stay bytes, which is the same on the wire.
_KINDS = {ONE: "int64", MANY: "int64[]", INNER: "bytes[]"}
_CLASSES = message_classes(
    "gomem",
    {
        "Profile": {name: (number, _KINDS[types]) for name, (number, types) in PROFILE.items()},
        "ValueType": {"type": (1, "int64"), "unit": (2, "int64")},
    },
)
Profile, _ValueType = _CLASSES["Profile"], _CLASSES["ValueType"]


def value_type(message: bytes) -> tuple[int, int] | None:
    """Return a ValueType's type and unit, as string indices; None if unreadable or too new."""
    pair = _ValueType()
    try:
        pair.ParseFromString(message)
    except DecodeError:
        return None
    pair.DiscardUnknownFields()
    return (pair.type, pair.unit) if pair.ByteSize() == len(message) else None
