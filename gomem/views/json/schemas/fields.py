"""JSON Schema out of the data dictionary: a column gives a property, a frame a list of rows.

A column says name, type, unit and meaning once, where the frame is made. What only JSON knows, such
as the words that a text can be, stands beside it by the column's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.inputs.schema import Column

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
UNIT = "x-unit"  # of a number; a keyword that validators pass over
TYPES: dict[str, str | list[str]] = {
    "bool": "boolean",
    "boolean": ["boolean", "null"],
    "float64": ["number", "null"],
    "Float64": ["number", "null"],
    "int32": "integer",
    "int64": "integer",
    "Int64": ["integer", "null"],
    "UInt64": ["integer", "null"],
    "str": "string",
    "datetime64[ns, UTC]": ["string", "null"],
}
NUMBER: Schema = {"type": "number"}  # where it is always known
SIZE: Schema = {"minimum": 0}
PROBABILITY: Schema = {"minimum": 0, "maximum": 1}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
NULL: Schema = {"type": "null"}


def value(column: Column) -> Schema:
    """What a column's values are in JSON; a count is never below 0."""
    schema: Schema = {"type": TYPES[column.dtype], "description": column.means}
    if column.dtype.startswith("datetime"):
        schema["format"] = "date-time"
    if column.unit:
        schema[UNIT] = column.unit
    if column.unit == "count":
        schema["minimum"] = 0
    return schema


def record(columns: Iterable[Column] = (), means: str = "", /, **others: Schema) -> Schema:
    """An object with all of its fields; more may be added in later versions.

    Of columns that are plain values, and of others by name: under a column's name, what narrows it.
    """
    properties = {column.name: value(column) for column in columns}
    for name, schema in others.items():
        properties[name] = properties.get(name, {}) | schema
    schema = {"type": "object", "required": list(properties), "properties": properties}
    return schema | ({"description": means} if means else {})


def rows(columns: Iterable[Column] = (), means: str = "", /, **others: Schema) -> Schema:
    """A list of such objects, as a frame's rows are."""
    return listed(record(columns, **others), means)


def listed(items: Schema, means: str = "") -> Schema:
    """A list of any length."""
    return {"type": "array", "items": items} | ({"description": means} if means else {})


def or_null(schema: Schema, means: str) -> Schema:
    """It, or null."""
    return {"oneOf": [schema, NULL], "description": means}


def words(known: Iterable[str]) -> Schema:
    """One of these texts."""
    return {"type": "string", "enum": list(known)}


def words_or_null(known: Iterable[str]) -> Schema:
    """One of these texts, or null."""
    return {"type": ["string", "null"], "enum": [*known, None]}


def without(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    """Columns less those of these names."""
    return tuple(column for column in columns if column.name not in names)


def only(columns: Iterable[Column], names: Iterable[str]) -> tuple[Column, ...]:
    """The columns of these names, in that order."""
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in names)


def written_as(name: str) -> Schema:
    """What a document's own `schema` field says: which schema it has."""
    return {"const": name, "description": "The schema that the document has, with its version."}


def document(name: str, body: Schema) -> Schema:
    """A whole schema, titled by what the document's own `schema` field says."""
    return {"$schema": DIALECT, "title": name} | body
