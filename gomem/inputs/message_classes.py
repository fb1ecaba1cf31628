"""Protobuf message classes from tables of their fields: for profiles, and for API requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from collections.abc import Mapping

REPEATED = "[]"
_KINDS = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "string": _KINDS.TYPE_STRING,
    "bytes": _KINDS.TYPE_BYTES,
    "int64": _KINDS.TYPE_INT64,
}


def message_classes(package: str, messages: Mapping[str, Mapping[str, tuple[int, str]]]) -> Any:
    """Return a class for each message, by its name.

    Args:
        package: A unique package name for these messages.
        messages: By message and field: its number, and its type, which is `string`, `bytes`,
            `int64` (also for enumerations), or another message; followed by `[]` if repeated.
    """
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package)
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            plain = kind.removesuffix(REPEATED)
            own = message.field.add(name=field, number=number)
            own.label = _KINDS.LABEL_OPTIONAL if plain == kind else _KINDS.LABEL_REPEATED
            own.type = _TYPES.get(plain, _KINDS.TYPE_MESSAGE)
            if plain not in _TYPES:
                own.type_name = f".{package}.{plain}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in messages
    }
