"""What a notebook shows beside its figures: tables with units, and sentences made of answers.

Frames hold base units, so that a cell can go on computing with them. What a cell shows is for
reading: bytes with a prefix, the exact number behind them when the pointer rests on it. Everything
from a capture is escaped, because a rendered notebook is passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from gomem.inputs.memstats.table import STATS
from gomem.inputs.smaps.table import FIELDS
from gomem.units import (
    format_bytes,
    format_change,
    format_count,
    format_fraction,
    format_seconds,
    is_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

UNKNOWN_CELL = "–"  # an en dash stands for a number that nobody knows
BYTES, CHANGE, SECONDS, FRACTION, COUNT, TEXT = "bytes", "change", "s", "fraction", "count", ""
_FORMAT: dict[str, Callable[[Any], str]] = {
    BYTES: format_bytes,
    CHANGE: format_change,
    SECONDS: format_seconds,
    FRACTION: format_fraction,
    COUNT: format_count,
}
_ENDINGS = {"bytes": BYTES, "seconds": SECONDS, "fraction": FRACTION}
_BYTE_FIELDS = {column.name for column in (*STATS, *FIELDS) if column.unit == "B"}


@dataclass(frozen=True)
class Shown:
    """Something to read in a notebook, as HTML and as plain text."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


NOTHING = Shown("", "")  # where the cell before has said that there is nothing to show


def sentences(*texts: str) -> Shown:
    """Sentences made of an answer; empty ones are left out."""
    kept = [text for text in texts if text]
    if not kept:
        return NOTHING
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in kept)
    return Shown(f'<div class="reading">{paragraphs}</div>', "\n".join(kept))


def table(frame: pd.DataFrame, caption: str, units: Mapping[str, str] | None = None) -> Shown:
    """A frame as people read it.

    Args:
        frame: What to show; its index is left out.
        caption: What it shows, and where the numbers come from.
        units: Unit by column (`bytes`, `change`, `s`, `fraction`, `count`), where the column's
            name does not say it: names of gomem's end in their unit, those of Go and of the kernel
            stand in the data dictionary.
    """
    chosen = {name: (units or {}).get(name, unit_of(str(name))) for name in frame}
    headings = [_heading(str(name), chosen[name]) for name in frame]
    rows = [
        [_cell(value, chosen[name]) for name, value in zip(frame, row, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]
    return rows_table(headings, rows, caption)


_Cell = tuple[str, str, bool]  # what stands there, the exact number behind it, whether a number


def rows_table(headings: Sequence[_Cell], rows: Sequence[Sequence[_Cell]], caption: str) -> Shown:
    """A table of cells that are text already."""
    head = "".join(
        f'<th scope="col"{_class(right)}>{escape(text)}</th>' for text, _, right in headings
    )
    body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows)
    html = (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
    lines = [caption, *("  ".join(text for text, _, _ in row) for row in (headings, *rows))]
    return Shown(html, "\n".join(lines))


def unit_of(column: str) -> str:
    """The unit of a column, by its name; empty if the name does not say."""
    if column in _BYTE_FIELDS:
        return BYTES
    return _ENDINGS.get(column.rpartition("_")[2], TEXT)


def _heading(name: str, unit: str) -> _Cell:
    words = name.replace("_", " ")
    for ending in _ENDINGS:
        words = words.removesuffix(f" {ending}")
    return words, "", bool(unit)


def _cell(value: Any, unit: str) -> _Cell:
    if is_unknown(value):
        return UNKNOWN_CELL, "", bool(unit)
    if unit == TEXT:
        return str(value), "", False
    exact = f"{value:,.0f} B" if unit in {BYTES, CHANGE} else ""
    return _FORMAT[unit](value), exact, True


def _td(cell: _Cell) -> str:
    text, exact, right = cell
    title = f' title="{escape(exact)}"' if exact else ""
    return f"<td{_class(right)}{title}>{escape(text)}</td>"


def _class(right: bool) -> str:
    return ' class="number"' if right else ""
