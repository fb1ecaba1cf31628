"""How a result displays itself: one line at a prompt, a small table in a notebook."""

from __future__ import annotations

import math
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from gomem.errors import printable
from gomem.units import format_bytes, format_seconds, is_unknown

if TYPE_CHECKING:
    from dataclasses import Field

LINE, VALUE, ROWS = 400, 120, 20  # characters per line and per value, rows per frame


class Answer:
    """Base of dataclasses of numbers, words and frames; with `repr=False`, this is their repr."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={shown}" for name, shown in _shown(self))
        return _cut(f"<{type(self).__name__} {said}", LINE - 1) + ">"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(shown)}</td></tr>"
            for name, shown in _shown(self)
        )
        values = (getattr(self, field.name) for field in fields(self))
        frame = next((value for value in values if hasattr(value, "to_html") and len(value)), None)
        table = "" if frame is None else frame.to_html(escape=True, index=False, max_rows=ROWS)
        return f"<table>{rows}</table>{table}"


def _shown(answer: Answer) -> list[tuple[str, str]]:
    """Return the fields that are not empty, each as a few words."""
    named = ((field.name, getattr(answer, field.name)) for field in fields(answer))
    said = ((name, _words(name, value)) for name, value in named)
    return [(name, words) for name, words in said if words]


def _words(name: str, value: Any) -> str:
    """Return a value in a few words; empty if the value is missing or empty."""
    if is_unknown(value) or (isinstance(value, str) and not value):
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(name, value)
    if hasattr(value, "__len__") and not isinstance(value, str):
        what = "rows" if hasattr(value, "columns") else "of them"
        return f"{len(value)} {what}" if len(value) else ""
    return _cut(printable(str(value)), VALUE)


def _number(name: str, value: float) -> str:
    """Return a number in the unit that its name ends in."""
    if name.endswith("_bytes"):
        return format_bytes(round(value)) if math.isfinite(value) else "none"
    if name.endswith("seconds"):
        return format_seconds(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
