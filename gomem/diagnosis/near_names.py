"""Shorten functions in sentences to the form that callers write: `hub.(*Client).run`.

Evidence, tables and JSON keep the import path. If two functions of a verdict differ only in it,
both keep it.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from gomem.text import Function, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.text import Part

T = TypeVar("T")

# The path before a package's name, which can be followed by its major version, as in `hub/v2.Run`.
_IMPORT_PATH = re.compile(r"^[^\s\[(]*?/(?=[^\s/\[(]+(?:/v[0-9]+)?\.[^\s/\[(]*(?:$|[\[(]))")


class NearFunction(Function):
    """A function without the path before the name of its package; its value has the path."""

    __slots__ = ()

    @staticmethod
    def _reads(value: Any, *_: Any) -> str:
        return _IMPORT_PATH.sub("", value)


def with_near_names(said: T) -> T:
    """Return a dataclass of sentences with its functions' names shortened."""
    told = {field.name: getattr(said, field.name) for field in fields(said)}  # type: ignore[arg-type]
    functions = {part.value for words in _texts(told.values()) for part in words.of(Function)}
    near = [NearFunction(name) for name in functions]
    unique = {part.value for part in near if near.count(part) == 1 and part != part.value}

    def shown(part: Part) -> Text:
        return NearFunction(part.value) if type(part) is Function and part.value in unique else part

    def nearly(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(nearly, value))
        return value.shown(shown) if isinstance(value, Text) else value

    return replace(said, **{name: nearly(value) for name, value in told.items()})  # type: ignore[type-var]


def _texts(values: Any) -> Iterator[Text]:
    for value in values:
        yield from _texts(value) if isinstance(value, tuple) else ()
        if isinstance(value, Text):
            yield value
