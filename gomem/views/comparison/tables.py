"""The tables of a comparison: each answer as cells that people read, the exact number behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gomem.inputs.memstats.table import STATS
from gomem.inputs.schema import rows_of
from gomem.units import format_count, format_relative, is_unknown, minus
from gomem.views.comparison.words import (
    LAYERS,
    NO_GEOMEAN,
    Pair,
    are_single,
    benchmarks_of,
    level_name,
)
from gomem.views.document import Cell, Notes, Table
from gomem.views.measurements import (
    format_difference,
    format_level,
    format_n,
    format_p,
    format_spread,
    format_value,
)
from gomem.views.values import NOTHING, between, bytes_cell, change_cell
from gomem.views.words import GROUPS as WHOSE
from gomem.views.words import part_name

if TYPE_CHECKING:
    import pandas as pd

    from gomem.comparison.samples import Comparison
    from gomem.views.document import Block

SIDES = ("before", "after")
LEGEND = (
    "± is the farther end of the 95 % interval, in per cent of the median; p is Mann-Whitney's, "
    "for each row alone"
)
SITES_LEGEND = (
    "± of a site is the farther end of its 95 % interval from sampling, in per cent of the "
    "difference"
)
WITHIN = ("margin",)  # heading of what was asked by --margin
WHOLE = 100  # counts a second, or a request, from which on decimals say nothing
MOST_BUDGET_NOTES = 20
FEW_NAMES = 5  # rows that share a note are named, up to so many
_MEANS = {column.name: column.means for column in STATS}


def benchmark_blocks(comparison: Comparison) -> tuple[Block, ...]:
    """The benchmarks, a table for each unit, with what to know of their rows; nothing of none."""
    benchmarks = benchmarks_of(comparison)
    blocks: list[Block] = []
    for unit in benchmarks["unit"].unique():
        of_unit = benchmarks[benchmarks["unit"] == unit]
        means = comparison.geomeans[comparison.geomeans["unit"] == unit]
        blocks += [measured_table(of_unit, unit, means), *row_notes(of_unit, means)]
    return (*blocks, Notes((LEGEND,))) if blocks else ()


def level_blocks(metrics: pd.DataFrame, label: str) -> tuple[Block, ...]:
    """Levels of one layer (rows of METRICS), with a verdict if each side has several values."""
    if not are_single(metrics):
        return (measured_table(metrics, label), *row_notes(metrics), Notes((LEGEND,)))
    unequal = metrics[metrics["difference"].fillna(1) != 0]  # of an equal pair nothing is doubtful
    return (levels_table(metrics, label), *row_notes(unequal))


def row_notes(metrics: pd.DataFrame, geomeans: pd.DataFrame | None = None) -> tuple[Notes, ...]:
    """Each note on the rows of a table once, with the rows that it is on."""
    lines = []
    for note, rows in metrics[metrics["note"] != ""].groupby("note", sort=False):
        names = ", ".join(map(level_name, rows["name"]))
        on = names if len(rows) <= FEW_NAMES else f"{len(rows)} rows"
        lines.append(note if len(rows) == len(metrics) else f"{on}: {note}")
    if geomeans is not None and geomeans[list(SIDES)].isna().any(axis=None):
        lines.append(NO_GEOMEAN)
    return (Notes(tuple(lines)),) if lines else ()


def measured_table(
    metrics: pd.DataFrame, label: str, geomeans: pd.DataFrame | None = None
) -> Table:
    """Metrics with several values on each side: medians, intervals, verdict and p."""
    asked = bool(metrics["equivalence"].notna().any())
    columns = (label, "before", "after", "change", "verdict", "p", *WITHIN[:asked], "n")
    total = () if geomeans is None else tuple(map(_geomean_row, rows_of(geomeans)))
    total = tuple((*row[:-1], *[Cell("")] * asked, row[-1]) for row in total)
    rows = tuple(_measured_row(row, asked=asked) for row in rows_of(metrics))
    return Table(f"Medians, {label}", columns, f"<>>><>{'<' * asked}>", rows, total)


def changed_table(metrics: pd.DataFrame) -> Table:
    """The metrics that changed, of whatever unit."""
    columns = ("metric", "unit", *SIDES, "change", "verdict", "p", "n")
    rows = tuple(
        (first, Cell(row["unit"]), *rest)
        for row in rows_of(metrics)
        for first, *rest in [_measured_row(row)]
    )
    return Table("What changed", columns, "<<>>><>>", rows)


def _measured_row(row: dict[str, Any], *, asked: bool = False) -> tuple[Cell, ...]:
    return (
        Cell(level_name(row["name"]), code=row["layer"] not in LAYERS),
        *(_median_cell(row, side) for side in SIDES),
        _relative_cell(row["change"]),
        Cell(row["verdict"]),
        _p_cell(row["p_value"]),
        *([_equivalence_cell(row)] if asked else []),
        Cell(format_n(row["before_n"], row["after_n"]).removeprefix("n=")),
    )


def _median_cell(row: dict[str, Any], side: str) -> Cell:
    """The median with its spread, and below it the interval that it lies in."""
    median, low, high = (row[f"{side}_{key}"] for key in ("median", "low", "high"))
    if is_unknown(median):
        return NOTHING
    unit, shown = row["unit"], format_level if row["layer"] in LAYERS else format_value
    ends = [] if is_unknown(low) else [shown(low, unit), shown(high, unit)]
    between = " to ".join(ends) if len(set(ends)) == 2 else ""
    text = f"{shown(median, unit)} {format_spread(median, low, high)}".rstrip()
    return Cell(text, f"{median:g} {unit}", between)


def _geomean_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    means = [
        NOTHING if is_unknown(row[s]) else Cell(format_value(row[s], row["unit"])) for s in SIDES
    ]
    rest = (Cell(""), Cell(""), Cell(""))
    return (Cell("geometric mean"), *means, _relative_cell(row["change"]), *rest)


def levels_table(metrics: pd.DataFrame, label: str) -> Table:
    """Levels with one value on each side: both, and their difference, without a verdict."""
    columns = ("level", "before", "after", "difference", "change")
    rows = tuple(map(_level_row, rows_of(metrics)))
    return Table(f"One value on each side, {label}", columns, "<>>>>", rows)


def _level_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    unit, difference = row["unit"], row["difference"]
    name, means = level_name(row["name"]), _MEANS.get(row["name"], "")
    sides = [_level_cell(row[f"{side}_median"], unit) for side in SIDES]
    if is_unknown(difference):
        return (Cell(name, note=means), *sides, NOTHING, NOTHING)
    exact = f"{difference:g} {unit}"
    changed = Cell(minus(format_difference(difference, unit)), minus(exact))
    return (Cell(name, note=means), *sides, changed, _relative_cell(row["change"]))


def _level_cell(value: float | None, unit: str) -> Cell:
    return NOTHING if is_unknown(value) else Cell(format_level(value, unit), f"{value:g} {unit}")


def budget_blocks(budgets: pd.DataFrame) -> tuple[Block, ...]:
    """How each budget stands: what was allowed, what was measured, and what to know of it."""
    lines = [
        f"{', '.join(filter(None, [row.get('build'), row['budget'], level_name(row['name'])]))}: "
        f"{row['note']}"
        for row in rows_of(budgets[budgets["note"] != ""].head(MOST_BUDGET_NOTES))
    ]
    return (_budgets_table(budgets), *((Notes(tuple(lines)),) if lines else ()))


def _budgets_table(budgets: pd.DataFrame) -> Table:
    by_build = ("build",) if "build" in budgets else ()
    columns = ("budget", *by_build, "state", "metric", *SIDES, "allowed", "change", "n")
    rows = tuple(map(_budget_row, rows_of(budgets)))
    sides = f"<{'<' * len(by_build)}<<>>>>>"
    return Table("Budgets: met, broken, or too few runs to tell", columns, sides, rows)


def _budget_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    return (
        Cell(row["budget"], code=True),
        *([Cell(row["build"])] if "build" in row else []),
        Cell(row["state"]),
        Cell(level_name(row["name"])),
        *(_level_cell(row[side], row["unit"]) for side in (*SIDES, "allowed")),
        _relative_cell(row["change"]),
        Cell(format_n(row["before_n"], row["after_n"]).removeprefix("n=")),
    )


def builds_table(metrics: pd.DataFrame, label: str) -> Table:
    """Each metric in each build (BUILD_METRICS), the baseline's row first, which alone names it."""
    asked = bool(metrics["equivalence"].notna().any())
    columns = (label, "build", "median", "change", "verdict", "p", *WITHIN[:asked], "n")
    rows: list[tuple[Cell, ...]] = []
    keys = ["layer", "unit", "name"]
    for (layer, unit, name), group in metrics.groupby(keys, sort=False):
        named = level_name(name) if layer in LAYERS else f"{name} {unit}"
        for row in rows_of(group):
            first = Cell(named, code=layer not in LAYERS)
            rows.append((first, *_build_cells(row, asked=asked)))
            named = ""
    return Table(f"Medians by build, {label}", columns, f"<<>><>{'<' * asked}>", tuple(rows))


def outliers_table(outliers: pd.DataFrame) -> Table:
    """The builds that are unlike all others, and in what."""
    rows = tuple(
        (
            Cell(row["build"]),
            Cell(level_name(row["name"])),
            *(_level_cell(row[side], row["unit"]) for side in ("value", "typical")),
            Cell(f"{row['distance']:.3g}"),
        )
        for row in rows_of(outliers)
    )
    columns = ("build", "metric", "value", "median of the others", "spreads apart")
    return Table("Unlike the others", columns, "<<>>>", rows)


def _build_cells(row: dict[str, Any], *, asked: bool) -> tuple[Cell, ...]:
    one = {f"of_{key}": row[key] for key in ("median", "low", "high")}
    told, alone = is_unknown(row["verdict"]), row["n"] == 1
    return (
        Cell(row["build"]),
        _level_cell(row["median"], row["unit"]) if alone else _median_cell({**row, **one}, "of"),
        NOTHING if told else _relative_cell(row["change"]),
        Cell("baseline") if told else Cell(row["verdict"]),
        _p_cell(row["p_value"]),
        *([_equivalence_cell(row)] if asked else []),
        Cell(str(row["n"])),
    )


def _equivalence_cell(row: dict[str, Any]) -> Cell:
    """What is shown of the margin, and the p that it is beyond it below."""
    if is_unknown(row["equivalence"]):
        return NOTHING
    p = row["p_no_worse"]
    return Cell(row["equivalence"], note="" if is_unknown(p) else format_p(p))


def _p_cell(p: float | None) -> Cell:
    return NOTHING if is_unknown(p) else Cell(format_p(p)[1:].lstrip("="))


def findings_table(findings: pd.DataFrame) -> Table:
    """Which causes are new, gone, or on both sides."""
    rows = tuple(
        (
            Cell(row["state"]),
            Cell(row["severity"]),
            Cell(row["code"], code=True),
            Cell(row["title"], note=row["note"]),
        )
        for row in rows_of(findings)
    )
    return Table("New, gone, on both sides", ("state", "severity", "code", "what"), "<<<<", rows)


def build_findings_table(findings: pd.DataFrame) -> Table:
    """Which causes are new, gone, or on both sides, in each build."""
    rows = tuple(
        (Cell(row["build"]), *cells)
        for row, cells in zip(rows_of(findings), findings_table(findings).rows, strict=True)
    )
    columns = ("build", "state", "severity", "code", "what")
    return Table("New, gone, on both sides, by build", columns, "<<<<<", rows)


def moments_table(moments: pd.DataFrame) -> Table:
    """RSS of all moments that were compared."""
    rows = tuple(
        (
            Cell(str(Pair(row["before"], row["after"]))),
            *(bytes_cell(row[f"{side}_rss_bytes"]) for side in SIDES),
            change_cell(row["change_bytes"]),
        )
        for row in rows_of(moments)
    )
    return Table("RSS by snapshot", ("snapshot", *SIDES, "difference"), "<>>>", rows)


def ledger_table(ledger: pd.DataFrame, pair: Pair) -> Table:
    """Resident memory part by part; where all parts are known, they add up to RSS."""
    names = [Cell(part_name(part)) for part in ledger["part"]]
    return _sizes_table(f"RSS by part, {pair}", "part", names, ledger)


def groups_table(groups: pd.DataFrame, pair: Pair, *, noted: bool = True) -> Table:
    """RSS by owner; where all of it is known, the owners add up to RSS."""
    named = zip(groups["group"], groups["name"], strict=True)
    names = [Cell(name, note=WHOSE.get(group, "") if noted else "") for group, name in named]
    return _sizes_table(f"RSS by owner, {pair}", "owner", names, groups)


def _sizes_table(caption: str, heading: str, names: list[Cell], sizes: pd.DataFrame) -> Table:
    rows = tuple(
        (name, *(size_cell(row, side) for side in (*SIDES, "change")))
        for name, row in zip(names, rows_of(sizes), strict=True)
    )
    return Table(caption, (heading, *SIDES, "difference"), "<>>>", rows)


def size_cell(row: dict[str, Any], of: str) -> Cell:
    """A size, or a change of one, to the byte; else its bounds, where something says them."""
    cell = change_cell if of == "change" else bytes_cell
    if is_unknown(row[of]) and not is_unknown(row.get(f"{of}_low")):
        return Cell(" to ".join(cell(row[f"{of}_{end}"]).text for end in ("low", "high")))
    return cell(row[of])


def sites_table(
    sites: pd.DataFrame, caption: str, whole: pd.DataFrame | None = None, most: int | None = None
) -> Table:
    """Allocation sites, at most so many, with what sampling leaves open of their change.

    With all sites of the sample type as `whole`, what is not shown stands in a row of its own, and
    the rows add up to the total below.
    """
    shown = sites if most is None else sites.head(most)
    rows = tuple(map(_site_row, rows_of(shown)))
    columns = ("function", "state", *SIDES, "difference", "95 % interval")
    total = () if whole is None else _site_totals(shown, whole)
    return Table(caption, columns, "<<>>>>", rows, total, brief_columns=len(columns) - 1)


def _site_totals(shown: pd.DataFrame, whole: pd.DataFrame) -> tuple[tuple[Cell, ...], ...]:
    """The sites that are not shown as one row, and all as another."""
    names = (*SIDES, "change")
    sums = {name: float(whole[name].sum()) for name in names}
    rest = {name: sums[name] - float(shown[name].sum()) for name in names}
    unit = whole["unit"].iloc[0]
    count = len(whole) - len(shown)
    rows = [(f"{count} other {'site' if count == 1 else 'sites'}", rest)] if count else []
    return tuple(_total_row(label, sizes, unit) for label, sizes in (*rows, ("total", sums)))


def _total_row(label: str, sizes: dict[str, float], unit: str) -> tuple[Cell, ...]:
    cell, signed = (
        (bytes_cell, change_cell) if unit == "bytes" else (_count_cell, _count_change_cell)
    )
    sides = [cell(round(sizes[side])) for side in SIDES]
    return (Cell(label), Cell(""), *sides, signed(round(sizes["change"])), Cell(""))


def _site_row(row: dict[str, Any]) -> tuple[Cell, ...]:
    in_bytes = row["unit"] == "bytes"
    cell, signed = (bytes_cell, change_cell) if in_bytes else (_count_cell, _count_change_cell)
    return (
        Cell(row["function"], code=True),
        Cell(row["state"]),
        *(cell(row[side]) for side in SIDES),
        _with_spread(signed(row["change"]), row),
        between(row["low"], row["high"], signed),
    )


def site_change(row: dict[str, Any]) -> str:
    """By how much a site changed, in its unit."""
    signed = change_cell if row["unit"] == "bytes" else _count_change_cell
    return signed(row["change"]).text


def _with_spread(change: Cell, row: dict[str, Any]) -> Cell:
    spread = format_spread(row["change"], row["low"], row["high"])
    return replace(change, text=f"{change.text} {spread}".rstrip())


def _count_change_cell(change: float | None) -> Cell:
    if change is None or is_unknown(change):
        return NOTHING
    return Cell(minus(f"{'+' if change > 0 else ''}{_count(change)}"))


def _count_cell(count: float | None) -> Cell:
    """A count; of a rate, no whole number."""
    return NOTHING if count is None or is_unknown(count) else Cell(_count(count))


def _count(count: float) -> str:
    whole = count == round(count) or abs(count) >= WHOLE
    return format_count(round(count)) if whole else f"{count:.3g}"


def _relative_cell(change: float | None) -> Cell:
    return NOTHING if is_unknown(change) else Cell(minus(format_relative(change)))
