"""The table of allocation sites in a comparison, with sampling intervals of the changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.units import format_count, is_unknown, minus
from gomem.views.comparison.tables import SIDES
from gomem.views.document import Cell, Table
from gomem.views.measurements import format_spread
from gomem.views.tables import BLANK, Column, Row, code, table, words
from gomem.views.values import NOTHING, between, bytes_cell, change_cell

if TYPE_CHECKING:
    import pandas as pd

LEGEND = "±: half of the 95 % sampling interval, in percent of the difference"
WHOLE = 100  # from this rate (per second or per request) on, without decimals


def _count(count: float) -> str:
    """A count; small rates have decimals."""
    is_whole = count == round(count) or abs(count) >= WHOLE
    return format_count(round(count)) if is_whole else f"{count:.3g}"


def _value_cell(value: float | None, unit: str) -> Cell:
    """A size or a count; of a rate, such as `bytes/s`, with what it is per."""
    what, slash, per = unit.partition("/")
    if value is None or is_unknown(value):
        return NOTHING
    cell = bytes_cell(value) if what == "bytes" else Cell(_count(value))
    return replace(cell, text=f"{cell.text}{slash}{per}")


def _change_cell(change: float | None, unit: str) -> Cell:
    what, slash, per = unit.partition("/")
    if change is None or is_unknown(change):
        return NOTHING
    sign = "+" if change > 0 else ""
    cell = change_cell(change) if what == "bytes" else Cell(minus(f"{sign}{_count(change)}"))
    return replace(cell, text=f"{cell.text}{slash}{per}")


def _with_spread(row: Row) -> Cell:
    cell = _change_cell(row["change"], row["unit"])
    spread = format_spread(row["change"], row["low"], row["high"])
    return replace(cell, text=f"{cell.text} {spread}".rstrip())


SITES = (
    code("function", "function"),
    words("state", "state"),
    Column("before", lambda row: _value_cell(row["before"], row["unit"])),
    Column("after", lambda row: _value_cell(row["after"], row["unit"])),
    Column("difference", _with_spread),
    Column("95 % interval", lambda row: between(
        row["low"], row["high"], lambda end: _change_cell(end, row["unit"]))),
)  # fmt: skip


def sites_table(
    sites: pd.DataFrame, caption: str, whole: pd.DataFrame | None = None, most: int | None = None
) -> Table:
    """Return a table of at most `most` sites, with sampling intervals of the changes.

    If `whole` has all sites of the sample type, the other sites are summed up in a row, and the
    rows add up to the total below.
    """
    shown = sites if most is None else sites.head(most)
    total = () if whole is None else _site_totals(shown, whole)
    return table(caption, SITES, shown, total, brief_columns=len(SITES) - 1)


def _site_totals(shown: pd.DataFrame, whole: pd.DataFrame) -> tuple[tuple[Cell, ...], ...]:
    """A row for all sites that are not shown, and a row for the total."""
    names = [*SIDES, "change"]
    sums, count = whole[names].sum().astype(float), len(whole) - len(shown)
    rows = {"total": sums}
    if count:
        rest = sums - shown[names].sum().astype(float)
        rows = {f"{count} other {'site' if count == 1 else 'sites'}": rest} | rows
    unit = whole["unit"].iloc[0]
    return tuple(
        (Cell(label), BLANK, *(_value_cell(round(sizes[side]), unit) for side in SIDES),
         _change_cell(round(sizes["change"]), unit), BLANK)
        for label, sizes in rows.items()
    )  # fmt: skip


def site_change(row: Row) -> str:
    """Format the change of a site in its unit."""
    return _change_cell(row["change"], row["unit"]).text
