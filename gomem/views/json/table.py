"""Declare the keys of all JSON output in one table: where each comes from, and its meaning.

    CGROUP = shape(
        "How full the cgroup is.",
        *of_class(CgroupUse, "limit_bytes killer"),
        frame("counters", CGROUP_COUNTERS, "Counters, which add up to current_bytes."),
    )

Both the JSON of an answer, `CGROUP.json(use)`, and its schema, `CGROUP.schema`, come from this
table. Descriptions are taken from where a name is defined: columns from a frame's data dictionary,
fields from the docstring of their class. Only keys that exist in JSON alone are described in the
table.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from gomem.errors import printable_json
from gomem.inputs.schema import Column, as_it_is, made_by, rows_of
from gomem.text import MomentName, Text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd


Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
UNIT = "x-unit"  # unit of a number; validators ignore this keyword
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
    "object": "string",
    "datetime64[ns, UTC]": ["string", "null"],
}
NUMBER: Schema = {"type": "number"}  # never null
SIZE: Schema = {"minimum": 0}
PROBABILITY: Schema = {"minimum": 0, "maximum": 1}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
NULL: Schema = {"type": "null"}
Getter = Callable[[Any], Any]
COUNT: Schema = {UNIT: "count", "minimum": 0}
_DTYPES = {"int": "int64", "int | None": "Int64", "bool": "bool", "str": "str"}
_DTYPES |= {"bool | None": "boolean", "str | None": "str", "Text": "str"}
_BY_HINT = {"str | None": TEXT_OR_NULL}
_UNITS = {"bytes_per_second": "B/s", "bytes": "B", "seconds": "s", "fraction": "fraction"}
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


# JSON Schema of values


def value(column: Column) -> Schema:
    """Return the schema of a column's values; a count is never below 0."""
    schema: Schema = {"type": TYPES[column.dtype], "description": column.means}
    if column.dtype.startswith("datetime"):
        schema["format"] = "date-time"
    if column.unit:
        schema[UNIT] = column.unit
    if column.unit == "count":
        schema["minimum"] = 0
    return schema


def record(columns: Iterable[Column] = (), means: str = "", /, **others: Schema) -> Schema:
    """Return the schema of an object with required keys; later versions may add keys.

    `columns` are plain values; `others` adds keys by name, or narrows the column of that name.
    """
    properties = {column.name: value(column) for column in columns}
    for name, schema in others.items():
        properties[name] = properties.get(name, {}) | schema
    schema = {"type": "object", "required": list(properties), "properties": properties}
    return schema | ({"description": means} if means else {})


def rows(columns: Iterable[Column] = (), means: str = "", /, **others: Schema) -> Schema:
    """Return the schema of a list of records, for a frame's rows."""
    return listed(record(columns, **others), means)


def listed(items: Schema, means: str = "") -> Schema:
    """Return the schema of a list of any length."""
    return {"type": "array", "items": items} | ({"description": means} if means else {})


def or_null(schema: Schema, means: str) -> Schema:
    """Return the schema of a value or null."""
    return {"oneOf": [schema, NULL], "description": means}


def words(known: Iterable[str]) -> Schema:
    """Return the schema of an enum of strings."""
    return {"type": "string", "enum": list(known)}


def words_or_null(known: Iterable[str]) -> Schema:
    """Return the schema of an enum of strings, or null."""
    return {"type": ["string", "null"], "enum": [*known, None]}


def without(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    """The columns except the named ones."""
    return tuple(column for column in columns if column.name not in names)


def only(columns: Iterable[Column], names: Iterable[str]) -> tuple[Column, ...]:
    """The named columns, in the order of the names."""
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in names)


# JSON of answers


@dataclass(frozen=True)
class Shape:
    """How to write an answer as JSON."""

    described: Schema | Callable[[], Schema]
    json: Getter  # converts an answer to JSON

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema, computed on request, because few commands need it."""
        return self.described() if callable(self.described) else self.described


@dataclass(frozen=True, slots=True)
class Key:
    """One key of an object."""

    name: str  # key in the JSON
    shape: Shape  # how to write its value
    of: Getter  # gets its value from the object's answer


def shape(means: str, *keys: Key) -> Shape:
    """Return the shape of an object: every key is required, and later versions may add keys."""
    return Shape(
        lambda: record((), means, **{key.name: key.shape.schema for key in keys}),
        lambda answer: {key.name: key.shape.json(key.of(answer)) for key in keys},
    )


def or_none(of: Shape, means: str) -> Shape:
    """Return the shape, or null where there is no value."""
    return Shape(
        lambda: or_null(of.schema, means),
        lambda answer: None if answer is None else of.json(answer),
    )


def inner(
    name: str, means: str, *keys: Key, get: str | Getter = "", many: bool = False,
    nullable: bool = False,
) -> Key:  # fmt: skip
    """A key whose value is an object, a list of objects (`many`), or null too (`nullable`).

    `get` is the attribute or function that gets its answer.
    """
    single = shape("" if many or nullable else means, *keys)
    if many:
        told = Shape(
            lambda: listed(single.schema, means), lambda answers: [*map(single.json, answers)]
        )
    else:
        told = or_none(single, means) if nullable else single
    return Key(name, told, _getter(get or name))


def plain(
    name: str, dtype: str, unit: str, means: str, get: str | Getter = "", **narrowed: Any
) -> Key:
    """A key for a number, a text or a flag; `narrowed` has further JSON Schema keywords."""
    told = Shape(lambda: value(Column(name, dtype, unit, means)) | narrowed, _itself)
    return Key(name, told, _getter(get or name))


def texts(name: str, means: str, get: str | Getter = "") -> Key:
    """A key for a list of texts."""
    told = Shape(lambda: listed({"type": "string"}, means), list)
    return Key(name, told, _getter(get or name))


def moment(name: str, means: str, get: str | Getter = "", *, nullable: bool = False) -> Key:
    """A key for the name of a moment."""
    said = _getter(get or name)
    of: Getter = lambda answer: None if (found := said(answer)) is None else MomentName(found)  # noqa: E731
    return plain(name, "str", "", means, of, **({"type": ["string", "null"]} if nullable else {}))


def columns(
    described: Iterable[Column], get: Callable[[str], Getter] = attrgetter, at: str = "",
    **narrowed: Schema,
) -> tuple[Key, ...]:  # fmt: skip
    """Keys that have the names and the descriptions of columns; `get` returns the values."""
    return tuple(
        Key(
            column.name,
            Shape(
                partial(_narrowed, column, narrowed),
                _itself if column.holds is Text else made_by(column),
            ),
            get(at + column.name),
        )
        for column in described
    )


def written_as(name: str) -> Key:
    """The document's `schema` key, which identifies its schema."""
    means = "The schema that the document has, with its version."
    return Key("schema", Shape({"const": name, "description": means}, lambda _: name), _itself)


def of_class(kind: type, names: str, at: str = "", **narrowed: Schema) -> tuple[Key, ...]:
    """Keys for fields of an answer, space-separated, described by its class.

    `at` is the path to the answer, such as `ledger.`, if it is not the object's own.
    """
    return tuple(
        Key(
            name,
            Shape(partial(_described, kind, name, narrowed), _itself),
            attrgetter(at + name),
        )
        for name in names.split()
    )


def frame(
    name: str, described: Iterable[Column], means: str, get: str | Getter = "", *,
    cells: Mapping[str, Getter] = {}, keys: Sequence[Key] = (), **narrowed: Schema,
) -> Key:  # fmt: skip
    """A key for the rows of a frame, described by its data dictionary.

    `cells` converts the values of a column, such as empty text to null; `keys` are further keys of
    a row; `narrowed` narrows the column of that name.
    """
    makers = {column.name: made_by(column) for column in described}
    makers = {name: make for name, make in makers.items() if make is not as_it_is} | dict(cells)

    def schema() -> Schema:
        of_keys = {key.name: key.shape.schema for key in keys}
        return listed(record(described, **narrowed, **of_keys), means)

    def laid_out(rows: pd.DataFrame) -> list[dict[str, Any]]:
        told = rows_json(rows)
        for row in told:
            row |= {column: make(row[column]) for column, make in makers.items()}
            row |= {key.name: key.shape.json(key.of(row)) for key in keys}
        return told

    return Key(name, Shape(schema, laid_out), _getter(get or name))


def rows_json(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows as objects; null if unknown."""
    return [
        {str(name): None if is_unknown(value) else value for name, value in row.items()}
        for row in rows_of(frame)
    ]


def render_rows(frame: pd.DataFrame) -> str:
    """Write a frame as JSON: times in ISO 8601 to the nanosecond, null for infinite numbers."""

    def finite(value: Any) -> Any:
        if isinstance(value, float) and math.isinf(value):
            return None
        return value.isoformat() if hasattr(value, "isoformat") else value

    rows = [{name: finite(value) for name, value in row.items()} for row in rows_json(frame)]
    return written(rows, indent=1)


def written(laid_out: dict[str, Any] | list[dict[str, Any]], indent: int = 2) -> str:
    """Write JSON as text, with a final newline."""
    text = json.dumps(laid_out, indent=indent, ensure_ascii=False, allow_nan=False)
    return printable_json(text) + "\n"


def _itself(answer: Any) -> Any:
    return answer


def _getter(get: str | Getter) -> Getter:
    return attrgetter(get) if isinstance(get, str) else get


def _narrowed(column: Column, narrowed: Mapping[str, Schema]) -> Schema:
    return value(column) | narrowed.get(column.name, {})


def _described(kind: type, name: str, narrowed: Mapping[str, Schema]) -> Schema:
    """The schema of a class's field: its type, its unit by its name, its description."""
    own = inspect.getattr_static(kind, name, None)
    if isinstance(own, property):
        hint, means = own.fget.__annotations__["return"], (own.__doc__ or "").strip()
    else:
        hint, means = kind.__annotations__[name], _sentences(kind).get(name, "")
    unit = next((unit for word, unit in _UNITS.items() if name.endswith(word)), "")
    described = value(Column(name, _DTYPES.get(hint, "float64"), unit, means))
    described["description"] = re.sub(r"\bNone\b", "null", means)
    return described | _BY_HINT.get(hint, {}) | narrowed.get(name, {})


@cache
def _sentences(kind: type) -> dict[str, str]:
    """The descriptions of attributes in a class's docstring."""
    found = _ATTRIBUTE.findall(inspect.getdoc(kind) or "")
    return {name: " ".join(words.split()) for name, words in found}
