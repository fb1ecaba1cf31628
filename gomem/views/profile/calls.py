"""Further views of a profile as text: callers and callees, stacks, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.errors import printable
from gomem.inputs.schema import rows_of
from gomem.units import format_fraction, is_unknown
from gomem.views.json.table import rows_json, written
from gomem.views.profile.top import SCHEMA, aligned, value_formatter

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

RULE = "-" * 60


def render_tree_text(tree: pd.DataFrame, unit: str) -> str:
    """Write each function between its callers and its callees."""
    shown = value_formatter(unit)
    rows: list[tuple[str, ...]] = [("flat", "cum", "share", "callers, | function, callees")]
    about = None
    for row in rows_of(tree):
        if about not in (None, row["function"]):
            rows.append(("", "", "", RULE))
        about, is_of_itself = row["function"], row["relation"] == "self"
        name = printable(row["other"]) + " (inline)" * row["inlined"]
        named = f"| {name}" if is_of_itself else f"    {name}"
        flat, share = (
            shown(row["flat"]) if is_of_itself else "",
            format_fraction(row["cum_fraction"]),
        )
        rows.append((flat, shown(row["cum"]), share, named))
    return "\n".join(aligned(rows)) + "\n"


def render_traces_text(traces: pd.DataFrame, unit: str) -> str:
    """Write each stack with its value at its innermost frame."""
    shown, lines = value_formatter(unit), []
    for row in rows_of(traces):
        is_innermost = row["depth"] == 0
        lines += [RULE] * is_innermost
        name = printable(row["function"]) + " (inline)" * row["inlined"]
        value = shown(row["value"]) if is_innermost else ""
        lines.append(f"{value:>12}   {name}")
    return "\n".join([*lines, RULE]) + "\n"


def render_tags_text(tags: pd.DataFrame, unit: str) -> str:
    """Write the sum of the samples of each label."""
    shown = value_formatter(unit)
    rows = [
        (shown(row["value"]), format_fraction(row["fraction"]), _label(row))
        for row in rows_of(tags)
    ]
    return "\n".join(aligned([("value", "share", "label"), *rows])) + "\n"


def render_reasons_text(reasons: pd.DataFrame, unit: str) -> str:
    """Write each allocating line, with the compiler's reason."""
    shown = value_formatter(unit)
    rows = [(shown(row["flat"]), _between(row, shown), _line(row)) for row in rows_of(reasons)]
    heading = ("flat", "95 % interval", "function, line, and why it is not on the stack")
    return "\n".join(aligned([heading, *rows])) + "\n"


def _between(row: dict[str, Any], shown: Callable[[Any], str]) -> str:
    low, high = row["flat_low"], row["flat_high"]
    return "" if is_unknown(low) or is_unknown(high) else f"{shown(low)} – {shown(high)}"


def _line(row: dict[str, Any]) -> str:
    file = row["file"].rpartition("/")[2]
    return printable(f"{row['function']} {file}:{row['line']}  {row['why']}".rstrip())


def _label(row: dict[str, Any]) -> str:
    if not is_unknown(row["text"]):
        value = printable(row["text"])
    elif row["unit"] == "bytes":
        value = value_formatter("bytes")(row["number"])
    else:
        unit = f" {printable(row['unit'])}" if row["unit"] != row["key"] else ""
        value = f"{row['number']}{unit}"
    return f"{printable(row['key'])}: {value}"


RENDERED_TEXT = {
    "tree": render_tree_text, "peek": render_tree_text, "traces": render_traces_text,
    "tags": render_tags_text, "escapes": render_reasons_text,
}  # fmt: skip


def render_rows_json(rows: pd.DataFrame, view: str, sample_type: str, unit: str) -> str:
    """Write the rows of a view as JSON; unknown values are null."""
    document = {
        "schema": SCHEMA, "view": view, "sample_type": sample_type, "unit": unit,
        "rows": rows_json(rows),
    }  # fmt: skip
    return written(document, indent=1)
