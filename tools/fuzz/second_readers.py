"""Second readers, as plain as can be: what of an input no reader may miss.

They share no code with gomem. Each takes only what stands in the very form that the kernel or the
runtime prints, and says nothing of all else.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ADDRESSES = re.compile(rb"[0-9a-f]{1,16}-[0-9a-f]{1,16} ")
MAPPING = re.compile(rb"([0-9a-f]{1,16})-([0-9a-f]{1,16}) [r-][w-][x-][ps] [0-9a-f]{8} "
                     rb"[0-9a-f]{2}:[0-9a-f]{2} \d{1,12}(?: .*)?")  # fmt: skip
KIB = re.compile(rb"(\w+):\s+(\d{1,12}) kB")
COLLECTION = re.compile(
    rb"gc (\d{1,9}) @\d{1,6}\.\d{3}s \d{1,2}%: \d{1,3}(?:\.\d{1,3})?\+\d{1,3}(?:\.\d{1,3})?\+"
    rb"\d{1,3}(?:\.\d{1,3})? ms clock, \d{1,3}(?:\.\d{1,3})?\+\d{1,3}(?:\.\d{1,3})?/"
    rb"\d{1,3}(?:\.\d{1,3})?/\d{1,3}(?:\.\d{1,3})?\+\d{1,3}(?:\.\d{1,3})? ms cpu, "
    rb"\d{1,6}->\d{1,6}->\d{1,6} MB, \d{1,6} MB goal, \d{1,6} MB stacks, \d{1,6} MB globals, "
    rb"\d{1,3} P"
)
RECORD = re.compile(rb"(\d{1,9}): (\d{1,12}) \[(\d{1,9}): (\d{1,12})\] @(?: 0x[0-9a-f]{1,16})+")
COUNTED = re.compile(rb"(\d{1,9}) @(?: 0x[0-9a-f]{1,16})+")
FOLDED = re.compile(rb"[a-z.;/()*]+ (\d{1,9})")
GOROUTINE = re.compile(rb"goroutine [1-9]\d{0,8} \[[a-z ]{3,40}\]:")
BENCHMARK = re.compile(rb"Benchmark[A-Z]\w*-\d{1,3}\t *(\d{1,12})\t +(\d{1,9}(?:\.\d{1,4})?) ns/op")
SAMPLE = re.compile(
    rb"(go_memstats_heap_inuse_bytes|go_memstats_sys_bytes) (\d{1,15}|\d\.\d{1,9}e\+\d\d)"
)
LIMIT = re.compile(
    rb"(Max [a-z -]{1,22}?) {2,}(\d{1,18}|unlimited) +(\d{1,18}|unlimited) +[a-z]{4,9} *"
)
NUMBER = re.compile(rb"([a-z][a-z_0-9]*) (\d{1,15})")
SYMBOL = re.compile(rb" *([0-9a-f]{1,16}) +(\d{1,9}) [A-Za-z] ([a-z][\w./]*)")


def lines_of(data: bytes) -> list[bytes]:
    """Lines, ended as Unix or Windows does, or as what was made for Windows twice."""
    return re.sub(rb"\r+\n", b"\n", data).split(b"\n")


def found_in(form: re.Pattern[bytes], data: bytes) -> list[re.Match[bytes]]:
    """The lines that are of a form from their beginning to their end."""
    return [match for line in lines_of(data) if (match := form.fullmatch(line))]


def is_within(few: Sequence[Any], many: Iterable[Any]) -> bool:
    """Whether some rows are among others, in their order."""
    rest = iter(many)
    return all(any(row == other for other in rest) for row in few)


def json_objects(data: bytes) -> list[dict[str, Any]] | None:
    """The objects of a text that is one JSON value; None if it is not."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    values = value if isinstance(value, list) else [value]
    return values if all(isinstance(item, dict) for item in values) else None


def _profile_class() -> Any:
    """profile.proto as its authors describe it, with strings as bytes, for any may stand there."""
    kinds = descriptor_pb2.FieldDescriptorProto
    numbers, unsigned, truth, texts = (
        kinds.TYPE_INT64, kinds.TYPE_UINT64, kinds.TYPE_BOOL, kinds.TYPE_BYTES
    )  # fmt: skip
    file = descriptor_pb2.FileDescriptorProto(
        name="second.proto", package="second", syntax="proto3"
    )

    def message(name: str, *fields: tuple[str, Any, bool]) -> None:
        made = file.message_type.add(name=name)
        for number, (field, kind, is_many) in enumerate(fields, start=1):
            own = made.field.add(name=field, number=number)
            own.label = kinds.LABEL_REPEATED if is_many else kinds.LABEL_OPTIONAL
            own.type = kinds.TYPE_MESSAGE if isinstance(kind, str) else kind
            if isinstance(kind, str):
                own.type_name = f".second.{kind}"

    message("ValueType", ("type", numbers, False), ("unit", numbers, False))
    message("Label", *((name, numbers, False) for name in ("key", "str", "num", "num_unit")))
    message("Sample", ("location_id", unsigned, True), ("value", numbers, True),
            ("label", "Label", True))  # fmt: skip
    message("Mapping", *((name, unsigned, False) for name in ("id", "start", "limit", "offset")),
            ("filename", numbers, False), ("build_id", numbers, False),
            *((f"has_{number}", truth, False) for number in range(4)))  # fmt: skip
    message("Line", ("function_id", unsigned, False), ("line", numbers, False),
            ("column", numbers, False))  # fmt: skip
    message("Location", *((name, unsigned, False) for name in ("id", "mapping_id", "address")),
            ("line", "Line", True), ("is_folded", truth, False))  # fmt: skip
    message("Function", ("id", unsigned, False),
            *((name, numbers, False) for name in ("name", "system_name", "file", "start")),
            )  # fmt: skip
    message("Profile", ("sample_type", "ValueType", True), ("sample", "Sample", True),
            ("mapping", "Mapping", True), ("location", "Location", True),
            ("function", "Function", True), ("string_table", texts, True),
            *((name, numbers, False) for name in ("drop", "keep", "time", "duration")),
            ("period_type", "ValueType", False), ("period", numbers, False),
            ("comment", numbers, True), ("default_type", numbers, False),
            ("doc_url", numbers, False))  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("second.Profile"))


Profile = _profile_class()


def faults_of(profile: Any) -> str:
    """Why a profile that protobuf reads cannot be used; empty if nothing speaks against it."""
    texts = len(profile.string_table)
    if not profile.sample_type:
        return "no sample types"
    if not texts or profile.string_table[0]:
        return "no empty string"
    for rows in (profile.mapping, profile.location, profile.function):
        ids = [row.id for row in rows]
        if 0 in ids or len(set(ids)) < len(ids):
            return "an id twice, or none"
    named = [
        *(text for kind in (*profile.sample_type, profile.period_type)
          for text in (kind.type, kind.unit)),
        *(text for row in profile.mapping for text in (row.filename, row.build_id)),
        *(text for row in profile.function for text in (row.name, row.system_name, row.file)),
        *(text for row in profile.sample for label in row.label
          for text in (label.key, label.str, label.num_unit)),
        *(profile.drop, profile.keep, profile.default_type, profile.doc_url), *profile.comment,
    ]  # fmt: skip
    if not all(0 <= text < texts for text in named):
        return "a string that the table does not have"
    located = {row.id for row in profile.location}
    if any(place not in located for row in profile.sample for place in row.location_id):
        return "a location that is not there"
    types = len(profile.sample_type)
    if any(len(row.value) != types for row in profile.sample):
        return "more values than types, or fewer"
    return ""


def objects_of(dump: bytes) -> tuple[list[tuple[int, int]], bool]:
    """Address and size of each object of a heap dump, and whether its end was reached.

    By the description of the format that stands in the runtime's heapdump.go.
    """
    objects: list[tuple[int, int]] = []
    at = dump.find(b"\n") + 1

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = dump[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value % (1 << 64)
            shift += 7

    def content() -> int:
        nonlocal at
        length = number()
        at += length
        if at > len(dump):
            raise IndexError
        return length

    def fields() -> None:
        while number():
            number()

    # What follows each tag: a number, a content, a list of fields, the calls of a bucket.
    plain = {2: "cn", 3: "nncn", 4: "n" * 8 + "cnnnn", 5: "nnncnnncf", 6: "nnnnccn", 7: "nnnnn",
             8: "nn", 9: "nnn", 10: "n" * 281, 11: "nnnnn", 12: "ncf", 13: "ncf", 14: "n" * 7,
             15: "n" * 6, 16: "nnkn" + "n", 17: "nn"}  # fmt: skip
    try:
        while (tag := number()) != 0:
            if tag == 1:
                address, size = number(), content()
                fields()
                objects.append((address, size))
                continue
            for part in plain[tag]:
                if part == "n":
                    number()
                elif part == "c":
                    content()
                elif part == "f":
                    fields()
                else:
                    for _ in range(number()):
                        content()
                        content()
                        number()
    except (IndexError, KeyError):
        return objects, False
    return objects, True
