"""The tables of a comparison: each answer as cells that people read, the exact number behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.memstats.table import STATS
from gomem.units import format_count, is_unknown
from gomem.views.comparison.text import (
    format_difference,
    format_level,
    format_n,
    format_p,
    format_relative,
    format_value,
)
from gomem.views.comparison.words import LAYERS, NO_GEOMEAN, Pair, level_name
from gomem.views.document import Cell, Table
from gomem.views.values import NOTHING, bytes_cell
from gomem.views.words import part_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.errors import Damage

SIDES = ("before", "after")
_MEANS = {column.name: column.means for column in STATS}


def measured_table(
    metrics: pd.DataFrame, label: str, geomeans: pd.DataFrame | None = None
) -> Table:
    """Metrics measured several times a side: medians, intervals, verdict and p."""
    columns = (label, "before", "after", "change", "verdict", "p", "n")
    total = () if geomeans is None else tuple(map(_geomean_row, geomeans.to_dict("records")))
    rows = tuple(map(_measured_row, metrics.to_dict("records")))
    return Table(f"Medians, {label}", columns, "<>>><>>", rows, total)


def _measured_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    return (
        Cell(level_name(row["name"]), code=row["layer"] not in LAYERS),
        *(_median_cell(row, side) for side in SIDES),
        _relative_cell(row["change"]),
        Cell(row["verdict"]),
        NOTHING
        if is_unknown(row["p_adjusted"])
        else Cell(format_p(row["p_adjusted"])[1:].lstrip("=")),
        Cell(format_n(row["before_n"], row["after_n"]).removeprefix("n=")),
    )


def _median_cell(row: dict[str, Any], side: str) -> Cell:
    """The median, and below it the interval that it lies in."""
    median, low, high = (row[f"{side}_{key}"] for key in ("median", "low", "high"))
    if is_unknown(median):
        return NOTHING
    unit, shown = row["unit"], format_level if row["layer"] in LAYERS else format_value
    ends = [] if is_unknown(low) else [shown(low, unit), shown(high, unit)]
    between = " to ".join(ends) if len(set(ends)) == 2 else ""
    return Cell(shown(median, unit), f"{median:g} {unit}", between)


def _geomean_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    means = [
        NOTHING if is_unknown(row[s]) else Cell(format_value(row[s], row["unit"])) for s in SIDES
    ]
    note = NO_GEOMEAN if NOTHING in means else ""
    rest = (Cell(""), Cell(""), Cell(""))
    return (Cell("geometric mean", note=note), *means, _relative_cell(row["change"]), *rest)


def levels_table(metrics: pd.DataFrame, label: str) -> Table:
    """Levels of one capture a side: the values and their difference, and no verdict."""
    columns = ("level", "before", "after", "difference", "change")
    rows = tuple(map(_level_row, metrics.to_dict("records")))
    return Table(f"One value a side, {label}", columns, "<>>>>", rows)


def _level_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    unit, difference = row["unit"], row["difference"]
    name, means = level_name(row["name"]), _MEANS.get(row["name"], "")
    sides = [_level_cell(row[f"{side}_median"], unit) for side in SIDES]
    if is_unknown(difference):
        return (Cell(name, note=means), *sides, NOTHING, NOTHING)
    exact = f"{difference:g} {unit}"
    changed = Cell(_minus(format_difference(difference, unit)), _minus(exact))
    return (Cell(name, note=means), *sides, changed, _relative_cell(row["change"]))


def _level_cell(value: float | None, unit: str) -> Cell:
    return NOTHING if is_unknown(value) else Cell(format_level(value, unit), f"{value:g} {unit}")


def moments_table(moments: pd.DataFrame) -> Table:
    """RSS of all moments that were held against each other."""
    rows = tuple(
        (
            Cell(str(Pair(row["before"], row["after"]))),
            *(bytes_cell(row[f"{side}_rss_bytes"]) for side in SIDES),
            _change_cell(row["change_bytes"], "bytes"),
        )
        for row in moments.to_dict("records")
    )
    return Table("RSS by moment", ("moment", *SIDES, "difference"), "<>>>", rows)


def ledger_table(ledger: pd.DataFrame, pair: Pair) -> Table:
    """Resident memory part by part; where all parts are known, they add up to RSS."""
    rows = tuple(
        (
            Cell(part_name(row["part"])),
            *(bytes_cell(row[side]) for side in SIDES),
            _change_cell(row["change"], "bytes"),
        )
        for row in ledger.to_dict("records")
    )
    return Table(f"Resident memory by part, {pair}", ("part", *SIDES, "difference"), "<>>>", rows)


def sites_table(sites: pd.DataFrame, caption: str) -> Table:
    """Allocation sites with what sampling leaves open of their change."""
    rows = tuple(map(_site_row, sites.to_dict("records")))
    columns = ("function", "state", *SIDES, "difference", "95 % interval")
    return Table(caption, columns, "<<>>>>", rows)


def _site_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    unit = row["unit"]
    ends = [_change_cell(row[end], unit).text for end in ("low", "high")]
    return (
        Cell(row["function"], code=True),
        Cell(row["state"]),
        *(_size_cell(row[side], unit) for side in SIDES),
        _change_cell(row["change"], unit),
        NOTHING if NOTHING.text in ends else Cell(" to ".join(ends)),
    )


def _size_cell(value: float | None, unit: str) -> Cell:
    if unit == "bytes" or value is None or is_unknown(value):
        return bytes_cell(value)
    return Cell(_minus(format_count(value)))


def _change_cell(value: float | None, unit: str) -> Cell:
    cell = _size_cell(value, unit)
    if value is None or is_unknown(value) or value <= 0:
        return cell
    return Cell(f"+{cell.text}", f"+{cell.exact}" if cell.exact else "")


def _relative_cell(change: float | None) -> Cell:
    return NOTHING if is_unknown(change) else Cell(_minus(format_relative(change)))


def damage_table(damaged: Sequence[Damage]) -> Table:
    """Everything that could not be read."""
    rows = tuple(
        (
            Cell(one.source, code=True),
            Cell(one.where or "whole file"),
            Cell(one.what, note=one.text),
        )
        for one in damaged
    )
    return Table("What could not be read", ("file", "place", "what was found"), "<<<", rows)


def _minus(text: str) -> str:
    return text.replace("-", "\u2212")
