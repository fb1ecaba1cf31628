"""The report's section on allocation sites: escapes, survival, object sizes, call trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.commands import with_files
from gomem.text import Function, MomentName, Quoted, Text, text
from gomem.units import format_bytes, format_count, format_fraction
from gomem.views.document import Block, Cell, Folded, Notes, Section, Table
from gomem.views.figures.flame_graph import known_name
from gomem.views.report.flames import flame_blocks, in_use_flame
from gomem.views.report.lifetimes import lifetime_blocks
from gomem.views.report.shown import LISTED, drawn_of, of_moments
from gomem.views.tables import Column, Row, count, function, interval, share, shown_by, size, table
from gomem.views.values import NOTHING, bytes_cell, count_cell, fraction_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.pprof.sites import AllocationSites

SAMPLE_TYPES = ("inuse_space", "alloc_space")
SITE_ROWS, SITE_COLUMNS = 10, 5  # on a terminal; `gomem top` shows more
UNTYPED = "in use or allocated"
SHOWN = 10  # rows of turnover, object sizes, and other moments' sites; JSON has more


def _line(row: Row) -> Cell:
    """A line; the file's folders are dropped, as they name the build machine's user."""
    file = row["file"].rpartition("/")[2]
    return Cell(known_name(f"{row['function']} {file}:{row['line']}"), code=True)


REASONS = (
    Column("line", _line, "<"),
    size("flat", "flat"),
    interval("95 % interval", "flat"),
    Column("compiler says", lambda row: Cell(Quoted(row["why"])) if row["why"] else NOTHING, "<"),
)
TURNOVER = (
    function("function", "function"),
    size("allocated", "alloc_bytes"),
    size("freed", "churned_bytes"),
    share("survival", "survival_fraction"),
    interval("95 % interval", "survival", fraction_cell),
    size("object size", lambda row: round(row["mean_object_bytes"])),
)
SIZES = (
    function("function", "function"),
    size("object size", "object_bytes"),
    count("objects", "objects"),
    size("in use", "bytes"),
    interval("95 % interval", "bytes"),
    size("rounding ≤", "rounding_at_most_bytes"),
    size("span ends", "tail_bytes"),
)


def allocations_section(diagnosis: Diagnosis) -> Section | None:
    """The sites of each snapshot, one of them in detail; None without a heap profile."""
    first = diagnosis.sites_first
    if first is None:
        return _untyped_section(diagnosis)
    names = list(diagnosis.sites)
    listed, drawn = drawn_of(names, first, LISTED), drawn_of(names, first)
    blocks: dict[str, tuple[Block, ...]] = {}
    for place, name in enumerate(names, start=1):
        if name == first:
            further = _at_length(diagnosis, name)
        else:
            further = in_use_flame(diagnosis, name, f"flame-{place}") if name in drawn else ()
        if name in listed | drawn:
            blocks[name] = (*_blocks(diagnosis, name, None if name == first else SHOWN), *further)
    shown: tuple[Block, ...] = (of_moments(blocks, first),)
    if len(blocks) < len(names):
        one_left_out = next(name for name in names if name not in blocks)
        path = diagnosis.facts.profiles.path(one_left_out)
        shown = (Notes((_left_out(len(blocks), len(names), path),)), *shown)
    gist = _gist(diagnosis, first)
    return Section("allocations", "Allocation sites", shown, gist=gist)


def _left_out(shown: int, of: int, path: str) -> Text:
    """How to see the sites of a moment that the page leaves out."""
    said = "sites are shown for {} of {} snapshots; for another snapshot, use its profile: {}"
    return text(said, format_count(shown), format_count(of), with_files("gomem top {}", path))


def _untyped_section(diagnosis: Diagnosis) -> Section | None:
    """The rows of tables without a sample type; None if there are none."""
    blocks: list[Block] = []
    for moment, tables in diagnosis.facts.profiles.untyped_sites.items():
        for sites in tables:
            counted = "" if sites.sample_type in SAMPLE_TYPES else UNTYPED
            blocks += [_sites_table(sites, MomentName(moment), None, counted)]
            blocks += [Notes((f"no intervals: {sites.note}",))] * bool(sites.note)
    return Section("allocations", "Allocation sites", tuple(blocks)) if blocks else None


def _gist(diagnosis: Diagnosis, moment: str) -> str:
    """The largest in-use sites, or the largest allocators."""
    known = diagnosis.sites[moment]
    sites = next((known[name] for name in SAMPLE_TYPES if name in known), None)
    if sites is None or sites.top.empty:
        return MomentName(moment)
    row = sites.top.iloc[0]
    share = format_fraction(row["flat_fraction"])
    function = Function(known_name(row["function"]))
    total = format_bytes(sites.total) if sites.unit == "bytes" else format_count(sites.total)
    return text("{} {}, {} from {}", sites.sample_type, total, share, function)


def _blocks(diagnosis: Diagnosis, moment: str, most: int | None) -> tuple[Block, ...]:
    """A table per sample type, of at most `most` sites, and why lines allocate."""
    known, blocks = diagnosis.sites[moment], list[Block]()
    of_bytes = [name for name in SAMPLE_TYPES if name in known]
    for sites in (known[name] for name in of_bytes or known):  # objects only, in some tables
        blocks.append(_sites_table(sites, MomentName(moment), most))
        if sites.note:
            blocks.append(Notes((f"no intervals: {sites.note}",)))
    if moment in diagnosis.facts.profiles.reasons:
        template = "alloc_space by line at {}, and why each line allocates on the heap"
        caption = text(template, MomentName(moment))
        blocks.append(table(caption, REASONS, diagnosis.facts.profiles.reasons[moment]))
    return tuple(blocks)


def _at_length(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    asked, name, blocks = diagnosis.facts.profiles, MomentName(moment), list[Block]()
    if len(turnover := asked.turnover(moment)):
        caption = text("Allocated and freed up to {}, most freed first", name)
        freed = table(caption, TURNOVER, turnover.head(SHOWN))
        blocks.append(Folded("Churn: allocated and freed", (freed,)))
    if len(sizes := asked.object_sizes(moment)):
        by_size = table(text("Objects in use by size at {}, most bytes first", name), SIZES,
                        sizes.head(SHOWN))  # fmt: skip
        lost = (by_size, Notes((_lost(sizes),)))
        blocks.append(Folded("Object sizes and rounding", lost))
    return (*blocks, *lifetime_blocks(diagnosis), *flame_blocks(diagnosis, moment))


def _sites_table(
    sites: AllocationSites, moment: Text, most: int | None, counted: str = ""
) -> Table:
    """Sites with their sampling intervals."""
    in_bytes = sites.unit == "bytes"
    cell = bytes_cell if in_bytes else count_cell
    value = shown_by(cell)
    columns = (
        function("function", "function"),
        value("flat", "flat"),
        interval("95 % interval", "flat", cell),
        share("of total", "flat_fraction"),
        value("cum", "cum"),
        interval("95 % interval", "cum", cell),
    )
    total = format_bytes(sites.total) if in_bytes else format_count(sites.total)
    said = "total not printed" if sites.total_is_derived else text("{} total", total)
    caption = text("{} at {}: {}", counted or sites.sample_type, moment, said)
    rows = _rows_of(sites).head(most or len(sites.top))
    rest = _without_stack(sites, cell) if sites.without_stack else ()
    return table(caption, columns, rows, rest, brief_rows=SITE_ROWS, brief_columns=SITE_COLUMNS)


def _rows_of(sites: AllocationSites) -> pd.DataFrame:
    """The sites with a flat value; of a pasted table, all rows in the order of the text."""
    if sites.is_printed:
        place = {name: number for number, name in enumerate(sites.printed_shares)}
        by_text = sites.top["function"].map(lambda name: place.get(name, len(place)))
        return sites.top.loc[by_text.sort_values(kind="stable").index]
    of_its_own = sites.top[sites.top["flat"] != 0]  # pure callers are in the flame graph
    return of_its_own if len(of_its_own) else sites.top


def _without_stack(
    sites: AllocationSites, cell: Callable[[int], Cell]
) -> tuple[tuple[Cell, ...], ...]:
    """The row of what the total has, but no function: not in the paste, or without a stack."""
    part = sites.without_stack
    share_cell = fraction_cell(part / sites.total)
    name = "not in the pasted text" if sites.is_shown_in_part else "without a stack"
    if sites.is_printed:
        name = f"functions {name}"  # what they call can be in the cum of a row
    return ((Cell(name), cell(part), NOTHING, share_cell, NOTHING, NOTHING),)


def _lost(sizes: pd.DataFrame) -> str:
    whole = float(sizes["bytes"].sum())
    rounding, tail = (float(sizes[name].sum()) for name in ("rounding_at_most_bytes", "tail_bytes"))
    return (
        f"rounding up to size classes wastes at most {format_fraction(rounding / whole)} of these "
        f"{format_bytes(whole)}; the unused ends of spans waste another {format_bytes(tail)}"
    )
