"""The other views of a profile as text: who calls whom, each stack, the labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gomem.errors import printable
from gomem.inputs.schema import rows_of
from gomem.units import format_fraction, is_unknown
from gomem.views.profile.top import SCHEMA, aligned, value_formatter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

RULE = "-" * 60


def render_tree_text(tree: pd.DataFrame, unit: str) -> str:
    """Each function between its callers and its callees."""
    shown = value_formatter(unit)
    rows: list[tuple[str, ...]] = [("flat", "cum", "share", "callers, | function, callees")]
    about = None
    for row in rows_of(tree):
        if about not in (None, row["function"]):
            rows.append(("", "", "", RULE))
        about = row["function"]
        rows.append(_tree_row(row, shown))
    return "\n".join(aligned(rows)) + "\n"


def _tree_row(row: dict[str, Any], shown: Callable[[Any], str]) -> tuple[str, ...]:
    of_itself = row["relation"] == "self"
    name = printable(row["other"]) + (" (inline)" if row["inlined"] else "")
    return (
        shown(row["flat"]) if of_itself else "",
        shown(row["cum"]),
        format_fraction(row["cum_fraction"]),
        f"| {name}" if of_itself else f"    {name}",
    )


def render_traces_text(traces: pd.DataFrame, unit: str) -> str:
    """Each stack with its value at its innermost frame."""
    return "\n".join(_trace_lines(traces, value_formatter(unit))) + "\n"


def _trace_lines(traces: pd.DataFrame, shown: Callable[[Any], str]) -> Iterator[str]:
    for row in rows_of(traces):
        if row["depth"] == 0:
            yield RULE
        value = shown(row["value"]) if row["depth"] == 0 else ""
        name = printable(row["function"]) + (" (inline)" if row["inlined"] else "")
        yield f"{value:>12}   {name}"
    yield RULE


def render_tags_text(tags: pd.DataFrame, unit: str) -> str:
    """What the samples of each label add up to."""
    shown = value_formatter(unit)
    rows = [
        (
            shown(row["value"]),
            format_fraction(row["fraction"]),
            f"{printable(row['key'])}: {_label(row)}",
        )
        for row in rows_of(tags)
    ]
    return "\n".join(aligned([("value", "share", "label"), *rows])) + "\n"


def render_reasons_text(reasons: pd.DataFrame, unit: str) -> str:
    """Each line that allocates, with what the compiler says about it."""
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
        return printable(row["text"])
    number_unit = row["unit"]
    if number_unit == "bytes":
        return value_formatter("bytes")(row["number"])
    return (
        f"{row['number']} {printable(number_unit)}"
        if number_unit != row["key"]
        else str(row["number"])
    )


def render_rows_json(rows: pd.DataFrame, view: str, sample_type: str, unit: str) -> str:
    """Rows of a view; what is unknown is null."""
    records = [
        {name: None if is_unknown(value) else value for name, value in row.items()}
        for row in rows_of(rows)
    ]
    document = {
        "schema": SCHEMA,
        "view": view,
        "sample_type": sample_type,
        "unit": unit,
        "rows": records,
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
