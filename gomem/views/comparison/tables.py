"""The tables of a comparison: formatted cells with the exact number behind each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gomem.comparison.causes import ON_BOTH
from gomem.comparison.samples import INTERVAL_NOTE, ONE_VALUE_NOTE, Comparison
from gomem.comparison.single_values import CUMULATIVE
from gomem.inputs.memstats.table import STATS
from gomem.inputs.schema import rows_of
from gomem.numbered import Build, Metric, Unit
from gomem.text import Text, joined, text
from gomem.units import format_relative, is_unknown, minus
from gomem.views.comparison.words import (
    LAYERS,
    NO_GEOMEAN,
    TOO_FEW,
    Pair,
    are_single,
    metrics_of,
)
from gomem.views.document import Block, Cell, Notes, Table
from gomem.views.measurements import (
    format_difference,
    format_level,
    format_n,
    format_p,
    format_spread,
    format_value,
)
from gomem.views.report.verdict import label_of
from gomem.views.tables import (
    BLANK,
    Column,
    Row,
    change,
    code,
    noted,
    shown_by,
    size,
    table,
    words,
)
from gomem.views.titles import field_title
from gomem.views.values import NOTHING, bytes_cell, change_cell
from gomem.views.words import GROUPS as WHOSE
from gomem.views.words import part_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


SIDES = ("before", "after")
P_LEGEND = "p is from a Mann-Whitney test, not corrected for multiple comparisons"
SPREAD_LEGEND = "±: half of the 95 % interval, in percent of the median"
MAX_BUDGET_NOTES = 20
MAX_NAMES = 5  # rows that are named before a note they share
_MEANS = {column.name: column.means for column in STATS}


def metric_title(name: str) -> str:
    """The title of a level; counters since process start are marked."""
    return f"{field_title(name)}, since start" if name in CUMULATIVE else field_title(name)


def _name(row: Row) -> Cell:
    return Cell(metric_title(row["name"]), code=row["layer"] not in LAYERS)


def _full_name(row: Row) -> Cell:
    """The metric's name; a benchmark's with its unit, because several share the name."""
    is_level = row["layer"] in LAYERS
    return _name(row) if is_level else Cell(_with_unit(row["name"], row), code=True)


def _with_unit(value: str, row: Row) -> Text:
    """A name or a number, with the unit of its row."""
    return text("{} {}", value, row["unit"])


def _verdict(row: Row) -> str:
    """The metric's verdict, or that there are too few runs."""
    if row["verdict"] != TOO_FEW:
        return str(row["verdict"])
    return "one run each" if max(row["before_n"], row["after_n"]) <= 1 else "too few runs"


def _median(side: str, row: Row) -> Cell:
    """The median with its spread, and its interval below."""
    median, low, high = (row[f"{side}{key}"] for key in ("median", "low", "high"))
    if is_unknown(median):
        return NOTHING
    unit, shown = row["unit"], format_level if row["layer"] in LAYERS else format_value
    ends = [] if is_unknown(low) else [shown(low, unit), shown(high, unit)]
    between = " to ".join(ends) if len(set(ends)) == 2 else ""
    said = f"{shown(median, unit)} {format_spread(median, low, high)}".rstrip()
    return Cell(said, _with_unit(f"{median:g}", row), between)


def _median_alone(side: str, row: Row) -> Cell:
    """The median with its spread, without the interval."""
    return replace(_median(side, row), note="")


def _level(name: str, row: Row) -> Cell:
    value, unit = row[name], row["unit"]
    if is_unknown(value):
        return NOTHING
    return Cell(format_level(value, unit), _with_unit(f"{value:g}", row))


def _relative(row: Row) -> Cell:
    return NOTHING if is_unknown(row["change"]) else Cell(minus(format_relative(row["change"])))


def _p(row: Row) -> Cell:
    p = row["p_value"]
    return NOTHING if is_unknown(p) else Cell(format_p(p)[1:].lstrip("="))


def _within(row: Row) -> Cell:
    """The result of the margin test, with its p below."""
    p = row["p_no_worse"]
    note = "" if is_unknown(p) else format_p(p)
    return NOTHING if is_unknown(row["equivalence"]) else Cell(row["equivalence"], note=note)


def _difference(row: Row) -> Cell:
    by, unit = row["difference"], row["unit"]
    if is_unknown(by):
        return NOTHING
    return Cell(minus(format_difference(by, unit)), _with_unit(minus(f"{by:g}"), row))


def size_cell(row: Row, of: str) -> Cell:
    """A size or a change, to the byte; else its bounds, if known."""
    cell = change_cell if of == "change" else bytes_cell
    if is_unknown(row[of]) and not is_unknown(row.get(f"{of}_low")):
        return Cell(" to ".join(cell(row[f"{of}_{end}"]).text for end in ("low", "high")))
    return cell(row[of])


BUILD = words("build", lambda row: Build(row["build"]))
MEDIANS = tuple(Column(side, partial(_median, f"{side}_")) for side in SIDES)
CHANGE = Column("change", _relative)
VERDICT = words("verdict", "verdict")
P = Column("p", _p)
WITHIN = Column("margin", _within, "<")  # from --margin
RUNS = shown_by(Cell)("n", lambda row: format_n(row["before_n"], row["after_n"]).removeprefix("n="))
CHANGED = (
    Column("metric", _full_name, "<"),
    *(Column(side, partial(_median_alone, f"{side}_")) for side in SIDES),
    CHANGE,
    words("verdict", _verdict),
)
LEVELS = (
    noted("metric", lambda row: (metric_title(row["name"]), _MEANS.get(row["name"], ""))),
    *(Column(side, partial(_level, f"{side}_median")) for side in SIDES),
    Column("difference", _difference),
    Column("change", lambda row: NOTHING if is_unknown(row["difference"]) else _relative(row)),
)
BUDGETS = (
    code("budget", "budget"),
    BUILD,
    words("state", "state"),
    words("metric", lambda row: field_title(row["name"])),
    *(Column(name, partial(_level, name)) for name in (*SIDES, "allowed")),
    CHANGE,
    RUNS,
)
OUTLIERS = (
    BUILD,
    words("metric", lambda row: field_title(row["name"])),
    Column("value", partial(_level, "value")),
    Column("median of the others", partial(_level, "typical")),
    shown_by(Cell)("spreads apart", lambda row: f"{row['distance']:.3g}"),
)
BUILD_RSS = (
    BUILD,
    Column("RSS", partial(_level, "median")),
    Column("change", _relative),
    words("verdict", "said"),
)
FINDINGS = (
    words("state", lambda row: state_word(row["state"])),
    words("severity", lambda row: label_of(row["severity"], None)),
    code("code", "code"),
    noted("what", lambda row: (row["title"], row["note"])),
)
MOMENTS = (
    words("snapshot", lambda row: Pair(row["before"], row["after"]).words),
    *(size(side, f"{side}_rss_bytes") for side in SIDES),
    change("difference", "change_bytes"),
)
SIZES = (
    Column("before", lambda row: size_cell(row, "before")),
    Column("after", lambda row: size_cell(row, "after")),
    Column("difference", lambda row: size_cell(row, "change")),
)
PARTS = (words("part", lambda row: part_name(row["part"])), *SIZES)


def benchmark_blocks(comparison: Comparison) -> tuple[Block, ...]:
    """A table of benchmarks per unit, with notes on the rows; empty without benchmarks."""
    benchmarks = metrics_of(comparison, "")
    blocks: list[Block] = []
    for unit in benchmarks["unit"].unique():
        of_unit = benchmarks[benchmarks["unit"] == unit]
        means = comparison.geomeans[comparison.geomeans["unit"] == unit]
        blocks += [measured_table(of_unit, Unit(unit), means), *row_notes(of_unit, means)]
    return (*blocks, legend(benchmarks)) if blocks else ()


def legend(metrics: pd.DataFrame) -> Notes:
    """The legend of ± and p for rows of METRICS or BUILD_METRICS; ± only if it occurs."""
    shown = [cell for side in ("before_", "after_", "") for cell in _spreads(metrics, side)]
    return Notes((SPREAD_LEGEND, P_LEGEND) if any(shown) else (P_LEGEND,))


def _lows(metrics: pd.DataFrame) -> list[str]:
    return [name for name in ("before_low", "after_low", "low") if name in metrics]


def _spreads(metrics: pd.DataFrame, side: str) -> list[str]:
    names = [f"{side}{name}" for name in ("median", "low", "high")]
    if not set(names) <= set(metrics):
        return []
    return [format_spread(*ends) for ends in metrics[names].itertuples(index=False)]


def level_blocks(metrics: pd.DataFrame, label: str) -> tuple[Block, ...]:
    """The levels of one layer (rows of METRICS), with a verdict if each side has several values.

    With one value per side, the page's opening says what that cannot show.
    """
    if not are_single(metrics):
        return (measured_table(metrics, label), *row_notes(metrics), legend(metrics))
    noted = metrics.assign(note=metrics["note"].replace(ONE_VALUE_NOTE, ""))
    return (table(Text(label).capitalised(), LEVELS, metrics), *row_notes(noted))


def row_notes(metrics: pd.DataFrame, geomeans: pd.DataFrame | None = None) -> tuple[Notes, ...]:
    """Each note once, preceded by the rows it applies to."""
    lines = []
    for note, rows in metrics[metrics["note"] != ""].groupby("note", sort=False):
        is_of_all = note == INTERVAL_NOTE and metrics[_lows(metrics)].isna().all(axis=None)
        if is_of_all or len(rows) == len(metrics):
            lines.append(note)
            continue
        rest = metrics[metrics["note"] != note]["name"]
        titles = (map(field_title, map(Metric, each)) for each in (rows["name"], rest))
        names, others = (joined(", ", each) for each in titles)
        is_most = len(rows) > max(MAX_NAMES, len(rest))
        named = text("all rows except {}", others) if is_most else names
        lines.append(text("{}: {}", named, note))
    if geomeans is not None and geomeans[list(SIDES)].isna().any(axis=None):
        lines.append(NO_GEOMEAN)
    return (Notes(tuple(lines)),) if lines else ()


def _asked(metrics: pd.DataFrame) -> tuple[Column, ...]:
    return (WITHIN,) if metrics["equivalence"].notna().any() else ()


def measured_table(
    metrics: pd.DataFrame, label: str, geomeans: pd.DataFrame | None = None
) -> Table:
    """A table of metrics with several values per side: medians, intervals, verdict and p."""
    columns = (Column(label, _name, "<"), *MEDIANS, CHANGE, VERDICT, P, *_asked(metrics), RUNS)
    means = [] if geomeans is None else map(_geomeans, rows_of(geomeans))
    total = tuple((*row, *(BLANK,) * (len(columns) - len(row))) for row in means)
    caption = text("Medians, {}", label)
    if geomeans is None:
        caption = text("{}, medians{}", Text(label).capitalised(), _of_runs(metrics))
    return table(caption, columns, metrics, total)


def _of_runs(metrics: pd.DataFrame) -> str:
    """The number of runs per side, if all metrics have the same."""
    counts = set(metrics[["before_n", "after_n"]].to_numpy().ravel().tolist())
    return f" of {counts.pop()} runs per side" if len(counts) == 1 else ""


def _geomeans(row: Row) -> tuple[Cell, ...]:
    sides = (row[side] for side in SIDES)
    means = [
        NOTHING if is_unknown(value) else Cell(format_value(value, row["unit"])) for value in sides
    ]
    return Cell("geometric mean"), *means, _relative(row)


def budget_blocks(budgets: pd.DataFrame) -> tuple[Block, ...]:
    """The state of each budget: allowed and measured change, and notes."""
    noted = rows_of(budgets[budgets["note"] != ""].head(MAX_BUDGET_NOTES))
    lines = [text("{}: {}", joined(", ", _named(row)), row["note"]) for row in noted]
    shown = budget_table(rows_of(budgets), has_builds="build" in budgets)
    return (shown, *((Notes(tuple(lines)),) if lines else ()))


def _named(row: Row) -> list[str]:
    build = [Build(row["build"])] if row.get("build") else []
    return [*build, row["budget"], field_title(row["name"])]


def budget_table(budgets: Sequence[Row], *, has_builds: bool) -> Table:
    """A table of budgets with allowed and measured changes."""
    columns = [column for column in BUDGETS if column.heading != "build" or has_builds]
    return table("Budgets: met, broken, or too few runs to tell", columns, budgets)


def builds_table(metrics: pd.DataFrame, label: str) -> Table:
    """Each metric in each build (BUILD_METRICS), the baseline first; only its row has the name."""
    keys = ["layer", "unit", "name"]
    place = metrics.groupby(keys, sort=False).ngroup()
    each = metrics.assign(first=~metrics.duplicated(keys)).loc[
        place.sort_values(kind="stable").index
    ]
    columns = (
        Column(label, _named_once, "<"),
        BUILD,
        Column("median", _of_build),
        Column("change", lambda row: NOTHING if is_unknown(row["verdict"]) else _relative(row)),
        words("verdict", lambda row: "baseline" if is_unknown(row["verdict"]) else row["verdict"]),
        P,
        *_asked(metrics),
        shown_by(Cell)("n", lambda row: str(row["n"])),
    )
    return table(f"Medians by build, {label}", columns, each)


def _named_once(row: Row) -> Cell:
    """The metric's name, only in the row of its first build."""
    is_known = row["layer"] in LAYERS
    named = field_title(row["name"]) if is_known else _with_unit(row["name"], row)
    return Cell(named if row["first"] else "", code=not is_known)


def _of_build(row: Row) -> Cell:
    return _level("median", row) if row["n"] == 1 else _median("", row)


def state_word(state: str) -> str:
    """A finding's state; of one on both sides, which need not have the same numbers, `both`."""
    return "both" if state == ON_BOTH else state


def findings_table(findings: pd.DataFrame, *, has_several: bool = False) -> Table:
    """Which causes are new, gone, or on both sides; with several builds, for each."""
    runs = ", in the first run of each side" if has_several else ""
    caption = f"Before and after{runs}"
    if "build" in findings:
        return table(f"{caption}, by build", (BUILD, *FINDINGS), findings)
    return table(caption, FINDINGS, findings)


def groups_table(groups: pd.DataFrame, pair: Pair, runs: str = "", *, noted: bool = True) -> Table:
    """RSS by owner in the named runs; if all owners are known, they add up to RSS."""
    whose = WHOSE if noted else {}
    owner = Column("owner", lambda row: Cell(row["name"], note=whose.get(row["group"], "")), "<")
    sums = {name: groups[name].sum() for name in (*SIDES, "change")}
    rss: Row = {"name": "RSS", "group": "", **sums}
    is_known = groups[[*SIDES]].notna().all(axis=None)
    total = (tuple(column.cell(rss) for column in (owner, *SIZES)),) if is_known else ()
    bounds = "" if is_known else "; ranges are bounds"
    caption = text("RSS by owner at {}{}{}", pair.words, runs, bounds)
    return table(caption, (owner, *SIZES), groups, total)
