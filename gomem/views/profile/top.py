"""Allocation sites as text for a terminal, CSV and JSON."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from gomem.errors import printable
from gomem.units import format_bytes, format_count, format_fraction, format_seconds, is_unknown
from gomem.views.spreadsheet import csv_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.analysis.profiles.top_difference import TopDifference
    from gomem.inputs.pprof.sites import AllocationSites

SCHEMA = "gomem.top/1"
STATES = ("flat_state", "cum_state")  # columns of a difference
LIFETIME = ("lifetime_seconds", "lifetime_low", "lifetime_high")  # columns of a difference
JSON_FIELDS = ("function", "flat", "flat_low", "flat_high", "cum", "cum_low", "cum_high")


def render_top_text(sites: AllocationSites | TopDifference) -> str:
    """Write sites like pprof, with sampling intervals.

    In a difference, `~` marks a row that may not have changed: its flat value, or its cum value if
    flat is 0.
    """
    shown = value_formatter(sites.unit)
    with_state = STATES[0] in sites.column_names and not sites.note
    with_lifetime = any(not is_unknown(row.get(name)) for row in sites.rows() for name in LIFETIME)
    rows = [
        (
            *_cells(row, "flat", shown, with_interval=not sites.note),
            *_cells(row, "cum", shown, with_interval=not sites.note),
            # In a difference, the kind of change.
            *([_known(row[STATES[not row["flat"]]]) or ""] if with_state else []),
            *(_lifetime_cells(row) if with_lifetime else []),
            printable(row["function"]),
        )
        for row in sites.rows()
    ]
    headings = [
        heading
        for word in ("flat", "cum")
        for heading in (word, *([] if sites.note else ["95 % interval"]), f"{word} %")
    ]
    if with_state:
        headings.append("change")
    if with_lifetime:
        headings += ["lifetime", "95 % interval"]
    lines = [f"{printable(sites.sample_type)}: {shown(sites.total)} total"]
    if sites.note:
        lines.append(f"no intervals: {sites.note}")
    return "\n".join([*lines, "", *aligned([(*headings, sites.row_name), *rows])]) + "\n"


def render_top_json(sites: AllocationSites | TopDifference) -> str:
    """Write sites as JSON; unknown values are null, and `note` says why."""
    from gomem.views.json.table import written  # which the list on a terminal does not need

    further = (name for name in (*STATES, *LIFETIME) if name in sites.column_names)
    fields = (*JSON_FIELDS, *further)
    top = [{field: _known(row[field]) for field in fields} for row in sites.rows()]
    whole = {name: getattr(sites, name) for name in ("sample_type", "unit", "total", "note")}
    laid_out = {"schema": SCHEMA, **whole, "top": top}
    return written(laid_out, indent=1)


def render_top_csv(sites: AllocationSites | TopDifference) -> str:
    """Write a line per site, with the columns of `SITES`; unknown values are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sites.column_names)
    for row in sites.rows():
        writer.writerow("" if is_unknown(value) else csv_cell(value) for value in row.values())
    return text.getvalue()


def value_formatter(unit: str) -> Callable[[Any], str]:
    """Return the formatter for values of a unit."""
    if unit == "bytes":
        return format_bytes
    if unit == "nanoseconds":
        return lambda value: format_seconds(value / 1e9)
    return format_count


def _cells(
    row: dict[str, Any], word: str, shown: Callable[[Any], str], *, with_interval: bool
) -> list[str]:
    """A value, its interval if there are intervals, and its share."""
    low, high = row[f"{word}_low"], row[f"{word}_high"]
    is_known = not (is_unknown(low) or is_unknown(high))
    bounds = [f"{shown(low)} – {shown(high)}" if is_known else ""] if with_interval else []
    return [shown(row[word]), *bounds, format_fraction(row[f"{word}_fraction"])]


def _lifetime_cells(row: dict[str, Any]) -> list[str]:
    """The lifetime of objects with its bounds; `≥ 3 s` without an upper bound."""
    known, low, high = (row[name] for name in LIFETIME)
    shown = "" if is_unknown(known) else format_seconds(known)
    if is_unknown(low):
        return [shown, ""]
    least = format_seconds(low)
    return [shown, f"≥ {least}" if is_unknown(high) else f"{least} – {format_seconds(high)}"]


def _known(value: Any) -> Any:
    return None if is_unknown(value) else value


def aligned(table: list[tuple[str, ...]]) -> list[str]:
    """Format a table: columns are right-aligned, except the last."""
    *columns, _ = zip(*table, strict=True)
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in table
    ]


RENDERED = {"text": render_top_text, "csv": render_top_csv, "json": render_top_json}
