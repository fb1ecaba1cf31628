"""Who allocates, as a section of the report: sites, reasons, turnover, object sizes, by call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.units import format_bytes, format_count, format_fraction, is_unknown
from gomem.views.document import Block, Cell, Folded, Notes, Section, Table, in_one_fold
from gomem.views.figures.flame_graph import known_name
from gomem.views.report import tables
from gomem.views.report.flames import flame_blocks
from gomem.views.report.tables import NOTHING, bytes_cell, count_cell, fraction_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis

SAMPLE_TYPES = ("inuse_space", "alloc_space")
SHOWN = 10  # rows of turnover and of object sizes; the JSON report has more


def sites_section(diagnosis: Diagnosis, names: Sequence[str], heading: str) -> Section | None:
    """All that profiles say, of the first moment at length.

    Args:
        diagnosis: The answers.
        names: Moments, the one to show first.
        heading: Of the section.
    """
    if not names:
        return None
    first, *others = names
    folded = [Folded(name, _blocks(diagnosis, name)) for name in others]
    blocks = (
        *_blocks(diagnosis, first),
        *_at_length(diagnosis, first),
        *in_one_fold(folded, f"the other {len(folded)} moments"),
    )
    return Section("allocations", heading, blocks)


def _blocks(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    known = diagnosis.sites[moment]
    chosen = [known[name] for name in SAMPLE_TYPES if name in known]
    blocks: list[Block] = []
    for sites in chosen:
        blocks.append(tables.sites_table(sites, moment))
        if sites.note:
            blocks.append(Notes((f"no intervals: {sites.note}",)))
    if moment in diagnosis.reasons:
        blocks.append(tables.reasons_table(diagnosis.reasons[moment], moment))
    return tuple(blocks)


def _at_length(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    turnover, sizes = diagnosis.turnover(moment), diagnosis.object_sizes(moment)
    blocks: list[Block] = []
    if len(turnover):
        blocks.append(Folded("What was freed again: churn", (_turnover_table(turnover, moment),)))
    if len(sizes):
        table, note = _sizes_table(sizes, moment), Notes((_lost(sizes),))
        blocks.append(Folded("Sizes of objects, and what rounding costs", (table, note)))
    return (*blocks, *flame_blocks(diagnosis, moment))


def _turnover_table(turnover: pd.DataFrame, moment: str) -> Table:
    rows = tuple(
        (
            Cell(known_name(row["function"]), code=True),
            bytes_cell(row["alloc_bytes"]),
            bytes_cell(row["churned_bytes"]),
            fraction_cell(row["survival_fraction"]),
            _share(row["survival_low"], row["survival_high"]),
            bytes_cell(round(row["mean_object_bytes"])),
        )
        for row in turnover.head(SHOWN).to_dict("records")
    )
    columns = ("function", "allocated", "of it freed", "survives", "95 % interval", "an object")
    return Table(f"Allocated and freed, {moment}, the most freed", columns, "<>>>>>", rows)


def _sizes_table(sizes: pd.DataFrame, moment: str) -> Table:
    rows = tuple(
        (
            Cell(known_name(row["function"]), code=True),
            bytes_cell(row["object_bytes"]),
            count_cell(row["objects"]),
            bytes_cell(row["bytes"]),
            _bytes_between(row["bytes_low"], row["bytes_high"]),
            bytes_cell(row["rounding_at_most_bytes"]),
            bytes_cell(row["tail_bytes"]),
        )
        for row in sizes.head(SHOWN).to_dict("records")
    )
    columns = (
        "function", "an object", "objects", "in use", "95 % interval", "rounding ≤", "span ends",
    )  # fmt: skip
    return Table(f"Objects in use by size, {moment}, the most bytes", columns, "<>>>>>>", rows)


def _lost(sizes: pd.DataFrame) -> str:
    whole = float(sizes["bytes"].sum())
    rounding, tail = (float(sizes[name].sum()) for name in ("rounding_at_most_bytes", "tail_bytes"))
    return (
        f"of all {format_bytes(whole)}, in {format_count(len(sizes))} sites and sizes, rounding up "
        f"to a size class took {format_fraction(rounding / whole)} at most, and the ends of spans "
        f"lie beside them with {format_bytes(tail)}"
    )


def _share(low: Any, high: Any) -> Cell:
    if is_unknown(low) or is_unknown(high):
        return NOTHING
    return Cell(f"{format_fraction(low)} to {format_fraction(high)}")


def _bytes_between(low: Any, high: Any) -> Cell:
    if is_unknown(low) or is_unknown(high):
        return NOTHING
    return Cell(f"{format_bytes(low)} to {format_bytes(high)}")
