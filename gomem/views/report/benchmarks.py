"""The report's benchmarks: medians, as benchstat prints them for one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.numbered import Unit
from gomem.text import Count, File, text
from gomem.views.document import Cell, Section
from gomem.views.measurements import format_spread, format_value
from gomem.views.tables import Column, Row, count, table

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis


def benchmarks_section(diagnosis: Diagnosis) -> Section | None:
    """Return a table per unit and file; None without benchmarks."""
    blocks, names = [], set()
    for path, bench in diagnosis.capture.bench.items():
        summary = bench.summary
        names |= set(summary["name"])
        for unit, rows in summary.groupby("unit", sort=False):
            of = text(", {}", File(path)) if len(diagnosis.capture.bench) > 1 else ""
            caption = text("{}{}", Unit(unit), of)
            blocks.append(table(caption, COLUMNS, rows_of(rows)))
    if not blocks:
        return None
    gist = Count(len(names), "benchmark")
    return Section("benchmarks", "Benchmarks", tuple(blocks), gist=gist, opened=True)


def _median(row: Row) -> Cell:
    exact = text("{} {}", repr(row["median"]), row["unit"])
    return Cell(format_value(row["median"], row["unit"]), exact=exact)


def _spread(row: Row) -> Cell:
    return Cell(format_spread(row["median"], row["median_low"], row["median_high"]))


COLUMNS = (
    Column("benchmark", lambda row: Cell(row["name"], code=True), "<"),
    Column("median", _median),
    Column("95 %", _spread),
    count("n", "n"),
)
