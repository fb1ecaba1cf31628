"""Who allocates, as a section of the report: sites, reasons, turnover, object sizes, by call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import rows_of
from gomem.text import Function, MomentName, Quoted, text
from gomem.units import format_bytes, format_count, format_fraction, is_unknown
from gomem.views.document import Block, Cell, Folded, Notes, Section, Table
from gomem.views.figures.flame_graph import known_name
from gomem.views.report.flames import flame_blocks, in_use_flame
from gomem.views.report.shown import drawn_of, of_moments
from gomem.views.values import NOTHING, between, bytes_cell, count_cell, fraction_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.pprof.sites import AllocationSites

SAMPLE_TYPES = ("inuse_space", "alloc_space")
SITE_ROWS, SITE_COLUMNS = 10, 5  # on a terminal; `gomem top` shows more
SHOWN = 10  # rows of turnover, of object sizes, of other moments' sites; JSON has more


def allocations_section(diagnosis: Diagnosis) -> Section | None:
    """All that the profiles say, at length for one moment; None without a heap profile."""
    first = diagnosis.sites_first
    if first is None:
        return None
    drawn = drawn_of(list(diagnosis.sites), first)
    blocks = {
        name: (
            *_blocks(diagnosis, name, None if name == first else SHOWN),
            *_further(diagnosis, name, first, drawn),
        )
        for name in diagnosis.sites
    }
    choice = of_moments(blocks, first)
    gist = _gist(diagnosis, first)
    return Section("allocations", "Who allocates", (choice,), gist=gist)


def _further(
    diagnosis: Diagnosis, moment: str, first: str, drawn: frozenset[str]
) -> tuple[Block, ...]:
    """All of the first moment; of others that are drawn, what is in use by call."""
    if moment == first:
        return _at_length(diagnosis, moment)
    place = list(diagnosis.sites).index(moment) + 1
    return in_use_flame(diagnosis, moment, f"flame-{place}") if moment in drawn else ()


def _gist(diagnosis: Diagnosis, moment: str) -> str:
    """Who has most in use, or allocated most."""
    known = diagnosis.sites[moment]
    sites = next((known[name] for name in SAMPLE_TYPES if name in known), None)
    if sites is None or sites.top.empty:
        return MomentName(moment)
    row = sites.top.iloc[0]
    said = "in use" if sites.sample_type == SAMPLE_TYPES[0] else "allocated"
    share = format_fraction(row["flat_fraction"])
    function = Function(known_name(row["function"]))
    return text("{} {}, {} of it by {}", format_bytes(sites.total), said, share, function)


def _blocks(diagnosis: Diagnosis, moment: str, most: int | None) -> tuple[Block, ...]:
    """A table a sample type, of at most so many sites, and why lines allocate."""
    known = diagnosis.sites[moment]
    chosen = [known[name] for name in SAMPLE_TYPES if name in known]
    blocks: list[Block] = []
    for sites in chosen:
        blocks.append(_sites_table(sites, MomentName(moment), most))
        if sites.note:
            blocks.append(Notes((f"no intervals: {sites.note}",)))
    if moment in diagnosis.facts.profiles.reasons:
        blocks.append(_reasons_table(diagnosis.facts.profiles.reasons[moment], MomentName(moment)))
    return tuple(blocks)


def _at_length(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    turnover, sizes = (
        diagnosis.facts.profiles.turnover(moment),
        diagnosis.facts.profiles.object_sizes(moment),
    )
    blocks: list[Block] = []
    if len(turnover):
        blocks.append(
            Folded("What was freed again: churn", (_turnover_table(turnover, MomentName(moment)),))
        )
    if len(sizes):
        table, note = _sizes_table(sizes, MomentName(moment)), Notes((_lost(sizes),))
        blocks.append(Folded("Sizes of objects, and what rounding costs", (table, note)))
    return (*blocks, *flame_blocks(diagnosis, moment))


def _sites_table(sites: AllocationSites, moment: str, most: int | None) -> Table:
    """Who allocates, with the sampling intervals."""
    cell = bytes_cell if sites.unit == "bytes" else count_cell
    rows = tuple(
        (
            Cell(Function(known_name(row["function"])), code=True),
            cell(row["flat"]),
            _between(row["flat_low"], row["flat_high"], cell),
            fraction_cell(row["flat_fraction"]),
            cell(row["cum"]),
            _between(row["cum_low"], row["cum_high"], cell),
        )
        for row in rows_of(sites.top.head(most or len(sites.top)))
    )
    columns = ("function", "flat", "95 % interval", "of total", "with callees", "95 % interval")
    total = format_bytes(sites.total) if sites.unit == "bytes" else format_count(sites.total)
    caption = text("{}, {}: {} in all", sites.sample_type, moment, total)
    return Table(caption, columns, "<>>>>>", rows, brief_rows=SITE_ROWS, brief_columns=SITE_COLUMNS)


def _reasons_table(reasons: pd.DataFrame, moment: str) -> Table:
    """Allocation lines, with what the compiler says about each."""
    rows = tuple(
        (
            Cell(known_name(f"{row['function']} {_base(row['file'])}:{row['line']}"), code=True),
            bytes_cell(row["flat"]),
            _between(row["flat_low"], row["flat_high"], bytes_cell),
            Cell(Quoted(row["why"])) if row["why"] else NOTHING,
        )
        for row in rows_of(reasons)
    )
    caption = text("alloc_space by line, {}, and why it is not on the stack", moment)
    return Table(caption, ("line", "flat", "95 % interval", "the compiler"), "<>><", rows)


def _base(path: str) -> str:
    """A source file without its folders, which are those of whoever built the program."""
    return path.rpartition("/")[2]


def _turnover_table(turnover: pd.DataFrame, moment: str) -> Table:
    rows = tuple(
        (
            Cell(Function(known_name(row["function"])), code=True),
            bytes_cell(row["alloc_bytes"]),
            bytes_cell(row["churned_bytes"]),
            fraction_cell(row["survival_fraction"]),
            _between(row["survival_low"], row["survival_high"], fraction_cell),
            bytes_cell(round(row["mean_object_bytes"])),
        )
        for row in rows_of(turnover.head(SHOWN))
    )
    columns = ("function", "allocated", "of it freed", "survives", "95 % interval", "an object")
    caption = text("Allocated and freed, {}, the most freed", moment)
    return Table(caption, columns, "<>>>>>", rows)


def _sizes_table(sizes: pd.DataFrame, moment: str) -> Table:
    rows = tuple(
        (
            Cell(Function(known_name(row["function"])), code=True),
            bytes_cell(row["object_bytes"]),
            count_cell(row["objects"]),
            bytes_cell(row["bytes"]),
            _between(row["bytes_low"], row["bytes_high"], bytes_cell),
            bytes_cell(row["rounding_at_most_bytes"]),
            bytes_cell(row["tail_bytes"]),
        )
        for row in rows_of(sizes.head(SHOWN))
    )
    columns = (
        "function", "an object", "objects", "in use", "95 % interval", "rounding ≤", "span ends",
    )  # fmt: skip
    caption = text("Objects in use by size, {}, the most bytes", moment)
    return Table(caption, columns, "<>>>>>>", rows)


def _lost(sizes: pd.DataFrame) -> str:
    whole = float(sizes["bytes"].sum())
    rounding, tail = (float(sizes[name].sum()) for name in ("rounding_at_most_bytes", "tail_bytes"))
    return (
        f"of the {format_bytes(whole)} in all, over {format_count(len(sizes))} sites and sizes, "
        f"rounding up to a size class took {format_fraction(rounding / whole)} at most, and the "
        f"ends of spans lie beside them with {format_bytes(tail)}"
    )


def _between(low: float, high: float, cell: Callable[[Any], Cell]) -> Cell:
    """An interval, if both its ends are known."""
    return NOTHING if is_unknown(low) or is_unknown(high) else between(low, high, cell)
