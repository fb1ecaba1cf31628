"""Mappings by kind, and the address space in a strip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.document import Cell, Figure, Folded, Section, Table
from gomem.views.figures.address_space import plot_address_space
from gomem.views.report.shown import heading_of, in_order, other_moments
from gomem.views.share import named
from gomem.views.values import bytes_cell, count_cell

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis

CAPTION = (
    "Regions in order of address, as wide as they are mapped, filled as far as resident. "
    "Address space that is merely reserved is left out."
)
SHOWN = {
    "mapped": "size_bytes", "resident": "rss_bytes", "Pss": "pss_bytes",
    "shared": "shared_bytes", "swapped": "swap_bytes",
}  # fmt: skip


def mappings_section(diagnosis: Diagnosis) -> Section | None:
    """The strip of the moment that is shown first, and a table of each; None without smaps."""
    kinds = diagnosis.kinds
    names = in_order(dict.fromkeys(kinds["moment"]), diagnosis)
    if not names:
        return None
    tables = [kinds_table(kinds[kinds["moment"] == name], named(name)) for name in names]
    others = [
        Folded(named(name), (table,)) for name, table in zip(names[1:], tables[1:], strict=True)
    ]
    strip = Figure(
        CAPTION,
        plot_address_space,
        lambda: {"regions": diagnosis.regions(names[0]), "moment": named(names[0])},
    )
    heading = heading_of("Kinds of mappings", names[0], diagnosis)
    return Section("mappings", heading, (strip, tables[0], *other_moments(others)))


def kinds_table(kinds: pd.DataFrame, moment: str) -> Table:
    """A row per kind; what the kernel does not print has no column."""
    known = {head: name for head, name in SHOWN.items() if kinds[name].notna().any()}
    rows = tuple(
        (
            Cell(row["kind"]),
            count_cell(row["vmas"]),
            *(bytes_cell(row[name]) for name in known.values()),
        )
        for row in kinds.to_dict("records")
    )
    columns = ("kind", "mappings", *known)
    return Table(f"Mappings by kind, {moment}", columns, "<" + ">" * (len(columns) - 1), rows)
